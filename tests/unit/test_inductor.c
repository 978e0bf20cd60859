/* SPDX-License-Identifier: Apache-2.0
 *
 * Inductor dumps. Each directory tests/golden/inductor/NAME is a small dump; its
 * file `expected` holds what reading it says and the program that comes out.
 * HBM_GOLDEN_UPDATE=1 writes these anew. A file `bind` gives values to symbols; log.txt,
 * when there, is what is read instead of the directory. */
#include "support/ir.h"
#include "support/oom.h"
#include "support/test.h"

#include "base/file.h"
#include "import/inductor.h"
#include "ir/validate.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *golden(hbm_arena *a, const char *name, const char *file)
{
	const char *root = getenv("HBM_SOURCE");
	char path[512];

	assert_non_null(root);
	snprintf(path, sizeof path, "%s/tests/golden/inductor/%s%s", root, name, file);
	return hbm_arena_strndup(a, path, strlen(path));
}

/* Lines "s0=3". */
static uint32_t read_binds(hbm_arena *a, const char *path, hbm_bind *binds)
{
	hbm_bytes text;
	uint32_t n = 0;

	if (access(path, R_OK))
		return 0;
	assert_int_equal(hbm_file_read(a, NULL, path, 0, &text), HBM_OK);
	for (const char *s = text.data; *s && n < 4; n++) {
		const char *eq = strchr(s, '='), *nl = strchr(s, '\n');
		assert_true(eq && nl);
		binds[n].name = hbm_arena_strndup(a, s, (size_t)(eq - s));
		binds[n].value = strtoull(eq + 1, NULL, 10);
		s = nl + 1;
	}
	return n;
}

static const char *say(hbm_arena *a, const char *name)
{
	const char *log = golden(a, name, "/log.txt");
	const char *dir = golden(a, name, ""), *from, *said, *text = "";
	hbm_bind binds[4];
	hbm_import_opts opts = {.binds = binds};
	hbm_imported in;
	hbm_diags d;
	hbm_status status;
	size_t n;
	char *all;

	hbm_diags_init(&d, a);
	opts.n_binds = read_binds(a, golden(a, name, "/bind"), binds);
	status = hbm_import_path(a, &d, access(log, R_OK) ? dir : log, NULL, &opts, &from,
	                         &in);
	assert_int_equal(status != HBM_OK, d.n_errors != 0);
	said = ir_messages(a, &d, true);
	if (!status) {
		assert_string_equal(from, "inductor");
		assert_null(in.program.text);
		text = ir_print(a, &in.program);
	}
	n = strlen(said) + strlen(text) + 1;
	all = HBM_ARRAY(a, char, n);
	assert_non_null(all);
	snprintf(all, n, "%s%s", said, text);
	return all;
}

static bool check_dump(test_room *room, const char *name)
{
	const char *path = golden(&room->arena, name, "/expected");
	const char *got = say(&room->arena, name);
	hbm_bytes expected;

	if (getenv("HBM_GOLDEN_UPDATE")) {
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		assert_true(fputs(got, f) >= 0);
		assert_int_equal(fclose(f), 0);
	}
	assert_int_equal(hbm_file_read(&room->arena, &room->diags, path, 0, &expected),
	                 HBM_OK);
	if (!strcmp(got, expected.data))
		return true;
	print_error("%s: expected\n%sgot\n%s", name, expected.data, got);
	return false;
}

static void dumps(void **state)
{
	test_room *room = *state;
	const char **names;
	uint32_t n, n_bad = 0;

	assert_int_equal(hbm_dir_list(&room->arena, &room->diags,
	                              golden(&room->arena, "", ""), &names, &n), HBM_OK);
	assert_true(n >= 12);
	for (uint32_t i = 0; i < n; i++)
		n_bad += !check_dump(room, names[i]);
	assert_int_equal(n_bad, 0);
}

/* ---- errors --------------------------------------------------------------- */

#define HEAD "op0: SchedulerNode(ComputedBuffer)\n"
#define DEPS                                                                   \
	"op0.writes = [MemoryDep('buf0', c0, {c0: 4})]\n"                      \
	"op0.unmet_dependencies = []\n"                                        \
	"op0.met_dependencies = []\n"
