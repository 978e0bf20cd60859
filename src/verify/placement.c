/* SPDX-License-Identifier: Apache-2.0
 * placement: is an answer to the packing problem legal?
 *
 * Each buffer is cut into rectangles of time and address, one for each stretch
 * between its gaps. A sweep over time keeps the rectangles that are live, by rank of
 * their lowest address.
 *
 * Without sets and groups the live ones never meet, so a new one needs to be held
 * against its two neighbours only. Buffers of one set or group may meet: then a tree
 * over the ranks tells the highest end among those that begin below the new one's
 * end; if it reaches above the new one's begin, two rectangles meet. Each node keeps
 * the highest end and the highest of another kin than that.
 * Cost: O(n log n). */
#include "verify/placement.h"

#include "base/ckd.h"
#include "base/map.h"
#include "base/sort.h"
#include "verify/live.h"

#include <inttypes.h>

typedef struct rect {
	int64_t start, end;
	uint64_t lo, hi;
	uint32_t buffer;
	uint32_t kin; /* set or group, made distinct; unique when it has neither */
} rect;

/* Highest end below a node, and the highest of another kin. 0: none. */
typedef struct node {
	uint64_t hi, other_hi;
	uint32_t kin, other_kin;
	uint32_t rect, other_rect;
} node;

typedef struct checker {
	hbm_arena *a;
	const hbm_problem *p;
	const hbm_placement *pl;
	hbm_diags *d;
	HBM_VEC(rect) rects;
	uint32_t *by_lo, *rank, *by_start, *by_end;
	hbm_live live; /* ranks; without sets and groups */
	node *tree;    /* else */
	uint32_t leaves;
} checker;

static hbm_status fault(const checker *c, uint32_t i, const char *what, uint64_t has,
                        uint64_t want)
{
	return hbm_fail(c->d, HBM_VERIFY, HBM_E_PLAN, HBM_NOWHERE,
	                "buffer %" PRIu32 " %s: %" PRIu64 ", should be %" PRIu64, i, what,
	                has, want);
}

static uint32_t kin_of(const hbm_problem *p, uint32_t i)
{
	uint32_t n = p->n;

	if (p->set && p->set[i] != HBM_NONE)
		return n + 2 * (p->set[i] % (UINT32_MAX / 4));
	if (p->group && p->group[i] != HBM_NONE)
		return n + 2 * (p->group[i] % (UINT32_MAX / 4)) + 1;
	return i;
}

/* Blocks lie one behind the other here, so that buffers of two never meet. */
static uint64_t block_base(const checker *c, uint32_t i)
{
	return c->pl->block ? c->pl->block[i] * c->p->max_block : 0;
}

static hbm_status add_rect(checker *c, uint32_t i, int64_t start, int64_t end,
                           uint64_t lo, uint64_t hi)
{
	uint64_t at = c->pl->offset[i] + block_base(c, i);
	rect r = {start, end, at + lo, at + hi, i, kin_of(c->p, i)};

	if (start < end && lo < hi)
		HBM_NEED(HBM_PUSH(c->a, &c->rects, r));
	return HBM_OK;
}

static hbm_status cut(checker *c, uint32_t i)
{
	const hbm_problem *p = c->p;
	int64_t t = p->start[i];
	uint32_t g = p->gap_first ? p->gap_first[i] : 0;
	uint32_t last = p->gap_first ? p->gap_first[i + 1] : 0;

	for (; g < last; g++) {
		const hbm_gap *gap = &p->gaps[g];
		HBM_TRY(add_rect(c, i, t, gap->start, 0, p->size[i]));
		HBM_TRY(add_rect(c, i, gap->start, gap->end, gap->lo, gap->hi));
		t = gap->end > t ? gap->end : t;
	}
	return add_rect(c, i, t, p->end[i], 0, p->size[i]);
}

static uint64_t shift_of(const hbm_problem *p, uint32_t i)
{
	return p->shift ? p->shift[i] : 0;
}

/* The base of the set this buffer is in, by the first member that was placed. */
static hbm_status check_set(checker *c, hbm_map *bases, uint32_t i)
{
	uint32_t first = hbm_map_get(bases, c->p->set[i]);
	uint64_t want;

	if (first == HBM_NONE) {
		HBM_NEED(hbm_map_set(bases, c->p->set[i], i));
		return HBM_OK;
	}
	want = c->pl->offset[first] - shift_of(c->p, first) + shift_of(c->p, i);
	return want == c->pl->offset[i]
		? HBM_OK : fault(c, i, "is off its set", c->pl->offset[i], want);
}

