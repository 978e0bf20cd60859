/* SPDX-License-Identifier: Apache-2.0
 *
 * simulate: runs the program on the planned addresses and, beside it, on unlimited
 * memory; every read must see the same.
 *
 * Tokens     A write stores a hash of the operand, the trips of all loops and every
 *            input token: no two writes make the same one, and a wrong read spoils
 *            all that follows from it. An op that leaves bytes as they are copies.
 * An op      First reads all its inputs, then writes its outputs, then looks at its
 *            inputs again: an output may not land on them, unless the plan gave it
 *            an input's storage.
 * Loops      Long ones run fewer trips, the last one included. Where the steps would
 *            still be too many, trips and then the depth of what repeats go down.
 * Pools      Hold nothing before their bundle begins and after it ends.
 * Cost       Per access the pieces it meets, times log of all pieces; the pieces
 *            looked at are limited, too. */
#include "verify/sim.h"

#include "base/ckd.h"

#include <assert.h>

enum {
	DEFAULT_TRIPS = 4,
	DEFAULT_STEPS = 10000000,
	PIECES_PER_STEP = 4, /* on the average, before the run is cut short */
	OPERANDS_PER_STEP = 8,
};

typedef struct limits {
	uint64_t trips, steps;
	uint32_t depth; /* loops nested deeper run one trip */
} limits;

/* ---- one op ---------------------------------------------------------------- */

static hbm_status look_at_reads(hbm_sim *m, const hbm_op *op, bool again,
                                uint64_t *digest)
{
	for (uint32_t i = op->reads.first; i < op->reads.first + op->reads.n; i++) {
		const hbm_operand *o = &m->p->operands.items[i];
		hbm_window w = hbm_sim_operand(m, o);
		if (again && m->stamp[m->cx->storage_of[w.c]] == (uint32_t)m->r.steps)
			continue;
		HBM_TRY(hbm_sim_look(m, o->tensor, &w, digest));
	}
	return HBM_OK;
}

static hbm_status write_output(hbm_sim *m, uint32_t i, uint64_t token)
{
	hbm_window to = hbm_sim_operand(m, &m->p->operands.items[i]), from;

	m->stamp[m->cx->storage_of[to.c]] = (uint32_t)m->r.steps;
	if (m->kept[i] == HBM_NONE)
		return hbm_sim_put(m, &to, token, i);
	from = hbm_sim_operand(m, &m->p->operands.items[m->kept[i]]);
	if (from.c == to.c)
		return HBM_OK;
	HBM_TRY(hbm_sim_put(m, &to, token, i));
	return hbm_sim_copy(m, &from, &to);
}

static hbm_status run_op(hbm_sim *m, hbm_op_id id)
{
	const hbm_op *op = &m->p->ops.items[id];
	uint64_t digest = hbm_sim_mix(0x9e3779b97f4a7c15u, id);

	m->op = id;
	m->r.steps++;
	m->r.reads += op->reads.n;
	for (uint32_t d = 0; d < m->depth; d++)
		digest = hbm_sim_mix(digest, hbm_sim_trip(&m->frames[d]));
	HBM_TRY(look_at_reads(m, op, false, &digest));
	for (uint32_t i = op->writes.first; i < op->writes.first + op->writes.n; i++)
		HBM_TRY(write_output(m, i, hbm_sim_mix(digest, i)));
	return look_at_reads(m, op, true, NULL);
}

/* ---- how much runs --------------------------------------------------------- */

static uint64_t runs_of(const limits *l, const hbm_node *loop, uint32_t depth)
{
	uint64_t trips = loop->trips ? loop->trips : l->trips;

	if (depth >= l->depth)
		return 1;
	return trips < l->trips ? trips : l->trips;
}

/* An op with many operands counts as several steps. */
static uint64_t weight(const hbm_program *p, const hbm_op *op)
{
	uint64_t n = 0;

	for (uint32_t i = op->reads.first; i < op->reads.first + op->reads.n; i++)
		n += 1 + p->operands.items[i].strides.n;
	for (uint32_t i = op->writes.first; i < op->writes.first + op->writes.n; i++)
		n += 1 + p->operands.items[i].strides.n;
	return 1 + n / OPERANDS_PER_STEP;
}

