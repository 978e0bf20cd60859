/* SPDX-License-Identifier: Apache-2.0 */
/* The checker on programs small enough to know every answer: what it refuses and in
 * which words. Plans come from a planner of the test's own. */
#include "support/bench.h"

/* ---- the checker ------------------------------------------------------------ */

static const char two[] = "input x:8 bytes;output y:8 bytes;tensor a:8 bytes;"
                          "tensor b:8 bytes;tensor c:8 bytes;"
                          "bundle k {op (x) -> a;op (a) -> b;op (a, b) -> c;"
                          "op (c) -> y}";

static void test_legal(void **state)
{
	bench b = bench_make(state, two);

	bench_plan(&b);
	bench_expect_legal(&b);
	assert_int_equal(b.plan.pools.items[0].extent, 24);
}

static void test_empty(void **state)
{
	static const char *const texts[] = {"", "bundle k {}", "tensor a:4 bytes",
	                                    "op", "bundle k {loop x9 {}}",
	                                    "tensor a:0 bytes;bundle k {op () -> a;op (a)}"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		bench b = bench_make(state, texts[i]);
		bench_plan(&b);
		bench_expect_legal(&b);
	}
}

static void test_overlap_is_named(void **state)
{
	bench b = bench_make(state, two);

	bench_plan(&b);
	bench_storage(&b, "b")->home.offset = 4;
	bench_expect_fault(&b, "storages 'a' and 'b' share bytes [4, 8) of the pool of k at "
	                 "tick 1");
	assert_int_equal(bench_simulate(&b), HBM_VERIFY);
	expect_message(&b.room->diags, HBM_E_SIMULATION, "finds a wrong value in 'a'");
}

/* An output on the bytes of an input of the same op. */
static void test_output_on_input(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;tensor b:8 bytes;"
	                      "bundle k {op () -> a;op (a) -> b;op (b)}");

	bench_plan(&b);
	bench_storage(&b, "b")->home.offset = 0;
	bench_expect_fault(&b, "share bytes [0, 8)");
	assert_int_equal(bench_simulate(&b), HBM_VERIFY);
}

/* ---- one rule at a time ------------------------------------------------------- */

static void test_scratchpad(void **state)
{
	bench b = bench_make(state, two);

	bench_plan(&b);
	b.plan.pools.items[0].n_overflow = HBM_NONE;
	bench_move(&b, "a", HBM_HOME_LX, 0, 4); /* two cores hold four bytes each */
	bench_move(&b, "b", HBM_HOME_LX, 4, 4);
	bench_expect_legal(&b);
	bench_move(&b, "b", HBM_HOME_LX, 4092, 4);
	bench_expect_legal(&b);
	bench_move(&b, "b", HBM_HOME_LX, 4093, 4);
	bench_expect_fault(&b, "storage 'b' ends at 4097, beyond the 4096 bytes of "
	                       "scratchpad");
	bench_move(&b, "b", HBM_HOME_LX, 4, 3);
	bench_expect_fault(&b, "storage 'b' of 8 bytes has only 3 bytes on each of 2 cores");
	bench_move(&b, "b", HBM_HOME_LX, 3, 4);
	bench_expect_fault(&b, "storages 'a' and 'b' share bytes [3, 4) of the scratchpad");
	assert_int_equal(bench_simulate(&b), HBM_VERIFY);
	bench_move(&b, "b", HBM_HOME_LX, HBM_NO_OFFSET, 4);
	bench_expect_fault(&b, "storage 'b' has home 'lx' but no offset there");
}

static void test_scratchpad_is_not_for_the_cpu(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;op o () -> a;op p (a) kind=fallback");

	bench_plan(&b);
	bench_move(&b, "a", HBM_HOME_LX, 0, 4);
	bench_expect_fault(&b, "storage 'a' is in the scratchpad, but op 'p' runs on the CPU");
}

