/* SPDX-License-Identifier: Apache-2.0 */
/* Ops: operands with windows, in-place pairs, iteration space, attributes; and
 * reductions, which name ops. */
#include "ir/text_in.h"

#include <inttypes.h>

/* ---- operands ------------------------------------------------------------ */

/* The enclosing loop with this name. */
static hbm_status find_loop(hbm_reader *r, const hbm_token *at, hbm_sym name,
                            hbm_node_id *ret)
{
	for (uint32_t i = r->n_open; i--;) {
		hbm_node_id n = r->open[i].node;
		if (n == HBM_NONE) /* the header had errors; believe the use */
			*ret = HBM_NONE;
		else if (r->p->nodes.items[n].kind == HBM_NODE_LOOP &&
		         r->p->nodes.items[n].name == name)
			*ret = n;
		else
			continue;
		return HBM_OK;
	}
	return HBM_READ_FAIL(r, at, HBM_SEMANTIC, HBM_E_UNKNOWN_NAME,
	                     "no loop '%s' encloses this op", hbm_str_of(r->p, name));
}

/* off .. end, or off .. to the end of the tensor */
static hbm_status read_range(hbm_reader *r, hbm_operand *o)
{
	hbm_token at = r->lx.tok;
	uint64_t end;

	o->offset = 0;
	if (at.kind == HBM_TOK_NUM)
		HBM_TRY(hbm_read_num(r, &o->offset, "offset"));
	HBM_TRY(hbm_read_expect(r, HBM_TOK_RANGE, "'..' after the first byte"));
	if (r->lx.tok.kind != HBM_TOK_NUM)
		return HBM_OK;
	HBM_TRY(hbm_read_num(r, &end, "end of the range"));
	if (end <= o->offset)
		return HBM_READ_FAIL(r, &at, HBM_SEMANTIC, HBM_E_ACCESS_RANGE,
		                     "range ends at %" PRIu64
		                     ", not behind its start %" PRIu64,
		                     end, o->offset);
	o->len = end - o->offset;
	return HBM_OK;
}

/* loop * bytes */
static hbm_status read_stride(hbm_reader *r, hbm_operand *o)
{
	hbm_token at = r->lx.tok;
	hbm_stride s = {.loop = HBM_NONE};
	hbm_sym loop;

	HBM_TRY(hbm_read_name(r, &loop, "range of bytes or loop"));
	HBM_TRY(find_loop(r, &at, loop, &s.loop));
	HBM_TRY(hbm_read_expect(r, '*', "'*' and the bytes per trip after the loop"));
	HBM_TRY(hbm_read_num(r, &s.bytes, "bytes per trip"));
	if (!o->strides.n)
		o->strides.first = r->p->strides.n;
	HBM_NEED(HBM_PUSH(r->p->arena, &r->p->strides, s));
	o->strides.n++;
	return HBM_OK;
}

/* [0..64, L*8192]; the bracket is read. */
static hbm_status read_window(hbm_reader *r, hbm_operand *o)
{
	hbm_read_skip_lines(r);
	if (r->lx.tok.kind != HBM_TOK_NAME)
		HBM_TRY(read_range(r, o));
	else
		HBM_TRY(read_stride(r, o));
	while (hbm_read_more(r, ']'))
		HBM_TRY(read_stride(r, o));
	return hbm_read_expect(r, ']', "',' or ']' in the window of an operand");
}

static hbm_status read_operand(hbm_reader *r, hbm_op_id op, bool write)
{
	hbm_token at = r->lx.tok;
	hbm_tensor_id t;
	hbm_sym name;

	HBM_TRY(hbm_read_name(
		r, &name, write ? "tensor that is written" : "tensor that is read"));
	t = hbm_find_tensor(r->p, name);
	HBM_NEED(write ? hbm_add_write(r->p, op, t) : hbm_add_read(r->p, op, t));
	HBM_NEED(HBM_PUSH(r->p->arena, &r->operand_names, name));
	if (t == HBM_NONE)
		HBM_TRY(hbm_read_fix(r, HBM_FIX_OPERAND, r->p->operands.n - 1, name,
		                     &at));
	if (!hbm_read_if(r, '['))
		return HBM_OK;
	return read_window(r, &r->p->operands.items[r->p->operands.n - 1]);
}

