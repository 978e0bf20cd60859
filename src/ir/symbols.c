/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/symbols.h"

#include <inttypes.h>
#include <string.h>

hbm_status hbm_symbols_init(hbm_symbols *s, hbm_program *p, hbm_diags *d,
                            const hbm_bind *binds, uint32_t n_binds)
{
	*s = (hbm_symbols){.p = p, .diags = d, .binds = binds, .n_binds = n_binds};
	hbm_map_init(&s->bind_of, p->arena);
	hbm_map_init(&s->stated, p->arena);
	s->bind_used = HBM_ZARRAY(p->arena, bool, n_binds);
	HBM_NEED(s->bind_used);
	for (uint32_t i = 0; i < n_binds; i++) {
		hbm_sym sym = hbm_intern_cstr(&p->syms, binds[i].name);
		HBM_NEED(sym != HBM_NONE && hbm_map_set(&s->bind_of, sym, i));
	}
	return HBM_OK;
}

static hbm_status out_of_bounds(hbm_symbols *s, const hbm_dim *d, uint64_t value,
                                hbm_where at)
{
	const char *name = hbm_str_of(s->p, d->sym);

	if (value < d->min)
		return hbm_fail(s->diags, HBM_SEMANTIC, HBM_E_BOUND, at,
		                "'%s' is bound to %" PRIu64
		                ", below its lower bound %" PRIu64,
		                name, value, d->min);
	return hbm_fail(s->diags, HBM_SEMANTIC, HBM_E_BOUND, at,
	                "'%s' is bound to %" PRIu64 ", above its upper bound %" PRIu64,
	                name, value, d->value);
}

static bool has_bounds(const hbm_dim *d)
{
	return !d->unknown || d->min;
}

static bool same_bounds(const hbm_dim *a, const hbm_dim *b)
{
	return a->unknown == b->unknown && a->min == b->min && a->value == b->value;
}

/* Bounds stand here: they must be those of every other use. */
static hbm_status state(hbm_symbols *s, uint32_t dim, hbm_where at)
{
	const hbm_dim *d = &s->p->dims.items[dim];
	uint32_t first = hbm_map_get(&s->stated, d->sym);
	hbm_status st;

	if (first == HBM_NONE) {
		HBM_NEED(HBM_PUSH(s->p->arena, &s->uses, (hbm_dim_use){dim, at}));
		HBM_NEED(hbm_map_set(&s->stated, d->sym, s->uses.n - 1));
		return HBM_OK;
	}
	if (same_bounds(d, &s->p->dims.items[s->uses.items[first].dim]))
		return HBM_OK;
	st = hbm_fail(s->diags, HBM_SEMANTIC, HBM_E_BOUND, at,
	              "bounds of '%s' differ from those of its other use",
	              hbm_str_of(s->p, d->sym));
	hbm_note(s->diags, s->uses.items[first].at, "the other use is here");
	return st;
}

hbm_status hbm_symbols_use(hbm_symbols *s, uint32_t dim, hbm_where at)
{
	hbm_dim *d = &s->p->dims.items[dim];
	uint32_t bind = s->n_binds ? hbm_map_get(&s->bind_of, d->sym) : HBM_NONE;

	if (bind != HBM_NONE) {
		uint64_t value = s->binds[bind].value;
		s->bind_used[bind] = true;
		if (value < d->min || (!d->unknown && value > d->value))
			return out_of_bounds(s, d, value, at);
		d->value = d->min = value;
		d->unknown = false;
		return HBM_OK;
	}
	if (has_bounds(d))
		return state(s, dim, at);
	HBM_NEED(HBM_PUSH(s->p->arena, &s->bare, dim));
	return HBM_OK;
}

static hbm_status warn_unused(const hbm_symbols *s)
{
	for (uint32_t i = 0; i < s->n_binds; i++) {
		const char *name = s->binds[i].name;
		hbm_sym sym = hbm_sym_find(&s->p->syms, name, strlen(name));
		if (s->bind_used[hbm_map_get(&s->bind_of, sym)])
			continue;
		HBM_NEED(hbm_warn(s->diags, HBM_E_UNKNOWN_NAME,
		                  (hbm_where){.file = s->p->file},
		                  "no extent is called '%s': its value has no use",
		                  name));
	}
	return HBM_OK;
}

hbm_status hbm_symbols_finish(hbm_symbols *s)
{
	HBM_TRY(warn_unused(s));
	for (uint32_t i = 0; i < s->bare.n; i++) {
		hbm_dim *d = &s->p->dims.items[s->bare.items[i]];
		uint32_t use = hbm_map_get(&s->stated, d->sym);
		const hbm_dim *from;
		if (use == HBM_NONE)
			continue;
		from = &s->p->dims.items[s->uses.items[use].dim];
		d->value = from->value;
		d->min = from->min;
		d->unknown = from->unknown;
	}
	return HBM_OK;
}
