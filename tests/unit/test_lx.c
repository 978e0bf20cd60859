/* SPDX-License-Identifier: Apache-2.0 */
/* Scratchpad solvers: scenarios with known addresses, the legality check, what
 * malformed problems are told, and workloads with a known good plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/lx_case.h"

static const char *const named[] = {"greedy", "first-fit", "best-fit"};

static hbm_lx_layout solve(lx_case *c, const char *solver)
{
	hbm_lx_layout layout;
	hbm_lx_opts opts = {.solver = solver, .effort = 5};
	hbm_lx_verdict v;

	assert_int_equal(hbm_lx_solve(&c->arena, &c->p, &opts, &c->diags, &layout),
	                 HBM_OK);
	assert_int_equal(hbm_lx_judge(&c->arena, &c->p, layout.address, &v), HBM_OK);
	assert_true(v.legal);
	assert_true(layout.saved <= layout.bound);
	return layout;
}

/* Scenarios where the three named solvers agree on the addresses. */
static const struct {
	const char *id, *buffers;
	uint64_t capacity, align;
	const char *expect;
} scenarios[] = {
	{"S1", "3:0,1 3:0,1 4:0,1", 10, 1, "0,3,6"},
	{"S2", "3:0,1 3:0,1 4:0,1", 10, 128, "0,-,-"},
	{"S3", "3:0,1 3:0,1 4:0,1", 512, 128, "0,128,256"},
	{"S4", "7:0,1 4:0,1 3:0,1", 10, 1, "0,-,7"},
	{"S5", "10:0,1 3:2", 10, 1, "0,0"},
	{"S8", "512:0,3 512:3<0", 513, 128, "0,0"},
	{"S10", "10:0,1 10:0,1 10:0,1 10:2", 10, 1, "0,-,-,0"},
	{"S11", "11:0,1", 10, 1, "-"},
	{"S12", "20:0,4 20:5,9", 512, 1, "0,0"},
	{"S13", "10:0,3 20:0,3 30:0,3", 60, 1, "0,10,30"},
	{"S16", "20:0,4 15:4,8<0", 512, 1, "0,0"},
	{"S17", "200:0,4 15:4,8<0", 100, 1, "-,0"},
	{"S18", "x40:0,1 40:0,1", 512, 1, "-,0"},
	{"S19", "x40:0,1 40:1,2<0", 512, 1, "-,0"},
	{"S24", "i10:0 5:0,2<0", 120, 1, "0,0"},
	{"S26", "10:0,4 10:0,1,2,3,4", 10, 1, "-,0"},
	{"S27", "10:0,4 10:0,4 10:4,8<1", 10, 1, "-,0,0"},
	{"S28", "i10:0,4 10:0,4", 10, 1, "-,0"},
};

/* Greedy takes input order where the others take the better one. */
static const char *const by_order[] = {"S26", "S27", "S28"};

static bool greedy_differs(const char *id)
{
	for (size_t k = 0; k < sizeof by_order / sizeof *by_order; k++)
		if (!strcmp(id, by_order[k]))
			return true;
	return false;
}

static void test_scenarios(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof scenarios / sizeof *scenarios; k++) {
		for (size_t s = 0; s < 3; s++) {
			lx_case c;
			hbm_lx_layout layout;
			if (s == 0 && greedy_differs(scenarios[k].id))
				continue;
			lx_case_init(&c, scenarios[k].buffers, scenarios[k].capacity,
			             scenarios[k].align);
			layout = solve(&c, named[s]);
			if (strcmp(lx_case_text(&c, &layout), scenarios[k].expect))
				fail_msg("%s with %s: %s, expected %s", scenarios[k].id,
				         named[s], lx_case_text(&c, &layout),
				         scenarios[k].expect);
			lx_case_fini(&c);
		}
	}
}

/* S9: two that meet without an in-place edge; one stays out. */
static void test_no_edge(void **state)
{
	(void)state;
	for (size_t s = 0; s < 3; s++) {
		lx_case c;
		hbm_lx_layout layout;
		lx_case_init(&c, "512:0,3 512:3", 512, 128);
		layout = solve(&c, named[s]);
		assert_int_equal(layout.n_placed, 1);
		assert_int_equal(layout.peak, 512);
		lx_case_fini(&c);
	}
}

static void expect_refused(const char *text, const char *why)
{
	lx_case c;
	hbm_lx_layout layout;

	lx_case_init(&c, text, 120, 1);
	assert_int_equal(hbm_lx_solve(&c.arena, &c.p, NULL, &c.diags, &layout),
	                 HBM_SEMANTIC);
	assert_int_equal(c.diags.list.n, 1);
	assert_non_null(strstr(c.diags.list.items[0].text, why));
	lx_case_fini(&c);
}

static void test_refused(void **state)
{
	(void)state;
	expect_refused("10:0 5:0,2<0", "never read");              /* S23 */
	expect_refused("10:0,4 5:5,6<0", "does not end at");       /* S31 */
	expect_refused("10:0,4 11:4,6<0", "larger than its");
	expect_refused("10:0,4,4", "strictly ascending");
	expect_refused("10:0,4<0", "no other buffer");
	expect_refused("10:0,4@115", "leaves the scratchpad");
}

static void test_reads(void **state)
{
	lx_case c;

	(void)state; /* S32 */
	lx_case_init(&c, "8:3,5,8 i8:3,5,8 8:3 i8:3 8:", 64, 1);
	assert_int_equal(hbm_lx_reads(&c.p, 0), 2);
	assert_int_equal(hbm_lx_reads(&c.p, 1), 3);
	assert_int_equal(hbm_lx_reads(&c.p, 2), 0);
	assert_int_equal(hbm_lx_reads(&c.p, 3), 1);
	assert_int_equal(hbm_lx_reads(&c.p, 4), 0);
	assert_int_equal(hbm_lx_value(&c.p, 0), 24);
	assert_int_equal(hbm_lx_value(&c.p, 1), 16);
	assert_int_equal(hbm_lx_start(&c.p, 4), hbm_lx_end(&c.p, 4));
	lx_case_fini(&c);
}

