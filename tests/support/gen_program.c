/* SPDX-License-Identifier: Apache-2.0 */
/* See the header. Method: one walk that opens and closes blocks and adds ops. It
 * knows of each storage whether all its bytes are written and who may see it: what
 * a member of a parallel node makes is for that member until the node ends; what is
 * written trip by trip may be read in the same way inside those loops and is whole
 * after them. */
#include "support/gen_program.h"

#include "ir/validate.h"

#include <stdio.h>

enum { MAX_OPEN = 16, RECENT = 8, TRIES = 12 };

/* Bytes behind some tensors. */
typedef struct root {
	hbm_tensor_id tensor;
	uint32_t member;     /* who may see it; 0: all */
	bool writable;
	bool whole;          /* all bytes are written */
	bool host;
	hbm_node_id until;   /* loop at whose end it will be whole */
	hbm_operand window;  /* how it is written until then */
} root;

/* A tensor that ops may name. */
typedef struct value {
	hbm_tensor_id tensor;
	uint32_t root;
	uint64_t size;
} value;

typedef struct block {
	hbm_node_id node;
	hbm_node_kind kind;
	uint32_t first_member;  /* of a parallel node */
	bool is_member;
	hbm_tensor_id carried;  /* HBM_NONE: none */
} block;

typedef struct gen {
	const gen_opts *o;
	hbm_program *p;
	uint64_t rng;
	block open[MAX_OPEN];
	uint32_t n_open;
	uint32_t active[MAX_OPEN + 1], n_active; /* members around the next op */
	uint32_t next_member;
	HBM_VEC(root) roots;
	HBM_VEC(value) values;
	uint32_t n_named;
	bool nomem;
} gen;

uint64_t gen_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t gen_below(uint64_t *state, uint64_t n)
{
	return n ? gen_random(state) % n : 0;
}

static uint32_t below(gen *g, uint32_t n)
{
	return (uint32_t)gen_below(&g->rng, n);
}

static bool chance(gen *g, uint32_t in_1000)
{
	return in_1000 && below(g, 1000) < in_1000;
}

void gen_defaults(gen_opts *o, uint64_t seed)
{
	uint64_t r = seed ^ 0x5851f42d4c957f2du;
#define UP_TO(n) ((uint32_t)gen_below(&r, (n) + 1))
	*o = (gen_opts){.seed = seed};
	o->n_ops = 2 + UP_TO(40);
	o->n_inputs = 1 + UP_TO(3);
	o->max_depth = UP_TO(4);
	o->max_trips = 2 + UP_TO(3);
	o->max_size = 1u << (4 + UP_TO(8));
	o->bundle = 500 + UP_TO(500);
	o->close = 50 + UP_TO(200);
	o->loop = UP_TO(200);
	o->region = UP_TO(60);
	o->parallel = UP_TO(2) ? 0 : UP_TO(80);
	o->unknown_trips = UP_TO(3) ? 0 : 150;
	o->far = UP_TO(600);
	o->view = UP_TO(300);
	o->may = UP_TO(400);
	o->must = UP_TO(200);
	o->rewrite = UP_TO(200);
	o->fallback = UP_TO(150);
	o->window = UP_TO(300);
	o->advance = UP_TO(500);
	o->tile = UP_TO(1000);
	o->carried = UP_TO(300);
	o->zero = UP_TO(60);
	o->state = UP_TO(100);
	o->donated = UP_TO(500);
	o->weight = UP_TO(300);
	o->output = UP_TO(120);
	o->scratch = UP_TO(100);
	o->host = UP_TO(200);
#undef UP_TO
}

/* ---- tensors ------------------------------------------------------------------ */

static hbm_sym name_of(gen *g, const char *letter)
{
	static const char *const odd[] = {" a", "\"q\"", "\\", "\xc3\xa9", "#", "-",
	                                  "->", "..", "\n"};
	char buf[48];
	int n = snprintf(buf, sizeof buf, "%s%u%s", letter, g->n_named++,
	                 chance(g, g->o->decorate / 4) ? odd[below(g, 9)] : "");

	return hbm_intern(&g->p->syms, buf, (size_t)n);
}

