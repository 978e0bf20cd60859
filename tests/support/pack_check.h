/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_PACK_CHECK_H
#define HBM_TESTS_PACK_CHECK_H

/* An independent check of placements: knows the rules of pack/problem.h and
 * nothing of how they are kept. */

#include "pack/problem.h"

/* NULL: legal. Otherwise a static text that says what is wrong. Plain problems
 * in O(n log n), those with groups or sets in O(n^2). Buffers without an offset
 * are skipped when `partial`, else an error. */
const char *pack_check(const hbm_problem *p, const hbm_placement *pl, bool partial);

/* Live bytes at the worst instant, by brute force over starts. O(n^2). */
uint64_t pack_pressure(const hbm_problem *p);

#endif
