/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "base/ckd.h"
#include "base/map.h"
#include "base/out.h"

/* ---- checked arithmetic ---------------------------------------------------- */

static void arithmetic_stops_at_64_bits(void **state)
{
	uint64_t v = 7;

	(void)state;
	assert_true(hbm_add(UINT64_MAX - 1, 1, &v));
	assert_true(v == UINT64_MAX);
	assert_false(hbm_add(UINT64_MAX, 1, &v));
	assert_true(hbm_mul((uint64_t)1 << 32, ((uint64_t)1 << 32) - 1, &v));
	assert_false(hbm_mul((uint64_t)1 << 32, (uint64_t)1 << 32, &v));
	assert_true(hbm_mul(0, UINT64_MAX, &v) && v == 0);
	assert_true(hbm_align_up(129, 128, &v) && v == 256);
	assert_true(hbm_align_up(128, 128, &v) && v == 128);
	assert_true(hbm_align_up(10, 3, &v) && v == 12);
	assert_false(hbm_align_up(UINT64_MAX - 1, 128, &v));
	assert_true(v == 12);
	assert_true(hbm_add_sat(UINT64_MAX, 5) == UINT64_MAX);
	assert_true(hbm_mul_sat(UINT64_MAX, 2) == UINT64_MAX);
	assert_true(hbm_mul_sat(0, UINT64_MAX) == 0);
}

/* ---- arena ----------------------------------------------------------------- */

static void arena_blocks_are_aligned_and_apart(void **state)
{
	test_room *r = *state;
	unsigned char *p[200];

	for (size_t i = 0; i < 200; i++) {
		p[i] = hbm_arena_alloc(&r->arena, i * 131);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], (int)i, i * 131);
	}
	for (size_t i = 0; i < 200; i++)
		for (size_t k = 0; k < i * 131; k++)
			assert_int_equal(p[i][k], i);
}

static void arena_refuses_absurd_sizes(void **state)
{
	test_room *r = *state;

	assert_null(hbm_arena_alloc(&r->arena, SIZE_MAX));
	assert_null(hbm_arena_alloc(&r->arena, PTRDIFF_MAX));
	assert_null(hbm_arena_array(&r->arena, SIZE_MAX / 2, 3));
	assert_null(hbm_arena_zalloc(&r->arena, SIZE_MAX, 16));
	assert_null(hbm_arena_strndup(&r->arena, "", SIZE_MAX));
	assert_true(r->arena.in_use == 0);
}

/* A vector that grows by doubling gives its old blocks back. */
static void arena_gives_grown_arrays_back(void **state)
{
	test_room *r = *state;
	HBM_VEC(uint64_t) v = {0};

	for (uint64_t i = 0; i < 100000; i++)
		assert_true(HBM_PUSH(&r->arena, &v, i));
	for (uint64_t i = 0; i < 100000; i++)
		assert_true(v.items[i] == i);
	assert_true(r->arena.in_use < 131072 * 8 + 3 * 65536);
	assert_true(r->arena.peak >= r->arena.in_use);
	hbm_arena_fini(&r->arena);
	assert_true(r->arena.in_use == 0);
	assert_non_null(hbm_arena_alloc(&r->arena, 1)); /* can be used again */
}

static void arena_grows_between_small_and_large(void **state)
{
	test_room *r = *state;
	size_t n = 1;
	char *p = hbm_arena_alloc(&r->arena, n);

	*p = 'x';
	for (; n < 1 << 20; n *= 2) {
		p = hbm_arena_grow(&r->arena, p, n, n * 2);
		assert_non_null(p);
		assert_int_equal(p[0], 'x');
		memset(p, 'x', n * 2);
	}
	p = hbm_arena_grow(&r->arena, p, n, 10);
	assert_memory_equal(p, "xxxxxxxxxx", 10);
}

