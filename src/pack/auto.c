/* SPDX-License-Identifier: Apache-2.0
 * `auto`: cheap orders first, each only as far as it can still win; stops at the
 * goal. */
#include "pack/auto.h"

static const char *const cheap[] = {
	"size-first", "area-first", "first-fit", "life-first", "best-fit", "size-best",
};

hbm_status hbm_auto(hbm_pack_cx *cx, const hbm_inst *in, uint32_t threads,
                    hbm_answer *ans)
{
	(void)threads;
	for (uint32_t k = 0; k < sizeof cheap / sizeof *cheap; k++) {
		const hbm_allocator *al = hbm_allocator_find(cheap[k]);

		if (cx->stopped || ans->extent <= ans->goal)
			break;
		HBM_TRY(al->solve(cx, in, ans));
	}
	return HBM_OK;
}
