/* SPDX-License-Identifier: Apache-2.0
 * The Neuron pipeline: io-gate, split-dram, dram, hbm-usage. Every limit is tried one
 * below, at it and one above. */
#include "ir/text.h"
#include "pass/pass.h"
#include "support/ir.h"
#include "support/test.h"
#include "verify/verify.h"

#include <inttypes.h>

#define GIB ((uint64_t)1 << 30)

static const char toy[] = "target t\nsummary = test\nfamily = neuron\ncores = 1\n"
                          "hbm.window = 1024 B\nhbm.align = 1 B\nhbm.granule = 1 B\n"
                          "dma.descriptor = 16 B\ndma.descriptor_max = 64 KiB\n"
                          "pipeline io-gate split-dram dram hbm-usage\n";

static const char toy_rotating[] = "target t\nsummary = test\nfamily = neuron\n"
                                   "cores = 1\nhbm.window = 1024 B\n"
                                   "hbm.align = 1 B\nhbm.granule = 1 B\n"
                                   "dram.rotation_max = 1024 B\n"
                                   "pipeline io-gate split-dram dram hbm-usage\n";

typedef struct run {
	test_room *room;
	hbm_program p;
	hbm_target t;
	hbm_plan plan;
	hbm_plan_opts opts;
	hbm_status status;
} run;

static run begin(void **state, const char *target)
{
	run r = {.room = *state};
	hbm_status s;

	hbm_plan_defaults(&r.opts);
	s = strchr(target, '\n')
	            ? hbm_target_parse(&r.room->arena, &r.room->diags, "t.target", target,
	                               strlen(target), &r.t)
	            : hbm_target_load(&r.room->arena, &r.room->diags, target, &r.t);
	if (s != HBM_OK)
		fail_msg("%s", messages(&r.room->arena, &r.room->diags));
	return r;
}

static char *lines(test_room *room, const char *text)
{
	char *s = hbm_arena_strndup(&room->arena, text, strlen(text));

	assert_non_null(s);
	for (char *p = s; *p; p++)
		if (*p == ';')
			*p = '\n';
	return s;
}

/* Plans; a plan must be legal. */
static void plan(run *r, const char *text)
{
	test_room *room = r->room;
	hbm_sim_opts sim = {0};
	hbm_sim_result ran;

	hbm_diags_init(&room->diags, &room->arena);
	if (ir_read(&room->arena, &room->diags, lines(room, text), &r->p) != HBM_OK)
		fail_msg("%s", messages(&room->arena, &room->diags));
	r->status = hbm_run_passes(&room->arena, &r->p, &r->t, &r->opts, &room->diags,
	                           &r->plan);
	if (r->status != HBM_OK)
		return;
	if (hbm_verify(&room->arena, &r->p, &r->t, &r->plan, &room->diags) != HBM_OK ||
	    hbm_simulate(&room->arena, &r->p, &r->t, &r->plan, &sim, &room->diags, &ran) !=
	            HBM_OK)
		fail_msg("%s", messages(&room->arena, &room->diags));
}

static void plan_ok(run *r, const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	assert_true(vsnprintf(text, sizeof text, fmt, ap) < (int)sizeof text);
	va_end(ap);
	plan(r, text);
	if (r->status != HBM_OK)
		fail_msg("%s", messages(&r->room->arena, &r->room->diags));
}

static bool said(const run *r, const char *part)
{
	return strstr(messages(&r->room->arena, &r->room->diags), part) != NULL;
}

static void must_say(const run *r, const char *part)
{
	if (!said(r, part))
		fail_msg("nobody said '%s':\n%s", part,
		         messages(&r->room->arena, &r->room->diags));
}

static const hbm_plan_storage *of(const run *r, const char *name)
{
	hbm_sym sym = hbm_sym_find(&r->p.syms, name, strlen(name));
	hbm_tensor_id t = sym == HBM_NONE ? HBM_NONE : hbm_find_tensor(&r->p, sym);

	if (t == HBM_NONE)
		fail_msg("no tensor '%s'", name);
	return &r->plan.storages.items[r->plan.of_tensor[t]];
}

static uint64_t at(const run *r, const char *name)
{
	return of(r, name)->home.offset;
}

#define EQUAL(a, b)                                                                     \
	do {                                                                            \
		uint64_t x_ = (a), y_ = (b);                                            \
		if (x_ != y_)                                                           \
			fail_msg("line %d: %s is %" PRIu64 ", not %" PRIu64, __LINE__,  \
			         #a, x_, y_);                                           \
	} while (0)

/* ---- the window ----------------------------------------------------------- */

static const struct {
	const char *name;
	uint64_t window, device;
} parts[] = {{"inf1", 16, 32}, {"trn1", 16, 32}, {"inf2", 16, 32}, {"trn2", 24, 24},
             {"trn3", 36, 36}};

/* The gate is the window of one core: not the device's figure, and no product. */
static void the_window_decides(void **state)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		for (int d = -1; d <= 1; d++) {
			run r = begin(state, parts[i].name);
			uint64_t page = 4096, bytes = parts[i].window * GIB;
			bytes = d < 0 ? bytes - page : d ? bytes + page : bytes;
			plan_ok(&r, "weight w : %" PRIu64 " bytes;", bytes);
			EQUAL(r.plan.budget.limit, parts[i].window * GIB);
			EQUAL(r.plan.budget.fits, d <= 0);
			EQUAL(r.plan.budget.within_margin, d > 0);
			EQUAL(r.plan.usage.hbm_limit, parts[i].window * GIB);
			EQUAL(said(&r, "Estimated peak HBM usage"), d > 0);
		}
	}
}

