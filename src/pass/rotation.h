/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PASS_ROTATION_H
#define HBM_PASS_ROTATION_H

/* The DRAM rotation window: buffers that live across basic blocks stand one behind
 * the other in a ring of bytes. */

#include "pass/pass.h"

/* Which storages are accessed in more than one block: ret[storage]. A block is a run of
 * ops without the begin or end of a loop between them. *ret_branches: the program has
 * regions or parallel groups, where no such order of blocks exists. */
hbm_status hbm_cross_blocks(hbm_pass_cx *cx, bool **ret,
                            bool *ret_branches) HBM_MUST_USE;

/* Ring of `window` bytes for n buffers in the order of their starts. ret[i]: offset,
 * HBM_NO_OFFSET where the ring has no room for the buffer while it lives. Offsets are
 * multiples of `page` if the sizes are. Returns the highest end. `queue` has room for n
 * items. Linear. */
uint64_t hbm_rotate(uint32_t n, const uint64_t *size, const int64_t *start,
                    const int64_t *end, uint64_t window, uint32_t *queue, uint64_t *ret);

#endif
