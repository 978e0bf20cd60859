/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface while memory runs out, from reading to writing: every
 * allocation of a whole path fails once. */
#include "support/oom.h"
#include "support/test.h"

#include "hbmplan/hbmplan.h"

static bool drop(void *user, const void *bytes, size_t n)
{
	(void)user;
	(void)bytes;
	(void)n;
	return true;
}

static bool drop_file(void *user, const char *name, const void *bytes, size_t n)
{
	(void)name;
	return drop(user, bytes, n);
}

typedef struct path {
	const char *name, *text, *target;
	const char *format, *emitter; /* what to write; NULL: nothing */
	const char *allocator;
	const char *plan;             /* file to read and check instead of planning */
	bool rotate;
} path;

static hbm_status write_plan(hbm_context *cx, const path *p, hbm_planned *plan)
{
	hbm_simulation sim;

	if (p->format)
		HBM_TRY(hbm_planned_write(cx, plan, p->format, drop, NULL));
	if (p->emitter)
		HBM_TRY(hbm_planned_emit(cx, plan, p->emitter, drop_file, NULL));
	return p->format || p->emitter ? HBM_OK : hbm_planned_simulate(cx, plan, &sim);
}

static hbm_status place(hbm_context *cx, const path *p, const hbm_problem *problem)
{
	hbm_solve_opts opts;
	hbm_placement placement;

	hbm_solve_defaults(&opts);
	opts.allocator = p->allocator;
	opts.effort = 1;
	return hbm_place(cx, problem, &opts, &placement);
}

/* Reads a plan, checks it, and does not like it when it cannot. */
static hbm_status check_plan(hbm_context *cx, const path *p, const hbm_input *in)
{
	hbm_planned *plan;
	hbm_status status;

	HBM_TRY(hbm_planned_read(cx, in, NULL, NULL, p->plan, &plan));
	status = hbm_planned_check(cx, plan);
	hbm_planned_free(plan);
	return status;
}

static hbm_status plan_input(hbm_context *cx, const path *p, const hbm_input *in)
{
	hbm_plan_opts opts;
	hbm_planned *plan;
	hbm_status status;

	if (hbm_input_problem(in))
		return place(cx, p, hbm_input_problem(in));
	if (p->plan)
		return check_plan(cx, p, in);
	hbm_plan_defaults(&opts);
	opts.effort = 1;
	opts.rotation_size = p->rotate ? HBM_ROTATION_HIGH_WATER : 0;
	opts.no_reuse = p->rotate;
	HBM_TRY(hbm_planned_make(cx, in, p->target, &opts, &plan));
	status = write_plan(cx, p, plan);
	hbm_planned_free(plan);
	return status;
}

static hbm_status read_input(hbm_context *cx, const path *p)
{
	hbm_input *in;
	hbm_status status;

	HBM_TRY(hbm_input_parse(cx, p->name, p->text, strlen(p->text), NULL, &in));
	status = plan_input(cx, p, in);
	hbm_input_free(in);
	return status;
}

static hbm_status go(const hbm_mem *mem, void *user)
{
	hbm_context *cx;
	hbm_status status;

	HBM_TRY(hbm_context_new(mem, &cx));
	status = read_input(cx, user);
	hbm_context_free(cx);
	return status;
}

static const char program[] =
	"program small\n"
	"input x : f16[64, 128]\n"
	"weight w : f16[128, 128]\n"
	"output y : f16[64, 128]\n"
	"tensor a : f16[64, 128]\n"
	"view a2 = a + 8192 : 8192 bytes\n"
	"tensor b : f16[64, 128]\n"
	"tensor c : f32[64, 128]\n"
	"bundle k0 {\n"
	"  op matmul(x, w) -> a\n"
	"  loop x4 {\n    op add(a) -> b\n    op mul(b, a2) -> c\n  }\n"
	"  op add(c) -> b\n"
	"  op exp(b) -> y\n"
	"}\n";

static const char hlo[] = "HloModule m, is_scheduled=true\n\n"
			  "ENTRY main {\n"
			  "  p0 = f32[64,64]{1,0} parameter(0)\n"
			  "  p1 = f32[64,64]{1,0} parameter(1)\n"
			  "  a = f32[64,64]{1,0} add(p0, p1)\n"
			  "  b = f32[64,64]{1,0} multiply(a, p0)\n"
			  "  c = f32[4096]{0} bitcast(b)\n"
			  "  ROOT t = (f32[64,64]{1,0}, f32[4096]{0}) tuple(a, c)\n"
			  "}\n";

static const char table[] = "id,lower,upper,size,alignment,gaps\n"
			    "a,0,4,100,1,1-2\nb,1,3,50,8,\nc,2,6,70,1,\n"
			    "d,3,5,20,1,\ne,5,6,100,16,\n";