static void the_margin_only_reports(void **state)
{
	static const struct {
		uint64_t bytes;
		bool fits, margin;
	} rows[] = {{1023, true, false}, {1024, true, false}, {1025, false, true},
	            {1125, false, true}, {1126, false, true}, {1127, false, false}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run r = begin(state, toy); /* 1024 * 11 / 10 = 1126 */
		plan_ok(&r, "weight w : %" PRIu64 " bytes;", rows[i].bytes);
		EQUAL(r.plan.budget.fits, rows[i].fits);
		EQUAL(r.plan.budget.within_margin, rows[i].margin);
		EQUAL(said(&r, "within the 10 percent margin"), rows[i].margin);
		EQUAL(said(&r, "exceeds HBM size of 1024 bytes"), !rows[i].fits);
	}
}

static void the_check_can_be_switched_off(void **state)
{
	run r = begin(state, toy);

	r.opts.budget_off = true;
	plan_ok(&r, "weight w : 5000 bytes;");
	EQUAL(r.plan.budget.checked, false);
	EQUAL(r.plan.budget.fits, false);
	must_say(&r, "the check is switched off");
}

/* C15 */
static void resident_bytes_count(void **state)
{
	for (int over = 0; over < 2; over++) {
		run r = begin(state, "trn1");
		r.opts.resident = over ? 16374562816u : 16106127360u;
		plan_ok(&r, "weight w : 1Gi bytes;");
		EQUAL(r.plan.totals.resident, r.opts.resident);
		EQUAL(r.plan.totals.total, over ? 17448304640u : 17179869184u);
		EQUAL(r.plan.budget.fits, !over);
		if (over)
			must_say(&r, "excess 268435456");
	}
}

/* C23 */
static void what_is_live_is_named_by_size(void **state)
{
	run r = begin(state, toy);
	const char *all, *a, *b, *c;

	plan_ok(&r, "input i : 0 bytes; tensor a : 512 bytes src=\"m.py:1\";"
	        "tensor b : 384 bytes; tensor c : 256 bytes; output o : 0 bytes;"
	        "op o0: (i) -> a; op o1: (i) -> b; op o2: (a, b) -> c; op o3: (c) -> o;");
	EQUAL(r.plan.peak, 1152);
	EQUAL(r.plan.peak_tick, 2);
	EQUAL(r.plan.budget.fits, false);
	must_say(&r, "excess 128");
	all = messages(&r.room->arena, &r.room->diags);
	a = strstr(all, "'a', 512");
	b = strstr(all, "'b', 384");
	c = strstr(all, "'c', 256");
	assert_true(a && b && c && a < b && b < c);
}

/* C79: categories, excess, and the device's figure plays no part. */
static void over_budget_by_category(void **state)
{
	run r = begin(state, "trn1");
	char text[200000];
	size_t n = 0;

	n += (size_t)snprintf(text + n, sizeof text - n,
	                      "weight k : 12Gi bytes; input i : 1Gi bytes; output o : 1Gi bytes;"
	                      "tensor t : 8Gi bytes;");
	/* Rings of 0.5 GiB: 2^25 descriptors, 2^24 in each direction. */
	n += (size_t)snprintf(text + n, sizeof text - n, "op (i) -> t; op (t) -> o;");
	plan_ok(&r, "%s", text);
	EQUAL(r.plan.totals.descriptors, 0);
	EQUAL(r.plan.usage.model_bytes, 12 * GIB);
	EQUAL(r.plan.usage.tensor_bytes, 8 * GIB);
	EQUAL(r.plan.usage.io_bytes, 2 * GIB);
	EQUAL(r.plan.totals.total, 22 * GIB);
	r = begin(state, "trn1");
	r.opts.dge_off = true;
	for (int k = 0; k < 1024 - 18; k++)
		n += (size_t)snprintf(text + n, sizeof text - n, "op n%d: (i);", k);
	plan(&r, text);
	assert_int_equal(r.status, HBM_OK);
	/* Moved: 1 GiB by each op, 9 + 9 by the two others: 1024 GiB. */
	EQUAL(r.plan.usage.n_descriptors, (uint64_t)1 << 25);
	EQUAL(r.plan.usage.descriptor_bytes, GIB / 2);
	EQUAL(r.plan.totals.total, 24159191040u);
	EQUAL(r.plan.totals.total - r.plan.budget.limit, 6979321856u);
	EQUAL(r.plan.budget.within_margin, false);
	must_say(&r, "Estimated peak HBM usage (24159191040 bytes, 22.50 GiB) exceeds HBM size "
	             "of 17179869184 bytes (16.00 GiB)");
	must_say(&r, "'k', 12884901888 bytes");
	r = begin(state, "trn1");
	plan_ok(&r, "weight k : 17Gi bytes;");
	EQUAL(r.plan.budget.fits, false);
	EQUAL(r.plan.budget.within_margin, true);
}

