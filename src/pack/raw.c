/* SPDX-License-Identifier: Apache-2.0
 * Items from buffers: a colocation set is one, with the alignments and pins of all its
 * members; any other buffer is one if it has bytes and life. Alignments of members at
 * several shifts join to one modulus by the Chinese remainder theorem. */
#include "pack/raw.h"
#include "pack/internal.h"

#include <inttypes.h>

__extension__ typedef unsigned __int128 u128;

static uint64_t align_of(const hbm_problem *p, uint32_t i)
{
	return p->align ? p->align[i] : 1;
}

/* Every buffer with bytes and life is an item; so is every set. */
static hbm_status number_items(hbm_arena *scratch, const hbm_problem *p, hbm_raw *r)
{
	uint64_t *key;
	uint32_t *ids, n_ids = 0, last = HBM_NONE;

	for (uint32_t i = 0; i < p->n; i++)
		r->of[i] = !hbm_in_set(p, i) && hbm_has_life(p, i) ? r->n++ : HBM_NONE;
	if (!p->set)
		return HBM_OK;
	ids = HBM_ARRAY(scratch, uint32_t, p->n);
	key = HBM_ARRAY(scratch, uint64_t, p->n);
	HBM_NEED(ids && key);
	for (uint32_t i = 0; i < p->n; i++) {
		key[i] = p->set[i];
		if (hbm_in_set(p, i))
			ids[n_ids++] = i;
	}
	r->sets = n_ids > 0;
	HBM_TRY(hbm_sort_ids(scratch, ids, n_ids, key));
	for (uint32_t k = 0; k < n_ids; k++) {
		r->n += p->set[ids[k]] != last;
		last = p->set[ids[k]];
		r->of[ids[k]] = r->n - 1;
	}
	return HBM_OK;
}

static hbm_status list_members(hbm_arena *scratch, const hbm_problem *p, hbm_raw *r)
{
	r->first = HBM_ZARRAY(scratch, uint32_t, (size_t)r->n + 2);
	r->members = HBM_ARRAY(scratch, uint32_t, p->n);
	HBM_NEED(r->first && r->members);
	for (uint32_t i = 0; i < p->n; i++)
		if (r->of[i] != HBM_NONE)
			r->first[r->of[i] + 2]++;
	for (uint32_t k = 0; k < r->n; k++)
		r->first[k + 2] += r->first[k + 1];
	for (uint32_t i = 0; i < p->n; i++)
		if (r->of[i] != HBM_NONE)
			r->members[r->first[r->of[i] + 1]++] = i;
	return HBM_OK;
}

/* Inverse of a modulo m; a and m have no common divisor. */
static uint64_t inverse(uint64_t a, uint64_t m)
{
	u128 old_s = 1, s = 0;
	uint64_t old_r = a % m, r = m;

	while (r) {
		uint64_t q = old_r / r, next_r = old_r % r;
		u128 next_s = (old_s + (u128)m * m - (u128)q * s % m) % m;

		old_r = r, r = next_r;
		old_s = s, s = next_s;
	}
	return (uint64_t)(old_s % m);
}

/* Joins x % *m == *r with x % m2 == r2; false: no x, or the modulus overflows. */
static bool join_moduli(uint64_t *m, uint64_t *r, uint64_t m2, uint64_t r2)
{
	uint64_t g = hbm_gcd(*m, m2), step = m2 / g, gap, k;

	if (r2 % g != *r % g)
		return false;
	if (step > 1) {
		gap = (uint64_t)(((u128)r2 + (u128)m2 * (*r / m2 + 1) - *r) % m2) / g;
		k = (uint64_t)((u128)gap * inverse(*m / g % step, step) % step);
		if ((u128)*m * step >= (u128)1 << 62)
			return false;
		*r += *m * k;
		*m *= step;
	}
	return true;
}

static hbm_status bad_set(hbm_diags *d, const hbm_problem *p, uint32_t i,
                          const char *what)
{
	return hbm_fail(d, HBM_SEMANTIC, HBM_E_PROBLEM, HBM_NOWHERE,
	                "buffer %" PRIu32 ": %s contradicts another member of "
	                "colocation set %" PRIu32,
	                i, what, p->set[i]);
}

