/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "target/target.h"

#define GIB  ((uint64_t)1 << 30)
#define BASE "hbm.window = 64 KiB\npipeline hbm-pool\n"

static hbm_status parse(test_room *r, const char *text, hbm_target *ret)
{
	return hbm_target_parse(&r->arena, &r->diags, "t.target", text, strlen(text),
	                        ret);
}

static hbm_target good(test_room *r, const char *text)
{
	hbm_target t;

	if (parse(r, text, &t) != HBM_OK)
		fail_msg("%s", messages(&r->arena, &r->diags));
	return t;
}

static hbm_target load(test_room *r, const char *name)
{
	hbm_target t;

	if (hbm_target_load(&r->arena, &r->diags, name, &t) != HBM_OK)
		fail_msg("%s", messages(&r->arena, &r->diags));
	return t;
}

static uint64_t num(const hbm_target *t, hbm_key key)
{
	if (!hbm_target_has(t, key))
		fail_msg("%s: %s is not set", t->name, hbm_key_infos[key].name);
	return hbm_target_num(t, key, 0);
}

/* The whole list of messages must be `want`. */
static void bad(test_room *r, const char *text, const char *want)
{
	hbm_target t = {.name = "untouched"};
	hbm_status status = parse(r, text, &t);

	assert_true(status == HBM_SYNTAX || status == HBM_SEMANTIC);
	assert_string_equal(messages(&r->arena, &r->diags), want);
	assert_string_equal(t.name, "untouched");
}

/* ---- built-ins ------------------------------------------------------------- */

static void builtins_load_and_give_sources(void **state)
{
	test_room *r = *state;
	const char *const *names;
	uint32_t n;

	names = hbm_target_names(&n);
	assert_int_equal(n, 8);
	for (uint32_t i = 0; i < n; i++) {
		const char *text = hbm_target_builtin(names[i]);
		hbm_target t = good(r, text);
		assert_string_equal(t.name, names[i]);
		assert_non_null(hbm_target_text(&t, HBM_KEY_SUMMARY));
		if (i)
			assert_true(strcmp(names[i - 1], names[i]) < 0);
		for (uint32_t k = 0; k < HBM_N_KEYS; k++)
			if (t.values[k].set && hbm_key_infos[k].unit != HBM_UNIT_TEXT &&
			    !t.values[k].source)
				fail_msg("%s: %s has no source", names[i],
				         hbm_key_infos[k].name);
		for (uint32_t k = 0; k < t.regions.n; k++)
			assert_non_null(t.regions.items[k].source);
	}
}

static void spyre_figures(void **state)
{
	test_room *r = *state;
	hbm_target t = load(r, "spyre");

	assert_int_equal(num(&t, HBM_KEY_STICK), 128);
	assert_int_equal(num(&t, HBM_KEY_HBM_ALIGN), 128);
	assert_int_equal(num(&t, HBM_KEY_HBM_GRANULE), 128);
	assert_int_equal(num(&t, HBM_KEY_CORES), 32);
	assert_true(num(&t, HBM_KEY_HBM_WINDOW) == 17179869184u);
	assert_true(num(&t, HBM_KEY_HBM_SEGMENT) == 17179869184u);
	assert_true(num(&t, HBM_KEY_POOL_CAP) == 15032385536u);
	assert_int_equal(num(&t, HBM_KEY_SPAN_LIMIT), 268431360);
	assert_int_equal(num(&t, HBM_KEY_LX_SIZE), 2097152);
	assert_int_equal(num(&t, HBM_KEY_LX_USABLE), 1625344);
	assert_int_equal(hbm_target_slot_bits(&t, "i64"), 32);
	assert_int_equal(hbm_target_slot_bits(&t, "bool"), 16);
	assert_int_equal(hbm_target_slot_bits(&t, "u8"), 32);
	assert_int_equal(hbm_target_slot_bits(&t, "f16"), 0);
	assert_int_equal(t.pipeline.n, 6);
	assert_string_equal(t.pipeline.items[4], "hbm-pool");
}

static void scratchpad_share(void **state)
{
	test_room *r = *state;
	hbm_target t = load(r, "spyre");

	assert_int_equal(hbm_target_lx_usable(&t, HBM_NO_OFFSET), 1625344);
	assert_int_equal(hbm_target_lx_usable(&t, 0), 2031616);
	assert_int_equal(hbm_target_lx_usable(&t, 1000000), 0);
	/* floor(2031616 * 0.999999) = 2031613, rounded up to the whole */
	assert_int_equal(hbm_target_lx_usable(&t, 1), 2031616);
	/* floor(2031616 * 0.000001) = 2 */
	assert_int_equal(hbm_target_lx_usable(&t, 999999), 128);
}

