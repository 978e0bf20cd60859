/* SPDX-License-Identifier: Apache-2.0 */
/* What the texts of a dump mean together: which nodes become ops, what each of
 * them reads and writes, whose bytes each name stands for, where it comes from.
 *
 * Dependencies name buffers; "met" ones are graph inputs and constants. Rules:
 * a mutation takes over the bytes of what it mutates; an alias is a view, and it
 * is no write when what it looks into existed before; the buffers of a tuple are
 * written by the kernel that returns the tuple, not by the nodes that pick them.
 * All passes are linear. */
#include "import/inductor.h"

#include <string.h>

typedef struct work {
	hbm_ind_dump *dump;
	hbm_ind_facts *f;
	uint32_t *stamp; /* symbol -> mark of the list it was put in last */
	uint32_t mark;
	HBM_VEC(hbm_sym) extra; /* buffers of tuples, by leaf, in a chain */
	HBM_VEC(uint32_t) extra_next;
	uint32_t *extra_head, *extra_tail; /* leaf -> chain */
} work;

static hbm_ind_name *name_at(work *w, hbm_sym sym)
{
	return &w->dump->names.items[sym]; /* all symbols have records by now */
}

static const char *text_of(const work *w, hbm_sym sym)
{
	return hbm_ind_str(w->dump, sym);
}

/* ---- leaves --------------------------------------------------------------- */

/* Records of the nodes before fusion, by name. */
static hbm_status index_pre(work *w, hbm_map *map)
{
	const hbm_ind_graph *g = &w->dump->pre;

	hbm_map_init(map, w->dump->a);
	for (uint32_t i = 0; i < g->nodes.n; i++)
		HBM_NEED(hbm_map_set(map, g->nodes.items[i].name, i));
	return HBM_OK;
}

static hbm_status add_leaf(work *w, const hbm_ind_graph *g, uint32_t node, uint32_t top)
{
	hbm_ind_leaf leaf = {.node = &g->nodes.items[node], .g = g, .top = top};

	leaf.multi = !strcmp(text_of(w, leaf.node->ir), "MultiOutput");
	HBM_NEED(HBM_PUSH(w->dump->a, &w->f->leaves, leaf));
	return HBM_OK;
}

/* Up to torch 2.0 a fused node only names its children; they are printed in the
 * text before fusion. Without all of them the node becomes one op. */
static hbm_status add_listed(work *w, const hbm_map *pre, uint32_t node, uint32_t top)
{
	const hbm_ind_graph *g = &w->dump->graph;
	const hbm_ind_node *n = &g->nodes.items[node];
	const hbm_sym *names = g->lists.items + n->snodes.first;
	bool all = n->snodes.n > 0;

	for (uint32_t i = 0; i < n->snodes.n; i++)
		all = all && hbm_map_get(pre, names[i]) != HBM_NONE;
	if (!all)
		return add_leaf(w, g, node, top);
	for (uint32_t i = 0; i < n->snodes.n; i++)
		HBM_TRY(add_leaf(w, &w->dump->pre, hbm_map_get(pre, names[i]), top));
	return HBM_OK;
}

static hbm_status find_leaves(work *w)
{
	const hbm_ind_graph *g = &w->dump->graph;
	hbm_map pre;

	HBM_TRY(index_pre(w, &pre));
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		const hbm_ind_node *n = &g->nodes.items[i];
		HBM_NEED(HBM_PUSH(w->dump->a, &w->f->first, w->f->leaves.n));
		w->f->n_tops += n->parent == HBM_NONE;
		if (!n->n_children)
			HBM_TRY(add_listed(w, &pre, i, w->f->n_tops - 1));
	}
	HBM_NEED(HBM_PUSH(w->dump->a, &w->f->first, w->f->leaves.n));
	return HBM_OK;
}

/* ---- accesses ------------------------------------------------------------- */

static hbm_status put(work *w, hbm_sym sym, hbm_span *span)
{
	if (w->stamp[sym] == w->mark)
		return HBM_OK;
	w->stamp[sym] = w->mark;
	HBM_NEED(HBM_PUSH(w->dump->a, &w->f->lists, sym));
	span->n++;
	return HBM_OK;
}

