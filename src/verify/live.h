/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_LIVE_H
#define HBM_VERIFY_LIVE_H

/* A set of numbers below n, with the neighbours of any number: bits, and for each 64
 * of them one bit that tells whether any is set, and so on up. O(log64 n). */

#include "base/arena.h"

enum { HBM_LIVE_LEVELS = 6 };

typedef struct hbm_live {
	uint64_t *bits[HBM_LIVE_LEVELS];
	uint32_t n, n_levels;
} hbm_live;

hbm_status hbm_live_init(hbm_arena *a, uint32_t n, hbm_live *ret) HBM_MUST_USE;
void hbm_live_add(hbm_live *l, uint32_t i);
void hbm_live_remove(hbm_live *l, uint32_t i);
/* The largest member below i, the least one above; HBM_NONE: none. */
uint32_t hbm_live_below(const hbm_live *l, uint32_t i);
uint32_t hbm_live_above(const hbm_live *l, uint32_t i);

#endif
