/* SPDX-License-Identifier: Apache-2.0 */
/* Live ranges that the verifier finds, and which storages may be shared in place, on
 * programs small enough to know every answer. */
#include "support/bench.h"
#include "analysis/analysis.h"

/* ---- live ranges ------------------------------------------------------------ */

/* Every line: a program; a tensor and where it must live. */
static const struct {
	const char *text, *tensor;
	uint32_t start, end;
} lives[] = {
	/* From the first access to the last, whatever the number of writers. */
	{"tensor a:4 bytes;op () -> a;op;op (a)", "a", 0, 3},
	{"tensor a:4 bytes;op;op () -> a;op () -> a;op", "a", 1, 3},
	{"tensor a:4 bytes;op () -> a;op (a);op () -> a;op (a)", "a", 0, 4},
	{"tensor a:4 bytes;op", "a", 0, 0},
	/* Views and mandatory in-place pairs are one value. */
	{"tensor a:4 bytes;view v=a+2:2 bytes;op () -> a;op;op (v)", "a", 0, 3},
	{"tensor a:4 bytes;tensor b:4 bytes;op () -> a;op (a) -> b inplace(b=a must);"
	 "op;op (b)", "a", 0, 4},
	/* Born and consumed in one trip. */
	{"tensor a:4 bytes;loop x3 {op;op () -> a;op (a);op}", "a", 1, 3},
	{"tensor a:4 bytes;loop x2 {op;loop x2 {op () -> a;op (a)};op}", "a", 1, 3},
	/* Defined before, read inside. */
	{"tensor a:4 bytes;op () -> a;loop x3 {op;op (a);op}", "a", 0, 4},
	{"tensor a:4 bytes;op () -> a;loop x1 {op;op (a);op}", "a", 0, 3},
	{"tensor a:4 bytes;op () -> a;loop x? {op;op (a);op}", "a", 0, 4},
	{"tensor a:4 bytes;op () -> a;loop x2 {op;loop x1 {op (a)};op}", "a", 0, 4},
	{"tensor a:4 bytes;op () -> a;loop x1 {op;loop x2 {op (a);op};op}", "a", 0, 4},
	/* Carried from trip to trip. */
	{"tensor a:4 bytes;op;loop x3 {op;op (a) -> a;op}", "a", 1, 4},
	{"tensor a:4 bytes;loop x3 {op;op (a);op () -> a;op}", "a", 0, 4},
	{"tensor a:4 bytes;op () -> a;op;loop x2 {op () -> a;op (a);op}", "a", 0, 4},
	/* Written inside, read after. */
	{"tensor a:4 bytes;loop x3 {op;op () -> a;op};op;op (a)", "a", 1, 5},
	{"tensor a:4 bytes;loop x3 {op;loop x2 {op;op () -> a;op};op};op (a)", "a", 2, 6},
	/* The same in the loop around: the inner loop reads it again each trip. */
	{"tensor a:4 bytes;loop x3 {op;op () -> a;loop x2 {op;op (a);op};op}", "a", 1, 5},
	/* Only a part is written before the read; nobody else ever writes the rest. */
	{"tensor a:8 bytes;loop x3 {op;op () -> a[0..4];op (a);op}", "a", 1, 3},
	{"tensor a:8 bytes;op () -> a;loop x3 {op;op () -> a[0..4];op (a);op}", "a", 0, 5},
	{"tensor a:8 bytes;loop x3 {op;op () -> a[0..4];op (a);op () -> a[4..8];op}", "a",
	 0, 5},
	{"tensor a:8 bytes;loop x3 {op;op () -> a[0..4];op () -> a[4..8];op (a);op}", "a",
	 1, 4},
	/* The rest was written earlier in the same trip of the loop around. */
	{"tensor a:8 bytes;loop x3 {op;op () -> a;loop x2 {op;op () -> a[0..4];op (a);op};"
	 "op}", "a", 1, 6},
	{"tensor a:12 bytes;loop x3 {op;op () -> a[0..4], a[8..12];loop x2 {op;"
	 "op () -> a[4..8];op (a);op};op}", "a", 1, 6},
	/* Each trip writes other bytes, and all are read after. */
	{"tensor a:12 bytes;op;loop L x3 {op;op () -> a[0..4, L*4];op};op;op (a)", "a", 1, 6},
	{"tensor a:12 bytes;loop L x3 {op;op () -> a[0..4, L*4];op (a[0..4, L*4]);op}", "a",
	 1, 3},
	{"tensor a:16 bytes;loop L x3 {op;op (a[0..4, L*4]);op () -> a[4..8, L*4];op}", "a",
	 0, 4},
	{"tensor a:12 bytes;loop L x3 {op;op () -> a[0..4, L*4];op (a);op}", "a", 0, 4},
	{"tensor a:12 bytes;loop L x3 {op;op () -> a;op (a[0..4, L*4]);op}", "a", 1, 3},
	{"tensor a:5 bytes;loop L x5 {op;op () -> a[0..1, L*1]};op (a)", "a", 0, 3},
	/* An inner loop fills it, the outer trip uses it all. */
	{"tensor a:12 bytes;loop x2 {op;loop L x3 {op;op () -> a[0..4, L*4];op};op (a);op}",
	 "a", 1, 5},
	{"tensor a:12 bytes;loop x2 {op;loop L x3 {op;op () -> a[0..4, L*4];op};op (a[0..4]);"
	 "op}", "a", 1, 5},
	{"tensor a:16 bytes;loop x2 {op;loop L x3 {op () -> a[0..4, L*4]};op (a);op () -> a;"
	 "op}", "a", 0, 5},
	/* Columns and rows: two steps, whichever loop is outside. */
	{"tensor a:16 bytes;loop x2 {op;loop L x2 {loop M x2 {op () -> a[0..4, L*8, M*4];"
	 "op}};op (a);op}", "a", 1, 4},
	{"tensor a:16 bytes;loop x2 {op;loop L x2 {loop M x2 {op () -> a[0..4, L*4, M*8];"
	 "op}};op (a);op}", "a", 1, 4},
	/* Steps that leave holes: the same steps see the same bytes. */
	{"tensor a:16 bytes;loop x2 {op;loop L x2 {op () -> a[0..4, L*8]};"
	 "loop M x2 {op (a[0..4, M*8]);op};op}", "a", 1, 4},
	{"tensor a:16 bytes;loop x2 {op;loop L x2 {op () -> a[0..4, L*8]};op (a);"
	 "op () -> a;op}", "a", 0, 5},
	{"tensor a:48 bytes;loop x2 {loop L x2 {loop M x2 {op () -> a[0..4, L*32, M*8]}};"
	 "loop P x2 {loop Q x2 {op (a[0..4, P*32, Q*8]);op}};op}", "a", 0, 3},
	{"tensor a:48 bytes;loop x2 {loop L x2 {loop M x2 {op () -> a[0..4, L*32, M*8]}};"
	 "loop P x2 {loop Q x2 {op (a[0..4, P*32, Q*12]);op}};op () -> a;op}", "a", 0, 5},
	{"tensor a:96 bytes;loop R x2 {loop L x2 {op () -> a[0..4, L*8, R*32]};"
	 "loop P x2 {op (a[0..4, P*8, R*32]);op};op}", "a", 0, 3},
	/* Filled or lent before the program runs. */
	{"tensor a:4 bytes zero;op;op () -> a;op (a)", "a", 0, 3},
	{"state a:4 bytes;op;loop x2 {op;op (a);op}", "a", 1, 4},
	/* What a parallel group touches is live in all of it. */
	{"tensor a:4 bytes;op;parallel {op;op () -> a;op};op;op (a)", "a", 1, 6},
	{"tensor a:4 bytes;op;parallel {op;region {op () -> a;op (a)};op};op", "a", 1, 5},
	/* An advancing tile that is read after the loop. */
	{"tensor a:4 bytes tile;op;loop L x3 {op () -> a[L*4];op};op;op (a)", "a", 1, 5},
};

