/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite: a new node tree in place of the old one. */
#include "pass/rewrite.h"

#include "base/out.h"

#include <assert.h>

hbm_status hbm_rewrite_begin(hbm_rewrite *w, hbm_arena *scratch, hbm_program *p)
{
	*w = (hbm_rewrite){.p = p};
	HBM_NEED(w->moved = HBM_ARRAY(scratch, hbm_node_id, p->nodes.n));
	HBM_NEED(w->open = HBM_ARRAY(scratch, hbm_node_id, HBM_MAX_DEPTH + 2));
	for (hbm_node_id n = 0; n < p->nodes.n; n++)
		w->moved[n] = HBM_NONE;
	return HBM_OK;
}

static bool add_node(hbm_rewrite *w, hbm_node node)
{
	node.parent = w->depth ? w->open[w->depth - 1] : HBM_NONE;
	node.end = w->nodes.n + 1;
	return HBM_PUSH(w->p->arena, &w->nodes, node);
}

static bool open_node(hbm_rewrite *w, hbm_node node)
{
	node.op = HBM_NONE;
	if (w->depth == HBM_MAX_DEPTH + 2 || !add_node(w, node))
		return false;
	w->open[w->depth++] = w->nodes.n - 1;
	return true;
}

bool hbm_rewrite_op(hbm_rewrite *w, hbm_op op)
{
	hbm_node node = {.kind = HBM_NODE_OP, .name = op.name, .op = w->ops.n,
	                 .line = op.line, .col = op.col};

	op.node = w->nodes.n;
	return add_node(w, node) && HBM_PUSH(w->p->arena, &w->ops, op);
}

bool hbm_rewrite_copy(hbm_rewrite *w, hbm_node_id old)
{
	hbm_node node = w->p->nodes.items[old];

	w->moved[old] = w->nodes.n;
	if (node.kind != HBM_NODE_OP)
		return open_node(w, node);
	return hbm_rewrite_op(w, w->p->ops.items[node.op]);
}

bool hbm_rewrite_copy_tree(hbm_rewrite *w, hbm_node_id old)
{
	uint32_t depth = w->depth;
	hbm_node_id end = w->p->nodes.items[old].end;
	hbm_node_id ends[HBM_MAX_DEPTH + 2];

	for (hbm_node_id n = old; n < end; n++) {
		while (w->depth > depth && ends[w->depth - 1] == n)
			hbm_rewrite_close(w);
		if (w->drop && w->drop[n]) {
			n = w->p->nodes.items[n].end - 1;
			continue;
		}
		if (!hbm_rewrite_copy(w, n))
			return false;
		if (w->p->nodes.items[n].kind != HBM_NODE_OP)
			ends[w->depth - 1] = w->p->nodes.items[n].end;
	}
	while (w->depth > depth)
		hbm_rewrite_close(w);
	return true;
}

bool hbm_rewrite_open(hbm_rewrite *w, hbm_node_kind kind, hbm_sym name)
{
	return open_node(w, (hbm_node){.kind = kind, .name = name});
}

void hbm_rewrite_close(hbm_rewrite *w)
{
	assert(w->depth);
	w->nodes.items[w->open[--w->depth]].end = w->nodes.n;
}

void hbm_rewrite_finish(hbm_rewrite *w)
{
	hbm_program *p = w->p;

	assert(!w->depth);
	for (uint32_t i = 0; i < p->strides.n; i++) {
		hbm_stride *s = &p->strides.items[i];
		if (s->loop != HBM_NONE) /* else left over from an earlier rewrite */
			s->loop = w->moved[s->loop];
	}
	for (hbm_tensor_id t = 0; t < p->tensors.n; t++) {
		hbm_home *home = &p->tensors.items[t].home;
		if (home->kind == HBM_HOME_POOL && home->bundle != HBM_NONE)
			home->bundle = w->moved[home->bundle];
	}
	p->nodes.items = w->nodes.items;
	p->nodes.n = w->nodes.n;
	p->nodes.cap = w->nodes.cap;
	p->ops.items = w->ops.items;
	p->ops.n = w->ops.n;
	p->ops.cap = w->ops.cap;
}

hbm_sym hbm_fresh_name(hbm_program *p, const char *stem, const char *suffix)
{
	for (uint32_t k = 0; k < UINT32_MAX; k++) {
		hbm_membuf text = {.arena = p->arena};
		hbm_out out;
		hbm_out_init(&out, hbm_membuf_write, &text);
		hbm_putf(&out, "%s%s", stem, suffix);
		if (k)
			hbm_putu(&out, k);
		if (hbm_out_finish(&out) != HBM_OK)
			return HBM_NONE;
		if (hbm_sym_find(&p->syms, text.bytes.items, text.bytes.n) == HBM_NONE)
			return hbm_intern(&p->syms, text.bytes.items, text.bytes.n);
	}
	return HBM_NONE;
}
