/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: valid, and the same after printing and reading. */
#include "support/gen_program.h"
#include "support/ir.h"
#include "support/test.h"

#include "import/importer.h"
#include "ir/validate.h"

enum { N_PROGRAMS = 3000 };

static void options(gen_opts *o, uint64_t seed)
{
	gen_defaults(o, seed);
	if (seed % 2)
		return;
	o->decorate = 300;
	o->planned = 300;
	o->dynamic = 100;
	o->pin = 30;
}

static void test_valid(void **state)
{
	uint64_t n_loops = 0, n_views = 0, n_must = 0, n_tiles = 0, n_parallel = 0;

	(void)state;
	for (uint64_t seed = 0; seed < N_PROGRAMS; seed++) {
		hbm_arena a;
		hbm_diags d;
		hbm_program p;
		gen_opts o;
		hbm_arena_init(&a, NULL);
		hbm_diags_init(&d, &a);
		options(&o, seed);
		if (gen_program(&a, &o, &p) != HBM_OK) {
			hbm_status st = hbm_validate(&p, &d);
			fail_msg("seed %llu: %s\n%s\n%s", (unsigned long long)seed,
			         hbm_status_text(st), ir_messages(&a, &d, false),
			         ir_print(&a, &p));
		}
		for (uint32_t i = 0; i < p.nodes.n; i++) {
			n_loops += p.nodes.items[i].kind == HBM_NODE_LOOP;
			n_parallel += p.nodes.items[i].kind == HBM_NODE_PARALLEL;
		}
		for (uint32_t i = 0; i < p.tensors.n; i++) {
			n_views += p.tensors.items[i].base != HBM_NONE;
			n_tiles += (p.tensors.items[i].flags & HBM_T_TILE) != 0;
		}
		for (uint32_t i = 0; i < p.inplaces.n; i++)
			n_must += p.inplaces.items[i].must;
		hbm_arena_fini(&a);
	}
	assert_true(n_loops > N_PROGRAMS && n_views > N_PROGRAMS &&
	            n_must > N_PROGRAMS / 2 && n_tiles > N_PROGRAMS / 10 &&
	            n_parallel > N_PROGRAMS / 10);
}

typedef struct form {
	char *(*print)(hbm_arena *a, const hbm_program *p);
	const char *from;
} form;

static void check_identity(const form *f, uint64_t seed)
{
	hbm_source src = {.path = "t"};
	hbm_imported got;
	hbm_arena a;
	hbm_diags d;
	hbm_program p;
	gen_opts o;
	char *first, *second;
	const char *differs;

	hbm_arena_init(&a, NULL);
	hbm_diags_init(&d, &a);
	options(&o, seed);
	assert_int_equal(gen_program(&a, &o, &p), HBM_OK);
	first = f->print(&a, &p);
	src.bytes = (hbm_bytes){first, strlen(first)};
	if (hbm_import_source(&a, &d, &src, f->from, NULL, NULL, &got) != HBM_OK)
		fail_msg("seed %llu\n%s\n%s", (unsigned long long)seed,
		         ir_messages(&a, &d, true), first);
	differs = ir_difference(&p, &got.program);
	second = f->print(&a, &got.program);
	if (differs || strcmp(first, second))
		fail_msg("seed %llu: %s\n%s\n%s", (unsigned long long)seed,
		         differs ? differs : "text", first, second);
	hbm_arena_fini(&a);
}

static void test_text(void **state)
{
	const form f = {ir_print, "hbm"};

	(void)state;
	for (uint64_t seed = 0; seed < N_PROGRAMS; seed++)
		check_identity(&f, seed);
}

static void test_json(void **state)
{
	const form f = {ir_print_json, "json"};

	(void)state;
#if !HBM_HAVE_JANSSON
	skip();
#endif
	for (uint64_t seed = 0; seed < N_PROGRAMS; seed++)
		check_identity(&f, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
