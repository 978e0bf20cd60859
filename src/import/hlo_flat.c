/* SPDX-License-Identifier: Apache-2.0
 * hlo_flat: writes the entry computation out in run order.
 *
 * Method     Walks the order of each computation; calls, loops and branches are
 *            entered where they stand (the nesting is limited). Each instruction
 *            gets references to the values of its leaves.
 * Loops      Each leaf of the state has a value that the body sees and one that is
 *            there after the loop. A leaf that the body hands on unchanged is no
 *            state: it is the initial value, alive to the loop's end.
 * Cost       Linear in what is written out; the sum is limited. */
#include "import/hlo_walk.h"

#include <inttypes.h>
#include <string.h>

/* ---- values and steps ----------------------------------------------------- */

static hbm_status too_large(const hlo_flat *f, uint32_t i)
{
	return hbm_fail(f->m->diags, HBM_LIMIT, HBM_E_TOO_LARGE,
	                hlo_at(f->m, hlo_instr_at(f, i)->pos, 0),
	                "written out, the calls of this module take more than %d steps",
	                HLO_MAX_FLAT);
}

static hbm_status add_value(hlo_flat *f, uint32_t i, uint32_t leaf, uint32_t flags,
                            uint32_t *ret)
{
	const hlo_node *n = hlo_leaf_node(f, hlo_instr_at(f, i), leaf);
	hlo_value v = {.instr = i, .leaf = leaf, .def = f->steps.n, .last = f->steps.n,
	               .same = f->values.n, .flags = flags, .size = n->size};

	*ret = HBM_NONE;
	if (n->kind != HLO_ARRAY || (!n->size && !n->dynamic && !(flags & HLO_V_PARAM)))
		return HBM_OK;
	if (f->values.n == HLO_MAX_FLAT)
		return too_large(f, i);
	if (n->space == HLO_SPACE_HOST || n->space == HLO_SPACE_UNPINNED)
		v.flags |= HLO_V_HOST;
	*ret = f->values.n;
	HBM_NEED(HBM_PUSH(f->arena, &f->values, v));
	return HBM_OK;
}

static void touch(hlo_flat *f, uint32_t v, uint32_t step)
{
	hlo_value *x = &f->values.items[hlo_value_of(f, v)];

	if (step > x->last)
		x->last = step;
}

static hbm_status add_step(hlo_flat *f, hlo_step_kind kind, uint32_t i, uint32_t open)
{
	hlo_step s = {.kind = (uint8_t)kind, .instr = i, .open = open,
	              .reads.first = f->operands.n, .writes.first = f->operands.n,
	              .pairs.first = f->pairs.n, .moves.first = f->moves.n};

	if (f->steps.n == HLO_MAX_FLAT)
		return too_large(f, i);
	HBM_NEED(HBM_PUSH(f->arena, &f->steps, s));
	return HBM_OK;
}

static hbm_status add_move(hlo_flat *f, uint32_t from, uint32_t to)
{
	touch(f, from, f->steps.n - 1);
	HBM_NEED(HBM_PUSH(f->arena, &f->moves, (hlo_move){from, to, false}));
	hlo_now(f)->moves.n++;
	return HBM_OK;
}

/* A value counts once among an op's reads. */
static hbm_status add_read(hlo_flat *f, uint32_t v)
{
	hlo_value *x;

	if (v == HBM_NONE)
		return HBM_OK;
	v = hlo_value_of(f, v);
	x = &f->values.items[v];
	if (x->mark == f->steps.n) {
		x->slots++;
		return HBM_OK;
	}
	x->mark = f->steps.n;
	x->slots = 1;
	touch(f, v, f->steps.n - 1);
	HBM_NEED(HBM_PUSH(f->arena, &f->operands, v));
	hlo_now(f)->reads.n++;
	return HBM_OK;
}

static hbm_status add_reads(hlo_flat *f, const hlo_frame *fr, const hlo_instr *x)
{
	hlo_now(f)->reads.first = f->operands.n;
	for (uint32_t k = 0; k < x->operands.n; k++) {
		uint32_t n;
		const uint32_t *v = hlo_operand_refs(f, fr, x, k, &n);
		for (uint32_t i = 0; i < n; i++)
			HBM_TRY(add_read(f, v[i]));
	}
	hlo_now(f)->writes.first = f->operands.n;
	return HBM_OK;
}

