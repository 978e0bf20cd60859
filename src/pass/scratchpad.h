/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PASS_SCRATCHPAD_H
#define HBM_PASS_SCRATCHPAD_H

/* The parts of the scratchpad pass: which storages may live there, then where they
 * live, then the program that does it. */

#include "pass/pass.h"
#include "pass/traffic.h"

/* How a storage would get into the scratchpad. */
typedef enum hbm_lx_way {
	HBM_LX_VALUE,  /* an intermediate: its producer writes it there */
	HBM_LX_INPUT,  /* the caller's: a clone, filled once, read instead */
	HBM_LX_OUTPUT, /* a result: a clone, copied out once when complete */
} hbm_lx_way;

/* One storage of the program, with what the solver asks. Lives are ticks of the
 * program without clones. */
typedef struct hbm_lx_buffer {
	hbm_lx_way way;
	hbm_reason_id barred; /* NONE: it may live there */
	hbm_sym who;
	uint64_t figure[3];
	uint32_t n_figures;
	uint32_t start, end;
	bool from_loop, to_loop; /* a loop set start, end */
	bool accumulator; /* of a carried reduction: several ops may write it */
	uint32_t use_first, n_uses; /* in hbm_lx_model.uses */
	uint64_t size;   /* per core */
	uint64_t value;  /* HBM bytes saved */
	uint32_t cores;
	hbm_node_id clone_at; /* node before (input) or behind (output) which it stands */
} hbm_lx_buffer;

typedef struct hbm_lx_model {
	hbm_pass_cx *cx;
	hbm_arena *mem;
	hbm_analysis an;      /* without optional in-place pairs */
	hbm_lx_buffer *buffers; /* by storage of `an` */
	HBM_VEC(uint32_t) uses;
	uint32_t *parent_first; /* by buffer; n + 1 */
	HBM_VEC(uint32_t) parents;
	uint32_t *wild;       /* tick -> ops before it that may overwrite any LX byte */
	uint32_t *first_tick, *last_tick; /* per node, half open */
	uint32_t features;
	uint64_t capacity, align;
} hbm_lx_model;

enum { /* what may be done; --lx-features */
	HBM_LX_REDUCTIONS = 1 << 0,   /* results of reductions */
	HBM_LX_RESULTS = 1 << 1,      /* results of other ops */
	HBM_LX_IN_PLACE = 1 << 2,
	HBM_LX_INPUT_CLONES = 1 << 3,
	HBM_LX_OUTPUT_CLONES = 1 << 4,
};

/* Judges every storage and links in-place partners. */
hbm_status hbm_lx_model_make(hbm_lx_model *m) HBM_MUST_USE;
/* Records homes, writes the clones into the program and settles its in-place
 * pairs. `address` by buffer, HBM_NO_OFFSET: stays in HBM. */
hbm_status hbm_lx_commit(hbm_lx_model *m, const uint64_t *address) HBM_MUST_USE;

#endif
