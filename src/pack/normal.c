/* SPDX-License-Identifier: Apache-2.0
 * Normalising: what an allocator need not know is taken out of the problem.
 *
 * Buffers of one colocation set become one item of several pieces; buffers
 * without bytes or life leave; sizes and offsets are divided by the largest unit
 * that keeps some best placement (a settled placement has only offsets that are
 * sums of sizes, pins, shifts and windows, rounded up to alignments); items are
 * numbered by (start, end, size, the rest), so that the order of the input
 * matters only between equal ones. O(n log n), memory O(n). */
#include "pack/normal.h"
#include "pack/raw.h"

#include <inttypes.h>
#include <string.h>

/* ---- the unit ----------------------------------------------------------- */

static uint64_t gcd_known(uint64_t g, uint64_t v)
{
	return v == HBM_NO_OFFSET ? g : hbm_gcd(g, v);
}

/* Largest number of bytes that all lengths and places are multiples of and that
 * divides, or is divided by, each modulus. */
static uint64_t find_unit(const hbm_problem *p, const hbm_raw *r)
{
	uint64_t g = 0;
	bool changed = true;

	for (uint32_t k = 0; k < r->n && g != 1; k++) {
		g = hbm_gcd(g, r->size[k]);
		g = r->rest ? hbm_gcd(g, r->rest[k]) : g;
		g = r->pin ? gcd_known(g, r->pin[k]) : g;
		g = r->hint ? gcd_known(g, r->hint[k]) : g;
	}
	for (uint32_t i = 0; (p->gap_first || r->sets) && i < p->n && g != 1; i++) {
		if (r->of[i] == HBM_NONE)
			continue;
		g = hbm_gcd(g, hbm_shift_of(p, i) - (r->base ? r->base[r->of[i]] : 0));
		g = hbm_gcd(g, p->size[i]);
		for (uint32_t j = p->gap_first ? p->gap_first[i] : 0;
		     p->gap_first && j < p->gap_first[i + 1]; j++)
			g = hbm_gcd(hbm_gcd(g, p->gaps[j].lo), p->gaps[j].hi);
	}
	while (changed && r->mod) {
		changed = false;
		for (uint32_t k = 0; k < r->n; k++) {
			if (g % r->mod[k] == 0 || r->mod[k] % g == 0)
				continue;
			g = hbm_gcd(g, r->mod[k]);
			changed = true;
		}
	}
	return g ? g : 1;
}

/* ---- order and copy ----------------------------------------------------- */

static hbm_status sort_by(hbm_arena *scratch, uint32_t *ids, uint32_t n,
                          const uint64_t *key)
{
	return key ? hbm_sort_ids(scratch, ids, n, key) : HBM_OK;
}

static hbm_status sort_by_time(hbm_arena *scratch, uint32_t *ids, uint32_t n,
                               const int64_t *time, uint64_t *key)
{
	for (uint32_t k = 0; k < n; k++)
		key[k] = (uint64_t)time[k] ^ (uint64_t)1 << 63;
	return hbm_sort_ids(scratch, ids, n, key);
}

/* ids: items in final order. */
static hbm_status order_items(hbm_arena *scratch, const hbm_raw *r, uint32_t *ids)
{
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, (size_t)r->n + 1);

	HBM_NEED(key);
	for (uint32_t k = 0; k < r->n; k++)
		ids[k] = k;
	HBM_TRY(sort_by(scratch, ids, r->n, r->hint));
	HBM_TRY(sort_by(scratch, ids, r->n, r->rest));
	HBM_TRY(sort_by(scratch, ids, r->n, r->mod));
	HBM_TRY(sort_by(scratch, ids, r->n, r->pin));
	HBM_TRY(sort_by(scratch, ids, r->n, r->size));
	HBM_TRY(sort_by_time(scratch, ids, r->n, r->end, key));
	return sort_by_time(scratch, ids, r->n, r->start, key);
}

