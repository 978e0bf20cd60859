/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PASS_PASS_H
#define HBM_PASS_PASS_H

/* Passes: each one file and one row of passes.def. A target's file names its
 * pipeline; the driver runs it in order and checks what each pass needs. */

#include "hbmplan/plan.h"

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

/* A tier's refusal while passes run; keyed by a tensor, since storages may be
 * numbered anew. */
typedef struct hbm_refusal {
	hbm_tensor_id tensor;
	hbm_reason reason;
} hbm_refusal;

typedef struct hbm_pass_cx {
	hbm_arena *keep;    /* lives as long as the plan */
	hbm_arena *scratch; /* until the pass returns */
	hbm_diags *diags;
	const hbm_target *target;
	const hbm_plan_opts *opts;
	hbm_program *prog;
	hbm_analysis *an;   /* current; a pass that changes the program says so in
	                     * `breaks_analysis` and the driver makes it anew */
	hbm_plan *plan;     /* pools and sums are recorded here as found */
	HBM_VEC(hbm_refusal) refusals;
	uint32_t facts;
} hbm_pass_cx;

typedef struct hbm_pass {
	const char *name;
	const char *summary;
	uint32_t needs, gives, breaks; /* HBM_FACT_* */
	uint32_t before; /* facts that must not hold yet: it changes what they rest on */
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

/* Compares storages by start, end, name (seed A's order); the context is a
 * hbm_pass_cx. */
int hbm_storage_order(const void *cx, uint32_t a, uint32_t b);
/* Name of a storage that no order of declarations changes: the least, byte by
 * byte, of its tensors that are not views. */
hbm_sym hbm_storage_name(const hbm_program *p, const hbm_analysis *an,
                         hbm_storage_id s);
/* Fills in the plan's storages, reasons, sums and budget from the annotations,
 * after the last pass. */
hbm_status hbm_collect(hbm_pass_cx *cx) HBM_MUST_USE;

/* Validates, sizes, analyses, runs the pipeline, collects the plan. Does not
 * verify: the caller does (verify/verify.h). `p` is changed: passes annotate
 * and may rewrite it. */
hbm_status hbm_run_passes(hbm_arena *keep, hbm_program *p, const hbm_target *t,
                          const hbm_plan_opts *opts, hbm_diags *d,
                          hbm_plan *ret) HBM_MUST_USE;

#endif
