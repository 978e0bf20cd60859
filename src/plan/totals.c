/* SPDX-License-Identifier: Apache-2.0
 * totals: bytes by category and the budget, from the homes.
 *
 * Bundles run one after the other, so their pools are never there together: the
 * largest counts, unless pools are kept until the program ends. Seed B: usage
 * against the per-core window; the limit decides and equality fits; the margin of
 * a tenth only names near misses. */
#include "base/ckd.h"
#include "plan/plan.h"

static uint64_t *category(hbm_totals *t, const hbm_plan_storage *s)
{
	if (s->home.kind == HBM_HOME_HBM)
		return &t->standalone;
	if (s->home.kind != HBM_HOME_IO)
		return NULL;
	if (s->flags & HBM_T_INPUT)
		return &t->inputs;
	if (s->flags & HBM_T_OUTPUT)
		return &t->outputs;
	return s->flags & HBM_T_WEIGHT ? &t->weights : &t->state;
}

static void add_storage(hbm_totals *t, const hbm_plan_storage *s)
{
	uint64_t *sum = category(t, s);

	if (s->flags & HBM_T_HOST)
		return;
	if (sum)
		*sum = hbm_add_sat(*sum, s->reserve);
	t->at_least |= (s->flags & HBM_T_DYNAMIC) != 0;
}

static void add_pools(hbm_plan *plan)
{
	hbm_totals *t = &plan->totals;
	uint64_t largest = 0;

	for (uint32_t i = 0; i < plan->pools.n; i++) {
		uint64_t extent = plan->pools.items[i].extent;
		t->pools_sum = hbm_add_sat(t->pools_sum, extent);
		largest = extent > largest ? extent : largest;
	}
	t->pools = plan->pool_lifetime_program ? t->pools_sum : largest;
}

static void add_all(hbm_totals *t)
{
	const uint64_t parts[] = {t->inputs, t->outputs, t->weights, t->state,
	                          t->standalone, t->pools, t->descriptors,
	                          t->resident, t->code};

	t->total = 0;
	for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++)
		t->total = hbm_add_sat(t->total, parts[i]);
}

void hbm_plan_sum(hbm_plan *plan, uint64_t resident, bool budget_off)
{
	hbm_totals t = {.descriptors = plan->totals.descriptors,
	                .code = plan->totals.code, .resident = resident};
	hbm_budget *b = &plan->budget;

	plan->totals = t;
	for (uint32_t i = 0; i < plan->storages.n; i++)
		add_storage(&plan->totals, &plan->storages.items[i]);
	if (plan->placed_dram)
		plan->totals.standalone = plan->dram_bytes;
	add_pools(plan);
	add_all(&plan->totals);
	b->limit = hbm_target_num(plan->target, HBM_KEY_HBM_WINDOW, HBM_NO_OFFSET);
	b->margin = b->limit == HBM_NO_OFFSET ? b->limit : b->limit + b->limit / 10;
	b->checked = !budget_off && b->limit != HBM_NO_OFFSET;
	b->fits = plan->totals.total <= b->limit;
	b->within_margin = !b->fits && plan->totals.total <= b->margin;
}
