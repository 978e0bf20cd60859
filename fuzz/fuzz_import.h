/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

/* One input through an importer: it is refused with an error or becomes a program
 * that is valid and prints to a text that is read again. */
#include "fuzz.h"

#include "import/importer.h"
#include "ir/text.h"
#include "ir/validate.h"

#include <string.h>

static void check_text(hbm_arena *a, const hbm_program *p)
{
	hbm_membuf buf = {.arena = a};
	hbm_program again;
	hbm_out out;

	hbm_out_init(&out, hbm_membuf_write, &buf);
	hbm_text_print(p, &out);
	CHECK(hbm_out_finish(&out) == HBM_OK);
	/* Nothing is printed of a program without a name and ops. */
	CHECK(hbm_text_read(a, NULL, "again", buf.bytes.n ? buf.bytes.items : "",
	                    buf.bytes.n, NULL, 0, &again) == HBM_OK);
}

static int fuzz_import(const hbm_importer *importer, const uint8_t *data, size_t n)
{
	hbm_import_opts opts = {0};
	hbm_source src = {.path = "f"};
	hbm_imported got;
	hbm_arena arena;
	hbm_status status;
	hbm_diags d;
	char *copy;

	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&d, &arena);
	copy = hbm_arena_strndup(&arena, (const char *)data, n);
	CHECK(copy);
	src.bytes = (hbm_bytes){copy, n};
	importer->probe(&src);
	status = importer->read(&arena, &src, &opts, &d, &got);
	CHECK((status == HBM_OK) == (d.n_errors == 0));
	if (status == HBM_OK) {
		CHECK(hbm_validate(&got.program, &d) == HBM_OK);
		check_text(&arena, &got.program);
	}
	hbm_arena_fini(&arena);
	return 0;
}

#endif