static hbm_status add_write(hlo_flat *f, uint32_t i, uint32_t leaf, uint32_t *ref)
{
	HBM_TRY(add_value(f, i, leaf, 0, ref));
	if (*ref == HBM_NONE)
		return HBM_OK;
	f->values.items[*ref].def = f->values.items[*ref].last = f->steps.n - 1;
	HBM_NEED(HBM_PUSH(f->arena, &f->operands, *ref));
	hlo_now(f)->writes.n++;
	return HBM_OK;
}

/* ---- plain operations ----------------------------------------------------- */

static hbm_status plain(hlo_flat *f, const hlo_frame *fr, uint32_t i)
{
	const hlo_instr *x = hlo_instr_at(f, i);

	HBM_TRY(add_step(f, HLO_S_OP, i, 0));
	HBM_TRY(add_reads(f, fr, x));
	for (uint32_t leaf = 0; leaf < x->leaves.n; leaf++)
		HBM_TRY(add_write(f, i, leaf, &hlo_refs(fr, x)[leaf]));
	return hlo_add_pairs(f, fr, x);
}

/* The result's leaves are those of operand k from `from` on. */
static void hand_on(const hlo_flat *f, const hlo_frame *fr, const hlo_instr *x,
                    uint32_t k, uint32_t from)
{
	uint32_t n;
	const uint32_t *v = hlo_operand_refs(f, fr, x, k, &n);

	for (uint32_t leaf = 0; leaf < x->leaves.n; leaf++)
		hlo_refs(fr, x)[leaf] = from + leaf < n ? v[from + leaf] : HBM_NONE;
}

static void tuple(const hlo_flat *f, const hlo_frame *fr, const hlo_instr *x)
{
	uint32_t leaf = 0, n;

	for (uint32_t k = 0; k < x->operands.n; k++) {
		const uint32_t *v = hlo_operand_refs(f, fr, x, k, &n);
		for (uint32_t i = 0; i < n && leaf < x->leaves.n; i++)
			hlo_refs(fr, x)[leaf++] = v[i];
	}
}

static void element(const hlo_flat *f, const hlo_frame *fr, const hlo_instr *x)
{
	const hlo_node *t = &f->m->nodes.items[hlo_operand_node(f, x, 0)];
	uint32_t kid = f->m->kids.items[t->first + x->number];

	hand_on(f, fr, x, 0, f->m->nodes.items[kid].leaf - t->leaf);
}

static hbm_status constant(hlo_flat *f, const hlo_frame *fr, uint32_t i)
{
	const hlo_instr *x = hlo_instr_at(f, i);

	if (x->leaves.n != 1)
		return plain(f, fr, i);
	if (f->constant[i] == HBM_NONE) {
		HBM_TRY(add_value(f, i, 0, HLO_V_CONST | HLO_V_READONLY,
		                  &f->constant[i]));
		if (f->constant[i] != HBM_NONE)
			f->values.items[f->constant[i]].def = 0;
	}
	hlo_refs(fr, x)[0] = f->constant[i];
	return HBM_OK;
}

static void parameter(const hlo_frame *fr, const hlo_instr *x)
{
	const uint32_t *v = x->number < fr->n_args ? fr->args[x->number] : NULL;

	for (uint32_t leaf = 0; leaf < x->leaves.n; leaf++)
		hlo_refs(fr, x)[leaf] = v ? v[leaf] : HBM_NONE;
}

/* ---- asynchronous pairs --------------------------------------------------- */

static const hlo_node *kid(const hlo_flat *f, const hlo_instr *x, uint32_t k)
{
	const hlo_node *n = &f->m->nodes.items[x->shape];

	return n->kind == HLO_TUPLES && k < n->n
	               ? &f->m->nodes.items[f->m->kids.items[n->first + k]]
	               : NULL;
}

/* (operands, results, context...), except that a copy gives (result, operand,
 * context). Contexts are handles and take no bytes. */
