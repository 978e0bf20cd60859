/* SPDX-License-Identifier: Apache-2.0
 * Pins that contradict each other: pinned items are placed one by one in the
 * interval index, which knows pieces and groups. O(n log n). */
#include "pack/pins.h"
#include "pack/index.h"

hbm_status hbm_pins_meet(hbm_arena *scratch, const hbm_inst *in, uint32_t *ret_a,
                         uint32_t *ret_b)
{
	uint32_t tick;
	hbm_index *ix;

	*ret_a = *ret_b = HBM_NONE;
	if (!in->pin)
		return HBM_OK;
	HBM_TRY(hbm_index_new(scratch, in, &ix));
	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t pin = in->pin[i], y;

		if (pin == HBM_NO_OFFSET)
			continue;
		HBM_TRY(hbm_index_fit(ix, i, pin, &y));
		if (y != pin) {
			*ret_a = hbm_index_blocker(ix, i, pin, &tick);
			*ret_b = i;
			return HBM_OK;
		}
		hbm_index_place(ix, i, pin);
	}
	return HBM_OK;
}
