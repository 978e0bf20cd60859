/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_LX_H
#define HBM_PACK_LX_H

/* The scratchpad problem: which buffers live in a small fast memory, and at
 * which address, so that the most HBM traffic is saved. Differs from the packing
 * problem in that leaving a buffer out is allowed and costs its value.
 *
 *     capacity +-----------------------+
 *              |      +-----+          |   A buffer has one address for its whole
 *              | +----+  b  |   +----+ |   life [start, end): first use to one past
 *              | | a  +-----+   | d  | |   the last. c is a child of a: it takes
 *              | |    | c   |   |    | |   a's bytes at the tick where a ends.
 *            0 +-+----+-----+---+----+-+--> tick
 *
 * An in-place child may share its parent's address: parent.end == child.start + 1,
 * child.size <= parent.size, and it sits exactly at the parent's base; the bytes
 * of the parent above it stay the parent's until the parent ends. Knows nothing
 * of programs. Bytes are per core. */

#include "base/arena.h"
#include "base/diag.h"

typedef struct hbm_lx_problem {
	uint32_t n;
	const uint64_t *size;       /* 0: never placed */
	const uint32_t *use_first;  /* n + 1 indices into uses */
	const uint32_t *uses;       /* ticks, strictly ascending in a buffer; a
	                             * buffer without any is never placed */
	const bool *input;          /* the first use is a read; NULL: none is */
	/* Life beyond the uses: start <= first use, end > last use. HBM_NONE: as
	 * the uses say; NULL: all do. */
	const uint32_t *start, *end;
	const uint32_t *parent_first; /* n + 1 indices into parents; NULL: none */
	const uint32_t *parents;      /* in order of preference */
	const uint32_t *group; /* buffers of one group (not HBM_NONE) are placed all
	                        * or none; NULL: no groups */
	const uint64_t *pin;   /* required address, HBM_NO_OFFSET: any; NULL: any */
	const bool *barred;    /* never placed; NULL: none is */
	const uint64_t *value; /* HBM bytes saved by placing it; NULL: uses x size,
	                        * one use less for inputs */
	uint64_t capacity;
	uint64_t align;        /* of every address; sizes need not be multiples */
} hbm_lx_problem;

typedef struct hbm_lx_layout {
	uint64_t *address; /* n items, HBM_NO_OFFSET: stays in HBM */
	uint64_t saved;    /* sum of the values of the placed */
	uint64_t bound;    /* no layout of this kind saves more. "This kind": one
	                    * address for a whole life, nothing evicted and brought
	                    * back. saved == bound: proven best */
	uint64_t peak;     /* highest end of a placed buffer */
	uint32_t n_placed;
	const char *solver; /* the one that found it */
	uint64_t steps;
} hbm_lx_layout;

typedef struct hbm_lx_opts {
	const char *solver; /* NULL: "auto" */
	uint32_t effort;    /* 0..9; scales the step budgets; 5 is the default */
	bool (*cancelled)(void *user); /* polled; NULL: never */
	void *user;
} hbm_lx_opts;

typedef struct hbm_lx_solver_info {
	const char *name, *summary;
	bool groups, pins; /* honours them; else such buffers stay out */
} hbm_lx_solver_info;

/* Solver i of the table, NULL behind the last. */
const hbm_lx_solver_info *hbm_lx_solver(uint32_t i);

/* Life of a buffer; start == end: it has none. */
uint32_t hbm_lx_start(const hbm_lx_problem *p, uint32_t i);
uint32_t hbm_lx_end(const hbm_lx_problem *p, uint32_t i);
/* Reads after the value is there: uses less the producer's write. */
uint32_t hbm_lx_reads(const hbm_lx_problem *p, uint32_t i);
/* HBM bytes saved by placing it. */
uint64_t hbm_lx_value(const hbm_lx_problem *p, uint32_t i);

/* Refuses malformed problems, naming the buffer by index: uses not ascending, a
 * life that is shorter than its uses, a hand-off at the wrong tick, a child
 * larger than its parent, a parent that is written and never read. */
hbm_status hbm_lx_check(const hbm_lx_problem *p, hbm_diags *d) HBM_MUST_USE;
/* Chooses and places. Same problem, solver and effort: same answer. The layout
 * lives in `a`. */
hbm_status hbm_lx_solve(hbm_arena *a, const hbm_lx_problem *p,
                        const hbm_lx_opts *opts, hbm_diags *d,
                        hbm_lx_layout *ret) HBM_MUST_USE;
/* True when the addresses are legal: aligned, inside the capacity, pins kept,
 * groups whole, nothing barred, and no two live buffers share bytes except a
 * child at its parent's base. Else ret->a and ret->b are the buffers at fault
 * (equal for one alone). */
typedef struct hbm_lx_verdict {
	bool legal;
	uint32_t a, b;
} hbm_lx_verdict;

hbm_status hbm_lx_judge(hbm_arena *scratch, const hbm_lx_problem *p,
                        const uint64_t *address, hbm_lx_verdict *ret) HBM_MUST_USE;
/* Room that a layout leaves over the whole life of each buffer that is not placed:
 * free bytes and the largest hole (n items each; HBM_NO_OFFSET for the placed,
 * and for all behind the first ten million meetings: figures are not worth more
 * time than the plan). */
hbm_status hbm_lx_room(hbm_arena *scratch, const hbm_lx_problem *p,
                       const uint64_t *address, uint64_t *ret_free,
                       uint64_t *ret_hole) HBM_MUST_USE;

#endif