/* C85 */
static void phases_are_told(void **state)
{
	run r = begin(state, "toy");
	static const char target[] =
		"target t\nsummary = test\nfamily = neuron\ncores = 1\n"
		"hbm.window = 1536 MiB\nhbm.align = 128 B\nhbm.granule = 128 B\n"
		"pipeline dram hbm-usage\n";

	r = begin(state, target);
	plan_ok(&r, "input x : 128 bytes host; output y : 128 bytes host;"
	        "weight w : 1051186176 bytes; tensor wp : 1051186176 bytes;"
	        "bundle init {; op o0: (w) -> wp; }; bundle main {; op o1: (x, wp) -> y; };");
	EQUAL(r.plan.phases.n, 2);
	EQUAL(r.plan.phases.items[0].peak, 2102372352u);
	EQUAL(r.plan.phases.items[1].peak, 1051186176u);
	EQUAL(r.plan.budget.fits, false);
	must_say(&r, "phase 'init' needs 2102372352 bytes, more than the window,");
	must_say(&r, "phase 'main' needs 1051186176 bytes with weights released");
}

/* C47 (b) */
static void serial_groups_would_help(void **state)
{
	run r = begin(state, "trn1");
	char text[4096];
	size_t n = 0;

	for (int i = 0; i < 8; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
		                      "tensor t%d : 4Gi bytes; output w%d : 4096 bytes;", i, i);
	n += (size_t)snprintf(text + n, sizeof text - n, "parallel p {;");
	for (int i = 0; i < 8; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
		                      "region r%d {; op () -> t%d; op (t%d) -> w%d; };", i, i,
		                      i, i);
	snprintf(text + n, sizeof text - n, "};");
	plan(&r, text);
	assert_int_equal(r.status, HBM_OK);
	EQUAL(r.plan.usage.tensor_bytes, 32 * GIB);
	EQUAL(r.plan.budget.fits, false);
	must_say(&r, "would need 4294967296 bytes");
}

/* ---- metrics -------------------------------------------------------------- */

static void metrics_have_their_meaning(void **state)
{
	run r = begin(state, toy);

	plan_ok(&r, "input i : 100 bytes; output o : 50 bytes; state s : 7 bytes;"
	        "weight w : 30 bytes; tensor t : 20 bytes; tensor u : 5 bytes class=shared;"
	        "op (i, w, s) -> t; op (t) -> u; op (u) -> o;");
	EQUAL(r.plan.usage.hbm_io, 157);
	EQUAL(r.plan.usage.hbm_intermediate, 25);
	EQUAL(r.plan.usage.hbm_internal, 30);
	EQUAL(r.plan.usage.hbm_usage, 212);
	EQUAL(r.plan.usage.hbm_usage, r.plan.totals.total);
	EQUAL(r.plan.usage.hbm_size, 1024);
	EQUAL(r.plan.usage.hbm_limit, 1024);
	EQUAL(r.plan.usage.end_address, 212);
	EQUAL(r.plan.usage.private_hbm, 207);
}

static void descriptors_move_at_most_64_kib(void **state)
{
	static const struct {
		uint64_t bytes, n;
	} rows[] = {{0, 0}, {1, 2}, {65535, 2}, {65536, 2}, {65537, 4}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run r = begin(state, "trn1");
		plan_ok(&r, "input a : %" PRIu64 " bytes; op (a);", rows[i].bytes);
		EQUAL(r.plan.usage.n_descriptors, 0);
		r.opts.dge_off = true;
		plan_ok(&r, "input a : %" PRIu64 " bytes; op (a);", rows[i].bytes);
		EQUAL(r.plan.usage.n_descriptors, rows[i].n);
		EQUAL(r.plan.usage.descriptor_bytes, 16 * rows[i].n);
	}
}

/* ---- the early gate ------------------------------------------------------- */

/* Figures that users met, as lists of arguments (needed, available, verdict). */
static void inputs_and_outputs_alone(void **state)
{
	static const struct {
		const char *target;
		uint64_t needed, window;
	} rows[] = {
		{"trn2", 33771172352, 25769803776}, {"trn2", 51370533388, 25769803776},
		{"trn2", 39644174584, 25769803776}, {"trn2", 26541173020, 25769803776},
		{"trn2", 26549557532, 25769803776}, {"trn2", 25769803776, 25769803776},
		{"trn2", 25769803777, 25769803776}, {"trn2", 25769803775, 25769803776},
		{"trn1", 17179869185, 17179869184},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run r = begin(state, rows[i].target);
		uint64_t third = rows[i].needed / 3;
		bool fits = rows[i].needed <= rows[i].window;
		char want[128];
		plan_ok(&r, "input kv : bf16[2, %" PRIu64 "]; input w0 : %" PRIu64 " bytes;"
		        "input w1 : 100 bytes; output o : 28 bytes; input w2 : %" PRIu64 " bytes;",
		        third / 4, third, rows[i].needed - third - third / 4 * 4 - 128);
		EQUAL(r.plan.usage.gate_bytes, rows[i].needed);
		EQUAL(r.plan.usage.gate_fits, fits);
		snprintf(want, sizeof want, "need %" PRIu64 " bytes", rows[i].needed);
		EQUAL(said(&r, want), !fits);
		if (fits)
			continue;
		must_say(&r, "input 0, 'kv', bf16[2,");
		must_say(&r, "'w2'");
		assert_false(said(&r, "input 2, 'w1'"));
	}
}

