/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_ARENA_H
#define HBM_BASE_ARENA_H

/* Arena: memory that is taken piece by piece and given back all at once.
 *
 * Every phase owns one (program, analysis, solver, scratch). Nothing in it is
 * freed alone, but an array that outgrew a block of its own is grown in place
 * of its old copy, so a vector wastes at most its last doubling. */

#include "hbmplan/status.h"

typedef struct hbm_block hbm_block;

typedef struct hbm_arena {
	hbm_mem mem;
	hbm_block *head;   /* newest shared block */
	hbm_block *large;  /* blocks that hold one large array each */
	uint64_t in_use;   /* bytes taken from `mem` now */
	uint64_t peak;     /* highest in_use so far */
} hbm_arena;

/* `mem` NULL: libc. */
void hbm_arena_init(hbm_arena *a, const hbm_mem *mem);
/* Gives everything back; the arena can be used again. */
void hbm_arena_fini(hbm_arena *a);

/* `size` bytes, aligned for any type, not cleared. NULL: out of memory or size
 * beyond what a host object can hold. Size 0 gives a unique non-NULL pointer. */
void *hbm_arena_alloc(hbm_arena *a, size_t size) HBM_MUST_USE;
/* Array of n items of `size` bytes, cleared; NULL also when n * size overflows. */
void *hbm_arena_zalloc(hbm_arena *a, size_t n, size_t size) HBM_MUST_USE;
/* Array of n items, not cleared. */
void *hbm_arena_array(hbm_arena *a, size_t n, size_t size) HBM_MUST_USE;
/* Moves `ptr` (old_size bytes, may be NULL) to room for new_size bytes. On
 * failure returns NULL and `ptr` stays valid. */
void *hbm_arena_grow(hbm_arena *a, void *ptr, size_t old_size,
                     size_t new_size) HBM_MUST_USE;
/* NUL-ended copy of n bytes. */
char *hbm_arena_strndup(hbm_arena *a, const char *s, size_t n) HBM_MUST_USE;

/* Typed forms. */
#define HBM_NEW(arena, type) ((type *)hbm_arena_zalloc((arena), 1, sizeof(type)))
#define HBM_ARRAY(arena, type, n)                                              \
	((type *)hbm_arena_array((arena), (n), sizeof(type)))
#define HBM_ZARRAY(arena, type, n)                                             \
	((type *)hbm_arena_zalloc((arena), (n), sizeof(type)))

#endif
