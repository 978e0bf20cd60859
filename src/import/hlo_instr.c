/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one instruction: name = shape opcode(operands), attributes.
 *
 * Of an operand only its name is wanted: the last word of its piece. Attributes
 * that say nothing about memory are skipped unread. */
#include "import/hlo_lex.h"

#include <string.h>

/* ---- operands ------------------------------------------------------------- */

static hbm_status operand_path(hlo_reader *r, hlo_operand *o)
{
	uint64_t v;

	o->path.first = r->m->numbers.n;
	while (hlo_accept(r, '#')) {
		HBM_TRY(hlo_take_number(r, &v));
		HBM_NEED(HBM_PUSH(r->m->arena, &r->m->numbers, v));
		o->path.n++;
	}
	return HBM_OK;
}

/* Skips a shape in front of a name: brackets, and words that a bracket follows. */
static hbm_status operand(hlo_reader *r, hlo_operand *o)
{
	hlo_slice word = {0}, skipped;

	for (;;) {
		hlo_skip_ws(r);
		if (r->p < r->end && (*r->p == '(' || *r->p == '[' || *r->p == '{')) {
			char close = *r->p == '(' ? ')' : *r->p == '[' ? ']' : '}';
			r->p++;
			HBM_TRY(hlo_take_balanced(r, close, &skipped));
		} else if (r->p < r->end && (*r->p == '%' || hlo_is_name(*r->p))) {
			o->pos = hlo_pos(r);
			word = hlo_take_name(r);
			if (!word.n)
				return hlo_syntax(r, o->pos, "expected a name");
		} else {
			break;
		}
	}
	if (!word.n)
		return hlo_syntax(r, hlo_pos(r), "expected the name of an operand");
	o->name = hbm_intern(r->m->syms, word.s, word.n);
	HBM_NEED(o->name != HBM_NONE);
	return operand_path(r, o);
}

static hbm_status operands(hlo_reader *r, hbm_span *ret, char close)
{
	hbm_span span = {.first = r->m->operands.n};

	if (!hlo_accept(r, close)) {
		do {
			hlo_operand o = {0};
			HBM_TRY(operand(r, &o));
			HBM_NEED(HBM_PUSH(r->m->arena, &r->m->operands, o));
			span.n++;
		} while (hlo_accept(r, ','));
		HBM_TRY(hlo_expect(r, close, "after the operands"));
	}
	*ret = span;
	return HBM_OK;
}

/* A literal that is one integer of at most 18 digits. */
static void whole_number(hlo_slice text, hlo_instr *x)
{
	uint32_t i = 0, from;
	bool minus;
	uint64_t v = 0;

	while (i < text.n && (text.s[i] == ' ' || text.s[i] == '\t'))
		i++;
	minus = i < text.n && text.s[i] == '-';
	from = i += minus;
	for (; i < text.n && text.s[i] >= '0' && text.s[i] <= '9' && i - from < 18; i++)
		v = v * 10 + (uint64_t)(text.s[i] - '0');
	if (i == from)
		return;
	while (i < text.n && (text.s[i] == ' ' || text.s[i] == '\t'))
		i++;
	x->whole = i == text.n;
	x->number = minus ? 0 - v : v;
}

static hbm_status arguments(hlo_reader *r, hlo_instr *x)
{
	hlo_slice literal;

	switch (x->opcode) {
	case HLO_OP_PARAMETER:
		HBM_TRY(hlo_take_number(r, &x->number));
		return hlo_expect(r, ')', "after the parameter number");
	case HLO_OP_CONSTANT:
		HBM_TRY(hlo_take_balanced(r, ')', &literal));
		whole_number(literal, x);
		return HBM_OK;
	case HLO_OP_IOTA:
		return hlo_take_balanced(r, ')', &literal);
	default:
		return operands(r, &x->operands, ')');
	}
}

/* ---- attributes ----------------------------------------------------------- */

static hbm_status add_called(hlo_reader *r, hlo_instr *x)
{
	hlo_called c = {0};
	hlo_slice word;

	hlo_skip_ws(r);
	c.pos = hlo_pos(r);
	word = hlo_take_name(r);
	if (!word.n)
		return hlo_syntax(r, c.pos, "expected the name of a computation");
	c.name = hbm_intern(r->m->syms, word.s, word.n);
	HBM_NEED(c.name != HBM_NONE);
	if (!x->called.n)
		x->called.first = r->m->called.n;
	HBM_NEED(HBM_PUSH(r->m->arena, &r->m->called, c));
	x->called.n++;
	return HBM_OK;
}

