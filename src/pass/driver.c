/* SPDX-License-Identifier: Apache-2.0
 * driver: runs the passes of a pipeline in order.
 *
 * A pass states what it needs, gives and breaks; the driver checks the first and
 * keeps book of the rest. After a pass that changed the program the analysis is
 * made anew, so no pass works on stale facts. */
#include "pass/pass.h"
#include "base/out.h"
#include "ir/json.h"
#include "ir/text.h"
#include "ir/validate.h"

#include <string.h>

const hbm_pass *const hbm_pass_table[] = {
#define PASS(id) &hbm_pass_##id,
#include "pass/passes.def"
#undef PASS
	NULL,
};

const hbm_pass *hbm_pass_find(const char *name, size_t n)
{
	for (uint32_t i = 0; hbm_pass_table[i]; i++)
		if (strlen(hbm_pass_table[i]->name) == n &&
		    !memcmp(hbm_pass_table[i]->name, name, n))
			return hbm_pass_table[i];
	return NULL;
}

hbm_status hbm_refuse(hbm_pass_cx *cx, hbm_storage_id s, hbm_home_kind tier,
                      hbm_reason_id id, hbm_sym who, uint32_t n_figures,
                      const uint64_t *figures)
{
	hbm_refusal r = {.tensor = cx->an->storages.items[s].root,
	                 .reason = {.tier = tier, .id = id, .who = who,
	                            .n_figures = n_figures}};

	for (uint32_t i = 0; i < n_figures; i++)
		r.reason.figure[i] = figures[i];
	HBM_NEED(HBM_PUSH(cx->keep, &cx->refusals, r));
	return HBM_OK;
}

typedef HBM_VEC(const hbm_pass *) pipeline;

static hbm_status analyse(hbm_pass_cx *cx, hbm_arena *arena)
{
	hbm_analysis_opts opts = {.inplace = !cx->opts->no_reuse};

	hbm_arena_fini(arena);
	HBM_TRY(hbm_size_tensors(cx->prog, cx->target, cx->diags));
	return hbm_analyse(arena, cx->prog, cx->target, &opts, cx->diags, cx->an);
}

static hbm_status print_program(const hbm_pass_cx *cx)
{
	hbm_out out;

	hbm_out_init(&out, cx->opts->print, cx->opts->print_user);
	if (cx->opts->print_json)
		hbm_json_print(cx->prog, &out);
	else
		hbm_text_print(cx->prog, &out);
	return hbm_out_finish(&out);
}

/* The first pass of the table that gives one of the facts. */
static const char *giver(uint32_t facts)
{
	for (uint32_t k = 0; hbm_pass_table[k]; k++)
		if (hbm_pass_table[k]->gives & facts)
			return hbm_pass_table[k]->name;
	return "?";
}

static hbm_status check_place(const hbm_pass_cx *cx, const hbm_pass *pass)
{
	uint32_t lacks = pass->needs & ~cx->facts, late = pass->before & cx->facts;

	if (lacks)
		return hbm_fail(cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "pass '%s' needs pass '%s' before it", pass->name,
		                giver(lacks));
	if (late)
		return hbm_fail(cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "pass '%s' must stand before pass '%s'", pass->name,
		                giver(late));
	return HBM_OK;
}

static hbm_status run_pass(hbm_pass_cx *cx, const hbm_pass *pass, hbm_arena *facts)
{
	hbm_status status;

	HBM_TRY(check_place(cx, pass));
	status = pass->run(cx);
	hbm_arena_fini(cx->scratch);
	if (status != HBM_OK)
		return status;
	cx->facts = (cx->facts & ~pass->breaks) | pass->gives;
	if (pass->breaks_analysis)
		HBM_TRY(analyse(cx, facts));
	if (cx->opts->print_after && !strcmp(cx->opts->print_after, pass->name))
		return print_program(cx);
	return HBM_OK;
}

static hbm_status unknown_pass(hbm_pass_cx *cx, const char *name, size_t n)
{
	return hbm_fail(cx->diags, HBM_OPTION, HBM_E_UNKNOWN_PASS, HBM_NOWHERE,
	                "unknown pass '%.*s'", (int)n, name);
}

static bool in_pipeline(const pipeline *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!strcmp(l->items[i]->name, name))
			return true;
	return false;
}

static hbm_status add_pass(hbm_pass_cx *cx, pipeline *l, const char *name, size_t n)
{
	const hbm_pass *pass = hbm_pass_find(name, n);

	if (!pass)
		return unknown_pass(cx, name, n);
	if (in_pipeline(l, pass->name))
		return hbm_fail(cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "pass '%s' stands twice in the list", pass->name);
	HBM_NEED(HBM_PUSH(cx->keep, l, pass));
	return HBM_OK;
}

