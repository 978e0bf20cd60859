/* SPDX-License-Identifier: Apache-2.0 */
/* What the solvers claim of their answers, checked by code they do not share: on
 * random problems of all kinds every claim holds, most optima and all witnesses are
 * proved anew, and claims that are made up are refused. */
#include "support/gen_program.h"
#include "support/pack_check.h"
#include "support/test.h"
#include "pack/problem.h"
#include "verify/certificate.h"
#include "verify/placement.h"

enum { PROBLEMS = 4000, MOST = 12 };

typedef struct arrays {
	uint64_t size[MOST], align[MOST], pin[MOST], shift[MOST];
	int64_t start[MOST], end[MOST];
	uint32_t set[MOST], group[MOST], gap_first[MOST + 1];
	hbm_gap gaps[MOST];
} arrays;

static void add_gap(arrays *x, hbm_problem *p, uint32_t i, uint64_t *rng)
{
	hbm_gap g = {.start = x->start[i] + 1, .end = x->end[i] - 1};
	uint32_t n = x->gap_first[i];

	if (g.start < g.end && gen_below(rng, 2)) {
		g.lo = gen_below(rng, x->size[i] + 1);
		g.hi = g.lo + gen_below(rng, x->size[i] - g.lo + 1);
		x->gaps[n++] = g;
	}
	x->gap_first[i + 1] = n;
	p->gap_first = x->gap_first;
	p->gaps = x->gaps;
}

static hbm_problem make(arrays *x, uint64_t *rng)
{
	hbm_problem p = {.n = (uint32_t)gen_below(rng, MOST + 1), .size = x->size,
	                 .start = x->start, .end = x->end};
	uint32_t kind = (uint32_t)gen_below(rng, 6);
	uint64_t total = 0;

	*x = (arrays){0};
	for (uint32_t i = 0; i < p.n; i++) {
		x->size[i] = gen_below(rng, 20);
		x->start[i] = (int64_t)gen_below(rng, 12) - 3;
		x->end[i] = x->start[i] + (int64_t)gen_below(rng, 6);
		x->align[i] = (uint64_t)1 << gen_below(rng, 4);
		x->pin[i] = gen_below(rng, 4) ? HBM_NO_OFFSET : gen_below(rng, 5) * 8;
		x->group[i] = gen_below(rng, 2) ? HBM_NONE : (uint32_t)gen_below(rng, 3);
		x->set[i] = gen_below(rng, 2) ? HBM_NONE : (uint32_t)gen_below(rng, 3);
		x->shift[i] = gen_below(rng, 3) * 4;
		total += x->size[i];
		if (kind == 5)
			add_gap(x, &p, i, rng);
	}
	p.align = kind == 1 || kind == 2 ? x->align : NULL;
	p.pin = kind == 2 ? x->pin : NULL;
	p.group = kind == 3 ? x->group : NULL;
	p.set = kind == 4 ? x->set : NULL;
	p.shift = kind == 4 ? x->shift : NULL;
	p.capacity = gen_below(rng, 3) ? total / 2 + gen_below(rng, 20) : HBM_NO_OFFSET;
	return p;
}

static void expect_refused(hbm_arena *a, const hbm_problem *p, hbm_placement pl,
                           hbm_outcome outcome, uint64_t bound)
{
	bool proved;

	pl.outcome = outcome;
	pl.lower_bound = bound;
	pl.n_witness = 0;
	assert_int_equal(hbm_verify_claims(a, p, &pl, NULL, &proved), HBM_VERIFY);
}

/* Of a placement that fits nothing else may be said than what is so. */
static void make_up(hbm_arena *a, const hbm_problem *p, const hbm_placement *pl)
{
	if (pl->outcome != HBM_OPTIMAL && pl->outcome != HBM_FEASIBLE)
		return;
	expect_refused(a, p, *pl, HBM_INFEASIBLE, pl->lower_bound);
	expect_refused(a, p, *pl, HBM_OPTIMAL, pl->extent + 1);
	if (pl->extent)
		expect_refused(a, p, *pl, HBM_OPTIMAL, pl->extent - 1);
	expect_refused(a, p, *pl, HBM_FEASIBLE, pl->extent + 1);
}

static bool unwitnessed(hbm_arena *a, const hbm_problem *p, const hbm_placement *pl)
{
	uint64_t bound;
	int64_t tick;

	assert_int_equal(hbm_lower_bound(a, p, &bound, &tick), HBM_OK);
	return pl->outcome == HBM_INFEASIBLE && !pl->n_witness && bound <= p->capacity;
}

/* By brute force: live bytes at the worst tick, or the largest buffer. */
static uint64_t plain_bound(const hbm_problem *p)
{
	uint64_t most = pack_pressure(p);

	for (uint32_t i = 0; i < p->n; i++)
		most = p->size[i] > most ? p->size[i] : most;
	return most;
}

