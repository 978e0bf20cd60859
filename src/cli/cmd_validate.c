/* SPDX-License-Identifier: Apache-2.0
 * validate: check a plan made elsewhere against its program. */
#include "cli.h"

#include <inttypes.h>

static const cli_option own[] = {
	{"--dxp-lx-frac-avail", "0..1", "share of LX that the back end keeps", CLI_CUSTOM, 0,
	 cli_set_share},
	{"--simulate", NULL, "also execute the plan and compare every value", CLI_FLAG,
	 offsetof(cli_args, simulate), NULL},
	{0},
};

static const cli_option *const groups[] = {
	cli_input_options, own, cli_output_options, cli_common_options, NULL,
};

static const char *severity(hbm_diag_severity s)
{
	return s == HBM_DIAG_NOTE      ? "note"
	       : s == HBM_DIAG_WARNING ? "warning"
	                               : "error";
}

static void print_json(hbm_context *cx, FILE *f, bool valid)
{
	fprintf(f, "{\n  \"schema\": \"hbmplan.validation\",\n"
	        "  \"schema_version\": \"1.0\",\n  \"valid\": %s,\n  \"faults\": [",
	        valid ? "true" : "false");
	for (uint32_t i = 0; i < hbm_context_n_diagnostics(cx); i++) {
		hbm_diagnostic d = hbm_context_diagnostic(cx, i);
		fprintf(f, "%s\n    {\"severity\": \"%s\", \"code\": %" PRIu32 ", \"text\": ",
		        i ? "," : "", severity(d.severity), d.code);
		cli_json_string(f, d.text);
		fputc('}', f);
	}
	fprintf(f, "%s],\n  \"not_listed\": %" PRIu32 "\n}\n",
	        hbm_context_n_diagnostics(cx) ? "\n  " : "", hbm_context_n_dropped(cx));
}

static int answer(hbm_context *cx, const cli_args *args, bool valid)
{
	cli_output out;
	int code;

	if (!cli_output_open(&out, args->output))
		return EXIT_IO;
	if (args->json) {
		print_json(cx, out.f, valid);
		hbm_context_clear(cx);
	} else {
		fputs(valid ? "valid\n" : "not valid\n", out.f);
	}
	code = cli_output_close(&out, true);
	cli_print_diagnostics(cx);
	return code != EXIT_YES ? code : valid ? EXIT_YES : EXIT_NO;
}

static int judge(hbm_context *cx, const cli_args *args, hbm_planned *p)
{
	hbm_status status = hbm_planned_check(cx, p);
	hbm_simulation sim;

	if (status == HBM_OK && args->simulate)
		status = hbm_planned_simulate(cx, p, &sim);
	if (status != HBM_OK && status != HBM_VERIFY)
		return cli_fail(cx, status);
	return answer(cx, args, status == HBM_OK);
}

static int run(hbm_context *cx, const cli_args *args)
{
	hbm_input *in = NULL;
	hbm_planned *planned;
	hbm_status status = cli_open_input(cx, args, &in);
	int code;

	if (status == HBM_VERIFY)
		return answer(cx, args, false);
	if (status != HBM_OK)
		return cli_fail(cx, status);
	cli_print_diagnostics(cx);
	status = hbm_planned_read(cx, in, args->n_targets ? args->targets[0] : NULL,
	                          &args->plan, args->n_files > 1 ? args->files[1] : NULL,
	                          &planned);
	if (status != HBM_OK) {
		code = cli_fail(cx, status);
	} else {
		code = judge(cx, args, planned);
		hbm_planned_free(planned);
	}
	hbm_input_free(in);
	return code;
}

const cli_command cli_command_validate = {
	.name = "validate",
	.usage = "[OPTIONS] PROGRAM [PLAN]",
	.summary = "check a plan against its program with the independent checker",
	.groups = groups,
	.min_files = 1,
	.max_files = 2,
	.run = run,
};
