/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made by hand: builders, look-ups, sizes, and what the validator says of
 * programs that no file could hold. */
#include "support/ir.h"
#include "support/test.h"

#include "ir/attrs.h"
#include "ir/size.h"
#include "ir/validate.h"

static hbm_sym sym(hbm_program *p, const char *s)
{
	return hbm_intern_cstr(&p->syms, s);
}

static hbm_tensor_id add(hbm_program *p, const char *name, uint64_t size)
{
	hbm_tensor_id t = hbm_add_tensor(p, sym(p, name));

	assert_int_not_equal(t, HBM_NONE);
	p->tensors.items[t].size = size;
	p->tensors.items[t].flags = HBM_T_SIZED | HBM_T_INPUT;
	return t;
}

static hbm_program empty(test_room *room)
{
	hbm_program p;

	assert_int_equal(hbm_program_init(&p, &room->arena), HBM_OK);
	return p;
}

/* ---- building -------------------------------------------------------------- */

static void test_spans_grow_in_any_order(void **state)
{
	hbm_program p = empty(*state);
	hbm_span a = {0, 0}, b = {0, 0}, attrs[2] = {{0, 0}, {0, 0}};

	for (uint64_t i = 0; i < 50; i++) {
		assert_true(hbm_add_dim(&p, &a, (hbm_dim){.value = i}));
		assert_true(hbm_add_dim(&p, &b, (hbm_dim){.value = 100 + i}));
		assert_true(hbm_add_attr_num(&p, &attrs[i % 2], "lx_fail", i));
	}
	assert_int_equal(a.n, 50);
	assert_int_equal(b.n, 50);
	assert_int_equal(attrs[1].n, 25);
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(p.dims.items[a.first + i].value, i);
		assert_int_equal(p.dims.items[b.first + i].value, 100 + i);
	}
}

static void test_operands_in_any_order(void **state)
{
	hbm_program p = empty(*state);
	hbm_tensor_id t[3];
	hbm_op_id a, b;

	for (uint32_t i = 0; i < 3; i++) {
		char name[2] = {(char)('t' + i), '\0'};
		t[i] = add(&p, name, 4);
	}
	a = hbm_add_op(&p, HBM_NONE, HBM_OP_COMPUTE, 0, sym(&p, "f"));
	assert_true(hbm_add_write(&p, a, t[0]) && hbm_add_read(&p, a, t[1]));
	assert_true(hbm_add_write(&p, a, t[2]) && hbm_add_read(&p, a, t[2]));
	b = hbm_add_op(&p, HBM_NONE, HBM_OP_COMPUTE, 0, sym(&p, "g"));
	assert_true(hbm_add_read(&p, b, t[0]) && hbm_add_read(&p, a, t[0]));
	for (uint32_t i = 0; i < 3; i++)
		p.tensors.items[t[i]].flags |= HBM_T_DONATED;
	assert_int_equal(hbm_validate(&p, NULL), HBM_OK);
	assert_string_equal(ir_print(p.arena, &p),
	                    "input t : 4 bytes donated\ninput u : 4 bytes donated\n"
	                    "input v : 4 bytes donated\n\nop o0: f(u, v, t) -> t, v\n"
	                    "op o1: g(t)\n");
}

static void test_attributes(void **state)
{
	hbm_program p = empty(*state);
	hbm_span attrs = {0, 0};

	assert_true(hbm_add_attr_flag(&p, &attrs, "pointwise"));
	assert_true(hbm_add_attr_num(&p, &attrs, "lx_fail", 7));
	assert_true(hbm_add_attr_str(&p, &attrs, "class", "S"));
	assert_true(hbm_has_attr(&p, attrs, "pointwise"));
	assert_false(hbm_has_attr(&p, attrs, "matmul"));
	assert_int_equal(hbm_attr_num(&p, attrs, "lx_fail", 1), 7);
	assert_int_equal(hbm_attr_num(&p, attrs, "class", 1), 1);
	assert_int_equal(hbm_attr_num(&p, attrs, "pointwise", 2), 2);
	assert_int_equal(hbm_attr_num(&p, attrs, "nothing", 3), 3);
	assert_false(hbm_has_attr(&p, (hbm_span){0, 0}, "pointwise"));
}

