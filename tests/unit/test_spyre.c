/* SPDX-License-Identifier: Apache-2.0 */
/* The Spyre passes around pool planning: work division, scratchpad, fusion, kernel
 * preparation, carried reductions. Programs in, homes and messages out. */
#include "support/test.h"

#include "support/plan_case.h"

static plan_case c;

/* Plans with the scratchpad on. */
static void plan(const char *text)
{
	c.opts.lx_off = false;
	plan_ok(&c, text);
}

static int setup(void **state)
{
	(void)state;
	plan_case_init(&c);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	plan_case_free(&c);
	return 0;
}

/* The whole plan contains the text. */
static bool plan_has(const char *format, const char *part)
{
	char *text = plan_text(&c, format);
	bool found = text && strstr(text, part);

	free(text);
	return found;
}

static uint64_t traffic(void)
{
	char *text = plan_text(&c, "json");
	char *at = text ? strstr(text, "\"hbm_traffic_bytes\": ") : NULL;
	uint64_t bytes = at ? strtoull(strchr(at, ':') + 1, NULL, 10) : UINT64_MAX;

	free(text);
	return bytes;
}

/* ---- traffic ------------------------------------------------------------------ */

static const char softmax[] =
	"input x : f16[512, 1024]; output y : f16[512, 1024]; tensor m : f16[1024]\n"
	"tensor t1 : f16[512, 1024]; tensor t2 : f16[512, 1024]; tensor s : f16[1024]\n"
	"op max: max(x) -> m iter(i=512 reduction, j=1024 stick)\n"
	"op sub: sub(x, m) -> t1 pointwise iter(i=512, j=1024 stick)\n"
	"op exp: exp(t1) -> t2 pointwise iter(i=512, j=1024 stick)\n"
	"op sum: sum(t2) -> s iter(i=512 reduction, j=1024 stick)\n"
	"op div: div(t2, s) -> y pointwise iter(i=512, j=1024 stick)\n";

/* M x N = 512 x 1024 elements of two bytes: 8MN + 4N, 8MN, 3MN, 2MN. */
static void softmax_shows_the_four_stages_of_the_traffic_model(void **state)
{
	enum { MN = 512 * 1024 * 2, N = 1024 * 2 };
	static const struct {
		const char *features;
		uint64_t bytes;
	} stages[] = {
		{"", 8 * MN + 4 * N},
		{"reductions", 8 * MN},
		{"reductions,results,in-place", 3 * MN},
		{"reductions,results,in-place,input-clones", 2 * MN},
		{NULL, 2 * MN},
	};

	(void)state;
	for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
		c.opts.cores = 1;
		c.opts.lx_features = stages[k].features;
		plan(softmax);
		assert_int_equal(traffic(), stages[k].bytes);
		assert_true(plan_has("json", "\"optimal\": true"));
		plan_case_free(&c);
		plan_case_init(&c);
	}
	plan_ok(&c, softmax); /* off altogether */
	assert_int_equal(traffic(), 8 * MN + 4 * N);
}

/* ---- scratchpad ------------------------------------------------------------------ */

static void the_clone_of_an_input_is_read_instead_and_hands_its_bytes_on(void **state)
{
	(void)state;
	c.opts.cores = 1;
	plan(softmax);
	assert_string_equal(home_of(&c, "x.lx"), "lx");
	assert_true(shares(&c, "x.lx", "t1"));
	assert_true(shares(&c, "t1", "t2"));
	assert_string_equal(home_of(&c, "x"), "io");
	assert_string_equal(home_of(&c, "y"), "io");
	assert_true(plan_has("hbm", "op x.to_lx: clone(x) -> x.lx"));
}

static void a_result_that_is_read_goes_out_through_a_clone(void **state)
{
	(void)state;
	plan("input x : 256 bytes; output y : 256 bytes; output z : 256 bytes\n"
	     "op a: exp(x) -> y\n op b: exp(y) -> z\n");
	assert_string_equal(home_of(&c, "y.lx"), "lx");
	assert_true(plan_has("hbm", "op a: exp(x) -> y.lx"));
	assert_true(plan_has("hbm", "op y.from_lx: clone(y.lx) -> y"));
	assert_true(plan_has("hbm", "op b: exp(y.lx) -> z"));
	assert_int_equal(traffic(), 256 * 3);
}

