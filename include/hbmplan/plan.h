/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBMPLAN_PLAN_H
#define HBMPLAN_PLAN_H

/* Planning: a home for every storage of a program, checked. */

#include "hbmplan/input.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hbm_program;

/** rotation_size: as large as what is placed would be without rotation. */
#define HBM_ROTATION_HIGH_WATER UINT64_MAX

typedef struct hbm_plan_opts {
	const char *allocator;       /* NULL: auto */
	const char *lx_solver;       /* NULL: the default one */
	const char *lx_features;     /* comma list of reductions, results, in-place,
	                              * input-clones, output-clones; NULL: all */
	uint32_t effort, threads;    /* as hbm_solve_opts */
	double deadline;
	bool pool_off;               /* no HBM pools */
	bool no_bundle_args;         /* every op its own bundle */
	bool lx_off;                 /* no scratchpad */
	bool pool_lifetime_program;  /* pools are kept until the program ends */
	bool budget_off;             /* report the budget without gating */
	bool no_reuse;               /* every storage its own bytes */
	bool no_split_dram;          /* refuse splits whose parts pass the limit */
	bool dge_off;                /* every transfer needs static descriptors */
	uint64_t resident;           /* bytes of other programs */
	uint64_t pool_cap;           /* bytes; 0: the target's */
	uint64_t split_threshold;    /* bytes; 0: the window */
	uint64_t split_part;         /* largest part with no_split_dram; 0: the target's */
	uint64_t rotation_size;      /* bytes; 0: no rotation; HBM_ROTATION_HIGH_WATER */
	uint64_t dram_block;         /* largest block of HBM to ask for; 0: any */
	bool plain_in_shared;        /* plain tensors may use bytes of class "shared" */
	uint64_t lx_share_ppm;       /* HBM_NO_OFFSET: the target's */
	uint32_t cores;              /* 0: the target's */
	const char *passes;          /* comma list; NULL: the target's pipeline */
	const char *stop_after;      /* pass name; NULL: run all */
	const char *print_after;     /* pass whose program goes to `print` */
	bool print_json;             /* as JSON, not as text */
	hbm_write_fn print;
	void *print_user;
} hbm_plan_opts;

/** Defaults: all off, effort 5, the target's figures. */
HBM_API void hbm_plan_defaults(hbm_plan_opts *opts);

typedef struct hbm_planned hbm_planned;

/**
 * Plans a program and checks the plan with the independent verifier.
 *
 * "Does not fit" is an answer: HBM_OK, and hbm_planned_fits() is false.
 *
 * @param in     a program; not changed.
 * @param target name, alias or file; NULL: the one the program names, else spyre.
 * @param opts   NULL: defaults.
 * @param ret    free with hbm_planned_free(), before the context.
 * @return HBM_OK; HBM_SEMANTIC, HBM_UNSUPPORTED, HBM_OPTION with diagnostics;
 *         HBM_USAGE when `in` is a bare problem; HBM_VERIFY when the plan broke a
 *         rule (a fault of hbmplan; nothing is returned); HBM_NOMEM.
 */
HBM_API hbm_status hbm_planned_make(hbm_context *cx, const hbm_input *in,
                                    const char *target, const hbm_plan_opts *opts,
                                    hbm_planned **ret) HBM_MUST_USE;
/**
 * Reads a plan made elsewhere for the program: plan JSON, or with `path` NULL the
 * homes that are annotated in the program itself. A NULL target is the one that the
 * JSON names, else the program's. It is not checked here: see
 * hbm_planned_check().
 */
HBM_API hbm_status hbm_planned_read(hbm_context *cx, const hbm_input *in,
                                    const char *target, const hbm_plan_opts *opts,
                                    const char *path, hbm_planned **ret) HBM_MUST_USE;
HBM_API void hbm_planned_free(hbm_planned *p);

/** Runs the checker. HBM_OK: legal; HBM_VERIFY: each fault is a diagnostic. */
HBM_API hbm_status hbm_planned_check(hbm_context *cx, hbm_planned *p) HBM_MUST_USE;

typedef struct hbm_simulation {
	uint64_t steps, reads; /* op executions, reads compared */
	bool capped;           /* some loop ran fewer trips than it has */
} hbm_simulation;

/** Executes the plan. HBM_OK: every read saw the right value; HBM_VERIFY. */
HBM_API hbm_status hbm_planned_simulate(hbm_context *cx, hbm_planned *p,
                                        hbm_simulation *ret) HBM_MUST_USE;

/** True: within the budget, or the check is off. */
HBM_API bool hbm_planned_fits(const hbm_planned *p);
/** Bytes of HBM in all, and the limit. */
HBM_API uint64_t hbm_planned_total(const hbm_planned *p);
HBM_API uint64_t hbm_planned_limit(const hbm_planned *p);

/* Where one tensor lives. */
typedef struct hbm_place_info {
	const char *home;    /* "lx", "pool", "hbm", "io" */
	const char *bundle;  /* for pools; else NULL */
	uint64_t offset;     /* in its space; HBM_NO_OFFSET: no address planned */
	uint64_t size;       /* bytes of the tensor's storage */
	uint64_t start, end; /* live [start, end) in ticks */
	const char *storage; /* name of the storage */
} hbm_place_info;

/** False: the program has no tensor of this name. */
HBM_API bool hbm_planned_find(const hbm_planned *p, const char *tensor,
                              hbm_place_info *ret);
/** Pool extent of a bundle in bytes; false: it has no pool entry. */
HBM_API bool hbm_planned_pool(const hbm_planned *p, const char *bundle,
                              uint64_t *ret_extent);

/**
 * Writes the plan in one of the formats of hbm_report_nth().
 * @return HBM_OK; HBM_OPTION for an unknown format; HBM_IO; HBM_NOMEM.
 */
HBM_API hbm_status hbm_planned_write(hbm_context *cx, const hbm_planned *p,
                                     const char *format, hbm_write_fn write,
                                     void *user) HBM_MUST_USE;
/* Takes one whole file; false stops. */
typedef bool (*hbm_file_fn)(void *user, const char *name, const void *bytes, size_t n);

/**
 * Writes the code that realises the plan, as one of hbm_emitter_nth().
 * @return HBM_OK; HBM_OPTION for an unknown emitter; HBM_UNSUPPORTED when something
 *         has no code; HBM_IO when `file` said stop; HBM_NOMEM.
 */
HBM_API hbm_status hbm_planned_emit(hbm_context *cx, const hbm_planned *p,
                                    const char *emitter, hbm_file_fn file,
                                    void *user) HBM_MUST_USE;
/** Name and summary of the i-th emitter; false: no more. */
HBM_API bool hbm_emitter_nth(uint32_t i, const char **ret_name,
                             const char **ret_summary);
/** Name and summary of the i-th report format; false: no more. */
HBM_API bool hbm_report_nth(uint32_t i, const char **ret_name,
                            const char **ret_summary);
/** Name and summary of the i-th pass; false: no more. */
HBM_API bool hbm_pass_nth(uint32_t i, const char **ret_name,
                          const char **ret_summary);

#ifdef __cplusplus
}
#endif
#endif
