/* SPDX-License-Identifier: Apache-2.0
 * live: the ticks during which a storage's bytes must not be used by others.
 *
 * Base       From the first access to the last, whatever the number of writers.
 * Loops      A body stands once but runs many times. For every loop that has
 *            accesses to the storage:
 *   carried  if a read of the body sees bytes that no write of the same trip put
 *            there before it, the value comes from before the loop or from an
 *            earlier trip: live over the whole loop.
 *   spread   if a write of the body advances with the loop and something after the
 *            loop accesses the storage, each trip's bytes must outlast the later
 *            trips: live from the loop's first tick.
 *            Otherwise the value is born anew each trip, and the base range holds.
 * Bytes      What a write covers is tracked as byte ranges, not names. Where the
 *            tracking gives up (many pieces, unequal strides, unknown trips) a
 *            read counts as not covered, which is the safe side.
 * Parallel   Whatever a parallel group touches is live over the group.
 * Cost       Accesses times nesting depth, times at most MAX_COVER pieces. */
#include "analysis/internal.h"

#include "base/ckd.h"

enum { MAX_COVER = 32 };

/* A byte range of the storage that the current trip has written. */
typedef struct cover {
	uint64_t lo, hi;   /* in the trips the write stands in */
	uint64_t xlo, xhi; /* over all trips of the loops inside the group's loop */
	uint64_t sig;      /* of all strides: equal means moving together */
	uint64_t outer;    /* of the strides on the group's loop and around it */
	bool moves;        /* there are such strides */
	uint32_t from;     /* tick from which [xlo, xhi) is complete */
} cover;

typedef struct covers {
	cover items[MAX_COVER];
	uint32_t n;
} covers;

typedef struct walk {
	const hbm_program *p;
	hbm_analysis *an;
	uint32_t *first, *last; /* node -> ticks [first, last) */
} walk;

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
	return h ^ h >> 29;
}

/* The window of one access in storage bytes, seen from loop `l`. */
static cover window(const walk *w, const hbm_access *a, hbm_node_id l)
{
	const hbm_program *p = w->p;
	const hbm_operand *o = &p->operands.items[a->operand];
	uint64_t size = p->tensors.items[o->tensor].size;
	cover c = {.lo = w->an->offset[o->tensor] + o->offset, .from = a->op + 1};
	uint64_t len = o->len ? o->len : size > o->offset ? size - o->offset : 0;

	c.hi = c.lo + len;
	c.xlo = c.lo;
	c.xhi = c.hi;
	for (uint32_t i = 0; i < o->strides.n; i++) {
		const hbm_stride *s = &p->strides.items[o->strides.first + i];
		const hbm_node *loop = &p->nodes.items[s->loop];
		uint64_t key = mix(mix(1, s->loop), s->bytes);
		if (!s->bytes || loop->trips == 1)
			continue;
		c.sig += key;
		if (s->loop <= l) { /* the loop itself or one around it */
			c.outer += key;
			c.moves = true;
			continue;
		}
		if (w->last[s->loop] > c.from)
			c.from = w->last[s->loop];
		if (!loop->trips)
			c.xhi = a->write ? c.xhi : UINT64_MAX;
		else if (!a->write || s->bytes <= c.xhi - c.xlo)
			c.xhi = hbm_add_sat(c.xhi, hbm_mul_sat(loop->trips - 1, s->bytes));
	}
	return c;
}

/* True if [lo, hi) is within the union of the matching pieces. */
static bool covered(const covers *set, const cover *r, uint32_t tick, bool across)
{
	uint64_t at = across ? r->xlo : r->lo, end = across ? r->xhi : r->hi;
	bool moved = true;

	while (at < end && moved) {
		moved = false;
		for (uint32_t i = 0; i < set->n; i++) {
			const cover *c = &set->items[i];
			uint64_t lo = across ? c->xlo : c->lo;
			uint64_t hi = across ? c->xhi : c->hi;
			bool match = across ? c->outer == r->outer && c->from <= tick
			                    : c->sig == r->sig;
			if (match && lo <= at && hi > at) {
				at = hi;
				moved = true;
			}
		}
	}
	return at >= end;
}

/* Inside a loop of unknown trips, which may run no trip, nothing is sure to be
 * written for those outside it. */