static hbm_status put_span(work *w, const hbm_ind_graph *g, hbm_span from,
                           hbm_span *span)
{
	for (uint32_t i = 0; i < from.n; i++)
		HBM_TRY(put(w, g->lists.items[from.first + i], span));
	return HBM_OK;
}

/* Writes: the dependencies, the printed outputs (nodes that only allocate have no
 * dependency), and every target of a mutation. */
static hbm_status collect_writes(work *w, uint32_t id)
{
	hbm_ind_leaf *l = &w->f->leaves.items[id];
	hbm_span span = {w->f->lists.n, 0};

	w->mark++;
	HBM_TRY(put_span(w, l->g, l->node->writes, &span));
	for (uint32_t i = 0; i < l->node->bufs.n; i++) {
		const hbm_ind_buf *b = &l->g->bufs.items[l->node->bufs.first + i];
		HBM_TRY(put(w, b->name, &span));
		for (uint32_t m = 1; m < b->mutations.n; m++)
			HBM_TRY(put(w, l->g->lists.items[b->mutations.first + m],
			            &span));
	}
	l->writes = span;
	return HBM_OK;
}

static void mark_access(work *w, hbm_sym sym, uint32_t top)
{
	hbm_ind_name *n = name_at(w, sym);

	n->spread |= n->top != HBM_NONE && n->top != top;
	n->top = top;
	n->used = true;
}

static void mark_writes(work *w, uint32_t id)
{
	const hbm_ind_leaf *l = &w->f->leaves.items[id];

	for (uint32_t i = 0; i < l->writes.n; i++) {
		hbm_sym sym = w->f->lists.items[l->writes.first + i];
		if (name_at(w, sym)->writer == HBM_NONE)
			name_at(w, sym)->writer = id;
		mark_access(w, sym, l->top);
	}
}

/* Reads; a name that only the op itself has written so far is not one (a fused
 * node taken as one op lists what its children pass on). */
static hbm_status collect_reads(work *w, uint32_t id)
{
	hbm_ind_leaf *l = &w->f->leaves.items[id];
	hbm_span span = {w->f->lists.n, 0};

	w->mark++;
	for (uint32_t i = 0; i < l->writes.n; i++) {
		hbm_sym sym = w->f->lists.items[l->writes.first + i];
		if (name_at(w, sym)->writer == id)
			w->stamp[sym] = w->mark;
	}
	HBM_TRY(put_span(w, l->g, l->node->unmet, &span));
	HBM_TRY(put_span(w, l->g, l->node->met, &span));
	l->reads = span;
	for (uint32_t i = 0; i < span.n; i++)
		mark_access(w, w->f->lists.items[span.first + i], l->top);
	return HBM_OK;
}

/* ---- tuples --------------------------------------------------------------- */

static hbm_status add_extra(work *w, uint32_t leaf, hbm_sym sym)
{
	uint32_t k = w->extra.n;

	HBM_NEED(HBM_PUSH(w->dump->a, &w->extra, sym));
	HBM_NEED(HBM_PUSH(w->dump->a, &w->extra_next, HBM_NONE));
	if (w->extra_head[leaf] == HBM_NONE)
		w->extra_head[leaf] = k;
	else
		w->extra_next.items[w->extra_tail[leaf]] = k;
	w->extra_tail[leaf] = k;
	return HBM_OK;
}

/* Hands the writes of a node that picks from a tuple to the tuple's maker. */
static hbm_status hand_over(work *w, uint32_t id)
{
	hbm_ind_leaf *l = &w->f->leaves.items[id];
	hbm_sym tuple = l->reads.n ? w->f->lists.items[l->reads.first] : 0;
	uint32_t maker = l->reads.n ? name_at(w, tuple)->writer : HBM_NONE;

	l->multi &= maker != HBM_NONE && maker != id;
	if (!l->multi)
		return HBM_OK;
	name_at(w, tuple)->tuple = true;
	for (uint32_t i = 0; i < l->writes.n; i++) {
		hbm_sym sym = w->f->lists.items[l->writes.first + i];
		HBM_TRY(add_extra(w, maker, sym));
		name_at(w, sym)->writer = maker;
		mark_access(w, sym, w->f->leaves.items[maker].top);
	}
	l->reads.n = l->writes.n = 0;
	return HBM_OK;
}

