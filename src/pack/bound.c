/* SPDX-License-Identifier: Apache-2.0
 * The pressure bound: at each tick the bytes of all that is alive there.
 *
 * - An item of several pieces counts the union of their windows, by a sweep over
 *   time with the covered length of a segment tree over addresses.
 * - Of the pieces of one group only the largest counts.
 * - When all alignments have a common divisor above 1, sizes are rounded up to it,
 *   less the padding of the one buffer that lies on top.
 * - A pinned item ends where it ends, and no extent is below a single size.
 *
 * O(n log n), O(n) for plain instances. */
#include "pack/normal.h"

typedef struct profile {
	uint64_t *delta; /* change of pressure at each tick, wraps around */
} profile;

static uint64_t round_up(uint64_t v, uint64_t align)
{
	uint64_t rest = v % align;

	return rest ? v + (align - rest) : v;
}

static void add(profile *f, uint32_t start, uint32_t end, uint64_t bytes)
{
	f->delta[start] += bytes;
	f->delta[end] -= bytes;
}

/* Common divisor of all moduli whose items need bytes at a multiple of it. */
static uint64_t common_align(const hbm_inst *in)
{
	uint64_t g = 0;

	if (!in->mod || in->pieces)
		return 1;
	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t a = in->rest[i] ? 1 : in->mod[i];

		while (a) {
			uint64_t rest = g % a;

			g = a;
			a = rest;
		}
	}
	return g;
}

/* ---- the union of an item's pieces --------------------------------------- */

/* Segment tree over the sorted distinct ends of windows: how many pieces cover
 * each node, and the length covered below it. */
typedef struct cover {
	const uint64_t *at; /* n + 1 addresses */
	uint32_t n;         /* leaves */
	uint32_t *count;
	uint64_t *length;
} cover;

static void cover_add(cover *c, uint32_t node, uint32_t from, uint32_t to,
                      uint64_t lo, uint64_t hi, bool birth)
{
	if (c->at[from] >= hi || c->at[to] <= lo)
		return;
	if (lo <= c->at[from] && c->at[to] <= hi) {
		c->count[node] += birth ? 1u : UINT32_MAX;
	} else {
		uint32_t mid = from + (to - from) / 2;

		cover_add(c, 2 * node, from, mid, lo, hi, birth);
		cover_add(c, 2 * node + 1, mid, to, lo, hi, birth);
	}
	if (c->count[node])
		c->length[node] = c->at[to] - c->at[from];
	else if (to - from > 1)
		c->length[node] = c->length[2 * node] + c->length[2 * node + 1];
	else
		c->length[node] = 0;
}

static hbm_status make_cover(hbm_arena *scratch, const hbm_piece *pc, uint32_t n,
                             cover *ret)
{
	uint32_t *ids = HBM_ARRAY(scratch, uint32_t, 2 * (size_t)n);
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, 2 * (size_t)n);
	uint64_t *at = HBM_ARRAY(scratch, uint64_t, 2 * (size_t)n);
	uint32_t m = 0;

	HBM_NEED(ids && key && at);
	for (uint32_t i = 0; i < 2 * n; i++) {
		ids[i] = i;
		key[i] = i < n ? pc[i].lo : pc[i - n].hi;
	}
	HBM_TRY(hbm_sort_ids(scratch, ids, 2 * n, key));
	for (uint32_t i = 0; i < 2 * n; i++)
		if (m == 0 || at[m - 1] != key[ids[i]])
			at[m++] = key[ids[i]];
	*ret = (cover){.at = at, .n = m - 1};
	ret->count = HBM_ZARRAY(scratch, uint32_t, 4 * (size_t)m);
	ret->length = HBM_ZARRAY(scratch, uint64_t, 4 * (size_t)m);
	HBM_NEED(ret->count && ret->length);
	return HBM_OK;
}

/* Adds the union of n >= 2 pieces of one item to the profile. */
static hbm_status add_union(hbm_arena *scratch, const hbm_piece *pc, uint32_t n,
                            profile *f)
{
	uint32_t *ids = HBM_ARRAY(scratch, uint32_t, 2 * (size_t)n);
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, 2 * (size_t)n);
	cover c;

	HBM_NEED(ids && key);
	HBM_TRY(make_cover(scratch, pc, n, &c));
	for (uint32_t i = 0; i < 2 * n; i++) {
		ids[i] = i;
		key[i] = i < n ? pc[i].start : pc[i - n].end;
	}
	HBM_TRY(hbm_sort_ids(scratch, ids, 2 * n, key));
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t id = ids[i];
		const hbm_piece *q = &pc[id < n ? id : id - n];
		uint64_t before = c.length[1];

		cover_add(&c, 1, 0, c.n, q->lo, q->hi, id < n);
		f->delta[key[id]] += c.length[1] - before;
	}
	return HBM_OK;
}

