/* SPDX-License-Identifier: Apache-2.0
 * HLO protobuf, binary and text: the same program as from HLO text. */
#include "import/hlo.h"
#include "ir/text.h"
#include "ir/validate.h"
#include "support/ir.h"
#include "support/test.h"

#if HBM_HAVE_HLO_PROTO
#include "import/hlo_proto.h"

static const char sample[] =
	"hlo_module {\n"
	"  name: \"m\" entry_computation_name: \"e\"\n"
	"  computations { name: \"cond\" id: 1 root_id: 3\n"
	"    instructions { name: \"s\" opcode: \"parameter\" id: 1 shape { element_type: TUPLE\n"
	"      tuple_shapes { element_type: S32 } tuple_shapes { element_type: F32 dimensions: [4, 2]\n"
	"        layout { minor_to_major: 1 minor_to_major: 0 } } } }\n"
	"    instructions { name: \"i\" opcode: \"get-tuple-element\" id: 2 operand_ids: 1\n"
	"      shape { element_type: S32 } }\n"
	"    instructions { name: \"lt\" opcode: \"custom-call\" id: 3 operand_ids: [2]\n"
	"      custom_call_target: \"lt\" shape { element_type: PRED } } }\n"
	"  computations { name: \"body\" id: 2 root_id: 14\n"
	"    instructions { name: \"t\" opcode: \"parameter\" id: 10 shape { element_type: TUPLE\n"
	"      tuple_shapes { element_type: S32 } tuple_shapes { element_type: F32 dimensions: 4\n"
	"        dimensions: 2 layout { minor_to_major: 1 minor_to_major: 0 } } } }\n"
	"    instructions { name: \"k\" opcode: \"get-tuple-element\" id: 11 operand_ids: 10\n"
	"      shape { element_type: S32 } }\n"
	"    instructions { name: \"x\" opcode: \"get-tuple-element\" id: 12 operand_ids: 10\n"
	"      tuple_index: 1 shape { element_type: F32 dimensions: 4 dimensions: 2 } }\n"
	"    instructions { name: \"y\" opcode: \"negate\" id: 13 operand_ids: 12\n"
	"      metadata { op_name: \"neg\" source_file: \"m.py\" source_line: 3 }\n"
	"      shape { element_type: F32 dimensions: 4 dimensions: 2 } }\n"
	"    instructions { name: \"r\" opcode: \"tuple\" id: 14 operand_ids: 11 operand_ids: 13\n"
	"      shape { element_type: TUPLE tuple_shapes { element_type: S32 } tuple_shapes {\n"
	"        element_type: F32 dimensions: 4 dimensions: 2 } } } }\n"
	"  computations { name: \"e\" id: 3 root_id: 24\n"
	"    instructions { name: \"p\" opcode: \"parameter\" id: 20 shape { element_type: F32\n"
	"      dimensions: 4 dimensions: 2 } }\n"
	"    instructions { name: \"n\" opcode: \"parameter\" id: 21 parameter_number: 1\n"
	"      shape { element_type: S32 } }\n"
	"    instructions { name: \"in\" opcode: \"tuple\" id: 22 operand_ids: 21 operand_ids: 20\n"
	"      shape { element_type: TUPLE tuple_shapes { element_type: S32 } tuple_shapes {\n"
	"        element_type: F32 dimensions: 4 dimensions: 2 } } }\n"
	"    instructions { name: \"l\" opcode: \"while\" id: 23 operand_ids: 22\n"
	"      called_computation_ids: 2 called_computation_ids: 1\n"
	"      backend_config: \"{\\\"known_trip_count\\\":{\\\"n\\\":\\\"5\\\"}}\"\n"
	"      shape { element_type: TUPLE tuple_shapes { element_type: S32 } tuple_shapes {\n"
	"        element_type: F32 dimensions: 4 dimensions: 2 } } }\n"
	"    instructions { name: \"o\" opcode: \"get-tuple-element\" id: 24 operand_ids: 23\n"
	"      tuple_index: 1 shape { element_type: F32 dimensions: 4 dimensions: 2 } } }\n"
	"  entry_computation_id: 3\n"
	"  schedule { sequences { key: 3 value { instruction_ids: 21 instruction_ids: 20\n"
	"    instruction_ids: 22 instruction_ids: 23 instruction_ids: 24 } } }\n"
	"  input_output_alias { entries { parameter_number: 0 kind: MAY_ALIAS } }\n"
	"}\n"
	"buffer_assignment { logical_buffers { id: 1 size: 4 } }\n";

