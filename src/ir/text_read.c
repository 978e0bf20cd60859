/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text form: statements, blocks, names that are declared later.
 *
 * One statement a line (or ';'). A faulty one is reported and skipped to the end
 * of its line, and reading goes on, so one run lists all errors. Blocks are kept
 * in balance over faulty headers. No recursion; every byte is looked at a
 * bounded number of times; a name is hashed once per mention. */
#include "ir/text.h"
#include "base/text.h"
#include "ir/text_in.h"

#include <inttypes.h>
#include <string.h>

/* ---- tokens --------------------------------------------------------------- */

bool hbm_token_is(const hbm_token *t, const char *word)
{
	return t->kind == HBM_TOK_NAME && !t->quoted &&
	       !strncmp(t->str, word, t->n) && !word[t->n];
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

hbm_status hbm_read_choice(hbm_reader *r, const hbm_token *t,
                           const char *const *words, uint32_t n, const char *what,
                           uint32_t *ret)
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

/* ---- attributes of the table ---------------------------------------------- */

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
	st = hbm_attr_check(r->p, r->lx.diags, o,
	                    &r->p->attrs.items[r->p->attrs.n - 1],
	                    hbm_lex_at(&r->lx, &at));
	return st == HBM_OK ? st : hbm_lex_failed(&r->lx, st);
}

/* ---- blocks ----------------------------------------------------------------- */

hbm_node_id hbm_read_parent(const hbm_reader *r)
{
	hbm_node_id parent = HBM_NONE;

	for (uint32_t i = r->n_open; i-- && parent == HBM_NONE;)
		parent = r->open[i].node;
	return parent;
}

static void push_block(hbm_reader *r, hbm_node_id node, const hbm_token *at)
{
	if (r->n_open < HBM_MAX_DEPTH)
		r->open[r->n_open++] = (hbm_block_open){node, *at};
	else
		r->n_over++;
}

/* '}' is the current token. */
static hbm_status close_block(hbm_reader *r)
{
	hbm_token at = r->lx.tok;
	hbm_node_id node;

	hbm_lex_next(&r->lx);
	if (r->n_over) {
		r->n_over--;
		return HBM_OK;
	}
	if (!r->n_open)
		return HBM_READ_FAIL(r, &at, HBM_SYNTAX, HBM_E_SYNTAX,
		                     "'}' closes nothing");
	node = r->open[--r->n_open].node;
	if (node != HBM_NONE)
		hbm_close_node(r->p, node);
	return HBM_OK;
}

/* x4, or x and '?' */
static bool is_trips(const hbm_token *t)
{
	if (t->kind != HBM_TOK_NAME || t->quoted || t->str[0] != 'x')
		return false;
	return t->n == 1 ? t->src[1] == '?' : t->str[1] >= '0' && t->str[1] <= '9';
}

/* The trip count stands in `t`, which is read; a '?' behind it is not. */
static hbm_status read_trips(hbm_reader *r, const hbm_token *t, uint64_t *ret)
{
	char text[HBM_TOKEN_TEXT];
	hbm_number got;

	*ret = 0;
	if (!is_trips(t))
		return HBM_READ_FAIL(r, t, HBM_SYNTAX, HBM_E_SYNTAX,
		                     "expected trips of the loop, as x4 or x?, got %s",
		                     hbm_token_text(t, text));
	if (hbm_read_if(r, '?'))
		return HBM_OK;
	got = hbm_parse_size(t->str + 1, t->n - 1, ret);
	if (got != HBM_NUMBER_OK)
		return HBM_READ_FAIL(r, t, HBM_SYNTAX, HBM_E_NUMBER,
		                     "trip count %s %s", hbm_token_text(t, text),
		                     got == HBM_NUMBER_TOO_LARGE
		                             ? "does not fit in 64 bits"
		                             : "is malformed");
	if (*ret)
		return HBM_OK;
	return HBM_READ_FAIL(r, t, HBM_SEMANTIC, HBM_E_TRIP_COUNT,
	                     "the loop runs zero times");
}