/* NAME or {NAME, NAME}. */
static hbm_status called(hlo_reader *r, hlo_instr *x)
{
	if (!hlo_accept(r, '{'))
		return add_called(r, x);
	if (hlo_accept(r, '}'))
		return HBM_OK;
	do
		HBM_TRY(add_called(r, x));
	while (hlo_accept(r, ','));
	return hlo_expect(r, '}', "after the computations");
}

/* The condition stands first, whatever the order in the text. */
static hbm_status loop_part(hlo_reader *r, hlo_instr *x, bool condition)
{
	hlo_called *c;

	HBM_TRY(add_called(r, x));
	c = r->m->called.items + x->called.first;
	if (condition && x->called.n == 2) {
		hlo_called swap = c[0];
		c[0] = c[1];
		c[1] = swap;
	}
	return HBM_OK;
}

static hbm_status numbers(hlo_reader *r, hbm_span *ret)
{
	hbm_span span = {.first = r->m->numbers.n};
	uint64_t v;

	HBM_TRY(hlo_expect(r, '{', "before the numbers"));
	while (!hlo_accept(r, '}')) {
		HBM_TRY(hlo_take_number(r, &v));
		HBM_NEED(HBM_PUSH(r->m->arena, &r->m->numbers, v));
		span.n++;
		hlo_accept(r, ',');
	}
	*ret = span;
	return HBM_OK;
}

hbm_status hlo_take_path(hlo_reader *r, hbm_span *ret)
{
	return numbers(r, ret);
}

hbm_status hlo_take_aliases(hlo_reader *r, hlo_slice value, bool pairs, hbm_span *ret)
{
	hbm_span span = {.first = r->m->aliases.n};
	hlo_reader in = hlo_within(r, value);
	hlo_slice rest;

	HBM_TRY(hlo_expect(&in, '{', "before the list"));
	while (!hlo_accept(&in, '}')) {
		hlo_alias a = {.pos = hlo_pos(&in)};
		if (pairs) {
			HBM_TRY(hlo_take_path(&in, &a.out));
			HBM_TRY(hlo_expect(&in, ':', "after the output"));
		}
		HBM_TRY(hlo_expect(&in, '(', "before the number"));
		HBM_TRY(hlo_take_number(&in, &a.operand));
		HBM_TRY(hlo_expect(&in, ',', "after the number"));
		HBM_TRY(hlo_take_path(&in, &a.in));
		HBM_TRY(hlo_take_balanced(&in, ')', &rest));
		HBM_NEED(HBM_PUSH(r->m->arena, &r->m->aliases, a));
		span.n++;
		hlo_accept(&in, ',');
	}
	*ret = span;
	return HBM_OK;
}

/* {op_name="..." source_file="..." source_line=1 ...} */
static hbm_status metadata(hlo_reader *r, hlo_slice value, hlo_instr *x)
{
	hlo_reader in = hlo_within(r, value);

	HBM_TRY(hlo_expect(&in, '{', "before the metadata"));
	for (;;) {
		hlo_slice key, skipped;
		hlo_accept(&in, ',');
		key = hlo_take_name(&in);
		if (!key.n || !hlo_accept(&in, '='))
			return HBM_OK;
		if (hlo_is_word(key, "op_name"))
			HBM_TRY(hlo_take_string(&in, &x->meta.op_name));
		else if (hlo_is_word(key, "source_file"))
			HBM_TRY(hlo_take_string(&in, &x->meta.file));
		else if (hlo_is_word(key, "source_line"))
			HBM_TRY(hlo_take_number(&in, &x->meta.line));
		else if (hlo_is_word(key, "stack_frame_id"))
			HBM_TRY(hlo_take_number(&in, &x->meta.frame));
		else
			HBM_TRY(hlo_take_value(&in, &skipped));
	}
}

/* Attributes by their value's whole text. */
static hbm_status value_attr(hlo_reader *r, hlo_slice key, hlo_instr *x)
{
	hlo_slice value;

	HBM_TRY(hlo_take_value(r, &value));
	if (hlo_is_word(key, "metadata"))
		return metadata(r, value, x);
	if (hlo_is_word(key, "kind"))
		hlo_fusion_kind(value, x);
	else if (hlo_is_word(key, "backend_config") && x->opcode == HLO_OP_WHILE)
		hlo_trip_count(value, x);
	else if (hlo_is_word(key, "direction") && x->opcode == HLO_OP_COMPARE)
		hlo_direction(value, x);
	else if (hlo_is_word(key, "custom_call_target") && value.n >= 2)
		x->target = (hlo_slice){value.s + 1, value.n - 2};
	else if (hlo_is_word(key, "custom_call_has_side_effect"))
		x->effect = hlo_is_word(value, "true");
	else if (hlo_is_word(key, "output_to_operand_aliasing"))
		return hlo_take_aliases(r, value, true, &x->aliases);
	return HBM_OK;
}