/* A copy of `from` in the new order, divided by the unit; NULL for NULL. */
static hbm_status reorder(hbm_arena *keep, const uint32_t *ids, uint32_t n,
                          const uint64_t *from, uint64_t unit, const uint64_t **ret)
{
	uint64_t *to;

	*ret = NULL;
	if (!from)
		return HBM_OK;
	to = HBM_ARRAY(keep, uint64_t, (size_t)n + 1);
	HBM_NEED(to);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t v = from[ids[k]];

		to[k] = v == HBM_NO_OFFSET || unit == 1 ? v : v / unit;
	}
	*ret = to;
	return HBM_OK;
}

static bool any_other(const uint64_t *v, uint32_t n, uint64_t usual)
{
	for (uint32_t k = 0; v && k < n; k++)
		if (v[k] != usual)
			return true;
	return false;
}

static hbm_status copy_moduli(hbm_arena *keep, const uint32_t *ids, const hbm_raw *r,
                              uint64_t unit, hbm_inst *in)
{
	uint64_t *mod, *rest;

	if (!any_other(r->mod, r->n, 1))
		return HBM_OK;
	mod = HBM_ARRAY(keep, uint64_t, r->n);
	rest = HBM_ARRAY(keep, uint64_t, r->n);
	HBM_NEED(mod && rest);
	for (uint32_t k = 0; k < r->n; k++) {
		mod[k] = r->mod[ids[k]] / unit;
		rest[k] = r->rest[ids[k]] / unit;
		if (mod[k] <= 1) /* the unit is a multiple of it */
			mod[k] = 1, rest[k] = 0;
	}
	if (!any_other(mod, r->n, 1))
		return HBM_OK;
	in->mod = mod;
	in->rest = rest;
	in->features |= HBM_F_ALIGN;
	return HBM_OK;
}

/* ---- ticks -------------------------------------------------------------- */

/* Ticks with, for each, a raw time at which all that is alive in it is. */
typedef struct tick_list {
	int64_t *time;
	uint32_t n;
} tick_list;

/* Walks births and deaths in order of time, deaths first. A birth after a death
 * begins a new tick. */
static hbm_status dense_ticks(hbm_arena *scratch, uint32_t n, const int64_t *raw_start,
                              const int64_t *raw_end, uint32_t *start, uint32_t *end,
                              tick_list *ret)
{
	int64_t *time = HBM_ARRAY(scratch, int64_t, (size_t)n + 1);
	uint32_t *born = HBM_ARRAY(scratch, uint32_t, (size_t)n + 1);
	uint32_t *dead = HBM_ARRAY(scratch, uint32_t, (size_t)n + 1);
	uint64_t *key = HBM_ARRAY(scratch, uint64_t, (size_t)n + 1);
	uint32_t tick = 0, j = 0;
	bool died = false;

	HBM_NEED(time && born && dead && key);
	for (uint32_t i = 0; i < n; i++)
		born[i] = dead[i] = i;
	HBM_TRY(sort_by_time(scratch, born, n, raw_start, key));
	HBM_TRY(sort_by_time(scratch, dead, n, raw_end, key));
	for (uint32_t i = 0; i < n; i++) {
		for (; raw_end[dead[j]] <= raw_start[born[i]]; j++) {
			end[dead[j]] = tick + 1;
			died = true;
		}
		tick += died;
		died = false;
		start[born[i]] = tick;
		time[tick] = raw_start[born[i]];
	}
	for (; j < n; j++)
		end[dead[j]] = tick + 1;
	*ret = (tick_list){time, n ? tick + 1 : 0};
	return HBM_OK;
}

/* ---- pieces ------------------------------------------------------------- */

typedef struct piece_list {
	HBM_VEC(hbm_piece) pieces; /* ticks are filled in later */
	HBM_VEC(int64_t) start;
	HBM_VEC(int64_t) end;
	HBM_VEC(uint32_t) group;
	bool groups;
} piece_list;

