/* SPDX-License-Identifier: Apache-2.0
 * fit: does it fit, and on which target?
 *
 * Every program is planned for every target, and every plan is checked. Programs that
 * share a core are loaded together and run one at a time: what each of them holds for
 * good is added, and of the intermediates the largest counts (the runtime gives all
 * programs of a core one scratchpad in HBM). */
#include "api/fit.h"
#include "base/ckd.h"
#include "verify/verify.h"

#include <string.h>

/* ---- one plan ------------------------------------------------------------- */

static const char *first_error(const hbm_diags *d)
{
	for (uint32_t i = 0; i < d->list.n; i++)
		if (d->list.items[i].severity == HBM_SEV_ERROR)
			return d->list.items[i].text;
	return "planning failed";
}

hbm_status fit_plan_one(const fit_case *c, hbm_arena *a, hbm_diags *d, uint32_t input,
                        const hbm_plan_opts *opts, fit_change change, const void *how,
                        fit_plan *ret)
{
	hbm_arena scratch;
	hbm_status status;

	HBM_TRY(hbm_program_copy(&c->inputs[input]->data.program, a, &ret->prog));
	if (change && !change(&ret->prog, how))
		return HBM_UNSUPPORTED;
	HBM_TRY(hbm_run_passes(a, &ret->prog, &c->row->target, opts, d, &ret->plan));
	hbm_arena_init(&scratch, &c->cx->mem);
	status = hbm_verify(&scratch, &ret->prog, &c->row->target, &ret->plan,
	                    &c->cx->diags); /* a fault of ours: the user should see it */
	hbm_arena_fini(&scratch);
	return status;
}

static void add(uint64_t *sum, uint64_t bytes)
{
	*sum = hbm_add_sat(*sum, bytes);
}

void fit_sum(const fit_plan *plans, uint32_t n, hbm_totals *ret)
{
	hbm_totals sum = {0};
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		const hbm_totals *t = &plans[i].plan.totals;
		uint64_t own = hbm_add_sat(t->standalone, t->pools);
		add(&sum.inputs, t->inputs);
		add(&sum.outputs, t->outputs);
		add(&sum.weights, t->weights);
		add(&sum.state, t->state);
		add(&sum.descriptors, t->descriptors);
		add(&sum.code, t->code);
		most = own > most ? own : most;
		sum.resident = t->resident; /* the same for all */
		sum.at_least |= t->at_least;
	}
	sum.standalone = most;
	add(&sum.total, sum.inputs);
	add(&sum.total, sum.outputs);
	add(&sum.total, sum.weights);
	add(&sum.total, sum.state);
	add(&sum.total, sum.descriptors);
	add(&sum.total, sum.code);
	add(&sum.total, sum.standalone);
	add(&sum.total, sum.resident);
	*ret = sum;
}

/* ---- one target ----------------------------------------------------------- */

static void set_row(fit_row *row, const hbm_totals *t)
{
	hbm_fit_row *r = &row->pub;
	uint64_t window = hbm_target_num(&row->target, HBM_KEY_HBM_WINDOW, HBM_NO_OFFSET);

	r->window = window;
	r->total = t->total;
	r->fits = t->total <= window;
	r->within_margin = !r->fits && window != HBM_NO_OFFSET &&
	                   t->total <= window + window / 10;
	r->at_least = t->at_least;
	r->inputs = t->inputs;
	r->outputs = t->outputs;
	r->weights = t->weights;
	r->state = t->state;
	r->intermediates = t->standalone;
	r->descriptors = t->descriptors;
	r->resident = t->resident;
}

static hbm_status plan_all(fit_case *c, hbm_arena *a)
{
	hbm_totals t;
	hbm_diags d;

	hbm_diags_init(&d, a);
	HBM_NEED(c->plans = HBM_ZARRAY(a, fit_plan, c->n));
	for (uint32_t i = 0; i < c->n; i++) {
		hbm_status s = fit_plan_one(c, a, &d, i, c->opts, NULL, NULL, &c->plans[i]);
		const char *why = first_error(&d);
		if (s == HBM_NOMEM || s == HBM_VERIFY || s == HBM_CONTRACT)
			return s;
		if (s == HBM_OK)
			continue;
		c->row->pub.why_not = hbm_arena_strndup(&c->f->arena, why, strlen(why));
		return c->row->pub.why_not ? HBM_OK : HBM_NOMEM;
	}
	fit_sum(c->plans, c->n, &t);
	set_row(c->row, &t);
	return HBM_OK;
}

static hbm_status fill_row(fit_case *c, bool remedies)
{
	hbm_arena a;
	hbm_status status;

	if (c->row->target.refused) {
		c->row->pub.why_not = c->row->target.refused;
		return HBM_OK;
	}
	hbm_arena_init(&a, &c->cx->mem);
	status = plan_all(c, &a);
	if (status == HBM_OK && remedies && !c->row->pub.why_not && !c->row->pub.fits)
		status = fit_remedies(c);
	hbm_arena_fini(&a);
	c->row->pub.n_remedies = c->row->remedies.n;
	return status;
}

/* ---- all targets ---------------------------------------------------------- */

