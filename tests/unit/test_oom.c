/* SPDX-License-Identifier: Apache-2.0
 *
 * Every allocation of base and of the readers fails once. */
#include "support/oom.h"
#include "support/test.h"
#include "base/file.h"
#include "base/map.h"
#include "base/out.h"
#include "import/importer.h"
#include "target/target.h"

#if HBM_HAVE_ZLIB
#include <zlib.h>
#endif

static hbm_status use_vectors(hbm_arena *a, void *user)
{
	HBM_VEC(uint64_t) v = {0};

	(void)user;
	for (uint64_t i = 0; i < 20000; i++)
		HBM_NEED(HBM_PUSH(a, &v, i));
	return HBM_OK;
}

static hbm_status use_maps(hbm_arena *a, void *user)
{
	hbm_syms syms;
	hbm_map map;
	char name[16];

	(void)user;
	HBM_TRY(hbm_syms_init(&syms, a));
	hbm_map_init(&map, a);
	for (uint32_t i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "%u", i);
		HBM_NEED(hbm_intern_cstr(&syms, name) != HBM_NONE);
		HBM_NEED(hbm_map_set(&map, i, i));
	}
	return HBM_OK;
}

static hbm_status use_membuf(hbm_arena *a, void *user)
{
	hbm_membuf buf = {.arena = a};
	hbm_out out;

	(void)user;
	hbm_out_init(&out, hbm_membuf_write, &buf);
	for (uint32_t i = 0; i < 10000; i++)
		hbm_putf(&out, "%u ", i);
	HBM_NEED(hbm_out_finish(&out) == HBM_OK || !buf.nomem);
	return HBM_OK;
}

static void base_runs_out(void **state)
{
	(void)state;
	assert_true(oom_sweep(use_vectors, NULL) > 3);
	assert_true(oom_sweep(use_maps, NULL) > 0);
	assert_true(oom_sweep(use_membuf, NULL) > 1);
}

static hbm_status read_file(hbm_arena *a, void *user)
{
	hbm_diags d;
	hbm_bytes bytes;

	hbm_diags_init(&d, a);
	return hbm_file_read(a, &d, user, 0, &bytes);
}

static hbm_status list_dir(hbm_arena *a, void *user)
{
	hbm_diags d;
	const char **names;
	uint32_t n;

	hbm_diags_init(&d, a);
	return hbm_dir_list(a, &d, user, &names, &n);
}

static void files_run_out(void **state)
{
	test_room *r = *state;
	const char *path = temp_file(&r->arena, "plain", "text", 4);

	assert_true(oom_sweep(read_file, (void *)(uintptr_t)path) > 0);
	oom_sweep(read_file, (void *)(uintptr_t) "/proc/self/maps");
	assert_true(oom_sweep(list_dir, (void *)(uintptr_t) "/") > 0);
}

#if HBM_HAVE_ZLIB
static void unpacking_runs_out(void **state)
{
	test_room *r = *state;
	const char *path = temp_path(&r->arena, "packed.gz");
	gzFile gz = gzopen(path, "wb");

	for (int i = 0; i < 100000; i++)
		gzprintf(gz, "%d,", i % 10);
	assert_int_equal(gzclose(gz), Z_OK);
	assert_true(oom_sweep(read_file, (void *)(uintptr_t)path) > 3);
}
#endif

static hbm_status read_target(hbm_arena *a, void *user)
{
	hbm_diags d;
	hbm_target t;

	hbm_diags_init(&d, a);
	return hbm_target_parse(a, &d, "t", user, strlen(user), &t);
}

static hbm_status load_target(hbm_arena *a, void *user)
{
	hbm_diags d;
	hbm_target t;

	hbm_diags_init(&d, a);
	return hbm_target_load(a, &d, user, &t);
}

static void targets_run_out(void **state)
{
	const char *const *names;
	uint32_t n;

	(void)state;
	names = hbm_target_names(&n);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(names[i], "core_v5"))
			assert_true(oom_sweep(load_target,
			                      (char *)(uintptr_t)names[i]) > 0);
}

/* ---- every seed of the fuzz targets ---------------------------------------- */

static hbm_status import(hbm_arena *a, void *user)
{
	const hbm_source *src = user;
	hbm_import_opts opts = {0};
	hbm_imported got;
	hbm_diags d;
	const char *from;

	hbm_diags_init(&d, a);
	return hbm_import_source(a, &d, src, NULL, &opts, &from, &got);
}

static void sweep_seed(const char *path)
{
	hbm_source src = {.path = "seed"};
	hbm_arena a, again;

	print_message("%s\n", strrchr(path, '/') + 1);
	hbm_arena_init(&a, NULL);
	hbm_arena_init(&again, NULL);
	/* Seeds of the unpacker are no whole files. */
	if (hbm_file_read(&a, NULL, path, 0, &src.bytes) == HBM_OK &&
	    src.bytes.n < 4096) {
		oom_sweep_status(import, &src, import(&again, &src));
		hbm_arena_fini(&again);
		oom_sweep_status(
			read_target, (char *)(uintptr_t)src.bytes.data,
			read_target(&again, (char *)(uintptr_t)src.bytes.data));
	}
	hbm_arena_fini(&again);
	hbm_arena_fini(&a);
}

/* Directories of kernels with their descriptors. */
static void bundles_run_out(void **state)
{
	static const char *const names[] = {"absolute", "clash", "dimension", "missing_op",
	                                    "shared", "small_pool"};
	const char *source = getenv("HBM_SOURCE");
	char path[1024];

	(void)state;
	assert_non_null(source);
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		hbm_source src = {.path = path, .is_dir = true};
		hbm_arena again;
		snprintf(path, sizeof path, "%s/tests/golden/spyre_bundle/%s", source,
		         names[k]);
		hbm_arena_init(&again, NULL);
		oom_sweep_status(import, &src, import(&again, &src));
		hbm_arena_fini(&again);
	}
}

static void seeds_run_out(void **state)
{
	test_room *r = *state;
	const char *source = getenv("HBM_SOURCE"), **dirs, **files;
	char path[1024];
	uint32_t n, m, swept = 0;

	assert_non_null(source);
	snprintf(path, sizeof path, "%s/fuzz/seeds", source);
	assert_int_equal(hbm_dir_list(&r->arena, NULL, path, &dirs, &n), HBM_OK);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/fuzz/seeds/%s", source, dirs[i]);
		assert_int_equal(hbm_dir_list(&r->arena, NULL, path, &files, &m),
		                 HBM_OK);
		for (uint32_t k = 0; k < m; k++, swept++)
			sweep_seed(hbm_path_in(&r->arena, path, files[k]));
	}
	assert_true(swept > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_runs_out),
		ROOM_TEST(files_run_out),
#if HBM_HAVE_ZLIB
		ROOM_TEST(unpacking_runs_out),
#endif
		cmocka_unit_test(targets_run_out),
		ROOM_TEST(bundles_run_out), ROOM_TEST(seeds_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
