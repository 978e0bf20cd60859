/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_BLOCKS_H
#define HBM_PACK_BLOCKS_H

/* Several blocks instead of one, for devices that cannot allocate one as large as
 * the extent. */

#include "pack/problem.h"

/* Places with hbm_solve when p->max_block is 0; else in blocks of at most that many
 * bytes. A buffer lies in one block; its offset is in that block; the extent is the
 * sum of the blocks' extents, and the capacity bounds that sum. */
hbm_status hbm_solve_blocks(hbm_arena *a, const hbm_problem *p,
                            const hbm_solve_opts *opts, hbm_diags *d,
                            hbm_placement *ret) HBM_MUST_USE;

#endif
