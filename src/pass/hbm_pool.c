/* SPDX-License-Identifier: Apache-2.0
 * hbm-pool: decides which storages live in the pool of their bundle, and where.
 *
 * A pool is scoped to one bundle: allocated in its code, gone when it ends. A
 * storage is eligible when it is written and read; is not the caller's; is not in
 * LX; is touched by no op that runs outside device kernels; has all its accesses
 * in one bundle, and so is written by exactly one. Every rule holds for the
 * storage, never for one of its names.
 *
 * Candidates of a bundle stand in the order (start, end, name); pool_solve.c places
 * them. What does not fit below the cap lives in standalone HBM; the rest of the
 * bundle is unaffected.
 * Cost: O(n log n) and what the allocator takes. */
#include "base/ckd.h"
#include "base/sort.h"
#include "pass/pool.h"

#include <inttypes.h>

typedef struct verdict {
	hbm_reason_id id;
	hbm_sym who;
	hbm_node_id bundle; /* when id is NONE */
} verdict;

static bool non_device(hbm_op_kind k)
{
	return k == HBM_OP_FALLBACK || k == HBM_OP_EXTERN || k == HBM_OP_NOP;
}

static verdict no(hbm_reason_id id, hbm_sym who)
{
	return (verdict){id, who, HBM_NONE};
}

/* Rules that need only the storage's flags. */
static hbm_reason_id by_flags(const hbm_pass_cx *cx, const hbm_storage *s)
{
	hbm_home_kind home = cx->prog->tensors.items[s->root].home.kind;

	if (s->flags & HBM_T_HOST)
		return HBM_REASON_HOST;
	if (s->flags & HBM_T_INPUT)
		return HBM_REASON_GRAPH_INPUT;
	if (s->flags & HBM_T_OUTPUT)
		return HBM_REASON_GRAPH_OUTPUT;
	if (s->flags & HBM_T_WEIGHT)
		return HBM_REASON_WEIGHT;
	if (s->flags & HBM_T_STATE)
		return HBM_REASON_STATE;
	if (home == HBM_HOME_LX)
		return HBM_REASON_IN_LX;
	if (cx->opts->pool_off)
		return HBM_REASON_OFF;
	if (s->demand != HBM_HOME_NONE && s->demand != HBM_HOME_POOL)
		return HBM_REASON_DEMAND;
	if (s->flags & HBM_T_DYNAMIC)
		return HBM_REASON_DYNAMIC;
	if (s->flags & HBM_T_ZERO)
		return HBM_REASON_ZERO_FILLED;
	if (!s->n_writes)
		return HBM_REASON_NOT_WRITTEN;
	return s->n_reads ? HBM_REASON_NONE : HBM_REASON_NOT_READ;
}

static verdict by_op_kind(const hbm_pass_cx *cx, const hbm_storage *s)
{
	const hbm_access *acc = cx->an->accesses + s->accesses.first;

	for (uint32_t i = 0; i < s->accesses.n; i++) {
		const hbm_op *op = &cx->prog->ops.items[acc[i].op];
		if (non_device(op->kind))
			return no(acc[i].write ? HBM_REASON_NON_DEVICE_WRITE
			                       : HBM_REASON_FALLBACK_READ, op->name);
	}
	return (verdict){.bundle = HBM_NONE};
}

/* The one bundle with all accesses. A second writer counts before a reader in
 * another bundle, as that rule is unconditional. */
static verdict by_bundle(const hbm_pass_cx *cx, const hbm_storage *s)
{
	const hbm_access *acc = cx->an->accesses + s->accesses.first;
	hbm_node_id home = cx->an->bundle[s->first_write];
	verdict v = {.bundle = home};

	for (uint32_t i = 0; i < s->accesses.n; i++) {
		hbm_node_id b = cx->an->bundle[acc[i].op];
		hbm_sym op = cx->prog->ops.items[acc[i].op].name;
		if (b == HBM_NONE)
			return no(HBM_REASON_NO_BUNDLE, op);
		if (b == home)
			continue;
		if (acc[i].write)
			return no(HBM_REASON_MULTI_BUNDLE_WRITE, op);
		v = no(HBM_REASON_CROSS_BUNDLE_READ, op);
	}
	return v;
}

static verdict judge(const hbm_pass_cx *cx, const hbm_storage *s)
{
	hbm_reason_id id = by_flags(cx, s);
	verdict v;

	if (id != HBM_REASON_NONE)
		return no(id, 0);
	v = by_op_kind(cx, s);
	return v.id != HBM_REASON_NONE ? v : by_bundle(cx, s);
}

