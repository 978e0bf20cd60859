/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_REPORT_REPORTER_H
#define HBM_REPORT_REPORTER_H

/* Reporters: a plan in, bytes out. One file and one row of reporters.def each. */

#include "base/out.h"
#include "plan/plan.h"

typedef struct hbm_reporter {
	const char *name, *summary;
	/* Output failures stick in `o`; the status tells of others. `scratch` is
	 * emptied by the caller. */
	hbm_status (*write)(hbm_arena *scratch, const hbm_plan *plan, hbm_out *o);
} hbm_reporter;

#define REPORTER(id) extern const hbm_reporter hbm_reporter_##id;
#include "report/reporters.def"
#undef REPORTER

/* NULL-ended, in table order. */
extern const hbm_reporter *const hbm_reporter_table[];
const hbm_reporter *hbm_reporter_find(const char *name);

#endif
