/* SPDX-License-Identifier: Apache-2.0 */
/* The checker on programs small enough to know every answer: lives, what it refuses
 * and in which words. Plans come from a planner of the test's own. */
#include "support/bench.h"
#include "analysis/analysis.h"

/* ---- live ranges ------------------------------------------------------------ */

/* Every line: a program; a tensor and where it must live. */
static const struct {
	const char *text, *tensor;
	uint32_t start, end;
} lives[] = {
	/* From the first access to the last, whatever the number of writers. */
	{"tensor a:4 bytes;op () -> a;op;op (a)", "a", 0, 3},
	{"tensor a:4 bytes;op;op () -> a;op () -> a;op", "a", 1, 3},
	{"tensor a:4 bytes;op () -> a;op (a);op () -> a;op (a)", "a", 0, 4},
	{"tensor a:4 bytes;op", "a", 0, 0},
	/* Views and mandatory in-place pairs are one value. */
	{"tensor a:4 bytes;view v=a+2:2 bytes;op () -> a;op;op (v)", "a", 0, 3},
	{"tensor a:4 bytes;tensor b:4 bytes;op () -> a;op (a) -> b inplace(b=a must);"
	 "op;op (b)", "a", 0, 4},
	/* Born and consumed in one trip. */
	{"tensor a:4 bytes;loop x3 {op;op () -> a;op (a);op}", "a", 1, 3},
	{"tensor a:4 bytes;loop x2 {op;loop x2 {op () -> a;op (a)};op}", "a", 1, 3},
	/* Defined before, read inside. */
	{"tensor a:4 bytes;op () -> a;loop x3 {op;op (a);op}", "a", 0, 4},
	{"tensor a:4 bytes;op () -> a;loop x1 {op;op (a);op}", "a", 0, 3},
	{"tensor a:4 bytes;op () -> a;loop x? {op;op (a);op}", "a", 0, 4},
	{"tensor a:4 bytes;op () -> a;loop x2 {op;loop x1 {op (a)};op}", "a", 0, 4},
	{"tensor a:4 bytes;op () -> a;loop x1 {op;loop x2 {op (a);op};op}", "a", 0, 4},
	/* Carried from trip to trip. */
	{"tensor a:4 bytes;op;loop x3 {op;op (a) -> a;op}", "a", 1, 4},
	{"tensor a:4 bytes;loop x3 {op;op (a);op () -> a;op}", "a", 0, 4},
	{"tensor a:4 bytes;op () -> a;op;loop x2 {op () -> a;op (a);op}", "a", 0, 4},
	/* Written inside, read after. */
	{"tensor a:4 bytes;loop x3 {op;op () -> a;op};op;op (a)", "a", 1, 5},
	{"tensor a:4 bytes;loop x3 {op;loop x2 {op;op () -> a;op};op};op (a)", "a", 2, 6},
	/* The same in the loop around: the inner loop reads it again each trip. */
	{"tensor a:4 bytes;loop x3 {op;op () -> a;loop x2 {op;op (a);op};op}", "a", 1, 5},
	/* Only a part is written before the read; nobody else ever writes the rest. */
	{"tensor a:8 bytes;loop x3 {op;op () -> a[0..4];op (a);op}", "a", 1, 3},
	{"tensor a:8 bytes;op () -> a;loop x3 {op;op () -> a[0..4];op (a);op}", "a", 0, 5},
	{"tensor a:8 bytes;loop x3 {op;op () -> a[0..4];op (a);op () -> a[4..8];op}", "a",
	 0, 5},
	{"tensor a:8 bytes;loop x3 {op;op () -> a[0..4];op () -> a[4..8];op (a);op}", "a",
	 1, 4},
	/* The rest was written earlier in the same trip of the loop around. */
	{"tensor a:8 bytes;loop x3 {op;op () -> a;loop x2 {op;op () -> a[0..4];op (a);op};"
	 "op}", "a", 1, 6},
	{"tensor a:12 bytes;loop x3 {op;op () -> a[0..4], a[8..12];loop x2 {op;"
	 "op () -> a[4..8];op (a);op};op}", "a", 1, 6},
	/* Each trip writes other bytes, and all are read after. */
	{"tensor a:12 bytes;op;loop L x3 {op;op () -> a[0..4, L*4];op};op;op (a)", "a", 1, 6},
	{"tensor a:12 bytes;loop L x3 {op;op () -> a[0..4, L*4];op (a[0..4, L*4]);op}", "a",
	 1, 3},
	{"tensor a:16 bytes;loop L x3 {op;op (a[0..4, L*4]);op () -> a[4..8, L*4];op}", "a",
	 0, 4},
	{"tensor a:12 bytes;loop L x3 {op;op () -> a[0..4, L*4];op (a);op}", "a", 0, 4},
	{"tensor a:12 bytes;loop L x3 {op;op () -> a;op (a[0..4, L*4]);op}", "a", 1, 3},
	{"tensor a:5 bytes;loop L x5 {op;op () -> a[0..1, L*1]};op (a)", "a", 0, 3},
	/* An inner loop fills it, the outer trip uses it all. */
	{"tensor a:12 bytes;loop x2 {op;loop L x3 {op;op () -> a[0..4, L*4];op};op (a);op}",
	 "a", 1, 5},
	{"tensor a:12 bytes;loop x2 {op;loop L x3 {op;op () -> a[0..4, L*4];op};op (a[0..4]);"
	 "op}", "a", 1, 5},
	/* Columns and rows: two steps, whichever loop is outside. */
	{"tensor a:16 bytes;loop x2 {op;loop L x2 {loop M x2 {op () -> a[0..4, L*8, M*4];"
	 "op}};op (a);op}", "a", 1, 4},
	{"tensor a:16 bytes;loop x2 {op;loop L x2 {loop M x2 {op () -> a[0..4, L*4, M*8];"
	 "op}};op (a);op}", "a", 1, 4},
	/* Steps that leave holes: the same steps see the same bytes. */
	{"tensor a:16 bytes;loop x2 {op;loop L x2 {op () -> a[0..4, L*8]};"
	 "loop M x2 {op (a[0..4, M*8]);op};op}", "a", 1, 4},
	{"tensor a:16 bytes;loop x2 {op;loop L x2 {op () -> a[0..4, L*8]};op (a);"
	 "op () -> a;op}", "a", 0, 5},
	{"tensor a:48 bytes;loop x2 {loop L x2 {loop M x2 {op () -> a[0..4, L*32, M*8]}};"
	 "loop P x2 {loop Q x2 {op (a[0..4, P*32, Q*8]);op}};op}", "a", 0, 3},
	{"tensor a:48 bytes;loop x2 {loop L x2 {loop M x2 {op () -> a[0..4, L*32, M*8]}};"
	 "loop P x2 {loop Q x2 {op (a[0..4, P*32, Q*12]);op}};op () -> a;op}", "a", 0, 5},
	{"tensor a:96 bytes;loop R x2 {loop L x2 {op () -> a[0..4, L*8, R*32]};"
	 "loop P x2 {op (a[0..4, P*8, R*32]);op};op}", "a", 0, 3},
	/* Filled or lent before the program runs. */
	{"tensor a:4 bytes zero;op;op () -> a;op (a)", "a", 0, 3},
	{"state a:4 bytes;op;loop x2 {op;op (a);op}", "a", 1, 4},
	/* What a parallel group touches is live in all of it. */
	{"tensor a:4 bytes;op;parallel {op;op () -> a;op};op;op (a)", "a", 1, 6},
	{"tensor a:4 bytes;op;parallel {op;region {op () -> a;op (a)};op};op", "a", 1, 5},
	/* An advancing tile that is read after the loop. */
	{"tensor a:4 bytes tile;op;loop L x3 {op () -> a[L*4];op};op;op (a)", "a", 1, 5},
};