static void test_claims(void **state)
{
	uint32_t optimal = 0, infeasible = 0, proved_optimal = 0, proved_infeasible = 0;
	uint64_t rng = 11;

	(void)state;
	for (uint32_t k = 0; k < PROBLEMS; k++) {
		hbm_solve_opts opts;
		hbm_placement pl;
		hbm_arena arena;
		hbm_diags d;
		hbm_problem p;
		bool proved;
		arrays x;
		hbm_arena_init(&arena, NULL);
		hbm_diags_init(&d, &arena);
		p = make(&x, &rng);
		hbm_solve_defaults(&opts);
		if (hbm_problem_check(&p, NULL) == HBM_OK) {
			assert_int_equal(hbm_solve(&arena, &p, &opts, &d, &pl), HBM_OK);
			if (unwitnessed(&arena, &p, &pl)) {
				hbm_arena_fini(&arena);
				continue;
			}
			if (hbm_verify_claims(&arena, &p, &pl, &d, &proved) != HBM_OK)
				fail_msg("problem %u: %s", k, messages(&arena, &d));
			if (p.gap_first == NULL && !p.set && !p.group && !p.align &&
			    pl.outcome == HBM_OPTIMAL)
				assert_int_equal(proved, pl.extent <= plain_bound(&p));
			optimal += pl.outcome == HBM_OPTIMAL;
			infeasible += pl.outcome == HBM_INFEASIBLE;
			proved_optimal += pl.outcome == HBM_OPTIMAL && proved;
			proved_infeasible += pl.outcome == HBM_INFEASIBLE && proved;
			make_up(&arena, &p, &pl);
		}
		hbm_arena_fini(&arena);
	}
	print_message("%u optimal (%u proved anew), %u infeasible (%u proved anew)\n",
	              optimal, proved_optimal, infeasible, proved_infeasible);
	assert_true(proved_optimal > PROBLEMS / 4 && proved_infeasible > PROBLEMS / 50);
}

/* ---- claims that are made up ----------------------------------------------------- */

typedef struct made_up {
	hbm_problem p;
	hbm_placement pl;
	uint64_t offset[4];
	uint32_t witness[4];
} made_up;

static const uint64_t sizes[4] = {4, 4, 8, 1}, aligns[4] = {8, 8, 1, 1};
static const int64_t starts[4] = {0, 0, 0, 5}, ends[4] = {2, 2, 2, 6};
static const uint32_t friends[4] = {7, 7, HBM_NONE, HBM_NONE};

static void begin(made_up *m, hbm_outcome outcome, uint64_t capacity)
{
	*m = (made_up){.p = {.n = 4, .size = sizes, .start = starts, .end = ends,
	                     .capacity = capacity},
	               .pl = {.outcome = outcome, .offset = m->offset, .extent = 16,
	                      .witness = m->witness},
	               .offset = {0, 4, 8, 0}, .witness = {0, 1, 2, 3}};
}

static hbm_status judge(const made_up *m, bool *ret_proved)
{
	hbm_arena arena;
	hbm_status status;

	hbm_arena_init(&arena, NULL);
	status = hbm_verify_claims(&arena, &m->p, &m->pl, NULL, ret_proved);
	hbm_arena_fini(&arena);
	return status;
}

static void expect(const made_up *m, hbm_status status, bool proved)
{
	bool got = false;

	assert_int_equal(judge(m, &got), status);
	assert_int_equal(got, proved);
}

static void test_sets(void **state)
{
	made_up m;

	(void)state;
	begin(&m, HBM_INFEASIBLE, 15);
	m.pl.n_witness = 3;
	expect(&m, HBM_OK, true); /* 4 + 4 + 8 */
	m.p.capacity = 16;
	expect(&m, HBM_VERIFY, false);
	m.p.align = aligns; /* 8 + 4, and then the 8 again */
	expect(&m, HBM_OK, true);
	m.p.capacity = 20;
	expect(&m, HBM_VERIFY, false);
	m.p.group = friends; /* they may share their bytes */
	m.p.capacity = 12;
	expect(&m, HBM_VERIFY, false);
	m.p.capacity = 11;
	expect(&m, HBM_OK, true);
	m.witness[2] = 0;
	expect(&m, HBM_VERIFY, false); /* the same one twice */
	m.witness[2] = 4;
	expect(&m, HBM_VERIFY, false); /* there is no such buffer */
}

static hbm_status judge_placement(const made_up *m)
{
	hbm_arena arena;
	hbm_status status;

	hbm_arena_init(&arena, NULL);
	status = hbm_verify_placement(&arena, &m->p, &m->pl, NULL);
	hbm_arena_fini(&arena);
	return status;
}

/* Without shifts the members of a set must share their first byte. */
static void test_shared_base(void **state)
{
	made_up m;

	(void)state;
	begin(&m, HBM_FEASIBLE, 16);
	assert_int_equal(judge_placement(&m), HBM_OK);
	m.p.set = friends;
	assert_int_equal(judge_placement(&m), HBM_VERIFY);
	m.offset[1] = 0;
	assert_int_equal(judge_placement(&m), HBM_OK);
}

static void test_outcomes(void **state)
{
	made_up m;

	(void)state;
	begin(&m, HBM_FEASIBLE, 16);
	m.pl.lower_bound = 12;
	expect(&m, HBM_OK, false);
	m.p.capacity = 15;
	expect(&m, HBM_VERIFY, false);
	m.p.capacity = 16;
	m.offset[1] = HBM_NO_OFFSET;
	expect(&m, HBM_VERIFY, false); /* not all are placed */
	m.pl.outcome = HBM_UNKNOWN;
	m.pl.lower_bound = 17; /* says nothing of a part */
	expect(&m, HBM_OK, false);
	begin(&m, HBM_OPTIMAL, HBM_NO_OFFSET);
	m.pl.lower_bound = 16;
	expect(&m, HBM_OK, true);
	m.pl.extent = m.pl.lower_bound = 17; /* the bound may come from a search */
	expect(&m, HBM_OK, false);
	begin(&m, HBM_INFEASIBLE, 15);
	m.pl.witness_tick = 1;
	expect(&m, HBM_OK, true);
	m.pl.witness_tick = 2;
	expect(&m, HBM_VERIFY, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims),
	                                   cmocka_unit_test(test_sets),
	                                   cmocka_unit_test(test_shared_base),
	                                   cmocka_unit_test(test_outcomes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
