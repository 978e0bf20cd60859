/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_FILE_H
#define HBM_BASE_FILE_H

/* Reading whole files. Writing is the caller's (see hbm_write_fn). */

#include "base/diag.h"

typedef struct hbm_bytes {
	const char *data; /* a NUL stands behind the last byte */
	size_t n;
} hbm_bytes;

#define HBM_FILE_LIMIT UINT32_MAX

/* The whole file, unpacked when it is gzip and the build has zlib. `path` "-"
 * is standard input. At most `limit` bytes, before and after unpacking; 0:
 * HBM_FILE_LIMIT. */
hbm_status hbm_file_read(hbm_arena *a, hbm_diags *d, const char *path, uint64_t limit,
                         hbm_bytes *ret) HBM_MUST_USE;
bool hbm_path_is_dir(const char *path);
/* Is it a readable regular file? */
bool hbm_path_is_file(const char *path);
/* `dir`/`name` when that is such a file, else NULL; NULL also out of memory. */
const char *hbm_path_in(hbm_arena *a, const char *dir, const char *name);
/* Sorted names of the entries of a directory. */
hbm_status hbm_dir_list(hbm_arena *a, hbm_diags *d, const char *path,
                        const char ***ret_names, uint32_t *ret_n) HBM_MUST_USE;

#endif
