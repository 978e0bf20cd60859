/* SPDX-License-Identifier: Apache-2.0
 * Exact search for the shapes that the tick model cannot hold: windows, colocated
 * sets of many rectangles, groups that never conflict.
 *
 * Every two items that could meet give a list of *bars*: open intervals (a, b) in
 * which offset(j) - offset(i) must not lie. A branch decides one bar: offset(j)
 * >= offset(i) + b, or offset(i) >= offset(j) - a. Decisions are edges of a
 * difference system whose least solution (`low`) and greatest (`high`) are kept
 * up to date; a bar with one side impossible is decided without branching. When
 * no bar is broken by the lows they are a placement. Each path decides each bar
 * at most once, so the search ends.
 *
 * Invariant: low[i] and high[i] obey the modulus of i, and low is the least
 * solution of the edges (high the greatest). Cost of a node: one look at every
 * bar. */
#include "pack/exact.h"

#include <string.h>

enum {
	MAX_BARS = 1 << 22,
	MAX_ROUNDS = 256, /* rises of one item by one new edge, with moduli */
};

typedef struct bar {
	uint32_t i, j;
	hbm_xoff a, b;
} bar;

typedef struct edge {
	uint32_t to, next;
	hbm_xoff min; /* offset(to) >= offset(from) + min; backwards: - min */
} edge;

typedef struct change {
	uint32_t item;
	bool is_high;
	hbm_xoff old;
} change;

typedef struct frame {
	uint32_t bar;
	bool up_first; /* offset(j) above offset(i) is tried first */
	uint32_t tried, n_log, n_edges, n_decided;
} frame;

struct hbm_xpairs {
	const hbm_inst *in;
	hbm_pack_cx *cx;
	hbm_arena *arena;
	HBM_VEC(bar) bars;
	bool *is_decided;
	uint32_t *decided, n_decided;
	hbm_xoff *low, *high;
	uint32_t *out, *into; /* heads of edge lists; edge 2k out, 2k+1 into */
	HBM_VEC(edge) edges;
	HBM_VEC(change) log;
	HBM_VEC(frame) frames;
	uint32_t *queue, n_queue;
	bool *is_queued;
	bool gave_up; /* a rise did not settle; what failed is no proof */
	bool nomem;
};

/* ---- bars --------------------------------------------------------------- */

/* Pieces of item i: indices [*ret_first, return value). */
static uint32_t pieces_of(const hbm_inst *in, uint32_t i, uint32_t *ret_first)
{
	*ret_first = in->pieces ? in->piece_first[i] : i;
	return in->pieces ? in->piece_first[i + 1] : i + 1;
}

static hbm_piece piece_at(const hbm_inst *in, uint32_t k)
{
	if (in->pieces)
		return in->pieces[k];
	return (hbm_piece){in->start[k], in->end[k], 0, in->size[k]};
}

static bool pieces_meet(const hbm_inst *in, uint32_t k, uint32_t l)
{
	hbm_piece u = piece_at(in, k), v = piece_at(in, l);

	if (in->group && in->group[k] != HBM_NONE && in->group[k] == in->group[l])
		return false;
	return u.start < v.end && v.start < u.end && u.lo < u.hi && v.lo < v.hi;
}

/* Adds (a, b) to the bars from `first` on, which are sorted, and joins what
 * leaves no room between. */
static bool add_bar(hbm_xpairs *p, uint32_t first, bar new)
{
	uint32_t at = first, n;

	while (at < p->bars.n && p->bars.items[at].b <= new.a)
		at++;
	for (n = at; n < p->bars.n && p->bars.items[n].a < new.b; n++) {
		if (p->bars.items[n].a < new.a)
			new.a = p->bars.items[n].a;
		if (p->bars.items[n].b > new.b)
			new.b = p->bars.items[n].b;
	}
	if (n == at) {
		if (!HBM_PUSH(p->arena, &p->bars, new))
			return false;
		memmove(p->bars.items + at + 1, p->bars.items + at,
		        (p->bars.n - 1 - at) * sizeof new);
	} else {
		memmove(p->bars.items + at + 1, p->bars.items + n,
		        (p->bars.n - n) * sizeof new);
		p->bars.n -= n - at - 1;
	}
	p->bars.items[at] = new;
	return true;
}

