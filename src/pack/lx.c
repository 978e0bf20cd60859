/* SPDX-License-Identifier: Apache-2.0 */
/* lx: the scratchpad problem itself: its facts, its check, the solver table. */
#include "pack/lx.h"
#include "pack/lx_internal.h"

#include "base/ckd.h"

#include <string.h>

/* Ticks stay below this, so that products of two lives fit in 64 bits. */
enum { MAX_TICK = 1 << 30 };

static const lx_solver solvers[] = {
	{{"auto", "all others, then search and proof as far as the effort goes", true,
	  true}, lx_run_auto},
	{{"greedy", "in order of birth: in place, top, lowest hole", true, true},
	 lx_run_greedy},
	{{"first-fit", "by life per use, lowest gap", false, true}, lx_run_first_fit},
	{{"best-fit", "by life per use, tightest gap", false, true}, lx_run_best_fit},
};

enum { N_SOLVERS = sizeof solvers / sizeof *solvers };

const hbm_lx_solver_info *hbm_lx_solver(uint32_t i)
{
	return i < N_SOLVERS ? &solvers[i].info : NULL;
}

static uint32_t n_uses(const hbm_lx_problem *p, uint32_t i)
{
	return p->use_first[i + 1] - p->use_first[i];
}

static bool is_input(const hbm_lx_problem *p, uint32_t i)
{
	return p->input && p->input[i];
}

uint32_t hbm_lx_start(const hbm_lx_problem *p, uint32_t i)
{
	if (!n_uses(p, i))
		return 0;
	if (p->start && p->start[i] != HBM_NONE)
		return p->start[i];
	return p->uses[p->use_first[i]];
}

uint32_t hbm_lx_end(const hbm_lx_problem *p, uint32_t i)
{
	if (!n_uses(p, i))
		return 0;
	if (p->end && p->end[i] != HBM_NONE)
		return p->end[i];
	return p->uses[p->use_first[i + 1] - 1] + 1;
}

uint32_t hbm_lx_reads(const hbm_lx_problem *p, uint32_t i)
{
	uint32_t n = n_uses(p, i);

	return n && !is_input(p, i) ? n - 1 : n;
}

uint64_t hbm_lx_value(const hbm_lx_problem *p, uint32_t i)
{
	uint32_t n = n_uses(p, i);

	if (p->value)
		return p->value[i];
	return hbm_mul_sat(n && is_input(p, i) ? n - 1 : n, p->size[i]);
}

/* ---- check --------------------------------------------------------------- */

static hbm_status refuse(hbm_diags *d, uint32_t i, const char *what)
{
	return hbm_fail(d, HBM_SEMANTIC, HBM_E_LX_PROBLEM, HBM_NOWHERE,
	                "scratchpad buffer %u: %s", i, what);
}

static hbm_status check_uses(const hbm_lx_problem *p, uint32_t i, hbm_diags *d)
{
	uint32_t first = p->use_first[i], last = p->use_first[i + 1];

	for (uint32_t k = first; k + 1 < last; k++)
		if (p->uses[k] >= p->uses[k + 1])
			return refuse(d, i, "its uses are not strictly ascending");
	if (first == last)
		return HBM_OK;
	if (p->uses[last - 1] >= MAX_TICK || hbm_lx_end(p, i) > MAX_TICK)
		return refuse(d, i, "its life goes beyond tick 2^30");
	if (hbm_lx_start(p, i) > p->uses[first])
		return refuse(d, i, "its life starts after its first use");
	if (hbm_lx_end(p, i) <= p->uses[last - 1])
		return refuse(d, i, "its life ends before its last use");
	return HBM_OK;
}

static bool takes_part(const hbm_lx_problem *p, uint32_t i)
{
	return !(p->barred && p->barred[i]) && p->size[i] && n_uses(p, i);
}

static hbm_status check_edge(const hbm_lx_problem *p, uint32_t child,
                             uint32_t parent, hbm_diags *d)
{
	if (parent >= p->n || parent == child)
		return refuse(d, child, "its in-place parent is no other buffer");
	if (!takes_part(p, child) || !takes_part(p, parent))
		return HBM_OK;
	if (hbm_lx_end(p, parent) != hbm_lx_start(p, child) + 1)
		return refuse(d, child, "its in-place parent does not end at the tick "
		                        "where it starts");
	if (p->size[child] > p->size[parent])
		return refuse(d, child, "it is larger than its in-place parent");
	if (!is_input(p, parent) && n_uses(p, parent) < 2)
		return refuse(d, child, "its in-place parent is never read");
	return HBM_OK;
}