#define BUF(layout)                                                            \
	"op0.outputs = [\n"                                                    \
	"    buf0: ComputedBuffer\n"                                           \
	"    buf0.layout = " layout "\n"                                       \
	"    buf0.users = []\n"                                                \
	"]\n"
#define NODE(layout) HEAD DEPS BUF(layout)
#define GOOD "FixedLayout('cuda:0', torch.float32, size=[4], stride=[1])"

static const struct {
	const char *text, *message;
} bad[] = {
	{"", "t:1:1: error: the file holds no scheduler node"},
	{"hello\n", "the file holds no scheduler node"},
	{HEAD, "t:1:1: error: node 'op0' has no line 'writes'"},
	{HEAD "op0.writes = []\n", "no line 'unmet_dependencies'; the file may be"},
	{HEAD "op0.writes = []\nop0.unmet_dependencies = []\n", "no line 'met_dep"},
	{HEAD "op0.writes = [MemoryDep('buf0'\n\n\n",
	 "t:2:14: error: this list never ends"},
	{HEAD "op0.writes = \n\n[]\n", "t:2:1: error: a list is expected here"},
	{HEAD "op0.writes = 7\n", "a list is expected here"},
	{HEAD "op0.writes = [MemoryDep]\n", "something that is no dependency"},
	{HEAD "op0.writes = [7]\n", "something that is no dependency"},
	{HEAD "op1.writes = []\n", "t:2:1: error: a field of node 'op1', which is not"},
	{HEAD "op0.snodes[1] =\n", "t:2:5: error: child 0 of 'op0' is expected"},
	{HEAD "op0.snodes[99999999999999999999999] =\n", "child 0 of 'op0'"},
	{HEAD "op0.snodes[0] =\nop0.writes = []\n", "t:3:1: error: the child that was"},
	{HEAD "op0.snodes[0] =\n", "ends before the child that was announced"},
	{NODE(GOOD) "op0.siz", "t:10:1: error: the file ends inside this line"},
	{HEAD DEPS, "t:1:1: error: no size of buffer 'buf0' is known; this version"},
	{NODE("FixedLayout("), "t:7:19: error: this is no layout"},
	{NODE("FixedLayout('cuda:0', torch.float32)"), "the layout has no size"},
	{NODE("FixedLayout('cuda:0', size=[4], stride=[1])"), "the layout has no dtype"},
	{NODE("FixedLayout('cuda:0', torch.float31, size=[4], stride=[1])"),
	 "t:7:41: error: unknown dtype 'torch.float31'"},
	{NODE("FixedLayout('cuda:0', torch.float32, size=[4], stride=[1, 1])"),
	 "2 strides for 1 extents"},
	{NODE("FixedLayout('cuda:0', torch.float32, size=[4, 4*], stride=[4, 1])"),
	 "this is no size expression"},
	{NODE("FixedLayout('cuda:0', torch.float32, size=[-4], stride=[1])"),
	 "t:7:62: error: the size is not a whole number"},
	{NODE("FixedLayout('cuda:0', torch.float32, size=[9223372036854775807], stride=[1])"),
	 "t:7:62: error: the size is not a whole number from 0 to 2^62"},
	{NODE("FixedLayout('cuda:0', torch.float32, size=[99999999999999999999], stride=[1])"),
	 "the size is not a whole number from 0 to 2^62"},
	{NODE("FixedLayout('cuda:0', torch.float32, size=[4, 2305843009213693952], "
	      "stride=[2305843009213693952, 1])"), "more than 2^62 elements"},
	{NODE("FixedLayout('cuda:0', torch.float32, size=[4611686018427387904], stride=[1])"),
	 "'buf0' has more than 2^62 bytes"},
	{NODE("FixedLayout('cuda:0', torch.float32, size=[u7], stride=[1])"),
	 "t:7:62: error: a size depends on 'u7', which has no value; give one with "
	 "--bind u7=N"},
	{NODE(GOOD) "\n\n" HEAD DEPS BUF(GOOD), "'buf0' is made by two nodes"},
	{HEAD DEPS "op0.outputs = [\n    buf0: ComputedBuffer\n    buf0.layout = " GOOD
	 "\n    buf0.aliases = ['buf1']\n    buf0.users = []\n]\n\n\n"
	 "op1: SchedulerNode(ComputedBuffer)\n"
	 "op1.writes = [MemoryDep('buf1', c0, {c0: 4})]\n"
	 "op1.unmet_dependencies = []\nop1.met_dependencies = []\n"
	 "op1.outputs = [\n    buf1: ComputedBuffer\n    buf1.layout = " GOOD
	 "\n    buf1.aliases = ['buf0']\n    buf1.users = []\n]\n",
	 "is a view of itself"},
	{HEAD DEPS "op0.outputs = 3\n", "'[' is expected"},
	{HEAD "op0.loop_count = 0\n", "this is no trip count"},
	{HEAD "op0.loop_count = q\n", "this is no trip count"},
	{"DEBUG:x:y\n", "the log has no section 'AFTER FUSION'"},
};

