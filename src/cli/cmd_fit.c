/* SPDX-License-Identifier: Apache-2.0
 * fit: does it fit, on which target, and what would help? */
#include "cli.h"

static const cli_option own[] = {
	{"--batch", "N", "leading extent that is the batch, for smaller ones to be tried",
	 CLI_SIZE, offsetof(cli_args, batch), NULL},
	{"--no-remedies", NULL, "only the verdicts", CLI_FLAG,
	 offsetof(cli_args, no_remedies), NULL},
	{0},
};

static const cli_option *const groups[] = {
	cli_input_options, cli_packing_options, cli_plan_options, own,
	cli_output_options, cli_common_options, NULL,
};

static int write_answer(hbm_context *cx, const cli_args *args, const hbm_fitting *f)
{
	cli_output out;
	hbm_status status;
	int code;

	if (!cli_output_open(&out, args->output))
		return EXIT_IO;
	status = hbm_fitting_write(cx, f, args->json ? "json" : "text", cli_output_write,
	                           &out);
	code = cli_output_close(&out, status == HBM_OK);
	if (status != HBM_OK && status != HBM_IO)
		return cli_fail(cx, status);
	return status == HBM_OK ? code : EXIT_IO;
}

static int fit(hbm_context *cx, const cli_args *args, const hbm_input *const *inputs)
{
	hbm_fit_opts opts = {.targets = args->targets, .n_targets = args->n_targets,
	                     .batch = args->batch, .no_remedies = args->no_remedies,
	                     .plan = &args->plan};
	hbm_fitting *f;
	hbm_status status = hbm_fitting_make(cx, inputs, args->n_files, &opts, &f);
	int code;

	if (status != HBM_OK)
		return cli_fail(cx, status);
	cli_print_diagnostics(cx);
	code = write_answer(cx, args, f);
	if (code == EXIT_YES && !hbm_fitting_fits(f))
		code = args->plan.budget_off ? EXIT_YES : EXIT_NO;
	hbm_fitting_free(f);
	return code;
}

static int run(hbm_context *cx, const cli_args *args)
{
	hbm_input *inputs[MAX_FILES] = {NULL};
	int code = EXIT_YES;

	for (uint32_t i = 0; i < args->n_files && code == EXIT_YES; i++) {
		cli_args one = *args;
		one.files[0] = args->files[i];
		one.n_targets = 0;
		code = cli_read_input(cx, &one, &inputs[i]);
	}
	if (code == EXIT_YES)
		code = fit(cx, args, (const hbm_input *const *)inputs);
	for (uint32_t i = 0; i < args->n_files; i++)
		hbm_input_free(inputs[i]);
	return code;
}

const cli_command cli_command_fit = {
	.name = "fit",
	.usage = "[OPTIONS] FILE...",
	.summary = "does it fit, on which target, and what would help",
	.groups = groups,
	.min_files = 1,
	.max_files = MAX_FILES,
	.run = run,
};