static void test_looking(void **state)
{
	hbm_program p = empty(*state);
	hbm_tensor_id s = add(&p, "s", 100), v = add(&p, "v", 8), w = add(&p, "w", 4);
	hbm_node_id k = hbm_open_node(&p, HBM_NODE_BUNDLE, sym(&p, "k"), HBM_NONE);
	hbm_node_id l = hbm_open_node(&p, HBM_NODE_LOOP, sym(&p, "L"), k);
	hbm_op_id op = hbm_add_op(&p, l, HBM_OP_COMPUTE, 0, sym(&p, "f"));
	uint64_t offset = 0;

	hbm_close_node(&p, l);
	hbm_close_node(&p, k);
	p.tensors.items[v].base = s;
	p.tensors.items[v].offset = 40;
	p.tensors.items[w].base = v;
	p.tensors.items[w].offset = 2;
	assert_int_equal(hbm_view_root(&p, w, &offset), s);
	assert_int_equal(offset, 42);
	assert_int_equal(hbm_view_root(&p, s, NULL), s);
	assert_int_equal(hbm_bundle_of(&p, p.ops.items[op].node), k);
	assert_int_equal(hbm_bundle_of(&p, HBM_NONE), HBM_NONE);
	assert_string_equal(hbm_op_name(&p, op), "f");
	assert_int_equal(hbm_find_tensor(&p, sym(&p, "none")), HBM_NONE);
	assert_int_equal(hbm_dtype_find("f16", 3), HBM_DT_f16);
	assert_int_equal(hbm_dtype_find("f1", 2), HBM_DT_none);
	assert_int_equal(hbm_dtype_find("", 0), HBM_DT_none);
	assert_string_equal(hbm_dtype_name(HBM_DT_f8e4m3), "f8e4m3");
	assert_int_equal(hbm_dtype_bits(HBM_DT_i4), 4);
}

/* ---- sizes ------------------------------------------------------------------- */

static hbm_sizing size_of(test_room *room, const char *text, uint64_t *ret)
{
	hbm_program p;

	assert_int_equal(ir_read(&room->arena, &room->diags, text, &p), HBM_OK);
	return hbm_tensor_natural_size(&p, 0, 0, 0, ret);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		hbm_sizing sizing;
		uint64_t bytes;
	} cases[] = {
		{"tensor t : f16[3, 5]", HBM_SIZING_KNOWN, 30},
		{"tensor t : i4[3]", HBM_SIZING_KNOWN, 2},
		{"tensor t : i2[9]", HBM_SIZING_KNOWN, 3},
		{"tensor t : f32", HBM_SIZING_KNOWN, 4},
		{"tensor t : f32[n<=32, 64]", HBM_SIZING_KNOWN, 8192},
		{"tensor t : f32[0<=n<=32, 64]", HBM_SIZING_KNOWN, 8192},
		{"tensor t : f32[n>=1, 64]", HBM_SIZING_DYNAMIC, 0},
		{"tensor t : f32[n~2, 64]", HBM_SIZING_DYNAMIC, 0},
		{"tensor t : f32[n, 64] size=512", HBM_SIZING_KNOWN, 512},
		{"tensor t : f16[512, 100] device=[2, 512, 64]", HBM_SIZING_KNOWN,
	         131072},
		{"tensor t : f16[4] device=[?, 64]", HBM_SIZING_DYNAMIC, 0},
		{"tensor t : u8[3, 1073741824]", HBM_SIZING_KNOWN, 3221225472},
		{"tensor t : u8[65536, 65536]", HBM_SIZING_KNOWN, 4294967296},
		{"tensor t : u8[4611686018427387904]", HBM_SIZING_KNOWN, HBM_MAX_BYTES},
		{"tensor t : u8[4611686018427387905]", HBM_SIZING_OVERFLOW, 0},
		{"tensor t : c128[18446744073709551615, 2]", HBM_SIZING_OVERFLOW, 0},
		{"tensor t : c128[18446744073709551615, 0, 9]", HBM_SIZING_KNOWN, 0},
		{"tensor t", HBM_SIZING_NONE, 0},
		{"tensor t : [4, 4]", HBM_SIZING_NONE, 0},
		{"view t = b + 24\ntensor b : 64 bytes", HBM_SIZING_KNOWN, 40},
		{"view t = b + 24 : f32[2]\ntensor b : 64 bytes", HBM_SIZING_KNOWN, 8},
		{"view t = b + 24\nview b = c + 8\ntensor c : 64 bytes",
	         HBM_SIZING_KNOWN, 32},
		{"view t = b + 65\ntensor b : 64 bytes", HBM_SIZING_NONE, 0},
		{"view t = b\ntensor b : f32[?]", HBM_SIZING_DYNAMIC, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t bytes = 0;
		hbm_sizing got = size_of(*state, cases[i].text, &bytes);
		if (got != cases[i].sizing || bytes != cases[i].bytes)
			fail_msg("%s: %d, %llu bytes", cases[i].text, (int)got,
			         (unsigned long long)bytes);
	}
}

