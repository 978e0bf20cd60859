/* SPDX-License-Identifier: Apache-2.0
 * `skyline`: the skyline decoder under three orders - longest life, largest size x
 * life, largest size; the best of them. */
#include "pack/fit.h"
#include "pack/keys.h"
#include "pack/sky.h"

hbm_status hbm_alloc_skyline(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	uint64_t *life, *area, *offset = HBM_ARRAY(cx->scratch, uint64_t, in->n);
	uint32_t *order = HBM_ARRAY(cx->scratch, uint32_t, in->n);
	const uint64_t *by[3];
	hbm_keys keys;
	hbm_sky *sky;

	HBM_NEED(offset && order);
	HBM_TRY(hbm_life_keys(cx->scratch, in, &life));
	HBM_TRY(hbm_area_keys(cx->scratch, in, &area));
	HBM_TRY(hbm_sky_new(cx->scratch, cx->scratch, in, &sky));
	HBM_TRY(hbm_keys_init(cx->scratch, in, &keys));
	by[0] = life;
	by[1] = area;
	by[2] = in->size;
	for (uint32_t k = 0; k < 3 && ans->extent > ans->goal; k++) {
		uint64_t before = hbm_sky_steps(sky), limit = ans->cap, extent;

		if (ans->extent != HBM_NO_OFFSET && ans->extent <= limit)
			limit = ans->extent - 1;
		hbm_keys_order_by(&keys, by[k], order);
		extent = hbm_sky_decode(sky, order, limit, offset);
		if (extent != HBM_NO_OFFSET) {
			for (uint32_t i = 0; i < in->n; i++)
				ans->offset[i] = offset[i];
			ans->extent = extent;
			ans->by = "skyline";
		}
		if (!hbm_spend(cx, hbm_sky_steps(sky) - before))
			break;
	}
	return HBM_OK;
}