static hbm_status start(hlo_flat *f, const hlo_frame *fr, uint32_t i)
{
	const hlo_instr *x = hlo_instr_at(f, i);
	bool copy = x->opcode == HLO_OP_COPY_START;
	const hlo_node *echo = kid(f, x, copy), *result = kid(f, x, !copy);
	uint32_t *out = hlo_refs(fr, x), at = 0, n;

	if (!echo || !result)
		return plain(f, fr, i);
	HBM_TRY(add_step(f, HLO_S_OP, i, 0));
	HBM_TRY(add_reads(f, fr, x));
	for (uint32_t leaf = 0; leaf < x->leaves.n; leaf++)
		out[leaf] = HBM_NONE;
	for (uint32_t k = 0; k < x->operands.n; k++) {
		const uint32_t *v = hlo_operand_refs(f, fr, x, k, &n);
		for (uint32_t j = 0; j < n && at < echo->n_leaves; j++)
			out[echo->leaf + at++] = v[j];
	}
	for (uint32_t j = 0; j < result->n_leaves; j++)
		HBM_TRY(add_write(f, i, result->leaf + j, &out[result->leaf + j]));
	return hlo_add_pairs(f, fr, x);
}

/* Where the result stands in what the start gave. */
static uint32_t done_from(const hlo_flat *f, const hlo_instr *x)
{
	const hlo_node *from = &f->m->nodes.items[hlo_operand_node(f, x, 0)];
	const hlo_node *second;

	if (x->opcode == HLO_OP_COPY_DONE || x->opcode == HLO_OP_ALL_REDUCE_DONE ||
	    x->opcode == HLO_OP_RECV_DONE || from->kind != HLO_TUPLES || from->n < 2)
		return 0;
	second = &f->m->nodes.items[f->m->kids.items[from->first + 1]];
	return second->leaf - from->leaf;
}

/* Operands and results of the start are in use until here. */
static hbm_status done(hlo_flat *f, const hlo_frame *fr, uint32_t i)
{
	const hlo_instr *x = hlo_instr_at(f, i);

	HBM_TRY(add_step(f, HLO_S_OP, i, 0));
	hlo_now(f)->nop = true;
	HBM_TRY(add_reads(f, fr, x));
	hand_on(f, fr, x, 0, done_from(f, x));
	return HBM_OK;
}

/* ---- calls, loops, branches ----------------------------------------------- */

static hbm_status walk(hlo_flat *f, uint32_t comp, const uint32_t *const *args,
                       uint32_t n_args, uint32_t depth,
                       const uint32_t **ret_root) HBM_MUST_USE;

static hbm_status call(hlo_flat *f, const hlo_frame *fr, const hlo_instr *x)
{
	const uint32_t **args = HBM_ARRAY(f->arena, const uint32_t *, x->operands.n);
	const uint32_t *root;
	uint32_t n;

	HBM_NEED(args);
	for (uint32_t k = 0; k < x->operands.n; k++)
		args[k] = hlo_operand_refs(f, fr, x, k, &n);
	HBM_TRY(walk(f, f->m->called.items[x->called.first].comp, args, x->operands.n,
	             fr->depth + 1, &root));
	memcpy(hlo_refs(fr, x), root, x->leaves.n * sizeof *root);
	return HBM_OK;
}

/* Takes leaf `k` out of the state when the body hands it on unchanged. */
static bool unchanged(hlo_flat *f, uint32_t init, uint32_t state, uint32_t result)
{
	if (init == HBM_NONE || state == HBM_NONE || result == HBM_NONE ||
	    hlo_value_of(f, result) != hlo_value_of(f, state))
		return false;
	init = hlo_value_of(f, init);
	state = hlo_value_of(f, state);
	if (init == state)
		return true;
	f->values.items[state].same = init;
	touch(f, init, f->values.items[state].last);
	touch(f, init, f->steps.n - 1);
	return true;
}

