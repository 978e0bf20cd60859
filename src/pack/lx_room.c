/* SPDX-License-Identifier: Apache-2.0 */
/* lx_room: why a buffer found no place: what a layout leaves free over its life.
 *
 * Cost      O(n log n + meetings log), stopped at MAX_MEETINGS. */
#include "pack/lx_internal.h"

#include "base/ckd.h"

#include <stdlib.h>

enum { MAX_MEETINGS = 10 * 1000 * 1000 };

static void measure(const lx_view *v, lx_spans *met, uint64_t *ret_free,
                    uint64_t *ret_hole)
{
	uint64_t capacity = v->p->capacity, end = 0, used = 0, hole = 0;

	if (met->n)
		qsort(met->items, met->n, sizeof(lx_span), lx_by_address);
	for (uint32_t k = 0; k <= met->n; k++) {
		uint64_t lo = k < met->n ? met->items[k].lo : capacity;
		uint64_t hi = k < met->n ? met->items[k].hi : capacity;
		uint64_t from = lx_align_up(v, end);
		if (from < lo && lo - from > hole)
			hole = lo - from;
		if (k < met->n && hi > end) {
			used += hi - (lo < end ? end : lo);
			end = hi;
		}
	}
	*ret_free = capacity - used;
	*ret_hole = hole;
}

hbm_status hbm_lx_room(hbm_arena *scratch, const hbm_lx_problem *p,
                       const uint64_t *address, uint64_t *ret_free,
                       uint64_t *ret_hole)
{
	lx_view v;
	lx_index placed;
	lx_ids met = {0};
	lx_spans spans = {0};
	uint64_t meetings = 0;

	HBM_TRY(lx_view_init(&v, scratch, p, NULL));
	HBM_NEED(lx_index_init(&placed, &v));
	for (uint32_t i = 0; i < v.n; i++)
		if (address[i] != HBM_NO_OFFSET)
			lx_index_add(&placed, i);
	for (uint32_t i = 0; i < v.n; i++) {
		ret_free[i] = ret_hole[i] = HBM_NO_OFFSET;
		if (address[i] != HBM_NO_OFFSET || meetings > MAX_MEETINGS)
			continue;
		met.n = spans.n = 0;
		HBM_NEED(lx_index_meet(&placed, i, &met));
		meetings += met.n + 1;
		HBM_NEED(HBM_RESERVE(scratch, &spans, met.n));
		for (uint32_t k = 0; k < met.n; k++) {
			uint64_t lo = address[met.items[k]];
			spans.items[spans.n++] =
				(lx_span){lo, lo + p->size[met.items[k]], met.items[k]};
		}
		measure(&v, &spans, &ret_free[i], &ret_hole[i]);
	}
	return HBM_OK;
}