/* Rounding up must not reach into what is reserved, and large figures must not
 * overflow. */
static void scratchpad_share_at_the_edge(void **state)
{
	test_room *r = *state;
	hbm_target t = good(r, BASE "lx.size = 1000 B\nlx.align = 128 B\n");

	assert_int_equal(num(&t, HBM_KEY_LX_USABLE), 896);
	t = good(r, BASE "lx.size = 4194304 TiB\nlx.align = 1 B\n"
	                 "lx.backend_share_ppm = 500000\n");
	assert_true(num(&t, HBM_KEY_LX_USABLE) == (uint64_t)1 << 61);
	t = good(r, BASE "lx.size = 1 KiB\nlx.usable = 1000 B\n");
	assert_int_equal(hbm_target_lx_usable(&t, HBM_NO_OFFSET), 1000);
	t = good(r, BASE);
	assert_int_equal(hbm_target_lx_usable(&t, HBM_NO_OFFSET), 0);
}

/* The window is no product of the device's figure and its cores. */
static void neuron_figures(void **state)
{
	static const struct {
		const char *name;
		uint64_t window, device, cores, sbuf, psum;
	} want[] = {
		{"inf1", 16, 32, 4, 12, 512},  {"trn1", 16, 32, 2, 24, 2048},
		{"inf2", 16, 32, 2, 24, 2048}, {"trn2", 24, 24, 2, 28, 2048},
		{"trn3", 36, 36, 2, 32, 2048},
	};
	test_room *r = *state;

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		hbm_target t = load(r, want[i].name);
		assert_true(num(&t, HBM_KEY_HBM_WINDOW) == want[i].window * GIB);
		assert_true(num(&t, HBM_KEY_HBM_DEVICE) == want[i].device * GIB);
		assert_int_equal(num(&t, HBM_KEY_CORES_PER_DEVICE), want[i].cores);
		assert_int_equal(num(&t, HBM_KEY_DEVICES_PER_BOARD), 2);
		assert_int_equal(num(&t, HBM_KEY_SBUF_PARTITIONS) *
		                         num(&t, HBM_KEY_SBUF_PARTITION),
		                 want[i].sbuf << 20);
		assert_int_equal(num(&t, HBM_KEY_PSUM_PARTITIONS) *
		                         num(&t, HBM_KEY_PSUM_BANKS) *
		                         num(&t, HBM_KEY_PSUM_BANK),
		                 want[i].psum << 10);
		assert_string_equal(t.pipeline.items[0], "io-gate");
	}
}

static void builtins_have_aliases(void **state)
{
	static const char *const alias[][2] = {
		{"tonga", "inf1"},  {"inferentia", "inf1"}, {"sunda", "trn1"},
		{"trn1n", "trn1"},  {"trainium", "trn1"},   {"cayman", "trn2"},
		{"core_v4", "trn3"}};
	test_room *r = *state;

	for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
		assert_string_equal(load(r, alias[i][0]).name, alias[i][1]);
	assert_null(hbm_target_builtin("alias"));
	assert_null(hbm_target_builtin(""));
	assert_null(hbm_target_builtin("tong"));
}

static void known_by_name_only(void **state)
{
	test_room *r = *state;
	hbm_target t;

	assert_int_equal(hbm_target_load(&r->arena, &r->diags, "core_v5", &t),
	                 HBM_UNSUPPORTED);
	expect_message(&r->diags, HBM_E_TARGET_REFUSED, "no memory figure");
	assert_non_null(good(r, hbm_target_builtin("gen5")).refused);
}

static void unknown_target(void **state)
{
	test_room *r = *state;
	hbm_target t;

	assert_int_equal(hbm_target_load(&r->arena, &r->diags, "spire", &t),
	                 HBM_OPTION);
	expect_message(&r->diags, HBM_E_TARGET_UNKNOWN, "did you mean 'spyre'?");
	assert_int_equal(hbm_target_load(&r->arena, &r->diags, "x/absent.target", &t),
	                 HBM_IO);
	expect_errors(&r->diags, 2);
}

static void target_from_file(void **state)
{
	test_room *r = *state;
	const char *path = temp_file(&r->arena, "mine.target", BASE, strlen(BASE));

	assert_string_equal(load(r, path).name, "mine");
}

