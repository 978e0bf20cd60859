/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of random programs, and who may read and write them. */
#include "support/gen_internal.h"

#include <stdio.h>

enum { RECENT = 8, TRIES = 12 };

hbm_sym gen_name_of(gen *g, const char *letter)
{
	static const char *const odd[] = {" a", "\"q\"", "\\", "\xc3\xa9", "#",
	                                  "-",  "->",    "..", "\n"};
	char buf[48];
	int n = snprintf(buf, sizeof buf, "%s%u%s", letter, g->n_named++,
	                 gen_chance(g, g->o->decorate / 4) ? odd[gen_under(g, 9)] : "");

	return hbm_intern(&g->p->syms, buf, (size_t)n);
}

hbm_tensor *gen_tensor_of(gen *g, hbm_tensor_id t)
{
	return &g->p->tensors.items[t];
}

void gen_add_attr(gen *g, hbm_span *attrs)
{
	hbm_value v[3] = {{.is_num = true, .num = gen_random(&g->rng)},
	                  {.str = hbm_intern_cstr(&g->p->syms, "some text")},
	                  {.str = 0}};
	char key[32];

	snprintf(key, sizeof key, "note.k%u", attrs->n);
	g->nomem |= !hbm_add_attr(g->p, attrs, hbm_intern_cstr(&g->p->syms, key), v,
	                          gen_under(g, 4));
}

static void add_dims(gen *g, hbm_span *span)
{
	uint32_t n = 1 + gen_under(g, 3);

	while (n--) {
		hbm_dim d = {.value = gen_under(g, 100), .hint = gen_under(g, 3)};
		d.min = gen_chance(g, 500) ? d.value
		                           : gen_under(g, (uint32_t)d.value + 1);
		d.nosplit = gen_chance(g, 200);
		if (d.min != d.value && gen_chance(g, 500)) {
			char buf[32];
			snprintf(buf, sizeof buf, "n%u_%u", (unsigned)d.min,
			         (unsigned)d.value);
			d.sym = hbm_intern_cstr(&g->p->syms, buf);
		}
		if (gen_chance(g, g->o->dynamic))
			d = (hbm_dim){.unknown = true,
			              .min = gen_under(g, 2),
			              .hint = gen_under(g, 9)};
		g->nomem |= !hbm_add_dim(g->p, span, d);
	}
}

/* What does not touch the size, the kind of memory or the sharing. */
static void decorate_tensor(gen *g, hbm_tensor *t)
{
	if (gen_chance(g, 400))
		t->src = hbm_intern_cstr(&g->p->syms, "model.py:12");
	if (gen_chance(g, 200))
		t->owner = hbm_intern_cstr(&g->p->syms, "layer 3");
	if (gen_chance(g, 300))
		t->dtype = (hbm_dtype)gen_under(g, HBM_N_DTYPES);
	if (gen_chance(g, 300))
		add_dims(g, &t->dims);
	if (gen_chance(g, 200))
		add_dims(g, &t->device);
	while (gen_chance(g, 300) && t->attrs.n < 5)
		gen_add_attr(g, &t->attrs);
	if (gen_chance(g, 200) && t->base == HBM_NONE)
		t->align = (uint64_t)1 << gen_under(g, 12);
}

uint64_t gen_size_of_new(gen *g, uint64_t most)
{
	uint64_t cap = most < g->o->max_size ? most : g->o->max_size;

	if (gen_chance(g, 300)) /* round sizes make equal ones more likely */
		return cap;
	return 1 + gen_below(&g->rng, cap);
}

static void make_dynamic(gen *g, hbm_tensor *t)
{
	hbm_dim d = {.unknown = true, .hint = gen_under(g, 9)};

	t->flags &= ~(uint32_t)HBM_T_SIZED;
	t->size = 0;
	t->dtype = HBM_DT_f32;
	t->device.n = 0;
	g->nomem |= !hbm_add_dim(g->p, &t->dims, d);
}

/* A tensor of its own or, with a base, a view. */
hbm_tensor_id gen_new_tensor(gen *g, const char *letter, uint64_t size, uint32_t flags)
{
	hbm_sym name = gen_name_of(g, letter);
	hbm_tensor_id id = name == HBM_NONE ? HBM_NONE : hbm_add_tensor(g->p, name);

	if (id == HBM_NONE) {
		g->nomem = true;
		return HBM_NONE;
	}
	gen_tensor_of(g, id)->flags = flags | HBM_T_SIZED;
	gen_tensor_of(g, id)->size = size;
	if (gen_chance(g, g->o->decorate))
		decorate_tensor(g, gen_tensor_of(g, id));
	if (gen_chance(g, g->o->dynamic))
		make_dynamic(g, gen_tensor_of(g, id));
	if (gen_chance(g, g->o->pin) && !gen_tensor_of(g, id)->align)
		gen_tensor_of(g, id)->pin = gen_under(g, 4096);
	return id;
}

