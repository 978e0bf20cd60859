/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors one by one: names, extents, sizes, the range of a view in its base.
 *
 * Sizes are found along chains of views without recursion: a chain is walked
 * down to a tensor whose size is settled, then back up. Linear. */
#include "ir/check.h"

#include "base/ckd.h"
#include "ir/size.h"

#include <inttypes.h>
#include <stdio.h>

static hbm_status check_name(hbm_checker *c, hbm_tensor_id i)
{
	hbm_program *p = c->p;
	hbm_sym name = p->tensors.items[i].name;
	hbm_tensor_id first = hbm_find_tensor(p, name);

	if (!name)
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_STRUCTURE,
		               "tensor %" PRIu32 " has no name", i);
	if (first == HBM_NONE || p->tensors.items[first].name != name) {
		HBM_NEED(hbm_map_set(&p->by_name, name, i));
		return HBM_OK;
	}
	if (first == i || !name)
		return HBM_OK;
	HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_DUPLICATE,
	               "tensor '%s' is declared twice", hbm_str_of(p, name));
	hbm_note(c->diags, hbm_check_tensor_at(c, first), "'%s' is declared first here",
	         hbm_str_of(p, name));
	return HBM_OK;
}

/* ---- extents ------------------------------------------------------------- */

static bool same_bounds(const hbm_dim *a, const hbm_dim *b)
{
	return a->unknown == b->unknown && a->min == b->min && a->value == b->value;
}

static hbm_status check_dims(hbm_checker *c, hbm_map *symbols, hbm_tensor_id t,
                             hbm_span dims)
{
	const hbm_program *p = c->p;
	hbm_where at = {0};

	for (uint32_t i = dims.first; i < dims.first + dims.n; i++) {
		const hbm_dim *d = &p->dims.items[i];
		uint32_t first = d->sym ? hbm_map_get(symbols, d->sym) : HBM_NONE;
		if (!d->unknown && d->min > d->value) {
			at = hbm_check_tensor_at(c, t);
			HBM_CHECK_FAIL(c, at, HBM_E_BOUND,
			               "an extent of '%s' has lower bound %" PRIu64
			               " above upper bound %" PRIu64,
			               hbm_tensor_name(p, t), d->min, d->value);
		}
		if (d->sym && first == HBM_NONE) {
			HBM_NEED(hbm_map_set(symbols, d->sym, i));
		} else if (d->sym && !same_bounds(d, &p->dims.items[first])) {
			at = hbm_check_tensor_at(c, t);
			HBM_CHECK_FAIL(c, at, HBM_E_BOUND,
			               "bounds of '%s' differ from those of its other "
			               "use",
			               hbm_str_of(p, d->sym));
		}
	}
	if (dims.n > HBM_MAX_RANK)
		hbm_check_failed(
			c, hbm_fail(c->diags, HBM_LIMIT, HBM_E_TOO_LARGE,
		                    hbm_check_tensor_at(c, t),
		                    "'%s' has %" PRIu32 " extents; the limit is %d",
		                    hbm_tensor_name(p, t), dims.n, (int)HBM_MAX_RANK));
	return HBM_OK;
}

/* ---- sizes --------------------------------------------------------------- */

static void put_extents(const hbm_program *p, hbm_span dims, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < dims.n && n + 32 < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%" PRIu64, i ? " x " : "",
		                      p->dims.items[dims.first + i].value);
}

static void overflows(hbm_checker *c, hbm_tensor_id t)
{
	const hbm_tensor *x = &c->p->tensors.items[t];
	const char *name = hbm_tensor_name(c->p, t);
	hbm_where at = hbm_check_tensor_at(c, t);
	char extents[256];

	if (x->flags & HBM_T_SIZED) {
		HBM_CHECK_FAIL(c, at, HBM_E_SIZE_OVERFLOW,
		               "size of '%s' is %" PRIu64 " bytes; the limit is 2^62",
		               name, x->size);
	} else if (x->device.n) {
		put_extents(c->p, (hbm_span){x->device.first, x->device.n - 1}, extents,
		            sizeof extents);
		HBM_CHECK_FAIL(c, at, HBM_E_SIZE_OVERFLOW,
		               "size of '%s' overflows: %s sticks; the limit is 2^62 "
		               "bytes",
		               name, extents);
	} else {
		put_extents(c->p, x->dims, extents, sizeof extents);
		HBM_CHECK_FAIL(c, at, HBM_E_SIZE_OVERFLOW,
		               "size of '%s' overflows: %s elements of %" PRIu32
		               " bits; the limit is 2^62 bytes",
		               name, extents, hbm_dtype_bits(x->dtype));
	}
}

