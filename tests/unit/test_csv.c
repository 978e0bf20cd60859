/* SPDX-License-Identifier: Apache-2.0
 *
 * Lifetime tables: every dialect, every error with its place. */
#include "support/test.h"

#include "import/importer.h"

static hbm_status read_text(test_room *room, const char *text, hbm_imported *ret)
{
	hbm_source src = {.path = "t.csv", .bytes = {text, strlen(text)}};
	hbm_import_opts opts = {0};

	return hbm_importer_csv.read(&room->arena, &src, &opts, &room->diags, ret);
}

static hbm_named_problem good(test_room *room, const char *text)
{
	hbm_imported in;
	hbm_status status = read_text(room, text, &in);

	if (status)
		fail_msg("%s", messages(&room->arena, &room->diags));
	assert_true(in.is_problem);
	return in.problem;
}

static void expect_range(const hbm_named_problem *np, uint32_t i, const char *name,
                         int64_t start, int64_t end, uint64_t size)
{
	assert_string_equal(np->names[i], name);
	assert_int_equal(np->problem.start[i], start);
	assert_int_equal(np->problem.end[i], end);
	assert_int_equal(np->problem.size[i], size);
}

/* C83: the same numbers under two conventions. */
static void half_open_and_closed(void **state)
{
	test_room *room = *state;
	hbm_named_problem np = good(room, "id,lower,upper,size\na,0,2,128\nb,2,4,128\n");

	assert_int_equal(np.problem.n, 2);
	assert_false(np.closed);
	expect_range(&np, 0, "a", 0, 2, 128);
	expect_range(&np, 1, "b", 2, 4, 128);
	np = good(room, "id,start,end,size\na,0,2,128\nb,2,4,128\n");
	assert_true(np.closed);
	expect_range(&np, 0, "a", 0, 3, 128);
	expect_range(&np, 1, "b", 2, 5, 128);
	np = good(room, "buffer_id,begin,end,size\na,0,0,1\n");
	assert_true(np.closed);
	expect_range(&np, 0, "a", 0, 1, 1);
}

static void any_order_and_spelling(void **state)
{
	test_room *room = *state;
	hbm_named_problem np = good(
		room, "\xef\xbb\xbf Size , \"upper\",BUFFER,lower\r\n\r\n"
		      "# a comment, with commas\r\n"
		      " 4 ,7, \"a,\"\"b\"\"\" ,-3 \r\n\n   \n+5,9,c,9");

	assert_int_equal(np.problem.n, 2);
	expect_range(&np, 0, "a,\"b\"", -3, 7, 4);
	expect_range(&np, 1, "c", 9, 9, 5);
	assert_int_equal(np.lines[0], 4);
	assert_int_equal(np.lines[1], 7);
	assert_null(np.problem.align);
	assert_null(np.problem.pin);
	assert_null(np.problem.hint);
	assert_null(np.problem.gaps);
	assert_true(np.problem.capacity == HBM_NO_OFFSET);
}

static void quoted_line_break(void **state)
{
	hbm_named_problem np = good(*state, "id,lower,upper,size\n\"a\nb\",0,1,2\nc,0,1,2\n");

	expect_range(&np, 0, "a\nb", 0, 1, 2);
	assert_int_equal(np.lines[0], 2);
	assert_int_equal(np.lines[1], 4);
}

static void options(void **state)
{
	hbm_named_problem np = good(
		*state, "id,lower,upper,size,alignment,hint,offset\n"
			"a,0,1,2,64,-1,\nb,0,1,2,,7,-1\nc,0,1,2,1,,128\n");

	assert_int_equal(np.problem.align[0], 64);
	assert_int_equal(np.problem.align[1], 1);
	assert_true(np.problem.hint[0] == HBM_NO_OFFSET);
	assert_int_equal(np.problem.hint[1], 7);
	assert_true(np.problem.pin[0] == HBM_NO_OFFSET);
	assert_true(np.problem.pin[1] == HBM_NO_OFFSET);
	assert_int_equal(np.problem.pin[2], 128);
}

