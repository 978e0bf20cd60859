/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_LX_BOARD_H
#define HBM_PACK_LX_BOARD_H

/* A scratchpad with items on it, for search and proof: kept legal at any time.
 * The placed items stand in `order` by base. */

#include "pack/lx_core.h"

/* A placed item with all that a scan asks for. */
typedef struct lx_seat {
	int64_t base, top;
	uint32_t lo, hi;
	uint32_t item;
} lx_seat;

typedef struct lx_board {
	const lx_core *c;
	int64_t *base;   /* per item, -1: out */
	lx_seat *order;
	uint32_t n;
	int64_t value;   /* of what is placed */
	int64_t *load;   /* per segment, units in use at least: the first segment of
	                  * a child counts as shared */
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