/* The leaf's value behind the loop stands where the state stood. */
static hbm_status carry(hlo_flat *f, uint32_t i, uint32_t leaf, uint32_t state,
                        uint32_t result, uint32_t *ref)
{
	hlo_pair two = {state, HBM_NONE, false};

	HBM_TRY(add_value(f, i, leaf, HLO_V_STATE, ref));
	if (*ref == HBM_NONE)
		return HBM_OK;
	f->values.items[*ref].def = f->values.items[*ref].last = f->steps.n - 1;
	two.write = *ref;
	HBM_NEED(HBM_PUSH(f->arena, &f->bound, two));
	return result == HBM_NONE ? HBM_OK : add_move(f, result, *ref);
}

static hbm_status loop(hlo_flat *f, const hlo_frame *fr, uint32_t i)
{
	const hlo_instr *x = hlo_instr_at(f, i);
	uint32_t n, open = f->steps.n, first, kept = 0;
	const uint32_t *init = hlo_operand_refs(f, fr, x, 0, &n), *root;
	uint32_t *state = HBM_ARRAY(f->arena, uint32_t, n);
	const hlo_called *called = f->m->called.items + x->called.first;
	const uint32_t *arg = state;

	HBM_NEED(state);
	HBM_TRY(add_step(f, HLO_S_LOOP, i, open));
	for (uint32_t k = 0; k < n; k++) {
		HBM_TRY(add_value(f, i, k, HLO_V_STATE, &state[k]));
		if (state[k] != HBM_NONE)
			f->values.items[state[k]].def = f->values.items[state[k]].last = open;
		if (init[k] != HBM_NONE && state[k] != HBM_NONE)
			HBM_TRY(add_move(f, init[k], state[k]));
	}
	HBM_TRY(walk(f, called[0].comp, &arg, 1, fr->depth + 1, &root));
	HBM_TRY(walk(f, called[1].comp, &arg, 1, fr->depth + 1, &root));
	HBM_TRY(add_step(f, HLO_S_LOOP_END, i, open));
	for (uint32_t k = 0; k < n; k++) {
		if (unchanged(f, init[k], state[k], root[k]))
			hlo_refs(fr, x)[k] = init[k];
		else if (state[k] != HBM_NONE)
			HBM_TRY(carry(f, i, k, state[k], root[k], &hlo_refs(fr, x)[k]));
		else
			hlo_refs(fr, x)[k] = HBM_NONE;
	}
	/* Initial moves of what turned out to be no state. */
	first = f->steps.items[open].moves.first;
	for (uint32_t k = 0; k < f->steps.items[open].moves.n; k++) {
		hlo_move m = f->moves.items[first + k];
		if (hlo_value_of(f, m.to) == m.to)
			f->moves.items[first + kept++] = m;
	}
	f->steps.items[open].moves.n = kept;
	return HBM_OK;
}

static hbm_status branch(hlo_flat *f, const hlo_frame *fr, uint32_t i, uint32_t k,
                         const uint32_t *result)
{
	const hlo_instr *x = hlo_instr_at(f, i);
	uint32_t n, open = f->steps.n;
	const uint32_t *arg = hlo_operand_refs(f, fr, x, k + 1, &n), *root;
	uint32_t comp = f->m->called.items[x->called.first + k].comp;

	HBM_TRY(add_step(f, HLO_S_BRANCH, i, k));
	HBM_TRY(walk(f, comp, &arg, 1, fr->depth + 1, &root));
	HBM_TRY(add_step(f, HLO_S_BRANCH_END, i, open));
	for (uint32_t leaf = 0; leaf < x->leaves.n; leaf++)
		if (root[leaf] != HBM_NONE && result[leaf] != HBM_NONE)
			HBM_TRY(add_move(f, root[leaf], result[leaf]));
	return HBM_OK;
}

