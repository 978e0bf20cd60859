/* SPDX-License-Identifier: Apache-2.0 */
/* Bad and enormous input: always an answer, an error for each refusal, never more
 * than the limit of them. Steps that are not linear would show as a test that does
 * not end. */
#include "support/gen_program.h"
#include "support/ir.h"
#include "support/test.h"

#include "import/importer.h"
#include "ir/validate.h"

static const char everything[] =
	"program \"all of it\"\ntarget toy\n"
	"input x : f16[n<=32, 64!, 2<=?<=4~3] donated src=\"m.py:1\" note.a=[1, b]\n"
	"weight w : 4Ki bytes align=128\nstate s : f32[k=4] size=0x40\n"
	"tensor t : 64 bytes tile device=[1, 2, 64] class=S index home=pool pin=0\n"
	"view v = w + 128 : f32[8]\noutput y = x @ io\ntensor c : 8 bytes carried\n"
	"bundle k0 my.note {\n  op o0: f(x[0..8], w) -> c, s inplace(s=w keeps) "
        "cores=2\n"
	"  loop L x4 {\n    op g(x) -> t[L*64] kind=dma iter(i=4 split=2 stick)\n"
	"    loop M x? { region { parallel p { op h(v, c[4..]) -> c pointwise } } }\n"
	"  }\n}\nop \"odd name\": (y)\nreduction r: fill=o0 acc=c\n";

/* Reads n bytes of text (a copy, so that reading beyond it is seen) and checks
 * that errors and status belong together. */
static hbm_status read_any(const char *text, size_t n, hbm_diags *d, hbm_arena *a)
{
	char *copy = malloc(n + 1);
	hbm_program p;
	hbm_status st;

	assert_non_null(copy);
	memcpy(copy, text, n);
	copy[n] = '\0';
	hbm_diags_init(d, a);
	st = hbm_text_read(a, d, "t", copy, n, NULL, 0, &p);
	if (st == HBM_OK)
		st = hbm_validate(&p, d);
	assert_int_equal(st != HBM_OK, d->n_errors != 0);
	assert_true(d->n_errors <= HBM_MAX_ERRORS && st != HBM_NOMEM &&
	            st != HBM_USAGE);
	free(copy);
	return st;
}

static hbm_status read_once(const char *text, size_t n)
{
	hbm_arena a;
	hbm_diags d;
	hbm_status st;

	hbm_arena_init(&a, NULL);
	st = read_any(text, n, &d, &a);
	hbm_arena_fini(&a);
	return st;
}

static void test_whole(void **state)
{
	test_room *room = *state;

	if (read_any(everything, strlen(everything), &room->diags, &room->arena))
		fail_msg("%s", ir_messages(&room->arena, &room->diags, true));
}

static void test_truncated(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof everything; n++)
		read_once(everything, n);
}

static void test_mutated(void **state)
{
	uint64_t rng = 1;
	char text[sizeof everything];
	size_t n = strlen(everything);

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		memcpy(text, everything, sizeof everything);
		for (uint64_t k = 1 + gen_below(&rng, 3); k--;)
			text[gen_below(&rng, n)] = (char)gen_random(&rng);
		read_once(text, n);
	}
}

/* `unit` again and again. */
static hbm_status read_many(const char *unit, size_t bytes)
{
	size_t k = strlen(unit), n = bytes / k * k;
	char *text = malloc(n + 1);
	hbm_status st;

	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		text[i] = unit[i % k];
	st = read_once(text, n);
	free(text);
	return st;
}

