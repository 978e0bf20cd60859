/* SPDX-License-Identifier: Apache-2.0
 * HLO text: what is read, what it becomes, what is refused and where. */
#include "import/hlo.h"
#include "ir/text.h"
#include "ir/validate.h"
#include "support/ir.h"
#include "support/test.h"

static hbm_status import(test_room *r, const char *text, size_t n, hbm_program *ret)
{
	hbm_import_opts opts = {0};
	hbm_source src = {.path = "t.hlo", .bytes = {text, n}};
	hbm_imported in;
	hbm_status status =
		hbm_importer_hlo.read(&r->arena, &src, &opts, &r->diags, &in);

	if (status == HBM_OK)
		*ret = in.program;
	return status;
}

static hbm_program ok(test_room *r, const char *text)
{
	hbm_program p = {0};

	if (import(r, text, strlen(text), &p) != HBM_OK ||
	    hbm_validate(&p, &r->diags) != HBM_OK)
		fail_msg("%s", messages(&r->arena, &r->diags));
	return p;
}

/* The printed program has these lines. */
static void has(test_room *r, const hbm_program *p, const char *const *lines)
{
	const char *s = ir_print(&r->arena, p);

	for (; *lines; lines++)
		if (!strstr(s, *lines))
			fail_msg("no '%s' in\n%s", *lines, s);
}

static void lacks(test_room *r, const hbm_program *p, const char *what)
{
	const char *s = ir_print(&r->arena, p);

	if (strstr(s, what))
		fail_msg("'%s' in\n%s", what, s);
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SCHEDULED "HloModule m, is_scheduled=true\n"

/* ---- sizes ---------------------------------------------------------------- */

static void sizes_of_shapes(void **state)
{
	static const struct {
		const char *shape;
		uint64_t bytes;
	} rows[] = {
		{"f32[]", 4}, {"f32[2,3]{1,0}", 24}, {"bf16[5]{0}", 10}, {"pred[3]", 3},
		{"c128[2]", 32}, {"s4[3]{0}", 3}, {"s4[3]{0:E(4)}", 2}, {"u8[0]", 0},
		{"f8e4m3b11fnuz[7]", 7}, {"f32[<=8,4]", 128}, {"u32[]{:T(128)}", 512},
		{"f32[20]{0:T(256)}", 1024}, {"s8[1,32,2048]{2,1,0:T(8,128)(4,1)}", 65536},
		{"f32[3,130]{1,0:T(8,128)}", 8 * 256 * 4},
		{"bf16[3,130]{1,0:T(8,128)(2,1)}", 8 * 256 * 2},
		{"f32[3,130]{0,1:T(8,128)}", 136 * 128 * 4}, {"f32[5]{0:L(8)}", 32},
		{"f32[4]{0:S(1)}", 16}, {"b(f32[3])", 12}, {"f32[2]{0:D(D)T(4)S(0)}", 16},
	};
	test_room *r = *state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[256];
		hbm_syms syms;
		hlo_module m;
		snprintf(text, sizeof text, "e { x = %s parameter(0) }", rows[i].shape);
		assert_int_equal(hbm_syms_init(&syms, &r->arena), HBM_OK);
		hlo_module_init(&m, &r->arena, &r->diags, &syms, "t");
		if (hlo_read_text(&m, text, strlen(text)))
			fail_msg("%s", messages(&r->arena, &r->diags));
		if (m.nodes.items[0].size != rows[i].bytes)
			fail_msg("%s: %llu bytes, not %llu", rows[i].shape,
			         (unsigned long long)m.nodes.items[0].size,
			         (unsigned long long)rows[i].bytes);
	}
}

/* ---- syntax --------------------------------------------------------------- */

static void header_entry_and_root_may_be_missing(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, "f { a = f32[] parameter(0)\n b = f32[] negate(a) }\n"
	                      "g { x = f32[4] parameter(0)\n  y = f32[4] negate(x) }\n");

	has(r, &p, LINES("input x : f32[4]", "output y : f32[4]", "op y: negate(x) -> y"));
	expect_message(&r->diags, HBM_E_HLO_ORDER, "not scheduled");
}

static void long_and_short_form_are_the_same(void **state)
{
	test_room *r = *state;
	hbm_program a = ok(r, SCHEDULED "ENTRY %e (p: f32[4,2]) -> f32[4,2] {\n"
	                      "  %p = f32[4,2]{1,0} parameter(0)\n"
	                      "  ROOT %q = f32[4,2]{1,0} add(f32[4,2]{1,0} %p, /*index=1*/"
	                      "f32[4,2]{1,0} %p), metadata={op_name=\"a, b\"}\n}\n");
	hbm_program b = ok(r, SCHEDULED "ENTRY e {\n  p = f32[4,2] parameter(0)\n"
	                      "  ROOT q = f32[4,2] add(p, p), metadata={op_name=\"a, b\"}\n}\n");

	assert_string_equal(ir_print(&r->arena, &a), ir_print(&r->arena, &b));
}

