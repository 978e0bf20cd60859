/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PLAN_CASE_H
#define TEST_PLAN_CASE_H

/* Plans a program given as text, through the public API. The plan is simulated as
 * well, so that every case also shows that no value is lost. */

#include "hbmplan/hbmplan.h"

typedef struct plan_case {
	hbm_context *cx;
	hbm_input *in;
	hbm_planned *p;
	hbm_status status; /* of reading, or else of planning */
	hbm_input_opts in_opts;
	hbm_plan_opts opts;
	const char *target;
} plan_case;

/* Options for pools alone: no scratchpad, spyre. */
void plan_case_init(plan_case *c);
/* Reads and plans; `status` tells. A ';' in the text ends a line. */
void plan_case_run(plan_case *c, const char *text);
void plan_case_free(plan_case *c);

/* Both in one: the plan must be made. */
void plan_ok(plan_case *c, const char *text);
/* Planning (or reading) must fail with this diagnostic code among the errors. */
void plan_fails(plan_case *c, const char *text, uint32_t code);
bool plan_said(const plan_case *c, const char *part);

const char *home_of(const plan_case *c, const char *tensor);
uint64_t offset_of(const plan_case *c, const char *tensor);
uint64_t pool_of(const plan_case *c, const char *bundle); /* HBM_NO_OFFSET: none */
bool shares(const plan_case *c, const char *a, const char *b); /* same storage */
bool disjoint(const plan_case *c, const char *a, const char *b);
void live_of(const plan_case *c, const char *tensor, uint64_t *start, uint64_t *end);
/* The whole plan in a format; NUL-ended, free() it. */
char *plan_text(const plan_case *c, const char *format);

#endif
