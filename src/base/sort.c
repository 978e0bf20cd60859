/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <string.h>

enum { DIGIT = 11, SMALL = 64 };

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

static void insertion_sort(hbm_keyed *items, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		hbm_keyed x = items[i];
		uint32_t k = i;

		for (; k > 0 && items[k - 1].key > x.key; k--)
			items[k] = items[k - 1];
		items[k] = x;
	}
}

static void radix_pass(const hbm_keyed *from, hbm_keyed *to, uint32_t n, uint32_t shift)
{
	uint32_t at[1 << DIGIT] = {0}, sum = 0, mask = (1 << DIGIT) - 1;

	for (uint32_t i = 0; i < n; i++)
		at[from[i].key >> shift & mask]++;
	for (uint32_t d = 0; d <= mask; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & mask]++] = from[i];
}

void hbm_radix_sort(hbm_keyed *items, hbm_keyed *room, uint32_t n)
{
	hbm_keyed *from = items, *to = room;
	uint64_t differ = 0;
	uint32_t shift = 0;

	if (n <= SMALL) {
		insertion_sort(items, n);
		return;
	}
	for (uint32_t i = 1; i < n; i++)
		differ |= items[i].key ^ items[0].key;
	while (shift < 64 && differ >> shift) {
		hbm_keyed *swap = from;

		if (!(differ >> shift & 1)) { /* begin where the keys do differ */
			shift++;
			continue;
		}
		radix_pass(from, to, n, shift);
		from = to;
		to = swap;
		shift += DIGIT;
	}
	if (from != items)
		memcpy(items, from, (size_t)n * sizeof *items);
}
