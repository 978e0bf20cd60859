/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of random programs, written and read again through the public interface: as
 * JSON beside the planned program, and as annotations in it. What comes back passes
 * the checker and has the same sums. */
#include "hbmplan/hbmplan.h"

#include "support/gen_program.h"
#include "support/ir.h"
#include "support/test.h"

enum { PROGRAMS = 1000 };

typedef struct trial {
	hbm_arena arena;
	uint64_t seed, rng;
	hbm_context *cx;
	hbm_input *in, *again;
	hbm_planned *p;
	const char *target;
} trial;

typedef struct text {
	hbm_arena *a;
	HBM_VEC(char) bytes;
} text;

static bool append(void *user, const void *bytes, size_t n)
{
	text *t = user;
	const char *from = bytes;

	for (size_t i = 0; i < n; i++)
		if (!HBM_PUSH(t->a, &t->bytes, from[i]))
			return false;
	return true;
}

static text write(trial *x, const char *format)
{
	text t = {.a = &x->arena};

	assert_int_equal(hbm_planned_write(x->cx, x->p, format, append, &t), HBM_OK);
	return t;
}

static void expect(trial *x, hbm_status status, const char *what)
{
	if (status == HBM_OK)
		return;
	for (uint32_t i = 0; i < hbm_context_n_diagnostics(x->cx); i++)
		fprintf(stderr, "%s\n", hbm_context_diagnostic(x->cx, i).text);
	fail_msg("seed %llu for %s: %s", (unsigned long long)x->seed, x->target, what);
}

static void begin(trial *x, uint64_t seed)
{
	static const char *const targets[] = {"spyre", "spyre", "toy", "trn2"};
	hbm_program p;
	hbm_diags d;
	char *source;
	gen_opts o;

	*x = (trial){.seed = seed, .rng = seed ^ 0x3c6ef372fe94f82bu};
	hbm_arena_init(&x->arena, NULL);
	hbm_diags_init(&d, &x->arena);
	x->target = targets[gen_below(&x->rng, 4)];
	gen_defaults(&o, seed);
	assert_int_equal(gen_program(&x->arena, &o, &p), HBM_OK);
	source = ir_print(&x->arena, &p);
	assert_int_equal(hbm_context_new(NULL, &x->cx), HBM_OK);
	expect(x, hbm_input_parse(x->cx, "p.hbm", source, strlen(source), NULL, &x->in),
	       "not read");
}

static void end(trial *x)
{
	hbm_planned_free(x->p);
	hbm_input_free(x->in);
	hbm_input_free(x->again);
	hbm_context_free(x->cx);
	hbm_arena_fini(&x->arena);
}

static void plan(trial *x)
{
	hbm_plan_opts o;

	hbm_plan_defaults(&o);
	o.effort = 1;
	o.no_reuse = !gen_below(&x->rng, 10);
	o.pool_off = !gen_below(&x->rng, 10);
	o.pool_lifetime_program = !gen_below(&x->rng, 4);
	o.resident = gen_below(&x->rng, 3);
	expect(x, hbm_planned_make(x->cx, x->in, x->target, &o, &x->p), "no plan");
}

/* The planned program, with its homes annotated. */
static void read_planned(trial *x)
{
	text t = write(x, "hbm");

	expect(x, hbm_input_parse(x->cx, "q.hbm", t.bytes.items, t.bytes.n, NULL,
	                          &x->again), "the planned program is not read");
}

static void expect_same(trial *x, const char *path, const char *what)
{
	hbm_simulation sim;
	hbm_planned *q;

	expect(x, hbm_planned_read(x->cx, x->again, x->target, NULL, path, &q), what);
	expect(x, hbm_planned_check(x->cx, q), what);
	expect(x, hbm_planned_simulate(x->cx, q, &sim), what);
	if (path)
		assert_int_equal(hbm_planned_total(q), hbm_planned_total(x->p));
	hbm_planned_free(q);
}

static void test_round_trips(void **state)
{
	trial x;

	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		text json;
		begin(&x, seed);
		plan(&x);
		read_planned(&x);
		expect_same(&x, NULL, "the annotated program");
		json = write(&x, "json");
		expect_same(&x, temp_file(&x.arena, "plan.json", json.bytes.items,
		                          json.bytes.n), "the plan's JSON");
		end(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trips)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