static hbm_tensor *tensor_of(gen *g, hbm_tensor_id t)
{
	return &g->p->tensors.items[t];
}

static void add_attr(gen *g, hbm_span *attrs)
{
	hbm_value v[3] = {{.is_num = true, .num = gen_random(&g->rng)},
	                  {.str = hbm_intern_cstr(&g->p->syms, "some text")},
	                  {.str = 0}};
	char key[32];

	snprintf(key, sizeof key, "note.k%u", attrs->n);
	g->nomem |= !hbm_add_attr(g->p, attrs, hbm_intern_cstr(&g->p->syms, key), v,
	                          below(g, 4));
}

static void add_dims(gen *g, hbm_span *span)
{
	uint32_t n = 1 + below(g, 3);

	while (n--) {
		hbm_dim d = {.value = below(g, 100), .hint = below(g, 3)};
		d.min = chance(g, 500) ? d.value : below(g, (uint32_t)d.value + 1);
		d.nosplit = chance(g, 200);
		if (d.min != d.value && chance(g, 500)) {
			char buf[32];
			snprintf(buf, sizeof buf, "n%u_%u", (unsigned)d.min,
			         (unsigned)d.value);
			d.sym = hbm_intern_cstr(&g->p->syms, buf);
		}
		if (chance(g, g->o->dynamic))
			d = (hbm_dim){.unknown = true, .min = below(g, 2),
			              .hint = below(g, 9)};
		g->nomem |= !hbm_add_dim(g->p, span, d);
	}
}

/* What does not touch the size, the kind of memory or the sharing. */
static void decorate_tensor(gen *g, hbm_tensor *t)
{
	if (chance(g, 400))
		t->src = hbm_intern_cstr(&g->p->syms, "model.py:12");
	if (chance(g, 200))
		t->owner = hbm_intern_cstr(&g->p->syms, "layer 3");
	if (chance(g, 300))
		t->dtype = (hbm_dtype)below(g, HBM_N_DTYPES);
	if (chance(g, 300))
		add_dims(g, &t->dims);
	if (chance(g, 200))
		add_dims(g, &t->device);
	while (chance(g, 300) && t->attrs.n < 5)
		add_attr(g, &t->attrs);
	if (chance(g, 200) && t->base == HBM_NONE)
		t->align = (uint64_t)1 << below(g, 12);
}

static uint64_t size_of_new(gen *g, uint64_t most)
{
	uint64_t cap = most < g->o->max_size ? most : g->o->max_size;

	if (chance(g, 300)) /* round sizes make equal ones more likely */
		return cap;
	return 1 + gen_below(&g->rng, cap);
}

static void make_dynamic(gen *g, hbm_tensor *t)
{
	hbm_dim d = {.unknown = true, .hint = below(g, 9)};

	t->flags &= ~(uint32_t)HBM_T_SIZED;
	t->size = 0;
	t->dtype = HBM_DT_f32;
	t->device.n = 0;
	g->nomem |= !hbm_add_dim(g->p, &t->dims, d);
}

/* A tensor of its own or, with a base, a view. */
static hbm_tensor_id new_tensor(gen *g, const char *letter, uint64_t size,
                                uint32_t flags)
{
	hbm_sym name = name_of(g, letter);
	hbm_tensor_id id = name == HBM_NONE ? HBM_NONE : hbm_add_tensor(g->p, name);

	if (id == HBM_NONE) {
		g->nomem = true;
		return HBM_NONE;
	}
	tensor_of(g, id)->flags = flags | HBM_T_SIZED;
	tensor_of(g, id)->size = size;
	if (chance(g, g->o->decorate))
		decorate_tensor(g, tensor_of(g, id));
	if (chance(g, g->o->dynamic))
		make_dynamic(g, tensor_of(g, id));
	if (chance(g, g->o->pin) && !tensor_of(g, id)->align)
		tensor_of(g, id)->pin = below(g, 4096);
	return id;
}

static uint32_t member_now(const gen *g)
{
	return g->n_active ? g->active[g->n_active - 1] : 0;
}