static hbm_status append_extras(work *w)
{
	for (uint32_t i = 0; i < w->f->leaves.n; i++) {
		hbm_ind_leaf *l = &w->f->leaves.items[i];
		hbm_span span = {w->f->lists.n, 0};
		if (w->extra_head[i] == HBM_NONE)
			continue;
		w->mark++;
		for (uint32_t k = 0; k < l->writes.n; k++)
			HBM_TRY(put(w, w->f->lists.items[l->writes.first + k], &span));
		for (uint32_t k = w->extra_head[i]; k != HBM_NONE;
		     k = w->extra_next.items[k])
			HBM_TRY(put(w, w->extra.items[k], &span));
		l->writes = span;
	}
	return HBM_OK;
}

static hbm_status hand_over_tuples(work *w)
{
	size_t n = (size_t)w->f->leaves.n + 1;

	HBM_NEED(w->extra_head = HBM_ARRAY(w->dump->a, uint32_t, n));
	HBM_NEED(w->extra_tail = HBM_ARRAY(w->dump->a, uint32_t, n));
	memset(w->extra_head, 0xff, n * sizeof *w->extra_head);
	for (uint32_t i = 0; i < w->f->leaves.n; i++)
		if (w->f->leaves.items[i].multi)
			HBM_TRY(hand_over(w, i));
	return append_extras(w);
}

/* ---- buffers -------------------------------------------------------------- */

static void take_buf(work *w, const hbm_ind_graph *g, uint32_t id)
{
	const hbm_ind_buf *b = &g->bufs.items[id];
	hbm_ind_name *n = name_at(w, b->name);
	hbm_span of = b->mutations.n ? b->mutations : b->aliases;

	if (n->g) {
		HBM_IND_FAIL(w->dump, HBM_E_IND_STRUCTURE, b->at, 1,
		             "buffer '%s' is made by two nodes", text_of(w, b->name));
		return;
	}
	n->g = g;
	n->buf = id;
	if (of.n && g->lists.items[of.first] != b->name) {
		n->base = g->lists.items[of.first];
		n->mutates = b->mutations.n > 0;
	}
	for (uint32_t i = 0; i < b->users.n; i++)
		n->output |= !g->users.items[b->users.first + i].node;
}

static hbm_status note_inplace(work *w, const hbm_ind_graph *g, const hbm_ind_buf *b)
{
	for (uint32_t i = 0; i < b->users.n; i++) {
		hbm_ind_user u = g->users.items[b->users.first + i];
		if (u.node && u.inplace)
			HBM_NEED(hbm_map_set(&w->f->inplace,
			                     (uint64_t)b->name << 32 | u.node, 1));
	}
	return HBM_OK;
}

static hbm_status name_nodes(hbm_map *names, const hbm_ind_graph *g)
{
	for (uint32_t i = 0; i < g->nodes.n; i++)
		HBM_NEED(hbm_map_set(names, g->nodes.items[i].name, i));
	return HBM_OK;
}

/* A user that no file has a node for: what follows was cut off. */
static hbm_status check_users(work *w, const hbm_map *names, const hbm_ind_graph *g)
{
	for (uint32_t i = 0; i < g->bufs.n; i++) {
		const hbm_ind_buf *b = &g->bufs.items[i];
		for (uint32_t k = 0; k < b->users.n; k++) {
			hbm_sym user = g->users.items[b->users.first + k].node;
			if (!user || hbm_map_get(names, user) != HBM_NONE)
				continue;
			HBM_NEED(hbm_warn(w->dump->d, HBM_E_IND_MISSING,
			                  hbm_ind_shown(w->dump, b->at, 1), "'%s' is "
			                  "used by node '%s', which is not in the "
			                  "dump; the file may be truncated",
			                  text_of(w, b->name), text_of(w, user)));
			return HBM_OK;
		}
	}
	return HBM_OK;
}

