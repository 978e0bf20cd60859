/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps inside a log (TORCH_LOGS=ir_pre_fusion,ir_post_fusion,output_code).
 *
 * A section starts at a line "BEFORE FUSION" or "AFTER FUSION" and goes on over
 * lines with the same tag, or, when lines carry no tag, up to the next record.
 * Sections are cut out by blanking everything else, so that every place in them
 * is still the place in the log. Of several graphs the first is taken. */
#include "import/inductor.h"

#include <string.h>

typedef enum section { NONE, PRE, POST, CODE, N_SECTIONS } section;

typedef struct entry { /* one line of the log */
	size_t payload;
	bool record;         /* starts with a log prefix */
	size_t tag, tag_end; /* equal: none */
} entry;

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "V0223 02:01:03.545000 ": letters stand for themselves, 0 for a digit. */
static bool has_stamp(const hbm_ind_text *t, size_t pos, size_t end)
{
	static const char form[] = "0000 00:00:00.000000 ";

	if (end - pos < sizeof form || !memchr("VDIWEC", t->s[pos], 6))
		return false;
	for (size_t i = 0; i < sizeof form - 1; i++) {
		char c = t->s[pos + 1 + i];
		if (form[i] == '0' ? !is_digit(c) : c != form[i])
			return false;
	}
	return true;
}

/* "INFO:torch._inductor:text", the form without times. */
static bool has_level(const hbm_ind_text *t, size_t pos, size_t end)
{
	static const char *const levels[] = {"DEBUG:", "INFO:", "WARNING:", "ERROR:"};

	for (size_t i = 0; i < 4; i++)
		if (hbm_ind_starts(t, pos, end, levels[i]))
			return true;
	return false;
}

static entry split_line(const hbm_ind_text *t, const hbm_ind_line *l)
{
	size_t pos = l->start - l->indent, end = l->end, p;
	entry e = {.payload = pos};

	if (hbm_ind_starts(t, pos, end, "[rank")) {
		p = hbm_ind_find(t, pos, end, "]:");
		pos = p == SIZE_MAX ? pos : p + 2;
	}
	if (pos < end && has_level(t, pos, end)) {
		e.record = true;
		p = hbm_ind_find(t, pos, end, ":");
		p = hbm_ind_find(t, p + 1, end, ":");
		e.payload = p == SIZE_MAX ? pos : p + 1;
		return e;
	}
	if (pos >= end || !has_stamp(t, pos, end))
		return e;
	e.record = true;
	p = hbm_ind_find(t, pos, end, "]");
	e.payload = p == SIZE_MAX ? end : p + 1;
	while (e.payload + 1 < end && t->s[e.payload] == ' ' &&
	       t->s[e.payload + 1] == '[') {
		p = hbm_ind_find(t, e.payload, end, "]");
		if (p == SIZE_MAX)
			break;
		e.tag = e.payload + 2;
		e.tag_end = p;
		e.payload = p + 1;
	}
	e.payload += e.payload < end && t->s[e.payload] == ' ';
	return e;
}

/* What a line starts: PRE, POST, or NONE. */
static section starts(const hbm_ind_text *t, const entry *e, const hbm_ind_line *l)
{
	size_t p = e->payload;

	while (p < l->end && t->s[p] == ' ')
		p++;
	if (hbm_ind_is(t, p, l->end, "BEFORE FUSION"))
		return PRE;
	return hbm_ind_is(t, p, l->end, "AFTER FUSION") ? POST : NONE;
}

static section tagged(const hbm_ind_text *t, const entry *e)
{
	if (hbm_ind_is(t, e->tag, e->tag_end, "__ir_pre_fusion"))
		return PRE;
	if (hbm_ind_is(t, e->tag, e->tag_end, "__ir_post_fusion"))
		return POST;
	if (hbm_ind_is(t, e->tag, e->tag_end, "__output_code"))
		return CODE;
	return NONE;
}

typedef struct splitter {
	hbm_arena *a;
	hbm_bytes log;
	char *copy[N_SECTIONS];
	section now;
	uint32_t n_pre, n_post;
} splitter;

static hbm_status keep(splitter *s, section which, const entry *e,
                       const hbm_ind_line *l)
{
	char **copy = &s->copy[which];

	if (!*copy) {
		HBM_NEED(*copy = hbm_arena_alloc(s->a, s->log.n + 1));
		for (size_t i = 0; i <= s->log.n; i++)
			(*copy)[i] = s->log.data[i] == '\n' ? '\n' : ' ';
		(*copy)[s->log.n] = '\0';
	}
	if (l->end > e->payload)
		memcpy(*copy + e->payload, s->log.data + e->payload,
		       l->end - e->payload);
	return HBM_OK;
}

/* The first graph only: its sections end where the next graph's begin. */
static bool wanted(const splitter *s, section which)
{
	if (which == PRE)
		return s->n_post == 0 && s->n_pre == 1;
	return which != NONE && s->n_post == 1 && (which == POST || s->n_pre <= 1);
}

hbm_status hbm_ind_split_log(hbm_arena *a, hbm_bytes log, hbm_ind_log *ret)
{
	splitter s = {.a = a, .log = log};
	hbm_ind_text t;
	hbm_ind_scan scan = {&t, 0, 1};
	hbm_ind_line line;

	hbm_ind_open(&t, "", log);
	while (hbm_ind_next_line(&scan, &line)) {
		entry e = split_line(&t, &line);
		section start = starts(&t, &e, &line);
		if (start) {
			s.n_pre += start == PRE;
			s.n_post += start == POST;
			s.now = start;
			continue;
		}
		if (e.record)
			s.now = e.tag < e.tag_end ? tagged(&t, &e) : NONE;
		if (wanted(&s, s.now))
			HBM_TRY(keep(&s, s.now, &e, &line));
	}
	*ret = (hbm_ind_log){s.copy[PRE], s.copy[POST], s.copy[CODE], s.n_post};
	return HBM_OK;
}

bool hbm_ind_is_log(hbm_bytes bytes)
{
	hbm_ind_text t;
	hbm_ind_scan scan = {&t, 0, 1};
	hbm_ind_line line;

	hbm_ind_open(&t, "", bytes);
	for (int i = 0; i < 50 && hbm_ind_next_line(&scan, &line); i++) {
		entry e = split_line(&t, &line);
		if (e.record || starts(&t, &e, &line))
			return true;
	}
	return hbm_ind_find(&t, 0, t.n, "\nAFTER FUSION") != SIZE_MAX;
}