/* (a, b); the bracket is read. */
static hbm_status read_reads(hbm_reader *r, hbm_op_id op)
{
	hbm_read_skip_lines(r);
	if (hbm_read_if(r, ')'))
		return HBM_OK;
	do
		HBM_TRY(read_operand(r, op, false));
	while (hbm_read_more(r, ')'));
	return hbm_read_expect(r, ')', "',' or ')' after an operand");
}

/* a, b; the arrow is read. */
static hbm_status read_writes(hbm_reader *r, hbm_op_id op)
{
	HBM_TRY(read_operand(r, op, true));
	while (hbm_read_if(r, ',')) {
		hbm_read_skip_lines(r);
		HBM_TRY(read_operand(r, op, true));
	}
	return HBM_OK;
}

/* ---- in-place pairs ------------------------------------------------------ */

/* Position of the first operand with this name among the op's reads or writes,
 * HBM_NONE: none. Few operands are searched; of many, a map of this op is made
 * when first needed. */
static hbm_status operand_index(hbm_reader *r, const hbm_op *op, bool write,
                                hbm_sym name, uint32_t *ret)
{
	enum { FEW = 16 };
	uint32_t first = write ? op->reads.n : 0;
	uint32_t n = write ? op->writes.n : op->reads.n;
	const hbm_sym *names = r->operand_names.items;

	*ret = HBM_NONE;
	if (r->operand_names.n <= FEW) {
		for (uint32_t i = n; i--;)
			if (names[first + i] == name)
				*ret = i;
		return HBM_OK;
	}
	if (!r->operand_of.n) {
		for (uint32_t i = r->operand_names.n; i--;) {
			bool w = i >= op->reads.n;
			HBM_NEED(hbm_map_set(&r->operand_of, (uint64_t)names[i] * 2 + w,
			                     w ? i - op->reads.n : i));
		}
	}
	*ret = hbm_map_get(&r->operand_of, (uint64_t)name * 2 + write);
	return HBM_OK;
}

/* A tensor name, or $ and the position. */
static hbm_status read_operand_ref(hbm_reader *r, const hbm_op *op, bool write,
                                   uint32_t *ret)
{
	uint32_t n = write ? op->writes.n : op->reads.n;
	hbm_token at = r->lx.tok;
	uint64_t i = HBM_NONE;
	hbm_sym name = 0;

	if (hbm_read_if(r, '$')) {
		HBM_TRY(hbm_read_num(r, &i, "position of an operand"));
	} else {
		HBM_TRY(hbm_read_name(r, &name,
		                      write ? "output of the op" : "input of the op"));
		HBM_TRY(operand_index(r, op, write, name, ret));
		i = *ret;
	}
	*ret = (uint32_t)i;
	if (i < n)
		return HBM_OK;
	if (!name)
		return HBM_READ_FAIL(r, &at, HBM_SEMANTIC, HBM_E_INPLACE,
		                     "the op has %" PRIu32
		                     " %s, none at position %" PRIu64,
		                     n, write ? "outputs" : "inputs", i);
	return HBM_READ_FAIL(r, &at, HBM_SEMANTIC, HBM_E_INPLACE,
	                     "'%s' is no %s of this op", hbm_str_of(r->p, name),
	                     write ? "output" : "input");
}

/* inplace(out=in must keeps, ...); the word is read. */
static hbm_status read_inplace(hbm_reader *r, hbm_op *op)
{
	HBM_TRY(hbm_read_expect(r, '(', "'(' after 'inplace'"));
	hbm_read_skip_lines(r);
	do {
		hbm_inplace pair = {0};
		HBM_TRY(read_operand_ref(r, op, true, &pair.write));
		HBM_TRY(hbm_read_expect(r, '=', "'=' and an input of the op"));
		HBM_TRY(read_operand_ref(r, op, false, &pair.read));
		for (;;) {
			if (hbm_read_if_word(r, "must"))
				pair.must = true;
			else if (hbm_read_if_word(r, "keeps"))
				pair.keeps = true;
			else
				break;
		}
		if (!op->inplace.n)
			op->inplace.first = r->p->inplaces.n;
		HBM_NEED(HBM_PUSH(r->p->arena, &r->p->inplaces, pair));
		op->inplace.n++;
	} while (hbm_read_more(r, ')'));
	return hbm_read_expect(r, ')', "',' or ')' after an in-place pair");
}