/* One tensor in the scratchpad between two ops, of which the second is not fit. */
static void test_scratchpad_users(void **state)
{
	static const struct {
		const char *text, *fault; /* NULL: legal */
	} cases[] = {
		{"tensor a:8 bytes;op o () -> a cores=2;op p (a) cores=2", NULL},
		{"tensor a:8 bytes;op o () -> a cores=1;op p (a) cores=1",
		 "has only 4 bytes on each of 1 core"},
		{"tensor a:8 bytes;op o () -> a cores=2;op p (a) cores=1",
		 "op 'p' shares it among the cores in another way than op 'o'"},
		{"tensor a:8 bytes;op o () -> a;op p (a) indirect", "op 'p' gathers or scatters"},
		{"tensor a:8 bytes;op o () -> a;loop L x2 {op p (a[0..4, L*4])}",
		 "op 'p' would advance its address with a loop"},
		{"tensor a:8 bytes;op o () -> a;op q () kind=extern;op p (a)",
		 "foreign kernel 'q' runs while it lives"},
		{"tensor a:8 bytes;op o () -> a;op q () opaque;op p (a)",
		 "foreign kernel 'q' runs while it lives"},
		{"tensor a:8 bytes;op q () opaque;op o () -> a;op p (a);op r () opaque", NULL},
	};

	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		bench b = bench_make(state, cases[k].text);
		bench_plan(&b);
		bench_move(&b, "a", HBM_HOME_LX, 0, 4);
		if (cases[k].fault)
			bench_expect_fault(&b, cases[k].fault);
		else
			bench_expect_legal(&b);
	}
}

static void test_wishes(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes home=hbm;tensor c:8 bytes pin=32;"
	                      "tensor d:8 bytes align=16;bundle k {op () -> a, c, d;"
	                      "op (a, c, d)}");

	bench_plan(&b);
	b.plan.pools.items[0].n_overflow = HBM_NONE;
	bench_expect_fault(&b, "'a' demands home 'hbm' and has 'pool'");
	expect_message(&b.room->diags, HBM_E_PLAN, "'c' is pinned at 32 and is at 8");
	bench_move(&b, "a", HBM_HOME_HBM, HBM_NO_OFFSET, 8);
	bench_move(&b, "c", HBM_HOME_POOL, 32, 8);
	bench_move(&b, "d", HBM_HOME_POOL, 16, 8);
	bench_expect_legal(&b);
	bench_move(&b, "d", HBM_HOME_POOL, 24, 8);
	bench_expect_fault(&b, "'d' is at byte 24, not a multiple of 16");
	bench_move(&b, "d", HBM_HOME_HBM, HBM_NO_OFFSET, 8);
	bench_expect_fault(&b, "'d' asks for alignment 16; its storage has 1");
	bench_storage(&b, "d")->align = 48;
	bench_expect_legal(&b);
	bench_move(&b, "c", HBM_HOME_HBM, HBM_NO_OFFSET, 8);
	bench_expect_fault(&b, "'c' is pinned at 32 and has no offset");
}

/* A view is aligned where its base's offset and its own make it so. */
static void test_view_alignment(void **state)
{
	bench b = bench_make(state, "tensor a:32 bytes;view v=a+8:8 bytes;"
	                      "bundle k {op () -> a;op (v)}");

	bench_plan(&b);
	b.p.tensors.items[bench_tensor(&b, "v")].align = 16;
	bench_expect_fault(&b, "'v' is at byte 8, not a multiple of 16");
	bench_move(&b, "a", HBM_HOME_POOL, 8, 32);
	bench_expect_legal(&b);
}

