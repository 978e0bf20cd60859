/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_VERIFY_H
#define HBM_VERIFY_VERIFY_H

/* A second implementation of the rules. Recomputes storages and live ranges
 * from the ops, by running the program forward; shares no code with analysis,
 * passes or packers. */

#include "plan/plan.h"

/* Checks the plan: every storage exactly one home, no two storages share bytes
 * of one space while both are live, alignment, bounds, capacity, pool scope and
 * eligibility, pool entries, demands, sums. HBM_OK: legal. HBM_VERIFY: each
 * fault is a diagnostic of code HBM_E_PLAN. */
hbm_status hbm_verify(hbm_arena *scratch, const hbm_program *p,
                      const hbm_target *t, const hbm_plan *plan,
                      hbm_diags *d) HBM_MUST_USE;

typedef struct hbm_sim_opts {
	uint64_t max_trips;  /* of one loop; 0: 4. Longer loops run this many */
	uint64_t max_steps;  /* op executions; 0: 10 million */
} hbm_sim_opts;

typedef struct hbm_sim_result {
	uint64_t steps, reads;
	bool capped; /* some loop ran fewer trips than it has, or steps ran out */
} hbm_sim_result;

/* Executes the program on the planned addresses and compares every read with
 * unlimited memory. The first wrong read is a diagnostic of code
 * HBM_E_SIMULATION with both storages, ticks and byte ranges; HBM_VERIFY. */
hbm_status hbm_simulate(hbm_arena *scratch, const hbm_program *p,
                        const hbm_target *t, const hbm_plan *plan,
                        const hbm_sim_opts *opts, hbm_diags *d,
                        hbm_sim_result *ret) HBM_MUST_USE;

#endif
