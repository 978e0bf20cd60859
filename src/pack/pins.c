/* SPDX-License-Identifier: Apache-2.0
 * pins: a sweep over the starts of pinned buffers. Those live are kept sorted by
 * address; as long as none meet, a new one can only meet its two neighbours. */
#include "pack/pins.h"
#include "base/sort.h"

#include <string.h>

typedef struct sweep {
	const hbm_problem *p;
	uint32_t *live, n_live; /* by pin */
} sweep;

static bool plain(const hbm_problem *p, uint32_t i)
{
	return p->pin[i] != HBM_NO_OFFSET && p->size[i] && p->start[i] < p->end[i] &&
	       !(p->set && p->set[i] != HBM_NONE) &&
	       !(p->group && p->group[i] != HBM_NONE) &&
	       !(p->gap_first && p->gap_first[i] < p->gap_first[i + 1]);
}

static int by_start(const void *context, uint32_t a, uint32_t b)
{
	const hbm_problem *p = context;

	if (p->start[a] != p->start[b])
		return p->start[a] < p->start[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void forget_ended(sweep *s, int64_t now)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_live; i++)
		if (s->p->end[s->live[i]] > now)
			s->live[n++] = s->live[i];
	s->n_live = n;
}

/* Place of a pin among the live ones. */
static uint32_t place(const sweep *s, uint64_t pin)
{
	uint32_t lo = 0, hi = s->n_live;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->p->pin[s->live[mid]] < pin)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* HBM_NONE: it meets nobody, and is among the live now. */
static uint32_t add(sweep *s, uint32_t i)
{
	const hbm_problem *p = s->p;
	uint32_t at = place(s, p->pin[i]);

	if (at < s->n_live && p->pin[s->live[at]] - p->pin[i] < p->size[i])
		return s->live[at];
	if (at && p->pin[i] - p->pin[s->live[at - 1]] < p->size[s->live[at - 1]])
		return s->live[at - 1];
	memmove(s->live + at + 1, s->live + at, (s->n_live - at) * sizeof *s->live);
	s->live[at] = i;
	s->n_live++;
	return HBM_NONE;
}

hbm_status hbm_pins_meet(hbm_arena *scratch, const hbm_problem *p, bool *ret_found,
                         uint32_t *ret_a, uint32_t *ret_b)
{
	sweep s = {.p = p};
	uint32_t *order, n = 0;

	*ret_found = false;
	if (!p->pin)
		return HBM_OK;
	HBM_NEED(order = HBM_ARRAY(scratch, uint32_t, p->n));
	HBM_NEED(s.live = HBM_ARRAY(scratch, uint32_t, p->n));
	for (uint32_t i = 0; i < p->n; i++)
		if (plain(p, i))
			order[n++] = i;
	HBM_NEED(hbm_merge_sort(scratch, order, n, by_start, p));
	for (uint32_t i = 0; i < n && !*ret_found; i++) {
		forget_ended(&s, p->start[order[i]]);
		*ret_a = add(&s, order[i]);
		*ret_b = order[i];
		*ret_found = *ret_a != HBM_NONE;
	}
	return HBM_OK;
}