/* ---- the format ------------------------------------------------------------ */

static void numbers_and_units(void **state)
{
	test_room *r = *state;
	hbm_target t = good(r, "hbm.window=1,048,576 B # source: here  \n"
	                       "hbm.device = 0x10 TiB\n\tlx.size = 3KiB\r\n"
	                       "cores = 0x1F\n"
	                       "pipeline a b-c   # passes\n");

	assert_int_equal(num(&t, HBM_KEY_HBM_WINDOW), 1 << 20);
	assert_string_equal(t.values[HBM_KEY_HBM_WINDOW].source, "here");
	assert_string_equal(hbm_target_text(&t, HBM_KEY_HBM_WINDOW), "1,048,576 B");
	assert_true(num(&t, HBM_KEY_HBM_DEVICE) == (uint64_t)16 << 40);
	assert_int_equal(num(&t, HBM_KEY_LX_SIZE), 3072);
	assert_int_equal(num(&t, HBM_KEY_CORES), 31);
	assert_string_equal(t.pipeline.items[1], "b-c");
	assert_int_equal(t.pipeline.n, 2);
}

static void bad_numbers(void **state)
{
	bad(*state,
	    BASE "lx.size = 10\nlx.align = 1 KB\nstick = ten B\n"
	         "cores = 1,0000\nhbm.device = 5,000,000 TiB\nlx.reserved = 1 B B\n"
	         "hbm.segment =\nhbm.granule = ,1 B\ncores_per_device = 0x\n"
	         "pool.headroom = 99999999999999999999 B\n",
	    "t.target:3:13: error: bytes need a unit: B, KiB, MiB, GiB or TiB "
	    "[HBM0300]\n"
	    "t.target:4:14: error: unknown unit 'KB'; units are B, KiB (1024 B), MiB, "
	    "GiB and TiB [HBM0300]\n"
	    "t.target:5:9: error: 'ten' is not a number [HBM0300]\n"
	    "t.target:6:9: error: '1,0000' is not a number up to 2^62 [HBM0300]\n"
	    "t.target:7:14: error: the number is larger than 2^62 [HBM0300]\n"
	    "t.target:8:19: error: unexpected 'B' [HBM0300]\n"
	    "t.target:9:14: error: expected a value after '=' [HBM0300]\n"
	    "t.target:10:15: error: ',1' is not a number [HBM0300]\n"
	    "t.target:11:20: error: '0x' is not a number up to 2^62 [HBM0300]\n"
	    "t.target:12:17: error: '99999999999999999999' is not a number "
	    "[HBM0300]\n");
}

static void unknown_keys(void **state)
{
	bad(*state,
	    BASE "hbm.windw = 1 B\nqqqqqqq = 1\nregio hbm a base 0 size 1\n"
	         "cores 3\nnote = x\nname with words\n",
	    "t.target:3:1: error: unknown key 'hbm.windw'; did you mean 'hbm.window'? "
	    "[HBM0300]\n"
	    "t.target:4:1: error: unknown key 'qqqqqqq' [HBM0300]\n"
	    "t.target:5:1: error: unknown key 'regio'; did you mean 'region'? "
	    "[HBM0300]\n"
	    "t.target:6:7: error: expected 'cores = value' [HBM0300]\n"
	    "t.target:7:6: error: 'note' takes no '=' [HBM0300]\n"
	    "t.target:8:1: error: unknown key 'name'; did you mean 'note'? "
	    "[HBM0300]\n");
}

static void set_twice(void **state)
{
	bad(*state,
	    BASE "cores = 1\ncores = 2\npipeline x\nslot u8 32\nslot u8 16\n"
	         "region hbm a base 0 size 1\nregion hbm a base 8 size 1\n",
	    "t.target:4:1: error: 'cores' is set twice [HBM0200]\n"
	    "t.target:3:1: note: it is set here first\n"
	    "t.target:5:1: error: 'pipeline' is set twice [HBM0200]\n"
	    "t.target:2:1: note: it is set here first\n"
	    "t.target:9:1: error: region 'a' stands twice [HBM0200]\n"
	    "t.target:8:1: note: the first one\n"
	    "t.target:7:1: error: slot 'u8' stands twice [HBM0200]\n"
	    "t.target:6:1: note: the first one\n");
}