static hbm_status demand_failed(hbm_pass_cx *cx, const hbm_storage *s, hbm_reason_id id)
{
	const hbm_tensor *x = &cx->prog->tensors.items[s->root];

	return hbm_fail(cx->diags, HBM_UNSUPPORTED, HBM_E_HOME_DEMAND,
	                hbm_at(cx->prog, x->line, x->col, 0),
	                "'%s' demands a pool, but its storage may not live in one: %s",
	                hbm_tensor_name(cx->prog, s->root), hbm_reason_text(id));
}

static const hbm_storage *storage_at(const hbm_pass_cx *cx, const hbm_pool_job *job,
                                     uint32_t i)
{
	return &cx->an->storages.items[job->ids[i]];
}

static bool pins_meet(const hbm_storage *a, const hbm_storage *b)
{
	return b->pin != HBM_NO_OFFSET && a->start < b->end && b->start < a->end &&
	       a->pin < hbm_add_sat(b->pin, b->reserve) &&
	       b->pin < hbm_add_sat(a->pin, a->reserve);
}

/* A pin is a demand: one that cannot be met is an error, with the other party. */
static hbm_status pin_failed(hbm_pass_cx *cx, const hbm_pool_job *job, uint32_t i)
{
	const hbm_storage *s = storage_at(cx, job, i);
	const hbm_tensor *x = &cx->prog->tensors.items[s->root];
	hbm_where at = hbm_at(cx->prog, x->line, x->col, 0);
	const char *name = hbm_tensor_name(cx->prog, s->root);

	for (uint32_t k = 0; k < job->n; k++) {
		const hbm_storage *o = storage_at(cx, job, k);
		if (k == i || !pins_meet(s, o))
			continue;
		return hbm_fail(cx->diags, HBM_SEMANTIC, HBM_E_DEMAND, at,
		                "'%s' [%" PRIu64 ",%" PRIu64 ") and '%s' [%" PRIu64
		                ",%" PRIu64 ") are pinned to the same bytes and both live "
		                "at tick %" PRIu32, name, s->pin, s->pin + s->reserve,
		                hbm_tensor_name(cx->prog, o->root), o->pin,
		                o->pin + o->reserve, s->start > o->start ? s->start : o->start);
	}
	return hbm_fail(cx->diags, HBM_SEMANTIC, HBM_E_DEMAND, at,
	                "'%s' is pinned at %" PRIu64 ": %" PRIu64 " bytes from there pass "
	                "the pool's cap of %" PRIu64, name, s->pin, s->reserve,
	                job->capacity);
}

static hbm_status unplaced(hbm_pass_cx *cx, const hbm_pool_job *job, uint32_t i)
{
	const hbm_storage *s = storage_at(cx, job, i);
	uint64_t figures[2] = {hbm_add_sat(job->extent, s->reserve), job->capacity};

	if (s->pin != HBM_NO_OFFSET)
		return pin_failed(cx, job, i);
	if (s->demand == HBM_HOME_POOL)
		return demand_failed(cx, s, HBM_REASON_OVERFLOW);
	return hbm_refuse(cx, job->ids[i], HBM_HOME_POOL, HBM_REASON_OVERFLOW, 0, 2,
	                  figures);
}

static hbm_status annotate(hbm_pass_cx *cx, const hbm_pool_job *job)
{
	for (uint32_t i = 0; i < job->n; i++) {
		const hbm_storage *s = storage_at(cx, job, i);
		if (job->offset[i] == HBM_NO_OFFSET)
			HBM_TRY(unplaced(cx, job, i));
		else
			cx->prog->tensors.items[s->root].home =
				(hbm_home){.kind = HBM_HOME_POOL, .bundle = job->bundle,
				           .offset = job->offset[i], .size = s->reserve};
	}
	return HBM_OK;
}

static hbm_status warn_overflow(hbm_pass_cx *cx, const hbm_pool_job *job)
{
	const hbm_node *b = &cx->prog->nodes.items[job->bundle];

	if (job->n_placed < job->n)
		HBM_NEED(hbm_warn(cx->diags, HBM_E_POOL_OVERFLOW,
		                  hbm_at(cx->prog, b->line, b->col, 0), "bundle '%s': %"
		                  PRIu32 " of %" PRIu32 " pool-eligible storages do "
		                  "not fit below the cap of %" PRIu64 " bytes and live "
		                  "in standalone HBM", hbm_str_of(cx->prog, b->name),
		                  job->n - job->n_placed, job->n, job->capacity));
	return HBM_OK;
}