static void test_pool_scope(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"tensor a:8 bytes;bundle k {op () -> a};bundle l {op m (a)}",
		 "it is read outside the bundle (op 'm')"},
		{"tensor a:8 bytes;bundle k {op () -> a;op (a)};bundle l {op m () -> a}",
		 "it is written outside the bundle (op 'm')"},
		{"tensor a:8 bytes;bundle k {op () -> a;op m (a) kind=fallback}",
		 "an op that runs outside device kernels uses it (op 'm')"},
		{"tensor a:8 bytes;bundle k {op m () -> a kind=extern;op (a)}",
		 "an op that runs outside device kernels uses it (op 'm')"},
		{"tensor a:8 bytes;bundle k {op () -> a}", "nothing reads it"},
		{"tensor a:8 bytes carried;bundle k {op (a)}", "nothing writes it"},
		{"tensor a:8 bytes zero;bundle k {op () -> a;op (a)}",
		 "it is zero-filled before the bundle"},
		{"state a:8 bytes;bundle k {op () -> a;op (a)}",
		 "it belongs to the caller"},
		/* The rule is for the storage, not for a name of it (case C05). */
		{"tensor a:8 bytes;view v=a;bundle k {op () -> a;op (a)};"
		 "bundle l {op m (v)}", "it is read outside the bundle (op 'm')"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bench b = bench_make(state, cases[i].text);
		bench_plan(&b);
		hbm_diags_init(&b.room->diags, &b.room->arena);
		bench_expect_legal(&b);
		bench_move(&b, "a", HBM_HOME_POOL, 0, 8);
		bench_expect_fault(&b, cases[i].words);
	}
}

static void test_window_of_an_op(void **state)
{
	bench b = bench_make(state, "tensor a:32 bytes;loop L x4 {op o () -> a[0..8, L*8];"
	                      "op p (a[0..8, L*8])}");

	bench_plan(&b);
	bench_expect_legal(&b);
	b.p.strides.items[1].bytes = 9;
	bench_expect_fault(&b, "op 'p' touches 'a' up to byte 35, beyond the 32 bytes "
	                       "behind it");
}

/* Addresses in HBM: storages and scratch share them. */
static void test_hbm_addresses(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;tensor c:8 bytes;op o () -> a scratch=8;"
	                      "op (a) -> c;op (c)");
	hbm_plan_region region = {.base = 64, .extent = 16, .n_placed = 2};
	hbm_plan_scratch scratch = {.op = 0, .offset = 72, .size = 8};

	bench_plan(&b);
	assert_true(HBM_PUSH(&b.room->arena, &b.plan.regions, region));
	assert_true(HBM_PUSH(&b.room->arena, &b.plan.scratch, scratch));
	b.plan.placed_dram = true;
	b.plan.dram_bytes = 16;
	bench_move(&b, "a", HBM_HOME_HBM, 64, 8);
	bench_move(&b, "c", HBM_HOME_HBM, 72, 8);
	b.plan.totals.standalone = b.plan.totals.total = 16;
	bench_expect_legal(&b);
	b.plan.scratch.items[0].offset = 64;
	bench_expect_fault(&b, "storages 'a' and 'o' share bytes [64, 72) of HBM at tick 0");
	b.plan.scratch.items[0].offset = 76;
	bench_expect_fault(&b, "scratch of op 'o' is too small, in no region");
	b.plan.scratch.n = 0;
	bench_expect_fault(&b, "scratch of op 'o' has no place");
	bench_storage(&b, "c")->home.offset = 80;
	bench_expect_fault(&b, "storage 'c' at [80, +8) of HBM is in no region for it");
	b.plan.regions.items[0].lower_bound = 17;
	bench_expect_fault(&b, "is smaller than its lower bound");
}

/* A plan from a file says how much placed storages take, not where scratch is. */
static void test_addresses_without_regions(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;tensor c:8 bytes;tensor e:8 bytes;"
	                            "op o () -> a, e scratch=8;op (a) -> c;op (c, e)");

	bench_plan(&b);
	bench_move(&b, "a", HBM_HOME_HBM, 64, 8);
	bench_move(&b, "c", HBM_HOME_HBM, 80, 8);
	bench_expect_legal(&b);
	b.plan.totals.standalone = b.plan.totals.total = 8 + 24;
	bench_expect_legal(&b);
	b.plan.totals.standalone = b.plan.totals.total = 8 + 23;
	bench_expect_fault(&b, "the plan says bytes of standalone storages: 31; it is 24");
}

/* A plan that claims to fit stays below the window. */
static void test_window_of_the_device(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;op () -> a;op (a)");

	bench_plan(&b);
	bench_move(&b, "a", HBM_HOME_HBM, (1 << 20) - 8, 8);
	bench_expect_legal(&b);
	bench_move(&b, "a", HBM_HOME_HBM, (1 << 20) - 7, 8);
	bench_expect_fault(&b, "storage 'a' ends at 1048577, beyond the window");
	b.plan.budget.checked = false;
	assert_int_equal(bench_verify(&b), HBM_OK);
}