/* Branches stand one after the other; only one of them runs. */
static hbm_status conditional(hlo_flat *f, const hlo_frame *fr, uint32_t i)
{
	const hlo_instr *x = hlo_instr_at(f, i);
	uint32_t *result = hlo_refs(fr, x), n;
	const uint32_t *selector = hlo_operand_refs(f, fr, x, 0, &n);

	HBM_TRY(add_step(f, HLO_S_OP, i, 0));
	hlo_now(f)->nop = true;
	for (uint32_t k = 0; k < n; k++)
		HBM_TRY(add_read(f, selector[k]));
	hlo_now(f)->writes.first = f->operands.n;
	for (uint32_t leaf = 0; leaf < x->leaves.n; leaf++)
		HBM_TRY(add_value(f, i, leaf, HLO_V_STATE, &result[leaf]));
	for (uint32_t k = 0; k < x->called.n; k++)
		HBM_TRY(branch(f, fr, i, k, result));
	HBM_TRY(add_step(f, HLO_S_JOIN, i, 0));
	for (uint32_t leaf = 0; leaf < x->leaves.n; leaf++)
		if (result[leaf] != HBM_NONE)
			f->values.items[result[leaf]].def =
				f->values.items[result[leaf]].last = f->steps.n - 1;
	return HBM_OK;
}

/* ---- host memory ---------------------------------------------------------- */

static bool target_is(const hlo_instr *x, const char *name)
{
	return strlen(name) == x->target.n && !memcmp(x->target.s, name, x->target.n);
}

static bool on_host(const hlo_flat *f, uint32_t v)
{
	return v != HBM_NONE && f->values.items[hlo_value_of(f, v)].flags & HLO_V_HOST;
}

/* Markers that a compiler takes out again: they hand their operand on. */
static bool is_marker(const hlo_flat *f, const hlo_frame *fr, const hlo_instr *x)
{
	const uint32_t *v;
	uint32_t n;

	if (x->operands.n != 1 || x->leaves.n != 1)
		return false;
	v = hlo_operand_refs(f, fr, x, 0, &n);
	if (n != 1 || f->m->nodes.items[hlo_operand_node(f, x, 0)].size !=
	                      hlo_leaf_node(f, x, 0)->size)
		return false;
	return target_is(x, "Sharding") || target_is(x, "SPMDFullToShardShape") ||
	       target_is(x, "SPMDShardToFullShape") ||
	       (target_is(x, "MoveToDevice") && !on_host(f, v[0])) ||
	       (target_is(x, "MoveToHost") && on_host(f, v[0]));
}

static hbm_status custom(hlo_flat *f, const hlo_frame *fr, uint32_t i)
{
	const hlo_instr *x = hlo_instr_at(f, i);

	if (is_marker(f, fr, x)) {
		hand_on(f, fr, x, 0, 0);
		return HBM_OK;
	}
	HBM_TRY(plain(f, fr, i));
	if (target_is(x, "MoveToHost") && hlo_refs(fr, x)[0] != HBM_NONE)
		f->values.items[hlo_refs(fr, x)[0]].flags |= HLO_V_HOST;
	return HBM_OK;
}

/* ---- the walk ------------------------------------------------------------- */

static bool is_view(const hlo_flat *f, const hlo_instr *x)
{
	switch (hlo_opcode_infos[x->opcode].class) {
	case HLO_SAME:
		return true;
	case HLO_RESHAPE:
		return hlo_reshape_is_view(f->m, hlo_operand_node(f, x, 0), x->shape);
	case HLO_TRANSPOSE:
		return hlo_transpose_is_view(f->m, x, hlo_operand_node(f, x, 0));
	default:
		return false;
	}
}

static hbm_status one(hlo_flat *f, const hlo_frame *fr, uint32_t i)
{
	const hlo_instr *x = hlo_instr_at(f, i);

	if (is_view(f, x)) {
		hand_on(f, fr, x, 0, 0);
		return HBM_OK;
	}
	switch (hlo_opcode_infos[x->opcode].class) {
	case HLO_TUPLE:
		tuple(f, fr, x);
		return HBM_OK;
	case HLO_GTE:
		element(f, fr, x);
		return HBM_OK;
	case HLO_PARAM:
		parameter(fr, x);
		return HBM_OK;
	case HLO_CONST:
		return constant(f, fr, i);
	case HLO_WHILE:
		return loop(f, fr, i);
	case HLO_COND:
		return conditional(f, fr, i);
	case HLO_CALL:
		return call(f, fr, x);
	case HLO_CUSTOM:
		return custom(f, fr, i);
	case HLO_START:
		return start(f, fr, i);
	case HLO_DONE:
		return done(f, fr, i);
	default:
		return plain(f, fr, i);
	}
}