static void vector_ends_below_2_32(void **state)
{
	test_room *r = *state;
	HBM_VEC(char) v = {0};

	v.n = v.cap = UINT32_MAX - 1;
	assert_false(HBM_PUSH(&r->arena, &v, 'x'));
	v.n = v.cap = 0;
	assert_false(HBM_RESERVE(&r->arena, &v, UINT64_MAX));
	assert_false(HBM_RESERVE(&r->arena, &v, UINT32_MAX));
}

/* ---- strings and map ------------------------------------------------------- */

static void equal_strings_have_equal_ids(void **state)
{
	test_room *r = *state;
	hbm_syms t;
	hbm_sym ids[5000];
	char name[16];

	assert_int_equal(hbm_syms_init(&t, &r->arena), HBM_OK);
	assert_int_equal(hbm_intern_cstr(&t, ""), 0);
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof name, "t%u", i);
		ids[i] = hbm_intern_cstr(&t, name);
		assert_int_equal(ids[i], i + 1);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof name, "t%u", i);
		assert_int_equal(hbm_sym_find(&t, name, strlen(name)), ids[i]);
		assert_string_equal(hbm_sym_str(&t, ids[i]), name);
		assert_int_equal(hbm_sym_len(&t, ids[i]), strlen(name));
	}
	assert_int_equal(hbm_sym_find(&t, "t5000", 5), HBM_NONE);
	assert_string_equal(hbm_sym_str(&t, HBM_NONE), "");
}

/* Strings are bytes with a length, not C strings. */
static void strings_with_zero_bytes(void **state)
{
	test_room *r = *state;
	hbm_syms t;

	assert_int_equal(hbm_syms_init(&t, &r->arena), HBM_OK);
	assert_int_not_equal(hbm_intern(&t, "a\0b", 3), hbm_intern(&t, "a\0c", 3));
	assert_int_not_equal(hbm_intern(&t, "a", 1), hbm_intern(&t, "a\0", 2));
}

static void map_keeps_all_keys(void **state)
{
	test_room *r = *state;
	hbm_map m;

	hbm_map_init(&m, &r->arena);
	assert_int_equal(hbm_map_get(&m, 0), HBM_NONE);
	for (uint64_t i = 0; i < 10000; i++)
		assert_true(hbm_map_set(&m, i * 0x9e3779b97f4a7c15u, (uint32_t)i));
	assert_true(hbm_map_set(&m, UINT64_MAX, 1));
	assert_true(hbm_map_set(&m, UINT64_MAX, 2));
	assert_int_equal(m.n, 10001);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(hbm_map_get(&m, i * 0x9e3779b97f4a7c15u), i);
	assert_int_equal(hbm_map_get(&m, UINT64_MAX), 2);
	assert_int_equal(hbm_map_get(&m, 12345), HBM_NONE);
}

static void edit_distances(void **state)
{
	char longer[100];

	(void)state;
	assert_int_equal(hbm_edit_distance("", "", 3), 0);
	assert_int_equal(hbm_edit_distance("kitten", "sitting", 3), 3);
	assert_int_equal(hbm_edit_distance("kitten", "sitting", 2), 3);
	assert_int_equal(hbm_edit_distance("abc", "", 9), 3);
	memset(longer, 'a', 99);
	longer[99] = '\0';
	assert_int_equal(hbm_edit_distance(longer, longer, 3), 4);
}

/* ---- diagnostics ----------------------------------------------------------- */

static void codes_ascend_and_can_be_found(void **state)
{
	uint32_t n;
	const hbm_code_info *codes = hbm_codes(&n);

	(void)state;
	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			assert_true(codes[i - 1].code < codes[i].code);
		assert_ptr_equal(hbm_code_find((uint32_t)codes[i].code), &codes[i]);
		assert_true(*codes[i].title && *codes[i].cause && *codes[i].cure);
	}
	assert_null(hbm_code_find(0));
	assert_string_equal(hbm_status_text(HBM_OK), "success");
	assert_string_equal(hbm_status_text((hbm_status)9999), "unknown status");
}

