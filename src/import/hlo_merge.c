/* SPDX-License-Identifier: Apache-2.0
 * hlo_merge: which values share bytes.
 *
 * A class of values stands in one piece of memory, one value after the other. It has
 * the intervals of steps during which it holds a value. Two classes become one when
 * no step is in intervals of both, or when they touch at a step that may put the
 * later value into the bytes of the earlier one (a move, an update, an elementwise
 * operation).
 *
 * Order      1  state before and after its loop; argument and aliased result (always)
 *            2  the body's result with the state; a result with its argument
 *            3  a loop's initial value with the state; a branch's result with that
 *               of its conditional
 *            4  updates with what they update, in run order
 *            5  elementwise results with an operand whose bytes are a state's
 *            What 2 and 3 cannot join becomes a copy. Elementwise takeovers among
 *            plain temporaries are left to the planner (optional in-place pairs).
 * Never      into bytes of constants and of arguments that are not donated.
 * Cost       O(n log n): the shorter list of intervals goes into the longer one. */
#include "import/hlo_flat.h"

#include <string.h>

typedef struct interval {
	uint32_t start, end;   /* steps, closed */
	uint32_t first, last;  /* the values at its ends */
} interval;

typedef struct class {
	interval *items;
	uint32_t n, cap;
	uint32_t flags; /* of all values */
	uint64_t size;  /* of the largest value */
} class;

typedef struct merger {
	hlo_flat *f;
	uint32_t *parent;
	class *of;      /* by root value */
	hbm_map may;    /* read << 32 | write: the write may take the read's bytes */
} merger;

static uint32_t root_of(merger *g, uint32_t v)
{
	uint32_t r = v, next;

	while (g->parent[r] != r)
		r = g->parent[r];
	for (; g->parent[v] != r; v = next) {
		next = g->parent[v];
		g->parent[v] = r;
	}
	return r;
}

/* ---- intervals ------------------------------------------------------------ */

