/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBMPLAN_FIT_H
#define HBMPLAN_FIT_H

/* Does it fit: one or more programs that share a core, on several targets. */

#include "hbmplan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hbm_fitting hbm_fitting;

typedef struct hbm_fit_opts {
	const char *const *targets; /* names, aliases or files */
	uint32_t n_targets;         /* 0: all built-in devices */
	uint64_t batch;             /* leading extent that is the batch; 0: unless a
	                             * symbol of the program is called so */
	bool no_remedies;           /* only the verdicts */
	const hbm_plan_opts *plan;  /* NULL: defaults */
} hbm_fit_opts;

/**
 * Plans all programs for all targets. On one core only one program runs at a time,
 * so inputs, outputs, weights, state and descriptors are added and the largest of
 * the intermediates counts. For each target on which it does not fit, single changes
 * are tried and ranked.
 *
 * @param inputs programs; not changed.
 * @param opts   NULL: defaults.
 * @param ret    free with hbm_fitting_free(), before the context.
 * @return HBM_OK; HBM_OPTION for an unknown target; HBM_USAGE when an input is a bare
 *         problem; HBM_NOMEM. A target that cannot be planned for has a row that
 *         says why.
 */
HBM_API hbm_status hbm_fitting_make(hbm_context *cx, const hbm_input *const *inputs,
                                    uint32_t n_inputs, const hbm_fit_opts *opts,
                                    hbm_fitting **ret) HBM_MUST_USE;
HBM_API void hbm_fitting_free(hbm_fitting *f);

typedef struct hbm_fit_row {
	const char *target;
	const char *why_not;     /* no plan could be made; NULL: there is one */
	bool fits, within_margin;
	bool at_least;           /* some size is not known */
	uint64_t window, total;
	uint64_t inputs, outputs, weights, state, intermediates, descriptors, resident;
	uint32_t n_remedies;
} hbm_fit_row;

/* One change and what the total would be. */
typedef struct hbm_fit_remedy {
	const char *change;
	uint64_t total;
	bool fits;
} hbm_fit_remedy;

/** True: it fits every target (named ones, or those that can be planned for). */
HBM_API bool hbm_fitting_fits(const hbm_fitting *f);
HBM_API uint32_t hbm_fitting_n_rows(const hbm_fitting *f);
HBM_API hbm_fit_row hbm_fitting_row(const hbm_fitting *f, uint32_t i);
/** Remedy k of row i, the best first. */
HBM_API hbm_fit_remedy hbm_fitting_remedy(const hbm_fitting *f, uint32_t i, uint32_t k);
/** Writes "text" or "json". HBM_OPTION for others; HBM_IO. */
HBM_API hbm_status hbm_fitting_write(hbm_context *cx, const hbm_fitting *f,
                                     const char *format, hbm_write_fn write,
                                     void *user) HBM_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