static hbm_status check_buffer(checker *c, hbm_map *bases, uint32_t i)
{
	const hbm_problem *p = c->p;
	uint64_t at = c->pl->offset[i], end = 0;
	bool fits = c->pl->outcome == HBM_FEASIBLE || c->pl->outcome == HBM_OPTIMAL;

	if (at == HBM_NO_OFFSET)
		return HBM_OK;
	if (hbm_add(at, p->size[i], &end) && c->pl->block && end > p->max_block)
		return fault(c, i, "ends beyond its block", end, p->max_block);
	if (!hbm_add(at, p->size[i], &end) || end > c->pl->extent)
		return fault(c, i, "ends beyond the extent", end, c->pl->extent);
	if (p->align && at % p->align[i])
		return fault(c, i, "is not aligned", at, at - at % p->align[i]);
	if (p->pin && p->pin[i] != HBM_NO_OFFSET && p->pin[i] != at)
		return fault(c, i, "is not at its pin", at, p->pin[i]);
	if (fits && end > p->capacity)
		return fault(c, i, "ends beyond the capacity", end, p->capacity);
	if (p->set && p->set[i] != HBM_NONE)
		HBM_TRY(check_set(c, bases, i));
	return cut(c, i);
}

/* Offers one rectangle to a node. */
static void offer(node *n, uint64_t hi, uint32_t kin, uint32_t r)
{
	if (hi > n->hi) {
		if (n->kin != kin) {
			n->other_hi = n->hi;
			n->other_kin = n->kin;
			n->other_rect = n->rect;
		}
		n->hi = hi;
		n->kin = kin;
		n->rect = r;
	} else if (kin != n->kin && hi > n->other_hi) {
		n->other_hi = hi;
		n->other_kin = kin;
		n->other_rect = r;
	}
}

static void merge(node *to, const node *from)
{
	if (from->hi)
		offer(to, from->hi, from->kin, from->rect);
	if (from->other_hi)
		offer(to, from->other_hi, from->other_kin, from->other_rect);
}

static void set_leaf(checker *c, uint32_t r, bool live)
{
	uint32_t i = c->rank[r] + c->leaves;

	c->tree[i] = (node){.kin = HBM_NONE, .other_kin = HBM_NONE};
	if (live)
		offer(&c->tree[i], c->rects.items[r].hi, c->rects.items[r].kin, r);
	for (i /= 2; i; i /= 2) {
		c->tree[i] = c->tree[2 * i];
		merge(&c->tree[i], &c->tree[2 * i + 1]);
	}
}

/* Best over the ranks [0, end). */
static node prefix(const checker *c, uint32_t end)
{
	node best = {.kin = HBM_NONE, .other_kin = HBM_NONE};
	uint32_t lo = c->leaves, hi = c->leaves + end;

	for (; lo < hi; lo /= 2, hi /= 2) {
		if (lo & 1)
			merge(&best, &c->tree[lo++]);
		if (hi & 1)
			merge(&best, &c->tree[--hi]);
	}
	return best;
}

