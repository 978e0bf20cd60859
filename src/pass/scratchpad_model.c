/* SPDX-License-Identifier: Apache-2.0 */
/* scratchpad_model: which storages may live in the scratchpad.
 *
 * Decides   for each storage the first reason that bars it, or its life, uses,
 *           size per core and the HBM bytes that residency saves; and which may
 *           take over whose bytes.
 * Rules     A storage may live there when device ops alone write it once and whole
 *           and read it whole, from the very block that the core wrote; when no
 *           address would have to advance with a loop; and when no foreign kernel
 *           runs while it lives. The caller's inputs and results go through a
 *           clone. In-place: a pointwise op (or a declared pair), equal sizes and
 *           shapes, and the parent dies at the very op.
 * Cost      Linear in accesses times rank; no pair of storages is looked at but
 *           those of one op.
 * Source    the residency rules of torch-spyre's scratchpad planner. */
#include "base/ckd.h"
#include "pass/scratchpad.h"
#include "plan/partition.h"

#include <string.h>

/* An op with more pairs of operands than this is not looked at for in-place. */
enum { MAX_PAIRS = 4096 };

typedef struct judge {
	hbm_lx_model *m;
	const hbm_program *p;
	const hbm_storage *s;
	const hbm_access *acc; /* of s */
	hbm_lx_buffer *b;
} judge;

static bool bar(judge *j, hbm_reason_id id, hbm_sym who)
{
	j->b->barred = id;
	j->b->who = who;
	return false;
}

static void add_figure(judge *j, uint64_t figure)
{
	j->b->figure[j->b->n_figures++] = figure;
}

static const hbm_op *op_of(const judge *j, uint32_t access)
{
	return &j->p->ops.items[j->acc[access].op];
}

static const hbm_operand *operand_of(const judge *j, uint32_t access)
{
	return &j->p->operands.items[j->acc[access].operand];
}

/* ---- single rules; each bars and returns false ------------------------------ */

static bool denied(const hbm_program *p, const hbm_op *op)
{
	static const char *const names[] = {"convolution", "avg_pool2d"};

	for (uint32_t k = 0; k < sizeof names / sizeof *names; k++)
		if (!strcmp(hbm_str_of(p, op->opname), names[k]))
			return true;
	return false;
}

static bool on_device(const hbm_op *op)
{
	return op->kind == HBM_OP_COMPUTE || op->kind == HBM_OP_DMA;
}

static bool is_reduction(const hbm_program *p, const hbm_op *op)
{
	for (uint32_t k = 0; k < op->iters.n; k++)
		if (p->iters.items[op->iters.first + k].reduction)
			return true;
	return false;
}

/* Producers are device ops that may write there. */
static bool producer_allowed(judge *j)
{
	if (!j->s->n_writes)
		return bar(j, HBM_REASON_NOT_WRITTEN, 0);
	for (uint32_t k = 0; k < j->s->accesses.n; k++) {
		const hbm_op *op = op_of(j, k);
		uint32_t feature = is_reduction(j->p, op) ? HBM_LX_REDUCTIONS
		                                          : HBM_LX_RESULTS;
		if (!j->acc[k].write)
			continue;
		if (!on_device(op) || denied(j->p, op) ||
		    hbm_has_attr(j->p, op->attrs, "opaque"))
			return bar(j, HBM_REASON_LX_OP, op->name);
		if (!(j->m->features & feature))
			return bar(j, HBM_REASON_OFF, op->name);
	}
	return true;
}

static bool sized(judge *j)
{
	if (j->s->flags & HBM_T_DYNAMIC)
		return bar(j, HBM_REASON_LX_UNSIZED, 0);
	return j->s->size || bar(j, HBM_REASON_LX_EMPTY, 0);
}