static void same_name_in_two_spaces(void **state)
{
	good(*state, BASE "lx.size = 8 B\nlx.usable = 0 B\n"
	                  "region hbm a base 0 size 8\nregion lx a base 0 size 8\n");
}

static void what_must_be_there(void **state)
{
	bad(*state, "cores = 1\n",
	    "t.target:0:0: error: hbm.window is missing [HBM0302]\n"
	    "t.target:0:0: error: the pipeline is missing [HBM0302]\n");
}

static void not_a_text_file(void **state)
{
	test_room *r = *state;
	hbm_target t;

	assert_int_equal(
		hbm_target_parse(&r->arena, &r->diags, "t", "cores\0= 1", 9, &t),
		HBM_SYNTAX);
	expect_message(&r->diags, HBM_E_TARGET_SYNTAX, "byte 5 is zero");
}

/* ---- contradictions -------------------------------------------------------- */

/* tt-metal #51237: two regions of a device's map overlapped after a copy. */
static void regions_overlap(void **state)
{
	bad(*state,
	    "hbm.window = 1 MiB\npipeline hbm-pool\n"
	    "region hbm cfg base 64,816 size 25,600   # source: map\n"
	    "region hbm free base 87,872 size 65,536\n",
	    "t.target:4:1: error: cfg [64816,90416) and free [87872,153408) overlap by "
	    "2544 bytes [HBM0301]\n"
	    "t.target:3:1: note: cfg is declared here\n");
}

/* A small region inside a large one, with another between them in order. */
static void region_inside_another(void **state)
{
	bad(*state,
	    BASE "region hbm c base 50 size 10\nregion hbm b base 20 size 10\n"
	         "region hbm a base 0 size 100\nregion hbm d base 100 size 1\n",
	    "t.target:5:1: error: a [0,100) and b [20,30) overlap by 10 bytes "
	    "[HBM0301]\n"
	    "t.target:4:1: note: b is declared here\n"
	    "t.target:5:1: error: a [0,100) and c [50,60) overlap by 10 bytes "
	    "[HBM0301]\n"
	    "t.target:3:1: note: c is declared here\n");
}

static void regions_may_touch(void **state)
{
	hbm_target t = good(*state, BASE "region hbm a base 0 size 4 KiB\n"
	                                 "region hbm b base 4096 size 60 KiB\n");

	assert_int_equal(t.regions.n, 2);
}

static void regions_out_of_place(void **state)
{
	bad(*state,
	    BASE "lx.size = 1 KiB\nlx.reserved = 128 B\n"
	         "region hbm a base 65535 size 2\nregion hbm b base 0 size 0\n"
	         "region lx c base 895 size 1\nregion l1 d base 0 size 1\n"
	         "region hbm e size 1\nregion hbm f base 1 size\n",
	    "t.target:9:14: error: expected 'base' [HBM0300]\n"
	    "t.target:10:25: error: expected a number of bytes [HBM0300]\n"
	    "t.target:5:1: error: region a [65535,65537) ends beyond hbm, which has "
	    "65536 bytes [HBM0302]\n"
	    "t.target:6:1: error: region b is empty [HBM0302]\n"
	    "t.target:7:1: error: region c [895,896) lies in the planner's part of the "
	    "scratchpad, [0,896) [HBM0302]\n"
	    "t.target:8:1: error: unknown space 'l1'; spaces are hbm, lx, sbuf and "
	    "psum "
	    "[HBM0302]\n");
}

static void values_contradict(void **state)
{
	bad(*state,
	    "hbm.device = 1 GiB\nhbm.window = 2 GiB\npipeline p p\n"
	    "hbm.segment = 1 KiB\npool.headroom = 4 KiB\nhbm.align = 96 B\n"
	    "stick = 0 B\nlx.size = 1 KiB\nlx.reserved = 512 B\nlx.usable = 513 B\n"
	    "lx.backend_share_ppm = 1000001\nfamily = cuda\n"
	    "cores = 9\ncores_per_device = 4\ndevices_per_board = 2\n",
	    "t.target:12:1: error: unknown family 'cuda'; families are spyre, neuron "
	    "and generic [HBM0302]\n"
	    "t.target:6:1: error: hbm.align is 96, not a power of two [HBM0302]\n"
	    "t.target:7:1: error: stick must not be zero [HBM0302]\n"
	    "t.target:2:1: error: hbm.window (2147483648) is larger than hbm.device "
	    "(1073741824) [HBM0302]\n"
	    "t.target:1:1: note: hbm.device is set here\n"
	    "t.target:5:1: error: pool.headroom (4096) is larger than hbm.segment "
	    "(1024) [HBM0302]\n"
	    "t.target:4:1: note: hbm.segment is set here\n"
	    "t.target:11:1: error: lx.backend_share_ppm is more than a million "
	    "[HBM0302]\n"
	    "t.target:10:1: error: lx.usable (513) and lx.reserved (512) are more than "
	    "lx.size (1024) [HBM0302]\n"
	    "t.target:13:1: error: cores (9) is more than a board has (8) [HBM0302]\n"
	    "t.target:3:1: error: pass 'p' stands twice [HBM0200]\n");
}