/* [name] xN; a name is told from trips by what follows. */
static hbm_status read_loop_head(hbm_reader *r, hbm_sym *name, uint64_t *trips)
{
	hbm_token first = r->lx.tok;

	HBM_TRY(hbm_read_expect(r, HBM_TOK_NAME, "trips of the loop, as x4 or x?"));
	if (!is_trips(&r->lx.tok) && is_trips(&first))
		return read_trips(r, &first, trips);
	HBM_TRY(hbm_read_intern(r, &first, name));
	first = r->lx.tok;
	HBM_TRY(hbm_read_expect(r, HBM_TOK_NAME, "trips of the loop, as x4 or x?"));
	return read_trips(r, &first, trips);
}

static hbm_status read_head(hbm_reader *r, hbm_node_kind kind, hbm_node *head)
{
	if (kind == HBM_NODE_LOOP)
		HBM_TRY(read_loop_head(r, &head->name, &head->trips));
	else if (r->lx.tok.kind == HBM_TOK_NAME)
		HBM_TRY(hbm_read_name(r, &head->name, "name"));
	while (r->lx.tok.kind == HBM_TOK_NAME)
		HBM_TRY(hbm_read_attr(r, hbm_attr_object_of(kind), &head->attrs));
	return HBM_OK;
}

static hbm_status read_block(hbm_reader *r, uint32_t kind)
{
	hbm_token at = r->lx.tok;
	hbm_node head = {0};
	hbm_node_id id;
	hbm_node *n;

	HBM_TRY(read_head(r, (hbm_node_kind)kind, &head));
	if (r->lx.tok.kind != '{')
		return hbm_read_expect(r, '{', "'{' before the body");
	if (r->n_open == HBM_MAX_DEPTH && !r->n_over)
		(void)HBM_READ_FAIL(r, &at, HBM_LIMIT, HBM_E_NESTING,
		                    "more than %d blocks inside each other",
		                    (int)HBM_MAX_DEPTH);
	hbm_lex_next(&r->lx);
	id = hbm_open_node(r->p, (hbm_node_kind)kind, head.name, hbm_read_parent(r));
	HBM_NEED(id != HBM_NONE);
	n = &r->p->nodes.items[id];
	n->trips = head.trips;
	n->attrs = head.attrs;
	n->line = at.line;
	n->col = at.col;
	push_block(r, id, &at);
	return HBM_OK;
}

/* ---- statements ------------------------------------------------------------- */

static hbm_status read_program_name(hbm_reader *r, uint32_t is_target)
{
	hbm_sym *name = is_target ? &r->p->target : &r->p->name;
	hbm_token at = r->lx.tok;

	if (*name)
		return HBM_READ_FAIL(r, &at, HBM_SYNTAX, HBM_E_SYNTAX,
		                     "%s is given twice",
		                     is_target ? "the target" : "the program's name");
	return hbm_read_name(r, name, is_target ? "name of the target"
	                                        : "name of the program");
}

static const struct {
	const char *word;
	hbm_status (*read)(hbm_reader *r, uint32_t arg);
	uint32_t arg;
} statements[] = {
	{"op", hbm_read_op, 0},
	{"tensor", hbm_read_tensor, 0},
	{"view", hbm_read_view, 0},
	{"input", hbm_read_tensor, HBM_T_INPUT},
	{"output", hbm_read_tensor, HBM_T_OUTPUT},
	{"weight", hbm_read_tensor, HBM_T_WEIGHT},
	{"state", hbm_read_tensor, HBM_T_STATE},
	{"bundle", read_block, HBM_NODE_BUNDLE},
	{"loop", read_block, HBM_NODE_LOOP},
	{"region", read_block, HBM_NODE_REGION},
	{"parallel", read_block, HBM_NODE_PARALLEL},
	{"reduction", hbm_read_reduction, 0},
	{"program", read_program_name, 0},
	{"target", read_program_name, 1},
};

enum { N_STATEMENTS = sizeof statements / sizeof *statements };