static uint32_t count_writers(const judge *j)
{
	hbm_op_id last = HBM_NONE;
	uint32_t n = 0;

	for (uint32_t k = 0; k < j->s->accesses.n; k++) {
		if (!j->acc[k].write || j->acc[k].op == last)
			continue;
		last = j->acc[k].op;
		n++;
	}
	return n;
}

/* Written by one op only; accumulators of carried reductions excepted. */
static bool written_once(judge *j)
{
	hbm_op_id writer = HBM_NONE;

	if (j->s->flags & (HBM_T_ZERO | HBM_T_CARRIED))
		return bar(j, j->s->flags & HBM_T_ZERO ? HBM_REASON_ZERO_FILLED
		                                       : HBM_REASON_LX_MUTATED, 0);
	if (j->b->accumulator)
		return true;
	for (uint32_t k = 0; k < j->s->accesses.n; k++) {
		if (!j->acc[k].write)
			continue;
		if (writer != HBM_NONE && writer != j->acc[k].op) {
			add_figure(j, count_writers(j));
			return bar(j, HBM_REASON_LX_MUTATED, op_of(j, k)->name);
		}
		writer = j->acc[k].op;
	}
	return true;
}

static bool stays_put(judge *j)
{
	for (uint32_t k = 0; k < j->s->accesses.n; k++) {
		const hbm_operand *o = operand_of(j, k);
		for (uint32_t i = 0; i < o->strides.n; i++) {
			uint64_t bytes = j->p->strides.items[o->strides.first + i].bytes;
			if (!bytes)
				continue;
			add_figure(j, bytes);
			return bar(j, HBM_REASON_LX_TILED, op_of(j, k)->name);
		}
	}
	return j->s->advance <= 1 || bar(j, HBM_REASON_LX_TILED, 0);
}

/* Readers are device ops that read sticks in their place. */
static bool readers_allowed(judge *j)
{
	for (uint32_t k = 0; k < j->s->accesses.n; k++) {
		const hbm_op *op = op_of(j, k);
		if (j->acc[k].write)
			continue;
		if (hbm_has_attr(j->p, op->attrs, "restickify"))
			return bar(j, HBM_REASON_LX_RESTICKIFY, op->name);
		if (op->kind == HBM_OP_EXTERN || hbm_has_attr(j->p, op->attrs, "opaque"))
			return bar(j, HBM_REASON_LX_EXTERN, op->name);
		if (!on_device(op))
			return bar(j, HBM_REASON_FALLBACK_READ, op->name);
	}
	return true;
}

static bool no_wild_op(judge *j)
{
	const uint32_t *wild = j->m->wild;
	uint32_t a = j->b->start, z = j->b->end;

	if (wild[a] == wild[z])
		return true;
	while (z - a > 1) { /* the first one lies in [a, z) */
		uint32_t mid = a + (z - a) / 2;
		if (wild[a] == wild[mid])
			a = mid;
		else
			z = mid;
	}
	return bar(j, HBM_REASON_LX_EXTERN, j->p->ops.items[a].name);
}

static bool direct(judge *j)
{
	hbm_span members = j->s->members;

	for (uint32_t i = 0; i < members.n; i++) {
		hbm_tensor_id t = j->m->an.members[members.first + i];
		if (hbm_has_attr(j->p, j->p->tensors.items[t].attrs, "index"))
			return bar(j, HBM_REASON_LX_INDEX, j->p->tensors.items[t].name);
	}
	for (uint32_t k = 0; k < j->s->accesses.n; k++) {
		const hbm_op *op = op_of(j, k);
		if (hbm_has_attr(j->p, op->attrs, "indirect") ||
		    hbm_has_attr(j->p, op->attrs, "index"))
			return bar(j, HBM_REASON_LX_INDEX, op->name);
	}
	return true;
}

