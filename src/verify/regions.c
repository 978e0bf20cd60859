/* SPDX-License-Identifier: Apache-2.0
 *
 * regions: where a plan gives standalone storages addresses, in which stretches of
 * HBM they stand.
 *
 * Regions do not meet and leave the caller's bytes, which come first, alone. Every
 * storage and scratch that has an address stands in one region: one of its class,
 * or, for a plain one, any. Each op with scratch has its place. Cost: a search per
 * storage. */
#include "verify/check.h"

#include "base/ckd.h"

#include <inttypes.h>

static hbm_sym class_of(const hbm_check *cx, uint32_t s)
{
	const hbm_plan_storage *x = &cx->plan->storages.items[s];

	for (uint32_t i = 0; i < x->members.n; i++) {
		uint32_t t = cx->plan->members.items[x->members.first + i].tensor;
		const hbm_attr *a =
			hbm_attr_find(cx->p, cx->p->tensors.items[t].attrs, "class");
		if (a && a->n)
			return cx->p->values.items[a->first].str;
	}
	return 0;
}

static uint64_t callers_bytes(const hbm_check *cx)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < cx->plan->storages.n; s++)
		if (cx->own[s].flags & HBM_T_CALLER && !(cx->own[s].flags & HBM_T_HOST))
			sum = hbm_add_sat(sum, cx->own[s].reserve);
	return sum;
}

/* False: they are out of order, and no search in them makes sense. */
static bool check_regions(hbm_check *cx)
{
	const hbm_plan *plan = cx->plan;
	uint64_t end = callers_bytes(cx), sum = 0;

	for (uint32_t i = 0; i < plan->regions.n; i++) {
		const hbm_plan_region *r = &plan->regions.items[i];
		if (r->base < end || r->extent < r->lower_bound) {
			HBM_FAULT(cx, HBM_NONE, "region %u of HBM at [%" PRIu64 ", +%" PRIu64
			          ") meets what is below it or is smaller than its lower bound",
			          i, r->base, r->extent);
			return false;
		}
		end = hbm_add_sat(r->base, r->extent);
		sum = hbm_add_sat(sum, r->extent);
	}
	if (sum > plan->dram_bytes)
		HBM_FAULT(cx, HBM_NONE, "regions of HBM take %" PRIu64 " bytes; the plan counts "
		          "%" PRIu64, sum, plan->dram_bytes);
	return true;
}

/* The region with the most bytes below `at`, NULL: none. */
static const hbm_plan_region *find(const hbm_plan *plan, uint64_t at)
{
	uint32_t lo = 0, hi = plan->regions.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (plan->regions.items[mid].base <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &plan->regions.items[lo - 1] : NULL;
}

static bool stands(const hbm_plan *plan, uint64_t at, uint64_t size, hbm_sym class)
{
	const hbm_plan_region *r = find(plan, at);

	return r && at - r->base <= r->extent && size <= r->extent - (at - r->base) &&
	       (!class || class == r->class);
}

static void check_storage(hbm_check *cx, uint32_t s)
{
	const hbm_plan_storage *x = &cx->plan->storages.items[s];

	if (x->home.kind != HBM_HOME_HBM || x->home.offset == HBM_NO_OFFSET)
		return;
	if (!stands(cx->plan, x->home.offset, cx->own[s].reserve, class_of(cx, s)))
		HBM_FAULT(cx, x->root, "storage '%s' at [%" PRIu64 ", +%" PRIu64 ") of HBM is in "
		          "no region for it", hbm_check_name(cx, s), x->home.offset,
		          cx->own[s].reserve);
}

static hbm_status check_scratch(hbm_check *cx)
{
	bool *placed = HBM_ZARRAY(cx->a, bool, cx->p->ops.n);

	HBM_NEED(placed);
	for (uint32_t i = 0; i < cx->plan->scratch.n; i++) {
		const hbm_plan_scratch *x = &cx->plan->scratch.items[i];
		if (x->op >= cx->p->ops.n || placed[x->op] ||
		    x->size < cx->p->ops.items[x->op].scratch ||
		    !stands(cx->plan, x->offset, x->size, 0)) {
			HBM_FAULT(cx, HBM_NONE, "scratch of op '%s' is too small, in no region, or "
			          "placed twice", hbm_check_op(cx, x->op));
			continue;
		}
		placed[x->op] = true;
	}
	for (uint32_t o = 0; o < cx->p->ops.n; o++)
		if (cx->p->ops.items[o].scratch && !placed[o])
			HBM_FAULT(cx, HBM_NONE, "scratch of op '%s' has no place",
			          hbm_check_op(cx, o));
	return HBM_OK;
}

hbm_status hbm_check_regions(hbm_check *cx)
{
	if (!cx->plan->placed_dram || !check_regions(cx))
		return HBM_OK;
	for (uint32_t s = 0; s < cx->plan->storages.n; s++)
		check_storage(cx, s);
	return check_scratch(cx);
}