static hbm_status push_piece(hbm_arena *a, piece_list *l, int64_t start, int64_t end,
                             uint64_t lo, uint64_t hi, uint32_t group)
{
	if (start >= end || lo >= hi)
		return HBM_OK;
	HBM_NEED(HBM_PUSH(a, &l->pieces, (hbm_piece){.lo = lo, .hi = hi}));
	HBM_NEED(HBM_PUSH(a, &l->start, start));
	HBM_NEED(HBM_PUSH(a, &l->end, end));
	HBM_NEED(HBM_PUSH(a, &l->group, group));
	l->groups |= group != HBM_NONE;
	return HBM_OK;
}

/* The pieces of one buffer, whose first byte is `at` units into its item. */
static hbm_status add_pieces(hbm_arena *a, const hbm_problem *p, uint32_t i,
                             uint64_t at, uint64_t unit, piece_list *l)
{
	uint32_t group = p->group ? p->group[i] : HBM_NONE;
	uint64_t top = at + p->size[i] / unit;
	int64_t now = p->start[i];

	if (!hbm_has_life(p, i))
		return HBM_OK;
	for (uint32_t j = p->gap_first ? p->gap_first[i] : 0;
	     p->gap_first && j < p->gap_first[i + 1]; j++) {
		const hbm_gap *g = &p->gaps[j];

		HBM_TRY(push_piece(a, l, now, g->start, at, top, group));
		HBM_TRY(push_piece(a, l, g->start, g->end, at + g->lo / unit,
		                   at + g->hi / unit, group));
		now = g->end;
	}
	return push_piece(a, l, now, p->end[i], at, top, group);
}

static hbm_status collect_pieces(hbm_arena *keep, hbm_arena *scratch,
                                 const hbm_problem *p, const uint32_t *ids,
                                 const hbm_raw *r, uint64_t unit, hbm_inst *in,
                                 piece_list *l)
{
	uint32_t *first = HBM_ARRAY(keep, uint32_t, (size_t)r->n + 1);
	uint32_t *alone = HBM_ARRAY(scratch, uint32_t, (size_t)r->n + 1);

	HBM_NEED(first && alone && HBM_RESERVE(keep, &l->pieces, 1)); /* not NULL */
	for (uint32_t i = 0; i < p->n; i++)
		if (r->of[i] != HBM_NONE)
			alone[r->of[i]] = i;
	for (uint32_t k = 0; k < r->n; k++) {
		uint32_t id = ids[k];
		uint32_t from = r->sets ? r->first[id] : 0;
		uint32_t to = r->sets ? r->first[id + 1] : 1;

		first[k] = l->pieces.n;
		for (uint32_t m = from; m < to; m++) {
			uint32_t i = r->sets ? r->members[m] : alone[id];
			uint64_t at = hbm_shift_of(p, i) - (r->base ? r->base[id] : 0);

			HBM_TRY(add_pieces(keep, p, i, at / unit, unit, l));
		}
	}
	first[r->n] = l->pieces.n;
	in->piece_first = first;
	in->pieces = l->pieces.items;
	in->features |= HBM_F_PIECES;
	if (l->groups) {
		in->group = l->group.items;
		in->features |= HBM_F_GROUPS;
	}
	return HBM_OK;
}

static hbm_status cut_pieces(hbm_arena *keep, hbm_arena *scratch, const hbm_problem *p,
                             const uint32_t *ids, const hbm_raw *r, uint64_t unit,
                             uint32_t *start, uint32_t *end, hbm_inst *in,
                             tick_list *ticks)
{
	piece_list l = {0};
	uint32_t *ps, *pe;

	HBM_TRY(collect_pieces(keep, scratch, p, ids, r, unit, in, &l));
	ps = HBM_ARRAY(scratch, uint32_t, (size_t)l.pieces.n + 1);
	pe = HBM_ARRAY(scratch, uint32_t, (size_t)l.pieces.n + 1);
	HBM_NEED(ps && pe);
	HBM_TRY(dense_ticks(scratch, l.pieces.n, l.start.items, l.end.items, ps, pe,
	                    ticks));
	for (uint32_t k = 0; k < r->n; k++) {
		start[k] = UINT32_MAX;
		end[k] = 0;
		for (uint32_t j = in->piece_first[k]; j < in->piece_first[k + 1]; j++) {
			l.pieces.items[j].start = ps[j];
			l.pieces.items[j].end = pe[j];
			start[k] = ps[j] < start[k] ? ps[j] : start[k];
			end[k] = pe[j] > end[k] ? pe[j] : end[k];
		}
		if (start[k] >= end[k])
			start[k] = 0, end[k] = 1;
	}
	in->n_ticks = ticks->n ? ticks->n : 1;
	return HBM_OK;
}

