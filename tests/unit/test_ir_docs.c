/* SPDX-License-Identifier: Apache-2.0 */
/* The pages say what is so: every program on them is valid, every attribute is on
 * the page of the language, and so is every dtype. */
#include "support/ir.h"
#include "support/test.h"

#include "base/file.h"
#include "import/importer.h"
#include "ir/attrs.h"

static hbm_bytes page(test_room *room, const char *path)
{
	const char *root = getenv("HBM_SOURCE");
	char full[512];
	hbm_bytes text;

	assert_non_null(root);
	snprintf(full, sizeof full, "%s/%s", root, path);
	assert_int_equal(hbm_file_read(&room->arena, &room->diags, full, 0, &text),
	                 HBM_OK);
	return text;
}

static void check_block(test_room *room, const char *path, const char *from,
                        const char *text, size_t n)
{
	hbm_source src = {.path = path};
	hbm_imported got;
	hbm_diags d;

	hbm_diags_init(&d, &room->arena);
	src.bytes = (hbm_bytes){hbm_arena_strndup(&room->arena, text, n), n};
	if (hbm_import_source(&room->arena, &d, &src, from, NULL, NULL, &got) != HBM_OK)
		fail_msg("%s:\n%s\n%s", path, src.bytes.data,
		         ir_messages(&room->arena, &d, true));
}

/* Blocks between ```WORD and ```; returns how many. */
static uint32_t check_blocks(test_room *room, const char *path, const char *word)
{
	hbm_bytes text = page(room, path);
	const char *p = text.data, *end;
	char fence[16];
	uint32_t n = 0;

	snprintf(fence, sizeof fence, "\n```%s\n", word);
	for (; (p = strstr(p, fence)); p = end, n++) {
		p += strlen(fence);
		end = strstr(p, "\n```");
		assert_non_null(end);
		check_block(room, path, word, p, (size_t)(end - p) + 1);
	}
	return n;
}

static void test_programs(void **state)
{
	assert_true(check_blocks(*state, "docs/ir.md", "hbm") > 7);
	assert_int_equal(check_blocks(*state, "docs/ir.md", "json"), 1);
	check_blocks(*state, "README.md", "hbm");
	check_blocks(*state, "docs/planning.md", "hbm");
}

static void test_tables(void **state)
{
	hbm_bytes text = page(*state, "docs/ir.md");
	const hbm_attr_row *rows;
	char word[64];
	uint32_t n;

	rows = hbm_attr_rows(&n);
	for (uint32_t i = 0; i < n; i++) {
		bool flag = rows[i].kind == HBM_ATTR_FLAG;
		snprintf(word, sizeof word, "| `%s%s", rows[i].key, flag ? "`" : "=");
		if (!strstr(text.data, word))
			fail_msg("docs/ir.md lacks the attribute %s", word);
	}
	for (uint32_t i = 0; i < HBM_N_FLAG_WORDS; i++) {
		snprintf(word, sizeof word, "`%s`", hbm_flag_words[i].word);
		assert_non_null(strstr(text.data, word));
	}
	for (uint32_t i = 1; i < HBM_N_DTYPES; i++)
		assert_non_null(strstr(text.data, hbm_dtype_name((hbm_dtype)i)));
	for (int i = 0; i <= HBM_OP_COLLECTIVE; i++) {
		snprintf(word, sizeof word, "| `kind=%s`",
		         hbm_op_kind_name((hbm_op_kind)i));
		assert_non_null(strstr(text.data, word));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {ROOM_TEST(test_programs),
	                                   ROOM_TEST(test_tables)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
