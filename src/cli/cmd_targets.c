/* SPDX-License-Identifier: Apache-2.0
 * targets: list the built-in devices, or print what is in force for one. */
#include "cli.h"

static const cli_option *const groups[] = {
	cli_output_options, cli_common_options, NULL,
};

static void list(hbm_context *cx, FILE *f, bool json)
{
	const char *name;

	if (json)
		fputs("[", f);
	for (uint32_t i = 0; (name = hbm_target_nth(i)); i++)
		if (json)
			fprintf(f, "%s\"%s\"", i ? ", " : "", name);
		else
			fprintf(f, "%-10s %s\n", name, hbm_target_summary(cx, name));
	if (json)
		fputs("]\n", f);
}

static int run(hbm_context *cx, const cli_args *args)
{
	hbm_status status = HBM_OK;
	cli_output out;
	int code;

	if (!cli_output_open(&out, args->output))
		return EXIT_IO;
	if (!args->n_files)
		list(cx, out.f, args->json);
	else if (args->json)
		status = hbm_target_write_json(cx, args->files[0], cli_output_write, &out);
	else
		status = hbm_target_write(cx, args->files[0], cli_output_write, &out);
	code = cli_output_close(&out, status == HBM_OK);
	return status == HBM_OK ? code : cli_fail(cx, status);
}

const cli_command cli_command_targets = {
	.name = "targets",
	.usage = "[OPTIONS] [NAME|FILE]",
	.summary = "list device models, or print one with the source of each figure",
	.groups = groups,
	.min_files = 0,
	.max_files = 1,
	.run = run,
};