static hbm_status simple_lives(hbm_arena *keep, hbm_arena *scratch,
                               const uint32_t *ids, const hbm_raw *r,
                               uint32_t *start, uint32_t *end, hbm_inst *in,
                               tick_list *ticks)
{
	int64_t *rs = HBM_ARRAY(scratch, int64_t, (size_t)r->n + 1);
	int64_t *re = HBM_ARRAY(scratch, int64_t, (size_t)r->n + 1);
	uint32_t *group;

	HBM_NEED(rs && re);
	for (uint32_t k = 0; k < r->n; k++) {
		rs[k] = r->start[ids[k]];
		re[k] = r->end[ids[k]];
	}
	HBM_TRY(dense_ticks(scratch, r->n, rs, re, start, end, ticks));
	in->n_ticks = ticks->n;
	if (!r->group)
		return HBM_OK;
	group = HBM_ARRAY(keep, uint32_t, (size_t)r->n + 1);
	HBM_NEED(group);
	for (uint32_t k = 0; k < r->n; k++)
		group[k] = r->group[ids[k]];
	in->group = group;
	in->features |= HBM_F_GROUPS;
	return HBM_OK;
}

static bool any_group(const hbm_problem *p)
{
	for (uint32_t i = 0; p->group && i < p->n; i++)
		if (p->group[i] != HBM_NONE)
			return true;
	return false;
}

/* ---- the whole ---------------------------------------------------------- */

static hbm_status build(hbm_arena *keep, hbm_arena *scratch, const hbm_problem *p,
                        const hbm_raw *r, const uint32_t *ids, hbm_normal *ret,
                        tick_list *ticks)
{
	hbm_inst *in = &ret->inst;
	uint32_t *start = HBM_ARRAY(keep, uint32_t, (size_t)r->n + 1);
	uint32_t *end = HBM_ARRAY(keep, uint32_t, (size_t)r->n + 1);
	bool pieces = r->sets || (p->gap_first && p->gap_first[p->n] > 0);

	HBM_NEED(start && end);
	in->n = r->n;
	in->start = start;
	in->end = end;
	HBM_TRY(reorder(keep, ids, r->n, r->size, ret->unit, &in->size));
	HBM_TRY(copy_moduli(keep, ids, r, ret->unit, in));
	if (any_other(r->pin, r->n, HBM_NO_OFFSET)) {
		HBM_TRY(reorder(keep, ids, r->n, r->pin, ret->unit, &in->pin));
		in->features |= HBM_F_PINS;
	}
	if (any_other(r->hint, r->n, HBM_NO_OFFSET)) {
		HBM_TRY(reorder(keep, ids, r->n, r->hint, ret->unit, &in->hint));
		in->features |= HBM_F_HINTS;
	}
	if (pieces)
		return cut_pieces(keep, scratch, p, ids, r, ret->unit, start, end, in,
		                  ticks);
	return simple_lives(keep, scratch, ids, r, start, end, in, ticks);
}

