/* SPDX-License-Identifier: Apache-2.0
 * hbmplan: plans device memory for AI-accelerator programs. */
#include "cli.h"

#include <signal.h>
#include <string.h>

static const cli_command *const commands[] = {
#define COMMAND(id) &cli_command_##id,
#include "commands.def"
#undef COMMAND
	NULL,
};

static void usage(FILE *f)
{
	fputs("usage: hbmplan SUBCOMMAND [OPTIONS] [--] FILE...\n\n", f);
	for (uint32_t i = 0; commands[i]; i++)
		fprintf(f, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n`hbmplan SUBCOMMAND --help` lists its options.\n"
	      "exit codes: 0 yes or done, 1 the answer is no, 2 wrong usage or input,\n"
	      "            70 our own fault, 74 input/output, 75 effort limit with --strict\n",
	      f);
}

static const cli_command *find(const char *name)
{
	for (uint32_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int run(const cli_command *command, int argc, char **argv)
{
	static cli_args args;
	hbm_context *cx;
	int code = cli_parse(command, argc, argv, &args);

	if (code != EXIT_YES)
		return code;
	if (args.help) {
		cli_help(command);
		return EXIT_YES;
	}
	if (hbm_context_new(NULL, &cx) != HBM_OK) {
		cli_error("out of host memory");
		return EXIT_INTERNAL;
	}
	code = command->run(cx, &args);
	cli_print_diagnostics(cx);
	hbm_context_free(cx);
	return code;
}

static int general(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const cli_command *command;

	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
	    (!strcmp(word, "help") && argc == 2)) {
		usage(stdout);
		return EXIT_YES;
	}
	if (!strcmp(word, "--version")) {
		printf("hbmplan %s (plan schema 1.0, program schema 1.0)\n", hbm_version());
		return EXIT_YES;
	}
	command = !strcmp(word, "help") ? find(argv[2]) : NULL;
	if (command) {
		cli_help(command);
		return EXIT_YES;
	}
	if (*word)
		cli_error("unknown subcommand '%s'; try hbmplan --help", word);
	else
		usage(stderr);
	return EXIT_WRONG;
}

int main(int argc, char **argv)
{
	const cli_command *command = argc > 1 ? find(argv[1]) : NULL;
	int code;

	signal(SIGPIPE, SIG_IGN);
	code = command ? run(command, argc - 2, argv + 2) : general(argc, argv);
	if (fflush(stdout) && code == EXIT_YES) {
		cli_error("cannot write to standard output");
		code = EXIT_IO;
	}
	return code;
}
