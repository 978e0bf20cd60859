/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors and views: type, extents, attributes, homes. */
#include "ir/text_in.h"

#include <inttypes.h>

static const char *const home_words[] = {"none", "lx", "pool", "hbm", "io"};

/* ---- extents ------------------------------------------------------------- */

/* The part behind a symbol: <= N, >= N or = N. */
static hbm_status read_bound(hbm_reader *r, hbm_dim *d)
{
	hbm_token at = r->lx.tok;

	if (hbm_read_if(r, HBM_TOK_LE)) {
		HBM_TRY(hbm_read_num(r, &d->value, "upper bound"));
		d->unknown = false;
		if (d->min <= d->value)
			return HBM_OK;
		return HBM_READ_FAIL(r, &at, HBM_SEMANTIC, HBM_E_BOUND,
		                     "lower bound %" PRIu64
		                     " is above upper bound %" PRIu64,
		                     d->min, d->value);
	}
	if (hbm_read_if(r, HBM_TOK_GE))
		return hbm_read_num(r, &d->min, "lower bound");
	if (d->sym && hbm_read_if(r, '=')) {
		HBM_TRY(hbm_read_num(r, &d->value, "value of the extent"));
		d->min = d->value;
		d->unknown = false;
	}
	return HBM_OK;
}

/* A symbol or '?', with its bounds. */
static hbm_status read_symbolic(hbm_reader *r, hbm_dim *d)
{
	d->unknown = true;
	if (!hbm_read_if(r, '?'))
		HBM_TRY(hbm_read_name(r, &d->sym, "extent: number, symbol or '?'"));
	return read_bound(r, d);
}

static hbm_status read_dim(hbm_reader *r, hbm_span *span)
{
	hbm_token at = r->lx.tok;
	hbm_dim d = {0};

	if (at.kind == HBM_TOK_NUM) {
		hbm_lex_next(&r->lx);
		d.value = d.min = at.num;
		if (hbm_read_if(r, HBM_TOK_LE)) {
			d.value = 0;
			HBM_TRY(read_symbolic(r, &d));
		}
	} else {
		HBM_TRY(read_symbolic(r, &d));
	}
	if (hbm_read_if(r, '~'))
		HBM_TRY(hbm_read_num(r, &d.hint, "hint"));
	d.nosplit = hbm_read_if(r, '!');
	if (span->n >= HBM_MAX_RANK)
		return HBM_READ_FAIL(r, &at, HBM_LIMIT, HBM_E_TOO_LARGE,
		                     "more than %d extents", (int)HBM_MAX_RANK);
	HBM_NEED(hbm_add_dim(r->p, span, d));
	if (!d.sym)
		return HBM_OK;
	{
		hbm_status st = hbm_symbols_use(&r->symbols, r->p->dims.n - 1,
		                                hbm_lex_at(&r->lx, &at));
		return st == HBM_OK ? st : hbm_lex_failed(&r->lx, st);
	}
}

/* Extents in brackets; the opening one is the current token. */
static hbm_status read_dims(hbm_reader *r, hbm_span *span)
{
	HBM_TRY(hbm_read_expect(r, '[', "'[' before the extents"));
	hbm_read_skip_lines(r);
	if (hbm_read_if(r, ']'))
		return HBM_OK;
	do
		HBM_TRY(read_dim(r, span));
	while (hbm_read_more(r, ']'));
	return hbm_read_expect(r, ']', "',' or ']' after an extent");
}

/* ---- type ---------------------------------------------------------------- */

static hbm_status read_dtype(hbm_reader *r, hbm_dtype *ret)
{
	static const char *const names[] = {
#define X(name, bits) #name,
		HBM_DTYPE_MAP(X)
#undef X
	};
	hbm_token at = r->lx.tok;
	uint32_t i = 0;

	hbm_lex_next(&r->lx);
	*ret = hbm_dtype_find(at.str, at.n);
	if (*ret != HBM_DT_none)
		return HBM_OK;
	HBM_TRY(hbm_read_choice(r, &at, names, HBM_N_DTYPES, "dtype", &i));
	return HBM_OK;
}

