/* SPDX-License-Identifier: Apache-2.0 */
/* HBM usage of a program on one core: categories, regions, splits, phases. */
#include "report/usage.h"

#include "plan/json.h"
#include "report/reporter.h"

#include <inttypes.h>

static void line(hbm_out *o, const char *name, uint64_t bytes)
{
	hbm_putf(o, "  %-30s ", name);
	hbm_put_bytes(o, bytes);
	hbm_putc(o, '\n');
}

static void summary(const hbm_plan *plan, hbm_out *o)
{
	const hbm_usage *u = &plan->usage;

	hbm_puts(o, "\nHBM scratchpad usage summary (post-allocation)\n");
	line(o, "model: weights, constants", u->model_bytes);
	line(o, "tensors: intermediates", u->hbm_intermediate);
	line(o, "inputs, outputs, state", u->io_bytes);
	hbm_putf(o, "  %-30s ", "descriptors of DMA rings");
	hbm_put_bytes(o, u->descriptor_bytes);
	hbm_putf(o, " (%" PRIu64 " descriptors)\n", u->n_descriptors);
	if (plan->totals.resident)
		line(o, "held by other programs", plan->totals.resident);
	line(o, "total estimated usage", u->hbm_usage);
	if (u->hbm_limit != HBM_NO_OFFSET)
		line(o, "HBM size of a core", u->hbm_size);
	line(o, "end address", u->end_address);
}

static void regions(const hbm_plan *plan, hbm_out *o)
{
	char extent[HBM_SIZE_TEXT], bound[HBM_SIZE_TEXT], all[HBM_SIZE_TEXT];

	if (plan->regions.n)
		hbm_puts(o, "\n  region        stored      extent lower bound    no reuse\n");
	for (uint32_t i = 0; i < plan->regions.n; i++) {
		const hbm_plan_region *r = &plan->regions.items[i];
		const char *class = r->class ? hbm_str_of(plan->prog, r->class) : "private";
		hbm_putf(o, "  %-12s %7" PRIu32 " %11s %11s %11s  %s%s\n", class, r->n_placed,
		         hbm_size_text(extent, r->extent), hbm_size_text(bound, r->lower_bound),
		         hbm_size_text(all, r->no_reuse), r->allocator,
		         r->extent == r->lower_bound ? ", optimal (lower bound met)" : "");
	}
	for (uint32_t i = 0; i < plan->scratch.n; i++) {
		const hbm_plan_scratch *s = &plan->scratch.items[i];
		hbm_putf(o, "  compiler scratch of %s: ", hbm_op_name(plan->prog, s->op));
		hbm_put_bytes(o, s->size);
		hbm_putc(o, '\n');
	}
}

static void splits(const hbm_plan *plan, hbm_out *o)
{
	for (uint32_t i = 0; i < plan->splits.n; i++) {
		const hbm_plan_split *s = &plan->splits.items[i];
		hbm_putf(o, "%s  %s, ", i ? "" : "\n", hbm_str_of(plan->prog, s->name));
		hbm_put_bytes(o, s->size);
		if (s->refused)
			hbm_putf(o, ": not split, %s\n", hbm_unsplit_text(s->refused));
		else
			hbm_putf(o, ": split along dimension %" PRIu32 " into %" PRIu32
			         " parts of %" PRIu64 "\n", s->dim, s->parts.n, s->block);
	}
}

static void phases(const hbm_plan *plan, hbm_out *o)
{
	for (uint32_t i = 0; i < plan->phases.n; i++) {
		const hbm_plan_phase *p = &plan->phases.items[i];
		const char *name = hbm_str_of(plan->prog, plan->prog->nodes.items[p->node].name);
		hbm_putf(o, "%s  phase %s: ", i ? "" : "\n", name);
		hbm_put_bytes(o, p->peak);
		hbm_puts(o, " with weights released after their last use\n");
	}
}

void hbm_report_usage(const hbm_plan *plan, hbm_out *o)
{
	if (plan->usage.made)
		summary(plan, o);
	regions(plan, o);
	splits(plan, o);
	phases(plan, o);
}

/* ---- metrics -------------------------------------------------------------- */

static hbm_status write(hbm_arena *scratch, const hbm_plan *plan, hbm_out *o)
{
	hbm_json j;

	(void)scratch;
	hbm_json_init(&j, o);
	hbm_json_open(&j, '{', false);
	if (plan->usage.made)
		hbm_plan_json_metrics(plan, &j);
	hbm_json_close(&j);
	return HBM_OK;
}

const hbm_reporter hbm_reporter_usage = {
	.name = "metrics",
	.summary = "HBM metrics of a Neuron plan as JSON, under the compiler's keys",
	.write = write,
};
