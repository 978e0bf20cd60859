/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_EMBEDDED_H
#define HBM_BASE_EMBEDDED_H

#include <stddef.h>

/* A file put into the library at build time (cmake/embed.cmake). Tables of
 * them end with a NULL name and are sorted by name. */
typedef struct hbm_embedded {
	const char *name; /* file name without folder and extension */
	const char *text; /* a NUL stands behind the last byte */
	size_t n;
} hbm_embedded;

#endif
