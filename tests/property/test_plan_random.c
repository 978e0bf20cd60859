/* SPDX-License-Identifier: Apache-2.0 */
/* Ten thousand random programs (HBM_PROGRAMS=N: another number): what the planner
 * makes of them passes the checker and the simulator; so does a naive plan on the
 * verifier's own live ranges, which shows that those are long enough. On plans
 * with offsets at random the checker finds at least what the simulator finds. */
#include "support/gen_program.h"
#include "support/ir.h"
#include "support/naive_plan.h"
#include "pass/pass.h"
#include "verify/verify.h"

#include "support/test.h"

typedef struct trial {
	hbm_arena arena;
	hbm_diags d;
	uint64_t seed, rng;
	hbm_program p;
	hbm_target t;
	hbm_plan plan;
} trial;

static uint64_t n_programs(void)
{
	const char *n = getenv("HBM_PROGRAMS");

	return n ? strtoull(n, NULL, 10) : 10000;
}

static void begin(trial *x, uint64_t seed)
{
	static const uint64_t granules[] = {1, 16, 128};
	gen_opts o;

	*x = (trial){.seed = seed, .rng = seed ^ 0x6a09e667f3bcc909u};
	hbm_arena_init(&x->arena, NULL);
	hbm_diags_init(&x->d, &x->arena);
	gen_defaults(&o, seed);
	naive_target(&x->t, granules[gen_below(&x->rng, 3)]);
	assert_int_equal(gen_program(&x->arena, &o, &x->p), HBM_OK);
}

static void blame(trial *x, const char *what)
{
	fputs(messages(&x->arena, &x->d), stderr);
	fputs(ir_print(&x->arena, &x->p), stderr);
	fail_msg("seed %llu: %s", (unsigned long long)x->seed, what);
}

static hbm_status simulate(trial *x, const hbm_plan *plan)
{
	hbm_sim_result r;

	return hbm_simulate(&x->arena, &x->p, &x->t, plan, NULL, &x->d, &r);
}

static void expect_legal(trial *x, const char *who)
{
	if (hbm_verify(&x->arena, &x->p, &x->t, &x->plan, &x->d) != HBM_OK ||
	    simulate(x, &x->plan) != HBM_OK)
		blame(x, who);
}

static hbm_plan_opts random_opts(trial *x)
{
	static const char *const allocators[] = {NULL, NULL, NULL, "bump", "first-fit"};
	static const char *const passes[] = {"hbm-pool", "hbm-pool", "hbm-pool",
	                                     "dram,hbm-usage", "hbm-pool,dram",
	                                     "io-gate,split-dram,dram,hbm-usage",
	                                     "work-division,scratchpad,fuse,"
	                                     "prepare-kernels,hbm-pool,"
	                                     "verify-carried-reduction",
	                                     "work-division,scratchpad,hbm-pool",
	                                     "fuse,hbm-pool"};
	hbm_plan_opts o;

	hbm_plan_defaults(&o);
	o.passes = passes[gen_below(&x->rng, 9)];
	o.effort = 1;
	o.allocator = allocators[gen_below(&x->rng, 5)];
	o.no_reuse = !gen_below(&x->rng, 20);
	o.pool_off = !gen_below(&x->rng, 20);
	o.pool_lifetime_program = !gen_below(&x->rng, 10);
	if (!gen_below(&x->rng, 4))
		o.pool_cap = 1 + gen_below(&x->rng, 2048);
	if (!gen_below(&x->rng, 2))
		o.split_threshold = 1 + gen_below(&x->rng, 2048);
	if (!gen_below(&x->rng, 8))
		o.dram_block = 8192;
	else if (!gen_below(&x->rng, 3))
		o.rotation_size = gen_below(&x->rng, 3) ? (uint64_t)128 << gen_below(&x->rng, 8)
		                                        : HBM_ROTATION_HIGH_WATER;
	o.plain_in_shared = gen_below(&x->rng, 2);
	o.dge_off = !gen_below(&x->rng, 4);
	return o;
}

static void make_plan(trial *x)
{
	hbm_plan_opts o = random_opts(x);

	if (hbm_run_passes(&x->arena, &x->p, &x->t, &o, &x->d, &x->plan) != HBM_OK)
		blame(x, "no plan");
}

static void test_planner(void **state)
{
	uint64_t pooled = 0, shared = 0, in_lx = 0;
	trial x;

	(void)state;
	for (uint64_t seed = 0; seed < n_programs(); seed++) {
		begin(&x, seed);
		make_plan(&x);
		expect_legal(&x, "the planner's plan is refused");
		for (uint32_t i = 0; i < x.plan.pools.n; i++) {
			pooled += x.plan.pools.items[i].n_placed;
			shared += x.plan.pools.items[i].no_reuse >
			          x.plan.pools.items[i].extent;
		}
		for (uint32_t i = 0; i < x.plan.storages.n; i++)
			in_lx += x.plan.storages.items[i].home.kind == HBM_HOME_LX;
		hbm_arena_fini(&x.arena);
	}
	print_message("%llu storages in pools, %llu pools with reuse, %llu storages in LX\n",
	              (unsigned long long)pooled, (unsigned long long)shared,
	              (unsigned long long)in_lx);
	assert_true(pooled > n_programs() && shared > n_programs() / 10);
}

static void make_naive(trial *x)
{
	assert_int_equal(hbm_size_tensors(&x->p, &x->t, &x->d), HBM_OK);
	assert_int_equal(naive_plan(&x->arena, &x->p, &x->t, &x->plan), HBM_OK);
	x->plan.prog = &x->p;
	x->plan.target = &x->t;
}

static void test_own_live_ranges(void **state)
{
	trial x;

	(void)state;
	for (uint64_t seed = 0; seed < n_programs(); seed++) {
		begin(&x, seed);
		make_naive(&x);
		expect_legal(&x, "the naive plan is refused");
		hbm_arena_fini(&x.arena);
	}
}

/* Offsets at random below the extent, so that about half of the plans are wrong. */
static void scatter(trial *x)
{
	for (uint32_t i = 0; i < x->plan.storages.n; i++) {
		hbm_plan_storage *s = &x->plan.storages.items[i];
		uint64_t align = hbm_target_num(&x->t, HBM_KEY_HBM_ALIGN, 1);
		if (s->home.kind == HBM_HOME_POOL && !gen_below(&x->rng, 4))
			s->home.offset = gen_below(&x->rng, 4096) / align * align;
	}
	naive_sums(&x->plan);
}

static void test_checker_sees_more(void **state)
{
	uint64_t wrong = 0, legal = 0;
	trial x;

	(void)state;
	for (uint64_t seed = 0; seed < n_programs(); seed++) {
		begin(&x, seed);
		make_naive(&x);
		scatter(&x);
		if (hbm_verify(&x.arena, &x.p, &x.t, &x.plan, NULL) != HBM_OK) {
			wrong++;
		} else {
			legal++;
			if (simulate(&x, &x.plan) != HBM_OK)
				blame(&x, "the checker overlooked what the simulator saw");
		}
		hbm_arena_fini(&x.arena);
	}
	assert_true(wrong > n_programs() / 10 && legal > n_programs() / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planner),
		cmocka_unit_test(test_own_live_ranges),
		cmocka_unit_test(test_checker_sees_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
