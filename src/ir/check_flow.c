/* SPDX-License-Identifier: Apache-2.0 */
/* Values: every read sees a write before it, by storage, and nobody writes what
 * is the caller's to keep.
 *
 * One walk in run order. In a loop this is the first trip, so a value that the
 * trip before has to leave is seen as missing unless it is declared. Members of
 * a parallel node are in no order: a write in one does not come before a read in
 * another. */
#include "ir/check.h"

enum { MAX_WARNINGS = HBM_MAX_ERRORS, MAX_NAMES = 8 };

typedef struct flow {
	hbm_op_id *first, *last; /* leader -> ops that wrote, HBM_NONE: none */
	bool parallel;           /* the program has a parallel node */
} flow;

/* ---- words for messages -------------------------------------------------- */

/* The other names of t's storage. */
static void note_names(hbm_checker *c, hbm_tensor_id t)
{
	hbm_tensor_id lead = hbm_check_leader(c, t);
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->p->tensors.n && n < MAX_NAMES; i++) {
		const hbm_tensor *x = &c->p->tensors.items[i];
		if (i == t || hbm_check_leader(c, i) != lead)
			continue;
		n++;
		if (x->base != HBM_NONE)
			hbm_note(c->diags, hbm_check_tensor_at(c, i),
			         "'%s', a view of '%s', is the same storage",
			         hbm_tensor_name(c->p, i),
			         hbm_tensor_name(c->p, x->base));
		else
			hbm_note(c->diags, hbm_check_tensor_at(c, i),
			         "'%s' is the same storage", hbm_tensor_name(c->p, i));
	}
}

static bool touches(hbm_checker *c, hbm_span operands, hbm_tensor_id lead)
{
	for (uint32_t i = 0; i < operands.n; i++) {
		hbm_tensor_id t = c->p->operands.items[operands.first + i].tensor;
		if (hbm_check_leader(c, t) == lead)
			return true;
	}
	return false;
}

/* The first op from `from` on that reads or writes the storage. */
static hbm_op_id next_access(hbm_checker *c, hbm_op_id from, bool write,
                             hbm_tensor_id lead)
{
	for (hbm_op_id i = from; i < c->p->ops.n; i++) {
		const hbm_op *op = &c->p->ops.items[i];
		if (touches(c, write ? op->writes : op->reads, lead))
			return i;
	}
	return HBM_NONE;
}

/* ---- reads --------------------------------------------------------------- */

/* True when a runs before b: no parallel node holds them in different members. */
static bool ordered(const hbm_program *p, hbm_op_id a, hbm_op_id b)
{
	hbm_node_id x = p->ops.items[a].node, y = p->ops.items[b].node, up;

	for (; y != HBM_NONE; y = up) {
		up = p->nodes.items[y].parent;
		if (up != HBM_NONE && p->nodes.items[up].kind == HBM_NODE_PARALLEL &&
		    x > up && x < p->nodes.items[up].end &&
		    (x < y || x >= p->nodes.items[y].end))
			return false;
	}
	return true;
}

static void unwritten(hbm_checker *c, const flow *f, hbm_op_id id, hbm_tensor_id t)
{
	const hbm_program *p = c->p;
	hbm_tensor_id lead = hbm_check_leader(c, t);
	hbm_op_id writer = f->first[lead];
	bool apart = writer != HBM_NONE;

	if (apart)
		HBM_CHECK_FAIL(
			c, hbm_check_op_at(c, id), HBM_E_READ_BEFORE_WRITE,
			"op '%s' reads '%s', which is written in another member of "
			"one parallel node: nothing orders them",
			hbm_op_name(p, id), hbm_tensor_name(p, t));
	else
		HBM_CHECK_FAIL(c, hbm_check_op_at(c, id), HBM_E_READ_BEFORE_WRITE,
		               "op '%s' reads '%s', which nothing has written",
		               hbm_op_name(p, id), hbm_tensor_name(p, t));
	if (!apart)
		writer = next_access(c, id, true, lead);
	if (writer != HBM_NONE)
		hbm_note(c->diags, hbm_check_op_at(c, writer),
		         apart ? "op '%s' writes it"
		               : "op '%s' is the first to write it; if a trip before "
		                 "leaves the value, declare it carried",
		         hbm_op_name(p, writer));
	hbm_note(c->diags, hbm_check_tensor_at(c, t), "'%s' is declared here",
	         hbm_tensor_name(p, t));
}

static void check_read(hbm_checker *c, flow *f, hbm_op_id id, hbm_tensor_id t)
{
	hbm_tensor_id lead = hbm_check_leader(c, t);
	uint32_t given =
		HBM_T_INPUT | HBM_T_WEIGHT | HBM_T_STATE | HBM_T_ZERO | HBM_T_CARRIED;

	if (c->set_flags[lead] & given)
		return;
	if (f->first[lead] != HBM_NONE &&
	    (!f->parallel || ordered(c->p, f->first[lead], id) ||
	     ordered(c->p, f->last[lead], id)))
		return;
	unwritten(c, f, id, t);
	c->set_flags[lead] |= HBM_T_CARRIED; /* one message a storage */
}