/* ---- iteration space ----------------------------------------------------- */

static hbm_status read_u32(hbm_reader *r, uint32_t *ret, const char *what)
{
	hbm_token at = r->lx.tok;
	uint64_t v;

	HBM_TRY(hbm_read_num(r, &v, what));
	if (v >= UINT32_MAX)
		return HBM_READ_FAIL(r, &at, HBM_SYNTAX, HBM_E_NUMBER,
		                     "%s %" PRIu64 " does not fit in 32 bits", what, v);
	*ret = (uint32_t)v;
	return HBM_OK;
}

static hbm_status read_iter_words(hbm_reader *r, hbm_iter *it)
{
	for (;;) {
		if (hbm_read_if_word(r, "reduction")) {
			it->reduction = true;
		} else if (hbm_read_if_word(r, "stick")) {
			it->stick = true;
		} else if (hbm_read_if_word(r, "split")) {
			HBM_TRY(hbm_read_expect(r, '=', "'=' after 'split'"));
			HBM_TRY(read_u32(r, &it->split, "split"));
		} else {
			return HBM_OK;
		}
	}
}

/* iter(i=512 split=4, j=1024 reduction stick); the word is read. */
static hbm_status read_iter(hbm_reader *r, hbm_op *op)
{
	HBM_TRY(hbm_read_expect(r, '(', "'(' after 'iter'"));
	hbm_read_skip_lines(r);
	do {
		hbm_iter it = {0};
		HBM_TRY(hbm_read_name(r, &it.name, "iteration variable"));
		HBM_TRY(hbm_read_expect(r, '=', "'=' and the extent"));
		HBM_TRY(hbm_read_num(r, &it.extent, "extent"));
		HBM_TRY(read_iter_words(r, &it));
		if (!op->iters.n)
			op->iters.first = r->p->iters.n;
		HBM_NEED(HBM_PUSH(r->p->arena, &r->p->iters, it));
		op->iters.n++;
	} while (hbm_read_more(r, ')'));
	return hbm_read_expect(r, ')', "',' or ')' after an iteration variable");
}

/* ---- the op -------------------------------------------------------------- */

static hbm_status read_kind(hbm_reader *r, hbm_op_kind *ret)
{
	static const char *const words[] = {
#define X(id, text) #text,
		HBM_OP_KIND_MAP(X)
#undef X
	};
	hbm_token at = r->lx.tok;
	uint32_t i = 0;

	HBM_TRY(hbm_read_expect(r, HBM_TOK_NAME, "kind of the op"));
	HBM_TRY(hbm_read_choice(r, &at, words, sizeof words / sizeof *words,
	                        "kind of op", &i));
	*ret = (hbm_op_kind)i;
	return HBM_OK;
}

enum { KEY_KIND, KEY_SCRATCH, KEY_CORES, KEY_SRC, KEY_INPLACE, KEY_ITER, N_KEYS };

static int key_of(const hbm_token *t)
{
	static const char *const keys[N_KEYS] = {"kind", "scratch", "cores",
	                                         "src",  "inplace", "iter"};

	for (int i = 0; i < N_KEYS; i++)
		if (hbm_token_is(t, keys[i]))
			return i;
	return N_KEYS;
}

static hbm_status read_field(hbm_reader *r, hbm_op *op, int key, uint32_t *seen)
{
	hbm_token at = r->lx.tok;

	hbm_lex_next(&r->lx);
	HBM_TRY(hbm_read_once(r, &at, (uint32_t)key, seen));
	if (key == KEY_INPLACE)
		return read_inplace(r, op);
	if (key == KEY_ITER)
		return read_iter(r, op);
	HBM_TRY(hbm_read_expect(r, '=', "'=' after the attribute"));
	switch (key) {
	case KEY_KIND:
		return read_kind(r, &op->kind);
	case KEY_SCRATCH:
		return hbm_read_num(r, &op->scratch, "scratch bytes");
	case KEY_CORES:
		return read_u32(r, &op->cores, "cores");
	default:
		return hbm_read_name(r, &op->src, "source position");
	}
}

