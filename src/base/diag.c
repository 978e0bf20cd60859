/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SOURCE = 400 };

static const hbm_code_info codes[] = {
#define CODE(name, number, title, cause, cure) {HBM_E_##name, title, cause, cure},
#include "base/codes.def"
#undef CODE
};

static const char *const status_texts[] = {
#define TEXT(name, text) text,
	HBM_STATUS_MAP(TEXT)
#undef TEXT
};

const char *hbm_status_text(hbm_status status)
{
	size_t n = sizeof status_texts / sizeof *status_texts;

	return (size_t)status < n ? status_texts[status] : "unknown status";
}

const hbm_code_info *hbm_codes(uint32_t *ret_n)
{
	*ret_n = (uint32_t)(sizeof codes / sizeof *codes);
	return codes;
}

const hbm_code_info *hbm_code_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if ((uint32_t)codes[i].code == number)
			return &codes[i];
	return NULL;
}

void hbm_diags_init(hbm_diags *d, hbm_arena *arena)
{
	*d = (hbm_diags){.arena = arena};
}

bool hbm_diags_full(const hbm_diags *d)
{
	uint32_t max = d->max_errors ? d->max_errors : HBM_MAX_ERRORS;

	return d->n_errors >= max;
}

/* Start of the line with this number, NULL: not there. */
static const char *find_line(const char *text, uint32_t line)
{
	while (text && line > 1) {
		text = strchr(text, '\n');
		text += text != NULL;
		line--;
	}
	return text;
}

static const char *copy_line(hbm_arena *a, const char *text)
{
	size_t n = 0;

	while (n < MAX_SOURCE && text[n] && text[n] != '\n' && text[n] != '\r')
		n++;
	return hbm_arena_strndup(a, text, n);
}

static const char *format(hbm_arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	s = n < 0 ? NULL : HBM_ARRAY(a, char, (size_t)n + 1);
	if (s)
		vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

/* A message that cannot be stored for want of memory is lost: false. After an
 * error the status that travels up still tells that something failed. */
static bool add(hbm_diags *d, hbm_severity severity, hbm_code code, hbm_where w,
                const char *fmt, va_list ap)
{
	hbm_diag m = {.severity = severity, .code = code, .line = w.line,
	              .col = w.col, .len = w.len};
	const char *line = w.text ? w.text : find_line(w.input, w.line);

	m.text = format(d->arena, fmt, ap);
	m.file = w.file ? hbm_arena_strndup(d->arena, w.file, strlen(w.file)) : NULL;
	m.source = line ? copy_line(d->arena, line) : NULL;
	return m.text && (m.file || !w.file) && (m.source || !line) &&
	       HBM_PUSH(d->arena, &d->list, m);
}

hbm_status hbm_fail(hbm_diags *d, hbm_status status, hbm_code code,
                    hbm_where where, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return status;
	d->mute_notes = hbm_diags_full(d);
	if (d->mute_notes) {
		d->n_dropped++;
		return status;
	}
	d->n_errors++;
	va_start(ap, fmt);
	(void)add(d, HBM_SEV_ERROR, code, where, fmt, ap);
	va_end(ap);
	return status;
}

bool hbm_warn(hbm_diags *d, hbm_code code, hbm_where where, const char *fmt, ...)
{
	bool stored;
	va_list ap;

	if (!d)
		return true;
	d->mute_notes = false;
	va_start(ap, fmt);
	stored = add(d, HBM_SEV_WARNING, code, where, fmt, ap);
	va_end(ap);
	return stored;
}

void hbm_note(hbm_diags *d, hbm_where where, const char *fmt, ...)
{
	va_list ap;

	if (!d || d->mute_notes)
		return;
	va_start(ap, fmt);
	d->notes_lost |= !add(d, HBM_SEV_NOTE, HBM_E_NONE, where, fmt, ap);
	va_end(ap);
}

static bool comes_before(const hbm_diag *a, const hbm_diag *b)
{
	if (!a->line || !b->line)
		return a->line && !b->line;
	return a->line != b->line ? a->line < b->line : a->col < b->col;
}

/* End of the message that begins at i, with its notes. */
static uint32_t message_end(const hbm_diags *d, uint32_t i)
{
	for (i++; i < d->list.n && d->list.items[i].severity == HBM_SEV_NOTE; i++)
		;
	return i;
}

static void reverse(hbm_diag *items, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		hbm_diag swap = items[i];
		items[i] = items[n - 1 - i];
		items[n - 1 - i] = swap;
	}
}

/* Insertion of whole messages, each turned into place by three reversals: the
 * list is short and nearly sorted. */
void hbm_diags_sort(hbm_diags *d, uint32_t first)
{
	hbm_diag *m = d->list.items;

	for (uint32_t i = first; i < d->list.n;) {
		uint32_t end = message_end(d, i), to = first;
		while (to < i && !comes_before(&m[i], &m[to]))
			to = message_end(d, to);
		if (to < i) {
			reverse(m + to, i - to);
			reverse(m + i, end - i);
			reverse(m + to, end - to);
		}
		i = end;
	}
}
