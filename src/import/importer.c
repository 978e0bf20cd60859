/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of importers and the choice among them. The importer with the best
 * probe wins, the first in the table among equals. */
#include "import/importer.h"

#include <string.h>

const hbm_importer *const hbm_importer_table[] = {
#define IMPORTER(id) &hbm_importer_##id,
#include "import/importers.def"
#undef IMPORTER
	NULL,
};

static hbm_status unknown_format(hbm_diags *d, const char *from)
{
	hbm_status status = hbm_fail(d, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
	                             "no input format is called '%s'", from);

	for (uint32_t i = 0; hbm_importer_table[i]; i++)
		hbm_note(d, HBM_NOWHERE, "%s: %s", hbm_importer_table[i]->name,
		         hbm_importer_table[i]->summary);
	return status;
}

static hbm_status by_name(hbm_diags *d, const char *from, const hbm_importer **ret)
{
	for (uint32_t i = 0; hbm_importer_table[i]; i++) {
		if (!strcmp(hbm_importer_table[i]->name, from)) {
			*ret = hbm_importer_table[i];
			return HBM_OK;
		}
	}
	return unknown_format(d, from);
}

static hbm_status by_content(hbm_diags *d, const hbm_source *src,
                             const hbm_importer **ret)
{
	hbm_where where = {.file = src->path};
	int best = 0;

	for (uint32_t i = 0; hbm_importer_table[i]; i++) {
		int sure = hbm_importer_table[i]->probe(src);
		if (sure > best) {
			best = sure;
			*ret = hbm_importer_table[i];
		}
	}
	if (best)
		return HBM_OK;
	return hbm_fail(d, HBM_SYNTAX, HBM_E_FORMAT, where,
	                "%s is of no known format; --from names one",
	                src->is_dir ? "the directory" : "the file");
}

/* A byte-order mark belongs to no format. */
static hbm_source without_mark(const hbm_source *src)
{
	hbm_source s = *src;

	if (s.bytes.n >= 3 && !memcmp(s.bytes.data, "\xef\xbb\xbf", 3)) {
		s.bytes.data += 3;
		s.bytes.n -= 3;
	}
	return s;
}

hbm_status hbm_import_source(hbm_arena *a, hbm_diags *d, const hbm_source *given,
                             const char *from, const hbm_import_opts *opts,
                             const char **ret_from, hbm_imported *ret)
{
	static const hbm_import_opts none;
	const hbm_importer *importer = NULL;
	const hbm_source unmarked = without_mark(given), *src = &unmarked;

	if (from)
		HBM_TRY(by_name(d, from, &importer));
	else
		HBM_TRY(by_content(d, src, &importer));
	HBM_TRY(importer->read(a, src, opts ? opts : &none, d, ret));
	if (ret_from)
		*ret_from = importer->name;
	return HBM_OK;
}

hbm_status hbm_import_path(hbm_arena *a, hbm_diags *d, const char *path,
                           const char *from, const hbm_import_opts *opts,
                           const char **ret_from, hbm_imported *ret)
{
	hbm_source src = {.path = path, .bytes = {"", 0}};
	const hbm_importer *importer;

	if (from)
		HBM_TRY(by_name(d, from, &importer));
	src.is_dir = strcmp(path, "-") && hbm_path_is_dir(path);
	if (!src.is_dir)
		HBM_TRY(hbm_file_read(a, d, path, 0, &src.bytes));
	HBM_TRY(hbm_import_source(a, d, &src, from, opts, ret_from, ret));
	/* An empty text is an empty program, an empty file a dump that went wrong. */
	if (!src.is_dir && !src.bytes.n && !from)
		return hbm_fail(d, HBM_SYNTAX, HBM_E_FORMAT, (hbm_where){.file = path},
		                "the file is empty");
	return HBM_OK;
}

bool hbm_bound(const hbm_import_opts *opts, const char *name, size_t n, uint64_t *ret)
{
	for (uint32_t i = opts->n_binds; i-- > 0;) {
		if (strlen(opts->binds[i].name) == n &&
		    !memcmp(opts->binds[i].name, name, n)) {
			*ret = opts->binds[i].value;
			return true;
		}
	}
	return false;
}
