/* SPDX-License-Identifier: Apache-2.0
 * output: messages to stderr in a compiler's form; data to stdout or to a file
 * that appears whole or not at all. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void cli_error(const char *fmt, ...)
{
	va_list ap;

	fputs("hbmplan: error: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* The source line and a caret below; tabs stay tabs so that the two align. */
static void print_source(const hbm_diagnostic *d)
{
	uint32_t n = (uint32_t)strlen(d->source);

	fprintf(stderr, "  %s\n  ", d->source);
	for (uint32_t i = 1; i < d->col && i <= n; i++)
		fputc(d->source[i - 1] == '\t' ? '\t' : ' ', stderr);
	fputc('^', stderr);
	for (uint32_t i = 1; i < d->len && d->col + i <= n; i++)
		fputc('~', stderr);
	fputc('\n', stderr);
}

static void print_one(const hbm_diagnostic *d)
{
	static const char *const words[] = {"error", "warning", "note"};

	if (d->file)
		fprintf(stderr, "%s:", d->file);
	if (d->file && d->line)
		fprintf(stderr, "%" PRIu32 ":", d->line);
	if (d->file && d->line && d->col)
		fprintf(stderr, "%" PRIu32 ":", d->col);
	fprintf(stderr, "%s%s: %s", d->file ? " " : "hbmplan: ", words[d->severity],
	        d->text);
	if (d->code)
		fprintf(stderr, " [HBM%04" PRIu32 "]", d->code);
	fputc('\n', stderr);
	if (d->source && d->col)
		print_source(d);
}

void cli_print_diagnostics(hbm_context *cx)
{
	uint32_t dropped = hbm_context_n_dropped(cx);

	for (uint32_t i = 0; i < hbm_context_n_diagnostics(cx); i++) {
		hbm_diagnostic d = hbm_context_diagnostic(cx, i);
		print_one(&d);
	}
	if (dropped)
		fprintf(stderr, "hbmplan: %" PRIu32 " more errors\n", dropped);
	hbm_context_clear(cx);
}

int cli_fail(hbm_context *cx, hbm_status status)
{
	bool said = hbm_context_n_diagnostics(cx) > 0;

	cli_print_diagnostics(cx);
	if (!said)
		cli_error("%s", hbm_status_text(status));
	switch (status) {
	case HBM_IO:
		return EXIT_IO;
	case HBM_NOMEM:
	case HBM_CONTRACT:
	case HBM_VERIFY:
		return EXIT_INTERNAL;
	default:
		return EXIT_WRONG;
	}
}

/* A device or pipe is written to as it is. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

bool cli_output_open(cli_output *o, const char *path)
{
	size_t n;
	int fd;

	*o = (cli_output){.f = stdout};
	if (!path || !strcmp(path, "-"))
		return true;
	o->path = path;
	if (is_special(path)) {
		o->f = fopen(path, "w");
		if (!o->f)
			cli_error("cannot write '%s': %s", path, strerror(errno));
		return o->f != NULL;
	}
	n = strlen(path) + sizeof ".XXXXXX";
	o->temporary = malloc(n);
	if (o->temporary)
		snprintf(o->temporary, n, "%s.XXXXXX", path);
	fd = o->temporary ? mkstemp(o->temporary) : -1;
	o->f = fd < 0 ? NULL : fdopen(fd, "w");
	if (o->f && !fchmod(fd, 0644))
		return true;
	cli_error("cannot write '%s': %s", path, strerror(errno));
	if (fd >= 0)
		unlink(o->temporary);
	free(o->temporary);
	return false;
}

bool cli_output_write(void *output, const void *bytes, size_t n)
{
	cli_output *o = output;

	return fwrite(bytes, 1, n, o->f) == n;
}

int cli_output_close(cli_output *o, bool keep)
{
	bool good = !ferror(o->f); /* a write that failed earlier */

	good = (o->path ? !fclose(o->f) : !fflush(o->f)) && good;

	if (o->temporary && keep && good)
		good = !rename(o->temporary, o->path);
	else if (o->temporary)
		unlink(o->temporary);
	if (keep && !good)
		cli_error("cannot write '%s': %s", o->path ? o->path : "standard output",
		          strerror(errno));
	free(o->temporary);
	return good ? EXIT_YES : EXIT_IO;
}

void cli_json_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

hbm_status cli_open_input(hbm_context *cx, const cli_args *args, hbm_input **ret)
{
	hbm_input_opts opts = {.from = args->from, .binds = args->binds,
	                       .n_binds = args->n_binds};

	opts.target = args->n_targets ? args->targets[0] : NULL;
	return hbm_input_read(cx, args->files[0], &opts, ret);
}

int cli_read_input(hbm_context *cx, const cli_args *args, hbm_input **ret)
{
	hbm_status status = cli_open_input(cx, args, ret);

	if (status == HBM_VERIFY) { /* a finished plan that breaks a rule */
		cli_print_diagnostics(cx);
		return EXIT_NO;
	}
	if (status != HBM_OK)
		return cli_fail(cx, status);
	cli_print_diagnostics(cx);
	return EXIT_YES;
}