static void pool_larger_than_its_segment(void **state)
{
	bad(*state, BASE "hbm.segment = 1 KiB\npool.cap = 2 KiB\n",
	    "t.target:4:1: error: pool.cap (2048) is larger than hbm.segment (1024) "
	    "[HBM0302]\n"
	    "t.target:3:1: note: hbm.segment is set here\n");
}

/* ---- like ------------------------------------------------------------------ */

static void like_takes_over_and_derives_anew(void **state)
{
	test_room *r = *state;
	hbm_target t = good(r, "like spyre\nlx.reserved = 0 B\npool.headroom = 4 GiB\n"
	                       "slot bool 8\npipeline hbm-pool\n");

	assert_string_equal(t.name, "t");
	assert_int_equal(num(&t, HBM_KEY_CORES), 32);
	/* floor(2097152 * 0.8) = 1677721 */
	assert_int_equal(num(&t, HBM_KEY_LX_USABLE), 1677824);
	assert_true(num(&t, HBM_KEY_POOL_CAP) == 12 * GIB);
	assert_int_equal(hbm_target_slot_bits(&t, "bool"), 8);
	assert_int_equal(hbm_target_slot_bits(&t, "i64"), 32);
	assert_int_equal(t.pipeline.n, 1);
	assert_int_equal(load(r, "spyre").pipeline.n, 6);
}

/* An error in what was taken over points at the `like` line. */
static void like_contradicts(void **state)
{
	bad(*state, "# mine\nlike trn2\nhbm.device = 16 GiB\n",
	    "t.target:3:1: error: hbm.window (25769803776) is larger than hbm.device "
	    "(17179869184) [HBM0302]\n"
	    "t.target:2:1: note: hbm.window is set here\n");
}

static void like_what(void **state)
{
	bad(*state, "like\nlike nothing\n" BASE,
	    "t.target:1:5: error: expected a built-in target [HBM0300]\n"
	    "t.target:2:1: error: 'like' is set twice [HBM0200]\n"
	    "t.target:1:1: note: it is set here first\n");
}

static void like_refused(void **state)
{
	bad(*state, "like core_v5\n" BASE,
	    "t.target:1:6: error: 'core_v5' has no figures: neuronx-cc 2.24.5133 has "
	    "its "
	    "name but no memory figure, and none is public [HBM0300]\n");
}

static void like_comes_first(void **state)
{
	bad(*state, BASE "like trn1\n",
	    "t.target:3:1: error: 'like' stands before all figures [HBM0300]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(builtins_load_and_give_sources),
		ROOM_TEST(spyre_figures),
		ROOM_TEST(scratchpad_share),
		ROOM_TEST(scratchpad_share_at_the_edge),
		ROOM_TEST(neuron_figures),
		ROOM_TEST(builtins_have_aliases),
		ROOM_TEST(known_by_name_only),
		ROOM_TEST(unknown_target),
		ROOM_TEST(target_from_file),
		ROOM_TEST(numbers_and_units),
		ROOM_TEST(bad_numbers),
		ROOM_TEST(unknown_keys),
		ROOM_TEST(set_twice),
		ROOM_TEST(same_name_in_two_spaces),
		ROOM_TEST(what_must_be_there),
		ROOM_TEST(not_a_text_file),
		ROOM_TEST(regions_overlap),
		ROOM_TEST(region_inside_another),
		ROOM_TEST(regions_may_touch),
		ROOM_TEST(regions_out_of_place),
		ROOM_TEST(values_contradict),
		ROOM_TEST(pool_larger_than_its_segment),
		ROOM_TEST(like_takes_over_and_derives_anew),
		ROOM_TEST(like_contradicts),
		ROOM_TEST(like_what),
		ROOM_TEST(like_refused),
		ROOM_TEST(like_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
