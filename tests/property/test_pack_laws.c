/* SPDX-License-Identifier: Apache-2.0
 * Laws of packing, over the whole table of allocators and thousands of random
 * problems with every mixture of demands:
 *
 *   - every placement is legal, by a checker of its own;
 *   - lower bound <= brute force <= exact <= auto <= bump, and exact = brute force;
 *   - nothing depends on the order of the input, on threads, or on time;
 *   - a tighter capacity is refused with a witness that holds;
 *   - what does not fit is left out, and never less is placed than by bump. */
#include "support/gen_problem.h"
#include "support/pack_check.h"
#include "support/test.h"

typedef struct brute {
	const hbm_problem *p;
	uint64_t offset[GEN_MAX], best;
} brute;

static hbm_solve_opts options(const char *allocator)
{
	hbm_solve_opts o;

	hbm_solve_defaults(&o);
	o.allocator = allocator;
	o.effort = 1;
	return o;
}

/* ---- brute force ----------------------------------------------------------- */

/* All offsets, in order of index, below the best extent. */
static void try_all(brute *b, uint32_t i, uint64_t top)
{
	hbm_problem part = *b->p;
	hbm_placement pl = {.offset = b->offset, .n_placed = i + 1};

	if (i == b->p->n) {
		b->best = top;
		return;
	}
	part.n = i + 1;
	for (uint64_t y = 0; y + part.size[i] < b->best; y++) {
		uint64_t now = y + part.size[i] > top ? y + part.size[i] : top;

		b->offset[i] = y;
		pl.extent = now;
		pl.outcome = HBM_FEASIBLE;
		if (!pack_check(&part, &pl, false))
			try_all(b, i + 1, now);
	}
}

static uint64_t least_extent(const hbm_problem *p, uint64_t below)
{
	brute b = {.p = p, .best = below};

	try_all(&b, 0, 0);
	return b.best;
}

/* ---- legal, ordered, the same ---------------------------------------------- */

static bool solve(test_room *room, const hbm_problem *p, const hbm_solve_opts *o,
                  hbm_placement *ret)
{
	hbm_status st = hbm_solve(&room->arena, p, o, NULL, ret);
	const char *wrong;

	if (st == HBM_UNSUPPORTED)
		return false;
	assert_int_equal(st, HBM_OK);
	if (strcmp(ret->allocator, "pins") == 0)
		return false;
	wrong = pack_check(p, ret, o->keep_going);
	if (wrong)
		fail_msg("%s: %s", o->allocator ? o->allocator : "auto", wrong);
	return true;
}

static void same_offsets(const hbm_placement *a, const hbm_placement *b, uint32_t n)
{
	assert_true(a->extent == b->extent && a->lower_bound == b->lower_bound);
	assert_int_equal(a->outcome, b->outcome);
	assert_true(a->steps == b->steps);
	assert_string_equal(a->allocator, b->allocator);
	for (uint32_t i = 0; i < n; i++)
		assert_true(a->offset[i] == b->offset[i]);
}

/* False: some set or pins contradict each other, nothing to check. */
static bool check_table(test_room *room, const hbm_problem *p, hbm_placement *ret_auto,
                        hbm_placement *ret_exact)
{
	hbm_solve_opts o = options("auto"), x = options("exact");
	hbm_placement pl;
	uint32_t n;
	const hbm_allocator_info *all = hbm_allocators(&n);

	if (hbm_solve(&room->arena, p, &o, NULL, &pl) == HBM_SEMANTIC)
		return false;
	if (!solve(room, p, &o, ret_auto))
		return false;
	assert_true(solve(room, p, &x, ret_exact));
	for (uint32_t k = 0; k < n; k++) {
		o = options(all[k].name);
		if (!solve(room, p, &o, &pl))
			continue;
		assert_true(pl.extent >= ret_auto->lower_bound);
		assert_true(ret_exact->outcome != HBM_OPTIMAL ||
		            pl.extent >= ret_exact->extent);
		if (strcmp(all[k].name, "bump") == 0)
			assert_true(pl.extent >= ret_auto->extent);
	}
	for (uint32_t threads = 2; threads <= 8; threads *= 2) {
		o = options(NULL);
		o.threads = threads;
		assert_true(solve(room, p, &o, &pl));
		same_offsets(&pl, ret_auto, p->n);
	}
	return true;
}