static void add_life(hbm_raw *r, uint32_t k, int64_t start, int64_t end)
{
	if (r->start[k] >= r->end[k]) {
		r->start[k] = start;
		r->end[k] = end;
		return;
	}
	if (start < r->start[k])
		r->start[k] = start;
	if (end > r->end[k])
		r->end[k] = end;
}

/* Joins buffer i into its item k; the set's lowest shift is known. */
static hbm_status add_member(const hbm_problem *p, uint32_t i, hbm_diags *d,
                             hbm_raw *r)
{
	uint32_t k = r->of[i];
	uint64_t shift = hbm_shift_of(p, i) - (r->base ? r->base[k] : 0);
	uint64_t align = align_of(p, i), pin = p->pin ? p->pin[i] : HBM_NO_OFFSET;

	if (shift + p->size[i] > r->size[k])
		r->size[k] = shift + p->size[i];
	if (hbm_has_life(p, i))
		add_life(r, k, p->start[i], p->end[i]);
	if (align > 1 && !join_moduli(&r->mod[k], &r->rest[k], align,
	                              (align - shift % align) % align))
		return bad_set(d, p, i, "its alignment");
	if (pin != HBM_NO_OFFSET) {
		if (pin < shift ||
		    (r->pin[k] != HBM_NO_OFFSET && r->pin[k] != pin - shift))
			return bad_set(d, p, i, "its pinned offset");
		r->pin[k] = pin - shift;
	}
	if (p->hint && p->hint[i] != HBM_NO_OFFSET && r->hint[k] == HBM_NO_OFFSET &&
	    p->hint[i] >= shift && p->hint[i] < (uint64_t)1 << 62)
		r->hint[k] = p->hint[i] - shift;
	return HBM_OK;
}

static hbm_status alloc_items(hbm_arena *scratch, const hbm_problem *p, hbm_raw *r)
{
	size_t n = (size_t)r->n + 1;

	r->size = HBM_ZARRAY(scratch, uint64_t, n);
	r->start = HBM_ZARRAY(scratch, int64_t, n);
	r->end = HBM_ZARRAY(scratch, int64_t, n);
	r->mod = p->align ? HBM_ARRAY(scratch, uint64_t, n) : NULL;
	r->rest = p->align ? HBM_ZARRAY(scratch, uint64_t, n) : NULL;
	r->pin = p->pin ? HBM_ARRAY(scratch, uint64_t, n) : NULL;
	r->hint = p->hint ? HBM_ARRAY(scratch, uint64_t, n) : NULL;
	HBM_NEED(r->size && r->start && r->end);
	HBM_NEED(!p->align || (r->mod && r->rest));
	HBM_NEED((!p->pin || r->pin) && (!p->hint || r->hint));
	for (uint32_t k = 0; k < r->n; k++) {
		if (r->mod)
			r->mod[k] = 1;
		if (r->pin)
			r->pin[k] = HBM_NO_OFFSET;
		if (r->hint)
			r->hint[k] = HBM_NO_OFFSET;
	}
	return HBM_OK;
}

static hbm_status lowest_shifts(hbm_arena *scratch, const hbm_problem *p, hbm_raw *r)
{
	r->base = HBM_ARRAY(scratch, uint64_t, (size_t)r->n + 1);
	HBM_NEED(r->base);
	for (uint32_t k = 0; k < r->n; k++)
		r->base[k] = UINT64_MAX;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t k = r->of[i];

		if (k != HBM_NONE && hbm_shift_of(p, i) < r->base[k])
			r->base[k] = hbm_shift_of(p, i);
	}
	return HBM_OK;
}

hbm_status hbm_raw_gather(hbm_arena *scratch, const hbm_problem *p, hbm_diags *d,
                          hbm_raw *r)
{
	HBM_TRY(number_items(scratch, p, r));
	HBM_TRY(alloc_items(scratch, p, r));
	if (r->sets) {
		HBM_TRY(lowest_shifts(scratch, p, r));
		HBM_TRY(list_members(scratch, p, r));
	}
	for (uint32_t i = 0; i < p->n; i++)
		if (r->of[i] != HBM_NONE)
			HBM_TRY(add_member(p, i, d, r));
	for (uint32_t k = 0; k < r->n; k++)
		if (r->start[k] >= r->end[k])
			r->end[k] = r->start[k] + 1;
	return HBM_OK;
}
