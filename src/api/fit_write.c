/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `fit` for a person and for a tool. */
#include "api/fit.h"
#include "base/out.h"

#include <inttypes.h>
#include <string.h>

/* ---- text ----------------------------------------------------------------- */

static void cell(hbm_out *o, uint64_t bytes)
{
	char size[HBM_SIZE_TEXT];
	const char *s = bytes ? hbm_size_text(size, bytes) : "-";

	hbm_pad(o, strlen(s) < 12 ? 12 - (uint32_t)strlen(s) : 0);
	hbm_puts(o, s);
}

static void row_text(hbm_out *o, const hbm_fit_row *r, bool off)
{
	hbm_putf(o, "%-9s ", r->target);
	if (r->why_not) {
		hbm_putf(o, "no plan: %s\n", r->why_not);
		return;
	}
	hbm_putf(o, "%-4s", r->fits ? "yes" : "NO");
	cell(o, r->window);
	cell(o, r->total);
	cell(o, r->inputs);
	cell(o, r->outputs);
	cell(o, r->weights);
	cell(o, r->state);
	cell(o, r->intermediates);
	cell(o, r->descriptors);
	cell(o, r->resident);
	hbm_puts(o, r->fits ? "  headroom " : "  excess ");
	hbm_put_bytes(o, r->fits ? r->window - r->total : r->total - r->window);
	if (r->within_margin)
		hbm_puts(o, ", within the 10 percent margin");
	if (r->at_least)
		hbm_puts(o, ", at least: some sizes are not known");
	if (off)
		hbm_puts(o, "; the check is switched off");
	hbm_putc(o, '\n');
}

static void remedies_text(hbm_out *o, const fit_row *row)
{
	hbm_putf(o, "\nwhat would help on %s, one change at a time:\n", row->pub.target);
	if (!row->remedies.n)
		hbm_puts(o, "  nothing that was tried\n");
	for (uint32_t i = 0; i < row->remedies.n; i++) {
		const fit_remedy *r = &row->remedies.items[i];
		hbm_putf(o, "  %2" PRIu32 ". %s: ", i + 1, r->change);
		hbm_put_bytes(o, r->total);
		hbm_puts(o, r->fits ? ", fits\n" : ", still too much\n");
	}
}

static void text(hbm_out *o, const hbm_fitting *f)
{
	static const char *const heads[] = {"window", "total", "inputs", "outputs", "weights",
	                                    "state", "intermed.", "DMA rings", "resident"};

	for (uint32_t i = 0; i < f->names.n; i++)
		hbm_putf(o, "%s%s", i ? ", " : "", f->names.items[i]);
	hbm_puts(o, f->names.n > 1 ? ": together on one core; the largest of their "
	                             "intermediates counts\n" : "\n");
	for (uint32_t i = 0; i < f->names.n; i++)
		if (f->orders.items[i])
			hbm_putf(o, "%s: %s\n", f->names.items[i], f->orders.items[i]);
	hbm_putc(o, '\n');
	hbm_putf(o, "%-9s %-4s", "target", "fits");
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		hbm_pad(o, 12 - (uint32_t)strlen(heads[i]));
		hbm_puts(o, heads[i]);
	}
	hbm_putc(o, '\n');
	for (uint32_t i = 0; i < f->rows.n; i++)
		row_text(o, &f->rows.items[i].pub, f->off);
	for (uint32_t i = 0; i < f->rows.n; i++)
		if (f->tried && !f->rows.items[i].pub.why_not && !f->rows.items[i].pub.fits)
			remedies_text(o, &f->rows.items[i]);
}

/* ---- JSON ----------------------------------------------------------------- */

static void row_json(hbm_json *j, const fit_row *row)
{
	const hbm_fit_row *r = &row->pub;

	hbm_json_open(j, '{', false);
	hbm_json_kstr(j, "target", r->target);
	if (r->why_not) {
		hbm_json_kstr(j, "no_plan", r->why_not);
		hbm_json_close(j);
		return;
	}
	hbm_json_kbool(j, "fits", r->fits);
	hbm_json_kbool(j, "within_margin", r->within_margin);
	hbm_json_kbool(j, "at_least", r->at_least);
	hbm_json_kuint(j, "window_bytes", r->window);
	hbm_json_kuint(j, "total_bytes", r->total);
	hbm_json_kuint(j, r->fits ? "headroom_bytes" : "excess_bytes",
	               r->fits ? r->window - r->total : r->total - r->window);
	hbm_json_kuint(j, "inputs_bytes", r->inputs);
	hbm_json_kuint(j, "outputs_bytes", r->outputs);
	hbm_json_kuint(j, "weights_bytes", r->weights);
	hbm_json_kuint(j, "state_bytes", r->state);
	hbm_json_kuint(j, "intermediates_bytes", r->intermediates);
	hbm_json_kuint(j, "descriptors_bytes", r->descriptors);
	hbm_json_kuint(j, "resident_bytes", r->resident);
	hbm_json_key(j, "remedies");
	hbm_json_open(j, '[', false);
	for (uint32_t i = 0; i < row->remedies.n; i++) {
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "change", row->remedies.items[i].change);
		hbm_json_kuint(j, "total_bytes", row->remedies.items[i].total);
		hbm_json_kbool(j, "fits", row->remedies.items[i].fits);
		hbm_json_close(j);
	}
	hbm_json_close(j);
	hbm_json_close(j);
}

static void json(hbm_out *o, const hbm_fitting *f)
{
	hbm_json j;

	hbm_json_init(&j, o);
	hbm_json_open(&j, '{', false);
	hbm_json_kbool(&j, "fits", hbm_fitting_fits(f));
	hbm_json_kbool(&j, "checked", !f->off);
	hbm_json_key(&j, "programs");
	hbm_json_open(&j, '[', true);
	for (uint32_t i = 0; i < f->names.n; i++)
		hbm_json_str(&j, f->names.items[i]);
	hbm_json_close(&j);
	hbm_json_key(&j, "orders");
	hbm_json_open(&j, '[', true);
	for (uint32_t i = 0; i < f->orders.n; i++)
		if (f->orders.items[i])
			hbm_json_str(&j, f->orders.items[i]);
		else
			hbm_json_null(&j);
	hbm_json_close(&j);
	hbm_json_key(&j, "targets");
	hbm_json_open(&j, '[', false);
	for (uint32_t i = 0; i < f->rows.n; i++)
		row_json(&j, &f->rows.items[i]);
	hbm_json_close(&j);
	hbm_json_close(&j);
}

hbm_status hbm_fitting_write(hbm_context *cx, const hbm_fitting *f, const char *format,
                             hbm_write_fn write, void *user)
{
	bool is_json = !strcmp(format, "json");
	hbm_out out;

	if (!is_json && strcmp(format, "text") != 0)
		return hbm_fail(&cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "fit is written as text or json, not '%s'", format);
	hbm_out_init(&out, write, user);
	if (is_json)
		json(&out, f);
	else
		text(&out, f);
	return hbm_out_finish(&out);
}
