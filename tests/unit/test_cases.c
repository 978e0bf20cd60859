/* SPDX-License-Identifier: Apache-2.0
 * Public reports of faults in other planners, kept in shape, with the answer that
 * a planner must give. The letter-number names are those of the collection they
 * come from. */
#include "support/plan_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static plan_case c;

static int setup(void **state)
{
	(void)state;
	plan_case_init(&c);
	c.opts.passes = "hbm-pool";
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	plan_case_free(&c);
	return 0;
}

static void expect_live(const char *tensor, uint64_t start, uint64_t end)
{
	uint64_t s, e;

	live_of(&c, tensor, &s, &e);
	assert_int_equal(s, start);
	assert_int_equal(e, end);
}

/* Two names of one storage in one bundle. */
static void c01_alias_in_one_kernel(void **state)
{
	static const char aliased[] =
		"input x : 4096 bytes; tensor a : 4096 bytes; view a2 = a : 4096 bytes;"
		"tensor b : 2048 bytes; tensor d : 4096 bytes; output y : 4096 bytes;"
		"bundle k {; op (x) -> a; op (x) -> b; op (b, a) -> a2;"
		"op (x) -> d; op (a2, d) -> y;}";

	(void)state;
	plan_ok(&c, aliased);
	assert_true(shares(&c, "a", "a2"));
	assert_int_equal(offset_of(&c, "a"), offset_of(&c, "a2"));
	expect_live("a", 0, 5);
	assert_true(disjoint(&c, "a", "b"));
	assert_true(disjoint(&c, "a", "d"));
	assert_int_equal(pool_of(&c, "k"), 8192);
	c.opts.allocator = "bump";
	plan_ok(&c, aliased);
	assert_int_equal(pool_of(&c, "k"), 10240);
}

static void c03_loop_invariant_lives_over_the_loop(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 64 bytes; tensor p : 64 bytes; tensor acc : 64 bytes;"
	        "tensor t : 64 bytes; tensor q : 64 bytes; output y : 64 bytes;"
	        "bundle k {; op (x) -> p; op (x) -> acc; loop l x4 {; op (p) -> t;"
	        "op (x) -> q; op (acc, q, t) -> acc;}; op (acc) -> y;}");
	expect_live("p", 0, 5);
	assert_true(disjoint(&c, "p", "q"));
	assert_int_equal(pool_of(&c, "k"), 512);
}

static void c05_view_read_in_another_kernel(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 65536 bytes; tensor a : 65536 bytes; tensor u : 65536 bytes;"
	        "view v = a : 65536 bytes; output y : 65536 bytes;"
	        "bundle k0 {; op (x) -> a; op (a) -> u;};"
	        "bundle k1 {; op (v, u) -> y;}");
	assert_string_equal(home_of(&c, "a"), "hbm");
	assert_string_equal(home_of(&c, "v"), "hbm");
	assert_string_equal(home_of(&c, "u"), "hbm");
	assert_int_equal(pool_of(&c, "k0"), HBM_NO_OFFSET);
	assert_int_equal(pool_of(&c, "k1"), HBM_NO_OFFSET);
}

static void c07_pools_kept_until_the_program_ends(void **state)
{
	static const char text[] =
		"input x : 128 bytes; tensor t0 : 6Gi bytes; tensor t1 : 6Gi bytes;"
		"tensor t2 : 6Gi bytes; output y0 : 128 bytes; output y1 : 128 bytes;"
		"output y2 : 128 bytes; bundle k0 {; op (x) -> t0; op (t0) -> y0;};"
		"bundle k1 {; op (x) -> t1; op (t1) -> y1;};"
		"bundle k2 {; op (x) -> t2; op (t2) -> y2;}";

	(void)state;
	plan_ok(&c, text);
	assert_true(hbm_planned_fits(c.p));
	assert_int_equal(hbm_planned_total(c.p), 6442450944u + 512);
	c.opts.pool_lifetime_program = true;
	plan_ok(&c, text);
	assert_false(hbm_planned_fits(c.p));
	assert_int_equal(hbm_planned_total(c.p) - hbm_planned_limit(c.p), 2147483648u + 512);
}

