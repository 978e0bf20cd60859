/* SPDX-License-Identifier: Apache-2.0
 * text: the plan for a person, on one screen: does it fit, how much of what, which
 * bundles have pools, what is live at the peak, what fell back and why. */
#include "base/ckd.h"
#include "base/sort.h"
#include "report/reporter.h"
#include "report/usage.h"

#include <inttypes.h>
#include <string.h>

enum { TOP = 10, TOP_POOLS = 8 };

typedef struct report {
	hbm_arena *scratch;
	const hbm_plan *plan;
	hbm_out *o;
} report;

static const char *str(const report *r, hbm_sym s)
{
	return hbm_str_of(r->plan->prog, s);
}

/* The report is the same wherever the file lies. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void headline(const report *r)
{
	const hbm_plan *p = r->plan;
	const char *file = p->prog->file ? base_name(p->prog->file) : "program";

	hbm_putf(r->o, "%s on %s: %" PRIu32 " tensors in %" PRIu32 " storages, %" PRIu32
	         " ops\n", p->prog->name ? str(r, p->prog->name) : file, p->target->name,
	         p->prog->tensors.n, p->storages.n, p->prog->ops.n);
	if (p->prog->order)
		hbm_putf(r->o, "order: %s\n", str(r, p->prog->order));
	hbm_puts(r->o, "figures: after placement, before code generation; plan: ");
	hbm_puts(r->o, p->verified ? "legal, checked\n\n" : "not checked\n\n");
}

static void verdict(const report *r)
{
	const hbm_budget *b = &r->plan->budget;
	uint64_t total = r->plan->totals.total;
	const char *least = r->plan->totals.at_least ? "at least " : "";

	if (b->limit == HBM_NO_OFFSET) {
		hbm_putf(r->o, "HBM: %s", least);
		hbm_put_bytes(r->o, total);
		hbm_puts(r->o, "; the target states no limit\n");
		return;
	}
	hbm_putf(r->o, "%s: %s", b->fits ? "FITS" : "OVER BUDGET", least);
	hbm_put_bytes(r->o, total);
	hbm_puts(r->o, " of ");
	hbm_put_bytes(r->o, b->limit);
	hbm_puts(r->o, b->fits ? ", headroom " : ", excess ");
	hbm_put_bytes(r->o, b->fits ? b->limit - total : total - b->limit);
	hbm_puts(r->o, b->within_margin ? ", within the 10 percent margin" : "");
	hbm_puts(r->o, b->checked ? "\n" : "; the check is switched off\n");
}

static void category(const report *r, const char *name, uint64_t bytes,
                     const char *note)
{
	if (!bytes)
		return;
	hbm_putf(r->o, "  %-24s ", name);
	hbm_put_bytes(r->o, bytes);
	hbm_putf(r->o, "%s\n", note);
}

/* Part of a whole in hundredths of a percent. */
static uint64_t hundredths(uint64_t part, uint64_t whole)
{
	return part < UINT64_MAX / 10000 ? part * 10000 / whole : part / (whole / 10000);
}

/* What the scratchpad is worth, and how much more it could be at most. */
static void scratchpad(const report *r)
{
	const hbm_plan_lx *lx = &r->plan->lx;

	if (!lx->solver || !lx->bound)
		return;
	hbm_puts(r->o, "saved by scratchpad: ");
	hbm_put_bytes(r->o, lx->saved);
	hbm_putf(r->o, ", %" PRIu32 " stored, %s, ", lx->n_placed, lx->solver);
	if (lx->optimal) {
		hbm_puts(r->o, "optimal");
	} else {
		uint64_t gap = hundredths(lx->bound - lx->saved, lx->bound);
		hbm_putf(r->o, "at most %" PRIu64 ".%02" PRIu64 " %% below the optimum",
		         gap / 100, gap % 100);
	}
	if (lx->n_demoted)
		hbm_putf(r->o, "; %" PRIu32 " left again for kernels that could not be "
		         "made", lx->n_demoted);
	hbm_putc(r->o, '\n');
}

