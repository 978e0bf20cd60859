/* SPDX-License-Identifier: Apache-2.0
 * Cutting an instance where nothing is alive across. O(n). */
#include "pack/normal.h"
#include "pack/part.h"

/* The part of each tick; returns their number. reach[t]: latest end of an item
 * that starts at t, replaced by the part. */
static uint32_t number_ticks(uint32_t *reach, uint32_t n_ticks)
{
	uint32_t far = 0, n = 0;

	for (uint32_t t = 0; t < n_ticks; t++) {
		n += t >= far;
		far = reach[t] > far ? reach[t] : far;
		reach[t] = n - 1;
	}
	return n;
}

hbm_status hbm_parts_find(hbm_arena *a, const hbm_inst *in, hbm_parts *ret)
{
	uint32_t *part = HBM_ZARRAY(a, uint32_t, in->n_ticks);
	hbm_parts ps = {.items = HBM_ARRAY(a, uint32_t, in->n)};

	HBM_NEED(part && ps.items);
	for (uint32_t i = 0; i < in->n; i++)
		if (in->end[i] > part[in->start[i]])
			part[in->start[i]] = in->end[i];
	ps.n = number_ticks(part, in->n_ticks);
	ps.first = HBM_ZARRAY(a, uint32_t, (size_t)ps.n + 2);
	HBM_NEED(ps.first);
	for (uint32_t i = 0; i < in->n; i++)
		ps.first[part[in->start[i]] + 2]++;
	for (uint32_t k = 0; k < ps.n; k++)
		ps.first[k + 2] += ps.first[k + 1];
	for (uint32_t i = 0; i < in->n; i++)
		ps.items[ps.first[part[in->start[i]] + 1]++] = i;
	*ret = ps;
	return HBM_OK;
}

/* The values of some items; NULL for NULL. */
static hbm_status pick(hbm_arena *a, const uint64_t *from, const uint32_t *ids,
                       uint32_t n, const uint64_t **ret)
{
	uint64_t *to;

	*ret = NULL;
	if (!from)
		return HBM_OK;
	to = HBM_ARRAY(a, uint64_t, n);
	HBM_NEED(to);
	for (uint32_t i = 0; i < n; i++)
		to[i] = from[ids[i]];
	*ret = to;
	return HBM_OK;
}

static hbm_status pick_pieces(hbm_arena *a, const hbm_inst *in, const uint32_t *ids,
                              uint32_t tick, hbm_inst *sub)
{
	uint32_t total = 0, at = 0, *first, *group;
	hbm_piece *pieces;

	for (uint32_t i = 0; i < sub->n; i++)
		total += in->piece_first[ids[i] + 1] - in->piece_first[ids[i]];
	first = HBM_ARRAY(a, uint32_t, (size_t)sub->n + 1);
	pieces = HBM_ARRAY(a, hbm_piece, total);
	group = in->group ? HBM_ARRAY(a, uint32_t, total) : NULL;
	HBM_NEED(first && pieces && (group || !in->group));
	for (uint32_t i = 0; i < sub->n; i++) {
		first[i] = at;
		for (uint32_t j = in->piece_first[ids[i]];
		     j < in->piece_first[ids[i] + 1]; j++) {
			if (group)
				group[at] = in->group[j];
			pieces[at] = in->pieces[j];
			pieces[at].start -= tick;
			pieces[at++].end -= tick;
		}
	}
	first[sub->n] = at;
	sub->piece_first = first;
	sub->pieces = pieces;
	sub->group = group;
	return HBM_OK;
}

static hbm_status pick_lives(hbm_arena *a, const hbm_inst *in, const uint32_t *ids,
                             uint32_t *ret_tick, hbm_inst *sub)
{
	uint32_t *start = HBM_ARRAY(a, uint32_t, sub->n);
	uint32_t *end = HBM_ARRAY(a, uint32_t, sub->n);
	uint32_t tick = UINT32_MAX, last = 0;

	HBM_NEED(start && end);
	for (uint32_t i = 0; i < sub->n; i++) {
		start[i] = in->start[ids[i]];
		end[i] = in->end[ids[i]];
		tick = start[i] < tick ? start[i] : tick;
		last = end[i] > last ? end[i] : last;
	}
	for (uint32_t i = 0; i < sub->n; i++) {
		start[i] -= tick;
		end[i] -= tick;
	}
	sub->start = start;
	sub->end = end;
	sub->n_ticks = last - tick;
	*ret_tick = tick;
	return HBM_OK;
}

hbm_status hbm_part_cut(hbm_arena *a, const hbm_inst *in, const hbm_parts *ps,
                        uint32_t k, hbm_inst *ret)
{
	const uint32_t *ids = ps->items + ps->first[k];
	hbm_inst sub = {.n = ps->first[k + 1] - ps->first[k], .features = in->features};
	uint32_t tick, *group;

	HBM_TRY(pick_lives(a, in, ids, &tick, &sub));
	HBM_TRY(pick(a, in->size, ids, sub.n, &sub.size));
	HBM_TRY(pick(a, in->mod, ids, sub.n, &sub.mod));
	HBM_TRY(pick(a, in->rest, ids, sub.n, &sub.rest));
	HBM_TRY(pick(a, in->pin, ids, sub.n, &sub.pin));
	HBM_TRY(pick(a, in->hint, ids, sub.n, &sub.hint));
	if (in->pieces) {
		HBM_TRY(pick_pieces(a, in, ids, tick, &sub));
	} else if (in->group) {
		group = HBM_ARRAY(a, uint32_t, sub.n);
		HBM_NEED(group);
		for (uint32_t i = 0; i < sub.n; i++)
			group[i] = in->group[ids[i]];
		sub.group = group;
	}
	HBM_TRY(hbm_inst_bound(a, &sub));
	*ret = sub;
	return HBM_OK;
}
