/* SPDX-License-Identifier: Apache-2.0
 * fit_remedy: which single change would help, and how much.
 *
 * Tried     donate   all inputs: an op may write its result over one that dies there,
 *                    and an output may stand in one that ended before it begins
 *           reorder  pass reorder before the others
 *           split    a lower split threshold, where fragmentation is the matter
 *           serial   parallel groups one after the other
 *           batch    a smaller batch, where the batch is known: the largest that fits
 *           shard    the caller's large tensors over 2, 4, ... 64 cores (tensor
 *                    parallel): the least that fits; intermediates count whole
 * Each is planned and checked anew, but for shard, whose effect on the caller's bytes is
 * plain arithmetic, as is that of outputs in ended inputs. What changes nothing is not
 * listed.
 * Order      What makes it fit first, by the effort it takes; the rest by the total. */
#include "api/fit.h"
#include "base/ckd.h"
#include "base/out.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DONATE, REORDER, SERIAL, SPLIT, BATCH, SHARD };
enum { MAX_CORES = 64 };
#define LARGE ((uint64_t)1 << 20)

static hbm_status add(fit_case *c, uint32_t kind, uint64_t total, const char *fmt, ...)
	HBM_PRINTF(4, 5);

static hbm_status add(fit_case *c, uint32_t kind, uint64_t total, const char *fmt, ...)
{
	fit_remedy r = {.kind = kind, .total = total, .fits = total <= c->row->pub.window};
	char text[512];
	va_list ap;

	if (total >= c->row->pub.total)
		return HBM_OK;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	HBM_NEED(r.change = hbm_arena_strndup(&c->f->arena, text, strlen(text)));
	HBM_NEED(HBM_PUSH(&c->f->arena, &c->row->remedies, r));
	return HBM_OK;
}

/* ---- planning anew -------------------------------------------------------- */

/* Total with changed options and programs. *ret_any: some program was changed;
 * without it the rest says nothing. A change that cannot be planned counts as none. */
static hbm_status total_with(fit_case *c, const hbm_plan_opts *opts, fit_change change,
                             const void *how, uint64_t *ret, bool *ret_any)
{
	hbm_arena a;
	hbm_diags d;
	hbm_totals t;
	hbm_status status = HBM_OK;
	fit_plan *plans;

	*ret_any = !change;
	*ret = UINT64_MAX;
	hbm_arena_init(&a, &c->cx->mem);
	hbm_diags_init(&d, &a);
	plans = HBM_ZARRAY(&a, fit_plan, c->n);
	for (uint32_t i = 0; plans && i < c->n && status == HBM_OK; i++) {
		status = fit_plan_one(c, &a, &d, i, opts, change, how, &plans[i]);
		if (status == HBM_OK)
			*ret_any = true;
		else if (status == HBM_UNSUPPORTED && change) /* nothing to change here */
			status = fit_plan_one(c, &a, &d, i, opts, NULL, NULL, &plans[i]);
	}
	if (plans && status == HBM_OK) {
		fit_sum(plans, c->n, &t);
		*ret = t.total;
	}
	hbm_arena_fini(&a);
	if (!plans || status == HBM_NOMEM || status == HBM_VERIFY || status == HBM_CONTRACT)
		return plans ? status : HBM_NOMEM;
	*ret_any &= status == HBM_OK;
	return HBM_OK;
}

/* "reorder," before the target's own passes. */
static hbm_status reorder(fit_case *c)
{
	hbm_plan_opts opts = *c->opts;
	const hbm_target *t = &c->row->target;
	hbm_membuf buf = {.arena = &c->f->arena};
	hbm_out out;
	uint64_t total;
	bool any;

	hbm_out_init(&out, hbm_membuf_write, &buf);
	hbm_puts(&out, "reorder");
	for (uint32_t i = 0; i < t->pipeline.n && !opts.passes; i++)
		hbm_putf(&out, ",%s", t->pipeline.items[i]);
	if (opts.passes)
		hbm_putf(&out, ",%s", opts.passes);
	HBM_TRY(hbm_out_finish(&out));
	opts.passes = hbm_arena_strndup(&c->f->arena, buf.bytes.items, buf.bytes.n);
	HBM_NEED(opts.passes);
	HBM_TRY(total_with(c, &opts, NULL, NULL, &total, &any));
	return any ? add(c, REORDER, total, "run independent ops in another order "
	                 "(--passes %s)", opts.passes) : HBM_OK;
}

static bool serialise(hbm_program *p, const void *how)
{
	bool any = false;

	(void)how;
	for (uint32_t i = 0; i < p->nodes.n; i++)
		if (p->nodes.items[i].kind == HBM_NODE_PARALLEL) {
			p->nodes.items[i].kind = HBM_NODE_REGION;
			any = true;
		}
	return any;
}

