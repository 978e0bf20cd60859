/* SPDX-License-Identifier: Apache-2.0
 * `skyline`: the skyline decoder under three orders - longest life, largest size x
 * life, largest size; the best of them. */
#include "pack/fit.h"
#include "pack/sky.h"

/* Items by falling key; equal keys by falling size, then by number. */
static hbm_status order_by(hbm_arena *scratch, const hbm_inst *in, const uint64_t *key,
                           uint32_t *order)
{
	uint64_t *down = HBM_ARRAY(scratch, uint64_t, in->n);

	HBM_NEED(down);
	for (uint32_t i = 0; i < in->n; i++) {
		order[i] = i;
		down[i] = ~in->size[i];
	}
	HBM_TRY(hbm_sort_ids(scratch, order, in->n, down));
	for (uint32_t i = 0; i < in->n; i++)
		down[i] = ~key[i];
	return hbm_sort_ids(scratch, order, in->n, down);
}

hbm_status hbm_alloc_skyline(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	uint64_t *life, *area, *offset = HBM_ARRAY(cx->scratch, uint64_t, in->n);
	uint32_t *order = HBM_ARRAY(cx->scratch, uint32_t, in->n);
	const uint64_t *keys[3];
	hbm_sky *sky;

	HBM_NEED(offset && order);
	HBM_TRY(hbm_life_keys(cx->scratch, in, &life));
	HBM_TRY(hbm_area_keys(cx->scratch, in, &area));
	HBM_TRY(hbm_sky_new(cx->scratch, cx->scratch, in, &sky));
	keys[0] = life;
	keys[1] = area;
	keys[2] = in->size;
	for (uint32_t k = 0; k < 3 && ans->extent > ans->goal; k++) {
		uint64_t before = hbm_sky_steps(sky), limit = ans->cap, extent;

		if (ans->extent != HBM_NO_OFFSET && ans->extent <= limit)
			limit = ans->extent - 1;
		HBM_TRY(order_by(cx->scratch, in, keys[k], order));
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
