/* SPDX-License-Identifier: Apache-2.0
 * The packing problem alone: five buffers, twelve bytes. */
#include <hbmplan/problem.h>

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
	const uint64_t size[] = {4, 4, 4, 4, 4};
	const int64_t start[] = {0, 3, 0, 9, 0};
	const int64_t end[] = {3, 9, 9, 21, 21}; /* half open */
	hbm_problem problem = {.n = 5, .size = size, .start = start, .end = end,
	                       .capacity = 12};
	hbm_placement placement;
	hbm_context *cx;

	if (hbm_context_new(NULL, &cx) != HBM_OK ||
	    hbm_place(cx, &problem, NULL, &placement) != HBM_OK)
		return 1;
	printf("%s: extent %" PRIu64 ", lower bound %" PRIu64 "\n",
	       hbm_outcome_name(placement.outcome), placement.extent,
	       placement.lower_bound);
	for (uint32_t i = 0; i < problem.n; i++)
		printf("buffer %" PRIu32 " at %" PRIu64 "\n", i, placement.offset[i]);
	hbm_context_free(cx);
	return 0;
}
