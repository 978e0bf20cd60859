/* SPDX-License-Identifier: Apache-2.0
 *
 * Lifetime tables: one buffer per row, columns named by the header, any order.
 *
 * The header also tells the convention of the ranges: `lower,upper` excludes
 * the upper end, `start,end` (or `begin,end`) includes it; a mixture is refused
 * because tools disagree on it. Included ends become half open here, at the
 * border. Fields follow RFC 4180; a line that starts with '#' is a comment.
 *
 * One pass over the bytes, nothing is copied but ids and unquoted text. Source:
 * docs/formats/csv.md. */
#include "base/ckd.h"
#include "import/importer.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 64, SHOWN = 40 };

typedef enum role {
	ROLE_ID, ROLE_LOWER, ROLE_START, ROLE_UPPER, ROLE_END, ROLE_SIZE,
	ROLE_ALIGN, ROLE_HINT, ROLE_GAPS, ROLE_PIN, N_ROLES
} role;

static const struct {
	const char *name;
	role role;
} columns[] = {
	{"id", ROLE_ID}, {"buffer", ROLE_ID}, {"buffer_id", ROLE_ID},
	{"lower", ROLE_LOWER}, {"start", ROLE_START}, {"begin", ROLE_START},
	{"upper", ROLE_UPPER}, {"end", ROLE_END}, {"size", ROLE_SIZE},
	{"alignment", ROLE_ALIGN}, {"hint", ROLE_HINT}, {"gaps", ROLE_GAPS},
	{"offset", ROLE_PIN},
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

typedef struct field {
	const char *s;
	size_t n;
	const char *at;         /* in the input, for the column number */
	const char *line_start;
	uint32_t line;
} field;

typedef struct csv {
	hbm_arena *a;
	const hbm_source *src;
	hbm_diags *d;
	const char *p, *end, *line_start;
	uint32_t line;
	bool failed;
	uint32_t n_columns;
	uint32_t at[N_ROLES]; /* column of a role, HBM_NONE: no such column */
	hbm_syms ids;
	field fields[MAX_COLUMNS];
	HBM_VEC(const char *) names;
	HBM_VEC(uint32_t) lines;
	HBM_VEC(uint64_t) size;
	HBM_VEC(int64_t) start;
	HBM_VEC(int64_t) stop;
	HBM_VEC(uint64_t) align;
	HBM_VEC(uint64_t) hint;
	HBM_VEC(uint64_t) pin;
	HBM_VEC(hbm_gap) gaps;
	HBM_VEC(uint32_t) gap_first;
} csv;

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static hbm_where at_field(const csv *c, const field *f)
{
	return (hbm_where){.file = c->src->path, .line = f->line,
	                   .col = (uint32_t)(f->at - f->line_start) + 1,
	                   .len = (uint32_t)(f->n < SHOWN ? f->n : SHOWN),
	                   .text = f->line_start};
}

#define BAD(c, f, code, ...)                                                   \
	((c)->failed = true, (void)hbm_fail((c)->d, HBM_SEMANTIC, (code),      \
	                                    at_field((c), (f)), __VA_ARGS__))

static int shown(const field *f)
{
	return f->n < SHOWN ? (int)f->n : SHOWN;
}

/* ---- fields -------------------------------------------------------------- */

static void new_line(csv *c)
{
	c->p++;
	c->line++;
	c->line_start = c->p;
}

/* A quoted field behind its opening quote. The text is copied only when it has
 * doubled quotes. */
static hbm_status read_quoted(csv *c, field *f)
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
		BAD(c, f, HBM_E_CSV_ROW, "the quoted field is never closed");
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
static hbm_status read_field(csv *c, field *f, bool *ret_more)
{
	while (c->p < c->end && is_blank(*c->p))
		c->p++;
	*f = (field){.s = c->p, .at = c->p, .line_start = c->line_start,
	             .line = c->line};
	if (c->p < c->end && *c->p == '"') {
		c->p++;
		HBM_TRY(read_quoted(c, f));
		while (c->p < c->end && is_blank(*c->p))
			c->p++;
		if (c->p < c->end && *c->p != ',' && *c->p != '\n') {
			BAD(c, f, HBM_E_CSV_ROW, "text follows the closing quote");
			while (c->p < c->end && *c->p != ',' && *c->p != '\n')
				c->p++;
		}
	} else {
		while (c->p < c->end && *c->p != ',' && *c->p != '\n')
			c->p++;
		f->n = (size_t)(c->p - f->s);
		while (f->n && is_blank(f->s[f->n - 1]))
			f->n--;
	}
	*ret_more = c->p < c->end && *c->p == ',';
	c->p += *ret_more;
	return HBM_OK;
}

/* Goes to the next line that holds a row; false: no more. */
static bool next_row(csv *c)
{
	while (c->p < c->end) {
		const char *p = c->p;
		while (p < c->end && is_blank(*p))
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

/* All fields of a row, at most `max` kept. *ret_n counts all of them. */
static hbm_status read_row(csv *c, uint32_t max, uint32_t *ret_n)
{
	bool more = true;
	field spare;

	for (*ret_n = 0; more; ++*ret_n)
		HBM_TRY(read_field(c, *ret_n < max ? &c->fields[*ret_n] : &spare,
		                   &more));
	if (c->p < c->end)
		new_line(c);
	return HBM_OK;
}

/* ---- header -------------------------------------------------------------- */

static bool same_word(const char *word, const char *s, size_t n)
{
	if (strlen(word) != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char ch = s[i];
		if (ch >= 'A' && ch <= 'Z')
			ch = (char)(ch - 'A' + 'a');
		if (ch != word[i])
			return false;
	}
	return true;
}

static role find_role(const char *s, size_t n)
{
	for (uint32_t i = 0; i < N_COLUMNS; i++)
		if (same_word(columns[i].name, s, n))
			return columns[i].role;
	return N_ROLES;
}

static void unknown_column(csv *c, const field *f)
{
	char word[24];
	const char *near = NULL;
	uint32_t best = 3;

	BAD(c, f, HBM_E_CSV_HEADER, "unknown column '%.*s'", shown(f), f->s);
	if (f->n >= sizeof word)
		return;
	memcpy(word, f->s, f->n);
	word[f->n] = '\0';
	for (uint32_t i = 0; i < N_COLUMNS; i++) {
		uint32_t far = hbm_edit_distance(word, columns[i].name, 2);
		if (far < best) {
			best = far;
			near = columns[i].name;
		}
	}
	if (near)
		hbm_note(c->d, at_field(c, f), "did you mean '%s'?", near);
}

static void take_columns(csv *c)
{
	for (uint32_t i = 0; i < c->n_columns; i++) {
		const field *f = &c->fields[i];
		role r = find_role(f->s, f->n);
		if (r == N_ROLES) {
			unknown_column(c, f);
		} else if (c->at[r] != HBM_NONE) {
			BAD(c, f, HBM_E_CSV_HEADER,
			    "columns %u and %u mean the same thing", c->at[r] + 1,
			    i + 1);
		} else {
			c->at[r] = i;
		}
	}
}

/* Which ends a range includes is read off its two names. */
static void check_convention(csv *c, const field *first)
{
	bool lower = c->at[ROLE_LOWER] != HBM_NONE, start = c->at[ROLE_START] != HBM_NONE;
	bool upper = c->at[ROLE_UPPER] != HBM_NONE, end = c->at[ROLE_END] != HBM_NONE;

	if ((lower && start) || (upper && end) || (lower && end) || (start && upper))
		BAD(c, first, HBM_E_CSV_HEADER,
		    "the header mixes two conventions: 'lower,upper' excludes the "
		    "upper end, 'start,end' includes it");
	else if (!lower && !start)
		BAD(c, first, HBM_E_CSV_HEADER, "no column 'lower' or 'start'");
	else if (!upper && !end)
		BAD(c, first, HBM_E_CSV_HEADER, "no column '%s'",
		    lower ? "upper" : "end");
	if (start) {
		c->at[ROLE_LOWER] = c->at[ROLE_START];
		c->at[ROLE_UPPER] = c->at[ROLE_END];
	}
}

static hbm_status read_header(csv *c)
{
	field first = {.at = c->src->bytes.data, .line = 1,
	               .line_start = c->src->bytes.data};

	if (!next_row(c)) {
		BAD(c, &first, HBM_E_CSV_HEADER, "the table is empty: no header line");
		return HBM_OK;
	}
	HBM_TRY(read_row(c, MAX_COLUMNS, &c->n_columns));
	first = c->fields[0];
	if (c->n_columns > MAX_COLUMNS) {
		BAD(c, &first, HBM_E_CSV_HEADER, "%u columns, at most %d are possible",
		    c->n_columns, MAX_COLUMNS);
		return HBM_OK;
	}
	take_columns(c);
	if (c->at[ROLE_ID] == HBM_NONE)
		BAD(c, &first, HBM_E_CSV_HEADER, "no column 'id'");
	if (c->at[ROLE_SIZE] == HBM_NONE)
		BAD(c, &first, HBM_E_CSV_HEADER, "no column 'size'");
	check_convention(c, &first);
	return HBM_OK;
}

/* ---- values -------------------------------------------------------------- */

/* Digits with an optional sign, up to +-2^62. Returns what is behind them, NULL:
 * no digit. Beyond the limit *ret is that limit plus one. */
static const char *scan_int(const char *s, const char *end, int64_t *ret)
{
	bool minus = s < end && *s == '-';
	const char *digits = s += s < end && (*s == '-' || *s == '+');
	uint64_t v = 0;

	for (; s < end && *s >= '0' && *s <= '9'; s++)
		v = v > HBM_MAX_BYTES / 10 ? HBM_MAX_BYTES + 1
		                           : v * 10 + (uint64_t)(*s - '0');
	if (s == digits)
		return NULL;
	if (v > HBM_MAX_BYTES)
		v = HBM_MAX_BYTES + 1;
	*ret = minus ? -(int64_t)v : (int64_t)v;
	return s;
}

static bool too_far(int64_t v)
{
	return v > (int64_t)HBM_MAX_BYTES || v < -(int64_t)HBM_MAX_BYTES;
}

/* The number of a field; false: said why. */
static bool get_int(csv *c, const field *f, const char *what, int64_t *ret)
{
	const char *end = scan_int(f->s, f->s + f->n, ret);

	if (!f->n)
		BAD(c, f, HBM_E_CSV_VALUE, "the %s is missing", what);
	else if (end != f->s + f->n)
		BAD(c, f, HBM_E_CSV_VALUE, "%s '%.*s' is not a whole number", what,
		    shown(f), f->s);
	else if (too_far(*ret))
		BAD(c, f, HBM_E_CSV_VALUE, "%s %.*s is beyond 2^62", what, shown(f),
		    f->s);
	else
		return true;
	return false;
}

/* A byte count that may be left out (empty, or -1 as minimalloc writes). */
static void get_optional(csv *c, role r, const char *what, uint64_t *v)
{
	const field *f = &c->fields[c->at[r]];
	int64_t n;

	if (!f->n || !get_int(c, f, what, &n))
		return;
	if (n >= 0)
		*v = (uint64_t)n;
	else if (n != -1)
		BAD(c, f, HBM_E_CSV_VALUE, "%s %lld is negative", what, (long long)n);
}

static int by_start(const void *x, const void *y)
{
	const hbm_gap *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

/* `a-b` or `a-b@lo:hi`; NULL: malformed. */
static const char *scan_gap(const char *s, const char *end, hbm_gap *g)
{
	int64_t lo, hi;

	*g = (hbm_gap){0};
	if (!(s = scan_int(s, end, &g->start)) || s == end || *s != '-')
		return NULL;
	if (!(s = scan_int(s + 1, end, &g->end)))
		return NULL;
	if (s < end && *s == '@') {
		if (!(s = scan_int(s + 1, end, &lo)) || s == end || *s != ':')
			return NULL;
		if (!(s = scan_int(s + 1, end, &hi)) || lo < 0 || hi < lo)
			return NULL;
		g->lo = (uint64_t)lo;
		g->hi = (uint64_t)hi;
	}
	return s == end || *s == ' ' || *s == '\t' ? s : NULL;
}

/* Sorted gaps of one buffer: inside its life, apart from each other. */
static void check_gaps(csv *c, const field *f, const hbm_gap *gaps, uint32_t n,
                       uint32_t row)
{
	for (uint32_t i = 0; i < n; i++) {
		const hbm_gap *g = &gaps[i];
		if (g->start >= g->end)
			BAD(c, f, HBM_E_CSV_VALUE, "gap %lld-... is empty or reversed",
			    (long long)g->start);
		else if (g->start < c->start.items[row] || g->end > c->stop.items[row])
			BAD(c, f, HBM_E_CSV_VALUE,
			    "gap %lld-... is not inside the life of the buffer",
			    (long long)g->start);
		else if (i && g->start < gaps[i - 1].end)
			BAD(c, f, HBM_E_CSV_VALUE, "gaps overlap at %lld",
			    (long long)g->start);
		else if (g->hi > c->size.items[row])
			BAD(c, f, HBM_E_CSV_VALUE,
			    "gap keeps bytes up to %llu of a buffer of %llu",
			    (unsigned long long)g->hi,
			    (unsigned long long)c->size.items[row]);
	}
}

static hbm_status get_gaps(csv *c, uint32_t row, bool closed)
{
	const field *f = &c->fields[c->at[ROLE_GAPS]];
	const char *s = f->s, *end = f->s + f->n;
	uint32_t first = c->gaps.n;
	hbm_gap g;

	for (;;) {
		while (s < end && (*s == ' ' || *s == '\t'))
			s++;
		if (s == end)
			break;
		s = scan_gap(s, end, &g);
		if (!s || too_far(g.start) || too_far(g.end)) {
			BAD(c, f, HBM_E_CSV_VALUE,
			    "gaps '%.*s' are not a list of a-b or a-b@lo:hi",
			    shown(f), f->s);
			break;
		}
		g.end += closed;
		HBM_NEED(HBM_PUSH(c->a, &c->gaps, g));
	}
	if (c->gaps.n > first)
		qsort(c->gaps.items + first, c->gaps.n - first, sizeof g, by_start);
	check_gaps(c, f, c->gaps.items + first, c->gaps.n - first, row);
	return HBM_OK;
}

/* ---- rows ---------------------------------------------------------------- */

static hbm_status take_id(csv *c)
{
	const field *f = &c->fields[c->at[ROLE_ID]];
	uint32_t before = c->ids.strs.n;
	hbm_sym id;

	if (!f->n)
		BAD(c, f, HBM_E_CSV_VALUE, "the id is missing");
	id = hbm_intern(&c->ids, f->s, f->n);
	HBM_NEED(id != HBM_NONE);
	if (f->n && id < before) {
		bool counted = !c->failed; /* symbol k still belongs to row k - 1 */
		BAD(c, f, HBM_E_DUPLICATE, "id '%.*s' stands in two rows", shown(f),
		    f->s);
		if (counted)
			hbm_note(c->d, (hbm_where){.file = c->src->path,
			                           .line = c->lines.items[id - 1]},
			         "the first one is here");
	}
	HBM_NEED(HBM_PUSH(c->a, &c->names, hbm_sym_str(&c->ids, id)));
	HBM_NEED(HBM_PUSH(c->a, &c->lines, f->line));
	return HBM_OK;
}

static hbm_status take_range(csv *c, bool closed)
{
	const field *lo = &c->fields[c->at[ROLE_LOWER]];
	const field *hi = &c->fields[c->at[ROLE_UPPER]];
	int64_t start = 0, stop = 0;
	bool ok = get_int(c, lo, "start", &start);

	ok = get_int(c, hi, "end", &stop) && ok;
	if (ok && stop < start)
		BAD(c, hi, HBM_E_CSV_VALUE, "the end %lld is before the start %lld",
		    (long long)stop, (long long)start);
	HBM_NEED(HBM_PUSH(c->a, &c->start, start));
	HBM_NEED(HBM_PUSH(c->a, &c->stop, stop + closed));
	return HBM_OK;
}

static hbm_status take_size(csv *c)
{
	const field *f = &c->fields[c->at[ROLE_SIZE]];
	int64_t size = 0;

	if (get_int(c, f, "size", &size) && size < 0)
		BAD(c, f, HBM_E_CSV_VALUE, "size %lld is negative", (long long)size);
	HBM_NEED(HBM_PUSH(c->a, &c->size, size < 0 ? 0 : (uint64_t)size));
	return HBM_OK;
}

static hbm_status take_options(csv *c, uint32_t row, bool closed)
{
	uint64_t align = 1, hint = HBM_NO_OFFSET, pin = HBM_NO_OFFSET;

	if (c->at[ROLE_ALIGN] != HBM_NONE) {
		get_optional(c, ROLE_ALIGN, "alignment", &align);
		if (!align)
			BAD(c, &c->fields[c->at[ROLE_ALIGN]], HBM_E_CSV_VALUE,
			    "an alignment of zero has no meaning");
		HBM_NEED(HBM_PUSH(c->a, &c->align, align));
	}
	if (c->at[ROLE_HINT] != HBM_NONE) {
		get_optional(c, ROLE_HINT, "hint", &hint);
		HBM_NEED(HBM_PUSH(c->a, &c->hint, hint));
	}
	if (c->at[ROLE_PIN] != HBM_NONE) {
		get_optional(c, ROLE_PIN, "offset", &pin);
		HBM_NEED(HBM_PUSH(c->a, &c->pin, pin));
	}
	if (c->at[ROLE_GAPS] != HBM_NONE) {
		HBM_NEED(HBM_PUSH(c->a, &c->gap_first, c->gaps.n));
		HBM_TRY(get_gaps(c, row, closed));
	}
	return HBM_OK;
}

static hbm_status read_rows(csv *c)
{
	bool closed = c->at[ROLE_START] != HBM_NONE;
	uint32_t n;

	while (next_row(c) && !(c->d && hbm_diags_full(c->d))) {
		HBM_TRY(read_row(c, c->n_columns, &n));
		if (n != c->n_columns) {
			BAD(c, &c->fields[0], HBM_E_CSV_ROW,
			    "the row has %u fields, the header has %u", n,
			    c->n_columns);
			continue;
		}
		HBM_TRY(take_id(c));
		HBM_TRY(take_range(c, closed));
		HBM_TRY(take_size(c));
		HBM_TRY(take_options(c, c->size.n - 1, closed));
	}
	if (c->at[ROLE_GAPS] != HBM_NONE)
		HBM_NEED(HBM_PUSH(c->a, &c->gap_first, c->gaps.n));
	return HBM_OK;
}

static void fill(const csv *c, hbm_imported *ret)
{
	hbm_named_problem *np = &ret->problem;

	*ret = (hbm_imported){.is_problem = true};
	np->names = c->names.items;
	np->lines = c->lines.items;
	np->closed = c->at[ROLE_START] != HBM_NONE;
	np->problem = (hbm_problem){.n = c->size.n, .size = c->size.items,
	                            .start = c->start.items, .end = c->stop.items,
	                            .align = c->align.items, .pin = c->pin.items,
	                            .hint = c->hint.items,
	                            .capacity = HBM_NO_OFFSET};
	if (c->gaps.n) {
		np->problem.gaps = c->gaps.items;
		np->problem.gap_first = c->gap_first.items;
	}
}

static const char *after_bom(hbm_bytes b)
{
	bool bom = b.n >= 3 && !memcmp(b.data, "\xef\xbb\xbf", 3);

	return b.data + (bom ? 3 : 0);
}

static hbm_status csv_read(hbm_arena *a, const hbm_source *src,
                           const hbm_import_opts *opts, hbm_diags *d,
                           hbm_imported *ret)
{
	csv *c = HBM_NEW(a, csv);

	(void)opts;
	HBM_NEED(c);
	c->a = a;
	c->src = src;
	c->d = d;
	c->line = 1;
	c->p = c->line_start = after_bom(src->bytes);
	c->end = src->bytes.data + src->bytes.n;
	for (uint32_t i = 0; i < N_ROLES; i++)
		c->at[i] = HBM_NONE;
	HBM_TRY(hbm_syms_init(&c->ids, a));
	HBM_TRY(read_header(c));
	if (!c->failed)
		HBM_TRY(read_rows(c));
	if (c->failed)
		return HBM_SEMANTIC;
	fill(c, ret);
	return HBM_OK;
}

/* A first row in which at least two known column names stand. */
static int csv_probe(const hbm_source *src)
{
	const char *p = after_bom(src->bytes), *end = src->bytes.data + src->bytes.n;
	const char *stop;
	int known = 0, all = 0;

	if (src->is_dir || !src->bytes.n)
		return 0;
	while (p < end && (is_blank(*p) || *p == '\n' || *p == '#')) {
		if (*p == '#' && !(p = memchr(p, '\n', (size_t)(end - p))))
			return 0;
		p++;
	}
	for (stop = p; stop < end && *stop != '\n'; stop++)
		;
	while (p < stop && all <= MAX_COLUMNS) {
		const char *comma = memchr(p, ',', (size_t)(stop - p));
		const char *e = comma ? comma : stop;
		while (p < e && (is_blank(*p) || *p == '"'))
			p++;
		while (e > p && (is_blank(e[-1]) || e[-1] == '"'))
			e--;
		known += find_role(p, (size_t)(e - p)) != N_ROLES;
		all++;
		p = comma ? comma + 1 : stop;
	}
	return known < 2 ? 0 : known == all ? 95 : 60;
}

const hbm_importer hbm_importer_csv = {
	"csv", "lifetime table: id,lower,upper,size (minimalloc and relatives)",
	csv_probe, csv_read,
};
