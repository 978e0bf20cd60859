/* SPDX-License-Identifier: Apache-2.0
 * `bump` gives exactly the offsets that the pool planner of the Spyre compiler
 * documents: ranges here are closed, as there. */
#include "pack/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { MAX = 8 };
#define NO HBM_NO_OFFSET
#define GIB ((uint64_t)1 << 30)

typedef struct row {
	int64_t first, last;
	uint64_t size, offset;
} row;

typedef struct example {
	const char *what;
	uint64_t limit, pool_end;
	uint32_t n;
	row rows[MAX];
} example;

static const example examples[] = {
	{"the seed's own", 14 * GIB, 256, 4,
	 {{0, 1, 128, 0}, {1, 2, 128, 128}, {2, 3, 128, 0}, {3, 4, 128, 128}}},
	{"free blocks are not merged", 14 * GIB, 1024, 3,
	 {{0, 1, 256, 0}, {0, 1, 256, 256}, {2, 3, 512, 512}}},
	{"a remainder goes to the tail", 14 * GIB, 768, 5,
	 {{0, 1, 512, 0}, {0, 1, 256, 512}, {2, 5, 128, 0}, {2, 5, 256, 512},
	  {2, 5, 256, 128}}},
	{"the end of the pool is the gate", 768, 512, 3,
	 {{0, 1, 256, 0}, {0, 1, 256, 256}, {2, 3, 384, NO}}},
	{"with room above", 1024, 896, 3,
	 {{0, 1, 256, 0}, {0, 1, 256, 256}, {2, 3, 384, 512}}},
	{"order as given among equals", 14 * GIB, 384, 2,
	 {{0, 1, 128, 0}, {0, 1, 256, 128}}},
	{"overflow, then a smaller fit", 200, 192, 3,
	 {{0, 3, 128, 0}, {1, 3, 256, NO}, {2, 3, 64, 128}}},
	{"PA1", 100, 60, 1, {{0, 0, 60, 0}}},
	{"PA2", 100, 0, 1, {{0, 0, 101, NO}}},
	{"PA3", 100, 90, 3, {{0, 9, 50, 0}, {1, 9, 60, NO}, {2, 9, 40, 50}}},
	{"PA5: equality fits", 100, 100, 1, {{0, 0, 100, 0}}},
	{"read and written at one step", 14 * GIB, 384, 2,
	 {{0, 1, 128, 0}, {1, 2, 256, 128}}},
	{"freed in the order of giving", 14 * GIB, 384, 4,
	 {{0, 3, 128, 0}, {1, 2, 256, 128}, {4, 5, 64, 0}, {4, 5, 128, 128}}},
};

static void give(const example *e, hbm_problem *p, int64_t *start, int64_t *end,
                 uint64_t *size)
{
	for (uint32_t i = 0; i < e->n; i++) {
		start[i] = e->rows[i].first;
		end[i] = e->rows[i].last + 1;
		size[i] = e->rows[i].size;
	}
	*p = (hbm_problem){.n = e->n, .size = size, .start = start, .end = end,
	                   .capacity = e->limit};
}

static void test_examples(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
		const example *e = &examples[k];
		int64_t start[MAX], end[MAX];
		uint64_t size[MAX];
		hbm_solve_opts opts;
		hbm_placement out;
		hbm_problem p;
		hbm_arena a;

		print_message("%s\n", e->what);
		hbm_arena_init(&a, NULL);
		give(e, &p, start, end, size);
		hbm_solve_defaults(&opts);
		opts.allocator = "bump";
		opts.keep_going = true;
		assert_int_equal(hbm_solve(&a, &p, &opts, NULL, &out), HBM_OK);
		for (uint32_t i = 0; i < e->n; i++)
			assert_true(out.offset[i] == e->rows[i].offset);
		assert_true(out.extent == e->pool_end);
		assert_string_equal(out.allocator, "bump");
		hbm_arena_fini(&a);
	}
}

/* Without keep_going everything is placed, and the extent tells what it takes. */
static void test_required(void **state)
{
	const example *e = &examples[3];
	int64_t start[MAX], end[MAX];
	uint64_t size[MAX];
	hbm_solve_opts opts;
	hbm_placement out;
	hbm_problem p;
	hbm_arena a;

	(void)state;
	hbm_arena_init(&a, NULL);
	give(e, &p, start, end, size);
	hbm_solve_defaults(&opts);
	opts.allocator = "bump";
	assert_int_equal(hbm_solve(&a, &p, &opts, NULL, &out), HBM_OK);
	assert_int_equal(out.outcome, HBM_UNKNOWN);
	assert_true(out.extent == 896 && out.lower_bound == 512 && out.n_placed == 3);
	opts.allocator = NULL;
	assert_int_equal(hbm_solve(&a, &p, &opts, NULL, &out), HBM_OK);
	assert_int_equal(out.outcome, HBM_OPTIMAL);
	assert_true(out.extent == 512);
	hbm_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_required),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
