/* SPDX-License-Identifier: Apache-2.0 */
/* lx_fits: can these items stand in the scratchpad together?
 *
 * Decides   yes with bases, no, or unknown when the steps ran out.
 * Method    First some quick orders. Then a search over layouts in which nothing
 *           can be lowered: placed by rising base, each item stands on the tops
 *           of the ones below it that it meets, on a pinned one, or at the base
 *           of a partner. If a layout exists then so does one of this kind (take
 *           one whose bases add up to the least).
 * Pruning   (1) what is below the last base is lost; in a segment the rest is too
 *           little for the units still to come. The shared segment of a child
 *           costs nothing, of its parent only what the child leaves. (2) an item that would stand as high as another one's
 *           top could be: the other one would sink below it. (3) equal bases in
 *           rising order of items.
 * Cost      Exponential at worst; at most `steps` nodes of O(items * segments).
 * Source    (2) is the dominance of M. D. Moffitt, "MiniMalloc", ASPLOS 2023. */
#include "pack/lx_exact.h"

#include <string.h>

typedef struct fits {
	const lx_core *c;
	lx_board *board;    /* where the items go */
	lx_fitter *f;
	uint64_t steps;
} fits;

hbm_status lx_fitter_init(lx_fitter *f, const lx_core *c)
{
	*f = (lx_fitter){.c = c};
	HBM_NEED(f->set = HBM_ARRAY(c->mem, uint32_t, c->n));
	HBM_NEED(f->key = HBM_ARRAY(c->mem, int64_t, c->n));
	HBM_NEED(f->level = HBM_ARRAY(c->mem, int64_t,
	                              ((size_t)LX_EXACT_MAX + 1) * c->n_segments));
	HBM_NEED(f->rest = HBM_ARRAY(c->mem, int64_t, c->n_segments));
	return HBM_OK;
}

/* ---- quick orders ----------------------------------------------------------- */

static int64_t quick_key(const lx_item *x, uint32_t order)
{
	int64_t life = x->hi - x->lo;

	switch (order) {
	case 0:
		return -x->units * life;
	case 1:
		return -x->units;
	case 2:
		return -life;
	default:
		return x->lo;
	}
}

static bool quick(lx_fitter *f, lx_board *b, uint32_t order, bool tight)
{
	const lx_item *items = f->c->items;

	for (uint32_t k = 0; k < f->n; k++)
		f->key[f->set[k]] = quick_key(&items[f->set[k]], order);
	for (uint32_t k = 1; k < f->n; k++) {
		uint32_t i = f->set[k], j = k;
		for (; j && f->key[f->set[j - 1]] > f->key[i]; j--)
			f->set[j] = f->set[j - 1];
		f->set[j] = i;
	}
	lx_board_clear(b);
	for (uint32_t k = 0; k < f->n; k++)
		if (items[f->set[k]].pin >= 0 && !lx_board_place(b, f->set[k], tight))
			return false;
	for (uint32_t k = 0; k < f->n; k++)
		if (items[f->set[k]].pin < 0 && !lx_board_place(b, f->set[k], tight))
			return false;
	return true;
}

/* ---- search ----------------------------------------------------------------- */

/* Units of item i that count in segment s against what the items share. */
static int64_t least_units(const lx_fitter *f, uint32_t i, uint32_t s)
{
	const lx_item *x = &f->c->items[i];
	int64_t shared = 0;

	if (x->child && s == x->lo)
		return 0;
	for (uint32_t k = 0; s + 1 == x->hi && k < x->n_partners; k++) {
		const lx_item *y = &f->c->items[f->c->partners[x->partner + k]];
		if (y->lo == s && y->units <= x->units && y->units > shared)
			shared = y->units;
	}
	return x->units - shared;
}

static int64_t top_under(const int64_t *level, const lx_item *x)
{
	int64_t at = 0;

	for (uint32_t s = x->lo; s < x->hi; s++)
		if (at < level[s])
			at = level[s];
	return at;
}

/* Lowest base at or above `at` that is clear of the pinned items. */
static int64_t clear_of_pins(const fits *x, uint32_t i, int64_t at)
{
	const lx_item *item = &x->c->items[i];

	for (uint32_t k = 0; k < x->f->n_pins; k++) {
		const lx_item *q = &x->c->items[x->f->pins[k]];
		if (lx_items_meet(item, q) && at < q->pin + q->units &&
		    q->pin < at + item->units)
			at = q->pin + q->units;
	}
	return at;
}

/* Does i meet something at `base` other than q? */
static bool taken(const fits *x, uint32_t i, uint32_t q, int64_t base)
{
	for (uint32_t k = 0; k < x->f->n; k++) {
		uint32_t o = x->f->set[k];
		if (o != q && x->board->base[o] == base &&
		    lx_items_meet(&x->c->items[o], &x->c->items[i]))
			return true;
	}
	return false;
}

/* Base of a partner placed at `base` that i can join, else -1. */
static int64_t join_base(const fits *x, const int64_t *level, uint32_t i, int64_t base)
{
	const lx_item *item = &x->c->items[i];

	for (uint32_t k = 0; k < item->n_partners; k++) {
		uint32_t q = x->c->partners[item->partner + k];
		const lx_item *y = &x->c->items[q];
		bool clear = x->board->base[q] == base;
		uint32_t shared = item->lo > y->lo ? item->lo : y->lo;
		if (y->pin >= 0 || !clear)
			continue;
		for (uint32_t s = item->lo; s < item->hi && clear; s++)
			clear = s == shared ? level[s] == base + y->units : level[s] <= base;
		if (clear && clear_of_pins(x, i, base) == base && !taken(x, i, q, base))
			return base;
	}
	return -1;
}