/* ---- writes -------------------------------------------------------------- */

static hbm_tensor_id member_with(hbm_checker *c, hbm_tensor_id lead, uint32_t flags)
{
	for (uint32_t i = 0; i < c->p->tensors.n; i++)
		if (c->p->tensors.items[i].flags & flags &&
		    hbm_check_leader(c, i) == lead)
			return i;
	return lead;
}

static void forbidden_write(hbm_checker *c, hbm_op_id id, hbm_tensor_id t)
{
	const hbm_program *p = c->p;
	hbm_tensor_id lead = hbm_check_leader(c, t);
	hbm_tensor_id owner = member_with(c, lead, HBM_T_INPUT | HBM_T_WEIGHT);
	bool weight = (p->tensors.items[owner].flags & HBM_T_INPUT) == 0;
	const char *kind = weight ? "weight" : "input";
	hbm_op_id reader = next_access(c, id + 1, false, lead);

	if (owner == t)
		HBM_CHECK_FAIL(c, hbm_check_op_at(c, id), HBM_E_WRITES_INPUT,
		               "op '%s' writes %s '%s'", hbm_op_name(p, id), kind,
		               hbm_tensor_name(p, t));
	else
		HBM_CHECK_FAIL(c, hbm_check_op_at(c, id), HBM_E_WRITES_INPUT,
		               "op '%s' writes '%s', which has the bytes of %s '%s'",
		               hbm_op_name(p, id), hbm_tensor_name(p, t), kind,
		               hbm_tensor_name(p, owner));
	hbm_note(c->diags, hbm_check_tensor_at(c, owner),
	         "'%s' is declared here; it may be written when it is %s",
	         hbm_tensor_name(p, owner), weight ? "state" : "donated or state");
	note_names(c, owner);
	if (reader != HBM_NONE)
		hbm_note(c->diags, hbm_check_op_at(c, reader),
		         "op '%s' reads it afterwards", hbm_op_name(p, reader));
}

static void check_write(hbm_checker *c, flow *f, hbm_op_id id, hbm_tensor_id t)
{
	hbm_tensor_id lead = hbm_check_leader(c, t);
	uint32_t flags = c->set_flags[lead];

	if (flags & (HBM_T_INPUT | HBM_T_WEIGHT) &&
	    !(flags & (HBM_T_DONATED | HBM_T_STATE))) {
		forbidden_write(c, id, t);
		c->set_flags[lead] |= HBM_T_DONATED; /* one message a storage */
	}
	if (f->first[lead] == HBM_NONE)
		f->first[lead] = id;
	f->last[lead] = id;
}

/* ---- the walk ------------------------------------------------------------ */

static hbm_status check_outputs(hbm_checker *c, const flow *f)
{
	uint32_t given = HBM_T_INPUT | HBM_T_WEIGHT | HBM_T_STATE | HBM_T_ZERO;

	for (uint32_t i = 0; i < c->p->tensors.n && c->n_warnings < MAX_WARNINGS; i++) {
		hbm_tensor_id lead = hbm_check_leader(c, i);
		if (!(c->p->tensors.items[i].flags & HBM_T_OUTPUT) ||
		    c->set_flags[lead] & given || f->first[lead] != HBM_NONE)
			continue;
		c->n_warnings++;
		HBM_NEED(hbm_warn(c->diags, HBM_E_READ_BEFORE_WRITE,
		                  hbm_check_tensor_at(c, i),
		                  "output '%s' is never written",
		                  hbm_tensor_name(c->p, i)));
	}
	return HBM_OK;
}

static hbm_status start_flow(hbm_checker *c, flow *f)
{
	uint32_t n = c->p->tensors.n;

	f->first = HBM_ARRAY(&c->scratch, hbm_op_id, n);
	f->last = HBM_ARRAY(&c->scratch, hbm_op_id, n);
	f->parallel = false;
	HBM_NEED(f->first && f->last);
	for (uint32_t i = 0; i < n; i++)
		f->first[i] = f->last[i] = HBM_NONE;
	for (uint32_t i = 0; i < c->p->nodes.n; i++)
		f->parallel |= c->p->nodes.items[i].kind == HBM_NODE_PARALLEL;
	return HBM_OK;
}

hbm_status hbm_check_flow(hbm_checker *c)
{
	const hbm_program *p = c->p;
	flow f;

	HBM_TRY(start_flow(c, &f));
	for (uint32_t id = 0; id < p->ops.n && !hbm_check_full(c); id++) {
		const hbm_op *op = &p->ops.items[id];
		const hbm_operand *r = p->operands.items + op->reads.first;
		const hbm_operand *w = p->operands.items + op->writes.first;
		for (uint32_t i = 0; i < op->reads.n && !hbm_check_full(c); i++)
			check_read(c, &f, id, r[i].tensor);
		for (uint32_t i = 0; i < op->writes.n && !hbm_check_full(c); i++)
			check_write(c, &f, id, w[i].tensor);
	}
	return c->status == HBM_OK ? check_outputs(c, &f) : HBM_OK;
}