static hbm_status serial(fit_case *c)
{
	uint64_t total;
	bool any;

	HBM_TRY(total_with(c, c->opts, serialise, NULL, &total, &any));
	return any ? add(c, SERIAL, total, "run the parallel groups one after the other")
	           : HBM_OK;
}

/* Splitting helps only against holes, so it is tried only where there are some. */
static hbm_status split(fit_case *c)
{
	hbm_plan_opts opts = *c->opts;
	uint64_t largest = 0, total;
	bool holes = false, any;
	char size[HBM_SIZE_TEXT];

	for (uint32_t i = 0; i < c->n; i++) {
		const hbm_plan *p = &c->plans[i].plan;
		for (uint32_t k = 0; k < p->regions.n; k++)
			holes |= p->regions.items[k].extent > p->regions.items[k].lower_bound;
		for (uint32_t k = 0; k < p->storages.n; k++)
			if (p->storages.items[k].home.kind == HBM_HOME_HBM &&
			    p->storages.items[k].size > largest)
				largest = p->storages.items[k].size;
	}
	if (!holes || largest < 4 * LARGE)
		return HBM_OK;
	opts.split_threshold = largest / 4;
	HBM_TRY(total_with(c, &opts, NULL, NULL, &total, &any));
	return any ? add(c, SPLIT, total, "split intermediates above %s "
	                 "(--split-threshold %" PRIu64 ")",
	                 hbm_size_text(size, opts.split_threshold), opts.split_threshold)
	           : HBM_OK;
}

/* ---- batch ---------------------------------------------------------------- */

typedef struct batch {
	uint64_t from, to;
} batch;

static bool is_batch_name(const char *s)
{
	static const char *const names[] = {"batch", "batch_size", "bs", "b", "B", "N"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(s, names[i]))
			return true;
	return false;
}

static bool is_batch_dim(const hbm_program *p, const hbm_dim *d, bool leading,
                         const batch *b)
{
	if (d->unknown || d->value != b->from)
		return false;
	return d->sym ? is_batch_name(hbm_str_of(p, d->sym)) : leading;
}

static bool shrink_batch(hbm_program *p, const void *how)
{
	const batch *b = how;
	bool any = false;

	for (uint32_t t = 0; t < p->tensors.n; t++) {
		hbm_tensor *x = &p->tensors.items[t];
		bool changed = false;
		for (uint32_t i = 0; i < x->dims.n && !(x->flags & HBM_T_WEIGHT); i++) {
			hbm_dim *d = &p->dims.items[x->dims.first + i];
			if (!is_batch_dim(p, d, i == 0, b))
				continue;
			d->value = b->to;
			d->min = d->min < b->to ? d->min : b->to;
			changed = true;
		}
		if (changed && x->flags & HBM_T_SIZED && x->size % b->from == 0)
			x->size = x->size / b->from * b->to;
		else if (changed && !(x->flags & HBM_T_SIZED))
			x->size = 0;
		any |= changed;
	}
	return any;
}

/* The batch that the user named, else the value of a symbol that is called so. */
static uint64_t find_batch(const fit_case *c)
{
	for (uint32_t i = 0; i < c->n && !c->batch; i++) {
		const hbm_program *p = &c->inputs[i]->data.program;
		for (uint32_t k = 0; k < p->dims.n; k++)
			if (p->dims.items[k].sym && !p->dims.items[k].unknown &&
			    is_batch_name(hbm_str_of(p, p->dims.items[k].sym)))
				return p->dims.items[k].value;
	}
	return c->batch;
}

static hbm_status smaller_batch(fit_case *c)
{
	batch b = {.from = find_batch(c)};
	uint64_t total = UINT64_MAX, best = UINT64_MAX;
	bool any = true;

	for (b.to = b.from / 2; b.to && any && total > c->row->pub.window; b.to /= 2) {
		HBM_TRY(total_with(c, c->opts, shrink_batch, &b, &total, &any));
		if (any && (total <= c->row->pub.window || b.to == 1)) {
			best = total;
			return add(c, BATCH, best, "batch %" PRIu64 " instead of %" PRIu64, b.to,
			           b.from);
		}
	}
	return HBM_OK;
}

/* ---- donation ------------------------------------------------------------- */

typedef struct end {
	const hbm_plan_storage *s;
	bool output;
} end;

