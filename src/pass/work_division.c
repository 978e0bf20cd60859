/* SPDX-License-Identifier: Apache-2.0 */
/* work-division: decides how many cores share each op, along which variables.
 *
 * Method    Only splits that divide a variable evenly are taken; the variable of
 *           the sticks counts sticks. (1) A core may reach only so far in HBM: for
 *           each operand whose span per core is beyond the limit, the smallest
 *           combination of splits of its dimensions that brings it under, outer
 *           ones first; earlier ones are kept. (2) The other cores go to the
 *           results' variables by decreasing size, then to reductions, each taking
 *           the largest divisor that is left. Only matmuls split a reduction:
 *           others would leave partial results on each core.
 * Keeps     Splits that the input gives stand, if they divide evenly, are not too
 *           many and bring spans below the limit. Ops without an iteration space run
 *           on the cores they say, else on one.
 * Cost      O(operands * variables) per op, and a search over the divisors of the
 *           number of cores where a span is too large.
 * Source    seed A; the order of choices is that of torch-spyre. */
#include "base/ckd.h"
#include "pass/pass.h"
#include "plan/partition.h"

#include <inttypes.h>

enum { MAX_VARIABLES = 64 };

typedef struct division {
	hbm_pass_cx *cx;
	hbm_op_id id;
	hbm_op *op;
	hbm_iter *iter;
	uint32_t budget; /* cores that one op may use */
	uint64_t units[MAX_VARIABLES];
} division;

static uint32_t cores_used(const division *d)
{
	uint64_t cores = 1;

	for (uint32_t k = 0; k < d->op->iters.n; k++)
		cores = hbm_mul_sat(cores, d->iter[k].split);
	return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

static hbm_where where_op(const division *d)
{
	return hbm_at(d->cx->prog, d->op->line, d->op->col, 0);
}

/* ---- splits that the input gives ------------------------------------------- */

static hbm_status check_cores(const division *d, uint32_t cores)
{
	if (cores <= d->budget)
		return HBM_OK;
	return hbm_fail(d->cx->diags, HBM_UNSUPPORTED, HBM_E_DIVISION, where_op(d),
	                "op '%s' runs on %" PRIu32 " cores; %" PRIu32 " may be used",
	                hbm_op_name(d->cx->prog, d->id), cores, d->budget);
}

static hbm_status check_given(const division *d)
{
	const hbm_program *p = d->cx->prog;

	for (uint32_t k = 0; k < d->op->iters.n; k++)
		if (d->units[k] % d->iter[k].split)
			return hbm_fail(d->cx->diags, HBM_UNSUPPORTED, HBM_E_DIVISION,
			                where_op(d), "op '%s': split %" PRIu32 " of '%s' does "
			                "not divide its %" PRIu64 " %s evenly",
			                hbm_op_name(p, d->id), d->iter[k].split,
			                hbm_str_of(p, d->iter[k].name), d->units[k],
			                d->iter[k].stick ? "sticks" : "positions");
	return check_cores(d, cores_used(d));
}

/* ---- spans -------------------------------------------------------------------- */

/* The tensor of the op with the largest span per core beyond the limit. */
static hbm_tensor_id over_limit(const division *d, uint64_t limit,
                                hbm_partition *ret_cut, uint64_t *ret_span)
{
	const hbm_program *p = d->cx->prog;
	hbm_span spans[] = {d->op->reads, d->op->writes};
	hbm_tensor_id worst = HBM_NONE;

	*ret_span = limit;
	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t k = 0; k < spans[s].n; k++) {
			const hbm_operand *x = &p->operands.items[spans[s].first + k];
			hbm_partition cut;
			hbm_partition_of(p, d->cx->target, d->id, x, &cut);
			if (!cut.known || hbm_core_span(&cut) <= *ret_span)
				continue;
			*ret_span = hbm_core_span(&cut);
			*ret_cut = cut;
			worst = x->tensor;
		}
	return worst;
}

typedef struct combination {
	uint32_t split[HBM_MAX_RANK], best[HBM_MAX_RANK];
	uint32_t best_product; /* 0: none yet */
} combination;

/* Tries the splits of dimension `at` and those inside it. Depth is at most
 * HBM_MAX_RANK, and each level that splits at least halves the cores left. */
static void try_splits(const division *d, hbm_partition *cut, uint32_t at,
                       uint64_t limit, uint32_t product, combination *c)
{
	hbm_cut *x = &cut->cut[at];
	uint32_t kept;

	if (product > d->budget || (c->best_product && product >= c->best_product))
		return;
	if (at == cut->n || hbm_core_span(cut) <= limit) {
		if (hbm_core_span(cut) > limit)
			return;
		for (uint32_t k = 0; k < cut->n; k++)
			c->best[k] = cut->cut[k].split;
		c->best_product = product;
		return;
	}
	kept = x->split;
	for (uint32_t f = 1; f <= d->budget; f++) {
		if (f > 1 && (x->iter == HBM_NONE || x->extent % ((uint64_t)kept * f) ||
		              d->units[x->iter] % ((uint64_t)kept * f)))
			continue;
		x->split = kept * f;
		try_splits(d, cut, at + 1, limit, product * f, c);
	}
	x->split = kept;
}