static void kin(void **state)
{
	hbm_named_problem np = good(*state, "id,lower,upper,size,set,shift,group\n"
	                                    "a,0,1,2,7,,\nb,0,1,2,7,2,-1\nc,0,1,2,,,0\n");

	assert_int_equal(np.problem.set[0], 7);
	assert_int_equal(np.problem.shift[0], 0);
	assert_int_equal(np.problem.shift[1], 2);
	assert_int_equal(np.problem.set[2], HBM_NONE);
	assert_int_equal(np.problem.group[1], HBM_NONE);
	assert_int_equal(np.problem.group[2], 0);
}

static void gaps(void **state)
{
	test_room *room = *state;
	hbm_named_problem np = good(room, "id,lower,upper,size,gaps\n"
	                                  "a,0,20,8,5-7  1-3@2:4\nb,0,1,1,\n"
	                                  "c,-9,9,8,-5--3 1-2\n");
	const hbm_problem *p = &np.problem;

	assert_int_equal(p->gap_first[0], 0);
	assert_int_equal(p->gap_first[1], 2);
	assert_int_equal(p->gap_first[2], 2);
	assert_int_equal(p->gap_first[3], 4);
	assert_int_equal(p->gaps[0].start, 1);
	assert_int_equal(p->gaps[0].end, 3);
	assert_int_equal(p->gaps[0].lo, 2);
	assert_int_equal(p->gaps[0].hi, 4);
	assert_int_equal(p->gaps[1].start, 5);
	assert_int_equal(p->gaps[1].lo, p->gaps[1].hi);
	assert_int_equal(p->gaps[2].start, -5);
	assert_int_equal(p->gaps[2].end, -3);
	np = good(room, "id,start,end,size,gaps\na,0,20,8,5-7\n");
	assert_int_equal(np.problem.gaps[0].start, 5);
	assert_int_equal(np.problem.gaps[0].end, 8);
}

/* C61 and its kind. */
static void degenerate(void **state)
{
	test_room *room = *state;
	hbm_named_problem np = good(room, "id,lower,upper,size");

	assert_int_equal(np.problem.n, 0);
	np = good(room, "id,lower,upper,size\na,3,3,5\nb,0,9,0\n"
	                "c,-4611686018427387904,4611686018427387904,4611686018427387903");
	expect_range(&np, 0, "a", 3, 3, 5);
	expect_range(&np, 1, "b", 0, 9, 0);
	expect_range(&np, 2, "c", -(INT64_C(1) << 62), INT64_C(1) << 62,
	             (UINT64_C(1) << 62) - 1);
}

#define HEAD "id,lower,upper,size\n"

