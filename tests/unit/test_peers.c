/* SPDX-License-Identifier: Apache-2.0
 * Faults of other allocators, each with the right answer. How tables are read (line
 * ends, which end a range includes, offsets in some rows only) is in test_csv.c. */
#include "support/test.h"
#include "pack/problem.h"

#include <stdlib.h>
#include <string.h>

static const char *const complete[] = {"auto", "exact"};

static hbm_placement solve_with(hbm_arena *a, const hbm_problem *p, const char *name,
                                uint32_t effort)
{
	hbm_solve_opts opts;
	hbm_placement pl;

	hbm_solve_defaults(&opts);
	opts.allocator = name;
	opts.effort = effort;
	assert_int_equal(hbm_solve(a, p, &opts, NULL, &pl), HBM_OK);
	return pl;
}

static void expect(const hbm_problem *p, hbm_outcome outcome, uint64_t extent)
{
	for (uint32_t k = 0; k < 2; k++) {
		hbm_placement pl;
		hbm_arena a;

		hbm_arena_init(&a, NULL);
		pl = solve_with(&a, p, complete[k], 5);
		assert_int_equal(pl.outcome, outcome);
		if (outcome == HBM_OPTIMAL)
			assert_true(pl.extent == extent);
		hbm_arena_fini(&a);
	}
}

/* minimalloc: "not found" with a buffer of size 0, a crash with an empty life. */
static void nothing_to_place(void **state)
{
	uint64_t size[] = {0, 4, 4};
	int64_t start[] = {0, 0, 1}, end[] = {2, 2, 1};
	hbm_problem p = {.n = 3, .size = size, .start = start, .end = end, .capacity = 4};

	(void)state;
	expect(&p, HBM_OPTIMAL, 4);
	p.n = 1;
	expect(&p, HBM_OPTIMAL, 0);
	p.n = 0;
	expect(&p, HBM_OPTIMAL, 0);
}

/* idealloc does not end when lives are one tick long. */
static void lives_of_one_tick(void **state)
{
	enum { N = 1000 };
	uint64_t size[N];
	int64_t start[N], end[N];
	hbm_problem p = {.n = N, .size = size, .start = start, .end = end,
	                 .capacity = HBM_NO_OFFSET};

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		size[i] = 1 + i % 7;
		start[i] = i / 4;
		end[i] = i / 4 + 1;
	}
	expect(&p, HBM_OPTIMAL, 7 + 6 + 5 + 4);
}

/* The problem is solved, with buffer i there. */
static void expect_at(const hbm_problem *p, uint32_t i, uint64_t offset)
{
	hbm_placement pl;
	hbm_arena a;

	hbm_arena_init(&a, NULL);
	pl = solve_with(&a, p, NULL, 5);
	assert_int_equal(pl.outcome, HBM_OPTIMAL);
	assert_int_equal(pl.offset[i], offset);
	hbm_arena_fini(&a);
}

/* minimalloc never uses a hint. */
static void a_hint_that_costs_nothing(void **state)
{
	uint64_t size[] = {12, 4, 4}, hint[] = {HBM_NO_OFFSET, 8, HBM_NO_OFFSET};
	int64_t start[] = {0, 2, 2}, end[] = {2, 4, 4};
	hbm_problem p = {.n = 3, .size = size, .start = start, .end = end, .hint = hint,
	                 .capacity = 12};

	(void)state;
	expect_at(&p, 1, 8);
}

/* A pin is no wish: it stays where a hint would like to be. */
static void a_hint_yields_to_a_pin(void **state)
{
	uint64_t size[] = {4, 4, 4}, pin[] = {HBM_NO_OFFSET, HBM_NO_OFFSET, 4};
	uint64_t hint[] = {4, HBM_NO_OFFSET, HBM_NO_OFFSET};
	int64_t start[] = {0, 0, 0}, end[] = {2, 2, 2};
	hbm_problem p = {.n = 3, .size = size, .start = start, .end = end, .pin = pin,
	                 .hint = hint, .capacity = 12};

	(void)state;
	expect_at(&p, 2, 4);
}

/* minimalloc fixes every row or none; a missing pin becomes offset -1. */
static void some_are_pinned(void **state)
{
	uint64_t size[] = {4, 4, 4}, pin[] = {HBM_NO_OFFSET, 4, HBM_NO_OFFSET};
	int64_t start[] = {0, 0, 0}, end[] = {2, 2, 2};
	hbm_problem p = {.n = 3, .size = size, .start = start, .end = end, .pin = pin,
	                 .capacity = 12};

	(void)state;
	expect(&p, HBM_OPTIMAL, 12);
	pin[1] = 6; /* 6 bytes below, 2 above */
	expect(&p, HBM_INFEASIBLE, 0);
}