/* Every access is to all the bytes. */
static bool whole(judge *j)
{
	for (uint32_t k = 0; k < j->s->accesses.n; k++) {
		const hbm_operand *o = operand_of(j, k);
		uint64_t size = j->p->tensors.items[o->tensor].size;
		if (o->offset || j->m->an.offset[o->tensor] || size != j->s->size ||
		    (o->len && o->len != size)) {
			add_figure(j, o->len ? o->len : size);
			add_figure(j, j->s->size);
			return bar(j, HBM_REASON_LX_PARTIAL, op_of(j, k)->name);
		}
	}
	return true;
}

static bool same_cut(const hbm_partition *a, const hbm_partition *b)
{
	if (a->cores == 1 && b->cores == 1)
		return true;
	if (!a->known || !b->known || a->n != b->n)
		return false;
	for (uint32_t d = 0; d < a->n; d++)
		if (a->cut[d].extent != b->cut[d].extent ||
		    a->cut[d].split != b->cut[d].split)
			return false;
	return true;
}

static uint32_t cores_of(const hbm_op *op)
{
	return op->cores ? op->cores : 1;
}

/* Every op's cores own the same blocks: each reads what it wrote itself. */
static bool cores_agree(judge *j)
{
	hbm_partition first, cut;
	uint32_t cores = 0;

	for (uint32_t k = 0; k < j->s->accesses.n; k++) {
		const hbm_op *op = op_of(j, k);
		hbm_partition_of(j->p, j->m->cx->target, j->acc[k].op, operand_of(j, k),
		                 &cut);
		if (!cores) {
			first = cut;
			cores = cores_of(op);
		}
		if (cores_of(op) == cores && cut.cores == cores && !cut.ambiguous &&
		    same_cut(&first, &cut))
			continue;
		add_figure(j, cores);
		add_figure(j, cores_of(op));
		return bar(j, HBM_REASON_LX_CORES, op->name);
	}
	j->b->cores = cores ? cores : 1;
	j->b->size = j->s->size / j->b->cores;
	return true;
}

static bool worth_it(judge *j)
{
	if (j->b->n_uses > 1)
		return true;
	add_figure(j, j->b->n_uses);
	return bar(j, HBM_REASON_LX_NO_READS, 0);
}

static bool no_back_gap(judge *j)
{
	hbm_span members = j->s->members;

	for (uint32_t i = 0; i < members.n; i++) {
		hbm_tensor_id t = j->m->an.members[members.first + i];
		if (hbm_has_attr(j->p, j->p->tensors.items[t].attrs, "back_gap"))
			return bar(j, HBM_REASON_LX_BACK_GAP, j->p->tensors.items[t].name);
	}
	return true;
}

static bool not_claimed(judge *j)
{
	if (j->s->demand != HBM_HOME_NONE && j->s->demand != HBM_HOME_LX)
		return bar(j, HBM_REASON_DEMAND, 0);
	if (j->s->pin != HBM_NO_OFFSET && j->s->demand != HBM_HOME_LX)
		return bar(j, HBM_REASON_DEMAND, 0);
	if (j->b->size <= j->m->capacity)
		return true;
	add_figure(j, j->b->size);
	add_figure(j, j->m->capacity);
	return bar(j, HBM_REASON_LX_TOO_LARGE, 0);
}

/* ---- lives -------------------------------------------------------------------- */

/* The highest node around an op that is not a bundle: where clones stand. */
static hbm_node_id top_of(const hbm_program *p, hbm_op_id op)
{
	hbm_node_id n = p->ops.items[op].node, up;

	while ((up = p->nodes.items[n].parent) != HBM_NONE &&
	       p->nodes.items[up].kind != HBM_NODE_BUNDLE)
		n = up;
	return n;
}

static bool repeats(const hbm_program *p, hbm_node_id n)
{
	return p->nodes.items[n].kind != HBM_NODE_OP;
}

