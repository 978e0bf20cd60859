/* SPDX-License-Identifier: Apache-2.0
 *
 * merges: may the classes that a plan put in one storage share it?
 *
 * Only an in-place pair of the op that first writes a class lets it take the bytes
 * of an older one, and only if the older one dies there: its last touch is the
 * pair's read, in every trip of every loop. An op that leaves the bytes as they
 * are (`keeps`) may share with one that lives on, as long as nobody writes either
 * while both are needed. So a storage is a chain of values, each held by one class
 * or by several that are equal.
 *
 * Cost       A sort of the classes that share, and a search per write. */
#include "verify/check.h"

#include "base/ckd.h"
#include "base/sort.h"

#include <inttypes.h>

enum { MAX_READS = 64 }; /* of one class by one op that takes its bytes */

/* How a class came to its bytes. */
typedef struct origin {
	uint32_t from;     /* the class it took them from, HBM_NONE: nobody */
	bool keeps;        /* with what was in them */
	const char *wrong; /* why that is not allowed, NULL: it is */
} origin;

typedef struct merge {
	hbm_check *cx;
	origin *of;      /* by class */
	uint32_t *value; /* class -> class whose value it holds */
} merge;

/* One pair of an op, as classes. */
typedef struct pair {
	hbm_op_id op;
	uint32_t read, write; /* operands */
	uint32_t r, w;        /* classes */
	bool keeps;
} pair;

static const hbm_class *class_at(const merge *m, uint32_t c)
{
	return &m->cx->f.classes.items[c];
}

static bool same_strides(const hbm_program *p, hbm_span a, hbm_span b)
{
	if (a.n != b.n)
		return false;
	for (uint32_t i = 0; i < a.n; i++) {
		const hbm_stride *x = &p->strides.items[a.first + i];
		const hbm_stride *y = &p->strides.items[b.first + i];
		if (x->loop != y->loop || x->bytes != y->bytes)
			return false;
	}
	return true;
}

static bool same_bytes(const merge *m, const pair *q)
{
	const hbm_operand *read = &m->cx->p->operands.items[q->read];
	const hbm_operand *write = &m->cx->p->operands.items[q->write];
	uint64_t rlo, rlen, wlo, wlen;

	hbm_facts_window(&m->cx->f, read, &rlo, &rlen);
	hbm_facts_window(&m->cx->f, write, &wlo, &wlen);
	return rlo + m->cx->at[q->r] == wlo + m->cx->at[q->w] && wlen <= rlen &&
	       same_strides(m->cx->p, read->strides, write->strides);
}

static bool within(const merge *m, const pair *q)
{
	uint64_t r = m->cx->at[q->r], w = m->cx->at[q->w];

	return w >= r && hbm_add_sat(w, class_at(m, q->w)->size) <=
	                 hbm_add_sat(r, class_at(m, q->r)->size);
}

/* The touches of a class by one op. */
static hbm_span touches_by(const merge *m, uint32_t c, hbm_op_id op)
{
	hbm_span all = class_at(m, c)->touches;
	uint32_t lo = all.first, hi = all.first + all.n, end;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (m->cx->f.touches[mid].op < op)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < all.first + all.n && m->cx->f.touches[end].op == op;)
		end++;
	return (hbm_span){lo, end - lo};
}

static bool paired(const merge *m, const pair *q, uint32_t operand)
{
	const hbm_op *op = &m->cx->p->ops.items[q->op];

	for (uint32_t k = 0; k < op->inplace.n; k++) {
		const hbm_inplace *in =
			&m->cx->p->inplaces.items[op->inplace.first + k];
		if (!in->must && op->reads.first + in->read == operand &&
		    op->writes.first + in->write == q->write)
			return true;
	}
	return false;
}

/* The op touches the old class only by reads that are paired with this write, and
 * the new class only by this write. */
