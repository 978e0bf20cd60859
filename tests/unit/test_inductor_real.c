/* SPDX-License-Identifier: Apache-2.0
 *
 * Real debug directories: every one is read; where Inductor's own code is there,
 * its allocations are carried out, and the same allocations are placed by us. */
#include "support/test.h"

#include "analysis/analysis.h"
#include "base/file.h"
#include "import/inductor.h"

#include <inttypes.h>

static const char root[] = "data/real/inductor";

typedef struct graph {
	test_room *room;
	const char *path;
	hbm_ind_dump dump;
	hbm_ind_facts facts;
	hbm_ind_replay replay;
	hbm_program p;
	hbm_analysis an;
} graph;

static void fail_with(test_room *room, const char *what)
{
	fail_msg("%s:\n%s", what, messages(&room->arena, &room->diags));
}

/* Storages that stand for one block of Inductor's, merged by its in-place moves. */
typedef struct merged {
	uint32_t *parent;
} merged;

static uint32_t find(merged *m, uint32_t i)
{
	while (m->parent[i] != i)
		i = m->parent[i] = m->parent[m->parent[i]];
	return i;
}

/* The ordinal of the bundle that runs at a tick. */
static uint32_t *kernels(graph *g)
{
	uint32_t *k = HBM_ZARRAY(&g->room->arena, uint32_t, (size_t)g->p.ops.n + 1);
	uint32_t n = 0;

	assert_non_null(k);
	for (uint32_t op = 0; op < g->p.ops.n; op++) {
		n += op && g->an.bundle[op] != g->an.bundle[op - 1];
		k[op] = n;
	}
	k[g->p.ops.n] = n + 1;
	return k;
}

static hbm_storage_id storage_of(graph *g, hbm_sym dump_name)
{
	hbm_sym sym = hbm_sym_find(&g->p.syms, hbm_ind_str(&g->dump, dump_name),
	                           hbm_sym_len(&g->dump.syms, dump_name));
	hbm_tensor_id t = sym == HBM_NONE ? HBM_NONE : hbm_find_tensor(&g->p, sym);

	return t == HBM_NONE ? HBM_NONE : g->an.of[t];
}

static bool is_explicit(const graph *g, hbm_sym name)
{
	uint32_t b = name < g->replay.n_syms ? g->replay.block_of[name] : HBM_NONE;

	return b != HBM_NONE && !g->replay.blocks.items[b].given;
}

/* "b = a; del a  # reuse": b may take the bytes of a although one kernel touches
 * both. Inductor shows so by doing it. */
static void merge_moves(graph *g, merged *m, const uint32_t *first, const uint32_t *last)
{
	for (uint32_t i = 0; i < g->dump.code.stmts.n; i++) {
		const hbm_ind_stmt *st = &g->dump.code.stmts.items[i];
		hbm_storage_id a, b;
		if ((st->verb != HBM_IND_MOVE && st->verb != HBM_IND_VIEW) ||
		    !is_explicit(g, st->src) || !is_explicit(g, st->dst))
			continue;
		a = storage_of(g, st->src);
		b = storage_of(g, st->dst);
		if (a == HBM_NONE || b == HBM_NONE)
			continue;
		a = find(m, a);
		b = find(m, b);
		if (a != b && last[a] == first[b] + 1)
			m->parent[b] = a;
	}
}

/* Packs the storages whose names call() allocates, with our live ranges. A kernel
 * is one tick: what happens inside it is Inductor's business. */
