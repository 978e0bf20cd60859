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
#include "import/csv.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 64, MAX_KIN = 1 << 30 };

typedef enum role {
	ROLE_ID,
	ROLE_LOWER,
	ROLE_START,
	ROLE_UPPER,
	ROLE_END,
	ROLE_SIZE,
	ROLE_ALIGN,
	ROLE_HINT,
	ROLE_GAPS,
	ROLE_PIN,
	ROLE_SET,
	ROLE_SHIFT,
	ROLE_GROUP,
	N_ROLES
} role;

static const struct {
	const char *name;
	role role;
} columns[] = {
	{"id", ROLE_ID},           {"buffer", ROLE_ID},   {"buffer_id", ROLE_ID},
	{"lower", ROLE_LOWER},     {"start", ROLE_START}, {"begin", ROLE_START},
	{"upper", ROLE_UPPER},     {"end", ROLE_END},     {"size", ROLE_SIZE},
	{"alignment", ROLE_ALIGN}, {"hint", ROLE_HINT},   {"gaps", ROLE_GAPS},
	{"offset", ROLE_PIN},      {"set", ROLE_SET},     {"shift", ROLE_SHIFT},
	{"group", ROLE_GROUP},
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

typedef struct table {
	hbm_csv c;
	uint32_t n_columns;
	uint32_t at[N_ROLES]; /* column of a role, HBM_NONE: no such column */
	hbm_syms ids;
	hbm_csv_field fields[MAX_COLUMNS];
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
	HBM_VEC(uint32_t) set;
	HBM_VEC(uint64_t) shift;
	HBM_VEC(uint32_t) group;
} table;

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

static void unknown_column(table *t, const hbm_csv_field *f)
{
	char word[24];
	const char *near = NULL;
	uint32_t best = 3;

	HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_HEADER, "unknown column '%.*s'",
	             hbm_csv_shown(f), f->s);
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
		hbm_note(t->c.d, hbm_csv_where(&t->c, f), "did you mean '%s'?", near);
}

static void take_columns(table *t)
{
	for (uint32_t i = 0; i < t->n_columns; i++) {
		const hbm_csv_field *f = &t->fields[i];
		role r = find_role(f->s, f->n);
		if (r == N_ROLES) {
			unknown_column(t, f);
		} else if (t->at[r] != HBM_NONE) {
			HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_HEADER,
			             "columns %u and %u mean the same thing",
			             t->at[r] + 1, i + 1);
		} else {
			t->at[r] = i;
		}
	}
}

/* Which ends a range includes is read off its two names. */
static void check_convention(table *t, const hbm_csv_field *first)
{
	bool lower = t->at[ROLE_LOWER] != HBM_NONE,
	     start = t->at[ROLE_START] != HBM_NONE;
	bool upper = t->at[ROLE_UPPER] != HBM_NONE, end = t->at[ROLE_END] != HBM_NONE;

	if ((lower && start) || (upper && end) || (lower && end) || (start && upper))
		HBM_CSV_FAIL(
			&t->c, first, HBM_E_CSV_HEADER,
			"the header mixes two conventions: 'lower,upper' excludes the "
			"upper end, 'start,end' includes it");
	else if (!lower && !start)
		HBM_CSV_FAIL(&t->c, first, HBM_E_CSV_HEADER,
		             "no column 'lower' or 'start'");
	else if (!upper && !end)
		HBM_CSV_FAIL(&t->c, first, HBM_E_CSV_HEADER, "no column '%s'",
		             lower ? "upper" : "end");
	if (start) {
		t->at[ROLE_LOWER] = t->at[ROLE_START];
		t->at[ROLE_UPPER] = t->at[ROLE_END];
	}
}

