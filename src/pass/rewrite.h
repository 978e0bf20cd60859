/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PASS_REWRITE_H
#define HBM_PASS_REWRITE_H

/* Rewriting the node tree: a new list of nodes and ops is built beside the old one
 * and then takes its place. Tensors and operands keep their ids, nodes and ops
 * get new ones; whatever names a node (strides, homes) is brought along.
 *
 *     HBM_TRY(hbm_rewrite_begin(&w, scratch, p));
 *     ... hbm_rewrite_copy, hbm_rewrite_open, hbm_rewrite_op, ... in run order
 *     hbm_rewrite_finish(&w);
 */

#include "ir/program.h"

typedef struct hbm_rewrite {
	hbm_program *p;
	HBM_VEC(hbm_node) nodes;
	HBM_VEC(hbm_op) ops;
	hbm_node_id *moved; /* old node -> new node, HBM_NONE: gone */
	hbm_node_id *open;  /* open new nodes, outermost first */
	uint32_t depth;
	const bool *drop;   /* old nodes that copy_tree leaves out; NULL: none */
} hbm_rewrite;

hbm_status hbm_rewrite_begin(hbm_rewrite *w, hbm_arena *scratch,
                             hbm_program *p) HBM_MUST_USE;
/* Copies the old node without what is inside it, below the innermost open one.
 * A node that is no op is then open itself. */
bool hbm_rewrite_copy(hbm_rewrite *w, hbm_node_id old) HBM_MUST_USE;
/* Copies an old node with all inside it. */
bool hbm_rewrite_copy_tree(hbm_rewrite *w, hbm_node_id old) HBM_MUST_USE;
bool hbm_rewrite_open(hbm_rewrite *w, hbm_node_kind kind, hbm_sym name) HBM_MUST_USE;
void hbm_rewrite_close(hbm_rewrite *w);
/* A new op; its operand spans are in place already. */
bool hbm_rewrite_op(hbm_rewrite *w, hbm_op op) HBM_MUST_USE;
void hbm_rewrite_finish(hbm_rewrite *w);

/* A name that stands for nothing yet: `stem` with `suffix`, and a number where that
 * is taken. HBM_NONE: out of memory. */
hbm_sym hbm_fresh_name(hbm_program *p, const char *stem, const char *suffix);

#endif
