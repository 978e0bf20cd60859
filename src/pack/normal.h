/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_NORMAL_H
#define HBM_PACK_NORMAL_H

/* From a problem to one instance and back. */

#include "pack/internal.h"

typedef struct hbm_normal {
	hbm_inst inst;      /* n 0: nothing can conflict */
	uint64_t unit;      /* bytes in one unit of the instance */
	/* The item of each buffer; HBM_NONE: it has no bytes or no life, and lies
	 * at its pin or at 0. */
	uint32_t *item_of;
	uint64_t *shift;    /* distance of each buffer from its item, in bytes;
	                     * NULL: 0 */
	uint64_t rest_end;  /* highest end of a buffer that has no item, bytes */
	uint64_t lower_bound; /* of the problem, bytes */
	int64_t peak_time;  /* where the pressure bound is reached */
} hbm_normal;

/* Errors: demands that no placement can meet (alignments or pins of one set that
 * contradict each other). Memory stays in `keep`. */
hbm_status hbm_normalise(hbm_arena *keep, hbm_arena *scratch, const hbm_problem *p,
                         hbm_diags *d, hbm_normal *ret) HBM_MUST_USE;
/* Offsets of buffers, in bytes, from those of items. */
void hbm_denormalise(const hbm_normal *nm, const hbm_problem *p,
                     const uint64_t *item_offset, uint64_t *ret);

/* Sets lower_bound and peak_tick: pressure, with pins and alignment. */
hbm_status hbm_inst_bound(hbm_arena *scratch, hbm_inst *in) HBM_MUST_USE;

#endif