/* By size, largest first; inputs that end early and outputs that start late first. */
static int by_size_and_time(const void *context, uint32_t a, uint32_t b)
{
	const end *e = context;
	const hbm_plan_storage *x = e[a].s, *y = e[b].s;
	uint32_t tx = e[a].output ? x->start : x->end, ty = e[b].output ? y->start : y->end;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (tx != ty)
		return tx < ty ? -1 : 1;
	return e[a].output != e[b].output ? (e[a].output ? 1 : -1) : (int)(a - b);
}

/* Inputs that were donated here, with the names of the first. */
typedef struct donors {
	const hbm_program *was; /* the program without the change */
	const hbm_plan *plan;   /* with it */
	uint64_t bytes;         /* of outputs that stand in inputs which ended before */
	uint32_t n, n_named;
	const char *named[3];
} donors;

static bool give_inputs(hbm_program *p, const void *how)
{
	bool any = false;

	(void)how;
	for (uint32_t t = 0; t < p->tensors.n; t++) {
		hbm_tensor *x = &p->tensors.items[t];
		if ((x->flags & (HBM_T_CALLER | HBM_T_DONATED)) != HBM_T_INPUT)
			continue;
		x->flags |= HBM_T_DONATED;
		any = true;
	}
	return any;
}

static void note_donor(donors *d, const hbm_plan_storage *s)
{
	if (d->n_named < 3)
		d->named[d->n_named++] = hbm_str_of(d->plan->prog, s->name);
	d->n++;
}

/* The input is one that the change donated. */
static bool is_new_donor(const donors *d, const hbm_plan_storage *s)
{
	return s->flags & HBM_T_INPUT && s->root < d->was->tensors.n &&
	       !(d->was->tensors.items[s->root].flags & (HBM_T_DONATED | HBM_T_OUTPUT));
}

/* Something else stands in the input's bytes after it. */
static bool is_taken(const donors *d, const hbm_plan_storage *s)
{
	for (uint32_t i = s->members.first; i < s->members.first + s->members.n; i++) {
		const hbm_tensor *t =
			&d->plan->prog->tensors.items[d->plan->members.items[i].tensor];
		if (t->base == HBM_NONE && !(t->flags & HBM_T_INPUT))
			return true;
	}
	return false;
}

static uint32_t list_ends(donors *d, end *ends)
{
	const hbm_plan *p = d->plan;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->storages.n; i++) {
		const hbm_plan_storage *s = &p->storages.items[i];
		if (s->flags & HBM_T_HOST || !s->size)
			continue;
		if (is_new_donor(d, s) && is_taken(d, s))
			note_donor(d, s);
		else if (is_new_donor(d, s))
			ends[n++] = (end){s, false};
		else if ((s->flags & HBM_T_CALLER) == HBM_T_OUTPUT)
			ends[n++] = (end){s, true};
	}
	return n;
}

/* What took an input's bytes in place is in the plan; besides, walks the other inputs
 * and outputs of one size in order of time: an output takes an input that has ended. */
static hbm_status find_donors(fit_case *c, donors *d)
{
	hbm_arena a;
	uint32_t n = 0, *ids, *free_ids, n_free = 0;
	end *ends;

	hbm_arena_init(&a, &c->cx->mem);
	ends = HBM_ARRAY(&a, end, d->plan->storages.n);
	ids = HBM_ARRAY(&a, uint32_t, d->plan->storages.n);
	free_ids = HBM_ARRAY(&a, uint32_t, d->plan->storages.n);
	n = ends && ids && free_ids ? list_ends(d, ends) : 0;
	for (uint32_t i = 0; i < n; i++)
		ids[i] = i;
	if (!ends || !ids || !free_ids || !hbm_merge_sort(&a, ids, n, by_size_and_time, ends)) {
		hbm_arena_fini(&a);
		return HBM_NOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		const end *e = &ends[ids[i]];
		if (!i || ends[ids[i - 1]].s->size != e->s->size)
			n_free = 0;
		if (!e->output) {
			free_ids[n_free++] = ids[i];
		} else if (n_free) {
			d->bytes = hbm_add_sat(d->bytes, e->s->reserve);
			note_donor(d, ends[free_ids[--n_free]].s);
		}
	}
	hbm_arena_fini(&a);
	return HBM_OK;
}

static hbm_status add_donors(fit_case *c, const donors *d, uint64_t total)
{
	char names[256] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < d->n_named && n < sizeof names; i++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s'%.60s'",
		                      i ? ", " : "", d->named[i]);
	return add(c, DONATE, total, "donate %" PRIu32 " input%s: %s%s", d->n,
	           d->n == 1 ? "" : "s", names, d->n > d->n_named ? ", ..." : "");
}

