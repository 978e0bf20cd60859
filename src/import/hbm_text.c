/* SPDX-License-Identifier: Apache-2.0 */
/* The native text form (docs/ir.md). */
#include "import/importer.h"
#include "ir/text.h"
#include "ir/validate.h"

#include <string.h>

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), m = strlen(tail);

	return n >= m && !strcmp(s + n - m, tail);
}

/* The first byte that is no blank, comment or ';'. */
static const char *first_word(const char *p, const char *end)
{
	while (p < end) {
		if (*p == '#')
			p = memchr(p, '\n', (size_t)(end - p));
		else if (!strchr(" \t\r\n;", *p))
			return p;
		if (!p)
			return end;
		p++;
	}
	return end;
}

static bool starts_statement(const char *p, size_t n)
{
	static const char *const words[] = {
		"op",       "tensor",    "view",    "input",  "output",
		"weight",   "state",     "bundle",  "loop",   "region",
		"parallel", "reduction", "program", "target",
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t m = strlen(words[i]);
		if (m < n && !memcmp(p, words[i], m) && strchr(" \t", p[m]))
			return true;
	}
	return false;
}

/* An empty file is an empty program. */
static int probe(const hbm_source *src)
{
	const char *end = src->bytes.data + src->bytes.n, *p;

	if (src->is_dir)
		return 0;
	if (ends_with(src->path, ".hbm") || ends_with(src->path, ".hbm.gz"))
		return 95;
	p = first_word(src->bytes.data, end);
	if (p == end)
		return 10;
	return starts_statement(p, (size_t)(end - p)) ? 60 : 0;
}

static hbm_status read_text(hbm_arena *a, const hbm_source *src,
                            const hbm_import_opts *opts, hbm_diags *d,
                            hbm_imported *ret)
{
	hbm_program p;

	HBM_TRY(hbm_text_read(a, d, src->path, src->bytes.data, src->bytes.n,
	                      opts->binds, opts->n_binds, &p));
	HBM_TRY(hbm_validate(&p, d));
	ret->is_problem = false;
	ret->program = p;
	return HBM_OK;
}

const hbm_importer hbm_importer_hbm_text = {
	.name = "hbm",
	.summary = "hbmplan's own text form",
	.probe = probe,
	.read = read_text,
};
