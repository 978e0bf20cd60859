/* SPDX-License-Identifier: Apache-2.0
 * complete: fills in what a plan made elsewhere does not say. A storage's life is
 * then the union of its tensors' lives, its alignment the target's. The verifier
 * works out its own lives all the same. */
#include "api/api.h"
#include "analysis/analysis.h"

static void fill_storage(hbm_plan *plan, const hbm_analysis *an, hbm_plan_storage *s)
{
	uint64_t align = hbm_target_num(plan->target, HBM_KEY_HBM_ALIGN, 1);
	bool has_life = s->start < s->end;

	if (s->align < align)
		s->align = align;
	for (uint32_t i = 0; i < s->members.n && !has_life; i++) {
		hbm_tensor_id t = plan->members.items[s->members.first + i].tensor;
		const hbm_storage *own = &an->storages.items[an->of[t]];
		bool first = s->start == s->end;
		if (own->start == own->end)
			continue;
		if (first || own->start < s->start)
			s->start = own->start;
		if (own->end > s->end)
			s->end = own->end;
	}
}

hbm_status hbm_complete(hbm_context *cx, hbm_planned *p)
{
	hbm_analysis_opts opts = {.inplace = false};
	hbm_plan *plan = &p->plan;
	hbm_analysis an;
	hbm_arena scratch;
	hbm_status status;

	hbm_arena_init(&scratch, &cx->mem);
	status = hbm_analyse(&scratch, &p->prog, &p->target, &opts, &cx->diags, &an);
	for (uint32_t i = 0; status == HBM_OK && i < plan->storages.n; i++)
		fill_storage(plan, &an, &plan->storages.items[i]);
	hbm_arena_fini(&scratch);
	return status == HBM_OK ? hbm_plan_measure(plan) : status;
}
