/* SPDX-License-Identifier: Apache-2.0
 * The skyline decoder of sky.c with bit sets: for each tick the ranks that start
 * at or after it and those that end at or before it; the first bit that both have
 * in common with the unplaced ranks is the most wanted item of a valley.
 * Exchanging two ranks flips two bits in the rows between their starts and ends.
 *
 * An exchange changes nothing before the first choice where the item that fell
 * was taken, or the one that rose could have been: the kept run is scanned for
 * it, and the decode goes on from the checkpoint before. When both items are
 * placed and every choice was as before, so is the rest.
 *
 * Memory: n x ticks / 4 bytes for the rows; about 3n / 64 skylines. */
#include "pack/bits.h"

#include <string.h>

/* ---- rows of bits --------------------------------------------------------- */

static uint64_t *row(const hbm_bits *b, uint64_t *rows, uint32_t tick)
{
	return rows + (size_t)tick * b->n_words;
}

static void flip(uint64_t *bits, uint32_t at)
{
	bits[at / 64] ^= (uint64_t)1 << at % 64;
}

static uint32_t lowest_bit(uint64_t v)
{
#if defined(__GNUC__)
	return (uint32_t)__builtin_ctzll(v);
#else
	uint32_t at = 0;

	while (!(v >> at & 1))
		at++;
	return at;
#endif
}

static void fill_rows(hbm_bits *b)
{
	const hbm_inst *in = b->in;
	size_t bytes = (size_t)b->n_words * sizeof *b->from * (in->n_ticks + 1);

	memset(b->from, 0, bytes);
	memset(b->until, 0, bytes);
	for (uint32_t i = 0; i < in->n; i++) {
		flip(row(b, b->from, in->start[i]), b->rank[i]);
		flip(row(b, b->until, in->end[i]), b->rank[i]);
	}
	for (uint32_t t = in->n_ticks; t-- > 0;)
		for (uint32_t w = 0; w < b->n_words; w++)
			row(b, b->from, t)[w] |= row(b, b->from, t + 1)[w];
	for (uint32_t t = 1; t <= in->n_ticks; t++)
		for (uint32_t w = 0; w < b->n_words; w++)
			row(b, b->until, t)[w] |= row(b, b->until, t - 1)[w];
}

static void flip_rows(hbm_bits *b, uint64_t *rows, uint32_t lo, uint32_t hi, uint32_t x,
                      uint32_t y)
{
	for (uint32_t t = lo; t < hi; t++) {
		flip(row(b, rows, t), x);
		flip(row(b, rows, t), y);
	}
}

void hbm_bits_exchange(hbm_bits *b, uint32_t x, uint32_t y)
{
	const hbm_inst *in = b->in;
	uint32_t i = b->order[x], j = b->order[y];
	uint32_t s = in->start[i], t = in->start[j], e = in->end[i], f = in->end[j];

	b->order[x] = j;
	b->order[y] = i;
	b->rank[i] = y;
	b->rank[j] = x;
	flip_rows(b, b->from, (s < t ? s : t) + 1, (s < t ? t : s) + 1, x, y);
	flip_rows(b, b->until, e < f ? e : f, e < f ? f : e, x, y);
	b->up = x < y ? j : i;
	b->down = x < y ? i : j;
}

void hbm_bits_order(hbm_bits *b, const uint32_t *order)
{
	for (uint32_t k = 0; k < b->in->n; k++) {
		b->order[k] = order[k];
		b->rank[order[k]] = k;
	}
	fill_rows(b);
	b->up = b->down = HBM_NONE;
}

/* ---- making one ----------------------------------------------------------- */

/* A placement makes at most two more segments, and a filled valley one less. */
static uint32_t max_choices(const hbm_inst *in)
{
	return 3 * in->n + 1;
}

static hbm_status run_init(hbm_arena *a, const hbm_bits *b, hbm_run *r)
{
	uint32_t n_checks = max_choices(b->in) / HBM_CHECK_STEPS + 1;

	r->choices = HBM_ARRAY(a, hbm_choice, max_choices(b->in));
	r->checks = HBM_ARRAY(a, hbm_checkpoint, n_checks);
	HBM_NEED(r->choices && r->checks);
	for (uint32_t k = 0; k < n_checks; k++) {
		r->checks[k].seg = HBM_ARRAY(a, hbm_segment, b->in->n_ticks + 1);
		r->checks[k].live = HBM_ARRAY(a, uint64_t, b->n_words);
		HBM_NEED(r->checks[k].seg && r->checks[k].live);
	}
	return HBM_OK;
}

