/* SPDX-License-Identifier: Apache-2.0
 * Memory of the near-linear allocators: at most 250 bytes for each buffer, whatever
 * the lives are like, the answer included and the problem not. */
#include "pack/problem.h"
#include "support/gen_problem.h"
#include "support/test.h"

#include <inttypes.h>

enum { BUFFERS = 6000, MOST_BYTES = 250 };

typedef struct meter {
	uint64_t now, most;
} meter;

static void *meter_alloc(void *user, size_t size)
{
	meter *m = user;

	m->now += size;
	m->most = m->now > m->most ? m->now : m->most;
	return malloc(size);
}

static void meter_release(void *user, void *ptr, size_t size)
{
	meter *m = user;

	m->now -= size;
	free(ptr);
}

typedef struct lives {
	const char *name;
	void (*make)(uint64_t *seed, uint32_t i, int64_t *start, int64_t *end);
} lives;

static void chain(uint64_t *seed, uint32_t i, int64_t *start, int64_t *end)
{
	(void)seed;
	*start = i;
	*end = i + 2;
}

static void all_live(uint64_t *seed, uint32_t i, int64_t *start, int64_t *end)
{
	*start = (int64_t)problem_below(seed, BUFFERS);
	*end = BUFFERS + 1 + i;
}

static void nested(uint64_t *seed, uint32_t i, int64_t *start, int64_t *end)
{
	(void)seed;
	*start = i;
	*end = 2 * BUFFERS - i;
}

/* Lives of all lengths, few of them long. */
static void mixed(uint64_t *seed, uint32_t i, int64_t *start, int64_t *end)
{
	int64_t most = (int64_t)1 << problem_below(seed, 8);

	(void)i;
	*start = (int64_t)problem_below(seed, BUFFERS);
	*end = *start + 1 + (int64_t)problem_below(seed, (uint64_t)most);
}

static const lives shapes[] = {
	{"chain", chain}, {"all live", all_live}, {"nested", nested}, {"mixed", mixed},
};

typedef struct buffers {
	uint64_t size[BUFFERS];
	int64_t start[BUFFERS], end[BUFFERS];
} buffers;

static hbm_problem make(buffers *b, const lives *shape)
{
	uint64_t seed = 7;

	for (uint32_t i = 0; i < BUFFERS; i++) {
		b->size[i] = 64 * (1 + problem_below(&seed, 1000));
		shape->make(&seed, i, &b->start[i], &b->end[i]);
	}
	return (hbm_problem){.n = BUFFERS, .size = b->size, .start = b->start,
	                     .end = b->end, .capacity = HBM_NO_OFFSET};
}

static uint64_t bytes_each(const hbm_problem *p, const char *allocator)
{
	meter m = {0};
	hbm_mem mem = {meter_alloc, meter_release, &m};
	hbm_solve_opts opts;
	hbm_placement pl;
	hbm_arena a;

	hbm_solve_defaults(&opts);
	opts.allocator = allocator;
	if (strcmp(allocator, "auto") == 0)
		opts.effort = 0;
	hbm_arena_init(&a, &mem);
	assert_int_equal(hbm_solve(&a, p, &opts, NULL, &pl), HBM_OK);
	assert_int_equal(pl.n_placed, p->n);
	hbm_arena_fini(&a);
	assert_int_equal(m.now, 0);
	return m.most / p->n;
}

static void near_linear_ones_need_few_bytes(void **state)
{
	buffers *b = malloc(sizeof *b);
	uint32_t n;
	const hbm_allocator_info *all = hbm_allocators(&n);

	(void)state;
	assert_non_null(b);
	for (uint32_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
		hbm_problem p = make(b, &shapes[s]);

		for (uint32_t k = 0; k < n; k++) {
			uint64_t each;

			if (all[k].anytime && strcmp(all[k].name, "auto") != 0)
				continue;
			each = bytes_each(&p, all[k].name);
			if (each > MOST_BYTES)
				fail_msg("%s on %s: %" PRIu64 " bytes for each buffer",
				         all[k].name, shapes[s].name, each);
		}
	}
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_linear_ones_need_few_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
