/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_BITS_H
#define HBM_PACK_BITS_H

/* The skyline decoder for few items, made for trying many orders that differ
 * little: candidates are bit sets, and what two orders share is not decoded
 * again. */

#include "pack/internal.h"
#include "pack/segment.h"

/* One choice of a decode: the valley [from, to) and the item put into it, or
 * HBM_NONE: it was filled up. */
typedef struct hbm_choice {
	uint64_t offset;
	uint32_t from, to, item;
} hbm_choice;

/* The state before some choice. */
typedef struct hbm_checkpoint {
	hbm_segment *seg;
	uint64_t *live;
	uint64_t top, waste;
	uint32_t at, left_over;
} hbm_checkpoint;

/* A decode as it went. Checkpoint k: before choice k * HBM_CHECK_STEPS. */
typedef struct hbm_run {
	hbm_choice *choices;
	hbm_checkpoint *checks;
	uint32_t n_choices;
} hbm_run;

typedef struct hbm_bits {
	const hbm_inst *in;
	uint32_t n_words;
	uint64_t *from, *until; /* rows of n_words by tick, bits by rank */
	uint64_t *live;         /* ranks of unplaced items */
	uint32_t *order, *rank;
	hbm_segment *seg;
	uint32_t waste_shift;   /* heights are counted without these low bits */
	uint64_t *offset;       /* of the kept run */
	hbm_run kept, last;
	uint32_t shared;        /* choices that the last run took from the kept one */
	uint32_t first_check;   /* checkpoints before it are those of the kept run */
	uint32_t up, down;      /* items exchanged since the kept run, HBM_NONE */
	uint64_t steps;
	/* Of the last decode. */
	uint64_t waste;         /* ticks x height above the lower bound */
	bool same;              /* every choice as in the kept run, which has now
	                         * this order; the exchange must stay */
} hbm_bits;

enum { HBM_CHECK_STEPS = 64 };

hbm_status hbm_bits_init(hbm_arena *a, const hbm_inst *in, hbm_bits *b) HBM_MUST_USE;
/* A new order, all items, most wanted first. */
void hbm_bits_order(hbm_bits *b, const uint32_t *order);
/* Exchanges two ranks of the kept order. Once before each decode, and once more to
 * take it back. */
void hbm_bits_exchange(hbm_bits *b, uint32_t x, uint32_t y);
/* The extent, HBM_NO_OFFSET: above the limit. */
uint64_t hbm_bits_decode(hbm_bits *b, uint64_t limit);
/* Makes the last decode, which kept to its limit, the kept one. */
void hbm_bits_keep(hbm_bits *b);

#endif