static hbm_status check_pin(const hbm_lx_problem *p, uint32_t i, hbm_diags *d)
{
	uint64_t pin = p->pin ? p->pin[i] : HBM_NO_OFFSET;

	if (pin == HBM_NO_OFFSET)
		return HBM_OK;
	if (pin % p->align)
		return refuse(d, i, "its required address is not aligned");
	if (pin > p->capacity || p->size[i] > p->capacity - pin)
		return refuse(d, i, "its required address leaves the scratchpad");
	return HBM_OK;
}

hbm_status hbm_lx_check(const hbm_lx_problem *p, hbm_diags *d)
{
	uint64_t sum = 0, value = 0;

	if (!p->align || p->capacity >= (uint64_t)1 << 62)
		return hbm_fail(d, HBM_SEMANTIC, HBM_E_LX_PROBLEM, HBM_NOWHERE,
		                "scratchpad of %llu bytes with alignment %llu",
		                (unsigned long long)p->capacity,
		                (unsigned long long)p->align);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t lo = p->parent_first ? p->parent_first[i] : 0;
		uint32_t hi = p->parent_first ? p->parent_first[i + 1] : 0;
		HBM_TRY(check_uses(p, i, d));
		HBM_TRY(check_pin(p, i, d));
		for (uint32_t k = lo; k < hi; k++)
			HBM_TRY(check_edge(p, i, p->parents[k], d));
		if (!hbm_add(sum, p->size[i], &sum) ||
		    !hbm_add(value, hbm_lx_value(p, i), &value) || sum >> 62 ||
		    value >> 62)
			return refuse(d, i, "sizes or values add up beyond 2^62");
	}
	return HBM_OK;
}

/* ---- solve --------------------------------------------------------------- */

static const lx_solver *find_solver(const char *name)
{
	for (uint32_t k = 0; k < N_SOLVERS; k++)
		if (!strcmp(solvers[k].info.name, name ? name : "auto"))
			return &solvers[k];
	return NULL;
}

/* Value of everything that may be placed: the bound that needs no thought. */
static uint64_t all_value(const lx_view *v)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < v->n; i++)
		if (v->ok[i])
			sum += v->value[i];
	return sum;
}

static void fill_layout(const lx_view *v, const lx_result *r, hbm_lx_layout *ret)
{
	for (uint32_t i = 0; i < v->n; i++) {
		ret->address[i] = r->address[i];
		if (r->address[i] == HBM_NO_OFFSET)
			continue;
		ret->n_placed++;
		if (ret->peak < r->address[i] + v->p->size[i])
			ret->peak = r->address[i] + v->p->size[i];
	}
	ret->saved = r->saved;
	ret->bound = r->bound < all_value(v) ? r->bound : all_value(v);
	ret->steps = r->steps;
}

static hbm_status solve(hbm_arena *mem, const hbm_lx_problem *p,
                        const hbm_lx_opts *opts, const lx_solver *s,
                        hbm_diags *d, hbm_lx_layout *ret)
{
	lx_view v;
	lx_result r;
	hbm_lx_verdict verdict;

	HBM_TRY(lx_view_init(&v, mem, p, opts));
	HBM_NEED(lx_result_init(&v, &r));
	ret->solver = s->info.name;
	r.solver = s->info.name;
	HBM_TRY(s->run(&v, &r));
	HBM_TRY(hbm_lx_judge(mem, p, r.address, &verdict));
	if (!verdict.legal)
		return hbm_fail(d, HBM_VERIFY, HBM_E_PLAN, HBM_NOWHERE,
		                "scratchpad solver '%s' broke a rule with buffers %u "
		                "and %u", s->info.name, verdict.a, verdict.b);
	fill_layout(&v, &r, ret);
	ret->solver = r.solver;
	return HBM_OK;
}

hbm_status hbm_lx_solve(hbm_arena *a, const hbm_lx_problem *p,
                        const hbm_lx_opts *opts, hbm_diags *d, hbm_lx_layout *ret)
{
	static const hbm_lx_opts defaults = {.effort = 5};
	const hbm_lx_opts *o = opts ? opts : &defaults;
	const lx_solver *s = find_solver(o->solver);
	hbm_lx_layout layout = {0};
	hbm_arena mem;
	hbm_status status;

	if (!s)
		return hbm_fail(d, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "unknown scratchpad solver '%s': there are auto, "
		                "greedy, first-fit and best-fit", o->solver);
	HBM_TRY(hbm_lx_check(p, d));
	HBM_NEED(layout.address = HBM_ARRAY(a, uint64_t, p->n));
	hbm_arena_init(&mem, &a->mem);
	status = solve(&mem, p, o, s, d, &layout);
	hbm_arena_fini(&mem);
	if (status == HBM_OK)
		*ret = layout;
	return status;
}