static void categories(const report *r)
{
	const hbm_totals *t = &r->plan->totals;
	bool program = r->plan->pool_lifetime_program;

	category(r, "inputs", t->inputs, "");
	category(r, "outputs", t->outputs, "");
	category(r, "weights", t->weights, "");
	category(r, "state", t->state, "");
	category(r, "standalone intermediates", t->standalone,
	         r->plan->placed_dram ? "  (after reuse)" : "");
	category(r, "pools", t->pools, program
	         ? "  (all: each pool is kept until the program ends)"
	         : "  (the largest: a pool ends with its bundle)");
	category(r, "DMA descriptors", t->descriptors, "");
	category(r, "resident, other programs", t->resident, "");
	if (r->plan->lx_peak)
		category(r, "scratchpad per core", r->plan->lx_peak, "  (LX, not HBM)");
	hbm_puts(r->o, "  code size: not provided\n");
	if (r->plan->traffic) {
		hbm_puts(r->o, "HBM bytes moved: ");
		hbm_put_bytes(r->o, r->plan->traffic);
		hbm_putc(r->o, '\n');
	}
	scratchpad(r);
}

static int by_extent(const void *cx, uint32_t a, uint32_t b)
{
	const hbm_plan *p = cx;
	uint64_t x = p->pools.items[a].extent, y = p->pools.items[b].extent;

	return x > y ? -1 : x < y;
}

static void pool_row(const report *r, const hbm_plan_pool *pool)
{
	char e[HBM_SIZE_TEXT], l[HBM_SIZE_TEXT], b[HBM_SIZE_TEXT], s[HBM_SIZE_TEXT];

	hbm_putf(r->o, "  %-20s %6" PRIu32 " %11s %11s %11s %11s  %s", str(r, pool->name),
	         pool->n_placed, hbm_size_text(e, pool->extent),
	         hbm_size_text(l, pool->lower_bound), hbm_size_text(b, pool->bump),
	         hbm_size_text(s, pool->no_reuse), pool->allocator);
	if (pool->extent == pool->lower_bound)
		hbm_puts(r->o, ", optimal (lower bound met)");
	if (pool->n_overflow)
		hbm_putf(r->o, ", %" PRIu32 " did not fit", pool->n_overflow);
	hbm_putc(r->o, '\n');
}

static hbm_status pools(const report *r)
{
	const hbm_plan *p = r->plan;
	uint32_t n = p->pools.n, shown = n < TOP_POOLS ? n : TOP_POOLS;
	uint32_t *ids = HBM_ARRAY(r->scratch, uint32_t, n);
	uint64_t rest = 0;

	HBM_NEED(ids);
	if (!n) {
		hbm_puts(r->o, "\nno bundle has a pool\n");
		return HBM_OK;
	}
	for (uint32_t i = 0; i < n; i++)
		ids[i] = i;
	HBM_NEED(hbm_merge_sort(r->scratch, ids, n, by_extent, p));
	hbm_putf(r->o, "\n  %-20s %6s %11s %11s %11s %11s\n", "pool of bundle", "stored",
	         "extent", "lower bound", "bump", "no reuse");
	for (uint32_t i = 0; i < n; i++)
		if (i < shown)
			pool_row(r, &p->pools.items[ids[i]]);
		else
			rest = hbm_add_sat(rest, p->pools.items[ids[i]].extent);
	if (shown < n) {
		hbm_putf(r->o, "  ... %" PRIu32 " smaller pools, ", n - shown);
		hbm_put_bytes(r->o, rest);
		hbm_puts(r->o, " in all\n");
	}
	return HBM_OK;
}

static void put_source(const report *r, const hbm_plan_storage *s)
{
	const hbm_program *p = r->plan->prog;
	const hbm_tensor *x = &p->tensors.items[s->root];
	hbm_sym src = x->src ? x->src : s->start < p->ops.n ? p->ops.items[s->start].src : 0;

	if (src)
		hbm_putf(r->o, "  %s", str(r, src));
	else if (x->line && p->file)
		hbm_putf(r->o, "  %s:%" PRIu32, base_name(p->file), x->line);
}