static void sweep(path p)
{
	print_message("%s to %s%s\n", p.name, p.format ? p.format : "",
	              p.emitter     ? p.emitter
	              : p.allocator ? p.allocator
	                            : "");
	assert_true(oom_sweep_mem(go, &p, HBM_OK) > 2);
}

static void plans_run_out(void **state)
{
	const char *name, *summary;

	(void)state;
	sweep((path){.name = "small.hbm", .text = program, .target = "spyre"});
	sweep((path){.name = "small.hlo", .text = hlo, .target = "trn2"});
	for (uint32_t i = 0; hbm_report_nth(i, &name, &summary); i++)
		sweep((path){.name = "small.hbm", .text = program, .target = "spyre",
		             .format = name});
	for (uint32_t i = 0; hbm_emitter_nth(i, &name, &summary); i++)
		sweep((path){.name = "small.hbm", .text = program, .target = "spyre",
		             .emitter = name});
}

static const char looping[] = "input x : 4096 bytes\noutput y : 4096 bytes\n"
			      "tensor a : 4096 bytes\ntensor b : 4096 bytes\n"
			      "op (x) -> a\nloop x3 { op (a) -> b }\nop (b) -> y\n";

static void rotation_runs_out(void **state)
{
	(void)state;
	sweep((path){.name = "loop.hbm", .text = looping, .target = "trn2", .rotate = true});
}

static bool append(void *user, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, user) == n;
}

/* A plan's file as it is written, with all that it claims. */
static const char *write_file(hbm_arena *a, const char *text)
{
	const char *name = temp_path(a, "plan.json");
	FILE *f = fopen(name, "w");
	hbm_context *cx;
	hbm_input *in;
	hbm_planned *plan;

	assert_non_null(f);
	assert_int_equal(hbm_context_new(NULL, &cx), HBM_OK);
	assert_int_equal(hbm_input_parse(cx, "p.hbm", text, strlen(text), NULL, &in), HBM_OK);
	assert_int_equal(hbm_planned_make(cx, in, "spyre", NULL, &plan), HBM_OK);
	assert_int_equal(hbm_planned_write(cx, plan, "json", append, f), HBM_OK);
	assert_int_equal(fclose(f), 0);
	hbm_planned_free(plan);
	hbm_input_free(in);
	hbm_context_free(cx);
	return name;
}

static void checking_runs_out(void **state)
{
	static const char small[] = "target spyre\ninput x : f16[64, 64]\n"
				    "output y : f16[64, 64]\ntensor a : f16[64, 64]\n"
				    "bundle k {\nop alloc(x) -> a kind=alloc\n"
				    "op (x) -> a\nop (a) -> y\n}\n";
	hbm_arena a;

	(void)state;
	hbm_arena_init(&a, NULL);
	sweep((path){.name = "small.hbm", .text = small, .plan = write_file(&a, small)});
	hbm_arena_fini(&a);
}

static void placing_runs_out(void **state)
{
	const hbm_allocator_info *list;
	uint32_t n;

	(void)state;
	list = hbm_allocators(&n);
	sweep((path){.name = "table.csv", .text = table});
	for (uint32_t i = 0; i < n; i++)
		if (list[i].gaps && list[i].align)
			sweep((path){.name = "table.csv",
			             .text = table,
			             .allocator = list[i].name});
}

/* Fits nowhere, so that remedies are looked for. */
static const char large[] = "input x : f32[8, 1073741824]\noutput y : f32[8, 1073741824]\n"
			    "op (x) -> y inplace(y=x)\n";

static hbm_status fit_input(hbm_context *cx, const hbm_input *in)
{
	static const char *const targets[] = {"trn1", "spyre"};
	hbm_fit_opts opts = {.targets = targets, .n_targets = 2};
	hbm_fitting *f;
	hbm_status status;

	HBM_TRY(hbm_fitting_make(cx, &in, 1, &opts, &f));
	status = hbm_fitting_write(cx, f, "json", drop, NULL);
	hbm_fitting_free(f);
	return status;
}

static hbm_status fit(const hbm_mem *mem, void *user)
{
	hbm_context *cx;
	hbm_input *in;
	hbm_status status;

	HBM_TRY(hbm_context_new(mem, &cx));
	status = hbm_input_parse(cx, "small.hbm", user, strlen(user), NULL, &in);
	if (status == HBM_OK) {
		status = fit_input(cx, in);
		hbm_input_free(in);
	}
	hbm_context_free(cx);
	return status;
}

static void fitting_runs_out(void **state)
{
	(void)state;
	oom_sweep_mem(fit, (char *)(uintptr_t)program, HBM_OK);
	oom_sweep_mem(fit, (char *)(uintptr_t)large, HBM_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_run_out),
		cmocka_unit_test(rotation_runs_out),
		cmocka_unit_test(checking_runs_out),
		cmocka_unit_test(placing_runs_out),
		cmocka_unit_test(fitting_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
