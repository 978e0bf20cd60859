/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_SEGMENT_H
#define HBM_PACK_SEGMENT_H

/* A row of segments that tile the ticks of an instance: the skyline. A segment
 * is known by its first tick; neighbours differ in height. Beyond both ends
 * stands one wall, at index n_ticks. */

#include "base/ckd.h"

#define HBM_WALL UINT64_MAX /* its height */

typedef struct hbm_segment {
	uint64_t height;
	uint32_t end, left; /* left: first tick of the one before, or the wall */
} hbm_segment;

/* Ticks 0..n_ticks - 1 at height 0; n_ticks + 1 segments of room. */
static inline void hbm_segment_begin(hbm_segment *seg, uint32_t n_ticks)
{
	seg[0] = (hbm_segment){0, n_ticks, n_ticks};
	seg[n_ticks] = (hbm_segment){HBM_WALL, n_ticks, 0};
}

static inline void hbm_segment_end(hbm_segment *seg, uint32_t at, uint32_t end)
{
	seg[at].end = end;
	seg[end].left = at;
}

/* Joins neighbours of the same height; the first tick of what comes out. */
static inline uint32_t hbm_segment_join(hbm_segment *seg, uint32_t at)
{
	uint64_t h = seg[at].height;
	uint32_t end = seg[at].end, left = seg[at].left;

	if (seg[end].height == h)
		hbm_segment_end(seg, at, seg[end].end);
	if (seg[left].height != h)
		return at;
	hbm_segment_end(seg, left, seg[at].end);
	return left;
}

/* Area below the lower neighbour of the valley at `at`. */
static inline uint64_t hbm_segment_lost(const hbm_segment *seg, uint32_t at)
{
	uint64_t left = seg[seg[at].left].height, right = seg[seg[at].end].height;

	return hbm_mul_sat((left < right ? left : right) - seg[at].height,
	                   seg[at].end - at);
}

/* Fills the valley at `at` up to its lower neighbour. */
static inline uint32_t hbm_segment_fill(hbm_segment *seg, uint32_t at)
{
	uint64_t left = seg[seg[at].left].height, right = seg[seg[at].end].height;

	seg[at].height = left < right ? left : right;
	return hbm_segment_join(seg, at);
}

/* From `at` to a segment that is lower than both neighbours. */
static inline uint32_t hbm_segment_valley(const hbm_segment *seg, uint32_t at)
{
	for (;;) {
		const hbm_segment *x = &seg[at];

		if (seg[x->left].height < x->height)
			at = x->left;
		else if (seg[x->end].height < x->height)
			at = x->end;
		else
			return at;
	}
}

/* Cuts [start, end) out of the segment at `at` and sets it to `height`, which is
 * above; returns a segment to go on with, the lower ones first. */
static inline uint32_t hbm_segment_raise(hbm_segment *seg, uint32_t at, uint32_t start,
                                         uint32_t end, uint64_t height)
{
	hbm_segment old = seg[at];

	if (end < old.end) {
		seg[end].height = old.height;
		hbm_segment_end(seg, end, old.end);
	}
	if (start > at)
		hbm_segment_end(seg, at, start);
	seg[start].height = height;
	hbm_segment_end(seg, start, end);
	start = hbm_segment_join(seg, start);
	if (start > at)
		return at;
	return end < old.end ? end : start;
}

#endif