static hbm_status walk(hlo_flat *f, uint32_t comp, const uint32_t *const *args,
                       uint32_t n_args, uint32_t depth, const uint32_t **ret_root)
{
	const hlo_comp *c = &f->m->comps.items[comp];
	const hlo_instr *first = hlo_instr_at(f, c->first);
	const hlo_instr *root = hlo_instr_at(f, c->root);
	hlo_frame fr = {.c = c, .base = first->leaves.first, .args = args,
	            .n_args = n_args, .depth = depth};

	if (depth >= HBM_MAX_DEPTH)
		return hbm_fail(f->m->diags, HBM_LIMIT, HBM_E_NESTING,
		                hlo_at(f->m, c->pos, 0),
		                "computations call each other deeper than %d",
		                HBM_MAX_DEPTH);
	f->walked += (uint64_t)c->n_order + c->n_leaves;
	if (f->walked > HLO_MAX_WALK)
		return too_large(f, c->root);
	HBM_NEED(fr.refs = HBM_ARRAY(f->arena, uint32_t, c->n_leaves));
	memset(fr.refs, 0xff, c->n_leaves * sizeof *fr.refs);
	for (uint32_t k = 0; k < c->n_order; k++)
		HBM_TRY(one(f, &fr, c->order[k]));
	*ret_root = hlo_refs(&fr, root);
	return HBM_OK;
}

/* ---- the entry ------------------------------------------------------------ */

static hbm_status arguments(hlo_flat *f, const hlo_comp *c, const uint32_t **args)
{
	for (uint32_t k = 0; k < c->n_params; k++) {
		const hlo_instr *x;
		uint32_t *v;
		args[k] = NULL;
		if (c->params[k] == HBM_NONE)
			continue;
		x = hlo_instr_at(f, c->params[k]);
		HBM_NEED(v = HBM_ARRAY(f->arena, uint32_t, x->leaves.n));
		for (uint32_t leaf = 0; leaf < x->leaves.n; leaf++) {
			HBM_TRY(add_value(f, c->params[k], leaf,
			                  HLO_V_PARAM | HLO_V_READONLY, &v[leaf]));
			if (v[leaf] != HBM_NONE)
				f->values.items[v[leaf]].def = 0;
		}
		args[k] = v;
	}
	return HBM_OK;
}

/* The parameter's value that an alias names; HBM_NONE: there is none. */
static uint32_t aliased(const hlo_flat *f, const hlo_comp *c,
                        const uint32_t *const *args, const hlo_alias *a)
{
	uint32_t leaf;

	if (a->operand >= c->n_params || !args[a->operand])
		return HBM_NONE;
	leaf = hlo_leaf_at(f, hlo_instr_at(f, c->params[a->operand])->shape, a->in);
	return leaf == HBM_NONE ? HBM_NONE : args[a->operand][leaf];
}

static hbm_status no_such(const hlo_flat *f, const hlo_alias *a, const char *what)
{
	return hbm_fail(f->m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
	                hlo_at(f->m, a->pos, 0), "alias names no %s of the entry", what);
}

static hbm_status donate(hlo_flat *f, const hlo_comp *c, const uint32_t *const *args,
                         hbm_span list)
{
	for (uint32_t i = 0; i < list.n; i++) {
		const hlo_alias *a = &f->m->aliases.items[list.first + i];
		uint32_t v = aliased(f, c, args, a);
		if (v == HBM_NONE)
			return no_such(f, a, "parameter");
		f->values.items[v].flags &= ~(uint32_t)HLO_V_READONLY;
		f->values.items[v].flags |= HLO_V_DONATED;
	}
	return HBM_OK;
}

/* What leaves as it stands is in use beyond the last step: nothing else can stand
 * there.
 *
 * Result `leaf` has to end in the bytes of an argument. */
