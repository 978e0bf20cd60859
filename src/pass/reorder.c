/* SPDX-License-Identifier: Apache-2.0
 * reorder: runs what is independent in an order with fewer bytes live at once.
 *
 * Decides    The order of top-level nodes (ops, loops, bundles); inside them nothing
 *            moves. Of the nodes that are ready the one that frees most and allocates
 *            least runs next, the earlier one among equals. The new order is kept only
 *            if its peak is smaller.
 * Kept       A read stays behind the write that it sees, a write behind the reads and
 *            writes before it, per storage. Collectives stay in their order, and so do
 *            ops that are not the device's own.
 * Not in a   pipeline by default: the input's schedule is somebody's decision. `fit`
 *            computes what it would save; --passes reorder,... uses it.
 * Cost       O(n log n) in nodes and accesses, and one analysis. */
#include "base/ckd.h"
#include "base/ready.h"
#include "pass/pass.h"

#include <string.h>

typedef HBM_VEC(uint32_t) ids;

typedef struct graph {
	hbm_pass_cx *cx;
	const hbm_program *p;
	hbm_analysis an;       /* without optional in-place pairs */
	uint32_t n;            /* units: top-level nodes, in order */
	hbm_node_id *node;     /* unit -> node */
	uint32_t *unit;        /* op -> unit */
	uint32_t *edge_first;  /* n + 1 */
	uint32_t *edges;       /* to units that wait */
	uint32_t *n_deps;
	HBM_VEC(uint64_t) pairs; /* from << 32 | to */
	uint32_t *touch_first; /* n + 1, storages that a unit touches, each once */
	ids touches;
	uint32_t *left;        /* storage -> units that touch it and did not run */
	uint32_t *xor_left;
	bool *born;            /* storage -> some unit that touches it has run */
} graph;

/* ---- units and what they touch -------------------------------------------- */

static hbm_status list_units(graph *g)
{
	hbm_arena *a = g->cx->scratch;

	HBM_NEED(g->node = HBM_ARRAY(a, hbm_node_id, g->p->nodes.n));
	HBM_NEED(g->unit = HBM_ARRAY(a, uint32_t, g->p->ops.n));
	for (hbm_node_id i = 0; i < g->p->nodes.n; i = g->p->nodes.items[i].end) {
		for (hbm_node_id k = i; k < g->p->nodes.items[i].end; k++)
			if (g->p->nodes.items[k].kind == HBM_NODE_OP)
				g->unit[g->p->nodes.items[k].op] = g->n;
		g->node[g->n++] = i;
	}
	return HBM_OK;
}

static hbm_status add_edge(graph *g, uint32_t from, uint32_t to)
{
	uint64_t pair = (uint64_t)from << 32 | to;

	if (from == to || from == HBM_NONE)
		return HBM_OK;
	return HBM_PUSH(g->cx->scratch, &g->pairs, pair) ? HBM_OK : HBM_NOMEM;
}

/* Edges from the accesses of one storage, which stand in order. */
static hbm_status order_storage(graph *g, const hbm_storage *s, ids *readers)
{
	const hbm_access *acc = g->an.accesses + s->accesses.first;
	uint32_t writer = HBM_NONE;

	readers->n = 0;
	for (uint32_t i = 0; i < s->accesses.n; i++) {
		uint32_t u = g->unit[acc[i].op];
		HBM_TRY(add_edge(g, writer, u));
		if (!acc[i].write) {
			if (!readers->n || readers->items[readers->n - 1] != u)
				HBM_NEED(HBM_PUSH(g->cx->scratch, readers, u));
			continue;
		}
		for (uint32_t k = 0; k < readers->n; k++)
			HBM_TRY(add_edge(g, readers->items[k], u));
		readers->n = 0;
		writer = u;
	}
	return HBM_OK;
}

static bool has_effect(const hbm_op *op)
{
	return op->kind == HBM_OP_COLLECTIVE || op->kind == HBM_OP_EXTERN ||
	       op->kind == HBM_OP_FALLBACK;
}

static hbm_status order_all(graph *g)
{
	uint32_t last = HBM_NONE;
	ids readers = {0};

	for (uint32_t s = 0; s < g->an.storages.n; s++)
		HBM_TRY(order_storage(g, &g->an.storages.items[s], &readers));
	for (uint32_t o = 0; o < g->p->ops.n; o++) {
		if (!has_effect(&g->p->ops.items[o]))
			continue;
		HBM_TRY(add_edge(g, last, g->unit[o]));
		last = g->unit[o];
	}
	return HBM_OK;
}