/* C09: the planner owns exactly [0, 1625344). */
static void the_back_end_keeps_its_share(void **state)
{
	(void)state;
	plan("tensor a : 1600000 bytes; tensor b : 40960 bytes; output y : 128 bytes\n"
	     "bundle k {; op p: f() -> a, b; op q: f(a, b) -> y; }\n");
	assert_string_equal(home_of(&c, "a"), "lx");
	assert_int_equal(offset_of(&c, "a"), 0);
	assert_string_equal(home_of(&c, "b"), "pool");
	/* needed, free, largest hole: 15,616 short */
	assert_true(plan_has("json", "\"figures\": [40960, 25344, 25344]"));
	plan_case_free(&c);
	plan_case_init(&c);
	c.opts.lx_share_ppm = 0;
	plan("tensor a : 1600000 bytes; tensor b : 40960 bytes; output y : 128 bytes\n"
	     "bundle k {; op p: f() -> a, b; op q: f(a, b) -> y; }\n");
	assert_string_equal(home_of(&c, "b"), "lx");
}

/* C73: no-fit is told with figures, and the tensor is placed elsewhere. */
static void free_bytes_in_two_holes_are_no_room(void **state)
{
	(void)state;
	c.opts.lx_share_ppm = 491935; /* usable: 1,032,192 */
	plan("tensor L : 430080 bytes home=lx pin=301056; tensor t : 305152 bytes\n"
	     "output y : 128 bytes\n"
	     "bundle k {; op o0: f() -> L; op o1: f(L) -> t; op o2: f(t) -> y\n"
	     "op o3: f(L) -> y; }\n");
	assert_string_equal(home_of(&c, "L"), "lx");
	assert_int_equal(offset_of(&c, "L"), 301056);
	assert_string_equal(home_of(&c, "t"), "pool");
	assert_true(plan_has("json", "\"no-room\""));
	assert_true(plan_has("json", "\"figures\": [305152, 602112, 301056]"));
}

/* C89: two names of one storage may not want two tiers; with a copy they may. */
static void demands_that_contradict_are_told_and_a_copy_cures_them(void **state)
{
	(void)state;
	c.opts.lx_off = false;
	plan_fails(&c, "input x : 4096 bytes; output y : 4096 bytes; tensor b : 4096 bytes\n"
	           "tensor a : 4096 bytes home=hbm; view a2 = a home=lx\n"
	           "bundle k {; op f(x) -> a; op f(x) -> b; op f(a2, b) -> y; }\n", 212);
	plan_case_free(&c);
	plan_case_init(&c);
	plan("input x : 4096 bytes; output y : 4096 bytes; tensor b : 4096 bytes\n"
	     "tensor a : 4096 bytes home=hbm; tensor d : 4096 bytes home=lx\n"
	     "bundle k {; op f(x) -> a; op f(x) -> b; op f(a) -> d; op f(d, b) -> y; }\n");
	assert_string_equal(home_of(&c, "a"), "hbm");
	assert_string_equal(home_of(&c, "d"), "lx");
}

static void a_demand_that_rules_refuse_is_an_error(void **state)
{
	(void)state;
	c.opts.lx_off = false;
	plan_fails(&c, "tensor a : 4096 bytes home=lx; output y : 4096 bytes\n"
	           "op f() -> a; op f(a) -> y kind=fallback\n", 802);
	assert_true(plan_said(&c, "read-by-non-device-op"));
}

static void reason_is(const char *text, const char *tensor, const char *reason)
{
	char part[128];

	plan_case_free(&c);
	plan_case_init(&c);
	plan(text);
	if (!strcmp(home_of(&c, tensor), "lx"))
		fail_msg("'%s' is in LX, expected: %s", tensor, reason);
	snprintf(part, sizeof part, "\"tier\": \"lx\", \"reason\": \"%s\"", reason);
	if (!plan_has("json", part)) {
		char *json = plan_text(&c, "json");
		print_message("%s\n", json);
		free(json);
		fail_msg("'%s': no reason %s", tensor, reason);
	}
}