static bool sure(const walk *w, const hbm_access *a, hbm_node_id l)
{
	hbm_node_id n = w->p->ops.items[a->op].node;

	for (n = w->p->nodes.items[n].parent; n != l && n != HBM_NONE;
	     n = w->p->nodes.items[n].parent)
		if (w->p->nodes.items[n].kind == HBM_NODE_LOOP &&
		    !w->p->nodes.items[n].trips)
			return false;
	return true;
}

static void extend(hbm_storage *s, uint32_t first, uint32_t last, bool to_end)
{
	if (first <= s->start) {
		s->start = first;
		s->from_earlier = true;
	}
	if (to_end && last >= s->end) {
		s->end = last;
		s->to_later = true;
	}
}

/* Accesses [i, j) of the storage lie in loop `l`. */
static void cross_loop(const walk *w, hbm_storage *s, hbm_node_id l, uint32_t i,
                       uint32_t j)
{
	const hbm_access *acc = w->an->accesses + s->accesses.first;
	bool carried = false, spread = false;
	covers set = {.n = 0};

	for (; i < j && !carried; i++) {
		cover c = window(w, &acc[i], l);
		if (!acc[i].write) {
			carried = !covered(&set, &c, acc[i].op, false) &&
			          !covered(&set, &c, acc[i].op, true);
			continue;
		}
		spread |= c.moves;
		if (set.n < MAX_COVER && sure(w, &acc[i], l))
			set.items[set.n++] = c;
	}
	if (carried)
		extend(s, w->first[l], w->last[l], true);
	else if (spread && s->flags & (HBM_T_OUTPUT | HBM_T_STATE))
		extend(s, w->first[l], w->last[l], true); /* the caller reads it later */
	else if (spread && s->end > w->last[l])
		extend(s, w->first[l], w->last[l], false);
}

static void cross(const walk *w, hbm_storage *s, hbm_node_id l, uint32_t i)
{
	const hbm_node *node = &w->p->nodes.items[l];
	const hbm_access *acc = w->an->accesses + s->accesses.first;
	uint32_t j = i;

	while (j < s->accesses.n && acc[j].op < w->last[l])
		j++;
	if (node->kind == HBM_NODE_PARALLEL)
		extend(s, w->first[l], w->last[l], true);
	else if (node->kind == HBM_NODE_LOOP && node->trips != 1)
		cross_loop(w, s, l, i, j);
}

static void storage_range(const walk *w, hbm_storage *s)
{
	const hbm_access *acc = w->an->accesses + s->accesses.first;

	s->start = s->end = 0;
	s->from_earlier = s->to_later = false;
	if (!s->accesses.n)
		return;
	s->start = acc[0].op;
	s->end = acc[s->accesses.n - 1].op + 1;
	for (uint32_t i = 0; i < s->accesses.n; i++) {
		hbm_node_id n = w->p->ops.items[acc[i].op].node;
		for (n = w->p->nodes.items[n].parent; n != HBM_NONE;
		     n = w->p->nodes.items[n].parent)
			if (!i || acc[i - 1].op < w->first[n])
				cross(w, s, n, i);
	}
	if (s->flags & HBM_T_ZERO)
		s->start = 0; /* filled before the program runs */
}

static hbm_status node_ticks(walk *w)
{
	uint32_t tick = 0;

	HBM_NEED(w->first = HBM_ARRAY(w->an->arena, uint32_t, w->p->nodes.n));
	HBM_NEED(w->last = HBM_ARRAY(w->an->arena, uint32_t, w->p->nodes.n));
	for (uint32_t n = 0; n < w->p->nodes.n; n++) {
		w->first[n] = tick;
		tick += w->p->nodes.items[n].kind == HBM_NODE_OP;
	}
	for (uint32_t n = 0; n < w->p->nodes.n; n++) {
		hbm_node_id end = w->p->nodes.items[n].end;
		w->last[n] = end < w->p->nodes.n ? w->first[end] : tick;
	}
	return HBM_OK;
}

hbm_status hbm_live_ranges(hbm_analysis *an, const hbm_program *p)
{
	walk w = {.p = p, .an = an};

	HBM_TRY(node_ticks(&w));
	for (uint32_t s = 0; s < an->storages.n; s++)
		storage_range(&w, &an->storages.items[s]);
	return HBM_OK;
}