static void attributes_may_stand_on_more_lines(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, "// a comment\n" SCHEDULED "c { a = s32[] parameter(0) }\n"
	                      "ENTRY e {\n  p = f32[4] parameter(0), sharding={devices=[2]<=[2]}\n"
	                      "  q = f32[4] all-reduce(p), channel_id=1,\n"
	                      "    replica_groups=[4,2]<=[2,4]T(1,0), to_apply=c,\n"
	                      "    backend_config={sizes:[16]}\n"
	                      "  ROOT z = f32[4] custom-call(q), custom_call_target=\"__a$b\",\n"
	                      "    backend_config=\"{\\\"x\\\":[1]}\"\n}\n");

	has(r, &p, LINES("op q: all-reduce(p) -> q kind=collective", "op z: __a$b(q) -> z"));
}

static void compact_elements_are_read(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = (f32[4], (f32[8], f32[2])) parameter(0)\n"
	                      "  ROOT q = f32[8] negate(p#1#0)\n}\n");

	has(r, &p, LINES("input \"p{0}\" : f32[4]", "input \"p{1,0}\" : f32[8]",
	                 "op q: negate(\"p{1,0}\") -> q"));
}

static void sources_come_from_metadata(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "FileNames\n1 \"m.py\"\n\nFunctionNames\n1 \"f\"\n\n"
	                      "FileLocations\n1 {file_name_id=1 function_name_id=1 line=7}\n\n"
	                      "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
	                      "ENTRY e {\n  p = f32[4] parameter(0)\n"
	                      "  a = f32[4] negate(p), metadata={op_name=\"jit(f)/neg\" "
	                      "source_file=\"x.py\" source_line=41}\n"
	                      "  b = f32[4] negate(a), metadata={op_name=\"n\" stack_frame_id=1}\n"
	                      "  ROOT c = f32[4] negate(b), metadata={op_name=\"axis=\\'z\\'\"}\n}\n");

	has(r, &p, LINES("op a: negate(p) -> a inplace(a=p) src=\"x.py:41\""));
	lacks(r, &p, "\\'");
	has(r, &p, LINES("src=\"m.py:7\"", "src=\"axis='z'\""));
}

static void of_several_modules_the_first_is_read(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, "HloModule one, is_scheduled=true\nENTRY e { a = f32[2] parameter(0) }\n"
	                      "// -----\nHloModule two\nENTRY e { b = f32[2] parameter(0) }\n"
	                      "// -----\nHloModule three\nENTRY e { b = f32[2] parameter(0) }\n");

	assert_string_equal(hbm_str_of(&p, p.name), "one");
	expect_message(&r->diags, HBM_E_HLO_MODULES, "2 more modules");
}

/* ---- what takes memory ---------------------------------------------------- */

static void views_have_no_bytes(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[4,6]{1,0} parameter(0)\n"
	                      "  a = f32[4,6] negate(p)\n  b = f32[24] bitcast(a)\n"
	                      "  c = f32[6,4]{1,0} reshape(b)\n"
	                      "  d = f32[4,6]{0,1} transpose(c), dimensions={1,0}\n"
	                      "  t = (f32[4,6]{0,1}, f32[24]) tuple(d, b)\n"
	                      "  u = (f32[4,6]{0,1}, f32[24]) opt-barrier(t)\n"
	                      "  g = f32[4,6]{0,1} get-tuple-element(u), index=0\n"
	                      "  ROOT z = f32[4,6] fft(g)\n}\n");

	assert_int_equal(p.tensors.n, 3);
	has(r, &p, LINES("op z: fft(a) -> z"));
}

static void moves_of_bytes_are_no_views(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[4,6]{1,0} parameter(0)\n"
	                      "  c = f32[24]{0} reshape(p)\n"
	                      "  d = f32[6,4]{1,0} transpose(p), dimensions={1,0}\n"
	                      "  f = f32[6,4]{0,1} copy(d)\n"
	                      "  ROOT g = f32[24]{0} reshape(f)\n}\n");

	has(r, &p, LINES("op d: transpose(p) -> d", "op f: copy(d) -> f",
	                 "op g: reshape(f) -> g"));
	lacks(r, &p, "op c:");
}

static void sharding_marks_hand_on(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[4] parameter(0)\n"
	                      "  a = f32[4] negate(p)\n"
	                      "  b = f32[4] custom-call(a), custom_call_target=\"Sharding\"\n"
	                      "  ROOT c = f32[4] negate(b)\n}\n");

	has(r, &p, LINES("op c: negate(a) -> c inplace(c=a)"));
}

