/* SPDX-License-Identifier: Apache-2.0
 * solve: offsets for a bare packing problem. */
#include "cli.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const cli_option own[] = {
	{"--capacity", "BYTES", "bytes that may be used (default: no limit)", CLI_CUSTOM, 0,
	 cli_set_capacity},
	{"--max-block", "BYTES", "largest single allocation: several blocks then",
	 CLI_SIZE, offsetof(cli_args, max_block), NULL},
	{"--strict", NULL, "exit 75 when the effort ends without an answer", CLI_FLAG,
	 offsetof(cli_args, strict), NULL},
	{"--timings", NULL, "also report seconds", CLI_FLAG, offsetof(cli_args, timings),
	 NULL},
	{0},
};

static const cli_option *const groups[] = {
	cli_input_options, cli_packing_options, own, cli_output_options,
	cli_common_options, NULL,
};

typedef struct answer {
	const cli_args *args;
	const hbm_input *in;
	const hbm_problem *p;
	const hbm_placement *pl;
	double seconds;
} answer;

static const char *optional_column(const void *array, const char *name)
{
	return array ? name : "";
}

static void put_gaps(FILE *f, const hbm_problem *p, uint32_t i)
{
	fputc(',', f);
	for (uint32_t g = p->gap_first[i]; g < p->gap_first[i + 1]; g++) {
		const hbm_gap *gap = &p->gaps[g];
		fprintf(f, "%s%" PRId64 "-%" PRId64, g > p->gap_first[i] ? " " : "",
		        gap->start, gap->end);
		if (gap->lo < gap->hi)
			fprintf(f, "@%" PRIu64 ":%" PRIu64, gap->lo, gap->hi);
	}
}

/* RFC 4180: quoted where needed. */
static void put_id(FILE *f, const char *id)
{
	if (!strpbrk(id, ",\"\r\n")) {
		fputs(id, f);
		return;
	}
	fputc('"', f);
	for (; *id; id++) {
		if (*id == '"')
			fputc('"', f);
		fputc(*id, f);
	}
	fputc('"', f);
}

/* Comma and number: most of what is written, so without fprintf. */
static void put_number(FILE *f, uint64_t v)
{
	char buf[24], *s = buf + sizeof buf;

	do
		*--s = (char)('0' + v % 10);
	while (v /= 10);
	*--s = ',';
	fwrite(s, 1, (size_t)(buf + sizeof buf - s), f);
}

static void put_tick(FILE *f, int64_t tick)
{
	if (tick < 0)
		fprintf(f, ",%" PRId64, tick);
	else
		put_number(f, (uint64_t)tick);
}

/* `none` stands for no number. */
static void put_optional(FILE *f, uint64_t v, uint64_t none)
{
	if (v == none)
		fputc(',', f);
	else
		put_number(f, v);
}

/* minimalloc's columns; ranges half open. An unplaced buffer has no offset. */
static void put_csv(const answer *a, FILE *f)
{
	const hbm_problem *p = a->p;

	fprintf(f, "id,lower,upper,size%s%s%s%s%s%s%s,offset\n",
	        optional_column(p->align, ",alignment"), optional_column(p->hint, ",hint"),
	        optional_column(p->gap_first, ",gaps"), optional_column(p->set, ",set"),
	        optional_column(p->shift, ",shift"), optional_column(p->group, ",group"),
	        optional_column(a->pl->block, ",block"));
	for (uint32_t i = 0; i < p->n; i++) {
		put_id(f, hbm_input_buffer(a->in, i));
		put_tick(f, p->start[i]);
		put_tick(f, p->end[i]);
		put_number(f, p->size[i]);
		if (p->align)
			put_number(f, p->align[i]);
		if (p->hint)
			put_optional(f, p->hint[i], HBM_NO_OFFSET);
		if (p->gap_first)
			put_gaps(f, p, i);
		if (p->set)
			put_optional(f, p->set[i], HBM_NONE);
		if (p->shift)
			put_number(f, p->shift[i]);
		if (p->group)
			put_optional(f, p->group[i], HBM_NONE);
		if (a->pl->block)
			put_number(f, a->pl->block[i]);
		put_optional(f, a->pl->offset[i], HBM_NO_OFFSET);
		fputc('\n', f);
	}
}

static void json_bytes(FILE *f, const char *key, uint64_t v)
{
	if (v == HBM_NO_OFFSET)
		fprintf(f, "  \"%s\": null,\n", key);
	else if (v >= (uint64_t)1 << 53)
		fprintf(f, "  \"%s\": \"%" PRIu64 "\",\n", key, v);
	else
		fprintf(f, "  \"%s\": %" PRIu64 ",\n", key, v);
}

