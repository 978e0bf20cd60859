/* SPDX-License-Identifier: Apache-2.0
 * Placing in a given order. Each item goes to the lowest, or the tightest, gap
 * that all of its life leaves free; a hint is taken when it is free and does not
 * raise the extent. Stops when the extent can no longer beat the answer.
 * O(n log n) for lives like those of programs. */
#include "pack/fit.h"

enum { MAX_GAPS = 16 }; /* gaps that HBM_FIT_TIGHTEST compares */

typedef struct fitter {
	const hbm_inst *in;
	hbm_index *ix;
	hbm_fit_rule rule;
	uint64_t top, cap;
	uint64_t *offset;
} fitter;

static hbm_status order_items(hbm_arena *scratch, const hbm_inst *in,
                              const uint64_t *key, uint32_t *ids)
{
	uint64_t *down;
	uint32_t n = 0;

	for (uint32_t i = 0; i < in->n; i++)
		if (in->pin && in->pin[i] != HBM_NO_OFFSET)
			ids[n++] = i;
	for (uint32_t i = 0; i < in->n; i++)
		if (!in->pin || in->pin[i] == HBM_NO_OFFSET)
			ids[n++] = i;
	if (!key)
		return HBM_OK;
	down = HBM_ARRAY(scratch, uint64_t, in->n);
	HBM_NEED(down);
	for (uint32_t i = 0; i < in->n; i++) {
		bool pinned = in->pin && in->pin[i] != HBM_NO_OFFSET;

		down[i] = pinned ? 0 : ~key[i];
	}
	return hbm_sort_ids(scratch, ids, in->n, down);
}

static uint64_t tightest(fitter *f, uint32_t i, uint64_t y)
{
	uint64_t best = y, best_room = hbm_index_room(f->ix, i, y);

	for (uint32_t k = 1; k < MAX_GAPS && best_room; k++) {
		uint64_t room = hbm_index_room(f->ix, i, y);

		if (room == HBM_NO_OFFSET)
			break;
		y = hbm_index_next(f->ix, i, y + room + 1);
		room = hbm_index_room(f->ix, i, y);
		if (room < best_room && y + f->in->size[i] <= f->cap) {
			best = y;
			best_room = room;
		}
	}
	return best;
}

static hbm_status choose(fitter *f, uint32_t i, uint64_t *ret)
{
	const hbm_inst *in = f->in;
	uint64_t least = in->lower_bound > f->top ? in->lower_bound : f->top;
	uint64_t y;

	if (in->pin && in->pin[i] != HBM_NO_OFFSET) {
		HBM_TRY(hbm_index_fit(f->ix, i, in->pin[i], &y));
		*ret = y == in->pin[i] ? y : HBM_NO_OFFSET;
		return HBM_OK;
	}
	if (in->hint && in->hint[i] != HBM_NO_OFFSET &&
	    in->hint[i] + in->size[i] <= least) {
		HBM_TRY(hbm_index_fit(f->ix, i, in->hint[i], &y));
		if (y == in->hint[i]) {
			*ret = y;
			return HBM_OK;
		}
	}
	HBM_TRY(hbm_index_fit(f->ix, i, 0, &y));
	*ret = f->rule == HBM_FIT_TIGHTEST ? tightest(f, i, y) : y;
	return HBM_OK;
}

/* Leaves *ret_all false when an item did not fit below the cap, or a pinned one met
 * another. */
static hbm_status run(hbm_pack_cx *cx, fitter *f, const uint32_t *ids, bool keep_going,
                      bool *ret_all)
{
	uint64_t looked = 0;

	*ret_all = false;
	for (uint32_t k = 0; k < f->in->n; k++) {
		uint32_t i = ids[k];
		uint64_t y, now;

		HBM_TRY(choose(f, i, &y));
		now = hbm_index_steps(f->ix);
		if (!hbm_spend(cx, now - looked) && !keep_going)
			return HBM_OK;
		looked = now;
		if (y == HBM_NO_OFFSET || y + f->in->size[i] > f->cap) {
			if (!keep_going)
				return HBM_OK;
			continue;
		}
		f->offset[i] = y;
		hbm_index_place(f->ix, i, y);
		f->top = y + f->in->size[i] > f->top ? y + f->in->size[i] : f->top;
	}
	*ret_all = true;
	return HBM_OK;
}

static hbm_status start(hbm_pack_cx *cx, const hbm_inst *in, const uint64_t *key,
                        fitter *f, uint32_t **ret_ids)
{
	uint32_t *ids = HBM_ARRAY(cx->scratch, uint32_t, in->n);

	HBM_NEED(ids);
	HBM_TRY(order_items(cx->scratch, in, key, ids));
	*ret_ids = ids;
	return hbm_index_new(cx->scratch, in, &f->ix);
}

hbm_status hbm_fit(hbm_pack_cx *cx, const hbm_inst *in, const uint64_t *key,
                   hbm_fit_rule rule, const char *by, hbm_answer *ans)
{
	fitter f = {in, NULL, rule, 0, ans->cap, NULL};
	uint32_t *ids;
	bool all;

	if (ans->extent != HBM_NO_OFFSET && ans->extent <= f.cap)
		f.cap = ans->extent - 1;
	f.offset = HBM_ARRAY(cx->scratch, uint64_t, in->n);
	HBM_NEED(f.offset);
	HBM_TRY(start(cx, in, key, &f, &ids));
	HBM_TRY(run(cx, &f, ids, false, &all));
	if (!all)
		return HBM_OK;
	for (uint32_t i = 0; i < in->n; i++)
		ans->offset[i] = f.offset[i];
	ans->extent = f.top;
	ans->by = by;
	return HBM_OK;
}

hbm_status hbm_fit_some(hbm_pack_cx *cx, const hbm_inst *in, const uint64_t *key,
                        hbm_fit_rule rule, uint64_t cap, uint64_t *offset)
{
	fitter f = {in, NULL, rule, 0, cap, offset};
	uint32_t *ids;
	bool all;

	for (uint32_t i = 0; i < in->n; i++)
		offset[i] = HBM_NO_OFFSET;
	HBM_TRY(start(cx, in, key, &f, &ids));
	return run(cx, &f, ids, true, &all);
}

hbm_status hbm_life_keys(hbm_arena *a, const hbm_inst *in, uint64_t **ret)
{
	uint64_t *key = HBM_ARRAY(a, uint64_t, in->n);

	HBM_NEED(key);
	for (uint32_t i = 0; i < in->n; i++)
		key[i] = in->end[i] - in->start[i];
	*ret = key;
	return HBM_OK;
}

hbm_status hbm_area_keys(hbm_arena *a, const hbm_inst *in, uint64_t **ret)
{
	uint64_t *key = HBM_ARRAY(a, uint64_t, in->n);

	HBM_NEED(key);
	for (uint32_t i = 0; i < in->n; i++)
		key[i] = hbm_mul_sat(in->size[i], in->end[i] - in->start[i]);
	*ret = key;
	return HBM_OK;
}

hbm_status hbm_end_keys(hbm_arena *a, const hbm_inst *in, uint64_t **ret)
{
	uint64_t *key = HBM_ARRAY(a, uint64_t, in->n);

	HBM_NEED(key);
	for (uint32_t i = 0; i < in->n; i++)
		key[i] = in->end[i];
	*ret = key;
	return HBM_OK;
}
