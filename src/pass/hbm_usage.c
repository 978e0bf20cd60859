/* SPDX-License-Identifier: Apache-2.0
 * hbm-usage: does the program fit the HBM window of one core (seed B's HBMUsage)?
 *
 * Usage      model (weights, constants) + tensors (intermediates, placed) + inputs,
 *            outputs and state + descriptors of DMA rings (+ what other programs hold).
 * Limit      The target's per-core window, never the device's figure nor a product
 *            with the number of cores. Usage equal to it fits.
 * Margin     A tenth above the limit names near misses; it never makes one pass.
 * Rings      Only with dge_off: then every transfer is described in memory. An op
 *            moves each operand in HBM once; B bytes take ceil(B / 64 KiB) descriptors
 *            of 16 bytes in the transmit ring and as many in the receive ring. Strided
 *            operands take more, which no input tells: a lower bound.
 * Phases     Of a program with several top-level bundles or regions each one's peak,
 *            with weights counted from their first use to their last.
 * Cost       Linear in storages, accesses and ticks; sorting of what is listed. */
#include "base/ckd.h"
#include "base/out.h"
#include "base/sort.h"
#include "pass/pass.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN = 3 };

typedef struct usage {
	hbm_pass_cx *cx;
	uint64_t limit, margin, pools, shared;
	hbm_usage u;
} usage;

/* ---- categories ----------------------------------------------------------- */

static hbm_home_kind home_of(const hbm_pass_cx *cx, const hbm_storage *s)
{
	for (uint32_t i = 0; i < s->members.n; i++) {
		hbm_tensor_id t = cx->an->members[s->members.first + i];
		if (cx->prog->tensors.items[t].home.kind != HBM_HOME_NONE)
			return cx->prog->tensors.items[t].home.kind;
	}
	return s->flags & HBM_T_CALLER ? HBM_HOME_IO : HBM_HOME_HBM;
}

static void add_storage(usage *x, const hbm_storage *s)
{
	hbm_home_kind home = home_of(x->cx, s);
	uint64_t *sum = NULL;

	if (s->flags & HBM_T_HOST)
		return;
	if (home == HBM_HOME_IO)
		sum = (s->flags & HBM_T_WEIGHT) && !(s->flags & HBM_T_IO)
		              ? &x->u.model_bytes
		              : &x->u.io_bytes;
	else if (home == HBM_HOME_HBM && !x->cx->plan->placed_dram)
		sum = &x->u.tensor_bytes;
	if (sum)
		*sum = hbm_add_sat(*sum, s->reserve);
}

static void add_pools(usage *x)
{
	const hbm_plan *plan = x->cx->plan;

	for (uint32_t i = 0; i < plan->pools.n; i++) {
		uint64_t e = plan->pools.items[i].extent;
		if (x->cx->opts->pool_lifetime_program)
			x->pools = hbm_add_sat(x->pools, e);
		else if (e > x->pools)
			x->pools = e;
	}
}

static void add_regions(usage *x)
{
	const hbm_plan *plan = x->cx->plan;

	for (uint32_t i = 0; i < plan->regions.n; i++) {
		const hbm_plan_region *r = &plan->regions.items[i];
		if (r->class)
			x->shared = hbm_add_sat(x->shared, r->extent);
		if (r->base + r->extent > x->u.end_address)
			x->u.end_address = r->base + r->extent;
	}
}

/* ---- descriptors ---------------------------------------------------------- */

static uint64_t operand_bytes(const usage *x, const hbm_operand *o)
{
	const hbm_analysis *an = x->cx->an;
	const hbm_tensor *t = &x->cx->prog->tensors.items[o->tensor];
	const hbm_storage *s = &an->storages.items[an->of[o->tensor]];

	if (home_of(x->cx, s) == HBM_HOME_LX)
		return 0;
	if (o->len)
		return o->len;
	return t->size > o->offset ? t->size - o->offset : 0;
}

static void add_transfers(usage *x, hbm_span span, uint64_t most)
{
	for (uint32_t i = 0; i < span.n; i++) {
		const hbm_operand *o = &x->cx->prog->operands.items[span.first + i];
		uint64_t bytes = operand_bytes(x, o), n = bytes / most + (bytes % most != 0);
		x->u.n_descriptors = hbm_add_sat(x->u.n_descriptors, hbm_mul_sat(2, n));
	}
}

static void descriptors(usage *x)
{
	uint64_t size = hbm_target_num(x->cx->target, HBM_KEY_DMA_DESC, 0);
	uint64_t most = hbm_target_num(x->cx->target, HBM_KEY_DMA_DESC_MAX, 0);
	const hbm_program *p = x->cx->prog;

	if (!x->cx->opts->dge_off || !size || !most)
		return;
	for (uint32_t i = 0; i < p->ops.n; i++) {
		const hbm_op *op = &p->ops.items[i];
		if (op->kind == HBM_OP_NOP || op->kind == HBM_OP_ALLOC)
			continue;
		add_transfers(x, op->reads, most);
		add_transfers(x, op->writes, most);
	}
	x->u.descriptor_bytes = hbm_mul_sat(x->u.n_descriptors, size);
}