/* The base's size is settled. */
static void settle_size(hbm_checker *c, hbm_tensor_id t)
{
	hbm_tensor *x = &c->p->tensors.items[t];
	bool view = x->base != HBM_NONE;
	bool typed = x->size || x->flags & HBM_T_SIZED || x->device.n ||
	             x->dtype != HBM_DT_none;

	c->size[t] = HBM_NO_OFFSET;
	c->offset[t] = view ? c->offset[x->base] + x->offset : 0;
	if (view && !typed) {
		uint64_t base = c->size[x->base];
		if (base != HBM_NO_OFFSET && x->offset <= base)
			c->size[t] = base - x->offset;
		x->flags |= c->p->tensors.items[x->base].flags & HBM_T_DYNAMIC;
		return;
	}
	switch (hbm_tensor_natural_size(c->p, t, 0, 0, &c->size[t])) {
	case HBM_SIZING_KNOWN:
		break;
	case HBM_SIZING_DYNAMIC:
		x->flags |= HBM_T_DYNAMIC;
		break;
	case HBM_SIZING_OVERFLOW:
		overflows(c, t);
		break;
	case HBM_SIZING_NONE:
		if (x->flags & HBM_T_DYNAMIC)
			break;
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, t), HBM_E_UNBOUND,
		               "size of '%s' is not known; declare dtype and extents, "
		               "or bytes",
		               hbm_tensor_name(c->p, t));
	}
}

static void check_view_range(hbm_checker *c, hbm_tensor_id t)
{
	const hbm_tensor *x = &c->p->tensors.items[t];
	uint64_t base = c->size[x->base], size = c->size[t], end;
	const char *name = hbm_tensor_name(c->p, t);

	if (base == HBM_NO_OFFSET)
		return;
	if (x->offset > base) {
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, t), HBM_E_VIEW_RANGE,
		               "view '%s' starts at %" PRIu64 ", but '%s' has %" PRIu64
		               " bytes",
		               name, x->offset, hbm_tensor_name(c->p, x->base), base);
	} else if (size != HBM_NO_OFFSET &&
	           (!hbm_add(x->offset, size, &end) || end > base)) {
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, t), HBM_E_VIEW_RANGE,
		               "view '%s' needs %" PRIu64 " + %" PRIu64 " = %" PRIu64
		               " bytes, but '%s' has %" PRIu64,
		               name, x->offset, size, hbm_add_sat(x->offset, size),
		               hbm_tensor_name(c->p, x->base), base);
	} else {
		return;
	}
	hbm_note(c->diags, hbm_check_tensor_at(c, x->base), "'%s' is declared here",
	         hbm_tensor_name(c->p, x->base));
}

/* Storages begin at their root, which is aligned for all of its views. */
static void check_view_align(hbm_checker *c, hbm_tensor_id t)
{
	const hbm_tensor *x = &c->p->tensors.items[t];

	if (!x->align || x->align & (x->align - 1) || c->offset[t] % x->align == 0)
		return;
	HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, t), HBM_E_DEMAND,
	               "view '%s' begins %" PRIu64
	               " bytes into its storage, no multiple of its alignment %" PRIu64,
	               hbm_tensor_name(c->p, t), c->offset[t], x->align);
}

static void report_cycle(hbm_checker *c, hbm_tensor_id t)
{
	hbm_tensor_id at = t;

	HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, t), HBM_E_VIEW_CYCLE,
	               "view '%s' is, through its bases, a view of itself",
	               hbm_tensor_name(c->p, t));
	for (uint32_t i = 0; i < 4; i++) {
		hbm_tensor_id base = c->p->tensors.items[at].base;
		hbm_note(c->diags, hbm_check_tensor_at(c, at), "'%s' is a view of '%s'",
		         hbm_tensor_name(c->p, at), hbm_tensor_name(c->p, base));
		at = base;
		if (at == t)
			return;
	}
}

enum { NEW, OPEN, DONE };

