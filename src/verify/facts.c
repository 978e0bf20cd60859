/* SPDX-License-Identifier: Apache-2.0
 *
 * facts: which tensors share bytes, how large each class is, who touches it.
 *
 * Method     Breadth-first over the graph whose edges are views and mandatory
 *            in-place pairs, each with the distance of the two first bytes; a
 *            tensor reached twice at different distances is a fault. Touches are
 *            listed per class by counting.
 * Cost       Linear in tensors, nodes and operands; a sort over strides. */
#include "verify/facts.h"

#include "base/ckd.h"


enum { FAR = 62 }; /* distances stay below 2^62 in size */

typedef struct edge {
	hbm_tensor_id to;
	int64_t distance; /* first byte of `to` minus ours */
} edge;

typedef struct graph {
	uint32_t *first; /* tensor -> its edges; n + 1 items */
	edge *edges;
} graph;

/* Calls come twice per edge list: to count (edges NULL) and to fill. */
static void add_edge(graph *g, hbm_tensor_id a, hbm_tensor_id b, int64_t distance)
{
	if (!g->edges) {
		g->first[a]++;
		g->first[b]++;
		return;
	}
	g->edges[--g->first[a]] = (edge){b, distance};
	g->edges[--g->first[b]] = (edge){a, -distance};
}

static void add_edges(graph *g, const hbm_program *p)
{
	for (uint32_t t = 0; t < p->tensors.n; t++) {
		const hbm_tensor *x = &p->tensors.items[t];
		if (x->base != HBM_NONE)
			add_edge(g, x->base, t, (int64_t)x->offset);
	}
	for (uint32_t o = 0; o < p->ops.n; o++) {
		const hbm_op *op = &p->ops.items[o];
		for (uint32_t i = 0; i < op->inplace.n; i++) {
			const hbm_inplace *in = &p->inplaces.items[op->inplace.first + i];
			uint32_t r = op->reads.first + in->read;
			uint32_t w = op->writes.first + in->write;
			if (in->must)
				add_edge(g, p->operands.items[r].tensor,
				         p->operands.items[w].tensor, 0);
		}
	}
}

static hbm_status graph_make(hbm_arena *a, const hbm_program *p, graph *ret)
{
	uint32_t n = p->tensors.n;
	graph g = {.edges = NULL};

	HBM_NEED(g.first = HBM_ZARRAY(a, uint32_t, (size_t)n + 1));
	add_edges(&g, p);
	for (uint32_t t = 0; t < n; t++)
		g.first[t + 1] += g.first[t];
	HBM_NEED(g.edges = HBM_ARRAY(a, edge, g.first[n]));
	add_edges(&g, p);
	*ret = g;
	return HBM_OK;
}

static hbm_status two_places(const hbm_program *p, hbm_diags *d, hbm_tensor_id a,
                             hbm_tensor_id b)
{
	const hbm_tensor *t = &p->tensors.items[b];

	return hbm_fail(d, HBM_VERIFY, HBM_E_PLAN, hbm_at(p, t->line, t->col, 0),
	                "'%s' would have to stand at two distances from '%s'",
	                hbm_tensor_name(p, b), hbm_tensor_name(p, a));
}

/* All tensors that `t` leads to become one class. `place` is each one's distance
 * from `t`, `queue` the class in order of discovery. */
static hbm_status flood(hbm_facts *f, hbm_diags *d, const graph *g, hbm_tensor_id t,
                        int64_t *place, hbm_tensor_id *queue, uint32_t *ret_n)
{
	uint32_t n = 0, c = f->classes.n - 1;

	f->class_of[t] = c;
	place[t] = 0;
	queue[n++] = t;
	for (uint32_t i = 0; i < n; i++) {
		hbm_tensor_id at = queue[i];
		for (uint32_t k = g->first[at]; k < g->first[at + 1]; k++) {
			const edge *e = &g->edges[k];
			int64_t there = place[at] + e->distance;
			if (there >> FAR != 0 && there >> FAR != -1)
				return two_places(f->p, d, t, e->to);
			if (f->class_of[e->to] == HBM_NONE) {
				f->class_of[e->to] = c;
				place[e->to] = there;
				queue[n++] = e->to;
			} else if (place[e->to] != there) {
				return two_places(f->p, d, t, e->to);
			}
		}
	}
	*ret_n = n;
	return HBM_OK;
}