/* ---- phases --------------------------------------------------------------- */

static bool is_phase(const hbm_node *n)
{
	return n->parent == HBM_NONE &&
	       (n->kind == HBM_NODE_BUNDLE || n->kind == HBM_NODE_REGION);
}

/* Live bytes by tick, weights from first to last use, other callers' always. */
static hbm_status live_bytes(const usage *x, uint64_t **ret)
{
	const hbm_analysis *an = x->cx->an;
	uint64_t *live = HBM_ZARRAY(x->cx->scratch, uint64_t, (size_t)an->n_ticks + 1);
	uint64_t now = 0;

	HBM_NEED(live);
	for (uint32_t s = 0; s < an->storages.n; s++) {
		const hbm_storage *y = &an->storages.items[s];
		bool weight = (y->flags & HBM_T_CALLER) == HBM_T_WEIGHT;
		if (!(y->flags & HBM_T_CALLER) || y->flags & HBM_T_HOST)
			continue;
		live[weight ? y->start : 0] += y->reserve;
		live[weight ? y->end : an->n_ticks] -= y->reserve;
	}
	for (uint32_t t = 0; t < an->n_ticks; t++) {
		now += live[t];
		live[t] = now + an->pressure[t];
	}
	*ret = live;
	return HBM_OK;
}

static hbm_status phases(const usage *x)
{
	const hbm_program *p = x->cx->prog;
	hbm_plan *plan = x->cx->plan;
	uint32_t n = 0, tick = 0;
	uint64_t *live;

	for (uint32_t i = 0; i < p->nodes.n; i = p->nodes.items[i].end)
		n += is_phase(&p->nodes.items[i]);
	if (n < 2)
		return HBM_OK;
	HBM_TRY(live_bytes(x, &live));
	for (uint32_t i = 0; i < p->nodes.n; i = p->nodes.items[i].end) {
		hbm_plan_phase ph = {.node = i};
		for (uint32_t k = i; k < p->nodes.items[i].end; k++) {
			if (p->nodes.items[k].kind != HBM_NODE_OP)
				continue;
			ph.peak = live[tick] > ph.peak ? live[tick] : ph.peak;
			tick++;
		}
		if (is_phase(&p->nodes.items[i]))
			HBM_NEED(HBM_PUSH(x->cx->keep, &plan->phases, ph));
	}
	return HBM_OK;
}

/* ---- the verdict ---------------------------------------------------------- */

static bool at_peak(const hbm_analysis *an, const hbm_storage *s)
{
	if (s->flags & HBM_T_HOST)
		return false;
	return s->flags & HBM_T_CALLER ||
	       (s->start <= an->peak_tick && an->peak_tick < s->end);
}

static int larger_first(const void *context, uint32_t a, uint32_t b)
{
	const hbm_analysis *an = context;
	uint64_t x = an->storages.items[a].reserve, y = an->storages.items[b].reserve;

	return x > y ? -1 : x < y ? 1 : a < b ? -1 : a > b;
}

static hbm_status name_largest(const usage *x)
{
	const hbm_analysis *an = x->cx->an;
	uint32_t *ids = HBM_ARRAY(x->cx->scratch, uint32_t, an->storages.n), n = 0;

	HBM_NEED(ids);
	for (uint32_t s = 0; s < an->storages.n; s++)
		if (an->storages.items[s].reserve && at_peak(an, &an->storages.items[s]))
			ids[n++] = s;
	HBM_NEED(hbm_merge_sort(x->cx->scratch, ids, n, larger_first, an));
	for (uint32_t i = 0; i < n && i < SHOWN; i++) {
		const hbm_storage *s = &an->storages.items[ids[i]];
		const hbm_tensor *t = &x->cx->prog->tensors.items[s->root];
		char size[HBM_SIZE_TEXT];
		hbm_note(x->cx->diags, hbm_at(x->cx->prog, t->line, t->col, 0),
		         "there at the peak: '%s', %" PRIu64 " bytes (%s)",
		         hbm_str_of(x->cx->prog, hbm_storage_name(x->cx->prog, an, ids[i])),
		         s->reserve, hbm_size_text(size, s->reserve));
	}
	return HBM_OK;
}

static void name_phases(const usage *x)
{
	const hbm_plan *plan = x->cx->plan;

	for (uint32_t i = 0; i < plan->phases.n; i++) {
		const hbm_plan_phase *ph = &plan->phases.items[i];
		const hbm_node *n = &x->cx->prog->nodes.items[ph->node];
		hbm_note(x->cx->diags, hbm_at(x->cx->prog, n->line, n->col, 0),
		         "phase '%s' needs %" PRIu64 " bytes%s with weights released after "
		         "their last use", hbm_str_of(x->cx->prog, n->name), ph->peak,
		         ph->peak > x->limit ? ", more than the window," : "");
	}
}