/* The planner's analysis may be more careful, never less. */
static void test_lives(void **state)
{
	const hbm_analysis_opts opts = {.inplace = false};

	for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
		bench b = bench_make(state, lives[i].text);
		hbm_tensor_id t = bench_tensor(&b, lives[i].tensor);
		hbm_analysis an;
		hbm_facts f;
		const hbm_class *c;
		const hbm_storage *s;
		assert_int_equal(hbm_facts_collect(&b.room->arena, &b.p, NULL, &f), HBM_OK);
		assert_int_equal(hbm_facts_trace(&f), HBM_OK);
		assert_int_equal(hbm_analyse(&b.room->arena, &b.p, &b.t, &opts, NULL, &an),
		                 HBM_OK);
		c = &f.classes.items[f.class_of[t]];
		s = &an.storages.items[an.of[t]];
		if (c->start != lives[i].start || c->end != lives[i].end)
			fail_msg("'%s': '%s' is live at [%u, %u), not [%u, %u)",
			         lives[i].text, lives[i].tensor, c->start, c->end,
			         lives[i].start, lives[i].end);
		if (s->start > c->start || s->end < c->end)
			fail_msg("'%s': the planner has '%s' live at [%u, %u)",
			         lives[i].text, lives[i].tensor, s->start, s->end);
	}
}

