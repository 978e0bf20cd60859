/* SPDX-License-Identifier: Apache-2.0
 * `area-first`: largest size x life first, lowest gap. Byte-ticks: what costs most is settled first. */
#include "pack/fit.h"

hbm_status hbm_alloc_area_first(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	uint64_t *key;

	HBM_TRY(hbm_area_keys(cx->scratch, in, &key));
	return hbm_fit(cx, in, key, HBM_FIT_LOWEST, "area-first", ans);
}
