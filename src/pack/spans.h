/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_SPANS_H
#define HBM_PACK_SPANS_H

/* Lists of address ranges that are taken: sorted and disjoint; equal ones do not
 * touch. The caller gives the room. */

#include "pack/internal.h"

typedef struct hbm_span {
	uint64_t lo, hi;
} hbm_span;

/* Spans with the group that alone takes each, HBM_NONE: anything else. */
typedef struct hbm_tagged {
	hbm_span *s;
	uint32_t *tag;
	uint32_t n;
} hbm_tagged;

/* Adds [lo, hi) to n spans; false: it was covered already. At most one more. */
bool hbm_spans_unite(hbm_span *s, uint32_t *n, uint64_t lo, uint64_t hi);
/* Adds [lo, hi) for `tag`; what others take too is taken from everybody. False:
 * nothing changed. At most two more. */
bool hbm_spans_paint(hbm_tagged *l, uint64_t lo, uint64_t hi, uint32_t tag);
/* The first of n spans, from the one at `at` on, that ends above y. O(log of the
 * way). */
uint32_t hbm_spans_above(const hbm_span *s, uint32_t n, uint32_t at, uint64_t y);

#endif