/* A target may keep elements in other slots, and have other sticks. */
static void test_sizes_by_target(void **state)
{
	test_room *room = *state;
	hbm_program p;
	uint64_t bytes = 0;

	assert_int_equal(ir_read(&room->arena, &room->diags,
	                         "tensor a : i64[10]\ntensor b : f16 device=[3, 64]",
	                         &p),
	                 HBM_OK);
	assert_int_equal(hbm_tensor_natural_size(&p, 0, 32, 0, &bytes),
	                 HBM_SIZING_KNOWN);
	assert_int_equal(bytes, 40);
	assert_int_equal(hbm_tensor_natural_size(&p, 1, 0, 64, &bytes),
	                 HBM_SIZING_KNOWN);
	assert_int_equal(bytes, 192);
}

/* ---- validating what is made by hand -------------------------------------------- */

static void test_names_are_given(void **state)
{
	test_room *room = *state;
	hbm_program p;

	assert_int_equal(ir_read(&room->arena, &room->diags,
	                         "bundle { op f(); op o3: g(); op h() }\n"
	                         "bundle k0 { loop x2 { loop x2 { op f() } }\n"
	                         "region { parallel { } } }\nbundle { }\n",
	                         &p),
	                 HBM_OK);
	assert_int_equal(hbm_validate(&p, &room->diags), HBM_OK);
	assert_string_equal(
		ir_print(&room->arena, &p),
		"\nbundle k0_ {\n  op o0: f()\n  op o3: g()\n  op o2: h()\n}\n"
		"\nbundle k0 {\n  loop L0 x2 {\n    loop L1 x2 {\n"
		"      op o3_: f()\n    }\n  }\n  region r0 {\n"
		"    parallel p0 {\n    }\n  }\n}\n\nbundle k2 {\n}\n");
}

/* Validates and gives what was said. */
static const char *said(test_room *room, hbm_program *p, hbm_status want)
{
	hbm_diags_init(&room->diags, &room->arena);
	assert_int_equal(hbm_validate(p, &room->diags), want);
	return ir_messages(&room->arena, &room->diags, false);
}

static void test_malformed(void **state)
{
	test_room *room = *state;
	hbm_program p = empty(room);
	hbm_tensor_id t = add(&p, "t", 4);
	hbm_op_id op = hbm_add_op(&p, HBM_NONE, HBM_OP_COMPUTE, 0, 0);

	assert_true(hbm_add_read(&p, op, t));
	assert_int_equal(hbm_validate(&p, NULL), HBM_OK);
	p.operands.items[0].tensor = 9;
	assert_string_equal(
		said(room, &p, HBM_USAGE),
		"-: error: operand 0 of the program is malformed [HBM0215]\n");
	p.operands.items[0].tensor = t;
	p.tensors.items[t].base = 7;
	assert_string_equal(
		said(room, &p, HBM_USAGE),
		"-: error: tensor 0 of the program is malformed [HBM0215]\n");
	p.tensors.items[t].base = HBM_NONE;
	p.nodes.items[0].end = 5;
	assert_string_equal(said(room, &p, HBM_USAGE),
	                    "-: error: node 0 of the program is malformed [HBM0215]\n");
	p.nodes.items[0].end = 1;
	p.ops.items[op].reads.n = 2;
	assert_string_equal(said(room, &p, HBM_USAGE),
	                    "-: error: op 0 of the program is malformed [HBM0215]\n");
}

