/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_AUTO_H
#define HBM_PACK_AUTO_H

#include "pack/internal.h"

/* The default allocator, on one instance: see auto.c. Above `capacity` it first
 * looks for what fits. */
hbm_status hbm_auto(hbm_pack_cx *cx, const hbm_inst *in, uint64_t capacity,
                    uint32_t threads, hbm_answer *ans) HBM_MUST_USE;

#endif
