/* SPDX-License-Identifier: Apache-2.0 */
/* spyre_pieces: which tensor holds which bytes of a space. The list is sorted and its
 * pieces do not meet. Cost: O(log) to find, O(pieces) to put. */
#include "import/spyre_build.h"

#include <string.h>

uint32_t hbm_spyre_first_piece(const hbm_spyre_pieces *v, uint64_t lo)
{
	uint32_t a = 0, z = v->n;

	while (a < z) {
		uint32_t mid = a + (z - a) / 2;
		if (v->items[mid].hi <= lo)
			a = mid + 1;
		else
			z = mid;
	}
	return a;
}

bool hbm_spyre_put_piece(hbm_arena *a, hbm_spyre_pieces *v, uint64_t lo, uint64_t hi,
                         hbm_tensor_id t)
{
	uint32_t from = hbm_spyre_first_piece(v, lo), to = from;
	hbm_spyre_piece left = {0}, right = {0};
	uint32_t n = 1;

	if (lo == hi)
		return true;
	while (to < v->n && v->items[to].lo < hi)
		to++;
	if (from < to && v->items[from].lo < lo) {
		left = (hbm_spyre_piece){v->items[from].lo, lo, v->items[from].t};
		n++;
	}
	if (from < to && v->items[to - 1].hi > hi) {
		right = (hbm_spyre_piece){hi, v->items[to - 1].hi, v->items[to - 1].t};
		n++;
	}
	if (!HBM_RESERVE(a, v, n))
		return false;
	memmove(&v->items[from + n], &v->items[to], (v->n - to) * sizeof(hbm_spyre_piece));
	v->n = v->n - (to - from) + n;
	if (left.hi)
		v->items[from++] = left;
	v->items[from++] = (hbm_spyre_piece){lo, hi, t};
	if (right.hi)
		v->items[from] = right;
	return true;
}