static void a_result_in_a_donated_argument_counts_once(void **state)
{
	run r = begin(state, toy);

	plan_ok(&r, "input a : 1000 bytes donated; view b = a : 1000 bytes output;"
	        "op (a) -> b inplace(b=a must);");
	EQUAL(r.plan.usage.gate_bytes, 1000);
	EQUAL(r.plan.totals.total, 1000);
	EQUAL(r.plan.budget.fits, true);
}

static void the_gate_is_not_softer_than_the_window(void **state)
{
	run r = begin(state, toy);

	plan_ok(&r, "input a : 1025 bytes;");
	EQUAL(r.plan.usage.gate_fits, false);
	EQUAL(r.plan.budget.fits, false);
}

/* ---- split ---------------------------------------------------------------- */

static const hbm_plan_split *only_split(const run *r)
{
	EQUAL(r->plan.splits.n, 1);
	return &r->plan.splits.items[0];
}

/* The parts are the tensor, once, in order. */
static void check_partition(const run *r, const hbm_plan_split *s)
{
	uint64_t sum = 0, rows = 0;

	for (uint32_t k = 0; k < s->parts.n; k++) {
		hbm_tensor_id id = r->plan.parts.items[s->parts.first + k];
		const hbm_tensor *t = &r->p.tensors.items[id];
		char name[64];
		snprintf(name, sizeof name, "%s_VN_%u", hbm_str_of(&r->p, s->name), k);
		assert_string_equal(hbm_tensor_name(&r->p, id), name);
		assert_true(t->size <= s->limit && t->size > 0);
		sum += t->size;
		rows += r->p.dims.items[t->dims.first + s->dim].value;
	}
	EQUAL(sum, s->size);
	EQUAL(rows, s->extent);
}

/* C13 */
static void the_split_of_a_large_tensor(void **state)
{
	static const char *const dims[] = {"270000, 16384", "270000!, 16384",
	                                   "270000!, 16384!"};

	for (int i = 0; i < 3; i++) {
		run r = begin(state, "trn1");
		const hbm_plan_split *s;
		r.opts.split_threshold = 8589803520;
		plan_ok(&r, "input x : 128 bytes; tensor t : bf16[%s]; output y : 128 bytes;"
		        "op (x) -> t; op (t) -> y;", dims[i]);
		s = only_split(&r);
		EQUAL(s->size, 8847360000u);
		if (i == 2) {
			EQUAL(s->refused, HBM_UNSPLIT_NO_DIM);
			EQUAL(s->figure[0], 2);
			EQUAL(s->figure[1], 2);
			must_say(&r, "stays whole: no dimension may be split");
			EQUAL(of(&r, "t")->size, 8847360000u);
			continue;
		}
		EQUAL(s->refused, HBM_UNSPLIT_NONE);
		EQUAL(s->dim, (uint64_t)i);
		EQUAL(s->parts.n, 2);
		EQUAL(s->block, i ? 8192 : 135000);
		EQUAL(of(&r, "t_VN_0")->size, 4423680000u);
		EQUAL(of(&r, "t_VN_1")->size, 4423680000u);
		EQUAL(s->n_users, 2);
		check_partition(&r, s);
	}
}

static void the_threshold_itself_is_left_alone(void **state)
{
	for (int d = -1; d <= 1; d++) {
		run r = begin(state, toy);
		r.opts.split_threshold = 100;
		plan_ok(&r, "tensor t : u8[%d]; output y : 1 bytes; op () -> t; op (t) -> y;",
		        100 + d);
		EQUAL(r.plan.splits.n, d > 0);
		if (d > 0)
			check_partition(&r, only_split(&r));
	}
}

/* The threshold is never above the window. */
static void the_window_bounds_the_threshold(void **state)
{
	run r = begin(state, toy);

	r.opts.split_threshold = 1 << 20;
	plan_ok(&r, "tensor t : u8[1025]; output y : 1 bytes; op () -> t; op (t) -> y;");
	EQUAL(only_split(&r)->limit, 1024);
	EQUAL(only_split(&r)->parts.n, 2);
	EQUAL(of(&r, "t_VN_1")->size, 512); /* no divisor of 1025 is near 2 */
}

