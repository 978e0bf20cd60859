/* SPDX-License-Identifier: Apache-2.0
 *
 * Inductor dumps. The input is split at lines of '%' into the text after fusion,
 * the one before, output_code.py and fx_graph_readable.py; without such a line it
 * is one file or a log. What is read is a valid program, an error is listed
 * whenever a dump is refused, and the answer is the same twice. */
#include "fuzz.h"

#include "import/inductor.h"
#include "ir/validate.h"

#include <string.h>

typedef struct parts {
	hbm_bytes part[4];
	uint32_t n;
} parts;

static void split(const char *text, size_t n, parts *ret)
{
	size_t from = 0;

	*ret = (parts){0};
	for (size_t i = 0; i <= n && ret->n < 4; i++) {
		if (i < n && (text[i] != '%' || (i && text[i - 1] != '\n')))
			continue;
		ret->part[ret->n++] = (hbm_bytes){text + from, i - from};
		from = i + 1;
	}
}

/* A NUL must stand behind each text: copies. */
static const hbm_ind_text *text_of(hbm_ind_dump *dump, hbm_bytes b)
{
	hbm_ind_text *t = HBM_NEW(dump->a, hbm_ind_text);
	char *s = hbm_arena_strndup(dump->a, b.data, b.n);

	CHECK(t && s);
	hbm_ind_open(t, "f", (hbm_bytes){s, b.n});
	return t;
}

static hbm_status read_parts(hbm_arena *a, const parts *p, hbm_diags *d,
                             hbm_program *ret)
{
	hbm_bind bind = {"s0", 8};
	hbm_import_opts opts = {.binds = &bind, .n_binds = 1};
	hbm_ind_dump dump = {.a = a, .d = d, .opts = &opts, .fused = true};
	hbm_ind_facts facts;
	hbm_ind_replay replay;

	HBM_TRY(hbm_syms_init(&dump.syms, a));
	HBM_TRY(hbm_ind_read_ir(&dump, text_of(&dump, p->part[0]), &dump.graph));
	if (p->n > 1)
		HBM_TRY(hbm_ind_read_ir(&dump, text_of(&dump, p->part[1]), &dump.pre));
	if (p->n > 3)
		HBM_TRY(hbm_ind_read_fx(&dump, text_of(&dump, p->part[3])));
	if (p->n > 2)
		HBM_TRY(hbm_ind_read_code(&dump, text_of(&dump, p->part[2]), &dump.code));
	if (dump.failed)
		return HBM_SEMANTIC;
	HBM_TRY(hbm_ind_find_facts(&dump, &facts));
	if (dump.failed)
		return HBM_SEMANTIC;
	HBM_TRY(hbm_ind_build(&dump, &facts, a, ret));
	HBM_TRY(hbm_validate(ret, d));
	if (hbm_ind_replay_code(&dump, &replay) == HBM_OK)
		CHECK(replay.n_allocs <= replay.blocks.n);
	return HBM_OK;
}

static hbm_status read_any(hbm_arena *a, const parts *p, hbm_diags *d, hbm_imported *ret)
{
	hbm_import_opts opts = {0};
	hbm_source src = {.path = "f", .bytes = p->part[0]};

	if (p->n > 1)
		return read_parts(a, p, d, &ret->program);
	hbm_importer_inductor.probe(&src);
	return hbm_importer_inductor.read(a, &src, &opts, d, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hbm_arena arena;
	hbm_diags d, d2;
	hbm_imported in, again;
	hbm_status status;
	parts p;
	char *text;

	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&d, &arena);
	hbm_diags_init(&d2, &arena);
	text = hbm_arena_strndup(&arena, (const char *)data, n);
	CHECK(text);
	split(text, n, &p);
	status = read_any(&arena, &p, &d, &in);
	CHECK(status == HBM_OK || d.n_errors > 0);
	CHECK(read_any(&arena, &p, &d2, &again) == status);
	CHECK(d.n_errors == d2.n_errors);
	if (status == HBM_OK)
		CHECK(in.program.ops.n == again.program.ops.n);
	hbm_arena_fini(&arena);
	return 0;
}
