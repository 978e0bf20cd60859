/* SPDX-License-Identifier: Apache-2.0
 * hlo_fusion: which parameter of a fusion may give its bytes to which result.
 *
 * A fusion runs as one kernel that computes element i of its results from some
 * elements of its parameters. The result may stand in the parameter's bytes when,
 * on every way from the parameter to a result, element i is used for element i
 * only: through elementwise operations, bitcasts, and as the target of an update.
 *
 * Method     One walk from the last instruction to the first; each tells its
 *            operands whether it keeps elements in place and which results it
 *            reaches (the first 64 count).
 * Cost       Linear in the fused computation. */
#include "import/hlo.h"

typedef struct fused {
	bool moved;     /* some user reads elements other than its own */
	bool update;    /* passes through an update */
	uint64_t reach; /* result leaves */
} fused;

typedef struct walk {
	hlo_module *m;
	const hlo_comp *c;
	fused *at; /* by instruction, from the computation's first */
} walk;

static fused *of(const walk *w, const hlo_operand *o)
{
	return &w->at[o->instr - w->c->first];
}

static const hlo_operand *operand(const walk *w, const hlo_instr *x, uint32_t i)
{
	return &w->m->operands.items[x->operands.first + i];
}

/* Operand and result have their elements in the same order. */
static bool same_order(const hlo_module *m, uint32_t a, uint32_t b)
{
	const hlo_node *x = &m->nodes.items[a], *y = &m->nodes.items[b];

	if (x->kind != HLO_ARRAY || y->kind != HLO_ARRAY || x->n != y->n ||
	    x->tiled != y->tiled)
		return false;
	for (uint32_t i = 0; i < x->n; i++) {
		const hlo_dim *p = &m->dims.items[x->first + i];
		const hlo_dim *q = &m->dims.items[y->first + i];
		if (p->extent != q->extent || p->minor != q->minor)
			return false;
	}
	return true;
}

static bool keeps(const walk *w, const hlo_instr *x, uint32_t i, uint32_t from)
{
	switch (hlo_opcode_infos[x->opcode].class) {
	case HLO_ELEM:
		return same_order(w->m, from, x->shape);
	case HLO_SAME:
		return w->m->nodes.items[from].size == w->m->nodes.items[x->shape].size;
	case HLO_RESHAPE:
		return hlo_reshape_is_view(w->m, from, x->shape);
	case HLO_TRANSPOSE:
		return hlo_transpose_is_view(w->m, x, from);
	case HLO_DUS:
	case HLO_SCATTER:
		return i == 0 && same_order(w->m, from, x->shape);
	default:
		return false;
	}
}

static void tell_operands(const walk *w, const hlo_instr *x, const fused *self)
{
	hlo_class class = hlo_opcode_infos[x->opcode].class;

	for (uint32_t i = 0; i < x->operands.n; i++) {
		const hlo_operand *o = operand(w, x, i);
		fused *f = of(w, o);
		f->reach |= self->reach;
		f->moved |= self->moved || o->path.n ||
		            !keeps(w, x, i, w->m->instrs.items[o->instr].shape);
		f->update |= self->update || class == HLO_DUS || class == HLO_SCATTER;
	}
}

/* A tuple at the root: result i is operand i. */
static void tell_results(const walk *w, const hlo_instr *root)
{
	if (hlo_opcode_infos[root->opcode].class != HLO_TUPLE) {
		w->at[w->c->root - w->c->first].reach = 1;
		return;
	}
	for (uint32_t i = 0; i < root->operands.n; i++) {
		const hlo_operand *o = operand(w, root, i);
		if (i < 64 && w->m->instrs.items[o->instr].leaves.n == 1 && !o->path.n)
			of(w, o)->reach |= (uint64_t)1 << i;
		else
			of(w, o)->moved = true;
	}
}

static bool in_order(const walk *w)
{
	for (uint32_t i = w->c->first; i < w->c->first + w->c->n; i++) {
		const hlo_instr *x = &w->m->instrs.items[i];
		for (uint32_t k = 0; k < x->operands.n; k++)
			if (operand(w, x, k)->instr >= i)
				return false;
	}
	return true;
}

static hbm_status add_shares(const walk *w, const hlo_instr *x, const fused *f)
{
	hlo_module *m = w->m;
	const hlo_instr *root = &m->instrs.items[w->c->root];
	const hlo_node *from = &m->nodes.items[x->shape];

	if (from->kind != HLO_ARRAY || f->moved)
		return HBM_OK;
	for (uint32_t out = 0; out < root->leaves.n && out < 64; out++) {
		const hlo_node *to =
			&m->nodes.items[m->leaf_nodes.items[root->leaves.first + out]];
		hlo_share s = {(uint32_t)x->number, out, f->update};
		if (!(f->reach >> out & 1) || to->size != from->size ||
		    to->bits != from->bits || to->kind != HLO_ARRAY)
			continue;
		HBM_NEED(HBM_PUSH(m->arena, &m->shares, s));
	}
	return HBM_OK;
}

hbm_status hlo_fusion_shares(hlo_module *m, uint32_t comp)
{
	hlo_comp *c = &m->comps.items[comp];
	walk w = {.m = m, .c = c};
	const hlo_instr *root = &m->instrs.items[c->root];

	if (c->shares_known)
		return HBM_OK;
	c->shares_known = true;
	c->shares = (hbm_span){m->shares.n, 0};
	if (!in_order(&w))
		return HBM_OK;
	HBM_NEED(w.at = HBM_ZARRAY(m->arena, fused, c->n));
	tell_results(&w, root);
	for (uint32_t i = c->n; i-- > 0;) {
		const hlo_instr *x = &m->instrs.items[c->first + i];
		bool tuple_root = c->first + i == c->root &&
		                  hlo_opcode_infos[x->opcode].class == HLO_TUPLE;
		if (w.at[i].reach && !tuple_root)
			tell_operands(&w, x, &w.at[i]);
	}
	for (uint32_t i = 0; i < c->n_params; i++)
		if (c->params[i] != HBM_NONE)
			HBM_TRY(add_shares(&w, &m->instrs.items[c->params[i]],
			                   &w.at[c->params[i] - c->first]));
	c->shares.n = m->shares.n - c->shares.first;
	return HBM_OK;
}