static void check_order(test_room *room, const gen_problem *g, uint64_t *seed,
                        const hbm_placement *pl)
{
	uint32_t to[GEN_MAX];
	hbm_solve_opts o = options(NULL);
	hbm_placement other;
	gen_problem s;

	if (strcmp(pl->allocator, "bump") == 0)
		return; /* it goes by the order given */
	gen_shuffle(g, seed, &s, to);
	assert_true(solve(room, &s.p, &o, &other));
	if (strcmp(other.allocator, "bump") == 0)
		return;
	assert_true(other.extent == pl->extent);
	assert_true(other.lower_bound == pl->lower_bound);
}

/* Everything k times as large. */
static void check_scale(test_room *room, const gen_problem *g, uint64_t k,
                        const hbm_placement *pl)
{
	hbm_solve_opts o = options(NULL);
	hbm_placement other;
	uint32_t to[GEN_MAX];
	uint64_t seed = 1;
	gen_problem s;

	gen_shuffle(g, &seed, &s, to);
	for (uint32_t i = 0; i < s.p.n; i++) {
		s.size[i] *= k;
		s.align[i] *= k;
		s.shift[i] *= k;
		s.pin[i] = s.pin[i] == HBM_NO_OFFSET ? s.pin[i] : s.pin[i] * k;
		s.hint[i] = s.hint[i] == HBM_NO_OFFSET ? s.hint[i] : s.hint[i] * k;
	}
	for (uint32_t j = 0; j < s.gap_first[s.p.n]; j++) {
		s.gaps[j].lo *= k;
		s.gaps[j].hi *= k;
	}
	assert_true(solve(room, &s.p, &o, &other));
	if (strcmp(pl->allocator, "bump") == 0 || strcmp(other.allocator, "bump") == 0)
		return;
	assert_true(other.extent == pl->extent * k);
}

static void reverse(gen_problem *g)
{
	for (uint32_t i = 0; i < g->p.n; i++) {
		int64_t start = g->start[i];

		g->start[i] = -g->end[i];
		g->end[i] = -start;
		for (uint32_t j = g->gap_first[i]; j < g->gap_first[i + 1]; j++) {
			int64_t t = g->gaps[j].start;

			g->gaps[j].start = -g->gaps[j].end;
			g->gaps[j].end = -t;
		}
		for (uint32_t j = g->gap_first[i], k = g->gap_first[i + 1];
		     j + 1 < k; j++) {
			hbm_gap swap = g->gaps[j];

			g->gaps[j] = g->gaps[--k];
			g->gaps[k] = swap;
		}
	}
}

static void check_reverse(test_room *room, const gen_problem *g, const hbm_placement *pl)
{
	hbm_solve_opts o = options("exact");
	hbm_placement other;
	uint32_t to[GEN_MAX];
	uint64_t seed = 2;
	gen_problem s;

	gen_shuffle(g, &seed, &s, to);
	reverse(&s);
	assert_true(solve(room, &s.p, &o, &other));
	if (pl->outcome == HBM_OPTIMAL && other.outcome == HBM_OPTIMAL)
		assert_true(other.extent == pl->extent);
}

/* ---- capacities ------------------------------------------------------------ */

static uint64_t live_at(const hbm_problem *p, int64_t t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->start[i] <= t && t < p->end[i])
			sum += p->size[i];
	return sum;
}