uint32_t gen_member_now(const gen *g)
{
	return g->n_active ? g->active[g->n_active - 1] : 0;
}

uint32_t gen_new_root(gen *g, hbm_tensor_id t, bool writable)
{
	gen_root r = {.tensor = t,
	              .member = gen_member_now(g),
	              .writable = writable,
	              .whole = true,
	              .until = HBM_NONE};

	g->nomem |= !HBM_PUSH(g->p->arena, &g->roots, r);
	return g->roots.n - 1;
}

void gen_new_value(gen *g, hbm_tensor_id t, uint32_t r, uint64_t size)
{
	gen_value v = {t, r, size};

	g->nomem |= !HBM_PUSH(g->p->arena, &g->values, v);
}

/* A storage that is there from the start. */
void gen_given(gen *g, const char *letter, uint32_t flags)
{
	uint64_t size = gen_size_of_new(g, UINT64_MAX);
	uint32_t writable = HBM_T_DONATED | HBM_T_STATE | HBM_T_ZERO;
	hbm_tensor_id t = gen_new_tensor(g, letter, size, flags);

	if (!g->nomem)
		gen_new_value(g, t, gen_new_root(g, t, (flags & writable) != 0), size);
}

void gen_add_given(gen *g)
{
	for (uint32_t i = 0; i < g->o->n_inputs && !g->nomem; i++) {
		gen_given(g, "x", HBM_T_INPUT);
		if (gen_chance(g, g->o->donated))
			gen_given(g, "d", HBM_T_INPUT | HBM_T_DONATED);
		if (gen_chance(g, g->o->weight))
			gen_given(g, "w", HBM_T_WEIGHT);
		if (gen_chance(g, g->o->state))
			gen_given(g, "s", HBM_T_STATE);
	}
}

/* ---- who sees what ------------------------------------------------------- */

static bool active(const gen *g, uint32_t member)
{
	for (uint32_t i = 0; i < g->n_active; i++)
		if (g->active[i] == member)
			return true;
	return !member;
}

static bool is_open(const gen *g, hbm_node_id node)
{
	for (uint32_t i = 0; i < g->n_open; i++)
		if (g->open[i].node == node)
			return true;
	return false;
}

/* All loops that the root's window advances on are around the next op. */
static bool in_window(const gen *g, const gen_root *r)
{
	for (uint32_t i = 0; i < r->window.strides.n; i++) {
		hbm_node_id loop =
			g->p->strides.items[r->window.strides.first + i].loop;
		if (!is_open(g, loop))
			return false;
	}
	return true;
}

static bool readable(const gen *g, const gen_value *v, bool host)
{
	const gen_root *r = &g->roots.items[v->root];

	if (!active(g, r->member) || r->host != host)
		return false;
	return r->whole || (v->tensor == r->tensor && in_window(g, r));
}

bool gen_writable(const gen *g, const gen_value *v)
{
	const gen_root *r = &g->roots.items[v->root];

	return r->writable && r->whole && r->member == gen_member_now(g) && !r->host;
}

const gen_value *gen_pick(gen *g, bool host)
{
	uint32_t n = g->values.n;

	for (uint32_t i = 0; i < TRIES; i++) {
		uint32_t k = gen_chance(g, g->o->far) || n <= RECENT
		                     ? gen_under(g, n)
		                     : n - 1 - gen_under(g, RECENT);
		if (readable(g, &g->values.items[k], host))
			return &g->values.items[k];
	}
	return host ? NULL : &g->values.items[0]; /* an input */
}

void gen_add_view(gen *g)
{
	gen_value v = *gen_pick(g, false);
	const hbm_tensor *base = gen_tensor_of(g, v.tensor);
	uint64_t offset = gen_below(&g->rng, v.size), size;
	hbm_tensor_id t;

	if (!g->roots.items[v.root].whole || base->flags & HBM_T_TILE || !v.size)
		return;
	if (gen_chance(g, 400))
		offset = 0;
	size = 1 + gen_below(&g->rng, v.size - offset);
	t = gen_new_tensor(g, "v", size,
	                   gen_chance(g, g->o->output / 4) ? HBM_T_OUTPUT : 0);
	if (g->nomem)
		return;
	gen_tensor_of(g, t)->align = 0;
	gen_tensor_of(g, t)->pin = HBM_NO_OFFSET;
	gen_tensor_of(g, t)->base = v.tensor;
	gen_tensor_of(g, t)->offset = offset;
	if (gen_chance(g, 200)) { /* untyped: the rest of the base */
		gen_tensor_of(g, t)->flags &= ~(uint32_t)HBM_T_SIZED;
		gen_tensor_of(g, t)->size = 0;
		gen_tensor_of(g, t)->dtype = HBM_DT_none;
		gen_tensor_of(g, t)->device.n = 0;
		size = v.size - offset;
	}
	gen_new_value(g, t, v.root, size);
}
