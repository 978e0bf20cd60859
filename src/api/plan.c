/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "base/file.h"
#include "base/out.h"
#include "emit/emitter.h"
#include "pass/pass.h"
#include "plan/json.h"
#include "report/reporter.h"
#include "verify/verify.h"

#include <string.h>

void hbm_plan_defaults(hbm_plan_opts *opts)
{
	hbm_solve_opts so;

	hbm_solve_defaults(&so);
	*opts = (hbm_plan_opts){.effort = so.effort, .threads = so.threads,
	                        .lx_share_ppm = HBM_NO_OFFSET};
}

static hbm_status need_program(hbm_context *cx, const hbm_input *in)
{
	if (!in->data.is_problem)
		return HBM_OK;
	return hbm_fail(&cx->diags, HBM_USAGE, HBM_E_OPTION, HBM_NOWHERE,
	                "this is a bare packing problem, not a program: use `solve`");
}

static const char *target_of(const hbm_input *in, const char *target)
{
	hbm_sym own = in->data.program.target;

	if (target)
		return target;
	return own ? hbm_str_of(&in->data.program, own) : "spyre";
}

/* `target` is the user's word, `made_for` that of a plan. */
static hbm_status load_target(hbm_context *cx, const hbm_input *in, const char *target,
                              const char *made_for, hbm_planned *p)
{
	const char *name = target ? target : target_of(in, made_for);
	hbm_status status = hbm_target_load(&p->arena, &cx->diags, name, &p->target);

	if (status != HBM_OK && status != HBM_NOMEM && !target)
		hbm_note(&cx->diags, HBM_NOWHERE,
		         "the %s is for '%s', which is no built-in target; give the file "
		         "that describes it: --target FILE", made_for ? "plan" : "program",
		         name);
	return status;
}

static hbm_status open_planned(hbm_context *cx, const hbm_input *in, const char *target,
                               const char *made_for, hbm_planned *p)
{
	HBM_TRY(load_target(cx, in, target, made_for, p));
	HBM_TRY(hbm_program_copy(&in->data.program, &p->arena, &p->prog));
	p->prog.target = hbm_intern_cstr(&p->prog.syms, p->target.name);
	return p->prog.target == HBM_NONE ? HBM_NOMEM : HBM_OK;
}

/* The share of LX that the user gives takes the place of the target's. */
static void set_share(hbm_target *t, uint64_t ppm)
{
	if (ppm == HBM_NO_OFFSET || !hbm_target_has(t, HBM_KEY_LX_SIZE))
		return;
	t->values[HBM_KEY_LX_USABLE].num = hbm_target_lx_usable(t, ppm);
}

static hbm_status make(hbm_context *cx, const hbm_input *in, const char *target,
                       const hbm_plan_opts *opts, hbm_planned *p)
{
	HBM_TRY(open_planned(cx, in, target, NULL, p));
	set_share(&p->target, opts->lx_share_ppm);
	HBM_TRY(hbm_run_passes(&p->arena, &p->prog, &p->target, opts, &cx->diags,
	                       &p->plan));
	return hbm_planned_check(cx, p);
}

static hbm_status finish(hbm_status status, hbm_planned *p, hbm_planned **ret)
{
	p->prog.text = NULL; /* the input's, which may go before the plan */
	if (status == HBM_OK)
		*ret = p;
	else
		hbm_planned_free(p);
	return status;
}

hbm_status hbm_planned_make(hbm_context *cx, const hbm_input *in, const char *target,
                            const hbm_plan_opts *opts, hbm_planned **ret)
{
	hbm_plan_opts defaults;
	hbm_planned *p;

	HBM_TRY(need_program(cx, in));
	HBM_NEED(p = hbm_handle_new(cx, sizeof *p));
	hbm_arena_init(&p->arena, &cx->mem);
	hbm_plan_defaults(&defaults);
	return finish(make(cx, in, target, opts ? opts : &defaults, p), p, ret);
}