static void c11_advancing_tile_takes_all_its_trips(void **state)
{
	char text[400];
	const char *form =
		"input x : 8192 bytes; tensor t : 8192 bytes%s; tensor u : 4096 bytes;"
		"output y : 128 bytes; bundle k {; loop l x16 {; op (x) -> t%s;};"
		"op (x) -> u; op (t, u) -> y;}";

	(void)state;
	snprintf(text, sizeof text, form, " tile", "[l*8192]");
	plan_ok(&c, text);
	assert_true(disjoint(&c, "t", "u"));
	assert_int_equal(pool_of(&c, "k"), 135168);
	snprintf(text, sizeof text, form, "", "");
	plan_ok(&c, text);
	assert_int_equal(pool_of(&c, "k"), 12288);
}

static void c11_nests_behind_each_other_share_tiles(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 64 bytes; tensor t : 128 bytes tile;"
	        "output y : 64 bytes; bundle k {; loop O x2 {; loop I x3 {;"
	        "op (x) -> t[O*384, I*128];};}; loop P x2 {; loop J x3 {;"
	        "op (t[P*384, J*128]) -> y;};};}");
	assert_int_equal(pool_of(&c, "k"), 768);
}

static void c15_resident_bytes_of_others(void **state)
{
	static const char text[] =
		"tensor t : 1073741824 bytes; bundle k {; op () -> t;}";

	(void)state;
	c.opts.resident = 16106127360u;
	plan_ok(&c, text);
	assert_true(hbm_planned_fits(c.p));
	assert_int_equal(hbm_planned_total(c.p), hbm_planned_limit(c.p));
	c.opts.resident = 16374562816u;
	plan_ok(&c, text);
	assert_false(hbm_planned_fits(c.p));
	assert_int_equal(hbm_planned_total(c.p) - hbm_planned_limit(c.p), 268435456);
}

static void c25_chain_of_views(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 1Mi bytes; tensor s : 1Mi bytes; view v1 = s : 1Mi bytes;"
	        "view v2 = v1 : 1Mi bytes; view v3 = v2 + 262144 : 262144 bytes;"
	        "tensor t : 1Mi bytes; tensor w : 1Mi bytes; output y : 128 bytes;"
	        "bundle k {; op (x) -> s; op (x) -> t; op (t) -> w; op (v3, w) -> y;}");
	expect_live("s", 0, 4);
	assert_int_equal(offset_of(&c, "v3"), offset_of(&c, "s") + 262144);
	assert_true(disjoint(&c, "s", "t"));
	assert_true(disjoint(&c, "s", "w"));
	assert_int_equal(pool_of(&c, "k"), 3145728);
}

static const char bounded[] =
	"tensor t : f32[%s, 64]; output y : 128 bytes;"
	"bundle k {; op () -> t; op (t) -> y;}";

static void with_extent(char text[200], const char *extent)
{
	snprintf(text, 200, bounded, extent);
}

static void c27_a_hint_never_sets_a_size(void **state)
{
	char text[200];

	(void)state;
	with_extent(text, "n>=1~2");
	plan_ok(&c, text);
	assert_string_equal(home_of(&c, "t"), "hbm");
	with_extent(text, "1<=n<=32");
	plan_ok(&c, text);
	assert_int_equal(pool_of(&c, "k"), 8192);
	with_extent(text, "0<=n<=32");
	plan_ok(&c, text);
	assert_int_equal(pool_of(&c, "k"), 8192);
}

static void c29_several_small_ones_in_one_hole(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 128 bytes; tensor big : 1600 bytes; tensor s1 : 400 bytes;"
	        "tensor s2 : 400 bytes; tensor s3 : 400 bytes; output y : 128 bytes;"
	        "bundle k {; op (x) -> big; op (big) -> y; op (x) -> s1, s2;"
	        "op (x) -> s3; op (s1, s2, s3) -> y;}");
	assert_true(disjoint(&c, "s1", "s2"));
	assert_true(disjoint(&c, "s2", "s3"));
	assert_true(disjoint(&c, "s1", "s3"));
	assert_int_equal(pool_of(&c, "k"), 1664);
}

