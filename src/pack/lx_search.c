/* SPDX-License-Identifier: Apache-2.0 */
/* lx_search: improve a scratchpad layout by ruin and rebuild.
 *
 * Decides   the layout that saves most among those it meets in a fixed number of
 *           steps; never a worse one than it was given.
 * Method    A step forces one item in at a random height and takes out what stands
 *           there, or just takes out some around a point of time and address. The
 *           rest sinks; then what came out, and a few others, go back to the
 *           lowest or the tightest hole, by value per room with noise. The result
 *           is kept when it loses no more than a tolerance that shrinks to
 *           nothing (threshold accepting: integers only, so the same everywhere).
 * Keeps     `order` holds the placed items by base; two that meet share no unit
 *           unless they are partners at one base; pinned items never move.
 * Cost      O(items) a step.
 * Source    Schrimpf et al., "Record breaking optimization results using the ruin
 *           and recreate principle", J. Comput. Phys. 159, 2000; Dueck and
 *           Scheuer, "Threshold accepting", J. Comput. Phys. 90, 1990. */
#include "pack/lx_board.h"

#include <string.h>

enum { MAX_RUIN = 10, MAX_OTHERS = 10 };

typedef struct search {
	const lx_core *c;
	uint64_t seed;
	lx_board now, kept; /* kept: to go back to */
	int64_t *level;     /* per segment, tops of what has sunk */
	uint32_t *wait, n_wait; /* items to put back */
	int64_t *key;       /* per item, of the order to put back in */
	int64_t *fall;      /* new bases of the seats at one base */
	lx_seat *pins;      /* by base */
	uint32_t n_pins;
	int64_t *density;   /* per item, value per room */
} search;

static uint32_t below(search *s, uint32_t n)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return (uint32_t)(((s->seed >> 32) * n) >> 32);
}

/* ---- sinking ---------------------------------------------------------------- */

static void raise_level(search *s, const lx_seat *x)
{
	for (uint32_t t = x->lo; t < x->hi; t++)
		if (s->level[t] < x->top)
			s->level[t] = x->top;
}

static int64_t level_under(const search *s, const lx_seat *x)
{
	int64_t at = 0;

	for (uint32_t t = x->lo; t < x->hi; t++)
		if (at < s->level[t])
			at = s->level[t];
	return at;
}

static bool seats_meet(const lx_seat *a, const lx_seat *b)
{
	return a->lo < b->hi && b->lo < a->hi;
}

/* Lowest base from `at` on that is clear of the pinned items; where it stands now
 * it is clear of them, perhaps as a partner. */
static int64_t clear_of_pins(const search *s, const lx_seat *x, int64_t at)
{
	int64_t units = x->top - x->base;

	for (uint32_t k = 0; k < s->n_pins; k++) {
		const lx_seat *q = &s->pins[k];
		if (seats_meet(x, q) && at < q->top && q->base < at + units &&
		    !(q->base == at && lx_partners(s->c, x->item, q->item)))
			at = q->top;
	}
	return at < x->base ? at : x->base;
}

static bool is_pinned(const search *s, const lx_seat *x)
{
	return s->c->items[x->item].pin >= 0;
}

/* New bases of the n seats at one base. Partners hold each other there: those that
 * meet, directly or through others, keep one base, the highest that one of them
 * needs. No base gets higher than it was. */
static void fall_together(search *s, const lx_seat *seats, uint32_t n)
{
	bool again = true;

	for (uint32_t k = 0; k < n; k++)
		s->fall[k] = is_pinned(s, &seats[k])
			? seats[k].base
			: clear_of_pins(s, &seats[k], level_under(s, &seats[k]));
	while (again && n > 1) {
		again = false;
		for (uint32_t a = 0; a < n; a++) {
			int64_t at = s->fall[a];
			for (uint32_t b = 0; b < n; b++)
				if (at < s->fall[b] && seats_meet(&seats[a], &seats[b]))
					at = s->fall[b];
			if (at == s->fall[a])
				continue;
			s->fall[a] = clear_of_pins(s, &seats[a], at);
			again = true;
		}
	}
}

