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
	X(LX_MUTATED, "mutation-target", "ops that write")                     \
	X(LX_TILED, "advances-in-loop", "bytes per trip")                      \
	X(LX_RESTICKIFY, "read-by-restickify", "")                             \
	X(LX_EXTERN, "live-across-extern", "")                                 \
	X(LX_INDEX, "index-or-indirect", "")                                   \
	X(LX_OUTPUT, "output-without-clone", "")                               \
	X(LX_PARTIAL, "partial-read", "bytes touched, of")                     \
	X(LX_CORES, "core-division-mismatch", "cores of writer, of reader")    \
	X(LX_NO_READS, "no-read-saved", "ops that use it")                     \
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

/* Texts of hbm_outcome (pack/problem.h), by value. */
enum { HBM_PLAN_N_OUTCOMES = 4 };
extern const char *const hbm_plan_outcomes[HBM_PLAN_N_OUTCOMES];

/* A bundle that has at least one pool-eligible storage. */
typedef struct hbm_plan_pool {
	hbm_node_id bundle;
	hbm_sym name;
	uint64_t extent;      /* bytes to reserve; 0 when all overflowed */
	uint64_t lower_bound; /* of what is placed */
	uint64_t bump;        /* extent of the seed's allocator, same buffers */
	uint64_t no_reuse;    /* sum of the placed sizes */
	uint64_t cap;
	uint32_t n_placed;
	uint32_t n_overflow; /* HBM_NONE: not said */
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

/* Why a tensor that is larger than the split threshold stayed whole. Row: id, text,
 * meaning of the figures. */
#define HBM_UNSPLIT_MAP(X)                                                     \
	X(NONE, "split", "")                                                   \
	X(CALLER, "the caller owns it", "")                                    \
	X(NO_DIM, "no dimension may be split", "dimensions, of them nosplit")  \
	X(PARTS, "too many parts", "parts needed, most allowed")               \
	X(PART_LIMIT, "its parts would pass the per-split limit",              \
	  "bytes of a part, limit")                                            \
	X(PADDED, "its size is not that of its elements", "bytes, of elements") \
	X(PINNED, "it is pinned", "offset")                                    \
	X(TILE, "it advances over a loop", "")                                 \
	X(SHARED, "it must share bytes with another tensor", "")               \
	X(VIEW, "a view lies across the parts", "")                            \
	X(WINDOW, "an access lies across the parts in pieces", "")             \
	X(NAME, "a name of its parts is taken", "")

typedef enum hbm_unsplit_id {
#define X(id, text, figures) HBM_UNSPLIT_##id,
	HBM_UNSPLIT_MAP(X)
#undef X
	HBM_N_UNSPLIT
} hbm_unsplit_id;

const char *hbm_unsplit_text(hbm_unsplit_id id);

/* A tensor larger than the split threshold: its parts, or why it has none. */
typedef struct hbm_plan_split {
	hbm_sym name;            /* before the split */
	uint64_t size, limit;
	hbm_unsplit_id refused;
	uint64_t figure[2];
	uint32_t dim;            /* divided; the rest is for refused NONE */
	uint64_t extent, block;  /* of that dimension, in all and in a part */
	hbm_span parts;          /* tensors in hbm_plan.parts, in order */
	uint32_t n_users;        /* operands that were rewritten */
} hbm_plan_split;

/* A stretch of HBM in which the dram pass places storages of one class. */
typedef struct hbm_plan_region {
	hbm_sym class;        /* 0: private */
	uint64_t base, extent;
	uint64_t lower_bound; /* no placement of these storages is smaller */
	uint64_t no_reuse;    /* sum of their sizes */
	uint32_t n_placed;
	uint32_t outcome;     /* hbm_outcome of pack/problem.h */
	const char *allocator;
} hbm_plan_region;

/* Scratch of an op that the dram pass placed. */
typedef struct hbm_plan_scratch {
	hbm_op_id op;
	uint64_t offset, size;
} hbm_plan_scratch;

/* A top-level bundle or region with the bytes that are live while it runs, weights
 * counted from their first to their last use. */
typedef struct hbm_plan_phase {
	hbm_node_id node;
	uint64_t peak;
} hbm_plan_phase;

/* What hbm-usage found. The first block is ours; the second has the names of the
 * compiler's metrics (docs/passes/hbm-usage.md says what we put there). */
typedef struct hbm_usage {
	bool made;
	uint64_t model_bytes;        /* weights and constants */
	uint64_t tensor_bytes;       /* intermediates at their peak, placed */
	uint64_t io_bytes;           /* inputs, outputs, state */
	uint64_t descriptor_bytes;   /* DMA rings */
	uint64_t n_descriptors;
	bool gated;                  /* the early gate ran; then: */
	uint64_t gate_bytes;         /* inputs and outputs */
	bool gate_fits;
	uint64_t hbm_internal, hbm_intermediate, hbm_io, hbm_usage;
	uint64_t hbm_size, hbm_limit, end_address, private_hbm;
} hbm_usage;

/* What a plan file says besides the plan itself, for the checker to compare. Numbers are
 * HBM_NO_OFFSET where it says nothing. */
typedef struct hbm_claims {
	bool made;         /* the plan comes from such a file */
	uint64_t over;     /* "status": 1 over_budget, 0 ok */
	uint64_t excess;
	uint64_t peak, peak_tick, lx_peak, traffic;
	uint64_t gate_fits;
	hbm_usage usage;   /* without gate_fits */
} hbm_claims;

/* What pass scratchpad chose; solver NULL: it did not run. */
typedef struct hbm_plan_lx {
	const char *solver;
	uint32_t n_placed, n_demoted; /* demoted: left again before code was made */
	uint64_t saved, bound;        /* HBM bytes; no choice of this kind saves more
	                               * than the bound */
	bool optimal;                 /* saved is the most */
} hbm_plan_lx;

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
	HBM_VEC(hbm_plan_region) regions; /* then: where, by ascending base */
	HBM_VEC(hbm_plan_scratch) scratch;
	HBM_VEC(hbm_plan_split) splits;   /* in the order of declarations */
	HBM_VEC(hbm_tensor_id) parts;
	HBM_VEC(hbm_plan_phase) phases;   /* in run order; fewer than 2: none */
	hbm_usage usage;
	hbm_claims claims;
	bool verified;
	uint64_t *pressure;                 /* tick -> live bytes, not the caller's */
	uint32_t n_ticks, peak_tick;
	uint64_t peak;
	uint64_t lx_peak;                   /* highest LX end used, per core */
	hbm_plan_lx lx;
	uint64_t traffic;                   /* HBM bytes moved; 0: not computed */
} hbm_plan;

