/* SPDX-License-Identifier: Apache-2.0
 * rotation: which buffers rotate, and where they stand in the ring.
 *
 * A buffer goes right behind the one before it; where the window ends, the ring begins
 * anew. What stood there before makes room if its life has ended. Otherwise the buffer
 * does not rotate and nothing changes: buffers in the ring never wait for each other.
 * The ring is a queue of what was put into it and not yet passed over, so each buffer
 * enters and leaves it once.
 * Source     What is public of the compiler's address_rotation_dram: internal buffers
 *            that more than one basic block accesses, at consecutive offsets in a
 *            window of at most 8 GiB; not in programs with if/else. */
#include "pass/rotation.h"

/* ---- blocks --------------------------------------------------------------- */

/* The block of each op; blocks are counted up at both ends of every loop. */
static uint32_t *number_blocks(hbm_pass_cx *cx, bool *ret_branches)
{
	const hbm_program *p = cx->prog;
	uint32_t *of = HBM_ARRAY(cx->scratch, uint32_t, p->ops.n);
	hbm_node_id open[HBM_MAX_DEPTH + 1];
	uint32_t depth = 0, block = 0;

	*ret_branches = false;
	for (hbm_node_id n = 0; of && n < p->nodes.n; n++) {
		const hbm_node *node = &p->nodes.items[n];
		for (; depth && p->nodes.items[open[depth - 1]].end <= n; depth--)
			block++;
		*ret_branches |= node->kind == HBM_NODE_REGION ||
		                 node->kind == HBM_NODE_PARALLEL;
		if (node->kind == HBM_NODE_OP)
			of[node->op] = block;
		if (node->kind != HBM_NODE_LOOP)
			continue;
		open[depth++] = n;
		block++;
	}
	return of;
}

typedef struct marker {
	hbm_pass_cx *cx;
	uint32_t *first; /* by storage: the block of its first access, HBM_NONE */
	bool *crosses;
} marker;

static void mark(marker *m, hbm_span side, uint32_t block)
{
	for (uint32_t i = side.first; i < side.first + side.n; i++) {
		uint32_t s = m->cx->an->of[m->cx->prog->operands.items[i].tensor];
		if (m->first[s] == HBM_NONE)
			m->first[s] = block;
		m->crosses[s] |= m->first[s] != block;
	}
}

hbm_status hbm_cross_blocks(hbm_pass_cx *cx, bool **ret, bool *ret_branches)
{
	uint32_t n = cx->an->storages.n, *of = number_blocks(cx, ret_branches);
	marker m = {.cx = cx, .first = HBM_ARRAY(cx->scratch, uint32_t, n),
	            .crosses = HBM_ZARRAY(cx->scratch, bool, n)};

	HBM_NEED(of && m.first && m.crosses);
	for (uint32_t s = 0; s < n; s++)
		m.first[s] = HBM_NONE;
	for (uint32_t o = 0; o < cx->prog->ops.n; o++) {
		mark(&m, cx->prog->ops.items[o].reads, of[o]);
		mark(&m, cx->prog->ops.items[o].writes, of[o]);
	}
	*ret = m.crosses;
	return HBM_OK;
}

/* ---- the ring ------------------------------------------------------------- */

typedef struct ring {
	const uint64_t *size;
	const int64_t *start, *end;
	uint64_t *at;
	uint32_t *queue, head, tail; /* those that stand, oldest first */
} ring;

/* Makes [lo, hi) free for buffer i; false: somebody there lives on. */
static bool make_room(ring *r, uint32_t i, uint64_t lo, uint64_t hi)
{
	while (r->head < r->tail) {
		uint32_t old = r->queue[r->head];
		if (r->at[old] >= hi || r->at[old] + r->size[old] <= lo)
			return true;
		if (r->end[old] > r->start[i])
			return false;
		r->head++;
	}
	return true;
}

uint64_t hbm_rotate(uint32_t n, const uint64_t *size, const int64_t *start,
                    const int64_t *end, uint64_t window, uint32_t *queue, uint64_t *ret)
{
	ring r = {.size = size, .start = start, .end = end, .at = ret, .queue = queue};
	uint64_t next = 0, extent = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t lo = next;
		ret[i] = HBM_NO_OFFSET;
		if (size[i] > window)
			continue;
		if (size[i] > window - lo) { /* past what stands up to the end, too */
			if (!make_room(&r, i, lo, window))
				continue;
			lo = 0;
		}
		if (!make_room(&r, i, lo, lo + size[i]))
			continue;
		ret[i] = lo;
		queue[r.tail++] = i;
		next = lo + size[i];
		extent = next > extent ? next : extent;
	}
	return extent;
}
