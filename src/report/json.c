/* SPDX-License-Identifier: Apache-2.0
 * json: the plan's machine form (schema/plan.schema.json). */
#include "plan/json.h"
#include "report/reporter.h"

static hbm_status write(hbm_arena *scratch, const hbm_plan *plan, hbm_out *o)
{
	(void)scratch;
	hbm_plan_json_write(plan, o);
	return HBM_OK;
}

const hbm_reporter hbm_reporter_json = {
	.name = "json",
	.summary = "the plan as JSON (schema/plan.schema.json)",
	.write = write,
};
