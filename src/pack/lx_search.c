/* SPDX-License-Identifier: Apache-2.0 */
/* lx_search: improve a scratchpad layout by ruin and rebuild.
 *
 * Decides   the layout that saves most among those it meets in a fixed number of
 *           steps; never a worse one than it was given.
 * Method    A step takes some placed items out around a point of time and
 *           address, lets the rest sink to the bottom (or, above a random cut,
 *           rise to the top, which opens one hole), and puts items back at the
 *           lowest or tightest hole in an order by value per room with noise:
 *           one that was out first, then the others. The result is kept when it
 *           loses no more than a tolerance that shrinks to nothing (threshold
 *           accepting: integer arithmetic only, so the same on every machine).
 * Keeps     `order` holds the placed items by base; two that meet share no unit
 *           unless they are partners at one base; pinned items never move.
 * Cost      O(items) a step.
 * Source    Schrimpf et al., "Record breaking optimization results using the ruin
 *           and recreate principle", J. Comput. Phys. 159, 2000; Dueck and
 *           Scheuer, "Threshold accepting", J. Comput. Phys. 90, 1990. */
#include "pack/lx_board.h"

#include <string.h>

enum { MAX_RUIN = 10 };

typedef struct search {
	const lx_core *c;
	const int64_t *profit;
	uint64_t seed;
	lx_board now, kept; /* kept: to go back to */
	int64_t *level;     /* per segment, of a sinking or rising layout */
	uint32_t *wait, n_wait; /* items to put back */
	int64_t *key;       /* per item, of the order to put back in */
	uint32_t *out;      /* scratch */
} search;

static uint32_t below(search *s, uint32_t n)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return (uint32_t)(((s->seed >> 32) * n) >> 32);
}

static void take_out(search *s, uint32_t i)
{
	lx_board_drop(&s->now, i);
	s->wait[s->n_wait++] = i;
}

/* ---- sinking and rising ---------------------------------------------------- */

/* Items that share a base move together. Returns one past the last of them. */
static uint32_t chain_end(const search *s, uint32_t k)
{
	uint32_t end = k + 1;

	while (end < s->now.n && s->now.base[s->now.order[end]] == s->now.base[s->now.order[k]])
		end++;
	return end;
}

static void raise_level(search *s, const lx_item *x, int64_t to)
{
	for (uint32_t t = x->lo; t < x->hi; t++)
		if (s->level[t] < to)
			s->level[t] = to;
}

static int64_t level_under(const search *s, const lx_item *x)
{
	int64_t at = 0;

	for (uint32_t t = x->lo; t < x->hi; t++)
		if (at < s->level[t])
			at = s->level[t];
	return at;
}

/* True when order[a] and order[b], at one base, hold each other there. */
static bool tied(const search *s, uint32_t a, uint32_t b)
{
	return lx_items_meet(&s->c->items[s->now.order[a]], &s->c->items[s->now.order[b]]);
}

/* Items of one base that are tied, directly or through others, get one new base:
 * the highest that one of them needs. */
static void sink_base(search *s, uint32_t first, uint32_t end)
{
	bool again = true;

	for (uint32_t k = first; k < end; k++)
		s->key[s->now.order[k]] = level_under(s, &s->c->items[s->now.order[k]]);
	while (again && end - first > 1) {
		again = false;
		for (uint32_t a = first; a < end; a++)
			for (uint32_t b = first; b < end; b++)
				if (s->key[s->now.order[a]] < s->key[s->now.order[b]] && tied(s, a, b)) {
					s->key[s->now.order[a]] = s->key[s->now.order[b]];
					again = true;
				}
	}
	for (uint32_t k = first; k < end; k++) {
		uint32_t i = s->now.order[k];
		s->now.base[i] = s->key[i];
		raise_level(s, &s->c->items[i], s->now.base[i] + s->c->items[i].units);
	}
}

static void sort_order(search *s)
{
	for (uint32_t k = 1; k < s->now.n; k++) {
		uint32_t i = s->now.order[k], j = k;
		for (; j && s->now.base[s->now.order[j - 1]] > s->now.base[i]; j--)
			s->now.order[j] = s->now.order[j - 1];
		s->now.order[j] = i;
	}
}

/* Lets all placed items sink as far as they can without passing each other. */
static void sink(search *s)
{
	memset(s->level, 0, s->c->n_segments * sizeof *s->level);
	for (uint32_t k = 0, end; k < s->now.n; k = end) {
		end = chain_end(s, k);
		sink_base(s, k, end);
	}
	sort_order(s);
}

/* ---- a step ----------------------------------------------------------------- */

/* Takes out a random placed item and what is near it in time and address. */
static void ruin(search *s, uint32_t count)
{
	const lx_item *x;
	uint32_t at, seen = 0;

	if (!s->now.n)
		return;
	at = below(s, s->now.n);
	x = &s->c->items[s->now.order[at]];
	for (uint32_t d = 0; d < s->now.n && seen < count; d++)
		for (uint32_t side = 0; side < 2 && seen < count; side++) {
			uint32_t k = side ? at + d : at - d, i;
			if (k >= s->now.n || (side && !d))
				continue;
			i = s->now.order[k];
			if (s->now.base[i] < 0 || s->c->items[i].pin >= 0 ||
			    !lx_items_meet(x, &s->c->items[i]))
				continue;
			take_out(s, i);
			seen++;
		}
	lx_board_sweep(&s->now);
}

