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

#include <string.h>

enum { STRIDE = 3 }; /* depths from one list of spans to the next */

typedef struct span {
	uint64_t lo, hi;
} span;

/* The spans of all nodes at one depth; each node has room for as many as it
 * could ever get. */
typedef struct row {
	span *spans;
	uint32_t *tag; /* group of each span; NULL without groups */
	uint32_t *n;   /* by node, counted from the first at this depth */
	uint32_t depth;
} row;

/* One list that a search must look at, for the piece [lo, hi) of the item. */
typedef struct source {
	const span *spans;
	const uint32_t *tag;
	uint64_t lo, hi;
	uint32_t n, at; /* spans before `at` end below the offset in hand */
	uint32_t group;
} source;

struct hbm_index {
	const hbm_inst *in;
	hbm_arena *arena;
	hbm_kd kd;
	span *own; /* by position; empty: not placed */
	uint32_t *own_tag;
	row *rows; /* leaves first */
	uint32_t n_rows;
	HBM_VEC(source) sources;
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
	r->spans = HBM_ARRAY(ix->arena, span, slots);
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
	ix->own = HBM_ZARRAY(keep, span, ix->kd.n);
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

/* Moves `at` to the first span that ends above y. */
static void seek(source *s, uint64_t y)
{
	uint32_t step = 1, lo = s->at, hi;

	if (lo == s->n || s->spans[lo].hi > y)
		return;
	while (lo + step < s->n && s->spans[lo + step].hi <= y) {
		lo += step;
		step *= 2;
	}
	hi = lo + step < s->n ? lo + step : s->n;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->spans[mid].hi <= y)
			lo = mid;
		else
			hi = mid;
	}
	s->at = hi;
}

/* Least y' >= y at which this list leaves `h` bytes free. */
static uint64_t raise(source *s, uint64_t y, uint64_t h)
{
	seek(s, y);
	for (; s->at < s->n && s->spans[s->at].lo < y + h; s->at++) {
		if (s->group != HBM_NONE && s->tag && s->tag[s->at] == s->group) {
			uint32_t at = s->at; /* transparent: look behind it */

			while (++at < s->n && s->tag[at] == s->group)
				;
			if (at == s->n || s->spans[at].lo >= y + h)
				return y;
			s->at = at;
		}
		y = s->spans[s->at].hi;
	}
	return y;
}

uint64_t hbm_index_next(hbm_index *ix, uint32_t i, uint64_t y)
{
	uint32_t n = ix->sources.n, quiet = 0;

	y = hbm_item_up(ix->in, i, y);
	for (uint32_t k = 0; quiet < n; k = k + 1 == n ? 0 : k + 1, quiet++) {
		source *s = &ix->sources.items[k];
		uint64_t to = raise(s, y + s->lo, s->hi - s->lo) - s->lo;

		ix->steps++;
		if (to > y) {
			y = hbm_item_up(ix->in, i, to);
			quiet = 0;
		}
	}
	return y;
}

hbm_status hbm_index_fit(hbm_index *ix, uint32_t i, uint64_t y, uint64_t *ret)
{
	HBM_TRY(gather_item(ix, i));
	*ret = hbm_index_next(ix, i, y);
	return HBM_OK;
}

uint64_t hbm_index_room(hbm_index *ix, uint64_t y)
{
	uint64_t room = HBM_NO_OFFSET;

	for (uint32_t k = 0; k < ix->sources.n; k++) {
		source *s = &ix->sources.items[k];
		uint32_t at;

		seek(s, y + s->lo);
		for (at = s->at; at < s->n && s->tag && s->group != HBM_NONE; at++)
			if (s->tag[at] != s->group)
				break;
		if (at < s->n && s->spans[at].lo - (y + s->hi) < room)
			room = s->spans[at].lo - (y + s->hi);
	}
	return room;
}

/* ---- placing ------------------------------------------------------------- */

