/* SPDX-License-Identifier: Apache-2.0
 * `bump`: the baseline, a bump pointer with free-list reuse.
 *
 * Buffers come in order of (start, end, index). First all blocks whose life is
 * over are freed, in the order they were given out; each goes to the tail of the
 * free list. Then the first block of the list that is large enough is taken, and
 * what is left of it goes to the tail; without one, the pool grows. Blocks are
 * never merged. A buffer that would push the end of the pool past the capacity
 * changes nothing and stays out; equality fits.
 *
 * The list is an array that only grows at its tail, under a tree of maxima, so
 * "first in list order that is large enough" costs O(log n).
 * Source: HBM pool planning of the Spyre compiler. */
#include "pack/bump.h"
#include "base/ready.h"

typedef struct free_list {
	uint64_t *offset;
	uint64_t *room; /* tree of maxima; 0: no block, else size + 1 */
	uint32_t n, cap;
} free_list;

typedef struct bump {
	uint64_t *offset;
	uint64_t *size; /* rounded up to the alignment */
	uint64_t pool_end, limit;
	const uint32_t *ids; /* by order of coming */
	free_list list;
	hbm_ready_heap live;  /* buffers with a block by (end, order of coming) */
	hbm_ready_heap freed; /* in one step, by order */
} bump;

static void set_room(free_list *l, uint32_t at, uint64_t room)
{
	uint32_t node = l->cap + at;

	l->room[node] = room;
	for (node /= 2; node; node /= 2) {
		uint64_t a = l->room[2 * node], b = l->room[2 * node + 1];

		l->room[node] = a > b ? a : b;
	}
}

static void append(free_list *l, uint64_t offset, uint64_t size)
{
	l->offset[l->n] = offset;
	set_room(l, l->n++, size + 1);
}

/* Position of the first block of at least `size` bytes, HBM_NONE: none. */
static uint32_t first_fit(const free_list *l, uint64_t size)
{
	uint32_t node = 1;

	if (l->room[1] < size + 1)
		return HBM_NONE;
	while (node < l->cap)
		node = 2 * node + (l->room[2 * node] < size + 1);
	return node - l->cap;
}

static uint64_t allocate(bump *b, uint64_t size)
{
	free_list *l = &b->list;
	uint32_t at = first_fit(l, size);
	uint64_t offset, room;

	if (at == HBM_NONE) {
		if (size > b->limit || b->pool_end > b->limit - size)
			return HBM_NO_OFFSET;
		offset = b->pool_end;
		b->pool_end += size;
		return offset;
	}
	offset = l->offset[at];
	room = l->room[l->cap + at] - 1;
	set_room(l, at, 0);
	if (room > size)
		append(l, offset + size, room - size);
	return offset;
}

/* Falls with the end, and has no end that it cannot take. */
static int64_t gain_of(int64_t end)
{
	return ~end;
}

static hbm_status release(hbm_arena *scratch, bump *b, int64_t start)
{
	while (b->live.n && b->live.items[0].gain >= gain_of(start)) {
		hbm_ready x = hbm_ready_pop(&b->live);

		x.gain = 0; /* now only the order counts */
		HBM_NEED(hbm_ready_push(scratch, &b->freed, x));
	}
	while (b->freed.n) {
		uint32_t i = b->ids[hbm_ready_pop(&b->freed).id];

		append(&b->list, b->offset[i], b->size[i]);
	}
	return HBM_OK;
}

/* Ids of all buffers by (start, end, index). */
static hbm_status sort_buffers(hbm_arena *scratch, const hbm_problem *p, uint32_t *ids)
{
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, (size_t)p->n + 1);

	HBM_NEED(key);
	for (uint32_t i = 0; i < p->n; i++) {
		ids[i] = i;
		key[i] = (uint64_t)p->end[i] ^ (uint64_t)1 << 63;
	}
	HBM_TRY(hbm_sort_ids(scratch, ids, p->n, key));
	for (uint32_t i = 0; i < p->n; i++)
		key[i] = (uint64_t)p->start[i] ^ (uint64_t)1 << 63;
	return hbm_sort_ids(scratch, ids, p->n, key);
}

/* Least common multiple of all alignments; 0: 2^62 or more. */
static uint64_t common_multiple(const hbm_problem *p)
{
	uint64_t all = 1;

	for (uint32_t i = 0; p->align && i < p->n; i++) {
		uint64_t more = p->align[i] / hbm_gcd(all, p->align[i]);

		if (!hbm_mul(all, more, &all) || all >= (uint64_t)1 << 62)
			return 0;
	}
	return all;
}

static hbm_status bump_init(hbm_arena *scratch, const hbm_problem *p, bump *b)
{
	uint64_t align = common_multiple(p), sum = 0;
	size_t n = (size_t)p->n + 1;

	if (align == 0)
		return HBM_UNSUPPORTED;
	b->list.cap = 2;
	while (b->list.cap < 2 * n)
		b->list.cap *= 2;
	b->list.offset = HBM_ARRAY(scratch, uint64_t, b->list.cap);
	b->list.room = HBM_ZARRAY(scratch, uint64_t, 2 * (size_t)b->list.cap);
	b->size = HBM_ARRAY(scratch, uint64_t, n);
	HBM_NEED(b->list.offset && b->list.room && b->size);
	HBM_NEED(HBM_RESERVE(scratch, &b->live, n));
	HBM_NEED(HBM_RESERVE(scratch, &b->freed, n));
	for (uint32_t i = 0; i < p->n; i++) {
		if (!hbm_align_up(p->size[i], align, &b->size[i]))
			return HBM_UNSUPPORTED;
		sum = hbm_add_sat(sum, b->size[i]);
	}
	return sum < (uint64_t)1 << 62 ? HBM_OK : HBM_UNSUPPORTED;
}

hbm_status hbm_bump(hbm_arena *scratch, const hbm_problem *p, bool keep_going,
                    uint64_t *offset, uint64_t *ret_pool_end)
{
	uint32_t *ids = HBM_ARRAY(scratch, uint32_t, (size_t)p->n + 1);
	bump b = {.offset = offset, .limit = HBM_NO_OFFSET, .ids = ids};

	HBM_NEED(ids);
	HBM_TRY(bump_init(scratch, p, &b));
	HBM_TRY(sort_buffers(scratch, p, ids));
	if (keep_going)
		b.limit = p->capacity;
	for (uint32_t k = 0; k < p->n; k++) {
		uint32_t i = ids[k];

		HBM_TRY(release(scratch, &b, p->start[i]));
		offset[i] = allocate(&b, b.size[i]);
		if (offset[i] != HBM_NO_OFFSET)
			HBM_NEED(hbm_ready_push(scratch, &b.live,
			                        (hbm_ready){gain_of(p->end[i]), k}));
	}
	*ret_pool_end = b.pool_end;
	return HBM_OK;
}