static void json_witness(const answer *a, FILE *f)
{
	const hbm_placement *pl = a->pl;

	if (pl->outcome != HBM_INFEASIBLE)
		return;
	if (!pl->n_witness) {
		fprintf(f, "  \"witness\": {\"tick\": %" PRId64 "},\n", pl->witness_tick);
		return;
	}
	fputs("  \"witness\": {\"buffers\": [", f);
	for (uint32_t i = 0; i < pl->n_witness; i++) {
		fputs(i ? ", " : "", f);
		cli_json_string(f, hbm_input_buffer(a->in, pl->witness[i]));
	}
	fputs("]},\n", f);
}

static void json_blocks(const answer *a, FILE *f)
{
	if (!a->pl->block)
		return;
	fputs("  \"blocks\": [", f);
	for (uint32_t i = 0; i < a->pl->n_blocks; i++)
		fprintf(f, "%s%" PRIu64, i ? ", " : "", a->pl->block_extent[i]);
	fputs("],\n", f);
}

static void json_offsets(const answer *a, FILE *f)
{
	fputs("  \"offsets\": [", f);
	for (uint32_t i = 0; i < a->p->n; i++) {
		uint64_t at = a->pl->offset[i];
		fprintf(f, "%s\n    {\"id\": ", i ? "," : "");
		cli_json_string(f, hbm_input_buffer(a->in, i));
		if (a->pl->block)
			fprintf(f, ", \"block\": %" PRIu32, a->pl->block[i]);
		if (at == HBM_NO_OFFSET)
			fputs(", \"offset\": null}", f);
		else if (at >= (uint64_t)1 << 53)
			fprintf(f, ", \"offset\": \"%" PRIu64 "\"}", at);
		else
			fprintf(f, ", \"offset\": %" PRIu64 "}", at);
	}
	fputs(a->p->n ? "\n  ]\n" : "]\n", f);
}

static void put_json(const answer *a, FILE *f)
{
	const hbm_placement *pl = a->pl;

	fputs("{\n  \"schema\": \"hbmplan.placement\",\n  \"schema_version\": \"1.0\",\n", f);
	fprintf(f, "  \"outcome\": \"%s\",\n", hbm_outcome_name(pl->outcome));
	fprintf(f, "  \"buffers\": %" PRIu32 ",\n", a->p->n);
	fprintf(f, "  \"live_ranges\": \"half open%s\",\n",
	        hbm_input_closed(a->in) ? "; the input's included their end" : "");
	json_bytes(f, "capacity", a->p->capacity);
	json_bytes(f, "extent", pl->extent);
	json_bytes(f, "lower_bound", pl->lower_bound);
	fputs("  \"allocator\": ", f);
	cli_json_string(f, pl->allocator ? pl->allocator : "");
	fprintf(f, ",\n  \"steps\": %" PRIu64 ",\n", pl->steps);
	if (a->args->timings)
		fprintf(f, "  \"seconds\": %.6f,\n", a->seconds);
	json_witness(a, f);
	json_blocks(a, f);
	json_offsets(a, f);
	fputs("}\n", f);
}

/* Gap to the lower bound in hundredths of a percent, rounded up. */
static void put_gap(const hbm_placement *pl, FILE *f)
{
	uint64_t over = pl->extent - pl->lower_bound, low = pl->lower_bound, parts;

	if (!low || !over || pl->extent < low)
		return;
	while (over > UINT64_MAX / 10000) {
		over >>= 1;
		low >>= 1;
	}
	parts = (over * 10000 + low - 1) / (low ? low : 1);
	fprintf(f, ", %" PRIu64 " B above it (%" PRIu64 ".%02" PRIu64 " %%)",
	        pl->extent - pl->lower_bound, parts / 100, parts % 100);
}

static void put_witness(const answer *a, FILE *f)
{
	const hbm_placement *pl = a->pl;

	if (!pl->n_witness) {
		fprintf(f, "why: at tick %" PRId64 " the live buffers need %" PRIu64
		        " B, the capacity is %" PRIu64 " B\n", pl->witness_tick,
		        pl->lower_bound, a->p->capacity);
		return;
	}
	fprintf(f, pl->n_witness == 1 ? "why: this buffer alone does not fit:\n" :
	        "why: these %" PRIu32 " buffers cannot fit together; without any one of "
	        "them the rest can:\n", pl->n_witness);
	for (uint32_t i = 0; i < pl->n_witness; i++) {
		uint32_t b = pl->witness[i];
		fprintf(f, "  %s: %" PRIu64 " B, live [%" PRId64 ",%" PRId64 ")\n",
		        hbm_input_buffer(a->in, b), a->p->size[b], a->p->start[b],
		        a->p->end[b]);
	}
}