/* ---- groups -------------------------------------------------------------- */

/* Pieces of one group, by falling length; those that ended are dropped when
 * they come to the top. */
typedef struct heap {
	uint32_t *ids, n;
	const uint64_t *length; /* by piece */
} heap;

static void heap_push(heap *h, uint32_t id)
{
	uint32_t at = h->n++;

	for (; at > 0 && h->length[h->ids[(at - 1) / 2]] < h->length[id]; at = (at - 1) / 2)
		h->ids[at] = h->ids[(at - 1) / 2];
	h->ids[at] = id;
}

static void heap_pop(heap *h)
{
	uint32_t id = h->ids[--h->n], at = 0, child;

	while ((child = 2 * at + 1) < h->n) {
		if (child + 1 < h->n &&
		    h->length[h->ids[child]] < h->length[h->ids[child + 1]])
			child++;
		if (h->length[id] >= h->length[h->ids[child]])
			break;
		h->ids[at] = h->ids[child];
		at = child;
	}
	h->ids[at] = id;
}

/* Largest piece at each tick, for the pieces of one group in order of start. */
static void add_group(const hbm_piece *pc, const uint32_t *ids, uint32_t n, heap *h,
                      profile *f)
{
	uint32_t i = 0, now;
	uint64_t last = 0;

	h->n = 0;
	while (i < n || h->n) {
		now = h->n ? pc[h->ids[0]].end : pc[ids[i]].start;
		if (i < n && pc[ids[i]].start < now)
			now = pc[ids[i]].start;
		for (; i < n && pc[ids[i]].start == now; i++)
			heap_push(h, ids[i]);
		while (h->n && pc[h->ids[0]].end <= now)
			heap_pop(h);
		f->delta[now] += (h->n ? h->length[h->ids[0]] : 0) - last;
		last = h->n ? h->length[h->ids[0]] : 0;
	}
}

/* pc: n pieces, with group and length each. */
static hbm_status add_groups(hbm_arena *scratch, const hbm_piece *pc, uint32_t n,
                             const uint32_t *group, const uint64_t *length, profile *f)
{
	uint32_t *ids = HBM_ARRAY(scratch, uint32_t, (size_t)n + 1);
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, (size_t)n + 1);
	heap h = {HBM_ARRAY(scratch, uint32_t, (size_t)n + 1), 0, length};
	uint32_t m = 0, from = 0;

	HBM_NEED(ids && key && h.ids);
	for (uint32_t i = 0; i < n; i++) {
		key[i] = (uint64_t)group[i] << 32 | pc[i].start;
		if (group[i] != HBM_NONE && length[i])
			ids[m++] = i;
	}
	HBM_TRY(hbm_sort_ids(scratch, ids, m, key));
	for (uint32_t i = 1; i <= m; i++) {
		if (i < m && group[ids[i]] == group[ids[from]])
			continue;
		add_group(pc, ids + from, i - from, &h, f);
		from = i;
	}
	return HBM_OK;
}

/* ---- the sweep ----------------------------------------------------------- */

static bool meet_in_time(const hbm_piece *pc, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (pc[i].start < pc[i - 1].end)
			return true;
	return false;
}

/* Of an item whose pieces meet in time only those outside groups count. */
static hbm_status add_pieces(hbm_arena *scratch, const hbm_inst *in, uint64_t *length,
                             profile *f)
{
	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t first = in->piece_first[i], n = in->piece_first[i + 1] - first;
		const hbm_piece *pc = in->pieces + first;
		bool meet = meet_in_time(pc, n), grouped = false;

		for (uint32_t j = 0; j < n; j++) {
			bool g = in->group && in->group[first + j] != HBM_NONE;

			grouped |= g;
			length[first + j] = g && !meet ? pc[j].hi - pc[j].lo : 0;
			if (!g && !meet)
				add(f, pc[j].start, pc[j].end, pc[j].hi - pc[j].lo);
		}
		if (meet && !grouped)
			HBM_TRY(add_union(scratch, pc, n, f));
	}
	if (!in->group)
		return HBM_OK;
	return add_groups(scratch, in->pieces, in->piece_first[in->n], in->group, length,
	                  f);
}