static hbm_status read_statement(hbm_reader *r)
{
	const char *words[N_STATEMENTS];
	hbm_token t = r->lx.tok;
	uint32_t unused = 0;

	for (uint32_t i = 0; i < N_STATEMENTS; i++) {
		if (hbm_token_is(&t, statements[i].word)) {
			hbm_lex_next(&r->lx);
			return statements[i].read(r, statements[i].arg);
		}
		words[i] = statements[i].word;
	}
	if (t.kind != HBM_TOK_NAME)
		return hbm_read_expect(r, HBM_TOK_NAME, "statement");
	hbm_lex_next(&r->lx);
	return hbm_read_choice(r, &t, words, N_STATEMENTS, "statement", &unused);
}

static hbm_status end_statement(hbm_reader *r)
{
	int kind = r->lx.tok.kind;

	if (kind == HBM_TOK_LINE || kind == HBM_TOK_END || kind == '}')
		return HBM_OK;
	return hbm_read_expect(r, HBM_TOK_LINE, "end of line");
}

/* Skips to the end of a faulty line. A block that it opens is kept in the
 * books, so that its '}' is not reported too. */
static void recover(hbm_reader *r)
{
	bool opened = false;
	hbm_token at = r->lx.tok;

	r->lx.mute = true;
	for (;;) {
		int kind = r->lx.tok.kind;
		if (kind == HBM_TOK_LINE || kind == HBM_TOK_END ||
		    (kind == '}' && !opened))
			break;
		if (kind == '{')
			push_block(r, HBM_NONE, &at);
		else if (kind == '}')
			(void)close_block(r);
		opened = kind == '{';
		if (kind != '}')
			hbm_lex_next(&r->lx);
	}
	r->lx.mute = false;
}

static hbm_status read_statements(hbm_reader *r)
{
	hbm_lex_next(&r->lx);
	for (;;) {
		hbm_status st;
		hbm_read_skip_lines(r);
		if (r->lx.tok.kind == HBM_TOK_END || hbm_lex_full(&r->lx))
			return r->lx.status == HBM_NOMEM ? HBM_NOMEM : HBM_OK;
		if (r->lx.tok.kind == '}') {
			st = close_block(r);
		} else {
			uint32_t depth = r->n_open;
			uint64_t over = r->n_over;
			st = read_statement(r);
			if (st == HBM_OK && depth == r->n_open && over == r->n_over)
				st = end_statement(r);
		}
		if (st == HBM_NOMEM)
			return st;
		if (st != HBM_OK)
			recover(r);
	}
}

static void report_open_blocks(hbm_reader *r)
{
	hbm_where at;

	if (!r->n_open || hbm_lex_full(&r->lx))
		return;
	at = hbm_lex_at(&r->lx, &r->open[r->n_open - 1].at);
	at.len = 0;
	(void)HBM_READ_FAIL(r, &r->lx.tok, HBM_SYNTAX, HBM_E_SYNTAX,
	                    "file ends inside a block");
	hbm_note(r->lx.diags, at, "the block was opened here");
}

/* ---- names that are declared later ------------------------------------------- */

hbm_status hbm_read_fix(hbm_reader *r, hbm_fix_kind kind, uint32_t index,
                        hbm_sym name, const hbm_token *at)
{
	hbm_fix f = {kind, index, name, at->line, at->col};

	HBM_NEED(HBM_PUSH(r->p->arena, &r->fixes, f));
	return HBM_OK;
}

/* Declared name that is nearest; the work is bounded whatever the program. */
static const char *nearest_tensor(const hbm_program *p, const char *name)
{
	uint64_t budget = 1 << 20;
	size_t n = strlen(name);
	const char *best = NULL;
	uint32_t limit = n > 2 ? 2 : 1;

	for (uint32_t i = 0; i < p->tensors.n && budget; i++) {
		hbm_sym sym = p->tensors.items[i].name;
		size_t m = hbm_sym_len(&p->syms, sym);
		uint32_t d = limit + 1;
		budget--;
		if (m + limit >= n && m <= n + limit && budget > n * m) {
			d = hbm_edit_distance(name, hbm_str_of(p, sym), limit);
			budget -= n * m;
		}
		if (d > limit || d >= n)
			continue;
		best = hbm_str_of(p, sym);
		limit = d ? d - 1 : 0;
	}
	return best;
}