/* A tile's extent: its size for each trip of the loops that one access advances it
 * on, for the access that needs the most. */
static hbm_status extents(hbm_facts *f)
{
	const hbm_program *p = f->p;

	HBM_NEED(f->extent = HBM_ARRAY(f->arena, uint64_t, p->tensors.n));
	for (uint32_t t = 0; t < p->tensors.n; t++)
		f->extent[t] = p->tensors.items[t].size;
	for (uint32_t i = 0; i < p->operands.n; i++) {
		const hbm_operand *o = &p->operands.items[i];
		bool tile = p->tensors.items[o->tensor].flags & HBM_T_TILE;
		uint64_t extent = p->tensors.items[o->tensor].size;
		for (uint32_t k = 0; tile && k < o->strides.n; k++) {
			const hbm_stride *s = &p->strides.items[o->strides.first + k];
			uint64_t trips = p->nodes.items[s->loop].trips;
			if (s->bytes && !trips)
				f->classes.items[f->class_of[o->tensor]].flags |= HBM_T_DYNAMIC;
			extent = hbm_mul_sat(extent, s->bytes && trips ? trips : 1);
		}
		if (extent > f->extent[o->tensor])
			f->extent[o->tensor] = extent;
	}
	return HBM_OK;
}

/* Moves the class's lowest byte to 0. */
static void settle(hbm_facts *f, const int64_t *place, const hbm_tensor_id *queue,
                   uint32_t n)
{
	int64_t low = 0;

	for (uint32_t i = 0; i < n; i++)
		if (place[queue[i]] < low)
			low = place[queue[i]];
	for (uint32_t i = 0; i < n; i++)
		f->offset[queue[i]] = (uint64_t)(place[queue[i]] - low);
}

static hbm_status make_classes(hbm_facts *f, hbm_diags *d)
{
	const hbm_program *p = f->p;
	uint32_t n = p->tensors.n;
	int64_t *place = HBM_ARRAY(f->arena, int64_t, n);
	hbm_tensor_id *queue = HBM_ARRAY(f->arena, hbm_tensor_id, n);
	graph g;

	HBM_NEED(place && queue);
	HBM_NEED(f->class_of = HBM_ARRAY(f->arena, uint32_t, n));
	HBM_NEED(f->offset = HBM_ARRAY(f->arena, uint64_t, n));
	HBM_TRY(graph_make(f->arena, p, &g));
	for (uint32_t t = 0; t < n; t++)
		f->class_of[t] = HBM_NONE;
	for (uint32_t t = 0; t < n; t++) {
		uint32_t found = 0;
		if (f->class_of[t] != HBM_NONE)
			continue;
		HBM_NEED(HBM_PUSH(f->arena, &f->classes, (hbm_class){0}));
		HBM_TRY(flood(f, d, &g, t, place, queue, &found));
		settle(f, place, queue, found);
	}
	return HBM_OK;
}

static hbm_status list_members(hbm_facts *f)
{
	const hbm_program *p = f->p;
	uint32_t at = 0;

	HBM_NEED(f->members = HBM_ARRAY(f->arena, hbm_tensor_id, p->tensors.n));
	for (uint32_t t = 0; t < p->tensors.n; t++) {
		hbm_class *c = &f->classes.items[f->class_of[t]];
		uint64_t end = hbm_add_sat(f->offset[t], f->extent[t]);
		c->members.n++;
		c->flags |= p->tensors.items[t].flags & ~(uint32_t)HBM_T_SIZED;
		if (end > c->size)
			c->size = end;
	}
	for (uint32_t i = 0; i < f->classes.n; i++) {
		hbm_class *c = &f->classes.items[i];
		c->members.first = at;
		at += c->members.n;
		c->members.n = 0;
	}
	for (uint32_t t = 0; t < p->tensors.n; t++) {
		hbm_class *c = &f->classes.items[f->class_of[t]];
		f->members[c->members.first + c->members.n++] = t;
	}
	return HBM_OK;
}