static void host_memory_takes_no_device_bytes(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[4] parameter(0)\n"
	                      "  h = f32[4]{0:S(5)} copy(p)\n"
	                      "  b = f32[4] custom-call(p), custom_call_target=\"MoveToHost\"\n"
	                      "  z = f32[2,4] broadcast(p), dimensions={1}\n"
	                      "  i = s32[] constant(0)\n  c = f32[1,4] bitcast(b)\n"
	                      "  u = f32[2,4] dynamic-update-slice(z, c, i, i)\n"
	                      "  s = f32[1,4] dynamic-slice(u, i, i), dynamic_slice_sizes={1,4}\n"
	                      "  d = f32[1,4] custom-call(s), custom_call_target=\"MoveToDevice\"\n"
	                      "  k = f32[4]{0} copy(h)\n"
	                      "  f = f32[4]{0:S(1)} negate(k)\n"
	                      "  ROOT g = f32[4] add(f, f)\n}\n");

	has(r, &p, LINES("tensor h : f32[4] host hlo.space=5", "tensor b : f32[4] host",
	                 "tensor z : f32[2, 4] host", "view u = z : f32[2, 4] host",
	                 "tensor s : f32[1, 4]\n", "tensor f : f32[4] home=lx hlo.space=1"));
}

static void constants_are_weights_and_stand_once(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "f { k = f32[4] constant({1,2,3,4})\n"
	                      "  x = f32[4] parameter(0)\n  y = f32[4] add(x, k) }\n"
	                      "ENTRY e {\n  p = f32[4] parameter(0)\n"
	                      "  a = f32[4] call(p), to_apply=f\n"
	                      "  ROOT b = f32[4] call(a), to_apply=f\n}\n");

	assert_int_equal(p.tensors.n, 4);
	has(r, &p, LINES("weight k : f32[4]", "op \"y@2\": add(y, k) -> \"y@2\""));
}

static void results_that_are_arguments_are_copied(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[4] parameter(0)\n"
	                      "  k = f32[4] constant({...})\n  a = f32[4] negate(p)\n"
	                      "  ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(p, k, a, a)\n}\n");

	has(r, &p, LINES("output \"t{0}\"", "output \"t{1}\"", "output a", "output \"t{3}\"",
	                 "copy(p) -> \"t{0}\"", "copy(k) -> \"t{1}\"", "copy(a) -> \"t{3}\""));
	lacks(r, &p, "view");
}

/* ---- asynchronous pairs --------------------------------------------------- */

static void operands_live_until_the_end_of_the_pair(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[4] parameter(0)\n"
	                      "  a = f32[4] negate(p)\n"
	                      "  s = (f32[4], f32[8], u32[], u32[]) all-gather-start(a), dimensions={0}\n"
	                      "  m = f32[4] negate(p)\n"
	                      "  d = f32[8] all-gather-done(s)\n"
	                      "  c = (f32[8], f32[8], u32[]) copy-start(d)\n"
	                      "  e = f32[8] copy-done(c)\n"
	                      "  ROOT t = (f32[8], f32[4]) tuple(e, m)\n}\n");

	has(r, &p, LINES("op s: all-gather-start(a) -> \"s{1}\" kind=collective",
	                 "op d: all-gather-done(a, \"s{1}\") kind=nop",
	                 "op c: copy-start(\"s{1}\") -> \"c{0}\" kind=dma",
	                 "output \"c{0}\" : f32[8]"));
}

/* ---- in place ------------------------------------------------------------- */

static void updates_happen_in_place_when_the_operand_dies(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[8] parameter(0)\n"
	                      "  u = f32[2] parameter(1)\n  i = s32[] parameter(2)\n"
	                      "  a = f32[8] negate(p)\n"
	                      "  b = f32[8] dynamic-update-slice(a, u, i)\n"
	                      "  c = f32[8] dynamic-update-slice(b, u, i)\n"
	                      "  d = f32[8] dynamic-update-slice(c, u, i)\n"
	                      "  ROOT z = f32[8] add(c, d)\n}\n");

	has(r, &p, LINES("view b = a", "view c = a", "tensor d : f32[8]"));
}

static void an_argument_is_not_written(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[8] parameter(0)\n"
	                      "  u = f32[2] parameter(1)\n  i = s32[] parameter(2)\n"
	                      "  t = f32[2,4]{0,1} bitcast(p)\n"
	                      "  v = f32[8] bitcast(t)\n"
	                      "  ROOT s = f32[8] dynamic-update-slice(v, u, i)\n}\n");

	has(r, &p, LINES("output s : f32[8]"));
	lacks(r, &p, "view");
}

/* The update of a donated argument through a view, and a read after it (C19). */
static void a_donated_argument_read_later_is_not_overwritten(void **state)
{
	static const char *const fmt =
		"HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }\n"
		"ENTRY e {\n  p = f32[2,4] parameter(0)\n  g = f32[4,1] parameter(1)\n"
		"  i = s32[] parameter(2)\n"
		"  t = f32[4,2]{0,1} transpose(p), dimensions={1,0}\n"
		"  s = f32[4,2]{0,1} dynamic-update-slice(t, g, i, i)\n"
		"  d = f32[2,4] %s\n  v = f32[2,4] transpose(s), dimensions={1,0}\n"
		"  ROOT r = (f32[2,4], f32[2,4]) tuple(v, d)\n}\n";
	test_room *r = *state;
	char text[1024];
	hbm_program p;

	snprintf(text, sizeof text, fmt, "fft(p)");
	p = ok(r, text);
	has(r, &p, LINES("tensor s : f32[4, 2]", "copy(s) -> \"r{0}\"",
	                 "output \"r{0}\" = p : f32[2, 4]"));
	snprintf(text, sizeof text, fmt, "broadcast(i), dimensions={}");
	p = ok(r, text);
	has(r, &p, LINES("output s = p : f32[4, 2]"));
}

