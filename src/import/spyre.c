/* SPDX-License-Identifier: Apache-2.0 */
/* spyre: torch-spyre's bundles as a planned program, to be checked.
 *
 * Input     A directory with bundle.mlir and sdsc_N.json (or only the latter, in the
 *           order of N), a directory of such, or one bundle.mlir.
 * Order     Bundles of a directory run by the number in their names, else by name.
 *           Values are found by address: see spyre_build.c. */
#include "import/spyre_build.h"

#include "ir/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef hbm_spyre_builder builder;

/* ---- bundles ------------------------------------------------------------------------- */

static hbm_status run_item(builder *b, const char *dir)
{
	switch (b->item->kind) {
	case HBM_SPYRE_OPEN: {
		hbm_node_id n = hbm_open_node(b->p, HBM_NODE_LOOP, 0, b->open[b->depth]);
		HBM_NEED(n != HBM_NONE);
		b->p->nodes.items[n].trips = b->item->trips;
		b->loops[b->item->loop] = n;
		b->open[++b->depth] = n;
		return HBM_OK;
	}
	case HBM_SPYRE_CLOSE:
		hbm_close_node(b->p, b->open[b->depth--]);
		return HBM_OK;
	default:
		return hbm_spyre_run_op(b, dir);
	}
}

enum { MAX_NUMBER = 1000000 };

static long op_number(const char *name)
{
	long n = strtol(name + strlen("sdsc_"), NULL, 10);

	return n < 0 ? 0 : n > MAX_NUMBER ? MAX_NUMBER : n;
}

/* sdsc_10.json comes behind sdsc_9.json. */
static int by_number(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	long i = op_number(x), j = op_number(y);

	return i != j ? (i > j) - (i < j) : strcmp(x, y);
}

static bool is_descriptor(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, "sdsc_", 5) && n > 10 && !strcmp(name + n - 5, ".json");
}

/* Descriptors count from 0. */
static hbm_status check_gap(builder *b, long last, const char *name)
{
	char missing[40];

	if (op_number(name) <= last + 1)
		return HBM_OK;
	snprintf(missing, sizeof missing, "sdsc_%ld.json", last + 1);
	b->missing = hbm_intern_cstr(&b->p->syms, missing);
	HBM_NEED(b->missing != HBM_NONE);
	HBM_NEED(hbm_warn(b->d, HBM_E_BUNDLE, (hbm_where){.file = b->path},
	                  "'%s' is not there: what its op writes, and sizes, are not known",
	                  missing));
	return HBM_OK;
}

/* Without bundle.mlir the descriptors run in the order of their numbers. */
static hbm_status list_descriptors(builder *b, const char *dir)
{
	const char **names;
	uint32_t n, k = 0;

	b->text = (hbm_spyre_text){0};
	HBM_TRY(hbm_dir_list(b->a, b->d, dir, &names, &n));
	for (uint32_t i = 0; i < n; i++)
		if (is_descriptor(names[i]))
			names[k++] = names[i];
	if (k)
		qsort(names, k, sizeof *names, by_number);
	for (uint32_t i = 0; i < k; i++) {
		hbm_spyre_item item = {.kind = HBM_SPYRE_RUN};
		HBM_TRY(check_gap(b, i ? op_number(names[i - 1]) : -1, names[i]));
		item.file = hbm_intern_cstr(&b->p->syms, names[i]);
		HBM_NEED(item.file != HBM_NONE);
		HBM_NEED(HBM_PUSH(b->a, &b->text.items, item));
	}
	return HBM_OK;
}

