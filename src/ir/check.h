/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_CHECK_H
#define HBM_IR_CHECK_H

/* What the files of the validator share (validate.c, check_*.c). */

#include "ir/attrs.h"

typedef struct hbm_checker {
	hbm_program *p;
	hbm_diags *diags;
	hbm_arena scratch;
	hbm_status status; /* of the first error */
	uint32_t n_errors, n_warnings;
	uint64_t *offset; /* tensor -> bytes behind its root, modulo 2^64 */
	uint64_t *size;   /* tensor -> bytes, HBM_NO_OFFSET: not known */
	/* Tensors that share bytes by declaration form a set: views with their
	 * base, in-place pairs that must. A tensor starts `shift` bytes behind
	 * the start of its `set` member (union-find, see check_storage.c). */
	hbm_tensor_id *set;
	uint64_t *shift;
	uint32_t *set_flags; /* of set leaders: union of HBM_T_* */
} hbm_checker;

/* True when no more errors will be listed: checks end then. */
bool hbm_check_full(const hbm_checker *c);
void hbm_check_failed(hbm_checker *c, hbm_status status);
hbm_where hbm_check_tensor_at(const hbm_checker *c, hbm_tensor_id t);
hbm_where hbm_check_op_at(const hbm_checker *c, hbm_op_id op);
hbm_where hbm_check_node_at(const hbm_checker *c, hbm_node_id n);

#define HBM_CHECK_FAIL(c, where, code, ...) \
	hbm_check_failed(                   \
		(c), hbm_fail((c)->diags, HBM_SEMANTIC, (code), (where), __VA_ARGS__))

/* Each lists what it finds; HBM_NOMEM is the only status they return. */

/* Ids and spans are in range: a fault of the program's maker, HBM_USAGE. */
hbm_status hbm_check_shape(hbm_checker *c) HBM_MUST_USE;
/* Names, nesting, attributes of nodes; names what has none. */
hbm_status hbm_check_nodes(hbm_checker *c) HBM_MUST_USE;
/* Names, extents, sizes, views, attributes of tensors. */
hbm_status hbm_check_tensors(hbm_checker *c) HBM_MUST_USE;
/* Windows, in-place pairs, attributes of ops. */
hbm_status hbm_check_ops(hbm_checker *c) HBM_MUST_USE;
/* Finds the sets; demands within one. */
hbm_status hbm_check_storages(hbm_checker *c) HBM_MUST_USE;
hbm_tensor_id hbm_check_leader(hbm_checker *c, hbm_tensor_id t);
/* Order of reads and writes; writes of what is the caller's. */
hbm_status hbm_check_flow(hbm_checker *c) HBM_MUST_USE;

#endif