static hbm_status fail_span(const division *d, hbm_tensor_id x, uint64_t span,
                            uint64_t limit, const char *how, uint32_t cores)
{
	const hbm_program *p = d->cx->prog;

	return hbm_fail(d->cx->diags, HBM_UNSUPPORTED, HBM_E_SPAN, where_op(d),
	                "op '%s': one core spans %" PRIu64 " bytes of '%s'; the limit is "
	                "%" PRIu64 ", %s over %" PRIu32 " core%s",
	                hbm_op_name(p, d->id), span, hbm_tensor_name(p, x), limit,
	                how, cores, cores == 1 ? "" : "s");
}

/* Commits the splits that spans require, where none are given. */
static hbm_status split_spans(division *d, bool given)
{
	uint64_t limit = hbm_target_num(d->cx->target, HBM_KEY_SPAN_LIMIT, HBM_NO_OFFSET);
	hbm_partition cut;
	uint64_t span;

	for (;;) {
		combination c = {.best_product = 0};
		hbm_tensor_id x = over_limit(d, limit, &cut, &span);
		if (x == HBM_NONE)
			return HBM_OK;
		if (given)
			return fail_span(d, x, span, limit, "not kept by the split given",
			                 cores_used(d));
		try_splits(d, &cut, 0, limit, cores_used(d), &c);
		if (!c.best_product)
			return fail_span(d, x, span, limit, "kept by no even split", d->budget);
		for (uint32_t k = 0; k < cut.n; k++)
			if (cut.cut[k].iter != HBM_NONE)
				d->iter[cut.cut[k].iter].split = c.best[k];
	}
}

/* ---- the other cores ------------------------------------------------------------ */

static bool is_matmul(const division *d)
{
	return hbm_has_attr(d->cx->prog, d->op->attrs, "matmul");
}

/* The next variable to split: results before reductions, larger ones first. */
static uint32_t next_variable(const division *d, uint64_t done)
{
	uint32_t best = HBM_NONE;

	for (uint32_t k = 0; k < d->op->iters.n; k++) {
		bool red = d->iter[k].reduction;
		if (done >> k & 1 || (red && !is_matmul(d)))
			continue;
		if (best == HBM_NONE || red < d->iter[best].reduction ||
		    (red == d->iter[best].reduction && d->units[k] > d->units[best]))
			best = k;
	}
	return best;
}

static void split_rest(division *d)
{
	uint64_t done = 0;
	uint32_t k;

	while ((k = next_variable(d, done)) != HBM_NONE) {
		uint32_t left = d->budget / cores_used(d), f = left;
		while (f > 1 && d->units[k] % ((uint64_t)d->iter[k].split * f))
			f--;
		if (f > 1)
			d->iter[k].split *= f;
		done |= (uint64_t)1 << k;
	}
}

/* ---- one op --------------------------------------------------------------------- */

static hbm_status divide(division *d)
{
	hbm_program *p = d->cx->prog;
	bool given = false;

	d->iter = p->iters.items + d->op->iters.first;
	if (!d->op->iters.n || d->op->iters.n > MAX_VARIABLES) {
		d->op->cores = d->op->cores ? d->op->cores : 1;
		return check_cores(d, d->op->cores);
	}
	for (uint32_t k = 0; k < d->op->iters.n; k++) {
		d->units[k] = hbm_iter_units(p, d->cx->target, d->id, k);
		given |= d->iter[k].split != 0;
		d->iter[k].split = d->iter[k].split ? d->iter[k].split : 1;
	}
	if (given)
		HBM_TRY(check_given(d));
	HBM_TRY(split_spans(d, given));
	if (!given)
		split_rest(d);
	d->op->cores = cores_used(d);
	return HBM_OK;
}

static hbm_status budget(hbm_pass_cx *cx, uint32_t *ret)
{
	uint64_t cores = hbm_target_num(cx->target, HBM_KEY_CORES, 1);

	*ret = cx->opts->cores ? cx->opts->cores : (uint32_t)cores;
	if (*ret > cores)
		return hbm_fail(cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "%" PRIu32 " cores asked for; target '%s' has %" PRIu64,
		                *ret, cx->target->name, cores);
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	division d = {.cx = cx};

	HBM_TRY(budget(cx, &d.budget));
	for (hbm_op_id id = 0; id < cx->prog->ops.n; id++) {
		d.id = id;
		d.op = &cx->prog->ops.items[id];
		if (d.op->kind == HBM_OP_COMPUTE || d.op->kind == HBM_OP_DMA)
			HBM_TRY(divide(&d));
	}
	return HBM_OK;
}

const hbm_pass hbm_pass_work_division = {
	.name = "work-division",
	.summary = "decide how many cores share each op, along which variables",
	.gives = HBM_FACT_DIVIDED,
	.run = run,
};
