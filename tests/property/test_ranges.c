/* SPDX-License-Identifier: Apache-2.0 */
/* The range map against an array of bytes: any order of calls leaves the same bytes
 * with the same cargo, in the fewest pieces. */
#include "support/gen_program.h"
#include "support/test.h"
#include "verify/ranges.h"

enum { SPACES = 3, BYTES = 200, CALLS = 40000 };

typedef struct model {
	uint32_t byte[SPACES][BYTES]; /* 0: nothing, else 1 + cargo */
} model;

static hbm_cargo cargo_of(uint32_t v)
{
	return (hbm_cargo){.token = v * 3, .origin = v * 5, .who = v};
}

static void expect_equal(const hbm_ranges *r, const model *m)
{
	for (uint32_t s = 0; s < SPACES; s++) {
		uint64_t at = 0;
		while (at < BYTES) {
			const hbm_piece *p = hbm_ranges_find(r, s, at, BYTES);
			uint64_t lo = p ? (p->lo > at ? p->lo : at) : BYTES;
			for (uint64_t i = at; i < lo; i++)
				assert_int_equal(m->byte[s][i], 0);
			if (!p)
				break;
			for (uint64_t i = lo; i < p->hi; i++)
				assert_int_equal(m->byte[s][i], p->cargo.who + 1);
			assert_int_equal(p->cargo.token, p->cargo.who * 3);
			/* Its neighbour holds something else. */
			if (p->hi < BYTES)
				assert_int_not_equal(m->byte[s][p->hi], p->cargo.who + 1);
			at = p->hi;
		}
	}
}

static void test_against_bytes(void **state)
{
	test_room *room = *state;
	uint64_t rng = 7;
	hbm_ranges r;
	model m = {0};

	assert_int_equal(hbm_ranges_init(&r, &room->arena), HBM_OK);
	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t s = (uint32_t)gen_below(&rng, SPACES);
		uint64_t lo = gen_below(&rng, BYTES), hi = lo + gen_below(&rng, 30);
		uint32_t v = (uint32_t)gen_below(&rng, 4);
		bool put = gen_below(&rng, 3) > 0;
		hi = hi < BYTES ? hi : BYTES;
		if (put)
			assert_true(hbm_ranges_put(&r, s, lo, hi, cargo_of(v)));
		else
			assert_true(hbm_ranges_cut(&r, s, lo, hi));
		for (uint64_t k = lo; k < hi; k++)
			m.byte[s][k] = put ? v + 1 : 0;
		if (i % 16 == 0)
			expect_equal(&r, &m);
		if (i % 5000 == 4999) {
			hbm_ranges_clear(&r);
			m = (model){0};
		}
	}
	expect_equal(&r, &m);
	assert_true(r.nodes.n < SPACES * BYTES + 3); /* freed nodes are used again */
}

static void test_edges(void **state)
{
	test_room *room = *state;
	hbm_cargo one = {.who = 1}, two = {.who = 2};
	const hbm_piece *p;
	hbm_ranges r;

	assert_int_equal(hbm_ranges_init(&r, &room->arena), HBM_OK);
	assert_true(hbm_ranges_put(&r, 0, 5, 5, one));
	assert_null(hbm_ranges_find(&r, 0, 0, UINT64_MAX));
	assert_true(hbm_ranges_put(&r, 0, 0, UINT64_MAX, one));
	assert_true(hbm_ranges_put(&r, 0, 7, UINT64_MAX, two));
	assert_true(hbm_ranges_put(&r, 1, 0, 1, two));
	p = hbm_ranges_find(&r, 0, UINT64_MAX - 1, UINT64_MAX);
	assert_non_null(p);
	assert_true(p->lo == 7 && p->hi == UINT64_MAX && p->cargo.who == 2);
	assert_null(hbm_ranges_find(&r, 0, 3, 3));
	assert_null(hbm_ranges_find(&r, 2, 0, UINT64_MAX));
	assert_true(hbm_ranges_cut(&r, 0, 0, UINT64_MAX));
	assert_null(hbm_ranges_find(&r, 0, 0, UINT64_MAX));
	assert_non_null(hbm_ranges_find(&r, 1, 0, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {ROOM_TEST(test_against_bytes),
	                                   ROOM_TEST(test_edges)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
