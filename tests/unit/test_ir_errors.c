/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for faulty programs: each tests/golden/ir/NAME.hbm (or .json) has what
 * reading and validating it says in NAME.hbm.expected. HBM_GOLDEN_UPDATE=1 writes these
 * anew. */
#include "support/ir.h"
#include "support/test.h"

#include "base/file.h"
#include "import/importer.h"

static const char *golden(hbm_arena *a, const char *name, const char *tail)
{
	const char *root = getenv("HBM_SOURCE");
	char path[512];

	assert_non_null(root);
	snprintf(path, sizeof path, "%s/tests/golden/ir/%s%s", root, name, tail);
	return hbm_arena_strndup(a, path, strlen(path));
}

static const char *say(hbm_arena *a, const char *name, const hbm_bytes *text)
{
	hbm_source src = {.path = name, .bytes = *text};
	const char *from = strstr(name, ".json") ? "json" : "hbm";
	hbm_imported got;
	hbm_diags d;
	hbm_status st;

	hbm_diags_init(&d, a);
	st = hbm_import_source(a, &d, &src, from, NULL, NULL, &got);
	assert_int_equal(st != HBM_OK, d.n_errors != 0);
	return ir_messages(a, &d, true);
}

static void renew(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static bool check_file(test_room *room, const char *name)
{
	const char *path = golden(&room->arena, name, ".expected"), *got;
	hbm_bytes text, expected;

	assert_int_equal(hbm_file_read(&room->arena, &room->diags,
	                               golden(&room->arena, name, ""), 0, &text),
	                 HBM_OK);
	got = say(&room->arena, name, &text);
	if (getenv("HBM_GOLDEN_UPDATE"))
		renew(path, got);
	assert_int_equal(hbm_file_read(&room->arena, &room->diags, path, 0, &expected),
	                 HBM_OK);
	if (!strcmp(got, expected.data))
		return true;
	print_error("%s: expected\n%sgot\n%s", name, expected.data, got);
	return false;
}

static void test_golden(void **state)
{
	test_room *room = *state;
	const char **names;
	uint32_t n, n_files = 0, n_bad = 0;
	const char *root = getenv("HBM_SOURCE");
	char dir[512];

	assert_non_null(root);
	snprintf(dir, sizeof dir, "%s/tests/golden/ir", root);
	assert_int_equal(hbm_dir_list(&room->arena, &room->diags, dir, &names, &n),
	                 HBM_OK);
	for (uint32_t i = 0; i < n; i++) {
		if (strstr(names[i], ".expected"))
			continue;
		n_files++;
		n_bad += !check_file(room, names[i]);
	}
	assert_true(n_files > 10);
	assert_int_equal(n_bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {ROOM_TEST(test_golden)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
