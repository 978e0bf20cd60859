/* SPDX-License-Identifier: Apache-2.0 */
#include "import/hlo_lex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a byte can be. */
enum { NAME = 1, SPECIAL = 2 };

#define N4(c) [c] = NAME, [c + 1] = NAME, [c + 2] = NAME, [c + 3] = NAME
#define N8(c) N4(c), N4(c + 4)
static const uint8_t kinds[256] = {
	N8('A'), N8('I'), N8('Q'), ['Y'] = NAME, ['Z'] = NAME,
	N8('a'), N8('i'), N8('q'), ['y'] = NAME, ['z'] = NAME,
	N8('0'), ['8'] = NAME, ['9'] = NAME, ['_'] = NAME, ['.'] = NAME, ['-'] = NAME,
	/* ends a plain run inside brackets */
	['('] = SPECIAL, [')'] = SPECIAL, ['{'] = SPECIAL, ['}'] = SPECIAL,
	['['] = SPECIAL, [']'] = SPECIAL, ['"'] = SPECIAL, ['/'] = SPECIAL,
};
#undef N4
#undef N8

bool hlo_is_name(char c)
{
	return kinds[(unsigned char)c] == NAME;
}

uint32_t hlo_pos(const hlo_reader *r)
{
	return (uint32_t)(r->p - r->text);
}

hbm_status hlo_syntax(const hlo_reader *r, uint32_t pos, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return hbm_fail(r->m->diags, HBM_SYNTAX, HBM_E_HLO_SYNTAX,
	                hlo_at(r->m, pos, 0), "%s", text);
}

static void skip_line(hlo_reader *r)
{
	const char *nl = memchr(r->p, '\n', (size_t)(r->end - r->p));

	r->p = nl ? nl : r->end;
}

static void skip_comment(hlo_reader *r)
{
	for (r->p += 2; r->p < r->end; r->p++)
		if (r->p[0] == '*' && r->p + 1 < r->end && r->p[1] == '/') {
			r->p += 2;
			return;
		}
}

void hlo_skip_ws(hlo_reader *r)
{
	while (r->p < r->end) {
		char c = *r->p;
		if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
			r->p++;
		else if (c == '/' && r->p + 1 < r->end && r->p[1] == '/')
			skip_line(r);
		else if (c == '/' && r->p + 1 < r->end && r->p[1] == '*')
			skip_comment(r);
		else
			return;
	}
}

