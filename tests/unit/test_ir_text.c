/* SPDX-License-Identifier: Apache-2.0 */
/* The text form: what each construct means, and that printing is the identity. */
#include "support/ir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static hbm_arena arena;
static hbm_diags diags;

static int setup(void **state)
{
	(void)state;
	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&diags, &arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hbm_arena_fini(&arena);
	return 0;
}

/* Reads a text that must be right. */
static hbm_program read_ok(const char *text)
{
	hbm_program p;

	if (ir_read(&arena, &diags, text, &p) != HBM_OK)
		fail_msg("%s", ir_messages(&arena, &diags, false));
	return p;
}

static const hbm_tensor *tensor(const hbm_program *p, const char *name)
{
	hbm_sym sym = hbm_sym_find(&p->syms, name, strlen(name));

	assert_int_not_equal(sym, HBM_NONE);
	assert_int_not_equal(hbm_find_tensor(p, sym), HBM_NONE);
	return &p->tensors.items[hbm_find_tensor(p, sym)];
}

/* Printing gives `text` again. */
static void expect_same(const char *text)
{
	hbm_program p = read_ok(text);

	assert_string_equal(ir_print(&arena, &p), text);
}

static void test_empty(void **state)
{
	hbm_program p = read_ok("");

	(void)state;
	assert_int_equal(p.tensors.n + p.ops.n + p.nodes.n, 0);
	assert_string_equal(ir_print(&arena, &p), "");
	p = read_ok("# nothing\n;;\n");
	assert_int_equal(p.nodes.n, 0);
}

static void test_tensor_lines(void **state)
{
	(void)state;
	expect_same("input x : f16[512, 1024]\n"
	            "output y : f32\n"
	            "weight w : i4[7]\n"
	            "state kv : bf16[2, 3]\n"
	            "tensor t : 8192 bytes\n"
	            "tensor u : f16[64] size=256\n"
	            "tensor v : [4, 4] size=16\n"
	            "tensor w2\n"
	            "input d : f32[4] output donated zero carried tile host\n"
	            "tensor e : f16[64] device=[1, 64] align=128 pin=0 home=lx "
	            "src=\"model.py:12\" owner=layer0 class=S index my.note=[1, two, "
	            "\"3 4\"]\n");
}

static void test_extents(void **state)
{
	(void)state;
	expect_same("tensor a : f32[n<=32, 1<=m<=9, k>=1, q, ?, ?<=4, 2<=?<=4, r=8]\n"
	            "tensor b : f32[n<=32~2, 64!, 5~4!, q~7, 0]\n");
}

static void test_symbols_take_bounds(void **state)
{
	hbm_program p = read_ok("tensor a : f32[n, 64]\ntensor b : f32[1<=n<=32]\n");
	const hbm_dim *d = &p.dims.items[tensor(&p, "a")->dims.first];

	(void)state;
	assert_int_equal(d->value, 32);
	assert_int_equal(d->min, 1);
	assert_false(d->unknown);
}

static void test_bind(void **state)
{
	static const char text[] = "tensor a : f32[n<=32, n, m]\n";
	hbm_bind binds[] = {{"n", 8}, {"m", 0}};
	hbm_program p;

	(void)state;
	assert_int_equal(
		hbm_text_read(&arena, &diags, "t", text, strlen(text), binds, 2, &p),
		HBM_OK);
	assert_string_equal(ir_print(&arena, &p), "tensor a : f32[n=8, n=8, m=0]\n");
	binds[0].value = 33;
	assert_int_equal(
		hbm_text_read(&arena, &diags, "t", text, strlen(text), binds, 2, &p),
		HBM_SEMANTIC);
	assert_string_equal(ir_messages(&arena, &diags, false),
	                    "1:16: error: 'n' is bound to 33, above its upper bound 32 "
	                    "[HBM0214]\n");
}

static void test_numbers(void **state)
{
	hbm_program p = read_ok("tensor a : 4Ki bytes\ntensor b : 0x1_00 bytes\n"
	                        "tensor c : 1_000 bytes\ntensor d : 2MiB bytes\n"
	                        "tensor e : 18446744073709551615 bytes\n");

	(void)state;
	assert_int_equal(tensor(&p, "a")->size, 4096);
	assert_int_equal(tensor(&p, "b")->size, 256);
	assert_int_equal(tensor(&p, "c")->size, 1000);
	assert_int_equal(tensor(&p, "d")->size, 2 << 20);
	assert_true(tensor(&p, "e")->size == UINT64_MAX);
}

static void test_views(void **state)
{
	hbm_program p;

	(void)state;
	expect_same("tensor s : 1048576 bytes\n"
	            "view v = s + 262144 : 262144 bytes\n"
	            "output w = v : f16[64]\n"
	            "view z = s\n");
	p = read_ok("view w = s output\ntensor s : 4 bytes\n");
	assert_string_equal(ir_print(&arena, &p), "output w = s\ntensor s : 4 bytes\n");
	p = read_ok("view v = s + 4\ntensor s : 8 bytes\n");
	assert_int_equal(tensor(&p, "v")->base, 1);
	assert_int_equal(tensor(&p, "v")->offset, 4);
}