static uint32_t new_root(gen *g, hbm_tensor_id t, bool writable)
{
	root r = {.tensor = t, .member = member_now(g), .writable = writable,
	          .whole = true, .until = HBM_NONE};

	g->nomem |= !HBM_PUSH(g->p->arena, &g->roots, r);
	return g->roots.n - 1;
}

static void new_value(gen *g, hbm_tensor_id t, uint32_t r, uint64_t size)
{
	value v = {t, r, size};

	g->nomem |= !HBM_PUSH(g->p->arena, &g->values, v);
}

/* A storage that is there from the start. */
static void given(gen *g, const char *letter, uint32_t flags)
{
	uint64_t size = size_of_new(g, UINT64_MAX);
	uint32_t writable = HBM_T_DONATED | HBM_T_STATE | HBM_T_ZERO;
	hbm_tensor_id t = new_tensor(g, letter, size, flags);

	if (!g->nomem)
		new_value(g, t, new_root(g, t, (flags & writable) != 0), size);
}

static void add_given(gen *g)
{
	for (uint32_t i = 0; i < g->o->n_inputs && !g->nomem; i++) {
		given(g, "x", HBM_T_INPUT);
		if (chance(g, g->o->donated))
			given(g, "d", HBM_T_INPUT | HBM_T_DONATED);
		if (chance(g, g->o->weight))
			given(g, "w", HBM_T_WEIGHT);
		if (chance(g, g->o->state))
			given(g, "s", HBM_T_STATE);
	}
}

/* ---- who sees what ---------------------------------------------------------------- */

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
static bool in_window(const gen *g, const root *r)
{
	for (uint32_t i = 0; i < r->window.strides.n; i++) {
		hbm_node_id loop =
			g->p->strides.items[r->window.strides.first + i].loop;
		if (!is_open(g, loop))
			return false;
	}
	return true;
}

static bool readable(const gen *g, const value *v, bool host)
{
	const root *r = &g->roots.items[v->root];

	if (!active(g, r->member) || r->host != host)
		return false;
	return r->whole || (v->tensor == r->tensor && in_window(g, r));
}

static bool writable(const gen *g, const value *v)
{
	const root *r = &g->roots.items[v->root];

	return r->writable && r->whole && r->member == member_now(g) && !r->host;
}

static const value *pick(gen *g, bool host)
{
	uint32_t n = g->values.n;

	for (uint32_t i = 0; i < TRIES; i++) {
		uint32_t k = chance(g, g->o->far) || n <= RECENT
		                     ? below(g, n)
		                     : n - 1 - below(g, RECENT);
		if (readable(g, &g->values.items[k], host))
			return &g->values.items[k];
	}
	return host ? NULL : &g->values.items[0]; /* an input */
}

static void add_view(gen *g)
{
	value v = *pick(g, false);
	const hbm_tensor *base = tensor_of(g, v.tensor);
	uint64_t offset = gen_below(&g->rng, v.size), size;
	hbm_tensor_id t;

	if (!g->roots.items[v.root].whole || base->flags & HBM_T_TILE || !v.size)
		return;
	if (chance(g, 400))
		offset = 0;
	size = 1 + gen_below(&g->rng, v.size - offset);
	t = new_tensor(g, "v", size, chance(g, g->o->output / 4) ? HBM_T_OUTPUT : 0);
	if (g->nomem)
		return;
	tensor_of(g, t)->align = 0;
	tensor_of(g, t)->pin = HBM_NO_OFFSET;
	tensor_of(g, t)->base = v.tensor;
	tensor_of(g, t)->offset = offset;
	if (chance(g, 200)) { /* untyped: the rest of the base */
		tensor_of(g, t)->flags &= ~(uint32_t)HBM_T_SIZED;
		tensor_of(g, t)->size = 0;
		tensor_of(g, t)->dtype = HBM_DT_none;
		tensor_of(g, t)->device.n = 0;
		size = v.size - offset;
	}
	new_value(g, t, v.root, size);
}

/* ---- ops --------------------------------------------------------------------------- */