static hbm_status list_uses(judge *j)
{
	hbm_lx_model *m = j->m;

	j->b->use_first = m->uses.n;
	for (uint32_t k = 0; k < j->s->accesses.n; k++)
		if (!k || j->acc[k].op != j->acc[k - 1].op)
			HBM_NEED(HBM_PUSH(m->mem, &m->uses, j->acc[k].op));
	j->b->n_uses = m->uses.n - j->b->use_first;
	j->b->start = j->s->start;
	j->b->end = j->s->end;
	j->b->from_loop = j->s->from_earlier;
	j->b->to_loop = j->s->to_later;
	return HBM_OK;
}

/* An input's clone is filled before the node of the first read and lives to the
 * last, over the whole of any loop in which it is read. */
static void clone_in_life(judge *j)
{
	const uint32_t *uses = j->m->uses.items + j->b->use_first;
	hbm_node_id first, last;

	if (!j->b->n_uses)
		return;
	first = top_of(j->p, uses[0]);
	last = top_of(j->p, uses[j->b->n_uses - 1]);
	j->b->clone_at = first;
	j->b->start = j->m->first_tick[first];
	j->b->end = j->m->last_tick[last];
	j->b->to_loop = repeats(j->p, last);
}

/* A result's clone is copied out behind the node of its producer. Where nobody
 * reads it later, that copy is the last use, and no op can take over its bytes. */
static void clone_out_life(judge *j)
{
	hbm_node_id at = top_of(j->p, j->s->first_write);

	j->b->clone_at = at;
	if (j->b->end <= j->m->last_tick[at]) {
		j->b->end = j->m->last_tick[at];
		j->b->to_loop = true;
	}
}

/* ---- the three ways ------------------------------------------------------------ */

static bool judge_value(judge *j)
{
	return producer_allowed(j) && sized(j) && written_once(j) && stays_put(j) &&
	       readers_allowed(j) && no_wild_op(j) && direct(j) && whole(j) &&
	       cores_agree(j) && worth_it(j) && no_back_gap(j) && not_claimed(j);
}

static bool judge_input(judge *j)
{
	if (!(j->m->features & HBM_LX_INPUT_CLONES) ||
	    j->s->flags & (HBM_T_STATE | HBM_T_OUTPUT))
		return bar(j, j->s->flags & HBM_T_STATE   ? HBM_REASON_STATE
		              : j->s->flags & HBM_T_INPUT ? HBM_REASON_GRAPH_INPUT
		                                          : HBM_REASON_WEIGHT, 0);
	if (!sized(j))
		return false;
	if (j->s->n_writes)
		return bar(j, HBM_REASON_LX_MUTATED, 0);
	return worth_it(j) && direct(j) && no_wild_op(j) && stays_put(j) && whole(j) &&
	       readers_allowed(j) && cores_agree(j) && no_back_gap(j) && not_claimed(j);
}

static bool one_name(const judge *j)
{
	return j->s->members.n == 1;
}

static bool judge_output(judge *j)
{
	if (!(j->m->features & HBM_LX_OUTPUT_CLONES) || !one_name(j))
		return bar(j, HBM_REASON_LX_OUTPUT, 0);
	return judge_value(j);
}

static hbm_lx_way way_of(const hbm_storage *s)
{
	if (s->flags & (HBM_T_INPUT | HBM_T_WEIGHT | HBM_T_STATE))
		return HBM_LX_INPUT;
	return s->flags & HBM_T_OUTPUT ? HBM_LX_OUTPUT : HBM_LX_VALUE;
}

/* Bytes saved: all accesses, less what the clone itself moves. */
static uint64_t value_of(const hbm_lx_buffer *b, const hbm_traffic *t,
                         hbm_storage_id s, uint64_t size)
{
	uint64_t all = hbm_add_sat(t->reads[s], t->writes[s]);
	uint64_t clone = b->way == HBM_LX_VALUE ? 0 : size;

	return all > clone ? all - clone : 0;
}