static bool calls(hlo_slice key, const hlo_instr *x)
{
	switch (x->opcode) {
	case HLO_OP_CALL:
		return hlo_is_word(key, "to_apply") || hlo_is_word(key, "calls");
	case HLO_OP_FUSION:
		return hlo_is_word(key, "calls");
	case HLO_OP_CONDITIONAL:
		return hlo_is_word(key, "branch_computations") ||
		       hlo_is_word(key, "true_computation") ||
		       hlo_is_word(key, "false_computation");
	default:
		return false;
	}
}

static hbm_status attribute(hlo_reader *r, hlo_slice key, hlo_instr *x)
{
	if (x->opcode == HLO_OP_GET_TUPLE_ELEMENT && hlo_is_word(key, "index"))
		return hlo_take_number(r, &x->number);
	if (x->opcode == HLO_OP_TRANSPOSE && hlo_is_word(key, "dimensions"))
		return numbers(r, &x->dims);
	if (x->opcode == HLO_OP_WHILE && hlo_is_word(key, "condition"))
		return loop_part(r, x, true);
	if (x->opcode == HLO_OP_WHILE && hlo_is_word(key, "body"))
		return loop_part(r, x, false);
	if (hlo_is_word(key, "control-predecessors")) {
		HBM_TRY(hlo_expect(r, '{', "before the instructions"));
		return operands(r, &x->controls, '}');
	}
	return calls(key, x) ? called(r, x) : value_attr(r, key, x);
}

static hbm_status attributes(hlo_reader *r, hlo_instr *x)
{
	while (hlo_accept(r, ',')) {
		hlo_slice key;
		uint32_t pos;
		hlo_skip_ws(r);
		pos = hlo_pos(r);
		key = hlo_take_name(r);
		if (!key.n)
			return hlo_syntax(r, pos, "expected an attribute after ','");
		HBM_TRY(hlo_expect(r, '=', "after the attribute's name"));
		hlo_skip_ws(r);
		HBM_TRY(attribute(r, key, x));
	}
	return HBM_OK;
}

/* ---- the instruction ------------------------------------------------------ */

static hbm_status opcode(hlo_reader *r, hlo_instr *x)
{
	hlo_slice word;
	hlo_opcode op;
	uint32_t pos;

	hlo_skip_ws(r);
	pos = hlo_pos(r);
	word = hlo_take_name(r);
	if (!word.n)
		return hlo_syntax(r, pos, "expected an opcode after the shape");
	op = hlo_opcode_find(word.s, word.n);
	if (op == HLO_N_OPCODES) {
		HBM_NEED(hbm_warn(r->m->diags, HBM_E_HLO_OPCODE,
		                  hlo_at(r->m, pos, word.n), "opcode '%.*s' is not "
		                  "known: taken as an operation that reads its "
		                  "operands and writes a result of its own",
		                  (int)(word.n < 80 ? word.n : 80), word.s));
		op = HLO_OP_UNKNOWN;
		x->target = word;
	}
	x->opcode = (uint8_t)op;
	return HBM_OK;
}

hbm_status hlo_take_instr(hlo_reader *r, bool *ret_root)
{
	hlo_instr x = {0};
	hlo_slice word;

	hlo_skip_ws(r);
	x.pos = hlo_pos(r);
	word = hlo_take_name(r);
	*ret_root = hlo_is_word(word, "ROOT");
	if (*ret_root) {
		hlo_skip_ws(r);
		x.pos = hlo_pos(r);
		word = hlo_take_name(r);
	}
	if (!word.n)
		return hlo_syntax(r, x.pos, "expected an instruction or '}'");
	x.name = hbm_intern(r->m->syms, word.s, word.n);
	HBM_NEED(x.name != HBM_NONE);
	HBM_TRY(hlo_expect(r, '=', "after the name of an instruction"));
	HBM_TRY(hlo_take_shape(r, &x.shape, &x.leaves));
	HBM_TRY(opcode(r, &x));
	HBM_TRY(hlo_expect(r, '(', "after the opcode"));
	HBM_TRY(arguments(r, &x));
	HBM_TRY(attributes(r, &x));
	HBM_NEED(HBM_PUSH(r->m->arena, &r->m->instrs, x));
	return HBM_OK;
}