static hbm_status read_homes(hbm_context *cx, const hbm_input *in, const char *target,
                             const hbm_plan_opts *opts, hbm_planned *p)
{
	HBM_TRY(open_planned(cx, in, target, NULL, p));
	set_share(&p->target, opts ? opts->lx_share_ppm : HBM_NO_OFFSET);
	HBM_TRY(hbm_size_tensors(&p->prog, &p->target, &cx->diags));
	HBM_TRY(hbm_plan_from_homes(&p->arena, &cx->diags, &p->prog, &p->target, &p->plan));
	return hbm_complete(cx, p);
}

/* A plan holds for the target that it was made for, unless the user says another. */
static hbm_status read_json(hbm_context *cx, const hbm_input *in, const char *target,
                            const hbm_plan_opts *opts, const hbm_plan_json *json,
                            hbm_planned *p)
{
	HBM_TRY(open_planned(cx, in, target, hbm_plan_json_target(json), p));
	set_share(&p->target, opts ? opts->lx_share_ppm : HBM_NO_OFFSET);
	HBM_TRY(hbm_size_tensors(&p->prog, &p->target, &cx->diags));
	HBM_TRY(hbm_plan_json_read(&p->arena, &cx->diags, json, &p->prog, &p->target,
	                           &p->plan));
	return hbm_complete(cx, p);
}

static hbm_status read(hbm_context *cx, const hbm_input *in, const char *target,
                       const hbm_plan_opts *opts, const char *path, hbm_planned *p)
{
	hbm_plan_json json;
	hbm_bytes bytes;
	hbm_status status;

	if (!path)
		return read_homes(cx, in, target, opts, p);
	HBM_TRY(hbm_file_read(&p->arena, &cx->diags, path, 0, &bytes));
	HBM_TRY(hbm_plan_json_open(&cx->diags, path, bytes.data, bytes.n, &json));
	status = read_json(cx, in, target, opts, &json, p);
	hbm_plan_json_close(&json);
	return status;
}

hbm_status hbm_planned_read(hbm_context *cx, const hbm_input *in, const char *target,
                            const hbm_plan_opts *opts, const char *path,
                            hbm_planned **ret)
{
	hbm_planned *p;

	HBM_TRY(need_program(cx, in));
	HBM_NEED(p = hbm_handle_new(cx, sizeof *p));
	hbm_arena_init(&p->arena, &cx->mem);
	return finish(read(cx, in, target, opts, path, p), p, ret);
}

void hbm_planned_free(hbm_planned *p)
{
	hbm_mem mem;

	if (!p)
		return;
	mem = p->arena.mem;
	hbm_arena_fini(&p->arena);
	hbm_handle_free(&mem, p, sizeof *p);
}

hbm_status hbm_planned_check(hbm_context *cx, hbm_planned *p)
{
	hbm_arena scratch;
	hbm_status status;

	hbm_arena_init(&scratch, &cx->mem);
	status = hbm_verify(&scratch, &p->prog, &p->target, &p->plan, &cx->diags);
	hbm_arena_fini(&scratch);
	p->plan.verified = status == HBM_OK;
	return status;
}

hbm_status hbm_planned_simulate(hbm_context *cx, hbm_planned *p, hbm_simulation *ret)
{
	hbm_sim_opts opts = {0};
	hbm_sim_result result = {0};
	hbm_arena scratch;
	hbm_status status;

	hbm_arena_init(&scratch, &cx->mem);
	status = hbm_simulate(&scratch, &p->prog, &p->target, &p->plan, &opts,
	                      &cx->diags, &result);
	hbm_arena_fini(&scratch);
	if (status == HBM_OK)
		*ret = (hbm_simulation){result.steps, result.reads, result.capped};
	return status;
}

bool hbm_planned_fits(const hbm_planned *p)
{
	return !p->plan.budget.checked || p->plan.budget.fits;
}

uint64_t hbm_planned_total(const hbm_planned *p)
{
	return p->plan.totals.total;
}

uint64_t hbm_planned_limit(const hbm_planned *p)
{
	return p->plan.budget.limit;
}

static hbm_sym find_sym(const hbm_planned *p, const char *name)
{
	return hbm_sym_find(&p->prog.syms, name, strlen(name));
}

