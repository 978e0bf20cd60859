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

static hbm_status plan_input(hbm_context *cx, const path *p, const hbm_input *in)
{
	hbm_plan_opts opts;
	hbm_planned *plan;
	hbm_status status;

	if (hbm_input_problem(in))
		return place(cx, p, hbm_input_problem(in));
	hbm_plan_defaults(&opts);
	opts.effort = 1;
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
	sweep((path){"small.hbm", program, "spyre", NULL, NULL, NULL});
	sweep((path){"small.hlo", hlo, "trn2", NULL, NULL, NULL});
	for (uint32_t i = 0; hbm_report_nth(i, &name, &summary); i++)
		sweep((path){"small.hbm", program, "spyre", name, NULL, NULL});
	for (uint32_t i = 0; hbm_emitter_nth(i, &name, &summary); i++)
		sweep((path){"small.hbm", program, "spyre", NULL, name, NULL});
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_run_out),
		cmocka_unit_test(placing_runs_out),
		cmocka_unit_test(fitting_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
