/* SPDX-License-Identifier: Apache-2.0
 * plan: read a program, plan it, check the plan, report. */
#include "cli.h"

#include <inttypes.h>
#include <string.h>

static const cli_option own[] = {
	{"--simulate", NULL, "also execute the plan and compare every value", CLI_FLAG,
	 offsetof(cli_args, simulate), NULL},
	{"--emit", "FORMAT", "write the plan as: text, json, hbm, ...; or its code: mlir",
	 CLI_STRING, offsetof(cli_args, emit), NULL},
	{"--mlir-generic", NULL, "with --emit mlir: generic form, for mlir-opt", CLI_FLAG,
	 offsetof(cli_args, generic_mlir), NULL},
	{0},
};

static const cli_option *const groups[] = {
	cli_input_options, cli_packing_options, cli_plan_options, own,
	cli_output_options, cli_common_options, NULL,
};

/* What the user asked to write. */
static int write_plan(hbm_context *cx, const cli_args *args, const hbm_planned *p)
{
	const char *format = args->emit ? args->emit : args->json ? "json" : "text";
	cli_output out;
	hbm_status status;
	int code;

	if (!cli_output_open(&out, args->output))
		return EXIT_IO;
	status = hbm_planned_write(cx, p, format, cli_output_write, &out);
	code = cli_output_close(&out, status == HBM_OK);
	if (status != HBM_OK && status != HBM_IO)
		return cli_fail(cx, status);
	return status == HBM_OK ? code : EXIT_IO;
}

static int simulate(hbm_context *cx, hbm_planned *p)
{
	hbm_simulation sim;
	hbm_status status = hbm_planned_simulate(cx, p, &sim);

	if (status != HBM_OK)
		return cli_fail(cx, status);
	fprintf(stderr, "simulated: %" PRIu64 " op executions, %" PRIu64
	        " reads, all right%s\n", sim.steps, sim.reads,
	        sim.capped ? " (long loops were cut short)" : "");
	return EXIT_YES;
}

static int report(hbm_context *cx, const cli_args *args, hbm_planned *p)
{
	int code = args->simulate ? simulate(cx, p) : EXIT_YES;

	if (code == EXIT_YES && args->emit && cli_is_emitter(args->emit))
		code = cli_emit(cx, args, p);
	else if (code == EXIT_YES)
		code = write_plan(cx, args, p);
	if (code != EXIT_YES)
		return code;
	return hbm_planned_fits(p) ? EXIT_YES : EXIT_NO;
}

/* Programs printed after a pass go where the plan would. */
static int plan(hbm_context *cx, const cli_args *args, const hbm_input *in,
                cli_output *print)
{
	hbm_plan_opts opts = args->plan;
	hbm_planned *planned;
	hbm_status status;
	int code;

	opts.print = cli_output_write;
	opts.print_json = args->json;
	opts.print_user = print;
	status = hbm_planned_make(cx, in, args->n_targets ? args->targets[0] : NULL, &opts,
	                          &planned);
	if (status != HBM_OK)
		return cli_fail(cx, status);
	cli_print_diagnostics(cx);
	if (args->plan.print_after)
		code = hbm_planned_fits(planned) ? EXIT_YES : EXIT_NO;
	else
		code = report(cx, args, planned);
	hbm_planned_free(planned);
	return code;
}

static int plan_printing(hbm_context *cx, const cli_args *args, const hbm_input *in)
{
	cli_output print = {0};
	int code, closed;

	if (!args->plan.print_after)
		return plan(cx, args, in, NULL);
	if (!cli_output_open(&print, args->output))
		return EXIT_IO;
	code = plan(cx, args, in, &print);
	closed = cli_output_close(&print, code == EXIT_YES || code == EXIT_NO);
	return closed == EXIT_YES ? code : closed;
}

/* Do options contradict each other? Says which. */
static bool contradict(const cli_args *args)
{
	const char *emit = args->emit ? args->emit : "";

	if (args->n_targets > 1)
		cli_error("plan: one --target at a time");
	else if (args->json && *emit && strcmp(emit, "json") != 0)
		cli_error("plan: --json and --emit %s name two formats", emit);
	else if (*emit && args->plan.print_after)
		cli_error("plan: --emit %s and --print-after %s ask for two outputs", emit,
		          args->plan.print_after);
	else if (args->generic_mlir && strcmp(emit, "mlir") != 0)
		cli_error("plan: --mlir-generic goes with --emit mlir");
	else
		return false;
	return true;
}

static int run(hbm_context *cx, const cli_args *args)
{
	hbm_input *in = NULL;
	int code;

	if (contradict(args))
		return EXIT_WRONG;
	code = cli_read_input(cx, args, &in);
	if (code != EXIT_YES)
		return code;
	code = plan_printing(cx, args, in);
	hbm_input_free(in);
	return code;
}

const cli_command cli_command_plan = {
	.name = "plan",
	.usage = "[OPTIONS] FILE",
	.summary = "plan a program's memory and report",
	.groups = groups,
	.min_files = 1,
	.max_files = 1,
	.run = run,
};