static void chain_of(uint32_t n, const char *name)
{
	uint64_t *size = malloc(n * sizeof *size);
	int64_t *start = malloc(n * sizeof *start), *end = malloc(n * sizeof *end);
	hbm_problem p = {.n = n, .size = size, .start = start, .end = end, .capacity = 12};
	hbm_placement pl;
	hbm_arena a;

	assert_true(size && start && end);
	for (uint32_t i = 0; i < n; i++) {
		size[i] = 4;
		start[i] = i;
		end[i] = (int64_t)i + 2;
	}
	hbm_arena_init(&a, NULL);
	pl = solve_with(&a, &p, name, 5);
	assert_int_equal(pl.outcome, HBM_OPTIMAL);
	assert_int_equal(pl.extent, 8);
	hbm_arena_fini(&a);
	free(size);
	free(start);
	free(end);
}

/* minimalloc recurses once for each buffer and keeps all pairs of sections. */
static void a_long_chain(void **state)
{
	(void)state;
	chain_of(100000, "auto");
	chain_of(5000, "exact");
}

/* Products of size and life, and sums of sizes, pass 64 bits elsewhere. */
static void near_the_limit(void **state)
{
	const uint64_t huge = (uint64_t)1 << 60;
	const int64_t far = (int64_t)1 << 62;
	uint64_t size[] = {huge, huge - 3, huge, 7}, align[] = {1, 1, 1, 1};
	int64_t start[] = {-far, 0, 5, -far}, end[] = {0, far, far, far};
	hbm_problem p = {.n = 4, .size = size, .start = start, .end = end, .align = align,
	                 .capacity = 2 * huge + 4};
	hbm_placement pl;
	hbm_arena a;

	(void)state;
	expect(&p, HBM_OPTIMAL, 2 * huge + 4);
	p.capacity--;
	expect(&p, HBM_INFEASIBLE, 0);
	align[3] = (uint64_t)1 << 61; /* sums no longer stay below 2^62 */
	size[0] = (uint64_t)1 << 61;
	hbm_arena_init(&a, NULL);
	assert_int_equal(hbm_solve(&a, &p, NULL, NULL, &pl), HBM_LIMIT);
	hbm_arena_fini(&a);
}

/* The pieces of a rectangle of side 24, cut at random: they fit into 24, tightly. */
static void cut_up(uint32_t n, uint64_t *size, int64_t *start, int64_t *end)
{
	uint32_t rng = 12345;

	size[0] = 24;
	start[0] = 0;
	end[0] = 24;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t of = 0;

		for (uint32_t k = 1; k < i; k++)
			if (size[k] * (uint64_t)(end[k] - start[k]) >
			    size[of] * (uint64_t)(end[of] - start[of]))
				of = k;
		rng = rng * 1664525u + 1013904223u;
		size[i] = size[of];
		start[i] = start[of];
		end[i] = end[of];
		if (size[of] < 2 || (end[of] - start[of] > 1 && rng >> 31)) {
			end[of] -= (end[of] - start[of]) / 3 + (end[of] - start[of] < 3);
			start[i] = end[of];
		} else {
			size[of] -= size[of] / 3 + (size[of] < 3);
			size[i] -= size[of];
		}
	}
}

/* minimalloc takes a time-out for a proof while it minimises, and TVM's search was
 * refused because its first layout did not fit. */
static void out_of_steps_is_no_proof(void **state)
{
	enum { N = 60 };
	uint64_t size[N];
	int64_t start[N], end[N];
	hbm_problem p = {.n = N, .size = size, .start = start, .end = end, .capacity = 24};

	(void)state;
	cut_up(N, size, start, end);
	for (uint32_t k = 0; k < 2; k++)
		for (uint32_t effort = 0; effort < 3; effort++) {
			hbm_placement pl;
			hbm_arena a;

			hbm_arena_init(&a, NULL);
			pl = solve_with(&a, &p, complete[k], effort);
			assert_true(pl.outcome == HBM_UNKNOWN ||
			            pl.outcome == HBM_OPTIMAL);
			assert_true(pl.lower_bound == 24);
			hbm_arena_fini(&a);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_place),
		cmocka_unit_test(lives_of_one_tick),
		cmocka_unit_test(a_hint_that_costs_nothing),
		cmocka_unit_test(a_hint_yields_to_a_pin),
		cmocka_unit_test(some_are_pinned),
		cmocka_unit_test(a_long_chain),
		cmocka_unit_test(near_the_limit),
		cmocka_unit_test(out_of_steps_is_no_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