static void errors(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "t.csv:1:1: error: the table is empty"},
		{"\n \n", "the table is empty"},
		{"id,lower,end,size\na,0,1,2\n", "t.csv:1:1: error: the header mixes"},
		{"id,start,upper,size\n", "the header mixes two conventions"},
		{"id,begin,start,end,size\n", "t.csv:1:10: error: columns 2 and 3 mean"},
		{"lower,upper,size\n", "no column 'id'"},
		{"id,lower,upper\n", "no column 'size'"},
		{"id,upper,size\n", "no column 'lower' or 'start'"},
		{"id,lower,size\n", "no column 'upper'"},
		{"id,start,size\n", "no column 'end'"},
		{"id,lower,upper,size,size\n", "t.csv:1:21: error: columns 4 and 5"},
		{"id,lower,upper,size,aligment\n", "t.csv:1:21: error: unknown column 'aligment'"},
		{"id,lower,upper,size,aligment\n", "did you mean 'alignment'?"},
		{HEAD "a,0,1\n", "t.csv:2:1: error: the row has 3 fields, the header has 4"},
		{HEAD "a,0,1,2,\n", "the row has 5 fields"},
		{HEAD "\n,0,1,2\n", "t.csv:3:1: error: the id is missing"},
		{HEAD "a,0,1,2\nb,0,1,2\na,0,1,2", "t.csv:4:1: error: id 'a' stands in two"},
		{HEAD "a,0,1,2\nb,0,1,2\na,0,1,2", "t.csv:2:0: note: the first one is here"},
		{HEAD "a,0,1,-2\n", "t.csv:2:7: error: size -2 is negative"},
		{HEAD "a,0,1,4611686018427387905\n", "is beyond 2^62"},
		{HEAD "a,0,1,4611686018427387904\n", "t.csv:2:7: error: size 46116860184273879"
		                                      "04 is not below 2^62"},
		{"id,lower,upper,size,alignment,offset\na,0,1,2,3,4\n",
		 "t.csv:2:11: error: offset 4 is no multiple of the alignment 3"},
		{HEAD "a,0,1,99999999999999999999999\n", "is beyond 2^62"},
		{HEAD "a,0,1,18446744073709551616\n", "is beyond 2^62"},
		{HEAD "a,-4611686018427387905,1,2\n", "start -4611686018427387905 is beyond"},
		{HEAD "a,0,1,2.5\n", "size '2.5' is not a whole number"},
		{HEAD "a,0,1,0x10\n", "size '0x10' is not a whole number"},
		{HEAD "a,0,,2\n", "t.csv:2:5: error: the end is missing"},
		{HEAD "a,x,1,2\n", "t.csv:2:3: error: start 'x' is not a whole number"},
		{HEAD "a,-,1,2\n", "start '-' is not a whole number"},
		{HEAD "a,5,4,2\n", "the end 4 is before the start 5"},
		{"id,start,end,size\na,5,4,2\n", "the end 4 is before the start 5"},
		{HEAD "\"a,0,1,2\n", "t.csv:2:1: error: the quoted field is never closed"},
		{HEAD "\"a\"b,0,1,2\n", "text follows the closing quote"},
		{"id,lower,upper,size,alignment\na,0,1,2,0\n", "alignment of zero"},
		{"id,lower,upper,size,alignment\na,0,1,2,-8\n", "alignment -8 is negative"},
		{"id,lower,upper,size,offset\na,0,1,2,-2\n", "offset -2 is negative"},
		{"id,lower,upper,size,gaps\na,0,9,2,1:3\n", "are not a list of a-b"},
		{"id,lower,upper,size,gaps\na,0,9,2,3-3\n", "is empty or reversed"},
		{"id,lower,upper,size,gaps\na,0,9,2,3-10\n", "not inside the life"},
		{"id,lower,upper,size,gaps\na,0,9,2,1-4 3-5\n", "gaps overlap at 3"},
		{"id,lower,upper,size,gaps\na,0,9,2,1-4@0:3\n", "up to 3 of a buffer of 2"},
		{"id,lower,upper,size,gaps\na,0,9,2,1-4@2:1\n", "are not a list"},
		{"id,lower,upper,size,gaps\na,0,9,2,1-4@1\n", "are not a list"},
	};
	test_room *room = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		hbm_imported in;
		const char *said;
		hbm_diags_init(&room->diags, &room->arena);
		if (!read_text(room, cases[i].text, &in))
			fail_msg("case %zu was read without an error", i);
		said = messages(&room->arena, &room->diags);
		if (!strstr(said, cases[i].message))
			fail_msg("case %zu: expected '%s' in\n%s", i,
			         cases[i].message, said);
	}
}

static void all_errors_of_a_file(void **state)
{
	test_room *room = *state;
	hbm_imported in;

	assert_int_equal(read_text(room, HEAD "a,0,x,2\nb,0,1,-2\na,3\nb,4,3,1\n", &in),
	                 HBM_SEMANTIC);
	expect_errors(&room->diags, 5);
}

static void errors_stop_at_twenty(void **state)
{
	test_room *room = *state;
	char text[4096];
	size_t n = (size_t)snprintf(text, sizeof text, "%s", HEAD);
	hbm_imported in;

	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "b%d,0,1,x\n", i);
	assert_int_equal(read_text(room, text, &in), HBM_SEMANTIC);
	expect_errors(&room->diags, HBM_MAX_ERRORS);
}

static int probe(const char *text)
{
	hbm_source src = {.path = "t", .bytes = {text, strlen(text)}};

	return hbm_importer_csv.probe(&src);
}

