/* SPDX-License-Identifier: Apache-2.0
 * Priorities for the skyline decoders. */
#include "pack/keys.h"

uint32_t hbm_log2(uint64_t v)
{
	uint32_t whole = 0, part = 0;
	uint64_t x;

	while (v >> whole > 1)
		whole++;
	x = whole > 31 ? v >> (whole - 31) : v << (31 - whole); /* in [1, 2) x 2^31 */
	for (uint32_t bit = HBM_LOG_ONE / 2; bit; bit /= 2) {
		x = x * x >> 31;
		if (x >> 32) {
			x >>= 1;
			part |= bit;
		}
	}
	return whole * HBM_LOG_ONE + part;
}

hbm_status hbm_keys_init(hbm_arena *a, const hbm_inst *in, hbm_keys *ret)
{
	hbm_keys k = {in, HBM_ARRAY(a, uint32_t, in->n), HBM_ARRAY(a, uint32_t, in->n),
	              HBM_ARRAY(a, uint64_t, in->n), HBM_ARRAY(a, uint32_t, in->n)};

	HBM_NEED(k.log_life && k.log_size && k.key && k.room);
	for (uint32_t i = 0; i < in->n; i++) {
		k.log_life[i] = hbm_log2(in->end[i] - in->start[i]);
		k.log_size[i] = hbm_log2(in->size[i]);
	}
	*ret = k;
	return HBM_OK;
}

void hbm_keys_order(hbm_keys *k, hbm_blend b, uint64_t *seed, uint32_t *order)
{
	uint32_t n = k->in->n;

	for (uint32_t i = 0; i < n; i++) {
		int64_t v = (int64_t)b.life * k->log_life[i] +
		            (int64_t)b.size * k->log_size[i];

		if (b.noise)
			v += (int64_t)b.noise *
			     ((int64_t)(hbm_rand(seed) % HBM_LOG_ONE) -
			      HBM_LOG_ONE / 2);
		k->key[i] = (uint64_t)(((int64_t)1 << 40) - v);
		order[i] = i;
	}
	hbm_sort_ids_with(order, n, k->key, k->room);
}

hbm_blend hbm_random_blend(uint64_t *seed)
{
	uint64_t one = HBM_LOG_ONE;
	uint64_t a = hbm_rand(seed) % one, b = hbm_rand(seed) % one;

	return (hbm_blend){(int32_t)(3 * (hbm_rand(seed) % one) / 2),
	                   (int32_t)(hbm_rand(seed) % one), (int32_t)(a * b / one)};
}

/* Stably. */
static void sort_by(hbm_keys *k, const uint64_t *key, uint32_t *order)
{
	uint32_t n = k->in->n;

	for (uint32_t i = 0; i < n; i++)
		k->key[i] = ~key[i];
	hbm_sort_ids_with(order, n, k->key, k->room);
}

void hbm_keys_order_by(hbm_keys *k, const uint64_t *key, const uint64_t *then,
                       uint32_t *order)
{
	for (uint32_t i = 0; i < k->in->n; i++)
		order[i] = i;
	if (then)
		sort_by(k, then, order);
	sort_by(k, key, order);
}
