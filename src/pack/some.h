/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_SOME_H
#define HBM_PACK_SOME_H

#include "pack/internal.h"

/* Places items below `cap` so that the sum of worth[i] is large; HBM_NO_OFFSET:
 * left out. `offset` and `worth` have n items; what `offset` holds already is a
 * placement to beat. Capacity in units of the instance. */
hbm_status hbm_place_some(hbm_pack_cx *cx, const hbm_inst *in, const uint64_t *worth,
                          uint64_t cap, uint64_t *offset) HBM_MUST_USE;

#endif
