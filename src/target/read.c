/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads target files (docs/targets.md): one statement a line. After an error the
 * next line is read, so that one run lists them all. Strings of the target are
 * copies; the file's text is not needed later. */
#include "target/reader.h"

#include <string.h>

static const char *const statements[N_STATEMENTS] = {
	[ST_TARGET] = "target", [ST_LIKE] = "like",      [ST_ALIAS] = "alias",
	[ST_REGION] = "region", [ST_SLOT] = "slot",      [ST_PIPELINE] = "pipeline",
	[ST_NOTE] = "note",     [ST_REFUSED] = "refused"};

static hbm_where at_word(const reader *rd, uint32_t i)
{
	const char *end = hbm_reader_end(rd->lines.items[rd->line - 1]);

	if (i >= rd->words.n)
		return hbm_reader_at(rd, rd->line, end, 1);
	return hbm_reader_at(rd, rd->line, rd->words.items[i].s, rd->words.items[i].n);
}

/* Lists a syntax error at a place of the current line and leaves the statement;
 * reading goes on with the next line. */
#define BAD(rd, where, ...)                                                          \
	do {                                                                         \
		hbm_reader_failed((rd),                                              \
		                  hbm_fail((rd)->d, HBM_SYNTAX, HBM_E_TARGET_SYNTAX, \
		                           (where), __VA_ARGS__));                   \
		return HBM_OK;                                                       \
	} while (0)
/* A word for "%.*s". */
#define TEXT(w) (int)(w).n, (w).s

static char *word_copy(reader *rd, word w)
{
	return hbm_arena_strndup(rd->arena, w.s, w.n);
}

/* Splits "16GiB" into its number and its unit. */
static word cut_unit(word *num)
{
	bool hex = num->n > 1 && (num->s[1] == 'x' || num->s[1] == 'X');
	uint32_t n = num->n;
	word unit;

	while (n && !hex && !(num->s[n - 1] >= '0' && num->s[n - 1] <= '9'))
		n--;
	unit = (word){num->s + n, num->n - n};
	num->n = n;
	return unit;
}

/* Bytes from word *i on, which moves past them. A unit must follow unless `bare`.
 * *ok stays false when an error was listed. */
static hbm_status read_bytes(reader *rd, uint32_t *i, bool bare, uint64_t *ret,
                             bool *ok)
{
	uint32_t first = *i, shift = 0;
	word num, unit;

	if (first >= rd->words.n)
		BAD(rd, at_word(rd, first), "expected a number of bytes");
	num = rd->words.items[(*i)++];
	unit = cut_unit(&num);
	if (!hbm_reader_num(num, ret))
		BAD(rd, at_word(rd, first), "'%.*s' is not a number",
		    TEXT(rd->words.items[first]));
	if (!unit.n && *i < rd->words.n) {
		word next = rd->words.items[*i];
		if (!bare || hbm_reader_unit(next, &shift)) {
			unit = next;
			(*i)++;
		}
	}
	if (!unit.n && !bare)
		BAD(rd, at_word(rd, *i), "bytes need a unit: B, KiB, MiB, GiB or TiB");
	if (unit.n && !hbm_reader_unit(unit, &shift))
		BAD(rd, hbm_reader_at(rd, rd->line, unit.s, unit.n),
		    "unknown unit '%.*s'; units are B, KiB (1024 B), MiB, GiB and TiB",
		    TEXT(unit));
	if (*ret > TARGET_MAX_NUM >> shift)
		BAD(rd, at_word(rd, first), "the number is larger than 2^62");
	*ret <<= shift;
	*ok = true;
	return HBM_OK;
}

static hbm_status read_count(reader *rd, uint32_t *i, uint64_t *ret, bool *ok)
{
	word w = rd->words.items[*i];

	if (!hbm_reader_num(w, ret) || *ret > TARGET_MAX_NUM)
		BAD(rd, at_word(rd, *i), "'%.*s' is not a number up to 2^62", TEXT(w));
	(*i)++;
	*ok = true;
	return HBM_OK;
}

static hbm_status expect_end(reader *rd, uint32_t i)
{
	if (i < rd->words.n)
		BAD(rd, at_word(rd, i), "unexpected '%.*s'", TEXT(rd->words.items[i]));
	return HBM_OK;
}

/* The line from word `i` to its end or comment; NULL: no memory. */
static const char *rest_of_line(reader *rd, uint32_t i)
{
	const char *s = rd->words.items[i].s;
	const char *end = hbm_reader_end(rd->lines.items[rd->line - 1]);

	return hbm_arena_strndup(rd->arena, s, (size_t)(end - s));
}

/* ---- key = value ----------------------------------------------------------- */

