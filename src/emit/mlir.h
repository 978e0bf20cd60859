/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_EMIT_MLIR_H
#define HBM_EMIT_MLIR_H

/* One bundle as a kernel function: the addresses its ops use, collected before a
 * word is written. */

#include "base/out.h"
#include "plan/plan.h"

typedef enum hbm_mlir_kind {
	HBM_MLIR_ARG,   /* start of a kernel argument */
	HBM_MLIR_SLICE, /* bytes into an argument: of a view or window */
	HBM_MLIR_CORE,  /* bytes into an argument or slice: the block of a core */
	HBM_MLIR_POOL,  /* bytes into the pool */
} hbm_mlir_kind;

/* One address; equal ones are one symbol in the whole bundle. */
typedef struct hbm_mlir_symbol {
	hbm_mlir_kind kind;
	uint32_t of;    /* ARG: its number; SLICE, CORE: the symbol it adds to */
	uint64_t bytes; /* added; 0 for ARG */
	uint32_t next;  /* in its chain of the lookup map */
} hbm_mlir_symbol;

/* Byte strides of an address over the loops around it, outermost first. */
typedef struct hbm_mlir_map {
	hbm_span strides; /* in hbm_mlir_bundle.strides */
	uint32_t next;
} hbm_mlir_map;

/* One address that an op gets. */
typedef struct hbm_mlir_use {
	uint32_t symbol;
	uint32_t map;     /* HBM_NONE: it does not advance */
	hbm_span loops;   /* in hbm_mlir_bundle.loops: those that the map takes */
} hbm_mlir_use;

typedef struct hbm_mlir_bundle {
	const hbm_plan *plan;
	const hbm_program *p;
	hbm_arena *a;
	hbm_diags *diags;
	const uint64_t *place; /* tensor -> its byte in its storage */
	hbm_node_id node;
	uint64_t pool;         /* extent; 0: no pool */
	bool uses_pool;
	uint32_t n_args;
	HBM_VEC(hbm_mlir_symbol) symbols;
	HBM_VEC(hbm_mlir_map) maps;
	HBM_VEC(uint64_t) strides;
	HBM_VEC(hbm_mlir_use) uses;
	HBM_VEC(uint32_t) loops;  /* numbers of loops */
	hbm_span *of_op;          /* op - first op -> its uses */
	hbm_op_id first_op, n_ops;
	uint32_t *loop_number;    /* node - bundle node -> number of the loop */
	uint32_t n_loops;
	hbm_map symbol_map, map_map, arg_map, use_map;
} hbm_mlir_bundle;

/* Collects. HBM_UNSUPPORTED: something in the bundle has no code. */
hbm_status hbm_mlir_collect(hbm_mlir_bundle *b) HBM_MUST_USE;
/* Writes the module; `generic`: with the dialect's ops in generic form. */
void hbm_mlir_write(const hbm_mlir_bundle *b, bool generic, hbm_out *o);

#endif
