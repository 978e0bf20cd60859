/* SPDX-License-Identifier: Apache-2.0
 * `size-first`: largest first, lowest gap. Large items find their place while there is room, small ones
 * fill what is left. */
#include "pack/fit.h"

hbm_status hbm_alloc_size_first(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	return hbm_fit(cx, in, in->size, HBM_FIT_LOWEST, "size-first", ans);
}