static void narrow(gen *g, hbm_operand *o, uint64_t size)
{
	if (size < 2)
		return;
	o->offset = gen_below(&g->rng, size);
	o->len = chance(g, 300) ? 0 : 1 + gen_below(&g->rng, size - o->offset);
}

static void add_read(gen *g, hbm_op_id op, bool host)
{
	const value *v = pick(g, host);
	const root *r = v ? &g->roots.items[v->root] : NULL;
	hbm_operand *o;

	if (!v)
		return;
	if (!hbm_add_read(g->p, op, v->tensor)) {
		g->nomem = true;
		return;
	}
	o = &g->p->operands.items[g->p->operands.n - 1];
	if (!r->whole)
		*o = r->window;
	else if (chance(g, g->o->window))
		narrow(g, o, v->size);
}

/* The op's reads of whole tensors that an output may take the bytes of. */
static bool pick_inplace(gen *g, hbm_op_id op, bool must, uint32_t *ret_read,
                         value *ret_value)
{
	hbm_span reads = g->p->ops.items[op].reads;
	uint32_t i = below(g, reads.n);
	const hbm_operand *o = &g->p->operands.items[reads.first + i];

	if (!reads.n || o->offset || o->len || o->strides.n)
		return false;
	for (uint32_t k = g->values.n; k--;) {
		const value *v = &g->values.items[k];
		if (v->tensor != o->tensor)
			continue;
		*ret_read = i;
		*ret_value = *v;
		return v->size && (!must || writable(g, v));
	}
	return false;
}

static void declare_inplace(gen *g, hbm_op_id id, uint32_t read, bool must, bool same)
{
	hbm_op *op = &g->p->ops.items[id];
	hbm_inplace pair = {.write = op->writes.n - 1, .read = read, .must = must};

	pair.keeps = same && op->reads.n == 1 && chance(g, 200);
	if (!op->inplace.n)
		op->inplace.first = g->p->inplaces.n;
	g->nomem |= !HBM_PUSH(g->p->arena, &g->p->inplaces, pair);
	op->inplace.n++;
}

static void write_in_place(gen *g, hbm_op_id op, bool must)
{
	uint32_t read, r;
	value v;
	uint64_t size;
	hbm_tensor_id t;

	if (!pick_inplace(g, op, must, &read, &v))
		return;
	size = chance(g, 600) ? v.size : size_of_new(g, v.size);
	t = new_tensor(g, must ? "m" : "i", size, 0);
	if (g->nomem)
		return;
	if (must) /* distances must not depend on alignment */
		tensor_of(g, t)->align = 0;
	if (must)
		tensor_of(g, t)->pin = HBM_NO_OFFSET;
	r = must ? v.root : new_root(g, t, true);
	g->nomem |= !hbm_add_write(g->p, op, t);
	declare_inplace(g, op, read, must, size == v.size);
	new_value(g, t, r, size);
}

static bool write_existing(gen *g, hbm_op_id op)
{
	value v = *pick(g, false);

	if (!writable(g, &v))
		return false;
	g->nomem |= !hbm_add_write(g->p, op, v.tensor);
	if (!g->nomem && chance(g, g->o->window))
		narrow(g, &g->p->operands.items[g->p->operands.n - 1], v.size);
	return true;
}

/* Loops around the next op that a window can advance on, outermost first. */
static uint32_t loops_to_advance(gen *g, hbm_node_id loops[MAX_OPEN])
{
	uint32_t n = 0, levels = 1 + below(g, 3);

	for (uint32_t i = g->n_open; i-- && n < levels;) {
		const block *b = &g->open[i];
		if (b->kind == HBM_NODE_PARALLEL || b->is_member)
			break;
		if (b->kind != HBM_NODE_LOOP)
			continue;
		if (!g->p->nodes.items[b->node].trips)
			break;
		loops[n++] = b->node;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		hbm_node_id swap = loops[i];
		loops[i] = loops[n - 1 - i];
		loops[n - 1 - i] = swap;
	}
	return n;
}

