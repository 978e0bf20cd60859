/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_SIM_H
#define HBM_VERIFY_SIM_H

/* What the two halves of the simulator share: its memory (sim_memory.c) and its
 * run (simulate.c). */

#include "verify/check.h"
#include "verify/ranges.h"
#include "verify/verify.h"

typedef struct hbm_frame { /* a loop that runs */
	hbm_node_id loop;
	uint64_t done, runs, trips;
} hbm_frame;

typedef struct hbm_sim {
	hbm_check *cx;
	const hbm_program *p;
	hbm_ranges plain;   /* every class has a space of its own */
	hbm_ranges planned; /* bytes lie where the plan puts them */
	uint32_t *op_of;    /* operand -> op */
	uint32_t *kept;     /* write -> the read whose bytes it leaves as they are,
	                     * HBM_NONE: none */
	uint32_t *stamp;    /* storage -> last step that wrote it */
	uint32_t *frame_of; /* node -> its frame, while the loop runs */
	hbm_frame frames[HBM_MAX_DEPTH];
	uint32_t depth;
	hbm_op_id op;       /* that runs; HBM_NONE: after the last */
	uint64_t pieces;    /* that may still be looked at */
	hbm_sim_result r;
} hbm_sim;

/* Bytes [lo, hi) of a class. */
typedef struct hbm_window {
	uint32_t c;
	uint64_t lo, hi;
} hbm_window;

/* The trip a loop is in: the last run is the last trip. */
static inline uint64_t hbm_sim_trip(const hbm_frame *f)
{
	return f->done + 1 == f->runs && f->trips ? f->trips - 1 : f->done;
}

hbm_status hbm_sim_memory(hbm_sim *m) HBM_MUST_USE;
/* What an operand covers in this trip of all loops. */
hbm_window hbm_sim_operand(const hbm_sim *m, const hbm_operand *o);
/* The whole of a tensor. */
hbm_window hbm_sim_tensor(const hbm_sim *m, hbm_tensor_id t);
/* A value of its own in all bytes, by an operand or (see below) from the start. */
hbm_status hbm_sim_put(hbm_sim *m, const hbm_window *w, uint64_t token,
                       uint32_t who) HBM_MUST_USE;
/* Who put a tensor's bytes there before the program ran. */
uint32_t hbm_sim_given(const hbm_sim *m, hbm_tensor_id t);
/* The bytes of another window, as they are. */
hbm_status hbm_sim_copy(hbm_sim *m, const hbm_window *from,
                        const hbm_window *to) HBM_MUST_USE;
/* Compares the two memories; mixes what is there into *digest (may be NULL). Bytes
 * that nobody has written are nobody's concern. */
hbm_status hbm_sim_look(hbm_sim *m, hbm_tensor_id t, const hbm_window *w,
                        uint64_t *digest) HBM_MUST_USE;
/* Forgets what the pool of a bundle holds. */
hbm_status hbm_sim_clear_pool(hbm_sim *m, hbm_node_id bundle) HBM_MUST_USE;

static inline uint64_t hbm_sim_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9fb21c651e98df25u;
	h ^= h >> 31;
	h *= 0xc2b2ae3d27d4eb4fu;
	return h ^ h >> 29;
}

#endif
