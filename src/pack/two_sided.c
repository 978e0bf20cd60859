/* SPDX-License-Identifier: Apache-2.0
 * `two-sided`: where no more than two items live at once, one of each two that
 * meet goes to the bottom and the other hangs from the top; the top is the largest
 * sum of two that meet, so the extent is optimal. Leaves other problems alone.
 *
 * Items come in order of birth. An item that meets none before it starts at the
 * bottom; else it takes the other side than the last one still alive, which is the
 * only one it can meet. O(n). */
#include "pack/internal.h"

/* Side of each item, false: more than two live at once. Items are in order of
 * birth. */
static bool choose_sides(const hbm_inst *in, bool *top)
{
	uint32_t far = HBM_NONE, other = HBM_NONE; /* alive: latest end, and the rest */

	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t now = in->start[i];

		if (far != HBM_NONE && in->end[far] <= now)
			far = HBM_NONE;
		if (far != HBM_NONE && other != HBM_NONE && in->end[other] > now)
			return false;
		top[i] = far != HBM_NONE && !top[far];
		other = far;
		if (far == HBM_NONE || in->end[i] > in->end[far])
			far = i;
		else
			other = i;
	}
	return true;
}

hbm_status hbm_alloc_two_sided(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	bool *top = HBM_ARRAY(cx->scratch, bool, in->n);
	uint64_t extent = in->lower_bound;

	HBM_NEED(top);
	if (!choose_sides(in, top))
		return HBM_OK;
	hbm_spend(cx, in->n);
	if (extent > ans->cap || extent >= ans->extent)
		return HBM_OK;
	for (uint32_t i = 0; i < in->n; i++)
		ans->offset[i] = top[i] ? extent - in->size[i] : 0;
	ans->extent = extent;
	ans->by = "two-sided";
	return HBM_OK;
}
