/* SPDX-License-Identifier: Apache-2.0
 * The exact allocator against trying everything, on thousands of small random
 * instances: plain, aligned, pinned, with gaps, windows and groups; with each
 * pruning rule off; scaled, reversed in time, with one more item. */
#include "pack/exact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ITEMS = 9, MAX_PIECES = 3 * MAX_ITEMS, NO_CAP = 40 };

typedef struct instance {
	hbm_inst in;
	uint64_t size[MAX_ITEMS], mod[MAX_ITEMS], rest[MAX_ITEMS], pin[MAX_ITEMS];
	uint32_t start[MAX_ITEMS], end[MAX_ITEMS], group[MAX_PIECES];
	hbm_piece pieces[MAX_PIECES];
	uint32_t piece_first[MAX_ITEMS + 1];
} instance;

static uint32_t below(uint64_t *seed, uint32_t n)
{
	return (uint32_t)(hbm_rand(seed) % n);
}

/* ---- an independent judge ---------------------------------------------- */

static uint32_t count_pieces(const hbm_inst *in, uint32_t i)
{
	return in->pieces ? in->piece_first[i + 1] - in->piece_first[i] : 1;
}

static hbm_piece piece_of(const hbm_inst *in, uint32_t i, uint32_t k)
{
	if (in->pieces)
		return in->pieces[in->piece_first[i] + k];
	return (hbm_piece){in->start[i], in->end[i], 0, in->size[i]};
}

/* Group of piece k of item i. */
static uint32_t group_of(const hbm_inst *in, uint32_t i, uint32_t k)
{
	if (!in->group)
		return HBM_NONE;
	return in->group[in->pieces ? in->piece_first[i] + k : i];
}

static bool meet(const hbm_inst *in, uint32_t i, uint64_t at_i, uint32_t j,
                 uint64_t at_j)
{
	for (uint32_t k = 0; k < count_pieces(in, i); k++)
		for (uint32_t l = 0; l < count_pieces(in, j); l++) {
			hbm_piece u = piece_of(in, i, k), v = piece_of(in, j, l);

			uint32_t g = group_of(in, i, k);

			if (g != HBM_NONE && g == group_of(in, j, l))
				continue;
			if (u.start < v.end && v.start < u.end &&
			    at_i + u.lo < at_j + v.hi && at_j + v.lo < at_i + u.hi)
				return true;
		}
	return false;
}

static bool may_lie(const hbm_inst *in, uint32_t i, uint64_t at, const uint64_t *off)
{
	if (in->mod && at % in->mod[i] != in->rest[i])
		return false;
	if (in->pin && in->pin[i] != HBM_NO_OFFSET && in->pin[i] != at)
		return false;
	for (uint32_t j = 0; j < i; j++)
		if (meet(in, i, at, j, off[j]))
			return false;
	return true;
}

static bool try_all(const hbm_inst *in, uint32_t i, uint64_t cap, uint64_t *off)
{
	if (i == in->n)
		return true;
	for (off[i] = 0; off[i] + in->size[i] <= cap; off[i]++)
		if (may_lie(in, i, off[i], off) && try_all(in, i + 1, cap, off))
			return true;
	return false;
}

/* Bytes needed at tick t, if no group lets items lie on each other. */
static uint64_t load(const hbm_inst *in, uint32_t t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < in->n; i++)
		for (uint32_t k = 0; k < count_pieces(in, i); k++) {
			hbm_piece p = piece_of(in, i, k);

			sum += p.start <= t && t < p.end ? p.hi - p.lo : 0;
		}
	return sum;
}

static uint64_t brute_extent(const hbm_inst *in)
{
	uint64_t off[MAX_ITEMS], low = 0;

	for (uint32_t t = 0; t < in->n_ticks && !in->group; t++)
		low = load(in, t) > low ? load(in, t) : low;
	for (uint64_t cap = low; cap <= NO_CAP; cap++)
		if (try_all(in, 0, cap, off))
			return cap;
	return HBM_NO_OFFSET;
}

/* ---- random instances --------------------------------------------------- */

static void random_pieces(instance *x, uint64_t *seed, bool windows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->in.n; i++) {
		x->piece_first[i] = n;
		for (uint32_t t = x->start[i]; t < x->end[i];) {
			uint32_t len = 1 + below(seed, x->end[i] - t);
			hbm_piece p = {t, t + len, 0, x->size[i]};

			if (windows && t > x->start[i] && below(seed, 2)) {
				p.lo = below(seed, (uint32_t)x->size[i]);
				p.hi = p.lo + 1 +
				       below(seed, (uint32_t)(x->size[i] - p.lo));
			}
			if (n - x->piece_first[i] < 2)
				x->pieces[n++] = p;
			t += len + below(seed, 2);
		}
	}
	x->piece_first[x->in.n] = n;
	x->in.pieces = x->pieces;
	x->in.piece_first = x->piece_first;
	x->in.features |= HBM_F_PIECES;
}

