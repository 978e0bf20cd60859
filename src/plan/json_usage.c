/* SPDX-License-Identifier: Apache-2.0
 * json_usage: what the passes of program-wide HBM planning found, as JSON members of
 * the plan. Members without content are left out. */
#include "plan/json.h"

static const char *name_of(const hbm_plan *plan, hbm_sym sym)
{
	return sym ? hbm_str_of(plan->prog, sym) : NULL;
}

void hbm_plan_json_metrics(const hbm_plan *plan, hbm_json *j)
{
	const hbm_usage *u = &plan->usage;

	hbm_json_kuint(j, "hbm_internal", u->hbm_internal);
	hbm_json_kuint(j, "hbm_intermediate", u->hbm_intermediate);
	hbm_json_kuint(j, "hbm_io", u->hbm_io);
	hbm_json_kuint(j, "hbm_usage", u->hbm_usage);
	hbm_json_kuint(j, "hbm_size", u->hbm_size);
	hbm_json_kuint(j, "hbm_limit", u->hbm_limit);
	hbm_json_kuint(j, "end_address", u->end_address);
	hbm_json_kuint(j, "private_hbm", u->private_hbm);
}

static void put_dram(const hbm_plan *plan, hbm_json *j)
{
	hbm_json_key(j, "dram");
	hbm_json_open(j, '{', false);
	hbm_json_kuint(j, "bytes", plan->dram_bytes);
	hbm_json_key(j, "regions");
	hbm_json_open(j, '[', false);
	for (uint32_t i = 0; i < plan->regions.n; i++) {
		const hbm_plan_region *r = &plan->regions.items[i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "class", name_of(plan, r->class));
		hbm_json_kuint(j, "base", r->base);
		hbm_json_kuint(j, "extent_bytes", r->extent);
		hbm_json_kuint(j, "lower_bound_bytes", r->lower_bound);
		hbm_json_kuint(j, "no_reuse_bytes", r->no_reuse);
		hbm_json_kuint(j, "placed", r->n_placed);
		hbm_json_kstr(j, "allocator", r->allocator);
		hbm_json_close(j);
	}
	hbm_json_close(j);
	hbm_json_key(j, "scratch");
	hbm_json_open(j, '[', false);
	for (uint32_t i = 0; i < plan->scratch.n; i++) {
		const hbm_plan_scratch *s = &plan->scratch.items[i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "op", hbm_op_name(plan->prog, s->op));
		hbm_json_kuint(j, "offset", s->offset);
		hbm_json_kuint(j, "size_bytes", s->size);
		hbm_json_close(j);
	}
	hbm_json_close(j);
	hbm_json_close(j);
}

static void put_split(const hbm_plan *plan, const hbm_plan_split *s, hbm_json *j)
{
	hbm_json_open(j, '{', true);
	hbm_json_kstr(j, "tensor", name_of(plan, s->name));
	hbm_json_kuint(j, "size_bytes", s->size);
	hbm_json_kuint(j, "limit_bytes", s->limit);
	if (s->refused) {
		hbm_json_kstr(j, "refused", hbm_unsplit_text(s->refused));
		hbm_json_key(j, "figures");
		hbm_json_open(j, '[', true);
		hbm_json_uint(j, s->figure[0]);
		hbm_json_uint(j, s->figure[1]);
		hbm_json_close(j);
	} else {
		hbm_json_kuint(j, "dim", s->dim);
		hbm_json_kuint(j, "extent", s->extent);
		hbm_json_kuint(j, "block", s->block);
		hbm_json_kuint(j, "parts", s->parts.n);
		hbm_json_kuint(j, "users", s->n_users);
	}
	hbm_json_close(j);
}

static void put_usage(const hbm_plan *plan, hbm_json *j)
{
	const hbm_usage *u = &plan->usage;

	hbm_json_key(j, "usage");
	hbm_json_open(j, '{', false);
	hbm_json_kuint(j, "model_bytes", u->model_bytes);
	hbm_json_kuint(j, "tensor_bytes", u->tensor_bytes);
	hbm_json_kuint(j, "io_bytes", u->io_bytes);
	hbm_json_kuint(j, "descriptor_bytes", u->descriptor_bytes);
	hbm_json_kuint(j, "descriptors", u->n_descriptors);
	if (u->gated) {
		hbm_json_kuint(j, "gate_bytes", u->gate_bytes);
		hbm_json_kbool(j, "gate_fits", u->gate_fits);
	}
	hbm_json_key(j, "metrics");
	hbm_json_open(j, '{', false);
	hbm_plan_json_metrics(plan, j);
	hbm_json_close(j);
	hbm_json_close(j);
}

static void put_phases(const hbm_plan *plan, hbm_json *j)
{
	hbm_json_key(j, "phases");
	hbm_json_open(j, '[', false);
	for (uint32_t i = 0; i < plan->phases.n; i++) {
		const hbm_plan_phase *p = &plan->phases.items[i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "node", name_of(plan, plan->prog->nodes.items[p->node].name));
		hbm_json_kuint(j, "peak_bytes", p->peak);
		hbm_json_close(j);
	}
	hbm_json_close(j);
}

void hbm_plan_json_usage(const hbm_plan *plan, hbm_json *j)
{
	if (plan->placed_dram)
		put_dram(plan, j);
	if (plan->usage.made)
		put_usage(plan, j);
	if (plan->phases.n)
		put_phases(plan, j);
	if (!plan->splits.n)
		return;
	hbm_json_key(j, "splits");
	hbm_json_open(j, '[', false);
	for (uint32_t i = 0; i < plan->splits.n; i++)
		put_split(plan, &plan->splits.items[i], j);
	hbm_json_close(j);
}