static hbm_status tell(const usage *x)
{
	char usage_text[HBM_SIZE_TEXT], size[HBM_SIZE_TEXT];
	const hbm_usage *u = &x->u;
	bool margin = u->hbm_usage <= x->margin;

	if (u->hbm_usage <= x->limit)
		return HBM_OK;
	HBM_NEED(hbm_warn(x->cx->diags, HBM_E_OVER_BUDGET, HBM_NOWHERE, "Estimated "
	                  "peak HBM usage (%" PRIu64 " bytes, %s) exceeds HBM size of %"
	                  PRIu64 " bytes (%s)%s%s", u->hbm_usage,
	                  hbm_size_text(usage_text, u->hbm_usage), x->limit,
	                  hbm_size_text(size, x->limit),
	                  margin ? ", within the 10 percent margin" : "",
	                  x->cx->opts->budget_off ? "; the check is switched off" : ""));
	hbm_note(x->cx->diags, HBM_NOWHERE,
	         "model %" PRIu64 ", inputs and outputs %" PRIu64 ", intermediates %" PRIu64
	         ", descriptors %" PRIu64 ", other programs %" PRIu64 "; excess %" PRIu64,
	         u->model_bytes, u->io_bytes, hbm_add_sat(u->tensor_bytes, x->pools),
	         u->descriptor_bytes, x->cx->opts->resident, u->hbm_usage - x->limit);
	name_phases(x);
	return name_largest(x);
}

/* ---- what the verdict would be ------------------------------------------- */

/* Groups that may run at the same time hold all their bytes at once; one after the
 * other they would not. Tells the least usage then. */
static hbm_status tell_serial(const usage *x)
{
	hbm_analysis_opts opts = {.inplace = !x->cx->opts->no_reuse};
	uint64_t tensors = hbm_add_sat(x->u.tensor_bytes, x->pools), total;
	char size[HBM_SIZE_TEXT];
	hbm_analysis an = {0};
	hbm_program p;
	bool any = false;

	HBM_TRY(hbm_program_copy(x->cx->prog, x->cx->scratch, &p));
	for (uint32_t i = 0; i < p.nodes.n; i++)
		if (p.nodes.items[i].kind == HBM_NODE_PARALLEL) {
			p.nodes.items[i].kind = HBM_NODE_REGION;
			any = true;
		}
	if (!any)
		return HBM_OK;
	HBM_TRY(hbm_analyse(x->cx->scratch, &p, x->cx->target, &opts, x->cx->diags, &an));
	total = hbm_add_sat(x->u.hbm_usage - tensors, an.peak);
	if (an.peak < tensors)
		hbm_note(x->cx->diags, HBM_NOWHERE,
		         "one after the other the parallel groups would need %" PRIu64
		         " bytes for intermediates, %" PRIu64 " (%s) in all", an.peak, total,
		         hbm_size_text(size, total));
	return HBM_OK;
}

/* ---- the pass ------------------------------------------------------------- */

/* The names of the compiler's metrics: I/O, intermediates, and under `internal`
 * what is neither. */
static void metrics(usage *x)
{
	hbm_usage *u = &x->u;
	uint64_t tensors = hbm_add_sat(u->tensor_bytes, x->pools);

	u->hbm_io = u->io_bytes;
	u->hbm_intermediate = tensors;
	u->hbm_internal = hbm_add_sat(hbm_add_sat(u->model_bytes, u->descriptor_bytes),
	                              x->cx->opts->resident);
	u->hbm_usage = hbm_add_sat(hbm_add_sat(u->hbm_io, u->hbm_intermediate),
	                           u->hbm_internal);
	u->hbm_size = u->hbm_limit = x->limit;
	u->private_hbm = u->hbm_usage - (x->shared < u->hbm_usage ? x->shared : u->hbm_usage);
	if (!u->end_address)
		u->end_address = hbm_add_sat(u->model_bytes, hbm_add_sat(u->io_bytes, tensors));
}

static hbm_status run(hbm_pass_cx *cx)
{
	usage x = {.cx = cx, .u = cx->plan->usage};

	x.limit = hbm_target_num(cx->target, HBM_KEY_HBM_WINDOW, HBM_NO_OFFSET);
	x.margin = x.limit == HBM_NO_OFFSET ? x.limit : x.limit + x.limit / 10;
	for (uint32_t s = 0; s < cx->an->storages.n; s++)
		add_storage(&x, &cx->an->storages.items[s]);
	if (cx->plan->placed_dram)
		x.u.tensor_bytes = cx->plan->dram_bytes;
	add_pools(&x);
	add_regions(&x);
	descriptors(&x);
	metrics(&x);
	HBM_TRY(phases(&x));
	x.u.made = true;
	cx->plan->usage = x.u;
	cx->plan->totals.descriptors = x.u.descriptor_bytes;
	HBM_TRY(tell(&x));
	return x.u.hbm_usage > x.limit ? tell_serial(&x) : HBM_OK;
}

const hbm_pass hbm_pass_hbm_usage = {
	.name = "hbm-usage",
	.summary = "HBM usage by category against the window of one core",
	.run = run,
};