static void every_rule_of_residency_has_its_reason(void **state)
{
	static const char head[] = "output y : 256 bytes; input x : 256 bytes\n";
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"tensor t : 256 bytes; op convolution(x) -> t; op f(t) -> y", "op-not-allowed"},
		{"tensor t : 256 bytes; op f(x) -> t opaque; op f(t) -> y", "op-not-allowed"},
		{"tensor t : f16[0, 64]; op f(x) -> t; op f(t) -> y", "empty-tensor"},
		{"tensor t : 256 bytes; op f(x) -> t; op g(x) -> t; op f(t) -> y",
		 "mutation-target"},
		{"tensor t : 64 bytes tile; loop L x4 {; op f(x) -> t[L*64]; op f(t[L*64]) -> y; }",
		 "advances-in-loop"},
		{"tensor t : 256 bytes; op f(x) -> t; op f(t) -> y restickify",
		 "read-by-restickify"},
		{"tensor t : 256 bytes; op f(x) -> t; op g(x) -> y kind=extern; op f(t) -> y",
		 "live-across-extern"},
		{"tensor t : 256 bytes; op f(x) -> t; op f(t) -> y kind=fallback",
		 "read-by-non-device-op"},
		{"tensor t : 256 bytes; op f(x) -> t; op gather(t) -> y indirect",
		 "index-or-indirect"},
		{"tensor t : 256 bytes index; op f(x) -> t; op f(t) -> y", "index-or-indirect"},
		{"tensor t : 256 bytes; op f(x) -> t; op f(t[0..128]) -> y", "partial-read"},
		{"tensor t : 256 bytes; op f(x) -> t cores=2; op f(t) -> y cores=4",
		 "core-division-mismatch"},
		{"tensor t : 256 bytes; op f(x) -> t; op f(x) -> y", "no-read-saved"},
		{"tensor t : 256 bytes back_gap; op f(x) -> t; op f(t) -> y", "back-gap"},
		{"tensor t : 1625345 bytes; op f(x) -> t; op f(t) -> y", "larger-than-scratchpad"},
		{"tensor t : 256 bytes home=hbm; op f(x) -> t; op f(t) -> y", "home-demanded"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		char text[512];
		snprintf(text, sizeof text, "%s%s\n", head, cases[k].text);
		reason_is(text, "t", cases[k].reason);
	}
}

static void cores_that_own_the_same_blocks_agree(void **state)
{
	(void)state;
	plan("input x : f16[512, 1024]; output y : f16[512, 1024]; tensor t : f16[512, 1024]\n"
	     "op f(x) -> t pointwise iter(i=512, j=1024 stick)\n"
	     "op f(t) -> y pointwise iter(i=512, j=1024 stick)\n");
	assert_string_equal(home_of(&c, "t"), "lx");
	assert_true(plan_has("hbm", "@ lx 0 size 32768")); /* 1 MiB over 32 cores */
	/* A reader that splits another dimension needs bytes of other cores. */
	reason_is("input x : f16[512, 1024]; output y : f16[512, 1024]\n"
	          "tensor t : f16[512, 1024]\n"
	          "op f(x) -> t pointwise iter(i=512 split=8, j=1024 stick)\n"
	          "op f(t) -> y pointwise iter(i=512, j=1024 stick split=8)\n",
	          "t", "core-division-mismatch");
	/* A matmul splits what its first operand does not have: a broadcast. */
	reason_is("input x : f16[256, 128]; input w : f16[128, 512]\n"
	          "output y : f16[256, 512]; tensor t : f16[256, 128]\n"
	          "op f(x) -> t pointwise iter(m=256 split=8, k=128 stick)\n"
	          "op mm(t, w) -> y matmul iter(m=256 split=8, n=512 split=4, k=128 reduction)\n",
	          "t", "core-division-mismatch");
}

/* ---- work division --------------------------------------------------------------- */

static void the_largest_even_splits_come_first(void **state)
{
	(void)state;
	plan("input x : f16[96, 640]; output y : f16[96, 640]\n"
	     "op f(x) -> y iter(i=96, j=640 stick)\n");
	/* 96 rows before 10 sticks: 32 divides 96. */
	assert_true(plan_has("hbm", "iter(i=96 split=32, j=640 stick split=1) cores=32"));
	c.opts.cores = 12;
	plan("input x : f16[8, 640]; output y : f16[8, 640]\n"
	     "op f(x) -> y iter(i=8, j=640 stick)\n");
	/* 10 sticks first: 10 of 12 cores. */
	assert_true(plan_has("hbm", "iter(i=8 split=1, j=640 stick split=10) cores=10"));
}

static void only_a_matmul_splits_its_reduction(void **state)
{
	(void)state;
	plan("input x : f16[2, 4096]; output y : f16[2]\n"
	     "op sum(x) -> y iter(i=2, j=4096 reduction)\n");
	assert_true(plan_has("hbm", "iter(i=2 split=2, j=4096 reduction split=1) cores=2"));
	plan("input a : f16[2, 4096]; input b : f16[4096, 64]; output y : f16[2, 64]\n"
	     "op mm(a, b) -> y matmul iter(m=2, n=64 stick, k=4096 reduction)\n");
	assert_true(plan_has("hbm", "k=4096 reduction split=16) cores=32"));
}

