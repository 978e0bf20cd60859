/* SPDX-License-Identifier: Apache-2.0
 * hlo_trips: how often does a loop run that does not say it?
 *
 * Known when it counts plainly: one leaf of the state begins as a constant, the body
 * adds a positive constant to it and nothing else, and the condition compares it with
 * a constant by < or <=. Copies in between do not matter. Anything else, a loop that
 * never runs and one whose counter would pass the end of its type stay unknown.
 * Cost       Linear in the loops; a walk through copies is limited. */
#include "import/hlo.h"

#include "base/ckd.h"

enum { MAX_COPIES = 8 };

static const hlo_instr *instr(const hlo_module *m, uint32_t i)
{
	return &m->instrs.items[i];
}

/* Operand k behind its copies; NULL: none, or a part of a tuple. */
static const hlo_instr *behind(const hlo_module *m, const hlo_instr *x, uint32_t k)
{
	for (uint32_t i = 0; i < MAX_COPIES && k < x->operands.n; i++) {
		const hlo_operand *o = &m->operands.items[x->operands.first + k];
		if (o->path.n)
			return NULL;
		x = instr(m, o->instr);
		if (x->opcode != HLO_OP_COPY)
			return x;
		k = 0;
	}
	return NULL;
}

static const hlo_instr *root(const hlo_module *m, uint32_t comp)
{
	return instr(m, m->comps.items[comp].root);
}

/* Leaf `leaf` of the state as the condition or the body gets it. */
static bool is_counter(const hlo_module *m, const hlo_instr *x, uint64_t *leaf)
{
	const hlo_instr *from;

	if (!x || x->opcode != HLO_OP_GET_TUPLE_ELEMENT)
		return false;
	from = behind(m, x, 0);
	*leaf = x->number;
	return from && from->opcode == HLO_OP_PARAMETER;
}

static bool is_number(const hlo_instr *x, int64_t *ret)
{
	if (!x || x->opcode != HLO_OP_CONSTANT || !x->whole)
		return false;
	*ret = (int64_t)x->number;
	return true;
}

/* Largest value of an integer type; 0: not one that is counted with. */
static int64_t largest(const hlo_module *m, const hlo_instr *x)
{
	const hlo_node *n = &m->nodes.items[x->shape];

	if (n->kind != HLO_ARRAY || n->n)
		return 0;
	switch (n->dtype) {
	case HBM_DT_i32:
		return INT32_MAX;
	case HBM_DT_u32:
		return UINT32_MAX;
	case HBM_DT_i64:
	case HBM_DT_u64: /* literals are no larger here */
		return INT64_MAX;
	default:
		return 0;
	}
}

/* counter < end, in any spelling. */
static bool condition(const hlo_module *m, uint32_t comp, uint64_t *leaf, int64_t *end)
{
	const hlo_instr *x = root(m, comp), *a, *b;
	uint8_t how = x->compare;

	if (x->opcode != HLO_OP_COMPARE || x->operands.n != 2)
		return false;
	a = behind(m, x, 0);
	b = behind(m, x, 1);
	if (how == HLO_CMP_GT || how == HLO_CMP_GE) {
		const hlo_instr *swap = a;
		a = b;
		b = swap;
		how = how == HLO_CMP_GT ? HLO_CMP_LT : HLO_CMP_LE;
	}
	if (how == HLO_CMP_OTHER || !is_counter(m, a, leaf) || !is_number(b, end) ||
	    (how == HLO_CMP_LE && *end == INT64_MAX))
		return false;
	*end += how == HLO_CMP_LE;
	return true;
}

/* The body's leaf is the counter and a positive constant. */
static bool step(const hlo_module *m, uint32_t comp, uint64_t leaf, int64_t *ret,
                 int64_t *most)
{
	const hlo_instr *x = root(m, comp), *a, *b;
	uint64_t from;

	if (x->opcode != HLO_OP_TUPLE || leaf >= x->operands.n)
		return false;
	x = behind(m, x, (uint32_t)leaf);
	if (!x || x->opcode != HLO_OP_ADD || x->operands.n != 2)
		return false;
	a = behind(m, x, 0);
	b = behind(m, x, 1);
	if (is_number(a, ret)) {
		const hlo_instr *swap = a;
		a = b;
		b = swap;
	}
	*most = largest(m, x);
	return is_counter(m, a, &from) && from == leaf && is_number(b, ret) && *ret > 0 &&
	       *most;
}

static uint64_t count(int64_t begin, int64_t end, int64_t by, int64_t most)
{
	uint64_t way, trips, last;

	if (begin >= end)
		return 0;
	way = (uint64_t)end - (uint64_t)begin; /* modulo 2^64, and below it */
	trips = way / (uint64_t)by + (way % (uint64_t)by != 0);
	if (!hbm_mul(trips, (uint64_t)by, &last) ||
	    last > (uint64_t)most - (uint64_t)begin)
		return 0;
	return trips;
}

static uint64_t trips_of(const hlo_module *m, const hlo_instr *loop)
{
	const hlo_called *called = m->called.items + loop->called.first;
	const hlo_instr *init = behind(m, loop, 0);
	int64_t begin, end, by, most;
	uint64_t leaf;

	if (!init || init->opcode != HLO_OP_TUPLE ||
	    !condition(m, called[0].comp, &leaf, &end) ||
	    !step(m, called[1].comp, leaf, &by, &most) || leaf >= init->operands.n ||
	    !is_number(behind(m, init, (uint32_t)leaf), &begin))
		return 0;
	return count(begin, end, by, most);
}

void hlo_find_trips(hlo_module *m)
{
	for (uint32_t i = 0; i < m->instrs.n; i++) {
		hlo_instr *x = &m->instrs.items[i];
		if (x->opcode == HLO_OP_WHILE && !x->trips && x->called.n == 2)
			x->trips = trips_of(m, x);
	}
}