static hbm_status read_header(table *t)
{
	hbm_csv_field first = {.at = t->c.p, .line = 1, .line_start = t->c.p};

	if (!hbm_csv_next_row(&t->c)) {
		HBM_CSV_FAIL(&t->c, &first, HBM_E_CSV_HEADER,
		             "the table is empty: no header line");
		return HBM_OK;
	}
	HBM_TRY(hbm_csv_row(&t->c, t->fields, MAX_COLUMNS, &t->n_columns));
	first = t->fields[0];
	if (t->n_columns > MAX_COLUMNS) {
		HBM_CSV_FAIL(&t->c, &first, HBM_E_CSV_HEADER,
		             "%u columns, at most %d are possible", t->n_columns,
		             MAX_COLUMNS);
		return HBM_OK;
	}
	take_columns(t);
	if (t->at[ROLE_ID] == HBM_NONE)
		HBM_CSV_FAIL(&t->c, &first, HBM_E_CSV_HEADER, "no column 'id'");
	if (t->at[ROLE_SIZE] == HBM_NONE)
		HBM_CSV_FAIL(&t->c, &first, HBM_E_CSV_HEADER, "no column 'size'");
	check_convention(t, &first);
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
static bool get_int(table *t, const hbm_csv_field *f, const char *what, int64_t *ret)
{
	const char *end = scan_int(f->s, f->s + f->n, ret);

	if (!f->n)
		HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE, "the %s is missing", what);
	else if (end != f->s + f->n)
		HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE,
		             "%s '%.*s' is not a whole number", what, hbm_csv_shown(f),
		             f->s);
	else if (too_far(*ret))
		HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE, "%s %.*s is beyond 2^62", what,
		             hbm_csv_shown(f), f->s);
	else
		return true;
	return false;
}

/* A byte count; false: said why. */
static bool get_bytes(table *t, const hbm_csv_field *f, const char *what, int64_t *ret)
{
	if (!get_int(t, f, what, ret))
		return false;
	if (*ret < (int64_t)HBM_MAX_BYTES)
		return true;
	HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE, "%s %.*s is not below 2^62", what,
	             hbm_csv_shown(f), f->s);
	return false;
}

/* A byte count that may be left out (empty, or -1 as minimalloc writes). */
static void get_optional(table *t, role r, const char *what, uint64_t *v)
{
	const hbm_csv_field *f = &t->fields[t->at[r]];
	int64_t n;

	if (!f->n || !get_bytes(t, f, what, &n))
		return;
	if (n >= 0)
		*v = (uint64_t)n;
	else if (n != -1)
		HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE, "%s %lld is negative", what,
		             (long long)n);
}

/* The number of a set or group; HBM_NONE: left out. */
static uint32_t get_kin(table *t, role r, const char *what)
{
	uint64_t v = HBM_NO_OFFSET;

	get_optional(t, r, what, &v);
	if (v == HBM_NO_OFFSET)
		return HBM_NONE;
	if (v >= MAX_KIN)
		HBM_CSV_FAIL(&t->c, &t->fields[t->at[r]], HBM_E_CSV_VALUE,
		             "%s %llu is not below 2^30", what, (unsigned long long)v);
	return (uint32_t)v;
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
static void check_gaps(table *t, const hbm_csv_field *f, const hbm_gap *gaps,
                       uint32_t n, uint32_t row)
{
	for (uint32_t i = 0; i < n; i++) {
		const hbm_gap *g = &gaps[i];
		if (g->start >= g->end)
			HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE,
			             "gap %lld-... is empty or reversed",
			             (long long)g->start);
		else if (g->start < t->start.items[row] || g->end > t->stop.items[row])
			HBM_CSV_FAIL(
				&t->c, f, HBM_E_CSV_VALUE,
				"gap %lld-... is not inside the life of the buffer",
				(long long)g->start);
		else if (i && g->start < gaps[i - 1].end)
			HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE, "gaps overlap at %lld",
			             (long long)g->start);
		else if (g->hi > t->size.items[row])
			HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE,
			             "gap keeps bytes up to %llu of a buffer of %llu",
			             (unsigned long long)g->hi,
			             (unsigned long long)t->size.items[row]);
	}
}

static hbm_status get_gaps(table *t, uint32_t row, bool closed)
{
	const hbm_csv_field *f = &t->fields[t->at[ROLE_GAPS]];
	const char *s = f->s, *end = f->s + f->n;
	uint32_t first = t->gaps.n;
	hbm_gap g;

	for (;;) {
		while (s < end && (*s == ' ' || *s == '\t'))
			s++;
		if (s == end)
			break;
		s = scan_gap(s, end, &g);
		if (!s || too_far(g.start) || too_far(g.end)) {
			HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE,
			             "gaps '%.*s' are not a list of a-b or a-b@lo:hi",
			             hbm_csv_shown(f), f->s);
			break;
		}
		g.end += closed;
		HBM_NEED(HBM_PUSH(t->c.a, &t->gaps, g));
	}
	if (t->gaps.n > first)
		qsort(t->gaps.items + first, t->gaps.n - first, sizeof g, by_start);
	check_gaps(t, f, t->gaps.items + first, t->gaps.n - first, row);
	return HBM_OK;
}

/* ---- rows ---------------------------------------------------------------- */