static void spans_are_split_before_anything_else(void **state)
{
	(void)state;
	/* 1 GiB in 64 rows: a core may span 268,431,360 bytes, so 8 cores must share
	 * the rows (4 leave 268,435,456), though sticks are many more. */
	c.opts.cores = 8;
	plan("input x : f16[64, 8388608]; output y : f16[64, 8388608]\n"
	     "op f(x) -> y iter(i=64, j=8388608 stick)\n");
	assert_true(plan_has("hbm", "iter(i=64 split=8, j=8388608 stick split=1) cores=8"));
}

static void a_span_that_no_split_cures_is_refused_with_figures(void **state)
{
	(void)state;
	c.opts.cores = 4;
	plan_fails(&c, "input x : f16[7, 83886080]; output y : f16[7, 83886080]\n"
	           "op f(x) -> y iter(i=7, j=83886080 stick)\n", 822);
	assert_true(plan_said(&c, "1174405120"));
	assert_true(plan_said(&c, "268431360"));
}

static void uneven_splits_are_refused(void **state)
{
	(void)state;
	plan_fails(&c, "input x : f16[6, 64]; output y : f16[6, 64]\n"
	           "op f(x) -> y iter(i=6 split=4, j=64 stick)\n", 821);
	plan_case_free(&c);
	plan_case_init(&c);
	plan_fails(&c, "input x : f16[64, 64]; output y : f16[64, 64]\n"
	           "op f(x) -> y iter(i=64 split=64, j=64 stick)\n", 821);
}

/* ---- fusion ---------------------------------------------------------------------- */

static void a_fallback_in_the_middle_gives_two_kernels(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 256 bytes; output y : 256 bytes; tensor a : 256 bytes\n"
	        "tensor b : 256 bytes; tensor t : 256 bytes; tensor d : 256 bytes\n"
	        "op exp(x) -> a; op mul(a) -> b; op tril(b) -> t kind=fallback\n"
	        "op exp(t) -> d; op mul(d) -> y\n");
	assert_int_equal(pool_of(&c, "k0"), 256);
	assert_int_equal(pool_of(&c, "k1"), 256);
	assert_string_equal(home_of(&c, "a"), "pool");
	assert_string_equal(home_of(&c, "b"), "hbm");
	assert_string_equal(home_of(&c, "t"), "hbm");
	assert_string_equal(home_of(&c, "d"), "pool");
}

static void allocations_at_the_rim_stay_outside_of_the_bundle(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 256 bytes; output y : 256 bytes; tensor a : 256 bytes\n"
	        "tensor b : 256 bytes; tensor e : 256 bytes\n"
	        "op e0: empty() -> a kind=alloc; op f(x) -> a; op e1: empty() -> b kind=alloc\n"
	        "op f(a) -> b; op f(b) -> y; op e2: empty() -> e kind=alloc\n");
	assert_true(plan_has("hbm", "op e0: empty() -> a kind=alloc\n\nbundle k0 {"));
	assert_true(plan_has("hbm", "}\n\nop e2: empty() -> e kind=alloc"));
	assert_true(plan_has("hbm", "  op e1: empty() -> b kind=alloc\n"));
}

static void a_bare_loop_is_a_bundle(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 256 bytes; output y : 256 bytes; tensor a : 256 bytes\n"
	        "loop L x4 {; op f(x) -> a; op f(a) -> y; }\n");
	assert_true(plan_has("hbm", "bundle k0 {\n  loop L x4 {"));
	assert_int_equal(pool_of(&c, "k0"), 256);
}

static void without_symbolic_arguments_each_node_is_a_bundle(void **state)
{
	(void)state;
	c.opts.no_bundle_args = true;
	plan_ok(&c, "input x : 256 bytes; output y : 256 bytes; tensor a : 256 bytes\n"
	        "bundle both {; op f(x) -> a; op f(a) -> y; }\n");
	assert_string_equal(home_of(&c, "a"), "hbm");
	assert_true(plan_has("hbm", "bundle k0 {"));
	assert_true(plan_has("hbm", "bundle k1 {"));
}

/* ---- kernel preparation ------------------------------------------------------------ */

