/* SPDX-License-Identifier: Apache-2.0 */
/* prepare-kernels: makes sure that each bundle's kernel can be made.
 *
 * Method    Each bundle is prepared once against the final homes. Where an op's
 *           kernel cannot be made with its operands in the scratchpad, all
 *           scratchpad storages that the op touches leave it together, and
 *           preparation starts again from the first bundle. What left is not
 *           placed anew; pool planning sees it. Each restart takes at least one
 *           storage out, so there are at most as many as there are storages.
 *           A clone that left is undone: its readers use the original.
 * Fails     when a scratchpad block leaves the planner's share or is not aligned,
 *           when an operand would advance with a loop there, when a kernel has
 *           more arguments than the target allows, or when the op says so
 *           (lx_fail, for tests of this pass).
 * Cost      Linear in operands, for each restart. */
#include "pass/pass.h"
#include "pass/rewrite.h"

#include <inttypes.h>

typedef struct preparer {
	hbm_pass_cx *cx;
	uint64_t *failures; /* per op: scripted failures so far */
	uint32_t *seen;     /* per storage: last bundle that counted it */
	uint32_t n_lx;      /* storages in the scratchpad at the start */
} preparer;

/* Why a kernel cannot be made. */
typedef struct failure {
	const char *what; /* NULL: it can */
	hbm_op_id op;
	uint64_t figure, limit; /* limit 0: no figures */
} failure;

static const hbm_home *home_of(const preparer *x, hbm_storage_id s)
{
	return &x->cx->prog->tensors.items[x->cx->an->storages.items[s].root].home;
}

static bool in_lx(const preparer *x, hbm_storage_id s)
{
	return home_of(x, s)->kind == HBM_HOME_LX;
}

static bool advances(const hbm_program *p, const hbm_operand *o)
{
	for (uint32_t k = 0; k < o->strides.n; k++)
		if (p->strides.items[o->strides.first + k].bytes)
			return true;
	return false;
}

static failure try_operand(const preparer *x, hbm_op_id op, const hbm_operand *o)
{
	const hbm_target *t = x->cx->target;
	uint64_t usable = hbm_target_num(t, HBM_KEY_LX_USABLE, HBM_NO_OFFSET);
	uint64_t align = hbm_target_num(t, HBM_KEY_LX_ALIGN, 1);
	const hbm_home *home = home_of(x, x->cx->an->of[o->tensor]);
	failure f = {.op = op};

	if (home->kind != HBM_HOME_LX)
		return f;
	if (home->offset > usable || home->size > usable - home->offset)
		return (failure){"its scratchpad block reaches into the back end's share",
		                 op, home->offset + home->size, usable};
	if (home->offset % align)
		return (failure){"its scratchpad address is not aligned", op, home->offset,
		                 align};
	if (advances(x->cx->prog, o))
		f.what = "a scratchpad address cannot advance with a loop";
	return f;
}

static bool touches_lx(const preparer *x, hbm_op_id id)
{
	const hbm_op *op = &x->cx->prog->ops.items[id];
	hbm_span sides[] = {op->reads, op->writes};

	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t k = 0; k < sides[s].n; k++) {
			hbm_tensor_id t =
				x->cx->prog->operands.items[sides[s].first + k].tensor;
			if (in_lx(x, x->cx->an->of[t]))
				return true;
		}
	return false;
}

static failure try_op(preparer *x, hbm_op_id id)
{
	const hbm_program *p = x->cx->prog;
	const hbm_op *op = &p->ops.items[id];
	hbm_span sides[] = {op->reads, op->writes};
	uint64_t scripted = hbm_attr_num(p, op->attrs, "lx_fail", 0);

	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t k = 0; k < sides[s].n; k++) {
			failure f = try_operand(x, id, &p->operands.items[sides[s].first + k]);
			if (f.what)
				return f;
		}
	if (x->failures[id] >= scripted || !touches_lx(x, id))
		return (failure){.op = id};
	x->failures[id]++;
	return (failure){"it says so (lx_fail)", id, 0, 0};
}