static void test_text_in_names(void **state)
{
	test_room *room = *state;
	hbm_program p = empty(room);

	add(&p, "caf\xe9", 4);
	assert_string_equal(said(room, &p, HBM_SEMANTIC),
	                    "-: error: a name is not UTF-8: 'caf\\xe9' [HBM0100]\n");
	p = empty(room);
	assert_int_not_equal(hbm_add_tensor(&p, hbm_intern(&p.syms, "a\0b", 3)),
	                     HBM_NONE);
	assert_string_equal(said(room, &p, HBM_SEMANTIC),
	                    "-: error: a name is not UTF-8: 'a\\x00b' [HBM0100]\n");
}

static void test_renamed(void **state)
{
	test_room *room = *state;
	hbm_program p = empty(room);
	hbm_tensor_id a = add(&p, "a", 4), b = add(&p, "b", 4);

	p.tensors.items[a].name = sym(&p, "c");
	p.tensors.items[b].name = sym(&p, "a");
	assert_int_equal(hbm_validate(&p, NULL), HBM_OK);
	assert_int_equal(hbm_find_tensor(&p, sym(&p, "a")), b);
	assert_int_equal(hbm_find_tensor(&p, sym(&p, "c")), a);
	p.tensors.items[a].name = sym(&p, "a");
	assert_string_equal(said(room, &p, HBM_SEMANTIC),
	                    "-: error: tensor 'a' is declared twice [HBM0200]\n"
	                    "-: note: 'a' is declared first here\n");
}

static void test_unused_bind(void **state)
{
	static const char text[] = "input x : f32[n]";
	test_room *room = *state;
	hbm_bind binds[] = {{"m", 1}, {"n", 4}};
	hbm_program p;

	assert_int_equal(hbm_text_read(&room->arena, &room->diags, "t", text,
	                               sizeof text - 1, binds, 2, &p),
	                 HBM_OK);
	assert_string_equal(ir_messages(&room->arena, &room->diags, false),
	                    "-: warning: no extent is called 'm': its value has no use "
	                    "[HBM0201]\n");
}

/* The rows stand in order, and no key is a field of the text form. */
static void test_attribute_table(void **state)
{
	uint32_t n;
	const hbm_attr_row *rows = hbm_attr_rows(&n);
	static const char *const fields[] = {
		"size", "align", "pin",   "home",    "device",  "src",   "owner",
		"kind", "iter",  "cores", "scratch", "inplace", "input", "host"};

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		if (i && rows[i].object == rows[i - 1].object)
			assert_true(strcmp(rows[i - 1].key, rows[i].key) < 0);
		if (i)
			assert_true(rows[i].object >= rows[i - 1].object);
		assert_true(*rows[i].meaning && !strchr(rows[i].key, '.'));
		for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
			assert_string_not_equal(rows[i].key, fields[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(test_spans_grow_in_any_order),
		ROOM_TEST(test_operands_in_any_order),
		ROOM_TEST(test_attributes),
		ROOM_TEST(test_looking),
		ROOM_TEST(test_sizes),
		ROOM_TEST(test_sizes_by_target),
		ROOM_TEST(test_names_are_given),
		ROOM_TEST(test_malformed),
		ROOM_TEST(test_text_in_names),
		ROOM_TEST(test_renamed),
		ROOM_TEST(test_unused_bind),
		cmocka_unit_test(test_attribute_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
