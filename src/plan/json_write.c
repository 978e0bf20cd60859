/* SPDX-License-Identifier: Apache-2.0
 * json_write: the plan as JSON. Integers only, fixed order, no dates or paths. */
#include "plan/json.h"

static const char *name_of(const hbm_plan *plan, hbm_sym sym)
{
	return sym ? hbm_str_of(plan->prog, sym) : NULL;
}

static void put_offset(hbm_json *j, const char *key, uint64_t offset)
{
	hbm_json_key(j, key);
	if (offset == HBM_NO_OFFSET)
		hbm_json_null(j);
	else
		hbm_json_uint(j, offset);
}

static void put_totals(hbm_json *j, const hbm_totals *t)
{
	hbm_json_key(j, "totals");
	hbm_json_open(j, '{', false);
	hbm_json_kuint(j, "inputs_bytes", t->inputs);
	hbm_json_kuint(j, "outputs_bytes", t->outputs);
	hbm_json_kuint(j, "weights_bytes", t->weights);
	hbm_json_kuint(j, "state_bytes", t->state);
	hbm_json_kuint(j, "standalone_bytes", t->standalone);
	hbm_json_kuint(j, "pools_bytes", t->pools);
	hbm_json_kuint(j, "pools_sum_bytes", t->pools_sum);
	hbm_json_kuint(j, "descriptors_bytes", t->descriptors);
	hbm_json_kuint(j, "resident_bytes", t->resident);
	hbm_json_key(j, "code_bytes");
	hbm_json_null(j);
	hbm_json_kstr(j, "code_reason", "code size is not provided");
	hbm_json_kuint(j, "total_bytes", t->total);
	hbm_json_kbool(j, "at_least", t->at_least);
	hbm_json_close(j);
}

static void put_budget(hbm_json *j, const hbm_plan *plan)
{
	const hbm_budget *b = &plan->budget;

	hbm_json_key(j, "budget");
	hbm_json_open(j, '{', false);
	hbm_json_kbool(j, "checked", b->checked);
	put_offset(j, "limit_bytes", b->limit);
	put_offset(j, "margin_bytes", b->margin);
	hbm_json_kbool(j, "fits", b->fits);
	hbm_json_kbool(j, "within_margin", b->within_margin);
	hbm_json_kuint(j, "excess_bytes", b->fits ? 0 : plan->totals.total - b->limit);
	hbm_json_close(j);
}

const char *const hbm_plan_outcomes[HBM_PLAN_N_OUTCOMES] = {"unknown", "feasible",
                                                            "optimal", "infeasible"};

static void put_pools(hbm_json *j, const hbm_plan *plan)
{
	hbm_json_key(j, "pools");
	hbm_json_open(j, '[', false);
	for (uint32_t i = 0; i < plan->pools.n; i++) {
		const hbm_plan_pool *pool = &plan->pools.items[i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "bundle", name_of(plan, pool->name));
		hbm_json_kuint(j, "extent_bytes", pool->extent);
		hbm_json_kuint(j, "lower_bound_bytes", pool->lower_bound);
		hbm_json_kuint(j, "bump_bytes", pool->bump);
		hbm_json_kuint(j, "no_reuse_bytes", pool->no_reuse);
		put_offset(j, "cap_bytes", pool->cap);
		hbm_json_kuint(j, "placed", pool->n_placed);
		hbm_json_kuint(j, "overflowed", pool->n_overflow);
		hbm_json_kstr(j, "outcome", hbm_plan_outcomes[pool->outcome & 3]);
		hbm_json_kstr(j, "allocator", pool->allocator);
		hbm_json_close(j);
	}
	hbm_json_close(j);
}

static void put_members(hbm_json *j, const hbm_plan *plan, const hbm_plan_storage *s)
{
	hbm_json_key(j, "tensors");
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < s->members.n; i++) {
		const hbm_plan_member *m = &plan->members.items[s->members.first + i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "name", hbm_tensor_name(plan->prog, m->tensor));
		hbm_json_kuint(j, "at", m->offset);
		hbm_json_close(j);
	}
	hbm_json_close(j);
}

static void put_reasons(hbm_json *j, const hbm_plan *plan, const hbm_plan_storage *s)
{
	hbm_json_key(j, "refused");
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < s->reasons.n; i++) {
		const hbm_reason *r = &plan->reasons.items[s->reasons.first + i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "tier", hbm_home_text(r->tier));
		hbm_json_kstr(j, "reason", hbm_reason_text(r->id));
		hbm_json_kstr(j, "who", name_of(plan, r->who));
		hbm_json_key(j, "figures");
		hbm_json_open(j, '[', true);
		for (uint32_t k = 0; k < r->n_figures; k++)
			hbm_json_uint(j, r->figure[k]);
		hbm_json_close(j);
		hbm_json_close(j);
	}
	hbm_json_close(j);
}