static hbm_status read_rest(hbm_reader *r, hbm_op *op)
{
	uint32_t seen = 0;

	while (r->lx.tok.kind == HBM_TOK_NAME) {
		int key = key_of(&r->lx.tok);
		if (key < N_KEYS)
			HBM_TRY(read_field(r, op, key, &seen));
		else
			HBM_TRY(hbm_read_attr(r, HBM_ATTR_OP, &op->attrs));
	}
	return HBM_OK;
}

/* [name:] [opname] */
static hbm_status read_op_names(hbm_reader *r, hbm_sym *name, hbm_sym *opname)
{
	hbm_token first = r->lx.tok;

	*name = *opname = 0;
	if (first.kind != HBM_TOK_NAME)
		return HBM_OK;
	hbm_lex_next(&r->lx);
	if (!hbm_read_if(r, ':'))
		return hbm_read_intern(r, &first, opname);
	HBM_TRY(hbm_read_intern(r, &first, name));
	if (r->lx.tok.kind != HBM_TOK_NAME)
		return HBM_OK;
	return hbm_read_name(r, opname, "name of the operation");
}

/* [name:] [opname] [(reads)] [-> writes] attributes */
hbm_status hbm_read_op(hbm_reader *r, uint32_t unused)
{
	hbm_token at = r->lx.tok;
	hbm_sym name, opname;
	hbm_op_id id;

	(void)unused;
	HBM_TRY(read_op_names(r, &name, &opname));
	id = hbm_add_op(r->p, hbm_read_parent(r), HBM_OP_COMPUTE, name, opname);
	HBM_NEED(id != HBM_NONE);
	r->operand_names.n = 0;
	hbm_map_init(&r->operand_of, r->p->arena);
	r->p->ops.items[id].line = r->p->nodes.items[r->p->nodes.n - 1].line = at.line;
	r->p->ops.items[id].col = r->p->nodes.items[r->p->nodes.n - 1].col = at.col;
	if (hbm_read_if(r, '('))
		HBM_TRY(read_reads(r, id));
	if (hbm_read_if(r, HBM_TOK_ARROW))
		HBM_TRY(read_writes(r, id));
	return read_rest(r, &r->p->ops.items[id]);
}

static hbm_status read_acc(hbm_reader *r, hbm_reduction *red)
{
	hbm_token at = r->lx.tok;
	hbm_sym name;

	HBM_TRY(hbm_read_name(r, &name, "tensor"));
	red->acc = hbm_find_tensor(r->p, name);
	if (red->acc != HBM_NONE)
		return HBM_OK;
	return hbm_read_fix(r, HBM_FIX_ACC, r->p->reductions.n - 1, name, &at);
}

/* fill=o0 combine=o3 drain=o5 acc=acc */
static hbm_status read_parts(hbm_reader *r, hbm_reduction *red)
{
	static const char *const words[] = {"fill", "combine", "drain", "acc"};
	hbm_sym *const ops[] = {&red->fill, &red->combine, &red->drain};
	uint32_t seen = 0, which = 0;

	while (r->lx.tok.kind == HBM_TOK_NAME) {
		hbm_token key = r->lx.tok;
		hbm_lex_next(&r->lx);
		HBM_TRY(hbm_read_choice(r, &key, words, 4, "part of a reduction", &which));
		HBM_TRY(hbm_read_once(r, &key, which, &seen));
		HBM_TRY(hbm_read_expect(r, '=', "'=' and a name"));
		if (which < 3)
			HBM_TRY(hbm_read_name(r, ops[which], "op"));
		else
			HBM_TRY(read_acc(r, red));
	}
	return HBM_OK;
}

/* [name]: parts */
hbm_status hbm_read_reduction(hbm_reader *r, uint32_t unused)
{
	hbm_reduction red = {
		.acc = HBM_NONE, .line = r->lx.tok.line, .col = r->lx.tok.col};

	(void)unused;
	if (r->lx.tok.kind != ':')
		HBM_TRY(hbm_read_name(r, &red.name, "name of the reduction"));
	HBM_TRY(hbm_read_expect(r, ':', "':' after the name of the reduction"));
	HBM_NEED(HBM_PUSH(r->p->arena, &r->p->reductions, red));
	return read_parts(r, &r->p->reductions.items[r->p->reductions.n - 1]);
}