static hbm_status read_text(hbm_arena *a, hbm_diags *d, const char *text,
                            hbm_imported *ret)
{
	hbm_source src = {.path = "t", .bytes = {text, strlen(text)}};
	hbm_import_opts opts = {0};

	return hbm_importer_inductor.read(a, &src, &opts, d, ret);
}

static void errors(void **state)
{
	test_room *room = *state;
	hbm_imported in;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *said;
		hbm_diags_init(&room->diags, &room->arena);
		if (!read_text(&room->arena, &room->diags, bad[i].text, &in))
			fail_msg("case %zu was read without an error", i);
		said = messages(&room->arena, &room->diags);
		if (!strstr(said, bad[i].message))
			fail_msg("case %zu: expected '%s' in\n%s", i, bad[i].message, said);
	}
	hbm_diags_init(&room->diags, &room->arena);
	assert_int_equal(read_text(&room->arena, &room->diags, NODE(GOOD), &in), HBM_OK);
	assert_int_equal(room->diags.list.n, 0);
}

/* However a dump is cut, reading it ends in a message or in a program. */
static void truncated(void **state)
{
	test_room *room = *state;
	static const char *const names[] = {"mutation", "era_b", "spyre", "tuple"};

	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		hbm_bytes text;
		const char *path = golden(&room->arena, names[k], "/ir_post_fusion.txt");
		assert_int_equal(hbm_file_read(&room->arena, NULL, path, 0, &text), HBM_OK);
		for (size_t n = 0; n < text.n; n += 7) {
			hbm_arena a;
			hbm_diags d;
			hbm_imported in;
			char *cut;
			hbm_status status;
			hbm_arena_init(&a, NULL);
			hbm_diags_init(&d, &a);
			cut = hbm_arena_strndup(&a, text.data, n);
			status = read_text(&a, &d, cut, &in);
			assert_int_equal(status != HBM_OK, d.n_errors != 0);
			hbm_arena_fini(&a);
		}
	}
}

/* Nodes nested deeper than the limit; a million brackets. */
static void deep(void **state)
{
	test_room *room = *state;
	hbm_imported in;
	enum { N = 1000000 };
	char *text = malloc(N + 100);
	size_t n = 0;

	assert_non_null(text);
	for (int i = 0; i < 100; i++)
		n += (size_t)sprintf(text + n, "n%d: FusedSchedulerNode(X)\nn%d.snodes[0] =\n",
		                     i, i);
	assert_int_equal(read_text(&room->arena, &room->diags, text, &in), HBM_SEMANTIC);
	expect_message(&room->diags, HBM_E_NESTING, "deeper than 64");
	n = (size_t)sprintf(text, HEAD "op0.writes = ");
	memset(text + n, '[', N);
	text[n + N] = '\0';
	assert_int_equal(read_text(&room->arena, &room->diags, text, &in), HBM_SEMANTIC);
	expect_message(&room->diags, HBM_E_IND_SYNTAX, "never ends");
	free(text);
}

/* ---- expressions ---------------------------------------------------------- */

