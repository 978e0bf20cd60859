/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBMPLAN_TARGET_H
#define HBMPLAN_TARGET_H

/* Device models. */

#include "hbmplan/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the i-th built-in target, sorted; NULL: no more. */
HBM_API const char *hbm_target_nth(uint32_t i);
/** One line about a built-in target; NULL: no such one. */
HBM_API const char *hbm_target_summary(hbm_context *cx, const char *name);

/**
 * Writes all that is in force for a target (built-in name, alias, or path of a
 * target file): each figure with its unit and source, regions, notes.
 * @return HBM_OK; HBM_OPTION for an unknown target; HBM_SYNTAX or HBM_SEMANTIC for
 *         a bad file; HBM_IO; HBM_NOMEM.
 */
HBM_API hbm_status hbm_target_write(hbm_context *cx, const char *name,
                                    hbm_write_fn write, void *user) HBM_MUST_USE;
/** The same as JSON. */
HBM_API hbm_status hbm_target_write_json(hbm_context *cx, const char *name,
                                         hbm_write_fn write, void *user) HBM_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