/* A new tensor, one tile of it written per trip. */
static bool write_advancing(gen *g, hbm_op_id op)
{
	hbm_node_id loops[MAX_OPEN];
	uint32_t n = loops_to_advance(g, loops), r;
	uint64_t tile = size_of_new(g, 64), step = tile;
	hbm_span strides = {g->p->strides.n, n};
	bool as_tile = chance(g, g->o->tile);
	hbm_tensor_id t;
	hbm_operand *o;

	if (!n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		hbm_stride s = {.loop = loops[i]};
		g->nomem |= !HBM_PUSH(g->p->arena, &g->p->strides, s);
	}
	for (uint32_t i = n; i-- && !g->nomem;) {
		g->p->strides.items[strides.first + i].bytes = step;
		step *= g->p->nodes.items[loops[i]].trips;
	}
	t = new_tensor(g, "t", as_tile ? tile : step, as_tile ? HBM_T_TILE : 0);
	if (g->nomem || !hbm_add_write(g->p, op, t)) {
		g->nomem = true;
		return false;
	}
	o = &g->p->operands.items[g->p->operands.n - 1];
	o->len = as_tile && chance(g, 500) ? 0 : tile;
	o->strides = strides;
	r = new_root(g, t, !as_tile);
	new_value(g, t, r, as_tile ? tile : step);
	if (g->nomem)
		return false;
	g->roots.items[r].whole = false;
	g->roots.items[r].until = loops[0];
	g->roots.items[r].window = *o;
	return true;
}

static void write_new(gen *g, hbm_op_id op, uint32_t flags)
{
	uint64_t size = size_of_new(g, UINT64_MAX);
	hbm_tensor_id t = new_tensor(g, flags & HBM_T_OUTPUT ? "y" : "b", size, flags);
	uint32_t r;

	if (g->nomem)
		return;
	r = new_root(g, t, true);
	if (!g->nomem)
		g->roots.items[r].host = (flags & HBM_T_HOST) != 0;
	new_value(g, t, r, size);
	g->nomem |= !hbm_add_write(g->p, op, t);
}

static void add_write(gen *g, hbm_op_id op, bool host)
{
	if (host) {
		write_new(g, op, HBM_T_HOST);
		return;
	}
	if (chance(g, g->o->must))
		write_in_place(g, op, true);
	else if (chance(g, g->o->may))
		write_in_place(g, op, false);
	else if (chance(g, g->o->rewrite))
		(void)write_existing(g, op);
	else if (chance(g, g->o->advance))
		(void)write_advancing(g, op);
	if (!g->nomem && !g->p->ops.items[op].writes.n)
		write_new(g, op, chance(g, g->o->output) ? HBM_T_OUTPUT : 0);
}

static void decorate_op(gen *g, hbm_op *op)
{
	uint32_t n = below(g, 3);

	if (chance(g, 300))
		op->src = hbm_intern_cstr(&g->p->syms, "dir/model.py:3");
	if (chance(g, 300))
		op->cores = below(g, 33);
	for (uint32_t i = 0; i < n; i++) {
		hbm_iter it = {.extent = below(g, 5000), .split = below(g, 5),
		               .reduction = chance(g, 300), .stick = chance(g, 300)};
		it.name = hbm_intern_cstr(&g->p->syms, i ? "j" : "i");
		if (!op->iters.n)
			op->iters.first = g->p->iters.n;
		g->nomem |= !HBM_PUSH(g->p->arena, &g->p->iters, it);
		op->iters.n++;
	}
	while (chance(g, 300) && op->attrs.n < 5)
		add_attr(g, &op->attrs);
	if (chance(g, 100) && !hbm_has_attr(g->p, op->attrs, "pointwise"))
		g->nomem |= !hbm_add_attr_flag(g->p, &op->attrs, "pointwise");
}

static hbm_node_id around(const gen *g)
{
	return g->n_open ? g->open[g->n_open - 1].node : HBM_NONE;
}

/* A child of a parallel node is a member of its own. */
static bool enter_member(gen *g)
{
	if (!g->n_open || g->open[g->n_open - 1].kind != HBM_NODE_PARALLEL)
		return false;
	g->active[g->n_active++] = g->next_member++;
	return true;
}

