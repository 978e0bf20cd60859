/* SPDX-License-Identifier: Apache-2.0
 * hbm_solve: checks, normalises, runs the allocator that was asked for, and turns
 * its answer into a placement with an outcome.
 *
 * Invariants: a placement is complete unless keep_going; its lower bound is
 * proven; with `auto` it is never worse than `bump`. */
#include "pack/auto.h"
#include "pack/bump.h"
#include "pack/fit.h"
#include "pack/normal.h"
#include "pack/pins.h"

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
	return lacks & HBM_F_ALIGN ? "these alignments" : "hints";
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

static void conclude(solver *s)
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
	if (out->outcome == HBM_INFEASIBLE)
		out->witness_tick = s->nm.peak_time;
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

static hbm_status run_bump(solver *s, bool keep_going, uint64_t *offset)
{
	uint64_t pool_end;

	HBM_TRY(hbm_bump(&s->scratch, s->p, keep_going, offset, &pool_end));
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

/* The instance's answer as offsets of buffers. */
static hbm_status run_instance(solver *s)
{
	const hbm_inst *in = &s->nm.inst;
	hbm_answer ans = {.extent = HBM_NO_OFFSET, .cap = HBM_NO_OFFSET,
	                  .by = s->al->name};
	hbm_pack_cx unlimited = {.scratch = &s->scratch, .max_steps = UINT64_MAX};

	ans.offset = HBM_ARRAY(&s->scratch, uint64_t, (size_t)in->n + 1);
	HBM_NEED(ans.offset);
	ans.lower_bound = in->lower_bound;
	ans.goal = s->nm.lower_bound / s->nm.unit;
	if (s->opts->enough / s->nm.unit > ans.goal)
		ans.goal = s->opts->enough / s->nm.unit;
	if (!s->opts->keep_going && s->p->capacity != HBM_NO_OFFSET)
		ans.enough = s->p->capacity / s->nm.unit;
	if (in->n && s->al->solve)
		HBM_TRY(s->al->solve(&s->cx, in, &ans));
	else if (in->n)
		HBM_TRY(hbm_auto(&s->cx, in, s->opts->threads, &ans));
	if (in->n && ans.extent == HBM_NO_OFFSET)
		HBM_TRY(hbm_fit(&unlimited, in, NULL, HBM_FIT_LOWEST, "first-fit", &ans));
	hbm_denormalise(&s->nm, s->p, ans.offset, s->out->offset);
	s->out->allocator = ans.by;
	if (ans.lower_bound * s->nm.unit > s->out->lower_bound)
		s->out->lower_bound = ans.lower_bound * s->nm.unit;
	return HBM_OK;
}

/* `bump` as a rival of `auto`. */
static hbm_status against_bump(solver *s)
{
	uint64_t *offset;
	hbm_status st;

	if (s->al->solve || s->nm.inst.features & ~hbm_allocator_find("bump")->can ||
	    extent_of(s->p, s->out->offset) <= s->out->lower_bound)
		return HBM_OK;
	offset = HBM_ARRAY(&s->scratch, uint64_t, (size_t)s->p->n + 1);
	HBM_NEED(offset);
	st = run_bump(s, false, offset);
	if (st == HBM_OK)
		offer(s, offset, "bump");
	return st == HBM_UNSUPPORTED ? HBM_OK : st;
}

/* Leaves out what does not fit: the most bytes that any order places. */
static hbm_status place_some(solver *s)
{
	const hbm_inst *in = &s->nm.inst;
	uint64_t *item = HBM_ARRAY(&s->scratch, uint64_t, (size_t)in->n + 1);
	uint64_t *offset = HBM_ARRAY(&s->scratch, uint64_t, (size_t)s->p->n + 1);
	uint64_t cap = s->p->capacity / s->nm.unit;
	hbm_status st;

	HBM_NEED(item && offset);
	for (uint32_t i = 0; i < s->p->n; i++)
		s->out->offset[i] = HBM_NO_OFFSET;
	if (!(in->features & ~hbm_allocator_find("bump")->can)) {
		st = run_bump(s, true, offset);
		if (st == HBM_OK)
			offer(s, offset, "bump");
		else if (st != HBM_UNSUPPORTED)
			return st;
	}
	HBM_TRY(hbm_fit_some(&s->cx, in, NULL, HBM_FIT_LOWEST, cap, item));
	hbm_denormalise(&s->nm, s->p, item, offset);
	offer(s, offset, "first-fit");
	HBM_TRY(hbm_fit_some(&s->cx, in, in->size, HBM_FIT_LOWEST, cap, item));
	hbm_denormalise(&s->nm, s->p, item, offset);
	offer(s, offset, "size-first");
	return HBM_OK;
}

static hbm_status solve(solver *s)
{
	HBM_TRY(hbm_normalise(&s->scratch, &s->scratch, s->p, s->d, &s->nm));
	s->out->lower_bound = s->nm.lower_bound;
	if (s->nm.inst.features & ~s->al->can & ~(uint32_t)HBM_F_HINTS)
		return cannot(s, s->nm.inst.features & ~s->al->can);
	if (strcmp(s->al->name, "bump") == 0)
		return only_bump(s);
	HBM_TRY(run_instance(s));
	HBM_TRY(against_bump(s));
	if (s->opts->keep_going && extent_of(s->p, s->out->offset) > s->p->capacity)
		return place_some(s);
	return HBM_OK;
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

static hbm_status solve_agreeing(hbm_arena *a, const hbm_problem *p,
                                 const hbm_solve_opts *opts, hbm_diags *d,
                                 hbm_placement *ret)
{
	hbm_placement out = {0};
	hbm_solve_opts defaults;
	solver s = {.keep = a, .p = p, .opts = opts, .d = d, .out = &out};
	hbm_status st;

	hbm_solve_defaults(&defaults);
	if (!opts)
		s.opts = &defaults;
	HBM_TRY(find_allocator(&s));
	out.offset = HBM_ARRAY(a, uint64_t, (size_t)p->n + 1);
	HBM_NEED(out.offset);
	out.allocator = s.al->name;
	hbm_arena_init(&s.scratch, &a->mem);
	start(&s);
	st = solve(&s);
	if (st == HBM_OK)
		conclude(&s);
	hbm_arena_fini(&s.scratch);
	if (st == HBM_OK)
		*ret = out;
	return st;
}

/* ---- pins that contradict each other --------------------------------------- */

/* Nothing can be placed: the two are the witness. */
static hbm_status contradiction(hbm_arena *a, const hbm_problem *p, uint32_t one,
                                uint32_t other, hbm_placement *ret)
{
	hbm_placement out = {.outcome = HBM_INFEASIBLE, .allocator = "pins",
	                     .n_witness = 2};

	HBM_NEED(out.offset = HBM_ARRAY(a, uint64_t, (size_t)p->n + 1));
	HBM_NEED(out.witness = HBM_ARRAY(a, uint32_t, 2));
	memset(out.offset, 0xff, p->n * sizeof *out.offset);
	out.witness[0] = one < other ? one : other;
	out.witness[1] = one < other ? other : one;
	HBM_TRY(hbm_lower_bound(a, p, &out.lower_bound, &out.witness_tick));
	*ret = out;
	return HBM_OK;
}

/* Leaves out the later one of each pair that meets, then places the rest. */
static hbm_status without(hbm_arena *a, const hbm_problem *p, const hbm_solve_opts *opts,
                          uint32_t out_first, hbm_diags *d, hbm_placement *ret)
{
	hbm_problem rest = *p;
	uint64_t *size = HBM_ARRAY(a, uint64_t, p->n);
	uint32_t one, other = out_first;
	bool found = true;

	HBM_NEED(size);
	memcpy(size, p->size, p->n * sizeof *size);
	rest.size = size;
	while (found) {
		size[other] = 0;
		HBM_TRY(hbm_pins_meet(a, &rest, &found, &one, &other));
	}
	HBM_TRY(solve_agreeing(a, &rest, opts, d, ret));
	for (uint32_t i = 0; i < p->n; i++)
		if (size[i] != p->size[i] && ret->offset[i] != HBM_NO_OFFSET) {
			ret->offset[i] = HBM_NO_OFFSET;
			ret->n_placed--;
		}
	ret->outcome = HBM_UNKNOWN;
	return HBM_OK;
}

hbm_status hbm_solve(hbm_arena *a, const hbm_problem *p, const hbm_solve_opts *opts,
                     hbm_diags *d, hbm_placement *ret)
{
	uint32_t one, other;
	bool found;

	HBM_TRY(hbm_problem_check(p, d));
	HBM_TRY(hbm_pins_meet(a, p, &found, &one, &other));
	if (!found)
		return solve_agreeing(a, p, opts, d, ret);
	if (opts && opts->keep_going)
		return without(a, p, opts, other, d, ret);
	return contradiction(a, p, one, other, ret);
}