static hbm_status donate_in(fit_case *c, hbm_arena *a)
{
	donors d = {.bytes = 0};
	fit_plan *plans = HBM_ZARRAY(a, fit_plan, c->n);
	hbm_totals t;
	hbm_diags dg;

	HBM_NEED(plans);
	hbm_diags_init(&dg, a);
	for (uint32_t i = 0; i < c->n; i++) {
		hbm_status s = fit_plan_one(c, a, &dg, i, c->opts, give_inputs, NULL, &plans[i]);
		if (s == HBM_UNSUPPORTED) /* nothing to give */
			s = fit_plan_one(c, a, &dg, i, c->opts, NULL, NULL, &plans[i]);
		HBM_TRY(s);
		d.was = &c->inputs[i]->data.program;
		d.plan = &plans[i].plan;
		HBM_TRY(find_donors(c, &d));
	}
	fit_sum(plans, c->n, &t);
	return add_donors(c, &d, t.total - d.bytes);
}

static hbm_status donate(fit_case *c)
{
	hbm_arena a;
	hbm_status status;

	hbm_arena_init(&a, &c->cx->mem);
	status = donate_in(c, &a);
	hbm_arena_fini(&a);
	return status == HBM_NOMEM || status == HBM_VERIFY || status == HBM_CONTRACT ? status
	                                                                            : HBM_OK;
}

/* ---- sharding ------------------------------------------------------------- */

static bool divides(const hbm_program *p, const hbm_tensor *t, uint64_t cores)
{
	for (uint32_t i = 0; i < t->dims.n; i++)
		if (p->dims.items[t->dims.first + i].value % cores == 0)
			return true;
	return false;
}

/* Bytes that leave this core when its large tensors are cut in `cores` pieces. */
static uint64_t sharded(const fit_case *c, uint64_t cores, uint32_t *ret_n)
{
	uint64_t page = hbm_target_num(&c->row->target, HBM_KEY_HBM_GRANULE, 1), sum = 0;

	*ret_n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const hbm_plan *p = &c->plans[i].plan;
		for (uint32_t k = 0; k < p->storages.n; k++) {
			const hbm_plan_storage *s = &p->storages.items[k];
			uint64_t piece;
			if (!(s->flags & HBM_T_CALLER) || s->flags & HBM_T_HOST ||
			    s->size < LARGE ||
			    !divides(p->prog, &p->prog->tensors.items[s->root], cores) ||
			    !hbm_align_up(s->size / cores, page, &piece) || piece >= s->reserve)
				continue;
			sum = hbm_add_sat(sum, s->reserve - piece);
			(*ret_n)++;
		}
	}
	return sum;
}

static hbm_status shard(fit_case *c)
{
	uint64_t best = c->row->pub.total, best_cores = 0;
	uint32_t n, best_n = 0;

	for (uint64_t cores = 2; cores <= MAX_CORES && best > c->row->pub.window; cores *= 2) {
		uint64_t total = c->row->pub.total - sharded(c, cores, &n);
		if (total < best) {
			best = total;
			best_cores = cores;
			best_n = n;
		}
	}
	return add(c, SHARD, best, "shard the %" PRIu32 " tensors of 1 MiB or more that come "
	           "from outside over %" PRIu64 " cores (tensor parallel)", best_n,
	           best_cores);
}

/* ---- ranking -------------------------------------------------------------- */

static int better(const void *context, uint32_t a, uint32_t b)
{
	const fit_remedy *x = (const fit_remedy *)context + a;
	const fit_remedy *y = (const fit_remedy *)context + b;

	if (x->fits != y->fits)
		return x->fits ? -1 : 1;
	if (x->fits && x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static hbm_status rank(fit_case *c)
{
	uint32_t n = c->row->remedies.n;
	uint32_t *ids = HBM_ARRAY(&c->f->arena, uint32_t, n);
	fit_remedy *sorted = HBM_ARRAY(&c->f->arena, fit_remedy, n);

	HBM_NEED(ids && sorted);
	for (uint32_t i = 0; i < n; i++)
		ids[i] = i;
	HBM_NEED(hbm_merge_sort(&c->f->arena, ids, n, better, c->row->remedies.items));
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = c->row->remedies.items[ids[i]];
	for (uint32_t i = 0; i < n; i++)
		c->row->remedies.items[i] = sorted[i];
	return HBM_OK;
}

hbm_status fit_remedies(fit_case *c)
{
	HBM_TRY(donate(c));
	HBM_TRY(reorder(c));
	HBM_TRY(serial(c));
	HBM_TRY(split(c));
	HBM_TRY(smaller_batch(c));
	HBM_TRY(shard(c));
	return rank(c);
}