/* Arguments are what a kernel gets from outside: the caller's storages and those
 * with HBM of their own. Everything else has pool or scratchpad addresses, but
 * what will be pooled is not known yet and does not count. */
static bool is_argument(const preparer *x, hbm_storage_id s, hbm_node_id bundle)
{
	const hbm_storage *st = &x->cx->an->storages.items[s];
	const hbm_access *acc = x->cx->an->accesses + st->accesses.first;

	if (in_lx(x, s))
		return false;
	if (st->flags & HBM_T_CALLER)
		return true;
	return x->cx->an->bundle[acc[0].op] != bundle ||
	       x->cx->an->bundle[acc[st->accesses.n - 1].op] != bundle;
}

static failure count_arguments(preparer *x, hbm_op_id id, hbm_node_id bundle,
                               uint64_t *n_args)
{
	uint64_t limit = hbm_target_num(x->cx->target, HBM_KEY_POOL_MAX_ARGS, 0);
	const hbm_program *p = x->cx->prog;
	const hbm_op *op = &p->ops.items[id];
	hbm_span sides[] = {op->reads, op->writes};

	for (uint32_t s = 0; limit && s < 2; s++)
		for (uint32_t k = 0; k < sides[s].n; k++) {
			hbm_storage_id st =
				x->cx->an->of[p->operands.items[sides[s].first + k].tensor];
			if (x->seen[st] == bundle || !is_argument(x, st, bundle))
				continue;
			x->seen[st] = bundle;
			if (++*n_args > limit)
				return (failure){"its kernel has too many arguments", id, *n_args,
				                 limit};
		}
	return (failure){.op = id};
}

/* The first op whose kernel cannot be made. */
static failure prepare_all(preparer *x)
{
	const hbm_program *p = x->cx->prog;
	uint64_t n_args = 0;
	hbm_node_id bundle = HBM_NONE;

	for (uint32_t s = 0; s < x->cx->an->storages.n; s++)
		x->seen[s] = HBM_NONE;
	for (hbm_op_id id = 0; id < p->ops.n; id++) {
		failure f;
		if (x->cx->an->bundle[id] == HBM_NONE)
			continue;
		if (x->cx->an->bundle[id] != bundle)
			n_args = 0;
		bundle = x->cx->an->bundle[id];
		f = try_op(x, id);
		if (!f.what)
			f = count_arguments(x, id, bundle, &n_args);
		if (f.what)
			return f;
	}
	return (failure){.op = HBM_NONE};
}

static hbm_status demote(preparer *x, hbm_storage_id s, hbm_op_id op)
{
	hbm_program *p = x->cx->prog;
	const hbm_storage *st = &x->cx->an->storages.items[s];

	x->cx->plan->lx.n_demoted++;
	for (uint32_t k = 0; k < st->members.n; k++) {
		hbm_tensor_id t = x->cx->an->members[st->members.first + k];
		p->tensors.items[t].home =
			(hbm_home){.bundle = HBM_NONE, .offset = HBM_NO_OFFSET};
	}
	return hbm_refuse(x->cx, s, HBM_HOME_LX, HBM_REASON_LX_DEMOTED,
	                  p->ops.items[op].name, 0, NULL);
}

/* All scratchpad storages of the op, together. */
static hbm_status demote_op(preparer *x, hbm_op_id id)
{
	const hbm_program *p = x->cx->prog;
	const hbm_op *op = &p->ops.items[id];
	hbm_span sides[] = {op->reads, op->writes};

	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t k = 0; k < sides[s].n; k++) {
			hbm_storage_id st =
				x->cx->an->of[p->operands.items[sides[s].first + k].tensor];
			if (in_lx(x, st))
				HBM_TRY(demote(x, st, id));
		}
	return HBM_OK;
}

