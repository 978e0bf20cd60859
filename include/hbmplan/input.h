/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBMPLAN_INPUT_H
#define HBMPLAN_INPUT_H

/* Reading inputs: a program, or a bare packing problem (lifetime tables). */

#include "hbmplan/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hbm_input hbm_input;

typedef struct hbm_input_opts {
	const char *from;   /* format name; NULL: detected from the content */
	const char *target; /* for formats whose reading depends on it; or NULL */
	const hbm_bind *binds;
	uint32_t n_binds;
} hbm_input_opts;

/**
 * Reads a file, a directory (Inductor debug directory) or "-" (standard input).
 * @param opts NULL: defaults.
 * @param ret  free with hbm_input_free(), before the context.
 * @return HBM_OK; HBM_IO, HBM_SYNTAX, HBM_SEMANTIC, HBM_LIMIT, HBM_UNSUPPORTED or
 *         HBM_OPTION with diagnostics; HBM_NOMEM.
 */
HBM_API hbm_status hbm_input_read(hbm_context *cx, const char *path,
                                  const hbm_input_opts *opts,
                                  hbm_input **ret) HBM_MUST_USE;
/** The same from memory; `name` stands in messages. */
HBM_API hbm_status hbm_input_parse(hbm_context *cx, const char *name,
                                   const void *bytes, size_t n,
                                   const hbm_input_opts *opts,
                                   hbm_input **ret) HBM_MUST_USE;
HBM_API void hbm_input_free(hbm_input *in);

/** Name of the importer that read it. */
HBM_API const char *hbm_input_format(const hbm_input *in);
/** The bare problem, or NULL when the input is a program. Lives with `in`. */
HBM_API const hbm_problem *hbm_input_problem(const hbm_input *in);
/** Name of buffer i of the problem. */
HBM_API const char *hbm_input_buffer(const hbm_input *in, uint32_t i);
/** True when the file's ranges included their end (they are half open here). */
HBM_API bool hbm_input_closed(const hbm_input *in);

/** Writes a program as "hbm" (text) or "json". HBM_USAGE for a problem. */
HBM_API hbm_status hbm_input_write(hbm_context *cx, const hbm_input *in,
                                   const char *format, hbm_write_fn write,
                                   void *user) HBM_MUST_USE;

/** Name and summary of the i-th input format; false: no more. */
HBM_API bool hbm_input_format_nth(uint32_t i, const char **ret_name,
                                  const char **ret_summary);

#ifdef __cplusplus
}
#endif
#endif