/* The planner's analysis may be more careful, never less. */
static void test_lives(void **state)
{
	const hbm_analysis_opts opts = {.inplace = false};

	for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
		bench b = bench_make(state, lives[i].text);
		hbm_tensor_id t = bench_tensor(&b, lives[i].tensor);
		hbm_analysis an;
		hbm_facts f;
		const hbm_class *c;
		const hbm_storage *s;
		assert_int_equal(hbm_facts_collect(&b.room->arena, &b.p, NULL, &f), HBM_OK);
		assert_int_equal(hbm_facts_trace(&f), HBM_OK);
		assert_int_equal(hbm_analyse(&b.room->arena, &b.p, &b.t, &opts, NULL, &an),
		                 HBM_OK);
		c = &f.classes.items[f.class_of[t]];
		s = &an.storages.items[an.of[t]];
		if (c->start != lives[i].start || c->end != lives[i].end)
			fail_msg("'%s': '%s' is live at [%u, %u), not [%u, %u)",
			         lives[i].text, lives[i].tensor, c->start, c->end,
			         lives[i].start, lives[i].end);
		if (s->start > c->start || s->end < c->end)
			fail_msg("'%s': the planner has '%s' live at [%u, %u)",
			         lives[i].text, lives[i].tensor, s->start, s->end);
	}
}

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

