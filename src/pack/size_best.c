/* SPDX-License-Identifier: Apache-2.0
 * `size-best`: largest first, tightest gap. Large items first, each in the gap that it fills best. */
#include "pack/fit.h"

hbm_status hbm_alloc_size_best(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	return hbm_fit(cx, in, in->size, HBM_FIT_TIGHTEST, "size-best", ans);
}
