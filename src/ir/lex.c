/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens by one look at the first byte. Every byte is visited a bounded number
 * of times, whatever the input. */
#include "ir/lex.h"

#include "base/ckd.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { BLANK = 1, START = 2, DIGIT = 4, INNER = 8 /* of a name */ };

#define ROW4(x)  (x), (x), (x), (x)
#define ROW16(x) ROW4(x), ROW4(x), ROW4(x), ROW4(x)
#define LETTERS                                                                        \
	ROW16(START | INNER), ROW4(START | INNER), ROW4(START | INNER), START | INNER, \
		START | INNER

/* What a byte may be, by ASCII code. */
static const uint8_t classes[256] = {
	['\t'] = BLANK,      ['\r'] = BLANK,        [' '] = BLANK,
	['$'] = INNER,       ['%'] = INNER,         ['-'] = INNER,
	['.'] = INNER,       ['_'] = START | INNER, ['0'] = ROW4(DIGIT | INNER),
	ROW4(DIGIT | INNER), DIGIT | INNER,         DIGIT | INNER,
	['A'] = LETTERS,     ['a'] = LETTERS,
};

static bool is(char c, uint8_t class)
{
	return (classes[(unsigned char)c] & class) != 0;
}

bool hbm_name_is_bare(const char *s, size_t n)
{
	if (!n || !is(s[0], START) || s[n - 1] == '-')
		return false;
	for (size_t i = 1; i < n; i++)
		if (!is(s[i], INNER))
			return false;
	return true;
}

void hbm_lex_init(hbm_lexer *x, hbm_arena *a, hbm_diags *d, const char *file,
                  const char *text, size_t n)
{
	*x = (hbm_lexer){.arena = a,
	                 .diags = d,
	                 .file = file,
	                 .p = text,
	                 .end = text + n,
	                 .line_text = text,
	                 .line = 1};
	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		x->p += 3;
}

bool hbm_lex_full(const hbm_lexer *x)
{
	if (x->diags)
		return hbm_diags_full(x->diags);
	return x->n_errors >= HBM_MAX_ERRORS;
}

hbm_where hbm_lex_at(const hbm_lexer *x, const hbm_token *t)
{
	return (hbm_where){.file = x->file,
	                   .line = t->line,
	                   .col = t->col,
	                   .len = t->src_n,
	                   .text = t->line_text};
}

hbm_status hbm_lex_failed(hbm_lexer *x, hbm_status status)
{
	x->n_errors++;
	if (x->status == HBM_OK || status == HBM_NOMEM)
		x->status = status;
	return status;
}

#define LEX_FAIL(x, code, ...)                                                 \
	do {                                                                   \
		if (!(x)->mute)                                                \
			(void)HBM_LEX_FAIL((x), &(x)->tok, HBM_SYNTAX, (code), \
			                   __VA_ARGS__);                       \
	} while (0)

const char *hbm_token_text(const hbm_token *t, char buf[HBM_TOKEN_TEXT])
{
	uint32_t n = t->src_n, max = HBM_TOKEN_TEXT - 8;

	if (t->kind == HBM_TOK_END)
		return "end of file";
	if (t->kind == HBM_TOK_LINE)
		return *t->src == ';' ? "';'" : "end of line";
	if (t->kind == HBM_TOK_BAD) {
		snprintf(buf, HBM_TOKEN_TEXT, "byte 0x%02x", (unsigned char)*t->src);
		return buf;
	}
	if (n <= max) {
		snprintf(buf, HBM_TOKEN_TEXT, "'%.*s'", (int)n, t->src);
		return buf;
	}
	for (n = max; n && ((unsigned char)t->src[n] & 0xc0) == 0x80; n--)
		;
	snprintf(buf, HBM_TOKEN_TEXT, "'%.*s...'", (int)n, t->src);
	return buf;
}

/* Blanks, and a comment up to the end of its line. */
static void skip_blanks(hbm_lexer *x)
{
	const char *p = x->p;

	while (is(*p, BLANK)) /* a NUL stands behind the text */
		p++;
	if (*p == '#') {
		p = memchr(p, '\n', (size_t)(x->end - p));
		if (!p)
			p = x->end;
	}
	x->p = p;
}

static void start_token(hbm_lexer *x, int kind)
{
	ptrdiff_t col = x->p - x->line_text + 1;

	x->tok = (hbm_token){
		.kind = kind, .src = x->p, .line = x->line, .line_text = x->line_text};
	x->tok.col = col < UINT32_MAX ? (uint32_t)col : UINT32_MAX;
}

/* Ends the token n bytes behind its start. */
static void end_token(hbm_lexer *x, size_t n)
{
	x->tok.src_n = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	x->p = x->tok.src + n;
}

static void too_long(hbm_lexer *x)
{
	LEX_FAIL(x, HBM_E_TOO_LARGE, "name of %u bytes; the limit is %u", x->tok.src_n,
	         (unsigned)HBM_MAX_NAME);
	x->tok.src_n = 1;
	x->tok.n = 1;
}

static void read_name(hbm_lexer *x)
{
	const char *p = x->p;

	start_token(x, HBM_TOK_NAME);
	while (is(*p, INNER) && !(*p == '-' && p[1] == '>'))
		p++;
	end_token(x, (size_t)(p - x->p));
	x->tok.str = x->tok.src;
	x->tok.n = x->tok.src_n;
	if (x->tok.n > HBM_MAX_NAME)
		too_long(x);
}

/* ---- quoted strings ------------------------------------------------------ */

