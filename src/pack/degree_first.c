/* SPDX-License-Identifier: Apache-2.0
 * `degree-first`: most neighbours in time first, lowest gap. Colouring takes nodes
 * with few neighbours out of the graph first and colours in reverse; so do compilers
 * that place DRAM that way. Degrees come from counts of births and deaths: an item
 * meets all that are born before its end less those that are dead at its start. */
#include "pack/fit.h"

static hbm_status degree_keys(hbm_arena *a, const hbm_inst *in, uint64_t **ret)
{
	uint32_t n = in->n_ticks;
	uint64_t *born = HBM_ZARRAY(a, uint64_t, (size_t)n + 2);
	uint64_t *dead = HBM_ZARRAY(a, uint64_t, (size_t)n + 2);
	uint64_t *key = HBM_ARRAY(a, uint64_t, in->n);

	HBM_NEED(born && dead && key);
	for (uint32_t i = 0; i < in->n; i++) {
		born[in->start[i] + 1]++;
		dead[in->end[i]]++;
	}
	for (uint32_t t = 1; t <= n + 1; t++) {
		born[t] += born[t - 1]; /* born before tick t */
		dead[t] += dead[t - 1]; /* dead at tick t */
	}
	for (uint32_t i = 0; i < in->n; i++)
		key[i] = born[in->end[i]] - dead[in->start[i]] - 1;
	*ret = key;
	return HBM_OK;
}

hbm_status hbm_alloc_degree_first(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	uint64_t *key;

	HBM_TRY(degree_keys(cx->scratch, in, &key));
	return hbm_fit(cx, in, key, HBM_FIT_LOWEST, "degree-first", ans);
}