static uint64_t member_offset(const hbm_plan *plan, const hbm_plan_storage *s,
                              hbm_tensor_id t)
{
	for (uint32_t i = 0; i < s->members.n; i++)
		if (plan->members.items[s->members.first + i].tensor == t)
			return plan->members.items[s->members.first + i].offset;
	return 0;
}

bool hbm_planned_find(const hbm_planned *p, const char *tensor, hbm_place_info *ret)
{
	hbm_sym sym = find_sym(p, tensor);
	hbm_tensor_id t = sym == HBM_NONE ? HBM_NONE : hbm_find_tensor(&p->prog, sym);
	const hbm_plan_storage *s;

	if (t == HBM_NONE || p->plan.of_tensor[t] == HBM_NONE)
		return false;
	s = &p->plan.storages.items[p->plan.of_tensor[t]];
	*ret = (hbm_place_info){.home = hbm_home_text(s->home.kind),
	                        .offset = s->home.offset, .size = s->size,
	                        .start = s->start, .end = s->end,
	                        .storage = hbm_str_of(&p->prog, s->name)};
	if (s->home.kind == HBM_HOME_POOL)
		ret->bundle = hbm_str_of(&p->prog,
		                         p->prog.nodes.items[s->home.bundle].name);
	if (ret->offset != HBM_NO_OFFSET)
		ret->offset += member_offset(&p->plan, s, t);
	return true;
}

bool hbm_planned_pool(const hbm_planned *p, const char *bundle, uint64_t *ret_extent)
{
	hbm_sym sym = find_sym(p, bundle);

	for (uint32_t i = 0; i < p->plan.pools.n; i++) {
		if (p->plan.pools.items[i].name != sym)
			continue;
		*ret_extent = p->plan.pools.items[i].extent;
		return true;
	}
	return false;
}

hbm_status hbm_planned_write(hbm_context *cx, const hbm_planned *p, const char *format,
                             hbm_write_fn write, void *user)
{
	const hbm_reporter *r = hbm_reporter_find(format);
	hbm_arena scratch;
	hbm_status status, flushed;
	hbm_out out;

	if (!r)
		return hbm_fail(&cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "unknown report format '%s'", format);
	hbm_arena_init(&scratch, &cx->mem);
	hbm_out_init(&out, write, user);
	status = r->write(&scratch, &p->plan, &out);
	flushed = hbm_out_finish(&out);
	hbm_arena_fini(&scratch);
	return status == HBM_OK ? flushed : status;
}

hbm_status hbm_planned_emit(hbm_context *cx, const hbm_planned *p, const char *emitter,
                            hbm_file_fn file, void *user)
{
	const hbm_emitter *e = hbm_emitter_find(emitter);
	hbm_arena scratch;
	hbm_status status;

	if (!e)
		return hbm_fail(&cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "unknown emitter '%s'", emitter);
	hbm_arena_init(&scratch, &cx->mem);
	status = e->emit(&scratch, &p->plan, &cx->diags, file, user);
	hbm_arena_fini(&scratch);
	return status;
}

bool hbm_emitter_nth(uint32_t i, const char **ret_name, const char **ret_summary)
{
	uint32_t n = 0;

	while (hbm_emitter_table[n])
		n++;
	if (i >= n)
		return false;
	*ret_name = hbm_emitter_table[i]->name;
	*ret_summary = hbm_emitter_table[i]->summary;
	return true;
}

bool hbm_report_nth(uint32_t i, const char **ret_name, const char **ret_summary)
{
	for (uint32_t k = 0; hbm_reporter_table[k]; k++) {
		if (k < i)
			continue;
		*ret_name = hbm_reporter_table[k]->name;
		*ret_summary = hbm_reporter_table[k]->summary;
		return true;
	}
	return false;
}

bool hbm_pass_nth(uint32_t i, const char **ret_name, const char **ret_summary)
{
	for (uint32_t k = 0; hbm_pass_table[k]; k++) {
		if (k < i)
			continue;
		*ret_name = hbm_pass_table[k]->name;
		*ret_summary = hbm_pass_table[k]->summary;
		return true;
	}
	return false;
}
