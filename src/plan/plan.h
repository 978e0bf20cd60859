/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PLAN_PLAN_H
#define HBM_PLAN_PLAN_H

/* The result: one home for every storage, with a reason for each tier that
 * refused it, the pool of every bundle, sums by category, the budget. Says
 * nothing about how it was found, and holds all a report or emitter needs. */

#include "ir/program.h"
#include "target/target.h"

/* Why a tier refused a storage. Row: id, "text", "what the figures mean". */
#define HBM_REASON_MAP(X)                                                      \
	X(NONE, "", "")                                                        \
	X(OFF, "planning-off", "")                                             \
	X(NOT_WRITTEN, "never-written", "")                                    \
	X(NOT_READ, "never-read", "")                                          \
	X(GRAPH_INPUT, "graph-input", "")                                      \
	X(GRAPH_OUTPUT, "graph-output", "")                                    \
	X(WEIGHT, "weight", "")                                                \
	X(STATE, "state", "")                                                  \
	X(HOST, "host-memory", "")                                             \
	X(IN_LX, "in-lx", "")                                                  \
	X(FALLBACK_READ, "read-by-non-device-op", "")                          \
	X(NON_DEVICE_WRITE, "written-by-non-device-op", "")                    \
	X(ZERO_FILLED, "zero-filled-by-allocation", "")                        \
	X(NO_BUNDLE, "outside-any-bundle", "")                                 \
	X(CROSS_BUNDLE_READ, "read-in-another-bundle", "bundles that read")    \
	X(MULTI_BUNDLE_WRITE, "written-by-several-bundles", "bundles that write") \
	X(OVERFLOW, "does-not-fit", "needed end, capacity")                    \
	X(DEMAND, "home-demanded", "")                                         \
	X(DYNAMIC, "dynamic-size", "")                                         \
	X(NO_TIER, "target-has-none", "")                                      \
	X(LX_OP, "op-not-allowed", "")                                         \
	X(LX_UNSIZED, "unsized", "")                                           \
	X(LX_EMPTY, "empty-tensor", "")                                        \
	X(LX_MUTATED, "mutation-target", "")                                   \
	X(LX_TILED, "advances-in-loop", "")                                    \
	X(LX_RESTICKIFY, "read-by-restickify", "")                             \
	X(LX_EXTERN, "live-across-extern", "")                                 \
	X(LX_INDEX, "index-or-indirect", "")                                   \
	X(LX_OUTPUT, "output-without-clone", "")                               \
	X(LX_PARTIAL, "partial-read", "")                                      \
	X(LX_CORES, "core-division-mismatch", "cores of writer, of reader")    \
	X(LX_NO_READS, "no-read-saved", "")                                    \
	X(LX_BACK_GAP, "back-gap", "")                                         \
	X(LX_TOO_LARGE, "larger-than-scratchpad", "needed, capacity")          \
	X(LX_NO_ROOM, "no-room", "needed, free, largest hole")                 \
	X(LX_DEMOTED, "demoted-by-kernel-preparation", "")

typedef enum hbm_reason_id {
#define X(id, text, figures) HBM_REASON_##id,
	HBM_REASON_MAP(X)
#undef X
	HBM_N_REASONS
} hbm_reason_id;

const char *hbm_reason_text(hbm_reason_id r);
const char *hbm_home_text(hbm_home_kind k); /* "lx", "pool", "hbm", "io" */

typedef struct hbm_reason {
	hbm_home_kind tier;   /* the tier that refused */
	hbm_reason_id id;
	hbm_sym who;          /* the op, tensor or bundle to blame, 0: none */
	uint64_t figure[3];
	uint32_t n_figures;
} hbm_reason;

typedef struct hbm_plan_storage {
	hbm_tensor_id root;
	hbm_sym name;
	uint64_t size;       /* bytes of the tensors behind it, tiles multiplied */
	uint64_t reserve;    /* after rounding to the granule */
	uint64_t align;
	uint32_t start, end; /* ticks, half open; equal: never accessed */
	hbm_home home;       /* kind, bundle node, offset, reserved size */
	hbm_span reasons;    /* in hbm_plan.reasons, in tier order */
	hbm_span members;    /* in hbm_plan.members */
	uint32_t flags;      /* union of HBM_T_* */
} hbm_plan_storage;

/* A tensor of a storage. */
typedef struct hbm_plan_member {
	hbm_tensor_id tensor;
	uint64_t offset; /* in the storage */
} hbm_plan_member;

/* A bundle that has at least one pool-eligible storage. */
typedef struct hbm_plan_pool {
	hbm_node_id bundle;
	hbm_sym name;
	uint64_t extent;      /* bytes to reserve; 0 when all overflowed */
	uint64_t lower_bound; /* of what is placed */
	uint64_t bump;        /* extent of the seed's allocator, same buffers */
	uint64_t no_reuse;    /* sum of the placed sizes */
	uint64_t cap;
	uint32_t n_placed, n_overflow;
	uint32_t outcome;     /* hbm_outcome of pack/problem.h */
	const char *allocator;
} hbm_plan_pool;

/* Bytes by category; scopes that never coexist are not added (pools). */
typedef struct hbm_totals {
	uint64_t inputs, outputs, weights, state; /* the caller's; a tensor that is
	                   * input and output counts once, as input */
	uint64_t standalone; /* intermediates in HBM of their own, at their peak
	                      * when a pass placed them, else their sum */
	uint64_t pools;      /* largest pool, or their sum with program lifetime */
	uint64_t pools_sum;
	uint64_t descriptors;
	uint64_t resident;   /* of other programs */
	uint64_t code;       /* 0: not provided */
	uint64_t total;
	bool at_least;       /* some size is not known: total is a lower bound */
} hbm_totals;

typedef struct hbm_budget {
	bool checked;      /* false: switched off */
	uint64_t limit;    /* window in bytes */
	uint64_t margin;   /* limit * 11 / 10: reporting only */
	bool fits;         /* total <= limit */
	bool within_margin; /* limit < total <= margin */
} hbm_budget;

typedef struct hbm_plan {
	hbm_arena *arena;
	const hbm_program *prog;
	const hbm_target *target;
	HBM_VEC(hbm_plan_storage) storages; /* by root id */
	HBM_VEC(hbm_plan_member) members;
	HBM_VEC(hbm_reason) reasons;
	HBM_VEC(hbm_plan_pool) pools;       /* in run order */
	uint32_t *of_tensor;                /* tensor -> storage index */
	hbm_totals totals;
	hbm_budget budget;
	bool pool_lifetime_program;
	bool placed_dram;    /* standalone storages have addresses */
	uint64_t dram_bytes; /* then: bytes they take, after reuse */
	bool verified;
	uint64_t *pressure;                 /* tick -> live bytes, not the caller's */
	uint32_t n_ticks, peak_tick;
	uint64_t peak;
	uint64_t lx_peak;                   /* highest LX end used, per core */
	uint64_t traffic;                   /* HBM bytes moved; 0: not computed */
} hbm_plan;

/* Sums by category and the budget, from homes, pools, dram_bytes, descriptors and
 * code. */
void hbm_plan_sum(hbm_plan *plan, uint64_t resident, bool budget_off);

#endif