static bool alone(const merge *m, const pair *q)
{
	hbm_span r = touches_by(m, q->r, q->op);

	if (touches_by(m, q->w, q->op).n != 1 || r.n > MAX_READS)
		return false;
	for (uint32_t i = r.first; i < r.first + r.n; i++) {
		const hbm_touch *t = &m->cx->f.touches[i];
		if (t->write || (t->operand != q->read && !paired(m, q, t->operand)))
			return false;
	}
	return true;
}

static bool dies_at(const hbm_class *c, hbm_op_id op)
{
	return c->last == op && c->to <= op;
}

static bool born_at(const hbm_class *c, hbm_op_id op)
{
	return c->first == op && c->from > op;
}

static const char *why_not(const merge *m, const pair *q)
{
	const hbm_class *r = class_at(m, q->r), *w = class_at(m, q->w);
	uint32_t callers = r->flags & HBM_T_CALLER;
	bool donated = callers == HBM_T_INPUT && (r->flags & HBM_T_DONATED);

	if (callers && !donated)
		return "the caller owns the old value";
	if (w->flags & (HBM_T_INPUT | HBM_T_WEIGHT | HBM_T_STATE | HBM_T_ZERO))
		return "the new value has bytes before the program runs";
	if (!born_at(w, q->op))
		return "the new value is needed before the op";
	if (!q->keeps && !dies_at(r, q->op))
		return "the old value is still needed";
	if (!within(m, q))
		return "the new value does not fit the old one's bytes";
	if (!same_bytes(m, q))
		return "the op's two windows are not the same bytes";
	if (!alone(m, q))
		return "the op touches the bytes by another operand, too";
	return NULL;
}

/* Of several pairs that could explain a class's bytes a right one counts. */
static void consider(merge *m, const pair *q)
{
	origin *b = &m->of[q->w];
	origin new = {q->r, q->keeps, NULL};

	if (q->r == q->w || m->cx->storage_of[q->r] != m->cx->storage_of[q->w] ||
	    class_at(m, q->w)->first != q->op)
		return;
	if (b->from != HBM_NONE && !b->wrong)
		return;
	new.wrong = why_not(m, q);
	*b = new;
}

static void consider_pairs(merge *m)
{
	const hbm_program *p = m->cx->p;

	for (uint32_t o = 0; o < p->ops.n; o++) {
		const hbm_op *op = &p->ops.items[o];
		for (uint32_t i = 0; i < op->inplace.n; i++) {
			const hbm_inplace *in = &p->inplaces.items[op->inplace.first + i];
			pair q = {.op = o, .keeps = in->keeps};
			if (in->must)
				continue;
			q.read = op->reads.first + in->read;
			q.write = op->writes.first + in->write;
			q.r = m->cx->f.class_of[p->operands.items[q.read].tensor];
			q.w = m->cx->f.class_of[p->operands.items[q.write].tensor];
			consider(m, &q);
		}
	}
}

static const char *class_name(const merge *m, uint32_t c)
{
	hbm_tensor_id t = m->cx->f.members[class_at(m, c)->members.first];

	return hbm_tensor_name(m->cx->p, t);
}

static void refuse(merge *m, uint32_t c, uint32_t with, const char *why)
{
	HBM_FAULT(m->cx, m->cx->f.members[class_at(m, c)->members.first],
	          "'%s' may not share the storage of '%s': %s", class_name(m, c),
	          class_name(m, with), why);
}

/* Of two classes that begin at one op, the one that gave its bytes is older. */
static int by_start(const void *context, uint32_t a, uint32_t b)
{
	const merge *m = context;
	const hbm_class *x = class_at(m, a), *y = class_at(m, b);
	bool taker = m->of[a].from != HBM_NONE, other = m->of[b].from != HBM_NONE;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (taker != other)
		return taker ? 1 : -1;
	return a < b ? -1 : a > b;
}

static int by_end(const void *context, uint32_t a, uint32_t b)
{
	const merge *m = context;
	const hbm_class *x = class_at(m, a), *y = class_at(m, b);

	return x->end < y->end ? -1 : x->end > y->end;
}

