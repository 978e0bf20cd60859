/* SPDX-License-Identifier: Apache-2.0
 *
 * sums: what the plan says in total follows from what it says in detail.
 *
 * Each storage counts once, under its home and the first of input, output, weight,
 * state that it is. Pools of different bundles are never there together, unless
 * they are kept for the program's life. */
#include "verify/check.h"

#include "base/ckd.h"

#include <inttypes.h>

void hbm_check_differs(hbm_check *cx, const char *what, uint64_t said, uint64_t is)
{
	if (said != is)
		HBM_FAULT(cx, HBM_NONE, "the plan says %s: %" PRIu64 "; it is %" PRIu64,
		          what, said, is);
}

/* Standalone storages: the sum of all; or, where some have addresses, what lies
 * between the lowest and the highest, which may hold scratch as well. */
static void check_standalone(hbm_check *cx, uint64_t sum)
{
	uint64_t said = cx->plan->totals.standalone, lo = UINT64_MAX, hi = 0, rest = sum;

	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		const hbm_plan_storage *x = &cx->plan->storages.items[s];
		uint64_t end = hbm_add_sat(x->home.offset, x->reserve);
		if (x->home.kind != HBM_HOME_HBM || x->home.offset == HBM_NO_OFFSET)
			continue;
		lo = x->home.offset < lo ? x->home.offset : lo;
		hi = end > hi ? end : hi;
		rest -= x->reserve < rest ? x->reserve : rest;
	}
	if (cx->plan->placed_dram)
		hbm_check_differs(cx, "bytes of standalone storages", said, cx->plan->dram_bytes);
	else if (lo >= hi || said < hbm_add_sat(rest, hi - lo))
		hbm_check_differs(cx, "bytes of standalone storages", said, sum);
}

static void check_storages(hbm_check *cx)
{
	const hbm_totals *t = &cx->plan->totals;
	uint64_t in = 0, out = 0, weights = 0, state = 0, alone = 0;
	bool open = false;

	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		const hbm_plan_storage *x = &cx->plan->storages.items[s];
		uint32_t flags = cx->own[s].flags;
		bool io = x->home.kind == HBM_HOME_IO;
		uint64_t *to = x->home.kind == HBM_HOME_HBM ? &alone
		             : !io                          ? NULL
		             : flags & HBM_T_INPUT          ? &in
		             : flags & HBM_T_OUTPUT         ? &out
		             : flags & HBM_T_WEIGHT         ? &weights
		                                            : &state;
		if (flags & HBM_T_HOST)
			continue;
		open |= (flags & HBM_T_DYNAMIC) != 0;
		if (to)
			*to = hbm_add_sat(*to, x->reserve);
	}
	hbm_check_differs(cx, "bytes of inputs", t->inputs, in);
	hbm_check_differs(cx, "bytes of outputs", t->outputs, out);
	hbm_check_differs(cx, "bytes of weights", t->weights, weights);
	hbm_check_differs(cx, "bytes of state", t->state, state);
	check_standalone(cx, alone);
	hbm_check_differs(cx, "that totals are lower bounds", t->at_least, open);
}

static void check_total(hbm_check *cx)
{
	const hbm_totals *t = &cx->plan->totals;
	uint64_t sum = 0, largest = 0, total = 0;
	const uint64_t parts[] = {t->inputs, t->outputs, t->weights, t->state,
	                          t->standalone, t->pools, t->descriptors,
	                          t->resident, t->code};

	for (uint32_t i = 0; i < cx->plan->pools.n; i++) {
		uint64_t extent = cx->plan->pools.items[i].extent;
		sum = hbm_add_sat(sum, extent);
		largest = extent > largest ? extent : largest;
	}
	hbm_check_differs(cx, "bytes of all pools", t->pools_sum, sum);
	hbm_check_differs(cx, "bytes of pools", t->pools,
	        cx->plan->pool_lifetime_program ? sum : largest);
	for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++)
		total = hbm_add_sat(total, parts[i]);
	hbm_check_differs(cx, "total bytes", t->total, total);
	if (cx->plan->usage.made) {
		hbm_check_differs(cx, "usage without code", cx->plan->usage.hbm_usage,
		        t->total - t->code);
		hbm_check_differs(cx, "bytes of descriptors", cx->plan->usage.descriptor_bytes,
		        t->descriptors);
	}
}

static void check_budget(hbm_check *cx)
{
	const hbm_budget *b = &cx->plan->budget;
	uint64_t total = cx->plan->totals.total;
	uint64_t limit = hbm_target_num(cx->t, HBM_KEY_HBM_WINDOW, UINT64_MAX);
	uint64_t margin = limit == UINT64_MAX ? limit : limit + limit / 10;

	hbm_check_differs(cx, "the window", b->limit, limit);
	hbm_check_differs(cx, "the window with margin", b->margin, margin);
	hbm_check_differs(cx, "whether it fits", b->fits, total <= limit);
	hbm_check_differs(cx, "whether it is within the margin", b->within_margin,
	        total > limit && total <= margin);
}

static hbm_status check_pressure(hbm_check *cx)
{
	const hbm_plan *plan = cx->plan;
	uint32_t n = cx->f.n_ticks, peak_tick = 0;
	uint64_t *delta = HBM_ZARRAY(cx->a, uint64_t, (size_t)n + 1);
	uint64_t live = 0, peak = 0;

	HBM_NEED(delta);
	hbm_check_differs(cx, "number of ticks", plan->n_ticks, n);
	for (uint32_t s = 0; s < plan->storages.n; s++) {
		const hbm_plan_storage *x = &plan->storages.items[s];
		bool counts = !(cx->own[s].flags & (HBM_T_CALLER | HBM_T_HOST));
		if (x->start > x->end || x->end > n) {
			HBM_FAULT(cx, x->root, "storage '%s' is said to be live at [%u, %u) "
			          "of %u ticks", hbm_check_name(cx, s), x->start, x->end, n);
			return HBM_OK;
		}
		delta[x->start] += counts ? x->reserve : 0;
		delta[x->end] -= counts ? x->reserve : 0;
	}
	for (uint32_t t = 0; t < n; t++) {
		live += delta[t];
		peak_tick = live > peak ? t : peak_tick;
		peak = live > peak ? live : peak;
		if (plan->pressure && plan->n_ticks == n && plan->pressure[t] != live) {
			hbm_check_differs(cx, "live bytes at a tick", plan->pressure[t], live);
			return HBM_OK;
		}
	}
	hbm_check_differs(cx, "the peak of live bytes", plan->peak, peak);
	hbm_check_differs(cx, "the tick of the peak", plan->peak_tick, peak_tick);
	return HBM_OK;
}

static void check_lx_peak(hbm_check *cx)
{
	uint64_t end = 0;

	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		const hbm_home *h = &cx->plan->storages.items[s].home;
		uint64_t e = hbm_add_sat(h->offset, h->size);
		if (h->kind == HBM_HOME_LX && e > end)
			end = e;
	}
	hbm_check_differs(cx, "the highest end in the scratchpad", cx->plan->lx_peak, end);
}

hbm_status hbm_check_sums(hbm_check *cx)
{
	check_storages(cx);
	check_total(cx);
	check_budget(cx);
	check_lx_peak(cx);
	return check_pressure(cx);
}
