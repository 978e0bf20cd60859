/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines, words and numbers of target files. A line is words between blanks; '='
 * is a word of its own; '#' at the start or behind a blank begins a comment. */
#include "target/reader.h"

#include "base/ckd.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

const char *hbm_reader_end(const char *line)
{
	const char *p = line;

	while (*p && *p != '\n' && !(*p == '#' && (p == line || is_blank(p[-1]))))
		p++;
	while (p > line && is_blank(p[-1]))
		p--;
	return p;
}

hbm_where hbm_reader_at(const reader *rd, uint32_t line, const char *s, uint32_t n)
{
	const char *start = rd->lines.items[line - 1];

	return (hbm_where){.file = rd->file, .line = line, .len = n, .text = start,
	                   .col = (uint32_t)(s - start) + 1};
}

hbm_where hbm_reader_line(const reader *rd, uint32_t line)
{
	const char *s, *end;

	if (!line)
		line = rd->first[ST_LIKE];
	if (!line)
		return (hbm_where){.file = rd->file};
	s = rd->lines.items[line - 1];
	end = hbm_reader_end(s);
	while (s < end && is_blank(*s))
		s++;
	return hbm_reader_at(rd, line, s, (uint32_t)(end - s));
}

void hbm_reader_failed(reader *rd, hbm_status status)
{
	if (rd->status == HBM_OK)
		rd->status = status;
}

bool hbm_word_is(word w, const char *s)
{
	return w.n == strlen(s) && !memcmp(w.s, s, w.n);
}

hbm_status hbm_reader_split(reader *rd, const char *line)
{
	const char *end = hbm_reader_end(line), *p = line;

	rd->words.n = 0;
	while (p < end) {
		word w = {p, 1};
		if (is_blank(*p)) {
			p++;
			continue;
		}
		if (*p != '=')
			while (p + w.n < end && !is_blank(p[w.n]) && p[w.n] != '=')
				w.n++;
		HBM_NEED(HBM_PUSH(rd->arena, &rd->words, w));
		p += w.n;
	}
	return HBM_OK;
}

hbm_status hbm_reader_source(reader *rd, const char *line)
{
	static const char mark[] = "source:";
	const char *p = hbm_reader_end(line), *end = p + strcspn(p, "\n");
	size_t n = sizeof mark - 1;

	rd->source = NULL;
	while (p < end && (is_blank(*p) || *p == '#'))
		p++;
	if ((size_t)(end - p) < n || memcmp(p, mark, n) != 0)
		return HBM_OK;
	for (p += n; p < end && is_blank(*p);)
		p++;
	while (end > p && is_blank(end[-1]))
		end--;
	rd->source = hbm_arena_strndup(rd->arena, p, (size_t)(end - p));
	return rd->source ? HBM_OK : HBM_NOMEM;
}

static uint32_t digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (uint32_t)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (uint32_t)(c - 'A') + 10;
	return 99;
}

bool hbm_reader_num(word w, uint64_t *ret)
{
	bool hex = w.n > 2 && w.s[0] == '0' && (w.s[1] == 'x' || w.s[1] == 'X');
	bool commas = w.n && !hex && memchr(w.s, ',', w.n);
	uint32_t base = hex ? 16 : 10;
	uint64_t v = 0;

	if (!w.n || w.s[0] == ',')
		return false;
	for (uint32_t i = hex ? 2 : 0; i < w.n; i++) {
		bool comma = commas && (w.n - i) % 4 == 0;
		uint32_t digit = digit_of(w.s[i]);
		if (comma && w.s[i] == ',')
			continue;
		if (comma || digit >= base)
			return false;
		if (!hbm_mul(v, base, &v) || !hbm_add(v, digit, &v))
			return false;
	}
	*ret = v;
	return true;
}

bool hbm_reader_unit(word w, uint32_t *ret_shift)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

	for (uint32_t i = 0; i < 5; i++)
		if (hbm_word_is(w, units[i])) {
			*ret_shift = 10 * i;
			return true;
		}
	return false;
}
