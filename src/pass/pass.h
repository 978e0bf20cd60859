/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PASS_PASS_H
#define HBM_PASS_PASS_H

/* Passes: each one file and one row of passes.def. A target's file names its
 * pipeline; the driver runs it in order and checks what each pass needs. */

#include "analysis/analysis.h"
#include "plan/plan.h"
#include "pack/problem.h"

/* Facts that hold between passes. */
enum {
	HBM_FACT_DIVIDED = 1 << 0,   /* every compute op has its core split */
	HBM_FACT_LX = 1 << 1,        /* LX homes are decided */
	HBM_FACT_BUNDLES = 1 << 2,   /* every device op stands in a bundle */
	HBM_FACT_PREPARED = 1 << 3,  /* kernels are prepared against the homes */
	HBM_FACT_POOLS = 1 << 4,     /* pools are placed */
	HBM_FACT_DRAM = 1 << 5,      /* standalone storages have addresses */
	HBM_FACT_SPLIT = 1 << 6,     /* oversized tensors are split */
};

typedef struct hbm_plan_opts {
	const char *allocator;       /* NULL: auto */
	const char *lx_solver;       /* NULL: the default one */
	uint32_t effort, threads;    /* as hbm_solve_opts */
	double deadline;
	bool pool_off;               /* --hbm-pool-planning=off */
	bool no_bundle_args;         /* --no-bundle-symbolic-args */
	bool lx_off;                 /* --lx-planning=off */
	bool pool_lifetime_program;  /* --pool-lifetime=program */
	bool budget_off;             /* --disable-hbm-usage-check */
	bool no_reuse;               /* every storage its own bytes */
	bool no_split_dram;
	bool dge_off;                /* descriptors are counted */
	uint64_t resident;           /* bytes of other programs */
	uint64_t pool_cap;           /* 0: the target's */
	uint64_t split_threshold;    /* bytes; 0: the window */
	uint64_t rotation_size;      /* bytes; 0: the target's */
	uint64_t lx_share_ppm;       /* HBM_NO_OFFSET: the target's */
	uint32_t cores;              /* 0: the target's */
	const char *passes;          /* NULL: the target's pipeline */
	const char *stop_after;      /* NULL: run all */
	/* Called after each pass that ran, for --print-after. */
	void (*after)(void *user, const char *pass, const hbm_program *p);
	void *after_user;
} hbm_plan_opts;

typedef struct hbm_pass_cx {
	hbm_arena *keep;    /* lives as long as the plan */
	hbm_arena *scratch; /* until the pass returns */
	hbm_diags *diags;
	const hbm_target *target;
	const hbm_plan_opts *opts;
	hbm_program *prog;
	hbm_analysis *an;   /* current; a pass that changes the program says so in
	                     * `breaks_analysis` and the driver makes it anew */
	hbm_plan *plan;     /* reasons, pools, sums are recorded here as found */
	uint32_t facts;
} hbm_pass_cx;

typedef struct hbm_pass {
	const char *name;
	const char *summary;
	uint32_t needs, gives, breaks; /* HBM_FACT_* */
	bool breaks_analysis;
	hbm_status (*run)(hbm_pass_cx *cx);
} hbm_pass;

#define PASS(id) extern const hbm_pass hbm_pass_##id;
#include "pass/passes.def"
#undef PASS

/* NULL-ended, in table order. */
extern const hbm_pass *const hbm_pass_table[];
const hbm_pass *hbm_pass_find(const char *name, size_t n);

/* Records why `tier` refused the storage with this root. Last word wins per
 * tier. */
hbm_status hbm_refuse(hbm_pass_cx *cx, hbm_storage_id s, hbm_home_kind tier,
                      hbm_reason_id id, hbm_sym who, uint32_t n_figures,
                      const uint64_t *figures) HBM_MUST_USE;

/* Validates, sizes, analyses, runs the pipeline, collects the plan. Does not
 * verify: the caller does (verify/verify.h). `p` is changed: passes annotate
 * and may rewrite it. */
hbm_status hbm_run_passes(hbm_arena *keep, hbm_program *p, const hbm_target *t,
                          const hbm_plan_opts *opts, hbm_diags *d,
                          hbm_plan *ret) HBM_MUST_USE;

#endif
