/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBMPLAN_HBMPLAN_H
#define HBMPLAN_HBMPLAN_H

/* Everything. */

#include "hbmplan/context.h"
#include "hbmplan/input.h"
#include "hbmplan/fit.h"
#include "hbmplan/plan.h"
#include "hbmplan/problem.h"
#include "hbmplan/status.h"
#include "hbmplan/target.h"

#define HBM_VERSION_MAJOR 0
#define HBM_VERSION_MINOR 1
#define HBM_VERSION_PATCH 0

#endif