/* Adds [lo, hi) to n sorted spans; false: it was covered already. */
static bool unite(span *s, uint32_t *n, uint64_t lo, uint64_t hi)
{
	uint32_t from = 0, to = *n, end;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (s[mid].hi < lo)
			from = mid + 1;
		else
			to = mid;
	}
	if (from < *n && s[from].lo <= lo && s[from].hi >= hi)
		return false;
	for (end = from; end < *n && s[end].lo <= hi; end++) {
		lo = s[end].lo < lo ? s[end].lo : lo;
		hi = s[end].hi > hi ? s[end].hi : hi;
	}
	if (end - from != 1)
		memmove(s + from + 1, s + end, (*n - end) * sizeof *s);
	*n = *n + 1 - (end - from);
	s[from] = (span){lo, hi};
	return true;
}

typedef struct tagged {
	span *s;
	uint32_t *tag;
	uint32_t n;
} tagged;

static void insert_span(tagged *l, uint32_t at, span x, uint32_t tag)
{
	memmove(l->s + at + 1, l->s + at, (l->n - at) * sizeof *l->s);
	memmove(l->tag + at + 1, l->tag + at, (l->n - at) * sizeof *l->tag);
	l->s[at] = x;
	l->tag[at] = tag;
	l->n++;
}

/* Of n sorted spans, the first that ends above y. */
static uint32_t first_above(const span *s, uint32_t n, uint64_t y)
{
	uint32_t from = 0, to = n;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (s[mid].hi <= y)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Makes an end of span i at y, when y is inside it. */
static void cut_span(tagged *l, uint32_t i, uint64_t y)
{
	if (i == l->n || l->s[i].lo >= y || l->s[i].hi <= y)
		return;
	insert_span(l, i, (span){l->s[i].lo, y}, l->tag[i]);
	l->s[i + 1].lo = y;
}

/* Joins touching spans of one tag among those with index [from, to). */
static void join_spans(tagged *l, uint32_t from, uint32_t to)
{
	uint32_t n = from + 1, tail;

	for (uint32_t i = from + 1; i < to; i++) {
		if (l->s[n - 1].hi == l->s[i].lo && l->tag[n - 1] == l->tag[i]) {
			l->s[n - 1].hi = l->s[i].hi;
			continue;
		}
		l->s[n] = l->s[i];
		l->tag[n++] = l->tag[i];
	}
	if (n >= to)
		return;
	tail = l->n - to;
	memmove(l->s + n, l->s + to, tail * sizeof *l->s);
	memmove(l->tag + n, l->tag + to, tail * sizeof *l->tag);
	l->n = n + tail;
}

/* Adds [lo, hi) for `tag`; what others take too is taken from everybody. False:
 * nothing changed. */
static bool paint(tagged *l, uint64_t lo, uint64_t hi, uint32_t tag)
{
	uint32_t i = first_above(l->s, l->n, lo), first;
	bool changed = false;

	cut_span(l, i, lo);
	i += i < l->n && l->s[i].lo < lo;
	first = i ? i - 1 : 0;
	for (; lo < hi; i++) {
		cut_span(l, i, hi);
		if (i == l->n || l->s[i].lo > lo) {
			uint64_t to = i < l->n && l->s[i].lo < hi ? l->s[i].lo : hi;

			insert_span(l, i, (span){lo, to}, tag);
			changed = true;
		} else if (l->tag[i] != tag && l->tag[i] != HBM_NONE) {
			l->tag[i] = HBM_NONE;
			changed = true;
		}
		lo = l->s[i].hi;
	}
	join_spans(l, first, i < l->n ? i + 1 : i);
	return changed;
}

static void place_piece(hbm_index *ix, uint32_t pos, uint64_t lo, uint64_t hi)
{
	uint32_t leaf = hbm_kd_leaf(&ix->kd, pos);

	ix->own[pos] = (span){lo, hi};
	for (uint32_t i = 0; i < ix->n_rows; i++) {
		row *r = &ix->rows[i];
		uint32_t k = (leaf >> STRIDE * (i + 1)) - (1u << r->depth);
		uint32_t slot = slot_of(ix, r, k);

		if (r->tag) {
			tagged l = {r->spans + slot, r->tag + slot, r->n[k]};

			bool changed = paint(&l, lo, hi, ix->own_tag[pos]);

			r->n[k] = l.n;
			if (!changed)
				return;
		} else if (!unite(r->spans + slot, &r->n[k], lo, hi)) {
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
	const span *s = &ix->own[pos];

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
