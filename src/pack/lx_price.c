/* SPDX-License-Identifier: Apache-2.0 */
/* lx_price: an upper bound on what any layout can save.
 *
 * Decides   prices of the room in each segment and the bound that they prove.
 * Method    Lagrangian relaxation. Forget the addresses and only ask that the
 *           live units of each segment stay within the capacity C. With a price
 *           m_s >= 0 for all of segment s, any legal choice X obeys
 *
 *             saved(X) <= sum_s m_s + sum_i max(0, value_i - units_i * M_i / C)
 *
 *           with M_i the prices of i's segments. A child may stand in its
 *           parent's bytes, so its first segment is free. Subgradient steps look
 *           for prices with a small bound; every set of prices proves one.
 * Keeps     All rounding is towards a larger bound: costs round down, values up.
 * Cost      O(rounds * (items + segments)).
 * Source    Held, Wolfe and Crowder, "Validation of subgradient optimization",
 *           Mathematical Programming 6, 1974 (step lengths). */
#include "pack/lx_core.h"

#include "base/ckd.h"

enum {
	VALUE_BITS = 44, /* scaled values add up below 2^44 */
	UNIT_BITS = 17,  /* scaled units stay below 2^17: products fit in 62 bits */
	MIN_ROUNDS = 10,
	MAX_ROUNDS = 300,
	PATIENCE = 8,    /* rounds without a better bound until steps are halved */
};

typedef struct pricer {
	lx_core *c;
	int64_t *units;  /* per item, rounded down */
	int64_t capacity; /* rounded up */
	int64_t *value;  /* per item, rounded up */
	int64_t *price;  /* per segment */
	int64_t *before; /* sums of prices, n_segments + 1 */
	int64_t *load;   /* per segment, units of the items worth their cost */
	int64_t *best;   /* prices of the best bound */
} pricer;

/* Divides by the values' common divisor, then, where the sum is still too large,
 * by more, rounding up; uses what bits are left for fractions. */
static void scale_values(pricer *x, lx_prices *ret)
{
	const lx_core *c = x->c;
	uint64_t sum = 0, divisor = 0;

	for (uint32_t k = 0; k < c->n; k++) {
		divisor = hbm_gcd(divisor, (uint64_t)c->items[k].value);
		sum += (uint64_t)c->items[k].value;
	}
	ret->scale = divisor ? divisor : 1;
	while ((sum / ret->scale + c->n) >> VALUE_BITS)
		ret->scale *= 2;
	ret->shift = 0;
	while (!(((sum / ret->scale + c->n) << (ret->shift + 1)) >> VALUE_BITS) &&
	       ret->shift < 16)
		ret->shift++;
	for (uint32_t k = 0; k < c->n; k++) {
		uint64_t v = (uint64_t)c->items[k].value;
		v = v / ret->scale + (v % ret->scale != 0);
		x->value[k] = (int64_t)(v << ret->shift);
	}
}

static void scale_units(pricer *x)
{
	uint32_t shift = 0;

	while (x->c->capacity >> (UNIT_BITS + shift))
		shift++;
	x->capacity = (x->c->capacity >> shift) + (shift > 0);
	for (uint32_t k = 0; k < x->c->n; k++)
		x->units[k] = x->c->items[k].units >> shift;
}

static uint32_t first_paid(const lx_item *item)
{
	return item->lo + (item->child ? 1 : 0);
}

static int64_t profit_of(const pricer *x, uint32_t k)
{
	const lx_item *item = &x->c->items[k];
	int64_t room = x->before[item->hi] - x->before[first_paid(item)];

	if (room >> VALUE_BITS)
		room = (int64_t)1 << VALUE_BITS;
	return x->value[k] - x->units[k] * room / (x->capacity ? x->capacity : 1);
}