static hbm_status read_bundle_text(builder *b, const char *dir, const char *file)
{
	hbm_bytes bytes;

	b->path = file ? file : dir;
	if (!file)
		return list_descriptors(b, dir);
	HBM_TRY(hbm_file_read(b->a, b->d, file, 0, &bytes));
	return hbm_spyre_read_text(b->a, b->d, &b->p->syms, file, bytes, &b->text);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static hbm_status read_bundle(builder *b, const char *dir, const char *file)
{
	hbm_sym name = hbm_intern_cstr(&b->p->syms, base_name(dir));

	hbm_map_init(&b->runs, b->a);
	b->pool.n = b->lx.n = b->args.n = b->arg_end.n = b->depth = 0;
	HBM_TRY(read_bundle_text(b, dir, file));
	HBM_NEED(name != HBM_NONE);
	b->node = hbm_open_node(b->p, HBM_NODE_BUNDLE, name, HBM_NONE);
	HBM_NEED(b->node != HBM_NONE);
	b->open[0] = b->node;
	HBM_NEED(b->loops = HBM_ARRAY(b->a, hbm_node_id, b->text.n_loops));
	for (uint32_t k = 0; k < b->text.items.n; k++) {
		b->item = &b->text.items.items[k];
		HBM_TRY(run_item(b, dir));
	}
	hbm_close_node(b->p, b->node);
	b->bundle++;
	return hbm_spyre_finish(b);
}

/* ---- files ---------------------------------------------------------------------------- */

/* Is a directory a bundle? *ret_text: its bundle.mlir, NULL: it has none. */
static hbm_status look(hbm_arena *a, const char *dir, bool *ret, const char **ret_text)
{
	const char **names;
	hbm_status status;
	uint32_t n;

	HBM_NEED(*ret_text = hbm_spyre_join(a, dir, "bundle.mlir"));
	*ret = hbm_path_is_file(*ret_text);
	if (*ret)
		return HBM_OK;
	*ret_text = NULL;
	status = hbm_dir_list(a, NULL, dir, &names, &n);
	for (uint32_t k = 0; status == HBM_OK && k < n; k++)
		*ret |= is_descriptor(names[k]);
	return status == HBM_NOMEM ? status : HBM_OK;
}

/* The kernel's number in a name like sdsc_fused_add_mul_12_3krenzmn, else 0. */
static long kernel_number(const char *name)
{
	const char *last = strrchr(name, '_'), *from = last;

	if (strncmp(name, "sdsc_", 5) || !last)
		return 0;
	while (from > name && from[-1] >= '0' && from[-1] <= '9')
		from--;
	return from < last && from > name && from[-1] == '_' ? strtol(from, NULL, 10) : 0;
}

static int by_kernel(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	long i = kernel_number(x), j = kernel_number(y);

	return i != j ? (i > j) - (i < j) : strcmp(x, y);
}

/* The bundles below a directory in their order; *ret_any: there is one. */
static hbm_status each_bundle(hbm_arena *a, hbm_diags *d, const char *dir, builder *b,
                              bool *ret_any)
{
	const char **names, *text;
	uint32_t n;

	HBM_TRY(look(a, dir, ret_any, &text));
	if (*ret_any)
		return b ? read_bundle(b, dir, text) : HBM_OK;
	HBM_TRY(hbm_dir_list(a, d, dir, &names, &n));
	if (n)
		qsort(names, n, sizeof *names, by_kernel);
	for (uint32_t k = 0; k < n; k++) {
		const char *sub = hbm_spyre_join(a, dir, names[k]);
		bool is = false;
		HBM_NEED(sub);
		if (hbm_path_is_dir(sub))
			HBM_TRY(look(a, sub, &is, &text));
		*ret_any |= is;
		if (b && is)
			HBM_TRY(read_bundle(b, sub, text));
	}
	return HBM_OK;
}

static int spyre_probe(const hbm_source *src)
{
	hbm_arena a;
	bool any = false;

	if (!src->is_dir)
		return src->bytes.n && strstr(src->bytes.data, "@sdsc_bundle") ? 90 : 0;
	hbm_arena_init(&a, NULL);
	if (each_bundle(&a, NULL, src->path, NULL, &any) != HBM_OK)
		any = false;
	hbm_arena_fini(&a);
	return any ? 90 : 0;
}

static hbm_status read_file(builder *b, const hbm_source *src)
{
	const char *slash = strrchr(src->path, '/');
	const char *dir = slash ? hbm_arena_strndup(b->a, src->path,
	                                            (size_t)(slash - src->path) +
	                                            (slash == src->path)) : ".";

	HBM_NEED(dir);
	return read_bundle(b, dir, src->path);
}

static hbm_status spyre_read(hbm_arena *a, const hbm_source *src,
                             const hbm_import_opts *opts, hbm_diags *d,
                             hbm_imported *ret)
{
	hbm_imported out = {0};
	builder b = {.a = a, .d = d, .p = &out.program, .missing = HBM_NONE};
	bool any;

	(void)opts;
	HBM_TRY(hbm_program_init(&out.program, a));
	out.program.target = hbm_intern_cstr(&out.program.syms, "spyre");
	HBM_NEED(out.program.target != HBM_NONE);
	if (src->is_dir)
		HBM_TRY(each_bundle(a, d, src->path, &b, &any));
	else
		HBM_TRY(read_file(&b, src));
	HBM_TRY(hbm_validate(&out.program, d));
	*ret = out;
	return HBM_OK;
}

const hbm_importer hbm_importer_spyre = {
	"spyre-bundle",
	"torch-spyre kernel: bundle.mlir and sdsc_N.json, as a plan to check",
	spyre_probe,
	spyre_read,
};