static void custom_calls_alias_as_they_say(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  p = f32[8] parameter(0)\n"
	                      "  a = f32[8] negate(p)\n  b = f32[8] negate(p)\n"
	                      "  ROOT c = (f32[8], f32[4]) custom-call(b, a), "
	                      "custom_call_target=\"f\", "
	                      "output_to_operand_aliasing={{0}: (1, {})}\n}\n");

	has(r, &p, LINES("output \"c{0}\" = a : f32[8]"));
}

static void fusions_take_over_only_element_by_element(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED
	                   "f1 { a = f32[4,4] parameter(0)\n b = f32[4,4] parameter(1)\n"
	                   "  c = f32[4,4] transpose(b), dimensions={1,0}\n"
	                   "  d = f32[4,4] add(a, c) }\n"
	                   "f2 { a = f32[4,4] parameter(0)\n  n = f32[4,4] negate(a)\n"
	                   "  t = f32[4,4] transpose(a), dimensions={1,0}\n"
	                   "  d = f32[4,4] add(n, t) }\n"
	                   "ENTRY e {\n  p = f32[4,4] parameter(0)\n"
	                   "  x = f32[4,4] negate(p)\n  y = f32[4,4] negate(p)\n"
	                   "  u = f32[4,4] fusion(x, y), kind=kLoop, calls=f1\n"
	                   "  v = f32[4,4] fusion(u), kind=kLoop, calls=f2\n"
	                   "  w = f32[4,4] negate(p)\n  q = f32[4,4] negate(p)\n"
	                   "  ROOT z = f32[4,4] fusion(w, q), kind=kInput, calls=f1\n}\n");

	has(r, &p, LINES("op u: fusion(x, y) -> u inplace(u=x)\n", "op v: fusion(u) -> v\n",
	                 "op z: fusion(w, q) -> z\n"));
}

/* ---- aliases of the module ------------------------------------------------ */

static void aliased_results_stand_in_their_arguments(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, "HloModule m, is_scheduled=true, input_output_alias={ "
	                      "{0}: (0, {}, may-alias), {1}: (1, {}, must-alias), "
	                      "{2}: (2, {}, may-alias) }, buffer_donor={ (3, {}) }\n"
	                      "ENTRY e {\n  a = f32[8] parameter(0)\n  b = f32[8] parameter(1)\n"
	                      "  c = f32[8] parameter(2)\n  d = f32[8] parameter(3)\n"
	                      "  n = f32[8] add(a, b)\n  m = f32[8] fft(b)\n"
	                      "  ROOT t = (f32[8], f32[8], f32[8]) tuple(n, m, c)\n}\n");

	has(r, &p, LINES("input a : f32[8] donated", "output n = a : f32[8]",
	                 "input c : f32[8] output donated", "input d : f32[8] donated",
	                 "tensor m : f32[8]", "copy(m) -> \"t{1}\"",
	                 "output \"t{1}\" = b : f32[8]"));
}

static void swapped_results_are_saved_first(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, "HloModule m, is_scheduled=true, input_output_alias={ "
	                      "{0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"
	                      "ENTRY e {\n  a = f32[8] parameter(0)\n  b = f32[8] parameter(1)\n"
	                      "  ROOT t = (f32[8], f32[8]) tuple(b, a)\n}\n");

	has(r, &p, LINES("copy(b) -> \"t{0}.saved\"", "copy(a) -> \"t{1}.saved\"",
	                 "copy(\"t{0}.saved\") -> \"t{0}\"", "copy(\"t{1}.saved\") -> \"t{1}\""));
}

/* ---- loops and branches --------------------------------------------------- */

#define LOOP_TEXT(header, update)                                                       \
	header "cond { s = (s32[], f32[8], f32[4]) parameter(0)\n"                     \
	       "  i = s32[] get-tuple-element(s), index=0\n"                            \
	       "  n = s32[] constant(7)\n  ROOT lt = pred[] compare(i, n), direction=LT }\n" \
	       "body { s = (s32[], f32[8], f32[4]) parameter(0)\n"                      \
	       "  i = s32[] get-tuple-element(s), index=0\n"                            \
	       "  x = f32[8] get-tuple-element(s), index=1\n"                           \
	       "  w = f32[4] get-tuple-element(s), index=2\n"                           \
	       "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n" update            \
	       "  ROOT r = (s32[], f32[8], f32[4]) tuple(j, y, w) }\n"                  \
	       "ENTRY e {\n  zero = s32[] parameter(0)\n  p = f32[8] parameter(1)\n"    \
	       "  w = f32[4] parameter(2)\n  z = s32[] add(zero, zero)\n"               \
	       "  a = f32[8] negate(p)\n"                                               \
	       "  t = (s32[], f32[8], f32[4]) tuple(z, a, w)\n"                         \
	       "  l = (s32[], f32[8], f32[4]) while(t), condition=cond, body=body, "    \
	       "backend_config={\"known_trip_count\":{\"n\":\"7\"}}\n"                  \
	       "  x2 = f32[8] get-tuple-element(l), index=1\n"                          \
	       "  ROOT o = f32[8] negate(x2)\n}\n"

