/* SPDX-License-Identifier: Apache-2.0 */
/* lx_exact: the set of items that saves the most, with a proof.
 *
 * Decides   which items live in the scratchpad and where; or within the steps, a
 *           bound below which the optimum lies.
 * Method    Branch and bound over "in" and "out", the clearest decisions first
 *           (largest profit or loss at the prices of lx_price). A decision
 *           against the sign of its profit lowers the bound by that much. What
 *           is in must fit: its placement is carried along and mended by a quick
 *           insertion, else by lx_fits. A group is one decision.
 * Keeps     the carried board holds exactly the items that are in; the bound of a
 *           node is that of the root less the profits decided against.
 * Proof     The optimum is the best found, unless some lx_fits gave up or steps
 *           ran out; then it is at most the largest bound of a node left so.
 * Cost      Exponential at worst, O(items) a node. */
#include "pack/lx_exact.h"

#include <string.h>

enum { FITS_STEPS = 20000 };

typedef struct decision {
	uint32_t first, n; /* in prover.members */
	int64_t profit;    /* scaled */
} decision;

typedef struct prover {
	const lx_core *c;
	const lx_prices *prices;
	decision *decisions;
	uint32_t n_decisions, *members;
	lx_board *boards; /* one per depth */
	lx_fitter fitter;
	int64_t *load;    /* per segment, of what is in */
	int64_t *best_base;
	uint64_t best;
	uint64_t left;    /* largest scaled bound of a node that was not explored */
	uint64_t nodes;
	uint64_t steps;   /* nodes and fitter steps to take at most */
} prover;

static uint64_t magnitude(int64_t x)
{
	return x < 0 ? (uint64_t)-x : (uint64_t)x;
}

static hbm_status make_decisions(prover *x)
{
	const lx_core *c = x->c;
	uint32_t n_members = 0;

	HBM_NEED(x->decisions = HBM_ARRAY(c->mem, decision, c->n));
	HBM_NEED(x->members = HBM_ARRAY(c->mem, uint32_t, c->n));
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t n, j;
		const uint32_t *group = lx_group(c->v, c->items[i].buffer, &n);
		decision d = {n_members, n, 0};
		if (group[0] != c->items[i].buffer)
			continue;
		for (uint32_t k = 0; k < n; k++) {
			uint32_t q = c->item_of[group[k]];
			x->members[n_members++] = q;
			d.profit += x->prices->profit[q];
		}
		for (j = x->n_decisions++;
		     j && magnitude(x->decisions[j - 1].profit) < magnitude(d.profit); j--)
			x->decisions[j] = x->decisions[j - 1];
		x->decisions[j] = d;
	}
	return HBM_OK;
}

/* Adds the load of a decision; false (and nothing added) when a segment is then
 * overfull. */
static bool add_load(prover *x, const decision *d, int64_t sign)
{
	bool ok = true;

	for (uint32_t k = 0; k < d->n; k++) {
		const lx_item *item = &x->c->items[x->members[d->first + k]];
		for (uint32_t s = item->lo + item->child; s < item->hi; s++) {
			x->load[s] += sign * item->units;
			ok &= x->load[s] <= x->c->capacity;
		}
	}
	return ok;
}

/* Places a decision's items on the board of the next depth. */
static lx_answer include(prover *x, uint32_t depth, const decision *d)
{
	lx_board *next = &x->boards[depth + 1];
	uint32_t placed = 0;
	uint64_t left;

	lx_board_copy(next, &x->boards[depth]);
	while (placed < d->n && lx_board_place(next, x->members[d->first + placed], true))
		placed++;
	if (placed == d->n)
		return LX_YES;
	x->fitter.n = 0;
	for (uint32_t k = 0; k < x->boards[depth].n; k++)
		x->fitter.set[x->fitter.n++] = x->boards[depth].order[k].item;
	for (uint32_t k = 0; k < d->n; k++)
		x->fitter.set[x->fitter.n++] = x->members[d->first + k];
	left = x->steps - x->nodes - x->fitter.steps;
	return lx_fits(&x->fitter, next, left < FITS_STEPS ? left : FITS_STEPS);
}

static uint64_t unscaled(const prover *x, uint64_t bound)
{
	return (bound >> x->prices->shift) * x->prices->scale;
}

static void leave_open(prover *x, uint64_t bound)
{
	if (x->left < bound)
		x->left = bound;
}

static void note_best(prover *x, const lx_board *b)
{
	if ((uint64_t)b->value <= x->best)
		return;
	x->best = (uint64_t)b->value;
	memcpy(x->best_base, b->base, x->c->n * sizeof *b->base);
}

/* Explores below `depth` decisions taken; recursion is at most LX_EXACT_MAX deep. */
static void explore(prover *x, uint32_t depth, uint64_t bound)
{
	const decision *d = &x->decisions[depth];

	note_best(x, &x->boards[depth]);
	if (depth == x->n_decisions || unscaled(x, bound) <= x->best)
		return;
	if (x->nodes + x->fitter.steps >= x->steps) {
		leave_open(x, bound);
		return;
	}
	x->nodes++;
	for (uint32_t turn = 0; turn < 2; turn++) {
		bool in = (d->profit > 0) != (turn == 1);
		uint64_t after = bound - ((d->profit > 0) != in ? magnitude(d->profit) : 0);
		if (unscaled(x, after) <= x->best)
			continue;
		if (!in) {
			lx_board_copy(&x->boards[depth + 1], &x->boards[depth]);
			explore(x, depth + 1, after);
			continue;
		}
		if (add_load(x, d, 1)) {
			lx_answer answer = include(x, depth, d);
			if (answer == LX_YES)
				explore(x, depth + 1, after);
			else if (answer == LX_UNKNOWN)
				leave_open(x, after);
		}
		add_load(x, d, -1);
	}
}

hbm_status lx_prove(lx_core *c, const lx_prices *prices, uint64_t steps,
                    int64_t *base, uint64_t *ret_bound, uint64_t *ret_steps)
{
	prover x = {.c = c, .prices = prices, .best_base = base, .steps = steps};
	uint64_t bound;

	*ret_steps = 0;
	if (c->n > LX_EXACT_MAX)
		return HBM_OK;
	x.best = (uint64_t)lx_core_value(c, base);
	HBM_TRY(make_decisions(&x));
	HBM_NEED(x.load = HBM_ZARRAY(c->mem, int64_t, c->n_segments));
	HBM_NEED(x.boards = HBM_ARRAY(c->mem, lx_board, (size_t)x.n_decisions + 1));
	for (uint32_t k = 0; k <= x.n_decisions; k++)
		HBM_TRY(lx_board_init(&x.boards[k], c));
	HBM_TRY(lx_fitter_init(&x.fitter, c));
	explore(&x, 0, prices->bound_scaled);
	bound = unscaled(&x, x.left);
	bound = bound < x.best ? x.best : bound;
	*ret_bound = bound < *ret_bound ? bound : *ret_bound;
	*ret_steps = x.nodes + x.fitter.steps;
	return HBM_OK;
}
