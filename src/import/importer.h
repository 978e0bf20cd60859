/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_IMPORTER_H
#define HBM_IMPORT_IMPORTER_H

/* Importers: bytes in, a program or a bare packing problem out. One file and
 * one row of importers.def each. */

#include "hbmplan/input.h"

#include "base/file.h"
#include "ir/program.h"
#include "pack/problem.h"

typedef struct hbm_import_opts {
	const char *target; /* NULL: as the input says */
	const hbm_bind *binds;
	uint32_t n_binds;
} hbm_import_opts;

/* A packing problem with the names of its buffers. */
typedef struct hbm_named_problem {
	hbm_problem problem;
	const char **names;
	uint32_t *lines;       /* input line of each buffer */
	bool closed;           /* the file's ranges included their end */
} hbm_named_problem;

typedef struct hbm_source {
	const char *path;  /* as the user gave it; for messages */
	bool is_dir;       /* bytes are empty, the importer reads files of path */
	hbm_bytes bytes;   /* must live as long as what is read from them */
} hbm_source;

typedef struct hbm_imported {
	bool is_problem;
	hbm_program program;        /* !is_problem */
	hbm_named_problem problem;  /* is_problem */
} hbm_imported;

typedef struct hbm_importer {
	const char *name, *summary;
	/* How sure the importer is that the input is its own: 0 no .. 100. */
	int (*probe)(const hbm_source *src);
	/* Reads all; lists errors (at most 20) and goes on after one where it
	 * can. Output only on success. */
	hbm_status (*read)(hbm_arena *a, const hbm_source *src,
	                   const hbm_import_opts *opts, hbm_diags *d,
	                   hbm_imported *ret);
} hbm_importer;

#define IMPORTER(id) extern const hbm_importer hbm_importer_##id;
#include "import/importers.def"
#undef IMPORTER

/* NULL-ended, in table order. */
extern const hbm_importer *const hbm_importer_table[];

/* Opens `path` (file, directory, "-"), picks the importer (`from` NULL: the best
 * probe) and reads. The name of the importer used goes to *ret_from. */
hbm_status hbm_import_path(hbm_arena *a, hbm_diags *d, const char *path,
                           const char *from, const hbm_import_opts *opts,
                           const char **ret_from,
                           hbm_imported *ret) HBM_MUST_USE;
/* The same for a source that is in memory (or a directory) already. */
hbm_status hbm_import_source(hbm_arena *a, hbm_diags *d, const hbm_source *src,
                             const char *from, const hbm_import_opts *opts,
                             const char **ret_from,
                             hbm_imported *ret) HBM_MUST_USE;
/* Value bound to a symbol; false: none. */
bool hbm_bound(const hbm_import_opts *opts, const char *name, size_t n,
               uint64_t *ret);

#endif
