/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_INDEX_H
#define HBM_PACK_INDEX_H

/* The interval index: which addresses are taken during a life, and where the
 * next gap is. Knows pieces, groups, moduli. Placing is final. */

#include "pack/internal.h"

typedef struct hbm_index hbm_index;

hbm_status hbm_index_new(hbm_arena *keep, const hbm_inst *in,
                         hbm_index **ret) HBM_MUST_USE;
/* Least offset >= y at which item i meets nothing placed; heeds its modulus, not
 * its pin. Reads the tree anew for each item. */
hbm_status hbm_index_fit(hbm_index *ix, uint32_t i, uint64_t y,
                         uint64_t *ret) HBM_MUST_USE;
/* After hbm_index_fit of the same item: the next one above; the tree is not read
 * again, so nothing may be placed between. */
uint64_t hbm_index_next(hbm_index *ix, uint32_t i, uint64_t y);
/* How far the item could be raised above the y that the last search returned and
 * meet nothing on the way. HBM_NO_OFFSET: for ever. */
uint64_t hbm_index_room(const hbm_index *ix, uint32_t i, uint64_t y);
void hbm_index_place(hbm_index *ix, uint32_t i, uint64_t y);
/* A placed item that meets item i at offset y, HBM_NONE: none. O(n). */
uint32_t hbm_index_blocker(const hbm_index *ix, uint32_t i, uint64_t y,
                           uint32_t *ret_tick);
/* Nodes and spans looked at so far. */
uint64_t hbm_index_steps(const hbm_index *ix);

#endif
