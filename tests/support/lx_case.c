/* SPDX-License-Identifier: Apache-2.0 */
#include "support/lx_case.h"

#include "base/out.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BUFFERS = 512, MAX_ITEMS = 16384 };

static uint64_t number(const char **s)
{
	char *end;
	uint64_t v = strtoull(*s, &end, 10);

	if (end == *s) {
		fprintf(stderr, "bad scratchpad case at '%s'\n", *s);
		abort();
	}
	*s = end;
	return v;
}

void lx_case_init(lx_case *c, const char *s, uint64_t capacity, uint64_t align)
{
	hbm_lx_problem *p = &c->p;
	uint64_t *size, *pin;
	uint32_t *use_first, *uses, *parent_first, *parents, *group;
	bool *input, *barred;
	uint32_t n = 0, n_uses = 0, n_parents = 0;

	*c = (lx_case){0};
	hbm_arena_init(&c->arena, NULL);
	hbm_diags_init(&c->diags, &c->arena);
	size = HBM_ZARRAY(&c->arena, uint64_t, MAX_BUFFERS);
	pin = HBM_ZARRAY(&c->arena, uint64_t, MAX_BUFFERS);
	group = HBM_ZARRAY(&c->arena, uint32_t, MAX_BUFFERS);
	input = HBM_ZARRAY(&c->arena, bool, MAX_BUFFERS);
	barred = HBM_ZARRAY(&c->arena, bool, MAX_BUFFERS);
	use_first = HBM_ZARRAY(&c->arena, uint32_t, MAX_BUFFERS + 1);
	parent_first = HBM_ZARRAY(&c->arena, uint32_t, MAX_BUFFERS + 1);
	uses = HBM_ZARRAY(&c->arena, uint32_t, MAX_ITEMS);
	parents = HBM_ZARRAY(&c->arena, uint32_t, MAX_ITEMS);
	for (; *s; n++) {
		while (*s == ' ')
			s++;
		for (; isalpha((unsigned char)*s); s++) {
			input[n] |= *s == 'i';
			barred[n] |= *s == 'x';
		}
		size[n] = number(&s);
		pin[n] = HBM_NO_OFFSET;
		group[n] = HBM_NONE;
		while (*s == ':' || (*s == ',' && n_uses > use_first[n])) {
			s++;
			if (!*s || *s == ' ' || *s == '<')
				break;
			uses[n_uses++] = (uint32_t)number(&s);
		}
		while (*s == '<') {
			s++;
			parents[n_parents++] = (uint32_t)number(&s);
		}
		if (*s == '@' && s++)
			pin[n] = number(&s);
		if (*s == '#' && s++)
			group[n] = (uint32_t)number(&s);
		use_first[n + 1] = n_uses;
		parent_first[n + 1] = n_parents;
	}
	*p = (hbm_lx_problem){.n = n, .size = size, .use_first = use_first,
	                      .uses = uses, .input = input,
	                      .parent_first = parent_first, .parents = parents,
	                      .group = group, .pin = pin, .barred = barred,
	                      .capacity = capacity, .align = align};
}

void lx_case_fini(lx_case *c)
{
	hbm_arena_fini(&c->arena);
}

const char *lx_case_text(lx_case *c, const hbm_lx_layout *layout)
{
	char *text = hbm_arena_alloc(&c->arena, (size_t)c->p.n * 24 + 1), *at = text;

	*at = 0;
	for (uint32_t i = 0; i < c->p.n; i++)
		at += layout->address[i] == HBM_NO_OFFSET
			? sprintf(at, "%s-", i ? "," : "")
			: sprintf(at, "%s%llu", i ? "," : "",
			          (unsigned long long)layout->address[i]);
	return text;
}