static uint64_t sum_of_sizes(const hbm_inst *in)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < in->n; i++)
		sum += in->size[i];
	return sum;
}

hbm_status hbm_bits_init(hbm_arena *a, const hbm_inst *in, hbm_bits *b)
{
	size_t n = in->n, words = (n + 63) / 64, rows = words * (in->n_ticks + 1);

	*b = (hbm_bits){.in = in, .n_words = (uint32_t)words};
	b->from = HBM_ARRAY(a, uint64_t, rows);
	b->until = HBM_ARRAY(a, uint64_t, rows);
	b->live = HBM_ARRAY(a, uint64_t, words);
	b->order = HBM_ARRAY(a, uint32_t, n);
	b->rank = HBM_ARRAY(a, uint32_t, n);
	b->seg = HBM_ARRAY(a, hbm_segment, (size_t)in->n_ticks + 1);
	while (sum_of_sizes(in) >> b->waste_shift >> 36)
		b->waste_shift++;
	b->offset = HBM_ARRAY(a, uint64_t, n);
	HBM_NEED(b->from && b->until && b->live && b->order && b->rank);
	HBM_NEED(b->seg && b->offset);
	HBM_TRY(run_init(a, b, &b->kept));
	return run_init(a, b, &b->last);
}

/* ---- decoding ------------------------------------------------------------- */

typedef struct cursor {
	uint64_t top, waste;
	uint32_t at, left_over, step;
} cursor;

static void save(hbm_bits *b, const cursor *c)
{
	hbm_checkpoint *k = &b->last.checks[c->step / HBM_CHECK_STEPS];

	memcpy(k->seg, b->seg, (b->in->n_ticks + 1) * sizeof *k->seg);
	memcpy(k->live, b->live, b->n_words * sizeof *k->live);
	k->top = c->top;
	k->waste = c->waste;
	k->at = c->at;
	k->left_over = c->left_over;
}

/* Checkpoints of the kept run know the ranks before the exchange. */
static void exchange_bits(const hbm_bits *b, uint64_t *live)
{
	uint32_t x = b->rank[b->up], y = b->rank[b->down];

	if ((live[x / 64] >> x % 64 & 1) != (live[y / 64] >> y % 64 & 1)) {
		flip(live, x);
		flip(live, y);
	}
}

static void restore(hbm_bits *b, uint32_t step, cursor *c)
{
	const hbm_checkpoint *k = &b->kept.checks[step / HBM_CHECK_STEPS];

	memcpy(b->seg, k->seg, (b->in->n_ticks + 1) * sizeof *k->seg);
	memcpy(b->live, k->live, b->n_words * sizeof *k->live);
	exchange_bits(b, b->live);
	*c = (cursor){k->top, k->waste, k->at, k->left_over,
	              step - step % HBM_CHECK_STEPS};
}

static void begin(hbm_bits *b, cursor *c)
{
	uint32_t n = b->in->n;

	memset(b->live, 0xff, b->n_words * sizeof *b->live);
	if (n % 64)
		b->live[b->n_words - 1] = ((uint64_t)1 << n % 64) - 1;
	hbm_segment_begin(b->seg, b->in->n_ticks);
	*c = (cursor){.left_over = n};
}

/* The most wanted item inside [from, to), HBM_NONE: none. */
static inline uint32_t search(const hbm_bits *b, uint32_t from, uint32_t to)
{
	const uint64_t *x = row(b, b->from, from), *y = row(b, b->until, to);

	for (uint32_t w = 0; w < b->n_words; w++) {
		uint64_t all = b->live[w] & x[w] & y[w];

		if (all)
			return b->order[w * 64 + lowest_bit(all)];
	}
	return HBM_NONE;
}

/* Whether the item that rose now goes before the one that was chosen. */
static bool overtakes(const hbm_bits *b, const hbm_choice *old)
{
	return b->in->start[b->up] >= old->from && b->in->end[b->up] <= old->to &&
	       old->item != HBM_NONE && b->rank[old->item] > b->rank[b->up];
}

/* What of the kept run is still to be looked at. */
typedef struct scan {
	uint32_t step;
	bool up, down; /* placed already */
} scan;

/* Goes to the next choice that the exchange may change; false: there is none, both
 * items are placed. */
static bool next_touched(const hbm_bits *b, scan *s)
{
	while (!s->up || !s->down) {
		const hbm_choice *c = &b->kept.choices[s->step];

		if (c->item == b->down || (!s->up && overtakes(b, c)))
			return true;
		s->up |= c->item == b->up;
		s->step++;
	}
	return false;
}

