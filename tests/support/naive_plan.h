/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_SUPPORT_NAIVE_PLAN_H
#define HBM_TESTS_SUPPORT_NAIVE_PLAN_H

/* A planner for tests of the verifier: each class of tensors is a storage, those
 * that may live in a pool are placed there first-fit, the rest is standalone. It
 * uses the verifier's live ranges and nothing of the real planner. */

#include "plan/plan.h"
#include "verify/facts.h"

/* Tensors must have sizes. Quadratic in the storages of one bundle. */
hbm_status naive_plan(hbm_arena *a, const hbm_program *p, const hbm_target *t,
                      hbm_plan *ret) HBM_MUST_USE;
/* Sums anew what follows from the storages: entries of pools, totals, budget. */
void naive_sums(hbm_plan *plan);
/* Puts the tensors of storage `b` into storage `a`, byte 0 on byte 0, and drops
 * `b`; where `b` is the caller's, so is the result. Storages are numbered anew. */
hbm_status naive_join(hbm_plan *plan, uint32_t a, uint32_t b) HBM_MUST_USE;
/* A target with a window of 1 MiB, pools up to 256 KiB, scratchpads of 4 KiB on
 * two cores; everything in units of `granule` bytes. */
void naive_target(hbm_target *ret, uint64_t granule);

#endif
