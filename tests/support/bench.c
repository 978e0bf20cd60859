/* SPDX-License-Identifier: Apache-2.0 */
#include "support/bench.h"

hbm_tensor_id bench_tensor(const bench *b, const char *name)
{
	hbm_sym sym = hbm_sym_find(&b->p.syms, name, strlen(name));

	assert_int_not_equal(sym, HBM_NONE);
	assert_int_not_equal(hbm_find_tensor(&b->p, sym), HBM_NONE);
	return hbm_find_tensor(&b->p, sym);
}

hbm_plan_storage *bench_storage(const bench *b, const char *name)
{
	return &b->plan.storages.items[b->plan.of_tensor[bench_tensor(b, name)]];
}

bench bench_make(void **state, const char *text)
{
	bench b = {.room = *state};

	naive_target(&b.t, 1);
	if (ir_read(&b.room->arena, &b.room->diags, text, &b.p) != HBM_OK)
		fail_msg("%s", messages(&b.room->arena, &b.room->diags));
	return b;
}

void bench_plan(bench *b)
{
	assert_int_equal(naive_plan(&b->room->arena, &b->p, &b->t, &b->plan), HBM_OK);
	b->plan.prog = &b->p;
	b->plan.target = &b->t;
}

hbm_status bench_verify(bench *b)
{
	return hbm_verify(&b->room->arena, &b->p, &b->t, &b->plan, &b->room->diags);
}

hbm_status bench_simulate(bench *b)
{
	hbm_sim_result r;

	return hbm_simulate(&b->room->arena, &b->p, &b->t, &b->plan, NULL,
	                    &b->room->diags, &r);
}

void bench_expect_legal(bench *b)
{
	if (bench_verify(b) != HBM_OK || bench_simulate(b) != HBM_OK)
		fail_msg("%s", messages(&b->room->arena, &b->room->diags));
}

void bench_expect_fault(bench *b, const char *words)
{
	assert_int_equal(bench_verify(b), HBM_VERIFY);
	expect_message(&b->room->diags, HBM_E_PLAN, words);
}

void bench_join(bench *b, const char *names)
{
	char first[8], other[8];
	int n = 0;

	bench_plan(b);
	assert_int_equal(sscanf(names, "%7s%n", first, &n), 1);
	while (sscanf(names += n, "%7s%n", other, &n) == 1)
		assert_int_equal(naive_join(&b->plan, b->plan.of_tensor[bench_tensor(b, first)],
		                            b->plan.of_tensor[bench_tensor(b, other)]), HBM_OK);
}

void bench_move(bench *b, const char *name, hbm_home_kind kind, uint64_t offset,
                uint64_t size)
{
	hbm_plan_storage *s = bench_storage(b, name);

	s->home.kind = kind;
	s->home.bundle = kind == HBM_HOME_POOL ? 0 : HBM_NONE;
	s->home.offset = offset;
	s->home.size = size;
	naive_sums(&b->plan);
}