static hbm_status unknown_name(hbm_reader *r, const hbm_fix *f)
{
	const char *name = hbm_str_of(r->p, f->name), *near = NULL;
	bool bundle = f->kind == HBM_FIX_HOME;
	hbm_where at = hbm_at(r->p, f->line, f->col, hbm_sym_len(&r->p->syms, f->name));
	hbm_status st = hbm_fail(r->lx.diags, HBM_SEMANTIC, HBM_E_UNKNOWN_NAME, at,
	                         "unknown %s '%s'", bundle ? "bundle" : "tensor",
	                         name);

	if (!bundle && r->lx.diags)
		near = nearest_tensor(r->p, name);
	if (near)
		hbm_note(r->lx.diags, HBM_NOWHERE, "did you mean '%s'?", near);
	return hbm_lex_failed(&r->lx, st);
}

static hbm_status map_bundles(const hbm_program *p, hbm_map *ret)
{
	hbm_map_init(ret, p->arena);
	for (uint32_t i = 0; i < p->nodes.n; i++) {
		const hbm_node *n = &p->nodes.items[i];
		if (n->kind == HBM_NODE_BUNDLE &&
		    hbm_map_get(ret, n->name) == HBM_NONE)
			HBM_NEED(hbm_map_set(ret, n->name, i));
	}
	return HBM_OK;
}

static void apply_fix(hbm_program *p, const hbm_fix *f, uint32_t id)
{
	switch (f->kind) {
	case HBM_FIX_BASE:
		p->tensors.items[f->index].base = id;
		break;
	case HBM_FIX_HOME:
		p->tensors.items[f->index].home.bundle = id;
		break;
	case HBM_FIX_WITH:
		p->tensors.items[f->index].home.with = id + 1;
		break;
	case HBM_FIX_OPERAND:
		p->operands.items[f->index].tensor = id;
		break;
	case HBM_FIX_ACC:
		p->reductions.items[f->index].acc = id;
		break;
	}
}

static hbm_status resolve(hbm_reader *r)
{
	hbm_map bundles;

	HBM_TRY(map_bundles(r->p, &bundles));
	for (uint32_t i = 0; i < r->fixes.n && !hbm_lex_full(&r->lx); i++) {
		const hbm_fix *f = &r->fixes.items[i];
		uint32_t id = f->kind == HBM_FIX_HOME ? hbm_map_get(&bundles, f->name)
		                                      : hbm_find_tensor(r->p, f->name);
		if (id == HBM_NONE)
			(void)unknown_name(r, f);
		else
			apply_fix(r->p, f, id);
	}
	return HBM_OK;
}

static hbm_status read_all(hbm_reader *r)
{
	HBM_TRY(read_statements(r));
	report_open_blocks(r);
	HBM_TRY(resolve(r));
	hbm_symbols_finish(&r->symbols);
	return r->lx.status;
}

hbm_status hbm_text_read(hbm_arena *a, hbm_diags *d, const char *file,
                         const char *text, size_t n, const hbm_bind *binds,
                         uint32_t n_binds, hbm_program *ret)
{
	hbm_reader *r = HBM_NEW(a, hbm_reader);
	uint32_t first = d ? d->list.n : 0;
	hbm_program p;
	hbm_status st;

	HBM_NEED(r);
	HBM_TRY(hbm_program_init(&p, a));
	p.file = file ? hbm_arena_strndup(a, file, strlen(file)) : NULL;
	HBM_NEED(p.file || !file);
	p.text = text;
	r->p = &p;
	hbm_lex_init(&r->lx, a, d, p.file, text, n);
	HBM_TRY(hbm_symbols_init(&r->symbols, &p, d, binds, n_binds));
	st = read_all(r);
	if (d)
		hbm_diags_sort(d, first);
	if (st == HBM_OK)
		*ret = p;
	return st;
}
