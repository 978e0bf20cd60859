/* SPDX-License-Identifier: Apache-2.0
 * What several allocators need: budgets, sorting, extents. */
#include "pack/internal.h"

#include <string.h>
#include <time.h>

enum {
	POLL_STEPS = 1 << 14,
	SMALL_SORT = 48,
	LARGE_SORT = 4096, /* from here on larger digits pay */
	MAX_BITS = 11,     /* of a digit */
};

double hbm_pack_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool hbm_pack_poll(hbm_pack_cx *cx)
{
	if (cx->cancelled && cx->cancelled(cx->user))
		cx->stopped = true;
	if (cx->deadline > 0 && hbm_pack_clock() >= cx->deadline)
		cx->stopped = true;
	if (cx->stopped || cx->steps >= cx->max_steps) {
		cx->poll_at = 0;
		return false;
	}
	cx->poll_at = cx->steps + POLL_STEPS;
	if (cx->poll_at > cx->max_steps)
		cx->poll_at = cx->max_steps;
	return true;
}

static void insertion_sort(uint32_t *ids, uint32_t n, const uint64_t *key)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t id = ids[i], j = i;

		for (; j > 0 && key[ids[j - 1]] > key[id]; j--)
			ids[j] = ids[j - 1];
		ids[j] = id;
	}
}

/* One stable pass by the digit of `key` at `shift`. */
static void radix_pass(const uint32_t *from, uint32_t *to, uint32_t n,
                       const uint64_t *key, uint32_t shift, uint32_t bits)
{
	uint32_t count[1 << MAX_BITS], sum = 0;
	uint64_t mask = ((uint64_t)1 << bits) - 1;

	memset(count, 0, sizeof *count << bits);
	for (uint32_t i = 0; i < n; i++)
		count[key[from[i]] >> shift & mask]++;
	for (uint32_t d = 0; d <= mask; d++) {
		uint32_t c = count[d];

		count[d] = sum;
		sum += c;
	}
	for (uint32_t i = 0; i < n; i++)
		to[count[key[from[i]] >> shift & mask]++] = from[i];
}

void hbm_sort_ids_with(uint32_t *ids, uint32_t n, const uint64_t *key, uint32_t *room)
{
	uint32_t bits = n < LARGE_SORT ? 8 : MAX_BITS, *from = ids, *to = room;
	uint64_t all = ~(uint64_t)0, any = 0, last = 0;
	bool sorted = true;

	if (n <= SMALL_SORT) {
		insertion_sort(ids, n, key);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		all &= key[ids[i]];
		any |= key[ids[i]];
		sorted &= last <= key[ids[i]];
		last = key[ids[i]];
	}
	if (sorted)
		return;
	for (uint32_t shift = 0; shift < 64; shift += bits) {
		uint32_t *swap = to;

		if (!((all ^ any) >> shift & (((uint64_t)1 << bits) - 1)))
			continue;
		radix_pass(from, to, n, key, shift, bits);
		to = from;
		from = swap;
	}
	if (from != ids)
		memcpy(ids, from, (size_t)n * sizeof *ids);
}

hbm_status hbm_sort_ids(hbm_arena *scratch, uint32_t *ids, uint32_t n,
                        const uint64_t *key)
{
	uint32_t *room = n > SMALL_SORT ? HBM_ARRAY(scratch, uint32_t, n) : ids;

	HBM_NEED(room);
	hbm_sort_ids_with(ids, n, key, room);
	return HBM_OK;
}

uint64_t hbm_inst_extent(const hbm_inst *in, const uint64_t *offset)
{
	uint64_t top = 0;

	for (uint32_t i = 0; i < in->n; i++)
		if (offset[i] != HBM_NO_OFFSET && offset[i] + in->size[i] > top)
			top = offset[i] + in->size[i];
	return top;
}

uint64_t hbm_inst_area(const hbm_inst *in)
{
	uint64_t area = 0;

	for (uint32_t i = 0; i < in->n; i++)
		area = hbm_add_sat(area, hbm_mul_sat(in->size[i],
		                                     in->end[i] - in->start[i]));
	return area;
}

uint64_t hbm_inst_spare(const hbm_inst *in, uint64_t area, uint64_t limit)
{
	uint64_t all = hbm_mul_sat(limit, in->n_ticks);

	if (all == UINT64_MAX || area == UINT64_MAX)
		return UINT64_MAX;
	return all > area ? all - area : 0;
}

bool hbm_inst_tight(const hbm_inst *in)
{
	uint64_t area = hbm_inst_area(in);

	return hbm_inst_spare(in, area, in->lower_bound) < area / 8;
}