/* 8192 bytes | f16[512, 64] | f16 | [512, 64] */
static hbm_status read_type(hbm_reader *r, hbm_tensor *t)
{
	hbm_token at = r->lx.tok;

	if (at.kind == HBM_TOK_NUM) {
		hbm_lex_next(&r->lx);
		t->size = at.num;
		t->flags |= HBM_T_SIZED;
		if (hbm_read_if_word(r, "bytes") || hbm_read_if_word(r, "byte"))
			return HBM_OK;
		return hbm_read_expect(r, HBM_TOK_END, "'bytes' after a size");
	}
	if (at.kind == HBM_TOK_NAME)
		HBM_TRY(read_dtype(r, &t->dtype));
	else if (at.kind != '[')
		return hbm_read_expect(r, '[', "type, as f16[512, 64] or 8192 bytes");
	return r->lx.tok.kind == '[' ? read_dims(r, &t->dims) : HBM_OK;
}

/* ---- attributes ---------------------------------------------------------- */

/* @ with x 128 */
static hbm_status read_with(hbm_reader *r, hbm_tensor_id id, hbm_home *h)
{
	hbm_token at;
	hbm_sym name;

	hbm_lex_next(&r->lx);
	at = r->lx.tok;
	HBM_TRY(hbm_read_name(r, &name, "tensor whose storage it shares"));
	HBM_TRY(hbm_read_fix(r, HBM_FIX_WITH, id, name, &at));
	if (r->lx.tok.kind == HBM_TOK_NUM)
		HBM_TRY(hbm_read_num(r, &h->offset, "offset in the storage"));
	return HBM_OK;
}

/* @ lx 0 | @ pool k0 256 size 128 | @ hbm | @ io | @ with x 128 */
static hbm_status read_home(hbm_reader *r, hbm_tensor_id id, hbm_home *h)
{
	hbm_token at = r->lx.tok;
	uint32_t kind = 0;

	if (hbm_token_is(&at, "with"))
		return read_with(r, id, h);
	HBM_TRY(hbm_read_expect(r, HBM_TOK_NAME, "home: lx, pool, hbm, io or with"));
	HBM_TRY(hbm_read_choice(r, &at, home_words, 5, "home", &kind));
	h->kind = (hbm_home_kind)kind;
	at = r->lx.tok;
	if (h->kind == HBM_HOME_POOL && !hbm_read_if(r, '?')) {
		hbm_sym name;
		HBM_TRY(hbm_read_name(r, &name, "name of the pool's bundle"));
		HBM_TRY(hbm_read_fix(r, HBM_FIX_HOME, id, name, &at));
	}
	if (r->lx.tok.kind == HBM_TOK_NUM)
		HBM_TRY(hbm_read_num(r, &h->offset, "offset"));
	if (hbm_token_is(&r->lx.tok, "size") && *r->lx.p != '=') {
		hbm_lex_next(&r->lx);
		HBM_TRY(hbm_read_num(r, &h->size, "size of the home"));
	}
	return HBM_OK;
}

static uint32_t flag_of(const hbm_token *t)
{
	for (uint32_t i = 0; i < HBM_N_FLAG_WORDS; i++)
		if (hbm_token_is(t, hbm_flag_words[i].word))
			return hbm_flag_words[i].flag;
	return 0;
}

enum { KEY_SIZE, KEY_ALIGN, KEY_PIN, KEY_HOME, KEY_DEVICE, KEY_SRC, KEY_OWNER, N_KEYS };

static int key_of(const hbm_token *t)
{
	static const char *const keys[N_KEYS] = {"size",   "align", "pin",  "home",
	                                         "device", "src",   "owner"};

	for (int i = 0; i < N_KEYS; i++)
		if (hbm_token_is(t, keys[i]))
			return i;
	return N_KEYS;
}

static hbm_status read_demand(hbm_reader *r, hbm_home_kind *ret)
{
	hbm_token at = r->lx.tok;
	uint32_t kind = 0;

	HBM_TRY(hbm_read_expect(r, HBM_TOK_NAME, "home: lx, pool or hbm"));
	HBM_TRY(hbm_read_choice(r, &at, home_words, 5, "home", &kind));
	*ret = (hbm_home_kind)kind;
	return HBM_OK;
}

