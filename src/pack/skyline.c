/* SPDX-License-Identifier: Apache-2.0
 * `skyline`: the skyline decoder under a few orders - longest life, largest size x
 * third root of life, largest size x life, largest size (first birth or last death
 * first among equals); the best of them. */
#include "pack/bits.h"
#include "pack/climb.h"
#include "pack/fit.h"
#include "pack/keys.h"
#include "pack/sky.h"

#include <string.h>

/* One of the two decoders. */
typedef struct decoder {
	hbm_bits bits;
	hbm_sky *sky; /* NULL: bits */
	uint64_t *offset;
} decoder;

static hbm_status decoder_init(hbm_arena *a, const hbm_inst *in, decoder *d)
{
	hbm_arena tmp;
	hbm_status st;

	d->sky = NULL;
	if (in->n <= HBM_CLIMB_MAX)
		return hbm_bits_init(a, in, &d->bits);
	d->offset = HBM_ARRAY(a, uint64_t, in->n);
	HBM_NEED(d->offset);
	hbm_arena_init(&tmp, &a->mem);
	st = hbm_sky_new(a, &tmp, in, &d->sky);
	hbm_arena_fini(&tmp);
	return st;
}

static uint64_t decode(decoder *d, const uint32_t *order, uint64_t limit)
{
	uint64_t extent;

	if (d->sky)
		return hbm_sky_decode(d->sky, order, limit, d->offset);
	hbm_bits_order(&d->bits, order);
	extent = hbm_bits_decode(&d->bits, limit);
	if (extent != HBM_NO_OFFSET)
		hbm_bits_keep(&d->bits);
	d->offset = d->bits.offset;
	return extent;
}

static uint64_t steps_of(const decoder *d)
{
	return d->sky ? hbm_sky_steps(d->sky) : d->bits.steps;
}

enum { ORDERS = 5 };

static hbm_status make_order(hbm_arena *a, hbm_keys *keys, uint32_t k, uint32_t *order)
{
	const hbm_blend mostly_size = {HBM_LOG_ONE / 3, HBM_LOG_ONE, 0};
	const uint64_t *size = keys->in->size;
	uint64_t *key = NULL;

	if (k == 1) {
		hbm_keys_order(keys, mostly_size, NULL, order);
		return HBM_OK;
	}
	if (k == 0)
		HBM_TRY(hbm_life_keys(a, keys->in, &key));
	if (k == 2)
		HBM_TRY(hbm_area_keys(a, keys->in, &key));
	if (k == 4)
		HBM_TRY(hbm_end_keys(a, keys->in, &key));
	if (k < 3)
		hbm_keys_order_by(keys, key, size, order);
	else
		hbm_keys_order_by(keys, size, key, order);
	return HBM_OK;
}

hbm_status hbm_alloc_skyline(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	uint32_t *order = HBM_ARRAY(cx->scratch, uint32_t, in->n);
	hbm_keys keys;
	decoder d;

	HBM_NEED(order);
	HBM_TRY(hbm_keys_init(cx->scratch, in, &keys));
	HBM_TRY(decoder_init(cx->scratch, in, &d));
	for (uint32_t k = 0; k < ORDERS && ans->extent > ans->goal; k++) {
		uint64_t before = steps_of(&d), limit = ans->cap, extent;

		if (ans->extent != HBM_NO_OFFSET && ans->extent <= limit)
			limit = ans->extent - 1;
		HBM_TRY(make_order(cx->scratch, &keys, k, order));
		extent = decode(&d, order, limit);
		if (extent != HBM_NO_OFFSET) {
			memcpy(ans->offset, d.offset, in->n * sizeof *d.offset);
			ans->extent = extent;
			ans->by = "skyline";
		}
		if (!hbm_spend(cx, steps_of(&d) - before) ||
		    (d.sky && hbm_sky_lost(d.sky) && hbm_inst_tight(in)))
			break; /* the next order would be lost too */
	}
	return HBM_OK;
}