static hbm_status index_edges(graph *g)
{
	hbm_arena *a = g->cx->scratch;
	uint32_t *fill;

	HBM_NEED(g->edge_first = HBM_ZARRAY(a, uint32_t, (size_t)g->n + 1));
	HBM_NEED(g->n_deps = HBM_ZARRAY(a, uint32_t, g->n));
	HBM_NEED(g->edges = HBM_ARRAY(a, uint32_t, g->pairs.n));
	HBM_NEED(fill = HBM_ARRAY(a, uint32_t, (size_t)g->n + 1));
	for (uint32_t i = 0; i < g->pairs.n; i++) {
		g->edge_first[(g->pairs.items[i] >> 32) + 1]++;
		g->n_deps[(uint32_t)g->pairs.items[i]]++;
	}
	for (uint32_t u = 0; u < g->n; u++)
		g->edge_first[u + 1] += g->edge_first[u];
	memcpy(fill, g->edge_first, ((size_t)g->n + 1) * sizeof *fill);
	for (uint32_t i = 0; i < g->pairs.n; i++)
		g->edges[fill[g->pairs.items[i] >> 32]++] = (uint32_t)g->pairs.items[i];
	return HBM_OK;
}

static bool counts(const hbm_storage *s)
{
	return !(s->flags & (HBM_T_CALLER | HBM_T_HOST));
}

static hbm_status list_touches(graph *g)
{
	hbm_arena *a = g->cx->scratch;
	uint32_t n = g->an.storages.n, *seen = HBM_ZARRAY(a, uint32_t, n);
	uint32_t op = 0;

	HBM_NEED(seen);
	HBM_NEED(g->touch_first = HBM_ARRAY(a, uint32_t, (size_t)g->n + 1));
	HBM_NEED(g->left = HBM_ZARRAY(a, uint32_t, n));
	HBM_NEED(g->xor_left = HBM_ZARRAY(a, uint32_t, n));
	HBM_NEED(g->born = HBM_ZARRAY(a, bool, n));
	for (uint32_t u = 0; u < g->n; u++) {
		g->touch_first[u] = g->touches.n;
		for (; op < g->p->ops.n && g->unit[op] == u; op++) {
			const hbm_op *x = &g->p->ops.items[op];
			for (uint32_t i = 0; i < x->reads.n + x->writes.n; i++) {
				uint32_t k = i < x->reads.n
				                     ? x->reads.first + i
				                     : x->writes.first + i - x->reads.n;
				uint32_t s = g->an.of[g->p->operands.items[k].tensor];
				if (seen[s] == u + 1 || !counts(&g->an.storages.items[s]))
					continue;
				seen[s] = u + 1;
				g->left[s]++;
				g->xor_left[s] ^= u;
				HBM_NEED(HBM_PUSH(a, &g->touches, s));
			}
		}
	}
	g->touch_first[g->n] = g->touches.n;
	return HBM_OK;
}

/* ---- the order ------------------------------------------------------------ */

typedef struct lister {
	graph *g;
	hbm_ready_heap heap;
	bool *done, *waits;
} lister;

static bool push(lister *l, int64_t gain, uint32_t id)
{
	return hbm_ready_push(l->g->cx->scratch, &l->heap, (hbm_ready){gain, id});
}

/* Bytes freed less bytes allocated; sums of sizes stay below 2^62. A storage that
 * only this unit touches is neither. */
static int64_t gain(const graph *g, uint32_t u)
{
	int64_t sum = 0;

	for (uint32_t i = g->touch_first[u]; i < g->touch_first[u + 1]; i++) {
		uint32_t s = g->touches.items[i];
		int64_t bytes = (int64_t)g->an.storages.items[s].reserve;
		sum += g->left[s] == 1 ? bytes : 0;
		sum -= g->born[s] ? 0 : bytes;
	}
	return sum;
}

static bool run_unit(lister *l, uint32_t u)
{
	graph *g = l->g;

	l->done[u] = true;
	for (uint32_t i = g->touch_first[u]; i < g->touch_first[u + 1]; i++) {
		uint32_t s = g->touches.items[i], last;
		g->born[s] = true;
		g->left[s]--;
		last = g->xor_left[s] ^= u;
		if (g->left[s] == 1 &&
		    l->waits[last] && !l->done[last] &&
		    !push(l, gain(g, last), last))
			return false;
	}
	for (uint32_t e = g->edge_first[u]; e < g->edge_first[u + 1]; e++) {
		uint32_t v = g->edges[e];
		if (--g->n_deps[v])
			continue;
		l->waits[v] = true;
		if (!push(l, gain(g, v), v))
			return false;
	}
	return true;
}