/* The bound that the prices prove; fills in the loads. */
static uint64_t evaluate(pricer *x)
{
	const lx_core *c = x->c;
	uint64_t bound = 0;

	for (uint32_t s = 0; s < c->n_segments; s++) {
		x->before[s + 1] = x->before[s] + x->price[s];
		bound = hbm_add_sat(bound, (uint64_t)x->price[s]);
	}
	for (uint32_t s = 0; s <= c->n_segments; s++)
		x->load[s] = 0;
	for (uint32_t k = 0; k < c->n; k++) {
		int64_t profit = profit_of(x, k);
		if (profit <= 0)
			continue;
		bound = hbm_add_sat(bound, (uint64_t)profit);
		x->load[first_paid(&c->items[k])] += x->units[k];
		x->load[c->items[k].hi] -= x->units[k];
	}
	for (uint32_t s = 1; s <= c->n_segments; s++)
		x->load[s] += x->load[s - 1];
	return bound;
}

/* One subgradient step of length `part` / 16 of the gap. */
static void step(pricer *x, uint64_t gap, uint32_t part)
{
	const lx_core *c = x->c;
	int64_t limit = (int64_t)1 << (VALUE_BITS - 4);
	uint64_t square = 0;

	for (uint32_t s = 0; s < c->n_segments; s++) {
		int64_t slack = x->capacity - x->load[s];
		uint64_t u = (uint64_t)(slack < 0 ? -slack : slack);
		if (slack > 0 && !x->price[s])
			continue;
		if (u >> 22)
			u = (uint64_t)1 << 22;
		square = hbm_add_sat(square, u * u);
	}
	for (uint32_t s = 0; square && s < c->n_segments; s++) {
		int64_t slack = x->capacity - x->load[s], ratio, change;
		bool over = slack < 0;
		uint64_t u = (uint64_t)(over ? -slack : slack);
		if (u >> 22)
			u = (uint64_t)1 << 22;
		ratio = (int64_t)((u * (uint64_t)x->capacity << 10) / square);
		if (ratio >> 14)
			ratio = 1 << 14;
		change = (int64_t)((gap * part / 16) >> 10) * ratio;
		x->price[s] += over ? change : -change;
		if (x->price[s] < 0)
			x->price[s] = 0;
		if (x->price[s] > limit)
			x->price[s] = limit;
	}
}

static hbm_status init(pricer *x, lx_core *c)
{
	*x = (pricer){.c = c};
	HBM_NEED(x->units = HBM_ARRAY(c->mem, int64_t, c->n));
	HBM_NEED(x->value = HBM_ARRAY(c->mem, int64_t, c->n));
	HBM_NEED(x->price = HBM_ZARRAY(c->mem, int64_t, c->n_segments));
	HBM_NEED(x->best = HBM_ZARRAY(c->mem, int64_t, c->n_segments));
	HBM_NEED(x->before = HBM_ZARRAY(c->mem, int64_t, (size_t)c->n_segments + 1));
	HBM_NEED(x->load = HBM_ZARRAY(c->mem, int64_t, (size_t)c->n_segments + 1));
	return HBM_OK;
}

hbm_status lx_price(lx_core *c, uint64_t saved, lx_prices *ret)
{
	pricer x;
	uint64_t best, target;
	uint32_t rounds = c->n ? 20000000 / c->n : 0, part = 16, stale = 0;

	*ret = (lx_prices){0};
	HBM_TRY(init(&x, c));
	HBM_NEED(ret->profit = HBM_ARRAY(c->mem, int64_t, c->n));
	scale_values(&x, ret);
	scale_units(&x);
	rounds = rounds < MIN_ROUNDS ? MIN_ROUNDS : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
	target = (saved / ret->scale) << ret->shift;
	best = evaluate(&x);
	for (uint32_t r = 0; r < rounds && best > target && part; r++) {
		uint64_t now;
		step(&x, best - target, part);
		now = evaluate(&x);
		if (now < best) {
			best = now;
			stale = 0;
			for (uint32_t s = 0; s < c->n_segments; s++)
				x.best[s] = x.price[s];
		} else if (++stale == PATIENCE) {
			part /= 2;
			stale = 0;
		}
	}
	for (uint32_t s = 0; s < c->n_segments; s++)
		x.price[s] = x.best[s];
	ret->bound_scaled = evaluate(&x);
	ret->bound = hbm_mul_sat(ret->bound_scaled >> ret->shift, ret->scale);
	for (uint32_t k = 0; k < c->n; k++)
		ret->profit[k] = profit_of(&x, k);
	return HBM_OK;
}
