/* SPDX-License-Identifier: Apache-2.0 */
/* lx_auto: the default scratchpad solver.
 *
 * Decides   the layout that saves the most HBM bytes, as far as the effort goes.
 * Method    The best of the three named solvers, so it never saves less. */
#include "pack/lx_internal.h"

hbm_status lx_run_auto(lx_view *v, lx_result *r)
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
