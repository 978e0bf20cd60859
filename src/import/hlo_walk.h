/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_HLO_WALK_H
#define HBM_IMPORT_HLO_WALK_H

/* What the walk over an HLO module's computations shares between its files. */

#include "import/hlo_flat.h"

/* One computation that is being walked. */
typedef struct hlo_frame {
	const hlo_comp *c;
	uint32_t *refs; /* values, by leaf of each instruction */
	uint32_t base;  /* leaf_nodes index of refs[0] */
	const uint32_t *const *args; /* by parameter: its leaves' values */
	uint32_t n_args;
	uint32_t depth;
} hlo_frame;

static inline const hlo_instr *hlo_instr_at(const hlo_flat *f, uint32_t i)
{
	return &f->m->instrs.items[i];
}

static inline const hlo_node *hlo_leaf_node(const hlo_flat *f, const hlo_instr *x,
                                            uint32_t leaf)
{
	return &f->m->nodes.items[f->m->leaf_nodes.items[x->leaves.first + leaf]];
}

static inline uint32_t *hlo_refs(const hlo_frame *fr, const hlo_instr *x)
{
	return fr->refs + (x->leaves.first - fr->base);
}

/* The leaves of operand k: *ret_n values. */
static inline const uint32_t *hlo_operand_refs(const hlo_flat *f, const hlo_frame *fr,
                                               const hlo_instr *x, uint32_t k,
                                               uint32_t *ret_n)
{
	const hlo_operand *o = &f->m->operands.items[x->operands.first + k];
	const hlo_instr *from = hlo_instr_at(f, o->instr);
	const hlo_node *n =
		&f->m->nodes.items[hlo_subshape(f->m, from->shape, o->path)];

	*ret_n = n->n_leaves;
	return hlo_refs(fr, from) + n->leaf;
}

static inline uint32_t hlo_operand_node(const hlo_flat *f, const hlo_instr *x,
                                        uint32_t k)
{
	const hlo_operand *o = &f->m->operands.items[x->operands.first + k];

	return hlo_subshape(f->m, hlo_instr_at(f, o->instr)->shape, o->path);
}

/* Leaf of a shape that a path picks. */
static inline uint32_t hlo_leaf_at(const hlo_flat *f, uint32_t shape, hbm_span path)
{
	uint32_t node = hlo_subshape(f->m, shape, path);

	if (node == HBM_NONE || f->m->nodes.items[node].kind != HLO_ARRAY)
		return HBM_NONE;
	return f->m->nodes.items[node].leaf;
}

static inline hlo_step *hlo_now(hlo_flat *f)
{
	return &f->steps.items[f->steps.n - 1];
}

/* The operands in whose bytes a result of the last step, instruction x, may stand. */
hbm_status hlo_add_pairs(hlo_flat *f, const hlo_frame *fr,
                         const hlo_instr *x) HBM_MUST_USE;

#endif
