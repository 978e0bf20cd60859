/* SPDX-License-Identifier: Apache-2.0 */
/* The text form: whatever the bytes, it is refused with an error or accepted; what
 * is accepted and valid prints to a text that reads back to the same text, and so
 * does its JSON. */
#include "fuzz.h"

#include "import/importer.h"
#include "ir/json.h"
#include "ir/text.h"
#include "ir/validate.h"

#include <string.h>

typedef void (*printer)(const hbm_program *p, hbm_out *o);

static const char *print(hbm_arena *a, const hbm_program *p, printer write,
                         size_t *ret_n)
{
	hbm_membuf buf = {.arena = a};
	hbm_out out;

	hbm_out_init(&out, hbm_membuf_write, &buf);
	write(p, &out);
	CHECK(hbm_out_finish(&out) == HBM_OK);
	*ret_n = buf.bytes.n;
	return buf.bytes.n ? buf.bytes.items : "";
}

static void check_round(hbm_arena *a, const hbm_program *p, printer write,
                        const char *from)
{
	hbm_source src = {.path = "again"};
	hbm_imported got;
	size_t n, m;
	const char *first = print(a, p, write, &n), *second;

	src.bytes = (hbm_bytes){first, n};
	CHECK(hbm_import_source(a, NULL, &src, from, NULL, NULL, &got) == HBM_OK);
	second = print(a, &got.program, write, &m);
	CHECK(n == m && !memcmp(first, second, n));
}

static void check_valid(hbm_arena *a, const hbm_program *p)
{
	hbm_program copy;

	CHECK(hbm_program_copy(p, a, &copy) == HBM_OK);
	check_round(a, &copy, hbm_text_print, "hbm");
#if HBM_HAVE_JANSSON
	check_round(a, p, hbm_json_print, "json");
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hbm_arena arena;
	hbm_diags d;
	hbm_program p;
	hbm_status status;
	char *text;

	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&d, &arena);
	text = hbm_arena_strndup(&arena, (const char *)data, n);
	CHECK(text);
	status = hbm_text_read(&arena, &d, "f", text, n, NULL, 0, &p);
	CHECK((status == HBM_OK) == (d.n_errors == 0));
	if (status == HBM_OK) {
		status = hbm_validate(&p, &d);
		CHECK(status != HBM_USAGE);
		CHECK((status == HBM_OK) == (d.n_errors == 0));
	}
	if (status == HBM_OK)
		check_valid(&arena, &p);
	hbm_arena_fini(&arena);
	return 0;
}