static hbm_placement place(graph *g, uint32_t *ret_n)
{
	hbm_arena *a = &g->room->arena;
	uint32_t n = g->an.storages.n, *k = kernels(g), *at;
	uint32_t *first = HBM_ZARRAY(a, uint32_t, n), *last = HBM_ZARRAY(a, uint32_t, n);
	bool *in = HBM_ZARRAY(a, bool, n);
	merged m = {HBM_ZARRAY(a, uint32_t, n)};
	uint64_t *size = HBM_ZARRAY(a, uint64_t, n);
	int64_t *start = HBM_ZARRAY(a, int64_t, n), *end = HBM_ZARRAY(a, int64_t, n);
	hbm_problem p = {.size = size, .start = start, .end = end,
	                 .capacity = HBM_NO_OFFSET};
	hbm_solve_opts opts;
	hbm_placement placed = {0};

	assert_true(first && last && in && m.parent && size && start && end);
	for (uint32_t i = 0; i < n; i++) {
		const hbm_storage *s = &g->an.storages.items[i];
		m.parent[i] = i;
		if (s->start == s->end)
			continue;
		first[i] = k[s->start];
		last[i] = s->flags & HBM_T_OUTPUT ? k[g->p.ops.n] : k[s->end - 1] + 1;
	}
	for (hbm_sym sym = 0; sym < g->replay.n_syms; sym++) {
		hbm_storage_id s = is_explicit(g, sym) ? storage_of(g, sym) : HBM_NONE;
		if (s != HBM_NONE)
			in[s] = true;
	}
	merge_moves(g, &m, first, last);
	HBM_VEC(uint32_t) ids = {0};
	at = HBM_ZARRAY(a, uint32_t, n);
	assert_non_null(at);
	for (uint32_t i = 0; i < n; i++) {
		if (in[i] && find(&m, i) == i) {
			at[i] = ids.n;
			assert_true(HBM_PUSH(a, &ids, i));
			start[at[i]] = INT64_MAX;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = at[find(&m, i)];
		if (!in[i])
			continue;
		size[b] = g->an.storages.items[i].size > size[b]
		                  ? g->an.storages.items[i].size : size[b];
		start[b] = first[i] < start[b] ? first[i] : start[b];
		end[b] = last[i] > end[b] ? last[i] : end[b];
	}
	p.n = *ret_n = ids.n;
	hbm_solve_defaults(&opts);
	if (hbm_problem_check(&p, &g->room->diags) ||
	    hbm_solve(a, &p, &opts, &g->room->diags, &placed))
		fail_with(g->room, g->path);
	return placed;
}

static void load(graph *g)
{
	hbm_import_opts opts = {0};
	hbm_source src = {.path = g->path, .is_dir = true, .bytes = {"", 0}};
	hbm_imported in;
	hbm_target target;
	hbm_analysis_opts an_opts = {0};
	hbm_arena *a = &g->room->arena;
	hbm_diags *d = &g->room->diags;

	if (hbm_ind_read_dump(a, &src, &opts, d, &g->dump) ||
	    hbm_ind_find_facts(&g->dump, &g->facts) ||
	    hbm_ind_replay_code(&g->dump, &g->replay) ||
	    hbm_importer_inductor.read(a, &src, &opts, d, &in) ||
	    hbm_target_load(a, d, "toy", &target))
		fail_with(g->room, g->path);
	g->p = in.program;
	if (hbm_analyse(a, &g->p, &target, &an_opts, d, &g->an))
		fail_with(g->room, g->path);
}

/* The number of a row of GROUND_TRUTH.tsv. */
static bool truth(const char *table, const char *name, const char *what, uint64_t *ret)
{
	char key[256];
	const char *p;

	snprintf(key, sizeof key, "inductor/%s/output_code.py\t%s\t", name, what);
	p = strstr(table, key);
	if (p)
		*ret = strtoull(p + strlen(key), NULL, 10);
	return p != NULL;
}

static void compare(test_room *room, const char *table, const char *name)
{
	char path[512];
	graph g = {.room = room};
	uint64_t allocs, peak;
	hbm_placement placed = {0};
	uint32_t n;

	if (!truth(table, name, "inductor.explicit_allocs", &allocs) ||
	    !truth(table, name, "inductor.peak_intermediate_bytes", &peak))
		return;
	snprintf(path, sizeof path, "%s/%s", root, name);
	g.path = shared_path(&room->arena, path);
	load(&g);
	assert_int_equal(g.replay.n_allocs, allocs);
	assert_int_equal(g.replay.peak, peak);
	assert_int_equal(g.replay.n_unsized, 0);
	placed = place(&g, &n);
	print_message("%-34s %6" PRIu64 " %6u %14" PRIu64 " %14" PRIu64 " %14" PRIu64
	              "  %5.1f%%\n",
	              name, allocs, n, peak, placed.extent, placed.lower_bound,
	              100.0 * (double)placed.extent / (double)peak);
	assert_true(placed.extent <= peak);
	assert_true(placed.n_placed == n);
}

static void against_inductor(void **state)
{
	test_room *room = *state;
	const char *file = shared_path(&room->arena, "data/real/GROUND_TRUTH.tsv");
	const char *dir = shared_path(&room->arena, root), **names;
	hbm_bytes table;
	uint32_t n;

	if (!file || !dir)
		skip();
	assert_int_equal(hbm_file_read(&room->arena, NULL, file, 0, &table), HBM_OK);
	assert_int_equal(hbm_dir_list(&room->arena, NULL, dir, &names, &n), HBM_OK);
	print_message("%-34s %6s %6s %14s %14s %14s  %6s\n", "graph", "allocs",
	              "blocks", "Inductor peak", "our extent", "lower bound", "ratio");
	for (uint32_t i = 0; i < n; i++)
		compare(room, table.data, names[i]);
}

static void all_directories(void **state)
{
	test_room *room = *state;
	const char *dir = shared_path(&room->arena, root), **names;
	uint32_t n;

	if (!dir)
		skip();
	assert_int_equal(hbm_dir_list(&room->arena, NULL, dir, &names, &n), HBM_OK);
	assert_true(n >= 10);
	for (uint32_t i = 0; i < n; i++) {
		static const char *const files[] = {
			"", "/ir_post_fusion.txt", "/ir_pre_fusion.txt",
		};
		for (int k = 0; k < 3; k++) {
			char path[512];
			hbm_imported in;
			const char *from;
			snprintf(path, sizeof path, "%s/%s%s", root, names[i], files[k]);
			if (hbm_import_path(&room->arena, &room->diags,
			                    shared_path(&room->arena, path), NULL, NULL,
			                    &from, &in))
				fail_with(room, path);
			assert_string_equal(from, "inductor");
			assert_false(in.is_problem);
			assert_true(in.program.ops.n > 0);
		}
	}
}

/* Logs without a dump in them say so. */
static void logs_without_dump(void **state)
{
	test_room *room = *state;
	const char *path = shared_path(&room->arena, "data/real/inductor-trace-log/simple.log");
	hbm_imported in;
	const char *from;

	if (!path)
		skip();
	assert_int_equal(hbm_import_path(&room->arena, &room->diags, path, NULL, NULL,
	                                 &from, &in), HBM_SEMANTIC);
	expect_message(&room->diags, HBM_E_IND_MISSING, "no section 'AFTER FUSION'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(all_directories), ROOM_TEST(against_inductor),
		ROOM_TEST(logs_without_dump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