/* The classes of one storage that are touched, in both orders. */
typedef struct lives {
	uint32_t *births, *deaths, n;
} lives;

static hbm_status sort_lives(merge *m, uint32_t s, lives *ret)
{
	hbm_span k = m->cx->own[s].classes;
	lives l = {.births = HBM_ARRAY(m->cx->a, uint32_t, k.n),
	           .deaths = HBM_ARRAY(m->cx->a, uint32_t, k.n)};

	HBM_NEED(l.births && l.deaths);
	for (uint32_t i = 0; i < k.n; i++) {
		uint32_t c = m->cx->classes[k.first + i];
		if (!hbm_class_touched(class_at(m, c))) {
			refuse(m, c, m->cx->classes[k.first + !i],
			       "no in-place pair joins them");
			continue;
		}
		l.births[l.n] = l.deaths[l.n] = c;
		l.n++;
	}
	HBM_NEED(hbm_merge_sort(m->cx->a, l.births, l.n, by_start, m));
	HBM_NEED(hbm_merge_sort(m->cx->a, l.deaths, l.n, by_end, m));
	*ret = l;
	return HBM_OK;
}

/* Number of items whose start (or end) is at most `tick`. */
static uint32_t count_until(const merge *m, const lives *l, bool ends, uint32_t tick)
{
	const uint32_t *ids = ends ? l->deaths : l->births;
	uint32_t lo = 0, hi = l->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const hbm_class *c = class_at(m, ids[mid]);
		if ((ends ? c->end : c->start) <= tick)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static uint32_t live_at(const merge *m, const lives *l, uint32_t tick)
{
	return count_until(m, l, false, tick) - count_until(m, l, true, tick);
}

/* A write while equal values share the bytes would change them for the others. */
static void check_writes(merge *m, const lives *l, uint32_t c)
{
	const hbm_class *k = class_at(m, c);
	const hbm_touch *t = m->cx->f.touches + k->touches.first;

	for (uint32_t i = 0; i < k->touches.n; i++) {
		bool birth = m->of[c].from != HBM_NONE && t[i].op == k->first;
		if (!t[i].write || birth || live_at(m, l, t[i].op) == 1)
			continue;
		refuse(m, c, m->of[c].from != HBM_NONE ? m->of[c].from : l->births[0],
		       "one is written while the other is needed");
		return;
	}
}

static void check_storage(merge *m, const lives *l)
{
	uint32_t value = HBM_NONE;

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t c = l->births[i], from = m->of[c].from;
		const hbm_class *k = class_at(m, c);
		uint32_t others = live_at(m, l, k->start) - 1;
		m->value[c] = c;
		if (m->of[c].wrong)
			refuse(m, c, from, m->of[c].wrong);
		else if (i && from == HBM_NONE)
			refuse(m, c, l->births[0], "no in-place pair joins them");
		else if (m->of[c].keeps)
			m->value[c] = m->value[from];
		if (i && (m->of[c].keeps ? m->value[c] != value : others > 1))
			refuse(m, c, l->births[0], "another value is needed there");
		value = m->value[c];
	}
	for (uint32_t i = 0; i < l->n; i++)
		check_writes(m, l, l->births[i]);
}

hbm_status hbm_check_merges(hbm_check *cx)
{
	uint32_t n = cx->f.classes.n;
	merge m = {.cx = cx, .of = HBM_ARRAY(cx->a, origin, n),
	           .value = HBM_ARRAY(cx->a, uint32_t, n)};
	lives l;

	HBM_NEED(m.of && m.value);
	for (uint32_t c = 0; c < n; c++)
		m.of[c] = (origin){.from = HBM_NONE};
	consider_pairs(&m);
	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		if (cx->own[s].classes.n < 2)
			continue;
		HBM_TRY(sort_lives(&m, s, &l));
		check_storage(&m, &l);
	}
	return HBM_OK;
}