static void c31_in_place_chain_while_the_root_is_read(void **state)
{
	static const char text[] =
		"input x : 2048 bytes; tensor a : 2048 bytes; tensor v : 2048 bytes;"
		"tensor w : 2048 bytes; output y : 2048 bytes; bundle k {; op (x) -> a;"
		"op reshape: (a) -> v inplace(v=a keeps); op (v) -> w inplace(w=v);"
		"op (a, w) -> y;}";

	(void)state;
	plan_ok(&c, text);
	assert_true(disjoint(&c, "w", "a"));
	c.opts.no_reuse = true;
	plan_ok(&c, text);
	assert_true(disjoint(&c, "a", "v") && disjoint(&c, "v", "w") && disjoint(&c, "a", "w"));
}

static void c33_a_region_without_ops(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 512 bytes; tensor a : 512 bytes; view i = a : 512 bytes;"
	        "view j = i : 512 bytes; output y : 512 bytes;"
	        "bundle k {; op (x) -> a; region r {;}; op (j) -> y;}");
	assert_true(shares(&c, "a", "j"));
	assert_int_equal(offset_of(&c, "a"), offset_of(&c, "j"));
	expect_live("j", 0, 2);
}

/* One program with a symbolic extent, bound anew for each plan. */
static char *plan_bound(uint64_t d)
{
	static hbm_bind bind = {.name = "d"};

	bind.value = d;
	c.in_opts = (hbm_input_opts){.binds = &bind, .n_binds = 1};
	plan_ok(&c, "tensor t : f32[d, 64]; tensor u : f32[d, 32]; output y : 128 bytes;"
	        "bundle k {; op () -> t; op (t) -> u; op (u) -> y;}");
	return plan_text(&c, "json");
}

static void c35_planning_again_with_another_size(void **state)
{
	char *first = plan_bound(36), *second = plan_bound(4), *third = plan_bound(36);

	(void)state;
	assert_string_equal(first, third);
	assert_string_not_equal(first, second);
	free(first);
	free(second);
	free(third);
}

static void c37_a_call_argument_nobody_reads(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 256 bytes; weight w : 256 bytes; tensor a : 256 bytes;"
	        "tensor i0 : 256 bytes; tensor i1 : 256 bytes; output y : 256 bytes;"
	        "bundle k {; op (x) -> a; region r {; op copy: (a, w) -> i0, i1;"
	        "op (i0) -> y;}; op (a) -> y;}");
	assert_true(disjoint(&c, "i1", "a"));
	assert_true(disjoint(&c, "i1", "i0"));
	expect_live("i1", 1, 2);
}

static void c41_a_backing_tensor_lives_as_long_as_its_parts(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 1024 bytes; tensor b : 1024 bytes; tensor q : 128 bytes;"
	        "view v = b + 512 : 512 bytes; tensor t : 1024 bytes; output y : 128 bytes;"
	        "output z : 128 bytes; bundle k {; op (x) -> b; op (b) -> q;"
	        "op (q) -> z; op (x) -> t; op (x) -> z; op (v, t) -> y;}");
	expect_live("b", 0, 6);
	assert_true(disjoint(&c, "b", "t"));
	assert_int_equal(offset_of(&c, "v"), offset_of(&c, "b") + 512);
	plan_fails(&c, "tensor b : 1024 bytes; view v = b + 512 : 1024 bytes;"
	           "bundle k {; op () -> b;}", 203);
	assert_true(plan_said(&c, "1536"));
	assert_true(plan_said(&c, "1024"));
}

static bool binds_refused(uint64_t m, uint64_t n)
{
	hbm_bind binds[] = {{"m", m}, {"n", n}};

	c.in_opts = (hbm_input_opts){.binds = binds, .n_binds = 2};
	hbm_context_clear(c.cx);
	plan_case_run(&c, "tensor t : f32[m<=8, n<=128]; output y : 128 bytes;"
	              "bundle k {; op () -> t; op (t) -> y;}");
	return c.status != HBM_OK;
}

