/* SPDX-License-Identifier: Apache-2.0 */
/* lx_auto: the default scratchpad solver.
 *
 * Decides   the layout that saves the most HBM bytes, as far as the effort goes.
 * Method    The best of the three named solvers, so it never saves less; the
 *           prices that bound what can be saved; search, unless that bound is met
 *           already; and a proof, which may also find a better layout. Groups are
 *           left to the proof.
 * Cost      Set by the step budgets: on the published shape (12 ticks) about 1.5 ms
 *           for 32 buffers, 60 ms for 128, 0.4 s for 256 and for more. */
#include "pack/lx_exact.h"

enum {
	MIN_STEPS_PER_ITEM = 24,
	MAX_SEARCH_WORK = 9 * 1000 * 1000, /* items times steps */
	MANY = 512,                        /* more are searched in windows */
	LONG = 8,                          /* so are those that few live with at once */
	WIDE = 128,                        /* if they are more than a window holds */
	WINDOW_WORK = 1500 * 1000,         /* items times steps in a window */
	MAX_WINDOW_STEPS = 2000,
	MIN_WINDOW_STEPS = 8,
	SURE_PROOF = 16,                   /* so few items are worth a long proof */
	SURE_PROOF_STEPS = 400 * 1000,
	PROOF_STEPS = 1000,
};

static hbm_status best_of_simple(lx_view *v, lx_result *r)
{
	static const struct {
		const char *name;
		hbm_status (*run)(lx_view *v, lx_result *r);
	} simple[] = {
		{"first-fit", lx_run_first_fit},
		{"best-fit", lx_run_best_fit},
		{"greedy", lx_run_greedy},
	};

	for (uint32_t k = 0; k < 3; k++) {
		lx_result other;
		HBM_NEED(lx_result_init(v, &other));
		HBM_TRY(simple[k].run(v, &other));
		if (k && other.saved <= r->saved)
			continue;
		*r = other;
		r->solver = simple[k].name;
	}
	return HBM_OK;
}

/* Effort 5 is one; each step up or down doubles or halves. */
static uint64_t by_effort(const lx_view *v, uint64_t steps)
{
	uint32_t effort = v->opts->effort > 9 ? 9 : v->opts->effort;

	return effort < 5 ? steps >> (5 - effort) : steps << (effort - 5);
}

/* Would most steps look at items that live long before or after? */
static bool in_windows(const lx_core *c)
{
	uint64_t segments = 0;

	for (uint32_t i = 0; i < c->n; i++)
		segments += c->items[i].hi - c->items[i].lo;
	return c->n > MANY || (c->n > WIDE &&
	                       LONG * segments < (uint64_t)c->n * c->n_segments);
}

/* Steps cost O(items): their number grows with the square of the items while
 * that is cheap, then falls so that the time stays the same. */
static uint64_t search_steps(const lx_view *v, uint64_t n)
{
	uint64_t steps = n * n / 2, most = MAX_SEARCH_WORK / (n + 1);

	steps = steps < MIN_STEPS_PER_ITEM * n ? MIN_STEPS_PER_ITEM * n : steps;
	return by_effort(v, steps < most ? steps : most);
}

/* Steps in each window: fewer where there are very many. */
static uint64_t window_steps(const lx_view *v, uint64_t n)
{
	uint64_t steps = WINDOW_WORK / n;

	steps = steps > MAX_WINDOW_STEPS ? MAX_WINDOW_STEPS : steps;
	return by_effort(v, steps < MIN_WINDOW_STEPS ? MIN_WINDOW_STEPS : steps);
}

static uint64_t proof_steps(const lx_view *v, uint64_t n)
{
	return by_effort(v, n <= SURE_PROOF ? SURE_PROOF_STEPS : PROOF_STEPS);
}

static void keep_better(lx_view *v, const lx_core *c, const int64_t *base,
                        const char *solver, lx_result *r)
{
	if ((uint64_t)lx_core_value(c, base) <= r->saved)
		return;
	lx_core_write(c, base, r->address);
	r->saved = lx_saved(v, r->address);
	r->solver = solver;
}

hbm_status lx_run_auto(lx_view *v, lx_result *r)
{
	lx_core c;
	lx_prices prices;
	int64_t *base;
	uint64_t steps = 0;

	HBM_TRY(best_of_simple(v, r));
	HBM_TRY(lx_core_init(&c, v));
	HBM_TRY(lx_price(&c, r->saved, &prices));
	r->bound = prices.bound;
	if (r->saved >= prices.bound)
		return HBM_OK;
	HBM_NEED(base = HBM_ARRAY(v->mem, int64_t, c.n));
	lx_core_read(&c, r->address, base);
	if (!c.groups && !in_windows(&c))
		HBM_TRY(lx_improve(&c, &prices, search_steps(v, c.n), base, &r->steps));
	else if (!c.groups)
		HBM_TRY(lx_improve_windows(&c, &prices, window_steps(v, c.n), base,
		                           &r->steps));
	keep_better(v, &c, base, "search", r);
	if (r->saved >= prices.bound)
		return HBM_OK;
	HBM_TRY(lx_prove(&c, &prices, proof_steps(v, c.n), base, &r->bound, &steps));
	r->steps += steps;
	keep_better(v, &c, base, "exact", r);
	return HBM_OK;
}
