/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_RAW_H
#define HBM_PACK_RAW_H

/* The items of a problem, before they are sorted and their bytes and times reduced. */

#include "base/diag.h"
#include "pack/problem.h"

/* Items before they are sorted. Bytes, raw times. */
typedef struct hbm_raw {
	uint32_t n;
	uint32_t *of;       /* buffer -> item, or HBM_NONE */
	uint64_t *base;     /* sets only: shift of the set's lowest member */
	uint64_t *size, *mod, *rest, *pin, *hint;
	int64_t *start, *end;
	uint32_t *group;    /* items without pieces */
	/* Buffers by item: members[first[i] .. first[i + 1]); sets only. */
	uint32_t *first, *members;
	bool sets;
} hbm_raw;

static inline bool hbm_has_life(const hbm_problem *p, uint32_t i)
{
	return p->size[i] > 0 && p->start[i] < p->end[i];
}

static inline bool hbm_in_set(const hbm_problem *p, uint32_t i)
{
	return p->set && p->set[i] != HBM_NONE;
}

static inline uint64_t hbm_shift_of(const hbm_problem *p, uint32_t i)
{
	return hbm_in_set(p, i) && p->shift ? p->shift[i] : 0;
}

/* `of` is there already, the rest is made. HBM_SEMANTIC: members of a set contradict
 * each other. O(n log n). */
hbm_status hbm_raw_gather(hbm_arena *scratch, const hbm_problem *p, hbm_diags *d,
                          hbm_raw *r) HBM_MUST_USE;

#endif
