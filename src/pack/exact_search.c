/* SPDX-License-Identifier: Apache-2.0
 * Depth-first search over settled placements.
 *
 * A placement is settled when no item can move to a lower free offset; lowering
 * items one by one makes any placement settled, so only these are searched. A
 * node picks a tick and asks what starts at its floor: one of the items whose low
 * is the floor, or none of them (the bytes up to the next possible start are
 * wasted). The answers exclude each other, so every settled placement is met
 * once, whatever tick is picked; hence the pick is free and takes the tick with
 * the fewest answers left, counted less when it failed often.
 *
 * Picked must be a tick all of whose items at the floor lie flat (each of their
 * ticks has the same floor): nothing can then come below them later. So it is in
 * a valley, a run of ticks whose floor is below those beside it; of items with
 * several spans, only in one of the lowest floor.
 *
 * Parts: when no unplaced item crosses a border between ticks the two sides are
 * solved one after the other; a side that fails goes straight back to where it
 * was cut off, since nothing in between matters to it.
 *
 * The stack is explicit; a node costs one look at each tick of its part. */
#include "pack/exact.h"

#include <string.h>

enum { WEIGHT_ONE = 8, MAX_WEIGHT = 1 << 28, SLACK_STEPS = 4096 };

hbm_status hbm_xsearch_init(hbm_arena *a, hbm_pack_cx *cx, hbm_xstate *s,
                            hbm_xsearch *x)
{
	memset(x, 0, sizeof *x);
	x->s = s;
	x->cx = cx;
	x->rank = HBM_ARRAY(a, uint32_t, s->m->n);
	x->ready = HBM_ARRAY(a, uint32_t, s->m->n);
	x->weight = HBM_ARRAY(a, uint32_t, 3 * ((size_t)s->m->n_ticks + 1));
	HBM_NEED(x->rank && x->ready && x->weight);
	x->run_end = x->weight + s->m->n_ticks + 1;
	x->alt = x->run_end + s->m->n_ticks + 1;
	return HBM_OK;
}

/* ---- parts -------------------------------------------------------------- */

/* First tick of [from, last) with something to place. */
static uint32_t next_open(const hbm_xstate *s, uint32_t from, uint32_t last)
{
	while (from < last && !s->n_open[from])
		from++;
	return from;
}

/* End of the part that begins at `from`: the next border nothing crosses. */
static uint32_t part_end(const hbm_xstate *s, uint32_t from, uint32_t last)
{
	uint32_t t = from + 1;

	if (s->disabled & HBM_X_SPLIT)
		return last;
	while (t < last && s->cut[t])
		t++;
	return t;
}

/* Narrows the frame to one part of its ticks and queues the others; takes the
 * next waiting part when all is placed. False: nothing is left at all. */
static bool choose_part(hbm_xsearch *x, hbm_xframe *f)
{
	hbm_xstate *s = x->s;
	uint32_t first = next_open(s, f->first, f->last), last;

	while (first == f->last) {
		const hbm_xpart *p;

		if (f->waiting == HBM_NONE)
			return false;
		p = &x->parts.items[f->waiting];
		f->back = p->depth;
		f->waiting = p->next;
		first = next_open(s, p->first, p->last);
		f->last = p->last;
	}
	last = part_end(s, first, f->last);
	for (uint32_t t = next_open(s, last, f->last); t < f->last;) {
		uint32_t end = part_end(s, t, f->last);
		hbm_xpart p = {t, end, f->back, f->waiting};

		if (!HBM_PUSH(s->arena, &x->parts, p)) {
			s->nomem = true;
			return true;
		}
		f->waiting = x->parts.n - 1;
		t = next_open(s, end, f->last);
	}
	f->first = first;
	f->last = last;
	return true;
}

/* ---- picking ------------------------------------------------------------ */

/* Makes the floors of the part exact. */
static void renew_floors(hbm_xstate *s, const hbm_xframe *f)
{
	for (uint32_t t = f->first; t < f->last; t++)
		if (!hbm_xstate_current(s, t))
			hbm_xstate_renew(s, t);
}

/* The lowest floor of the part; those equal to it are made exact. */
static hbm_xoff lowest_floor(hbm_xstate *s, const hbm_xframe *f)
{
	for (;;) {
		hbm_xoff low = HBM_XOFF_MAX;
		bool exact = true;

		for (uint32_t t = f->first; t < f->last; t++)
			low = s->floor[t] < low ? s->floor[t] : low;
		for (uint32_t t = f->first; t < f->last; t++)
			if (s->floor[t] == low && !hbm_xstate_current(s, t)) {
				exact = false;
				hbm_xstate_renew(s, t);
			}
		if (exact || s->nomem)
			return low;
	}
}

/* Runs of ticks with one floor. */
static void find_runs(hbm_xsearch *x, const hbm_xframe *f)
{
	const hbm_xoff *floor = x->s->floor;
	uint32_t end = f->last;

	for (uint32_t t = f->last; t-- > f->first;) {
		if (t + 1 < f->last && floor[t] != floor[t + 1])
			end = t + 1;
		x->run_end[t] = end;
	}
}