/* The passes of --passes, else of the target. */
static hbm_status list_passes(hbm_pass_cx *cx, pipeline *l)
{
	const hbm_target *t = cx->target;
	const char *list = cx->opts->passes;

	for (uint32_t i = 0; !list && i < t->pipeline.n; i++)
		HBM_TRY(add_pass(cx, l, t->pipeline.items[i],
		                 strlen(t->pipeline.items[i])));
	while (list && *list) {
		size_t n = strcspn(list, ",");
		if (n)
			HBM_TRY(add_pass(cx, l, list, n));
		list += n + (list[n] == ',');
	}
	return HBM_OK;
}

/* Ends the list behind the pass that the user names. */
static void stop_after(pipeline *l, const char *name)
{
	for (uint32_t i = 0; name && i < l->n; i++)
		if (!strcmp(l->items[i]->name, name))
			l->n = i + 1;
}

static hbm_status not_run(hbm_pass_cx *cx, const char *option, const char *name)
{
	return hbm_fail(cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
	                "%s: pass '%s' is not among those that run for target '%s'",
	                option, name, cx->target->name);
}

/* Options that name or mean a pass are of use only where it runs. */
static hbm_status choose_passes(hbm_pass_cx *cx, pipeline *l)
{
	const char *stop = cx->opts->stop_after, *print = cx->opts->print_after;

	HBM_TRY(list_passes(cx, l));
	if (stop && !in_pipeline(l, stop))
		return not_run(cx, "--stop-after", stop);
	stop_after(l, stop);
	if (print && !in_pipeline(l, print))
		return not_run(cx, "--print-after", print);
	if (cx->opts->no_bundle_args && !in_pipeline(l, "fuse"))
		HBM_NEED(hbm_warn(cx->diags, HBM_E_OPTION, HBM_NOWHERE, "no pass "
		                  "'fuse' runs: bundles stay as they are"));
	return HBM_OK;
}

static hbm_status run_pipeline(hbm_pass_cx *cx, hbm_arena *facts)
{
	pipeline l = {0};

	HBM_TRY(choose_passes(cx, &l));
	for (uint32_t i = 0; i < l.n; i++)
		HBM_TRY(run_pass(cx, l.items[i], facts));
	return HBM_OK;
}

static hbm_status run_all(hbm_pass_cx *cx, hbm_arena *facts)
{
	HBM_TRY(hbm_validate(cx->prog, cx->diags));
	HBM_TRY(analyse(cx, facts));
	HBM_TRY(run_pipeline(cx, facts));
	HBM_TRY(hbm_collect(cx));
	return cx->diags && cx->diags->notes_lost ? HBM_NOMEM : HBM_OK;
}

/* Plans of an earlier run do not bind this one. */
static void forget_homes(hbm_program *p)
{
	for (uint32_t t = 0; t < p->tensors.n; t++)
		p->tensors.items[t].home = (hbm_home){.bundle = HBM_NONE,
		                                      .offset = HBM_NO_OFFSET};
}

hbm_status hbm_run_passes(hbm_arena *keep, hbm_program *p, const hbm_target *t,
                          const hbm_plan_opts *opts, hbm_diags *d, hbm_plan *ret)
{
	hbm_plan plan = {.arena = keep, .prog = p, .target = t};
	hbm_arena scratch, facts;
	hbm_analysis an = {0};
	hbm_pass_cx cx = {.keep = keep, .scratch = &scratch, .diags = d, .target = t,
	                  .opts = opts, .prog = p, .an = &an, .plan = &plan};
	const char *stop = opts->stop_after, *print = opts->print_after;
	hbm_status status;

	if (t->refused)
		return hbm_fail(d, HBM_UNSUPPORTED, HBM_E_TARGET_REFUSED, HBM_NOWHERE,
		                "target '%s': %s", t->name, t->refused);
	if (stop && !hbm_pass_find(stop, strlen(stop)))
		return unknown_pass(&cx, stop, strlen(stop));
	if (print && !hbm_pass_find(print, strlen(print)))
		return unknown_pass(&cx, print, strlen(print));
	forget_homes(p);
	if (d)
		d->notes_lost = false;
	hbm_arena_init(&scratch, &keep->mem);
	hbm_arena_init(&facts, &keep->mem);
	status = run_all(&cx, &facts);
	hbm_arena_fini(&facts);
	hbm_arena_fini(&scratch);
	if (status == HBM_OK)
		*ret = plan;
	return status;
}
