/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_ANALYSIS_INTERNAL_H
#define HBM_ANALYSIS_INTERNAL_H

/* What the files of this layer share. */

#include "analysis/analysis.h"

/* Union-find over bytes: `shift` is a tensor's byte offset from its parent. */
typedef struct hbm_classes {
	hbm_tensor_id *parent;
	int64_t *shift;
	uint32_t n;
} hbm_classes;

hbm_status hbm_classes_init(hbm_arena *a, const hbm_program *p, hbm_diags *d,
                            hbm_classes *ret) HBM_MUST_USE;
/* Representative of t's class; *ret_shift is t's offset from it. */
hbm_tensor_id hbm_class_of(hbm_classes *c, hbm_tensor_id t, int64_t *ret_shift);
/* Puts `b` at `shift` bytes from `a`. False: they are in one class already, at
 * another distance. */
bool hbm_classes_join(hbm_classes *c, hbm_tensor_id a, hbm_tensor_id b,
                      int64_t shift);

/* Storages, members and accesses from the classes; no live ranges yet. */
hbm_status hbm_storages_build(hbm_analysis *an, const hbm_program *p,
                              const hbm_target *t, hbm_classes *c,
                              hbm_diags *d) HBM_MUST_USE;
/* Live ranges of all storages. */
hbm_status hbm_live_ranges(hbm_analysis *an, const hbm_program *p) HBM_MUST_USE;
/* Joins the optional in-place pairs that are legal. Needs live ranges. */
hbm_status hbm_inplace_join(hbm_analysis *an, const hbm_program *p,
                            hbm_classes *c) HBM_MUST_USE;

#endif