static void loop_state_is_updated_in_place(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, LOOP_TEXT(SCHEDULED, "  y = f32[8] dynamic-update-slice(x, w, i)\n"));

	has(r, &p, LINES(" x7 ", "view \"l{1}\" = a", "view y = a", "view \"l{0}\" = z",
	                 "op y: dynamic-update-slice(\"l{1}\", w, \"l{0}\") -> y",
	                 "op o: negate(\"l{1}\") -> o"));
	/* The update reads the old counter: the new one has to wait. */
	has(r, &p, LINES("copy(j) -> \"l{0}\""));
	lacks(r, &p, "copy(y)");
	lacks(r, &p, ".init");
}

static void loop_state_that_is_read_late_is_copied(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, LOOP_TEXT(SCHEDULED, "  q = f32[8] fft(x)\n"
	                                           "  y = f32[8] reverse(q), dimensions={0}\n"
	                                           "  z2 = f32[8] add(x, y)\n"
	                                           "  z3 = (f32[], token[]) infeed()\n"));

	has(r, &p, LINES("copy(y) -> \"l{1}\"", "tensor y : f32[8]"));
}

static void arguments_go_round_a_loop_without_a_copy(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, LOOP_TEXT(SCHEDULED, "  y = f32[8] negate(x)\n"));

	lacks(r, &p, "copy(w)");
	lacks(r, &p, "l{2}");
}

static void branches_share_their_result(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "t { x = f32[8] parameter(0)\n  y = f32[8] negate(x)\n"
	                      "  z = f32[8] fft(y) }\n"
	                      "f { v = f32[8] parameter(0) }\n"
	                      "ENTRY e {\n  c = pred[] parameter(0)\n  p = f32[8] parameter(1)\n"
	                      "  n = f32[8] negate(p)\n"
	                      "  b = f32[8] conditional(c, n, n), true_computation=t, "
	                      "false_computation=f\n"
	                      "  ROOT o = f32[8] negate(b)\n}\n");

	has(r, &p, LINES("region", "op b: conditional(c) kind=nop", "copy(n) -> b",
	                 "op o: negate(b) -> o"));
}

/* A donated buffer stays in place although a loop reads the value in between (C21). */
static void donated_buffer_is_updated_across_a_loop(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, "HloModule m, is_scheduled=true, input_output_alias={ "
	                      "{0}: (0, {}, may-alias) }\n"
	                      "cond { s = (s32[], f32[64]) parameter(0)\n"
	                      "  ROOT lt = pred[] custom-call(s), custom_call_target=\"lt\" }\n"
	                      "body { s = (s32[], f32[64]) parameter(0)\n"
	                      "  i = s32[] get-tuple-element(s), index=0\n"
	                      "  a = f32[64] get-tuple-element(s), index=1\n"
	                      "  j = s32[] custom-call(i, a), custom_call_target=\"use\"\n"
	                      "  ROOT r = (s32[], f32[64]) tuple(j, a) }\n"
	                      "ENTRY e {\n  x = f32[64] parameter(0)\n  x0 = s32[] parameter(1)\n"
	                      "  a = f32[64] negate(x)\n  t = (s32[], f32[64]) tuple(x0, a)\n"
	                      "  l = (s32[], f32[64]) while(t), condition=cond, body=body\n"
	                      "  b = f32[64] get-tuple-element(l), index=1\n"
	                      "  y = f32[64] negate(b)\n  z = s32[] get-tuple-element(l), index=0\n"
	                      "  ROOT o = (f32[64], s32[]) tuple(y, z)\n}\n");

	has(r, &p, LINES("view a = x", "output y = x : f32[64]", " x? "));
}

/* ---- order ---------------------------------------------------------------- */

/* Text order keeps both large values; depth first needs one at a time. */
static void unscheduled_modules_get_a_good_order(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n"
	                      "  a = f32[1000] broadcast(p), dimensions={}\n"
	                      "  b = f32[2000] broadcast(p), dimensions={}\n"
	                      "  c = f32[] dot(a, a)\n  dead = f32[9] fft(p)\n"
	                      "  d = f32[] dot(b, b)\n"
	                      "  ROOT z = f32[] add(c, d)\n}\n");
	hbm_sym a = hbm_sym_find(&p.syms, "a", 1), c = hbm_sym_find(&p.syms, "c", 1);

	lacks(r, &p, "dead");
	for (uint32_t o = 0; o + 1 < p.ops.n; o++)
		if (p.ops.items[o].name == a)
			assert_int_equal(p.ops.items[o + 1].name, c);
	expect_message(&r->diags, HBM_E_HLO_ORDER, "upper bound");
}

