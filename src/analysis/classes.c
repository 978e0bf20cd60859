/* SPDX-License-Identifier: Apache-2.0
 * classes: which tensors share bytes, and at which distance.
 *
 * Method     Weighted union-find. A view joins its base at its offset; the output
 *            of a mandatory in-place pair joins the input at distance 0.
 * Invariant  shift[t] is t's first byte relative to parent[t]'s first byte.
 * Cost       Near-linear in tensors and pairs. */
#include "analysis/internal.h"

#include <inttypes.h>

hbm_tensor_id hbm_class_of(hbm_classes *c, hbm_tensor_id t, int64_t *ret_shift)
{
	hbm_tensor_id root = t, next;
	int64_t total = 0;

	for (; c->parent[root] != root; root = c->parent[root])
		total += c->shift[root];
	*ret_shift = total;
	for (; c->parent[t] != root && t != root; t = next) {
		int64_t own = c->shift[t];
		next = c->parent[t];
		c->parent[t] = root;
		c->shift[t] = total;
		total -= own;
	}
	return root;
}

bool hbm_classes_join(hbm_classes *c, hbm_tensor_id a, hbm_tensor_id b, int64_t shift)
{
	int64_t sa, sb;
	hbm_tensor_id ra = hbm_class_of(c, a, &sa), rb = hbm_class_of(c, b, &sb);

	if (ra == rb)
		return sb - sa == shift;
	if (rb < ra) { /* the lower id leads, so that the result has one form */
		c->parent[ra] = rb;
		c->shift[ra] = sb - shift - sa;
	} else {
		c->parent[rb] = ra;
		c->shift[rb] = sa + shift - sb;
	}
	return true;
}

static hbm_status clash(const hbm_program *p, hbm_diags *d, hbm_tensor_id a,
                        hbm_tensor_id b)
{
	const hbm_tensor *t = &p->tensors.items[b];

	return hbm_fail(d, HBM_SEMANTIC, HBM_E_DEMAND, hbm_at(p, t->line, t->col, 0),
	                "'%s' would have to stand at two offsets of the storage of '%s'",
	                hbm_tensor_name(p, b), hbm_tensor_name(p, a));
}

static hbm_status join_op(hbm_classes *c, const hbm_program *p, hbm_diags *d,
                          const hbm_op *op)
{
	for (uint32_t i = 0; i < op->inplace.n; i++) {
		const hbm_inplace *in = &p->inplaces.items[op->inplace.first + i];
		const hbm_operand *r, *w;
		if (!in->must)
			continue;
		r = &p->operands.items[op->reads.first + in->read];
		w = &p->operands.items[op->writes.first + in->write];
		if (!hbm_classes_join(c, r->tensor, w->tensor, 0))
			return clash(p, d, r->tensor, w->tensor);
	}
	return HBM_OK;
}

hbm_status hbm_classes_init(hbm_arena *a, const hbm_program *p, hbm_diags *d,
                            hbm_classes *ret)
{
	hbm_classes c = {.n = p->tensors.n};

	HBM_NEED(c.parent = HBM_ARRAY(a, hbm_tensor_id, c.n));
	HBM_NEED(c.shift = HBM_ZARRAY(a, int64_t, c.n));
	for (uint32_t t = 0; t < c.n; t++)
		c.parent[t] = t;
	for (uint32_t t = 0; t < c.n; t++) {
		const hbm_tensor *x = &p->tensors.items[t];
		if (x->base != HBM_NONE &&
		    !hbm_classes_join(&c, x->base, t, (int64_t)x->offset))
			return clash(p, d, x->base, t);
	}
	for (uint32_t o = 0; o < p->ops.n; o++)
		HBM_TRY(join_op(&c, p, d, &p->ops.items[o]));
	*ret = c;
	return HBM_OK;
}
