/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator: what it runs, what it sees; checker and simulator when memory runs
 * out, and on many long lives. */
#include "support/bench.h"
#include "support/oom.h"
#include "pass/pass.h"

/* What a pool holds is gone when its bundle ends. */
static void test_simulated_pool_ends(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;output y:8 bytes;bundle k {op () -> a};"
	                      "bundle l {op (a) -> y}");

	bench_plan(&b);
	bench_move(&b, "a", HBM_HOME_POOL, 0, 8);
	assert_int_equal(bench_simulate(&b), HBM_VERIFY);
	expect_message(&b.room->diags, HBM_E_NONE, "it finds bytes that nobody wrote");
}

static hbm_sim_result simulated(bench *b, uint64_t trips, uint64_t steps)
{
	hbm_sim_opts opts = {.max_trips = trips, .max_steps = steps};
	hbm_sim_result r;

	bench_plan(b);
	assert_int_equal(hbm_simulate(&b->room->arena, &b->p, &b->t, &b->plan, &opts,
	                              &b->room->diags, &r), HBM_OK);
	return r;
}

static void test_steps(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;loop x3 {op () -> a;loop x100 {op (a)};"
	                      "loop x? {op (a, a)};loop x9 {region {}}};op");
	hbm_sim_result r = simulated(&b, 0, 0);

	assert_true(r.capped);
	assert_int_equal(r.steps, 3 * (1 + 4 + 4) + 1);
	assert_int_equal(r.reads, 3 * (4 + 2 * 4));
	r = simulated(&b, 1000, 0);
	assert_int_equal(r.steps, 3 * (1 + 100 + 1000) + 1);
	assert_false(r.capped);
	r = simulated(&b, 0, 5);
	assert_int_equal(r.steps, 4); /* each op once */
	assert_true(r.capped);
	r = simulated(&b, 0, 2);
	assert_int_equal(r.steps, 2);
}

/* Loops nested so deep that two trips each are more than anyone can wait for. */
static void test_deep_loops(void **state)
{
	char text[2048] = "tensor a:8 bytes;";
	bench b;

	for (int i = 0; i < 60; i++)
		strcat(text, "loop x1000000000000 {");
	strcat(text, "op () -> a;op (a)");
	for (int i = 0; i < 60; i++)
		strcat(text, "}");
	b = bench_make(state, text);
	assert_true(simulated(&b, 0, 100000).steps <= 100000);
	assert_int_equal(bench_verify(&b), HBM_OK);
}

/* The last trip of a long loop runs, so that its addresses are tried. */
static void test_last_trip(void **state)
{
	bench b = bench_make(state, "tensor a:8000 bytes;tensor c:8 bytes;bundle k {"
	                      "op () -> c;loop L x1000 {op () -> a[0..8, L*8]};"
	                      "op (c);op (a)}");

	bench_plan(&b);
	bench_move(&b, "a", HBM_HOME_POOL, 0, 8000);
	bench_move(&b, "c", HBM_HOME_POOL, 7992, 8);
	assert_int_equal(bench_simulate(&b), HBM_VERIFY);
	expect_message(&b.room->diags, HBM_E_SIMULATION, "finds a wrong value in 'c'");
}

/* The lender finds what it lent, the taker of results the results. */
static void test_results(void **state)
{
	bench b = bench_make(state, "input x:8 bytes;output y:8 bytes;op (x) -> y");

	bench_plan(&b);
	bench_storage(&b, "x")->home.offset = bench_storage(&b, "y")->home.offset = 0;
	assert_int_equal(bench_simulate(&b), HBM_VERIFY);
	bench_expect_fault(&b, "storages 'x' and 'y' share bytes [0, 8) of HBM");
	b = bench_make(state, "input x:8 bytes;output y:8 bytes;op () -> y;op (x)");
	bench_plan(&b);
	bench_storage(&b, "x")->home.offset = bench_storage(&b, "y")->home.offset = 0;
	assert_int_equal(bench_simulate(&b), HBM_VERIFY);
}