/* Steps within the limits; saturates. */
static uint64_t count_steps(const hbm_sim *m, const limits *l)
{
	uint64_t times[HBM_MAX_DEPTH + 1] = {1}, sum = 0;
	hbm_node_id ends[HBM_MAX_DEPTH];
	uint32_t depth = 0;

	for (uint32_t n = 0; n < m->p->nodes.n; n++) {
		const hbm_node *x = &m->p->nodes.items[n];
		while (depth && ends[depth - 1] <= n)
			depth--;
		if (x->kind == HBM_NODE_OP) {
			uint64_t w = weight(m->p, &m->p->ops.items[x->op]);
			sum = hbm_add_sat(sum, hbm_mul_sat(times[depth], w));
		}
		if (x->kind != HBM_NODE_LOOP)
			continue;
		assert(depth < HBM_MAX_DEPTH);
		times[depth + 1] = hbm_mul_sat(times[depth], runs_of(l, x, depth));
		ends[depth++] = x->end;
	}
	return sum;
}

static limits choose_limits(const hbm_sim *m, const hbm_sim_opts *opts)
{
	limits l = {DEFAULT_TRIPS, DEFAULT_STEPS, HBM_MAX_DEPTH};

	if (opts && opts->max_trips)
		l.trips = opts->max_trips;
	if (opts && opts->max_steps)
		l.steps = opts->max_steps;
	if (l.steps >= UINT32_MAX) /* stamps are 32 bits */
		l.steps = UINT32_MAX - 1;
	while (l.trips > 2 && count_steps(m, &l) > l.steps)
		l.trips = (l.trips + 1) / 2;
	while (l.depth && count_steps(m, &l) > l.steps)
		l.depth--;
	return l;
}

/* ---- the run --------------------------------------------------------------- */

static void enter_loop(hbm_sim *m, const limits *l, hbm_node_id n)
{
	const hbm_node *x = &m->p->nodes.items[n];
	hbm_frame f = {.loop = n, .trips = x->trips};

	assert(m->depth < HBM_MAX_DEPTH);
	f.runs = runs_of(l, x, m->depth);
	m->r.capped |= f.runs < x->trips;
	m->frame_of[n] = m->depth;
	m->frames[m->depth++] = f;
}

/* The node to go on with before `n`: loops that end there run again or are left. */
static hbm_node_id next_node(hbm_sim *m, hbm_node_id n)
{
	while (m->depth) {
		hbm_frame *f = &m->frames[m->depth - 1];
		if (m->p->nodes.items[f->loop].end != n)
			break;
		if (++f->done < f->runs)
			return f->loop + 1;
		m->depth--;
	}
	return n;
}

static hbm_status enter_bundles(hbm_sim *m, hbm_node_id n, hbm_node_id *bundle)
{
	if (*bundle != HBM_NONE && n >= m->p->nodes.items[*bundle].end) {
		HBM_TRY(hbm_sim_clear_pool(m, *bundle));
		*bundle = HBM_NONE;
	}
	if (m->p->nodes.items[n].kind != HBM_NODE_BUNDLE)
		return HBM_OK;
	*bundle = n;
	return hbm_sim_clear_pool(m, n);
}

static hbm_status run_nodes(hbm_sim *m, const limits *l)
{
	const hbm_program *p = m->p;
	hbm_node_id bundle = HBM_NONE, n = 0;

	while (n < p->nodes.n) {
		const hbm_node *x = &p->nodes.items[n];
		bool empty = m->cx->f.begin[n] == m->cx->f.end[n];
		HBM_TRY(enter_bundles(m, n, &bundle));
		if (x->kind == HBM_NODE_OP) {
			if (m->r.steps == l->steps || !m->pieces) {
				m->r.capped = true;
				return HBM_OK;
			}
			HBM_TRY(run_op(m, x->op));
		}
		if (x->kind == HBM_NODE_LOOP && !empty)
			enter_loop(m, l, n);
		n = next_node(m, empty ? x->end : n + 1);
	}
	return HBM_OK;
}

