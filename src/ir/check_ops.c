/* SPDX-License-Identifier: Apache-2.0 */
/* Ops one by one: what an operand reaches over all trips of its loops, in-place
 * pairs, attributes. */
#include "ir/check.h"

#include "base/ckd.h"

#include <inttypes.h>

/* Trips that are certain. */
static uint64_t least_trips(const hbm_node *loop)
{
	return loop->trips ? loop->trips : 2;
}

/* Reports a stride of something that is no enclosing loop. */
static bool loop_encloses(hbm_checker *c, hbm_op_id op, hbm_tensor_id t,
                          hbm_node_id loop)
{
	const hbm_program *p = c->p;
	hbm_node_id at = p->ops.items[op].node;

	while (at != HBM_NONE && at != loop)
		at = p->nodes.items[at].parent;
	if (at != HBM_NONE && p->nodes.items[at].kind == HBM_NODE_LOOP)
		return true;
	HBM_CHECK_FAIL(c, hbm_check_op_at(c, op), HBM_E_STRUCTURE,
	               "op '%s' advances '%s' with '%s', which is no loop around it",
	               hbm_op_name(p, op), hbm_tensor_name(p, t),
	               hbm_str_of(p, p->nodes.items[loop].name));
	return false;
}

/* Reports stride i of a loop that an earlier stride names. Loops around an op are
 * few: many strides repeat one soon. */
static bool named_once(hbm_checker *c, hbm_op_id op, const hbm_operand *o, uint32_t i)
{
	const hbm_stride *s = &c->p->strides.items[o->strides.first];

	for (uint32_t k = 0; k < i; k++) {
		if (s[k].loop != s[i].loop)
			continue;
		HBM_CHECK_FAIL(c, hbm_check_op_at(c, op), HBM_E_STRUCTURE,
		               "op '%s' advances '%s' twice with '%s'",
		               hbm_op_name(c->p, op), hbm_tensor_name(c->p, o->tensor),
		               hbm_str_of(c->p, c->p->nodes.items[s[i].loop].name));
		return false;
	}
	return true;
}

/* How far the operand's window advances, and how many tiles its loops run
 * through. Both saturate. */
static bool advance(hbm_checker *c, hbm_op_id op, const hbm_operand *o,
                    uint64_t *ret_bytes, uint64_t *ret_tiles)
{
	*ret_bytes = 0;
	*ret_tiles = 1;
	for (uint32_t i = 0; i < o->strides.n; i++) {
		const hbm_stride *s = &c->p->strides.items[o->strides.first + i];
		uint64_t trips;
		if (!loop_encloses(c, op, o->tensor, s->loop) || !named_once(c, op, o, i))
			return false;
		trips = least_trips(&c->p->nodes.items[s->loop]);
		*ret_bytes = hbm_add_sat(*ret_bytes, hbm_mul_sat(s->bytes, trips - 1));
		*ret_tiles = hbm_mul_sat(*ret_tiles, s->bytes ? trips : 1);
	}
	return true;
}

static void out_of_range(hbm_checker *c, hbm_op_id op, const hbm_operand *o,
                         uint64_t len, uint64_t bytes, uint64_t room)
{
	const char *name = hbm_tensor_name(c->p, o->tensor);
	uint64_t end = hbm_add_sat(hbm_add_sat(o->offset, len), bytes);

	if (bytes)
		HBM_CHECK_FAIL(c, hbm_check_op_at(c, op), HBM_E_ACCESS_RANGE,
		               "op '%s' reaches byte %" PRIu64 " of '%s' (%" PRIu64
		               " + %" PRIu64 ", advanced by %" PRIu64
		               " over its loops), which has %" PRIu64,
		               hbm_op_name(c->p, op), end, name, o->offset, len, bytes,
		               room);
	else
		HBM_CHECK_FAIL(c, hbm_check_op_at(c, op), HBM_E_ACCESS_RANGE,
		               "op '%s' reaches byte %" PRIu64 " of '%s', which has "
		               "%" PRIu64,
		               hbm_op_name(c->p, op), end, name, room);
	hbm_note(c->diags, hbm_check_tensor_at(c, o->tensor), "'%s' is declared here",
	         name);
}

