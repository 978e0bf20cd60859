/* SPDX-License-Identifier: Apache-2.0
 *
 * trace: live ranges by running the program forward, one class at a time.
 *
 * The touches of a class are executed in run order over an abstract memory of
 * byte ranges, every loop body once, as "some trip". Each open loop has a memory
 * of what this trip of it has written. A read looks its bytes up from the
 * innermost loop outwards: bytes that the trip has not written came from before
 * the loop or from an earlier trip, so the class lives through the whole loop.
 * Bytes that nothing can have written yet are undefined and bind nobody.
 *
 * When a loop is left, what its trips wrote is spread over the addresses they
 * reach and handed to the loop around it. Where trips write different bytes,
 * those of the earlier trips must outlast the later ones if anything reads them
 * after the loop; then, too, the class lives through the whole loop.
 *
 * Strides    A range moves with the loops around it by `coef` bytes a trip. Ranges
 *            with the same coefficients keep their distance, and are kept in one
 *            group with its own space of the memory. `dims` are steps over loops
 *            already left whose trips do not touch each other.
 * Safe side  Where shapes differ, a write covers a read only if it covers all
 *            bytes the read ever reaches. More than HBM_TRACE_DIMS steps, or MAX_GAPS
 *            holes in one read: taken as not written.
 * Cost       Per touch: nesting depth times the pieces looked at, times log. */
#include "verify/trace.h"

#include "base/ckd.h"

#include <assert.h>
#include <string.h>

enum { MAX_GAPS = 1000 };

static void cross(hbm_trace *tr, hbm_node_id n)
{
	hbm_class *c = tr->c;

	if (tr->f->begin[n] < c->from)
		c->from = tr->f->begin[n];
	if (tr->f->end[n] > c->to)
		c->to = tr->f->end[n];
}

static bool crossed(const hbm_trace *tr, hbm_node_id n)
{
	return tr->c->from <= tr->f->begin[n] && tr->c->to >= tr->f->end[n];
}

/* ---- reading -------------------------------------------------------------- */

static bool defined(const hbm_trace *tr, uint64_t lo, uint64_t hi)
{
	return tr->always || hbm_ranges_find(&tr->mem, HBM_TRACE_DEFINED, lo, hi);
}

/* True if the writes of this trip of level `d` that do not move with anything
 * hold all bytes that the shape ever reaches. */
static bool all_written(const hbm_trace *tr, uint32_t d, const hbm_shape *s)
{
	uint64_t end = hbm_shape_reach(tr, s, tr->depth, false);
	const hbm_piece *p =
		hbm_ranges_find(&tr->mem, tr->levels[d].still, s->lo, end);

	return p && p->lo <= s->lo && p->hi >= end;
}

static void look_up(hbm_trace *tr, uint32_t depth, const hbm_shape *s);

/* Bytes [lo, hi) of the shape are not written in this trip by what moves alike. */
static void look_further(hbm_trace *tr, uint32_t d, const hbm_shape *s, uint64_t lo,
                         uint64_t hi)
{
	hbm_shape part = *s;

	part.lo = lo;
	part.len = hi - lo;
	if (all_written(tr, d, &part) ||
	    !defined(tr, lo, hbm_shape_reach(tr, &part, tr->depth, false)))
		return;
	cross(tr, tr->levels[d].loop);
	hbm_shape_fold(tr, &part, d, false);
	look_up(tr, d, &part);
}

/* Where does a read of the shape get its bytes, seen from the `depth` outermost
 * loops? Recursion is as deep as loops nest. */
static void look_up(hbm_trace *tr, uint32_t depth, const hbm_shape *s)
{
	uint64_t at = s->lo, end = hbm_add_sat(s->lo, s->len);
	uint32_t d = depth - 1, space;

	if (!depth || crossed(tr, tr->levels[0].loop))
		return;
	space = s->lost ? HBM_NONE : hbm_trace_space(tr, d, s);
	while (at < end) {
		const hbm_piece *p = tr->gaps < MAX_GAPS
			? hbm_ranges_find(&tr->mem, space, at, end) : NULL;
		uint64_t gap = p ? p->lo : end;
		if (gap > at) {
			tr->gaps++;
			look_further(tr, d, s, at, gap);
		}
		at = p ? p->hi : end;
	}
}

