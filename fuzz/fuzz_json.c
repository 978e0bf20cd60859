/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON form: refused with an error, or a valid program that prints to JSON which
 * reads back to the same. */
#include "fuzz.h"

#include "import/importer.h"
#include "ir/json.h"

#include <string.h>

static const char *print(hbm_arena *a, const hbm_program *p, size_t *ret_n)
{
	hbm_membuf buf = {.arena = a};
	hbm_out out;

	hbm_out_init(&out, hbm_membuf_write, &buf);
	hbm_json_print(p, &out);
	CHECK(hbm_out_finish(&out) == HBM_OK);
	*ret_n = buf.bytes.n;
	return buf.bytes.items;
}

static void check_again(hbm_arena *a, const hbm_program *p)
{
	hbm_source src = {.path = "again"};
	hbm_imported got;
	size_t n, m;
	const char *first = print(a, p, &n), *second;

	src.bytes = (hbm_bytes){first, n};
	CHECK(hbm_import_source(a, NULL, &src, "json", NULL, NULL, &got) == HBM_OK);
	second = print(a, &got.program, &m);
	CHECK(n == m && !memcmp(first, second, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hbm_source src = {.path = "f"};
	hbm_arena arena;
	hbm_diags d;
	hbm_imported got;
	hbm_status status;
	char *text;

	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&d, &arena);
	text = hbm_arena_strndup(&arena, (const char *)data, n);
	CHECK(text);
	src.bytes = (hbm_bytes){text, n};
	status = hbm_import_source(&arena, &d, &src, "json", NULL, NULL, &got);
	CHECK((status == HBM_OK) == (d.n_errors == 0));
	if (status == HBM_OK)
		check_again(&arena, &got.program);
	hbm_arena_fini(&arena);
	return 0;
}
