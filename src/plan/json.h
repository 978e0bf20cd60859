/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PLAN_JSON_H
#define HBM_PLAN_JSON_H

/* The plan's JSON form, written and read. */

#include "base/out.h"
#include "plan/plan.h"

#define HBM_PLAN_SCHEMA "hbmplan.plan"
#define HBM_PLAN_SCHEMA_VERSION "1.0"

void hbm_plan_json_write(const hbm_plan *plan, hbm_out *o);

/* Members "dram", "usage", "phases", "splits" of the object that is open. */
void hbm_plan_json_usage(const hbm_plan *plan, hbm_json *j);
/* Members under the compiler's names. */
void hbm_plan_json_metrics(const hbm_plan *plan, hbm_json *j);

/* A plan's JSON text, parsed; the program that it belongs to comes later. */
typedef struct hbm_plan_json {
	const char *file; /* for messages */
	void *root;
} hbm_plan_json;

hbm_status hbm_plan_json_open(hbm_diags *d, const char *file, const char *text,
                              size_t n, hbm_plan_json *ret) HBM_MUST_USE;
void hbm_plan_json_close(hbm_plan_json *json);
/* Name of the target that it was made for; NULL: it does not tell. */
const char *hbm_plan_json_target(const hbm_plan_json *json);
/* The plan, for a program and target. What it claims is taken as it is; the verifier
 * judges. Names it does not know, or storages that lack, are HBM_E_PLAN_MISMATCH.
 * Totals and budget are taken from the file. */
hbm_status hbm_plan_json_read(hbm_arena *a, hbm_diags *d, const hbm_plan_json *json,
                              const hbm_program *p, const hbm_target *t,
                              hbm_plan *ret) HBM_MUST_USE;

#endif