static void instructions_may_stand_in_any_order_unless_scheduled(void **state)
{
	static const char body[] = "ENTRY e {\n  b = f32[4] negate(a)\n"
	                           "  a = f32[4] parameter(0)\n  ROOT c = f32[4] negate(b)\n}\n";
	test_room *r = *state;
	char text[256];
	hbm_program p;

	snprintf(text, sizeof text, "HloModule m\n%s", body);
	ok(r, text);
	snprintf(text, sizeof text, SCHEDULED "%s", body);
	assert_int_equal(import(r, text, strlen(text), &p), HBM_SEMANTIC);
	expect_message(&r->diags, HBM_E_HLO_SEMANTIC, "stands before its operand");
}

/* ---- errors --------------------------------------------------------------- */

static void errors_have_their_place(void **state)
{
	static const struct {
		const char *text;
		hbm_code code;
		uint32_t line, col;
		const char *part;
	} rows[] = {
		{"HloModule m\nENTRY e {\n  a = q32[4] parameter(0)\n}", HBM_E_HLO_SYNTAX, 3, 7,
		 "expected a type"},
		{"HloModule m\nENTRY e {\n  a = f32[4] negate(b)\n}", HBM_E_HLO_NAME, 3, 21,
		 "no instruction 'b'"},
		{"ENTRY e {\n  a = f32[4] parameter(0)\n  a = f32[4] negate(a)\n}",
		 HBM_E_HLO_SEMANTIC, 3, 3, "taken"},
		{"ENTRY e {\n  a = f32[4] call(), to_apply=f\n}", HBM_E_HLO_NAME, 2, 31,
		 "no computation 'f'"},
		{"ENTRY e {\n  a = f32[4]{2,1} parameter(0)\n}", HBM_E_HLO_SYNTAX, 2, 14,
		 "permutation"},
		{"ENTRY e {\n  a = f32[4611686018427387904] parameter(0)\n}",
		 HBM_E_SIZE_OVERFLOW, 2, 10, "2^62"},
		{"ENTRY e {\n  a = f32[99999999999999999999] parameter(0)\n}",
		 HBM_E_HLO_SYNTAX, 2, 11, "64 bits"},
		{"ENTRY e {\n  a = f32[4] parameter(0)\n", HBM_E_HLO_SYNTAX, 1, 7, "no '}'"},
		{"ENTRY e {\n  a = f32[4] parameter(0), x=\"abc\n", HBM_E_HLO_SYNTAX, 2, 30,
		 "no end"},
		{"ENTRY e {\n  a = f32[4] constant({1,2\n", HBM_E_HLO_SYNTAX, 2, 23, "ends this"},
		{"HloModule m\n", HBM_E_HLO_SYNTAX, 2, 1, "no computation"},
		{"ENTRY e {\n  a = f32[4] parameter(3)\n}", HBM_E_HLO_SEMANTIC, 2, 3, "gap"},
		{"e { }", HBM_E_HLO_SYNTAX, 1, 1, "no instruction"},
		{"e { x = (f32[4], f32[4]) parameter(0)\n"
		 " y = f32[4] get-tuple-element(x), index=2 }", HBM_E_HLO_SEMANTIC, 2, 2, "range"},
		{"ENTRY a { x = f32[4] parameter(0) }\nENTRY b { x = f32[4] parameter(0) }",
		 HBM_E_HLO_SEMANTIC, 2, 7, "two ENTRY"},
		{"f { x = f32[4] parameter(0)\n y = f32[4] fusion(x), kind=kLoop, calls=f }\n"
		 "ENTRY e { x = f32[4] parameter(0)\n y = f32[4] fusion(x), kind=kLoop, calls=f }",
		 HBM_E_HLO_SEMANTIC, 1, 1, "calls itself"},
		{"HloModule m, input_output_alias={ {0}: (0, {}), {1}: (0, {}) }\n"
		 "e { x = f32[4] parameter(0)\n a = f32[4] negate(x)\n b = f32[4] negate(x)\n"
		 " r = (f32[4], f32[4]) tuple(a, b) }", HBM_E_HLO_SEMANTIC, 1, 49,
		 "two results"},
		{"b { p = s32[] parameter(0) }\nc { p = s32[] parameter(0) }\n"
		 "e { x = s32[] parameter(0)\n w = s32[] while(x), condition=c, body=b }",
		 HBM_E_HLO_SEMANTIC, 4, 2, "no pred[]"},
		{"b { p = f32[] parameter(0) }\n"
		 "e { x = s32[] parameter(0)\n w = s32[] call(x), to_apply=b }",
		 HBM_E_HLO_SEMANTIC, 3, 2, "does not match"},
	};
	test_room *r = *state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const hbm_diag *d;
		hbm_program p;
		hbm_diags_init(&r->diags, &r->arena);
		assert_int_not_equal(import(r, rows[i].text, strlen(rows[i].text), &p), HBM_OK);
		d = &r->diags.list.items[0];
		if (d->code != rows[i].code || d->line != rows[i].line ||
		    d->col != rows[i].col || !strstr(d->text, rows[i].part))
			fail_msg("row %zu: %s", i, messages(&r->arena, &r->diags));
	}
}

