/* SPDX-License-Identifier: Apache-2.0
 * certificate: is what a solver says about its answer so?
 *
 * Bytes at a tick   What is live there needs the union of its windows within a set,
 *                   the largest member of a group, and else its own bytes. Where all
 *                   live buffers stand at multiples of one number, each but the top
 *                   one fills up to the next multiple.
 * Small sets        All orders, each buffer at the lowest place that is free: some
 *                   order gives any placement, pushed down. Without gaps and sets. */
#include "verify/certificate.h"

#include "base/ckd.h"
#include "base/map.h"
#include "base/sort.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_TRIED = 6, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

typedef struct claims {
	hbm_arena *a;
	const hbm_problem *p;
	const hbm_placement *pl;
	hbm_diags *d;
} claims;

static hbm_status wrong(const claims *c, const char *what, uint64_t has, uint64_t want)
{
	return hbm_fail(c->d, HBM_VERIFY, HBM_E_PLAN, HBM_NOWHERE,
	                "the answer claims %s, but %" PRIu64 " against %" PRIu64 " says no",
	                what, has, want);
}

/* ---- bytes at a tick -------------------------------------------------------- */

/* What buffer i needs at a tick; false: nothing. */
static bool window(const hbm_problem *p, uint32_t i, int64_t t, uint64_t *ret_lo,
                   uint64_t *ret_hi)
{
	uint32_t g = p->gap_first ? p->gap_first[i] : 0;
	uint32_t end = p->gap_first ? p->gap_first[i + 1] : 0;

	if (t < p->start[i] || t >= p->end[i])
		return false;
	*ret_lo = 0;
	*ret_hi = p->size[i];
	for (; g < end; g++)
		if (p->gaps[g].start <= t && t < p->gaps[g].end) {
			*ret_lo = p->gaps[g].lo;
			*ret_hi = p->gaps[g].hi;
		}
	return *ret_lo < *ret_hi;
}

/* Buffers that need bytes at the tick, with what they need. */
typedef struct needs {
	const hbm_problem *p;
	uint32_t *ids, n;
	uint64_t *lo, *hi; /* by buffer; with the shift within a set */
} needs;

static bool in_set(const hbm_problem *p, uint32_t i)
{
	return p->set && p->set[i] != HBM_NONE;
}

static bool in_group(const hbm_problem *p, uint32_t i)
{
	return !in_set(p, i) && p->group && p->group[i] != HBM_NONE;
}

/* Sets first, by set and begin; then groups, largest first; then the others. */
static int by_kin(const void *context, uint32_t a, uint32_t b)
{
	const needs *n = context;
	const hbm_problem *p = n->p;
	uint32_t ka = in_set(p, a) ? 0 : in_group(p, a) ? 1 : 2;
	uint32_t kb = in_set(p, b) ? 0 : in_group(p, b) ? 1 : 2;
	uint64_t x = 0, y = 0, v = 0, w = 0;

	if (ka != kb)
		return ka < kb ? -1 : 1;
	if (ka == 0) {
		x = p->set[a], y = p->set[b];
		v = n->lo[a], w = n->lo[b];
	} else if (ka == 1) {
		x = p->group[a], y = p->group[b];
		v = n->hi[b] - n->lo[b], w = n->hi[a] - n->lo[a];
	}
	if (x != y)
		return x < y ? -1 : 1;
	return v < w ? -1 : v > w;
}

static hbm_status gather(const claims *c, int64_t t, needs *ret)
{
	const hbm_problem *p = c->p;
	needs n = {.p = p, .ids = HBM_ARRAY(c->a, uint32_t, p->n),
	           .lo = HBM_ARRAY(c->a, uint64_t, p->n),
	           .hi = HBM_ARRAY(c->a, uint64_t, p->n)};

	HBM_NEED(n.ids && n.lo && n.hi);
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t shift = in_set(p, i) && p->shift ? p->shift[i] : 0;
		if (!window(p, i, t, &n.lo[i], &n.hi[i]))
			continue;
		n.lo[i] += shift;
		n.hi[i] += shift;
		n.ids[n.n++] = i;
	}
	HBM_NEED(hbm_merge_sort(c->a, n.ids, n.n, by_kin, &n));
	*ret = n;
	return HBM_OK;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* A number that divides all offsets of what is live whole; 1 where there is none. */