static void put_text(const answer *a, FILE *f)
{
	const hbm_placement *pl = a->pl;

	fprintf(f, "outcome: %s", hbm_outcome_name(pl->outcome));
	if (pl->outcome == HBM_OPTIMAL)
		fputs(" (proven)", f);
	fprintf(f, "\nbuffers: %" PRIu32 "%s\n", a->p->n, hbm_input_closed(a->in)
	        ? " (ranges in the file include their end)" : "");
	if (a->p->capacity != HBM_NO_OFFSET)
		fprintf(f, "capacity: %" PRIu64 " B\n", a->p->capacity);
	for (uint32_t i = 0; i < pl->n_blocks; i++)
		fprintf(f, "block %" PRIu32 ": %" PRIu64 " B\n", i, pl->block_extent[i]);
	if (pl->extent != HBM_NO_OFFSET)
		fprintf(f, "extent: %" PRIu64 " B%s\n", pl->extent,
		        pl->outcome == HBM_UNKNOWN ? " (best found; above the capacity)" : "");
	fprintf(f, "lower bound: %" PRIu64 " B", pl->lower_bound);
	if (pl->extent != HBM_NO_OFFSET)
		put_gap(pl, f);
	fprintf(f, "\nallocator: %s, %" PRIu64 " steps\n",
	        pl->allocator ? pl->allocator : "none", pl->steps);
	if (a->args->timings)
		fprintf(f, "seconds: %.6f\n", a->seconds);
	if (pl->outcome == HBM_INFEASIBLE)
		put_witness(a, f);
	if (pl->outcome == HBM_UNKNOWN)
		fputs("no placement within the capacity was found, and none was ruled out\n", f);
}

static bool placed(const answer *a)
{
	return a->pl->outcome == HBM_OPTIMAL || a->pl->outcome == HBM_FEASIBLE;
}

/* CSV goes where -o says, if there is a placement; the summary to stdout unless that is taken. */
static int write_answer(const answer *a)
{
	const char *path = a->args->output;
	bool to_stdout = path && !strcmp(path, "-"), json = a->args->json;
	cli_output out;

	if (!cli_output_open(&out, json ? NULL : path))
		return EXIT_IO;
	if (path && !json && placed(a))
		put_csv(a, out.f);
	if (json)
		put_json(a, stdout);
	else if (!to_stdout || !placed(a))
		put_text(a, stdout);
	return cli_output_close(&out, placed(a));
}

static int write_both(const answer *a)
{
	cli_output out;
	int code = write_answer(a);

	if (code != EXIT_YES || !a->args->json || !a->args->output || !placed(a))
		return code;
	if (!cli_output_open(&out, a->args->output))
		return EXIT_IO;
	put_csv(a, out.f);
	return cli_output_close(&out, true);
}

static int exit_code(const answer *a)
{
	if (a->pl->outcome == HBM_UNKNOWN)
		return a->args->strict ? EXIT_EFFORT : EXIT_NO;
	return a->pl->outcome == HBM_INFEASIBLE ? EXIT_NO : EXIT_YES;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int solve(hbm_context *cx, const cli_args *args, const hbm_input *in)
{
	hbm_problem problem = *hbm_input_problem(in);
	hbm_solve_opts opts;
	hbm_placement pl;
	answer a = {args, in, &problem, &pl, now()};
	hbm_status status;
	int code;

	hbm_solve_defaults(&opts);
	opts.allocator = args->plan.allocator;
	opts.effort = args->plan.effort;
	opts.threads = args->plan.threads;
	opts.deadline = args->plan.deadline;
	if (args->has_capacity) /* the question is whether it fits */
		problem.capacity = opts.enough = args->capacity;
	problem.max_block = args->max_block;
	status = hbm_place(cx, &problem, &opts, &pl);
	if (status != HBM_OK)
		return cli_fail(cx, status);
	a.seconds = now() - a.seconds;
	code = write_both(&a);
	return code == EXIT_YES ? exit_code(&a) : code;
}

static int run(hbm_context *cx, const cli_args *args)
{
	hbm_input *in = NULL;
	int code = cli_read_input(cx, args, &in);

	if (code != EXIT_YES)
		return code;
	if (hbm_input_problem(in)) {
		code = solve(cx, args, in);
	} else {
		cli_error("solve: '%s' is a program, not a bare packing problem; use plan",
		          args->files[0]);
		code = EXIT_WRONG;
	}
	hbm_input_free(in);
	return code;
}

const cli_command cli_command_solve = {
	.name = "solve",
	.usage = "[OPTIONS] FILE.csv",
	.summary = "place the buffers of a lifetime table; -o writes offsets as CSV",
	.groups = groups,
	.min_files = 1,
	.max_files = 1,
	.run = run,
};
