/* SPDX-License-Identifier: Apache-2.0
 * Refuses malformed problems. What is left for hbm_normalise are demands of one
 * colocation set that contradict each other. */
#include "pack/internal.h"

#include <inttypes.h>

#define LIMIT ((uint64_t)1 << 62)

static hbm_status bad(hbm_diags *d, uint32_t i, const char *what)
{
	return hbm_fail(d, HBM_SEMANTIC, HBM_E_PROBLEM, HBM_NOWHERE,
	                "buffer %" PRIu32 ": %s", i, what);
}

static hbm_status check_gaps(const hbm_problem *p, uint32_t i, hbm_diags *d)
{
	int64_t now = p->start[i];

	if (p->gap_first[i] > p->gap_first[i + 1])
		return bad(d, i, "its gaps end before they begin");
	for (uint32_t j = p->gap_first[i]; j < p->gap_first[i + 1]; j++) {
		const hbm_gap *g = &p->gaps[j];

		if (g->start < now || g->end < g->start || g->end > p->end[i])
			return bad(d, i, "gaps must be in order and inside its life");
		if (g->lo > g->hi || g->hi > p->size[i])
			return bad(d, i, "a gap's window leaves the buffer");
		now = g->end;
	}
	return HBM_OK;
}

static hbm_status check_buffer(const hbm_problem *p, uint32_t i, hbm_diags *d)
{
	uint64_t align = p->align ? p->align[i] : 1;
	uint64_t pin = p->pin ? p->pin[i] : HBM_NO_OFFSET;

	if (p->size[i] >= LIMIT)
		return bad(d, i, "size is 2^62 bytes or more");
	if (p->start[i] > p->end[i])
		return bad(d, i, "life ends before it starts");
	if (align == 0 || align >= LIMIT)
		return bad(d, i, "alignment must be from 1 to below 2^62");
	if (pin != HBM_NO_OFFSET && (pin >= LIMIT || pin + p->size[i] >= LIMIT))
		return bad(d, i, "pinned end is 2^62 bytes or more");
	if (pin != HBM_NO_OFFSET && pin % align)
		return bad(d, i, "pinned offset breaks its alignment");
	if (p->set && p->set[i] != HBM_NONE && p->shift &&
	    (p->shift[i] >= LIMIT || p->shift[i] + p->size[i] >= LIMIT))
		return bad(d, i, "shift in its set is 2^62 bytes or more");
	if (!p->gap_first || !p->size[i] || p->start[i] == p->end[i])
		return HBM_OK;
	return check_gaps(p, i, d);
}

hbm_status hbm_problem_check(const hbm_problem *p, hbm_diags *d)
{
	uint64_t sum = 0;

	if (p->n > HBM_MAX_BUFFERS)
		return hbm_fail(d, HBM_LIMIT, HBM_E_PROBLEM, HBM_NOWHERE,
		                "more than %d buffers", HBM_MAX_BUFFERS);
	for (uint32_t i = 0; i < p->n; i++) {
		HBM_TRY(check_buffer(p, i, d));
		sum = hbm_add_sat(sum, p->size[i]);
		sum = hbm_add_sat(sum, p->align ? p->align[i] - 1 : 0);
		if (sum >= LIMIT)
			return hbm_fail(d, HBM_LIMIT, HBM_E_PROBLEM, HBM_NOWHERE,
			                "sizes and alignments up to buffer %" PRIu32
			                " add up to 2^62 bytes or more",
			                i);
	}
	return HBM_OK;
}