static uint64_t step(const needs *n)
{
	uint64_t g = 0;

	if (!n->p->align || n->p->gap_first || n->p->set)
		return 1;
	for (uint32_t k = 0; k < n->n; k++)
		g = divisor(n->p->align[n->ids[k]], g);
	return g ? g : 1;
}

static uint64_t sum_needs(const needs *n)
{
	uint64_t sum = 0, pad = 0, until = 0, g = step(n);

	for (uint32_t k = 0; k < n->n; k++) {
		uint32_t i = n->ids[k], last = k ? n->ids[k - 1] : HBM_NONE;
		uint64_t lo = n->lo[i], bytes = n->hi[i] - lo, full = bytes;
		if (in_set(n->p, i)) {
			bool same = k && in_set(n->p, last) &&
			            n->p->set[last] == n->p->set[i];
			until = same ? until : 0;
			lo = lo > until ? lo : until;
			full = n->hi[i] > lo ? n->hi[i] - lo : 0;
			until = n->hi[i] > until ? n->hi[i] : until;
		} else if (in_group(n->p, i) && k && in_group(n->p, last) &&
		           n->p->group[last] == n->p->group[i]) {
			continue; /* a larger one counted */
		} else if (!hbm_align_up(bytes, g, &full)) {
			full = bytes;
		}
		pad = full > bytes && full - bytes > pad ? full - bytes : pad;
		sum = hbm_add_sat(sum, full);
	}
	return sum - pad;
}

/* The least shift within each set; the set begins no lower than byte 0. */
static hbm_status least_shifts(const claims *c, hbm_map *ids, uint64_t *least)
{
	const hbm_problem *p = c->p;

	hbm_map_init(ids, c->a);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t first;
		if (!in_set(p, i) || !p->shift)
			continue;
		first = hbm_map_get(ids, p->set[i]);
		if (first == HBM_NONE) {
			HBM_NEED(hbm_map_set(ids, p->set[i], i));
			least[i] = p->shift[i];
		} else if (p->shift[i] < least[first]) {
			least[first] = p->shift[i];
		}
	}
	return HBM_OK;
}

/* No placement is lower than this, whatever the tick. */
static hbm_status single_bound(const claims *c, uint64_t *ret)
{
	const hbm_problem *p = c->p;
	uint64_t *least = HBM_ZARRAY(c->a, uint64_t, p->n), most = 0;
	hbm_map first;

	HBM_NEED(least);
	HBM_TRY(least_shifts(c, &first, least));
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t at = 0, end;
		if (in_set(p, i) && p->shift)
			at = p->shift[i] - least[hbm_map_get(&first, p->set[i])];
		if (p->pin && p->pin[i] != HBM_NO_OFFSET)
			at = p->pin[i];
		end = hbm_add_sat(at, p->size[i]);
		most = end > most ? end : most;
	}
	*ret = most;
	return HBM_OK;
}

typedef struct event {
	uint64_t when;   /* since the first birth */
	uint64_t change; /* of the live bytes, modulo 2^64 */
} event;

/* Deaths first, so that a stable sort keeps them before births of the same tick. */
static uint32_t list_events(const hbm_problem *p, event *ret, int64_t *ret_origin)
{
	uint64_t origin = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->start[i] < p->end[i] && (!n++ || p->start[i] < *ret_origin))
			*ret_origin = p->start[i];
	origin = n ? (uint64_t)*ret_origin : 0;
	n = 0;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->start[i] < p->end[i])
			ret[n++] = (event){(uint64_t)p->end[i] - origin, 0 - p->size[i]};
	for (uint32_t i = 0; i < p->n; i++)
		if (p->start[i] < p->end[i])
			ret[n++] = (event){(uint64_t)p->start[i] - origin, p->size[i]};
	return n;
}