static void c43_each_extent_has_its_own_bound(void **state)
{
	(void)state;
	assert_true(binds_refused(16, 64));
	assert_true(plan_said(&c, "16") && plan_said(&c, "8"));
	assert_false(binds_refused(8, 128));
	assert_true(binds_refused(4, 200));
}

static void c45_offsets_of_views_add_up(void **state)
{
	(void)state;
	plan_ok(&c, "tensor x : 8192 bytes; view v = x + 4096 : 4096 bytes;"
	        "view r = v : 4096 bytes; view n = v + 1024 : 1024 bytes;"
	        "output y : 128 bytes; output z : 128 bytes;"
	        "bundle k {; op () -> x; op (r) -> y; op (n) -> z;}");
	assert_int_equal(offset_of(&c, "r") - offset_of(&c, "x"), 4096);
	assert_int_equal(offset_of(&c, "n") - offset_of(&c, "x"), 5120);
}

static void c49_an_op_that_returns_its_argument(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 4096 bytes; tensor a : 4096 bytes; tensor r : 4096 bytes;"
	        "tensor t : 4096 bytes; output y : 4096 bytes; bundle k {; op (x) -> a;"
	        "op (a) -> r inplace(r=a must); op (x) -> t; op (r, t) -> y;}");
	assert_true(shares(&c, "a", "r"));
	expect_live("a", 0, 4);
	assert_true(disjoint(&c, "a", "t"));
	assert_int_equal(pool_of(&c, "k"), 8192);
}

static void c51_changes_of_parts_are_one_allocation(void **state)
{
	char *json;

	(void)state;
	plan_ok(&c, "input x : 4096 bytes; tensor b : 4096 bytes; view m1 = b : 2048 bytes;"
	        "view m2 = b + 2048 : 2048 bytes; tensor n1 : 2048 bytes;"
	        "tensor n2 : 2048 bytes; tensor u : 1024 bytes; output y : 4096 bytes;"
	        "bundle k {; op (x) -> b; op (m1) -> n1 inplace(n1=m1 must);"
	        "op (m2) -> n2 inplace(n2=m2 must); op (n1) -> u; op (n2, u) -> y;}");
	assert_true(shares(&c, "b", "n1"));
	assert_int_equal(offset_of(&c, "n2"), offset_of(&c, "b") + 2048);
	assert_int_equal(pool_of(&c, "k"), 5120);
	json = plan_text(&c, "json");
	assert_non_null(strstr(json, "\"live_bytes\": 5120"));
	free(json);
}

/* The k-th of 24 orders of four declarations. */
static void permuted(char text[400], uint32_t k)
{
	static const char *const lines[] = {
		"tensor a : 512 bytes;", "tensor b : 512 bytes;", "tensor cc : 512 bytes;",
		"tensor d : 512 bytes;"};
	bool used[4] = {false};
	uint32_t base = 6;

	text[0] = '\0';
	for (uint32_t left = 4; left; left--, base = left ? base / left : 1) {
		uint32_t pick = k / base;
		k %= base;
		for (uint32_t i = 0; i < 4; i++) {
			if (used[i] || pick--)
				continue;
			used[i] = true;
			strcat(text, lines[i]);
			break;
		}
	}
	strcat(text, "output y : 128 bytes; bundle k {; op () -> a, b; op () -> y;"
	       "op (a, b) -> y; op () -> cc, d; op (cc, d) -> y;}");
}

static void c53_no_order_of_declarations_or_threads_shows(void **state)
{
	char *first = NULL, text[400];

	(void)state;
	for (uint32_t k = 0; k < 24; k++) {
		char *json, *words;
		permuted(text, k);
		c.opts.threads = 1 + k % 16;
		plan_ok(&c, text);
		json = plan_text(&c, "json");
		words = plan_text(&c, "text");
		if (first)
			assert_string_equal(json, first);
		else
			first = strdup(json);
		free(json);
		free(words);
	}
	free(first);
}

