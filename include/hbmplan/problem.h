/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBMPLAN_PROBLEM_H
#define HBMPLAN_PROBLEM_H

/* The packing problem alone, for callers with an IR of their own: buffers with a
 * size and a live range in, an offset for each out. */

#include "hbmplan/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* During [start, end) of its life the buffer needs only bytes [lo, hi) of
 * itself; lo == hi: none. */
typedef struct hbm_gap {
	int64_t start, end;
	uint64_t lo, hi;
} hbm_gap;

enum { HBM_MAX_BUFFERS = 1 << 30 };

/* Arrays of n items that the caller owns. An optional array may be NULL, and then
 * every buffer has the default. Bytes are 64-bit; sizes and sums of sizes stay
 * below 2^62. Live ranges are half open: one that ends at t and one that starts
 * at t may share bytes. */
typedef struct hbm_problem {
	uint32_t n;
	const uint64_t *size;
	const int64_t *start, *end; /* half open; start == end: never live */
	const uint64_t *align;      /* any positive number; default 1 */
	const uint64_t *pin;        /* HBM_NO_OFFSET: free; default free */
	const uint64_t *hint;       /* preferred offset; default none */
	const hbm_gap *gaps;        /* all gaps, sorted within a buffer */
	const uint32_t *gap_first;  /* n + 1 indices into gaps; NULL: no gaps */
	/* Buffers of one colocation set keep their distances: offset(i) =
	 * base(set) + shift[i]. HBM_NONE: alone. Members of one set may overlap
	 * each other. */
	const uint32_t *set;
	const uint64_t *shift;
	/* Buffers with the same group (not HBM_NONE) never conflict. */
	const uint32_t *group;
	uint64_t capacity;          /* HBM_NO_OFFSET: unlimited */
	/* Largest single allocation: the space is then made of several blocks of
	 * at most this many bytes, and no buffer straddles two. 0: one block. */
	uint64_t max_block;
} hbm_problem;

typedef enum hbm_outcome {
	HBM_UNKNOWN,    /* no placement found within the effort, none ruled out */
	HBM_FEASIBLE,   /* a placement within the capacity */
	HBM_OPTIMAL,    /* the same, and no placement has a smaller extent */
	HBM_INFEASIBLE, /* proven: no placement within the capacity */
} hbm_outcome;

/** "unknown", "feasible", "optimal", "infeasible". */
HBM_API const char *hbm_outcome_name(hbm_outcome o);

typedef struct hbm_placement {
	hbm_outcome outcome;
	uint64_t *offset;     /* n items, HBM_NO_OFFSET: not placed */
	uint64_t extent;      /* highest end of a placed buffer */
	uint64_t lower_bound; /* no complete placement has a smaller extent */
	const char *allocator; /* which one won */
	uint64_t steps;
	uint32_t n_placed;
	/* For INFEASIBLE: either a tick whose live bytes exceed the capacity, or
	 * an irreducible set of buffers that cannot fit together. */
	int64_t witness_tick;
	uint32_t *witness;
	uint32_t n_witness;
	/* With max_block: the block of each buffer, in which its offset counts, and
	 * the extent of each block; `extent` is their sum. Else NULL and 0. */
	uint32_t *block;
	uint64_t *block_extent;
	uint32_t n_blocks;
} hbm_placement;

typedef struct hbm_solve_opts {
	const char *allocator; /* NULL: auto */
	uint32_t effort;       /* 0..9; default 5 (see hbm_solve_defaults) */
	uint32_t threads;      /* 0, 1: this thread only. Never changes the answer */
	double deadline;       /* seconds of wall time; 0: steps only. With a
	                        * deadline the answer may differ from run to run */
	bool keep_going;       /* place what fits: what would pass the capacity
	                        * stays unplaced (seed A's overflow) */
	uint64_t enough;       /* an extent that needs no improvement; 0: only the
	                        * smallest will do. A caller that only asks
	                        * whether it fits says the capacity */
	bool (*cancelled)(void *user); /* polled, perhaps from other threads;
	                                * NULL: never */
	void *user;
	uint64_t disabled;     /* bit per pruning rule of `exact` to switch off */
} hbm_solve_opts;

HBM_API void hbm_solve_defaults(hbm_solve_opts *opts);

/**
 * Places the buffers of a problem.
 *
 * Running out of room or of budget is not an error: the call returns HBM_OK and
 * `ret->outcome` tells. Every placement is checked before it is returned. With
 * the same arguments the result is the same on every machine, unless a deadline
 * is given. Calls on different contexts may run at the same time.
 *
 * @param cx    gives memory and takes diagnostics.
 * @param p     not changed, not kept.
 * @param opts  NULL: the defaults (auto, effort 5).
 * @param ret   set on success only; its arrays live until hbm_context_free().
 * @return HBM_OK; HBM_SEMANTIC or HBM_LIMIT for a malformed problem; HBM_OPTION
 *         for an unknown allocator; HBM_NOMEM; HBM_VERIFY if an allocator's answer
 *         was wrong.
 */
HBM_API hbm_status hbm_place(hbm_context *cx, const hbm_problem *p,
                             const hbm_solve_opts *opts,
                             hbm_placement *ret) HBM_MUST_USE;

typedef struct hbm_allocator_info {
	const char *name, *summary;
	bool exact, gaps, pins, sets, groups, align, hints, anytime;
} hbm_allocator_info;

/** All allocators; *ret_n items. */
HBM_API const hbm_allocator_info *hbm_allocators(uint32_t *ret_n);

#ifdef __cplusplus
}
#endif
#endif