static const char same[] =
	"HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }\n"
	"cond { s = (s32[], f32[4,2]) parameter(0)\n"
	"  i = s32[] get-tuple-element(s), index=0\n"
	"  lt = pred[] custom-call(i), custom_call_target=\"lt\" }\n"
	"body { t = (s32[], f32[4,2]) parameter(0)\n"
	"  k = s32[] get-tuple-element(t), index=0\n  x = f32[4,2] get-tuple-element(t), index=1\n"
	"  y = f32[4,2] negate(x), metadata={op_name=\"neg\" source_file=\"m.py\" source_line=3}\n"
	"  r = (s32[], f32[4,2]) tuple(k, y) }\n"
	"ENTRY e {\n  n = s32[] parameter(1)\n  p = f32[4,2] parameter(0)\n"
	"  in = (s32[], f32[4,2]) tuple(n, p)\n"
	"  l = (s32[], f32[4,2]) while(in), condition=cond, body=body, "
	"backend_config={\"known_trip_count\":{\"n\":\"5\"}}\n"
	"  o = f32[4,2] get-tuple-element(l), index=1\n}\n";

static hbm_status import(test_room *r, const hbm_importer *by, const char *bytes,
                         size_t n, hbm_program *ret)
{
	hbm_import_opts opts = {0};
	hbm_source src = {.path = "t.pb", .bytes = {bytes, n}};
	hbm_imported in;
	hbm_status status = by->read(&r->arena, &src, &opts, &r->diags, &in);

	if (status == HBM_OK)
		*ret = in.program;
	return status;
}

static const char *printed(test_room *r, const hbm_importer *by, const char *bytes,
                           size_t n)
{
	hbm_program p;

	if (import(r, by, bytes, n, &p) != HBM_OK || hbm_validate(&p, &r->diags) != HBM_OK)
		fail_msg("%s", messages(&r->arena, &r->diags));
	return ir_print(&r->arena, &p);
}

/* The sample in binary, as a module or within an HloProto. */
static char *packed(test_room *r, bool outer, size_t *ret_n)
{
	Hlo__HloModuleProto *m = NULL;
	Hlo__HloProto h = HLO__HLO_PROTO__INIT;
	hlo_module mod;
	hbm_syms syms;
	char *s;

	assert_int_equal(hbm_syms_init(&syms, &r->arena), HBM_OK);
	hlo_module_init(&mod, &r->arena, &r->diags, &syms, "t");
	assert_int_equal(hlo_set_text(&mod, sample, sizeof sample - 1), HBM_OK);
	assert_int_equal(hlo_pbtext_read(&mod, sample, sizeof sample - 1, &m), HBM_OK);
	h.hlo_module = m;
	*ret_n = outer ? hlo__hlo_proto__get_packed_size(&h)
	               : hlo__hlo_module_proto__get_packed_size(m);
	s = hbm_arena_alloc(&r->arena, *ret_n + 1);
	assert_non_null(s);
	if (outer)
		hlo__hlo_proto__pack(&h, (uint8_t *)s);
	else
		hlo__hlo_module_proto__pack(m, (uint8_t *)s);
	return s;
}

static void text_and_binary_say_what_hlo_text_says(void **state)
{
	test_room *r = *state;
	const char *want = printed(r, &hbm_importer_hlo, same, sizeof same - 1);
	size_t n;
	char *s;

	assert_string_equal(printed(r, &hbm_importer_hlo_proto, sample, sizeof sample - 1),
	                    want);
	s = packed(r, false, &n);
	assert_string_equal(printed(r, &hbm_importer_hlo_proto, s, n), want);
	s = packed(r, true, &n);
	assert_string_equal(printed(r, &hbm_importer_hlo_proto, s, n), want);
	assert_non_null(strstr(want, " x5 "));
	assert_non_null(strstr(want, "m.py:3"));
}