/* ---- in-place --------------------------------------------------------------- */

#define AB "tensor a:8 bytes;tensor b:8 bytes;"

/* A program, the tensors that share a storage, and what is said of it; NULL: that
 * they may. */
static const struct {
	const char *text, *names, *words;
} merges[] = {
	{AB "op () -> a;op (a) -> b inplace(b=a);op (b)", "a b", NULL},
	{AB "op () -> a;op (a) -> b;op (b)", "a b", "no in-place pair joins them"},
	{AB "op () -> a;op (a);op () -> b;op (b)", "a b", "no in-place pair joins them"},
	{AB "op () -> a;op (a)", "a b", "no in-place pair joins them"},
	{AB "op () -> a;op (a) -> b inplace(b=a);op (a, b)", "a b",
	 "the old value is still needed"},
	{AB "op () -> a, b;op (a) -> b inplace(b=a);op (b)", "a b",
	 "no in-place pair joins them"},
	{"tensor a:4 bytes;tensor b:8 bytes;op () -> a;op (a) -> b inplace(b=a);op (b)",
	 "a b", "does not fit"},
	{"tensor a:16 bytes;tensor b:8 bytes;op () -> a;op (a) -> b inplace(b=a);op (b)",
	 "a b", NULL},
	/* Both windows must be the same bytes. */
	{"tensor a:16 bytes;tensor b:8 bytes;op () -> a;op (a[8..16]) -> b inplace(b=a);"
	 "op (b)", "a b", "are not the same bytes"},
	{"tensor a:16 bytes;tensor b:8 bytes;op () -> a;op (a[0..8]) -> b inplace(b=a);"
	 "op (b)", "a b", NULL},
	/* Another operand touches the old bytes. */
	{AB "view v=a;op () -> a;op (a, v) -> b inplace(b=a);op (b)", "a b",
	 "by another operand"},
	{AB "op () -> a;op (a, a) -> b inplace(b=$0, b=$1);op (b)", "a b", NULL},
	{AB "op () -> a;op (a, a) -> b inplace(b=$1);op (b)", "a b", "by another operand"},
	/* Chains: each takes over where the one before dies. */
	{AB "tensor c:8 bytes;op () -> a;op (a) -> b inplace(b=a);op (b) -> c inplace(c=b);"
	 "op (c)", "a b c", NULL},
	{AB "tensor c:8 bytes;op () -> a;op (a) -> b, c inplace(b=a, c=a);op (b, c)", "a b c",
	 "another value is needed there"},
	/* The caller's. */
	{"input x:8 bytes;tensor b:8 bytes;op (x) -> b inplace(b=x);op (b)", "b x",
	 "the caller owns the old value"},
	{"input x:8 bytes donated;tensor b:8 bytes;op (x) -> b inplace(b=x);op (b)", "b x",
	 NULL},
	{"weight x:8 bytes;tensor b:8 bytes;op (x) -> b inplace(b=x);op (b)", "b x",
	 "the caller owns the old value"},
	{"output y:8 bytes;output z:8 bytes;op () -> y;op (y) -> z inplace(z=y)", "y z",
	 "the caller owns the old value"},
	{"tensor a:8 bytes;output y:8 bytes;op () -> a;op (a) -> y inplace(y=a)", "a y", NULL},
	{"input x:8 bytes donated;tensor a:8 bytes;output y:8 bytes;op (x) -> a "
	 "inplace(a=x);op;op (a) -> y inplace(y=a)", "a x y", NULL},
	{"tensor a:8 bytes;state s:8 bytes;op () -> a;op (a) -> s inplace(s=a)", "a s",
	 "has bytes before the program runs"},
	/* Loops: dead in the text is not dead in the next trip. */
	{AB "op () -> a;loop x3 {op (a) -> b inplace(b=a);op (b)}", "a b",
	 "the old value is still needed"},
	{AB "loop x3 {op () -> a;op (a) -> b inplace(b=a);op (b)}", "a b", NULL},
	{AB "op () -> a;loop x1 {op (a) -> b inplace(b=a);op (b)}", "a b", NULL},
	{AB "op () -> b;loop x3 {op (b) -> a;op (a) -> b inplace(b=a)};op (b)", "a b",
	 "no in-place pair joins them"},
	{AB "op () -> a;loop x3 {op;op (a) -> b inplace(b=a)};op (b)", "a b",
	 "the old value is still needed"},
	{AB "parallel {op () -> a;op (a) -> b inplace(b=a);op (b)}", "a b",
	 "is needed before the op"},
	/* Reshapes share while nobody writes. */
	{AB "op () -> a;op (a) -> b inplace(b=a keeps);op (a, b)", "a b", NULL},
	{AB "op () -> a;op (a) -> b inplace(b=a keeps);op () -> a;op (a, b)", "a b",
	 "is written while the other is needed"},
	{AB "op () -> a;op (a) -> b inplace(b=a keeps);op (b);op () -> a;op (a)", "a b", NULL},
	{AB "op () -> a;op (a) -> b inplace(b=a keeps);op () -> b;op (a);op (b)", "a b",
	 "is written while the other is needed"},
	{AB "tensor w:8 bytes;op () -> a;op (a) -> b inplace(b=a keeps);"
	 "op (b) -> w inplace(w=b);op (a, w)", "a b w", "another value is needed there"},
	{AB "tensor w:8 bytes;op () -> a;op (a) -> b inplace(b=a keeps);"
	 "op (b) -> w inplace(w=b);op (w)", "a b w", NULL},
	{AB "tensor w:8 bytes;op () -> a;op (a) -> b inplace(b=a keeps);"
	 "op (b) -> w inplace(w=b keeps);op (a);op (w)", "a b w", NULL},
	{AB "loop x2 {op () -> a;op (a) -> b inplace(b=a keeps);op (b);op (a)}", "a b", NULL},
};

static void test_merges(void **state)
{
	for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
		bench b = bench_make(state, merges[i].text);
		bench_join(&b, merges[i].names);
		hbm_diags_init(&b.room->diags, &b.room->arena);
		if (merges[i].words)
			bench_expect_fault(&b, merges[i].words);
		else
			bench_expect_legal(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(test_lives), ROOM_TEST(test_merges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
