/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that share bytes by declaration, and demands on them.
 *
 * Union-find with distances: each tensor knows how many bytes it starts behind
 * its set member (modulo 2^64), so a contradiction is seen when two members of
 * one set are joined again at another distance. Near linear. */
#include "ir/check.h"

#include <inttypes.h>

/* Leader of t and how many bytes t starts behind it. Halves the path. */
static hbm_tensor_id find(hbm_checker *c, hbm_tensor_id t, uint64_t *ret_shift)
{
	*ret_shift = 0;
	while (c->set[t] != t) {
		hbm_tensor_id up = c->set[t];
		if (c->set[up] != up) {
			c->shift[t] += c->shift[up];
			c->set[t] = c->set[up];
		}
		*ret_shift += c->shift[t];
		t = c->set[t];
	}
	return t;
}

hbm_tensor_id hbm_check_leader(hbm_checker *c, hbm_tensor_id t)
{
	uint64_t shift;

	return find(c, t, &shift);
}

/* t starts `by` bytes behind u; false: it already stands elsewhere. */
static bool join(hbm_checker *c, uint32_t *weight, hbm_tensor_id t, hbm_tensor_id u,
                 uint64_t by)
{
	uint64_t st, su;
	hbm_tensor_id lt = find(c, t, &st), lu = find(c, u, &su);
	uint64_t gap = su + by - st; /* start of lt behind lu */

	if (lt == lu)
		return gap == 0;
	if (weight[lt] > weight[lu]) {
		hbm_tensor_id swap = lt;
		lt = lu;
		lu = swap;
		gap = 0 - gap;
	}
	c->set[lt] = lu;
	c->shift[lt] = gap;
	weight[lu] += weight[lt];
	return true;
}

static void join_pair(hbm_checker *c, uint32_t *weight, hbm_op_id id,
                      const hbm_inplace *pair)
{
	const hbm_op *op = &c->p->ops.items[id];
	hbm_tensor_id w = c->p->operands.items[op->writes.first + pair->write].tensor;
	hbm_tensor_id r = c->p->operands.items[op->reads.first + pair->read].tensor;

	if (join(c, weight, w, r, 0))
		return;
	HBM_CHECK_FAIL(
		c, hbm_check_op_at(c, id), HBM_E_INPLACE,
		"'%s' must start where '%s' does, but both stand elsewhere in one "
		"storage",
		hbm_tensor_name(c->p, w), hbm_tensor_name(c->p, r));
}

static hbm_status make_sets(hbm_checker *c)
{
	const hbm_program *p = c->p;
	uint32_t n = p->tensors.n;
	uint32_t *weight = HBM_ARRAY(&c->scratch, uint32_t, n);

	c->set = HBM_ARRAY(&c->scratch, hbm_tensor_id, n);
	c->shift = HBM_ZARRAY(&c->scratch, uint64_t, n);
	c->set_flags = HBM_ZARRAY(&c->scratch, uint32_t, n);
	HBM_NEED(weight && c->set && c->shift && c->set_flags);
	for (uint32_t i = 0; i < n; i++) {
		c->set[i] = i;
		weight[i] = 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		const hbm_tensor *t = &p->tensors.items[i];
		if (t->base != HBM_NONE)
			(void)join(c, weight, i, t->base, t->offset);
	}
	for (uint32_t i = 0; i < p->ops.n && !hbm_check_full(c); i++) {
		const hbm_op *op = &p->ops.items[i];
		for (uint32_t k = 0; k < op->inplace.n; k++) {
			const hbm_inplace *pair =
				&p->inplaces.items[op->inplace.first + k];
			if (pair->must)
				join_pair(c, weight, i, pair);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		c->set_flags[hbm_check_leader(c, i)] |= p->tensors.items[i].flags;
	return HBM_OK;
}

/* ---- demands ------------------------------------------------------------- */

/* The first tensor of each set that demands something, HBM_NONE: none. */
typedef struct first_of {
	hbm_tensor_id *demand, *pin, *class_, *caller;
} first_of;

static void note_other(hbm_checker *c, hbm_tensor_id other)
{
	hbm_note(c->diags, hbm_check_tensor_at(c, other), "'%s' is declared here",
	         hbm_tensor_name(c->p, other));
}

/* i demands a tier for bytes that live elsewhere because of `owner`. */
static void not_ours(hbm_checker *c, hbm_tensor_id i, hbm_tensor_id owner)
{
	const hbm_tensor *t = &c->p->tensors.items[i];
	const char *place = c->p->tensors.items[owner].flags & HBM_T_HOST
	                            ? "in host memory"
	                            : "where the caller puts it";

	if (owner == i) {
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_DEMAND,
		               "'%s' demands home %s, but lives %s",
		               hbm_tensor_name(c->p, i), hbm_home_kind_name(t->demand),
		               place);
		return;
	}
	HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_DEMAND,
	               "'%s' demands home %s, but shares its bytes with '%s', which "
	               "lives %s",
	               hbm_tensor_name(c->p, i), hbm_home_kind_name(t->demand),
	               hbm_tensor_name(c->p, owner), place);
	note_other(c, owner);
}

