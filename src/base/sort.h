/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_SORT_H
#define HBM_BASE_SORT_H

/* Stable merge sort of 32-bit ids with a context: the order never depends on the
 * C library. O(n log n) comparisons, n ids of scratch. */

#include "base/arena.h"

/* Negative, zero, positive, as for qsort. */
typedef int (*hbm_compare_fn)(const void *context, uint32_t a, uint32_t b);

bool hbm_merge_sort(hbm_arena *scratch, uint32_t *ids, uint32_t n,
                  hbm_compare_fn compare, const void *context) HBM_MUST_USE;

/* An id under a key. */
typedef struct hbm_keyed {
	uint64_t key;
	uint32_t id;
} hbm_keyed;

/* Sorts by key; equal keys keep their order. Radix: O(n) for each 11 bits in which
 * keys differ. `room`: n more. */
void hbm_radix_sort(hbm_keyed *items, hbm_keyed *room, uint32_t n);

#endif
