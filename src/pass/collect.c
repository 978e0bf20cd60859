/* SPDX-License-Identifier: Apache-2.0
 * collect: makes the plan from what the passes decided.
 *
 * Every storage gets exactly one home: what a pass annotated on its root; else the
 * caller's for inputs, outputs, weights and state; else standalone HBM. Storages
 * stand in the order of their names, so no order of declarations shows. */
#include "base/sort.h"
#include "pass/pass.h"
#include "pass/traffic.h"

#include <inttypes.h>
#include <string.h>

static int compare_names(const hbm_program *p, hbm_sym a, hbm_sym b)
{
	return strcmp(hbm_str_of(p, a), hbm_str_of(p, b));
}

hbm_sym hbm_storage_name(const hbm_program *p, const hbm_analysis *an, hbm_storage_id s)
{
	hbm_span m = an->storages.items[s].members;
	hbm_sym best = HBM_NONE;

	for (uint32_t i = 0; i < m.n; i++) {
		const hbm_tensor *x = &p->tensors.items[an->members[m.first + i]];
		if (x->base == HBM_NONE &&
		    (best == HBM_NONE || compare_names(p, x->name, best) < 0))
			best = x->name;
	}
	return best;
}

int hbm_storage_order(const void *context, uint32_t a, uint32_t b)
{
	const hbm_pass_cx *cx = context;
	const hbm_storage *x = &cx->an->storages.items[a];
	const hbm_storage *y = &cx->an->storages.items[b];

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return compare_names(cx->prog, hbm_storage_name(cx->prog, cx->an, a),
	                     hbm_storage_name(cx->prog, cx->an, b));
}

typedef struct named {
	const hbm_pass_cx *cx;
	const hbm_sym *names;
} named;

static int by_name(const void *context, uint32_t a, uint32_t b)
{
	const named *n = context;

	return compare_names(n->cx->prog, n->names[a], n->names[b]);
}

static int member_by_name(const void *context, uint32_t a, uint32_t b)
{
	const hbm_pass_cx *cx = context;

	return compare_names(cx->prog, cx->prog->tensors.items[a].name,
	                     cx->prog->tensors.items[b].name);
}

static hbm_home home_of(hbm_pass_cx *cx, const hbm_storage *s)
{
	hbm_home home = {.bundle = HBM_NONE, .offset = HBM_NO_OFFSET};
	hbm_span m = s->members;

	for (uint32_t i = 0; i < m.n; i++) {
		hbm_tensor_id t = cx->an->members[m.first + i];
		if (cx->prog->tensors.items[t].home.kind != HBM_HOME_NONE)
			home = cx->prog->tensors.items[t].home;
	}
	if (home.kind == HBM_HOME_NONE)
		home.kind = s->flags & (HBM_T_CALLER | HBM_T_HOST) ? HBM_HOME_IO
		                                                   : HBM_HOME_HBM;
	if (!home.size)
		home.size = s->reserve;
	return home;
}

static hbm_status add_members(hbm_pass_cx *cx, const hbm_storage *s,
                              hbm_plan_storage *ps)
{
	hbm_plan *plan = cx->plan;
	uint32_t *ids = cx->an->members + s->members.first;

	HBM_NEED(hbm_merge_sort(cx->scratch, ids, s->members.n, member_by_name, cx));
	ps->members = (hbm_span){plan->members.n, s->members.n};
	for (uint32_t i = 0; i < s->members.n; i++) {
		hbm_plan_member m = {ids[i], cx->an->offset[ids[i]]};
		plan->of_tensor[ids[i]] = plan->storages.n;
		HBM_NEED(HBM_PUSH(cx->keep, &plan->members, m));
	}
	return HBM_OK;
}

/* The root says where the storage lives; tensors that are views say nothing, as
 * their base does; others say with whom they live. */
static void annotate(hbm_pass_cx *cx, const hbm_storage *s, const hbm_home *home)
{
	for (uint32_t i = 0; i < s->members.n; i++) {
		hbm_tensor_id t = cx->an->members[s->members.first + i];
		hbm_tensor *x = &cx->prog->tensors.items[t];
		x->home = (hbm_home){.bundle = HBM_NONE, .offset = HBM_NO_OFFSET};
		if (t == s->root || x->base != HBM_NONE)
			continue;
		x->home.with = s->root + 1;
		if (cx->an->offset[t])
			x->home.offset = cx->an->offset[t];
	}
	cx->prog->tensors.items[s->root].home = *home;
}