static void several_errors_are_listed(void **state)
{
	test_room *r = *state;
	hbm_program p;
	const char *text = "ENTRY e {\n  a = x32[4] parameter(0)\n  b = f32[4] !\n"
	                   "  c = f32[4] parameter(0)\n}\n";

	assert_int_not_equal(import(r, text, strlen(text), &p), HBM_OK);
	expect_errors(&r->diags, 2);
}

static void unknown_opcodes_are_taken_with_a_word(void **state)
{
	test_room *r = *state;
	hbm_program p = ok(r, SCHEDULED "ENTRY e {\n  a = f32[4] parameter(0)\n"
	                      "  ROOT b = f32[4] frobnicate(a)\n}\n");

	has(r, &p, LINES("op b: frobnicate(a) -> b"));
	expect_message(&r->diags, HBM_E_HLO_OPCODE, "frobnicate");
}

static void recursion_and_growth_are_limited(void **state)
{
	test_room *r = *state;
	hbm_membuf buf = {.arena = &r->arena};
	hbm_out out;
	hbm_program p;
	const char *text = "f { a = f32[] parameter(0)\n b = f32[] call(a), to_apply=f }\n"
	                   "ENTRY e { a = f32[] parameter(0)\n b = f32[] call(a), to_apply=f }\n";

	assert_int_equal(import(r, text, strlen(text), &p), HBM_SEMANTIC);
	expect_message(&r->diags, HBM_E_HLO_SEMANTIC, "calls itself");
	/* Each computation calls the one before it twice. */
	hbm_out_init(&out, hbm_membuf_write, &buf);
	hbm_puts(&out, "c0 { a = f32[] parameter(0) }\n");
	for (int i = 1; i < 50; i++)
		hbm_putf(&out, "c%d { a = f32[] parameter(0)\n b = f32[] call(a), to_apply=c%d\n"
		         "  c = f32[] call(b), to_apply=c%d }\n", i, i - 1, i - 1);
	assert_int_equal(hbm_out_finish(&out), HBM_OK);
	assert_int_equal(import(r, buf.bytes.items, buf.bytes.n - 1, &p), HBM_LIMIT);
	hbm_diags_init(&r->diags, &r->arena);
	buf.bytes.n = 0;
	hbm_out_init(&out, hbm_membuf_write, &buf);
	hbm_puts(&out, "e { a = ");
	for (int i = 0; i < 100000; i++)
		hbm_putc(&out, '(');
	assert_int_equal(hbm_out_finish(&out), HBM_OK);
	assert_int_equal(import(r, buf.bytes.items, buf.bytes.n - 1, &p), HBM_LIMIT);
}

/* Every beginning of a text is read or refused, and nothing else. */
static void truncated_texts_are_refused(void **state)
{
	static const char text[] = LOOP_TEXT("HloModule m, is_scheduled=true, "
	                                     "input_output_alias={ {}: (1, {}, may-alias) }\n",
	                                     "  y = f32[8]{0:T(8)S(0)} add(x, x), metadata="
	                                     "{op_name=\"a\"}\n");
	test_room *r = *state;

	for (size_t n = 0; n < sizeof text - 1; n++) {
		test_room room;
		hbm_program p;
		char *s;
		hbm_arena_init(&room.arena, NULL);
		hbm_diags_init(&room.diags, &room.arena);
		s = hbm_arena_strndup(&room.arena, text, n);
		assert_non_null(s);
		import(&room, s, n, &p);
		hbm_arena_fini(&room.arena);
	}
	ok(r, text);
}

static void probe_knows_its_own(void **state)
{
	hbm_source hlo = {.path = "x", .bytes = {"// c\nHloModule m\n", 16}};
	hbm_source csv = {.path = "x", .bytes = {"id,lower,upper,size\n", 20}};

	(void)state;
	assert_int_equal(hbm_importer_hlo.probe(&hlo), 90);
	assert_int_equal(hbm_importer_hlo.probe(&csv), 0);
}

static void opcodes_are_sorted(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < HLO_N_OPCODES; i++)
		assert_true(strcmp(hlo_opcode_infos[i - 1].text, hlo_opcode_infos[i].text) < 0);
	for (uint32_t i = 0; i < HLO_N_OPCODES; i++)
		assert_int_equal(hlo_opcode_find(hlo_opcode_infos[i].text,
		                                 strlen(hlo_opcode_infos[i].text)), i);
	assert_int_equal(hlo_opcode_find("addx", 4), HLO_N_OPCODES);
	assert_int_equal(hlo_opcode_find("ad", 2), HLO_N_OPCODES);
}

/* ---- trips that are not said ---------------------------------------------- */

/* A loop that counts: the parts of it that matter. */
typedef struct counting {
	const char *type, *begin, *next, *condition, *want;
} counting;

