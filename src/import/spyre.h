/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_SPYRE_H
#define HBM_IMPORT_SPYRE_H

/* What the files of the torch-spyre bundle importer share. */

#include "base/file.h"
#include "import/importer.h"

/* Per trip of a loop (number in the bundle) an address advances by `bytes`. */
typedef struct hbm_spyre_step {
	uint32_t loop;
	uint64_t bytes;
} hbm_spyre_step;

enum { HBM_SPYRE_MAX_STEPS = 8 };

typedef enum hbm_spyre_space {
	HBM_SPYRE_NONE,
	HBM_SPYRE_CONST, /* a plain number */
	HBM_SPYRE_POOL,  /* bytes of the bundle's pool */
	HBM_SPYRE_FIXED, /* bytes of segment 0, by absolute address */
	HBM_SPYRE_ARG,   /* bytes of kernel argument `arg` */
	HBM_SPYRE_LX,
	HBM_SPYRE_LOOP,  /* a loop variable; `arg` is its loop, `at` its step */
} hbm_spyre_space;

/* An address, or another value of the text. */
typedef struct hbm_spyre_addr {
	hbm_spyre_space space;
	uint32_t arg;
	uint64_t at;
	uint64_t most;      /* ARG that is a dimension: its largest value, else 0 */
	hbm_spyre_step step[HBM_SPYRE_MAX_STEPS];
	uint32_t n_steps;
} hbm_spyre_addr;

/* One statement of the body, in order: a loop opens or closes, or an op runs. */
typedef struct hbm_spyre_item {
	enum { HBM_SPYRE_OPEN, HBM_SPYRE_CLOSE, HBM_SPYRE_RUN } kind;
	uint32_t loop;      /* OPEN, CLOSE */
	uint64_t trips;     /* OPEN; of a dimension: at its largest value */
	hbm_sym file;       /* RUN: the descriptor */
	hbm_span addrs;     /* RUN: in hbm_spyre_text.addrs, one for each symbol id */
	hbm_span ids;       /* RUN: in hbm_spyre_text.ids */
	uint32_t line;
} hbm_spyre_item;

/* bundle.mlir. */
typedef struct hbm_spyre_text {
	uint64_t pool;      /* bytes; 0: none */
	uint32_t pool_line;
	uint32_t n_args, n_loops;
	HBM_VEC(hbm_spyre_item) items;
	HBM_VEC(hbm_spyre_addr) addrs;
	HBM_VEC(int64_t) ids;
} hbm_spyre_text;

hbm_status hbm_spyre_read_text(hbm_arena *a, hbm_diags *d, hbm_syms *syms,
                               const char *path, hbm_bytes bytes,
                               hbm_spyre_text *ret) HBM_MUST_USE;

/* One operand of a descriptor. */
typedef struct hbm_spyre_operand {
	bool lx;             /* else HBM */
	bool read, write;
	HBM_VEC(int64_t) at; /* per core: an address, or a negative symbol id */
	uint64_t bytes;      /* of all cores; 0: not known */
	uint64_t core_bytes; /* of one core */
} hbm_spyre_operand;

/* sdsc_N.json. */
typedef struct hbm_spyre_op {
	const char *name;
	uint32_t cores;
	HBM_VEC(hbm_spyre_operand) operands;
} hbm_spyre_op;

hbm_status hbm_spyre_read_op(hbm_arena *a, hbm_diags *d, const char *path,
                             hbm_bytes bytes, hbm_spyre_op *ret) HBM_MUST_USE;

/* Bytes of one HBM segment: absolute addresses are a segment plus an offset. */
#define HBM_SPYRE_SEGMENT ((uint64_t)1 << 34)
/* Of a pool: what a program needs beside it comes from the same segment. */
#define HBM_SPYRE_MAX_POOL (HBM_SPYRE_SEGMENT - ((uint64_t)2 << 30))
/* Far above any hardware. */
enum { HBM_SPYRE_LAST_SEGMENT = 4095, HBM_SPYRE_MAX_CORES = 65536 };

#endif
