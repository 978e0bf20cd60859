/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <string.h>

static void merge(uint32_t *to, const uint32_t *from, uint32_t lo, uint32_t mid,
                  uint32_t hi, hbm_compare_fn compare, const void *context)
{
	uint32_t i = lo, j = mid;

	for (uint32_t k = lo; k < hi; k++)
		if (j >= hi || (i < mid && compare(context, from[i], from[j]) <= 0))
			to[k] = from[i++];
		else
			to[k] = from[j++];
}

bool hbm_merge_sort(hbm_arena *scratch, uint32_t *ids, uint32_t n,
                  hbm_compare_fn compare, const void *context)
{
	uint32_t *from = ids, *to = HBM_ARRAY(scratch, uint32_t, n);

	if (!to)
		return false;
	for (uint64_t width = 1; width < n; width *= 2) {
		uint32_t *swap = from;
		for (uint64_t lo = 0; lo < n; lo += 2 * width) {
			uint64_t mid = lo + width < n ? lo + width : n;
			uint64_t hi = lo + 2 * width < n ? lo + 2 * width : n;
			merge(to, from, (uint32_t)lo, (uint32_t)mid, (uint32_t)hi,
			      compare, context);
		}
		from = to;
		to = swap;
	}
	if (from != ids)
		memcpy(ids, from, (size_t)n * sizeof *ids);
	return true;
}
