/* SPDX-License-Identifier: Apache-2.0 */
#include "support/plan_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void plan_case_init(plan_case *c)
{
	*c = (plan_case){.target = "spyre"};
	assert_int_equal(hbm_context_new(NULL, &c->cx), HBM_OK);
	hbm_plan_defaults(&c->opts);
	c->opts.lx_off = true;
}

static char *lines_of(const char *text)
{
	char *s = strdup(text);

	for (char *p = s; p && *p; p++)
		if (*p == ';')
			*p = '\n';
	return s;
}

void plan_case_run(plan_case *c, const char *text)
{
	hbm_simulation sim;
	char *s = lines_of(text);

	hbm_planned_free(c->p);
	hbm_input_free(c->in);
	c->p = NULL;
	c->in = NULL;
	c->status = hbm_input_parse(c->cx, "case.hbm", s, strlen(s), &c->in_opts, &c->in);
	free(s);
	if (c->status != HBM_OK)
		return;
	c->status = hbm_planned_make(c->cx, c->in, c->target, &c->opts, &c->p);
	if (c->status == HBM_OK)
		assert_int_equal(hbm_planned_simulate(c->cx, c->p, &sim), HBM_OK);
}

void plan_case_free(plan_case *c)
{
	hbm_planned_free(c->p);
	hbm_input_free(c->in);
	hbm_context_free(c->cx);
}

static void show_messages(const plan_case *c)
{
	for (uint32_t i = 0; i < hbm_context_n_diagnostics(c->cx); i++)
		print_message("  %s\n", hbm_context_diagnostic(c->cx, i).text);
}

void plan_ok(plan_case *c, const char *text)
{
	plan_case_run(c, text);
	if (c->status != HBM_OK)
		show_messages(c);
	assert_int_equal(c->status, HBM_OK);
}

void plan_fails(plan_case *c, const char *text, uint32_t code)
{
	bool found = false;

	hbm_context_clear(c->cx);
	plan_case_run(c, text);
	for (uint32_t i = 0; i < hbm_context_n_diagnostics(c->cx); i++)
		found |= hbm_context_diagnostic(c->cx, i).code == code;
	if (!found)
		show_messages(c);
	assert_int_not_equal(c->status, HBM_OK);
	assert_true(found);
}

bool plan_said(const plan_case *c, const char *part)
{
	for (uint32_t i = 0; i < hbm_context_n_diagnostics(c->cx); i++)
		if (strstr(hbm_context_diagnostic(c->cx, i).text, part))
			return true;
	show_messages(c);
	return false;
}

static hbm_place_info place(const plan_case *c, const char *tensor)
{
	hbm_place_info info;

	if (!hbm_planned_find(c->p, tensor, &info))
		fail_msg("no tensor '%s'", tensor);
	return info;
}

const char *home_of(const plan_case *c, const char *tensor)
{
	return place(c, tensor).home;
}

uint64_t offset_of(const plan_case *c, const char *tensor)
{
	return place(c, tensor).offset;
}

uint64_t pool_of(const plan_case *c, const char *bundle)
{
	uint64_t extent = HBM_NO_OFFSET;

	hbm_planned_pool(c->p, bundle, &extent);
	return extent;
}

bool shares(const plan_case *c, const char *a, const char *b)
{
	return !strcmp(place(c, a).storage, place(c, b).storage);
}

bool disjoint(const plan_case *c, const char *a, const char *b)
{
	hbm_place_info x = place(c, a), y = place(c, b);
	bool one_space = !strcmp(x.home, y.home) && x.offset != HBM_NO_OFFSET &&
	                 y.offset != HBM_NO_OFFSET &&
	                 (!x.bundle || !strcmp(x.bundle, y.bundle));

	if (shares(c, a, b))
		return false;
	return !one_space || x.offset + x.size <= y.offset || y.offset + y.size <= x.offset;
}

void live_of(const plan_case *c, const char *tensor, uint64_t *start, uint64_t *end)
{
	hbm_place_info info = place(c, tensor);

	*start = info.start;
	*end = info.end;
}

typedef struct text {
	char *s;
	size_t n;
} text;

static bool append(void *user, const void *bytes, size_t n)
{
	text *t = user;
	char *s = realloc(t->s, t->n + n + 1);

	if (!s)
		return false;
	memcpy(s + t->n, bytes, n);
	t->s = s;
	t->n += n;
	s[t->n] = '\0';
	return true;
}

char *plan_text(const plan_case *c, const char *format)
{
	text t = {0};

	assert_int_equal(hbm_planned_write(c->cx, c->p, format, append, &t), HBM_OK);
	return t.s;
}
