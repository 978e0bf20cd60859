/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_LX_BOARD_H
#define HBM_PACK_LX_BOARD_H

/* A scratchpad with items on it, for search and proof: kept legal at any time.
 * The placed items stand in `order` by base. */

#include "pack/lx_core.h"

typedef struct lx_board {
	const lx_core *c;
	int64_t *base;   /* per item, -1: out */
	uint32_t *order;
	uint32_t n;
	int64_t value;   /* of what is placed */
} lx_board;

hbm_status lx_board_init(lx_board *b, const lx_core *c) HBM_MUST_USE;
void lx_board_clear(lx_board *b);
/* Copies the placement; both boards are of one core. */
void lx_board_copy(lx_board *to, const lx_board *from);
/* Takes over a legal placement given as bases (may be the board's own array). */
void lx_board_read(lx_board *b, const int64_t *base);
void lx_board_put(lx_board *b, uint32_t i, int64_t at);
/* Marks an item as out; lx_board_sweep then drops all such from the order. */
void lx_board_drop(lx_board *b, uint32_t i);
void lx_board_sweep(lx_board *b);
/* Puts an item at a partner's base when it is clear there, else into the lowest
 * hole, or with `tight` the one it fills best. False: no room. */
bool lx_board_place(lx_board *b, uint32_t i, bool tight);

#endif
