/* SPDX-License-Identifier: Apache-2.0
 * show: print a program as .hbm text or JSON, as read or after a pass. */
#include "cli.h"

static const cli_option own[] = {
	{"--print-after", "PASS", "as it is after this pass", CLI_STRING,
	 offsetof(cli_args, plan.print_after), NULL},
	{0},
};

static const cli_option *const groups[] = {
	cli_input_options, own, cli_output_options, cli_common_options, NULL,
};

static hbm_status print_after(hbm_context *cx, const cli_args *args,
                              const hbm_input *in, cli_output *out)
{
	hbm_plan_opts opts = args->plan;
	hbm_planned *planned;
	hbm_status status;

	opts.stop_after = opts.print_after;
	opts.print = cli_output_write;
	opts.print_json = args->json;
	opts.print_user = out;
	status = hbm_planned_make(cx, in, args->n_targets ? args->targets[0] : NULL, &opts,
	                          &planned);
	if (status == HBM_OK)
		hbm_planned_free(planned);
	return status;
}

static int show(hbm_context *cx, const cli_args *args, const hbm_input *in)
{
	cli_output out;
	hbm_status status;
	int code;

	if (!cli_output_open(&out, args->output))
		return EXIT_IO;
	if (args->plan.print_after)
		status = print_after(cx, args, in, &out);
	else
		status = hbm_input_write(cx, in, args->json ? "json" : "hbm",
		                         cli_output_write, &out);
	code = cli_output_close(&out, status == HBM_OK);
	return status == HBM_OK ? code : cli_fail(cx, status);
}

static int run(hbm_context *cx, const cli_args *args)
{
	hbm_input *in = NULL;
	int code = cli_read_input(cx, args, &in);

	if (code != EXIT_YES)
		return code;
	code = show(cx, args, in);
	hbm_input_free(in);
	return code;
}

const cli_command cli_command_show = {
	.name = "show",
	.usage = "[OPTIONS] FILE",
	.summary = "print a program as .hbm text or JSON",
	.groups = groups,
	.min_files = 1,
	.max_files = 1,
	.run = run,
};
