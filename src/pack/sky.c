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
#include "pack/segment.h"

struct hbm_sky {
	const hbm_inst *in;
	hbm_kd kd;
	uint32_t *best; /* by node: highest rank below it, 0: none */
	uint32_t *rank; /* by position; 0: placed */
	hbm_segment *seg;
	uint64_t area; /* of all items */
	bool lost;
	uint64_t steps;
};

hbm_status hbm_sky_new(hbm_arena *keep, hbm_arena *scratch, const hbm_inst *in,
                       hbm_sky **ret)
{
	hbm_sky *s = HBM_NEW(keep, hbm_sky);

	HBM_NEED(s);
	s->in = in;
	s->area = hbm_inst_area(in);
	HBM_TRY(hbm_kd_build(keep, scratch, in->n, in->start, in->end, &s->kd));
	s->best = HBM_ARRAY(keep, uint32_t, (size_t)2 << s->kd.depth);
	s->rank = HBM_ARRAY(keep, uint32_t, in->n);
	s->seg = HBM_ARRAY(keep, hbm_segment, (size_t)in->n_ticks + 1);
	HBM_NEED(s->best && s->rank && s->seg);
	*ret = s;
	return HBM_OK;
}

uint64_t hbm_sky_steps(const hbm_sky *s)
{
	return s->steps;
}

bool hbm_sky_lost(const hbm_sky *s)
{
	return s->lost;
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

/* ---- the walk -------------------------------------------------------------- */

uint64_t hbm_sky_decode(hbm_sky *s, const uint32_t *order, uint64_t limit,
                        uint64_t *offset)
{
	const hbm_inst *in = s->in;
	hbm_segment *seg = s->seg;
	uint64_t top = 0, lost = 0, spare = hbm_inst_spare(in, s->area, limit), y;
	uint32_t at = 0, rank, i;

	s->lost = false;
	fill_tree(s, order);
	hbm_segment_begin(seg, in->n_ticks);
	while (s->best[1]) {
		at = hbm_segment_valley(seg, at);
		rank = search(s, at, seg[at].end);
		if (!rank) {
			lost = hbm_add_sat(lost, hbm_segment_lost(seg, at));
			s->lost = lost > spare;
			if (s->lost)
				return HBM_NO_OFFSET;
			at = hbm_segment_fill(seg, at);
			continue;
		}
		i = order[in->n - rank];
		y = hbm_item_up(in, i, seg[at].height);
		if (y + in->size[i] > limit)
			return HBM_NO_OFFSET;
		offset[i] = y;
		y += in->size[i];
		top = y > top ? y : top;
		take_out(s, s->kd.pos[i]);
		at = hbm_segment_raise(seg, at, in->start[i], in->end[i], y);
	}
	return top;
}