/* Takes out what stands in the way of a random item that is out, at a random
 * height, and puts that item there. */
static void force_in(search *s, uint32_t i)
{
	const lx_item *x = &s->c->items[i];
	int64_t at = 0;
	bool blocked = false;
	uint32_t k;

	if (s->now.n && below(s, 4)) {
		k = below(s, s->now.n);
		at = s->now.base[s->now.order[k]];
		if (below(s, 2))
			at += s->c->items[s->now.order[k]].units;
	}
	if (at > x->max_base)
		at = x->max_base;
	for (k = 0; k < s->now.n && !blocked; k++) {
		uint32_t q = s->now.order[k];
		const lx_item *y = &s->c->items[q];
		if (!lx_items_meet(x, y) || s->now.base[q] >= at + x->units ||
		    s->now.base[q] + y->units <= at ||
		    (s->now.base[q] == at && lx_partners(s->c, i, q)))
			continue;
		if (y->pin >= 0)
			blocked = true;
		else
			take_out(s, q);
	}
	lx_board_sweep(&s->now);
	if (!blocked)
		lx_board_put(&s->now, i, at);
}

/* Adds the items that are out and not in `wait` yet. */
static void add_waiting(search *s)
{
	uint32_t n = s->n_wait;

	for (uint32_t k = 0; k < n; k++)
		s->key[s->wait[k]] = -1;
	for (uint32_t i = 0; i < s->c->n; i++)
		if (s->now.base[i] < 0 && s->c->items[i].pin < 0 && s->key[i] != -1)
			s->wait[s->n_wait++] = i;
}

/* Noise of up to a factor four on value per room. */
static int64_t noisy_rank(search *s, uint32_t i)
{
	const lx_item *x = &s->c->items[i];
	int64_t room = x->units * (int64_t)(x->hi - x->lo);

	return x->value * (int64_t)(64 + below(s, 192)) / (room ? room : 1);
}

static void rebuild(search *s, bool tight)
{
	for (uint32_t k = 0; k < s->n_wait; k++)
		s->key[s->wait[k]] = noisy_rank(s, s->wait[k]);
	for (uint32_t k = 1; k < s->n_wait; k++) {
		uint32_t i = s->wait[k], j = k;
		for (; j && s->key[s->wait[j - 1]] < s->key[i]; j--)
			s->wait[j] = s->wait[j - 1];
		s->wait[j] = i;
	}
	for (uint32_t k = 0; k < s->n_wait; k++)
		if (s->now.base[s->wait[k]] < 0)
			(void)lx_board_place(&s->now, s->wait[k], tight);
	s->n_wait = 0;
}

static uint32_t random_out(search *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->c->n; i++)
		if (s->now.base[i] < 0 && s->c->items[i].pin < 0)
			s->out[n++] = i;
	return n ? s->out[below(s, n)] : HBM_NONE;
}

static void take_step(search *s)
{
	uint32_t kind = below(s, 4), i;

	for (uint32_t k = 0; k < s->c->n; k++)
		s->key[k] = 0;
	if (kind) {
		i = random_out(s);
		if (i != HBM_NONE)
			force_in(s, i);
	} else {
		ruin(s, 1 + below(s, MAX_RUIN));
	}
	if (!s->c->pins)
		sink(s);
	for (uint32_t k = 0; k < s->c->n; k++)
		s->key[k] = 0;
	add_waiting(s);
	rebuild(s, below(s, 2));
}

static hbm_status init(search *s, const lx_core *c, const int64_t *base)
{
	*s = (search){.c = c, .seed = 0x9e3779b97f4a7c15u};
	HBM_TRY(lx_board_init(&s->now, c));
	HBM_TRY(lx_board_init(&s->kept, c));
	HBM_NEED(s->key = HBM_ARRAY(c->mem, int64_t, c->n));
	HBM_NEED(s->wait = HBM_ARRAY(c->mem, uint32_t, c->n));
	HBM_NEED(s->out = HBM_ARRAY(c->mem, uint32_t, c->n));
	HBM_NEED(s->level = HBM_ARRAY(c->mem, int64_t, c->n_segments));
	for (uint32_t i = 0; i < c->n; i++)
		if (base[i] >= 0)
			lx_board_put(&s->now, i, base[i]);
	return HBM_OK;
}

hbm_status lx_improve(lx_core *c, const lx_prices *prices, uint64_t steps,
                      int64_t *base, uint64_t *ret_steps)
{
	search s;
	int64_t best, now, all = 0;

	*ret_steps = 0;
	if (!c->n)
		return HBM_OK;
	HBM_TRY(init(&s, c, base));
	s.profit = prices->profit;
	for (uint32_t i = 0; i < c->n; i++)
		all += c->items[i].value;
	best = now = s.now.value;
	lx_board_copy(&s.kept, &s.now);
	for (uint64_t k = 0; k < steps && (uint64_t)best < prices->bound; k++) {
		int64_t slack = all / (2 * c->n) * (int64_t)(steps - k) / (int64_t)steps;
		(*ret_steps)++;
		take_step(&s);
		slack = slack * (int64_t)below(&s, 256) / 256;
		if (s.now.value > best) {
			best = s.now.value;
			memcpy(base, s.now.base, c->n * sizeof *base);
		}
		if (s.now.value + slack >= now) {
			now = s.now.value;
			lx_board_copy(&s.kept, &s.now);
		} else {
			lx_board_copy(&s.now, &s.kept);
		}
	}
	return HBM_OK;
}