static hbm_status take_id(table *t)
{
	const hbm_csv_field *f = &t->fields[t->at[ROLE_ID]];
	uint32_t before = t->ids.strs.n;
	hbm_sym id;

	if (!f->n)
		HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE, "the id is missing");
	if (memchr(f->s, '\0', f->n))
		HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE, "the id has a byte of value zero");
	id = hbm_intern(&t->ids, f->s, f->n);
	HBM_NEED(id != HBM_NONE);
	if (f->n && id < before) {
		bool counted = !t->c.failed; /* symbol k still belongs to row k - 1 */
		HBM_CSV_FAIL(&t->c, f, HBM_E_DUPLICATE, "id '%.*s' stands in two rows",
		             hbm_csv_shown(f), f->s);
		if (counted)
			hbm_note(t->c.d,
			         (hbm_where){.file = t->c.path,
			                     .line = t->lines.items[id - 1]},
			         "the first one is here");
	}
	HBM_NEED(HBM_PUSH(t->c.a, &t->names, hbm_sym_str(&t->ids, id)));
	HBM_NEED(HBM_PUSH(t->c.a, &t->lines, f->line));
	return HBM_OK;
}

static hbm_status take_range(table *t, bool closed)
{
	const hbm_csv_field *lo = &t->fields[t->at[ROLE_LOWER]];
	const hbm_csv_field *hi = &t->fields[t->at[ROLE_UPPER]];
	int64_t start = 0, stop = 0;
	bool ok = get_int(t, lo, "start", &start);

	ok = get_int(t, hi, "end", &stop) && ok;
	if (ok && stop < start)
		HBM_CSV_FAIL(&t->c, hi, HBM_E_CSV_VALUE,
		             "the end %lld is before the start %lld", (long long)stop,
		             (long long)start);
	HBM_NEED(HBM_PUSH(t->c.a, &t->start, start));
	HBM_NEED(HBM_PUSH(t->c.a, &t->stop, stop + closed));
	return HBM_OK;
}

static hbm_status take_size(table *t)
{
	const hbm_csv_field *f = &t->fields[t->at[ROLE_SIZE]];
	int64_t size = 0;

	if (get_bytes(t, f, "size", &size) && size < 0)
		HBM_CSV_FAIL(&t->c, f, HBM_E_CSV_VALUE, "size %lld is negative",
		             (long long)size);
	HBM_NEED(HBM_PUSH(t->c.a, &t->size, size < 0 ? 0 : (uint64_t)size));
	return HBM_OK;
}

static hbm_status take_options(table *t, uint32_t row, bool closed)
{
	uint64_t align = 1, hint = HBM_NO_OFFSET, pin = HBM_NO_OFFSET;

	if (t->at[ROLE_ALIGN] != HBM_NONE) {
		get_optional(t, ROLE_ALIGN, "alignment", &align);
		if (!align)
			HBM_CSV_FAIL(&t->c, &t->fields[t->at[ROLE_ALIGN]],
			             HBM_E_CSV_VALUE,
			             "an alignment of zero has no meaning");
		HBM_NEED(HBM_PUSH(t->c.a, &t->align, align));
	}
	if (t->at[ROLE_HINT] != HBM_NONE) {
		get_optional(t, ROLE_HINT, "hint", &hint);
		HBM_NEED(HBM_PUSH(t->c.a, &t->hint, hint));
	}
	if (t->at[ROLE_PIN] != HBM_NONE) {
		get_optional(t, ROLE_PIN, "offset", &pin);
		if (pin != HBM_NO_OFFSET && align && pin % align)
			HBM_CSV_FAIL(&t->c, &t->fields[t->at[ROLE_PIN]], HBM_E_CSV_VALUE,
			             "offset %llu is no multiple of the alignment %llu",
			             (unsigned long long)pin, (unsigned long long)align);
		HBM_NEED(HBM_PUSH(t->c.a, &t->pin, pin));
	}
	if (t->at[ROLE_GAPS] != HBM_NONE) {
		HBM_NEED(HBM_PUSH(t->c.a, &t->gap_first, t->gaps.n));
		HBM_TRY(get_gaps(t, row, closed));
	}
	return HBM_OK;
}

