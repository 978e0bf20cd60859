/* SPDX-License-Identifier: Apache-2.0
 * hbm_solve: checks, normalises, runs the allocator that was asked for, and turns
 * its answer into a placement with an outcome.
 *
 * Invariants: a placement is complete unless keep_going; its lower bound is
 * proven; with `auto` it is never worse than `bump`. */
#include "pack/auto.h"
#include "pack/bump.h"
#include "pack/fit.h"
#include "pack/hint.h"
#include "pack/normal.h"
#include "pack/pins.h"
#include "pack/some.h"
#include "pack/witness.h"

#include <string.h>

typedef struct solver {
	hbm_arena *keep;
	hbm_arena scratch;
	const hbm_problem *p;
	const hbm_solve_opts *opts;
	hbm_diags *d;
	const hbm_allocator *al;
	hbm_normal nm;
	hbm_pack_cx cx;
	hbm_placement *out;
} solver;

static const char *const outcome_names[] = {"unknown", "feasible", "optimal",
                                            "infeasible"};

const char *hbm_outcome_name(hbm_outcome o)
{
	return outcome_names[o];
}

void hbm_solve_defaults(hbm_solve_opts *opts)
{
	*opts = (hbm_solve_opts){.effort = 5, .threads = 1};
}

/* ---- which allocator ------------------------------------------------------ */

static const char *lacking(uint32_t lacks)
{
	if (lacks & HBM_F_PINS)
		return "pinned offsets";
	if (lacks & HBM_F_PIECES)
		return "gaps or colocation sets";
	if (lacks & HBM_F_GROUPS)
		return "conflict-free groups";
	return "these alignments";
}

static hbm_status cannot(solver *s, uint32_t lacks)
{
	return hbm_fail(s->d, HBM_UNSUPPORTED, HBM_E_OPTION, HBM_NOWHERE,
	                "allocator '%s' cannot do %s", s->al->name, lacking(lacks));
}

static hbm_status find_allocator(solver *s)
{
	const char *name = s->opts->allocator ? s->opts->allocator : "auto";

	s->al = hbm_allocator_find(name);
	if (s->al)
		return HBM_OK;
	return hbm_fail(s->d, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
	                "unknown allocator '%s'", name);
}

/* ---- results -------------------------------------------------------------- */

static uint64_t placed_bytes(const hbm_problem *p, const uint64_t *offset)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		sum += offset[i] == HBM_NO_OFFSET ? 0 : p->size[i];
	return sum;
}

static uint64_t extent_of(const hbm_problem *p, const uint64_t *offset)
{
	uint64_t top = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (offset[i] != HBM_NO_OFFSET && offset[i] + p->size[i] > top)
			top = offset[i] + p->size[i];
	return top;
}

static hbm_status conclude(solver *s)
{
	hbm_placement *out = s->out;
	bool all, fits;

	out->n_placed = 0;
	for (uint32_t i = 0; i < s->p->n; i++)
		out->n_placed += out->offset[i] != HBM_NO_OFFSET;
	out->extent = extent_of(s->p, out->offset);
	out->steps = s->cx.steps;
	all = out->n_placed == s->p->n;
	fits = all && out->extent <= s->p->capacity;
	if (fits && out->extent <= out->lower_bound)
		out->outcome = HBM_OPTIMAL;
	else if (fits)
		out->outcome = HBM_FEASIBLE;
	else if (out->lower_bound > s->p->capacity)
		out->outcome = HBM_INFEASIBLE;
	else
		out->outcome = HBM_UNKNOWN;
	if (out->outcome != HBM_INFEASIBLE)
		return HBM_OK;
	return hbm_find_witness(s->keep, s->p, s->nm.peak_time, &s->cx, out);
}

/* Takes the offsets when they are better than those in hand: more bytes placed,
 * then a smaller extent. */
static void offer(solver *s, const uint64_t *offset, const char *by)
{
	uint64_t old = placed_bytes(s->p, s->out->offset);
	uint64_t new = placed_bytes(s->p, offset);

	if (new < old ||
	    (new == old &&
	     extent_of(s->p, offset) >= extent_of(s->p, s->out->offset)))
		return;
	memcpy(s->out->offset, offset, s->p->n * sizeof *offset);
	s->out->allocator = by;
}

/* ---- running -------------------------------------------------------------- */

static bool beyond(const solver *s, uint32_t i, uint64_t offset)
{
	return offset + s->p->size[i] > s->p->capacity;
}