static void test_large_junk(void **state)
{
	static const char *const bad[] = {
		"(",          "[",         "{",
		"}",          ")",         "\"",
		"{\n",        "}\n",       "bundle ",
		"loop x2 {",  "x.",        "op f(",
		"tensor a[",  "-> ",       "op f(\n",
		"\xff",       "1",         "tensor a : f32[1,",
		"\\",         "inplace(",  "@",
		"region {\n", "view a = ", "op a: b(c[L*",
		"\x01\x02\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_not_equal(read_many(bad[i], 1 << 20), HBM_OK);
	assert_int_equal(read_many("\n", 1 << 20), HBM_OK);
	assert_int_equal(read_many(";#\n \t\r", 1 << 20), HBM_OK);
	assert_int_equal(read_many("op f()\n", 1 << 20), HBM_OK);
	assert_int_equal(read_many("bundle { loop x2 { } }\n", 1 << 20), HBM_OK);
}

/* A program written piece by piece. */
typedef struct writer {
	hbm_arena arena;
	hbm_membuf buf;
	hbm_out out;
} writer;

static hbm_out *begin(writer *t)
{
	hbm_arena_init(&t->arena, NULL);
	t->buf = (hbm_membuf){.arena = &t->arena};
	hbm_out_init(&t->out, hbm_membuf_write, &t->buf);
	return &t->out;
}

static hbm_status end(writer *t, uint32_t *ret_errors)
{
	hbm_diags d;
	hbm_status st;

	assert_int_equal(hbm_out_finish(&t->out), HBM_OK);
	st = read_any(t->buf.bytes.items, t->buf.bytes.n, &d, &t->arena);
	if (ret_errors)
		*ret_errors = d.n_errors;
	hbm_arena_fini(&t->arena);
	return st;
}

static hbm_status name_of(uint32_t n, bool quoted)
{
	writer t;
	hbm_out *o = begin(&t);

	hbm_puts(o, quoted ? "tensor \"" : "tensor ");
	while (n--)
		hbm_putc(o, 'a');
	hbm_puts(o, quoted ? "\" : 4 bytes" : " : 4 bytes");
	return end(&t, NULL);
}

static void test_long_names(void **state)
{
	(void)state;
	for (int quoted = 0; quoted < 2; quoted++) {
		assert_int_equal(name_of(1 << 16, quoted), HBM_OK);
		assert_int_not_equal(name_of((1 << 16) + 1, quoted), HBM_OK);
	}
}

static hbm_status nested(uint32_t depth)
{
	writer t;
	hbm_out *o = begin(&t);

	for (uint32_t i = 0; i < depth; i++)
		hbm_puts(o, "region {\n");
	for (uint32_t i = 0; i < depth; i++)
		hbm_puts(o, "}\n");
	return end(&t, NULL);
}

static void test_nesting(void **state)
{
	(void)state;
	assert_int_equal(nested(HBM_MAX_DEPTH), HBM_OK);
	assert_int_equal(nested(HBM_MAX_DEPTH + 1), HBM_LIMIT);
	assert_int_equal(nested(100000), HBM_LIMIT);
}

static void test_many_errors(void **state)
{
	uint32_t n_errors;
	writer t;
	hbm_out *o = begin(&t);

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		hbm_putf(o, "tensor some_longer_name_%u : 4 bytes\n", i);
	for (uint32_t i = 0; i < 100000; i++)
		hbm_putf(o, "op f(some_longer_nome_%u)\n", i);
	assert_int_equal(end(&t, &n_errors), HBM_SEMANTIC);
	assert_int_equal(n_errors, HBM_MAX_ERRORS);
}

static void test_long_chains(void **state)
{
	enum { N = 100000 };
	uint32_t n_errors;
	writer t;
	hbm_out *o = begin(&t);

	(void)state;
	for (uint32_t i = 0; i < N; i++) /* forward: the base comes last */
		hbm_putf(o, "view v%u = v%u\n", i, i + 1);
	hbm_putf(o, "input v%u : 64 bytes\nop f(v0) -> y\noutput y : 64 bytes\n",
	         (unsigned)N);
	assert_int_equal(end(&t, NULL), HBM_OK);
	o = begin(&t);
	for (uint32_t i = 0; i < N; i++)
		hbm_putf(o, "view v%u = v%u\n", i, (i + 1) % N);
	assert_int_equal(end(&t, &n_errors), HBM_SEMANTIC);
	assert_int_equal(n_errors, 1);
}

static void test_wide_op(void **state)
{
	enum { N = 20000 };
	writer t;
	hbm_out *o = begin(&t);

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		hbm_putf(o, "input a%u : 4 bytes\ntensor b%u : 4 bytes\n", i, i);
	for (uint32_t i = 0; i < N; i++)
		hbm_putf(o, "%s a%u", i ? "," : "op f(", i);
	for (uint32_t i = 0; i < N; i++)
		hbm_putf(o, "%s b%u", i ? "," : ") ->", i);
	for (uint32_t i = 0; i < N; i++)
		hbm_putf(o, "%s b%u=a%u", i ? "," : " inplace(", i, N - 1 - i);
	hbm_puts(o, ")\n");
	assert_int_equal(end(&t, NULL), HBM_OK);
}

/* ---- JSON ---------------------------------------------------------------- */

static hbm_status read_json(const char *text, size_t n)
{
	hbm_source src = {.path = "t"};
	char *copy = malloc(n + 1);
	hbm_imported got;
	hbm_arena a;
	hbm_diags d;
	hbm_status st;

	assert_non_null(copy);
	memcpy(copy, text, n);
	copy[n] = '\0';
	src.bytes = (hbm_bytes){copy, n};
	hbm_arena_init(&a, NULL);
	hbm_diags_init(&d, &a);
	st = hbm_import_source(&a, &d, &src, "json", NULL, NULL, &got);
	assert_int_equal(st != HBM_OK, d.n_errors != 0);
	hbm_arena_fini(&a);
	free(copy);
	return st;
}

static void test_json(void **state)
{
	test_room *room = *state;
	uint64_t rng = 1;
	hbm_program p;
	char *text;
	size_t n;

#if !HBM_HAVE_JANSSON
	skip();
#endif
	assert_int_equal(ir_read(&room->arena, &room->diags, everything, &p), HBM_OK);
	assert_int_equal(hbm_validate(&p, &room->diags), HBM_OK);
	text = ir_print_json(&room->arena, &p);
	n = strlen(text);
	assert_int_equal(read_json(text, n), HBM_OK);
	for (size_t i = 0; i + 2 < n; i++)
		assert_int_not_equal(read_json(text, i), HBM_OK);
	for (uint32_t i = 0; i < 5000; i++) {
		char *copy = hbm_arena_strndup(&room->arena, text, n);
		for (uint64_t k = 1 + gen_below(&rng, 3); k--;)
			copy[gen_below(&rng, n)] = (char)gen_random(&rng);
		read_json(copy, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(test_whole),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_mutated),
		cmocka_unit_test(test_large_junk),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_many_errors),
		cmocka_unit_test(test_long_chains),
		cmocka_unit_test(test_wide_op),
		ROOM_TEST(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