/* A read after a loop whose trips wrote different bytes of it. */
static void look_at_spread(hbm_trace *tr, uint64_t lo, uint64_t hi)
{
	const hbm_piece *p;
	uint32_t n = 0;

	while (lo < hi && (p = hbm_ranges_find(&tr->mem, HBM_TRACE_SPREAD, lo, hi)) != NULL) {
		cross(tr, p->cargo.who);
		lo = p->hi;
		if (++n == MAX_GAPS)
			break;
	}
}

static void on_read(hbm_trace *tr, const hbm_shape *s)
{
	tr->gaps = 0;
	look_up(tr, tr->depth, s);
	look_at_spread(tr, s->lo, hbm_shape_reach(tr, s, tr->depth, false));
}

/* ---- writing -------------------------------------------------------------- */

static hbm_status define(hbm_trace *tr, uint64_t lo, uint64_t hi)
{
	HBM_NEED(hbm_ranges_put(&tr->mem, HBM_TRACE_DEFINED, lo, hi, (hbm_cargo){0}));
	return HBM_OK;
}

static hbm_status on_write(hbm_trace *tr, const hbm_shape *s)
{
	uint64_t end = hbm_add_sat(s->lo, s->len);

	if (!hbm_shape_moves(s, tr->depth))
		HBM_NEED(hbm_ranges_cut(&tr->mem, HBM_TRACE_SPREAD, s->lo, end));
	if (!tr->depth)
		return define(tr, s->lo, end);
	return hbm_trace_record(tr, tr->depth - 1, s);
}

/* ---- loops ---------------------------------------------------------------- */

/* What the trips of level `d` wrote in one space, seen from outside the loop. */
static hbm_status hand_up(hbm_trace *tr, uint32_t d, uint32_t space,
                          const hbm_shape *move)
{
	hbm_cargo who = {.who = tr->levels[d].loop};
	const hbm_piece *p;
	uint64_t at = 0;

	while ((p = hbm_ranges_find(&tr->mem, space, at, UINT64_MAX)) != NULL) {
		hbm_shape s = *move;
		s.lo = p->lo;
		s.len = p->hi - p->lo;
		at = p->hi;
		if (s.coef[d])
			HBM_NEED(hbm_ranges_put(&tr->mem, HBM_TRACE_SPREAD, s.lo,
			                        hbm_shape_reach(tr, &s, tr->depth, false), who));
		hbm_shape_fold(tr, &s, d, true);
		if (d)
			HBM_TRY(hbm_trace_record(tr, d - 1, &s));
	}
	return HBM_OK;
}

static hbm_status close_loop(hbm_trace *tr)
{
	uint32_t d = tr->depth - 1, i = tr->levels[d].groups;
	hbm_shape move = {0};

	HBM_TRY(hand_up(tr, d, tr->levels[d].still, &move));
	while (i != HBM_NONE) {
		hbm_group g = tr->groups.items[i];
		hbm_trace_moves(tr, &g, d, &move);
		HBM_TRY(hand_up(tr, d, g.space, &move));
		i = g.next;
	}
	tr->depth--;
	return HBM_OK;
}

static void shape_of_touch(const hbm_trace *tr, const hbm_touch *t, hbm_shape *ret)
{
	const hbm_program *p = tr->f->p;
	const hbm_operand *o = &p->operands.items[t->operand];

	memset(ret, 0, sizeof *ret);
	hbm_facts_window(tr->f, o, &ret->lo, &ret->len);
	for (uint32_t i = 0; i < o->strides.n; i++) {
		const hbm_stride *s = &p->strides.items[o->strides.first + i];
		for (uint32_t d = 0; d < tr->depth; d++)
			if (tr->levels[d].loop == s->loop)
				ret->coef[d] += s->bytes;
	}
}

/* Before an outermost loop runs: everything its body may write in any trip. */
static hbm_status define_ahead(hbm_trace *tr, uint32_t i, hbm_node_id loop)
{
	const hbm_program *p = tr->f->p;
	const hbm_touch *t = tr->f->touches + tr->c->touches.first;

	for (; i < tr->c->touches.n && t[i].op < tr->f->end[loop]; i++) {
		const hbm_operand *o = &p->operands.items[t[i].operand];
		uint64_t lo, end;
		if (!t[i].write)
			continue;
		hbm_facts_window(tr->f, o, &lo, &end);
		end = hbm_add_sat(end, lo);
		for (uint32_t k = 0; k < o->strides.n; k++) {
			const hbm_stride *s = &p->strides.items[o->strides.first + k];
			uint64_t trips = p->nodes.items[s->loop].trips;
			end = hbm_add_sat(end, hbm_mul_sat(s->bytes, trips - 1));
		}
		HBM_TRY(define(tr, lo, end));
	}
	return HBM_OK;
}

