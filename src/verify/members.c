/* SPDX-License-Identifier: Apache-2.0
 *
 * members: how the plan's storages and the program's classes fit together. */
#include "verify/check.h"

#include "base/ckd.h"

#include <inttypes.h>

hbm_where hbm_check_where(const hbm_check *cx, hbm_tensor_id t)
{
	const hbm_tensor *x;

	if (!cx->d || t >= cx->p->tensors.n || hbm_diags_full(cx->d))
		return HBM_NOWHERE;
	x = &cx->p->tensors.items[t];
	return hbm_at(cx->p, x->line, x->col, 0);
}

const char *hbm_check_name(const hbm_check *cx, uint32_t storage)
{
	return hbm_tensor_name(cx->p, cx->plan->storages.items[storage].root);
}

const char *hbm_check_op(const hbm_check *cx, uint32_t tick)
{
	return tick < cx->p->ops.n ? hbm_op_name(cx->p, tick) : "?";
}

/* The plan may come from a file: nothing in it is taken on trust. */
static bool spans_hold(hbm_check *cx)
{
	const hbm_plan *plan = cx->plan;

	for (uint32_t s = 0; s < plan->storages.n; s++) {
		const hbm_plan_storage *x = &plan->storages.items[s];
		if (x->root >= cx->p->tensors.n ||
		    (uint64_t)x->members.first + x->members.n > plan->members.n) {
			HBM_FAULT(cx, HBM_NONE, "storage %u of the plan is malformed", s);
			return false;
		}
	}
	for (uint32_t i = 0; i < plan->members.n; i++)
		if (plan->members.items[i].tensor >= cx->p->tensors.n) {
			HBM_FAULT(cx, HBM_NONE, "member %u of the plan is no tensor", i);
			return false;
		}
	return true;
}

/* Notes where each tensor lies. */
static void place_tensors(hbm_check *cx, uint32_t *storage, uint64_t *offset)
{
	const hbm_plan *plan = cx->plan;

	for (uint32_t s = 0; s < plan->storages.n; s++) {
		const hbm_plan_storage *x = &plan->storages.items[s];
		for (uint32_t i = 0; i < x->members.n; i++) {
			const hbm_plan_member *m =
				&plan->members.items[x->members.first + i];
			if (storage[m->tensor] != HBM_NONE)
				HBM_FAULT(cx, m->tensor,
				          "tensor '%s' is in two storages, those of '%s' "
				          "and '%s'", hbm_tensor_name(cx->p, m->tensor),
				          hbm_check_name(cx, storage[m->tensor]),
				          hbm_check_name(cx, s));
			storage[m->tensor] = s;
			offset[m->tensor] = m->offset;
		}
	}
}

static void check_placed(hbm_check *cx, const uint32_t *storage)
{
	for (uint32_t t = 0; t < cx->p->tensors.n; t++) {
		const char *name = hbm_tensor_name(cx->p, t);
		if (storage[t] == HBM_NONE)
			HBM_FAULT(cx, t, "tensor '%s' is in no storage of the plan", name);
		else if (cx->plan->of_tensor && cx->plan->of_tensor[t] != storage[t])
			HBM_FAULT(cx, t, "tensor '%s' is listed under the wrong storage",
			          name);
	}
	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		hbm_tensor_id root = cx->plan->storages.items[s].root;
		if (storage[root] != s)
			HBM_FAULT(cx, root, "a storage bears the name of '%s', which is not "
			          "in it", hbm_tensor_name(cx->p, root));
	}
}

