/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_BUMP_H
#define HBM_PACK_BUMP_H

#include "pack/internal.h"

/* Places the whole problem in order of (start, end, index): see bump.c. With
 * keep_going the capacity is a gate; without, all buffers are placed, whatever
 * the extent. offset: n items. UNSUPPORTED: the alignments have no common
 * multiple below 2^62. */
hbm_status hbm_bump(hbm_arena *scratch, const hbm_problem *p, bool keep_going,
                    uint64_t *offset, uint64_t *ret_pool_end) HBM_MUST_USE;

#endif
