/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_SKY_H
#define HBM_PACK_SKY_H

/* The skyline decoder: from an order of items to a placement. Takes sizes, lives
 * and moduli; no pins, pieces or groups. */

#include "pack/internal.h"

typedef struct hbm_sky hbm_sky;

hbm_status hbm_sky_new(hbm_arena *keep, hbm_arena *scratch, const hbm_inst *in,
                       hbm_sky **ret) HBM_MUST_USE;
/* order: all items, most wanted first. Fills offset and returns the extent, or
 * returns HBM_NO_OFFSET as soon as it would pass `limit`; offset is then partly
 * filled. */
uint64_t hbm_sky_decode(hbm_sky *s, const uint32_t *order, uint64_t limit,
                        uint64_t *offset);
/* Whether the last decode ended because too much area was lost. */
bool hbm_sky_lost(const hbm_sky *s);
/* Nodes and segments looked at so far. */
uint64_t hbm_sky_steps(const hbm_sky *s);

#endif
