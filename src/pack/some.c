/* SPDX-License-Identifier: Apache-2.0
 * When not everything fits: which items to place.
 *
 * A byte costs as many ticks as its item lives, so short lives come first. A set
 * is chosen greedily under the pressure that some share of the capacity allows
 * (range maximum over ticks), packed, and what was left out is tried again in the
 * gaps. Several shares, and plain first fit, compete; the most bytes win.
 *
 * Pressure of items with pieces is taken over their whole life: too much, hence
 * safe. O(n log n) for each share. */
#include "pack/some.h"
#include "pack/auto.h"
#include "pack/fit.h"
#include "pack/index.h"

#include <string.h>

/* Shares of the capacity, in 1/64. */
static const uint32_t shares[] = {64, 62, 58, 52};

typedef struct chooser {
	hbm_pack_cx *cx;
	const hbm_inst *in;
	const uint64_t *worth;
	uint64_t cap;
	uint64_t *best, *trial;
	uint32_t *order;        /* short lives first */
	uint64_t *most, *added; /* tree over ticks: maximum below, sum at node */
	uint32_t leaves;
} chooser;

/* ---- range maximum, range sum --------------------------------------------- */

static uint64_t most_in(const chooser *c, uint32_t v, uint32_t from, uint32_t to,
                        uint32_t lo, uint32_t hi)
{
	uint32_t mid = from + (to - from) / 2;
	uint64_t a, b;

	if (hi <= from || to <= lo)
		return 0;
	if (lo <= from && to <= hi)
		return c->most[v];
	a = most_in(c, 2 * v, from, mid, lo, hi);
	b = most_in(c, 2 * v + 1, mid, to, lo, hi);
	return (a > b ? a : b) + c->added[v];
}

static void add_in(chooser *c, uint32_t v, uint32_t from, uint32_t to, uint32_t lo,
                   uint32_t hi, uint64_t bytes)
{
	uint32_t mid = from + (to - from) / 2;
	uint64_t a, b;

	if (hi <= from || to <= lo)
		return;
	if (lo <= from && to <= hi) {
		c->most[v] += bytes;
		c->added[v] += bytes;
		return;
	}
	add_in(c, 2 * v, from, mid, lo, hi, bytes);
	add_in(c, 2 * v + 1, mid, to, lo, hi, bytes);
	a = c->most[2 * v];
	b = c->most[2 * v + 1];
	c->most[v] = (a > b ? a : b) + c->added[v];
}

/* ---- choosing ------------------------------------------------------------- */

static hbm_status order_items(chooser *c)
{
	const hbm_inst *in = c->in;
	uint64_t *key = HBM_ARRAY(c->cx->scratch, uint64_t, in->n);

	HBM_NEED(key);
	for (uint32_t i = 0; i < in->n; i++) {
		c->order[i] = i;
		key[i] = ~c->worth[i];
	}
	HBM_TRY(hbm_sort_ids(c->cx->scratch, c->order, in->n, key));
	for (uint32_t i = 0; i < in->n; i++)
		key[i] = in->end[i] - in->start[i];
	return hbm_sort_ids(c->cx->scratch, c->order, in->n, key);
}

/* key[i]: 2 for chosen items, which are placed first, else 1. */
static void choose(chooser *c, uint64_t limit, uint64_t *key)
{
	const hbm_inst *in = c->in;

	memset(c->most, 0, 2 * (size_t)c->leaves * sizeof *c->most);
	memset(c->added, 0, 2 * (size_t)c->leaves * sizeof *c->added);
	for (uint32_t k = 0; k < in->n; k++) {
		uint32_t i = c->order[k];

		key[i] = 1;
		if (in->size[i] > limit ||
		    most_in(c, 1, 0, c->leaves, in->start[i], in->end[i]) >
			    limit - in->size[i])
			continue;
		add_in(c, 1, 0, c->leaves, in->start[i], in->end[i], in->size[i]);
		key[i] = 2;
	}
}

static uint64_t sum_of(const chooser *c, const uint64_t *offset)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->in->n; i++)
		sum += offset[i] == HBM_NO_OFFSET ? 0 : c->worth[i];
	return sum;
}

static void offer(chooser *c)
{
	uint64_t old = sum_of(c, c->best), new = sum_of(c, c->trial);

	if (new < old || (new == old && hbm_inst_extent(c->in, c->trial) >=
	                                         hbm_inst_extent(c->in, c->best)))
		return;
	memcpy(c->best, c->trial, c->in->n * sizeof *c->best);
}

/* Chosen ones by falling size, then the others by falling size. */
static hbm_status try_share(chooser *c, uint32_t share, uint64_t *key)
{
	choose(c, c->cap / 64 * share, key);
	for (uint32_t i = 0; i < c->in->n; i++)
		key[i] = key[i] << 62 | c->in->size[i];
	HBM_TRY(hbm_fit_some(c->cx, c->in, key, HBM_FIT_LOWEST, c->cap, c->trial));
	offer(c);
	return HBM_OK;
}

hbm_status hbm_place_some(hbm_pack_cx *cx, const hbm_inst *in, const uint64_t *worth,
                          uint64_t cap, uint64_t *offset)
{
	chooser c = {.cx = cx, .in = in, .worth = worth, .cap = cap, .best = offset};
	uint64_t *key = HBM_ARRAY(cx->scratch, uint64_t, in->n);

	c.trial = HBM_ARRAY(cx->scratch, uint64_t, in->n);
	c.order = HBM_ARRAY(cx->scratch, uint32_t, in->n);
	for (c.leaves = 1; c.leaves < in->n_ticks;)
		c.leaves *= 2;
	c.most = HBM_ARRAY(cx->scratch, uint64_t, 2 * (size_t)c.leaves);
	c.added = HBM_ARRAY(cx->scratch, uint64_t, 2 * (size_t)c.leaves);
	HBM_NEED(key && c.trial && c.order && c.most && c.added);
	HBM_TRY(order_items(&c));
	HBM_TRY(hbm_fit_some(cx, in, NULL, HBM_FIT_LOWEST, cap, c.trial));
	offer(&c);
	HBM_TRY(hbm_fit_some(cx, in, in->size, HBM_FIT_LOWEST, cap, c.trial));
	offer(&c);
	for (uint32_t k = 0; k < sizeof shares / sizeof *shares && !cx->stopped; k++)
		HBM_TRY(try_share(&c, shares[k], key));
	return HBM_OK;
}
