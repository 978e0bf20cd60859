/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of statements: tokens that are expected, words of a list, attributes. */
#include "ir/text_in.h"

#include <string.h>

/* ---- tokens -------------------------------------------------------------- */

bool hbm_token_is(const hbm_token *t, const char *word)
{
	return t->kind == HBM_TOK_NAME && !t->quoted && !strncmp(t->str, word, t->n) &&
	       !word[t->n];
}

bool hbm_read_if(hbm_reader *r, int kind)
{
	if (r->lx.tok.kind != kind)
		return false;
	hbm_lex_next(&r->lx);
	return true;
}

bool hbm_read_if_word(hbm_reader *r, const char *word)
{
	if (!hbm_token_is(&r->lx.tok, word))
		return false;
	hbm_lex_next(&r->lx);
	return true;
}

hbm_status hbm_read_expect(hbm_reader *r, int kind, const char *what)
{
	char text[HBM_TOKEN_TEXT];

	if (hbm_read_if(r, kind))
		return HBM_OK;
	if (r->lx.status == HBM_NOMEM)
		return HBM_NOMEM;
	if (r->lx.tok.kind == HBM_TOK_BAD) /* reported by the lexer */
		return HBM_SYNTAX;
	return HBM_READ_FAIL(r, &r->lx.tok, HBM_SYNTAX, HBM_E_SYNTAX,
	                     "expected %s, got %s", what,
	                     hbm_token_text(&r->lx.tok, text));
}

hbm_status hbm_read_num(hbm_reader *r, uint64_t *ret, const char *what)
{
	uint64_t v = r->lx.tok.num;

	HBM_TRY(hbm_read_expect(r, HBM_TOK_NUM, what));
	*ret = v;
	return HBM_OK;
}

hbm_status hbm_read_intern(hbm_reader *r, const hbm_token *t, hbm_sym *ret)
{
	*ret = hbm_intern(&r->p->syms, t->str, t->n);
	return *ret == HBM_NONE ? HBM_NOMEM : HBM_OK;
}

hbm_status hbm_read_name(hbm_reader *r, hbm_sym *ret, const char *what)
{
	hbm_token t = r->lx.tok;

	HBM_TRY(hbm_read_expect(r, HBM_TOK_NAME, what));
	return hbm_read_intern(r, &t, ret);
}

void hbm_read_skip_lines(hbm_reader *r)
{
	while (r->lx.tok.kind == HBM_TOK_LINE)
		hbm_lex_next(&r->lx);
}

bool hbm_read_more(hbm_reader *r, int close)
{
	if (r->lx.tok.kind == HBM_TOK_LINE) {
		hbm_lexer before = r->lx;
		r->lx.mute = true;
		hbm_read_skip_lines(r);
		r->lx.mute = before.mute;
		if (r->lx.tok.kind != ',' && r->lx.tok.kind != close &&
		    r->lx.status != HBM_NOMEM)
			r->lx = before;
	}
	if (!hbm_read_if(r, ','))
		return false;
	hbm_read_skip_lines(r);
	return true;
}

static const char *nearest(const char *name, const char *const *words, uint32_t n)
{
	const char *best = NULL;
	uint32_t limit = 2;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = hbm_edit_distance(name, words[i], limit);
		if (d > limit || d >= strlen(name))
			continue;
		best = words[i];
		limit = d ? d - 1 : 0;
	}
	return best;
}

hbm_status hbm_read_choice(hbm_reader *r, const hbm_token *t, const char *const *words,
                           uint32_t n, const char *what, uint32_t *ret)
{
	char text[HBM_TOKEN_TEXT];
	const char *near;
	hbm_status st;
	hbm_sym sym;

	for (uint32_t i = 0; i < n; i++) {
		if (hbm_token_is(t, words[i])) {
			*ret = i;
			return HBM_OK;
		}
	}
	st = HBM_READ_FAIL(r, t, HBM_SYNTAX, HBM_E_SYNTAX, "unknown %s %s", what,
	                   hbm_token_text(t, text));
	if (t->kind != HBM_TOK_NAME)
		return st;
	HBM_TRY(hbm_read_intern(r, t, &sym));
	near = nearest(hbm_str_of(r->p, sym), words, n);
	if (near)
		hbm_note(r->lx.diags, HBM_NOWHERE, "did you mean '%s'?", near);
	return st;
}

hbm_status hbm_read_once(hbm_reader *r, const hbm_token *t, uint32_t bit,
                         uint32_t *seen)
{
	char text[HBM_TOKEN_TEXT];

	if (*seen >> bit & 1)
		return HBM_READ_FAIL(r, t, HBM_SYNTAX, HBM_E_SYNTAX,
		                     "%s is given twice", hbm_token_text(t, text));
	*seen |= 1u << bit;
	return HBM_OK;
}

/* ---- attributes of the table --------------------------------------------- */

static hbm_status read_value(hbm_reader *r)
{
	hbm_value v = {.is_num = r->lx.tok.kind == HBM_TOK_NUM, .num = r->lx.tok.num};

	if (!hbm_read_if(r, HBM_TOK_NUM))
		HBM_TRY(hbm_read_name(r, &v.str, "number or string"));
	if (!v.is_num)
		v.num = 0;
	HBM_NEED(HBM_PUSH(r->p->arena, &r->values, v));
	return HBM_OK;
}

static hbm_status read_values(hbm_reader *r)
{
	if (!hbm_read_if(r, '['))
		return read_value(r);
	hbm_read_skip_lines(r);
	do
		HBM_TRY(read_value(r));
	while (hbm_read_more(r, ']'));
	return hbm_read_expect(r, ']', "',' or ']' after a value");
}

hbm_status hbm_read_attr(hbm_reader *r, hbm_attr_object o, hbm_span *attrs)
{
	hbm_token at = r->lx.tok;
	hbm_status st;
	hbm_sym key;

	r->values.n = 0;
	HBM_TRY(hbm_read_name(r, &key, "attribute"));
	if (hbm_read_if(r, '='))
		HBM_TRY(read_values(r));
	if (attrs->n >= HBM_MAX_ATTRS)
		return HBM_READ_FAIL(r, &at, HBM_LIMIT, HBM_E_TOO_LARGE,
		                     "more than %d attributes", (int)HBM_MAX_ATTRS);
	for (uint32_t i = 0; i < attrs->n; i++)
		if (r->p->attrs.items[attrs->first + i].key == key)
			return HBM_READ_FAIL(r, &at, HBM_SEMANTIC, HBM_E_ATTRIBUTE,
			                     "attribute '%s' is given twice",
			                     hbm_str_of(r->p, key));
	HBM_NEED(hbm_add_attr(r->p, attrs, key, r->values.items, r->values.n));
	st = hbm_attr_check(r->p, r->lx.diags, o, &r->p->attrs.items[r->p->attrs.n - 1],
	                    hbm_lex_at(&r->lx, &at));
	return st == HBM_OK ? st : hbm_lex_failed(&r->lx, st);
}