static hbm_status give_up(const preparer *x, const failure *f)
{
	const hbm_program *p = x->cx->prog;
	const hbm_op *op = &p->ops.items[f->op];
	hbm_status status = hbm_fail(x->cx->diags, HBM_UNSUPPORTED, HBM_E_KERNEL,
	                             hbm_at(p, op->line, op->col, 0),
	                             "the kernel of op '%s' cannot be made: %s",
	                             hbm_op_name(p, f->op), f->what);

	if (f->limit)
		hbm_note(x->cx->diags, HBM_NOWHERE, "%" PRIu64 ", the limit is %" PRIu64,
		         f->figure, f->limit);
	return status;
}

/* ---- clones that lost their scratchpad block ------------------------------------- */

/* The tensor that was to live in the scratchpad, and whose copy it is. */
static hbm_tensor_id clone_of(const hbm_program *p, const hbm_op *op,
                              hbm_tensor_id *ret_owner)
{
	hbm_tensor_id from = p->operands.items[op->reads.first].tensor;
	hbm_tensor_id to = p->operands.items[op->writes.first].tensor;
	bool out = p->tensors.items[to].flags & HBM_T_CALLER;

	*ret_owner = out ? to : from;
	return out ? from : to;
}

/* A node with nothing left inside it goes as well. */
static void drop_empty(const hbm_program *p, bool *drop)
{
	for (hbm_node_id n = p->nodes.n; n-- > 0;) {
		const hbm_node *node = &p->nodes.items[n];
		bool empty = node->kind != HBM_NODE_OP;
		for (hbm_node_id k = n + 1; empty && k < node->end; k = p->nodes.items[k].end)
			empty = drop[k];
		drop[n] |= empty;
	}
}

/* A clone in HBM would only cost traffic: it becomes a view of what it copies, and
 * the copy goes. */
static hbm_status undo_clones(preparer *x)
{
	hbm_program *p = x->cx->prog;
	bool *drop = HBM_ZARRAY(x->cx->scratch, bool, p->nodes.n), any = false;
	hbm_rewrite w;

	HBM_NEED(drop);
	for (hbm_op_id id = 0; id < p->ops.n; id++) {
		const hbm_op *op = &p->ops.items[id];
		hbm_tensor_id clone, owner;
		if (!hbm_has_attr(p, op->attrs, "clone"))
			continue;
		clone = clone_of(p, op, &owner);
		if (p->tensors.items[clone].home.kind == HBM_HOME_LX)
			continue;
		p->tensors.items[clone].base = owner;
		drop[op->node] = any = true;
	}
	if (!any)
		return HBM_OK;
	drop_empty(p, drop);
	HBM_TRY(hbm_rewrite_begin(&w, x->cx->scratch, p));
	w.drop = drop;
	for (hbm_node_id n = 0; n < p->nodes.n; n = p->nodes.items[n].end)
		HBM_NEED(hbm_rewrite_copy_tree(&w, n));
	hbm_rewrite_finish(&w);
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	preparer x = {.cx = cx};

	HBM_NEED(x.failures = HBM_ZARRAY(cx->scratch, uint64_t, cx->prog->ops.n));
	HBM_NEED(x.seen = HBM_ARRAY(cx->scratch, uint32_t, cx->an->storages.n));
	for (hbm_storage_id s = 0; s < cx->an->storages.n; s++)
		x.n_lx += in_lx(&x, s);
	for (uint32_t round = 0; round <= x.n_lx; round++) {
		failure f = prepare_all(&x);
		if (!f.what)
			return round ? undo_clones(&x) : HBM_OK;
		if (!touches_lx(&x, f.op))
			return give_up(&x, &f);
		HBM_TRY(demote_op(&x, f.op));
	}
	return hbm_fail(cx->diags, HBM_CONTRACT, HBM_E_KERNEL, HBM_NOWHERE,
	                "kernel preparation did not end after %" PRIu32 " restarts",
	                x.n_lx + 1);
}

const hbm_pass hbm_pass_prepare_kernels = {
	.name = "prepare-kernels",
	.summary = "prepare each bundle's kernel; what fails in LX leaves it",
	.needs = HBM_FACT_BUNDLES,
	.gives = HBM_FACT_PREPARED,
	.before = HBM_FACT_POOLS | HBM_FACT_DRAM,
	.breaks_analysis = true,
	.run = run,
};