static hbm_status judge_storage(hbm_lx_model *m, hbm_storage_id id,
                                const hbm_traffic *t)
{
	const hbm_storage *s = &m->an.storages.items[id];
	judge j = {m, m->cx->prog, s, m->an.accesses + s->accesses.first,
	           &m->buffers[id]};

	*j.b = (hbm_lx_buffer){.way = way_of(s), .clone_at = HBM_NONE,
	                       .accumulator = j.b->accumulator};
	HBM_TRY(list_uses(&j));
	if (s->flags & HBM_T_HOST) {
		bar(&j, HBM_REASON_HOST, 0);
	} else if (j.b->way == HBM_LX_INPUT) {
		clone_in_life(&j);
		judge_input(&j);
	} else if (j.b->way == HBM_LX_OUTPUT) {
		if (s->n_writes)
			clone_out_life(&j);
		judge_output(&j);
	} else {
		judge_value(&j);
	}
	j.b->value = value_of(j.b, t, id, s->size);
	if (j.b->barred == HBM_REASON_NONE && !j.b->value) {
		add_figure(&j, j.b->n_uses);
		bar(&j, HBM_REASON_LX_NO_READS, 0);
	}
	return HBM_OK;
}

/* ---- in-place partners ----------------------------------------------------------- */

/* Operand `at` is the only one of its storage on this side, and none is of the
 * other storage. */
static bool touches_once(const hbm_lx_model *m, hbm_span side, uint32_t at,
                         hbm_storage_id other)
{
	const hbm_operand *o = m->cx->prog->operands.items + side.first;
	hbm_storage_id s = m->an.of[o[at].tensor];

	for (uint32_t k = 0; k < side.n; k++)
		if ((k != at && m->an.of[o[k].tensor] == s) || m->an.of[o[k].tensor] == other)
			return false;
	return true;
}

static bool same_shape(const hbm_program *p, const hbm_tensor *a, const hbm_tensor *b)
{
	if (a->dims.n != b->dims.n || a->size != b->size)
		return false;
	for (uint32_t d = 0; d < a->dims.n; d++)
		if (p->dims.items[a->dims.first + d].value !=
		    p->dims.items[b->dims.first + d].value)
			return false;
	return true;
}

/* May the op's write take over the bytes of its read? */
static bool may_take(const hbm_lx_model *m, hbm_op_id id, uint32_t write, uint32_t read)
{
	const hbm_program *p = m->cx->prog;
	const hbm_op *op = &p->ops.items[id];
	const hbm_operand *w = &p->operands.items[op->writes.first + write];
	const hbm_operand *r = &p->operands.items[op->reads.first + read];
	hbm_storage_id child = m->an.of[w->tensor], parent = m->an.of[r->tensor];
	const hbm_lx_buffer *c = &m->buffers[child], *q = &m->buffers[parent];

	if (child == parent || c->barred || q->barred || c->size != q->size ||
	    c->cores != q->cores || c->way == HBM_LX_INPUT)
		return false;
	if (q->end != id + 1 || q->to_loop || c->start != id || c->from_loop)
		return false;
	return same_shape(p, &p->tensors.items[w->tensor], &p->tensors.items[r->tensor]) &&
	       m->an.storages.items[child].pin == HBM_NO_OFFSET &&
	       touches_once(m, op->reads, read, child) &&
	       touches_once(m, op->writes, write, parent);
}

static bool declared(const hbm_program *p, const hbm_op *op, uint32_t write,
                     uint32_t read)
{
	for (uint32_t k = 0; k < op->inplace.n; k++) {
		const hbm_inplace *in = &p->inplaces.items[op->inplace.first + k];
		if (in->write == write && in->read == read)
			return true;
	}
	return false;
}

