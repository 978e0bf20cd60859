/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_TRACE_H
#define HBM_VERIFY_TRACE_H

/* What the two halves of the trace share: the abstract memory (trace_memory.c) and
 * the run over it (trace.c, where the method is told). */

#include "verify/facts.h"
#include "verify/ranges.h"

enum {
	HBM_TRACE_DEFINED = 0, /* space: bytes that may have been written so far */
	HBM_TRACE_SPREAD = 1,  /* space: bytes that several trips of a loop wrote */
	HBM_TRACE_SPACES = 2,  /* the first free one */
	HBM_TRACE_DIMS = 8,
};

typedef struct hbm_step {
	uint64_t bytes, trips;
} hbm_step;

/* Bytes [lo, lo + len), again every `coef` bytes of the loops around them and every
 * step of loops already left whose trips do not touch each other. */
typedef struct hbm_shape {
	uint64_t lo, len;
	uint64_t coef[HBM_MAX_DEPTH];  /* by level */
	hbm_step dims[HBM_TRACE_DIMS]; /* ascending */
	uint32_t n_dims;
	bool lost; /* more than we follow */
} hbm_shape;

/* Writes of one trip that move alike. */
typedef struct hbm_group {
	uint32_t space, next; /* next group of the level, HBM_NONE: last */
	uint32_t first, n;    /* in hbm_trace.words: coefficients, then dims */
} hbm_group;

/* An open loop. */
typedef struct hbm_level {
	hbm_node_id loop;
	uint64_t serial;
	uint32_t still;  /* space of the writes that move with nothing */
	uint32_t groups; /* the others, HBM_NONE: none */
} hbm_level;

typedef struct hbm_trace {
	hbm_facts *f;
	hbm_class *c;
	hbm_ranges mem;
	hbm_level levels[HBM_MAX_DEPTH];
	uint32_t depth;
	HBM_VEC(hbm_group) groups;
	HBM_VEC(uint64_t) words;
	hbm_map by_key;
	uint32_t spaces;
	uint64_t serial;
	uint32_t gaps; /* of the read at hand */
	bool always;   /* the class has bytes before the program runs */
} hbm_trace;

bool hbm_shape_moves(const hbm_shape *s, uint32_t depth);
/* End of all bytes the shape reaches while the levels below `depth` run: in the
 * trips that surely run (for a write) or that may run (for a read). */
uint64_t hbm_shape_reach(const hbm_trace *tr, const hbm_shape *s, uint32_t depth,
                         bool write);
/* Leaves level `d`: its coefficient becomes a step. */
void hbm_shape_fold(const hbm_trace *tr, hbm_shape *s, uint32_t d, bool write);

/* Space of what this trip of level `d` wrote that moves like `s`, HBM_NONE:
 * nothing. */
uint32_t hbm_trace_space(const hbm_trace *tr, uint32_t d, const hbm_shape *s);
/* This trip of level `d` has written the shape. */
hbm_status hbm_trace_record(hbm_trace *tr, uint32_t d,
                            const hbm_shape *s) HBM_MUST_USE;
/* How the writes of a group move; no bytes. */
void hbm_trace_moves(const hbm_trace *tr, const hbm_group *g, uint32_t d,
                     hbm_shape *ret);

#endif