static hbm_status take_kin(table *t)
{
	uint32_t set = HBM_NONE;
	uint64_t shift = 0;

	if (t->at[ROLE_SET] != HBM_NONE) {
		set = get_kin(t, ROLE_SET, "set");
		HBM_NEED(HBM_PUSH(t->c.a, &t->set, set));
	}
	if (t->at[ROLE_SHIFT] != HBM_NONE) {
		get_optional(t, ROLE_SHIFT, "shift", &shift);
		if (shift && set == HBM_NONE)
			HBM_CSV_FAIL(&t->c, &t->fields[t->at[ROLE_SHIFT]],
			             HBM_E_CSV_VALUE, "a shift without a set");
		HBM_NEED(HBM_PUSH(t->c.a, &t->shift, shift));
	}
	if (t->at[ROLE_GROUP] != HBM_NONE)
		HBM_NEED(HBM_PUSH(t->c.a, &t->group, get_kin(t, ROLE_GROUP, "group")));
	return HBM_OK;
}

static hbm_status read_rows(table *t)
{
	bool closed = t->at[ROLE_START] != HBM_NONE;
	uint32_t n;

	while (hbm_csv_next_row(&t->c) && !(t->c.d && hbm_diags_full(t->c.d))) {
		HBM_TRY(hbm_csv_row(&t->c, t->fields, t->n_columns, &n));
		if (n != t->n_columns) {
			HBM_CSV_FAIL(&t->c, &t->fields[0], HBM_E_CSV_ROW,
			             "the row has %u fields, the header has %u", n,
			             t->n_columns);
			continue;
		}
		HBM_TRY(take_id(t));
		HBM_TRY(take_range(t, closed));
		HBM_TRY(take_size(t));
		HBM_TRY(take_options(t, t->size.n - 1, closed));
		HBM_TRY(take_kin(t));
	}
	if (t->at[ROLE_GAPS] != HBM_NONE)
		HBM_NEED(HBM_PUSH(t->c.a, &t->gap_first, t->gaps.n));
	return HBM_OK;
}

static void fill(const table *t, hbm_imported *ret)
{
	hbm_named_problem *np = &ret->problem;

	*ret = (hbm_imported){.is_problem = true};
	np->names = t->names.items;
	np->lines = t->lines.items;
	np->closed = t->at[ROLE_START] != HBM_NONE;
	np->problem = (hbm_problem){.n = t->size.n,
	                            .size = t->size.items,
	                            .start = t->start.items,
	                            .end = t->stop.items,
	                            .align = t->align.items,
	                            .pin = t->pin.items,
	                            .hint = t->hint.items,
	                            .set = t->set.items,
	                            .shift = t->shift.items,
	                            .group = t->group.items,
	                            .capacity = HBM_NO_OFFSET};
	if (t->gaps.n) {
		np->problem.gaps = t->gaps.items;
		np->problem.gap_first = t->gap_first.items;
	}
}

static hbm_status csv_read(hbm_arena *a, const hbm_source *src,
                           const hbm_import_opts *opts, hbm_diags *d, hbm_imported *ret)
{
	table *t = HBM_NEW(a, table);

	(void)opts;
	HBM_NEED(t);
	hbm_csv_open(&t->c, a, src, d);
	for (uint32_t i = 0; i < N_ROLES; i++)
		t->at[i] = HBM_NONE;
	HBM_TRY(hbm_syms_init(&t->ids, a));
	HBM_TRY(read_header(t));
	if (!t->c.failed)
		HBM_TRY(read_rows(t));
	if (t->c.failed)
		return HBM_SEMANTIC;
	fill(t, ret);
	return HBM_OK;
}

/* A first row in which at least two known column names stand. */
static int csv_probe(const hbm_source *src)
{
	const char *p, *stop;
	int known = 0, all = 0;
	hbm_csv c;

	hbm_csv_open(&c, NULL, src, NULL);
	if (src->is_dir || !hbm_csv_next_row(&c))
		return 0;
	p = c.p;
	stop = memchr(p, '\n', (size_t)(c.end - p));
	stop = stop ? stop : c.end;
	while (p < stop && all <= MAX_COLUMNS) {
		const char *comma = memchr(p, ',', (size_t)(stop - p));
		const char *e = comma ? comma : stop;
		while (p < e && (hbm_csv_is_blank(*p) || *p == '"'))
			p++;
		while (e > p && (hbm_csv_is_blank(e[-1]) || e[-1] == '"'))
			e--;
		known += find_role(p, (size_t)(e - p)) != N_ROLES;
		all++;
		p = comma ? comma + 1 : stop;
	}
	return known < 2 ? 0 : known == all ? 95 : 60;
}

const hbm_importer hbm_importer_csv = {
	"csv",
	"lifetime table: id,lower,upper,size (minimalloc and relatives)",
	csv_probe,
	csv_read,
};
