/* SPDX-License-Identifier: Apache-2.0 */
/* lx_board: a scratchpad with items on it.
 *
 * Keeps     order is sorted by base; two items that meet share no unit unless they
 *           are partners at one base.
 * Cost      O(placed items) for each call. */
#include "pack/lx_board.h"

#include <string.h>

hbm_status lx_board_init(lx_board *b, const lx_core *c)
{
	*b = (lx_board){.c = c};
	HBM_NEED(b->base = HBM_ARRAY(c->mem, int64_t, c->n));
	HBM_NEED(b->order = HBM_ARRAY(c->mem, lx_seat, c->n));
	HBM_NEED(b->load = HBM_ARRAY(c->mem, int64_t, c->n_segments));
	lx_board_clear(b);
	return HBM_OK;
}

void lx_board_clear(lx_board *b)
{
	for (uint32_t i = 0; i < b->c->n; i++)
		b->base[i] = -1;
	for (uint32_t s = 0; s < b->c->n_segments; s++)
		b->load[s] = 0;
	b->n = 0;
	b->value = 0;
}

void lx_board_copy(lx_board *to, const lx_board *from)
{
	memcpy(to->base, from->base, from->c->n * sizeof *to->base);
	memcpy(to->order, from->order, from->n * sizeof *to->order);
	memcpy(to->load, from->load, from->c->n_segments * sizeof *to->load);
	to->n = from->n;
	to->value = from->value;
}

void lx_board_read(lx_board *b, const int64_t *base)
{
	b->n = 0;
	b->value = 0;
	for (uint32_t s = 0; s < b->c->n_segments; s++)
		b->load[s] = 0;
	for (uint32_t i = 0; i < b->c->n; i++) {
		if (base[i] >= 0)
			lx_board_put(b, i, base[i]);
		else
			b->base[i] = -1;
	}
}

static void count(lx_board *b, const lx_item *x, int64_t units)
{
	for (uint32_t s = x->lo + x->child; s < x->hi; s++)
		b->load[s] += units;
}

void lx_board_put(lx_board *b, uint32_t i, int64_t at)
{
	const lx_item *x = &b->c->items[i];
	uint32_t k = b->n++;

	b->base[i] = at;
	b->value += x->value;
	count(b, x, x->units);
	while (k && b->order[k - 1].base > at) {
		b->order[k] = b->order[k - 1];
		k--;
	}
	b->order[k] = (lx_seat){at, at + x->units, x->lo, x->hi, i};
}

void lx_board_drop(lx_board *b, uint32_t i)
{
	const lx_item *x = &b->c->items[i];

	b->base[i] = -1;
	b->value -= x->value;
	count(b, x, -x->units);
}

void lx_board_sweep(lx_board *b)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < b->n; k++)
		if (b->base[b->order[k].item] >= 0)
			b->order[n++] = b->order[k];
	b->n = n;
}

static bool has_room(const lx_board *b, const lx_item *x)
{
	int64_t most = b->c->capacity - x->units;

	for (uint32_t s = x->lo + x->child; s < x->hi; s++)
		if (b->load[s] > most)
			return false;
	return true;
}

/* Can `i` stand at `at` beside everything placed but its partners there? */
static bool is_clear(const lx_board *b, uint32_t i, int64_t at)
{
	const lx_item *x = &b->c->items[i];

	for (uint32_t k = 0; k < b->n; k++) {
		const lx_seat *y = &b->order[k];
		if (y->base >= at + x->units)
			break;
		if (x->lo < y->hi && y->lo < x->hi && y->top > at &&
		    !(y->base == at && lx_partners(b->c, i, y->item)))
			return false;
	}
	return true;
}

static int64_t partner_spot(const lx_board *b, uint32_t i)
{
	const lx_item *x = &b->c->items[i];

	for (uint32_t k = 0; k < x->n_partners; k++) {
		int64_t at = b->base[b->c->partners[x->partner + k]];
		if (at >= 0 && at <= x->max_base && is_clear(b, i, at))
			return at;
	}
	return -1;
}

static int64_t hole_spot(const lx_board *b, uint32_t i, bool tight)
{
	const lx_item *x = &b->c->items[i];
	int64_t end = 0, best = -1, best_left = INT64_MAX;

	for (uint32_t k = 0; k < b->n; k++) {
		const lx_seat *y = &b->order[k];
		int64_t left = y->base - end - x->units;
		if (x->lo >= y->hi || y->lo >= x->hi)
			continue;
		if (left >= 0 && end <= x->max_base && left < best_left) {
			if (!tight)
				return end;
			best = end;
			best_left = left;
		}
		if (end < y->top)
			end = y->top;
	}
	if (end <= x->max_base && b->c->capacity - end - x->units < best_left)
		return end;
	return best;
}

bool lx_board_place(lx_board *b, uint32_t i, bool tight)
{
	const lx_item *x = &b->c->items[i];
	int64_t at;

	if (!has_room(b, x))
		return false;
	if (x->pin >= 0)
		at = is_clear(b, i, x->pin) ? x->pin : -1;
	else if ((at = partner_spot(b, i)) < 0)
		at = hole_spot(b, i, tight);
	if (at < 0)
		return false;
	lx_board_put(b, i, at);
	return true;
}
