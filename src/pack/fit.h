/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_FIT_H
#define HBM_PACK_FIT_H

/* Placing in a given order over the interval index: what first-fit, best-fit and
 * the size, life and area orders have in common. */

#include "pack/index.h"

typedef enum hbm_fit_rule {
	HBM_FIT_LOWEST,   /* the lowest gap */
	HBM_FIT_TIGHTEST, /* the smallest of the first gaps */
} hbm_fit_rule;

/* Falling key first; equal keys by number. key NULL: by number. Pinned items
 * come before all others. */
hbm_status hbm_fit(hbm_pack_cx *cx, const hbm_inst *in, const uint64_t *key,
                   hbm_fit_rule rule, const char *by, hbm_answer *ans) HBM_MUST_USE;

/* The same, but what would pass `cap` stays out; offset gets HBM_NO_OFFSET
 * there. */
hbm_status hbm_fit_some(hbm_pack_cx *cx, const hbm_inst *in, const uint64_t *key,
                        hbm_fit_rule rule, uint64_t cap,
                        uint64_t *offset) HBM_MUST_USE;

/* Keys: ticks, bytes x ticks (saturating), the tick of death. */
hbm_status hbm_life_keys(hbm_arena *a, const hbm_inst *in,
                         uint64_t **ret) HBM_MUST_USE;
hbm_status hbm_area_keys(hbm_arena *a, const hbm_inst *in,
                         uint64_t **ret) HBM_MUST_USE;
hbm_status hbm_end_keys(hbm_arena *a, const hbm_inst *in,
                        uint64_t **ret) HBM_MUST_USE;

#endif