static hbm_status link_back(hbm_arena *keep, hbm_arena *scratch, const hbm_problem *p,
                            const hbm_raw *r, const uint32_t *ids, hbm_normal *ret)
{
	uint32_t *rank = HBM_ARRAY(scratch, uint32_t, (size_t)r->n + 1);

	HBM_NEED(rank);
	for (uint32_t k = 0; k < r->n; k++)
		rank[ids[k]] = k;
	if (r->sets) {
		ret->shift = HBM_ZARRAY(keep, uint64_t, p->n);
		HBM_NEED(ret->shift);
	}
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t k = r->of[i];
		uint64_t pin = p->pin ? p->pin[i] : HBM_NO_OFFSET;
		uint64_t end = p->size[i] + (pin == HBM_NO_OFFSET ? 0 : pin);

		ret->item_of[i] = k == HBM_NONE ? HBM_NONE : rank[k];
		if (k == HBM_NONE && end > ret->rest_end)
			ret->rest_end = end;
		if (ret->shift && k != HBM_NONE)
			ret->shift[i] = hbm_shift_of(p, i) - r->base[k];
	}
	return HBM_OK;
}

/* No first fit can pass 2^62: sizes, moduli and pins together stay below it. */
static hbm_status check_reach(const hbm_normal *nm, hbm_diags *d)
{
	const hbm_inst *in = &nm->inst;
	uint64_t reach = 0, pins = 0;

	for (uint32_t k = 0; k < in->n; k++) {
		reach = hbm_add_sat(reach, in->size[k]);
		reach = hbm_add_sat(reach, in->mod ? in->mod[k] - 1 : 0);
		if (in->pin && in->pin[k] != HBM_NO_OFFSET &&
		    in->pin[k] + in->size[k] > pins)
			pins = in->pin[k] + in->size[k];
	}
	reach = hbm_mul_sat(hbm_add_sat(reach, pins), nm->unit);
	if (reach < (uint64_t)1 << 62)
		return HBM_OK;
	return hbm_fail(d, HBM_LIMIT, HBM_E_PROBLEM, HBM_NOWHERE,
	                "sizes, alignments and pinned offsets add up to 2^62 bytes "
	                "or more");
}

hbm_status hbm_normalise(hbm_arena *keep, hbm_arena *scratch, const hbm_problem *p,
                         hbm_diags *d, hbm_normal *ret)
{
	hbm_raw r = {.of = HBM_ARRAY(keep, uint32_t, (size_t)p->n + 1)};
	hbm_normal nm = {.unit = 1, .item_of = r.of};
	tick_list ticks = {0};
	uint32_t *ids;

	HBM_NEED(r.of);
	HBM_TRY(hbm_raw_gather(scratch, p, d, &r));
	if (any_group(p)) {
		r.group = HBM_ARRAY(scratch, uint32_t, (size_t)r.n + 1);
		HBM_NEED(r.group);
		for (uint32_t i = 0; i < p->n; i++)
			if (r.of[i] != HBM_NONE)
				r.group[r.of[i]] = p->group[i];
	}
	ids = HBM_ARRAY(scratch, uint32_t, (size_t)r.n + 1);
	HBM_NEED(ids);
	HBM_TRY(order_items(scratch, &r, ids));
	nm.unit = find_unit(p, &r);
	HBM_TRY(build(keep, scratch, p, &r, ids, &nm, &ticks));
	HBM_TRY(check_reach(&nm, d));
	HBM_TRY(link_back(keep, scratch, p, &r, ids, &nm));
	HBM_TRY(hbm_inst_bound(scratch, &nm.inst));
	nm.lower_bound = nm.inst.lower_bound * nm.unit;
	if (nm.rest_end > nm.lower_bound)
		nm.lower_bound = nm.rest_end;
	nm.peak_time = ticks.n ? ticks.time[nm.inst.peak_tick] : 0;
	*ret = nm;
	return HBM_OK;
}

void hbm_denormalise(const hbm_normal *nm, const hbm_problem *p,
                     const uint64_t *item_offset, uint64_t *ret)
{
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t k = nm->item_of[i];
		uint64_t pin = p->pin ? p->pin[i] : HBM_NO_OFFSET;

		if (k == HBM_NONE)
			ret[i] = pin == HBM_NO_OFFSET ? 0 : pin;
		else if (item_offset[k] == HBM_NO_OFFSET)
			ret[i] = HBM_NO_OFFSET;
		else
			ret[i] = item_offset[k] * nm->unit +
			         (nm->shift ? nm->shift[i] : 0);
	}
}
