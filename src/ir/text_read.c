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

/* ---- blocks -------------------------------------------------------------- */

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
		return HBM_READ_FAIL(r, t, HBM_SYNTAX, HBM_E_NUMBER, "trip count %s %s",
		                     hbm_token_text(t, text),
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

/* ---- statements ---------------------------------------------------------- */

static hbm_status read_program_name(hbm_reader *r, uint32_t is_target)
{
	hbm_sym *name = is_target ? &r->p->target : &r->p->name;
	hbm_token at = r->lx.tok;

	if (*name)
		return HBM_READ_FAIL(r, &at, HBM_SYNTAX, HBM_E_SYNTAX,
		                     "%s is given twice",
		                     is_target ? "the target" : "the program's name");
	return hbm_read_name(r, name,
	                     is_target ? "name of the target" : "name of the program");
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

static hbm_status read_all(hbm_reader *r)
{
	HBM_TRY(read_statements(r));
	report_open_blocks(r);
	HBM_TRY(hbm_read_resolve(r));
	HBM_TRY(r->lx.status);
	return hbm_symbols_finish(&r->symbols);
}

hbm_status hbm_text_read(hbm_arena *a, hbm_diags *d, const char *file, const char *text,
                         size_t n, const hbm_bind *binds, uint32_t n_binds,
                         hbm_program *ret)
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
