/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and fields of a table. One pass; nothing is copied but fields with doubled
 * quotes in them. */
#include "import/csv.h"

#include <string.h>

void hbm_csv_open(hbm_csv *c, hbm_arena *a, const hbm_source *src, hbm_diags *d)
{
	const char *s = src->bytes.data;
	bool bom = src->bytes.n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3);

	*c = (hbm_csv){.a = a,
	               .d = d,
	               .path = src->path,
	               .line = 1,
	               .p = s + (bom ? 3 : 0),
	               .end = s + src->bytes.n};
	c->line_start = c->p;
}

bool hbm_csv_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

int hbm_csv_shown(const hbm_csv_field *f)
{
	return f->n < HBM_CSV_SHOWN ? (int)f->n : HBM_CSV_SHOWN;
}

hbm_where hbm_csv_where(const hbm_csv *c, const hbm_csv_field *f)
{
	return (hbm_where){.file = c->path,
	                   .line = f->line,
	                   .col = (uint32_t)(f->at - f->line_start) + 1,
	                   .len = (uint32_t)hbm_csv_shown(f),
	                   .text = f->line_start};
}

static void new_line(hbm_csv *c)
{
	c->p++;
	c->line++;
	c->line_start = c->p;
}

/* A quoted field behind its opening quote. The text is copied only when it has
 * doubled quotes. */
static hbm_status read_quoted(hbm_csv *c, hbm_csv_field *f)
{
	const char *begin = c->p;
	bool doubled = false;
	char *copy;

	for (; c->p < c->end; c->p++) {
		if (*c->p == '\n') {
			new_line(c);
			c->p--;
		} else if (*c->p == '"') {
			if (c->p + 1 == c->end || c->p[1] != '"')
				break;
			doubled = true;
			c->p++;
		}
	}
	f->s = begin;
	f->n = (size_t)(c->p - begin);
	if (c->p == c->end) {
		f->n = 0;
		HBM_CSV_FAIL(c, f, HBM_E_CSV_ROW, "the quoted field is never closed");
		return HBM_OK;
	}
	c->p++;
	if (!doubled)
		return HBM_OK;
	HBM_NEED(copy = hbm_arena_strndup(c->a, f->s, f->n));
	f->n = 0;
	for (const char *s = begin; s < c->p - 1; s++) {
		copy[f->n++] = *s;
		s += *s == '"';
	}
	f->s = copy;
	return HBM_OK;
}

/* One field and the comma behind it; *ret_more: the row goes on. Stops in front
 * of the line's end. */
static hbm_status read_field(hbm_csv *c, hbm_csv_field *f, bool *ret_more)
{
	while (c->p < c->end && hbm_csv_is_blank(*c->p))
		c->p++;
	*f = (hbm_csv_field){
		.s = c->p, .at = c->p, .line_start = c->line_start, .line = c->line};
	if (c->p < c->end && *c->p == '"') {
		c->p++;
		HBM_TRY(read_quoted(c, f));
		while (c->p < c->end && hbm_csv_is_blank(*c->p))
			c->p++;
		if (c->p < c->end && *c->p != ',' && *c->p != '\n') {
			HBM_CSV_FAIL(c, f, HBM_E_CSV_ROW,
			             "text follows the closing quote");
			while (c->p < c->end && *c->p != ',' && *c->p != '\n')
				c->p++;
		}
	} else {
		while (c->p < c->end && *c->p != ',' && *c->p != '\n')
			c->p++;
		f->n = (size_t)(c->p - f->s);
		while (f->n && hbm_csv_is_blank(f->s[f->n - 1]))
			f->n--;
	}
	*ret_more = c->p < c->end && *c->p == ',';
	c->p += *ret_more;
	return HBM_OK;
}

bool hbm_csv_next_row(hbm_csv *c)
{
	while (c->p < c->end) {
		const char *p = c->p;
		while (p < c->end && hbm_csv_is_blank(*p))
			p++;
		if (p < c->end && *p != '\n' && *p != '#')
			return true;
		p = p < c->end ? memchr(p, '\n', (size_t)(c->end - p)) : NULL;
		if (!p)
			return false;
		c->p = p;
		new_line(c);
	}
	return false;
}

hbm_status hbm_csv_row(hbm_csv *c, hbm_csv_field *fields, uint32_t max, uint32_t *ret_n)
{
	bool more = true;
	hbm_csv_field spare;

	for (*ret_n = 0; more; ++*ret_n)
		HBM_TRY(read_field(c, *ret_n < max ? &fields[*ret_n] : &spare, &more));
	if (c->p < c->end)
		new_line(c);
	return HBM_OK;
}
