/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_PART_H
#define HBM_PACK_PART_H

#include "pack/internal.h"

/* Stretches of time that no item crosses: independent problems. */
typedef struct hbm_parts {
	uint32_t n;
	uint32_t *first; /* n + 1 indices into items */
	uint32_t *items; /* by part, in order of number */
} hbm_parts;

hbm_status hbm_parts_find(hbm_arena *a, const hbm_inst *in,
                          hbm_parts *ret) HBM_MUST_USE;
/* The items of part k as an instance of their own, with its own bound. */
hbm_status hbm_part_cut(hbm_arena *a, const hbm_inst *in, const hbm_parts *ps,
                        uint32_t k, hbm_inst *ret) HBM_MUST_USE;

#endif
