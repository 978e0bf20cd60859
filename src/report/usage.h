/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_REPORT_USAGE_H
#define HBM_REPORT_USAGE_H

#include "base/out.h"
#include "plan/plan.h"

/* The part of the text report that the passes of program-wide HBM planning fill;
 * nothing when they did not run. */
void hbm_report_usage(const hbm_plan *plan, hbm_out *o);

#endif
