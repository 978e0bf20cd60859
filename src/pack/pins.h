/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_PINS_H
#define HBM_PACK_PINS_H

#include "pack/internal.h"

/* Two pinned items that live together on the same bytes: the first, in order of
 * number, that meets one before it. *ret_a HBM_NONE: there are none. */
hbm_status hbm_pins_meet(hbm_arena *scratch, const hbm_inst *in, uint32_t *ret_a,
                         uint32_t *ret_b) HBM_MUST_USE;

#endif
