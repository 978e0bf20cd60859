/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PASS_POOL_H
#define HBM_PASS_POOL_H

/* Between the two files of hbm-pool: which storages (hbm_pool.c), and where
 * (pool_solve.c). */

#include "pass/pass.h"

/* One bundle's candidates ids[0..n) in the seed's order, and what was found. */
typedef struct hbm_pool_job {
	hbm_node_id bundle;
	const hbm_storage_id *ids;
	uint32_t n;
	hbm_status status;
	uint64_t capacity;
	uint64_t *offset;     /* n items, HBM_NO_OFFSET: does not fit */
	uint64_t extent, lower_bound, bump, no_reuse;
	uint32_t n_placed;
	hbm_outcome outcome;
	const char *allocator;
} hbm_pool_job;

/* Fills in every job. Bundles are independent: they are solved side by side on
 * opts->threads threads, with the same result for any number. Offsets live in
 * `arenas`, which the caller releases with hbm_pool_release. */
typedef struct hbm_pool_arenas {
	hbm_arena *items;
	uint32_t n;
} hbm_pool_arenas;

hbm_status hbm_pool_solve(hbm_pass_cx *cx, hbm_pool_job *jobs, uint32_t n,
                          hbm_pool_arenas *arenas) HBM_MUST_USE;
void hbm_pool_release(hbm_pool_arenas *arenas);

#endif
