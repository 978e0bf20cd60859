/* SPDX-License-Identifier: Apache-2.0
 * Rectangles in time and address, by rising lower address: each must begin at or
 * above the highest end seen so far within its time. A tree of maxima over time
 * answers that. */
#include "support/pack_check.h"

#include <stdlib.h>

typedef struct rect {
	int64_t start, end;
	uint64_t lo, hi;
	uint32_t owner;
} rect;

typedef struct rects {
	rect *items;
	size_t n;
} rects;

static void add(rects *r, int64_t start, int64_t end, uint64_t lo, uint64_t hi,
                uint32_t owner)
{
	if (start < end && lo < hi)
		r->items[r->n++] = (rect){start, end, lo, hi, owner};
}

static rects make_rects(const hbm_problem *p, const uint64_t *offset)
{
	size_t room = (size_t)p->n + 1;
	rects r = {0};

	if (p->gap_first)
		room += 2 * (size_t)p->gap_first[p->n];
	r.items = calloc(room, sizeof *r.items);
	for (uint32_t i = 0; i < p->n; i++) {
		int64_t now = p->start[i];
		uint64_t y = offset[i];

		if (y == HBM_NO_OFFSET)
			continue;
		for (uint32_t j = p->gap_first ? p->gap_first[i] : 0;
		     p->gap_first && j < p->gap_first[i + 1]; j++) {
			const hbm_gap *g = &p->gaps[j];

			add(&r, now, g->start, y, y + p->size[i], i);
			add(&r, g->start, g->end, y + g->lo, y + g->hi, i);
			now = g->end;
		}
		add(&r, now, p->end[i], y, y + p->size[i], i);
	}
	return r;
}

static bool may_meet(const hbm_problem *p, uint32_t a, uint32_t b)
{
	if (a == b)
		return true;
	if (p->set && p->set[a] != HBM_NONE && p->set[a] == p->set[b])
		return true;
	return p->group && p->group[a] != HBM_NONE && p->group[a] == p->group[b];
}

static const char *check_pairs(const hbm_problem *p, rects r)
{
	for (size_t i = 0; i < r.n; i++)
		for (size_t j = 0; j < i; j++) {
			rect a = r.items[i], b = r.items[j];

			if (a.start < b.end && b.start < a.end && a.lo < b.hi &&
			    b.lo < a.hi && !may_meet(p, a.owner, b.owner))
				return "two buffers share bytes";
		}
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int by_address(const void *a, const void *b)
{
	const rect *x = a, *y = b;

	return (x->lo > y->lo) - (x->lo < y->lo);
}

static size_t index_of(const int64_t *t, size_t n, int64_t v)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (t[mid] <= v)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* all[v]: maximum below v; set[v]: a maximum that holds for all of v. */
typedef struct maxima {
	uint64_t *all, *set;
} maxima;

static uint64_t raise(maxima *m, size_t v, size_t from, size_t to, size_t lo, size_t hi,
                      uint64_t value)
{
	uint64_t a, b, seen;
	size_t mid = (from + to) / 2;

	if (hi <= from || to <= lo)
		return 0;
	if (lo <= from && to <= hi) {
		seen = m->all[v];
		m->set[v] = value > m->set[v] ? value : m->set[v];
		m->all[v] = value > m->all[v] ? value : m->all[v];
		return seen;
	}
	a = raise(m, 2 * v, from, mid, lo, hi, value);
	b = raise(m, 2 * v + 1, mid, to, lo, hi, value);
	seen = a > b ? a : b;
	seen = m->set[v] > seen ? m->set[v] : seen;
	m->all[v] = value > m->all[v] ? value : m->all[v];
	return seen;
}

static const char *check_sweep(rects r)
{
	int64_t *t = calloc(2 * r.n + 1, sizeof *t);
	size_t n = 0, leaves = 1;
	const char *wrong = NULL;
	maxima m;

	for (size_t i = 0; i < r.n; i++) {
		t[2 * i] = r.items[i].start;
		t[2 * i + 1] = r.items[i].end;
	}
	qsort(t, 2 * r.n, sizeof *t, by_time);
	for (size_t i = 0; i < 2 * r.n; i++)
		if (n == 0 || t[n - 1] != t[i])
			t[n++] = t[i];
	while (leaves < n)
		leaves *= 2;
	m.all = calloc(2 * leaves, sizeof *m.all);
	m.set = calloc(2 * leaves, sizeof *m.set);
	qsort(r.items, r.n, sizeof *r.items, by_address);
	for (size_t i = 0; i < r.n && !wrong; i++) {
		rect *x = &r.items[i];

		if (raise(&m, 1, 0, leaves, index_of(t, n, x->start),
		          index_of(t, n, x->end), x->hi) > x->lo)
			wrong = "two buffers share bytes";
	}
	free(t);
	free(m.all);
	free(m.set);
	return wrong;
}

static const char *check_buffers(const hbm_problem *p, const hbm_placement *pl,
                                 bool partial)
{
	uint64_t top = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t y = pl->offset[i];

		if (y == HBM_NO_OFFSET) {
			if (!partial)
				return "a buffer has no offset";
			continue;
		}
		n++;
		top = y + p->size[i] > top ? y + p->size[i] : top;
		if (p->align && y % p->align[i])
			return "a buffer is not aligned";
		if (p->pin && p->pin[i] != HBM_NO_OFFSET && p->pin[i] != y)
			return "a pinned buffer moved";
		for (uint32_t j = 0; p->set && j < i; j++)
			if (p->set[i] != HBM_NONE && p->set[i] == p->set[j] &&
			    y - (p->shift ? p->shift[i] : 0) !=
				    pl->offset[j] - (p->shift ? p->shift[j] : 0))
				return "a set came apart";
	}
	if (top != pl->extent)
		return "the extent is not the highest end";
	if (n != pl->n_placed)
		return "the number of placed buffers is wrong";
	if (n == p->n && pl->extent < pl->lower_bound)
		return "the extent is below the lower bound";
	return NULL;
}

static const char *check_outcome(const hbm_problem *p, const hbm_placement *pl)
{
	bool fits = pl->n_placed == p->n && pl->extent <= p->capacity;

	if ((pl->outcome == HBM_FEASIBLE || pl->outcome == HBM_OPTIMAL) != fits)
		return "the outcome does not say whether it fits";
	if (pl->outcome == HBM_OPTIMAL && pl->extent != pl->lower_bound)
		return "optimal, but not at the lower bound";
	if (pl->outcome == HBM_INFEASIBLE && pl->lower_bound <= p->capacity)
		return "infeasible, but the lower bound fits";
	return NULL;
}

const char *pack_check(const hbm_problem *p, const hbm_placement *pl, bool partial)
{
	const char *wrong = check_buffers(p, pl, partial);
	rects r;

	if (!wrong)
		wrong = check_outcome(p, pl);
	if (wrong)
		return wrong;
	r = make_rects(p, pl->offset);
	wrong = p->set || p->group ? check_pairs(p, r) : check_sweep(r);
	free(r.items);
	return wrong;
}

uint64_t pack_pressure(const hbm_problem *p)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t sum = 0;

		for (uint32_t j = 0; j < p->n; j++)
			if (p->start[j] <= p->start[i] && p->start[i] < p->end[j])
				sum += p->size[j];
		most = sum > most ? sum : most;
	}
	return most;
}
