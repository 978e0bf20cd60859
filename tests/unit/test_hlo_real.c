/* SPDX-License-Identifier: Apache-2.0
 * Real HLO modules: every file is read and planned, and where XLA told its own numbers,
 * ours are compared: arguments and results equal, temporaries never more. */
#include "analysis/analysis.h"
#include "import/importer.h"
#include "ir/validate.h"
#include "pack/problem.h"
#include "pass/pass.h"
#include "support/test.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <math.h>

enum { XLA_ALIGN = 256 };

typedef struct figures {
	uint64_t arguments, results, temps, bound;
} figures;

static void fail_with(test_room *room, const char *what)
{
	fprintf(stderr, "%s", messages(&room->arena, &room->diags));
	fail_msg("%s", what);
}

static void read_file(test_room *room, const char *path, hbm_imported *ret)
{
	hbm_import_opts opts = {0};
	const char *from;

	if (hbm_import_path(&room->arena, &room->diags, path, NULL, &opts, &from, ret))
		fail_with(room, path);
	assert_false(ret->is_problem);
	if (hbm_validate(&ret->program, &room->diags))
		fail_with(room, path);
}

/* Places the temporaries at XLA's alignment. */
static void place(test_room *room, const hbm_analysis *an, figures *ret)
{
	uint32_t n = an->storages.n, k = 0;
	uint64_t *size = HBM_ARRAY(&room->arena, uint64_t, n);
	uint64_t *align = HBM_ARRAY(&room->arena, uint64_t, n);
	int64_t *start = HBM_ARRAY(&room->arena, int64_t, n);
	int64_t *end = HBM_ARRAY(&room->arena, int64_t, n);
	hbm_problem p = {.size = size, .start = start, .end = end, .align = align,
	                 .capacity = HBM_NO_OFFSET};
	hbm_placement placed;
	hbm_solve_opts opts;

	for (uint32_t i = 0; i < n; i++) {
		const hbm_storage *s = &an->storages.items[i];
		if (s->flags & (HBM_T_CALLER | HBM_T_HOST) || !s->size)
			continue;
		size[k] = s->size;
		align[k] = XLA_ALIGN;
		start[k] = s->start;
		end[k++] = s->end;
	}
	p.n = k;
	hbm_solve_defaults(&opts);
	assert_int_equal(hbm_solve(&room->arena, &p, &opts, &room->diags, &placed), HBM_OK);
	ret->temps = placed.extent;
	ret->bound = placed.lower_bound;
}

static figures measure(test_room *room, const char *path)
{
	static const hbm_target none = {.name = "xla"};
	hbm_analysis_opts opts = {.inplace = true};
	hbm_analysis an;
	hbm_imported in;
	figures f = {0};

	read_file(room, path, &in);
	assert_int_equal(hbm_size_tensors(&in.program, &none, &room->diags), HBM_OK);
	assert_int_equal(hbm_analyse(&room->arena, &in.program, &none, &opts, &room->diags,
	                             &an), HBM_OK);
	for (uint32_t i = 0; i < an.storages.n; i++) {
		const hbm_storage *s = &an.storages.items[i];
		if (s->flags & HBM_T_INPUT)
			f.arguments += s->size;
		else if (s->flags & HBM_T_OUTPUT)
			f.results += s->size;
	}
	place(room, &an, &f);
	return f;
}

/* ---- XLA's numbers -------------------------------------------------------- */

typedef struct row {
	char file[256];
	double value[3]; /* arguments, results, temporaries, in units below */
	double unit[3];
	int seen;
} row;

static double unit_of(const char *s)
{
	return !strcmp(s, "GB") ? 1073741824.0 : !strcmp(s, "MB") ? 1048576.0
	       : !strcmp(s, "KB") ? 1024.0 : 1.0;
}

/* The value XLA printed, rounded to two decimals of its unit, is ours. */
static bool equal(uint64_t ours, double value, double unit)
{
	return fabs((double)ours / unit - value) < 0.00500001;
}

static bool more(uint64_t ours, double value, double unit)
{
	return (double)ours / unit > value + 0.00500001;
}

