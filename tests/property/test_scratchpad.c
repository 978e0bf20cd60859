/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs through the whole Spyre pipeline: the plan is legal for the
 * independent checker, every read sees the right value when it is executed, and
 * with the scratchpad no more HBM bytes move than without. */
#include "support/test.h"

#include "pass/pass.h"
#include "support/gen_program.h"
#include "verify/verify.h"

enum { N_PROGRAMS = 1500 };

static hbm_target target;

/* Device attributes that the generator knows nothing of. */
static void decorate(hbm_program *p, uint64_t seed)
{
	uint64_t state = seed * 77 + 5;

	for (uint32_t o = 0; o < p->ops.n; o++) {
		hbm_op *op = &p->ops.items[o];
		if (gen_below(&state, 3) == 0)
			assert_true(hbm_add_attr_flag(p, &op->attrs, "pointwise"));
		if (gen_below(&state, 24) == 0)
			assert_true(hbm_add_attr_num(p, &op->attrs, "lx_fail",
			                             1 + gen_below(&state, 2)));
		if (gen_below(&state, 40) == 0)
			assert_true(hbm_add_attr_flag(p, &op->attrs, "opaque"));
	}
}

static uint64_t plan_one(hbm_arena *a, hbm_diags *d, const hbm_program *source,
                         uint64_t seed, bool lx_off)
{
	hbm_plan_opts opts = {.effort = 2, .lx_share_ppm = HBM_NO_OFFSET,
	                      .lx_off = lx_off, .no_bundle_args = seed % 16 == 7};
	hbm_program p;
	hbm_plan plan;
	hbm_sim_result result;
	hbm_sim_opts sim = {.max_trips = 64};

	assert_int_equal(hbm_program_copy(source, a, &p), HBM_OK);
	if (hbm_run_passes(a, &p, &target, &opts, d, &plan) != HBM_OK)
		fail_msg("seed %llu: %s", (unsigned long long)seed, messages(a, d));
	if (hbm_verify(a, &p, &target, &plan, d) != HBM_OK)
		fail_msg("seed %llu: %s", (unsigned long long)seed, messages(a, d));
	if (hbm_simulate(a, &p, &target, &plan, &sim, d, &result) != HBM_OK)
		fail_msg("seed %llu: %s", (unsigned long long)seed, messages(a, d));
	return plan.traffic;
}

static void check(uint64_t seed, uint32_t *n_less)
{
	hbm_arena a;
	hbm_diags d;
	hbm_program p;
	gen_opts opts;
	uint64_t with, without;

	hbm_arena_init(&a, NULL);
	hbm_diags_init(&d, &a);
	gen_defaults(&opts, seed);
	opts.max_trips = opts.max_trips < 5 ? opts.max_trips : 5;
	if (seed % 2) {
		opts.window = opts.view = opts.rewrite = 0;
		opts.unknown_trips = 0;
	}
	if (seed % 3 == 0)
		opts.bundle = 0;
	assert_int_equal(gen_program(&a, &opts, &p), HBM_OK);
	decorate(&p, seed);
	with = plan_one(&a, &d, &p, seed, false);
	without = plan_one(&a, &d, &p, seed, true);
	if (with > without)
		fail_msg("seed %llu: %llu bytes with the scratchpad, %llu without",
		         (unsigned long long)seed, (unsigned long long)with,
		         (unsigned long long)without);
	*n_less += with < without;
	hbm_arena_fini(&a);
}

static void test_programs(void **state)
{
	hbm_arena a;
	uint32_t n_less = 0;

	(void)state;
	hbm_arena_init(&a, NULL);
	assert_int_equal(hbm_target_load(&a, NULL, "spyre", &target), HBM_OK);
	/* Little room, so that there is something to choose. */
	target.values[HBM_KEY_LX_USABLE].num = 2048;
	for (uint64_t seed = 1; seed <= N_PROGRAMS; seed++)
		check(seed, &n_less);
	/* The scratchpad is really used. */
	assert_true(n_less > N_PROGRAMS / 2);
	hbm_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
