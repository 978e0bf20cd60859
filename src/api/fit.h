/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_API_FIT_H
#define HBM_API_FIT_H

/* What the files of `fit` share. */

#include "api/api.h"
#include "hbmplan/fit.h"
#include "pass/pass.h"

typedef struct fit_remedy {
	char *change;
	uint64_t total;
	bool fits;
	uint32_t kind; /* order of effort */
} fit_remedy;

typedef struct fit_row {
	hbm_fit_row pub;
	hbm_target target;
	HBM_VEC(fit_remedy) remedies;
} fit_row;

struct hbm_fitting {
	hbm_arena arena;
	HBM_VEC(fit_row) rows;
	HBM_VEC(const char *) names; /* of the programs */
	HBM_VEC(const char *) orders; /* see hbm_program.order, NULL: the input's */
	bool named;                  /* the user named the targets */
	bool off;                    /* the budget is reported without gating */
	bool tried;                  /* remedies were looked for */
};

/* One program planned; the memory is the caller's arena. */
typedef struct fit_plan {
	hbm_program prog;
	hbm_plan plan;
} fit_plan;

/* What is planned for one target. */
typedef struct fit_case {
	hbm_context *cx;
	hbm_fitting *f;
	const hbm_input *const *inputs;
	uint32_t n;
	const hbm_plan_opts *opts;
	uint64_t batch;
	fit_row *row;
	fit_plan *plans; /* of the inputs as they are */
} fit_case;

/* Changes a copy of the program before it is planned; false: nothing to change. */
typedef bool (*fit_change)(hbm_program *p, const void *how);

/* Plans and checks one program. Status and first error go to `d`. */
hbm_status fit_plan_one(const fit_case *c, hbm_arena *a, hbm_diags *d, uint32_t input,
                        const hbm_plan_opts *opts, fit_change change, const void *how,
                        fit_plan *ret) HBM_MUST_USE;
/* Sums of several plans on one core. */
void fit_sum(const fit_plan *plans, uint32_t n, hbm_totals *ret);
/* Finds the remedies of a row that does not fit. */
hbm_status fit_remedies(fit_case *c) HBM_MUST_USE;

#endif
