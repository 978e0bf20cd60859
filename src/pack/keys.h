/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_KEYS_H
#define HBM_PACK_KEYS_H

/* Priorities for the skyline decoders: life^a x size^b with noise, as sums of
 * logarithms in fixed point, so that every machine sorts alike. */

#include "pack/internal.h"

enum { HBM_LOG_ONE = 1 << 10 }; /* log2 of 2 */

typedef struct hbm_keys {
	const hbm_inst *in;
	uint32_t *log_life, *log_size;
	uint64_t *key;
	uint32_t *room; /* for sorting */
} hbm_keys;

/* How one order is made: key = life * log2(life) + size * log2(size) + noise *
 * u, u in [-1/2, 1/2) of log2; weights in 1 / HBM_LOG_ONE. */
typedef struct hbm_blend {
	int32_t life, size, noise;
} hbm_blend;

/* log2(v) in HBM_LOG_ONE, rounded down; v >= 1. */
uint32_t hbm_log2(uint64_t v);
hbm_status hbm_keys_init(hbm_arena *a, const hbm_inst *in, hbm_keys *ret) HBM_MUST_USE;
/* Items by falling blend; equal ones by number. */
void hbm_keys_order(hbm_keys *k, hbm_blend b, uint64_t *seed, uint32_t *order);
/* A random blend: any direction between life and size, little noise mostly. */
hbm_blend hbm_random_blend(uint64_t *seed);
/* Items by falling key, equal ones by falling `then` (NULL: not), then by number. */
void hbm_keys_order_by(hbm_keys *k, const uint64_t *key, const uint64_t *then,
                       uint32_t *order);

#endif
