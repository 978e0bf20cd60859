/* SPDX-License-Identifier: Apache-2.0
 * measure: live bytes at each tick, by differences at the ends of the live ranges,
 * and the highest scratchpad address. Cost: linear. */
#include "base/ckd.h"
#include "plan/plan.h"

static bool counts(const hbm_plan_storage *s, uint32_t n)
{
	return !(s->flags & (HBM_T_CALLER | HBM_T_HOST)) && s->start < s->end &&
	       s->end <= n;
}

static void find_peak(hbm_plan *plan)
{
	uint64_t live = 0;

	plan->peak = 0;
	plan->peak_tick = 0;
	for (uint32_t t = 0; t < plan->n_ticks; t++) {
		live += plan->pressure[t];
		plan->pressure[t] = live;
		if (live <= plan->peak)
			continue;
		plan->peak = live;
		plan->peak_tick = t;
	}
}

hbm_status hbm_plan_measure(hbm_plan *plan)
{
	uint32_t n = plan->prog->ops.n;

	HBM_NEED(plan->pressure = HBM_ZARRAY(plan->arena, uint64_t, (size_t)n + 1));
	plan->n_ticks = n;
	plan->lx_peak = 0;
	for (uint32_t i = 0; i < plan->storages.n; i++) {
		const hbm_plan_storage *s = &plan->storages.items[i];
		uint64_t end = hbm_add_sat(s->home.offset, s->home.size);
		if (s->home.kind == HBM_HOME_LX && end > plan->lx_peak)
			plan->lx_peak = end;
		if (!counts(s, n))
			continue;
		plan->pressure[s->start] += s->reserve; /* wraps back at the ends */
		plan->pressure[s->end] -= s->reserve;
	}
	find_peak(plan);
	return HBM_OK;
}

static bool at_peak(const hbm_plan *plan, const hbm_plan_storage *s)
{
	return counts(s, plan->n_ticks) && s->start <= plan->peak_tick &&
	       plan->peak_tick < s->end;
}

uint32_t hbm_plan_peak(const hbm_plan *plan, uint32_t *ids, uint32_t max,
                       uint32_t *ret_n)
{
	uint32_t n = 0, live = 0;

	for (uint32_t i = 0; i < plan->storages.n; i++) {
		const hbm_plan_storage *s = &plan->storages.items[i];
		uint32_t at = n;
		if (!at_peak(plan, s))
			continue;
		live++;
		while (at && plan->storages.items[ids[at - 1]].reserve < s->reserve)
			at--;
		if (at == max)
			continue;
		n += n < max;
		for (uint32_t k = n - 1; k > at; k--)
			ids[k] = ids[k - 1];
		ids[at] = i;
	}
	*ret_n = n;
	return live;
}