static void messages_carry_their_place(void **state)
{
	test_room *r = *state;
	const char *text = "line one\nline two\n";
	hbm_where where = {.file = "f", .line = 2, .col = 6, .len = 3,
	                   .text = text + 9};

	assert_int_equal(
		hbm_fail(&r->diags, HBM_SYNTAX, HBM_E_SYNTAX, where, "no %s", "x"),
		HBM_SYNTAX);
	hbm_note(&r->diags, HBM_NOWHERE, "note");
	assert_string_equal(messages(&r->arena, &r->diags),
	                    "f:2:6: error: no x [HBM0100]\nnote: note\n");
	assert_string_equal(r->diags.list.items[0].source, "line two");
	assert_int_equal(r->diags.list.items[0].len, 3);
	where = (hbm_where){.file = "f", .line = 2, .col = 1, .input = text};
	hbm_note(&r->diags, where, "found by its number");
	assert_string_equal(r->diags.list.items[2].source, "line two");
	assert_int_equal(hbm_fail(NULL, HBM_IO, HBM_E_IO, where, "heard by nobody"),
	                 HBM_IO);
}

/* Errors beyond the limit are counted, and their notes go with them. */
static void long_lists_of_errors_end(void **state)
{
	test_room *r = *state;

	r->diags.max_errors = 2;
	for (int i = 0; i < 5; i++) {
		hbm_fail(&r->diags, HBM_SYNTAX, HBM_E_SYNTAX, HBM_NOWHERE, "e%d", i);
		hbm_note(&r->diags, HBM_NOWHERE, "n%d", i);
	}
	assert_string_equal(messages(&r->arena, &r->diags),
	                    "error: e0 [HBM0100]\nnote: n0\n"
	                    "error: e1 [HBM0100]\nnote: n1\n");
	assert_int_equal(r->diags.n_dropped, 3);
	assert_true(hbm_diags_full(&r->diags));
	assert_true(hbm_warn(&r->diags, HBM_E_NONE, HBM_NOWHERE, "warning"));
	hbm_note(&r->diags, HBM_NOWHERE, "of the warning");
	expect_message(&r->diags, HBM_E_NONE, "of the warning");
}

/* ---- output ---------------------------------------------------------------- */

typedef struct paper {
	hbm_membuf buf;
	hbm_out out;
} paper;

static paper *paper_new(test_room *r)
{
	paper *p = HBM_NEW(&r->arena, paper);

	assert_non_null(p);
	p->buf.arena = &r->arena;
	hbm_out_init(&p->out, hbm_membuf_write, &p->buf);
	return p;
}

static const char *written(paper *p)
{
	assert_int_equal(hbm_out_finish(&p->out), HBM_OK);
	return p->buf.bytes.n ? p->buf.bytes.items : "";
}

static void output_formats(void **state)
{
	paper *p = paper_new(*state);

	hbm_putf(&p->out, "%s|%5s|%-5s|%c|%d|%3u|%04x|%%|", "s", "ab", "ab", 'c', -5,
	         7u, 0x2au);
	hbm_putf(&p->out, "%llu|%zu|%jd|%ld", 18446744073709551615ull, (size_t)3,
	         (intmax_t)-9, -1L);
	hbm_putc(&p->out, '|');
	hbm_putu(&p->out, UINT64_MAX);
	assert_string_equal(written(p), "s|   ab|ab   |c|-5|  7|002a|%|"
	                                "18446744073709551615|3|-9|-1|"
	                                "18446744073709551615");
}

static void output_larger_than_its_buffer(void **state)
{
	paper *p = paper_new(*state);
	static char big[10000];

	memset(big, 'b', sizeof big - 1);
	hbm_puts(&p->out, "start ");
	hbm_puts(&p->out, big);
	hbm_puts(&p->out, " end");
	assert_int_equal(strlen(written(p)), 6 + 9999 + 4);
	assert_memory_equal(p->buf.bytes.items, "start bbb", 9);
	assert_string_equal(p->buf.bytes.items + 6 + 9999, " end");
}

