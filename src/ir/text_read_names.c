/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are declared behind their first use, and what is said of those that
 * are not declared at all. */
#include "ir/text_in.h"

#include <string.h>

hbm_status hbm_read_fix(hbm_reader *r, hbm_fix_kind kind, uint32_t index, hbm_sym name,
                        const hbm_token *at)
{
	hbm_fix f = {kind, index, name, at->line, at->col};

	HBM_NEED(HBM_PUSH(r->p->arena, &r->fixes, f));
	return HBM_OK;
}

/* Declared name that is nearest; the work is bounded whatever the program. */
static const char *nearest_tensor(const hbm_program *p, const char *name)
{
	uint64_t budget = 1 << 20;
	size_t n = strlen(name);
	const char *best = NULL;
	uint32_t limit = n > 2 ? 2 : 1;

	for (uint32_t i = 0; i < p->tensors.n && budget; i++) {
		hbm_sym sym = p->tensors.items[i].name;
		size_t m = hbm_sym_len(&p->syms, sym);
		uint32_t d = limit + 1;
		budget--;
		if (m + limit >= n && m <= n + limit && budget > n * m) {
			d = hbm_edit_distance(name, hbm_str_of(p, sym), limit);
			budget -= n * m;
		}
		if (d > limit || d >= n)
			continue;
		best = hbm_str_of(p, sym);
		limit = d ? d - 1 : 0;
	}
	return best;
}

static hbm_status unknown_name(hbm_reader *r, const hbm_fix *f)
{
	const char *name = hbm_str_of(r->p, f->name), *near = NULL;
	bool bundle = f->kind == HBM_FIX_HOME;
	hbm_where at = hbm_at(r->p, f->line, f->col, hbm_sym_len(&r->p->syms, f->name));
	hbm_status st = hbm_fail(r->lx.diags, HBM_SEMANTIC, HBM_E_UNKNOWN_NAME, at,
	                         "unknown %s '%s'", bundle ? "bundle" : "tensor", name);

	if (!bundle && r->lx.diags)
		near = nearest_tensor(r->p, name);
	if (near)
		hbm_note(r->lx.diags, HBM_NOWHERE, "did you mean '%s'?", near);
	return hbm_lex_failed(&r->lx, st);
}

static hbm_status map_bundles(const hbm_program *p, hbm_map *ret)
{
	hbm_map_init(ret, p->arena);
	for (uint32_t i = 0; i < p->nodes.n; i++) {
		const hbm_node *n = &p->nodes.items[i];
		if (n->kind == HBM_NODE_BUNDLE && hbm_map_get(ret, n->name) == HBM_NONE)
			HBM_NEED(hbm_map_set(ret, n->name, i));
	}
	return HBM_OK;
}

static void apply_fix(hbm_program *p, const hbm_fix *f, uint32_t id)
{
	switch (f->kind) {
	case HBM_FIX_BASE:
		p->tensors.items[f->index].base = id;
		break;
	case HBM_FIX_HOME:
		p->tensors.items[f->index].home.bundle = id;
		break;
	case HBM_FIX_WITH:
		p->tensors.items[f->index].home.with = id + 1;
		break;
	case HBM_FIX_OPERAND:
		p->operands.items[f->index].tensor = id;
		break;
	case HBM_FIX_ACC:
		p->reductions.items[f->index].acc = id;
		break;
	}
}

hbm_status hbm_read_resolve(hbm_reader *r)
{
	hbm_map bundles;

	HBM_TRY(map_bundles(r->p, &bundles));
	for (uint32_t i = 0; i < r->fixes.n && !hbm_lex_full(&r->lx); i++) {
		const hbm_fix *f = &r->fixes.items[i];
		uint32_t id = f->kind == HBM_FIX_HOME ? hbm_map_get(&bundles, f->name)
		                                      : hbm_find_tensor(r->p, f->name);
		if (id == HBM_NONE)
			(void)unknown_name(r, f);
		else
			apply_fix(r->p, f, id);
	}
	return HBM_OK;
}
