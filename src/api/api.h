/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_API_API_H
#define HBM_API_API_H

/* The bodies of the public handles. */

#include "hbmplan/hbmplan.h"

#include "base/diag.h"
#include "import/importer.h"
#include "plan/plan.h"

struct hbm_context {
	hbm_mem mem;
	hbm_arena results;   /* what placements hold */
	hbm_arena messages;
	hbm_diags diags;
};

struct hbm_input {
	hbm_arena arena;
	hbm_imported data;
	const char *format;
};

struct hbm_planned {
	hbm_arena arena;
	hbm_program prog; /* a copy that the passes changed */
	hbm_target target;
	hbm_plan plan;
};

/* Fills in what a plan that was read does not say (complete.c). */
hbm_status hbm_complete(hbm_context *cx, hbm_planned *p) HBM_MUST_USE;
/* Memory of a handle, zeroed; NULL: none. */
void *hbm_handle_new(const hbm_context *cx, size_t size);
void hbm_handle_free(const hbm_mem *mem, void *handle, size_t size);

#endif
