/* SPDX-License-Identifier: Apache-2.0
 * `first-fit`: birth order, lowest gap. Items are numbered by birth, so no keys are needed. The plain
 * allocator of run-time systems, but over whole lives. */
#include "pack/fit.h"

hbm_status hbm_alloc_first_fit(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	return hbm_fit(cx, in, NULL, HBM_FIT_LOWEST, "first-fit", ans);
}
