/* SPDX-License-Identifier: Apache-2.0
 * The interval index.
 *
 * A kd tree over the lives of all pieces. Every third depth of it, counted from
 * the leaves, keeps for each node the union of the addresses that its placed
 * pieces take, as sorted spans; touching spans are one, so that a dense packing
 * has few. A search gathers once the spans of the nodes that lie wholly inside
 * the life of the item (and single pieces of leaves on its border), then raises
 * the offset over whatever blocks it until nothing does.
 *
 * Spans carry the group that alone takes them, or HBM_NONE for anything else:
 * what only the item's own group takes does not block it.
 *
 * Invariant: spans of a node are sorted and disjoint, and equal ones do not
 * touch. Cost: O(log n) nodes for lives like those of programs, O(sqrt n) at
 * worst; memory about 120 bytes for each piece. */
#include "pack/index.h"
#include "pack/kd.h"
#include "pack/spans.h"

enum { STRIDE = 3 }; /* depths from one list of spans to the next */

/* The spans of all nodes at one depth; each node has room for as many as it
 * could ever get. */
typedef struct row {
	hbm_span *spans;
	uint32_t *tag; /* group of each span; NULL without groups */
	uint32_t *n;   /* by node, counted from the first at this depth */
	uint32_t depth;
} row;

/* One list that a search must look at, for the piece [lo, hi) of the item. */
typedef struct source {
	const hbm_span *spans;
	const uint32_t *tag;
	uint64_t lo, hi;
	uint32_t n, at; /* spans before `at` end below the offset in hand */
	uint32_t group;
} source;

/* What a source has next: it is met once the item ends above `end`. */
typedef struct ahead {
	uint64_t end;
	uint32_t source;
} ahead;

struct hbm_index {
	const hbm_inst *in;
	hbm_arena *arena;
	hbm_kd kd;
	hbm_span *own; /* by position; empty: not placed */
	uint32_t *own_tag;
	row *rows; /* leaves first */
	uint32_t n_rows;
	HBM_VEC(source) sources;
	HBM_VEC(ahead) heap; /* least end first; a source that has no more is not in */
	uint64_t steps;
};

/* ---- making one ---------------------------------------------------------- */

static uint32_t slot_of(const hbm_index *ix, const row *r, uint32_t k)
{
	uint32_t first = hbm_kd_first(&ix->kd, r->depth, k);

	return ix->in->group ? 2 * first + k : first;
}

static hbm_status add_row(hbm_index *ix, uint32_t depth)
{
	row *r = &ix->rows[ix->n_rows++];
	size_t slots = ix->kd.n;

	if (ix->in->group)
		slots = 2 * slots + ((size_t)1 << depth);
	r->depth = depth;
	r->n = HBM_ZARRAY(ix->arena, uint32_t, (size_t)1 << depth);
	r->spans = HBM_ARRAY(ix->arena, hbm_span, slots);
	HBM_NEED(r->n && r->spans);
	if (!ix->in->group)
		return HBM_OK;
	r->tag = HBM_ARRAY(ix->arena, uint32_t, slots);
	HBM_NEED(r->tag);
	return HBM_OK;
}

static hbm_status build_tree(hbm_index *ix)
{
	const hbm_inst *in = ix->in;
	uint32_t n = in->pieces ? in->piece_first[in->n] : in->n;
	uint32_t *start, *end;
	hbm_arena scratch;
	hbm_status st = HBM_NOMEM;

	hbm_arena_init(&scratch, &ix->arena->mem);
	if (!in->pieces) {
		st = hbm_kd_build(ix->arena, &scratch, n, in->start, in->end, &ix->kd);
		hbm_arena_fini(&scratch);
		return st;
	}
	start = HBM_ARRAY(&scratch, uint32_t, n);
	end = HBM_ARRAY(&scratch, uint32_t, n);
	if (start && end) {
		for (uint32_t i = 0; i < n; i++) {
			start[i] = in->pieces[i].start;
			end[i] = in->pieces[i].end;
		}
		st = hbm_kd_build(ix->arena, &scratch, n, start, end, &ix->kd);
	}
	hbm_arena_fini(&scratch);
	return st;
}

