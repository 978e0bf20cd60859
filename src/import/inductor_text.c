/* SPDX-License-Identifier: Apache-2.0 */
/* Places in a text of an Inductor dump: lines, balanced brackets, values between
 * commas. All walk forwards once; brackets are counted, not nested. */
#include "import/inductor.h"

#include <string.h>

void hbm_ind_open(hbm_ind_text *t, const char *path, hbm_bytes bytes)
{
	*t = (hbm_ind_text){path, bytes.data, bytes.n, bytes.data};
}

hbm_where hbm_ind_where(hbm_ind_at at, size_t len)
{
	hbm_where w = {0};
	const char *begin, *p;

	if (!at.text)
		return w;
	begin = at.text->shown;
	p = begin + at.pos;
	while (p > begin && p[-1] != '\n')
		p--;
	w.file = at.text->path;
	w.line = at.line;
	w.col = (uint32_t)(begin + at.pos - p) + 1;
	w.len = (uint32_t)(len < 200 ? len : 200);
	w.text = p;
	return w;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool hbm_ind_next_line(hbm_ind_scan *s, hbm_ind_line *ret)
{
	const hbm_ind_text *t = s->text;
	const char *nl;
	size_t start = s->pos, stop;

	if (start >= t->n)
		return false;
	nl = memchr(t->s + start, '\n', t->n - start);
	stop = nl ? (size_t)(nl - t->s) : t->n;
	*ret = (hbm_ind_line){.start = start, .end = stop, .no = s->line};
	while (ret->start < stop && is_blank(t->s[ret->start]))
		ret->start++;
	while (ret->end > ret->start && is_blank(t->s[ret->end - 1]))
		ret->end--;
	ret->indent = ret->start - start;
	s->pos = nl ? stop + 1 : stop;
	s->line += nl != NULL;
	return true;
}

void hbm_ind_skip_line(hbm_ind_scan *s, size_t pos)
{
	hbm_ind_line line;

	while (s->pos <= pos && hbm_ind_next_line(s, &line))
		;
}

/* Behind the string literal that starts at `pos`. It ends at the end of its line
 * at the latest: the dumps have no other strings. */
static size_t skip_string(const hbm_ind_text *t, size_t pos, size_t end)
{
	char quote = t->s[pos++];

	while (pos < end && t->s[pos] != quote && t->s[pos] != '\n')
		pos += t->s[pos] == '\\' && pos + 1 < end ? 2 : 1;
	return pos < end ? pos + 1 : end;
}

static bool is_open(char c)
{
	return c == '(' || c == '[' || c == '{';
}

static bool is_close(char c)
{
	return c == ')' || c == ']' || c == '}';
}

bool hbm_ind_close(const hbm_ind_text *t, size_t open, size_t end, size_t *ret)
{
	size_t depth = 0;

	for (size_t p = open; p < end;) {
		char c = t->s[p];
		if (c == '\'' || c == '"') {
			p = skip_string(t, p, end);
			continue;
		}
		depth += is_open(c);
		if (is_close(c) && --depth == 0) {
			*ret = p;
			return true;
		}
		p++;
	}
	return false;
}

static void trim(const hbm_ind_text *t, size_t *start, size_t *end)
{
	while (*start < *end && (is_blank(t->s[*start]) || t->s[*start] == '\n'))
		++*start;
	while (*end > *start && (is_blank(t->s[*end - 1]) || t->s[*end - 1] == '\n'))
		--*end;
}

/* Takes `key =` off the front of a value. */
static void take_key(const hbm_ind_text *t, hbm_ind_arg *a)
{
	size_t p = hbm_ind_word(t, a->start, a->end), word = p;

	while (p < a->end && is_blank(t->s[p]))
		p++;
	if (word == a->start || p >= a->end || t->s[p] != '=' ||
	    (p + 1 < a->end && t->s[p + 1] == '='))
		return;
	a->key = a->start;
	a->key_end = word;
	a->start = p + 1;
	trim(t, &a->start, &a->end);
}

bool hbm_ind_next_arg(const hbm_ind_text *t, size_t *pos, size_t end, hbm_ind_arg *ret)
{
	size_t p = *pos, depth = 0;

	while (p < end && (is_blank(t->s[p]) || t->s[p] == '\n'))
		p++;
	if (p >= end)
		return false;
	*ret = (hbm_ind_arg){.start = p};
	while (p < end && (depth || t->s[p] != ',')) {
		char c = t->s[p];
		if (c == '\'' || c == '"') {
			p = skip_string(t, p, end);
			continue;
		}
		depth += is_open(c);
		depth -= is_close(c) && depth;
		p++;
	}
	ret->end = p;
	*pos = p < end ? p + 1 : end;
	trim(t, &ret->start, &ret->end);
	take_key(t, ret);
	return true;
}

void hbm_ind_unquote(const hbm_ind_text *t, size_t *start, size_t *end)
{
	char c = *start < *end ? t->s[*start] : 0;

	if ((c == '\'' || c == '"') && *end - *start >= 2 && t->s[*end - 1] == c) {
		++*start;
		--*end;
	}
}

size_t hbm_ind_word(const hbm_ind_text *t, size_t pos, size_t end)
{
	size_t p = pos;

	for (; p < end; p++) {
		char c = t->s[p];
		bool letter =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!letter && (p == pos || c < '0' || c > '9'))
			break;
	}
	return p;
}

bool hbm_ind_is(const hbm_ind_text *t, size_t start, size_t end, const char *word)
{
	return strlen(word) == end - start && !memcmp(t->s + start, word, end - start);
}

bool hbm_ind_starts(const hbm_ind_text *t, size_t start, size_t end, const char *with)
{
	size_t n = strlen(with);

	return end - start >= n && !memcmp(t->s + start, with, n);
}

size_t hbm_ind_find(const hbm_ind_text *t, size_t start, size_t end, const char *needle)
{
	size_t n = strlen(needle);

	while (end - start >= n) {
		const char *p = memchr(t->s + start, needle[0], end - start - n + 1);
		if (!p)
			break;
		if (!memcmp(p, needle, n))
			return (size_t)(p - t->s);
		start = (size_t)(p - t->s) + 1;
	}
	return SIZE_MAX;
}

bool hbm_ind_call(const hbm_ind_text *t, size_t start, size_t end, size_t *ret_name_end,
                  size_t *ret_in, size_t *ret_out)
{
	size_t p = start;

	for (;;) {
		size_t word = hbm_ind_word(t, p, end);
		if (word == p)
			return false;
		p = word;
		if (p >= end || t->s[p] != '.')
			break;
		p++;
	}
	if (p >= end || t->s[p] != '(' || !hbm_ind_close(t, p, end, ret_out) ||
	    *ret_out != end - 1)
		return false;
	*ret_name_end = p;
	*ret_in = p + 1;
	return true;
}
