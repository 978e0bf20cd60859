/* SPDX-License-Identifier: Apache-2.0
 * One test for each sentence of the pool-planning document that says what must
 * happen, and the worked scenarios PP* with their figures. */
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
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	plan_case_free(&c);
	return 0;
}

static void bump(const char *text)
{
	c.opts.allocator = "bump";
	plan_ok(&c, text);
}

static void written_and_read_within_one_bundle_is_eligible(void **state)
{
	(void)state; /* PP1 */
	bump("tensor b0 : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> b0\n op (b0) -> y\n }\n");
	assert_string_equal(home_of(&c, "b0"), "pool");
	assert_int_equal(pool_of(&c, "k"), 128);
}

static void read_by_another_bundle_is_standalone(void **state)
{
	(void)state; /* PP2 */
	bump("tensor b0 : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> b0\n }\nbundle l {\nop (b0) -> y\n }\n");
	assert_string_equal(home_of(&c, "b0"), "hbm");
	assert_int_equal(pool_of(&c, "k"), HBM_NO_OFFSET);
	assert_int_equal(pool_of(&c, "l"), HBM_NO_OFFSET);
}

static void separate_bundles_do_not_share_a_pool(void **state)
{
	(void)state; /* PP3 */
	bump("tensor b0 : 128 bytes\ntensor b1 : 128 bytes\n"
	     "output y : 128 bytes\noutput z : 128 bytes\n"
	     "bundle k {\nop () -> b0\n op (b0) -> y\n }\n"
	     "bundle l {\nop () -> b1\n op (b1) -> z\n }\n");
	assert_int_equal(pool_of(&c, "k"), 128);
	assert_int_equal(pool_of(&c, "l"), 128);
	assert_int_equal(offset_of(&c, "b0"), 0);
	assert_int_equal(offset_of(&c, "b1"), 0);
}

static void switched_off_all_intermediates_are_standalone(void **state)
{
	(void)state;
	c.opts.pool_off = true;
	bump("tensor b0 : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> b0\n op (b0) -> y\n }\n");
	assert_string_equal(home_of(&c, "b0"), "hbm");
	assert_int_equal(pool_of(&c, "k"), HBM_NO_OFFSET);
}

static void nothing_in_nothing_out(void **state)
{
	(void)state; /* PP4 */
	c.opts.pool_off = true;
	bump("");
	c.opts.pool_off = false;
	bump("");
	bump("bundle k {\n}\n");
	assert_int_equal(pool_of(&c, "k"), HBM_NO_OFFSET);
}

static void output_does_not_take_the_bytes_of_an_input_it_reads(void **state)
{
	(void)state; /* PP5 */
	bump("tensor b0 : 128 bytes\ntensor b1 : 256 bytes\noutput y : 256 bytes\n"
	     "bundle k {\nop () -> b0\n op (b0) -> b1\n op (b1) -> y\n }\n");
	assert_int_equal(offset_of(&c, "b0"), 0);
	assert_int_equal(offset_of(&c, "b1"), 128);
	assert_int_equal(pool_of(&c, "k"), 384);
}

static void loop_carried_accumulator_keeps_its_bytes(void **state)
{
	(void)state; /* PP6 */
	bump("tensor acc : 128 bytes\ntensor oth : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> acc\n"
	     "  loop l x4 {\nop (acc) -> acc\n op () -> oth\n }\n"
	     "  op (oth, acc) -> y\n }\n");
	assert_string_equal(home_of(&c, "acc"), "pool");
	assert_string_equal(home_of(&c, "oth"), "pool");
	assert_true(disjoint(&c, "acc", "oth"));
	assert_int_equal(pool_of(&c, "k"), 256);
}

static void written_by_two_bundles_is_excluded_unconditionally(void **state)
{
	(void)state; /* PP8: all reads lie in the last writing bundle */
	bump("tensor acc : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> acc\n }\n"
	     "bundle l {\nop (acc) -> acc\n op (acc) -> y\n }\n");
	assert_string_equal(home_of(&c, "acc"), "hbm");
	assert_int_equal(pool_of(&c, "l"), HBM_NO_OFFSET);
}