static void test_homes(void **state)
{
	(void)state;
	expect_same("tensor a : 64 bytes @ lx 0\n"
	            "tensor b : 64 bytes @ pool k0 256 size 128\n"
	            "tensor c : 64 bytes @ hbm\n"
	            "tensor d : 64 bytes @ hbm size 128\n"
	            "input e : 64 bytes @ io\n"
	            "\nbundle k0 {\n}\n");
}

static void test_blocks(void **state)
{
	(void)state;
	expect_same("\nbundle k0 {\n"
	            "  op o0: ()\n"
	            "  loop L x4 {\n"
	            "    loop M x? {\n"
	            "      op o1: f()\n"
	            "    }\n"
	            "    op o2: g()\n"
	            "  }\n"
	            "}\n"
	            "\nop o3: h()\n"
	            "op o4: h()\n"
	            "\nregion r {\n"
	            "  parallel p {\n"
	            "  }\n"
	            "}\n"
	            "\nbundle \"\" x.y=1 {\n}\n"
	            "\nloop x4 {\n}\n");
}

static void test_one_line(void **state)
{
	hbm_program p = read_ok("tensor a:4 bytes; bundle k{loop x2{op f(a)->a;op g}}");

	(void)state;
	assert_string_equal(ir_print(&arena, &p),
	                    "tensor a : 4 bytes\n\nbundle k {\n  loop x2 {\n"
	                    "    op f(a) -> a\n    op g()\n  }\n}\n");
}

static void test_op(void **state)
{
	(void)state;
	expect_same(
		"tensor a : 64 bytes\n"
		"tensor b : 64 bytes\n"
		"\nbundle k0 {\n"
		"  op o0: add(a, b) -> a, b kind=fallback inplace(a=b must, b=a keeps) "
		"iter(i=512 split=4, j=1024 reduction stick) cores=4 scratch=64 "
		"src=\"m.py:3\" pointwise lx_fail=2\n"
		"  op o1: f(a, a) -> b inplace(b=$1)\n"
		"  loop L x3 {\n"
		"    loop M x2 {\n"
		"      op (a[0..8, L*8, M*24], b[16..], a[M*32]) -> b[8..16]\n"
		"    }\n"
		"  }\n"
		"}\n");
}

static void test_line_breaks(void **state)
{
	hbm_program p = read_ok("tensor a : f32[\n 1,\n 2\n]\n"
	                        "op add(\n a,\n a[\n0..4\n]\n) -> a,\n a\n");

	(void)state;
	assert_string_equal(ir_print(&arena, &p),
	                    "tensor a : f32[1, 2]\n\nop add(a, a[0..4]) -> a, a\n");
}

static void test_names(void **state)
{
	hbm_program p = read_ok("tensor op : 1 bytes\ntensor \"a b\" : 1 bytes\n"
	                        "tensor a-b.$% : 1 bytes\n"
	                        "tensor \"\\\"\\\\\\n\\t\\x01\\x7f\u00e9\" : 1 bytes\n"
	                        "tensor \"a-\" : 1 bytes\n"
	                        "op op(op)->op\n");

	(void)state;
	assert_string_equal(ir_print(&arena, &p),
	                    "tensor op : 1 bytes\ntensor \"a b\" : 1 bytes\n"
	                    "tensor a-b.$% : 1 bytes\n"
	                    "tensor \"\\\"\\\\\\n\\t\\x01\\x7f\u00e9\" : 1 bytes\n"
	                    "tensor \"a-\" : 1 bytes\n"
	                    "\nop op(op) -> op\n");
}

static void test_header_and_reductions(void **state)
{
	(void)state;
	expect_same("program softmax\n"
	            "target spyre\n\n"
	            "tensor acc : 64 bytes\n\n"
	            "reduction r: fill=o0 combine=o1 drain=o2 acc=acc\n"
	            "reduction :\n");
}

static void test_copy(void **state)
{
	hbm_program p = read_ok("target t\ntensor a : f32[n<=3] class=S\n"
	                        "bundle k { op f(a) -> a iter(i=3) inplace(a=a) }\n"
	                        "reduction r: acc=a\n"),
		    q;
	hbm_arena other;

	(void)state;
	hbm_arena_init(&other, NULL);
	assert_int_equal(hbm_program_copy(&p, &other, &q), HBM_OK);
	assert_null(ir_difference(&p, &q));
	memset(p.tensors.items, 0, p.tensors.n * sizeof *p.tensors.items);
	assert_string_equal(hbm_tensor_name(&q, 0), "a");
	assert_int_not_equal(hbm_add_tensor(&q, hbm_intern_cstr(&q.syms, "b")),
	                     HBM_NONE);
	assert_int_equal(hbm_find_tensor(&q, hbm_intern_cstr(&q.syms, "b")), 1);
	hbm_arena_fini(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
		T(empty),   T(tensor_lines),
		T(extents), T(symbols_take_bounds),
		T(bind),    T(numbers),
		T(views),   T(homes),
		T(blocks),  T(one_line),
		T(op),      T(line_breaks),
		T(names),   T(header_and_reductions),
		T(copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