static hbm_status run_bump(solver *s, bool keep_going, uint64_t *offset)
{
	uint64_t pool_end;

	HBM_TRY(hbm_bump(&s->scratch, s->p, keep_going, offset, &pool_end));
	/* Only what has no life can have a pin here. */
	for (uint32_t i = 0; s->p->pin && i < s->p->n; i++)
		if (s->p->pin[i] != HBM_NO_OFFSET)
			offset[i] = keep_going && beyond(s, i, s->p->pin[i])
			                    ? HBM_NO_OFFSET
			                    : s->p->pin[i];
	hbm_spend(&s->cx, s->p->n);
	return HBM_OK;
}

static hbm_status only_bump(solver *s)
{
	hbm_status st;

	if (s->nm.inst.features & ~s->al->can)
		return cannot(s, s->nm.inst.features & ~s->al->can);
	st = run_bump(s, s->opts->keep_going, s->out->offset);
	s->out->allocator = s->al->name;
	return st == HBM_UNSUPPORTED ? cannot(s, HBM_F_ALIGN) : st;
}

/* The allocator that was asked for; its memory is given back. */
static hbm_status run_allocator(solver *s, hbm_answer *ans)
{
	const hbm_inst *in = &s->nm.inst;
	hbm_arena own;
	hbm_status st;

	hbm_arena_init(&own, &s->scratch.mem);
	s->cx.scratch = &own;
	st = s->al->solve ? s->al->solve(&s->cx, in, ans)
	                  : hbm_auto(&s->cx, in, s->p->capacity / s->nm.unit,
	                             s->opts->threads, ans);
	s->cx.scratch = &s->scratch;
	hbm_arena_fini(&own);
	return st;
}

/* The instance's answer as offsets of buffers. */
static hbm_status run_instance(solver *s)
{
	const hbm_inst *in = &s->nm.inst;
	hbm_answer ans = {.extent = HBM_NO_OFFSET, .cap = HBM_NO_OFFSET,
	                  .by = s->al->name};
	hbm_pack_cx unlimited = {.scratch = &s->scratch, .max_steps = UINT64_MAX};
	uint64_t bound;

	ans.offset = HBM_ARRAY(&s->scratch, uint64_t, (size_t)in->n + 1);
	HBM_NEED(ans.offset);
	ans.lower_bound = in->lower_bound;
	ans.goal = s->nm.lower_bound / s->nm.unit;
	if (s->opts->enough / s->nm.unit > ans.goal)
		ans.goal = s->opts->enough / s->nm.unit;
	if (!s->opts->keep_going && s->p->capacity != HBM_NO_OFFSET)
		ans.enough = s->p->capacity / s->nm.unit;
	if (in->n)
		HBM_TRY(run_allocator(s, &ans));
	if (in->n && ans.extent == HBM_NO_OFFSET)
		HBM_TRY(hbm_fit(&unlimited, in, NULL, HBM_FIT_LOWEST, "first-fit", &ans));
	if (in->n)
		HBM_TRY(hbm_heed_hints(&s->scratch, in, ans.offset));
	hbm_denormalise(&s->nm, s->p, ans.offset, s->out->offset);
	s->out->allocator = ans.by;
	bound = hbm_mul_sat(ans.lower_bound, s->nm.unit);
	if (bound > s->out->lower_bound)
		s->out->lower_bound = bound;
	return HBM_OK;
}

/* Whether `bump` is a rival: it cannot do everything. */
static bool bump_can(const solver *s)
{
	return !(s->nm.inst.features & ~hbm_allocator_find("bump")->can);
}

/* `auto` is never worse than `bump`. */
static hbm_status against_bump(solver *s, bool keep_going)
{
	uint64_t *offset;
	hbm_status st;

	if (s->al->solve || !bump_can(s) ||
	    (!keep_going && extent_of(s->p, s->out->offset) <= s->out->lower_bound))
		return HBM_OK;
	offset = HBM_ARRAY(&s->scratch, uint64_t, (size_t)s->p->n + 1);
	HBM_NEED(offset);
	st = run_bump(s, keep_going, offset);
	if (st == HBM_OK)
		offer(s, offset, "bump");
	return st == HBM_UNSUPPORTED ? HBM_OK : st;
}

/* Leaves out what does not fit. */
static hbm_status place_some(solver *s)
{
	const hbm_inst *in = &s->nm.inst;
	uint64_t *item = HBM_ARRAY(&s->scratch, uint64_t, (size_t)in->n + 1);
	uint64_t *worth = HBM_ZARRAY(&s->scratch, uint64_t, (size_t)in->n + 1);

	HBM_NEED(item && worth);
	for (uint32_t i = 0; i < s->p->n; i++)
		if (s->nm.item_of[i] != HBM_NONE)
			worth[s->nm.item_of[i]] += s->p->size[i];
	for (uint32_t k = 0; k < in->n; k++)
		item[k] = HBM_NO_OFFSET;
	if (in->n)
		HBM_TRY(hbm_place_some(&s->cx, in, worth, s->p->capacity / s->nm.unit,
		                       item));
	hbm_denormalise(&s->nm, s->p, item, s->out->offset);
	for (uint32_t i = 0; i < s->p->n; i++)
		if (s->nm.item_of[i] == HBM_NONE && beyond(s, i, s->out->offset[i]))
			s->out->offset[i] = HBM_NO_OFFSET;
	return against_bump(s, true);
}