static hbm_status pair_bars(hbm_xpairs *p, uint32_t i, uint32_t j)
{
	uint32_t first = p->bars.n, from_i, from_j;
	uint32_t end_i = pieces_of(p->in, i, &from_i);
	uint32_t end_j = pieces_of(p->in, j, &from_j);

	for (uint32_t k = from_i; k < end_i; k++)
		for (uint32_t l = from_j; l < end_j; l++) {
			hbm_piece u = piece_at(p->in, k), v = piece_at(p->in, l);
			bar b = {i, j, (hbm_xoff)u.lo - (hbm_xoff)v.hi,
			         (hbm_xoff)u.hi - (hbm_xoff)v.lo};

			if (pieces_meet(p->in, k, l))
				HBM_NEED(add_bar(p, first, b));
		}
	return p->bars.n > MAX_BARS ? HBM_UNSUPPORTED : HBM_OK;
}

static hbm_status make_bars(hbm_xpairs *p)
{
	const hbm_inst *in = p->in;

	for (uint32_t i = 0; i < in->n; i++)
		for (uint32_t j = i + 1; j < in->n; j++)
			if (in->start[i] < in->end[j] && in->start[j] < in->end[i])
				HBM_TRY(pair_bars(p, i, j));
	return HBM_OK;
}

hbm_status hbm_xpairs_init(hbm_arena *a, hbm_pack_cx *cx, const hbm_inst *in,
                           hbm_xpairs **ret)
{
	hbm_xpairs *p = HBM_NEW(a, hbm_xpairs);
	size_t n = in->n;

	HBM_NEED(p);
	p->in = in;
	p->cx = cx;
	p->arena = a;
	HBM_TRY(make_bars(p));
	p->is_decided = HBM_ARRAY(a, bool, p->bars.n);
	p->decided = HBM_ARRAY(a, uint32_t, p->bars.n);
	p->low = HBM_ARRAY(a, hbm_xoff, n);
	p->high = HBM_ARRAY(a, hbm_xoff, n);
	p->out = HBM_ARRAY(a, uint32_t, n);
	p->into = HBM_ARRAY(a, uint32_t, n);
	p->queue = HBM_ARRAY(a, uint32_t, n);
	p->is_queued = HBM_ZARRAY(a, bool, n);
	HBM_NEED(p->is_decided && p->decided && p->low && p->high && p->out &&
	         p->into && p->queue && p->is_queued);
	*ret = p;
	return HBM_OK;
}

/* ---- the difference system ---------------------------------------------- */

static hbm_xoff round_down(const hbm_inst *in, uint32_t i, hbm_xoff y)
{
	hbm_xoff mod;

	if (!in->mod || y < 0)
		return y;
	mod = (hbm_xoff)in->mod[i];
	return y - ((y - (hbm_xoff)in->rest[i]) % mod + mod) % mod;
}

static void note(hbm_xpairs *p, uint32_t item, bool is_high, hbm_xoff value)
{
	hbm_xoff *at = is_high ? &p->high[item] : &p->low[item];

	if (!HBM_PUSH(p->arena, &p->log, (change){item, is_high, *at}))
		p->nomem = true;
	*at = value;
}

/* Applies edge `e` of `from`: true if the other end moved. */
static bool relax(hbm_xpairs *p, uint32_t from, const edge *e, bool is_high)
{
	uint32_t to = e->to;
	hbm_xoff y;

	if (is_high) {
		y = round_down(p->in, to, p->high[from] - e->min);
		if (y >= p->high[to])
			return false;
	} else {
		y = p->low[from] + e->min;
		if (y <= p->low[to])
			return false;
		y = (hbm_xoff)hbm_item_up(p->in, to, (uint64_t)y);
	}
	note(p, to, is_high, y);
	return true;
}

