/* SPDX-License-Identifier: Apache-2.0 */
/* lx_auto: the default scratchpad solver.
 *
 * Decides   the layout that saves the most HBM bytes, as far as the effort goes.
 * Method    The best of the three named solvers, so it never saves less; then the
 *           prices that bound what can be saved; then search. */
#include "pack/lx_exact.h"
#include <stdlib.h>

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

hbm_status lx_run_auto(lx_view *v, lx_result *r)
{
	lx_core c;
	lx_prices prices;
	int64_t *base;
	uint64_t steps;

	HBM_TRY(best_of_simple(v, r));
	HBM_TRY(lx_core_init(&c, v));
	HBM_TRY(lx_price(&c, r->saved, &prices));
	r->bound = prices.bound;
	if (r->saved >= prices.bound)
		return HBM_OK;
	HBM_NEED(base = HBM_ARRAY(v->mem, int64_t, c.n));
	lx_core_read(&c, r->address, base);
	steps = getenv("STEPS") ? (uint64_t)atoi(getenv("STEPS")) : 1000;
	if (!c.groups)
	HBM_TRY(lx_improve(&c, &prices, steps, base, &r->steps));
	steps = getenv("ESTEPS") ? (uint64_t)atoi(getenv("ESTEPS")) : 1000;
	uint64_t st2;
	HBM_TRY(lx_prove(&c, &prices, steps, base, &r->bound, &st2));
	if ((uint64_t)lx_core_value(&c, base) > r->saved) {
		lx_core_write(&c, base, r->address);
		r->saved = lx_saved(v, r->address);
		r->solver = "search";
	}
	return HBM_OK;
}