/* A value in the right storage at the wrong byte is a wrong value. */
static void test_shifted_value(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;view v=a+4:4 bytes;op () -> a;op (v)");

	bench_plan(&b);
	b.plan.members.items[bench_storage(&b, "a")->members.first + 1].offset = 0;
	bench_expect_fault(&b, "'v' is at byte 0 of its storage; with 'a' at 0 it must be "
	                       "at 4");
}

/* ---- memory and time ----------------------------------------------------------- */

static hbm_status verify_it(hbm_arena *a, void *user)
{
	bench *b = user;
	hbm_diags d;

	hbm_diags_init(&d, a);
	return hbm_verify(a, &b->p, &b->t, &b->plan, &d);
}

static hbm_status simulate_it(hbm_arena *a, void *user)
{
	bench *b = user;
	hbm_sim_result r;
	hbm_diags d;

	hbm_diags_init(&d, a);
	return hbm_simulate(a, &b->p, &b->t, &b->plan, NULL, &d, &r);
}

static void test_out_of_memory(void **state)
{
	bench b = bench_make(state, "input x:64 bytes donated;tensor a:64 bytes;"
	                            "tensor c:8 bytes;"
	                      "view v=a+8:8 bytes;output y:64 bytes;bundle k {op (x) -> a "
	                      "inplace(a=x);loop L x3 {loop M x2 {op () -> c;"
	                      "op (c, v) -> a[0..8, L*16, M*8];op (a[0..4, L*8])}};"
	                      "op (a) -> y}");

	bench_join(&b, "a x");
	oom_sweep(verify_it, &b);
	oom_sweep(simulate_it, &b);
	b.plan.storages.items[0].size++;
	oom_sweep_status(verify_it, &b, HBM_VERIFY);
}

/* Case C63: many long lives. Quadratic work would show as a test that never ends. */
static void test_long_lives(void **state)
{
	enum { N = 20000, LIFE = 1000 };
	bench b = {.room = *state};
	hbm_arena *a = &b.room->arena;
	hbm_plan_opts opts;

	naive_target(&b.t, 128);
	b.t.values[HBM_KEY_POOL_CAP].num = b.t.values[HBM_KEY_HBM_WINDOW].num = 1 << 30;
	assert_int_equal(hbm_program_init(&b.p, a), HBM_OK);
	assert_int_equal(hbm_open_node(&b.p, HBM_NODE_BUNDLE, 0, HBM_NONE), 0);
	for (uint32_t i = 0; i < N + LIFE; i++) {
		hbm_op_id op = hbm_add_op(&b.p, 0, HBM_OP_COMPUTE, 0, 0);
		char name[16];
		assert_true(i < LIFE || hbm_add_read(&b.p, op, i - LIFE));
		if (i >= N)
			continue;
		snprintf(name, sizeof name, "b%u", (unsigned)i);
		assert_int_equal(hbm_add_tensor(&b.p, hbm_intern_cstr(&b.p.syms, name)), i);
		b.p.tensors.items[i].size = 128 * (1 + i % 7);
		b.p.tensors.items[i].flags = HBM_T_SIZED;
		assert_true(hbm_add_write(&b.p, op, i));
	}
	hbm_close_node(&b.p, 0);
	hbm_plan_defaults(&opts);
	opts.passes = "hbm-pool";
	opts.allocator = "first-fit";
	assert_int_equal(hbm_run_passes(a, &b.p, &b.t, &opts, &b.room->diags, &b.plan),
	                 HBM_OK);
	assert_int_equal(b.plan.peak, 512512);
	bench_expect_legal(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(test_simulated_pool_ends), ROOM_TEST(test_steps),
		ROOM_TEST(test_deep_loops), ROOM_TEST(test_last_trip),
		ROOM_TEST(test_results), ROOM_TEST(test_shifted_value),
		ROOM_TEST(test_out_of_memory), ROOM_TEST(test_long_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
