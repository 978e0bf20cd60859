/* SPDX-License-Identifier: Apache-2.0 */
/* emit: code that realises a plan, as files of a directory or all to stdout. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct receiver {
	const char *dir; /* NULL: stdout */
	uint32_t n;      /* files so far */
} receiver;

bool cli_is_emitter(const char *name)
{
	const char *own, *summary;

	for (uint32_t i = 0; hbm_emitter_nth(i, &own, &summary); i++)
		if (!strcmp(own, name))
			return true;
	return false;
}

/* Files follow each other as `mlir-opt --split-input-file` wants them. */
static bool to_stdout(receiver *r, const void *bytes, size_t n)
{
	if (r->n++)
		fputs("// -----\n", stdout);
	return fwrite(bytes, 1, n, stdout) == n;
}

static bool to_file(receiver *r, const char *name, const void *bytes, size_t n)
{
	size_t size = strlen(r->dir) + strlen(name) + 2;
	char *path = malloc(size);
	cli_output out;
	bool good;

	if (!path)
		return false;
	snprintf(path, size, "%s/%s", r->dir, name);
	good = cli_output_open(&out, path);
	r->n++;
	if (good) {
		good = cli_output_write(&out, bytes, n);
		good = cli_output_close(&out, good) == EXIT_YES && good;
	}
	free(path);
	return good;
}

static bool receive(void *user, const char *name, const void *bytes, size_t n)
{
	receiver *r = user;

	return r->dir ? to_file(r, name, bytes, n) : to_stdout(r, bytes, n);
}

static bool make_dir(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &st) &&
	                           S_ISDIR(st.st_mode)))
		return true;
	cli_error("cannot make directory '%s': %s", path,
	          errno == EEXIST ? "a file of that name is there" : strerror(errno));
	return false;
}

/* Files of ours that an earlier run, with more bundles, left in the directory. */
static void warn_stale(const receiver *r)
{
	size_t size = strlen(r->dir) + 32;
	char *path = malloc(size);
	struct stat st;

	for (uint32_t k = r->n; path; k++) {
		snprintf(path, size, "%s/bundle_%" PRIu32 ".mlir", r->dir, k);
		if (stat(path, &st))
			break;
		fprintf(stderr, "hbmplan: warning: '%s' is left from an earlier run; this "
		        "program has no such bundle\n", path);
	}
	free(path);
}

static void tell_count(const receiver *r)
{
	if (r->dir)
		warn_stale(r);
	if (!r->n)
		fputs("hbmplan: note: no op stands in a bundle; there is no code\n", stderr);
}

int cli_emit(hbm_context *cx, const cli_args *args, const hbm_planned *p)
{
	const char *name = args->emit;
	bool piped = !args->output || !strcmp(args->output, "-");
	receiver r = {.dir = piped ? NULL : args->output};
	hbm_status status;

	if (args->generic_mlir && !strcmp(name, "mlir"))
		name = "mlir-generic";
	if (r.dir && !make_dir(r.dir))
		return EXIT_IO;
	status = hbm_planned_emit(cx, p, name, receive, &r);
	if (status != HBM_OK && status != HBM_IO)
		return cli_fail(cx, status);
	if (status == HBM_IO || fflush(stdout)) {
		if (piped)
			cli_error("cannot write 'standard output': %s", strerror(errno));
		return EXIT_IO;
	}
	tell_count(&r);
	return EXIT_YES;
}
