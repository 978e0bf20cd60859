/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_KD_H
#define HBM_PACK_KD_H

/* A balanced tree over lives, halved by start or by length, whichever spreads
 * more. Built once; what hangs at its nodes is the user's. Nodes are numbered as
 * in a heap: root 1, children 2v and 2v + 1; all leaves are at depth `depth`. */

#include "pack/internal.h"

enum { HBM_KD_LEAF = 8 }; /* lives in a leaf, at most */

typedef struct hbm_kd_box {
	uint32_t min_start, max_start, min_end, max_end;
} hbm_kd_box;

typedef struct hbm_kd {
	uint32_t n, depth;
	hbm_kd_box *box;       /* by node */
	uint32_t *id;          /* by position */
	uint32_t *pos;         /* by id */
	uint32_t *start, *end; /* by position */
} hbm_kd;

/* n >= 1. O(n log n). */
hbm_status hbm_kd_build(hbm_arena *keep, hbm_arena *scratch, uint32_t n,
                        const uint32_t *start, const uint32_t *end,
                        hbm_kd *ret) HBM_MUST_USE;

/* First position of the k-th node at a depth; k == 2^depth: n. */
static inline uint32_t hbm_kd_first(const hbm_kd *t, uint32_t depth, uint32_t k)
{
	return (uint32_t)((uint64_t)t->n * k >> depth);
}

/* The leaf that holds a position. */
static inline uint32_t hbm_kd_leaf(const hbm_kd *t, uint32_t pos)
{
	uint32_t k = (uint32_t)(((uint64_t)pos << t->depth) / t->n);

	while (hbm_kd_first(t, t->depth, k + 1) <= pos)
		k++;
	return (1u << t->depth) + k;
}

#endif
