/* SPDX-License-Identifier: Apache-2.0
 * fit: sums over programs that share a core, remedies with their figures. */
#include "hbmplan/hbmplan.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GIB ((uint64_t)1 << 30)

typedef struct fitted {
	hbm_context *cx;
	hbm_input *in[4];
	uint32_t n;
	hbm_fit_opts opts;
	hbm_plan_opts plan;
	const char *targets[4];
	hbm_fitting *f;
	hbm_status status;
} fitted;

static fitted x;

static int setup(void **state)
{
	(void)state;
	memset(&x, 0, sizeof x);
	assert_int_equal(hbm_context_new(NULL, &x.cx), HBM_OK);
	hbm_plan_defaults(&x.plan);
	x.opts.plan = &x.plan;
	x.opts.targets = x.targets;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hbm_fitting_free(x.f);
	for (uint32_t i = 0; i < x.n; i++)
		hbm_input_free(x.in[i]);
	hbm_context_free(x.cx);
	return 0;
}

static void program(const char *name, const char *text)
{
	char *s = strdup(text);

	for (char *p = s; *p; p++)
		if (*p == ';')
			*p = '\n';
	assert_int_equal(hbm_input_parse(x.cx, name, s, strlen(s), NULL, &x.in[x.n++]), HBM_OK);
	free(s);
}

static void fit(const char *target)
{
	if (target)
		x.targets[x.opts.n_targets++] = target;
	x.status = hbm_fitting_make(x.cx, (const hbm_input *const *)x.in, x.n, &x.opts, &x.f);
	for (uint32_t i = 0; x.status && i < hbm_context_n_diagnostics(x.cx); i++)
		print_message("%s\n", hbm_context_diagnostic(x.cx, i).text);
}

static bool write_to(void *user, const void *bytes, size_t n)
{
	char *s = user;
	size_t at = strlen(s);

	assert_true(at + n < 60000);
	memcpy(s + at, bytes, n);
	s[at + n] = 0;
	return true;
}

static hbm_fit_remedy remedy(const char *part)
{
	hbm_fit_row r = hbm_fitting_row(x.f, 0);
	hbm_fit_remedy none = {0};

	for (uint32_t k = 0; k < r.n_remedies; k++)
		if (strstr(hbm_fitting_remedy(x.f, 0, k).change, part))
			return hbm_fitting_remedy(x.f, 0, k);
	return none;
}

static void all_devices_have_a_row(void **state)
{
	static const char *const names[] = {"core_v5", "inf1", "inf2", "spyre",
	                                    "trn1", "trn2", "trn3"};

	(void)state;
	program("a", "weight w : 20Gi bytes;");
	fit(NULL);
	assert_int_equal(x.status, HBM_OK);
	assert_int_equal(hbm_fitting_n_rows(x.f), 7);
	for (uint32_t i = 0; i < 7; i++) {
		hbm_fit_row r = hbm_fitting_row(x.f, i);
		assert_string_equal(r.target, names[i]);
		assert_int_equal(r.why_not != NULL, i == 0);
		assert_int_equal(r.fits, i > 4); /* 24 and 36 GiB */
		if (i)
			assert_true(r.total == 20 * GIB);
	}
	assert_false(hbm_fitting_fits(x.f));
}

static void a_target_without_figures_is_no_reason_unless_named(void **state)
{
	(void)state;
	program("a", "weight w : 1Gi bytes;");
	fit(NULL);
	assert_true(hbm_fitting_fits(x.f));
	hbm_fitting_free(x.f);
	fit("core_v5");
	assert_int_equal(x.status, HBM_OK);
	assert_false(hbm_fitting_fits(x.f));
	assert_non_null(strstr(hbm_fitting_row(x.f, 0).why_not, "figure"));
}

static void an_unknown_target_is_an_error(void **state)
{
	(void)state;
	program("a", "weight w : 1Gi bytes;");
	x.targets[0] = "trn9";
	x.opts.n_targets = 1;
	x.status = hbm_fitting_make(x.cx, (const hbm_input *const *)x.in, x.n, &x.opts, &x.f);
	assert_int_equal(x.status, HBM_OPTION);
}