static hbm_status list(graph *g, uint32_t *order, uint32_t *ret_n)
{
	lister l = {.g = g};
	uint32_t n = 0;

	HBM_NEED(l.done = HBM_ZARRAY(g->cx->scratch, bool, g->n));
	HBM_NEED(l.waits = HBM_ZARRAY(g->cx->scratch, bool, g->n));
	for (uint32_t u = 0; u < g->n; u++)
		if (!g->n_deps[u]) {
			l.waits[u] = true;
			HBM_NEED(push(&l, gain(g, u), u));
		}
	while (l.heap.n) {
		hbm_ready top = hbm_ready_pop(&l.heap);
		if (l.done[top.id])
			continue;
		order[n++] = top.id;
		HBM_NEED(run_unit(&l, top.id));
	}
	*ret_n = n;
	return HBM_OK;
}

/* ---- the program in the new order ------------------------------------------ */

static hbm_status copy_unit(hbm_program *to, const hbm_program *from, hbm_node_id u,
                            hbm_node_id *new_id)
{
	hbm_node_id base = to->nodes.n;

	for (hbm_node_id k = u; k < from->nodes.items[u].end; k++) {
		hbm_node node = from->nodes.items[k];
		new_id[k] = base + (k - u);
		node.end = base + (node.end - u);
		if (node.parent != HBM_NONE)
			node.parent = base + (node.parent - u);
		if (node.kind == HBM_NODE_OP) {
			hbm_op op = from->ops.items[node.op];
			node.op = to->ops.n;
			op.node = new_id[k];
			HBM_NEED(HBM_PUSH(to->arena, &to->ops, op));
		}
		HBM_NEED(HBM_PUSH(to->arena, &to->nodes, node));
	}
	return HBM_OK;
}

/* Nodes and ops of `p` in the order of the units; all else keeps its ids. */
static hbm_status permute(graph *g, hbm_program *p, const uint32_t *order)
{
	hbm_program old = *p;
	hbm_node_id *new_id = HBM_ARRAY(g->cx->scratch, hbm_node_id, old.nodes.n);

	HBM_NEED(new_id);
	memset(&p->nodes, 0, sizeof p->nodes);
	memset(&p->ops, 0, sizeof p->ops);
	for (uint32_t i = 0; i < g->n; i++)
		HBM_TRY(copy_unit(p, &old, g->node[order[i]], new_id));
	for (uint32_t i = 0; i < p->strides.n; i++)
		p->strides.items[i].loop = new_id[p->strides.items[i].loop];
	return HBM_OK;
}

static hbm_status peak_of(hbm_pass_cx *cx, const hbm_program *p, uint64_t *ret)
{
	hbm_analysis_opts opts = {.inplace = !cx->opts->no_reuse};
	hbm_analysis an = {0};

	HBM_TRY(hbm_analyse(cx->scratch, p, cx->target, &opts, cx->diags, &an));
	*ret = an.peak;
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	graph g = {.cx = cx, .p = cx->prog};
	hbm_analysis_opts opts = {.inplace = false};
	hbm_program old = *cx->prog, changed;
	uint32_t *order, n = 0;
	uint64_t peak;

	HBM_TRY(hbm_analyse(cx->scratch, cx->prog, cx->target, &opts, cx->diags, &g.an));
	HBM_TRY(list_units(&g));
	HBM_TRY(order_all(&g));
	HBM_TRY(index_edges(&g));
	HBM_TRY(list_touches(&g));
	HBM_NEED(order = HBM_ARRAY(cx->scratch, uint32_t, g.n));
	HBM_TRY(list(&g, order, &n));
	if (n < g.n)
		return HBM_OK;
	HBM_TRY(hbm_program_copy(&old, cx->keep, &changed));
	HBM_TRY(permute(&g, &changed, order));
	HBM_TRY(peak_of(cx, &changed, &peak));
	if (peak >= cx->an->peak)
		return HBM_OK;
	changed.order = hbm_intern_cstr(&changed.syms, "changed by the reorder pass");
	HBM_NEED(changed.order != HBM_NONE);
	*cx->prog = changed;
	return HBM_OK;
}

const hbm_pass hbm_pass_reorder = {
	.name = "reorder",
	.summary = "runs independent ops in an order with fewer bytes live at once",
	.before = HBM_FACT_LX | HBM_FACT_POOLS | HBM_FACT_DRAM,
	.breaks_analysis = true,
	.run = run,
};
