/* SPDX-License-Identifier: Apache-2.0
 * `climb`: hill climbing over orders, for up to HBM_CLIMB_MAX items.
 *
 * A move exchanges two ranks: at random, close by, or one of a high item with one
 * that shares time with it. It stays when the extent, then the waste above the
 * lower bound, does not grow. After too long without gain the climb begins anew
 * from the best of some random blends.
 */
#include "pack/bits.h"
#include "pack/climb.h"
#include "pack/keys.h"

#include <string.h>

enum {
	STARTS = 20,       /* random blends tried for one beginning */
	PATIENCE = 20000,  /* moves without gain */
	NEAR = 20,         /* distance of ranks in a close exchange */
	TRIES = 30,        /* to find an item that shares time */
	HIGH_OF = 4,       /* items of which the highest is taken */
};

typedef struct climber {
	hbm_pack_cx *cx;
	const hbm_inst *in;
	hbm_keys keys;
	hbm_bits bits;
	uint32_t *order, *best;
	uint64_t seed;
} climber;

static void note(climber *c, uint64_t extent, hbm_answer *ans)
{
	if (extent > ans->cap || extent >= ans->extent)
		return;
	memcpy(ans->offset, c->bits.offset, c->in->n * sizeof *ans->offset);
	ans->extent = extent;
	ans->by = "climb";
}

/* The best of some blends becomes the order in hand. */
static void begin(climber *c, uint64_t *ret_extent, uint64_t *ret_waste)
{
	uint32_t n = c->in->n;

	*ret_extent = *ret_waste = HBM_NO_OFFSET;
	for (uint32_t k = 0; k < STARTS; k++) {
		hbm_blend b = hbm_random_blend(&c->seed);
		uint64_t extent;

		hbm_keys_order(&c->keys, b, &c->seed, c->order);
		hbm_bits_order(&c->bits, c->order);
		extent = hbm_bits_decode(&c->bits, *ret_extent);
		if (extent == HBM_NO_OFFSET ||
		    (extent == *ret_extent && c->bits.waste >= *ret_waste))
			continue;
		hbm_bits_keep(&c->bits);
		*ret_extent = extent;
		*ret_waste = c->bits.waste;
		memcpy(c->best, c->order, n * sizeof *c->best);
	}
	hbm_bits_order(&c->bits, c->best);
}

static uint32_t below(climber *c, uint32_t n)
{
	return (uint32_t)((hbm_rand(&c->seed) >> 32) * n >> 32);
}

/* The rank of an item that shares time with i; its own when none was met. */
static uint32_t pick_rival(climber *c, uint32_t i)
{
	const hbm_inst *in = c->in;

	for (uint32_t k = 0; k < TRIES; k++) {
		uint32_t j = below(c, in->n);

		if (j != i && in->start[j] < in->end[i] && in->start[i] < in->end[j])
			return c->bits.rank[j];
	}
	return c->bits.rank[i];
}

/* Two ranks to exchange; equal: none found. */
static void pick(climber *c, uint32_t *a, uint32_t *b)
{
	const hbm_inst *in = c->in;
	uint32_t n = in->n, kind = below(c, 4), high, d;

	*a = below(c, n);
	if (kind == 0) {
		*b = below(c, n);
		return;
	}
	if (kind == 1) {
		d = 1 + below(c, NEAR);
		*b = *a + d < n ? *a + d : *a > d ? *a - d : 0;
		return;
	}
	high = c->bits.order[*a];
	for (uint32_t k = 1; k < HIGH_OF; k++) {
		uint32_t i = below(c, n);

		if (c->bits.offset[i] + in->size[i] >
		    c->bits.offset[high] + in->size[high])
			high = i;
	}
	*a = c->bits.rank[high];
	*b = pick_rival(c, high);
}

static void climb(climber *c, hbm_answer *ans)
{
	uint64_t extent, waste, spent = c->bits.steps;
	uint32_t stuck = 0, a, b;

	begin(c, &extent, &waste);
	note(c, extent, ans);
	while (stuck++ < PATIENCE && ans->extent > ans->goal &&
	       hbm_spend(c->cx, c->bits.steps - spent + 1)) {
		uint64_t now;

		spent = c->bits.steps;
		pick(c, &a, &b);
		if (a == b)
			continue;
		hbm_bits_exchange(&c->bits, a, b);
		now = hbm_bits_decode(&c->bits, extent);
		if (c->bits.same)
			continue;
		if (now == HBM_NO_OFFSET || (now == extent && c->bits.waste > waste)) {
			hbm_bits_exchange(&c->bits, a, b);
			continue;
		}
		if (now < extent || c->bits.waste < waste)
			stuck = 0;
		extent = now;
		waste = c->bits.waste;
		hbm_bits_keep(&c->bits);
		note(c, extent, ans);
	}
}

hbm_status hbm_alloc_climb(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	climber c = {.cx = cx, .in = in, .seed = cx->seed};

	if (in->n > HBM_CLIMB_MAX)
		return hbm_alloc_restart(cx, in, ans);
	c.order = HBM_ARRAY(cx->scratch, uint32_t, in->n);
	c.best = HBM_ARRAY(cx->scratch, uint32_t, in->n);
	HBM_NEED(c.order && c.best);
	HBM_TRY(hbm_keys_init(cx->scratch, in, &c.keys));
	HBM_TRY(hbm_bits_init(cx->scratch, in, &c.bits));
	while (ans->extent > ans->goal && hbm_spend(cx, 1))
		climb(&c, ans);
	return HBM_OK;
}
