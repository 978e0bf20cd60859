/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_HINT_H
#define HBM_PACK_HINT_H

#include "pack/internal.h"

/* Moves items to their hints where that is free and does not raise the extent.
 * `offset` is a complete placement and stays one. */
hbm_status hbm_heed_hints(hbm_arena *scratch, const hbm_inst *in,
                          uint64_t *offset) HBM_MUST_USE;

#endif
