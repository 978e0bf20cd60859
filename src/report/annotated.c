/* SPDX-License-Identifier: Apache-2.0
 * annotated: the program as text, homes and offsets beside its tensors. */
#include "ir/text.h"
#include "report/reporter.h"

static hbm_status write(hbm_arena *scratch, const hbm_plan *plan, hbm_out *o)
{
	(void)scratch;
	hbm_text_print(plan->prog, o);
	return HBM_OK;
}

const hbm_reporter hbm_reporter_annotated = {
	.name = "hbm",
	.summary = "the program with homes and offsets annotated",
	.write = write,
};