static int hex_digit(char c)
{
	if (is(c, DIGIT))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes the escape behind a backslash; returns bytes used, 0: malformed. */
static size_t read_escape(const char *p, char *to)
{
	static const char from[] = "n\nt\tr\r\"\"\\\\";
	int hi, lo;

	for (size_t i = 0; i + 1 < sizeof from; i += 2) {
		if (*p == from[i]) {
			*to = from[i + 1];
			return 1;
		}
	}
	hi = *p == 'x' ? hex_digit(p[1]) : -1;
	lo = hi >= 0 ? hex_digit(p[2]) : -1;
	if (lo < 0 || hi >= 8 || hi * 16 + lo == 0)
		return 0;
	*to = (char)(hi * 16 + lo);
	return 3;
}

static void decode(hbm_lexer *x, const char *p, size_t n)
{
	char *to = hbm_arena_alloc(x->arena, n + 1);
	uint32_t k = 0;

	if (!to) {
		x->status = HBM_NOMEM;
		return;
	}
	for (const char *end = p + n; p < end; p++) {
		size_t used;
		to[k] = *p;
		used = *p == '\\' ? read_escape(p + 1, &to[k]) : 1;
		if (!used)
			LEX_FAIL(x, HBM_E_SYNTAX,
			         "unknown escape in a string; there are \\\" \\\\ "
			         "\\n \\t \\r and \\x01 to \\x7f");
		p += *p == '\\' ? used : 0;
		k++;
	}
	x->tok.str = to;
	x->tok.n = k;
}

/* The string's bytes stand in [p, p + n) of the buffer. */
static void finish_string(hbm_lexer *x, const char *p, size_t n, bool escapes)
{
	x->tok.str = p;
	x->tok.n = (uint32_t)n;
	if (n > HBM_MAX_NAME) {
		too_long(x);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f) {
			LEX_FAIL(x, HBM_E_SYNTAX,
			         "byte 0x%02x in a string; write \\x%02x",
			         (unsigned char)p[i], (unsigned char)p[i]);
			break;
		}
	}
	if (!hbm_is_utf8(p, n))
		LEX_FAIL(x, HBM_E_SYNTAX, "string is not UTF-8");
	if (escapes)
		decode(x, p, n);
}

static void read_string(hbm_lexer *x)
{
	const char *p = x->p + 1;
	bool escapes = false;

	start_token(x, HBM_TOK_NAME);
	x->tok.quoted = true;
	while (p < x->end && *p != '"' && *p != '\n') {
		bool pair = *p == '\\' && p + 1 < x->end && p[1] != '\n';
		escapes |= *p == '\\';
		p += pair ? 2 : 1;
	}
	if (p >= x->end || *p == '\n') {
		end_token(x, (size_t)(p - x->p));
		x->tok.src_n = 1;
		x->tok.str = "";
		LEX_FAIL(x, HBM_E_SYNTAX, "string does not end on its line");
		return;
	}
	end_token(x, (size_t)(p + 1 - x->p));
	finish_string(x, x->tok.src + 1, (size_t)(p - x->tok.src - 1), escapes);
}

/* ---- numbers and the rest ------------------------------------------------ */

static void read_number(hbm_lexer *x)
{
	const char *p = x->p;
	char text[HBM_TOKEN_TEXT];

	start_token(x, HBM_TOK_NUM);
	while (is(*p, START | DIGIT))
		p++;
	end_token(x, (size_t)(p - x->p));
	switch (hbm_parse_size(x->tok.src, x->tok.src_n, &x->tok.num)) {
	case HBM_NUMBER_OK:
		break;
	case HBM_NUMBER_TOO_LARGE:
		LEX_FAIL(x, HBM_E_NUMBER, "number %s does not fit in 64 bits",
		         hbm_token_text(&x->tok, text));
		break;
	case HBM_NUMBER_MALFORMED:
		LEX_FAIL(x, HBM_E_NUMBER,
		         "malformed number %s; write digits or 0x and hex digits, "
		         "then perhaps Ki, Mi, Gi or Ti",
		         hbm_token_text(&x->tok, text));
		break;
	}
}

static void read_punctuation(hbm_lexer *x)
{
	static const struct {
		char text[3];
		int kind;
	} pairs[] = {{"->", HBM_TOK_ARROW},
	             {"..", HBM_TOK_RANGE},
	             {"<=", HBM_TOK_LE},
	             {">=", HBM_TOK_GE}};
	char text[HBM_TOKEN_TEXT];

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		if (x->p[0] == pairs[i].text[0] && x->p[1] == pairs[i].text[1]) {
			start_token(x, pairs[i].kind);
			end_token(x, 2);
			return;
		}
	}
	start_token(x,
	            *x->p && strchr("()[]{},:=+*?~!@$", *x->p) ? *x->p : HBM_TOK_BAD);
	end_token(x, 1);
	if (x->tok.kind == HBM_TOK_BAD)
		LEX_FAIL(x, HBM_E_SYNTAX, "%s has no meaning here",
		         hbm_token_text(&x->tok, text));
}

static void read_line_end(hbm_lexer *x)
{
	bool newline = *x->p == '\n';

	start_token(x, HBM_TOK_LINE);
	end_token(x, 1);
	if (newline) {
		x->line += x->line < UINT32_MAX;
		x->line_text = x->p;
	}
}

void hbm_lex_next(hbm_lexer *x)
{
	skip_blanks(x);
	if (x->p >= x->end || x->status == HBM_NOMEM)
		start_token(x, HBM_TOK_END);
	else if (*x->p == '\n' || *x->p == ';')
		read_line_end(x);
	else if (is(*x->p, START))
		read_name(x);
	else if (is(*x->p, DIGIT))
		read_number(x);
	else if (*x->p == '"')
		read_string(x);
	else
		read_punctuation(x);
	if (x->status == HBM_NOMEM)
		x->tok.kind = HBM_TOK_END;
}