static hbm_key find_key(word w)
{
	uint32_t k = 0;

	while (k < HBM_N_KEYS && !hbm_word_is(w, hbm_key_infos[k].name))
		k++;
	return (hbm_key)k;
}

/* The key or statement nearest to a wrong word, NULL: none is near. */
static const char *nearest(reader *rd, word w)
{
	const char *wrong = word_copy(rd, w), *best = NULL;
	uint32_t limit = w.n <= 3 ? 1 : 2;

	for (uint32_t i = 0; wrong && limit && i < HBM_N_KEYS + N_STATEMENTS; i++) {
		const char *name = i < HBM_N_KEYS ? hbm_key_infos[i].name
		                                  : statements[i - HBM_N_KEYS];
		uint32_t distance = hbm_edit_distance(wrong, name, limit);
		if (distance > limit)
			continue;
		best = name;
		limit = distance - 1;
	}
	return best;
}

static hbm_status unknown_key(reader *rd)
{
	word w = rd->words.items[0];
	const char *near = nearest(rd, w);

	if (near)
		BAD(rd, at_word(rd, 0), "unknown key '%.*s'; did you mean '%s'?",
		    TEXT(w), near);
	BAD(rd, at_word(rd, 0), "unknown key '%.*s'", TEXT(w));
}

static hbm_status set_twice(reader *rd, uint32_t first_line)
{
	word w = rd->words.items[0];

	hbm_reader_failed(rd, hbm_fail(rd->d, HBM_SEMANTIC, HBM_E_DUPLICATE,
	                               at_word(rd, 0), "'%.*s' is set twice", TEXT(w)));
	if (first_line)
		hbm_note(rd->d, hbm_reader_line(rd, first_line),
		         "it is set here first");
	return HBM_OK;
}

static hbm_status read_value(reader *rd, hbm_key key)
{
	hbm_target_value v = {.set = true, .source = rd->source, .line = rd->line};
	hbm_unit unit = hbm_key_infos[key].unit;
	uint32_t i = 2;
	bool ok = unit == HBM_UNIT_TEXT;

	v.text = rest_of_line(rd, 2);
	HBM_NEED(v.text);
	if (unit == HBM_UNIT_BYTES)
		HBM_TRY(read_bytes(rd, &i, false, &v.num, &ok));
	else if (unit == HBM_UNIT_COUNT)
		HBM_TRY(read_count(rd, &i, &v.num, &ok));
	if (!ok)
		return HBM_OK;
	rd->t->values[key] = v;
	return unit == HBM_UNIT_TEXT ? HBM_OK : expect_end(rd, i);
}

static hbm_status read_key(reader *rd)
{
	hbm_key key = find_key(rd->words.items[0]);

	if (key == HBM_N_KEYS)
		return unknown_key(rd);
	if (rd->seen[key])
		return set_twice(rd, rd->t->values[key].line);
	rd->seen[key] = true;
	if (rd->words.n < 3)
		BAD(rd, at_word(rd, 2), "expected a value after '='");
	return read_value(rd, key);
}

/* ---- statements ------------------------------------------------------------ */

static bool is_name(word w)
{
	for (uint32_t i = 0; i < w.n; i++) {
		char c = w.s[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '_' && c != '-' && c != '.')
			return false;
	}
	return true;
}

/* The name in word `i`. *ret NULL: an error was listed. */
static hbm_status read_name(reader *rd, uint32_t i, const char *what, const char **ret)
{
	*ret = NULL;
	if (i >= rd->words.n)
		BAD(rd, at_word(rd, i), "expected %s", what);
	if (!is_name(rd->words.items[i]))
		BAD(rd, at_word(rd, i), "%s has letters, digits, '_', '-' and '.' only",
		    what);
	*ret = word_copy(rd, rd->words.items[i]);
	return *ret ? HBM_OK : HBM_NOMEM;
}

static hbm_status read_target(reader *rd)
{
	const char *name;

	HBM_TRY(read_name(rd, 1, "the target's name", &name));
	if (!name)
		return HBM_OK;
	rd->t->name = name;
	return expect_end(rd, 2);
}

/* Takes over what another target was told. Nothing of it has a line here, and
 * what was derived there is derived anew. */
static void take_over(hbm_target *to, const hbm_target *from)
{
	for (uint32_t k = 0; k < HBM_N_KEYS; k++) {
		to->values[k] = from->values[k];
		to->values[k].line = 0;
		if (from->values[k].derived)
			to->values[k] = (hbm_target_value){0};
	}
	to->pipeline.items = from->pipeline.items;
	to->pipeline.n = to->pipeline.cap = from->pipeline.n;
	to->regions.items = from->regions.items;
	to->regions.n = to->regions.cap = from->regions.n;
	for (uint32_t i = 0; i < to->regions.n; i++)
		to->regions.items[i].line = 0;
	to->slots.items = from->slots.items;
	to->slots.n = to->slots.cap = from->slots.n;
	for (uint32_t i = 0; i < to->slots.n; i++)
		to->slots.items[i].line = 0;
}