/* The k-th base of a pinned partner that i can join, at or above `last`; else -1. */
static int64_t pinned_base(const fits *x, const int64_t *level, uint32_t i, uint32_t k,
                           int64_t last)
{
	const lx_item *item = &x->c->items[i];
	uint32_t q = x->c->partners[item->partner + k];
	int64_t at = x->c->items[q].pin;

	if (at < last || x->board->base[q] < 0 || top_under(level, item) > at)
		return -1;
	for (uint32_t j = 0; j < x->f->n_pins; j++) {
		const lx_item *o = &x->c->items[x->f->pins[j]];
		if (x->f->pins[j] != q && lx_items_meet(item, o) &&
		    at < o->pin + o->units && o->pin < at + item->units)
			return -1;
	}
	return taken(x, i, q, at) ? -1 : at;
}

static lx_answer descend(fits *x, uint32_t depth, int64_t last, uint32_t last_item);

/* Places i at `at` and goes on; takes it back when that fails. */
static lx_answer try_at(fits *x, uint32_t depth, uint32_t i, int64_t at,
                        uint32_t last_item)
{
	const lx_item *item = &x->c->items[i];
	uint32_t n_segments = x->c->n_segments;
	int64_t *level = x->f->level + (size_t)(depth + 1) * n_segments;
	lx_answer answer;

	memcpy(level, level - n_segments, n_segments * sizeof *level);
	for (uint32_t s = item->lo; s < item->hi; s++) {
		if (level[s] < at + item->units)
			level[s] = at + item->units;
		x->f->rest[s] -= least_units(x->f, i, s);
	}
	x->board->base[i] = at;
	answer = descend(x, depth + 1, at, last_item);
	for (uint32_t s = item->lo; s < item->hi; s++)
		x->f->rest[s] += least_units(x->f, i, s);
	if (answer != LX_YES)
		x->board->base[i] = -1;
	return answer;
}

/* One node: level[] of this depth is set, items with base < 0 are to be placed.
 * Depth is at most LX_EXACT_MAX. */
static lx_answer descend(fits *x, uint32_t depth, int64_t last, uint32_t last_item)
{
	const lx_core *c = x->c;
	const int64_t *level = x->f->level + (size_t)depth * c->n_segments;
	int64_t ceiling = INT64_MAX;
	bool any = false;

	if (x->f->steps == x->steps)
		return LX_UNKNOWN;
	x->f->steps++;
	for (uint32_t s = 0; s < c->n_segments; s++) {
		int64_t from = level[s] > last ? level[s] : last;
		if (x->f->rest[s] && from + x->f->rest[s] > c->capacity)
			return LX_NO;
	}
	for (uint32_t k = 0; k < x->f->n; k++) {
		uint32_t i = x->f->set[k];
		int64_t at;
		if (x->board->base[i] >= 0)
			continue;
		any = true;
		at = clear_of_pins(x, i, top_under(level, &c->items[i]));
		if (ceiling > at + c->items[i].units)
			ceiling = at + c->items[i].units;
	}
	if (!any)
		return LX_YES;
	for (uint32_t k = 0; k < x->f->n; k++) {
		uint32_t i = x->f->set[k];
		int64_t at, join;
		lx_answer answer;
		if (x->board->base[i] >= 0)
			continue;
		join = depth ? join_base(x, level, i, last) : -1;
		if (join >= 0 && join <= c->items[i].max_base) {
			answer = try_at(x, depth, i, join, last_item);
			if (answer != LX_NO)
				return answer;
		}
		for (uint32_t j = 0; j < c->items[i].n_partners && x->f->n_pins; j++) {
			at = pinned_base(x, level, i, j, last);
			if (at < 0 || at > c->items[i].max_base)
				continue;
			answer = try_at(x, depth, i, at, HBM_NONE);
			if (answer != LX_NO)
				return answer;
		}
		at = clear_of_pins(x, i, top_under(level, &c->items[i]));
		if (at < last || at >= ceiling || at > c->items[i].max_base ||
		    (at == last && last_item != HBM_NONE && i < last_item))
			continue;
		answer = try_at(x, depth, i, at, i);
		if (answer != LX_NO)
			return answer;
	}
	return LX_NO;
}

static bool start_search(fits *x)
{
	lx_fitter *f = x->f;
	const lx_core *c = x->c;

	lx_board_clear(x->board);
	memset(f->level, 0, c->n_segments * sizeof *f->level);
	memset(f->rest, 0, c->n_segments * sizeof *f->rest);
	f->n_pins = 0;
	for (uint32_t k = 0; k < f->n; k++) {
		uint32_t i = f->set[k], j;
		const lx_item *item = &c->items[i];
		for (uint32_t s = item->lo; item->pin < 0 && s < item->hi; s++)
			f->rest[s] += least_units(f, i, s);
		if (item->pin < 0)
			continue;
		x->board->base[i] = item->pin;
		for (j = f->n_pins++; j && c->items[f->pins[j - 1]].pin > item->pin; j--)
			f->pins[j] = f->pins[j - 1];
		f->pins[j] = i;
	}
	return true;
}

lx_answer lx_fits(lx_fitter *f, lx_board *board, uint64_t steps)
{
	fits x = {.c = f->c, .board = board, .f = f, .steps = f->steps + steps};
	lx_answer answer;

	for (uint32_t order = 0; order < 4; order++)
		for (uint32_t tight = 0; tight < 2; tight++)
			if (quick(f, board, order, tight))
				return LX_YES;
	start_search(&x);
	answer = descend(&x, 0, 0, HBM_NONE);
	if (answer == LX_YES)
		lx_board_read(board, board->base);
	return answer;
}