static void written_by_two_bundles_even_when_the_second_overwrites(void **state)
{
	(void)state;
	bump("tensor a : 128 bytes\noutput y : 128 bytes\noutput z : 128 bytes\n"
	     "bundle k {\nop () -> a\n op (a) -> y\n }\n"
	     "bundle l {\nop () -> a\n op (a) -> z\n }\n");
	assert_string_equal(home_of(&c, "a"), "hbm");
}

static void an_alias_written_in_another_bundle_excludes_both_names(void **state)
{
	(void)state; /* PP10 */
	bump("tensor t : 128 bytes\nview a = t : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> t\n }\n"
	     "bundle l {\nop () -> a\n op (a) -> y\n }\n");
	assert_string_equal(home_of(&c, "t"), "hbm");
	assert_string_equal(home_of(&c, "a"), "hbm");
}

static void read_by_a_cpu_fallback_is_excluded(void **state)
{
	(void)state;
	static const char *const kinds[] = {"fallback", "extern", "nop"};
	char text[400];

	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof text,
		         "tensor t : 128 bytes\noutput y : 128 bytes\noutput z : 128 bytes\n"
		         "bundle k {\nop () -> t\n op (t) -> y\n }\n"
		         "op (t) -> z kind=%s\n", kinds[i]);
		bump(text);
		assert_string_equal(home_of(&c, "t"), "hbm");
	}
}

static void the_fallback_rule_holds_for_the_storage(void **state)
{
	(void)state; /* PP11 */
	bump("tensor t : 128 bytes\nview a = t : 128 bytes\n"
	     "output y : 128 bytes\noutput z : 128 bytes\n"
	     "bundle k {\nop () -> t\n op (t) -> a\n op (a) -> y\n }\n"
	     "op (t) -> z kind=extern\n");
	assert_string_equal(home_of(&c, "t"), "hbm");
	assert_string_equal(home_of(&c, "a"), "hbm");
}

static void overflow_falls_back_and_the_rest_is_unaffected(void **state)
{
	(void)state; /* PP13 */
	c.opts.pool_cap = 200;
	bump("tensor b0 : 128 bytes\ntensor b1 : 256 bytes\noutput y : 256 bytes\n"
	     "bundle k {\nop () -> b0\n op (b0) -> y\n op () -> b1\n op (b1) -> y\n }\n");
	assert_string_equal(home_of(&c, "b0"), "pool");
	assert_int_equal(offset_of(&c, "b0"), 0);
	assert_string_equal(home_of(&c, "b1"), "hbm");
	assert_int_equal(pool_of(&c, "k"), 128);
	assert_true(plan_said(&c, "1 of 2 pool-eligible storages"));
}

static void all_overflowing_gives_an_entry_of_zero(void **state)
{
	(void)state; /* PP14 */
	c.opts.pool_cap = 1;
	bump("tensor b0 : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> b0\n op (b0) -> y\n }\n");
	assert_string_equal(home_of(&c, "b0"), "hbm");
	assert_int_equal(pool_of(&c, "k"), 0);
}

/* PP16: 65 elements of each type, in whole sticks. */
static void sizes_count_whole_sticks(void **state)
{
	static const struct {
		const char *dtype;
		uint64_t bytes;
	} rows[] = {{"f16", 256}, {"f32", 384}, {"f8e4m3", 128}, {"i64", 384},
	            {"bool", 256}, {"u8", 384}};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(text, sizeof text,
		         "tensor t : %s[65]\noutput y : 128 bytes\n"
		         "bundle k {\nop () -> t\n op (t) -> y\n }\n", rows[i].dtype);
		bump(text);
		assert_int_equal(pool_of(&c, "k"), rows[i].bytes);
	}
	bump("tensor t : 129 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> t\n op (t) -> y\n }\n");
	assert_int_equal(pool_of(&c, "k"), 256);
	bump("tensor t : f16 device=[16, 512, 64]\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> t\n op (t) -> y\n }\n");
	assert_int_equal(pool_of(&c, "k"), 1048576);
}

