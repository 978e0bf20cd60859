/* SPDX-License-Identifier: Apache-2.0
 *
 * overlap: no two storages hold bytes of one space while both are live; scratch of
 * an op that has an address counts like a storage that lives while the op runs.
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

/* Items are the plan's storages, then its scratch. */
typedef struct sweep {
	hbm_check *cx;
	hbm_ranges live;
	uint32_t n, n_storages;
	bool *there; /* item -> it stands in `live` */
} sweep;

static const hbm_plan_storage *storage_at(const sweep *w, uint32_t s)
{
	return &w->cx->plan->storages.items[s];
}

static const hbm_plan_scratch *scratch_at(const sweep *w, uint32_t i)
{
	return &w->cx->plan->scratch.items[i - w->n_storages];
}

/* False: the item has no address that others could have as well. */
static bool region(const sweep *w, uint32_t s, hbm_piece *ret)
{
	const hbm_plan_storage *x;
	uint64_t size;

	if (s >= w->n_storages) {
		ret->space = SPACE_HBM;
		ret->lo = scratch_at(w, s)->offset;
		ret->hi = hbm_add_sat(ret->lo, scratch_at(w, s)->size);
		ret->cargo = (hbm_cargo){.who = s};
		return true;
	}
	x = storage_at(w, s);
	size = w->cx->own[s].reserve;
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
	bool callers = s < w->n_storages && w->cx->own[s].flags & HBM_T_CALLER;

	if (s >= w->n_storages) {
		*ret_start = scratch_at(w, s)->op;
		*ret_end = *ret_start + 1;
		return;
	}
	*ret_start = callers ? 0 : w->cx->own[s].start;
	*ret_end = callers ? w->cx->f.n_ticks : w->cx->own[s].end;
}

static const char *item_name(const sweep *w, uint32_t s)
{
	return s < w->n_storages ? hbm_check_name(w->cx, s)
	                         : hbm_check_op(w->cx, scratch_at(w, s)->op);
}

static void note_item(const sweep *w, const hbm_piece *p)
{
	uint32_t start, end;

	life(w, p->cargo.who, &start, &end);
	hbm_note(w->cx->d, HBM_NOWHERE,
	         "%s'%s' has bytes [%" PRIu64 ", %" PRIu64 ") and is live at [%u, %u)",
	         p->cargo.who < w->n_storages ? "" : "scratch of op ",
	         item_name(w, p->cargo.who), p->lo, p->hi, start, end);
}

static void report(const sweep *w, const hbm_piece *a, const hbm_piece *b)
{
	hbm_check *cx = w->cx;
	uint64_t lo = a->lo > b->lo ? a->lo : b->lo;
	uint64_t hi = a->hi < b->hi ? a->hi : b->hi;
	uint32_t s = b->cargo.who, start, other, end;
	const char *pool = "", *where = a->space == SPACE_LX ? "the scratchpad" : "HBM";

	life(w, a->cargo.who, &other, &end);
	life(w, s, &start, &end);
	start = other > start ? other : start;
	if (a->space >= FIRST_POOL) {
		where = "the pool of ";
		pool = hbm_str_of(cx->p, cx->p->nodes.items[a->space - FIRST_POOL].name);
	}
	HBM_FAULT(cx, s < w->n_storages ? storage_at(w, s)->root : HBM_NONE,
	          "storages '%s' and '%s' share bytes [%" PRIu64 ", %" PRIu64 ") of %s%s at "
	          "tick %u (op '%s')", item_name(w, a->cargo.who), item_name(w, s), lo, hi,
	          where, pool, start, hbm_check_op(cx, start));
	note_item(w, a);
	note_item(w, b);
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
	uint32_t n = w->n, ticks = cx->f.n_ticks;
	by_tick b = {.first = HBM_ZARRAY(cx->a, uint32_t, (size_t)ticks + 3),
	             .ids = HBM_ARRAY(cx->a, uint32_t, n)};
	uint32_t start, end;

	HBM_NEED(b.first && b.ids);
	for (uint32_t s = 0; s < n; s++) {
		life(w, s, &start, &end);
		if (start < end && end <= ticks)
			b.first[(ends ? end : start) + 2]++;
	}
	for (uint32_t t = 0; t <= ticks; t++)
		b.first[t + 2] += b.first[t + 1];
	for (uint32_t s = 0; s < n; s++) {
		life(w, s, &start, &end);
		if (start < end && end <= ticks)
			b.ids[b.first[(ends ? end : start) + 1]++] = s;
	}
	*ret = b;
	return HBM_OK;
}

hbm_status hbm_check_overlap(hbm_check *cx)
{
	sweep w = {.cx = cx, .n_storages = cx->plan->storages.n};
	by_tick births, deaths;

	w.n = w.n_storages + cx->plan->scratch.n;
	HBM_TRY(hbm_ranges_init(&w.live, cx->a));
	HBM_NEED(w.there = HBM_ZARRAY(cx->a, bool, w.n));
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
