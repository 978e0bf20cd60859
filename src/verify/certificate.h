/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_CERTIFICATE_H
#define HBM_VERIFY_CERTIFICATE_H

/* Checks what an answer to the packing problem claims beyond its offsets, with code
 * that no allocator and no bound shares. */

#include "hbmplan/problem.h"

#include "base/diag.h"

/* OPTIMAL: everything is placed, no higher than the lower bound. FEASIBLE: within the
 * capacity. INFEASIBLE: the bytes that are needed at the witness tick exceed the
 * capacity; or the witness is a set of buffers, and where it is small no order of
 * placing them fits. The lower bound is not above a complete placement.
 *
 * *ret_proved: the claim that no placement is better follows from what was looked at
 * here, without trust in a search. HBM_OK; HBM_VERIFY: the first claim that is wrong
 * is a diagnostic. O(n log n) for n buffers and gaps. For answers in one block. */
hbm_status hbm_verify_claims(hbm_arena *scratch, const hbm_problem *p,
                             const hbm_placement *pl, hbm_diags *d,
                             bool *ret_proved) HBM_MUST_USE;

#endif
