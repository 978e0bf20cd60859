/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the Spyre pipeline, of the scratchpad solvers and of the MLIR
 * emitter fails once. */
#include "support/test.h"

#include "emit/emitter.h"
#include "ir/text.h"
#include "pack/lx.h"
#include "pass/pass.h"
#include "support/lx_case.h"
#include "support/oom.h"

static const char program[] =
	"target spyre\n"
	"input x : f16[64, 64]\n"
	"output y : f16[64, 64]\n"
	"output z : f16[64, 64]\n"
	"tensor a : f16[64, 64]\n"
	"tensor b : f16[64, 64]\n"
	"tensor big : 4000000 bytes\n"
	"tensor acc : f16[64, 64]\n"
	"view v = big + 128 : 8192 bytes\n"
	"reduction r: fill=fill combine=add drain=out acc=acc\n"
	"op o0: exp(x) -> a pointwise iter(i=64, j=64 stick)\n"
	"op o1: exp(a) -> y pointwise lx_fail=1\n"
	"op o2: mul(x, y) -> z\n"
	"op host: tril(z) -> b kind=fallback\n"
	"op fill: zero() -> acc\n"
	"loop L x4 {\n"
	"  op o4: copy(b) -> big[0..8192, L*8192]\n"
	"  op add: add(acc, v) -> acc\n"
	"}\n"
	"op out: copy(acc, big) -> z\n";

static bool swallow(void *user, const char *name, const void *bytes, size_t n)
{
	(void)user;
	(void)name;
	(void)bytes;
	return n > 0;
}

static hbm_status plan_and_emit(hbm_arena *a, void *user)
{
	const hbm_target *target = user;
	hbm_plan_opts opts = {.effort = 3, .lx_share_ppm = HBM_NO_OFFSET};
	hbm_program p;
	hbm_plan plan;
	hbm_diags d;

	hbm_diags_init(&d, a);
	HBM_TRY(hbm_text_read(a, &d, "p.hbm", program, strlen(program), NULL, 0, &p));
	HBM_TRY(hbm_run_passes(a, &p, target, &opts, &d, &plan));
	HBM_TRY(hbm_emitter_find("mlir")->emit(a, &plan, &d, swallow, NULL));
	return hbm_emitter_find("mlir-generic")->emit(a, &plan, &d, swallow, NULL);
}

static void the_pipeline_runs_out(void **state)
{
	hbm_arena a;
	hbm_target target;

	(void)state;
	hbm_arena_init(&a, NULL);
	assert_int_equal(hbm_target_load(&a, NULL, "spyre", &target), HBM_OK);
	assert_true(oom_sweep(plan_and_emit, &target) > 20);
	hbm_arena_fini(&a);
}

static hbm_status solve(hbm_arena *a, void *user)
{
	const hbm_lx_problem *p = user;
	static const char *const solvers[] = {"greedy", "first-fit", "auto"};
	hbm_diags d;

	hbm_diags_init(&d, a);
	for (uint32_t k = 0; k < 3; k++) {
		hbm_lx_opts opts = {.solver = solvers[k], .effort = 1};
		hbm_lx_layout layout;
		uint64_t room[8], hole[8];
		HBM_TRY(hbm_lx_solve(a, p, &opts, &d, &layout));
		HBM_TRY(hbm_lx_room(a, p, layout.address, room, hole));
	}
	return HBM_OK;
}

static void the_solvers_run_out(void **state)
{
	lx_case c;

	(void)state;
	lx_case_init(&c, "20:0,4 15:4,8<0 16:3,9 8:1,2#1 8:1,3#1 24:2,6@8 30:5,7", 64, 4);
	assert_true(oom_sweep(solve, &c.p) > 1);
	lx_case_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pipeline_runs_out),
		cmocka_unit_test(the_solvers_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
