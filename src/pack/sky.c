/* SPDX-License-Identifier: Apache-2.0
 * The skyline decoder.
 *
 * The upper envelope of what is placed is a row of segments over time. A segment
 * lower than both neighbours is a valley: of the items whose life lies inside it
 * the most wanted one is put on its floor; when there is none the valley is
 * filled up to its lower neighbour and joined with it.
 *
 * What happens in a valley depends on nothing outside, so valleys need not be
 * taken in order of height: the walk goes to the nearest one, which keeps memory
 * accesses close and needs no heap. The most wanted item inside comes from a kd
 * tree of lives with the best rank below each node.
 *
 * Cost: O(1) segments for each item, each with one search of O(log n) nodes for
 * lives like those of programs, O(sqrt n) at worst. About 50 bytes an item.
 * Source: best-fit skylines of strip packing (Burke et al. 2004), with fixed
 * places in time (Sekiyama et al. 2018). */
#include "pack/sky.h"
#include "pack/kd.h"

#include <string.h>

#define WALL UINT64_MAX

/* By its first tick; segments tile all ticks. */
typedef struct segment {
	uint64_t height;
	uint32_t end, left; /* left: first tick of the one before */
} segment;

struct hbm_sky {
	const hbm_inst *in;
	hbm_kd kd;
	uint32_t *best; /* by node: highest rank below it, 0: none */
	uint32_t *rank; /* by position; 0: placed */
	segment *seg;
	uint64_t steps;
};

hbm_status hbm_sky_new(hbm_arena *keep, hbm_arena *scratch, const hbm_inst *in,
                       hbm_sky **ret)
{
	hbm_sky *s = HBM_NEW(keep, hbm_sky);

	HBM_NEED(s);
	s->in = in;
	HBM_TRY(hbm_kd_build(keep, scratch, in->n, in->start, in->end, &s->kd));
	s->best = HBM_ARRAY(keep, uint32_t, (size_t)2 << s->kd.depth);
	s->rank = HBM_ARRAY(keep, uint32_t, in->n);
	s->seg = HBM_ARRAY(keep, segment, in->n_ticks);
	HBM_NEED(s->best && s->rank && s->seg);
	*ret = s;
	return HBM_OK;
}

uint64_t hbm_sky_steps(const hbm_sky *s)
{
	return s->steps;
}

/* ---- the tree ------------------------------------------------------------- */

static uint32_t best_of_leaf(const hbm_sky *s, uint32_t k)
{
	uint32_t to = hbm_kd_first(&s->kd, s->kd.depth, k + 1), best = 0;

	for (uint32_t i = hbm_kd_first(&s->kd, s->kd.depth, k); i < to; i++)
		best = s->rank[i] > best ? s->rank[i] : best;
	return best;
}

static void fill_tree(hbm_sky *s, const uint32_t *order)
{
	uint32_t first = 1u << s->kd.depth;

	for (uint32_t k = 0; k < s->kd.n; k++)
		s->rank[s->kd.pos[order[k]]] = s->kd.n - k;
	for (uint32_t k = 0; k < first; k++)
		s->best[first + k] = best_of_leaf(s, k);
	for (uint32_t v = first - 1; v; v--) {
		uint32_t a = s->best[2 * v], b = s->best[2 * v + 1];

		s->best[v] = a > b ? a : b;
	}
}

static void take_out(hbm_sky *s, uint32_t pos)
{
	uint32_t leaf = hbm_kd_leaf(&s->kd, pos), gone = s->rank[pos], v;

	s->rank[pos] = 0;
	if (s->best[leaf] != gone)
		return;
	s->best[leaf] = best_of_leaf(s, leaf - (1u << s->kd.depth));
	for (v = leaf / 2; v && s->best[v] == gone; v /= 2) {
		uint32_t a = s->best[2 * v], b = s->best[2 * v + 1];

		s->best[v] = a > b ? a : b;
	}
}