/* Settles t and all its bases. */
static void settle_chain(hbm_checker *c, uint8_t *state, hbm_tensor_id *stack,
                         hbm_tensor_id t)
{
	uint32_t n = 0;

	while (t != HBM_NONE && state[t] == NEW) {
		state[t] = OPEN;
		stack[n++] = t;
		t = c->p->tensors.items[t].base;
	}
	if (t != HBM_NONE && state[t] == OPEN) {
		report_cycle(c, t);
		while (n) {
			c->size[stack[--n]] = HBM_NO_OFFSET;
			state[stack[n]] = DONE;
		}
	}
	while (n) {
		t = stack[--n];
		settle_size(c, t);
		if (c->p->tensors.items[t].base != HBM_NONE) {
			check_view_range(c, t);
			check_view_align(c, t);
		}
		state[t] = DONE;
	}
}

static hbm_status check_sizes(hbm_checker *c)
{
	uint32_t n = c->p->tensors.n;
	uint8_t *state = HBM_ZARRAY(&c->scratch, uint8_t, n);
	hbm_tensor_id *stack = HBM_ARRAY(&c->scratch, hbm_tensor_id, n);

	c->size = HBM_ZARRAY(&c->scratch, uint64_t, n);
	c->offset = HBM_ZARRAY(&c->scratch, uint64_t, n);
	HBM_NEED(c->size && c->offset && state && stack);
	for (uint32_t i = 0; i < n && !hbm_check_full(c); i++)
		settle_chain(c, state, stack, i);
	return HBM_OK;
}

/* ---- the rest ------------------------------------------------------------ */

static void check_align(hbm_checker *c, hbm_tensor_id i)
{
	const hbm_tensor *t = &c->p->tensors.items[i];
	hbm_where at = hbm_check_tensor_at(c, i);
	const char *name = hbm_tensor_name(c->p, i);

	if (!t->align)
		return;
	if (t->align & (t->align - 1)) {
		HBM_CHECK_FAIL(c, at, HBM_E_ATTRIBUTE,
		               "alignment %" PRIu64 " of '%s' is not a power of two",
		               t->align, name);
		return;
	}
	if (t->pin != HBM_NO_OFFSET && t->pin % t->align)
		HBM_CHECK_FAIL(c, at, HBM_E_DEMAND,
		               "'%s' is pinned at %" PRIu64
		               ", no multiple of its alignment %" PRIu64,
		               name, t->pin, t->align);
}

static void check_home(hbm_checker *c, hbm_tensor_id i)
{
	const hbm_tensor *t = &c->p->tensors.items[i];
	hbm_node_id b = t->home.bundle;

	if (t->home.kind == HBM_HOME_POOL &&
	    (b >= c->p->nodes.n || c->p->nodes.items[b].kind != HBM_NODE_BUNDLE))
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_STRUCTURE,
		               "the pool of '%s' belongs to no bundle",
		               hbm_tensor_name(c->p, i));
	if (t->demand == HBM_HOME_IO)
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_DEMAND,
		               "home io cannot be demanded for '%s'; declare it input, "
		               "output, weight or state",
		               hbm_tensor_name(c->p, i));
}

static void check_attrs(hbm_checker *c, hbm_tensor_id i)
{
	hbm_span attrs = c->p->tensors.items[i].attrs;

	for (uint32_t k = 0; k < attrs.n; k++) {
		hbm_status st = hbm_attr_check(c->p, c->diags, HBM_ATTR_TENSOR,
		                               &c->p->attrs.items[attrs.first + k],
		                               hbm_check_tensor_at(c, i));
		if (st != HBM_OK)
			hbm_check_failed(c, st);
	}
}

hbm_status hbm_check_tensors(hbm_checker *c)
{
	hbm_map symbols;

	hbm_map_init(&symbols, &c->scratch);
	for (uint32_t i = 0; i < c->p->tensors.n && !hbm_check_full(c); i++) {
		const hbm_tensor *t = &c->p->tensors.items[i];
		HBM_TRY(check_name(c, i));
		HBM_TRY(check_dims(c, &symbols, i, t->dims));
		HBM_TRY(check_dims(c, &symbols, i, t->device));
		check_align(c, i);
		check_home(c, i);
		check_attrs(c, i);
	}
	return check_sizes(c);
}