static void parts_are_few_and_equal_where_a_divisor_allows(void **state)
{
	static const struct {
		uint64_t extent, limit, n, block;
	} rows[] = {
		{10, 5, 2, 5}, {11, 5, 3, 4}, {12, 5, 3, 4}, {13, 5, 3, 5}, {9, 4, 3, 3},
		{7, 6, 2, 4}, {1000003, 500000, 3, 333335}, {30, 29, 2, 15}, {25, 13, 2, 13},
		{35, 12, 5, 7}, {4096, 1, 4096, 1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run r = begin(state, "trn1");
		const hbm_plan_split *s;
		r.opts.split_threshold = rows[i].limit;
		plan_ok(&r, "tensor t : u8[%" PRIu64 "]; output y : 1 bytes; op () -> t;"
		        "op (t) -> y;", rows[i].extent);
		s = &r.plan.splits.items[0];
		EQUAL(s->parts.n, rows[i].n);
		EQUAL(s->block, rows[i].block);
		check_partition(&r, s);
	}
}

static void the_number_of_parts_is_limited(void **state)
{
	for (uint64_t n = 4095; n <= 4097; n++) {
		run r = begin(state, "trn1");
		r.opts.split_threshold = 1;
		plan_ok(&r, "tensor t : u8[%" PRIu64 "]; output y : 1 bytes; op () -> t;"
		        "op (t) -> y;", n);
		EQUAL(r.plan.splits.items[0].refused,
		      n > 4096 ? HBM_UNSPLIT_PARTS : HBM_UNSPLIT_NONE);
		if (n > 4096) {
			EQUAL(r.plan.splits.items[0].figure[0], 4097);
			EQUAL(r.plan.splits.items[0].figure[1], 4096);
		}
	}
}

/* --no-split-dram refuses only what would leave parts above the per-split limit. */
static void parts_within_their_limit(void **state)
{
	for (int d = -1; d <= 1; d++) {
		run r = begin(state, "trn1");
		r.opts.split_threshold = 1000;
		r.opts.no_split_dram = true;
		r.opts.split_part = (uint64_t)(500 + d);
		plan_ok(&r, "tensor t : u8[1001!, 1]; tensor u : u8[1000, 2]; output y : 1 bytes;"
		        "op () -> u; op (u) -> y;");
		EQUAL(r.plan.splits.n, 2);
		EQUAL(r.plan.splits.items[1].refused, HBM_UNSPLIT_PART_LIMIT);
		EQUAL(r.plan.splits.items[1].figure[0], 1000);
		EQUAL(r.plan.splits.items[1].figure[1], r.opts.split_part);
		r.opts.split_threshold = 500;
		plan_ok(&r, "tensor u : u8[1000, 1]; output y : 1 bytes; op () -> u;"
		        "op (u) -> y;");
		EQUAL(only_split(&r)->refused,
		      d < 0 ? HBM_UNSPLIT_PART_LIMIT : HBM_UNSPLIT_NONE);
	}
}

static void the_default_part_limit_is_the_targets(void **state)
{
	run r = begin(state, "trn1");

	r.opts.split_threshold = 8589803520;
	r.opts.no_split_dram = true;
	plan_ok(&r, "input x : 128 bytes; tensor t : bf16[270000, 16384];"
	        "output y : 128 bytes; op (x) -> t; op (t) -> y;");
	EQUAL(only_split(&r)->refused, HBM_UNSPLIT_PART_LIMIT);
	EQUAL(only_split(&r)->figure[1], (uint64_t)3584 << 20);
	EQUAL(of(&r, "t")->size, 8847360000u);
}

static void users_get_parts_and_ranges_of_parts(void **state)
{
	run r = begin(state, "trn1");
	const char *text;

	r.opts.split_threshold = 400;
	plan_ok(&r, "input x : 8 bytes; tensor t : u8[10, 100]; view v = t + 450 : 100 bytes;"
	        "output y : 8 bytes; op all: (x) -> t; op some: (t[300..500], x) -> y;"
	        "op view: (v);");
	check_partition(&r, only_split(&r));
	EQUAL(only_split(&r)->parts.n, 5);
	text = ir_print(&r.room->arena, &r.p);
	assert_non_null(strstr(text, "op all: (x) -> t_VN_0, t_VN_1, t_VN_2, t_VN_3, t_VN_4"));
	assert_non_null(strstr(text, "t_VN_1["));
	assert_non_null(strstr(text, "view v = t_VN_2 + 50"));
}

static void what_cannot_be_split_says_why(void **state)
{
	static const struct {
		const char *text;
		hbm_unsplit_id why;
	} rows[] = {
		{"input t : u8[1000]; op (t);", HBM_UNSPLIT_CALLER},
		{"tensor t : 1000 bytes; op () -> t; op (t);", HBM_UNSPLIT_NO_DIM},
		{"tensor t : u8[1000] pin=0; op () -> t; op (t);", HBM_UNSPLIT_PINNED},
		{"tensor t : u8[100] size=1000; op () -> t; op (t);", HBM_UNSPLIT_PADDED},
		{"tensor t : u8[1000]; view v = t + 150 : 100 bytes; op () -> t; op (v);",
		 HBM_UNSPLIT_VIEW},
		{"tensor t : u8[1000]; tensor u : u8[1000]; op () -> t;"
		 "op (t) -> u inplace(u=t must); op (u);", HBM_UNSPLIT_SHARED},
		{"tensor t : u8[2!, 500]; op () -> t; op (t[0..700]);", HBM_UNSPLIT_WINDOW},
		{"tensor t : u8[1000]; tensor t_VN_1 : 1 bytes; op () -> t; op (t);",
		 HBM_UNSPLIT_NAME},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run r = begin(state, "trn1");
		r.opts.split_threshold = 200;
		plan_ok(&r, "%s", rows[i].text);
		EQUAL(r.plan.splits.items[0].refused, rows[i].why);
		must_say(&r, hbm_unsplit_text(rows[i].why));
		EQUAL(of(&r, "t")->size, 1000);
	}
}

/* The checker sees every way in which parts are not the whole. */
static void a_split_is_a_partition(void **state)
{
	run r = begin(state, "trn1");
	hbm_plan_split *s, was;
	hbm_tensor *part, kept;
	hbm_tensor_id id;

	r.opts.split_threshold = 200;
	plan_ok(&r, "tensor t : u8[5, 100]; op () -> t; op (t);");
	s = &r.plan.splits.items[0];
	id = r.plan.parts.items[s->parts.first + 2];
	part = &r.p.tensors.items[id];
	was = *s;
	kept = *part;
	for (int i = 0; i < 8; i++) {
		hbm_tensor_id *last = &r.plan.parts.items[s->parts.first + 1], before = *last;
		switch (i) {
		case 0: s->size++; break;
		case 1: s->limit = 99; break;
		case 2: s->extent = 6; break;
		case 3: s->parts.n--; break;
		case 4: *last = id; break;
		case 5: *last = HBM_NONE; break;
		case 6: s->dim = 1; break;
		default: s->name = part->name; break;
		}
		hbm_diags_init(&r.room->diags, &r.room->arena);
		EQUAL(hbm_verify(&r.room->arena, &r.p, &r.t, &r.plan, &r.room->diags), HBM_VERIFY);
		must_say(&r, "are not that tensor, once and in order");
		*s = was;
		*last = before;
	}
	part->dtype = HBM_DT_i8;
	EQUAL(hbm_verify(&r.room->arena, &r.p, &r.t, &r.plan, &r.room->diags), HBM_VERIFY);
	*part = kept;
	EQUAL(hbm_verify(&r.room->arena, &r.p, &r.t, &r.plan, &r.room->diags), HBM_OK);
}

static void long_names_are_compared_in_full(void **state)
{
	run r = begin(state, "trn1");
	char name[1001];

	memset(name, 'n', 1000);
	name[1000] = 0;
	r.opts.split_threshold = 200;
	plan_ok(&r, "tensor %s : u8[300]; tensor %s_VN_1 : 1 bytes; op () -> %s; op (%s);",
	        name, name, name, name);
	EQUAL(only_split(&r)->refused, HBM_UNSPLIT_NAME);
}

/* ---- dram ----------------------------------------------------------------- */

static void pages_are_the_unit(void **state)
{
	static const struct {
		uint64_t bytes, reserve;
	} rows[] = {{1, 4096}, {4095, 4096}, {4096, 4096}, {4097, 8192}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run r = begin(state, "trn1");
		plan_ok(&r, "input x : 100 bytes; weight w : 5000 bytes;"
		        "tensor t : %" PRIu64 " bytes; op (x, w) -> t; op (t);",
		        rows[i].bytes);
		EQUAL(of(&r, "t")->reserve, rows[i].reserve);
		EQUAL(at(&r, "t"), 4096 + 8192); /* above the input and the weight */
		EQUAL(r.plan.dram_bytes, rows[i].reserve);
	}
}

static void bytes_are_reused_over_the_program(void **state)
{
	static const char *const names[] = {NULL, "degree-first", "first-fit"};

	for (int i = 0; i < 3; i++) {
		run r = begin(state, "trn1");
		r.opts.allocator = names[i];
		plan_ok(&r, "input x : 8 bytes; tensor a : 4096 bytes; tensor b : 4096 bytes;"
		        "tensor c : 8192 bytes; output y : 8 bytes;"
		        "bundle k {; op (x) -> a; op (a) -> b; };"
		        "bundle l {; op (b) -> c; op (c) -> y; };");
		/* In order of birth b stands where c would fit. */
		EQUAL(r.plan.dram_bytes, i == 2 ? 16384 : 12288);
		EQUAL(r.plan.regions.n, 1);
		EQUAL(r.plan.regions.items[0].lower_bound, 12288);
		EQUAL(r.plan.regions.items[0].no_reuse, 16384);
	}
}

static void without_reuse_all_have_their_own(void **state)
{
	run r = begin(state, "trn1");

	r.opts.no_reuse = true;
	plan_ok(&r, "input x : 8 bytes; tensor a : 4096 bytes; tensor b : 4096 bytes;"
	        "tensor c : 4096 bytes; op (x) -> a; op (a) -> b; op (b) -> c; op (c);");
	EQUAL(r.plan.dram_bytes, 3 * 4096);
}

/* C39: siblings never run together. */
static void siblings_share_bytes(void **state)
{
	static const char target[] = "target t\nsummary = test\nfamily = neuron\ncores = 1\n"
	                             "hbm.window = 1 GiB\nhbm.align = 128 B\nhbm.granule = 128 B\n"
	                             "pipeline dram hbm-usage\n";
	run r = begin(state, target);

	plan_ok(&r, "tensor a : 1000 bytes; tensor b : 2048 bytes; tensor c : 512 bytes;"
	        "tensor d : 4096 bytes; output y : 128 bytes;"
	        "op () -> a;"
	        "region one {; op () -> b; region two {; op () -> c; op (c); };"
	        "op (b); };"
	        "region three {; op () -> d; op (d); };"
	        "op (a) -> y;");
	EQUAL(r.plan.dram_bytes, 5120);
}

/* C17: two blocks of at most 1 GiB, and nothing lies across them. */
static void blocks_of_limited_size(void **state)
{
	static const char text[] =
		"tensor a : 734003200 bytes; tensor b : 734003200 bytes;"
		"tensor c : 629145600 bytes; op () -> a; op () -> b; op (a, b);"
		"op () -> c; op (c);";
	run r = begin(state, "trn1");

	r.opts.dram_block = GIB;
	plan_ok(&r, "%s", text);
	EQUAL(r.plan.regions.n, 2);
	EQUAL(r.plan.dram_bytes, 1468006400u);
	for (uint32_t i = 0; i < 2; i++)
		assert_true(r.plan.regions.items[i].extent <= GIB);
	r.opts.dram_block = 0;
	plan_ok(&r, "%s", text);
	EQUAL(r.plan.regions.n, 1);
	EQUAL(r.plan.dram_bytes, 1468006400u);
	r.opts.dram_block = 734003199;
	plan(&r, text);
	assert_int_equal(r.status, HBM_UNSUPPORTED);
	must_say(&r, "'a' of 734003200 bytes is larger than a block");
	r.opts.dram_block = 734003200;
	plan_ok(&r, "%s", text);
}

/* C91: plain tensors may use the shared region's bytes, never the other way. */
static void classes_have_regions_of_their_own(void **state)
{
	static const struct {
		const char *text;
		bool rule;
		uint64_t shared, plain;
	} rows[] = {
		{"tensor a : 4096 bytes class=shared; tensor b : 4096 bytes;"
		 "tensor c : 4096 bytes class=shared; op () -> a; op (a); op () -> b;"
		 "op (b); op () -> c; op (c);", true, 4096, 0},
		{"tensor a : 4096 bytes class=shared; tensor b : 4096 bytes;"
		 "tensor c : 4096 bytes class=shared; op () -> a; op (a); op () -> b;"
		 "op (b); op () -> c; op (c);", false, 4096, 4096},
		{"tensor a : 4096 bytes; tensor b : 4096 bytes class=shared; op () -> a;"
		 "op (a); op () -> b; op (b);", true, 4096, 0},
		{"tensor a : 2048 bytes class=shared; tensor b : 4097 bytes; op () -> a;"
		 "op (a); op () -> b; op (b);", true, 4096, 8192},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run r = begin(state, "trn1");
		uint64_t shared = 0, plain = 0;
		r.opts.plain_in_shared = rows[i].rule;
		plan_ok(&r, "%s", rows[i].text);
		for (uint32_t k = 0; k < r.plan.regions.n; k++)
			*(r.plan.regions.items[k].class ? &shared : &plain) +=
				r.plan.regions.items[k].extent;
		EQUAL(shared, rows[i].shared);
		EQUAL(plain, rows[i].plain);
		EQUAL(r.plan.dram_bytes, shared + plain);
	}
}

/* C93: scratch of an op is the op's, and counts while it runs. */
static void scratch_counts_while_the_op_runs(void **state)
{
	run r = begin(state, "trn1");

	plan_ok(&r, "tensor a : 4096 bytes; tensor b : 8192 bytes;"
	        "op () -> a; op s: (a) scratch=10000; op () -> b; op (b);");
	EQUAL(r.plan.scratch.n, 1);
	EQUAL(r.plan.scratch.items[0].size, 12288);
	EQUAL(r.plan.dram_bytes, 4096 + 12288);
	EQUAL(of(&r, "a")->size, 4096);
}

static void on_chip_demands_are_met(void **state)
{
	run r = begin(state, "trn1");

	plan_ok(&r, "tensor a : 5000 bytes home=lx; tensor b : 3000 bytes home=lx;"
	        "op () -> a; op (a) -> b; op (b);");
	EQUAL(r.plan.dram_bytes, 0);
	EQUAL(of(&r, "a")->home.kind, HBM_HOME_LX);
	EQUAL(r.plan.totals.total, 0);
	plan_ok(&r, "tensor a : 32Mi bytes home=lx; op () -> a; op (a);");
	must_say(&r, "the target has");
}

/* ---- rotation ------------------------------------------------------------- */

/* a and b cross the borders of the loop, t does not. */
#define ROTATING                                                                         \
	"tensor a : 100 bytes; tensor b : 200 bytes; tensor t : 50 bytes;"              \
	"tensor c : 300 bytes; op () -> a; op (a) -> b; op (b) -> t; op (t);"           \
	"loop x4 { op (a); op (b) -> c; } op (c);"

static void what_crosses_blocks_stands_in_the_window(void **state)
{
	run r = begin(state, toy_rotating);

	r.opts.rotation_size = 1000;
	plan_ok(&r, ROTATING);
	EQUAL(at(&r, "a"), 0);
	EQUAL(at(&r, "b"), 100);
	EQUAL(at(&r, "c"), 300);
	EQUAL(at(&r, "t"), 600); /* above the window */
	EQUAL(r.plan.dram_bytes, 650);
	assert_string_equal(r.plan.regions.items[0].allocator, "rotation");
}

/* Two buffers at a time, each alive over one border: the ring goes round. */
static void the_window_is_a_ring(void **state)
{
	static const struct {
		uint64_t window, used, outside;
	} rows[] = {{200, 200, 0}, {299, 200, 0}, {300, 300, 0}, {199, 100, 1}, {99, 0, 4}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		run r = begin(state, toy_rotating);
		uint32_t outside = 0;
		r.opts.rotation_size = rows[i].window;
		plan_ok(&r, "tensor a : 100 bytes; tensor b : 100 bytes; tensor c : 100 bytes;"
		        "tensor d : 100 bytes; op () -> a; loop x2 { op (a); }"
		        "op () -> b; loop x2 { op (b); } op () -> c; loop x2 { op (c); }"
		        "op () -> d; loop x2 { op (d); }");
		for (uint32_t k = 0; k < 4; k++)
			outside += at(&r, (const char *[]){"a", "b", "c", "d"}[k]) >= rows[i].used;
		if (rows[i].used)
			EQUAL(r.plan.regions.items[0].extent, rows[i].used);
		if (!rows[i].outside)
			EQUAL(outside, 0);
	}
}

static void the_window_has_limits(void **state)
{
	static const uint64_t sizes[] = {8 * GIB - 4096, 8 * GIB, 8 * GIB + 1, 4096, 4095};
	static const bool right[] = {true, true, false, true, false};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		run r = begin(state, "trn1");
		r.opts.rotation_size = sizes[i];
		plan(&r, "tensor a : 1 bytes; op () -> a; op (a);");
		assert_int_equal(r.status, right[i] ? HBM_OK : HBM_OPTION);
	}
}

