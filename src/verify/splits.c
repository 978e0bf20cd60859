/* SPDX-License-Identifier: Apache-2.0
 *
 * splits: where a plan divides tensors, whether the parts are the tensor.
 *
 * Parts are tensors of the program, each of one split, named <name>_VN_<k> in order.
 * Their extents along the divided dimension add up to the whole one's, the other
 * dimensions are those of part 0, sizes add up to the whole size and none is above
 * the limit. Nothing is left under the name of the whole. Cost: linear in parts. */
#include "verify/check.h"

#include "base/ckd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool named(const hbm_check *cx, const hbm_plan_split *s, const hbm_tensor *t,
                  uint32_t k)
{
	const char *whole = hbm_str_of(cx->p, s->name), *name = hbm_str_of(cx->p, t->name);
	size_t n = strlen(whole);
	char tail[24];

	snprintf(tail, sizeof tail, "_VN_%" PRIu32, k);
	return !strncmp(name, whole, n) && !strcmp(name + n, tail);
}

static const hbm_dim *dims_of(const hbm_check *cx, const hbm_tensor *t)
{
	return cx->p->dims.items + t->dims.first;
}

static bool same_but_for(const hbm_check *cx, const hbm_plan_split *s,
                         const hbm_tensor *a, const hbm_tensor *b)
{
	if (a->dims.n != b->dims.n || a->dtype != b->dtype || a->flags != b->flags)
		return false;
	for (uint32_t i = 0; i < a->dims.n; i++)
		if (i != s->dim && dims_of(cx, a)[i].value != dims_of(cx, b)[i].value)
			return false;
	return true;
}

/* Part k; NULL: it is none, or another split has it. */
static const hbm_tensor *part(const hbm_check *cx, const hbm_plan_split *s, uint32_t k,
                              bool *taken)
{
	hbm_tensor_id id = cx->plan->parts.items[s->parts.first + k];
	const hbm_tensor *t;

	if (id >= cx->p->tensors.n || taken[id])
		return NULL;
	t = &cx->p->tensors.items[id];
	taken[id] = true;
	return t->base == HBM_NONE && s->dim < t->dims.n && named(cx, s, t, k) ? t : NULL;
}

/* Names of the past may lead to a tensor that has another one now. */
static bool still_there(const hbm_check *cx, hbm_sym name)
{
	hbm_tensor_id id = hbm_find_tensor(cx->p, name);

	return id != HBM_NONE && cx->p->tensors.items[id].name == name;
}

static bool is_partition(const hbm_check *cx, const hbm_plan_split *s, bool *taken)
{
	const hbm_tensor *first = NULL;
	uint64_t bytes = 0, rows = 0;

	if (s->parts.n < 2 || s->parts.first > cx->plan->parts.n ||
	    s->parts.n > cx->plan->parts.n - s->parts.first || still_there(cx, s->name))
		return false;
	for (uint32_t k = 0; k < s->parts.n; k++) {
		const hbm_tensor *t = part(cx, s, k, taken);
		first = first ? first : t;
		if (!t || !t->size || t->size > s->limit || !same_but_for(cx, s, first, t))
			return false;
		bytes = hbm_add_sat(bytes, t->size);
		rows = hbm_add_sat(rows, dims_of(cx, t)[s->dim].value);
	}
	return bytes == s->size && rows == s->extent;
}

hbm_status hbm_check_splits(hbm_check *cx)
{
	bool *taken = HBM_ZARRAY(cx->a, bool, cx->p->tensors.n);

	HBM_NEED(taken);
	for (uint32_t i = 0; i < cx->plan->splits.n; i++) {
		const hbm_plan_split *s = &cx->plan->splits.items[i];
		if (!s->refused && !is_partition(cx, s, taken))
			HBM_FAULT(cx, HBM_NONE, "the parts of split tensor '%s' of %" PRIu64
			          " bytes are not that tensor, once and in order, each at most "
			          "%" PRIu64 " bytes", hbm_str_of(cx->p, s->name), s->size,
			          s->limit);
	}
	return HBM_OK;
}