static int compare_row(test_room *room, const row *r, int counts[4])
{
	char path[320];
	const char *full;
	figures f;

	snprintf(path, sizeof path, "data/real/%s", r->file);
	full = shared_path(&room->arena, path);
	if (!full)
		return 0;
	f = measure(room, full);
	printf("%-64s arg %12" PRIu64 " %s out %12" PRIu64 " %s temp %12" PRIu64
	       " bound %12" PRIu64 " xla %12.0f %s\n", strrchr(r->file, '/') + 1,
	       f.arguments, equal(f.arguments, r->value[0], r->unit[0]) ? "=" : "DIFFERS",
	       f.results, equal(f.results, r->value[1], r->unit[1]) ? "=" : "DIFFERS",
	       f.temps, f.bound, r->value[2] * r->unit[2],
	       equal(f.temps, r->value[2], r->unit[2]) ? "="
	       : more(f.temps, r->value[2], r->unit[2]) ? "MORE" : "less");
	counts[0]++;
	counts[1] += equal(f.arguments, r->value[0], r->unit[0]);
	counts[2] += equal(f.results, r->value[1], r->unit[1]);
	counts[3] += !more(f.temps, r->value[2], r->unit[2]);
	return 1;
}

/* Rows of one file stand together. */
static void numbers_are_those_of_xla(void **state)
{
	static const char *const keys[] = {"xla.argument_size", "xla.output_size",
	                                   "xla.temp_size"};
	test_room *room = *state;
	const char *table = shared_path(&room->arena, "data/real/GROUND_TRUTH.tsv");
	char line[1024];
	int counts[4] = {0};
	row r = {.seen = 0};
	FILE *f;

	if (!table)
		skip();
	f = fopen(table, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		char file[256], key[64], unit[8];
		double v;
		if (sscanf(line, "%255[^\t]\t%63[^\t]\t%lf %7s", file, key, &v, unit) != 4)
			continue;
		for (int i = 0; i < 3; i++) {
			if (strcmp(key, keys[i]) != 0)
				continue;
			if (strcmp(file, r.file) != 0)
				r = (row){.seen = 0};
			strcpy(r.file, file);
			r.value[i] = v;
			r.unit[i] = unit_of(unit);
			r.seen |= 1 << i;
			if (r.seen == 7)
				compare_row(room, &r, counts);
		}
	}
	fclose(f);
	printf("%d modules: arguments equal %d, results equal %d, temporaries not more %d\n",
	       counts[0], counts[1], counts[2], counts[3]);
	assert_true(counts[0] > 0);
	assert_int_equal(counts[1], counts[0]);
	assert_int_equal(counts[2], counts[0]);
	assert_int_equal(counts[3], counts[0]);
}

/* Plans for a target; what comes out is legal. A target may lack a home that the
 * program demands. */
static void plan_for(test_room *room, const char *path, const char *target,
                     const char *passes)
{
	hbm_plan_opts opts;
	hbm_target t;
	hbm_imported in;
	hbm_plan plan;
	hbm_status status;

	read_file(room, path, &in);
	hbm_plan_defaults(&opts);
	opts.effort = 1;
	opts.passes = passes;
	assert_int_equal(hbm_target_load(&room->arena, &room->diags, target, &t), HBM_OK);
	status = hbm_run_passes(&room->arena, &in.program, &t, &opts, &room->diags, &plan);
	if (status == HBM_OK)
		status = hbm_verify(&room->arena, &in.program, &t, &plan, &room->diags);
	if (status != HBM_OK && (!passes || status == HBM_VERIFY || status == HBM_CONTRACT))
		fail_with(room, path);
}

static void plan_file(const char *path)
{
	test_room room;

	hbm_arena_init(&room.arena, NULL);
	hbm_diags_init(&room.diags, &room.arena);
	plan_for(&room, path, "trn2", NULL);
	plan_for(&room, path, "spyre", "fuse,hbm-pool"); /* pads to sticks */
	hbm_arena_fini(&room.arena);
}

/* Every file of a folder becomes a valid program, which can be planned. */
static uint32_t read_folder(test_room *room, const char *folder)
{
	const char *full = shared_path(&room->arena, folder), **names;
	uint32_t n, files = 0;

	if (!full)
		return 0;
	if (hbm_dir_list(&room->arena, &room->diags, full, &names, &n))
		fail_with(room, folder);
	for (uint32_t i = 0; i < n; i++) {
		const char *path = hbm_path_in(&room->arena, full, names[i]);
		char deeper[512];
		hbm_imported in;
		if (path) {
			read_file(room, path, &in);
			plan_file(path);
			files++;
			continue;
		}
		snprintf(deeper, sizeof deeper, "%s/%s", folder, names[i]);
		files += read_folder(room, deeper);
	}
	return files;
}

static void every_file_is_read(void **state)
{
	test_room *room = *state;
	uint32_t n = read_folder(room, "data/real/hlo") +
	             read_folder(room, "data/real/hlo-proto-text");

	if (!n)
		skip();
	printf("%u files read\n", n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(every_file_is_read),
		ROOM_TEST(numbers_are_those_of_xla),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
