/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_LX_CORE_H
#define HBM_PACK_LX_CORE_H

/* The scratchpad problem cut down to what search and proof need: only buffers
 * that may be placed, addresses in units of the alignment, and time cut at the
 * births, so that two items meet exactly when they share a segment.
 *
 *     ticks     0   1   2   3   4   5         segments are the ticks where
 *     a         |-----------|                 something is born; a covers 0..1,
 *     b                 |-----------|         b covers 1: a peak of live bytes
 *     segments  0       1                     is always at a birth */

#include "pack/lx_internal.h"

typedef struct lx_item {
	uint32_t lo, hi;    /* segments [lo, hi) */
	int64_t units;      /* size in units, rounded up */
	int64_t max_base;   /* highest base inside the capacity */
	int64_t pin;        /* required base, -1: free */
	int64_t value;
	uint32_t partner;   /* first of its partners in lx_core.partners */
	uint32_t n_partners;
	uint32_t buffer;
	bool child;         /* has a parent: its first segment may cost nothing */
} lx_item;

typedef struct lx_core {
	lx_view *v;
	hbm_arena *mem;
	uint32_t n, n_segments;
	lx_item *items;     /* by (lo, buffer) */
	uint32_t *item_of;  /* buffer -> item, HBM_NONE: none */
	uint32_t *partners; /* items that may share a base with it */
	int64_t capacity;   /* units, rounded up */
	bool groups;        /* some group has two members or more */
} lx_core;

hbm_status lx_core_init(lx_core *c, lx_view *v) HBM_MUST_USE;
bool lx_partners(const lx_core *c, uint32_t a, uint32_t b);
/* Bases of the items, -1: out, from and to the addresses of buffers. */
void lx_core_read(const lx_core *c, const uint64_t *address, int64_t *base);
void lx_core_write(const lx_core *c, const int64_t *base, uint64_t *address);
int64_t lx_core_value(const lx_core *c, const int64_t *base);

static inline bool lx_items_meet(const lx_item *a, const lx_item *b)
{
	return a->lo < b->hi && b->lo < a->hi;
}

/* Prices of the segments and the bound they prove. */
typedef struct lx_prices {
	uint64_t bound;   /* no layout saves more */
	int64_t *profit;  /* per item: value less what its room costs, in 2^-shift
	                   * of `scale` bytes; at most that is lost by a decision
	                   * against its sign */
	uint64_t bound_scaled; /* the bound in the same measure */
	uint64_t scale;
	uint32_t shift;
} lx_prices;

/* `saved`: the best known. */
hbm_status lx_price(lx_core *c, uint64_t saved, lx_prices *ret) HBM_MUST_USE;

/* Improves `base` for a fixed number of steps. Pinned items stay as they are. */
hbm_status lx_improve(lx_core *c, const lx_prices *prices, uint64_t steps,
                      int64_t *base, uint64_t *ret_steps) HBM_MUST_USE;
/* The same for very many items: window by window in time, `steps` for each window
 * in which something is out. */
hbm_status lx_improve_windows(lx_core *c, const lx_prices *prices, uint64_t steps,
                              int64_t *base, uint64_t *ret_steps) HBM_MUST_USE;

#endif
