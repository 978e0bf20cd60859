/* SPDX-License-Identifier: Apache-2.0
 * inplace: joins an op's output with the input whose bytes it may take over.
 *
 * Legal when the input's storage dies at the op (also across trips), the
 * output's is born there, the op touches neither in another way, the output
 * fits, and nobody outside owns the input (donated inputs excepted). A reshape
 * (`keeps`) may also share with an input that lives on, when neither is written
 * again. Pairs are taken in run order; ranges of joined storages are kept up to
 * date, so chains a -> b -> c work in one walk. Cost: linear in operands. */
#include "analysis/internal.h"

/* State of a class, by its first storage id. */
typedef struct joined {
	hbm_storage s;
	hbm_storage_id into; /* itself, or the one it was joined with */
	uint64_t at;         /* its byte offset there */
} joined;

typedef struct walk {
	const hbm_program *p;
	const hbm_analysis *an;
	joined *of;
} walk;

static hbm_storage_id lead(const walk *w, hbm_tensor_id t, uint64_t *ret_offset)
{
	hbm_storage_id s = w->an->of[t];
	uint64_t offset = w->an->offset[t];

	while (w->of[s].into != s) {
		offset += w->of[s].at;
		s = w->of[s].into;
	}
	*ret_offset = offset;
	return s;
}

/* The op touches the two storages through this read and this write alone. */
static bool alone(const walk *w, const hbm_op *op, const hbm_inplace *in,
                  hbm_storage_id r, hbm_storage_id o)
{
	uint64_t offset;

	for (uint32_t i = 0; i < op->reads.n; i++) {
		hbm_tensor_id t = w->p->operands.items[op->reads.first + i].tensor;
		hbm_storage_id s = lead(w, t, &offset);
		if ((s == r && i != in->read) || s == o)
			return false;
	}
	for (uint32_t i = 0; i < op->writes.n; i++) {
		hbm_tensor_id t = w->p->operands.items[op->writes.first + i].tensor;
		hbm_storage_id s = lead(w, t, &offset);
		if ((s == o && i != in->write) || s == r)
			return false;
	}
	return true;
}

static bool owner_allows(const hbm_storage *r, const hbm_storage *o)
{
	uint32_t caller = r->flags & HBM_T_CALLER;
	bool donated = caller == HBM_T_INPUT && (r->flags & HBM_T_DONATED);

	if ((r->flags | o->flags) & (HBM_T_HOST | HBM_T_ZERO | HBM_T_DYNAMIC))
		return false; /* of unknown sizes no two are equal */
	if (o->flags & (HBM_T_CALLER & ~(uint32_t)HBM_T_OUTPUT))
		return false;
	return !caller || donated;
}

static bool same_bundle(const walk *w, const hbm_storage *r, const hbm_storage *o,
                        hbm_op_id op)
{
	bool caller = (r->flags | o->flags) & HBM_T_CALLER;
	bool lx = w->p->tensors.items[r->root].home.kind == HBM_HOME_LX &&
	          w->p->tensors.items[o->root].home.kind == HBM_HOME_LX;

	/* Scratchpad contents survive from one bundle to the next. */
	return caller || lx || w->an->bundle[r->start] == w->an->bundle[op];
}

/* Whole operands that do not move: the simple case, and the only one taken. */
static bool whole(const hbm_operand *a, const hbm_operand *b)
{
	return !a->offset && !a->len && !a->strides.n && !b->offset && !b->len &&
	       !b->strides.n;
}

static bool dies_here(const hbm_storage *r, const hbm_storage *o, hbm_op_id op)
{
	return r->end == op + 1 && !r->to_later && o->start == op && !o->from_earlier;
}

/* A reshape: both may live on while neither is written again. */
static bool shares_value(const hbm_storage *r, const hbm_storage *o, hbm_op_id op)
{
	return o->n_writes == 1 && r->n_writes == 1 && r->first_write < op &&
	       !r->to_later && !r->from_earlier && !o->from_earlier && !o->to_later &&
	       o->start == op;
}

static void join(walk *w, hbm_storage_id r, hbm_storage_id o, uint64_t at)
{
	hbm_storage *a = &w->of[r].s, *b = &w->of[o].s;

	w->of[o].into = r;
	w->of[o].at = at;
	if (b->end > a->end)
		a->end = b->end;
	a->to_later = b->to_later;
	a->n_writes += b->n_writes;
	a->flags |= b->flags;
	if (b->demand)
		a->demand = b->demand;
}

static bool try_pair(walk *w, hbm_classes *c, hbm_op_id id, const hbm_inplace *in)
{
	const hbm_op *op = &w->p->ops.items[id];
	const hbm_operand *ro = &w->p->operands.items[op->reads.first + in->read];
	const hbm_operand *wo = &w->p->operands.items[op->writes.first + in->write];
	uint64_t at_r, at_o;
	hbm_storage_id r = lead(w, ro->tensor, &at_r), o = lead(w, wo->tensor, &at_o);
	const hbm_storage *rs = &w->of[r].s, *os = &w->of[o].s;
	const hbm_tensor *read = &w->p->tensors.items[ro->tensor];

	if (w->p->tensors.items[wo->tensor].size > read->size)
		return false; /* what is read has not all the bytes, though its base may */
	if (r == o || at_o || !whole(ro, wo) || os->size > rs->size - at_r ||
	    os->advance != 1 || rs->advance != 1 || os->pin != HBM_NO_OFFSET ||
	    at_r % os->align || (os->demand && rs->demand && os->demand != rs->demand))
		return false;
	if (!owner_allows(rs, os) || !alone(w, op, in, r, o) || !same_bundle(w, rs, os, id))
		return false;
	if (!dies_here(rs, os, id) && !(in->keeps && shares_value(rs, os, id)))
		return false;
	if (!hbm_classes_join(c, ro->tensor, wo->tensor, 0))
		return false;
	join(w, r, o, at_r);
	return true;
}

hbm_status hbm_inplace_join(hbm_analysis *an, const hbm_program *p, hbm_classes *c)
{
	walk w = {.p = p, .an = an};

	HBM_NEED(w.of = HBM_ARRAY(an->arena, joined, an->storages.n));
	for (uint32_t s = 0; s < an->storages.n; s++)
		w.of[s] = (joined){an->storages.items[s], s, 0};
	for (uint32_t o = 0; o < p->ops.n; o++) {
		const hbm_op *op = &p->ops.items[o];
		for (uint32_t i = 0; i < op->inplace.n; i++) {
			const hbm_inplace *in = &p->inplaces.items[op->inplace.first + i];
			if (!in->must)
				try_pair(&w, c, o, in);
		}
	}
	return HBM_OK;
}
