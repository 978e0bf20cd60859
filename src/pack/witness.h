/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_WITNESS_H
#define HBM_PACK_WITNESS_H

#include "pack/normal.h"

/* Why a problem proven infeasible is so: see witness.c. Fills witness_tick or
 * witness and n_witness of *out; arrays live in `keep`. `peak`: where the pressure
 * bound is reached. */
hbm_status hbm_find_witness(hbm_arena *keep, const hbm_problem *p, int64_t peak,
                            const hbm_pack_cx *cx, hbm_placement *out) HBM_MUST_USE;

#endif
