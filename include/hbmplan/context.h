/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBMPLAN_CONTEXT_H
#define HBMPLAN_CONTEXT_H

/* A context gives memory and collects diagnostics. One thread at a time uses a
 * context; contexts are independent of each other. */

#include "hbmplan/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hbm_context hbm_context;

/** New context. `mem` NULL: libc. HBM_NOMEM. */
HBM_API hbm_status hbm_context_new(const hbm_mem *mem, hbm_context **ret) HBM_MUST_USE;
/** Frees the context and all that lives in it. NULL is fine. */
HBM_API void hbm_context_free(hbm_context *cx);

typedef enum hbm_diag_severity {
	HBM_DIAG_ERROR,
	HBM_DIAG_WARNING,
	HBM_DIAG_NOTE, /* belongs to the message before it */
} hbm_diag_severity;

/* Borrowed until hbm_context_clear() or hbm_context_free(). */
typedef struct hbm_diagnostic {
	hbm_diag_severity severity;
	uint32_t code;       /* printed HBMnnnn; 0: a note */
	const char *file;    /* NULL: no place */
	uint32_t line, col;  /* from 1, columns in bytes; 0: unknown */
	uint32_t len;        /* bytes to underline */
	const char *source;  /* the source line; NULL: unknown */
	const char *text;
} hbm_diagnostic;

/** Messages so far, in order. */
HBM_API uint32_t hbm_context_n_diagnostics(const hbm_context *cx);
HBM_API hbm_diagnostic hbm_context_diagnostic(const hbm_context *cx, uint32_t i);
/** Errors that were not listed, being beyond the limit of 20. */
HBM_API uint32_t hbm_context_n_dropped(const hbm_context *cx);
/** Forgets all messages. */
HBM_API void hbm_context_clear(hbm_context *cx);

/* What a diagnostic code means. */
typedef struct hbm_explanation {
	uint32_t code;
	const char *title, *cause, *cure;
} hbm_explanation;

/** False: no such code. */
HBM_API bool hbm_explain(uint32_t code, hbm_explanation *ret);
/** The i-th code in ascending order; false: no more. */
HBM_API bool hbm_explain_nth(uint32_t i, hbm_explanation *ret);

/** Version of the library, "major.minor.patch". */
HBM_API const char *hbm_version(void);

/* Takes n bytes of output; false stops it (the call then returns HBM_IO). */
typedef bool (*hbm_write_fn)(void *user, const void *bytes, size_t n);

#ifdef __cplusplus
}
#endif
#endif