/* ---- before and after ------------------------------------------------------ */

/* What nobody touches has no life, and may lie anywhere. */
static hbm_status fill(hbm_sim *m)
{
	enum { GIVEN = HBM_T_INPUT | HBM_T_WEIGHT | HBM_T_STATE };

	for (uint32_t t = 0; t < m->p->tensors.n; t++) {
		hbm_window w = hbm_sim_tensor(m, t);
		uint32_t flags = m->p->tensors.items[t].flags;
		const hbm_class *c = &m->cx->f.classes.items[w.c];
		if (flags & GIVEN || (flags & HBM_T_ZERO && hbm_class_touched(c)))
			HBM_TRY(hbm_sim_put(m, &w, hbm_sim_mix(0x2545f4914f6cdd1du, t),
			                    hbm_sim_given(m, t)));
	}
	return HBM_OK;
}

/* The caller finds its outputs, and all that it lent as it was. */
static hbm_status look_at_results(hbm_sim *m)
{
	m->op = HBM_NONE;
	for (uint32_t t = 0; t < m->p->tensors.n; t++) {
		hbm_window w = hbm_sim_tensor(m, t);
		uint32_t flags = m->p->tensors.items[t].flags;
		bool given_up = (flags & HBM_T_DONATED) && !(flags & HBM_T_OUTPUT);
		if ((flags & HBM_T_CALLER) && !given_up)
			HBM_TRY(hbm_sim_look(m, t, &w, NULL));
	}
	m->r.capped |= !m->pieces;
	return HBM_OK;
}

static void index_op(hbm_sim *m, hbm_op_id id)
{
	const hbm_op *op = &m->p->ops.items[id];

	for (uint32_t i = 0; i < op->reads.n; i++)
		m->op_of[op->reads.first + i] = id;
	for (uint32_t i = 0; i < op->writes.n; i++) {
		m->op_of[op->writes.first + i] = id;
		m->kept[op->writes.first + i] = HBM_NONE;
	}
	for (uint32_t i = 0; i < op->inplace.n; i++) {
		const hbm_inplace *in = &m->p->inplaces.items[op->inplace.first + i];
		if (in->keeps)
			m->kept[op->writes.first + in->write] =
				op->reads.first + in->read;
	}
}

static hbm_status prepare(hbm_sim *m)
{
	const hbm_program *p = m->p;
	hbm_arena *a = m->cx->a;

	HBM_NEED(m->op_of = HBM_ARRAY(a, uint32_t, p->operands.n));
	HBM_NEED(m->kept = HBM_ARRAY(a, uint32_t, p->operands.n));
	HBM_NEED(m->stamp = HBM_ZARRAY(a, uint32_t, m->cx->plan->storages.n));
	HBM_NEED(m->frame_of = HBM_ZARRAY(a, uint32_t, p->nodes.n));
	for (uint32_t o = 0; o < p->ops.n; o++)
		index_op(m, o);
	return hbm_sim_memory(m);
}

hbm_status hbm_simulate(hbm_arena *scratch, const hbm_program *p, const hbm_target *t,
                        const hbm_plan *plan, const hbm_sim_opts *opts, hbm_diags *d,
                        hbm_sim_result *ret)
{
	hbm_check cx = {.a = scratch, .p = p, .t = t, .plan = plan, .d = d};
	hbm_sim m = {.cx = &cx, .p = p};
	limits l;

	HBM_TRY(hbm_check_members(&cx));
	HBM_TRY(prepare(&m));
	l = choose_limits(&m, opts);
	m.pieces = hbm_mul_sat(l.steps, PIECES_PER_STEP);
	HBM_TRY(fill(&m));
	HBM_TRY(run_nodes(&m, &l));
	HBM_TRY(look_at_results(&m));
	*ret = m.r;
	return HBM_OK;
}