static void enqueue(hbm_xpairs *p, uint32_t item)
{
	if (!p->is_queued[item]) {
		p->is_queued[item] = true;
		p->queue[p->n_queue++] = item;
	}
}

static void clear_queue(hbm_xpairs *p)
{
	while (p->n_queue)
		p->is_queued[p->queue[--p->n_queue]] = false;
}

/* Spreads a change of `item` along the edges. `source`: where the newest edge
 * begins (ends, for highs). If the change comes back to it there is a cycle that
 * always moves it, unless moduli brought that about. */
static bool spread(hbm_xpairs *p, uint32_t item, uint32_t source, bool is_high)
{
	uint32_t rounds = 0;

	enqueue(p, item);
	while (p->n_queue) {
		uint32_t from = p->queue[--p->n_queue];
		uint32_t k = is_high ? p->into[from] : p->out[from];

		p->is_queued[from] = false;
		if (p->low[from] > p->high[from] || p->nomem) {
			clear_queue(p);
			return false;
		}
		for (; k != HBM_NONE; k = p->edges.items[k].next) {
			const edge *e = &p->edges.items[k];

			if (!relax(p, from, e, is_high))
				continue;
			if (e->to == source && (!p->in->mod || ++rounds > MAX_ROUNDS)) {
				p->gave_up |= p->in->mod != NULL;
				clear_queue(p);
				return false;
			}
			enqueue(p, e->to);
		}
	}
	return true;
}

/* offset(to) >= offset(from) + min, from now on. */
static bool add_edge(hbm_xpairs *p, uint32_t from, uint32_t to, hbm_xoff min)
{
	uint32_t k = p->edges.n;
	const edge *e;

	if (!HBM_PUSH(p->arena, &p->edges, (edge){to, p->out[from], min}) ||
	    !HBM_PUSH(p->arena, &p->edges, (edge){from, p->into[to], min})) {
		p->nomem = true;
		return false;
	}
	p->out[from] = k;
	p->into[to] = k + 1;
	e = &p->edges.items[k];
	if (relax(p, from, e, false) && !spread(p, to, from, false))
		return false;
	e = &p->edges.items[k + 1];
	return !relax(p, to, e, true) || spread(p, from, to, true);
}

static void undo(hbm_xpairs *p, const frame *f)
{
	while (p->log.n > f->n_log) {
		change *c = &p->log.items[--p->log.n];

		*(c->is_high ? &p->high[c->item] : &p->low[c->item]) = c->old;
	}
	while (p->edges.n > f->n_edges) {
		edge *in = &p->edges.items[p->edges.n - 1];
		edge *out = &p->edges.items[p->edges.n - 2];

		p->out[in->to] = out->next;
		p->into[out->to] = in->next;
		p->edges.n -= 2;
	}
	while (p->n_decided > f->n_decided)
		p->is_decided[p->decided[--p->n_decided]] = false;
}

/* ---- the search --------------------------------------------------------- */

static bool can_be_above(const hbm_xpairs *p, const bar *b)
{
	return p->low[b->i] + b->b <= p->high[b->j];
}

static bool can_be_below(const hbm_xpairs *p, const bar *b)
{
	return p->low[b->j] - b->a <= p->high[b->i];
}

static bool decide(hbm_xpairs *p, uint32_t k, bool above)
{
	const bar *b = &p->bars.items[k];

	p->is_decided[k] = true;
	p->decided[p->n_decided++] = k;
	return above ? add_edge(p, b->i, b->j, b->b) : add_edge(p, b->j, b->i, -b->a);
}