/* A tile counts for the trips it advances on, and for no others. */
static void test_tile_size(void **state)
{
	bench b = bench_make(state, "tensor t:8 bytes tile;loop L x3 {loop M x5 {"
	                            "op () -> t[L*8, M*0];op (t[L*8])}};op (t)");

	bench_plan(&b);
	assert_int_equal(bench_storage(&b, "t")->size, 24);
	bench_expect_legal(&b);
}

/* Entries of pools stand in run order and have one cap. */
static void test_two_pools(void **state)
{
	bench b = bench_make(state, "tensor a:8 bytes;tensor c:8 bytes;"
	                            "bundle k {op () -> a;op (a)};"
	                            "bundle l {op () -> c;op (c)}");
	hbm_plan_pool swap;

	bench_plan(&b);
	bench_expect_legal(&b);
	b.plan.pools.items[1].cap++;
	bench_expect_fault(&b, "pools have different caps");
	b.plan.pools.items[1].cap--;
	swap = b.plan.pools.items[0];
	b.plan.pools.items[0] = b.plan.pools.items[1];
	b.plan.pools.items[1] = swap;
	bench_expect_fault(&b, "is listed twice or out of order");
}

/* All faults are listed, up to the limit, and the rest is counted. */
static void test_many_faults(void **state)
{
	bench b = bench_make(state, two);

	bench_plan(&b);
	for (uint32_t i = 0; i < b.plan.storages.n; i++) {
		b.plan.storages.items[i].size++;
		b.plan.storages.items[i].reserve = 0;
		b.plan.storages.items[i].home.kind = HBM_HOME_NONE;
		b.plan.storages.items[i].end = 0;
	}
	assert_int_equal(bench_verify(&b), HBM_VERIFY);
	assert_int_equal(b.room->diags.n_errors, HBM_MAX_ERRORS);
	assert_true(b.room->diags.n_dropped > 0);
	assert_int_equal(hbm_verify(&b.room->arena, &b.p, &b.t, &b.plan, NULL), HBM_VERIFY);
}

/* Numbers in a plan from a file may be anything. */
static void test_plan_of_nonsense(void **state)
{
	bench b = bench_make(state, two);
	hbm_plan_storage *s;

	bench_plan(&b);
	s = bench_storage(&b, "a");
	s->home.kind = (hbm_home_kind)77;
	bench_expect_fault(&b, "has no home");
	s->home.kind = HBM_HOME_POOL;
	s->home.offset = UINT64_MAX - 4;
	bench_expect_fault(&b, "beyond");
	assert_int_not_equal(bench_simulate(&b), HBM_NOMEM);
	s->home.offset = 0;
	s->start = UINT32_MAX;
	bench_expect_fault(&b, "is said to be live at");
	s->root = 1000;
	bench_expect_fault(&b, "is malformed");
	s->root = bench_tensor(&b, "a");
	s->members.n = UINT32_MAX;
	bench_expect_fault(&b, "is malformed");
	s->members.n = 1;
	b.plan.members.items[s->members.first].tensor = 1000;
	bench_expect_fault(&b, "is no tensor");
	assert_int_equal(bench_simulate(&b), HBM_VERIFY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(test_legal), ROOM_TEST(test_empty),
		ROOM_TEST(test_overlap_is_named), ROOM_TEST(test_output_on_input),
		ROOM_TEST(test_scratchpad),
		ROOM_TEST(test_scratchpad_is_not_for_the_cpu),
		ROOM_TEST(test_scratchpad_users), ROOM_TEST(test_wishes),
		ROOM_TEST(test_view_alignment), ROOM_TEST(test_pool_scope),
		ROOM_TEST(test_window_of_an_op), ROOM_TEST(test_hbm_addresses),
		ROOM_TEST(test_addresses_without_regions),
		ROOM_TEST(test_window_of_the_device), ROOM_TEST(test_tile_size),
		ROOM_TEST(test_two_pools), ROOM_TEST(test_many_faults),
		ROOM_TEST(test_plan_of_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