/* May item i start at its low, with all its ticks on that floor? */
static bool is_ready(const hbm_xsearch *x, const hbm_xframe *f, uint32_t i)
{
	const hbm_xmodel *m = x->s->m;

	for (uint32_t k = m->span_first[i]; k < m->span_first[i + 1]; k++) {
		hbm_xspan s = m->span[k];

		if (s.first < f->first || s.first >= f->last ||
		    x->s->floor[s.first] != x->s->low[i] ||
		    x->run_end[s.first] < s.last)
			return false;
	}
	return true;
}

/* Lists the items that may start at a floor (`only` that one, or any) and counts
 * them by tick. */
static void find_ready(hbm_xsearch *x, const hbm_xframe *f, hbm_xoff only)
{
	const hbm_xstate *s = x->s;
	const hbm_xmodel *m = s->m;
	uint32_t n = m->n_free - s->n_placed, sum = 0;

	x->n_ready = 0;
	memset(x->alt + f->first, 0, (f->last - f->first + 1) * sizeof *x->alt);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = s->open[k];

		if ((only != HBM_XOFF_MAX && s->low[i] != only) ||
		    s->low[i] != s->base[i] || !is_ready(x, f, i))
			continue;
		x->ready[x->n_ready++] = i;
		for (uint32_t l = m->span_first[i]; l < m->span_first[i + 1]; l++) {
			x->alt[m->span[l].first]++;
			x->alt[m->span[l].last]--;
		}
	}
	for (uint32_t t = f->first; t < f->last; t++)
		x->alt[t] = sum += x->alt[t];
}

/* Slack as a small number above 1. */
static uint64_t tightness(const hbm_xstate *s, hbm_xoff slack)
{
	return (uint64_t)(slack / (s->cap / SLACK_STEPS + 1)) + 2;
}

typedef struct choice {
	uint32_t tick;
	uint64_t score, weight;
} choice;

/* Least number of answers a tick leaves, as far as is known at once; less when it
 * failed often. */
static void weigh_ticks(const hbm_xsearch *x, uint32_t first, uint32_t last,
                        choice *best)
{
	const hbm_xstate *s = x->s;

	for (uint32_t t = first; t < last; t++) {
		hbm_xoff slack = hbm_xstate_room(s, t, s->floor[t]);
		uint64_t left = x->alt[t] + (slack > 0 || s->disabled & HBM_X_SUM);
		uint64_t score = left;

		if (left > 1 && x->style.tight)
			score = tightness(s, slack);
		if (best->tick == HBM_NONE ||
		    score * best->weight < best->score * x->weight[t])
			*best = (choice){t, score, x->weight[t]};
		if (left <= 1)
			return;
	}
}

/* Is the floor of the run [first, last) below those beside it? */
static bool is_valley(const hbm_xstate *s, const hbm_xframe *f, uint32_t first,
                      uint32_t last)
{
	hbm_xoff floor = s->floor[first];

	return floor != HBM_XOFF_MAX &&
	       (first == f->first || s->floor[first - 1] > floor) &&
	       (last == f->last || s->floor[last] > floor);
}

/* The tick to branch on. */
static uint32_t pick_tick(hbm_xsearch *x, const hbm_xframe *f)
{
	const hbm_xstate *s = x->s;
	bool only_lowest = x->style.lowest || s->m->in->pieces;
	hbm_xoff lowest = HBM_XOFF_MAX;
	choice best = {.tick = HBM_NONE};

	if (only_lowest)
		lowest = lowest_floor(x->s, f);
	else
		renew_floors(x->s, f);
	find_runs(x, f);
	find_ready(x, f, lowest);
	for (uint32_t t = f->first; t < f->last; t = x->run_end[t]) {
		if (only_lowest ? s->floor[t] != lowest
		                : !is_valley(s, f, t, x->run_end[t]))
			continue;
		if (s->disabled & HBM_X_FEWEST)
			return t;
		weigh_ticks(x, t, x->run_end[t], &best);
		if (best.score <= 1)
			break;
	}
	return best.tick;
}

/* ---- answers ------------------------------------------------------------ */

/* Would item i at its low repeat a placement that is met elsewhere? */
static bool is_mirror(const hbm_xsearch *x, uint32_t i)
{
	const hbm_xstate *s = x->s;
	const hbm_xmodel *m = s->m;
	uint32_t below = s->life_top[m->life[i]];

	if (!(s->disabled & HBM_X_TWINS) && m->twin[i] != HBM_NONE &&
	    !hbm_xstate_placed(s, m->twin[i]))
		return true;
	return !(s->disabled & HBM_X_STACK) && !m->in->mod && below != HBM_NONE &&
	       x->rank[below] > x->rank[i] &&
	       s->off[below] + m->size[below] == s->low[i];
}

