/* SPDX-License-Identifier: Apache-2.0
 * Orders in which the exact search tries the items that may come next: a string
 * of keys, the first one deciding, or the offsets of a placement. Noise exchanges items that are near in rank,
 * which gives a restart another path through the same preferences. */
#include "pack/exact.h"

#include <string.h>

/* Ticks of item i, and the highest load among them. */
static uint32_t count_ticks(const hbm_xmodel *m, uint32_t i, hbm_xoff *ret_load)
{
	uint32_t n = 0;

	*ret_load = 0;
	for (uint32_t k = m->span_first[i]; k < m->span_first[i + 1]; k++)
		for (uint32_t t = m->span[k].first; t < m->span[k].last; t++, n++)
			*ret_load = m->load[t] > *ret_load ? m->load[t] : *ret_load;
	return n;
}

static uint64_t key_of(const hbm_xmodel *m, uint32_t i, char letter)
{
	hbm_xspan hull = hbm_xmodel_hull(m, i);
	hbm_xoff load;
	uint32_t n = count_ticks(m, i, &load);

	switch (letter) {
	case 'A':
		return hbm_mul_sat((uint64_t)m->size[i], n);
	case 'C':
		return n;
	case 'L':
		return hull.first;
	case 'O':
		return m->adj_first[i + 1] - m->adj_first[i];
	case 'T':
		return (uint64_t)load;
	case 'U':
		return hull.last;
	case 'Z':
		return (uint64_t)m->size[i];
	default:
		return hull.last - hull.first;
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
                      const uint64_t *after, uint32_t noise, uint64_t seed,
                      uint32_t *rank)
{
	uint32_t *ids = HBM_ARRAY(scratch, uint32_t, m->n);
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, m->n);

	HBM_NEED(ids && key);
	for (uint32_t i = 0; i < m->n; i++)
		ids[i] = i;
	for (size_t k = after ? 0 : strlen(order); k-- > 0;) {
		for (uint32_t i = 0; i < m->n; i++)
			key[i] = ~key_of(m, i, order[k]);
		HBM_TRY(hbm_sort_ids(scratch, ids, m->n, key));
	}
	if (after)
		HBM_TRY(hbm_sort_ids(scratch, ids, m->n, after));
	if (noise) {
		mix_ranks(key, ids, m->n, noise, seed);
		HBM_TRY(hbm_sort_ids(scratch, ids, m->n, key));
	}
	for (uint32_t r = 0; r < m->n; r++)
		rank[ids[r]] = r;
	return HBM_OK;
}
