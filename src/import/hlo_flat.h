/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_HLO_FLAT_H
#define HBM_IMPORT_HLO_FLAT_H

/* The entry computation with everything it calls written out in run order.
 *
 * A *value* is one array that one instruction (or parameter, or loop state) gives;
 * tuples, bitcasts and the like only hand values on. A *step* is one tick. Steps
 * hand values over at borders: a *move* at the start of a loop (initial value to
 * state), at its end (the body's result to the state), at the end of a branch and
 * of the program. A move costs nothing where both ends share bytes; else it becomes
 * a copy. */

#include "import/hlo.h"

enum {
	HLO_V_PARAM = 1 << 0,    /* the caller's argument */
	HLO_V_CONST = 1 << 1,
	HLO_V_READONLY = 1 << 2, /* nothing may be written to these bytes */
	HLO_V_DONATED = 1 << 3,
	HLO_V_OUTPUT = 1 << 4,   /* leaves the program */
	HLO_V_HOST = 1 << 5,     /* in host memory */
	HLO_V_STATE = 1 << 6,    /* of a loop, branch or aliased parameter */
	HLO_V_TAKEN = 1 << 7,    /* is a result that stands in an argument's bytes */
};

typedef struct hlo_value {
	uint32_t instr, leaf; /* what gives it */
	uint32_t def, last;   /* steps */
	uint32_t same;        /* the value that this is, itself in general */
	uint32_t flags;
	uint32_t mark, slots; /* step that reads it last, in how many operands */
	uint64_t size;
} hlo_value;

typedef enum hlo_step_kind {
	HLO_S_START, /* parameters and constants are there */
	HLO_S_OP,
	HLO_S_LOOP,
	HLO_S_LOOP_END,
	HLO_S_BRANCH,
	HLO_S_BRANCH_END,
	HLO_S_JOIN, /* the result of a conditional is there */
	HLO_S_END,
} hlo_step_kind;

/* The write may stand in the bytes of the read. */
typedef struct hlo_pair {
	uint32_t read, write;
	bool update; /* an update of the read, which XLA does in place */
} hlo_pair;

typedef struct hlo_move {
	uint32_t from, to;
	bool copy; /* set by hlo_merge: they do not share bytes */
} hlo_move;

typedef struct hlo_step {
	uint8_t kind; /* hlo_step_kind */
	bool nop;     /* nothing runs: the end of an asynchronous operation */
	uint32_t instr;
	hbm_span reads, writes; /* in operands */
	hbm_span pairs, moves;
	uint32_t open; /* an END's opening step; a BRANCH: its number */
} hlo_step;

typedef struct hlo_flat {
	hlo_module *m;
	hbm_arena *arena;
	HBM_VEC(hlo_value) values;
	HBM_VEC(hlo_step) steps;
	HBM_VEC(uint32_t) operands; /* values */
	HBM_VEC(hlo_pair) pairs;
	HBM_VEC(hlo_move) moves;
	HBM_VEC(hlo_pair) bound;   /* two values of one state: must share bytes */
	uint32_t *root;            /* value -> a value of its class, after merging */
	uint32_t *constant;        /* instruction -> value */
	uint64_t walked;
} hlo_flat;

/* At most this many values, and as many steps; and this many instructions and parts
 * of their results looked at: a call is written out at every use. */
enum { HLO_MAX_FLAT = 1 << 24, HLO_MAX_WALK = 1 << 27 };

static inline uint32_t hlo_value_of(const hlo_flat *f, uint32_t v)
{
	while (f->values.items[v].same != v)
		v = f->values.items[v].same;
	return v;
}

hbm_status hlo_flatten(hlo_flat *f) HBM_MUST_USE;
/* Decides which values share bytes and which moves copy. */
hbm_status hlo_merge(hlo_flat *f) HBM_MUST_USE;
hbm_status hlo_emit(hlo_flat *f, hbm_program *p) HBM_MUST_USE;

#endif
