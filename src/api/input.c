/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "base/out.h"
#include "ir/json.h"
#include "ir/text.h"

#include <string.h>

/* Bytes for hbm_input_parse; NULL bytes: read the path. */
typedef struct given {
	const char *bytes;
	size_t n;
} given;

static hbm_status import(hbm_context *cx, hbm_input *in, const char *path,
                         const given *from, const hbm_input_opts *opts)
{
	hbm_import_opts io = {.target = opts->target, .binds = opts->binds,
	                      .n_binds = opts->n_binds};
	hbm_source src = {.path = path};

	if (!from)
		return hbm_import_path(&in->arena, &cx->diags, path, opts->from, &io,
		                       &in->format, &in->data);
	src.bytes.data = hbm_arena_strndup(&in->arena, from->bytes, from->n);
	src.bytes.n = from->n;
	HBM_NEED(src.bytes.data);
	return hbm_import_source(&in->arena, &cx->diags, &src, opts->from, &io,
	                         &in->format, &in->data);
}

static hbm_status read(hbm_context *cx, const char *path, const given *from,
                       const hbm_input_opts *opts, hbm_input **ret)
{
	static const hbm_input_opts defaults = {0};
	hbm_input *in = hbm_handle_new(cx, sizeof *in);
	hbm_status status;

	HBM_NEED(in);
	hbm_arena_init(&in->arena, &cx->mem);
	status = import(cx, in, path, from, opts ? opts : &defaults);
	if (status == HBM_OK)
		*ret = in;
	else
		hbm_input_free(in);
	return status;
}

hbm_status hbm_input_read(hbm_context *cx, const char *path, const hbm_input_opts *opts,
                          hbm_input **ret)
{
	return read(cx, path, NULL, opts, ret);
}

hbm_status hbm_input_parse(hbm_context *cx, const char *name, const void *bytes,
                           size_t n, const hbm_input_opts *opts, hbm_input **ret)
{
	given from = {bytes, n};

	return read(cx, name, &from, opts, ret);
}

void hbm_input_free(hbm_input *in)
{
	hbm_mem mem;

	if (!in)
		return;
	mem = in->arena.mem;
	hbm_arena_fini(&in->arena);
	hbm_handle_free(&mem, in, sizeof *in);
}

const char *hbm_input_format(const hbm_input *in)
{
	return in->format;
}

const hbm_problem *hbm_input_problem(const hbm_input *in)
{
	return in->data.is_problem ? &in->data.problem.problem : NULL;
}

const char *hbm_input_buffer(const hbm_input *in, uint32_t i)
{
	return in->data.problem.names[i];
}

bool hbm_input_closed(const hbm_input *in)
{
	return in->data.is_problem && in->data.problem.closed;
}

hbm_status hbm_input_write(hbm_context *cx, const hbm_input *in, const char *format,
                           hbm_write_fn write, void *user)
{
	hbm_out out;

	if (in->data.is_problem)
		return hbm_fail(&cx->diags, HBM_USAGE, HBM_E_OPTION, HBM_NOWHERE,
		                "a bare packing problem has no program to write");
	hbm_out_init(&out, write, user);
	if (!strcmp(format, "hbm"))
		hbm_text_print(&in->data.program, &out);
	else if (!strcmp(format, "json"))
		hbm_json_print(&in->data.program, &out);
	else
		return hbm_fail(&cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
		                "unknown format '%s': hbm or json", format);
	return hbm_out_finish(&out);
}

bool hbm_input_format_nth(uint32_t i, const char **ret_name, const char **ret_summary)
{
	for (uint32_t k = 0; hbm_importer_table[k]; k++) {
		if (k < i)
			continue;
		*ret_name = hbm_importer_table[k]->name;
		*ret_summary = hbm_importer_table[k]->summary;
		return true;
	}
	return false;
}