hbm_status hbm_index_new(hbm_arena *keep, const hbm_inst *in, hbm_index **ret)
{
	hbm_index *ix = HBM_NEW(keep, hbm_index);

	HBM_NEED(ix);
	ix->in = in;
	ix->arena = keep;
	*ret = ix;
	if (in->pieces && in->piece_first[in->n] == 0)
		return HBM_OK;
	HBM_TRY(build_tree(ix));
	ix->own = HBM_ZARRAY(keep, hbm_span, ix->kd.n);
	ix->rows = HBM_ZARRAY(keep, row, ix->kd.depth / STRIDE + 1);
	HBM_NEED(ix->own && ix->rows);
	if (in->group) {
		ix->own_tag = HBM_ARRAY(keep, uint32_t, ix->kd.n);
		HBM_NEED(ix->own_tag);
		for (uint32_t i = 0; i < ix->kd.n; i++)
			ix->own_tag[i] = in->group[ix->kd.id[i]];
	}
	for (uint32_t d = ix->kd.depth; d >= STRIDE; d -= STRIDE)
		HBM_TRY(add_row(ix, d - STRIDE));
	return HBM_OK;
}

/* ---- gathering ----------------------------------------------------------- */

/* The row at this depth, NULL: none. */
static const row *row_at(const hbm_index *ix, uint32_t depth)
{
	uint32_t above = ix->kd.depth - depth;

	if (above == 0 || above % STRIDE)
		return NULL;
	return &ix->rows[above / STRIDE - 1];
}

static hbm_status gather_leaf(hbm_index *ix, uint32_t k, const hbm_piece *pc,
                              uint32_t group)
{
	uint32_t to = hbm_kd_first(&ix->kd, ix->kd.depth, k + 1);

	for (uint32_t i = hbm_kd_first(&ix->kd, ix->kd.depth, k); i < to; i++) {
		source s = {&ix->own[i], NULL, pc->lo, pc->hi, 1, 0, HBM_NONE};

		if (ix->own[i].lo == ix->own[i].hi || ix->kd.start[i] >= pc->end ||
		    ix->kd.end[i] <= pc->start)
			continue;
		if (group != HBM_NONE && ix->own_tag[i] == group)
			continue;
		HBM_NEED(HBM_PUSH(ix->arena, &ix->sources, s));
	}
	return HBM_OK;
}

static hbm_status gather(hbm_index *ix, const hbm_piece *pc, uint32_t group)
{
	struct {
		uint32_t node, depth;
	} stack[2 * 32];
	uint32_t n = 1;

	stack[0].node = 1;
	stack[0].depth = 0;
	while (n) {
		uint32_t v = stack[--n].node, depth = stack[n].depth;
		const hbm_kd_box *x = &ix->kd.box[v];
		const row *r;

		ix->steps++;
		if (x->min_start >= pc->end || x->max_end <= pc->start)
			continue;
		if (depth == ix->kd.depth) {
			HBM_TRY(gather_leaf(ix, v - (1u << depth), pc, group));
			continue;
		}
		r = row_at(ix, depth);
		if (r && r->n[v - (1u << depth)] == 0)
			continue;
		if (r && x->max_start < pc->end && x->min_end > pc->start) {
			uint32_t k = v - (1u << depth), slot = slot_of(ix, r, k);
			source s = {r->spans + slot, r->tag ? r->tag + slot : NULL,
			            pc->lo, pc->hi, r->n[k], 0, group};

			HBM_NEED(HBM_PUSH(ix->arena, &ix->sources, s));
			continue;
		}
		stack[n].node = 2 * v;
		stack[n++].depth = depth + 1;
		stack[n].node = 2 * v + 1;
		stack[n++].depth = depth + 1;
	}
	return HBM_OK;
}

