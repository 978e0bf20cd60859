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
	HBM_NEED(b->order = HBM_ARRAY(c->mem, uint32_t, c->n));
	lx_board_clear(b);
	return HBM_OK;
}

void lx_board_clear(lx_board *b)
{
	for (uint32_t i = 0; i < b->c->n; i++)
		b->base[i] = -1;
	b->n = 0;
	b->value = 0;
}

void lx_board_copy(lx_board *to, const lx_board *from)
{
	memcpy(to->base, from->base, from->c->n * sizeof *to->base);
	memcpy(to->order, from->order, from->n * sizeof *to->order);
	to->n = from->n;
	to->value = from->value;
}

void lx_board_read(lx_board *b, const int64_t *base)
{
	b->n = 0;
	b->value = 0;
	for (uint32_t i = 0; i < b->c->n; i++) {
		if (base[i] >= 0)
			lx_board_put(b, i, base[i]);
		else
			b->base[i] = -1;
	}
}

void lx_board_put(lx_board *b, uint32_t i, int64_t at)
{
	uint32_t k = b->n++;

	b->base[i] = at;
	b->value += b->c->items[i].value;
	while (k && b->base[b->order[k - 1]] > at) {
		b->order[k] = b->order[k - 1];
		k--;
	}
	b->order[k] = i;
}

void lx_board_drop(lx_board *b, uint32_t i)
{
	b->base[i] = -1;
	b->value -= b->c->items[i].value;
}

void lx_board_sweep(lx_board *b)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < b->n; k++)
		if (b->base[b->order[k]] >= 0)
			b->order[n++] = b->order[k];
	b->n = n;
}

/* Can `i` stand at `at` beside everything placed but its partners there? */
static bool is_clear(const lx_board *b, uint32_t i, int64_t at)
{
	const lx_item *x = &b->c->items[i];

	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t q = b->order[k];
		const lx_item *y = &b->c->items[q];
		if (b->base[q] >= at + x->units)
			break;
		if (lx_items_meet(x, y) && b->base[q] + y->units > at &&
		    !(b->base[q] == at && lx_partners(b->c, i, q)))
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
		uint32_t q = b->order[k];
		const lx_item *y = &b->c->items[q];
		int64_t left;
		if (!lx_items_meet(x, y))
			continue;
		left = b->base[q] - end - x->units;
		if (left >= 0 && end <= x->max_base && left < best_left) {
			if (!tight)
				return end;
			best = end;
			best_left = left;
		}
		if (end < b->base[q] + y->units)
			end = b->base[q] + y->units;
	}
	if (end <= x->max_base && b->c->capacity - end - x->units < best_left)
		return end;
	return best;
}

bool lx_board_place(lx_board *b, uint32_t i, bool tight)
{
	int64_t at;

	if (b->c->items[i].pin >= 0)
		at = is_clear(b, i, b->c->items[i].pin) ? b->c->items[i].pin : -1;
	else if ((at = partner_spot(b, i)) < 0)
		at = hole_spot(b, i, tight);
	if (at < 0)
		return false;
	lx_board_put(b, i, at);
	return true;
}