static void only_written_or_only_read_is_not_pooled(void **state)
{
	(void)state;
	bump("tensor w : 128 bytes\ntensor b : 128 bytes\ninput x : 128 bytes\n"
	     "output y : 128 bytes\n"
	     "bundle k {\nop (x) -> w, b\n op (b) -> y\n }\n");
	assert_string_equal(home_of(&c, "w"), "hbm");
	assert_string_equal(home_of(&c, "b"), "pool");
	assert_string_equal(home_of(&c, "x"), "io");
	assert_string_equal(home_of(&c, "y"), "io");
}

static void graph_outputs_are_not_pooled_even_when_read_again(void **state)
{
	(void)state;
	bump("output y : 128 bytes\noutput z : 128 bytes\n"
	     "bundle k {\nop () -> y\n op (y) -> z\n }\n");
	assert_string_equal(home_of(&c, "y"), "io");
	assert_int_equal(pool_of(&c, "k"), HBM_NO_OFFSET);
}

static void a_storage_that_holds_an_output_is_not_pooled(void **state)
{
	(void)state; /* the name check alone is not enough */
	bump("output y : 256 bytes\nview a = y + 128 : 128 bytes\noutput z : 128 bytes\n"
	     "bundle k {\nop () -> a, y[0..128]\n op (a) -> z\n }\n");
	assert_string_equal(home_of(&c, "a"), "io");
}

static void nested_groups_are_flattened_to_leaf_ops(void **state)
{
	(void)state;
	bump("tensor a : 128 bytes\ntensor b : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nregion r {\nloop l x2 {\nregion s {\n"
	     "  op () -> a\n op (a) -> b\n}\n}\n }\n op (b) -> y\n }\n");
	assert_string_equal(home_of(&c, "a"), "pool");
	assert_string_equal(home_of(&c, "b"), "pool");
	assert_true(disjoint(&c, "a", "b"));
}

static void a_bundle_that_is_only_a_loop_follows_the_same_rules(void **state)
{
	(void)state;
	bump("tensor t : 128 bytes\ntensor u : 128 bytes\ntensor acc : 128 bytes zero\n"
	     "output y : 128 bytes\n"
	     "bundle k {\nloop l x8 {\nop () -> t\n op (t) -> u\n op (u) -> y\n}\n }\n");
	assert_string_equal(home_of(&c, "t"), "pool");
	assert_string_equal(home_of(&c, "u"), "pool");
	assert_int_equal(pool_of(&c, "k"), 256);
}

static void sorted_by_start_then_end_then_name(void **state)
{
	(void)state; /* spyre.md 6.11: string order, buf10 before buf2 */
	bump("tensor buf2 : 256 bytes\ntensor buf10 : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> buf2, buf10\n op (buf2, buf10) -> y\n }\n");
	assert_int_equal(offset_of(&c, "buf10"), 0);
	assert_int_equal(offset_of(&c, "buf2"), 128);
	assert_int_equal(pool_of(&c, "k"), 384);
}

static void freed_only_strictly_before_the_new_start(void **state)
{
	(void)state; /* row 1 of 6.11 */
	bump("tensor b0 : 128 bytes\ntensor b1 : 128 bytes\ntensor b2 : 128 bytes\n"
	     "tensor b3 : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> b0\n op (b0) -> b1\n op (b1) -> b2\n op (b2) -> b3\n"
	     "  op (b3) -> y\n }\n");
	assert_int_equal(offset_of(&c, "b0"), 0);
	assert_int_equal(offset_of(&c, "b1"), 128);
	assert_int_equal(offset_of(&c, "b2"), 0);
	assert_int_equal(offset_of(&c, "b3"), 128);
	assert_int_equal(pool_of(&c, "k"), 256);
}

/* Row 4 of 6.11: only 384 bytes would be live, yet the pool's end would pass. */
static const char gate[] =
	"tensor a : 256 bytes\ntensor b : 256 bytes\ntensor cc : 384 bytes\n"
	"output y : 128 bytes\noutput z : 128 bytes\n"
	"bundle k {\nop () -> a, b\n op (a, b) -> y\n op () -> cc\n op (cc) -> z\n }\n";

static void the_gate_is_the_extent_not_concurrent_use(void **state)
{
	(void)state;
	c.opts.pool_cap = 768;
	bump(gate);
	assert_string_equal(home_of(&c, "cc"), "hbm");
	assert_int_equal(pool_of(&c, "k"), 512);
	c.opts.pool_cap = 1024;
	bump(gate);
	assert_int_equal(offset_of(&c, "cc"), 512);
	assert_int_equal(pool_of(&c, "k"), 896);
}

