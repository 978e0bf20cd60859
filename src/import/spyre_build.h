/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_SPYRE_BUILD_H
#define HBM_IMPORT_SPYRE_BUILD_H

/* A program in the making from bundles. */

#include "import/spyre.h"

/* Bytes [lo, hi) of a space and the tensor that holds them. */
typedef struct hbm_spyre_piece {
	uint64_t lo, hi;
	hbm_tensor_id t;
} hbm_spyre_piece;

typedef HBM_VEC(hbm_spyre_piece) hbm_spyre_pieces;

typedef struct hbm_spyre_region { /* of a tensor, by its id */
	uint64_t lo, hi;
} hbm_spyre_region;

typedef struct hbm_spyre_builder {
	hbm_arena *a;
	hbm_diags *d;
	hbm_program *p;
	hbm_spyre_text text;
	const char *path;   /* of what is being read */
	uint32_t bundle;    /* number */
	hbm_node_id node;
	hbm_node_id open[HBM_MAX_DEPTH + 1];
	uint32_t depth;
	hbm_node_id *loops; /* number -> node */
	hbm_spyre_pieces pool, lx, fixed; /* fixed: segment 0 of absolute addresses */
	HBM_VEC(hbm_spyre_region) regions;
	HBM_VEC(hbm_tensor_id) args; /* of the bundle; HBM_NONE: not touched */
	HBM_VEC(uint64_t) arg_end;   /* bytes seen */
	const hbm_spyre_item *item;
	hbm_map runs;       /* per bundle: stem of a descriptor -> times it has run */
	char stem[128];     /* name of the op being added */
	uint32_t n_unions;
	hbm_sym missing;    /* a descriptor that is not there, or HBM_NONE */
} hbm_spyre_builder;

/* The first piece that ends above `lo`; v->n: there is none. */
uint32_t hbm_spyre_first_piece(const hbm_spyre_pieces *v, uint64_t lo);
/* Replaces what [lo, hi) holds. */
bool hbm_spyre_put_piece(hbm_arena *a, hbm_spyre_pieces *v, uint64_t lo, uint64_t hi,
                         hbm_tensor_id t) HBM_MUST_USE;
/* dir/name, NULL: out of memory. */
const char *hbm_spyre_join(hbm_arena *a, const char *dir, const char *name);
/* Adds the op of b->item; its descriptor lies in `dir`. */
hbm_status hbm_spyre_run_op(hbm_spyre_builder *b, const char *dir) HBM_MUST_USE;
/* Sizes and homes of the bundle's arguments; the pool must hold what lies in it. */
hbm_status hbm_spyre_finish(hbm_spyre_builder *b) HBM_MUST_USE;

#endif