static void what_fails_in_the_scratchpad_leaves_it_together(void **state)
{
	static const char text[] =
		"input x : 256 bytes; output y : 256 bytes; tensor a : 256 bytes\n"
		"tensor b : 256 bytes; tensor d : 256 bytes\n"
		"op p: f(x) -> a; op q: f(a) -> b lx_fail=%u; op r: f(b) -> d; op s: f(d) -> y\n";
	char program[512];

	(void)state;
	snprintf(program, sizeof program, text, 1);
	plan(program);
	assert_string_equal(home_of(&c, "a"), "pool");
	assert_string_equal(home_of(&c, "b"), "pool");
	assert_string_equal(home_of(&c, "d"), "lx");
	assert_true(plan_has("json", "\"demoted-by-kernel-preparation\""));
	assert_true(plan_has("json", "\"stored\": 3, \"demoted\": 2, \"saved_bytes\": 1536, "
	                             "\"bound_bytes\": 1536"));
	assert_true(plan_has("text", "optimal; 2 left again"));
	plan_case_free(&c);
	plan_case_init(&c);
	/* Once nothing of the op is in LX there is nothing left to fail. */
	snprintf(program, sizeof program, text, 9);
	plan(program);
	assert_string_equal(home_of(&c, "d"), "lx");
}

static void a_clone_that_leaves_is_undone(void **state)
{
	(void)state;
	plan("input x : 256 bytes; output y : 256 bytes; output z : 256 bytes\n"
	     "op p: f(x) -> y; op q: f(x) -> z lx_fail=1\n");
	assert_false(plan_has("hbm", "clone"));
	assert_true(shares(&c, "x.lx", "x"));
	assert_int_equal(traffic(), 4 * 256);
}

/* ---- carried reductions ------------------------------------------------------------- */

static const char carried[] =
	"input x : f16[2, 64, 64]; output y : f16[64, 64]; tensor acc : f16[64, 64]\n"
	"tensor part : f16[64, 64]\n"
	"reduction sum: fill=fill combine=combine drain=%s acc=acc\n"
	"bundle k {\n"
	"  op fill: zero() -> acc\n"
	"  loop L x2 {; op slice(x[0..8192, L*8192]) -> part\n"
	"    op combine: add(acc, part) -> acc pointwise; }\n"
	"  op drain: copy(acc) -> y\n"
	"}\n";

static void a_carried_accumulator_lives_in_the_scratchpad_to_its_drain(void **state)
{
	char text[768];
	uint64_t start, end;

	(void)state;
	snprintf(text, sizeof text, carried, "drain");
	plan(text);
	assert_string_equal(home_of(&c, "acc"), "lx");
	assert_string_equal(home_of(&c, "part"), "lx");
	assert_true(disjoint(&c, "acc", "part"));
	live_of(&c, "acc", &start, &end);
	assert_int_equal(end, 4);
}

static void an_accumulator_in_hbm_is_right_but_said(void **state)
{
	char text[768];

	(void)state;
	snprintf(text, sizeof text, carried, "drain");
	plan_ok(&c, text);
	assert_string_equal(home_of(&c, "acc"), "pool");
	assert_true(plan_said(&c, "stays in HBM"));
}

static void a_lost_stage_is_named(void **state)
{
	char text[768];

	(void)state;
	snprintf(text, sizeof text, carried, "gone");
	c.opts.lx_off = false;
	plan_fails(&c, text, 824);
	assert_true(plan_said(&c, "lost its stage drain"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(softmax_shows_the_four_stages_of_the_traffic_model),
		T(the_clone_of_an_input_is_read_instead_and_hands_its_bytes_on),
		T(a_result_that_is_read_goes_out_through_a_clone),
		T(the_back_end_keeps_its_share),
		T(free_bytes_in_two_holes_are_no_room),
		T(demands_that_contradict_are_told_and_a_copy_cures_them),
		T(a_demand_that_rules_refuse_is_an_error),
		T(every_rule_of_residency_has_its_reason),
		T(cores_that_own_the_same_blocks_agree),
		T(the_largest_even_splits_come_first),
		T(only_a_matmul_splits_its_reduction),
		T(spans_are_split_before_anything_else),
		T(a_span_that_no_split_cures_is_refused_with_figures),
		T(uneven_splits_are_refused),
		T(a_fallback_in_the_middle_gives_two_kernels),
		T(allocations_at_the_rim_stay_outside_of_the_bundle),
		T(a_bare_loop_is_a_bundle),
		T(without_symbolic_arguments_each_node_is_a_bundle),
		T(what_fails_in_the_scratchpad_leaves_it_together),
		T(a_clone_that_leaves_is_undone),
		T(a_carried_accumulator_lives_in_the_scratchpad_to_its_drain),
		T(an_accumulator_in_hbm_is_right_but_said),
		T(a_lost_stage_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