/* On one core programs take turns: what they hold adds, the rest does not. */
static void programs_share_a_core(void **state)
{
	hbm_fit_row r;

	(void)state;
	program("a", "input i : 1Gi bytes; weight w : 6Gi bytes; tensor t : 4Gi bytes;"
	        "output o : 4096 bytes; op (i, w) -> t; op (t) -> o;");
	program("b", "input i : 1Gi bytes; weight w : 2Gi bytes; tensor t : 2Gi bytes;"
	        "output o : 4096 bytes; op (i, w) -> t; op (t) -> o;");
	fit("trn1");
	r = hbm_fitting_row(x.f, 0);
	assert_true(r.inputs == 2 * GIB && r.weights == 8 * GIB && r.outputs == 8192);
	assert_true(r.intermediates == 4 * GIB);
	assert_true(r.total == 14 * GIB + 8192);
	assert_true(r.fits && hbm_fitting_fits(x.f));
}

static void the_sum_decides_to_the_byte(void **state)
{
	(void)state;
	program("a", "weight w : 8Gi bytes;");
	program("b", "weight w : 8Gi bytes;");
	fit("trn1");
	assert_true(hbm_fitting_fits(x.f));
	hbm_fitting_free(x.f);
	program("c", "weight w : 1 bytes;");
	x.opts.n_targets = 0;
	fit("trn1");
	assert_false(hbm_fitting_fits(x.f));
	assert_true(hbm_fitting_row(x.f, 0).within_margin);
	assert_true(hbm_fitting_row(x.f, 0).total == 16 * GIB + 4096);
}

static void sharding_is_computed(void **state)
{
	hbm_fit_remedy r;

	(void)state;
	/* 40 GiB of weights in two tensors, one of which does not divide. */
	program("a", "input kv : bf16[16, 1024, 1024, 1024]; weight w : bf16[3, 1073741824];"
	        "weight odd : u8[1073741827]; op (kv, w, odd);");
	fit("trn2");
	r = remedy("shard");
	assert_true(r.fits);
	assert_non_null(strstr(r.change, "the 2 tensors"));
	assert_non_null(strstr(r.change, "over 2 cores"));
	assert_true(r.total == 16 * GIB + 3 * GIB + 1073745920);
}

static void donation_is_computed(void **state)
{
	hbm_fit_remedy r;

	(void)state;
	program("a", "input i : 7Gi bytes; input late : 7Gi bytes; tensor t : 4096 bytes;"
	        "output o : 7Gi bytes; op (i) -> t; op (t, late) -> o;");
	fit("trn1");
	r = remedy("donate");
	assert_true(r.fits);
	assert_string_equal(r.change, "donate 1 input: 'i'");
	assert_true(r.total == 14 * GIB + 4096);
}

/* An update in place: the input dies at the op that writes the output. */
static void donation_in_place_is_computed(void **state)
{
	hbm_fit_remedy r;
	uint64_t total;

	program("a", "input cache : 9Gi bytes; input new : 4096 bytes; output o : 9Gi bytes;"
	        "op (cache, new) -> o inplace(o=cache);");
	fit("trn1");
	r = remedy("donate");
	assert_true(r.fits);
	assert_string_equal(r.change, "donate 1 input: 'cache'");
	assert_true(r.total == 9 * GIB + 4096);
	total = r.total; /* the text goes with the fitting */
	teardown(state);
	setup(state);
	program("a", "input cache : 9Gi bytes donated; input new : 4096 bytes;"
	        "output o : 9Gi bytes; op (cache, new) -> o inplace(o=cache);");
	fit("trn1");
	assert_true(hbm_fitting_row(x.f, 0).total == total);
}

static void another_order_is_computed(void **state)
{
	hbm_fit_remedy r;

	(void)state;
	program("a", "tensor a : 9Gi bytes; tensor b : 9Gi bytes; tensor c : 4096 bytes;"
	        "tensor d : 4096 bytes; output o : 4096 bytes;"
	        "op () -> a; op () -> b; op (a) -> c; op (b) -> d; op (c, d) -> o;");
	fit("trn1");
	assert_false(hbm_fitting_fits(x.f));
	r = remedy("another order");
	assert_true(r.fits);
	assert_true(r.total == 9 * GIB + 3 * 4096);
}