/* Puts item i, or nothing, into the valley at the cursor; returns its offset. */
static inline uint64_t apply(hbm_bits *b, cursor *c, uint32_t i)
{
	const hbm_inst *in = b->in;
	uint64_t y, top;

	c->step++;
	if (i == HBM_NONE) {
		c->at = hbm_segment_fill(b->seg, c->at);
		return 0;
	}
	flip(b->live, b->rank[i]);
	c->left_over--;
	y = hbm_item_up(in, i, b->seg[c->at].height);
	top = y + in->size[i];
	c->top = top > c->top ? top : c->top;
	if (top > in->lower_bound)
		c->waste += ((top - in->lower_bound) >> b->waste_shift) *
		            (in->end[i] - in->start[i]);
	c->at = hbm_segment_raise(b->seg, c->at, in->start[i], in->end[i], top);
	return y;
}

/* Repeats kept choices up to the next touched one. */
static void replay(hbm_bits *b, cursor *c, uint32_t to)
{
	if (c->step / HBM_CHECK_STEPS < to / HBM_CHECK_STEPS)
		restore(b, to, c);
	while (c->step < to) {
		c->at = hbm_segment_valley(b->seg, c->at);
		apply(b, c, b->kept.choices[c->step].item);
	}
	c->at = hbm_segment_valley(b->seg, c->at);
}

/* Finds the first choice that the exchange does change, and the state before it;
 * false: it changes none. */
static bool resume(hbm_bits *b, cursor *c)
{
	scan s = {0};

	restore(b, 0, c);
	while (next_touched(b, &s)) {
		const hbm_choice *old = &b->kept.choices[s.step];

		replay(b, c, s.step);
		if (search(b, old->from, old->to) != old->item)
			return true;
		s.up |= old->item == b->up;
		s.down |= old->item == b->down;
		apply(b, c, old->item);
		s.step++;
	}
	return false;
}

/* Makes the exchange known to the first n checkpoints of the kept run. */
static void settle(hbm_bits *b, uint32_t n)
{
	if (b->up == HBM_NONE)
		return;
	for (uint32_t k = 0; k < n && k * HBM_CHECK_STEPS < b->kept.n_choices; k++)
		exchange_bits(b, b->kept.checks[k].live);
}

/* Decodes from the cursor on, as long as the limit holds. */
static void run_on(hbm_bits *b, cursor *from, uint64_t limit)
{
	cursor c = *from;
	uint32_t check = b->first_check * HBM_CHECK_STEPS;

	while (c.left_over && c.top <= limit) {
		hbm_choice *next = &b->last.choices[c.step];

		if (c.step == check) {
			save(b, &c);
			check += HBM_CHECK_STEPS;
		}
		c.at = hbm_segment_valley(b->seg, c.at);
		next->from = c.at;
		next->to = b->seg[c.at].end;
		next->item = search(b, next->from, next->to);
		next->offset = apply(b, &c, next->item);
	}
	*from = c;
}

uint64_t hbm_bits_decode(hbm_bits *b, uint64_t limit)
{
	cursor c;

	b->same = false;
	b->first_check = 0;
	b->shared = 0;
	b->steps += 16;
	if (b->up == HBM_NONE) {
		begin(b, &c);
	} else if (resume(b, &c)) {
		b->shared = c.step;
		b->first_check = c.step / HBM_CHECK_STEPS + 1;
	} else {
		b->same = true;
		settle(b, UINT32_MAX);
		return limit;
	}
	run_on(b, &c, limit);
	b->last.n_choices = c.step;
	b->waste = c.waste;
	b->steps += c.step - b->shared;
	return c.top > limit ? HBM_NO_OFFSET : c.top;
}

void hbm_bits_keep(hbm_bits *b)
{
	uint32_t n = b->last.n_choices;

	settle(b, b->first_check);
	for (uint32_t k = b->shared; k < n; k++) {
		hbm_choice *c = &b->last.choices[k];

		b->kept.choices[k] = *c;
		if (c->item != HBM_NONE)
			b->offset[c->item] = c->offset;
	}
	b->kept.n_choices = n;
	for (uint32_t k = b->first_check; k * HBM_CHECK_STEPS < n; k++) {
		hbm_checkpoint swap = b->kept.checks[k];

		b->kept.checks[k] = b->last.checks[k];
		b->last.checks[k] = swap;
	}
}