/* What no pass of the pipeline could do for a tensor is an error, not a detail. */
static hbm_status check_wishes(hbm_pass_cx *cx, const hbm_storage *s,
                               const hbm_home *home)
{
	const hbm_tensor *x = &cx->prog->tensors.items[s->root];
	const char *name = hbm_tensor_name(cx->prog, s->root);
	const char *kind = hbm_home_text(home->kind);
	hbm_where at = hbm_at(cx->prog, x->line, x->col, 0);

	if (s->demand != HBM_HOME_NONE && s->demand != home->kind)
		return hbm_fail(cx->diags, HBM_UNSUPPORTED, HBM_E_HOME_DEMAND, at,
		                "storage of '%s' demands home '%s', which no pass of this "
		                "pipeline gives it: it lives in '%s'", name,
		                hbm_home_text(s->demand), kind);
	if (s->pin != HBM_NO_OFFSET && s->pin != home->offset)
		return hbm_fail(cx->diags, HBM_UNSUPPORTED, HBM_E_HOME_DEMAND, at,
		                "storage of '%s' is pinned at %" PRIu64 ", but its home '%s' "
		                "has no address that a pin could fix", name, s->pin, kind);
	return HBM_OK;
}

static hbm_status add_storage(hbm_pass_cx *cx, hbm_storage_id id, hbm_sym name)
{
	const hbm_storage *s = &cx->an->storages.items[id];
	hbm_plan_storage ps = {.root = s->root, .name = name, .size = s->size,
	                       .reserve = s->reserve, .align = s->align,
	                       .start = s->start, .end = s->end, .flags = s->flags,
	                       .home = home_of(cx, s)};

	HBM_TRY(check_wishes(cx, s, &ps.home));
	HBM_TRY(add_members(cx, s, &ps));
	annotate(cx, s, &ps.home);
	HBM_NEED(HBM_PUSH(cx->keep, &cx->plan->storages, ps));
	return HBM_OK;
}

static hbm_status storages(hbm_pass_cx *cx, uint32_t *plan_of)
{
	uint32_t n = cx->an->storages.n;
	uint32_t *order = HBM_ARRAY(cx->scratch, uint32_t, n);
	hbm_sym *names = HBM_ARRAY(cx->scratch, hbm_sym, n);
	named context = {cx, names};

	HBM_NEED(order && names);
	HBM_NEED(cx->plan->of_tensor = HBM_ARRAY(cx->keep, uint32_t, cx->prog->tensors.n));
	for (uint32_t s = 0; s < n; s++) {
		order[s] = s;
		names[s] = hbm_storage_name(cx->prog, cx->an, s);
	}
	HBM_NEED(hbm_merge_sort(cx->scratch, order, n, by_name, &context));
	for (uint32_t i = 0; i < n; i++) {
		plan_of[order[i]] = i;
		HBM_TRY(add_storage(cx, order[i], names[order[i]]));
	}
	return HBM_OK;
}

typedef struct ordered {
	const hbm_pass_cx *cx;
	const uint32_t *plan_of;
} ordered;

static int refusal_order(const void *context, uint32_t a, uint32_t b)
{
	const ordered *o = context;
	const hbm_refusal *x = &o->cx->refusals.items[a], *y = &o->cx->refusals.items[b];
	uint32_t sx = o->plan_of[o->cx->an->of[x->tensor]];
	uint32_t sy = o->plan_of[o->cx->an->of[y->tensor]];

	if (sx != sy)
		return sx < sy ? -1 : 1;
	return (int)x->reason.tier - (int)y->reason.tier;
}

/* Groups the refusals by storage and tier; the last of a tier counts. */
static hbm_status reasons(hbm_pass_cx *cx, const uint32_t *plan_of)
{
	uint32_t n = cx->refusals.n;
	uint32_t *order = HBM_ARRAY(cx->scratch, uint32_t, n);
	ordered context = {cx, plan_of};

	HBM_NEED(order);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	HBM_NEED(hbm_merge_sort(cx->scratch, order, n, refusal_order, &context));
	for (uint32_t i = 0; i < n; i++) {
		const hbm_refusal *r = &cx->refusals.items[order[i]];
		hbm_span *span;
		if (i + 1 < n && !refusal_order(&context, order[i], order[i + 1]))
			continue;
		span = &cx->plan->storages.items[plan_of[cx->an->of[r->tensor]]].reasons;
		if (!span->n)
			span->first = cx->plan->reasons.n;
		span->n++;
		HBM_NEED(HBM_PUSH(cx->keep, &cx->plan->reasons, r->reason));
	}
	return HBM_OK;
}

hbm_status hbm_collect(hbm_pass_cx *cx)
{
	uint32_t *plan_of = HBM_ARRAY(cx->scratch, uint32_t, cx->an->storages.n);

	HBM_NEED(plan_of);
	cx->plan->pool_lifetime_program = cx->opts->pool_lifetime_program;
	HBM_TRY(storages(cx, plan_of));
	HBM_TRY(reasons(cx, plan_of));
	HBM_TRY(hbm_plan_measure(cx->plan));
	HBM_TRY(hbm_traffic_sum(cx->scratch, cx->prog, cx->an, cx->plan));
	hbm_plan_sum(cx->plan, cx->opts->resident, cx->opts->budget_off);
	return HBM_OK;
}