static void put_home(const report *r, const hbm_plan_storage *s)
{
	hbm_puts(r->o, hbm_home_text(s->home.kind));
	if (s->home.kind == HBM_HOME_POOL)
		hbm_putf(r->o, "(%s)", str(r, r->plan->prog->nodes.items[s->home.bundle].name));
	if (s->home.offset != HBM_NO_OFFSET)
		hbm_putf(r->o, "+%" PRIu64, s->home.offset);
}

static void peak_row(const report *r, uint32_t rank, const hbm_plan_storage *s)
{
	char size[HBM_SIZE_TEXT];

	hbm_putf(r->o, "  %2" PRIu32 ". %11s  %s  live [%" PRIu32 ",%" PRIu32 ")  ", rank,
	         hbm_size_text(size, s->reserve), str(r, s->name), s->start, s->end);
	put_home(r, s);
	put_source(r, s);
	hbm_putc(r->o, '\n');
}

static void peak(const report *r)
{
	const hbm_plan *p = r->plan;
	uint32_t ids[TOP], n, live = hbm_plan_peak(p, ids, TOP, &n);

	if (!p->peak)
		return;
	hbm_putf(r->o, "\nintermediates live at the peak: tick %" PRIu32 ", op %s: ",
	         p->peak_tick, hbm_op_name(p->prog, p->peak_tick));
	hbm_put_bytes(r->o, p->peak);
	hbm_putc(r->o, '\n');
	for (uint32_t i = 0; i < n; i++)
		peak_row(r, i + 1, &p->storages.items[ids[i]]);
	if (live > n)
		hbm_putf(r->o, "  ... %" PRIu32 " more\n", live - n);
}

/* What went to standalone HBM, by the pool's reason. */
static void fell_back(const report *r)
{
	const hbm_plan *p = r->plan;
	uint64_t bytes[HBM_N_REASONS] = {0};
	uint32_t count[HBM_N_REASONS] = {0};
	bool any = false;

	for (uint32_t i = 0; i < p->storages.n; i++) {
		const hbm_plan_storage *s = &p->storages.items[i];
		if (s->home.kind != HBM_HOME_HBM)
			continue;
		for (uint32_t k = 0; k < s->reasons.n; k++) {
			const hbm_reason *why = &p->reasons.items[s->reasons.first + k];
			if (why->tier != HBM_HOME_POOL)
				continue;
			bytes[why->id] = hbm_add_sat(bytes[why->id], s->reserve);
			count[why->id]++;
			any = true;
		}
	}
	if (any)
		hbm_puts(r->o, "\nintermediates in standalone HBM, by why no pool took them\n");
	for (uint32_t id = 0; id < HBM_N_REASONS; id++) {
		if (!count[id])
			continue;
		hbm_putf(r->o, "  %6" PRIu32 "  %-28s ", count[id], hbm_reason_text(id));
		hbm_put_bytes(r->o, bytes[id]);
		hbm_putc(r->o, '\n');
	}
}

static bool passes_through(const hbm_plan_storage *s)
{
	return (s->flags & HBM_T_IO) == HBM_T_IO && !(s->flags & HBM_T_DONATED);
}

/* Outputs that nobody writes, being inputs. */
static void pass_through(const report *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->plan->storages.n; i++) {
		const hbm_plan_storage *s = &r->plan->storages.items[i];
		if (!passes_through(s) || n++ >= TOP)
			continue;
		hbm_putf(r->o, "%s%s", n == 1 ? "\noutputs that are inputs (pass-through; they "
		         "need a copy or a declared alias): " : ", ", str(r, s->name));
	}
	if (n > TOP)
		hbm_putf(r->o, ", and %" PRIu32 " more", n - TOP);
	hbm_puts(r->o, n ? "\n" : "");
}

static hbm_status write(hbm_arena *scratch, const hbm_plan *plan, hbm_out *o)
{
	report r = {scratch, plan, o};

	headline(&r);
	verdict(&r);
	categories(&r);
	HBM_TRY(pools(&r));
	peak(&r);
	fell_back(&r);
	hbm_report_usage(plan, o);
	pass_through(&r);
	return HBM_OK;
}

const hbm_reporter hbm_reporter_text = {
	.name = "text",
	.summary = "one screen for a person",
	.write = write,
};