static void c55_unknown_extents_are_not_equal(void **state)
{
	char text[400];
	const char *form =
		"tensor a : f32[1, 320, 640, 3]; tensor b : f32[1, %s, %s, 3];"
		"output y : 128 bytes; bundle k {; op () -> a; op (a) -> y; op () -> b;"
		"op (b) -> y;}";

	(void)state;
	c.target = "trn1"; /* no sticks: bytes as the report counts them */
	snprintf(text, sizeof text, form, "?<=720", "?<=1280");
	plan_ok(&c, text);
	assert_int_equal(offset_of(&c, "a"), 0);
	assert_int_equal(offset_of(&c, "b"), 0);
	assert_int_equal(pool_of(&c, "k"), 11059200);
	snprintf(text, sizeof text, form, "?", "?");
	plan_ok(&c, text);
	assert_string_equal(home_of(&c, "b"), "hbm");
	assert_int_equal(pool_of(&c, "k"), 2457600);
}

static void c57_an_output_that_is_an_input(void **state)
{
	char *json;

	(void)state;
	plan_ok(&c, "input x : 4 bytes output; output v1 : 4 bytes;"
	        "bundle k {; op () -> v1;}");
	assert_string_equal(home_of(&c, "x"), "io");
	assert_string_equal(home_of(&c, "v1"), "io");
	json = plan_text(&c, "json");
	assert_non_null(strstr(json, "\"pass_through\": true"));
	free(json);
	json = plan_text(&c, "text");
	assert_non_null(strstr(json, "pass-through"));
	free(json);
}

static void c59_outputs_are_not_written_over(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 4096 bytes; output y1 : 4096 bytes; output y2 : 4096 bytes;"
	        "bundle k {; op (x) -> y1; op (y1) -> y2 inplace(y2=y1);}");
	assert_false(shares(&c, "y1", "y2"));
	assert_int_equal(pool_of(&c, "k"), HBM_NO_OFFSET);
}

static void c61_nothing_to_plan(void **state)
{
	static const char *const texts[] = {"", "bundle k {;}",
		"tensor a : 64 bytes; bundle k {; op () -> a;}", "bundle k {; op ();}"};

	(void)state;
	for (int i = 0; i < 4; i++) {
		char *json;
		plan_ok(&c, texts[i]);
		json = plan_text(&c, "json");
		assert_non_null(strstr(json, "\"pools\": []"));
		free(json);
		free(plan_text(&c, "text"));
	}
}

static void c69_an_external_with_a_view_only(void **state)
{
	(void)state;
	plan_ok(&c, "input e : 4096 bytes; view v = e : 1024 bytes; output y : 128 bytes;"
	        "bundle k {; op (v) -> y;}");
	assert_string_equal(home_of(&c, "e"), "io");
	assert_true(shares(&c, "e", "v"));
}

static const char pinned[] =
	"tensor a : 1024 bytes pin=0; tensor b : 1024 bytes pin=0;"
	"tensor cc : 1024 bytes pin=0; output y : 128 bytes;"
	"bundle k {; op () -> a; op (a%s) -> y%s; op () -> %s; op (b) -> y;"
	"op () -> cc; op (cc) -> y;}";

static void c71_one_pinned_slot_used_in_turn(void **state)
{
	char text[500];

	(void)state;
	snprintf(text, sizeof text, pinned, "", "", "b");
	plan_ok(&c, text);
	assert_int_equal(pool_of(&c, "k"), 1024);
	snprintf(text, sizeof text, pinned, "", ", b", "y");
	plan_fails(&c, text, 212);
	assert_true(plan_said(&c, "'a'") && plan_said(&c, "'b'") && plan_said(&c, "tick 1"));
}

static void c77_sizes_beyond_32_bits(void **state)
{
	char *json;

	(void)state;
	c.target = "trn2";
	plan_ok(&c, "tensor a : u8[3, 1073741824]; tensor b : u8[65536, 65536];"
	        "output y : 128 bytes; bundle k {; op () -> a; op (a) -> y; op () -> b;"
	        "op (b) -> y;}");
	assert_int_equal(pool_of(&c, "k"), 4294967296u);
	plan_ok(&c, "tensor a : 3Gi bytes; tensor b : 3Gi bytes; tensor cc : 3Gi bytes;"
	        "tensor d : 3Gi bytes; tensor e : 3Gi bytes; output y : 128 bytes;"
	        "bundle k {; op () -> a, b, cc, d, e; op (a, b, cc, d, e) -> y;}");
	assert_int_equal(pool_of(&c, "k"), 16106127360u);
	json = plan_text(&c, "json");
	assert_non_null(strstr(json, "\"offset\": 12884901888"));
	free(json);
}