static void expressions(void **state)
{
	static const struct {
		const char *text;
		hbm_ind_eval eval;
		uint64_t value;
	} cases[] = {
		{"12", HBM_IND_OK, 12}, {" 2*3 + 4 ", HBM_IND_OK, 10},
		{"2 + 3*4", HBM_IND_OK, 14}, {"(2 + 3)*4", HBM_IND_OK, 20},
		{"20 - 3 - 4", HBM_IND_OK, 13}, {"2**3**2", HBM_IND_OK, 512},
		{"-2**2 + 5", HBM_IND_OK, 1}, {"-(-3)", HBM_IND_OK, 3},
		{"7//2", HBM_IND_OK, 3}, {"(-7)//2 + 9", HBM_IND_OK, 5},
		{"(-7) % 4", HBM_IND_OK, 1}, {"17 % 5", HBM_IND_OK, 2},
		{"(s0/2)*2", HBM_IND_OK, 7}, {"s0/2", HBM_IND_RANGE, 0},
		{"floor(s0/2)", HBM_IND_OK, 3}, {"ceiling(s0/2)", HBM_IND_OK, 4},
		{"Max(1, s0, 3)", HBM_IND_OK, 7}, {"Min(9, s0)", HBM_IND_OK, 7},
		{"FloorDiv(s0, 2)", HBM_IND_OK, 3}, {"CeilDiv(s0, 2)", HBM_IND_OK, 4},
		{"ModularIndexing(s0, 2, 2)", HBM_IND_OK, 1},
		{"Mod(s0, 4)", HBM_IND_OK, 3}, {"PowByNatural(2, 10)", HBM_IND_OK, 1024},
		{"s0**2 - 4*s0", HBM_IND_OK, 21}, {"2**62", HBM_IND_OK, UINT64_C(1) << 62},
		{"2**62 + 1", HBM_IND_RANGE, 0}, {"2**63", HBM_IND_RANGE, 0},
		{"2**100000", HBM_IND_RANGE, 0}, {"1**100000", HBM_IND_OK, 1},
		{"3037000500*3037000500", HBM_IND_RANGE, 0},
		{"9223372036854775808", HBM_IND_RANGE, 0}, {"1 - 2", HBM_IND_RANGE, 0},
		{"1/0", HBM_IND_RANGE, 0}, {"1//0", HBM_IND_RANGE, 0},
		{"5 % 0", HBM_IND_RANGE, 0}, {"0**0", HBM_IND_OK, 1},
		{"2**(-1)*2", HBM_IND_OK, 1}, {"s9", HBM_IND_UNBOUND, 0},
		{"s9*0", HBM_IND_UNBOUND, 0}, {"", HBM_IND_BAD, 0}, {"1 +", HBM_IND_BAD, 0},
		{"1 1", HBM_IND_BAD, 0}, {"(1", HBM_IND_BAD, 0}, {"1)", HBM_IND_BAD, 0},
		{"Foo(1)", HBM_IND_BAD, 0}, {"Max()", HBM_IND_BAD, 0},
		{"Max(1", HBM_IND_BAD, 0}, {"1.5", HBM_IND_RANGE, 0},
		{"1.5*s0*2", HBM_IND_OK, 21}, {"math.floor(0.5*s0)", HBM_IND_OK, 3},
		{"math.ceil((1/2)*s0)", HBM_IND_OK, 4}, {"int(s0 / 4)", HBM_IND_OK, 1},
		{"1.2.3", HBM_IND_BAD, 0}, {".5", HBM_IND_BAD, 0}, {"2.", HBM_IND_OK, 2},
		{"0.0000000000000000000001", HBM_IND_RANGE, 0}, {"'a'", HBM_IND_BAD, 0},
	};
	hbm_bind bind = {"s0", 7};
	hbm_import_opts opts = {.binds = &bind, .n_binds = 1};
	char nest[400];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		hbm_ind_text t;
		uint64_t v;
		size_t from, to;
		hbm_ind_eval e;
		hbm_ind_open(&t, "t", (hbm_bytes){cases[i].text, strlen(cases[i].text)});
		e = hbm_ind_expr(&opts, &t, 0, t.n, &v, &from, &to);
		if (e != cases[i].eval || v != cases[i].value)
			fail_msg("'%s' gives %d %llu", cases[i].text, (int)e,
			         (unsigned long long)v);
	}
	memset(nest, '(', sizeof nest);
	for (size_t n = 10; n <= sizeof nest; n += 390) {
		hbm_ind_text t;
		uint64_t v;
		size_t from, to;
		hbm_ind_open(&t, "t", (hbm_bytes){nest, n});
		assert_int_equal(hbm_ind_expr(&opts, &t, 0, n, &v, &from, &to), HBM_IND_BAD);
	}
}