static void serial_groups_are_computed(void **state)
{
	hbm_fit_remedy r;

	(void)state;
	program("a", "tensor a : 9Gi bytes; tensor b : 9Gi bytes; output o : 4096 bytes;"
	        "output p : 4096 bytes; parallel g {; region r {; op () -> a; op (a) -> o; };"
	        "region s {; op () -> b; op (b) -> p; }; };");
	fit("trn1");
	r = remedy("parallel groups");
	assert_true(r.fits);
	assert_true(r.total == 9 * GIB + 8192);
}

static void a_smaller_batch_is_computed(void **state)
{
	static const char text[] =
		"weight w : f32[8, 1024]; input i : f32[8, 1073741824]; output o : f32[8, 1024];"
		"op (i, w) -> o;";
	hbm_fit_remedy r;

	(void)state;
	program("a", text);
	x.opts.batch = 8;
	fit("trn1");
	r = remedy("batch");
	assert_true(r.fits);
	assert_string_equal(r.change, "batch 2 instead of 8");
	assert_true(r.total == 8 * GIB + 32768 + 8192);
}

static void a_symbol_may_name_the_batch(void **state)
{
	hbm_bind bind = {"batch", 8};
	hbm_input_opts in = {.binds = &bind, .n_binds = 1};
	static const char text[] = "input i : f32[4, batch, 268435456]\nop (i)\n";

	(void)state;
	assert_int_equal(hbm_input_parse(x.cx, "a", text, strlen(text), &in, &x.in[x.n++]),
	                 HBM_OK);
	fit("trn1");
	assert_string_equal(remedy("batch").change, "batch 4 instead of 8");
	assert_true(remedy("batch").fits);
}

static void what_fits_comes_first(void **state)
{
	hbm_fit_row r;
	bool fits = true;
	uint64_t total = 0;

	(void)state;
	program("a", "input i : f32[8, 1073741824]; input j : 1Gi bytes; tensor t : 4096 bytes;"
	        "output o : 1Gi bytes; op (j) -> t; op (i, t) -> o;");
	x.opts.batch = 8;
	fit("trn1");
	r = hbm_fitting_row(x.f, 0);
	assert_true(r.n_remedies >= 3);
	for (uint32_t k = 0; k < r.n_remedies; k++) {
		hbm_fit_remedy m = hbm_fitting_remedy(x.f, 0, k);
		assert_true(fits || !m.fits);
		assert_true(m.total < r.total);
		assert_int_equal(m.fits, m.total <= r.window);
		if (!m.fits && !fits)
			assert_true(m.total >= total);
		fits = m.fits;
		total = m.total;
	}
}

static void the_answer_is_written(void **state)
{
	static char text[60001], json[60001];

	(void)state;
	text[0] = json[0] = 0;
	program("dir/a.hlo", "input i : f32[16, 1073741824]; op (i);");
	fit("trn1");
	assert_int_equal(hbm_fitting_write(x.cx, x.f, "text", write_to, text), HBM_OK);
	assert_non_null(strstr(text, "dir/a.hlo"));
	assert_non_null(strstr(text, "trn1      NO "));
	assert_non_null(strstr(text, "what would help on trn1"));
	assert_int_equal(hbm_fitting_write(x.cx, x.f, "json", write_to, json), HBM_OK);
	assert_non_null(strstr(json, "\"excess_bytes\": 51539607552"));
	assert_non_null(strstr(json, "\"remedies\": ["));
	assert_int_equal(hbm_fitting_write(x.cx, x.f, "xml", write_to, json), HBM_OPTION);
}

static void remedies_can_be_left_out(void **state)
{
	(void)state;
	program("a", "input i : f32[16, 1073741824]; op (i);");
	x.opts.no_remedies = true;
	fit("trn1");
	assert_int_equal(hbm_fitting_row(x.f, 0).n_remedies, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(all_devices_have_a_row),
		T(a_target_without_figures_is_no_reason_unless_named),
		T(an_unknown_target_is_an_error),
		T(programs_share_a_core),
		T(the_sum_decides_to_the_byte),
		T(sharding_is_computed),
		T(donation_is_computed), T(donation_in_place_is_computed),
		T(another_order_is_computed),
		T(serial_groups_are_computed),
		T(a_smaller_batch_is_computed),
		T(a_symbol_may_name_the_batch),
		T(what_fits_comes_first),
		T(the_answer_is_written),
		T(remedies_can_be_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