static bool write_once(void *user, const void *bytes, size_t n)
{
	int *calls = user;

	(void)bytes;
	(void)n;
	return (*calls)++ == 0;
}

/* The first failure sticks, and nothing is written after it. */
static void output_fails_for_good(void **state)
{
	static char big[5000];
	hbm_out out;
	int calls = 0;

	(void)state;
	memset(big, 'b', sizeof big - 1);
	hbm_out_init(&out, write_once, &calls);
	for (int i = 0; i < 5; i++)
		hbm_puts(&out, big);
	assert_int_equal(hbm_out_finish(&out), HBM_IO);
	assert_int_equal(calls, 2);
}

static void sizes_for_people(void **state)
{
	char buf[HBM_SIZE_TEXT];
	paper *p = paper_new(*state);

	assert_string_equal(hbm_size_text(buf, 0), "0 B");
	assert_string_equal(hbm_size_text(buf, 1023), "1023 B");
	assert_string_equal(hbm_size_text(buf, 1024), "1.00 KiB");
	assert_string_equal(hbm_size_text(buf, 1625344), "1.55 MiB");
	assert_string_equal(hbm_size_text(buf, UINT64_MAX), "15.99 EiB");
	hbm_put_bytes(&p->out, 999);
	hbm_putc(&p->out, '|');
	hbm_put_bytes(&p->out, 15032385536u);
	assert_string_equal(written(p), "999 B|15,032,385,536 B (14.00 GiB)");
}

static void json_in_both_shapes(void **state)
{
	paper *p = paper_new(*state);
	hbm_json j;

	hbm_json_init(&j, &p->out);
	hbm_json_open(&j, '{', false);
	hbm_json_kuint(&j, "n", ((uint64_t)1 << 53) - 1);
	hbm_json_kuint(&j, "big", (uint64_t)1 << 53);
	hbm_json_kstr(&j, "s", "a\"\\\n\t\x7f");
	hbm_json_kstr(&j, "none", NULL);
	hbm_json_kbool(&j, "yes", true);
	hbm_json_key(&j, "list");
	hbm_json_open(&j, '[', true);
	hbm_json_int(&j, INT64_MIN);
	hbm_json_open(&j, '{', false);
	hbm_json_kuint(&j, "k", 1);
	hbm_json_close(&j);
	hbm_json_close(&j);
	hbm_json_key(&j, "empty");
	hbm_json_open(&j, '{', false);
	hbm_json_close(&j);
	hbm_json_close(&j);
	assert_string_equal(written(p),
	                    "{\n"
	                    "  \"n\": 9007199254740991,\n"
	                    "  \"big\": \"9007199254740992\",\n"
	                    "  \"s\": \"a\\\"\\\\\\n\\u0009\\u007f\",\n"
	                    "  \"none\": null,\n"
	                    "  \"yes\": true,\n"
	                    "  \"list\": [-9223372036854775808, {\"k\": 1}],\n"
	                    "  \"empty\": {}\n"
	                    "}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_stops_at_64_bits),
		ROOM_TEST(arena_blocks_are_aligned_and_apart),
		ROOM_TEST(arena_refuses_absurd_sizes),
		ROOM_TEST(arena_gives_grown_arrays_back),
		ROOM_TEST(arena_grows_between_small_and_large),
		ROOM_TEST(vector_ends_below_2_32),
		ROOM_TEST(equal_strings_have_equal_ids),
		ROOM_TEST(strings_with_zero_bytes),
		ROOM_TEST(map_keeps_all_keys),
		cmocka_unit_test(edit_distances),
		cmocka_unit_test(codes_ascend_and_can_be_found),
		ROOM_TEST(messages_carry_their_place),
		ROOM_TEST(long_lists_of_errors_end),
		ROOM_TEST(output_formats),
		ROOM_TEST(output_larger_than_its_buffer),
		cmocka_unit_test(output_fails_for_good),
		ROOM_TEST(sizes_for_people),
		ROOM_TEST(json_in_both_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