/* Sorts by `when`, a few bits at a time; the result is in one of the two arrays. */
static event *sort_events(event *from, event *to, uint32_t n, uint32_t *counts)
{
	uint64_t all = 0;

	for (uint32_t k = 0; k < n; k++)
		all |= from[k].when;
	for (uint32_t shift = 0; shift < 64 && all >> shift; shift += DIGIT_BITS) {
		event *swap = from;
		memset(counts, 0, DIGITS * sizeof *counts);
		for (uint32_t k = 0; k < n; k++)
			counts[from[k].when >> shift & (DIGITS - 1)]++;
		for (uint32_t d = 0, sum = 0; d < DIGITS; d++) {
			uint32_t next = sum + counts[d];
			counts[d] = sum;
			sum = next;
		}
		for (uint32_t k = 0; k < n; k++)
			to[counts[from[k].when >> shift & (DIGITS - 1)]++] = from[k];
		from = to;
		to = swap;
	}
	return from;
}

/* The tick where the plain sum of live sizes is highest; any, when nothing lives. */
static hbm_status worst_tick(const claims *c, int64_t *ret)
{
	event *events = HBM_ARRAY(c->a, event, 2 * (size_t)c->p->n);
	event *other = HBM_ARRAY(c->a, event, 2 * (size_t)c->p->n);
	uint32_t *counts = HBM_ARRAY(c->a, uint32_t, DIGITS), n;
	uint64_t live = 0, most = 0, at = 0;
	int64_t origin = 0;

	HBM_NEED(events && other && counts);
	n = list_events(c->p, events, &origin);
	events = sort_events(events, other, n, counts);
	for (uint32_t k = 0; k < n; k++) {
		live += events[k].change;
		if (live <= most)
			continue;
		most = live;
		at = events[k].when;
	}
	*ret = (int64_t)((uint64_t)origin + at);
	return HBM_OK;
}

static hbm_status bound_at(const claims *c, int64_t t, uint64_t *ret)
{
	uint64_t single, sum;
	needs n;

	HBM_TRY(single_bound(c, &single));
	HBM_TRY(gather(c, t, &n));
	sum = sum_needs(&n);
	*ret = sum > single ? sum : single;
	return HBM_OK;
}

/* ---- small sets --------------------------------------------------------------- */

typedef struct puzzle {
	const hbm_problem *p;
	const uint32_t *ids;
	uint64_t at[MAX_TRIED];
	uint32_t order[MAX_TRIED], n;
} puzzle;

static bool meet(const hbm_problem *p, uint32_t a, uint32_t b)
{
	bool friends = p->group && p->group[a] != HBM_NONE && p->group[a] == p->group[b];

	return !friends && p->start[a] < p->end[b] && p->start[b] < p->end[a];
}

/* Lowest place of item k that the first `done` of the order leave; UINT64_MAX: it is
 * pinned to where one of them is. */
static uint64_t lowest(const puzzle *z, uint32_t done, uint32_t k)
{
	const hbm_problem *p = z->p;
	uint32_t i = z->ids[k];
	uint64_t align = p->align ? p->align[i] : 1, at = 0;
	bool pinned = p->pin && p->pin[i] != HBM_NO_OFFSET, moved = true;

	at = pinned ? p->pin[i] : 0;
	while (moved) {
		moved = false;
		for (uint32_t m = 0; m < done; m++) {
			uint32_t o = z->order[m], j = z->ids[o];
			uint64_t end = hbm_add_sat(z->at[o], p->size[j]);
			if (!meet(p, i, j) || at >= end ||
			    z->at[o] >= hbm_add_sat(at, p->size[i]))
				continue;
			if (pinned || !hbm_align_up(end, align, &at))
				return UINT64_MAX;
			moved = true;
		}
	}
	return at;
}

