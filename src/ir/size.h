/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_SIZE_H
#define HBM_IR_SIZE_H

/* Bytes of a tensor from what its declaration says. */

#include "ir/program.h"

typedef enum hbm_sizing {
	HBM_SIZING_KNOWN,
	HBM_SIZING_DYNAMIC,  /* an extent has no upper bound */
	HBM_SIZING_OVERFLOW, /* above HBM_MAX_BYTES */
	HBM_SIZING_NONE,     /* no dtype, no extents, no size */
} hbm_sizing;

/* Product of the upper bounds; OVERFLOW beyond 64 bits. No extents: 1. */
hbm_sizing hbm_span_elements(const hbm_program *p, hbm_span dims, uint64_t *ret);

/* Size of a tensor: `size` when it was given (or set by a sizing pass); else the
 * device layout (product of all extents but the last, times `stick`); else
 * extents times element bits, rounded up to bytes; else, for a view without a
 * type, what is left of its base. `bits` 0: as the dtype says; `stick` 0: 128.
 * *ret is set when KNOWN. The chain of views must have no cycle; cost is the
 * number of untyped views up to the first one with a size. */
hbm_sizing hbm_tensor_natural_size(const hbm_program *p, hbm_tensor_id t, uint32_t bits,
                                   uint64_t stick, uint64_t *ret);

/* How many tiles a tensor of kind `tile` is made of: the trips of the loops that an
 * access advances it on, multiplied; of several accesses the most, since nests
 * behind each other go over the same tiles. 1 for other tensors. */
typedef struct hbm_tiles {
	uint64_t *factor; /* tensor -> factor; saturates */
	bool *unknown;    /* tensor -> it advances on a loop without trip count */
} hbm_tiles;

hbm_status hbm_tiles_count(hbm_arena *a, const hbm_program *p,
                           hbm_tiles *ret) HBM_MUST_USE;

#endif
