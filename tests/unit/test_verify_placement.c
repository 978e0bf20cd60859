/* SPDX-License-Identifier: Apache-2.0
 * The checker of placements against looking at all pairs, and what it stands on. */
#include "base/sort.h"
#include "support/test.h"
#include "verify/live.h"
#include "verify/placement.h"

enum { MOST = 40, ROUNDS = 4000 };

static uint64_t random_below(uint64_t *state, uint64_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % n;
}

typedef struct sample {
	uint64_t size[MOST], offset[MOST];
	int64_t start[MOST], end[MOST];
	uint32_t group[MOST];
	hbm_problem p;
	hbm_placement pl;
} sample;

/* Sparse enough that about half of the samples are legal. */
static void make(sample *s, uint64_t *seed, bool groups)
{
	s->p = (hbm_problem){.n = 1 + (uint32_t)random_below(seed, 10), .size = s->size,
	                     .start = s->start, .end = s->end,
	                     .group = groups ? s->group : NULL,
	                     .capacity = HBM_NO_OFFSET};
	s->pl = (hbm_placement){.offset = s->offset, .outcome = HBM_FEASIBLE};
	for (uint32_t i = 0; i < s->p.n; i++) {
		s->size[i] = random_below(seed, 6);
		s->offset[i] = random_below(seed, 60);
		s->start[i] = (int64_t)random_below(seed, 20) - 10;
		s->end[i] = s->start[i] + (int64_t)random_below(seed, 6);
		s->group[i] = random_below(seed, 2) ? HBM_NONE : i % 3;
		if (s->offset[i] + s->size[i] > s->pl.extent)
			s->pl.extent = s->offset[i] + s->size[i];
	}
}

static bool pair_meets(const sample *s, uint32_t a, uint32_t b)
{
	if (s->p.group && s->group[a] != HBM_NONE && s->group[a] == s->group[b])
		return false;
	return s->size[a] && s->size[b] && s->start[a] < s->end[a] &&
	       s->start[b] < s->end[b] && s->start[a] < s->end[b] &&
	       s->start[b] < s->end[a] && s->offset[a] < s->offset[b] + s->size[b] &&
	       s->offset[b] < s->offset[a] + s->size[a];
}

static bool legal(const sample *s)
{
	for (uint32_t a = 0; a < s->p.n; a++)
		for (uint32_t b = 0; b < a; b++)
			if (pair_meets(s, a, b))
				return false;
	return true;
}

static void all_pairs_agree(void **state)
{
	test_room *room = *state;
	uint64_t seed = 1;
	uint32_t n_legal = 0;

	for (uint32_t k = 0; k < ROUNDS; k++) {
		hbm_arena a;
		sample s;

		make(&s, &seed, k % 2);
		hbm_arena_init(&a, &room->arena.mem);
		assert_int_equal(hbm_verify_placement(&a, &s.p, &s.pl, NULL),
		                 legal(&s) ? HBM_OK : HBM_VERIFY);
		n_legal += legal(&s);
		hbm_arena_fini(&a);
	}
	assert_in_range(n_legal, ROUNDS / 10, ROUNDS - ROUNDS / 10);
}

static void neighbours_in_a_set(void **state)
{
	enum { N = 9000 };
	test_room *room = *state;
	uint64_t seed = 2;
	bool *in = HBM_ZARRAY(&room->arena, bool, N);
	hbm_live l;

	assert_non_null(in);
	assert_int_equal(hbm_live_init(&room->arena, N, &l), HBM_OK);
	for (uint32_t k = 0; k < 3000; k++) {
		uint32_t i = (uint32_t)random_below(&seed, N), at = i, up = i + 1;

		if (in[i])
			hbm_live_remove(&l, i);
		else
			hbm_live_add(&l, i);
		in[i] = !in[i];
		while (at > 0 && !in[at - 1])
			at--;
		while (up < N && !in[up])
			up++;
		assert_int_equal(hbm_live_below(&l, i), at ? at - 1 : HBM_NONE);
		assert_int_equal(hbm_live_above(&l, i), up < N ? up : HBM_NONE);
	}
}

static void radix_sort_is_stable(void **state)
{
	static const uint64_t ranges[] = {1, 7, 5000, (uint64_t)1 << 40, UINT64_MAX};
	enum { N = 500 };
	hbm_keyed x[N], room[N];
	uint64_t seed = 3;

	(void)state;
	for (uint32_t k = 0; k < 200; k++) {
		uint32_t n = (uint32_t)random_below(&seed, N + 1);
		uint64_t range = ranges[k % 5];

		for (uint32_t i = 0; i < n; i++) {
			uint64_t high = random_below(&seed, (uint64_t)1 << 31);

			x[i] = (hbm_keyed){(high << 33 | random_below(&seed, range)) %
			                           range << k % 3,
			                   i};
		}
		hbm_radix_sort(x, room, n);
		for (uint32_t i = 1; i < n; i++)
			assert_true(x[i - 1].key < x[i].key ||
			            (x[i - 1].key == x[i].key && x[i - 1].id < x[i].id));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(all_pairs_agree),
		ROOM_TEST(neighbours_in_a_set),
		cmocka_unit_test(radix_sort_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
