/* SPDX-License-Identifier: Apache-2.0 */
/* The program as JSON (schema/program.schema.json). jansson reads the text; where a
 * value stands is found by a second look at it (json_place.c), so that every
 * message has a path, a line and a caret. */
#include "import/importer.h"
#include "ir/json.h"
#include "ir/validate.h"

#include <string.h>

#if HBM_HAVE_JANSSON
#include "import/json_in.h"

static hbm_status check_schema(jreader *r, const jpath *at, const json_t *root)
{
	const json_t *v = json_object_get(root, "schema");
	const json_t *version = json_object_get(root, "schema_version");
	const char *s = json_string_value(v), *t = json_string_value(version);
	JBUF;

	if (v && (!s || strcmp(s, HBM_PROGRAM_SCHEMA)))
		return JFAIL(r, J_MEMBER(at, "schema"), HBM_E_JSON, "expected \"%s\"",
		             HBM_PROGRAM_SCHEMA);
	if (version && (!t || strncmp(t, "1.", 2)))
		return JFAIL(r, J_MEMBER(at, "schema_version"), HBM_E_JSON,
		             "this build reads versions 1.x, up to %s",
		             HBM_PROGRAM_SCHEMA_VERSION);
	return HBM_OK;
}

static hbm_status read_root(jreader *r, const json_t *root)
{
	static const char *const keys[] = {"schema",    "schema_version", "name",
	                                   "target",    "tensors",        "body",
	                                   "reductions"};
	const jpath at = {NULL, NULL, 0};

	HBM_TRY(hbm_jto_object(r, &at, root));
	HBM_TRY(check_schema(r, &at, root));
	HBM_TRY(hbm_json_find_places(r->a, r->text, strlen(r->text), &r->places));
	if (hbm_jkeys(r, &at, root, keys, 7) == HBM_NOMEM ||
	    hbm_jsym(r, &at, root, "name", &r->p->name) == HBM_NOMEM ||
	    hbm_jsym(r, &at, root, "target", &r->p->target) == HBM_NOMEM)
		return HBM_NOMEM;
	HBM_TRY(hbm_jtensors(r, &at, root));
	if (r->status != HBM_OK) /* the rest would name tensors that failed */
		return HBM_OK;
	HBM_TRY(hbm_jbases(r, &at, root));
	HBM_TRY(hbm_jbody(r, &at, root));
	HBM_TRY(hbm_jhomes(r, &at, root));
	HBM_TRY(hbm_jreductions(r, &at, root));
	return r->status == HBM_OK ? hbm_symbols_finish(&r->symbols) : HBM_OK;
}

static hbm_status syntax_error(hbm_diags *d, const hbm_source *src,
                               const json_error_t *e)
{
	hbm_where at = {.file = src->path};
	const char *text = src->bytes.data;
	size_t pos = e->position > 0 ? (size_t)e->position : 0;

	if (json_error_code(e) == json_error_out_of_memory)
		return HBM_NOMEM;
	if (pos > src->bytes.n)
		pos = src->bytes.n;
	at.line = e->line > 0 ? (uint32_t)e->line : 1;
	at.text = text + pos;
	while (at.text > text && at.text[-1] != '\n')
		at.text--;
	at.col = (uint32_t)(text + pos - at.text) + (pos == 0);
	return hbm_fail(d, HBM_SYNTAX, HBM_E_JSON, at, "%s", e->text);
}

static hbm_status read_json_text(jreader *r, const hbm_source *src)
{
	json_error_t e;
	json_t *root =
		json_loadb(src->bytes.data, src->bytes.n, JSON_REJECT_DUPLICATES, &e);
	hbm_status st;

	if (!root)
		return syntax_error(r->d, src, &e);
	st = read_root(r, root);
	json_decref(root);
	return st != HBM_OK ? st : r->status;
}

static hbm_status read_json(hbm_arena *a, const hbm_source *src,
                            const hbm_import_opts *opts, hbm_diags *d,
                            hbm_imported *ret)
{
	jreader *r = HBM_NEW(a, jreader);
	uint32_t first = d ? d->list.n : 0;
	hbm_program p;
	hbm_status st;

	HBM_NEED(r);
	HBM_TRY(hbm_program_init(&p, a));
	p.file = hbm_arena_strndup(a, src->path, strlen(src->path));
	HBM_NEED(p.file);
	p.text = src->bytes.data;
	r->a = a;
	r->d = d;
	r->file = p.file;
	r->text = src->bytes.data;
	r->p = &p;
	HBM_TRY(hbm_symbols_init(&r->symbols, &p, d, opts->binds, opts->n_binds));
	st = read_json_text(r, src);
	if (d)
		hbm_diags_sort(d, first);
	HBM_TRY(st);
	HBM_TRY(hbm_validate(&p, d));
	ret->is_problem = false;
	ret->program = p;
	return HBM_OK;
}
#else
static hbm_status read_json(hbm_arena *a, const hbm_source *src,
                            const hbm_import_opts *opts, hbm_diags *d,
                            hbm_imported *ret)
{
	(void)a, (void)opts, (void)ret;
	return hbm_fail(d, HBM_UNSUPPORTED, HBM_E_FORMAT,
	                (hbm_where){.file = src->path},
	                "this build cannot read JSON: jansson was missing");
}
#endif

static int probe(const hbm_source *src)
{
	enum { HEAD = 4096 };
	static const char word[] = "\"" HBM_PROGRAM_SCHEMA "\"";
	const char *p = src->bytes.data;
	size_t n = src->bytes.n < HEAD ? src->bytes.n : HEAD, k = sizeof word - 1;

	if (src->is_dir)
		return 0;
	while (n && strchr(" \t\r\n", *p) && *p)
		p++, n--;
	if (!n || *p != '{')
		return 0;
	for (size_t i = 0; i + k <= n; i++)
		if (!memcmp(p + i, word, k))
			return 95;
	return 15;
}

const hbm_importer hbm_importer_json = {
	.name = "json",
	.summary = "hbmplan's program as JSON (schema/program.schema.json)",
	.probe = probe,
	.read = read_json,
};
