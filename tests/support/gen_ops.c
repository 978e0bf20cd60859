/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of random programs. */
#include "support/gen_internal.h"

static void narrow(gen *g, hbm_operand *o, uint64_t size)
{
	if (size < 2)
		return;
	o->offset = gen_below(&g->rng, size);
	o->len = gen_chance(g, 300) ? 0 : 1 + gen_below(&g->rng, size - o->offset);
}

void gen_add_read(gen *g, hbm_op_id op, bool host)
{
	const gen_value *v = gen_pick(g, host);
	const gen_root *r = v ? &g->roots.items[v->root] : NULL;
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
	else if (gen_chance(g, g->o->window))
		narrow(g, o, v->size);
}

/* The op's reads of whole tensors that an output may take the bytes of. */
static bool pick_inplace(gen *g, hbm_op_id op, bool must, uint32_t *ret_read,
                         gen_value *ret_value)
{
	hbm_span reads = g->p->ops.items[op].reads;
	uint32_t i = gen_under(g, reads.n);
	const hbm_operand *o = &g->p->operands.items[reads.first + i];

	if (!reads.n || o->offset || o->len || o->strides.n)
		return false;
	for (uint32_t k = g->values.n; k--;) {
		const gen_value *v = &g->values.items[k];
		if (v->tensor != o->tensor)
			continue;
		*ret_read = i;
		*ret_value = *v;
		return v->size && (!must || gen_writable(g, v));
	}
	return false;
}

static void declare_inplace(gen *g, hbm_op_id id, uint32_t read, bool must, bool same)
{
	hbm_op *op = &g->p->ops.items[id];
	hbm_inplace pair = {.write = op->writes.n - 1, .read = read, .must = must};

	pair.keeps = same && op->reads.n == 1 && gen_chance(g, 200);
	if (!op->inplace.n)
		op->inplace.first = g->p->inplaces.n;
	g->nomem |= !HBM_PUSH(g->p->arena, &g->p->inplaces, pair);
	op->inplace.n++;
}

static void write_in_place(gen *g, hbm_op_id op, bool must)
{
	uint32_t read, r;
	gen_value v;
	uint64_t size;
	hbm_tensor_id t;

	if (!pick_inplace(g, op, must, &read, &v))
		return;
	size = gen_chance(g, 600) ? v.size : gen_size_of_new(g, v.size);
	t = gen_new_tensor(g, must ? "m" : "i", size, 0);
	if (g->nomem)
		return;
	if (must) /* distances must not depend on alignment */
		gen_tensor_of(g, t)->align = 0;
	if (must)
		gen_tensor_of(g, t)->pin = HBM_NO_OFFSET;
	r = must ? v.root : gen_new_root(g, t, true);
	g->nomem |= !hbm_add_write(g->p, op, t);
	declare_inplace(g, op, read, must, size == v.size);
	gen_new_value(g, t, r, size);
}

static bool write_existing(gen *g, hbm_op_id op)
{
	gen_value v = *gen_pick(g, false);

	if (!gen_writable(g, &v))
		return false;
	g->nomem |= !hbm_add_write(g->p, op, v.tensor);
	if (!g->nomem && gen_chance(g, g->o->window))
		narrow(g, &g->p->operands.items[g->p->operands.n - 1], v.size);
	return true;
}

