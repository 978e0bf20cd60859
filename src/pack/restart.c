/* SPDX-License-Identifier: Apache-2.0
 * `restart`: the skyline decoder under random blends of life and size, or around
 * the blend that did best. */
#include "pack/keys.h"
#include "pack/sky.h"

#include <string.h>

hbm_status hbm_alloc_restart(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	uint64_t seed = cx->seed, *offset = HBM_ARRAY(cx->scratch, uint64_t, in->n);
	uint32_t *order = HBM_ARRAY(cx->scratch, uint32_t, in->n);
	hbm_keys keys;
	hbm_sky *sky;

	HBM_NEED(offset && order);
	HBM_TRY(hbm_sky_new(cx->scratch, cx->scratch, in, &sky));
	HBM_TRY(hbm_keys_init(cx->scratch, in, &keys));
	while (ans->extent > ans->goal && hbm_spend(cx, 1)) {
		uint64_t before = hbm_sky_steps(sky), limit = ans->cap, extent;

		if (ans->extent != HBM_NO_OFFSET && ans->extent <= limit)
			limit = ans->extent - 1;
		hbm_keys_order(&keys, hbm_random_blend(&seed), &seed, order);
		extent = hbm_sky_decode(sky, order, limit, offset);
		if (extent != HBM_NO_OFFSET) {
			memcpy(ans->offset, offset, in->n * sizeof *offset);
			ans->extent = extent;
			ans->by = "restart";
		}
		hbm_spend(cx, hbm_sky_steps(sky) - before);
	}
	return HBM_OK;
}