static void put_storage(hbm_json *j, const hbm_plan *plan, const hbm_plan_storage *s)
{
	bool pool = s->home.kind == HBM_HOME_POOL;

	hbm_json_open(j, '{', true);
	hbm_json_kstr(j, "name", name_of(plan, s->name));
	hbm_json_kstr(j, "home", hbm_home_text(s->home.kind));
	hbm_json_kstr(j, "bundle", pool ? hbm_str_of(plan->prog,
	              plan->prog->nodes.items[s->home.bundle].name) : NULL);
	put_offset(j, "offset", s->home.offset);
	hbm_json_kuint(j, "size_bytes", s->size);
	hbm_json_kuint(j, "reserved_bytes", s->home.size);
	hbm_json_kuint(j, "align", s->align);
	hbm_json_key(j, "live");
	hbm_json_open(j, '[', true);
	hbm_json_uint(j, s->start);
	hbm_json_uint(j, s->end);
	hbm_json_close(j);
	hbm_json_kbool(j, "dynamic", s->flags & HBM_T_DYNAMIC);
	hbm_json_kbool(j, "pass_through", (s->flags & HBM_T_IO) == HBM_T_IO);
	put_members(j, plan, s);
	put_reasons(j, plan, s);
	hbm_json_close(j);
}

static void put_peak(hbm_json *j, const hbm_plan *plan)
{
	uint32_t ids[10], n, live = hbm_plan_peak(plan, ids, 10, &n);

	hbm_json_key(j, "peak");
	hbm_json_open(j, '{', true);
	hbm_json_kuint(j, "tick", plan->peak_tick);
	hbm_json_kstr(j, "op", plan->n_ticks ? hbm_op_name(plan->prog, plan->peak_tick)
	                                     : NULL);
	hbm_json_kuint(j, "live_bytes", plan->peak);
	hbm_json_kuint(j, "live_storages", live);
	hbm_json_key(j, "largest");
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < n; i++)
		hbm_json_str(j, name_of(plan, plan->storages.items[ids[i]].name));
	hbm_json_close(j);
	hbm_json_close(j);
}

static void put_lx(hbm_json *j, const hbm_plan_lx *lx)
{
	if (!lx->solver)
		return;
	hbm_json_key(j, "scratchpad");
	hbm_json_open(j, '{', true);
	hbm_json_kstr(j, "solver", lx->solver);
	hbm_json_kuint(j, "stored", lx->n_placed);
	hbm_json_kuint(j, "demoted", lx->n_demoted);
	hbm_json_kuint(j, "saved_bytes", lx->saved);
	hbm_json_kuint(j, "bound_bytes", lx->bound);
	hbm_json_kbool(j, "optimal", lx->optimal);
	hbm_json_close(j);
}

void hbm_plan_json_write(const hbm_plan *plan, hbm_out *o)
{
	bool over = plan->budget.checked && !plan->budget.fits;
	hbm_json j;

	hbm_json_init(&j, o);
	hbm_json_open(&j, '{', false);
	hbm_json_kstr(&j, "schema", HBM_PLAN_SCHEMA);
	hbm_json_kstr(&j, "schema_version", HBM_PLAN_SCHEMA_VERSION);
	hbm_json_kstr(&j, "tool_version", HBM_VERSION);
	hbm_json_kstr(&j, "status", over ? "over_budget" : "ok");
	hbm_json_kbool(&j, "verified", plan->verified);
	hbm_json_kstr(&j, "stage", "after placement, before code generation");
	hbm_json_kstr(&j, "live_ranges", "half open, in ticks (leaf ops in run order)");
	hbm_json_kstr(&j, "program", name_of(plan, plan->prog->name));
	if (plan->prog->order)
		hbm_json_kstr(&j, "order", name_of(plan, plan->prog->order));
	hbm_json_kstr(&j, "target", plan->target->name);
	hbm_json_kstr(&j, "pool_lifetime",
	              plan->pool_lifetime_program ? "program" : "bundle");
	put_totals(&j, &plan->totals);
	put_budget(&j, plan);
	put_peak(&j, plan);
	hbm_json_kuint(&j, "lx_peak_bytes", plan->lx_peak);
	hbm_json_kuint(&j, "hbm_traffic_bytes", plan->traffic);
	put_lx(&j, &plan->lx);
	put_pools(&j, plan);
	hbm_plan_json_usage(plan, &j);
	hbm_json_key(&j, "storages");
	hbm_json_open(&j, '[', false);
	for (uint32_t i = 0; i < plan->storages.n; i++)
		put_storage(&j, plan, &plan->storages.items[i]);
	hbm_json_close(&j);
	hbm_json_close(&j);
}
