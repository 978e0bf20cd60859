/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_PLACEMENT_H
#define HBM_VERIFY_PLACEMENT_H

/* Checks an answer to the packing problem, with code that no allocator shares. */

#include "hbmplan/problem.h"

#include "base/diag.h"

/* Every placed buffer is aligned, at its pin, at its distance within its set, and
 * below the capacity when the answer says that it fits; no two that may not share
 * bytes do; the extent is the highest end. HBM_OK: legal. HBM_VERIFY: the first
 * fault is a diagnostic. O(n log n) in buffers and gaps. */
hbm_status hbm_verify_placement(hbm_arena *scratch, const hbm_problem *p,
                                const hbm_placement *pl, hbm_diags *d) HBM_MUST_USE;

#endif