/* Leaves the loops that do not hold touch `i`, enters those that do. */
static hbm_status move_to(hbm_trace *tr, uint32_t i)
{
	const hbm_facts *f = tr->f;
	hbm_op_id op = f->touches[tr->c->touches.first + i].op;
	hbm_node_id inner = f->loop[f->p->ops.items[op].node], n;
	uint32_t open = 0;

	while (tr->depth && f->end[tr->levels[tr->depth - 1].loop] <= op)
		HBM_TRY(close_loop(tr));
	for (n = inner; n != HBM_NONE &&
	     !(tr->depth && n == tr->levels[tr->depth - 1].loop); n = f->loop[n])
		open++;
	assert(tr->depth + open <= HBM_MAX_DEPTH);
	n = inner;
	for (uint32_t k = open; k; k--, n = f->loop[n])
		tr->levels[tr->depth + k - 1] =
			(hbm_level){n, ++tr->serial, tr->spaces++, HBM_NONE};
	if (!tr->depth && open && !tr->always)
		HBM_TRY(define_ahead(tr, i, tr->levels[0].loop));
	tr->depth += open;
	return HBM_OK;
}

static hbm_status run(hbm_trace *tr)
{
	const hbm_touch *t = tr->f->touches + tr->c->touches.first;
	hbm_shape s;

	for (uint32_t i = 0; i < tr->c->touches.n; i++) {
		HBM_TRY(move_to(tr, i));
		shape_of_touch(tr, &t[i], &s);
		if (t[i].write)
			HBM_TRY(on_write(tr, &s));
		else
			on_read(tr, &s);
	}
	while (tr->depth)
		HBM_TRY(close_loop(tr));
	if (tr->c->flags & (HBM_T_OUTPUT | HBM_T_STATE))
		look_at_spread(tr, 0, UINT64_MAX);
	return HBM_OK;
}

/* Marks the parallel groups the class is touched in; true if it is also touched
 * in a loop that can run twice. */
static bool look_around(hbm_trace *tr)
{
	const hbm_facts *f = tr->f;
	const hbm_touch *t = f->touches + tr->c->touches.first;
	bool loops = false;

	for (uint32_t i = 0; i < tr->c->touches.n; i++) {
		hbm_node_id n = f->p->ops.items[t[i].op].node;
		if (f->group[n] != HBM_NONE)
			cross(tr, f->group[n]);
		loops |= f->loop[n] != HBM_NONE;
	}
	return loops;
}

static hbm_status trace_class(hbm_trace *tr, hbm_class *c)
{
	enum { BORN_BEFORE = HBM_T_INPUT | HBM_T_WEIGHT | HBM_T_STATE | HBM_T_ZERO };

	c->from = UINT32_MAX;
	c->to = 0;
	c->start = c->end = 0;
	tr->c = c;
	tr->always = c->flags & BORN_BEFORE;
	if (!c->touches.n)
		return HBM_OK;
	if (look_around(tr)) {
		hbm_ranges_clear(&tr->mem);
		tr->spaces = HBM_TRACE_SPACES;
		tr->groups.n = tr->words.n = 0;
		HBM_TRY(run(tr));
	}
	c->start = c->from < c->first ? c->from : c->first;
	c->end = c->to > c->last ? c->to : c->last + 1;
	if (c->flags & HBM_T_ZERO)
		c->start = 0; /* filled before the program runs */
	return HBM_OK;
}

hbm_status hbm_facts_trace(hbm_facts *f)
{
	hbm_trace tr = {.f = f};

	HBM_TRY(hbm_ranges_init(&tr.mem, f->arena));
	hbm_map_init(&tr.by_key, f->arena);
	for (uint32_t i = 0; i < f->classes.n; i++)
		HBM_TRY(trace_class(&tr, &f->classes.items[i]));
	return HBM_OK;
}