static bool covers(const hbm_xmodel *m, uint32_t i, uint32_t tick)
{
	for (uint32_t k = m->span_first[i]; k < m->span_first[i + 1]; k++)
		if (m->span[k].first <= tick && tick < m->span[k].last)
			return true;
	return false;
}

static bool list_candidates(hbm_xsearch *x, hbm_xframe *f)
{
	x->cands.n = f->cand;
	if (!HBM_RESERVE(x->s->arena, &x->cands, x->n_ready))
		return false;
	for (uint32_t k = 0; k < x->n_ready; k++) {
		uint32_t i = x->ready[k], at = x->cands.n;

		if (!covers(x->s->m, i, f->tick) || is_mirror(x, i))
			continue;
		for (; at > f->cand && x->rank[x->cands.items[at - 1]] > x->rank[i];
		     at--)
			x->cands.items[at] = x->cands.items[at - 1];
		x->cands.items[at] = i;
		x->cands.n++;
	}
	f->n_cand = x->cands.n - f->cand;
	f->next = 0;
	return true;
}

/* ---- the search --------------------------------------------------------- */

static bool push_frame(hbm_xsearch *x)
{
	if (x->depth < x->frames.n)
		return true;
	return HBM_PUSH(x->s->arena, &x->frames, (hbm_xframe){0});
}

typedef enum step {
	STEP_DOWN, /* a new frame stands on top */
	STEP_DONE, /* all is placed */
	STEP_STOP,
	STEP_NOMEM,
} step;

/* Opens the node below the top frame. */
static step descend(hbm_xsearch *x)
{
	hbm_xstate *s = x->s;
	hbm_xframe *f;
	uint64_t work = s->work;

	if (s->n_placed == s->m->n_free)
		return STEP_DONE;
	if (!push_frame(x))
		return STEP_NOMEM;
	f = &x->frames.items[x->depth];
	*f = (hbm_xframe){.mark = hbm_xstate_mark(s),
	                  .back = x->depth,
	                  .last = s->m->n_ticks,
	                  .waiting = HBM_NONE,
	                  .cand = x->depth ? f[-1].cand + f[-1].n_cand : 0,
	                  .n_parts = x->parts.n,
	                  .waste = true};
	if (x->depth) {
		f->first = f[-1].first;
		f->last = f[-1].last;
		f->waiting = f[-1].waiting;
	}
	if (!choose_part(x, f))
		return STEP_DONE;
	f->tick = pick_tick(x, f);
	f->mark = hbm_xstate_mark(s);
	if (s->nomem || !list_candidates(x, f))
		return STEP_NOMEM;
	x->depth++;
	x->nodes++;
	s->work = 0;
	if (x->nodes >= x->max_nodes || !hbm_spend(x->cx, 1 + work / 64))
		return STEP_STOP;
	return STEP_DOWN;
}

static void blame(hbm_xsearch *x, uint32_t tick)
{
	if (!(x->s->disabled & HBM_X_LEARN) && x->weight[tick] < MAX_WEIGHT)
		x->weight[tick] += WEIGHT_ONE;
}

/* Tries the next answers of the top frame until one leads on; without any, goes
 * back. False: the whole tree is done. */
static bool advance(hbm_xsearch *x)
{
	hbm_xstate *s = x->s;

	while (x->depth && !s->nomem) {
		hbm_xframe *f = &x->frames.items[x->depth - 1];

		if (f->next < f->n_cand) {
			if (hbm_xstate_place(s, x->cands.items[f->cand + f->next++]))
				return true;
		} else if (f->waste) {
			f->waste = false;
			if (hbm_xstate_waste(s, f->tick))
				return true;
		} else {
			hbm_xstate_undo(s, f->mark);
			x->parts.n = f->n_parts;
			x->depth = f->back;
			if (x->depth)
				hbm_xstate_undo(s, x->frames.items[x->depth - 1].mark);
			continue;
		}
		blame(x, s->failed_tick);
		hbm_xstate_undo(s, f->mark);
	}
	return false;
}

hbm_xresult hbm_xsearch_run(hbm_xsearch *x, hbm_xoff cap, hbm_xstyle style,
                            uint64_t max_nodes)
{
	x->depth = 0;
	x->parts.n = 0;
	x->nodes = 0;
	x->max_nodes = max_nodes;
	x->style = style;
	for (uint32_t t = 0; t <= x->s->m->n_ticks; t++)
		x->weight[t] = WEIGHT_ONE;
	if (!hbm_xstate_reset(x->s, cap))
		return x->s->nomem ? HBM_XR_NOMEM : HBM_XR_EXHAUSTED;
	for (;;) {
		switch (descend(x)) {
		case STEP_DONE:
			return HBM_XR_FOUND;
		case STEP_STOP:
			return HBM_XR_BUDGET;
		case STEP_NOMEM:
			return HBM_XR_NOMEM;
		case STEP_DOWN:
			break;
		}
		if (!advance(x))
			return x->s->nomem ? HBM_XR_NOMEM : HBM_XR_EXHAUSTED;
		if (x->s->nomem)
			return HBM_XR_NOMEM;
	}
}