static void check_demand(hbm_checker *c, const first_of *f, hbm_tensor_id i)
{
	const hbm_program *p = c->p;
	const hbm_tensor *t = &p->tensors.items[i];
	hbm_tensor_id lead = hbm_check_leader(c, i), o = f->demand[lead];
	bool fast = t->demand == HBM_HOME_LX || t->demand == HBM_HOME_POOL;

	if (t->demand == HBM_HOME_NONE)
		return;
	if (o == HBM_NONE) {
		f->demand[lead] = i;
	} else if (p->tensors.items[o].demand != t->demand) {
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_DEMAND,
		               "'%s' demands home %s, but shares its bytes with '%s', "
		               "which demands %s",
		               hbm_tensor_name(p, i), hbm_home_kind_name(t->demand),
		               hbm_tensor_name(p, o),
		               hbm_home_kind_name(p->tensors.items[o].demand));
		note_other(c, o);
		return;
	}
	if (fast && f->caller[lead] != HBM_NONE)
		not_ours(c, i, f->caller[lead]);
}

static void check_pin(hbm_checker *c, const first_of *f, hbm_tensor_id i)
{
	const hbm_tensor *t = &c->p->tensors.items[i];
	uint64_t shift, other_shift;
	hbm_tensor_id lead = find(c, i, &shift), o = f->pin[lead];

	if (t->pin == HBM_NO_OFFSET)
		return;
	if (o == HBM_NONE) {
		f->pin[lead] = i;
		return;
	}
	find(c, o, &other_shift);
	if (t->pin - shift == c->p->tensors.items[o].pin - other_shift)
		return;
	HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_DEMAND,
	               "'%s' is pinned at %" PRIu64 ", but shares its bytes with '%s', "
	               "whose pin at %" PRIu64 " puts it at %" PRIu64,
	               hbm_tensor_name(c->p, i), t->pin, hbm_tensor_name(c->p, o),
	               c->p->tensors.items[o].pin,
	               c->p->tensors.items[o].pin - other_shift + shift);
	note_other(c, o);
}

static hbm_sym class_of(const hbm_program *p, hbm_tensor_id t)
{
	const hbm_attr *a = hbm_attr_find(p, p->tensors.items[t].attrs, "class");

	return a && a->n ? p->values.items[a->first].str : 0;
}

static void check_class(hbm_checker *c, const first_of *f, hbm_tensor_id i)
{
	hbm_tensor_id lead = hbm_check_leader(c, i), o = f->class_[lead];
	hbm_sym mine = class_of(c->p, i);

	if (!mine)
		return;
	if (o == HBM_NONE) {
		f->class_[lead] = i;
	} else if (class_of(c->p, o) != mine) {
		HBM_CHECK_FAIL(c, hbm_check_tensor_at(c, i), HBM_E_DEMAND,
		               "'%s' is of memory class %s, but shares its bytes with "
		               "'%s' of class %s",
		               hbm_tensor_name(c->p, i), hbm_str_of(c->p, mine),
		               hbm_tensor_name(c->p, o),
		               hbm_str_of(c->p, class_of(c->p, o)));
		note_other(c, o);
	}
}

static hbm_status start_first(hbm_checker *c, first_of *f)
{
	uint32_t n = c->p->tensors.n;
	hbm_tensor_id *all = HBM_ARRAY(&c->scratch, hbm_tensor_id, (size_t)n * 4);

	HBM_NEED(all);
	for (size_t i = 0; i < (size_t)n * 4; i++)
		all[i] = HBM_NONE;
	*f = (first_of){all, all + n, all + 2 * (size_t)n, all + 3 * (size_t)n};
	for (uint32_t i = 0; i < n; i++) {
		hbm_tensor_id lead = hbm_check_leader(c, i);
		if (c->p->tensors.items[i].flags & (HBM_T_CALLER | HBM_T_HOST) &&
		    f->caller[lead] == HBM_NONE)
			f->caller[lead] = i;
	}
	return HBM_OK;
}

hbm_status hbm_check_storages(hbm_checker *c)
{
	first_of f;

	HBM_TRY(make_sets(c));
	HBM_TRY(start_first(c, &f));
	for (uint32_t i = 0; i < c->p->tensors.n && !hbm_check_full(c); i++) {
		check_demand(c, &f, i);
		check_pin(c, &f, i);
		check_class(c, &f, i);
	}
	return HBM_OK;
}