static hbm_status gather_item(hbm_index *ix, uint32_t i)
{
	const hbm_inst *in = ix->in;

	ix->sources.n = 0;
	if (!in->pieces) {
		hbm_piece pc = {in->start[i], in->end[i], 0, in->size[i]};

		return gather(ix, &pc, in->group ? in->group[i] : HBM_NONE);
	}
	for (uint32_t j = in->piece_first[i]; j < in->piece_first[i + 1]; j++)
		HBM_TRY(gather(ix, &in->pieces[j], in->group ? in->group[j] : HBM_NONE));
	return HBM_OK;
}

/* ---- searching ----------------------------------------------------------- */

/* Moves to the first span above y that blocks, false: none. */
static bool look(source *s, uint64_t y, uint64_t size, ahead *a)
{
	uint32_t at = s->at;

	if (at < s->n && s->spans[at].hi <= y + s->lo)
		at = hbm_spans_above(s->spans, s->n, at, y + s->lo);
	if (s->tag && s->group != HBM_NONE)
		while (at < s->n && s->tag[at] == s->group)
			at++;
	s->at = at;
	if (at == s->n)
		return false;
	a->end = s->spans[at].lo + (size - s->hi);
	return true;
}

/* Least offset >= y that the span in hand of a source lets item i have. */
static uint64_t raise(const hbm_inst *in, uint32_t i, const source *s, uint64_t y)
{
	uint64_t above = s->spans[s->at].hi;

	return above <= y + s->lo ? y : hbm_item_up(in, i, above - s->lo);
}

static void sift_down(ahead *heap, uint32_t n, uint32_t k)
{
	ahead x = heap[k];

	for (uint32_t c = 2 * k + 1; c < n; c = 2 * k + 1) {
		c += c + 1 < n && heap[c + 1].end < heap[c].end;
		if (heap[c].end >= x.end)
			break;
		heap[k] = heap[c];
		k = c;
	}
	heap[k] = x;
}

/* Each source alone raises y; what it has above that goes to the heap, where it may
 * be behind what later sources make of y. */
static uint64_t raise_by_each(hbm_index *ix, uint32_t i, uint64_t y)
{
	uint64_t size = ix->in->size[i];

	ix->heap.n = 0;
	for (uint32_t k = 0; k < ix->sources.n; k++) {
		source *s = &ix->sources.items[k];
		ahead a = {0, k};
		bool more = look(s, y, size, &a);

		ix->steps++;
		while (more && a.end < y + size) {
			y = raise(ix->in, i, s, y);
			more = look(s, y, size, &a);
		}
		if (more)
			ix->heap.items[ix->heap.n++] = a;
	}
	for (uint32_t k = ix->heap.n / 2; k-- > 0;)
		sift_down(ix->heap.items, ix->heap.n, k);
	return y;
}

uint64_t hbm_index_next(hbm_index *ix, uint32_t i, uint64_t y)
{
	ahead *heap = ix->heap.items;
	uint64_t size = ix->in->size[i];

	y = hbm_item_up(ix->in, i, y);
	while (ix->heap.n && heap->end < y + size) {
		source *s = &ix->sources.items[heap->source];

		ix->steps++;
		y = raise(ix->in, i, s, y);
		if (!look(s, y, size, heap))
			*heap = heap[--ix->heap.n];
		sift_down(heap, ix->heap.n, 0);
	}
	return y;
}

hbm_status hbm_index_fit(hbm_index *ix, uint32_t i, uint64_t y, uint64_t *ret)
{
	HBM_TRY(gather_item(ix, i));
	ix->heap.n = 0;
	HBM_NEED(HBM_RESERVE(ix->arena, &ix->heap, ix->sources.n));
	y = raise_by_each(ix, i, hbm_item_up(ix->in, i, y));
	*ret = hbm_index_next(ix, i, y);
	return HBM_OK;
}

