/* SPDX-License-Identifier: Apache-2.0
 * `life-first`: longest life first, lowest gap. Items that all others must go around are settled first. */
#include "pack/fit.h"

hbm_status hbm_alloc_life_first(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	uint64_t *key;

	HBM_TRY(hbm_life_keys(cx->scratch, in, &key));
	return hbm_fit(cx, in, key, HBM_FIT_LOWEST, "life-first", ans);
}
