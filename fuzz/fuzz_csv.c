/* SPDX-License-Identifier: Apache-2.0
 *
 * Lifetime tables: what is read is a problem that passes the check of problems, an
 * error is listed whenever a table is refused, and the answer is the same twice. */
#include "fuzz.h"

#include "import/importer.h"

#include <string.h>

/* Facts about the rows that the check of problems does not know. */
static void check_rows(const hbm_named_problem *np)
{
	const hbm_problem *p = &np->problem;
	uint32_t last = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		CHECK(np->names[i] && *np->names[i]);
		CHECK(np->lines[i] > last);
		CHECK(p->start[i] <= p->end[i]);
		CHECK(p->size[i] <= HBM_MAX_BYTES);
		last = np->lines[i];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hbm_arena arena;
	hbm_diags d, d2;
	hbm_import_opts opts = {0};
	hbm_imported in, again;
	hbm_source src = {.path = "f"};
	hbm_status status;
	char *text;

	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&d, &arena);
	hbm_diags_init(&d2, &arena);
	text = hbm_arena_strndup(&arena, (const char *)data, n);
	CHECK(text);
	src.bytes = (hbm_bytes){text, n};
	hbm_importer_csv.probe(&src);
	status = hbm_importer_csv.read(&arena, &src, &opts, &d, &in);
	CHECK((status == HBM_OK) == (d.n_errors == 0));
	if (status == HBM_OK) {
		CHECK(in.is_problem);
		check_rows(&in.problem);
	}
	CHECK(hbm_importer_csv.read(&arena, &src, &opts, &d2, &again) == status);
	CHECK(d.list.n == d2.list.n);
	hbm_arena_fini(&arena);
	return 0;
}