static hbm_lx_verdict judge(lx_case *c, const uint64_t *address)
{
	hbm_lx_verdict v;

	assert_int_equal(hbm_lx_judge(&c->arena, &c->p, address, &v), HBM_OK);
	return v;
}

static void test_legal(void **state)
{
	lx_case c;
	hbm_lx_verdict v;
	uint64_t ok[] = {0, 0, 32}, apart[] = {0, 20, 64}, not_base[] = {0, 4, 64};
	uint64_t meets[] = {0, 0, 8}, unaligned[] = {0, 0, 33}, high[] = {0, 0, 96};

	(void)state;
	lx_case_init(&c, "20:0,4 15:4,8<0 16:3,9", 100, 4);
	assert_true(judge(&c, ok).legal);
	assert_true(judge(&c, apart).legal);
	v = judge(&c, not_base);
	assert_false(v.legal);
	assert_int_equal(v.a + v.b, 1);
	v = judge(&c, meets);
	assert_false(v.legal);
	assert_true(v.a == 2 || v.b == 2);
	v = judge(&c, unaligned);
	assert_false(v.legal);
	assert_int_equal(v.a, 2);
	v = judge(&c, high);
	assert_false(v.legal);
	assert_int_equal(v.b, 2);
	lx_case_fini(&c);
}

/* A pinned block in the middle: the free bytes are in two holes, none of which
 * is large enough (case C73). */
static void test_room(void **state)
{
	lx_case c;
	hbm_lx_layout layout;
	uint64_t room[2], hole[2];

	(void)state;
	lx_case_init(&c, "430080:0,9@301056 305152:3,4", 1032192, 32);
	for (size_t s = 0; s < 4; s++) {
		layout = solve(&c, s < 3 ? named[s] : NULL);
		assert_string_equal(lx_case_text(&c, &layout), "301056,-");
		assert_int_equal(hbm_lx_room(&c.arena, &c.p, layout.address, room, hole),
		                 HBM_OK);
		assert_true(room[0] == HBM_NO_OFFSET);
		assert_int_equal(room[1], 602112);
		assert_int_equal(hole[1], 301056);
	}
	lx_case_fini(&c);
}

/* A group is placed whole or not at all, and a failed try leaves no trace. */
static void test_groups(void **state)
{
	lx_case c;
	hbm_lx_layout layout;

	(void)state;
	lx_case_init(&c, "60:0,3#1 60:0,3#1 50:0,3 20:1,2#2 30:2,3#2", 100, 1);
	layout = solve(&c, "greedy");
	assert_string_equal(lx_case_text(&c, &layout), "-,-,0,50,70");
	lx_case_fini(&c);
	lx_case_init(&c, "60:0,3#1 40:2,3#1 50:0,3", 100, 1);
	layout = solve(&c, "greedy");
	assert_string_equal(lx_case_text(&c, &layout), "0,60,-");
	lx_case_fini(&c);
}

/* ---- workloads with a known good plan ------------------------------------ */

/* HBM bytes = `others` (what is never planned) + all uses of what stays out. */
static uint64_t hbm_bytes(const hbm_lx_problem *p, const hbm_lx_layout *layout,
                          uint64_t others)
{
	uint64_t sum = others;

	for (uint32_t i = 0; i < p->n; i++)
		if (layout->address[i] == HBM_NO_OFFSET)
			sum += p->size[i] * (p->use_first[i + 1] - p->use_first[i]);
	return sum;
}

typedef struct workload {
	const char *buffers;
	uint64_t others, good, greedy, fit;
} workload;

enum { LX = 1625344, THIRD = 541696, STEP = 46336 };

/* fragmentation: A -> a; a -> b; (a, b) -> D; b -> c; (b, c) -> E, where c is two
 * thirds of the scratchpad and all others one: b must not sit in the middle.
 * staircase: seven times S -> a; a -> b; (a, b) -> C with growing sizes, then
 * one op reads all b. */
static const workload workloads[] = {
	{"541696:0,1,2 541696:1,2,3,4 1083392:3,4", 3 * THIRD, 1625088, 3791872, 1625088},
	{"46336:0,1,2 46336:1,2,21 92672:3,4,5 92672:4,5,21 139008:6,7,8 139008:7,8,21 "
	 "185344:9,10,11 185344:10,11,21 231680:12,13,14 231680:13,14,21 "
	 "278016:15,16,17 278016:16,17,21 324352:18,19,20 324352:19,20,21",
	 36 * STEP, 1668096, 5282304, 1668096},
};

static void test_workloads(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof workloads / sizeof *workloads; k++) {
		const workload *w = &workloads[k];
		for (size_t s = 0; s < 4; s++) {
			lx_case c;
			hbm_lx_layout layout;
			lx_case_init(&c, w->buffers, LX, 128);
			layout = solve(&c, s < 3 ? named[s] : NULL);
			assert_int_equal(hbm_bytes(&c.p, &layout, w->others),
			                 s == 0 ? w->greedy : s < 3 ? w->fit : w->good);
			if (s == 3)
				assert_int_equal(layout.bound, layout.saved);
			lx_case_fini(&c);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenarios), cmocka_unit_test(test_no_edge),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_reads),
		cmocka_unit_test(test_legal), cmocka_unit_test(test_room),
		cmocka_unit_test(test_groups), cmocka_unit_test(test_workloads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
