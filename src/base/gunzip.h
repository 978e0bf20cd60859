/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_GUNZIP_H
#define HBM_BASE_GUNZIP_H

#include "base/file.h"

bool hbm_is_gzip(hbm_bytes raw);
/* Unpacks all members of a gzip file to at most `limit` bytes. HBM_UNSUPPORTED:
 * the build has no zlib. `path` is for messages. */
hbm_status hbm_gunzip(hbm_arena *a, hbm_diags *d, const char *path, hbm_bytes raw,
                      uint64_t limit, hbm_bytes *ret) HBM_MUST_USE;

#endif
