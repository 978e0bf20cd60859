/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_INDUCTOR_BUILD_H
#define HBM_IMPORT_INDUCTOR_BUILD_H

/* Shared by the two files that make the program: tensors (inductor_tensor.c) and
 * ops (inductor_build.c). */

#include "import/inductor.h"

typedef struct hbm_ind_builder {
	hbm_ind_dump *dump;
	const hbm_ind_facts *f;
	hbm_program *p;
	hbm_sym *root;    /* name -> name of the bytes behind it */
	uint64_t *offset; /* in them */
	hbm_sym *stack;
	hbm_op_id *reader; /* name -> last op that reads it, plus one */
	uint8_t *sized;    /* 1: tensor has extents and strides of its own */
	uint32_t n_internal, n_unsized, n_guessed;
	hbm_sym unsized, guessed; /* first of each */
} hbm_ind_builder;

/* Tensors of all names that have memory, with views linked to their roots. */
hbm_status hbm_ind_add_tensors(hbm_ind_builder *b) HBM_MUST_USE;
/* A symbol of the program with the text of one of the dump; HBM_NONE: no memory. */
hbm_sym hbm_ind_copy_sym(hbm_ind_builder *b, hbm_sym sym);

static inline hbm_ind_name *hbm_ind_name_in(const hbm_ind_builder *b, hbm_sym sym)
{
	return &b->dump->names.items[sym];
}

#endif
