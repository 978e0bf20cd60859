/* SPDX-License-Identifier: Apache-2.0 */
#include "import/json_place.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PATH = 200, MAX_NEST = 2100 };

typedef struct walk {
	const char *p;
	const char *line_text;
	uint32_t line;
} walk;

static walk begin(const char *text)
{
	return (walk){text, text, 1};
}

static void skip_blanks(walk *w)
{
	for (; *w->p && strchr(" \t\r\n:,", *w->p); w->p++) {
		if (*w->p == '\n') {
			w->line++;
			w->line_text = w->p + 1;
		}
	}
}

/* Past a string; strings hold no newlines. */
static void skip_string(walk *w)
{
	for (w->p++; *w->p && *w->p != '"'; w->p++)
		w->p += *w->p == '\\' && w->p[1];
	w->p += *w->p == '"';
}

/* Past a value of any kind. */
static void skip_value(walk *w)
{
	uint32_t depth = 0;

	do {
		skip_blanks(w);
		if (*w->p == '"') {
			skip_string(w);
			continue;
		}
		depth += *w->p == '{' || *w->p == '[';
		if (*w->p == '}' || *w->p == ']')
			depth -= depth != 0;
		if (!*w->p)
			return;
		if (strchr("{}[]", *w->p))
			w->p++;
		else
			w->p += strcspn(w->p, " \t\r\n:,{}[]\"");
	} while (depth);
}

static hbm_json_place place(const walk *w)
{
	return (hbm_json_place){w->line, (uint32_t)(w->p - w->line_text) + 1};
}

/* ---- a path -------------------------------------------------------------- */

static bool key_is(const char *quoted, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(quoted + 1, key, n) && quoted[1 + n] == '"';
}

/* Into the container, to the value of the step; false: not found. */
static bool enter(walk *w, const hbm_json_path *step)
{
	size_t i = 0;

	skip_blanks(w);
	if (*w->p != '{' && *w->p != '[')
		return false;
	w->p++;
	for (;;) {
		const char *at;
		skip_blanks(w);
		at = w->p;
		if (!*at || *at == '}' || *at == ']')
			return false;
		if (step->key) {
			skip_string(w);
			skip_blanks(w);
			if (key_is(at, step->key))
				return true;
		} else if (i++ == step->index) {
			return true;
		}
		skip_value(w);
	}
}

static uint32_t steps_of(const hbm_json_path *path,
                         const hbm_json_path *steps[MAX_PATH])
{
	uint32_t n = 0;

	for (; path && path->up && n < MAX_PATH; path = path->up)
		steps[n++] = path;
	return n;
}

hbm_where hbm_json_where(const char *file, const char *text, const hbm_json_path *path)
{
	const hbm_json_path *steps[MAX_PATH];
	uint32_t n = steps_of(path, steps);
	walk w = begin(text), end;

	while (n && enter(&w, steps[n - 1]))
		n--;
	skip_blanks(&w);
	end = w;
	if (*w.p == '{' || *w.p == '[')
		end.p++;
	else
		skip_value(&end);
	return (hbm_where){.file = file,
	                   .line = w.line,
	                   .col = place(&w).col,
	                   .len = (uint32_t)(end.p - w.p),
	                   .text = w.line_text};
}

const char *hbm_json_path_text(const hbm_json_path *path, char buf[HBM_JSON_PATH_TEXT])
{
	const hbm_json_path *steps[MAX_PATH];
	uint32_t n = steps_of(path, steps);
	size_t k = 1;

	buf[0] = '$';
	buf[1] = '\0';
	while (n--) {
		size_t left = HBM_JSON_PATH_TEXT - k;
		int got = steps[n]->key
		                  ? snprintf(buf + k, left, ".%.40s", steps[n]->key)
		                  : snprintf(buf + k, left, "[%zu]", steps[n]->index);
		if (got < 0 || (size_t)got >= left)
			break;
		k += (size_t)got;
	}
	return buf;
}

/* ---- all objects --------------------------------------------------------- */

enum { OTHER, TENSORS, BODY };

static hbm_status note(hbm_arena *a, const walk *w, int list, hbm_json_places *ret)
{
	if (list == TENSORS)
		HBM_NEED(HBM_PUSH(a, &ret->tensors, place(w)));
	if (list == BODY)
		HBM_NEED(HBM_PUSH(a, &ret->nodes, place(w)));
	return HBM_OK;
}

/* What an array is, by the key before it. */
static int list_of(const char *key, uint32_t depth)
{
	if (key && depth == 1 && key_is(key, "tensors"))
		return TENSORS;
	return key && key_is(key, "body") ? BODY : OTHER;
}

hbm_status hbm_json_find_places(hbm_arena *a, const char *text, size_t n,
                                hbm_json_places *ret)
{
	uint8_t lists[MAX_NEST] = {0}; /* by depth */
	const char *key = NULL;        /* the string read last */
	walk w = begin(text);
	uint32_t depth = 0;

	*ret = (hbm_json_places){0};
	for (;;) {
		skip_blanks(&w);
		if (w.p >= text + n || !*w.p)
			return HBM_OK;
		if (*w.p == '"') {
			key = w.p;
			skip_string(&w);
			continue;
		}
		if (*w.p == '}' || *w.p == ']') {
			depth -= depth != 0;
			w.p++;
			continue;
		}
		if (*w.p != '{' && *w.p != '[') {
			w.p += strcspn(w.p, " \t\r\n:,{}[]\"");
			continue;
		}
		HBM_TRY(note(a, &w, lists[depth], ret));
		if (depth + 1 == MAX_NEST)
			return HBM_OK;
		lists[depth + 1] = (uint8_t)(*w.p == '[' ? list_of(key, depth) : OTHER);
		depth++;
		w.p++;
		key = NULL;
	}
}
