/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <string.h>

enum { MAX_STR = 1 << 30, MAX_DISTANCE_LEN = 64 };

static uint32_t hash_bytes(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)s[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ (h >> 32));
}

static uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdu; /* MurmurHash3's finaliser */
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53u;
	return x ^ (x >> 33);
}

hbm_status hbm_syms_init(hbm_syms *t, hbm_arena *arena)
{
	*t = (hbm_syms){.arena = arena};
	return hbm_intern(t, "", 0) == HBM_NONE ? HBM_NOMEM : HBM_OK;
}

/* Strings are looked at only where the whole hash is the same. */
static uint64_t *sym_slot(const hbm_syms *t, const char *s, size_t n, uint32_t h)
{
	uint32_t i = h & (t->n_slots - 1);

	for (;; i = (i + 1) & (t->n_slots - 1)) {
		uint64_t slot = t->slots[i];
		const hbm_str *str;
		if (!slot)
			return &t->slots[i];
		if (slot >> 32 != h)
			continue;
		str = &t->strs.items[(uint32_t)slot - 1];
		if (str->n == n && !memcmp(str->s, s, n))
			return &t->slots[i];
	}
}

static bool syms_grow(hbm_syms *t)
{
	uint32_t n = t->n_slots ? t->n_slots * 2 : 64;
	uint64_t *slots = hbm_arena_grow(t->arena, t->slots, t->n_slots * sizeof *slots,
	                                 n * sizeof *slots);

	if (!slots)
		return false;
	memset(slots, 0, n * sizeof *slots);
	for (uint32_t id = 0; id < t->strs.n; id++) {
		uint32_t h = t->strs.items[id].hash, i = h & (n - 1);
		while (slots[i])
			i = (i + 1) & (n - 1);
		slots[i] = (uint64_t)h << 32 | (id + 1);
	}
	t->slots = slots;
	t->n_slots = n;
	return true;
}

hbm_sym hbm_intern(hbm_syms *t, const char *s, size_t n)
{
	uint32_t h = hash_bytes(s, n);
	uint64_t *slot;
	hbm_str str;

	if (n > MAX_STR)
		return HBM_NONE;
	if ((uint64_t)t->strs.n * 4 >= (uint64_t)t->n_slots * 3 && !syms_grow(t))
		return HBM_NONE;
	slot = sym_slot(t, s, n, h);
	if (*slot)
		return (uint32_t)*slot - 1;
	str = (hbm_str){hbm_arena_strndup(t->arena, s, n), (uint32_t)n, h};
	if (!str.s || !HBM_PUSH(t->arena, &t->strs, str))
		return HBM_NONE;
	*slot = (uint64_t)h << 32 | t->strs.n;
	return t->strs.n - 1;
}

hbm_sym hbm_intern_cstr(hbm_syms *t, const char *s)
{
	return hbm_intern(t, s, strlen(s));
}

hbm_sym hbm_sym_find(const hbm_syms *t, const char *s, size_t n)
{
	uint32_t h = hash_bytes(s, n);
	uint32_t id = t->n_slots ? (uint32_t)*sym_slot(t, s, n, h) : 0;

	return id ? id - 1 : HBM_NONE;
}

const char *hbm_sym_str(const hbm_syms *t, hbm_sym id)
{
	return id < t->strs.n ? t->strs.items[id].s : "";
}

uint32_t hbm_sym_len(const hbm_syms *t, hbm_sym id)
{
	return id < t->strs.n ? t->strs.items[id].n : 0;
}

void hbm_map_init(hbm_map *m, hbm_arena *arena)
{
	*m = (hbm_map){.arena = arena};
}

static uint32_t map_slot(const hbm_map *m, uint64_t key)
{
	uint32_t i = (uint32_t)hash_u64(key) & (m->n_slots - 1);

	while (m->values[i] != HBM_NONE && m->keys[i] != key)
		i = (i + 1) & (m->n_slots - 1);
	return i;
}

uint32_t hbm_map_get(const hbm_map *m, uint64_t key)
{
	return m->n_slots ? m->values[map_slot(m, key)] : HBM_NONE;
}

static bool map_grow(hbm_map *m)
{
	hbm_map next = *m;

	next.n_slots = m->n_slots ? m->n_slots * 2 : 16;
	next.keys = HBM_ARRAY(m->arena, uint64_t, next.n_slots);
	next.values = HBM_ARRAY(m->arena, uint32_t, next.n_slots);
	if (!next.keys || !next.values)
		return false;
	memset(next.values, 0xff, (size_t)next.n_slots * sizeof *next.values);
	for (uint32_t i = 0; i < m->n_slots; i++) {
		uint32_t to;
		if (m->values[i] == HBM_NONE)
			continue;
		to = map_slot(&next, m->keys[i]);
		next.keys[to] = m->keys[i];
		next.values[to] = m->values[i];
	}
	*m = next;
	return true;
}

bool hbm_map_set(hbm_map *m, uint64_t key, uint32_t value)
{
	uint32_t i;

	if ((uint64_t)m->n * 4 >= (uint64_t)m->n_slots * 3 && !map_grow(m))
		return false;
	i = map_slot(m, key);
	m->n += m->values[i] == HBM_NONE;
	m->keys[i] = key;
	m->values[i] = value;
	return true;
}

uint32_t hbm_edit_distance(const char *a, const char *b, uint32_t limit)
{
	uint32_t row[MAX_DISTANCE_LEN + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > MAX_DISTANCE_LEN || m > MAX_DISTANCE_LEN)
		return limit + 1;
	for (uint32_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		uint32_t diag = row[0];
		row[0] = (uint32_t)i;
		for (size_t j = 1; j <= m; j++) {
			uint32_t best = diag + (a[i - 1] != b[j - 1]);
			diag = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[m] <= limit ? row[m] : limit + 1;
}
