/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_VEC_H
#define HBM_BASE_VEC_H

/* Growing array in an arena.
 *
 *     HBM_VEC(int) v = {0};
 *     if (!HBM_PUSH(arena, &v, 3))
 *             return HBM_NOMEM;
 *     for (uint32_t i = 0; i < v.n; i++) use(v.items[i]);
 *
 * At most 2^32 - 2 items: every index is a 32-bit id and HBM_NONE is none. */

#include "base/arena.h"

#define HBM_VEC(type)                                                          \
	struct {                                                               \
		type *items;                                                   \
		uint32_t n, cap;                                               \
	}

/* Makes room for `want` more items; false: out of memory. */
bool hbm_vec_reserve(hbm_arena *a, void **items, uint32_t n, uint32_t *cap,
                     uint64_t want, size_t size) HBM_MUST_USE;

#define HBM_RESERVE(arena, v, want)                                            \
	((uint64_t)(v)->cap - (v)->n >= (uint64_t)(want) ||                    \
	 hbm_vec_reserve((arena), (void **)&(v)->items, (v)->n, &(v)->cap,     \
	                 (want), sizeof *(v)->items))

/* Appends a copy of the value; false: out of memory. */
#define HBM_PUSH(arena, v, ...)                                                \
	(HBM_RESERVE(arena, v, 1) &&                                           \
	 ((v)->items[(v)->n++] = (__VA_ARGS__), true))

#endif