/* Decides every bar that has one side left. */
static bool decide_forced(hbm_xpairs *p)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t k = 0; k < p->bars.n; k++) {
			bool above, below;

			if (p->is_decided[k])
				continue;
			above = can_be_above(p, &p->bars.items[k]);
			below = can_be_below(p, &p->bars.items[k]);
			if (above && below)
				continue;
			if ((!above && !below) || !decide(p, k, above))
				return false;
			again = true;
		}
	}
	return true;
}

/* The bar that is broken most by the lows, HBM_NONE: none is. */
static uint32_t pick_bar(const hbm_xpairs *p, bool *ret_up)
{
	uint32_t best = HBM_NONE;
	hbm_xoff best_depth = 0;

	for (uint32_t k = 0; k < p->bars.n; k++) {
		const bar *b = &p->bars.items[k];
		hbm_xoff d = p->low[b->j] - p->low[b->i], up, down, depth;

		if (d <= b->a || d >= b->b)
			continue;
		up = b->b - d;
		down = d - b->a;
		depth = up < down ? up : down;
		if (depth <= best_depth)
			continue;
		best = k;
		best_depth = depth;
		*ret_up = up <= down;
	}
	return best;
}

static bool start(hbm_xpairs *p, hbm_xoff cap)
{
	const hbm_inst *in = p->in;

	p->log.n = p->edges.n = p->frames.n = p->n_decided = 0;
	p->gave_up = false;
	memset(p->is_decided, 0, p->bars.n * sizeof *p->is_decided);
	memset(p->out, 0xff, in->n * sizeof *p->out);
	memset(p->into, 0xff, in->n * sizeof *p->into);
	for (uint32_t i = 0; i < in->n; i++) {
		p->low[i] = (hbm_xoff)hbm_item_up(in, i, 0);
		p->high[i] = round_down(in, i, cap - (hbm_xoff)in->size[i]);
		if (in->pin && in->pin[i] != HBM_NO_OFFSET) {
			if ((hbm_xoff)in->pin[i] > p->high[i])
				return false;
			p->low[i] = p->high[i] = (hbm_xoff)in->pin[i];
		}
		if (p->low[i] > p->high[i])
			return false;
	}
	return true;
}

static frame mark(const hbm_xpairs *p)
{
	return (frame){
		.n_log = p->log.n, .n_edges = p->edges.n, .n_decided = p->n_decided};
}

/* Takes the next answer of the top frame that leads on; false: none is left. */
static bool advance(hbm_xpairs *p)
{
	while (p->frames.n) {
		frame *f = &p->frames.items[p->frames.n - 1];

		undo(p, f);
		if (f->tried == 2 || p->nomem) {
			p->frames.n--;
			continue;
		}
		if (decide(p, f->bar, f->up_first == (f->tried++ == 0)) &&
		    decide_forced(p))
			return true;
	}
	return false;
}

hbm_xresult hbm_xpairs_run(hbm_xpairs *p, hbm_xoff cap, uint64_t max_nodes)
{
	bool ok = start(p, cap) && decide_forced(p);

	for (uint64_t nodes = 0; ok; nodes++) {
		frame f = mark(p);

		f.bar = pick_bar(p, &f.up_first);
		if (f.bar == HBM_NONE)
			return p->nomem ? HBM_XR_NOMEM : HBM_XR_FOUND;
		if (nodes >= max_nodes || !hbm_spend(p->cx, 1 + p->bars.n / 64))
			return HBM_XR_BUDGET;
		if (!HBM_PUSH(p->arena, &p->frames, f))
			return HBM_XR_NOMEM;
		ok = advance(p);
	}
	return p->nomem ? HBM_XR_NOMEM : p->gave_up ? HBM_XR_GAVE_UP : HBM_XR_EXHAUSTED;
}

const hbm_xoff *hbm_xpairs_offsets(const hbm_xpairs *p)
{
	return p->low;
}