/* Parents of the results of one op, for a buffer born there. */
static hbm_status add_parents(hbm_lx_model *m, hbm_op_id id, hbm_storage_id child)
{
	const hbm_program *p = m->cx->prog;
	const hbm_op *op = &p->ops.items[id];
	bool pointwise = hbm_has_attr(p, op->attrs, "pointwise");

	if ((uint64_t)op->writes.n * op->reads.n > MAX_PAIRS)
		return HBM_OK;
	for (uint32_t w = 0; w < op->writes.n; w++) {
		if (m->an.of[p->operands.items[op->writes.first + w].tensor] != child)
			continue;
		for (uint32_t r = 0; r < op->reads.n; r++) {
			hbm_tensor_id t = p->operands.items[op->reads.first + r].tensor;
			if ((pointwise || declared(p, op, w, r)) && may_take(m, id, w, r))
				HBM_NEED(HBM_PUSH(m->mem, &m->parents, m->an.of[t]));
		}
	}
	return HBM_OK;
}

static hbm_status link_partners(hbm_lx_model *m)
{
	uint32_t n = m->an.storages.n;

	HBM_NEED(m->parent_first = HBM_ZARRAY(m->mem, uint32_t, (size_t)n + 1));
	for (hbm_storage_id s = 0; s < n; s++) {
		const hbm_lx_buffer *b = &m->buffers[s];
		if (!b->barred && b->way != HBM_LX_INPUT && m->features & HBM_LX_IN_PLACE)
			HBM_TRY(add_parents(m, m->uses.items[b->use_first], s));
		m->parent_first[s + 1] = m->parents.n;
	}
	return HBM_OK;
}

/* ---- all of it --------------------------------------------------------------------- */

/* Foreign kernels may use any byte of the scratchpad. */
static hbm_status count_wild(hbm_lx_model *m)
{
	const hbm_program *p = m->cx->prog;

	HBM_NEED(m->wild = HBM_ZARRAY(m->mem, uint32_t, (size_t)p->ops.n + 1));
	for (hbm_op_id o = 0; o < p->ops.n; o++) {
		const hbm_op *op = &p->ops.items[o];
		bool wild = op->kind == HBM_OP_EXTERN ||
		            hbm_has_attr(p, op->attrs, "opaque");
		m->wild[o + 1] = m->wild[o] + wild;
	}
	return HBM_OK;
}

static hbm_status number_ticks(hbm_lx_model *m)
{
	const hbm_program *p = m->cx->prog;
	uint32_t tick = 0;

	HBM_NEED(m->first_tick = HBM_ARRAY(m->mem, uint32_t, p->nodes.n));
	HBM_NEED(m->last_tick = HBM_ARRAY(m->mem, uint32_t, p->nodes.n));
	for (hbm_node_id n = 0; n < p->nodes.n; n++) {
		m->first_tick[n] = tick;
		tick += p->nodes.items[n].kind == HBM_NODE_OP;
	}
	for (hbm_node_id n = 0; n < p->nodes.n; n++) {
		hbm_node_id end = p->nodes.items[n].end;
		m->last_tick[n] = end < p->nodes.n ? m->first_tick[end] : tick;
	}
	return HBM_OK;
}

hbm_status hbm_lx_model_make(hbm_lx_model *m)
{
	hbm_analysis_opts separate = {.inplace = false};
	hbm_traffic t;

	HBM_TRY(hbm_analyse(m->mem, m->cx->prog, m->cx->target, &separate, m->cx->diags,
	                    &m->an));
	HBM_TRY(hbm_traffic_of(m->mem, m->cx->prog, &m->an, &t));
	HBM_TRY(count_wild(m));
	HBM_TRY(number_ticks(m));
	HBM_NEED(m->buffers = HBM_ZARRAY(m->mem, hbm_lx_buffer, m->an.storages.n));
	for (uint32_t k = 0; k < m->cx->prog->reductions.n; k++) {
		hbm_tensor_id acc = m->cx->prog->reductions.items[k].acc;
		if (acc != HBM_NONE)
			m->buffers[m->an.of[acc]].accumulator = true;
	}
	for (hbm_storage_id s = 0; s < m->an.storages.n; s++)
		HBM_TRY(judge_storage(m, s, &t));
	return link_partners(m);
}