/* Two pinned buffers on the same bytes: nothing can be placed, and they are why. */
static hbm_status contradiction(solver *s, uint32_t a, uint32_t b)
{
	hbm_placement *out = s->out;
	uint32_t who[2] = {HBM_NONE, HBM_NONE};

	for (uint32_t i = s->p->n; i-- > 0;) {
		uint32_t k = s->nm.item_of[i];

		out->offset[i] = HBM_NO_OFFSET;
		if (k != HBM_NONE && (k == a || k == b))
			who[k == b] = i;
	}
	out->witness = HBM_ARRAY(s->keep, uint32_t, 2);
	HBM_NEED(out->witness);
	out->witness[0] = who[0] < who[1] ? who[0] : who[1];
	out->witness[1] = who[0] < who[1] ? who[1] : who[0];
	out->n_witness = 2;
	out->witness_tick = s->nm.peak_time;
	out->outcome = HBM_INFEASIBLE;
	out->allocator = "pins";
	return HBM_OK;
}

static hbm_status place_all(solver *s)
{
	HBM_TRY(run_instance(s));
	return against_bump(s, false);
}

static hbm_status solve(solver *s)
{
	uint32_t lacks, a, b;

	s->out->lower_bound = s->nm.lower_bound;
	lacks = s->nm.inst.features & ~s->al->can & ~(uint32_t)HBM_F_HINTS;
	if (lacks)
		return cannot(s, lacks);
	if (strcmp(s->al->name, "bump") == 0) {
		HBM_TRY(only_bump(s));
		return conclude(s);
	}
	HBM_TRY(hbm_pins_meet(&s->scratch, &s->nm.inst, &a, &b));
	if (a != HBM_NONE && !s->opts->keep_going)
		return contradiction(s, a, b);
	if (a == HBM_NONE)
		HBM_TRY(place_all(s));
	if (s->opts->keep_going &&
	    (a != HBM_NONE || extent_of(s->p, s->out->offset) > s->p->capacity))
		HBM_TRY(place_some(s));
	return conclude(s);
}

/* Steps of an allocator that would go on for ever: doubles with the effort. The
 * exact one knows its own, `auto` shares out. */
static uint64_t budget(const solver *s)
{
	uint64_t steps = 100000000 + 200 * (uint64_t)s->p->n;

	if (s->al->exact || !s->al->solve || s->opts->deadline > 0)
		return UINT64_MAX;
	return steps << (s->opts->effort > 9 ? 9 : s->opts->effort) >> 5;
}

static void start(solver *s)
{
	const hbm_solve_opts *o = s->opts;

	s->cx = (hbm_pack_cx){
		.scratch = &s->scratch,
		.max_steps = budget(s),
		.deadline = o->deadline > 0 ? hbm_pack_clock() + o->deadline : 0,
		.cancelled = o->cancelled,
		.user = o->user,
		.effort = o->effort,
		.disabled = o->disabled,
		.seed = 1,
	};
}

/* What normalising needs meanwhile is given back before the allocators run. */
static hbm_status normalise(solver *s)
{
	hbm_arena tmp;
	hbm_status st;

	hbm_arena_init(&tmp, &s->keep->mem);
	st = hbm_normalise(&s->scratch, &tmp, s->p, s->d, &s->nm);
	hbm_arena_fini(&tmp);
	return st;
}

hbm_status hbm_solve(hbm_arena *a, const hbm_problem *p, const hbm_solve_opts *opts,
                     hbm_diags *d, hbm_placement *ret)
{
	hbm_placement out = {0};
	hbm_solve_opts defaults;
	solver s = {.keep = a, .p = p, .opts = opts, .d = d, .out = &out};
	hbm_status st;

	hbm_solve_defaults(&defaults);
	if (!opts)
		s.opts = &defaults;
	HBM_TRY(hbm_problem_check(p, d));
	HBM_TRY(find_allocator(&s));
	out.offset = HBM_ARRAY(a, uint64_t, (size_t)p->n + 1);
	HBM_NEED(out.offset);
	out.allocator = s.al->name;
	hbm_arena_init(&s.scratch, &a->mem);
	start(&s);
	st = normalise(&s);
	if (st == HBM_OK)
		st = solve(&s);
	hbm_arena_fini(&s.scratch);
	if (st == HBM_OK)
		*ret = out;
	return st;
}