/* A loop that does not say its trips; literals and directions are read for it. */
static void trips_are_counted(void **state)
{
#define SCALAR "shape { element_type: S64 } "
#define STATE "shape { element_type: TUPLE tuple_shapes { element_type: S64 } } "
	static const char text[] =
		"hlo_module { name: \"m\"\n"
		"computations { name: \"body\" id: 1 root_id: 5\n"
		" instructions { name: \"s\" opcode: \"parameter\" id: 1 " STATE "}\n"
		" instructions { name: \"i\" opcode: \"get-tuple-element\" id: 2 operand_ids: 1 "
		SCALAR "}\n"
		" instructions { name: \"two\" opcode: \"constant\" id: 3 literal { s64s: 2 } "
		SCALAR "}\n"
		" instructions { name: \"j\" opcode: \"add\" id: 4 operand_ids: 2 operand_ids: 3 "
		SCALAR "}\n"
		" instructions { name: \"r\" opcode: \"tuple\" id: 5 operand_ids: 4 " STATE "} }\n"
		"computations { name: \"cond\" id: 2 root_id: 9\n"
		" instructions { name: \"t\" opcode: \"parameter\" id: 6 " STATE "}\n"
		" instructions { name: \"k\" opcode: \"get-tuple-element\" id: 7 operand_ids: 6 "
		SCALAR "}\n"
		" instructions { name: \"n\" opcode: \"constant\" id: 8 literal { s64s: 7 } "
		SCALAR "}\n"
		" instructions { name: \"lt\" opcode: \"compare\" id: 9 operand_ids: 7 "
		"operand_ids: 8 comparison_direction: \"LT\" shape { element_type: PRED } } }\n"
		"computations { name: \"e\" id: 3 root_id: 12\n"
		" instructions { name: \"z\" opcode: \"constant\" id: 10 literal { s64s: -1 } "
		SCALAR "}\n"
		" instructions { name: \"in\" opcode: \"tuple\" id: 11 operand_ids: 10 " STATE "}\n"
		" instructions { name: \"l\" opcode: \"while\" id: 12 operand_ids: 11 "
		"called_computation_ids: 1 called_computation_ids: 2 " STATE "}\n"
		" instructions { name: \"all\" opcode: \"constant\" id: 13 literal {\n"
		"  u64s: 18446744073709551615 u32s: [1, 4294967295] s32s: -1 } " SCALAR "} }\n"
		"entry_computation_id: 3 }\n";
	test_room *r = *state;

	assert_non_null(strstr(printed(r, &hbm_importer_hlo_proto, text, sizeof text - 1),
	                       " x4 "));
}

static void probe_tells_binary_from_others(void **state)
{
	test_room *r = *state;
	hbm_source src = {.path = "t"};
	size_t n;

	src.bytes.data = packed(r, true, &n);
	src.bytes.n = n;
	assert_int_equal(hbm_importer_hlo_proto.probe(&src), 80);
	src.bytes = (hbm_bytes){sample, sizeof sample - 1};
	assert_int_equal(hbm_importer_hlo_proto.probe(&src), 85);
	src.bytes = (hbm_bytes){same, sizeof same - 1};
	assert_int_equal(hbm_importer_hlo_proto.probe(&src), 0);
}

static void changed_bytes_are_read_or_refused(void **state)
{
	test_room *r = *state;
	size_t n;
	char *s = packed(r, true, &n);

	for (size_t i = 0; i < 2 * n; i++) {
		test_room room;
		hbm_program p;
		char *copy;
		hbm_arena_init(&room.arena, NULL);
		hbm_diags_init(&room.diags, &room.arena);
		copy = hbm_arena_alloc(&room.arena, n + 1);
		assert_non_null(copy);
		memcpy(copy, s, n);
		if (i < n)
			copy[i] = (char)(copy[i] ^ (1 << i % 8));
		import(&room, &hbm_importer_hlo_proto, copy, i < n ? n : i - n, &p);
		hbm_arena_fini(&room.arena);
	}
}