static void detection(void **state)
{
	(void)state;
	assert_true(probe(HEAD) > 90);
	assert_true(probe("# x\n\n\"id\" , lower,upper,size") > 90);
	assert_true(probe("id,lower,end,size,more\n") > 0);
	assert_int_equal(probe("HloModule m\n"), 0);
	assert_int_equal(probe("{\"id\": 3}"), 0);
	assert_int_equal(probe("# only a comment"), 0);
	assert_int_equal(probe(""), 0);
}

typedef struct ration {
	long left;
	long held;
} ration;

static void *ration_alloc(void *user, size_t size)
{
	ration *r = user;

	if (r->left-- <= 0)
		return NULL;
	r->held++;
	return malloc(size);
}

static void ration_release(void *user, void *ptr, size_t size)
{
	(void)size;
	((ration *)user)->held -= ptr != NULL;
	free(ptr);
}

/* The first allocations and a sample of the later ones fail once; nothing leaks,
 * nothing comes out. */
static void out_of_memory(void **state)
{
	static const char head[] = "id,lower,upper,size,gaps,alignment,hint,offset\n";
	size_t n = sizeof head - 1, cap = 400000;
	char *text = malloc(cap);
	long k = 0;
	hbm_status status;

	(void)state;
	assert_non_null(text);
	memcpy(text, head, n);
	for (int i = 0; i < 5000; i++)
		n += (size_t)snprintf(text + n, cap - n,
		                      "\"b\"\"%d\",0,9,8,1-2 4-5,1,0,0\n", i);
	do {
		ration r = {.left = k};
		hbm_mem mem = {ration_alloc, ration_release, &r};
		hbm_arena a;
		hbm_imported in;
		hbm_source src = {.path = "t.csv", .bytes = {text, n}};
		hbm_import_opts opts = {0};
		hbm_arena_init(&a, &mem);
		status = hbm_importer_csv.read(&a, &src, &opts, NULL, &in);
		assert_true(status == HBM_OK || status == HBM_NOMEM);
		hbm_arena_fini(&a);
		assert_int_equal(r.held, 0);
		k += 1 + k / 64;
	} while (status);
	assert_true(k > 10);
	free(text);
}

/* The public tables: counts and loads from their sources. */
static uint64_t max_load(const hbm_problem *p)
{
	uint64_t best = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t load = 0;
		for (uint32_t j = 0; j < p->n; j++)
			if (p->start[j] <= p->start[i] && p->start[i] < p->end[j])
				load += p->size[j];
		best = load > best ? load : best;
	}
	return best;
}

static void real_tables(void **state)
{
	static const struct {
		const char *name;
		uint32_t n;
		uint64_t load;
	} tables[] = {
		{"idealloc-iopddl-G_1.csv", 816, 3030937746},
		{"idealloc-somas-resnet50.csv", 1042, 1515472556},
		{"minimalloc-A.1048576.csv", 154, 1048576},
		{"minimalloc-C.1048576.csv", 203, 1039360},
		{"minimalloc-K.1048576.csv", 454, 1048576},
		{"minimalloc-input.12.csv", 5, 12},
	};
	test_room *room = *state;

	if (!shared_path(&room->arena, "data/real/lifetimes-csv"))
		skip();
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		char name[128];
		hbm_imported in;
		const char *from;
		snprintf(name, sizeof name, "data/real/lifetimes-csv/%s", tables[i].name);
		assert_int_equal(hbm_import_path(&room->arena, &room->diags,
		                                 shared_path(&room->arena, name), NULL,
		                                 NULL, &from, &in), HBM_OK);
		assert_string_equal(from, "csv");
		assert_int_equal(in.problem.problem.n, tables[i].n);
		assert_int_equal(max_load(&in.problem.problem), tables[i].load);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(half_open_and_closed), ROOM_TEST(any_order_and_spelling),
		ROOM_TEST(quoted_line_break), ROOM_TEST(options), ROOM_TEST(kin), ROOM_TEST(gaps),
		ROOM_TEST(degenerate), ROOM_TEST(errors),
		ROOM_TEST(all_errors_of_a_file), ROOM_TEST(errors_stop_at_twenty),
		ROOM_TEST(detection), ROOM_TEST(out_of_memory), ROOM_TEST(real_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
