/* SPDX-License-Identifier: Apache-2.0
 * Building the tree over lives: two lists, sorted by start and by length, are cut
 * together at each node. The cut list gives its halves; the other is parted
 * stably by the side of each life. O(n) per depth, no input is worse than another. */
#include "pack/kd.h"

#include <string.h>

typedef struct builder {
	const uint32_t *start, *end;
	uint32_t *by_start, *by_life, *part;
	uint8_t *right; /* by id: falls into the right half */
} builder;

static uint32_t life(const builder *b, uint32_t id)
{
	return b->end[id] - b->start[id];
}

/* Parts items [lo, hi) of the list by side, both in order. */
static void part(builder *b, uint32_t *list, uint32_t lo, uint32_t hi)
{
	uint32_t n_left = lo, n_right = 0;

	for (uint32_t i = lo; i < hi; i++) {
		uint32_t id = list[i];

		if (b->right[id])
			b->part[n_right++] = id;
		else
			list[n_left++] = id;
	}
	memcpy(list + n_left, b->part, n_right * sizeof *list);
}

static void cut(builder *b, uint32_t lo, uint32_t mid, uint32_t hi)
{
	uint32_t starts = b->start[b->by_start[hi - 1]] - b->start[b->by_start[lo]];
	uint32_t lives = life(b, b->by_life[hi - 1]) - life(b, b->by_life[lo]);
	bool by_start = starts >= lives;
	uint32_t *lead = by_start ? b->by_start : b->by_life;

	for (uint32_t i = lo; i < hi; i++)
		b->right[lead[i]] = i >= mid;
	part(b, by_start ? b->by_life : b->by_start, lo, hi);
}

static hbm_status sort_lives(hbm_arena *scratch, uint32_t n, builder *b)
{
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, n);

	HBM_NEED(key);
	for (uint32_t i = 0; i < n; i++) {
		b->by_start[i] = b->by_life[i] = i;
		key[i] = b->start[i];
	}
	HBM_TRY(hbm_sort_ids(scratch, b->by_start, n, key));
	for (uint32_t i = 0; i < n; i++)
		key[i] = life(b, i);
	return hbm_sort_ids(scratch, b->by_life, n, key);
}

static void make_boxes(hbm_kd *t)
{
	uint32_t first = 1u << t->depth;

	for (uint32_t k = 0; k < first; k++) {
		hbm_kd_box x = {UINT32_MAX, 0, UINT32_MAX, 0};
		uint32_t hi = hbm_kd_first(t, t->depth, k + 1);

		for (uint32_t i = hbm_kd_first(t, t->depth, k); i < hi; i++) {
			x.min_start = t->start[i] < x.min_start ? t->start[i]
								: x.min_start;
			x.max_start = t->start[i] > x.max_start ? t->start[i]
								: x.max_start;
			x.min_end = t->end[i] < x.min_end ? t->end[i] : x.min_end;
			x.max_end = t->end[i] > x.max_end ? t->end[i] : x.max_end;
		}
		t->box[first + k] = x;
	}
	for (uint32_t v = first - 1; v; v--) {
		hbm_kd_box a = t->box[2 * v], b = t->box[2 * v + 1];

		a.min_start = b.min_start < a.min_start ? b.min_start : a.min_start;
		a.max_start = b.max_start > a.max_start ? b.max_start : a.max_start;
		a.min_end = b.min_end < a.min_end ? b.min_end : a.min_end;
		a.max_end = b.max_end > a.max_end ? b.max_end : a.max_end;
		t->box[v] = a;
	}
}

hbm_status hbm_kd_build(hbm_arena *keep, hbm_arena *scratch, uint32_t n,
                        const uint32_t *start, const uint32_t *end, hbm_kd *ret)
{
	builder b = {start, end, NULL, NULL, NULL, NULL};
	hbm_kd t = {.n = n};

	while (((uint64_t)n + (1u << t.depth) - 1) >> t.depth > HBM_KD_LEAF)
		t.depth++;
	t.box = HBM_ARRAY(keep, hbm_kd_box, (size_t)2 << t.depth);
	t.id = HBM_ARRAY(keep, uint32_t, n);
	t.pos = HBM_ARRAY(keep, uint32_t, n);
	t.start = HBM_ARRAY(keep, uint32_t, n);
	t.end = HBM_ARRAY(keep, uint32_t, n);
	b.by_start = t.id;
	b.by_life = HBM_ARRAY(scratch, uint32_t, n);
	b.part = HBM_ARRAY(scratch, uint32_t, n);
	b.right = HBM_ARRAY(scratch, uint8_t, n);
	HBM_NEED(t.box && t.id && t.pos && t.start && t.end);
	HBM_NEED(b.by_life && b.part && b.right);
	HBM_TRY(sort_lives(scratch, n, &b));
	for (uint32_t d = 0; d < t.depth; d++)
		for (uint32_t k = 0; k < 1u << d; k++)
			cut(&b, hbm_kd_first(&t, d, k), hbm_kd_first(&t, d + 1, 2 * k + 1),
			    hbm_kd_first(&t, d, k + 1));
	for (uint32_t i = 0; i < n; i++) {
		t.pos[t.id[i]] = i;
		t.start[i] = start[t.id[i]];
		t.end[i] = end[t.id[i]];
	}
	make_boxes(&t);
	*ret = t;
	return HBM_OK;
}