static bool has_figures(const reader *rd)
{
	for (uint32_t k = 0; k < HBM_N_KEYS; k++)
		if (rd->seen[k])
			return true;
	return rd->first[ST_REGION] || rd->first[ST_SLOT] || rd->first[ST_PIPELINE];
}

static hbm_status read_like(reader *rd)
{
	hbm_target base = {.arena = rd->arena};
	reader sub = {.arena = rd->arena, .t = &base, .depth = rd->depth + 1};
	const char *name;

	HBM_TRY(read_name(rd, 1, "a built-in target", &name));
	if (!name)
		return HBM_OK;
	if (has_figures(rd))
		BAD(rd, at_word(rd, 0), "'like' stands before all figures");
	sub.file = name;
	sub.text = hbm_target_builtin(name);
	if (!sub.text)
		BAD(rd, at_word(rd, 1), "no built-in target has the name '%s'", name);
	if (sub.depth > TARGET_MAX_LIKE)
		BAD(rd, at_word(rd, 1), "'like' is nested too deep");
	HBM_TRY(hbm_target_read(&sub));
	if (base.refused)
		BAD(rd, at_word(rd, 1), "'%s' has no figures: %s", name, base.refused);
	take_over(rd->t, &base);
	return expect_end(rd, 2);
}

static hbm_status read_alias(reader *rd)
{
	const char *name;
	uint32_t i = 1;

	do {
		HBM_TRY(read_name(rd, i, "an alias", &name));
		HBM_NEED(!name || HBM_PUSH(rd->arena, &rd->t->aliases, name));
	} while (name && ++i < rd->words.n);
	return HBM_OK;
}

static hbm_status read_pipeline(reader *rd)
{
	const char *name;
	uint32_t i = 1;

	memset(&rd->t->pipeline, 0, sizeof rd->t->pipeline);
	do {
		HBM_TRY(read_name(rd, i, "a pass", &name));
		HBM_NEED(!name || HBM_PUSH(rd->arena, &rd->t->pipeline, name));
	} while (name && ++i < rd->words.n);
	return HBM_OK;
}

/* A region or slot that was taken over gives way to one of the same name; two of
 * the same file are for the check. */
static hbm_status set_region(reader *rd, hbm_region r)
{
	for (uint32_t i = 0; i < rd->t->regions.n; i++) {
		hbm_region *old = &rd->t->regions.items[i];
		if (old->line || strcmp(old->space, r.space) ||
		    strcmp(old->name, r.name))
			continue;
		*old = r;
		return HBM_OK;
	}
	HBM_NEED(HBM_PUSH(rd->arena, &rd->t->regions, r));
	return HBM_OK;
}

static hbm_status set_slot(reader *rd, hbm_slot s)
{
	for (uint32_t i = 0; i < rd->t->slots.n; i++) {
		hbm_slot *old = &rd->t->slots.items[i];
		if (old->line || strcmp(old->dtype, s.dtype))
			continue;
		*old = s;
		return HBM_OK;
	}
	HBM_NEED(HBM_PUSH(rd->arena, &rd->t->slots, s));
	return HBM_OK;
}

/* "WORD N [UNIT]" from word *i on. */
static hbm_status read_named_bytes(reader *rd, uint32_t *i, const char *name,
                                   uint64_t *ret, bool *ok)
{
	if (*i >= rd->words.n || !hbm_word_is(rd->words.items[*i], name))
		BAD(rd, at_word(rd, *i), "expected '%s'", name);
	(*i)++;
	return read_bytes(rd, i, true, ret, ok);
}

/* region SPACE NAME base N size N */
static hbm_status read_region(reader *rd)
{
	hbm_region r = {.source = rd->source, .line = rd->line};
	bool base_ok = false, size_ok = false;
	uint32_t i = 3;

	HBM_TRY(read_name(rd, 1, "a space", &r.space));
	if (r.space)
		HBM_TRY(read_name(rd, 2, "the region's name", &r.name));
	if (r.name)
		HBM_TRY(read_named_bytes(rd, &i, "base", &r.base, &base_ok));
	if (base_ok)
		HBM_TRY(read_named_bytes(rd, &i, "size", &r.size, &size_ok));
	if (!size_ok)
		return HBM_OK;
	HBM_TRY(expect_end(rd, i));
	return set_region(rd, r);
}