static void settle(search *s, lx_seat *seat, int64_t base)
{
	seat->top += base - seat->base;
	seat->base = base;
	s->now.base[seat->item] = base;
	raise_level(s, seat);
}

static void sort_seats(lx_seat *seats, uint32_t n)
{
	for (uint32_t k = 1; k < n; k++) {
		lx_seat x = seats[k];
		uint32_t j = k;
		for (; j && seats[j - 1].base > x.base; j--)
			seats[j] = seats[j - 1];
		seats[j] = x;
	}
}

static void sort_by_start(lx_seat *seats, uint32_t n)
{
	for (uint32_t k = 1; k < n; k++) {
		lx_seat x = seats[k];
		uint32_t j = k;
		for (; j && seats[j - 1].lo > x.lo; j--)
			seats[j] = seats[j - 1];
		seats[j] = x;
	}
}

/* The n seats at one base sink, those that are apart in time each for itself. */
static void sink_level(search *s, lx_seat *seats, uint32_t n)
{
	sort_by_start(seats, n);
	for (uint32_t k = 0, end; k < n; k = end) {
		uint32_t hi = seats[k].hi;

		for (end = k + 1; end < n && seats[end].lo < hi; end++)
			hi = seats[end].hi > hi ? seats[end].hi : hi;
		fall_together(s, seats + k, end - k);
		for (uint32_t j = k; j < end; j++)
			settle(s, &seats[j], s->fall[j - k]);
	}
}

/* Lets all placed items sink as far as they can without passing each other. */
static void sink(search *s)
{
	lx_seat *seats = s->now.order;
	uint32_t n = s->now.n;

	memset(s->level, 0, s->c->n_segments * sizeof *s->level);
	for (uint32_t k = 0, end; k < n; k = end) {
		for (end = k + 1; end < n && seats[end].base == seats[k].base; end++)
			continue;
		if (end == k + 1 && !s->n_pins) {
			settle(s, &seats[k], level_under(s, &seats[k]));
			continue;
		}
		sink_level(s, seats + k, end - k);
	}
	sort_seats(seats, n);
}

/* ---- a step ------------------------------------------------------------------ */

/* Takes out a random placed item and what is near it in time and address. */
static void ruin(search *s, uint32_t count)
{
	lx_seat x;
	uint32_t at, seen = 0;

	if (!s->now.n)
		return;
	at = below(s, s->now.n);
	x = s->now.order[at];
	for (uint32_t d = 0; d < s->now.n && seen < count; d++)
		for (uint32_t side = 0; side < 2 && seen < count; side++) {
			uint32_t k = side ? at + d : at - d;
			const lx_seat *y = &s->now.order[k];
			if (k >= s->now.n || (side && !d) || !seats_meet(&x, y) ||
			    s->c->items[y->item].pin >= 0)
				continue;
			lx_board_drop(&s->now, y->item);
			seen++;
		}
	lx_board_sweep(&s->now);
}

/* Takes out what stands in the way of an item at a random height, and puts the
 * item there. */
static void force_in(search *s, uint32_t i)
{
	const lx_item *x = &s->c->items[i];
	int64_t at = 0;
	bool blocked = false;

	if (s->now.n && below(s, 4)) {
		const lx_seat *on = &s->now.order[below(s, s->now.n)];
		at = below(s, 2) ? on->top : on->base;
	}
	if (at > x->max_base)
		at = x->max_base;
	for (uint32_t k = 0; k < s->now.n && !blocked; k++) {
		const lx_seat *y = &s->now.order[k];
		if (x->lo >= y->hi || y->lo >= x->hi || y->base >= at + x->units ||
		    y->top <= at || (y->base == at && lx_partners(s->c, i, y->item)))
			continue;
		if (s->c->items[y->item].pin >= 0)
			blocked = true;
		else
			lx_board_drop(&s->now, y->item);
	}
	lx_board_sweep(&s->now);
	if (!blocked)
		lx_board_put(&s->now, i, at);
}