/* Number of rectangles that begin below an address. */
static uint32_t ranks_below(const checker *c, uint64_t address)
{
	uint32_t lo = 0, hi = c->rects.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (c->rects.items[c->by_lo[mid]].lo < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool may_share(const hbm_problem *p, uint32_t a, uint32_t b)
{
	return (p->set && p->set[a] != HBM_NONE && p->set[a] == p->set[b]) ||
	       (p->group && p->group[a] != HBM_NONE && p->group[a] == p->group[b]);
}

static hbm_status fault_met(const checker *c, uint32_t a, uint32_t b)
{
	const rect *x = &c->rects.items[a], *y = &c->rects.items[b];

	return hbm_fail(c->d, HBM_VERIFY, HBM_E_PLAN, HBM_NOWHERE,
	                "buffers %" PRIu32 " [%" PRIu64 ",%" PRIu64 ") and %" PRIu32
	                " [%" PRIu64 ",%" PRIu64 ") share bytes at tick %" PRId64, y->buffer,
	                y->lo, y->hi, x->buffer, x->lo, x->hi, x->start);
}

static hbm_status meets(const checker *c, uint32_t r)
{
	const rect *x = &c->rects.items[r];
	node best = prefix(c, ranks_below(c, x->hi));
	bool own = best.kin == x->kin;
	uint64_t hi = own ? best.other_hi : best.hi;
	uint32_t other = own ? best.other_rect : best.rect;

	if (hi <= x->lo || may_share(c->p, x->buffer, c->rects.items[other].buffer))
		return HBM_OK;
	return fault_met(c, r, other);
}

static hbm_status meets_neighbour(const checker *c, uint32_t r)
{
	const rect *x = &c->rects.items[r];
	uint32_t below = hbm_live_below(&c->live, c->rank[r]);
	uint32_t above = hbm_live_above(&c->live, c->rank[r]);

	if (below != HBM_NONE && c->rects.items[c->by_lo[below]].hi > x->lo)
		return fault_met(c, r, c->by_lo[below]);
	if (above != HBM_NONE && c->rects.items[c->by_lo[above]].lo < x->hi)
		return fault_met(c, r, c->by_lo[above]);
	return HBM_OK;
}

/* ---- the sweep -------------------------------------------------------------- */

static hbm_status begin(checker *c, uint32_t r)
{
	if (c->tree) {
		HBM_TRY(meets(c, r));
		set_leaf(c, r, true);
		return HBM_OK;
	}
	HBM_TRY(meets_neighbour(c, r));
	hbm_live_add(&c->live, c->rank[r]);
	return HBM_OK;
}

static void end(checker *c, uint32_t r)
{
	if (c->tree)
		set_leaf(c, r, false);
	else
		hbm_live_remove(&c->live, c->rank[r]);
}

/* What ends at a tick leaves before what begins there comes. */
static hbm_status sweep(checker *c)
{
	const rect *rs = c->rects.items;
	uint32_t gone = 0;

	for (uint32_t k = 0; k < c->rects.n; k++) {
		uint32_t r = c->by_start[k];

		for (; rs[c->by_end[gone]].end <= rs[r].start; gone++)
			end(c, c->by_end[gone]);
		HBM_TRY(begin(c, r));
	}
	return HBM_OK;
}

typedef enum by { BY_LO, BY_START, BY_END } by;

static uint64_t key_of(const rect *r, by what)
{
	if (what == BY_LO)
		return r->lo;
	return (uint64_t)(what == BY_START ? r->start : r->end) ^ (uint64_t)1 << 63;
}

/* Rectangles by rising key; room: for twice as many. */
static hbm_status sorted(checker *c, by what, hbm_keyed *room, uint32_t **ret)
{
	uint32_t n = c->rects.n, *ids = HBM_ARRAY(c->a, uint32_t, n);

	HBM_NEED(ids);
	for (uint32_t i = 0; i < n; i++)
		room[i] = (hbm_keyed){key_of(&c->rects.items[i], what), i};
	hbm_radix_sort(room, room + n, n);
	for (uint32_t i = 0; i < n; i++)
		ids[i] = room[i].id;
	*ret = ids;
	return HBM_OK;
}

static hbm_status build_tree(checker *c)
{
	for (c->leaves = 1; c->leaves < c->rects.n; c->leaves *= 2)
		continue;
	HBM_NEED(c->tree = HBM_ARRAY(c->a, node, 2 * (size_t)c->leaves));
	for (uint32_t i = 0; i < 2 * c->leaves; i++)
		c->tree[i] = (node){.kin = HBM_NONE, .other_kin = HBM_NONE};
	return HBM_OK;
}

static hbm_status build(checker *c)
{
	uint32_t n = c->rects.n;
	hbm_keyed *room = HBM_ARRAY(c->a, hbm_keyed, 2 * (size_t)n);

	HBM_NEED(room && n < UINT32_MAX / 4);
	HBM_NEED(c->rank = HBM_ARRAY(c->a, uint32_t, n));
	HBM_TRY(sorted(c, BY_LO, room, &c->by_lo));
	HBM_TRY(sorted(c, BY_START, room, &c->by_start));
	HBM_TRY(sorted(c, BY_END, room, &c->by_end));
	for (uint32_t i = 0; i < n; i++)
		c->rank[c->by_lo[i]] = i;
	if (c->p->set || c->p->group)
		return build_tree(c);
	return hbm_live_init(c->a, n, &c->live);
}

hbm_status hbm_verify_placement(hbm_arena *scratch, const hbm_problem *p,
                                const hbm_placement *pl, hbm_diags *d)
{
	checker c = {.a = scratch, .p = p, .pl = pl, .d = d};
	hbm_map bases;

	hbm_map_init(&bases, scratch);
	HBM_NEED(HBM_RESERVE(scratch, &c.rects, p->n));
	for (uint32_t i = 0; i < p->n; i++)
		HBM_TRY(check_buffer(&c, &bases, i));
	HBM_TRY(build(&c));
	return sweep(&c);
}
