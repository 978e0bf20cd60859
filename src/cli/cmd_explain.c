/* SPDX-License-Identifier: Apache-2.0
 * explain: what a diagnostic code means, its cause and its cure. */
#include "cli.h"

#include <inttypes.h>
#include <string.h>

static const cli_option *const groups[] = {cli_common_options, NULL};

static void list(void)
{
	hbm_explanation e;

	for (uint32_t i = 0; hbm_explain_nth(i, &e); i++)
		printf("HBM%04" PRIu32 "  %s\n", e.code, e.title);
}

/* HBM0203, 0203 or 203. */
static bool parse_code(const char *s, uint32_t *ret)
{
	uint32_t v = 0;

	if (!strncmp(s, "HBM", 3) || !strncmp(s, "hbm", 3))
		s += 3;
	if (!*s || strlen(s) > 4 || strspn(s, "0123456789") != strlen(s))
		return false;
	for (; *s; s++)
		v = v * 10 + (uint32_t)(*s - '0');
	*ret = v;
	return true;
}

static int run(hbm_context *cx, const cli_args *args)
{
	hbm_explanation e;
	uint32_t code;

	(void)cx;
	if (!args->n_files) {
		list();
		return EXIT_YES;
	}
	if (!parse_code(args->files[0], &code) || !hbm_explain(code, &e)) {
		cli_error("no diagnostic has the code '%s'; `hbmplan explain` lists them",
		          args->files[0]);
		return EXIT_WRONG;
	}
	printf("HBM%04" PRIu32 ": %s\n\ncause: %s\ncure:  %s\n", e.code, e.title, e.cause,
	       e.cure);
	return EXIT_YES;
}

const cli_command cli_command_explain = {
	.name = "explain",
	.usage = "[CODE]",
	.summary = "tell cause and cure of a diagnostic code",
	.groups = groups,
	.min_files = 0,
	.max_files = 1,
	.run = run,
};
