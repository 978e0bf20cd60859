/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_PROBLEM_H
#define HBM_PACK_PROBLEM_H

/* The packing problem: buffers with a size and a live range in, an offset for
 * each out. Knows nothing of programs. Arrays of n items; an optional array may
 * be NULL, and then every buffer has the default. Bytes are 64-bit; sizes and
 * sums of sizes stay below 2^62 (hbm_problem_check). */

#include "hbmplan/problem.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"

/* Refuses malformed problems with a message that names the buffer by index. */
hbm_status hbm_problem_check(const hbm_problem *p, hbm_diags *d) HBM_MUST_USE;
/* Pressure bound by sweep, aware of alignment, gaps and pins. O(n log n).
 * *ret_tick: where it is reached. */
hbm_status hbm_lower_bound(hbm_arena *a, const hbm_problem *p, uint64_t *ret,
                           int64_t *ret_tick) HBM_MUST_USE;
/* Places. "Does not fit" is an outcome, not an error: all buffers are placed all
 * the same, in the least extent found (unless keep_going), and extent is then
 * above the capacity. Offsets live in `a`.
 * Same problem and options (deadline 0): same answer, whatever the order of
 * threads. The input order of buffers matters only between equal ones. */
hbm_status hbm_solve(hbm_arena *a, const hbm_problem *p,
                     const hbm_solve_opts *opts, hbm_diags *d,
                     hbm_placement *ret) HBM_MUST_USE;

#endif
