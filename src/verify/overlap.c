/* SPDX-License-Identifier: Apache-2.0
 *
 * overlap: no two storages hold bytes of one space while both are live.
 *
 * Method     A sweep over ticks. The storages that are live stand in a map of
 *            byte ranges; one that is born may not meet any of them. Lives are
 *            the verifier's own, not the plan's.
 * Cost       O(n log n), however many are live together. */
#include "verify/check.h"
#include "verify/ranges.h"

#include "base/ckd.h"

#include <inttypes.h>

enum { SPACE_HBM = 0, SPACE_LX = 1, FIRST_POOL = 2 };

typedef struct sweep {
	hbm_check *cx;
	hbm_ranges live;
	bool *there; /* storage -> it stands in `live` */
} sweep;

static const hbm_plan_storage *storage_at(const sweep *w, uint32_t s)
{
	return &w->cx->plan->storages.items[s];
}

/* False: the storage has no address that others could have as well. */
static bool region(const sweep *w, uint32_t s, hbm_piece *ret)
{
	const hbm_plan_storage *x = storage_at(w, s);
	uint64_t size = w->cx->own[s].reserve;

	if (x->home.offset == HBM_NO_OFFSET || w->cx->own[s].flags & HBM_T_HOST)
		return false;
	if (x->home.kind == HBM_HOME_POOL && x->home.bundle >= w->cx->p->nodes.n)
		return false; /* a fault that pools.c lists */
	if (x->home.kind == HBM_HOME_LX)
		size = x->home.size;
	ret->space = x->home.kind == HBM_HOME_LX ? SPACE_LX
	           : x->home.kind == HBM_HOME_POOL ? FIRST_POOL + x->home.bundle
	           : SPACE_HBM;
	ret->lo = x->home.offset;
	ret->hi = hbm_add_sat(ret->lo, size);
	ret->cargo = (hbm_cargo){.who = s};
	return true;
}

static void life(const sweep *w, uint32_t s, uint32_t *ret_start, uint32_t *ret_end)
{
	bool callers = w->cx->own[s].flags & HBM_T_CALLER;

	*ret_start = callers ? 0 : w->cx->own[s].start;
	*ret_end = callers ? w->cx->f.n_ticks : w->cx->own[s].end;
}

static void report(const sweep *w, const hbm_piece *a, const hbm_piece *b)
{
	hbm_check *cx = w->cx;
	uint64_t lo = a->lo > b->lo ? a->lo : b->lo;
	uint64_t hi = a->hi < b->hi ? a->hi : b->hi;
	uint32_t sa, ea, sb, eb, tick;

	life(w, a->cargo.who, &sa, &ea);
	life(w, b->cargo.who, &sb, &eb);
	tick = sa > sb ? sa : sb;
	HBM_FAULT(cx, storage_at(w, b->cargo.who)->root,
	          "storages '%s' and '%s' share bytes [%" PRIu64 ", %" PRIu64
	          ") of %s%s%s at tick %u (op '%s'): '%s' has [%" PRIu64 ", %" PRIu64
	          ") and is live at [%u, %u), '%s' has [%" PRIu64 ", %" PRIu64
	          ") and is live at [%u, %u)",
	          hbm_check_name(cx, a->cargo.who), hbm_check_name(cx, b->cargo.who),
	          lo, hi, a->space == SPACE_LX ? "the scratchpad"
	                  : a->space == SPACE_HBM ? "HBM" : "the pool of '",
	          a->space < FIRST_POOL ? "" : hbm_str_of(cx->p,
	                  cx->p->nodes.items[a->space - FIRST_POOL].name),
	          a->space < FIRST_POOL ? "" : "'", tick, hbm_check_op(cx, tick),
	          hbm_check_name(cx, a->cargo.who), a->lo, a->hi, sa, ea,
	          hbm_check_name(cx, b->cargo.who), b->lo, b->hi, sb, eb);
}

static hbm_status born(sweep *w, uint32_t s)
{
	const hbm_piece *met;
	hbm_piece at;

	if (!region(w, s, &at))
		return HBM_OK;
	met = hbm_ranges_find(&w->live, at.space, at.lo, at.hi);
	if (met) {
		report(w, met, &at);
		return HBM_OK;
	}
	w->there[s] = true;
	HBM_NEED(hbm_ranges_put(&w->live, at.space, at.lo, at.hi, at.cargo));
	return HBM_OK;
}

static hbm_status dead(sweep *w, uint32_t s)
{
	hbm_piece at;

	if (!w->there[s] || !region(w, s, &at))
		return HBM_OK;
	HBM_NEED(hbm_ranges_cut(&w->live, at.space, at.lo, at.hi));
	return HBM_OK;
}

/* Storages by tick: those of tick t are ids[first[t]] to ids[first[t + 1]]. */
typedef struct by_tick {
	uint32_t *first, *ids;
} by_tick;

static hbm_status sort_by_tick(const sweep *w, bool ends, by_tick *ret)
{
	hbm_check *cx = w->cx;
	uint32_t n = cx->plan->storages.n, ticks = cx->f.n_ticks;
	by_tick b = {.first = HBM_ZARRAY(cx->a, uint32_t, (size_t)ticks + 3),
	             .ids = HBM_ARRAY(cx->a, uint32_t, n)};
	uint32_t start, end;

	HBM_NEED(b.first && b.ids);
	for (uint32_t s = 0; s < n; s++) {
		life(w, s, &start, &end);
		if (start < end)
			b.first[(ends ? end : start) + 2]++;
	}
	for (uint32_t t = 0; t <= ticks; t++)
		b.first[t + 2] += b.first[t + 1];
	for (uint32_t s = 0; s < n; s++) {
		life(w, s, &start, &end);
		if (start < end)
			b.ids[b.first[(ends ? end : start) + 1]++] = s;
	}
	*ret = b;
	return HBM_OK;
}

hbm_status hbm_check_overlap(hbm_check *cx)
{
	sweep w = {.cx = cx};
	by_tick births, deaths;

	HBM_TRY(hbm_ranges_init(&w.live, cx->a));
	HBM_NEED(w.there = HBM_ZARRAY(cx->a, bool, cx->plan->storages.n));
	HBM_TRY(sort_by_tick(&w, false, &births));
	HBM_TRY(sort_by_tick(&w, true, &deaths));
	for (uint32_t t = 0; t < cx->f.n_ticks; t++) {
		for (uint32_t i = deaths.first[t]; i < deaths.first[t + 1]; i++)
			HBM_TRY(dead(&w, deaths.ids[i]));
		for (uint32_t i = births.first[t]; i < births.first[t + 1]; i++)
			HBM_TRY(born(&w, births.ids[i]));
	}
	return HBM_OK;
}
