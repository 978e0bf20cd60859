/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the checks in stages. A stage that needs what an earlier one refused does
 * not run: an error is reported once, where its cause is. */
#include "ir/validate.h"

#include "ir/check.h"

bool hbm_check_full(const hbm_checker *c)
{
	if (c->diags)
		return hbm_diags_full(c->diags);
	return c->n_errors >= HBM_MAX_ERRORS;
}

void hbm_check_failed(hbm_checker *c, hbm_status status)
{
	c->n_errors++;
	if (c->status == HBM_OK)
		c->status = status;
}

hbm_where hbm_check_tensor_at(const hbm_checker *c, hbm_tensor_id id)
{
	const hbm_tensor *t = &c->p->tensors.items[id];

	return hbm_at(c->p, t->line, t->col, hbm_sym_len(&c->p->syms, t->name));
}

hbm_where hbm_check_op_at(const hbm_checker *c, hbm_op_id id)
{
	const hbm_op *op = &c->p->ops.items[id];

	return hbm_at(c->p, op->line, op->col, 0);
}

hbm_where hbm_check_node_at(const hbm_checker *c, hbm_node_id id)
{
	const hbm_node *n = &c->p->nodes.items[id];

	return hbm_at(c->p, n->line, n->col, 0);
}

static hbm_status run_checks(hbm_checker *c)
{
	HBM_TRY(hbm_check_shape(c));
	if (c->status != HBM_OK)
		return HBM_OK;
	HBM_TRY(hbm_check_nodes(c));
	HBM_TRY(hbm_check_tensors(c));
	if (c->status != HBM_OK)
		return HBM_OK;
	HBM_TRY(hbm_check_ops(c));
	if (c->status != HBM_OK)
		return HBM_OK;
	HBM_TRY(hbm_check_storages(c));
	return hbm_check_flow(c);
}

hbm_status hbm_validate(hbm_program *p, hbm_diags *d)
{
	hbm_checker c = {.p = p, .diags = d};
	uint32_t first = d ? d->list.n : 0;
	hbm_status st;

	hbm_arena_init(&c.scratch, &p->arena->mem);
	st = run_checks(&c);
	hbm_arena_fini(&c.scratch);
	if (d)
		hbm_diags_sort(d, first);
	return st != HBM_OK ? st : c.status;
}
