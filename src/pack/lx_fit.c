/* SPDX-License-Identifier: Apache-2.0 */
/* lx_fit: place buffers by priority, first-fit or best-fit.
 *
 * Decides   an address or none for each buffer, once.
 * Method    Short lives with many uses come first: buffers are sorted by
 *           (life - discount) / (uses + 1/2 for a write), then by life, where
 *           the discount is 1/4 for having a parent and 1/4 for being one; then
 *           put in the topological order of the in-place edges that is nearest
 *           to that. Each takes the base of a placed parent when the gap around
 *           the parent holds it, else a gap between the placed buffers it is
 *           live with: the lowest (first-fit), or the one it fills best.
 * Keeps     the placed buffers are legal together at any time.
 * Cost      O((n + meetings) log n).
 * Source    the first-fit and best-fit solvers of torch-spyre's scratchpad
 *           planner, so that addresses can be compared. No groups: the members
 *           of one stay out. */
#include "pack/lx_internal.h"

#include <stdlib.h>

typedef struct rank_key {
	uint64_t num, den; /* the fraction times 2, both sides scaled */
	uint32_t life, who;
} rank_key;

typedef struct fit {
	lx_view *v;
	bool best;
	uint64_t *address;
	lx_index placed;
	lx_ids met, parents;   /* scratch */
	lx_spans blocks, gaps; /* scratch */
} fit;