static hbm_status aliased_result(hlo_flat *f, const uint32_t *root, bool *taken,
                                 const hlo_alias *a, uint32_t arg)
{
	const hlo_comp *c = &f->m->comps.items[f->m->entry];
	uint32_t leaf = hlo_leaf_at(f, hlo_instr_at(f, c->root)->shape, a->out), out;

	if (leaf == HBM_NONE || root[leaf] == HBM_NONE || taken[leaf] ||
	    hlo_leaf_node(f, hlo_instr_at(f, c->root), leaf)->size !=
		    f->values.items[arg].size)
		return no_such(f, a, "result of the argument's size");
	if (f->values.items[arg].flags & HLO_V_STATE)
		return hbm_fail(f->m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
		                hlo_at(f->m, a->pos, 0),
		                "two results cannot stand in one argument");
	taken[leaf] = true;
	f->values.items[arg].flags |= HLO_V_STATE;
	if (hlo_value_of(f, root[leaf]) == arg) {
		touch(f, arg, f->steps.n);
		f->values.items[arg].flags |= HLO_V_OUTPUT;
		return HBM_OK;
	}
	HBM_TRY(add_value(f, c->root, leaf, HLO_V_STATE | HLO_V_OUTPUT, &out));
	if (out == HBM_NONE)
		return HBM_OK;
	f->values.items[out].def = f->values.items[out].last = f->steps.n - 1;
	HBM_NEED(HBM_PUSH(f->arena, &f->bound, (hlo_pair){arg, out, false}));
	f->values.items[hlo_value_of(f, root[leaf])].flags |= HLO_V_TAKEN;
	return add_move(f, root[leaf], out);
}

/* A result that is no argument, no constant and no other result is handed out as it
 * stands; the others are copied. */
static hbm_status plain_result(hlo_flat *f, const uint32_t *root, uint32_t leaf)
{
	const hlo_comp *c = &f->m->comps.items[f->m->entry];
	uint32_t v = root[leaf] == HBM_NONE ? HBM_NONE : hlo_value_of(f, root[leaf]);
	uint32_t out;

	if (v == HBM_NONE)
		return HBM_OK;
	if (!(f->values.items[v].flags & (HLO_V_PARAM | HLO_V_CONST | HLO_V_OUTPUT |
	                                 HLO_V_TAKEN))) {
		f->values.items[v].flags |= HLO_V_OUTPUT;
		touch(f, v, f->steps.n);
		return HBM_OK;
	}
	HBM_TRY(add_value(f, c->root, leaf, HLO_V_OUTPUT, &out));
	if (out == HBM_NONE)
		return HBM_OK;
	f->values.items[out].def = f->values.items[out].last = f->steps.n - 1;
	return add_move(f, v, out);
}

static hbm_status results(hlo_flat *f, const hlo_comp *c, const uint32_t *const *args,
                          const uint32_t *root)
{
	uint32_t n = hlo_instr_at(f, c->root)->leaves.n;
	bool *taken = HBM_ZARRAY(f->arena, bool, n);

	HBM_NEED(taken);
	HBM_TRY(add_step(f, HLO_S_END, c->root, 0));
	for (uint32_t i = 0; i < f->m->io_aliases.n; i++) {
		const hlo_alias *a = &f->m->aliases.items[f->m->io_aliases.first + i];
		HBM_TRY(aliased_result(f, root, taken, a, aliased(f, c, args, a)));
	}
	for (uint32_t leaf = 0; leaf < n; leaf++)
		if (!taken[leaf])
			HBM_TRY(plain_result(f, root, leaf));
	return HBM_OK;
}

hbm_status hlo_flatten(hlo_flat *f)
{
	const hlo_comp *c = &f->m->comps.items[f->m->entry];
	const uint32_t **args = HBM_ARRAY(f->arena, const uint32_t *, c->n_params);
	const uint32_t *root;

	HBM_NEED(args);
	HBM_NEED(f->constant = HBM_ARRAY(f->arena, uint32_t, f->m->instrs.n));
	memset(f->constant, 0xff, f->m->instrs.n * sizeof *f->constant);
	HBM_TRY(add_step(f, HLO_S_START, c->root, 0));
	HBM_TRY(arguments(f, c, args));
	HBM_TRY(donate(f, c, args, f->m->io_aliases));
	HBM_TRY(donate(f, c, args, f->m->donors));
	HBM_TRY(walk(f, f->m->entry, args, c->n_params, 0, &root));
	return results(f, c, args, root);
}