static hbm_status find_lacking(work *w)
{
	hbm_map names;

	hbm_map_init(&names, w->dump->a);
	HBM_TRY(name_nodes(&names, &w->dump->graph));
	HBM_TRY(name_nodes(&names, &w->dump->pre));
	return check_users(w, &names, &w->dump->graph);
}

static hbm_status take_bufs(work *w)
{
	for (uint32_t i = 0; i < w->f->leaves.n; i++) {
		const hbm_ind_leaf *l = &w->f->leaves.items[i];
		for (uint32_t k = 0; k < l->node->bufs.n; k++) {
			uint32_t id = l->node->bufs.first + k;
			take_buf(w, l->g, id);
			HBM_TRY(note_inplace(w, l->g, &l->g->bufs.items[id]));
		}
	}
	return HBM_OK;
}

/* Follows each chain of views once; a chain that comes back is an error. */
static hbm_status check_chains(work *w)
{
	uint32_t n = w->dump->names.n;
	uint8_t *state = HBM_ZARRAY(w->dump->a, uint8_t, n); /* 1 open, 2 done */

	HBM_NEED(state);
	for (uint32_t i = 0; i < n; i++) {
		hbm_sym sym = i;
		while (name_at(w, sym)->base && !state[sym]) {
			state[sym] = 1;
			sym = name_at(w, sym)->base;
		}
		if (state[sym] == 1) {
			const hbm_ind_buf *bad = hbm_ind_buf_of(name_at(w, sym));
			hbm_ind_at at = {0};
			HBM_IND_FAIL(w->dump, HBM_E_VIEW_CYCLE, bad ? bad->at : at, 1,
			             "buffer '%s' is a view of itself",
			             text_of(w, sym));
			name_at(w, sym)->base = 0;
		}
		for (sym = i; state[sym] == 1; sym = name_at(w, sym)->base)
			state[sym] = 2;
	}
	return HBM_OK;
}

/* ---- devices -------------------------------------------------------------- */

static void find_devices(work *w)
{
	static const char spyre[] = "FixedTiledLayout";

	for (uint32_t i = 0; i < w->f->leaves.n; i++) {
		hbm_sym device = w->f->leaves.items[i].node->device;
		const char *s = text_of(w, device);
		w->f->device |= device && strcmp(s, "cpu");
		w->f->spyre |= !strncmp(s, "spyre", 5);
	}
	for (uint32_t i = 0; i < w->dump->names.n; i++) {
		hbm_ind_at at = w->dump->names.items[i].layout;
		if (at.text && hbm_ind_starts(at.text, at.pos, at.text->n, spyre))
			w->f->device = w->f->spyre = true;
	}
}

hbm_status hbm_ind_find_facts(hbm_ind_dump *dump, hbm_ind_facts *ret)
{
	work w = {.dump = dump, .f = ret};

	*ret = (hbm_ind_facts){0};
	hbm_map_init(&ret->inplace, dump->a);
	HBM_NEED(hbm_ind_name_of(dump, dump->syms.strs.n - 1));
	HBM_NEED(w.stamp = HBM_ZARRAY(dump->a, uint32_t, dump->syms.strs.n));
	HBM_TRY(find_leaves(&w));
	for (uint32_t i = 0; i < ret->leaves.n; i++) {
		HBM_TRY(collect_writes(&w, i));
		mark_writes(&w, i);
		HBM_TRY(collect_reads(&w, i));
	}
	HBM_TRY(hand_over_tuples(&w));
	HBM_TRY(take_bufs(&w));
	HBM_TRY(find_lacking(&w));
	HBM_TRY(check_chains(&w));
	HBM_TRY(hbm_ind_learn(dump, ret));
	find_devices(&w);
	return HBM_OK;
}