static void without_blocks_nothing_rotates(void **state)
{
	run r = begin(state, toy_rotating);

	r.opts.rotation_size = HBM_ROTATION_HIGH_WATER;
	plan_ok(&r, "tensor a : 100 bytes; op () -> a; op (a);");
	EQUAL(r.plan.regions.n, 1);
	plan_ok(&r, "tensor a : 100 bytes; op () -> a; region x { op (a); } region y { op (a); }");
	must_say(&r, "has branches");
	/* As large as without rotation, where t stands in what c takes later. */
	plan_ok(&r, ROTATING);
	EQUAL(r.plan.regions.items[0].extent, 600);
	r = begin(state, toy);
	r.opts.rotation_size = 100;
	plan(&r, ROTATING);
	assert_int_equal(r.status, HBM_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(the_window_decides),
		ROOM_TEST(the_margin_only_reports),
		ROOM_TEST(the_check_can_be_switched_off),
		ROOM_TEST(resident_bytes_count),
		ROOM_TEST(what_is_live_is_named_by_size),
		ROOM_TEST(over_budget_by_category),
		ROOM_TEST(phases_are_told),
		ROOM_TEST(serial_groups_would_help),
		ROOM_TEST(metrics_have_their_meaning),
		ROOM_TEST(descriptors_move_at_most_64_kib),
		ROOM_TEST(inputs_and_outputs_alone),
		ROOM_TEST(a_result_in_a_donated_argument_counts_once),
		ROOM_TEST(the_gate_is_not_softer_than_the_window),
		ROOM_TEST(the_split_of_a_large_tensor),
		ROOM_TEST(the_threshold_itself_is_left_alone),
		ROOM_TEST(the_window_bounds_the_threshold),
		ROOM_TEST(parts_are_few_and_equal_where_a_divisor_allows),
		ROOM_TEST(the_number_of_parts_is_limited),
		ROOM_TEST(parts_within_their_limit),
		ROOM_TEST(the_default_part_limit_is_the_targets),
		ROOM_TEST(users_get_parts_and_ranges_of_parts),
		ROOM_TEST(what_cannot_be_split_says_why),
		ROOM_TEST(a_split_is_a_partition),
		ROOM_TEST(long_names_are_compared_in_full),
		ROOM_TEST(pages_are_the_unit),
		ROOM_TEST(bytes_are_reused_over_the_program),
		ROOM_TEST(without_reuse_all_have_their_own),
		ROOM_TEST(siblings_share_bytes),
		ROOM_TEST(blocks_of_limited_size),
		ROOM_TEST(classes_have_regions_of_their_own),
		ROOM_TEST(scratch_counts_while_the_op_runs),
		ROOM_TEST(on_chip_demands_are_met),
		ROOM_TEST(what_crosses_blocks_stands_in_the_window),
		ROOM_TEST(the_window_is_a_ring),
		ROOM_TEST(the_window_has_limits),
		ROOM_TEST(without_blocks_nothing_rotates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
