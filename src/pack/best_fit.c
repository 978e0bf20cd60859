/* SPDX-License-Identifier: Apache-2.0
 * `best-fit`: birth order, tightest gap. What most compilers ship: among the gaps that are free for the
 * whole life the smallest one. */
#include "pack/fit.h"

hbm_status hbm_alloc_best_fit(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	return hbm_fit(cx, in, NULL, HBM_FIT_TIGHTEST, "best-fit", ans);
}