uint64_t hbm_index_room(const hbm_index *ix, uint32_t i, uint64_t y)
{
	return ix->heap.n ? ix->heap.items->end - (y + ix->in->size[i]) : HBM_NO_OFFSET;
}

/* ---- placing ------------------------------------------------------------- */

static void place_piece(hbm_index *ix, uint32_t pos, uint64_t lo, uint64_t hi)
{
	uint32_t leaf = hbm_kd_leaf(&ix->kd, pos);

	ix->own[pos] = (hbm_span){lo, hi};
	for (uint32_t i = 0; i < ix->n_rows; i++) {
		row *r = &ix->rows[i];
		uint32_t k = (leaf >> STRIDE * (i + 1)) - (1u << r->depth);
		uint32_t slot = slot_of(ix, r, k);

		if (r->tag) {
			hbm_tagged l = {r->spans + slot, r->tag + slot, r->n[k]};

			bool changed = hbm_spans_paint(&l, lo, hi, ix->own_tag[pos]);

			r->n[k] = l.n;
			if (!changed)
				return;
		} else if (!hbm_spans_unite(r->spans + slot, &r->n[k], lo, hi)) {
			return; /* so was it in every node above */
		}
	}
}

void hbm_index_place(hbm_index *ix, uint32_t i, uint64_t y)
{
	const hbm_inst *in = ix->in;

	if (!in->pieces) {
		place_piece(ix, ix->kd.pos[i], y, y + in->size[i]);
		return;
	}
	for (uint32_t j = in->piece_first[i]; j < in->piece_first[i + 1]; j++)
		place_piece(ix, ix->kd.pos[j], y + in->pieces[j].lo,
		            y + in->pieces[j].hi);
}

/* ---- looking ------------------------------------------------------------- */

static bool meets(const hbm_index *ix, uint32_t pos, const hbm_piece *pc, uint32_t group,
                  uint64_t y)
{
	const hbm_span *s = &ix->own[pos];

	if (s->lo >= y + pc->hi || s->hi <= y + pc->lo)
		return false;
	if (ix->kd.start[pos] >= pc->end || ix->kd.end[pos] <= pc->start)
		return false;
	return group == HBM_NONE || ix->own_tag[pos] != group;
}

/* The item that owns piece j. */
static uint32_t owner(const hbm_inst *in, uint32_t j)
{
	uint32_t from = 0, to = in->n;

	if (!in->pieces)
		return j;
	while (to - from > 1) {
		uint32_t mid = from + (to - from) / 2;

		if (in->piece_first[mid] <= j)
			from = mid;
		else
			to = mid;
	}
	return from;
}

uint32_t hbm_index_blocker(const hbm_index *ix, uint32_t i, uint64_t y,
                           uint32_t *ret_tick)
{
	const hbm_inst *in = ix->in;
	hbm_piece whole = {in->start[i], in->end[i], 0, in->size[i]};
	const hbm_piece *pc = in->pieces ? in->pieces + in->piece_first[i] : &whole;
	uint32_t n = in->pieces ? in->piece_first[i + 1] - in->piece_first[i] : 1;
	uint32_t first = in->pieces ? in->piece_first[i] : i;

	for (uint32_t j = 0; j < n; j++)
		for (uint32_t pos = 0; pos < ix->kd.n; pos++) {
			uint32_t group = in->group ? in->group[first + j] : HBM_NONE;

			if (!meets(ix, pos, &pc[j], group, y))
				continue;
			*ret_tick = pc[j].start > ix->kd.start[pos] ? pc[j].start
								    : ix->kd.start[pos];
			return owner(in, ix->kd.id[pos]);
		}
	return HBM_NONE;
}

uint64_t hbm_index_steps(const hbm_index *ix)
{
	return ix->steps;
}