/* Exact: ticks are below 2^30, so the products stay below 2^63. */
static int by_rank(const void *a, const void *b)
{
	const rank_key *x = a, *y = b;
	uint64_t l = x->num * y->den, r = y->num * x->den;

	if (l != r)
		return l < r ? -1 : 1;
	if (x->life != y->life)
		return x->life < y->life ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static bool has_partner(const lx_view *v, const uint32_t *ids, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (v->ok[ids[k]])
			return true;
	return false;
}

static rank_key rank_of(const lx_view *v, uint32_t i)
{
	uint32_t n_parents, n_children, life = v->end[i] - v->start[i];
	const uint32_t *parents = lx_parents(v, i, &n_parents);
	const uint32_t *children = lx_children(v, i, &n_children);
	uint64_t discount = has_partner(v, parents, n_parents) +
	                    has_partner(v, children, n_children);
	uint64_t uses = v->p->use_first[i + 1] - v->p->use_first[i];
	uint64_t write = v->p->input && v->p->input[i] ? 0 : 1;

	return (rank_key){4 * (uint64_t)life - discount, 2 * uses + write, life, i};
}

/* Binary heap of places in the sorted order, smallest first. */
static void heap_push(lx_ids *heap, uint32_t x)
{
	uint32_t k = heap->n++;

	for (; k && heap->items[(k - 1) / 2] > x; k = (k - 1) / 2)
		heap->items[k] = heap->items[(k - 1) / 2];
	heap->items[k] = x;
}

static uint32_t heap_pop(lx_ids *heap)
{
	uint32_t top = heap->items[0], x = heap->items[--heap->n], k = 0;

	for (;;) {
		uint32_t c = 2 * k + 1;
		if (c >= heap->n)
			break;
		if (c + 1 < heap->n && heap->items[c + 1] < heap->items[c])
			c++;
		if (heap->items[c] >= x)
			break;
		heap->items[k] = heap->items[c];
		k = c;
	}
	heap->items[k] = x;
	return top;
}

/* Parents before children; among the ready ones the best rank. A cycle cannot
 * arise: a parent ends where its child starts and lives longer than a tick. */
static hbm_status sort_buffers(fit *f, lx_ids *order)
{
	lx_view *v = f->v;
	HBM_VEC(rank_key) keys = {0};
	uint32_t *rank = HBM_ARRAY(v->mem, uint32_t, v->n);
	uint32_t *waits = HBM_ZARRAY(v->mem, uint32_t, v->n);
	lx_ids heap = {0};
	uint32_t n;

	HBM_NEED(rank && waits && HBM_RESERVE(v->mem, &keys, v->n));
	for (uint32_t i = 0; i < v->n; i++) {
		lx_group(v, i, &n);
		if (v->ok[i] && n == 1)
			keys.items[keys.n++] = rank_of(v, i);
	}
	HBM_NEED(HBM_RESERVE(v->mem, &heap, keys.n));
	if (keys.n)
		qsort(keys.items, keys.n, sizeof *keys.items, by_rank);
	for (uint32_t i = 0; i < v->n; i++)
		rank[i] = HBM_NONE;
	for (uint32_t k = 0; k < keys.n; k++)
		rank[keys.items[k].who] = k;
	for (uint32_t k = 0; k < keys.n; k++) {
		const uint32_t *ids = lx_parents(v, keys.items[k].who, &n);
		for (uint32_t j = 0; j < n; j++)
			waits[k] += rank[ids[j]] != HBM_NONE;
		if (!waits[k])
			heap_push(&heap, k);
	}
	while (heap.n) {
		uint32_t i = keys.items[heap_pop(&heap)].who;
		const uint32_t *ids = lx_children(v, i, &n);
		HBM_NEED(HBM_PUSH(v->mem, order, i));
		for (uint32_t j = 0; j < n; j++)
			if (rank[ids[j]] != HBM_NONE && !--waits[rank[ids[j]]])
				heap_push(&heap, rank[ids[j]]);
	}
	return HBM_OK;
}

/* Gaps of at least `size` bytes in [0, capacity) that `blocks` leave. */
static hbm_status find_gaps(fit *f, uint64_t size)
{
	uint64_t end = 0, capacity = f->v->p->capacity;

	f->gaps.n = 0;
	if (f->blocks.n)
		qsort(f->blocks.items, f->blocks.n, sizeof(lx_span), lx_by_address);
	for (uint32_t k = 0; k <= f->blocks.n; k++) {
		uint64_t lo = k < f->blocks.n ? f->blocks.items[k].lo : capacity;
		if (lo > end && lo - end >= size)
			HBM_NEED(HBM_PUSH(f->v->mem, &f->gaps, (lx_span){end, lo, 0}));
		if (k < f->blocks.n && end < f->blocks.items[k].hi)
			end = f->blocks.items[k].hi;
	}
	return HBM_OK;
}

/* Address in the gap for buffer i: the base of the first parent inside it, or
 * with no parents asked for, its aligned start. */
static uint64_t spot_in(const fit *f, const lx_span *gap, uint32_t i, bool on_parent)
{
	const uint64_t *size = f->v->p->size;
	uint64_t at = lx_align_up(f->v, gap->lo);

	if (!on_parent)
		return at <= gap->hi && gap->hi - at >= size[i] ? at : HBM_NO_OFFSET;
	for (uint32_t k = 0; k < f->parents.n; k++) {
		uint32_t q = f->parents.items[k];
		if (f->address[q] >= gap->lo && f->address[q] + size[q] <= gap->hi)
			return f->address[q];
	}
	return HBM_NO_OFFSET;
}

static uint64_t choose_gap(const fit *f, uint32_t i, bool on_parent)
{
	uint64_t best = HBM_NO_OFFSET, best_left = UINT64_MAX;

	for (uint32_t k = 0; k < f->gaps.n; k++) {
		const lx_span *gap = &f->gaps.items[k];
		uint64_t at = spot_in(f, gap, i, on_parent);
		uint64_t left = gap->hi - gap->lo - f->v->p->size[i];
		if (at == HBM_NO_OFFSET)
			continue;
		if (!f->best)
			return at;
		if (left < best_left) {
			best = at;
			best_left = left;
		}
	}
	return best;
}

static hbm_status fill_blocks(fit *f, uint32_t i, bool skip_parents)
{
	const uint64_t *size = f->v->p->size;

	f->blocks.n = 0;
	for (uint32_t k = 0; k < f->met.n; k++) {
		uint32_t q = f->met.items[k];
		if (skip_parents && lx_is_parent(f->v, i, q))
			continue;
		HBM_NEED(HBM_PUSH(f->v->mem, &f->blocks,
		                  (lx_span){f->address[q], f->address[q] + size[q], q}));
	}
	return HBM_OK;
}

static hbm_status place(fit *f, uint32_t i)
{
	uint64_t size = f->v->p->size[i], at = HBM_NO_OFFSET;
	uint32_t n;
	const uint32_t *parents = lx_parents(f->v, i, &n);

	f->met.n = f->parents.n = 0;
	HBM_NEED(lx_index_meet(&f->placed, i, &f->met));
	for (uint32_t k = 0; k < n; k++)
		if (f->address[parents[k]] != HBM_NO_OFFSET)
			HBM_NEED(HBM_PUSH(f->v->mem, &f->parents, parents[k]));
	if (f->parents.n) {
		HBM_TRY(fill_blocks(f, i, true));
		HBM_TRY(find_gaps(f, size));
		at = choose_gap(f, i, true);
	}
	if (at == HBM_NO_OFFSET) {
		HBM_TRY(fill_blocks(f, i, false));
		HBM_TRY(find_gaps(f, size));
		at = choose_gap(f, i, false);
	}
	f->address[i] = at;
	if (at != HBM_NO_OFFSET)
		lx_index_add(&f->placed, i);
	return HBM_OK;
}

static hbm_status run(lx_view *v, lx_result *r, bool best)
{
	fit f = {.v = v, .best = best, .address = r->address};
	lx_ids order = {0};

	HBM_NEED(lx_index_init(&f.placed, v));
	HBM_TRY(sort_buffers(&f, &order));
	HBM_TRY(lx_place_pins(v, &f.placed, f.address));
	for (uint32_t k = 0; k < order.n; k++)
		if (lx_pin(v, order.items[k]) == HBM_NO_OFFSET)
			HBM_TRY(place(&f, order.items[k]));
	r->saved = lx_saved(v, r->address);
	return HBM_OK;
}

hbm_status lx_run_first_fit(lx_view *v, lx_result *r)
{
	return run(v, r, false);
}

hbm_status lx_run_best_fit(lx_view *v, lx_result *r)
{
	return run(v, r, true);
}