/* Nested messages are refused before the decoder follows them. */
static void nesting_is_limited(void **state)
{
	test_room *r = *state;
	char *s = hbm_arena_alloc(&r->arena, 1 << 20), *p;
	size_t n = 0;
	hbm_program prog;

	assert_non_null(s);
	/* shape.tuple_shapes.tuple_shapes... from the inside out */
	p = s + (1 << 20);
	while (n < 600000) {
		size_t len = n;
		char head[8];
		size_t k = 0;
		head[k++] = 0x22; /* tuple_shapes */
		do {
			head[k++] = (char)((len & 0x7f) | (len > 0x7f ? 0x80 : 0));
			len >>= 7;
		} while (len);
		p -= k;
		memcpy(p, head, k);
		n += k;
	}
	for (int level = 0; level < 3; level++) { /* shape, instruction, computation */
		static const char tags[] = {0x1a, 0x12, 0x1a};
		size_t len = n;
		char head[8];
		size_t k = 0;
		head[k++] = tags[level];
		do {
			head[k++] = (char)((len & 0x7f) | (len > 0x7f ? 0x80 : 0));
			len >>= 7;
		} while (len);
		p -= k;
		memcpy(p, head, k);
		n += k;
	}
	assert_int_equal(import(r, &hbm_importer_hlo_proto, p, n, &prog), HBM_SYNTAX);
	expect_message(&r->diags, HBM_E_HLO_PROTO, "no HloProto");
}

static void faults_are_named(void **state)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{"hlo_module { computations { name: \"e\" } }", "no instruction"},
		{"hlo_module { computations { name: \"e\" id: 1 instructions { name: \"a\" "
		 "opcode: \"iota\" shape { element_type: F32 } } } }", "no entry"},
		{"hlo_module { computations { name: \"e\" root_id: 1 instructions { name: \"a\" "
		 "opcode: \"negate\" id: 1 operand_ids: 9 shape { element_type: F32 } } } }",
		 "unknown operand"},
		{"hlo_module { computations { name: \"e\" root_id: 1 instructions { name: \"a\" "
		 "opcode: \"iota\" id: 1 } } }", "no shape"},
		{"hlo_module { computations { name: \"e\" root_id: 1 instructions { name: \"a\" "
		 "opcode: \"iota\" id: 1 shape { element_type: 77 } } } }", "unknown element type"},
		{"hlo_module { computations { name: \"e\" root_id: 1 instructions { name: \"a\" "
		 "opcode: \"iota\" id: 1 shape { element_type: F32 dimensions: 4 layout { "
		 "minor_to_major: 3 } } } } }", "permutation"},
		{"hlo_module { computations { name: \"e\"", "ends inside"},
		{"hlo_module { computations { name: 3 } }", "expected a string"},
		{"hlo_module { computations { name: \"e\" root_id: 1 instructions { name: \"a\" "
		 "opcode: \"iota\" id: 1 shape { element_type: F32 } } } "
		 "schedule { sequences { key: 0 value { instruction_ids: 4 } } } }", "schedule"},
	};
	test_room *r = *state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hbm_program p;
		hbm_diags_init(&r->diags, &r->arena);
		assert_int_not_equal(import(r, &hbm_importer_hlo_proto, rows[i].text,
		                            strlen(rows[i].text), &p), HBM_OK);
		expect_message(&r->diags, HBM_E_HLO_PROTO, rows[i].part);
	}
}

/* Dumps of executables, with the module within. */
static void real_dumps_are_read(void **state)
{
	static const char *const files[] = {"aot-SimpleAdd.pbtxt", "aot-ReduceScatter.pbtxt"};
	test_room *r = *state;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[128];
		const char *full, *from;
		hbm_import_opts opts = {0};
		hbm_imported in;
		snprintf(path, sizeof path, "data/real/hlo-proto-text/%s", files[i]);
		full = shared_path(&r->arena, path);
		if (!full)
			skip();
		if (hbm_import_path(&r->arena, &r->diags, full, NULL, &opts, &from, &in))
			fail_msg("%s", messages(&r->arena, &r->diags));
		assert_string_equal(from, "hlo-proto");
		assert_int_equal(hbm_validate(&in.program, &r->diags), HBM_OK);
		assert_true(in.program.ops.n > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(text_and_binary_say_what_hlo_text_says),
		ROOM_TEST(trips_are_counted),
		ROOM_TEST(probe_tells_binary_from_others),
		ROOM_TEST(changed_bytes_are_read_or_refused),
		ROOM_TEST(nesting_is_limited),
		ROOM_TEST(faults_are_named),
		ROOM_TEST(real_dumps_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	puts("SKIP: this build has no protobuf-c");
	return 0;
}
#endif
