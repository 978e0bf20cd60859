/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

bool hbm_vec_reserve(hbm_arena *a, void **items, uint32_t n, uint32_t *cap,
                     uint64_t want, size_t size)
{
	uint64_t need = n + want;
	uint64_t next = *cap ? (uint64_t)*cap * 2 : 8;
	void *p;

	if (need < want || need >= UINT32_MAX)
		return false;
	if (next < need)
		next = need;
	if (next >= UINT32_MAX)
		next = UINT32_MAX - 1;
	if (next > PTRDIFF_MAX / size)
		return false;
	p = hbm_arena_grow(a, *items, (size_t)*cap * size, (size_t)next * size);
	if (!p)
		return false;
	*items = p;
	*cap = (uint32_t)next;
	return true;
}
