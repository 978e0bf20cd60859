/* SPDX-License-Identifier: Apache-2.0
 * Orders in which the exact search tries the items that may come next: a string
 * of keys, the first one deciding. Noise exchanges items that are near in rank,
 * which gives a restart another path through the same preferences. */
#include "pack/exact.h"

#include <string.h>

/* Highest pressure among the ticks of each item. */
static hbm_status tick_pressure(hbm_arena *scratch, const hbm_xmodel *m, uint64_t *key)
{
	uint64_t *sum = HBM_ZARRAY(scratch, uint64_t, (size_t)m->n_ticks + 1);

	HBM_NEED(sum);
	for (uint32_t i = 0; i < m->n; i++)
		for (uint32_t c = m->cell_first[i]; c < m->cell_first[i + 1]; c++)
			sum[m->cell_tick[c]] += (uint64_t)m->size[i];
	for (uint32_t i = 0; i < m->n; i++) {
		key[i] = 0;
		for (uint32_t c = m->cell_first[i]; c < m->cell_first[i + 1]; c++)
			if (sum[m->cell_tick[c]] > key[i])
				key[i] = sum[m->cell_tick[c]];
	}
	return HBM_OK;
}

static uint64_t key_of(const hbm_xmodel *m, uint32_t i, char letter)
{
	uint32_t first = m->cell_first[i], end = m->cell_first[i + 1];
	uint64_t width;

	if (first == end)
		return 0;
	width = m->cell_tick[end - 1] - m->cell_tick[first] + 1;
	switch (letter) {
	case 'A':
		return hbm_mul_sat((uint64_t)m->size[i], end - first);
	case 'C':
		return end - first;
	case 'L':
		return m->cell_tick[first];
	case 'O':
		return m->adj_first[i + 1] - m->adj_first[i];
	case 'U':
		return m->cell_tick[end - 1];
	case 'Z':
		return (uint64_t)m->size[i];
	default:
		return width;
	}
}

static void mix_ranks(uint64_t *key, const uint32_t *ids, uint32_t n, uint32_t noise,
                      uint64_t seed)
{
	for (uint32_t r = 0; r < n; r++)
		key[ids[r]] = ((uint64_t)r << 16) +
		              ((uint64_t)n * noise * (hbm_rand(&seed) >> 48) >> 10);
}

hbm_status hbm_xorder(hbm_arena *scratch, const hbm_xmodel *m, const char *order,
                      uint32_t noise, uint64_t seed, uint32_t *rank)
{
	uint32_t *ids = HBM_ARRAY(scratch, uint32_t, m->n);
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, m->n);

	HBM_NEED(ids && key);
	for (uint32_t i = 0; i < m->n; i++)
		ids[i] = i;
	for (size_t k = strlen(order); k-- > 0;) {
		if (order[k] == 'T')
			HBM_TRY(tick_pressure(scratch, m, key));
		else
			for (uint32_t i = 0; i < m->n; i++)
				key[i] = key_of(m, i, order[k]);
		for (uint32_t i = 0; i < m->n; i++)
			key[i] = ~key[i];
		HBM_TRY(hbm_sort_ids(scratch, ids, m->n, key));
	}
	if (noise) {
		mix_ranks(key, ids, m->n, noise, seed);
		HBM_TRY(hbm_sort_ids(scratch, ids, m->n, key));
	}
	for (uint32_t r = 0; r < m->n; r++)
		rank[ids[r]] = r;
	return HBM_OK;
}
