/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_DIAG_H
#define HBM_BASE_DIAG_H

/* Diagnostics: the message is made once, where the facts are, and collected
 * here; on the way up only the status travels.
 *
 *     return hbm_fail(d, HBM_SEMANTIC, HBM_E_UNKNOWN_NAME, where,
 *                     "unknown tensor '%s'", name);
 *
 * The library never prints. A list belongs to one context. */

#include "base/arena.h"
#include "base/vec.h"

/* One row per code in codes.def: CODE(name, number, title, cause, cure). The
 * number is printed as HBMnnnn, is stable and never reused. */
typedef enum hbm_code {
	HBM_E_NONE = 0,
#define CODE(name, number, title, cause, cure) HBM_E_##name = number,
#include "base/codes.def"
#undef CODE
} hbm_code;

typedef struct hbm_code_info {
	hbm_code code;
	const char *title, *cause, *cure;
} hbm_code_info;

/* All codes in ascending order; *ret_n items. */
const hbm_code_info *hbm_codes(uint32_t *ret_n);
/* NULL: no such code. */
const hbm_code_info *hbm_code_find(uint32_t number);

typedef enum hbm_severity {
	HBM_SEV_ERROR,
	HBM_SEV_WARNING,
	HBM_SEV_NOTE, /* belongs to the error or warning before it */
} hbm_severity;

/* A place in an input. Lines and columns count from 1, columns in bytes; 0 is
 * unknown. `text` is the input the place is in (for the source line), or NULL. */
typedef struct hbm_where {
	const char *file;
	uint32_t line, col;
	uint32_t len;     /* bytes to underline; 0: one */
	const char *text;  /* start of the source line, ended by '\n' or NUL */
	const char *input; /* else: the whole input, searched when it is told */
} hbm_where;

#define HBM_NOWHERE ((hbm_where){0})

typedef struct hbm_diag {
	hbm_severity severity;
	hbm_code code;
	const char *file; /* NULL: no place */
	uint32_t line, col, len;
	const char *source; /* the source line, NULL if unknown */
	const char *text;
} hbm_diag;

enum { HBM_MAX_ERRORS = 20 };

typedef struct hbm_diags {
	hbm_arena *arena;
	HBM_VEC(hbm_diag) list;
	uint32_t n_errors;
	uint32_t n_dropped;  /* errors beyond max_errors */
	uint32_t max_errors; /* 0: HBM_MAX_ERRORS */
	bool mute_notes;     /* the last error was dropped: so are its notes */
	bool notes_lost;     /* a note was lost for want of memory */
} hbm_diags;

void hbm_diags_init(hbm_diags *d, hbm_arena *arena);

/* Adds an error and returns `status`. Beyond max_errors only counts. `d` may be
 * NULL: nobody listens. */
hbm_status hbm_fail(hbm_diags *d, hbm_status status, hbm_code code,
                    hbm_where where, const char *fmt, ...) HBM_PRINTF(5, 6);
/* False: lost for want of memory, which no status would tell. */
bool hbm_warn(hbm_diags *d, hbm_code code, hbm_where where, const char *fmt, ...)
	HBM_PRINTF(4, 5) HBM_MUST_USE;
/* A note to the message before it. */
void hbm_note(hbm_diags *d, hbm_where where, const char *fmt, ...)
	HBM_PRINTF(3, 4);
/* Puts the messages from `first` on into the order of their places; those without
 * one go last, equal ones keep their order, notes stay with their message. */
void hbm_diags_sort(hbm_diags *d, uint32_t first);
/* True when no more errors will be listed, so that a parser can stop. */
bool hbm_diags_full(const hbm_diags *d);

#define HBM_TRY(expr)                                                          \
	do {                                                                   \
		hbm_status try_status_ = (expr);                               \
		if (try_status_ != HBM_OK)                                     \
			return try_status_;                                    \
	} while (0)

/* Leaves with HBM_NOMEM unless the expression is true (a push, a pointer). */
#define HBM_NEED(expr)                                                         \
	do {                                                                   \
		if (!(expr))                                                   \
			return HBM_NOMEM;                                      \
	} while (0)

#endif