static void c81_two_full_writes_own_the_gap(void **state)
{
	(void)state;
	plan_ok(&c, "input x : 1024 bytes; tensor a : 1024 bytes; tensor cc : 1024 bytes;"
	        "tensor d : 1024 bytes; output y : 1024 bytes; bundle k {; op (x) -> a;"
	        "op (a) -> cc; op (cc) -> d; op (d) -> a; op (a) -> y;}");
	assert_true(disjoint(&c, "a", "cc"));
	assert_true(disjoint(&c, "a", "d"));
	assert_int_equal(pool_of(&c, "k"), 3072);
}

static void c21_donation_is_used_through_a_loop(void **state)
{
	static const char text[] =
		"input x : 512Mi bytes%s; input x0 : 128 bytes; tensor a : 512Mi bytes;"
		"tensor s : 128 bytes; output y : 512Mi bytes; output z : 128 bytes;"
		"bundle k {; op (x) -> a inplace(a=x); op (x0) -> s;"
		"loop l x8 {; op (s, a) -> s;}; op (a) -> y inplace(y=a); op (s) -> z;}";
	char with[600];

	(void)state;
	snprintf(with, sizeof with, text, " donated");
	plan_ok(&c, with);
	assert_true(shares(&c, "x", "a"));
	assert_true(shares(&c, "a", "y"));
	assert_int_equal(pool_of(&c, "k"), 128);
	snprintf(with, sizeof with, text, "");
	plan_ok(&c, with);
	assert_false(shares(&c, "x", "a"));
}

static void c47_reuse_over_a_long_sequence(void **state)
{
	char text[2000], part[200], body[1600] = "";

	(void)state;
	c.opts.pool_cap = 64ull << 30;
	for (int parallel = 0; parallel < 2; parallel++) {
		text[0] = body[0] = '\0';
		for (int i = 0; i < 8; i++) {
			snprintf(part, sizeof part,
			         "tensor t%d : 4Gi bytes; output w%d : 128 bytes;", i, i);
			strcat(text, part);
			snprintf(part, sizeof part, "region r%d {; op () -> t%d; op (t%d) -> w%d;};",
			         i, i, i, i);
			strcat(body, part);
		}
		strcat(text, parallel ? "bundle k {; parallel p {;" : "bundle k {;");
		strcat(text, body);
		strcat(text, parallel ? "};}" : "}");
		plan_ok(&c, text);
		assert_int_equal(pool_of(&c, "k"), parallel ? 34359738368u : 4294967296u);
		assert_int_equal(hbm_planned_fits(c.p), !parallel);
	}
}

static void c19_a_parameter_that_is_not_donated_is_not_written(void **state)
{
	(void)state;
	plan_fails(&c, "input p : 1Mi bytes; input g : 128 bytes; input h : 128 bytes;"
	           "view t = p : 1Mi bytes; tensor s : 1Mi bytes; output d : 128 bytes;"
	           "bundle k {; op (t, g) -> s inplace(s=t must); op (p, h) -> d;}", 210);
}

static void c89_two_demands_on_one_storage(void **state)
{
	(void)state;
	plan_fails(&c, "input x : 4096 bytes; tensor a : 4096 bytes home=hbm;"
	           "view a2 = a : 4096 bytes home=lx; tensor b : 4096 bytes;"
	           "output y : 4096 bytes; bundle k {; op (x) -> a; op (x) -> b;"
	           "op (a2, b) -> y;}", 212);
	assert_true(plan_said(&c, "'a'") && plan_said(&c, "'a2'"));
}

/* An allocator that fails at its n-th call. */
static int64_t calls_left, blocks;

static void *failing_alloc(void *user, size_t size)
{
	void *p = calls_left-- == 0 ? NULL : malloc(size);

	(void)user;
	blocks += p != NULL;
	return p;
}

