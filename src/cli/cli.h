/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

/* The command. Uses the public headers only. One file and one row of
 * commands.def per subcommand. */

#include "hbmplan/hbmplan.h"

#include <stdio.h>

/* Exit codes (docs/cli.md). */
enum {
	EXIT_YES = 0,      /* done, fits, valid */
	EXIT_NO = 1,       /* the answer is no */
	EXIT_WRONG = 2,    /* wrong usage or input */
	EXIT_INTERNAL = 70,
	EXIT_IO = 74,
	EXIT_EFFORT = 75,  /* effort limit without an answer, with --strict */
};

enum { MAX_BINDS = 64, MAX_FILES = 64, MAX_TARGETS = 16 };

/* What the options of all subcommands fill in. */
typedef struct cli_args {
	const char *files[MAX_FILES];
	uint32_t n_files;
	hbm_bind binds[MAX_BINDS];
	uint32_t n_binds;
	const char *targets[MAX_TARGETS];
	uint32_t n_targets;
	const char *from, *output, *emit;
	bool json, simulate, strict, timings, help, generic_mlir, all, no_remedies;
	uint64_t capacity, max_block, batch;
	bool has_capacity;
	hbm_plan_opts plan;
} cli_args;

typedef enum cli_kind {
	CLI_FLAG,    /* bool */
	CLI_STRING,  /* const char * */
	CLI_UINT,    /* uint32_t */
	CLI_COUNT,   /* the same, and not 0 */
	CLI_BYTES,   /* uint64_t below 2^62, with units */
	CLI_SIZE,    /* the same, and not 0 */
	CLI_SECONDS, /* double */
	CLI_CUSTOM,  /* parsed by `set` */
} cli_kind;

typedef struct cli_option {
	const char *name; /* "--name" */
	const char *arg;  /* name of its value; NULL: takes none */
	const char *help;
	cli_kind kind;
	size_t at; /* offset in cli_args */
	/* False: bad value. */
	bool (*set)(cli_args *args, const char *value);
} cli_option;

typedef struct cli_command {
	const char *name, *usage, *summary;
	const cli_option *const *groups; /* NULL-ended list of option tables */
	uint32_t min_files, max_files;
	int (*run)(hbm_context *cx, const cli_args *args);
} cli_command;

#define COMMAND(id) extern const cli_command cli_command_##id;
#include "commands.def"
#undef COMMAND

/* Option tables that several subcommands share; each ends with a NULL name. */
extern const cli_option cli_input_options[], cli_plan_options[],
	cli_packing_options[], cli_output_options[], cli_common_options[];

/* Reads the command line behind the subcommand's name. EXIT_YES, or EXIT_WRONG
 * after a message. */
int cli_parse(const cli_command *command, int argc, char **argv, cli_args *ret);
void cli_help(const cli_command *command);
/* --dxp-lx-frac-avail: a fraction of at most six decimals. */
bool cli_set_share(cli_args *args, const char *value);
/* --capacity, for commands that take it. */
bool cli_set_capacity(cli_args *args, const char *value);
/* A size such as 4096, 0x1000, 2Ki, 14GiB. */
bool cli_parse_bytes(const char *text, uint64_t *ret);

/* Prints and forgets the context's messages. */
void cli_print_diagnostics(hbm_context *cx);
/* Prints messages and gives the exit code of a status that is not HBM_OK. */
int cli_fail(hbm_context *cx, hbm_status status);
void cli_error(const char *fmt, ...) HBM_PRINTF(1, 2);

/* Output goes to stdout, or to a temporary file that takes its place when all is
 * written. */
typedef struct cli_output {
	FILE *f;
	const char *path; /* NULL: stdout */
	char *temporary;
} cli_output;

bool cli_output_open(cli_output *o, const char *path);
/* hbm_write_fn with a cli_output. */
bool cli_output_write(void *output, const void *bytes, size_t n);
/* Commits when `keep`, else removes. EXIT_YES or EXIT_IO. */
int cli_output_close(cli_output *o, bool keep);

/* ---- emit.c ---- */

bool cli_is_emitter(const char *name);
/* Writes the files into the directory of -o, or all to stdout. */
int cli_emit(hbm_context *cx, const cli_args *args, const hbm_planned *p);

/* A quoted JSON string. */
void cli_json_string(FILE *f, const char *s);

/* Reads the input named first; messages are left in the context. HBM_VERIFY: it is a
 * finished plan that breaks a rule. */
hbm_status cli_open_input(hbm_context *cx, const cli_args *args, hbm_input **ret);
/* The same, but EXIT_YES or an exit code after messages. */
int cli_read_input(hbm_context *cx, const cli_args *args, hbm_input **ret);

#endif