static void check_operand(hbm_checker *c, hbm_op_id op, const hbm_operand *o)
{
	uint64_t size = c->size[o->tensor], len = o->len, bytes, tiles, end;
	uint64_t room = size;

	if (!advance(c, op, o, &bytes, &tiles) || size == HBM_NO_OFFSET)
		return;
	if (!len && o->offset < size)
		len = size - o->offset;
	if (c->p->tensors.items[o->tensor].flags & HBM_T_TILE)
		room = hbm_mul_sat(size, tiles);
	if ((o->offset && o->offset >= size) || !hbm_add(o->offset, len, &end) ||
	    end > size || !hbm_add(end, bytes, &end) || end > room)
		out_of_range(c, op, o, len, bytes, room);
}

/* ---- in-place pairs ------------------------------------------------------ */

static bool check_pair(hbm_checker *c, hbm_op_id id, const hbm_inplace *pair)
{
	const hbm_program *p = c->p;
	const hbm_op *op = &p->ops.items[id];
	hbm_tensor_id w, r;

	if (pair->write >= op->writes.n || pair->read >= op->reads.n) {
		HBM_CHECK_FAIL(c, hbm_check_op_at(c, id), HBM_E_INPLACE,
		               "op '%s' has no output %" PRIu32 " or no input %" PRIu32,
		               hbm_op_name(p, id), pair->write, pair->read);
		return false;
	}
	w = p->operands.items[op->writes.first + pair->write].tensor;
	r = p->operands.items[op->reads.first + pair->read].tensor;
	if (c->size[w] == HBM_NO_OFFSET || c->size[r] == HBM_NO_OFFSET ||
	    c->size[w] <= c->size[r])
		return true;
	HBM_CHECK_FAIL(
		c, hbm_check_op_at(c, id), HBM_E_INPLACE,
		"'%s' has %" PRIu64 " bytes and cannot take those of '%s', which "
		"has %" PRIu64,
		hbm_tensor_name(p, w), c->size[w], hbm_tensor_name(p, r), c->size[r]);
	return false;
}

/* An output that must take the bytes of two inputs. `taken`: output -> input. */
static hbm_status check_must(hbm_checker *c, hbm_op_id id, const hbm_inplace *pair,
                             hbm_map *taken)
{
	const hbm_program *p = c->p;
	const hbm_op *op = &p->ops.items[id];
	hbm_tensor_id r = p->operands.items[op->reads.first + pair->read].tensor;
	hbm_tensor_id other = hbm_map_get(taken, pair->write);

	if (other == HBM_NONE) {
		HBM_NEED(hbm_map_set(taken, pair->write, r));
	} else if (other != r) {
		hbm_tensor_id w =
			p->operands.items[op->writes.first + pair->write].tensor;
		HBM_CHECK_FAIL(c, hbm_check_op_at(c, id), HBM_E_INPLACE,
		               "'%s' must take the bytes of '%s' and of '%s'",
		               hbm_tensor_name(p, w), hbm_tensor_name(p, other),
		               hbm_tensor_name(p, r));
	}
	return HBM_OK;
}

static hbm_status check_inplace(hbm_checker *c, hbm_op_id id)
{
	const hbm_op *op = &c->p->ops.items[id];
	hbm_map taken;

	hbm_map_init(&taken, &c->scratch);
	for (uint32_t i = 0; i < op->inplace.n && !hbm_check_full(c); i++) {
		const hbm_inplace *pair = &c->p->inplaces.items[op->inplace.first + i];
		if (check_pair(c, id, pair) && pair->must && op->inplace.n > 1)
			HBM_TRY(check_must(c, id, pair, &taken));
	}
	return HBM_OK;
}

static void check_attrs(hbm_checker *c, hbm_op_id id)
{
	hbm_span attrs = c->p->ops.items[id].attrs;

	for (uint32_t i = 0; i < attrs.n; i++) {
		hbm_status st = hbm_attr_check(c->p, c->diags, HBM_ATTR_OP,
		                               &c->p->attrs.items[attrs.first + i],
		                               hbm_check_op_at(c, id));
		if (st != HBM_OK)
			hbm_check_failed(c, st);
	}
}

hbm_status hbm_check_ops(hbm_checker *c)
{
	for (uint32_t id = 0; id < c->p->ops.n && !hbm_check_full(c); id++) {
		const hbm_op *op = &c->p->ops.items[id];
		const hbm_operand *r = c->p->operands.items + op->reads.first;
		const hbm_operand *w = c->p->operands.items + op->writes.first;
		for (uint32_t i = 0; i < op->reads.n && !hbm_check_full(c); i++)
			check_operand(c, id, &r[i]);
		for (uint32_t i = 0; i < op->writes.n && !hbm_check_full(c); i++)
			check_operand(c, id, &w[i]);
		HBM_TRY(check_inplace(c, id));
		check_attrs(c, id);
	}
	return HBM_OK;
}