/* Tensors that must share bytes are in one storage, at the right distances. */
static void place_classes(hbm_check *cx, const uint32_t *storage,
                          const uint64_t *offset)
{
	const hbm_facts *f = &cx->f;

	for (uint32_t c = 0; c < f->classes.n; c++) {
		const hbm_tensor_id *m = f->members + f->classes.items[c].members.first;
		uint32_t n = f->classes.items[c].members.n;
		cx->storage_of[c] = storage[m[0]];
		cx->at[c] = offset[m[0]] - f->offset[m[0]];
		if (offset[m[0]] < f->offset[m[0]])
			HBM_FAULT(cx, m[0], "tensor '%s' is at byte %" PRIu64 " of its "
			          "storage, before the first byte of what it is part of",
			          hbm_tensor_name(cx->p, m[0]), offset[m[0]]);
		for (uint32_t i = 1; i < n; i++) {
			const char *a = hbm_tensor_name(cx->p, m[0]);
			const char *b = hbm_tensor_name(cx->p, m[i]);
			if (storage[m[i]] != storage[m[0]])
				HBM_FAULT(cx, m[i], "'%s' and '%s' must share bytes, but the "
				          "plan puts them in two storages", a, b);
			else if (offset[m[i]] - f->offset[m[i]] != cx->at[c])
				HBM_FAULT(cx, m[i], "'%s' is at byte %" PRIu64 " of its "
				          "storage; with '%s' at %" PRIu64 " it must be at "
				          "%" PRIu64, b, offset[m[i]], a, offset[m[0]],
				          cx->at[c] + f->offset[m[i]]);
		}
	}
}

static hbm_status list_classes(hbm_check *cx)
{
	uint32_t n = cx->f.classes.n, at = 0;

	HBM_NEED(cx->classes = HBM_ARRAY(cx->a, uint32_t, n));
	for (uint32_t c = 0; c < n; c++)
		cx->own[cx->storage_of[c]].classes.n++;
	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		cx->own[s].classes.first = at;
		at += cx->own[s].classes.n;
		cx->own[s].classes.n = 0;
	}
	for (uint32_t c = 0; c < n; c++) {
		hbm_span *span = &cx->own[cx->storage_of[c]].classes;
		cx->classes[span->first + span->n++] = c;
	}
	return HBM_OK;
}

/* Size, flags and life of each storage, from its classes. */
static void sum_up(hbm_check *cx)
{
	uint64_t granule = hbm_target_num(cx->t, HBM_KEY_HBM_GRANULE, 1);

	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		hbm_own *o = &cx->own[s];
		o->start = UINT32_MAX;
		for (uint32_t i = 0; i < o->classes.n; i++) {
			uint32_t id = cx->classes[o->classes.first + i];
			const hbm_class *c = &cx->f.classes.items[id];
			uint64_t end = hbm_add_sat(cx->at[id], c->size);
			o->size = end > o->size ? end : o->size;
			o->flags |= c->flags;
			if (!hbm_class_touched(c))
				continue;
			o->start = c->start < o->start ? c->start : o->start;
			o->end = c->end > o->end ? c->end : o->end;
		}
		if (o->start > o->end)
			o->start = o->end = 0;
		if (!hbm_align_up(o->size, granule ? granule : 1, &o->reserve))
			o->reserve = o->size;
	}
}

hbm_status hbm_check_members(hbm_check *cx)
{
	uint32_t n = cx->p->tensors.n;
	uint32_t *storage = HBM_ARRAY(cx->a, uint32_t, n);
	uint64_t *offset = HBM_ARRAY(cx->a, uint64_t, n);

	HBM_NEED(storage && offset);
	for (uint32_t t = 0; t < n; t++)
		storage[t] = HBM_NONE;
	if (!spans_hold(cx))
		return HBM_VERIFY;
	HBM_TRY(hbm_facts_collect(cx->a, cx->p, cx->d, &cx->f));
	HBM_TRY(hbm_facts_trace(&cx->f));
	place_tensors(cx, storage, offset);
	check_placed(cx, storage);
	HBM_NEED(cx->own = HBM_ZARRAY(cx->a, hbm_own, cx->plan->storages.n));
	HBM_NEED(cx->storage_of = HBM_ARRAY(cx->a, uint32_t, cx->f.classes.n));
	HBM_NEED(cx->at = HBM_ARRAY(cx->a, uint64_t, cx->f.classes.n));
	if (cx->n_faults)
		return HBM_VERIFY;
	place_classes(cx, storage, offset);
	if (cx->n_faults)
		return HBM_VERIFY;
	HBM_TRY(list_classes(cx));
	sum_up(cx);
	return HBM_OK;
}
