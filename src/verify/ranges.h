/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_RANGES_H
#define HBM_VERIFY_RANGES_H

/* A map from byte ranges of numbered spaces to values: the memory that the
 * checker and the simulator look at. Holds pieces, not bytes, so the size of a
 * space costs nothing.
 *
 * Method     A treap over (space, lo) of pieces that never overlap. Priorities
 *            are a fixed hash of the node's number: same calls, same tree.
 *            Equal neighbours become one piece.
 * Cost       O(log n) a call and piece touched, expected; no recursion. */

#include "base/diag.h"

/* What a byte holds. `origin` makes bytes of one write distinct: the address (in
 * the map's own terms) at which the write began, modulo 2^64. */
typedef struct hbm_cargo {
	uint64_t token, origin;
	uint32_t who;
} hbm_cargo;

typedef struct hbm_piece {
	uint64_t lo, hi; /* half open, lo < hi */
	uint32_t space;
	hbm_cargo cargo;
} hbm_piece;

typedef struct hbm_piece_node {
	hbm_piece piece;
	uint32_t left, right;
} hbm_piece_node;

typedef struct hbm_ranges {
	hbm_arena *arena;
	HBM_VEC(hbm_piece_node) nodes; /* node 0 is "none" */
	uint32_t root, free;
} hbm_ranges;

hbm_status hbm_ranges_init(hbm_ranges *r, hbm_arena *arena) HBM_MUST_USE;
/* Forgets everything; keeps the memory. */
void hbm_ranges_clear(hbm_ranges *r);
/* The first piece of the space that meets [lo, hi), NULL: none. Valid until the
 * next change. */
const hbm_piece *hbm_ranges_find(const hbm_ranges *r, uint32_t space, uint64_t lo,
                                 uint64_t hi);
/* [lo, hi) holds `cargo` from now on. False: out of memory. */
bool hbm_ranges_put(hbm_ranges *r, uint32_t space, uint64_t lo, uint64_t hi,
                    hbm_cargo cargo) HBM_MUST_USE;
/* [lo, hi) holds nothing from now on. False: out of memory. */
bool hbm_ranges_cut(hbm_ranges *r, uint32_t space, uint64_t lo,
                    uint64_t hi) HBM_MUST_USE;

#endif
