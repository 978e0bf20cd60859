/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_LEX_H
#define HBM_IR_LEX_H

/* Tokens of the text form. Reads straight from the buffer; a token's text is a
 * slice of it unless a quoted string has escapes. Tokens never cross a line. */

#include "base/diag.h"

/* Punctuation is its own character. */
enum {
	HBM_TOK_END = 256,
	HBM_TOK_LINE, /* newline or ';' */
	HBM_TOK_NAME, /* bare or quoted */
	HBM_TOK_NUM,
	HBM_TOK_ARROW, /* -> */
	HBM_TOK_RANGE, /* .. */
	HBM_TOK_LE,    /* <= */
	HBM_TOK_GE,    /* >= */
	HBM_TOK_BAD,   /* a byte that starts no token */
};

enum { HBM_MAX_NAME = 1 << 16 };

typedef struct hbm_token {
	int kind;
	bool quoted;
	const char *src; /* as written */
	uint32_t src_n;
	const char *str; /* NAME: its text */
	uint32_t n;
	uint64_t num; /* NUM */
	uint32_t line, col;
	const char *line_text;
} hbm_token;

typedef struct hbm_lexer {
	hbm_arena *arena;
	hbm_diags *diags; /* may be NULL */
	const char *file;
	const char *p, *end;
	const char *line_text;
	uint32_t line;
	hbm_token tok;     /* the current one */
	hbm_status status; /* of the first error, HBM_OK: none */
	uint32_t n_errors;
	bool mute; /* skipping the rest of a faulty line */
} hbm_lexer;

/* n bytes with a NUL behind them; the first token is read by hbm_lex_next. */
void hbm_lex_init(hbm_lexer *x, hbm_arena *a, hbm_diags *d, const char *file,
                  const char *text, size_t n);
/* Reports malformed tokens and goes on behind them. Out of memory: status is
 * HBM_NOMEM and the token END. */
void hbm_lex_next(hbm_lexer *x);
/* True when no more errors will be listed. */
bool hbm_lex_full(const hbm_lexer *x);
hbm_where hbm_lex_at(const hbm_lexer *x, const hbm_token *t);
/* Notes the status of an error that was just reported and returns it. */
hbm_status hbm_lex_failed(hbm_lexer *x, hbm_status status);
/* The token in words for a message; returns buf. */
enum { HBM_TOKEN_TEXT = 64 };
const char *hbm_token_text(const hbm_token *t, char buf[HBM_TOKEN_TEXT]);

/* Reports at a token. */
#define HBM_LEX_FAIL(x, token, status, code, ...)                  \
	hbm_lex_failed((x), hbm_fail((x)->diags, (status), (code), \
	                             hbm_lex_at((x), (token)), __VA_ARGS__))

/* True when a name can stand without quotes. */
bool hbm_name_is_bare(const char *s, size_t n);

#endif