static hbm_op_kind pick_kind(gen *g)
{
	static const hbm_op_kind kinds[] = {HBM_OP_FALLBACK, HBM_OP_FALLBACK,
	                                    HBM_OP_EXTERN, HBM_OP_NOP};

	if (g->n_open ? chance(g, g->o->fallback / 4) : chance(g, g->o->fallback))
		return kinds[below(g, 4)];
	return HBM_OP_COMPUTE;
}

static hbm_op_id begin_op(gen *g, hbm_op_kind kind)
{
	static const char *const names[] = {"exp", "add", "matmul", "copy", "x y"};
	hbm_sym name = name_of(g, "o");
	hbm_sym opname = hbm_intern_cstr(&g->p->syms, names[below(g, 4)]);
	hbm_op_id id = hbm_add_op(g->p, around(g), kind, name, opname);

	g->nomem |= id == HBM_NONE || name == HBM_NONE || opname == HBM_NONE;
	return id;
}

static void add_op(gen *g)
{
	hbm_op_kind kind = pick_kind(g);
	bool fallback = kind == HBM_OP_FALLBACK;
	uint32_t n_reads = chance(g, 50) ? 0 : 1 + below(g, 3);
	bool member = enter_member(g);
	hbm_op_id id = begin_op(g, kind);

	for (uint32_t i = 0; i < n_reads && !g->nomem; i++)
		add_read(g, id, fallback && chance(g, g->o->host));
	if (!g->nomem && !chance(g, 30))
		add_write(g, id, fallback && chance(g, g->o->host));
	if (!g->nomem && chance(g, 80))
		write_new(g, id, 0);
	if (!g->nomem && chance(g, g->o->scratch))
		g->p->ops.items[id].scratch = 1 + below(g, g->o->max_size);
	if (!g->nomem && chance(g, g->o->decorate))
		decorate_op(g, &g->p->ops.items[id]);
	if (member)
		g->n_active--;
}

/* ---- blocks -------------------------------------------------------------------------- */

/* One op that reads or writes just this tensor. */
static void touch(gen *g, hbm_tensor_id t, bool write)
{
	bool member = enter_member(g);
	hbm_op_id id = begin_op(g, HBM_OP_COMPUTE);

	if (g->nomem)
		return;
	if (!write)
		g->nomem |= !hbm_add_read(g->p, id, t);
	else
		add_read(g, id, false);
	if (write)
		g->nomem |= !hbm_add_write(g->p, id, t);
	else
		write_new(g, id, 0);
	if (member)
		g->n_active--;
}

static void open_block(gen *g, hbm_node_kind kind)
{
	static const char *const letters[] = {"o", "k", "L", "r", "q"};
	block b = {.kind = kind, .carried = HBM_NONE};
	hbm_sym name;

	if (g->n_open == MAX_OPEN)
		return;
	name = name_of(g, letters[kind]);
	b.is_member = enter_member(g);
	b.first_member = g->next_member;
	b.node = hbm_open_node(g->p, kind, name, around(g));
	if (name == HBM_NONE || b.node == HBM_NONE) {
		g->nomem = true;
		return;
	}
	if (kind == HBM_NODE_LOOP && !chance(g, g->o->unknown_trips))
		g->p->nodes.items[b.node].trips = 1 + below(g, g->o->max_trips);
	if (chance(g, g->o->decorate / 2))
		add_attr(g, &g->p->nodes.items[b.node].attrs);
	g->open[g->n_open++] = b;
	if (kind == HBM_NODE_LOOP && chance(g, g->o->carried)) {
		hbm_tensor_id t = new_tensor(g, "c", size_of_new(g, UINT64_MAX),
		                             HBM_T_CARRIED);
		g->open[g->n_open - 1].carried = t;
		if (!g->nomem)
			touch(g, t, false);
	}
}