/* Of the built-in targets those that are devices. */
static bool is_device(const hbm_target *t)
{
	const char *family = hbm_target_text(t, HBM_KEY_FAMILY);

	return family && strcmp(family, "generic") != 0;
}

/* A device that is known by name only has a row, too. */
static hbm_status load(hbm_context *cx, hbm_fitting *f, const char *name,
                       hbm_target *ret)
{
	const char *text = hbm_target_builtin(name);

	if (text)
		return hbm_target_parse(&f->arena, &cx->diags, name, text, strlen(text), ret);
	return hbm_target_load(&f->arena, &cx->diags, name, ret);
}

static hbm_status add_row(hbm_context *cx, hbm_fitting *f, const char *name)
{
	fit_row row = {.pub = {0}};

	HBM_TRY(load(cx, f, name, &row.target));
	if (!f->named && !is_device(&row.target))
		return HBM_OK;
	row.pub.target = row.target.name;
	HBM_NEED(HBM_PUSH(&f->arena, &f->rows, row));
	return HBM_OK;
}

static hbm_status add_rows(hbm_context *cx, hbm_fitting *f, const hbm_fit_opts *opts)
{
	uint32_t n;
	const char *const *names = hbm_target_names(&n);

	f->named = opts->n_targets > 0;
	if (f->named) {
		names = opts->targets;
		n = opts->n_targets;
	}
	for (uint32_t i = 0; i < n; i++)
		HBM_TRY(add_row(cx, f, names[i]));
	return HBM_OK;
}

/* Copies into the arena; NULL stays NULL. */
static hbm_status keep(hbm_fitting *f, const char *s, const char **ret)
{
	*ret = s ? hbm_arena_strndup(&f->arena, s, strlen(s)) : NULL;
	return s && !*ret ? HBM_NOMEM : HBM_OK;
}

static hbm_status name_inputs(hbm_fitting *f, const hbm_input *const *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const hbm_program *p = &in[i]->data.program;
		const char *name = p->file ? p->file : p->name ? hbm_str_of(p, p->name) : "";
		const char *order = p->order ? hbm_str_of(p, p->order) : NULL;
		HBM_TRY(keep(f, name, &name));
		HBM_TRY(keep(f, order, &order));
		HBM_NEED(HBM_PUSH(&f->arena, &f->names, name));
		HBM_NEED(HBM_PUSH(&f->arena, &f->orders, order));
	}
	return HBM_OK;
}

static hbm_status make(hbm_context *cx, const hbm_input *const *inputs, uint32_t n,
                       const hbm_fit_opts *opts, hbm_fitting *f)
{
	hbm_plan_opts defaults;
	fit_case c = {.cx = cx, .f = f, .inputs = inputs, .n = n, .batch = opts->batch};

	hbm_plan_defaults(&defaults);
	c.opts = opts->plan ? opts->plan : &defaults;
	f->off = c.opts->budget_off;
	f->tried = !opts->no_remedies;
	for (uint32_t i = 0; i < n; i++)
		if (inputs[i]->data.is_problem)
			return hbm_fail(&cx->diags, HBM_USAGE, HBM_E_OPTION, HBM_NOWHERE,
			                "fit takes programs, not bare packing problems");
	HBM_TRY(name_inputs(f, inputs, n));
	HBM_TRY(add_rows(cx, f, opts));
	for (uint32_t i = 0; i < f->rows.n; i++) {
		c.row = &f->rows.items[i];
		HBM_TRY(fill_row(&c, !opts->no_remedies));
	}
	return HBM_OK;
}

/* ---- the public functions -------------------------------------------------- */

hbm_status hbm_fitting_make(hbm_context *cx, const hbm_input *const *inputs,
                            uint32_t n_inputs, const hbm_fit_opts *opts,
                            hbm_fitting **ret)
{
	static const hbm_fit_opts none;
	hbm_fitting *f = hbm_handle_new(cx, sizeof *f);
	hbm_status status;

	HBM_NEED(f);
	hbm_arena_init(&f->arena, &cx->mem);
	status = make(cx, inputs, n_inputs, opts ? opts : &none, f);
	if (status == HBM_OK)
		*ret = f;
	else
		hbm_fitting_free(f);
	return status;
}

void hbm_fitting_free(hbm_fitting *f)
{
	hbm_mem mem;

	if (!f)
		return;
	mem = f->arena.mem;
	hbm_arena_fini(&f->arena);
	hbm_handle_free(&mem, f, sizeof *f);
}

bool hbm_fitting_fits(const hbm_fitting *f)
{
	for (uint32_t i = 0; i < f->rows.n; i++) {
		const hbm_fit_row *r = &f->rows.items[i].pub;
		if (r->why_not ? f->named : !r->fits)
			return false;
	}
	return true;
}

uint32_t hbm_fitting_n_rows(const hbm_fitting *f)
{
	return f->rows.n;
}

hbm_fit_row hbm_fitting_row(const hbm_fitting *f, uint32_t i)
{
	return f->rows.items[i].pub;
}

hbm_fit_remedy hbm_fitting_remedy(const hbm_fitting *f, uint32_t i, uint32_t k)
{
	const fit_remedy *r = &f->rows.items[i].remedies.items[k];

	return (hbm_fit_remedy){r->change, r->total, r->fits};
}