bool hlo_accept(hlo_reader *r, char c)
{
	hlo_skip_ws(r);
	if (r->p >= r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

/* What stands at the place of an error, for the message. */
static const char *found(const hlo_reader *r, char buf[16])
{
	unsigned char c = r->p < r->end ? (unsigned char)*r->p : 0;

	if (r->p >= r->end)
		return "the end";
	if (c < 0x20 || c >= 0x7f)
		snprintf(buf, 16, "byte 0x%02x", c);
	else
		snprintf(buf, 16, "'%c'", c);
	return buf;
}

hbm_status hlo_expect(hlo_reader *r, char c, const char *where)
{
	char buf[16];

	if (hlo_accept(r, c))
		return HBM_OK;
	return hlo_syntax(r, hlo_pos(r), "expected '%c' %s, found %s", c, where,
	                  found(r, buf));
}

hlo_slice hlo_take_name(hlo_reader *r)
{
	const char *from;

	hlo_skip_ws(r);
	if (r->p < r->end && *r->p == '%')
		r->p++;
	from = r->p;
	while (r->p < r->end && kinds[(unsigned char)*r->p] == NAME) {
		if (*r->p == '-' && r->p + 1 < r->end && r->p[1] == '>')
			break;
		r->p++;
	}
	return (hlo_slice){from, (uint32_t)(r->p - from)};
}

bool hlo_is_word(hlo_slice w, const char *text)
{
	return strlen(text) == w.n && !memcmp(text, w.s, w.n);
}

hbm_status hlo_take_number(hlo_reader *r, uint64_t *ret)
{
	uint64_t v = 0;
	const char *from;

	hlo_skip_ws(r);
	for (from = r->p; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
		uint64_t digit = (uint64_t)(*r->p - '0');
		if (v > (UINT64_MAX - digit) / 10)
			return hlo_syntax(r, (uint32_t)(from - r->text),
			                  "number does not fit in 64 bits");
		v = v * 10 + digit;
	}
	if (r->p == from)
		return hlo_syntax(r, hlo_pos(r), "expected a number");
	*ret = v;
	return HBM_OK;
}

/* Moves behind the quote that ends the string whose first quote is at p: the first
 * one with an even number of backslashes before it. */
static bool skip_string(hlo_reader *r)
{
	const char *first = r->p + 1, *q = first;

	while ((q = memchr(q, '"', (size_t)(r->end - q)))) {
		const char *slash = q;
		while (slash > first && slash[-1] == '\\')
			slash--;
		q++;
		if ((q - slash) % 2) {
			r->p = q;
			return true;
		}
		first = q;
	}
	return false;
}

hbm_status hlo_take_string(hlo_reader *r, hlo_slice *ret)
{
	const char *from;

	hlo_skip_ws(r);
	from = r->p;
	if (r->p >= r->end || *r->p != '"')
		return hlo_syntax(r, hlo_pos(r), "expected a string");
	if (!skip_string(r))
		return hlo_syntax(r, (uint32_t)(from - r->text), "string has no end");
	*ret = (hlo_slice){from + 1, (uint32_t)(r->p - from - 2)};
	return HBM_OK;
}

/* Skips a string or comment that starts here; false: neither does, or no end. */
static bool skip_quiet(hlo_reader *r)
{
	if (*r->p == '"')
		return skip_string(r);
	if (r->p + 1 < r->end && r->p[0] == '/' && r->p[1] == '*') {
		skip_comment(r);
		return true;
	}
	r->p++;
	return true;
}

hbm_status hlo_take_balanced(hlo_reader *r, char close, hlo_slice *ret)
{
	const char *from = r->p;
	uint32_t depth = 1;

	while (r->p < r->end) {
		char c = *r->p;
		if (kinds[(unsigned char)c] != SPECIAL) {
			r->p++;
			continue;
		}
		if (c == '"' || c == '/') {
			if (!skip_quiet(r))
				break;
			continue;
		}
		depth += c == '(' || c == '{' || c == '[' ? 1u : (uint32_t)-1;
		r->p++;
		if (!depth) {
			*ret = (hlo_slice){from, (uint32_t)(r->p - 1 - from)};
			return HBM_OK;
		}
	}
	return hlo_syntax(r, (uint32_t)(from - r->text), "no '%c' ends this", close);
}

static char closing(char c)
{
	return c == '(' ? ')' : c == '{' ? '}' : ']';
}

hbm_status hlo_take_value(hlo_reader *r, hlo_slice *ret)
{
	const char *from;
	hlo_slice inner;

	hlo_skip_ws(r);
	for (from = r->p; r->p < r->end;) {
		char c = *r->p;
		if (c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r' ||
		    c == '}' || c == ')' || c == ']')
			break;
		if (c == '"') {
			if (!skip_string(r))
				return hlo_syntax(r, (uint32_t)(from - r->text),
				                  "string has no end");
		} else if (c == '(' || c == '{' || c == '[') {
			r->p++;
			HBM_TRY(hlo_take_balanced(r, closing(c), &inner));
		} else {
			r->p++;
		}
	}
	*ret = (hlo_slice){from, (uint32_t)(r->p - from)};
	return HBM_OK;
}

hlo_reader hlo_within(const hlo_reader *r, hlo_slice part)
{
	hlo_reader in = *r;

	in.p = part.s;
	in.end = part.s + part.n;
	return in;
}