/* Pressure, its peak and the scratchpad's peak, from storages and homes. */
hbm_status hbm_plan_measure(hbm_plan *plan) HBM_MUST_USE;
/* The largest intermediates live at the peak: at most `max` storage indices, by size,
 * then name. *ret_n counts those listed; the result counts all that are live. */
uint32_t hbm_plan_peak(const hbm_plan *plan, uint32_t *ids, uint32_t max,
                       uint32_t *ret_n);
/* Bytes that a storage reserves in HBM, by its home and size; in the scratchpad, what
 * it would (its home has bytes per core there). For plans read from elsewhere. */
uint64_t hbm_plan_reserve(const hbm_plan *plan, const hbm_plan_storage *s);
/* Pool entries from the homes: each pool as large as what stands in it. For plans
 * that list none. */
hbm_status hbm_plan_infer_pools(hbm_plan *plan) HBM_MUST_USE;
/* A plan from the homes that are annotated in a program. Tensors without any are
 * HBM_E_PLAN_MISMATCH. What it says is judged by the verifier, not here. */
hbm_status hbm_plan_from_homes(hbm_arena *a, hbm_diags *d, const hbm_program *p,
                               const hbm_target *t, hbm_plan *ret) HBM_MUST_USE;
/* Sums by category and the budget, from homes, pools, dram_bytes, descriptors and
 * code. */
void hbm_plan_sum(hbm_plan *plan, uint64_t resident, bool budget_off);

#endif