/* Lists the items that are out. */
static void list_out(search *s)
{
	s->n_wait = 0;
	for (uint32_t i = 0; i < s->c->n; i++)
		if (s->now.base[i] < 0 && s->c->items[i].pin < 0)
			s->wait[s->n_wait++] = i;
}

/* Cuts the list of items that are out to those that this step took out and a
 * random few of the others. */
static void sample_out(search *s)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < s->n_wait; k++)
		if (s->kept.base[s->wait[k]] >= 0) {
			uint32_t i = s->wait[k];
			s->wait[k] = s->wait[n];
			s->wait[n++] = i;
		}
	for (uint32_t left = MAX_OTHERS; left && n < s->n_wait; left--) {
		uint32_t k = n + below(s, s->n_wait - n), i = s->wait[k];
		s->wait[k] = s->wait[n];
		s->wait[n++] = i;
	}
	s->n_wait = n;
}

/* Noise of up to a factor two on value per room. */
static int64_t noisy_rank(search *s, uint32_t i)
{
	return s->density[i] * (int64_t)(128 + below(s, 128));
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
}

static void take_step(search *s)
{
	list_out(s);
	if (s->n_wait && below(s, 4))
		force_in(s, s->wait[below(s, s->n_wait)]);
	else
		ruin(s, 1 + below(s, MAX_RUIN));
	sink(s);
	list_out(s);
	sample_out(s);
	rebuild(s, below(s, 2));
}

static hbm_status init(search *s, const lx_core *c, const lx_prices *prices,
                       const int64_t *base)
{
	*s = (search){.c = c, .seed = 0x9e3779b97f4a7c15u};
	HBM_TRY(lx_board_init(&s->now, c));
	HBM_TRY(lx_board_init(&s->kept, c));
	HBM_NEED(s->key = HBM_ARRAY(c->mem, int64_t, c->n));
	HBM_NEED(s->wait = HBM_ARRAY(c->mem, uint32_t, c->n));
	HBM_NEED(s->fall = HBM_ARRAY(c->mem, int64_t, c->n));
	HBM_NEED(s->density = HBM_ARRAY(c->mem, int64_t, c->n));
	for (uint32_t i = 0; i < c->n; i++) {
		const lx_item *x = &c->items[i];
		int64_t room = x->units * (int64_t)(x->hi - x->lo);
		s->density[i] = ((x->value / (int64_t)prices->scale) << 8) / room;
	}
	HBM_NEED(s->level = HBM_ARRAY(c->mem, int64_t, c->n_segments));
	HBM_NEED(s->pins = HBM_ARRAY(c->mem, lx_seat, c->n));
	for (uint32_t i = 0; i < c->n; i++)
		if (base[i] >= 0)
			lx_board_put(&s->now, i, base[i]);
	for (uint32_t k = 0; k < s->now.n; k++)
		if (is_pinned(s, &s->now.order[k]))
			s->pins[s->n_pins++] = s->now.order[k];
	return HBM_OK;
}

/* x * a / b for a <= b < 2^31, without an overflow between. */
static int64_t part(int64_t x, uint64_t a, uint64_t b)
{
	int64_t m = (int64_t)a, n = (int64_t)b;

	return x / n * m + x % n * m / n;
}

hbm_status lx_improve(lx_core *c, const lx_prices *prices, uint64_t steps,
                      int64_t *base, uint64_t *ret_steps)
{
	search s;
	int64_t best, now, all = 0;

	*ret_steps = 0;
	if (!c->n)
		return HBM_OK;
	HBM_TRY(init(&s, c, prices, base));
	for (uint32_t i = 0; i < c->n; i++)
		all += c->items[i].value;
	best = now = s.now.value;
	lx_board_copy(&s.kept, &s.now);
	for (uint64_t k = 0; k < steps && (uint64_t)best < prices->bound; k++) {
		int64_t slack = part(all / (2 * c->n), steps - k, steps);
		(*ret_steps)++;
		take_step(&s);
		slack = part(slack, below(&s, 256), 256);
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