static void trips_are_counted(void **state)
{
	static const char text[] =
		"HloModule m\n"
		"body { s = (%s[], f32[4]) parameter(0)\n i = %s[] get-tuple-element(s), index=0\n"
		" x = f32[4] get-tuple-element(s), index=1\n one = %s[] constant(1)\n"
		" big = %s[] constant(1000000000)\n three = %s[] constant(3)\n"
		" j = %s[] %s\n k = %s[] copy(j)\n y = f32[4] negate(x)\n"
		" ROOT r = (%s[], f32[4]) tuple(k, y) }\n"
		"cond { s = (%s[], f32[4]) parameter(0)\n i = %s[] get-tuple-element(s), index=0\n"
		" n = %s[] constant(10)\n max = %s[] constant(2147483647)\n"
		" ROOT lt = pred[] compare(%s }\n"
		"ENTRY e { x = f32[4] parameter(0)\n b = %s[] constant(%s)\n c = %s[] copy(b)\n"
		" t = (%s[], f32[4]) tuple(c, x)\n"
		" l = (%s[], f32[4]) while(t), condition=cond, body=body\n"
		" ROOT o = f32[4] get-tuple-element(l), index=1 }\n";
	static const counting rows[] = {
		{"s32", "0", "add(i, one)", "i, n), direction=LT", " x10 "},
		{"s32", "0", "add(i, one)", "i, n), direction=LE", " x11 "},
		{"s32", "0", "add(one, i)", "n, i), direction=GT", " x10 "},
		{"u32", "1", "add(i, three)", "n, i), direction=GE", " x4 "},
		{"s64", "-5", "add(i, three)", "i, n), direction=LT", " x5 "},
		{"s32", "9", "add(i, three)", "i, n), direction=LT", " x1 "},
		{"s32", "0", "add(i, big)", "i, n), direction=LT", " x1 "},
		{"s32", "0", "add(i, one)", "i, max), direction=LT", " x2147483647 "},
		/* The counter passes the end of its type and begins anew. */
		{"s32", "0", "add(i, big)", "i, max), direction=LT", " x? "},
		{"s32", "0", "add(i, one)", "i, max), direction=LE", " x? "},
		{"s32", "10", "add(i, one)", "i, n), direction=LT", " x? "},
		{"s32", "0", "add(i, one)", "i, n), direction=NE", " x? "},
		{"s32", "0", "add(i, i)", "i, n), direction=LT", " x? "},
		{"s32", "0", "subtract(i, one)", "i, n), direction=LT", " x? "},
		{"s32", "0", "add(i, one)", "n, i), direction=LT", " x? "},
		{"s8", "0", "add(i, one)", "i, n), direction=LT", " x? "},
		{"s32", "{...}", "add(i, one)", "i, n), direction=LT", " x? "},
	};
	test_room *r = *state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *t = rows[i].type;
		char module[2048];
		hbm_program p;
		snprintf(module, sizeof module, text, t, t, t, t, t, t, rows[i].next, t, t, t,
		         t, t, t, rows[i].condition, t, rows[i].begin, t, t, t);
		p = ok(r, module);
		has(r, &p, LINES(rows[i].want));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(sizes_of_shapes),
		ROOM_TEST(header_entry_and_root_may_be_missing),
		ROOM_TEST(long_and_short_form_are_the_same),
		ROOM_TEST(attributes_may_stand_on_more_lines),
		ROOM_TEST(compact_elements_are_read),
		ROOM_TEST(sources_come_from_metadata),
		ROOM_TEST(of_several_modules_the_first_is_read),
		ROOM_TEST(views_have_no_bytes),
		ROOM_TEST(moves_of_bytes_are_no_views),
		ROOM_TEST(sharding_marks_hand_on),
		ROOM_TEST(host_memory_takes_no_device_bytes),
		ROOM_TEST(constants_are_weights_and_stand_once),
		ROOM_TEST(results_that_are_arguments_are_copied),
		ROOM_TEST(operands_live_until_the_end_of_the_pair),
		ROOM_TEST(updates_happen_in_place_when_the_operand_dies),
		ROOM_TEST(an_argument_is_not_written),
		ROOM_TEST(a_donated_argument_read_later_is_not_overwritten),
		ROOM_TEST(custom_calls_alias_as_they_say),
		ROOM_TEST(fusions_take_over_only_element_by_element),
		ROOM_TEST(aliased_results_stand_in_their_arguments),
		ROOM_TEST(swapped_results_are_saved_first),
		ROOM_TEST(loop_state_is_updated_in_place),
		ROOM_TEST(loop_state_that_is_read_late_is_copied),
		ROOM_TEST(arguments_go_round_a_loop_without_a_copy),
		ROOM_TEST(branches_share_their_result),
		ROOM_TEST(donated_buffer_is_updated_across_a_loop),
		ROOM_TEST(unscheduled_modules_get_a_good_order),
		ROOM_TEST(instructions_may_stand_in_any_order_unless_scheduled),
		ROOM_TEST(errors_have_their_place),
		ROOM_TEST(several_errors_are_listed),
		ROOM_TEST(unknown_opcodes_are_taken_with_a_word),
		ROOM_TEST(recursion_and_growth_are_limited),
		ROOM_TEST(trips_are_counted),
		ROOM_TEST(truncated_texts_are_refused),
		ROOM_TEST(probe_knows_its_own),
		ROOM_TEST(opcodes_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