static hbm_status add_simple(hbm_arena *scratch, const hbm_inst *in, profile *f)
{
	hbm_piece *pc;

	for (uint32_t i = 0; i < in->n; i++)
		if (!in->group || in->group[i] == HBM_NONE)
			add(f, in->start[i], in->end[i], in->size[i]);
	if (!in->group)
		return HBM_OK;
	pc = HBM_ARRAY(scratch, hbm_piece, in->n);
	HBM_NEED(pc);
	for (uint32_t i = 0; i < in->n; i++)
		pc[i] = (hbm_piece){in->start[i], in->end[i], 0, in->size[i]};
	return add_groups(scratch, pc, in->n, in->group, in->size, f);
}

/* Rounded sizes less the largest padding alive: a bound where the top buffer is
 * not known. */
static hbm_status bound_rounded(hbm_arena *scratch, hbm_inst *in, uint64_t align)
{
	uint64_t *pad = HBM_ARRAY(scratch, uint64_t, in->n);
	uint64_t *gone = HBM_ZARRAY(scratch, uint64_t, (size_t)in->n_ticks + 1);
	heap h = {HBM_ARRAY(scratch, uint32_t, in->n), 0, pad};
	uint64_t sum = 0;
	uint32_t i = 0;

	HBM_NEED(pad && gone && h.ids);
	for (uint32_t t = 0; t < in->n_ticks; t++) {
		sum -= gone[t];
		for (; i < in->n && in->start[i] == t; i++) {
			uint64_t size = round_up(in->size[i], align);

			pad[i] = size - in->size[i];
			sum += size;
			gone[in->end[i]] += size;
			heap_push(&h, i);
		}
		while (h.n && in->end[h.ids[0]] <= t)
			heap_pop(&h);
		if (h.n && sum - pad[h.ids[0]] > in->lower_bound) {
			in->lower_bound = sum - pad[h.ids[0]];
			in->peak_tick = t;
		}
	}
	return HBM_OK;
}

/* No extent is below the end of a pinned item or a single size. */
static void bound_single(hbm_inst *in)
{
	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t base = in->rest ? in->rest[i] : 0;

		if (in->pin && in->pin[i] != HBM_NO_OFFSET)
			base = in->pin[i];
		if (base + in->size[i] > in->lower_bound) {
			in->lower_bound = base + in->size[i];
			in->peak_tick = in->start[i];
		}
	}
}

hbm_status hbm_inst_bound(hbm_arena *scratch, hbm_inst *in)
{
	profile f = {.delta = HBM_ZARRAY(scratch, uint64_t, (size_t)in->n_ticks + 1)};
	uint64_t sum = 0, align;

	HBM_NEED(f.delta);
	in->lower_bound = 0;
	in->peak_tick = 0;
	if (in->pieces) {
		uint32_t n = in->piece_first[in->n];
		uint64_t *length = HBM_ARRAY(scratch, uint64_t, (size_t)n + 1);

		HBM_NEED(length);
		HBM_TRY(add_pieces(scratch, in, length, &f));
	} else {
		HBM_TRY(add_simple(scratch, in, &f));
	}
	for (uint32_t t = 0; t < in->n_ticks; t++) {
		sum += f.delta[t];
		if (sum > in->lower_bound) {
			in->lower_bound = sum;
			in->peak_tick = t;
		}
	}
	align = in->group ? 1 : common_align(in);
	if (align > 1)
		HBM_TRY(bound_rounded(scratch, in, align));
	bound_single(in);
	return HBM_OK;
}

hbm_status hbm_lower_bound(hbm_arena *a, const hbm_problem *p, uint64_t *ret,
                           int64_t *ret_tick)
{
	hbm_arena scratch;
	hbm_normal nm;
	hbm_status st;

	hbm_arena_init(&scratch, &a->mem);
	st = hbm_problem_check(p, NULL);
	if (st == HBM_OK)
		st = hbm_normalise(&scratch, &scratch, p, NULL, &nm);
	if (st == HBM_OK) {
		*ret = nm.lower_bound;
		*ret_tick = nm.peak_time;
	}
	hbm_arena_fini(&scratch);
	return st;
}
