/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_memory: shapes of accesses, and what the trips of open loops have written.
 *
 * Shapes that move alike keep their distance whatever the trips, so they are kept in
 * one group, with its own space of the range map, in which ordinary interval
 * arithmetic holds. Groups are found by a hash and compared in full. */
#include "verify/trace.h"

#include "base/ckd.h"

#include <string.h>

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static const hbm_node *loop_at(const hbm_trace *tr, uint32_t d)
{
	return &tr->f->p->nodes.items[tr->levels[d].loop];
}

/* Trips that surely run (for a write) or that may run (for a read). */
static uint64_t trips_at(const hbm_trace *tr, uint32_t d, bool write)
{
	uint64_t trips = loop_at(tr, d)->trips;

	return trips ? trips : write ? 2 : UINT64_MAX;
}

uint64_t hbm_shape_reach(const hbm_trace *tr, const hbm_shape *s, uint32_t depth,
                         bool write)
{
	uint64_t end = hbm_add_sat(s->lo, s->len);

	for (uint32_t i = 0; i < s->n_dims; i++)
		end = hbm_add_sat(end, hbm_mul_sat(s->dims[i].bytes,
		                                   s->dims[i].trips - 1));
	for (uint32_t d = 0; d < depth; d++)
		end = hbm_add_sat(end, hbm_mul_sat(s->coef[d],
		                                   trips_at(tr, d, write) - 1));
	return s->lost ? UINT64_MAX : end;
}

/* Takes the smallest steps into the range while their trips touch each other. */
static void settle(hbm_shape *s)
{
	uint32_t n = 0;

	while (n < s->n_dims && s->dims[n].bytes <= s->len) {
		s->len = hbm_add_sat(s->len, hbm_mul_sat(s->dims[n].bytes,
		                                         s->dims[n].trips - 1));
		n++;
	}
	memmove(s->dims, s->dims + n, (s->n_dims - n) * sizeof *s->dims);
	s->n_dims -= n;
}

void hbm_shape_fold(const hbm_trace *tr, hbm_shape *s, uint32_t d, bool write)
{
	hbm_step new = {s->coef[d], trips_at(tr, d, write)};
	uint32_t i = s->n_dims;

	s->coef[d] = 0;
	if (!new.bytes)
		return;
	if (s->n_dims == HBM_TRACE_DIMS) {
		s->lost = true;
		return;
	}
	for (; i && s->dims[i - 1].bytes > new.bytes; i--)
		s->dims[i] = s->dims[i - 1];
	s->dims[i] = new;
	s->n_dims++;
	settle(s);
}

/* ---- groups --------------------------------------------------------------- */

bool hbm_shape_moves(const hbm_shape *s, uint32_t depth)
{
	for (uint32_t d = 0; d < depth; d++)
		if (s->coef[d])
			return true;
	return false;
}

static uint64_t key_of(const hbm_trace *tr, uint32_t d, const hbm_shape *s)
{
	uint64_t h = mix(0x5bd1e995, tr->levels[d].serial);

	for (uint32_t i = 0; i <= d; i++)
		h = mix(h, s->coef[i]);
	for (uint32_t i = 0; i < s->n_dims; i++)
		h = mix(mix(h, s->dims[i].bytes), s->dims[i].trips);
	return h;
}

static bool group_is(const hbm_trace *tr, uint32_t i, uint32_t d, const hbm_shape *s)
{
	const hbm_group *g = &tr->groups.items[i];
	const uint64_t *w = tr->words.items + g->first;

	return i < tr->groups.n && g->n == d + 1 + 2 * s->n_dims &&
	       !memcmp(w, s->coef, (d + 1) * sizeof *w) &&
	       !memcmp(w + d + 1, s->dims, s->n_dims * sizeof *s->dims);
}

uint32_t hbm_trace_space(const hbm_trace *tr, uint32_t d, const hbm_shape *s)
{
	uint32_t i;

	if (!s->n_dims && !hbm_shape_moves(s, d + 1))
		return tr->levels[d].still;
	i = hbm_map_get(&tr->by_key, key_of(tr, d, s));
	return i != HBM_NONE && group_is(tr, i, d, s) ? tr->groups.items[i].space
	                                              : HBM_NONE;
}

static hbm_status group_make(hbm_trace *tr, uint32_t d, const hbm_shape *s)
{
	hbm_arena *a = tr->f->arena;
	hbm_group g = {.space = tr->spaces++, .next = tr->levels[d].groups,
	           .first = tr->words.n};

	for (uint32_t i = 0; i <= d; i++)
		HBM_NEED(HBM_PUSH(a, &tr->words, s->coef[i]));
	for (uint32_t i = 0; i < s->n_dims; i++) {
		HBM_NEED(HBM_PUSH(a, &tr->words, s->dims[i].bytes));
		HBM_NEED(HBM_PUSH(a, &tr->words, s->dims[i].trips));
	}
	g.n = tr->words.n - g.first;
	tr->levels[d].groups = tr->groups.n;
	HBM_NEED(hbm_map_set(&tr->by_key, key_of(tr, d, s), tr->groups.n));
	HBM_NEED(HBM_PUSH(a, &tr->groups, g));
	return HBM_OK;
}

hbm_status hbm_trace_record(hbm_trace *tr, uint32_t d, const hbm_shape *s)
{
	uint32_t space = s->lost ? HBM_NONE : hbm_trace_space(tr, d, s);

	if (s->lost)
		return HBM_OK;
	if (space == HBM_NONE) {
		space = tr->spaces;
		HBM_TRY(group_make(tr, d, s));
	}
	HBM_NEED(hbm_ranges_put(&tr->mem, space, s->lo, hbm_add_sat(s->lo, s->len),
	                        (hbm_cargo){0}));
	return HBM_OK;
}

void hbm_trace_moves(const hbm_trace *tr, const hbm_group *g, uint32_t d,
                     hbm_shape *ret)
{
	const uint64_t *w = tr->words.items + g->first;

	memset(ret, 0, sizeof *ret);
	memcpy(ret->coef, w, (d + 1) * sizeof *w);
	ret->n_dims = (g->n - (d + 1)) / 2;
	memcpy(ret->dims, w + d + 1, ret->n_dims * sizeof *ret->dims);
}