/* ---- in-place --------------------------------------------------------------- */

#define AB "tensor a:8 bytes;tensor b:8 bytes;"

/* A program, the tensors that share a storage, and what is said of it; NULL: that
 * they may. */
static const struct {
	const char *text, *names, *words;
} merges[] = {
	{AB "op () -> a;op (a) -> b inplace(b=a);op (b)", "a b", NULL},
	{AB "op () -> a;op (a) -> b;op (b)", "a b", "no in-place pair joins them"},
	{AB "op () -> a;op (a);op () -> b;op (b)", "a b", "no in-place pair joins them"},
	{AB "op () -> a;op (a)", "a b", "no in-place pair joins them"},
	{AB "op () -> a;op (a) -> b inplace(b=a);op (a, b)", "a b",
	 "the old value is still needed"},
	{AB "op () -> a, b;op (a) -> b inplace(b=a);op (b)", "a b",
	 "no in-place pair joins them"},
	{"tensor a:4 bytes;tensor b:8 bytes;op () -> a;op (a) -> b inplace(b=a);op (b)",
	 "a b", "does not fit"},
	{"tensor a:16 bytes;tensor b:8 bytes;op () -> a;op (a) -> b inplace(b=a);op (b)",
	 "a b", NULL},
	/* Both windows must be the same bytes. */
	{"tensor a:16 bytes;tensor b:8 bytes;op () -> a;op (a[8..16]) -> b inplace(b=a);"
	 "op (b)", "a b", "are not the same bytes"},
	{"tensor a:16 bytes;tensor b:8 bytes;op () -> a;op (a[0..8]) -> b inplace(b=a);"
	 "op (b)", "a b", NULL},
	/* Another operand touches the old bytes. */
	{AB "view v=a;op () -> a;op (a, v) -> b inplace(b=a);op (b)", "a b",
	 "by another operand"},
	{AB "op () -> a;op (a, a) -> b inplace(b=$0, b=$1);op (b)", "a b", NULL},
	{AB "op () -> a;op (a, a) -> b inplace(b=$1);op (b)", "a b", "by another operand"},
	/* Chains: each takes over where the one before dies. */
	{AB "tensor c:8 bytes;op () -> a;op (a) -> b inplace(b=a);op (b) -> c inplace(c=b);"
	 "op (c)", "a b c", NULL},
	{AB "tensor c:8 bytes;op () -> a;op (a) -> b, c inplace(b=a, c=a);op (b, c)", "a b c",
	 "another value is needed there"},
	/* The caller's. */
	{"input x:8 bytes;tensor b:8 bytes;op (x) -> b inplace(b=x);op (b)", "b x",
	 "the caller owns the old value"},
	{"input x:8 bytes donated;tensor b:8 bytes;op (x) -> b inplace(b=x);op (b)", "b x",
	 NULL},
	{"weight x:8 bytes;tensor b:8 bytes;op (x) -> b inplace(b=x);op (b)", "b x",
	 "the caller owns the old value"},
	{"output y:8 bytes;output z:8 bytes;op () -> y;op (y) -> z inplace(z=y)", "y z",
	 "the caller owns the old value"},
	{"tensor a:8 bytes;output y:8 bytes;op () -> a;op (a) -> y inplace(y=a)", "a y", NULL},
	{"input x:8 bytes donated;tensor a:8 bytes;output y:8 bytes;op (x) -> a "
	 "inplace(a=x);op;op (a) -> y inplace(y=a)", "a x y", NULL},
	{"tensor a:8 bytes;state s:8 bytes;op () -> a;op (a) -> s inplace(s=a)", "a s",
	 "has bytes before the program runs"},
	/* Loops: dead in the text is not dead in the next trip. */
	{AB "op () -> a;loop x3 {op (a) -> b inplace(b=a);op (b)}", "a b",
	 "the old value is still needed"},
	{AB "loop x3 {op () -> a;op (a) -> b inplace(b=a);op (b)}", "a b", NULL},
	{AB "op () -> a;loop x1 {op (a) -> b inplace(b=a);op (b)}", "a b", NULL},
	{AB "op () -> b;loop x3 {op (b) -> a;op (a) -> b inplace(b=a)};op (b)", "a b",
	 "no in-place pair joins them"},
	{AB "op () -> a;loop x3 {op;op (a) -> b inplace(b=a)};op (b)", "a b",
	 "the old value is still needed"},
	{AB "parallel {op () -> a;op (a) -> b inplace(b=a);op (b)}", "a b",
	 "is needed before the op"},
	/* Reshapes share while nobody writes. */
	{AB "op () -> a;op (a) -> b inplace(b=a keeps);op (a, b)", "a b", NULL},
	{AB "op () -> a;op (a) -> b inplace(b=a keeps);op () -> a;op (a, b)", "a b",
	 "is written while the other is needed"},
	{AB "op () -> a;op (a) -> b inplace(b=a keeps);op (b);op () -> a;op (a)", "a b", NULL},
	{AB "op () -> a;op (a) -> b inplace(b=a keeps);op () -> b;op (a);op (b)", "a b",
	 "is written while the other is needed"},
	{AB "tensor w:8 bytes;op () -> a;op (a) -> b inplace(b=a keeps);"
	 "op (b) -> w inplace(w=b);op (a, w)", "a b w", "another value is needed there"},
	{AB "tensor w:8 bytes;op () -> a;op (a) -> b inplace(b=a keeps);"
	 "op (b) -> w inplace(w=b);op (w)", "a b w", NULL},
	{AB "tensor w:8 bytes;op () -> a;op (a) -> b inplace(b=a keeps);"
	 "op (b) -> w inplace(w=b keeps);op (a);op (w)", "a b w", NULL},
	{AB "loop x2 {op () -> a;op (a) -> b inplace(b=a keeps);op (b);op (a)}", "a b", NULL},
};

static void test_merges(void **state)
{
	for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
		bench b = bench_make(state, merges[i].text);
		bench_join(&b, merges[i].names);
		hbm_diags_init(&b.room->diags, &b.room->arena);
		if (merges[i].words)
			bench_expect_fault(&b, merges[i].words);
		else
			bench_expect_legal(&b);
	}
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
		ROOM_TEST(test_lives), ROOM_TEST(test_legal), ROOM_TEST(test_empty),
		ROOM_TEST(test_overlap_is_named), ROOM_TEST(test_output_on_input),
		ROOM_TEST(test_merges), ROOM_TEST(test_scratchpad),
		ROOM_TEST(test_scratchpad_is_not_for_the_cpu), ROOM_TEST(test_wishes),
		ROOM_TEST(test_view_alignment), ROOM_TEST(test_pool_scope),
		ROOM_TEST(test_window_of_an_op), ROOM_TEST(test_hbm_addresses), ROOM_TEST(test_window_of_the_device),
		ROOM_TEST(test_tile_size), ROOM_TEST(test_two_pools),
		ROOM_TEST(test_many_faults), ROOM_TEST(test_plan_of_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