static uint32_t search_leaf(const hbm_sky *s, uint32_t k, uint32_t from, uint32_t to,
                            uint32_t best)
{
	uint32_t end = hbm_kd_first(&s->kd, s->kd.depth, k + 1);

	for (uint32_t i = hbm_kd_first(&s->kd, s->kd.depth, k); i < end; i++)
		if (s->rank[i] > best && s->kd.start[i] >= from && s->kd.end[i] <= to)
			best = s->rank[i];
	return best;
}

/* Highest rank of an unplaced item inside [from, to); 0: none. */
static uint32_t search(hbm_sky *s, uint32_t from, uint32_t to)
{
	uint32_t stack[33], n = 1, best = 0, first = 1u << s->kd.depth;

	stack[0] = 1;
	while (n) {
		uint32_t v = stack[--n], a;
		const hbm_kd_box *x = &s->kd.box[v];

		s->steps++;
		if (s->best[v] <= best || x->max_start < from || x->min_end > to)
			continue;
		if (x->min_start >= from && x->max_end <= to) {
			best = s->best[v];
			continue;
		}
		if (v >= first) {
			best = search_leaf(s, v - first, from, to, best);
			continue;
		}
		a = s->best[2 * v] > s->best[2 * v + 1] ? 2 * v : 2 * v + 1;
		stack[n++] = a ^ 1; /* the more wanted child is looked at first */
		stack[n++] = a;
	}
	return best;
}

/* ---- segments ------------------------------------------------------------- */

static uint64_t height_left(const hbm_sky *s, uint32_t at)
{
	return at ? s->seg[s->seg[at].left].height : WALL;
}

static uint64_t height_right(const hbm_sky *s, uint32_t at)
{
	uint32_t end = s->seg[at].end;

	return end < s->in->n_ticks ? s->seg[end].height : WALL;
}

static void set_end(hbm_sky *s, uint32_t at, uint32_t end)
{
	s->seg[at].end = end;
	if (end < s->in->n_ticks)
		s->seg[end].left = at;
}

/* Joins neighbours of the same height; the first tick of what comes out. */
static uint32_t join(hbm_sky *s, uint32_t at)
{
	uint64_t h = s->seg[at].height;

	if (height_right(s, at) == h)
		set_end(s, at, s->seg[s->seg[at].end].end);
	if (height_left(s, at) == h) {
		uint32_t left = s->seg[at].left;

		set_end(s, left, s->seg[at].end);
		at = left;
	}
	return at;
}

/* Cuts [start, end) out of the segment at `at` and sets it to `height`; returns
 * where to go on. */
static uint32_t raise(hbm_sky *s, uint32_t at, uint32_t start, uint32_t end,
                      uint64_t height)
{
	segment old = s->seg[at];

	if (end < old.end) {
		s->seg[end].height = old.height;
		set_end(s, end, old.end);
	}
	if (start > at)
		s->seg[start].left = at;
	s->seg[at].end = start; /* holds only when start > at */
	s->seg[start].height = height;
	set_end(s, start, end);
	if (start > at)
		return at;
	if (end < old.end) {
		join(s, start);
		return end;
	}
	return join(s, start);
}

uint64_t hbm_sky_decode(hbm_sky *s, const uint32_t *order, uint64_t limit,
                        uint64_t *offset)
{
	const hbm_inst *in = s->in;
	uint64_t top = 0;
	uint32_t at = 0;

	fill_tree(s, order);
	s->seg[0] = (segment){0, in->n_ticks, 0};
	while (s->best[1]) {
		segment x = s->seg[at];
		uint64_t left = height_left(s, at), right = height_right(s, at), y;
		uint32_t rank, i;

		if (left < x.height) {
			at = x.left;
			continue;
		}
		if (right < x.height) {
			at = x.end;
			continue;
		}
		rank = search(s, at, x.end);
		if (!rank) {
			s->seg[at].height = left < right ? left : right;
			at = join(s, at);
			continue;
		}
		i = order[in->n - rank];
		y = hbm_item_up(in, i, x.height);
		if (y + in->size[i] > limit)
			return HBM_NO_OFFSET;
		offset[i] = y;
		y += in->size[i];
		top = y > top ? y : top;
		take_out(s, s->kd.pos[i]);
		at = raise(s, at, in->start[i], in->end[i], y);
	}
	return top;
}