/* slot DTYPE BITS */
static hbm_status read_slot(reader *rd)
{
	hbm_slot s = {.line = rd->line};
	uint64_t bits;

	HBM_TRY(read_name(rd, 1, "a dtype", &s.dtype));
	if (!s.dtype)
		return HBM_OK;
	if (rd->words.n < 3 || !hbm_reader_num(rd->words.items[2], &bits) || !bits ||
	    bits > 4096)
		BAD(rd, at_word(rd, 2), "expected the bits of one element, 1 to 4096");
	s.bits = (uint32_t)bits;
	HBM_TRY(expect_end(rd, 3));
	return set_slot(rd, s);
}

static hbm_status read_text(reader *rd, const char **ret)
{
	*ret = NULL;
	if (rd->words.n < 2)
		BAD(rd, at_word(rd, 1), "expected a text");
	*ret = rest_of_line(rd, 1);
	return *ret ? HBM_OK : HBM_NOMEM;
}

static hbm_status read_note(reader *rd)
{
	const char *text;

	HBM_TRY(read_text(rd, &text));
	HBM_NEED(!text || HBM_PUSH(rd->arena, &rd->t->notes, text));
	return HBM_OK;
}

static hbm_status read_refused(reader *rd)
{
	return read_text(rd, &rd->t->refused);
}

static const struct {
	hbm_status (*read)(reader *);
	bool once;
} actions[N_STATEMENTS] = {
	[ST_TARGET] = {read_target, true}, [ST_LIKE] = {read_like, true},
	[ST_ALIAS] = {read_alias, false},  [ST_REGION] = {read_region, false},
	[ST_SLOT] = {read_slot, false},    [ST_PIPELINE] = {read_pipeline, true},
	[ST_NOTE] = {read_note, false},    [ST_REFUSED] = {read_refused, true},
};

static hbm_status read_statement(reader *rd)
{
	word w = rd->words.items[0];
	bool equals = rd->words.n > 1 && hbm_word_is(rd->words.items[1], "=");
	uint32_t i = 0;

	while (i < N_STATEMENTS && !hbm_word_is(w, statements[i]))
		i++;
	if (i == N_STATEMENTS && equals)
		return read_key(rd);
	if (i == N_STATEMENTS && find_key(w) < HBM_N_KEYS)
		BAD(rd, at_word(rd, 1), "expected '%.*s = value'", TEXT(w));
	if (i == N_STATEMENTS)
		return unknown_key(rd);
	if (equals)
		BAD(rd, at_word(rd, 1), "'%s' takes no '='", statements[i]);
	if (rd->first[i] && actions[i].once)
		return set_twice(rd, rd->first[i]);
	if (!rd->first[i])
		rd->first[i] = rd->line;
	return actions[i].read(rd);
}

static hbm_status read_lines(reader *rd)
{
	const char *p = rd->text;

	if (!strncmp(p, "\xef\xbb\xbf", 3)) /* byte order mark */
		p += 3;
	for (; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		HBM_NEED(HBM_PUSH(rd->arena, &rd->lines, p));
		rd->line = rd->lines.n;
		HBM_TRY(hbm_reader_split(rd, p));
		HBM_TRY(hbm_reader_source(rd, p));
		if (rd->words.n)
			HBM_TRY(read_statement(rd));
		if (rd->status != HBM_OK && rd->d && hbm_diags_full(rd->d))
			return rd->status;
	}
	return HBM_OK;
}

hbm_status hbm_target_read(reader *rd)
{
	HBM_TRY(read_lines(rd));
	HBM_TRY(hbm_target_check(rd));
	return rd->status;
}

/* The name of a file without its folders and extension. */
static const char *name_from_file(hbm_arena *a, const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	const char *dot = strrchr(name, '.');

	return hbm_arena_strndup(
		a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

hbm_status hbm_target_parse(hbm_arena *a, hbm_diags *d, const char *file,
                            const char *text, size_t n, hbm_target *ret)
{
	hbm_target t = {.arena = a};
	reader rd = {.arena = a, .d = d, .t = &t};
	const char *nul = n ? memchr(text, '\0', n) : NULL;

	if (nul)
		return hbm_fail(
			d, HBM_SYNTAX, HBM_E_TARGET_SYNTAX, (hbm_where){.file = file},
			"not a text file: byte %zu is zero", (size_t)(nul - text));
	t.file = rd.file = hbm_arena_strndup(a, file, strlen(file));
	rd.text = hbm_arena_strndup(a, text, n);
	t.name = name_from_file(a, file);
	HBM_NEED(rd.file && rd.text && t.name);
	HBM_TRY(hbm_target_read(&rd));
	*ret = t;
	return HBM_OK;
}