/* ---- detection and files -------------------------------------------------- */

static int probe(const char *path, const char *text)
{
	hbm_source src = {.path = path, .bytes = {text, strlen(text)}};

	return hbm_importer_inductor.probe(&src);
}

static void detection(void **state)
{
	(void)state;
	assert_true(probe("x", NODE(GOOD)) > 90);
	assert_true(probe("x", "\n\n  buf0_buf1: FusedSchedulerNode(NoneType)\n") > 90);
	assert_true(probe("x", "V0223 02:01:03.545000 5192 a.py:1] b\n") > 0);
	assert_true(probe("d/output_code.py", "import torch\n") > 0);
	assert_int_equal(probe("x", "id,lower,upper,size\n"), 0);
	assert_int_equal(probe("x", "HloModule m\n"), 0);
	assert_int_equal(probe("x", ""), 0);
}

static void directories(void **state)
{
	test_room *room = *state;
	hbm_arena *a = &room->arena;
	const char *top = temp_path(a, "run"), *one = temp_path(a, "run/one");
	const char *two = temp_path(a, "run/two"), *from;
	hbm_imported in;

	assert_int_equal(mkdir(top, 0700) | mkdir(one, 0700) | mkdir(two, 0700), 0);
	assert_int_equal(hbm_import_path(a, &room->diags, top, "inductor", NULL, &from, &in),
	                 HBM_SEMANTIC);
	expect_message(&room->diags, HBM_E_IND_MISSING, "no ir_post_fusion.txt in");
	temp_file(a, "run/one/ir_post_fusion.txt", NODE(GOOD), strlen(NODE(GOOD)));
	assert_int_equal(hbm_import_path(a, &room->diags, top, NULL, NULL, &from, &in),
	                 HBM_OK);
	assert_int_equal(in.program.ops.n, 1);
	temp_file(a, "run/two/ir_post_fusion.txt", NODE(GOOD), strlen(NODE(GOOD)));
	assert_int_equal(hbm_import_path(a, &room->diags, top, NULL, NULL, &from, &in),
	                 HBM_SEMANTIC);
	expect_message(&room->diags, HBM_E_IND_MISSING, "2 graphs are below");
	temp_file(a, "run/two/output_code.py", "", 0);
	assert_int_equal(hbm_import_path(a, &room->diags,
	                                 temp_path(a, "run/two/output_code.py"), NULL,
	                                 NULL, &from, &in), HBM_SEMANTIC);
	expect_message(&room->diags, HBM_E_IND_MISSING, "this file alone is no program");
	unlink(temp_path(a, "run/one/ir_post_fusion.txt"));
	unlink(temp_path(a, "run/two/ir_post_fusion.txt"));
	unlink(temp_path(a, "run/two/output_code.py"));
	rmdir(one);
	rmdir(two);
}

/* ---- out of memory -------------------------------------------------------- */

static hbm_status read_dir(hbm_arena *a, void *user)
{
	hbm_import_opts opts = {0};
	hbm_source src = {.path = user, .is_dir = true, .bytes = {"", 0}};
	hbm_imported in;

	return hbm_importer_inductor.read(a, &src, &opts, NULL, &in);
}

static hbm_status read_log(hbm_arena *a, void *user)
{
	hbm_import_opts opts = {0};
	hbm_source src = {.path = "log", .bytes = *(hbm_bytes *)user};
	hbm_imported in;

	return hbm_importer_inductor.read(a, &src, &opts, NULL, &in);
}

static void out_of_memory(void **state)
{
	test_room *room = *state;
	hbm_arena *a = &room->arena;
	static const char *const names[] = {"mutation", "era_a", "era_b", "spyre"};
	hbm_bytes log;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_true(oom_sweep(read_dir, (void *)golden(a, names[i], "")) > 0);
	assert_int_equal(hbm_file_read(a, NULL, golden(a, "log", "/log.txt"), 0, &log),
	                 HBM_OK);
	oom_sweep(read_log, &log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(dumps), ROOM_TEST(errors), ROOM_TEST(truncated), ROOM_TEST(deep),
		ROOM_TEST(expressions), ROOM_TEST(detection), ROOM_TEST(directories),
		ROOM_TEST(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