/* The problem with only the buffers of the witness, but for one. */
static hbm_outcome outcome_of(test_room *room, const hbm_problem *p,
                              const hbm_placement *w, uint32_t but)
{
	hbm_solve_opts o = options("exact");
	uint64_t size[GEN_MAX] = {0}, pin[GEN_MAX];
	hbm_problem s = *p;
	hbm_placement pl;

	memset(pin, 0xff, sizeof pin);
	for (uint32_t k = 0; k < w->n_witness; k++) {
		uint32_t i = w->witness[k];

		if (k == but)
			continue;
		size[i] = p->size[i];
		pin[i] = p->pin ? p->pin[i] : HBM_NO_OFFSET;
	}
	s.size = size;
	s.pin = p->pin ? pin : NULL;
	o.effort = 5;
	o.enough = p->capacity;
	assert_int_equal(hbm_solve(&room->arena, &s, &o, NULL, &pl), HBM_OK);
	return pl.outcome;
}

static void check_witness(test_room *room, const hbm_problem *p, const hbm_placement *pl)
{
	if (!pl->n_witness) {
		assert_true(live_at(p, pl->witness_tick) > p->capacity);
		return;
	}
	assert_int_equal(outcome_of(room, p, pl, HBM_NONE), HBM_INFEASIBLE);
	for (uint32_t k = 0; k < pl->n_witness; k++)
		assert_int_not_equal(outcome_of(room, p, pl, k), HBM_INFEASIBLE);
}

static uint64_t bytes_of(const hbm_problem *p, const hbm_placement *pl)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		sum += pl->offset[i] == HBM_NO_OFFSET ? 0 : p->size[i];
	return sum;
}

static void check_capacity(test_room *room, const hbm_problem *p, uint64_t least)
{
	hbm_solve_opts o = options(NULL), b = options("bump");
	hbm_problem s = *p;
	hbm_placement pl, bump;

	s.capacity = least;
	assert_true(solve(room, &s, &o, &pl));
	assert_int_equal(pl.outcome, HBM_OPTIMAL);
	if (least == 0)
		return;
	s.capacity = least - 1;
	assert_int_equal(hbm_solve(&room->arena, &s, &o, NULL, &pl), HBM_OK);
	assert_int_equal(pl.outcome, HBM_INFEASIBLE);
	if (!p->set)
		check_witness(room, &s, &pl);
	o.keep_going = b.keep_going = true;
	assert_true(solve(room, &s, &o, &pl));
	assert_true(pl.extent <= s.capacity);
	s.capacity = least / 2;
	assert_true(solve(room, &s, &o, &pl));
	assert_true(pl.extent <= s.capacity);
	if (solve(room, &s, &b, &bump))
		assert_true(bytes_of(p, &pl) >= bytes_of(p, &bump));
}

/* ---- the rounds ------------------------------------------------------------ */

static void run(test_room *room, uint32_t rounds, uint64_t seed, uint32_t max_n,
                bool with_brute)
{
	for (uint32_t r = 0; r < rounds; r++) {
		uint32_t n = 1 + (uint32_t)problem_below(&seed, max_n);
		uint32_t features = r % 3 ? (uint32_t)problem_below(&seed, GEN_ALL + 1) : 0;
		hbm_placement best, exact;
		gen_problem g;

		gen_make(&g, &seed, n, with_brute ? 4 : 100, with_brute ? 6 : 40,
		         features);
		hbm_arena_fini(&room->arena);
		if (!check_table(room, &g.p, &best, &exact))
			continue;
		check_order(room, &g, &seed, &best);
		check_scale(room, &g, 1 + problem_below(&seed, 1000), &best);
		check_reverse(room, &g, &exact);
		if (!with_brute)
			continue;
		assert_int_equal(exact.outcome, HBM_OPTIMAL);
		assert_true(least_extent(&g.p, exact.extent + 1) == exact.extent);
		check_capacity(room, &g.p, exact.extent);
	}
}

static void against_brute_force(void **state)
{
	run(*state, 1500, 1, 5, true);
}

static void middle_sizes(void **state)
{
	run(*state, 40, 2, 40, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(against_brute_force),
		ROOM_TEST(middle_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