static hbm_status record(hbm_pass_cx *cx, const hbm_pool_job *job)
{
	hbm_plan_pool pool = {.bundle = job->bundle, .extent = job->extent,
	                      .name = cx->prog->nodes.items[job->bundle].name,
	                      .lower_bound = job->lower_bound, .bump = job->bump,
	                      .no_reuse = job->no_reuse, .cap = job->capacity,
	                      .n_placed = job->n_placed,
	                      .n_overflow = job->n - job->n_placed,
	                      .outcome = job->outcome, .allocator = job->allocator};

	HBM_TRY(annotate(cx, job));
	HBM_TRY(warn_overflow(cx, job));
	HBM_NEED(HBM_PUSH(cx->keep, &cx->plan->pools, pool));
	return HBM_OK;
}

static hbm_status check_pin(hbm_pass_cx *cx, const hbm_storage *s)
{
	const hbm_tensor *x = &cx->prog->tensors.items[s->root];

	if (s->pin == HBM_NO_OFFSET || s->pin % s->align == 0)
		return HBM_OK;
	return hbm_fail(cx->diags, HBM_SEMANTIC, HBM_E_DEMAND,
	                hbm_at(cx->prog, x->line, x->col, 0),
	                "'%s' is pinned at %" PRIu64 ", not a multiple of its alignment %"
	                PRIu64, hbm_tensor_name(cx->prog, s->root), s->pin, s->align);
}

/* Bundles first, then the seed's order. */
typedef struct order_cx {
	const hbm_pass_cx *cx;
	const hbm_node_id *bundle; /* by storage */
} order_cx;

static int order(const void *context, uint32_t a, uint32_t b)
{
	const order_cx *o = context;

	if (o->bundle[a] != o->bundle[b])
		return o->bundle[a] < o->bundle[b] ? -1 : 1;
	return hbm_storage_order(o->cx, a, b);
}

static hbm_status eligible(hbm_pass_cx *cx, uint32_t *ids, hbm_node_id *bundle,
                           uint32_t *ret_n)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < cx->an->storages.n; i++) {
		const hbm_storage *s = &cx->an->storages.items[i];
		verdict v = judge(cx, s);
		bundle[i] = v.bundle;
		if (v.id == HBM_REASON_NONE) {
			HBM_TRY(check_pin(cx, s));
			ids[n++] = i;
			continue;
		}
		if (s->demand == HBM_HOME_POOL)
			return demand_failed(cx, s, v.id);
		HBM_TRY(hbm_refuse(cx, i, HBM_HOME_POOL, v.id, v.who, 0, NULL));
	}
	*ret_n = n;
	return HBM_OK;
}

/* Cuts the sorted candidates into one job for each bundle. */
static uint32_t cut(hbm_pool_job *jobs, const uint32_t *ids, uint32_t n,
                    const hbm_node_id *bundle)
{
	uint32_t n_jobs = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!i || bundle[ids[i]] != bundle[ids[i - 1]])
			jobs[n_jobs++] = (hbm_pool_job){.bundle = bundle[ids[i]],
			                                .ids = ids + i};
		jobs[n_jobs - 1].n++;
	}
	return n_jobs;
}

static hbm_status run(hbm_pass_cx *cx)
{
	uint32_t n_all = cx->an->storages.n, n = 0;
	uint32_t *ids = HBM_ARRAY(cx->scratch, uint32_t, n_all);
	hbm_node_id *bundle = HBM_ARRAY(cx->scratch, hbm_node_id, n_all);
	hbm_pool_arenas arenas = {0};
	order_cx context = {cx, bundle};
	hbm_pool_job *jobs;
	hbm_status status;

	HBM_NEED(ids && bundle);
	HBM_TRY(eligible(cx, ids, bundle, &n));
	HBM_NEED(hbm_merge_sort(cx->scratch, ids, n, order, &context));
	HBM_NEED(jobs = HBM_ARRAY(cx->scratch, hbm_pool_job, n));
	n = cut(jobs, ids, n, bundle);
	status = hbm_pool_solve(cx, jobs, n, &arenas);
	for (uint32_t i = 0; i < n && status == HBM_OK; i++)
		status = record(cx, &jobs[i]);
	hbm_pool_release(&arenas);
	return status;
}

const hbm_pass hbm_pass_hbm_pool = {
	.name = "hbm-pool",
	.summary = "place intermediates in the HBM pool of their bundle",
	.gives = HBM_FACT_POOLS,
	.run = run,
};