/* key=value; the key is the current token. */
static hbm_status read_field(hbm_reader *r, hbm_tensor *t, int key, uint32_t *seen)
{
	hbm_token at = r->lx.tok;

	hbm_lex_next(&r->lx);
	HBM_TRY(hbm_read_once(r, &at, (uint32_t)key, seen));
	HBM_TRY(hbm_read_expect(r, '=', "'=' after the attribute"));
	switch (key) {
	case KEY_SIZE:
		t->flags |= HBM_T_SIZED;
		return hbm_read_num(r, &t->size, "size in bytes");
	case KEY_ALIGN:
		return hbm_read_num(r, &t->align, "alignment in bytes");
	case KEY_PIN:
		return hbm_read_num(r, &t->pin, "offset in bytes");
	case KEY_HOME:
		return read_demand(r, &t->demand);
	case KEY_DEVICE:
		return read_dims(r, &t->device);
	case KEY_SRC:
		return hbm_read_name(r, &t->src, "source position");
	default:
		return hbm_read_name(r, &t->owner, "owner");
	}
}

/* All that may follow the type, in any order. */
static hbm_status read_rest(hbm_reader *r, hbm_tensor_id id)
{
	hbm_tensor *t = &r->p->tensors.items[id];
	uint32_t seen = 0;

	for (;;) {
		hbm_token at = r->lx.tok;
		uint32_t flag;
		int key;
		if (at.kind != HBM_TOK_NAME && at.kind != '@')
			return HBM_OK;
		flag = flag_of(&at);
		key = key_of(&at);
		if (flag) {
			hbm_lex_next(&r->lx);
			t->flags |= flag;
		} else if (key < N_KEYS) {
			HBM_TRY(read_field(r, t, key, &seen));
		} else if (hbm_read_if(r, '@')) {
			HBM_TRY(hbm_read_once(r, &at, N_KEYS, &seen));
			HBM_TRY(read_home(r, id, &t->home));
		} else if (*r->lx.p == '[') {
			return hbm_read_expect(r, ':', "':' before the type");
		} else {
			HBM_TRY(hbm_read_attr(r, HBM_ATTR_TENSOR, &t->attrs));
		}
	}
}

/* ---- declarations -------------------------------------------------------- */

static hbm_status open_tensor(hbm_reader *r, uint32_t flags, hbm_tensor_id *ret)
{
	hbm_token at = r->lx.tok;
	hbm_sym name;

	HBM_TRY(hbm_read_name(r, &name, "name of the tensor"));
	*ret = hbm_add_tensor(r->p, name);
	HBM_NEED(*ret != HBM_NONE);
	r->p->tensors.items[*ret].flags = flags;
	r->p->tensors.items[*ret].line = at.line;
	r->p->tensors.items[*ret].col = at.col;
	return HBM_OK;
}

/* = base [+ offset]; the '=' is read. */
static hbm_status read_base(hbm_reader *r, hbm_tensor_id id)
{
	hbm_tensor *t = &r->p->tensors.items[id];
	hbm_token at = r->lx.tok;
	hbm_sym name;

	HBM_TRY(hbm_read_name(r, &name, "base of the view"));
	t->base = hbm_find_tensor(r->p, name);
	if (t->base == HBM_NONE)
		HBM_TRY(hbm_read_fix(r, HBM_FIX_BASE, id, name, &at));
	if (hbm_read_if(r, '+'))
		return hbm_read_num(r, &t->offset, "offset of the view");
	return HBM_OK;
}

static hbm_status close_tensor(hbm_reader *r, hbm_tensor_id id)
{
	if (hbm_read_if(r, ':'))
		HBM_TRY(read_type(r, &r->p->tensors.items[id]));
	return read_rest(r, id);
}

hbm_status hbm_read_tensor(hbm_reader *r, uint32_t flags)
{
	hbm_tensor_id id;

	HBM_TRY(open_tensor(r, flags, &id));
	if (hbm_read_if(r, '='))
		HBM_TRY(read_base(r, id));
	return close_tensor(r, id);
}

hbm_status hbm_read_view(hbm_reader *r, uint32_t flags)
{
	hbm_tensor_id id;

	HBM_TRY(open_tensor(r, flags, &id));
	HBM_TRY(hbm_read_expect(r, '=', "'=' and the base after the view's name"));
	HBM_TRY(read_base(r, id));
	return close_tensor(r, id);
}