/* Loops around the next op that a window can advance on, outermost first. */
static uint32_t loops_to_advance(gen *g, hbm_node_id loops[GEN_MAX_OPEN])
{
	uint32_t n = 0, levels = 1 + gen_under(g, 3);

	for (uint32_t i = g->n_open; i-- && n < levels;) {
		const gen_block *b = &g->open[i];
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
	hbm_node_id loops[GEN_MAX_OPEN];
	uint32_t n = loops_to_advance(g, loops), r;
	uint64_t tile = gen_size_of_new(g, 64), step = tile;
	hbm_span strides = {g->p->strides.n, n};
	bool as_tile = gen_chance(g, g->o->tile);
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
	t = gen_new_tensor(g, "t", as_tile ? tile : step, as_tile ? HBM_T_TILE : 0);
	if (g->nomem || !hbm_add_write(g->p, op, t)) {
		g->nomem = true;
		return false;
	}
	o = &g->p->operands.items[g->p->operands.n - 1];
	o->len = as_tile && gen_chance(g, 500) ? 0 : tile;
	o->strides = strides;
	r = gen_new_root(g, t, !as_tile);
	gen_new_value(g, t, r, as_tile ? tile : step);
	if (g->nomem)
		return false;
	g->roots.items[r].whole = false;
	g->roots.items[r].until = loops[0];
	g->roots.items[r].window = *o;
	return true;
}

void gen_write_new(gen *g, hbm_op_id op, uint32_t flags)
{
	uint64_t size = gen_size_of_new(g, UINT64_MAX);
	hbm_tensor_id t =
		gen_new_tensor(g, flags & HBM_T_OUTPUT ? "y" : "b", size, flags);
	uint32_t r;

	if (g->nomem)
		return;
	r = gen_new_root(g, t, true);
	if (!g->nomem)
		g->roots.items[r].host = (flags & HBM_T_HOST) != 0;
	gen_new_value(g, t, r, size);
	g->nomem |= !hbm_add_write(g->p, op, t);
}

static void add_write(gen *g, hbm_op_id op, bool host)
{
	if (host) {
		gen_write_new(g, op, HBM_T_HOST);
		return;
	}
	if (gen_chance(g, g->o->must))
		write_in_place(g, op, true);
	else if (gen_chance(g, g->o->may))
		write_in_place(g, op, false);
	else if (gen_chance(g, g->o->rewrite))
		(void)write_existing(g, op);
	else if (gen_chance(g, g->o->advance))
		(void)write_advancing(g, op);
	if (!g->nomem && !g->p->ops.items[op].writes.n)
		gen_write_new(g, op, gen_chance(g, g->o->output) ? HBM_T_OUTPUT : 0);
}

static void decorate_op(gen *g, hbm_op *op)
{
	uint32_t n = gen_under(g, 3);

	if (gen_chance(g, 300))
		op->src = hbm_intern_cstr(&g->p->syms, "dir/model.py:3");
	if (gen_chance(g, 300))
		op->cores = gen_under(g, 33);
	for (uint32_t i = 0; i < n; i++) {
		hbm_iter it = {.extent = gen_under(g, 5000),
		               .split = gen_under(g, 5),
		               .reduction = gen_chance(g, 300),
		               .stick = gen_chance(g, 300)};
		it.name = hbm_intern_cstr(&g->p->syms, i ? "j" : "i");
		if (!op->iters.n)
			op->iters.first = g->p->iters.n;
		g->nomem |= !HBM_PUSH(g->p->arena, &g->p->iters, it);
		op->iters.n++;
	}
	while (gen_chance(g, 300) && op->attrs.n < 5)
		gen_add_attr(g, &op->attrs);
	if (gen_chance(g, 100) && !hbm_has_attr(g->p, op->attrs, "pointwise"))
		g->nomem |= !hbm_add_attr_flag(g->p, &op->attrs, "pointwise");
}

hbm_node_id gen_around(const gen *g)
{
	return g->n_open ? g->open[g->n_open - 1].node : HBM_NONE;
}

/* A child of a parallel node is a member of its own. */
bool gen_enter_member(gen *g)
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

	if (g->n_open ? gen_chance(g, g->o->fallback / 4)
	              : gen_chance(g, g->o->fallback))
		return kinds[gen_under(g, 4)];
	return HBM_OP_COMPUTE;
}

hbm_op_id gen_begin_op(gen *g, hbm_op_kind kind)
{
	static const char *const names[] = {"exp", "add", "matmul", "copy", "x y"};
	hbm_sym name = gen_name_of(g, "o");
	hbm_sym opname = hbm_intern_cstr(&g->p->syms, names[gen_under(g, 4)]);
	hbm_op_id id = hbm_add_op(g->p, gen_around(g), kind, name, opname);

	g->nomem |= id == HBM_NONE || name == HBM_NONE || opname == HBM_NONE;
	return id;
}

void gen_add_op(gen *g)
{
	hbm_op_kind kind = pick_kind(g);
	bool fallback = kind == HBM_OP_FALLBACK;
	uint32_t n_reads = gen_chance(g, 50) ? 0 : 1 + gen_under(g, 3);
	bool member = gen_enter_member(g);
	hbm_op_id id = gen_begin_op(g, kind);

	for (uint32_t i = 0; i < n_reads && !g->nomem; i++)
		gen_add_read(g, id, fallback && gen_chance(g, g->o->host));
	if (!g->nomem && !gen_chance(g, 30))
		add_write(g, id, fallback && gen_chance(g, g->o->host));
	if (!g->nomem && gen_chance(g, 80))
		gen_write_new(g, id, 0);
	if (!g->nomem && gen_chance(g, g->o->scratch))
		g->p->ops.items[id].scratch = 1 + gen_under(g, g->o->max_size);
	if (!g->nomem && gen_chance(g, g->o->decorate))
		decorate_op(g, &g->p->ops.items[id]);
	if (member)
		g->n_active--;
}
