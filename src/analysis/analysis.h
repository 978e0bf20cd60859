/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_ANALYSIS_ANALYSIS_H
#define HBM_ANALYSIS_ANALYSIS_H

/* Facts about a program that every planning pass needs: sizes, storages, live
 * ranges, pressure. Pure functions; nothing here places anything.
 *
 * Time: tick = index of a leaf op in run order (= its id). Live ranges are half
 * open, from the first access to the last, extended over loops that the value
 * crosses (design: "Loops"). */

#include "ir/program.h"
#include "target/target.h"

typedef uint32_t hbm_storage_id;

/* The bytes behind one or more tensors. */
typedef struct hbm_storage {
	hbm_tensor_id root; /* lowest tensor id at offset 0 (else lowest id) */
	uint64_t size;      /* largest offset + size among members, times advance */
	uint64_t reserve;   /* size rounded up to the target's granule */
	uint64_t align;
	uint64_t pin;       /* HBM_NO_OFFSET: none */
	uint64_t advance;   /* product of trips a tile advances over; 1: fixed */
	uint32_t flags;     /* union of the members' HBM_T_* */
	hbm_home_kind demand;
	uint32_t start, end; /* live [start, end) in ticks; start == end: no access */
	hbm_span members;    /* in hbm_analysis.members, ascending tensor ids */
	hbm_span accesses;   /* in hbm_analysis.accesses, ascending ticks */
	uint32_t n_reads, n_writes;
	hbm_op_id first_write, last_read; /* HBM_NONE: none */
	bool from_earlier; /* a loop it crosses set `start` (or would have) */
	bool to_later;     /* a loop it crosses set `end` (or would have) */
} hbm_storage;

typedef struct hbm_access {
	hbm_op_id op;
	uint32_t operand; /* in hbm_program.operands */
	bool write;
} hbm_access;

typedef struct hbm_analysis {
	hbm_arena *arena;
	HBM_VEC(hbm_storage) storages;
	hbm_storage_id *of;      /* tensor -> storage */
	uint64_t *offset;        /* tensor -> byte offset in its storage */
	hbm_tensor_id *members;  /* see hbm_storage.members */
	hbm_access *accesses;    /* see hbm_storage.accesses */
	hbm_node_id *bundle;     /* op -> its bundle node, HBM_NONE: none */
	uint64_t *pressure;      /* tick -> live bytes of storages that are not the
	                          * caller's, without scratch */
	uint32_t n_ticks;
	uint64_t peak;           /* highest pressure, and where first */
	uint32_t peak_tick;
} hbm_analysis;

typedef struct hbm_analysis_opts {
	bool inplace; /* use optional in-place pairs where they are legal */
} hbm_analysis_opts;

/* Fills in `size` of every tensor that has none (device layout, else extents),
 * by the target's rules. Errors: overflow, missing bounds. */
hbm_status hbm_size_tensors(hbm_program *p, const hbm_target *t,
                            hbm_diags *d) HBM_MUST_USE;
/* Everything above. The program must be valid and sized. `a` gets its own
 * memory from `arena`. */
hbm_status hbm_analyse(hbm_arena *arena, const hbm_program *p,
                       const hbm_target *t, const hbm_analysis_opts *opts,
                       hbm_diags *d, hbm_analysis *ret) HBM_MUST_USE;

#endif