static void random_instance(instance *x, uint64_t *seed, uint32_t kind)
{
	uint32_t n = 1 + below(seed, 8), n_ticks = 1 + below(seed, 6);
	uint32_t max_size = 1 + below(seed, 5);
	uint32_t n_pins = kind & HBM_F_PINS ? below(seed, n + 1) / 2 : 0;

	memset(x, 0, sizeof *x);
	x->in = (hbm_inst){.n = n,
	                   .n_ticks = n_ticks,
	                   .size = x->size,
	                   .start = x->start,
	                   .end = x->end};
	for (uint32_t i = 0; i < n; i++) {
		x->size[i] = 1 + below(seed, max_size);
		x->start[i] = below(seed, n_ticks);
		x->end[i] = x->start[i] + 1 + below(seed, n_ticks - x->start[i]);
		x->mod[i] = 1;
		x->pin[i] = HBM_NO_OFFSET;
		if (kind & HBM_F_ALIGN) {
			x->mod[i] = 1 + below(seed, 4);
			x->rest[i] =
				below(seed, 2) ? 0 : below(seed, (uint32_t)x->mod[i]);
		}
		if (i < n_pins) /* first, so that a clash ends the brute force soon */
			x->pin[i] = x->rest[i] + x->mod[i] * below(seed, 6);
	}
	if (kind & HBM_F_ALIGN) {
		x->in.mod = x->mod;
		x->in.rest = x->rest;
	}
	if (kind & HBM_F_PINS)
		x->in.pin = x->pin;
	if (kind & HBM_F_GROUPS)
		for (uint32_t k = 0; k < MAX_PIECES; k++)
			x->group[k] = below(seed, 2) ? HBM_NONE : below(seed, 2);
	if (kind & HBM_F_GROUPS)
		x->in.group = x->group;
	x->in.features = kind;
	if (kind & HBM_F_PIECES)
		random_pieces(x, seed, kind & HBM_F_HINTS);
}

/* ---- running ------------------------------------------------------------ */

static uint64_t exact_extent(const hbm_inst *in, uint64_t disabled, uint64_t cap)
{
	uint64_t off[MAX_ITEMS];
	hbm_arena scratch;
	hbm_answer ans = {.offset = off, .extent = HBM_NO_OFFSET, .cap = cap};
	hbm_pack_cx cx = {.scratch = &scratch,
	                  .max_steps = UINT64_MAX,
	                  .disabled = disabled,
	                  .effort = 5};

	hbm_arena_init(&scratch, NULL);
	assert_int_equal(hbm_alloc_exact(&cx, in, &ans), HBM_OK);
	hbm_arena_fini(&scratch);
	if (ans.extent == HBM_NO_OFFSET) {
		assert_true(ans.lower_bound > cap);
		return HBM_NO_OFFSET;
	}
	assert_int_equal(ans.extent, hbm_inst_extent(in, off));
	assert_int_equal(ans.extent, ans.lower_bound);
	for (uint32_t i = 0; i < in->n; i++)
		assert_true(may_lie(in, i, off[i], off));
	return ans.extent;
}

static void check_kind(uint32_t kind, uint32_t n_rounds)
{
	uint64_t seed = kind;

	for (uint32_t round = 0; round < n_rounds; round++) {
		instance x;
		uint64_t want;

		random_instance(&x, &seed, kind);
		want = brute_extent(&x.in);
		assert_int_equal(exact_extent(&x.in, 0, NO_CAP), want);
		if (want == HBM_NO_OFFSET)
			continue;
		assert_int_equal(exact_extent(&x.in, 0, want), want);
		assert_int_equal(exact_extent(&x.in, 0, want - 1), HBM_NO_OFFSET);
		for (uint64_t bit = 1; bit < HBM_X_ALL; bit <<= 1)
			assert_int_equal(exact_extent(&x.in, bit, NO_CAP), want);
		assert_int_equal(exact_extent(&x.in, HBM_X_ALL, NO_CAP), want);
	}
}

static void plain(void **state)
{
	(void)state;
	check_kind(0, 600);
}

static void aligned(void **state)
{
	(void)state;
	check_kind(HBM_F_ALIGN, 250);
}

static void pinned(void **state)
{
	(void)state;
	check_kind(HBM_F_PINS, 250);
	check_kind(HBM_F_PINS | HBM_F_ALIGN, 250);
}

static void gaps(void **state)
{
	(void)state;
	check_kind(HBM_F_PIECES, 250);
	check_kind(HBM_F_PIECES | HBM_F_PINS | HBM_F_ALIGN, 250);
}

/* HBM_F_HINTS stands for windows here. */
static void windows_and_groups(void **state)
{
	(void)state;
	check_kind(HBM_F_PIECES | HBM_F_HINTS, 250);
	check_kind(HBM_F_PIECES | HBM_F_HINTS | HBM_F_PINS | HBM_F_ALIGN, 150);
	check_kind(HBM_F_GROUPS, 200);
	check_kind(HBM_F_GROUPS | HBM_F_PIECES | HBM_F_HINTS, 200);
}

/* ---- laws --------------------------------------------------------------- */

static void reverse_time(instance *x)
{
	for (uint32_t i = 0; i < x->in.n; i++) {
		uint32_t start = x->start[i];

		x->start[i] = x->in.n_ticks - x->end[i];
		x->end[i] = x->in.n_ticks - start;
	}
}

static void laws(void **state)
{
	uint64_t seed = 99;

	(void)state;
	for (uint32_t round = 0; round < 1000; round++) {
		instance x;
		uint64_t extent;

		random_instance(&x, &seed, 0);
		extent = exact_extent(&x.in, 0, HBM_NO_OFFSET);
		reverse_time(&x);
		assert_int_equal(exact_extent(&x.in, 0, HBM_NO_OFFSET), extent);
		if (x.in.n > 1) {
			x.in.n--;
			assert_true(exact_extent(&x.in, 0, HBM_NO_OFFSET) <= extent);
			x.in.n++;
		}
		for (uint32_t i = 0; i < x.in.n; i++)
			x.size[i] *= 1000003;
		x.in.lower_bound = 0;
		assert_int_equal(exact_extent(&x.in, 0, HBM_NO_OFFSET),
		                 extent * 1000003);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(aligned),
		cmocka_unit_test(pinned),
		cmocka_unit_test(gaps),
		cmocka_unit_test(windows_and_groups),
		cmocka_unit_test(laws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