static void list_side(hbm_facts *f, hbm_op_id op, hbm_span side, bool write)
{
	for (uint32_t i = side.first; i < side.first + side.n; i++) {
		hbm_tensor_id t = f->p->operands.items[i].tensor;
		hbm_class *c = &f->classes.items[f->class_of[t]];
		if (f->touches) {
			hbm_touch *to = &f->touches[c->touches.first + c->touches.n];
			*to = (hbm_touch){op, i, write};
			c->first = c->touches.n ? c->first : op;
			c->last = op;
		}
		c->touches.n++;
	}
}

static void list_sides(hbm_facts *f)
{
	for (uint32_t o = 0; o < f->p->ops.n; o++) {
		list_side(f, o, f->p->ops.items[o].reads, false);
		list_side(f, o, f->p->ops.items[o].writes, true);
	}
}

static hbm_status list_touches(hbm_facts *f)
{
	uint32_t at = 0;

	list_sides(f);
	for (uint32_t i = 0; i < f->classes.n; i++) {
		hbm_span *t = &f->classes.items[i].touches;
		t->first = at;
		at += t->n;
		t->n = 0;
	}
	HBM_NEED(f->touches = HBM_ARRAY(f->arena, hbm_touch, at));
	list_sides(f);
	return HBM_OK;
}

static hbm_status read_nodes(hbm_facts *f)
{
	const hbm_program *p = f->p;
	uint32_t n = p->nodes.n;

	HBM_NEED(f->begin = HBM_ARRAY(f->arena, uint32_t, n));
	HBM_NEED(f->end = HBM_ARRAY(f->arena, uint32_t, n));
	HBM_NEED(f->loop = HBM_ARRAY(f->arena, hbm_node_id, n));
	HBM_NEED(f->group = HBM_ARRAY(f->arena, hbm_node_id, n));
	HBM_NEED(f->bundle = HBM_ARRAY(f->arena, hbm_node_id, n));
	for (uint32_t i = 0; i < n; i++) {
		const hbm_node *x = &p->nodes.items[i];
		hbm_node_id up = x->parent;
		bool top = up == HBM_NONE;
		f->begin[i] = f->n_ticks;
		f->n_ticks += x->kind == HBM_NODE_OP;
		f->loop[i] = top ? HBM_NONE : f->loop[up];
		if (!top && p->nodes.items[up].kind == HBM_NODE_LOOP &&
		    p->nodes.items[up].trips != 1)
			f->loop[i] = up;
		f->group[i] = top ? HBM_NONE : f->group[up];
		if (f->group[i] == HBM_NONE && x->kind == HBM_NODE_PARALLEL)
			f->group[i] = i;
		f->bundle[i] = top ? HBM_NONE : f->bundle[up];
		if (x->kind == HBM_NODE_BUNDLE)
			f->bundle[i] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		hbm_node_id after = p->nodes.items[i].end;
		f->end[i] = after < n ? f->begin[after] : f->n_ticks;
	}
	return HBM_OK;
}

hbm_status hbm_facts_collect(hbm_arena *a, const hbm_program *p, hbm_diags *d,
                             hbm_facts *ret)
{
	hbm_facts f = {.arena = a, .p = p};

	HBM_TRY(read_nodes(&f));
	HBM_TRY(make_classes(&f, d));
	HBM_TRY(extents(&f));
	HBM_TRY(list_members(&f));
	HBM_TRY(list_touches(&f));
	*ret = f;
	return HBM_OK;
}

void hbm_facts_window(const hbm_facts *f, const hbm_operand *o, uint64_t *ret_lo,
                      uint64_t *ret_len)
{
	uint64_t size = f->p->tensors.items[o->tensor].size;
	uint64_t rest = size > o->offset ? size - o->offset : 0;

	*ret_lo = hbm_add_sat(f->offset[o->tensor], o->offset);
	*ret_len = o->len ? o->len : rest;
}
