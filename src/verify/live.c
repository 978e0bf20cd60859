/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/live.h"

#include "base/diag.h"

hbm_status hbm_live_init(hbm_arena *a, uint32_t n, hbm_live *ret)
{
	hbm_live l = {.n = n};
	size_t words = n;

	do {
		words = (words + 63) / 64;
		l.bits[l.n_levels] = HBM_ZARRAY(a, uint64_t, words + 1);
		HBM_NEED(l.bits[l.n_levels++]);
	} while (words > 1);
	*ret = l;
	return HBM_OK;
}

void hbm_live_add(hbm_live *l, uint32_t i)
{
	for (uint32_t k = 0; k < l->n_levels; k++, i /= 64)
		l->bits[k][i / 64] |= (uint64_t)1 << i % 64;
}

void hbm_live_remove(hbm_live *l, uint32_t i)
{
	for (uint32_t k = 0; k < l->n_levels; k++, i /= 64)
		if (l->bits[k][i / 64] &= ~((uint64_t)1 << i % 64))
			return;
}

static uint32_t lowest(uint64_t v)
{
	uint32_t at = 0;

	for (uint32_t step = 32; step; step /= 2)
		if (!(v & (((uint64_t)1 << step) - 1))) {
			v >>= step;
			at += step;
		}
	return at;
}

static uint32_t highest(uint64_t v)
{
	uint32_t at = 0;

	for (uint32_t step = 32; step; step /= 2)
		if (v >> step) {
			v >>= step;
			at += step;
		}
	return at;
}

uint32_t hbm_live_below(const hbm_live *l, uint32_t i)
{
	for (uint32_t k = 0; k < l->n_levels; k++, i /= 64) {
		uint64_t some = l->bits[k][i / 64] & (((uint64_t)1 << i % 64) - 1);

		if (!some)
			continue;
		i = i / 64 * 64 + highest(some);
		while (k-- > 0)
			i = i * 64 + highest(l->bits[k][i]);
		return i;
	}
	return HBM_NONE;
}

uint32_t hbm_live_above(const hbm_live *l, uint32_t i)
{
	for (uint32_t k = 0; k < l->n_levels; k++, i /= 64) {
		uint64_t some = l->bits[k][i / 64] & ~(uint64_t)1 << i % 64;

		if (!some)
			continue;
		i = i / 64 * 64 + lowest(some);
		while (k-- > 0)
			i = i * 64 + lowest(l->bits[k][i]);
		return i;
	}
	return HBM_NONE;
}
