/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PASS_TRAFFIC_H
#define HBM_PASS_TRAFFIC_H

/* HBM traffic: the bytes that ops read and write in HBM while the program runs.
 * An op counts the window of each operand once per trip of the loops around it;
 * operands of one storage in one direction count together, at most the storage.
 * Loops of unknown trips count once. Scratchpad accesses are free. */

#include "analysis/analysis.h"
#include "plan/plan.h"

/* Bytes of each storage's accesses, as if it lived in HBM; n items each, by
 * storage. */
typedef struct hbm_traffic {
	uint64_t *reads, *writes;
} hbm_traffic;

hbm_status hbm_traffic_of(hbm_arena *a, const hbm_program *p, const hbm_analysis *an,
                          hbm_traffic *ret) HBM_MUST_USE;
/* Sets plan->traffic from the homes. */
hbm_status hbm_traffic_sum(hbm_arena *scratch, const hbm_program *p,
                           const hbm_analysis *an, hbm_plan *plan) HBM_MUST_USE;

#endif