static void settle_roots(gen *g, const block *b)
{
	uint32_t member = member_now(g);

	for (uint32_t i = 0; i < g->roots.n; i++) {
		root *r = &g->roots.items[i];
		if (r->until == b->node) {
			r->until = HBM_NONE;
			r->whole = true;
		}
		if (b->kind == HBM_NODE_PARALLEL && r->member >= b->first_member &&
		    r->member)
			r->member = member;
	}
}

static void close_block(gen *g)
{
	block b = g->open[g->n_open - 1];

	if (b.carried != HBM_NONE && !g->nomem)
		touch(g, b.carried, true);
	hbm_close_node(g->p, b.node);
	g->n_open--;
	settle_roots(g, &b);
	if (b.is_member)
		g->n_active--;
}

static void step(gen *g)
{
	if (chance(g, g->o->view))
		add_view(g);
	if (chance(g, g->o->zero))
		given(g, "z", HBM_T_ZERO);
	if (g->n_open && chance(g, g->o->close)) {
		close_block(g);
		return;
	}
	if (!g->n_open && chance(g, g->o->bundle))
		open_block(g, HBM_NODE_BUNDLE);
	else if (g->n_open <= g->o->max_depth && chance(g, g->o->loop))
		open_block(g, HBM_NODE_LOOP);
	else if (g->n_open <= g->o->max_depth && chance(g, g->o->region))
		open_block(g, HBM_NODE_REGION);
	else if (g->n_open <= g->o->max_depth && chance(g, g->o->parallel))
		open_block(g, HBM_NODE_PARALLEL);
	if (!g->nomem)
		add_op(g);
}

/* ---- the program ----------------------------------------------------------------------- */

static void add_homes(gen *g)
{
	for (uint32_t i = 0; i < g->p->tensors.n; i++) {
		hbm_home *h = &g->p->tensors.items[i].home;
		hbm_node_id b = below(g, g->p->nodes.n);
		if (!chance(g, g->o->planned))
			continue;
		h->kind = (hbm_home_kind)(1 + below(g, 4));
		if (h->kind == HBM_HOME_POOL &&
		    (!g->p->nodes.n || g->p->nodes.items[b].kind != HBM_NODE_BUNDLE))
			h->kind = HBM_HOME_HBM;
		if (h->kind == HBM_HOME_POOL)
			h->bundle = b;
		if (chance(g, 700))
			h->offset = gen_below(&g->rng, 1 << 20);
		h->size = chance(g, 500) ? 0 : 1 + below(g, 4096);
	}
}

static void add_reduction(gen *g)
{
	hbm_reduction r = {.name = name_of(g, "red"), .acc = HBM_NONE};

	if (g->p->ops.n)
		r.fill = g->p->ops.items[below(g, g->p->ops.n)].name;
	r.combine = chance(g, 500) ? hbm_intern_cstr(&g->p->syms, "gone") : 0;
	if (chance(g, 700))
		r.acc = below(g, g->p->tensors.n);
	g->nomem |= !HBM_PUSH(g->p->arena, &g->p->reductions, r);
}

hbm_status gen_program(hbm_arena *a, const gen_opts *o, hbm_program *ret)
{
	hbm_program p;
	gen g = {.o = o, .p = &p, .rng = o->seed, .next_member = 1};

	HBM_TRY(hbm_program_init(&p, a));
	if (chance(&g, o->decorate))
		p.name = name_of(&g, "program");
	if (chance(&g, o->decorate))
		p.target = hbm_intern_cstr(&p.syms, "toy");
	add_given(&g);
	while (p.ops.n < o->n_ops && !g.nomem)
		step(&g);
	while (g.n_open && !g.nomem)
		close_block(&g);
	if (!g.nomem) { /* at least one output */
		hbm_op_id id = begin_op(&g, HBM_OP_COMPUTE);
		for (uint32_t i = 0; i < 2 && !g.nomem; i++)
			add_read(&g, id, false);
		if (!g.nomem)
			write_new(&g, id, HBM_T_OUTPUT);
	}
	while (chance(&g, o->decorate / 2) && !g.nomem)
		add_reduction(&g);
	add_homes(&g);
	HBM_NEED(!g.nomem);
	*ret = p;
	return hbm_validate(ret, NULL);
}
