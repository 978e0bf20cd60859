/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_MAP_H
#define HBM_BASE_MAP_H

/* Interned strings and a map from 64-bit keys to 32-bit values.
 *
 * Both hash with a fixed function and are never walked in hash order, so
 * nothing that leaves the program depends on it. */

#include "base/vec.h"

/* A string that stands once in a table; equal strings have equal ids. Id 0 is
 * the empty string. */
typedef uint32_t hbm_sym;

typedef struct hbm_str {
	const char *s; /* NUL-ended */
	uint32_t n;
	uint32_t hash;
} hbm_str;

typedef struct hbm_syms {
	hbm_arena *arena;
	HBM_VEC(hbm_str) strs;
	uint64_t *slots; /* hash << 32 | id + 1; 0 is free */
	uint32_t n_slots;
} hbm_syms;

hbm_status hbm_syms_init(hbm_syms *t, hbm_arena *arena) HBM_MUST_USE;
/* Interns n bytes; HBM_NONE: out of memory or longer than 2^30 bytes. */
hbm_sym hbm_intern(hbm_syms *t, const char *s, size_t n) HBM_MUST_USE;
hbm_sym hbm_intern_cstr(hbm_syms *t, const char *s) HBM_MUST_USE;
/* The id of a string that is there already, else HBM_NONE. */
hbm_sym hbm_sym_find(const hbm_syms *t, const char *s, size_t n);
/* NUL-ended text; "" for HBM_NONE. */
const char *hbm_sym_str(const hbm_syms *t, hbm_sym id);
uint32_t hbm_sym_len(const hbm_syms *t, hbm_sym id);

typedef struct hbm_map {
	hbm_arena *arena;
	uint64_t *keys;
	uint32_t *values; /* HBM_NONE: free slot */
	uint32_t n, n_slots;
} hbm_map;

void hbm_map_init(hbm_map *m, hbm_arena *arena);
/* HBM_NONE when the key is not there. */
uint32_t hbm_map_get(const hbm_map *m, uint64_t key);
/* Sets or replaces; `value` must not be HBM_NONE. False: out of memory. */
bool hbm_map_set(hbm_map *m, uint64_t key, uint32_t value) HBM_MUST_USE;

/* Edit distance of two strings, at most `limit`; longer counts as limit + 1.
 * For suggestions beside unknown names. */
uint32_t hbm_edit_distance(const char *a, const char *b, uint32_t limit);

#endif