static void the_default_allocator_pools_what_bump_cannot(void **state)
{
	(void)state;
	c.opts.pool_cap = 768;
	plan_ok(&c, gate);
	assert_string_equal(home_of(&c, "cc"), "pool");
	assert_int_equal(pool_of(&c, "k"), 512);
}

static void the_cap_is_the_segment_less_two_gib_and_equality_fits(void **state)
{
	(void)state;
	bump("tensor t : 15032385536 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> t\n op (t) -> y\n }\n");
	assert_int_equal(pool_of(&c, "k"), 15032385536u);
	bump("tensor t : 15032385537 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> t\n op (t) -> y\n }\n");
	assert_string_equal(home_of(&c, "t"), "hbm");
	assert_int_equal(pool_of(&c, "k"), 0);
}

static void without_symbolic_arguments_nothing_is_pooled(void **state)
{
	(void)state;
	c.opts.no_bundle_args = true;
	bump("tensor a : 128 bytes\noutput y : 128 bytes\n"
	     "op () -> a\nop (a) -> y\n");
	assert_string_equal(home_of(&c, "a"), "hbm");
}

static void an_early_init_and_a_late_update_own_the_bytes_between(void **state)
{
	(void)state; /* hazard H1: upstream would give x the bytes of acc */
	bump("tensor acc : 128 bytes\ntensor x : 128 bytes\noutput y : 128 bytes\n"
	     "bundle k {\nop () -> acc\n op () -> x\n op (x) -> y\n"
	     "  loop l x4 {\nop (acc) -> acc\n }\n op (acc) -> y\n }\n");
	assert_true(disjoint(&c, "acc", "x"));
	assert_int_equal(pool_of(&c, "k"), 256);
}

static void reads_inside_groups_end_a_life_where_it_ends(void **state)
{
	(void)state; /* hazard H2: upstream keeps `a` to the end of the bundle */
	bump("tensor a : 128 bytes\ntensor b : 128 bytes\ntensor d : 128 bytes\n"
	     "output y : 128 bytes\n"
	     "bundle k {\nregion r {\nop () -> a\n op (a) -> b\n }\n"
	     "  op (b) -> d\n op (d) -> y\n }\n");
	assert_int_equal(offset_of(&c, "a"), offset_of(&c, "d"));
	assert_int_equal(pool_of(&c, "k"), 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(written_and_read_within_one_bundle_is_eligible),
		T(read_by_another_bundle_is_standalone),
		T(separate_bundles_do_not_share_a_pool),
		T(switched_off_all_intermediates_are_standalone),
		T(nothing_in_nothing_out),
		T(output_does_not_take_the_bytes_of_an_input_it_reads),
		T(loop_carried_accumulator_keeps_its_bytes),
		T(written_by_two_bundles_is_excluded_unconditionally),
		T(written_by_two_bundles_even_when_the_second_overwrites),
		T(an_alias_written_in_another_bundle_excludes_both_names),
		T(read_by_a_cpu_fallback_is_excluded),
		T(the_fallback_rule_holds_for_the_storage),
		T(overflow_falls_back_and_the_rest_is_unaffected),
		T(all_overflowing_gives_an_entry_of_zero),
		T(sizes_count_whole_sticks),
		T(only_written_or_only_read_is_not_pooled),
		T(graph_outputs_are_not_pooled_even_when_read_again),
		T(a_storage_that_holds_an_output_is_not_pooled),
		T(nested_groups_are_flattened_to_leaf_ops),
		T(a_bundle_that_is_only_a_loop_follows_the_same_rules),
		T(sorted_by_start_then_end_then_name),
		T(freed_only_strictly_before_the_new_start),
		T(the_gate_is_the_extent_not_concurrent_use),
		T(the_default_allocator_pools_what_bump_cannot),
		T(the_cap_is_the_segment_less_two_gib_and_equality_fits),
		T(without_symbolic_arguments_nothing_is_pooled),
		T(an_early_init_and_a_late_update_own_the_bytes_between),
		T(reads_inside_groups_end_a_life_where_it_ends),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