static void counting_release(void *user, void *p, size_t size)
{
	(void)user;
	(void)size;
	blocks -= p != NULL;
	free(p);
}

static void fifty_buffers(char *text)
{
	char part[100];

	strcpy(text, "output y : 128 bytes\n");
	for (int i = 0; i < 50; i++) {
		snprintf(part, sizeof part, "tensor t%d : %d bytes\n", i, 500 - 7 * i);
		strcat(text, part);
	}
	strcat(text, "bundle k {\n op () -> t0\n");
	for (int i = 1; i < 50; i++) {
		snprintf(part, sizeof part, " op (t%d) -> t%d inplace(t%d=t%d)\n", i - 1, i, i,
		         i - 1);
		strcat(text, part);
	}
	strcat(text, " op (t49) -> y\n}\n");
}

static bool discard(void *user, const void *bytes, size_t n)
{
	(void)user, (void)bytes, (void)n;
	return true;
}

static hbm_status plan_with(const hbm_mem *mem, const char *text)
{
	hbm_context *cx = NULL;
	hbm_input *in = NULL;
	hbm_planned *p = NULL;
	hbm_plan_opts opts;
	hbm_status status = hbm_context_new(mem, &cx);

	hbm_plan_defaults(&opts);
	opts.passes = "hbm-pool";
	if (status == HBM_OK)
		status = hbm_input_parse(cx, "f.hbm", text, strlen(text), NULL, &in);
	if (status == HBM_OK)
		status = hbm_planned_make(cx, in, "spyre", &opts, &p);
	if (status == HBM_OK)
		status = hbm_planned_write(cx, p, "json", discard, NULL);
	if (status == HBM_OK)
		status = hbm_planned_write(cx, p, "text", discard, NULL);
	hbm_planned_free(p);
	hbm_input_free(in);
	hbm_context_free(cx);
	return status;
}

static void c67_every_allocation_fails_once(void **state)
{
	hbm_mem mem = {failing_alloc, counting_release, NULL};
	char text[8000];
	hbm_status status = HBM_NOMEM;

	(void)state;
	fifty_buffers(text);
	for (int64_t n = 0; status != HBM_OK; n++) {
		calls_left = n;
		blocks = 0;
		status = plan_with(&mem, text);
		if (status != HBM_OK && status != HBM_NOMEM)
			fail_msg("allocation %d: status %d", (int)n, (int)status);
		assert_int_equal(blocks, 0);
		assert_true(n < 100000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(c01_alias_in_one_kernel),
		T(c03_loop_invariant_lives_over_the_loop),
		T(c05_view_read_in_another_kernel),
		T(c07_pools_kept_until_the_program_ends),
		T(c11_advancing_tile_takes_all_its_trips),
		T(c11_nests_behind_each_other_share_tiles),
		T(c15_resident_bytes_of_others),
		T(c19_a_parameter_that_is_not_donated_is_not_written),
		T(c21_donation_is_used_through_a_loop),
		T(c25_chain_of_views),
		T(c27_a_hint_never_sets_a_size),
		T(c29_several_small_ones_in_one_hole),
		T(c31_in_place_chain_while_the_root_is_read),
		T(c33_a_region_without_ops),
		T(c35_planning_again_with_another_size),
		T(c37_a_call_argument_nobody_reads),
		T(c41_a_backing_tensor_lives_as_long_as_its_parts),
		T(c43_each_extent_has_its_own_bound),
		T(c45_offsets_of_views_add_up),
		T(c47_reuse_over_a_long_sequence),
		T(c49_an_op_that_returns_its_argument),
		T(c51_changes_of_parts_are_one_allocation),
		T(c53_no_order_of_declarations_or_threads_shows),
		T(c55_unknown_extents_are_not_equal),
		T(c57_an_output_that_is_an_input),
		T(c59_outputs_are_not_written_over),
		T(c61_nothing_to_plan),
		T(c67_every_allocation_fails_once),
		T(c69_an_external_with_a_view_only),
		T(c71_one_pinned_slot_used_in_turn),
		T(c77_sizes_beyond_32_bits),
		T(c81_two_full_writes_own_the_gap),
		T(c89_two_demands_on_one_storage),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