static bool order_fits(puzzle *z)
{
	for (uint32_t m = 0; m < z->n; m++) {
		uint32_t k = z->order[m];
		z->at[k] = lowest(z, m, k);
		if (z->at[k] == UINT64_MAX ||
		    hbm_add_sat(z->at[k], z->p->size[z->ids[k]]) > z->p->capacity)
			return false;
	}
	return true;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

/* The next order of n numbers; false: that was the last. */
static bool next_order(uint32_t *o, uint32_t n)
{
	uint32_t i = n, k = n;

	while (i > 1 && o[i - 2] >= o[i - 1])
		i--;
	if (i <= 1)
		return false;
	while (o[k - 1] <= o[i - 2])
		k--;
	swap(&o[i - 2], &o[k - 1]);
	for (uint32_t lo = i - 1, hi = n - 1; lo < hi; lo++, hi--)
		swap(&o[lo], &o[hi]);
	return true;
}

/* Pinned ones first: they are where they are. */
static bool some_order_fits(const hbm_problem *p, const uint32_t *ids, uint32_t n)
{
	puzzle z = {.p = p, .ids = ids, .n = n};
	uint32_t pinned = 0, k = 0;

	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t m = 0; m < n; m++) {
			bool pin = p->pin && p->pin[ids[m]] != HBM_NO_OFFSET;
			pinned += pin && !pass;
			if (pin == !pass)
				z.order[k++] = m;
		}
	do {
		if (order_fits(&z))
			return true;
	} while (next_order(z.order + pinned, n - pinned));
	return false;
}

/* ---- claims --------------------------------------------------------------------- */

static hbm_status check_tick(const claims *c, bool *ret_proved)
{
	uint64_t bytes;

	HBM_TRY(bound_at(c, c->pl->witness_tick, &bytes));
	if (bytes <= c->p->capacity)
		return wrong(c, "that nothing fits", bytes, c->p->capacity);
	*ret_proved = true;
	return HBM_OK;
}

static hbm_status check_set(const claims *c, bool *ret_proved)
{
	const hbm_placement *pl = c->pl;
	bool *seen = HBM_ZARRAY(c->a, bool, c->p->n);

	HBM_NEED(seen);
	for (uint32_t k = 0; k < pl->n_witness; k++) {
		if (pl->witness[k] >= c->p->n || seen[pl->witness[k]])
			return wrong(c, "a set that does not fit", pl->witness[k], c->p->n);
		seen[pl->witness[k]] = true;
	}
	if (pl->n_witness > MAX_TRIED || c->p->gap_first || c->p->set)
		return HBM_OK;
	if (some_order_fits(c->p, pl->witness, pl->n_witness))
		return wrong(c, "a set that does not fit", pl->n_witness, c->p->capacity);
	*ret_proved = true;
	return HBM_OK;
}

static bool complete(const claims *c)
{
	for (uint32_t i = 0; i < c->p->n; i++)
		if (c->pl->offset[i] == HBM_NO_OFFSET)
			return false;
	return true;
}

static hbm_status check_fit(const claims *c, bool *ret_proved)
{
	const hbm_placement *pl = c->pl;
	bool all = complete(c);
	uint64_t bound = 0;
	int64_t tick = 0;

	if (pl->outcome == HBM_OPTIMAL || pl->outcome == HBM_FEASIBLE) {
		if (!all || pl->extent > c->p->capacity)
			return wrong(c, "that all fits", pl->extent, c->p->capacity);
	}
	if (pl->outcome == HBM_OPTIMAL && pl->extent > pl->lower_bound)
		return wrong(c, "the optimum", pl->extent, pl->lower_bound);
	if (all && pl->lower_bound > pl->extent)
		return wrong(c, "a lower bound", pl->lower_bound, pl->extent);
	if (pl->outcome != HBM_OPTIMAL)
		return HBM_OK;
	HBM_TRY(worst_tick(c, &tick));
	HBM_TRY(bound_at(c, tick, &bound));
	*ret_proved = pl->extent <= bound;
	return HBM_OK;
}

hbm_status hbm_verify_claims(hbm_arena *scratch, const hbm_problem *p,
                             const hbm_placement *pl, hbm_diags *d, bool *ret_proved)
{
	claims c = {.a = scratch, .p = p, .pl = pl, .d = d};
	bool proved = false;

	if (pl->outcome == HBM_INFEASIBLE)
		HBM_TRY(pl->n_witness ? check_set(&c, &proved) : check_tick(&c, &proved));
	else
		HBM_TRY(check_fit(&c, &proved));
	*ret_proved = proved;
	return HBM_OK;
}