/* The first interval that ends at or after `step`. */
static uint32_t lower(const class *c, uint32_t step)
{
	uint32_t lo = 0, hi = c->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (c->items[mid].end < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool handed_on(const merger *g, const interval *a, const interval *b)
{
	return a->end == b->start &&
	       hbm_map_get(&g->may, (uint64_t)a->last << 32 | b->first) != HBM_NONE;
}

/* `x` fits between the intervals of `c`. */
static bool fits(const merger *g, const class *c, const interval *x)
{
	for (uint32_t i = lower(c, x->start); i < c->n; i++) {
		const interval *y = &c->items[i];
		if (y->start > x->end)
			return true;
		if (!handed_on(g, y, x) && !handed_on(g, x, y))
			return false;
	}
	return true;
}

/* Puts `x` in its place, as one with the neighbours that it touches. */
static bool insert(merger *g, class *c, interval x)
{
	uint32_t at = lower(c, x.start), gone = 0;

	while (at + gone < c->n && c->items[at + gone].start <= x.end) {
		interval *y = &c->items[at + gone++];
		if (y->start < x.start) {
			x.start = y->start;
			x.first = y->first;
		}
		if (y->end > x.end || (y->end == x.end && y->start == x.end)) {
			x.end = y->end;
			x.last = y->last;
		}
	}
	if (!gone) {
		if (c->n == c->cap &&
		    !hbm_vec_reserve(g->f->arena, (void **)&c->items, c->n, &c->cap, 1,
		                     sizeof *c->items))
			return false;
		memmove(c->items + at + 1, c->items + at, (c->n - at) * sizeof *c->items);
		c->n++;
	} else if (gone > 1) {
		memmove(c->items + at + 1, c->items + at + gone,
		        (c->n - at - gone) * sizeof *c->items);
		c->n -= gone - 1;
	}
	c->items[at] = x;
	return true;
}

/* ---- classes -------------------------------------------------------------- */

static hbm_status join(merger *g, uint32_t a, uint32_t b)
{
	class *x, *y;

	if (g->of[a].n < g->of[b].n) {
		uint32_t swap = a;
		a = b;
		b = swap;
	}
	x = &g->of[a];
	y = &g->of[b];
	for (uint32_t i = 0; i < y->n; i++)
		HBM_NEED(insert(g, x, y->items[i]));
	x->flags |= y->flags;
	if (y->size > x->size)
		x->size = y->size;
	y->n = 0;
	g->parent[b] = a;
	return HBM_OK;
}

static bool allowed(const merger *g, uint32_t a, uint32_t b)
{
	const class *x = &g->of[a], *y = &g->of[b];
	uint32_t host = HLO_V_HOST;

	if ((x->flags | y->flags) & HLO_V_READONLY || (x->flags ^ y->flags) & host)
		return false;
	/* Arguments have their bytes from the caller: two never share. */
	if (x->flags & y->flags & HLO_V_PARAM)
		return false;
	if ((x->flags & HLO_V_PARAM && y->size > x->size) ||
	    (y->flags & HLO_V_PARAM && x->size > y->size))
		return false;
	if (x->n < y->n) {
		const class *swap = x;
		x = y;
		y = swap;
	}
	for (uint32_t i = 0; i < y->n; i++)
		if (!fits(g, x, &y->items[i]))
			return false;
	return true;
}

static hbm_status try_join(merger *g, uint32_t v, uint32_t w, bool *ret)
{
	uint32_t a = root_of(g, hlo_value_of(g->f, v));
	uint32_t b = root_of(g, hlo_value_of(g->f, w));

	*ret = a == b || allowed(g, a, b);
	return a != b && *ret ? join(g, a, b) : HBM_OK;
}

static hbm_status init(merger *g)
{
	hlo_flat *f = g->f;

	HBM_NEED(g->parent = HBM_ARRAY(f->arena, uint32_t, f->values.n));
	HBM_NEED(g->of = HBM_ZARRAY(f->arena, class, f->values.n));
	for (uint32_t v = 0; v < f->values.n; v++) {
		const hlo_value *x = &f->values.items[v];
		interval i = {x->def, x->last, v, v};
		g->parent[v] = v;
		if (x->same != v)
			continue;
		g->of[v].flags = x->flags;
		g->of[v].size = x->size;
		HBM_NEED(insert(g, &g->of[v], i));
	}
	return HBM_OK;
}

static hbm_status note(merger *g, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)hlo_value_of(g->f, from) << 32 | hlo_value_of(g->f, to);

	return hbm_map_set(&g->may, key, 1) ? HBM_OK : HBM_NOMEM;
}

static hbm_status note_all(merger *g)
{
	const hlo_flat *f = g->f;

	hbm_map_init(&g->may, f->arena);
	for (uint32_t i = 0; i < f->pairs.n; i++)
		HBM_TRY(note(g, f->pairs.items[i].read, f->pairs.items[i].write));
	for (uint32_t s = 0; s < f->steps.n; s++) {
		const hlo_step *x = &f->steps.items[s];
		for (uint32_t i = 0; i < x->moves.n && x->kind != HLO_S_BRANCH_END; i++) {
			const hlo_move *m = &f->moves.items[x->moves.first + i];
			HBM_TRY(note(g, m->from, m->to));
		}
	}
	return HBM_OK;
}

/* ---- the order ------------------------------------------------------------ */

static hbm_status join_bound(merger *g)
{
	for (uint32_t i = 0; i < g->f->bound.n; i++) {
		const hlo_pair *p = &g->f->bound.items[i];
		uint32_t a = root_of(g, hlo_value_of(g->f, p->read));
		uint32_t b = root_of(g, hlo_value_of(g->f, p->write));
		if (a != b)
			HBM_TRY(join(g, a, b));
	}
	return HBM_OK;
}

static hbm_status join_moves(merger *g, const hlo_step *x)
{
	for (uint32_t i = 0; i < x->moves.n; i++) {
		hlo_move *m = &g->f->moves.items[x->moves.first + i];
		bool joined;
		HBM_TRY(try_join(g, m->from, m->to, &joined));
		m->copy = !joined;
	}
	return HBM_OK;
}

/* A branch's result must be the branch's own: born and gone between its ends. */
static bool own(merger *g, const hlo_step *x, uint32_t step, uint32_t v)
{
	const class *c = &g->of[root_of(g, hlo_value_of(g->f, v))];

	return c->n && c->items[0].start > x->open && c->items[c->n - 1].end <= step;
}

static hbm_status join_branch(merger *g, const hlo_step *x, uint32_t step)
{
	for (uint32_t i = 0; i < x->moves.n; i++) {
		hlo_move *m = &g->f->moves.items[x->moves.first + i];
		bool joined = false;
		if (own(g, x, step, m->from))
			HBM_TRY(try_join(g, m->from, m->to, &joined));
		m->copy = !joined;
	}
	return HBM_OK;
}

static hbm_status pass_moves(merger *g, bool ends)
{
	for (uint32_t s = 0; s < g->f->steps.n; s++) {
		const hlo_step *x = &g->f->steps.items[s];
		bool end = x->kind == HLO_S_LOOP_END || x->kind == HLO_S_END;
		if (end == ends && x->kind == HLO_S_BRANCH_END)
			HBM_TRY(join_branch(g, x, s));
		else if (end == ends)
			HBM_TRY(join_moves(g, x));
	}
	return HBM_OK;
}

static bool is_state(merger *g, uint32_t v)
{
	return g->of[root_of(g, hlo_value_of(g->f, v))].flags & HLO_V_STATE;
}

static hbm_status pass_pairs(merger *g, bool updates)
{
	for (uint32_t i = 0; i < g->f->pairs.n; i++) {
		const hlo_pair *p = &g->f->pairs.items[i];
		bool joined;
		if (updates ? p->update
		            : !p->update && (is_state(g, p->read) || is_state(g, p->write)))
			HBM_TRY(try_join(g, p->read, p->write, &joined));
	}
	return HBM_OK;
}

hbm_status hlo_merge(hlo_flat *f)
{
	merger g = {.f = f};

	HBM_TRY(init(&g));
	HBM_TRY(note_all(&g));
	HBM_TRY(join_bound(&g));
	HBM_TRY(pass_moves(&g, true));
	HBM_TRY(pass_moves(&g, false));
	HBM_TRY(pass_pairs(&g, true));
	HBM_TRY(pass_pairs(&g, false));
	HBM_NEED(f->root = HBM_ARRAY(f->arena, uint32_t, f->values.n));
	for (uint32_t v = 0; v < f->values.n; v++)
		f->root[v] = root_of(&g, hlo_value_of(f, v));
	return HBM_OK;
}
