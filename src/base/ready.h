/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_READY_H
#define HBM_BASE_READY_H

/* A binary heap of what is ready to run: largest gain first, then least id, so that
 * the order never depends on how they came in. O(log n) a call. */

#include "base/vec.h"

typedef struct hbm_ready {
	int64_t gain;
	uint32_t id;
} hbm_ready;

typedef HBM_VEC(hbm_ready) hbm_ready_heap;

/* False: no memory. */
bool hbm_ready_push(hbm_arena *a, hbm_ready_heap *h, hbm_ready x) HBM_MUST_USE;
/* The first one; there must be one. */
hbm_ready hbm_ready_pop(hbm_ready_heap *h);

#endif
