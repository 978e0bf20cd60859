/* SPDX-License-Identifier: Apache-2.0
 * The state of one exact search: which items are placed, how low the others can
 * still lie, and what every tick has left. Every change is logged and can be
 * taken back.
 *
 * Invariants between calls: low[i] >= base[i] for each item to come; floor[t] is
 * at most the least low of the items to come at t, and equals it if low[witness[t]]
 * does (HBM_XOFF_MAX without any); no placed item reaches above the floor of a tick it
 * shares with one to come.
 *
 * Cost: a placement looks at each neighbour once, and at the items of each tick
 * whose witness has risen until it finds the next. */
#include "pack/exact.h"

#include <string.h>

/* Least offset >= y that item i may have, its modulus and the pinned items
 * considered. */
static hbm_xoff settle_slow(const hbm_xmodel *m, uint32_t i, hbm_xoff y)
{
	const hbm_inst *in = m->in;

	y = (hbm_xoff)hbm_item_up(in, i, (uint64_t)y);
	if (!m->pins)
		return y;
	for (uint32_t k = m->pins_first[i]; k < m->pins_first[i + 1]; k++) {
		hbm_xoff from = (hbm_xoff)in->pin[m->pins[k]];
		hbm_xoff to = from + m->size[m->pins[k]];

		if (y < to && from < y + m->size[i])
			y = (hbm_xoff)hbm_item_up(in, i, (uint64_t)to);
	}
	return y;
}

static inline hbm_xoff settle(const hbm_xmodel *m, uint32_t i, hbm_xoff y)
{
	return m->in->mod || m->pins ? settle_slow(m, i, y) : y;
}

/* Bytes of pinned items of tick t at or above y. */
hbm_xoff hbm_xmodel_pinned_above(const hbm_xmodel *m, uint32_t t, hbm_xoff y)
{
	hbm_xoff sum = 0;

	for (uint32_t k = m->tpins_first[t]; k < m->tpins_first[t + 1]; k++) {
		hbm_xoff from = (hbm_xoff)m->in->pin[m->tpins[k]];
		hbm_xoff to = from + m->size[m->tpins[k]];

		if (to > y)
			sum += to - (from > y ? from : y);
	}
	return sum;
}

hbm_status hbm_xstate_init(hbm_arena *a, const hbm_xmodel *m, uint64_t disabled,
                           hbm_xstate *s)
{
	size_t n = m->n, n_ticks = (size_t)m->n_ticks + 1;

	memset(s, 0, sizeof *s);
	s->m = m;
	s->arena = a;
	s->disabled = disabled;
	s->low = HBM_ARRAY(a, hbm_xoff, 3 * n + 1 + 2 * n_ticks);
	s->open = HBM_ARRAY(a, uint32_t, 4 * n + m->n_lives + 3 * n_ticks);
	HBM_NEED(s->low && s->open);
	s->low[n] = HBM_XOFF_MAX; /* witness of ticks without items */
	s->base = s->low + n + 1;
	s->off = s->base + n;
	s->rest = s->off + n;
	s->floor = s->rest + n_ticks;
	s->open_at = s->open + n;
	s->life_before = s->open_at + n;
	s->stack = s->life_before + n;
	s->life_top = s->stack + n;
	s->witness = s->life_top + m->n_lives;
	s->n_open = s->witness + n_ticks;
	s->cut = s->n_open + n_ticks;
	return HBM_OK;
}

static void raise(hbm_xstate *s, uint32_t i, hbm_xoff low, hbm_xoff base)
{
	if (!HBM_PUSH(s->arena, &s->item_log,
	              (hbm_xitem_log){i, s->low[i], s->base[i]}))
		s->nomem = true;
	s->low[i] = low;
	s->base[i] = base;
}

/* The next witness of tick t, whose floor is at least `least`; false: what is to
 * come does not fit. Placed items drift to the end of the tick's list. */
static bool renew_tick(hbm_xstate *s, uint32_t t, hbm_xoff least)
{
	const hbm_xmodel *m = s->m;
	uint32_t *k = m->tick_item + m->tick_first[t];
	uint32_t *end = m->tick_item + m->tick_first[t + 1];
	hbm_xoff floor = HBM_XOFF_MAX;
	uint32_t witness = s->witness[t], left = s->n_open[t];

	s->work += left;
	while (left && floor > least) {
		uint32_t i = *k;

		if (hbm_xstate_placed(s, i)) {
			*k = *--end;
			*end = i;
			continue;
		}
		if (s->low[i] < floor) {
			floor = s->low[i];
			witness = i;
		}
		left--;
		k++;
	}
	if (!HBM_PUSH(s->arena, &s->tick_log,
	              (hbm_xtick_log){t, s->witness[t], s->floor[t]}))
		s->nomem = true;
	s->floor[t] = floor;
	s->witness[t] = witness;
	if (!s->n_open[t] || s->disabled & HBM_X_SUM ||
	    hbm_xstate_room(s, t, floor) >= 0)
		return true;
	s->failed_tick = t;
	return false;
}

/* Renews the ticks of `range` whose witness has risen, if that can decide
 * anything: a floor is at most the low of its old witness. */
static bool renew_ticks(hbm_xstate *s, hbm_xspan range)
{
	for (uint32_t t = range.first; t < range.last; t++) {
		hbm_xoff most = s->low[s->witness[t]];

		if (most != s->floor[t] && hbm_xstate_room(s, t, most) < 0 &&
		    !renew_tick(s, t, s->floor[t]))
			return false;
	}
	return !s->nomem;
}

bool hbm_xstate_renew(hbm_xstate *s, uint32_t tick)
{
	return hbm_xstate_current(s, tick) || renew_tick(s, tick, s->floor[tick]);
}

static void open_all(hbm_xstate *s)
{
	const hbm_xmodel *m = s->m;
	uint32_t n = 0;

	for (uint32_t t = 0; t <= m->n_ticks; t++) {
		s->cut[t] = 0;
		s->rest[t] = m->load[t];
		s->n_open[t] =
			t < m->n_ticks ? m->tick_first[t + 1] - m->tick_first[t] : 0;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		hbm_xspan hull = hbm_xmodel_hull(m, i);

		if (hbm_xmodel_pinned(m, i)) {
			s->off[i] = (hbm_xoff)m->in->pin[i];
			s->low[i] = s->base[i] = HBM_XOFF_MAX;
			continue;
		}
		s->open_at[i] = n;
		s->open[n++] = i;
		for (uint32_t t = hull.first + 1; t < hull.last; t++)
			s->cut[t]++;
	}
}

bool hbm_xstate_reset(hbm_xstate *s, hbm_xoff cap)
{
	const hbm_xmodel *m = s->m;
	bool fits = !m->clash && m->pins_end <= cap;

	s->cap = cap;
	s->n_placed = 0;
	s->item_log.n = 0;
	s->tick_log.n = 0;
	open_all(s);
	memset(s->life_top, 0xff, m->n_lives * sizeof *s->life_top);
	for (uint32_t k = 0; k < m->n_free && fits; k++) {
		uint32_t i = s->open[k];

		s->low[i] = s->base[i] = settle(m, i, 0);
		fits = s->low[i] <= cap - m->size[i];
	}
	for (uint32_t t = 0; t < m->n_ticks && fits; t++) {
		s->witness[t] = m->n;
		fits = renew_tick(s, t, 0);
	}
	s->tick_log.n = 0;
	return fits && !s->nomem;
}

hbm_xmark hbm_xstate_mark(const hbm_xstate *s)
{
	return (hbm_xmark){s->item_log.n, s->tick_log.n, s->n_placed};
}

/* Item i is (`sign` 1) or is no longer (-1) to come. */
static void count_item(hbm_xstate *s, uint32_t i, int sign)
{
	const hbm_xmodel *m = s->m;
	hbm_xspan hull = hbm_xmodel_hull(m, i);
	hbm_xoff size = sign * m->size[i];

	for (uint32_t k = m->span_first[i]; k < m->span_first[i + 1]; k++)
		for (uint32_t t = m->span[k].first; t < m->span[k].last; t++) {
			s->rest[t] += size;
			s->n_open[t] += (uint32_t)sign;
		}
	for (uint32_t t = hull.first + 1; t < hull.last; t++)
		s->cut[t] += (uint32_t)sign;
}

static void close_item(hbm_xstate *s, uint32_t i)
{
	uint32_t life = s->m->life[i], at = s->open_at[i];
	uint32_t last = s->open[s->m->n_free - 1 - s->n_placed];

	s->open[at] = last;
	s->open_at[last] = at;
	s->open[s->m->n_free - 1 - s->n_placed] = i;
	s->open_at[i] = s->m->n_free - 1 - s->n_placed;
	s->stack[s->n_placed++] = i;
	s->life_before[i] = s->life_top[life];
	s->life_top[life] = i;
	count_item(s, i, -1);
}

void hbm_xstate_undo(hbm_xstate *s, hbm_xmark to)
{
	while (s->item_log.n > to.items) {
		hbm_xitem_log *l = &s->item_log.items[--s->item_log.n];

		s->low[l->item] = l->low;
		s->base[l->item] = l->base;
	}
	while (s->tick_log.n > to.ticks) {
		hbm_xtick_log *l = &s->tick_log.items[--s->tick_log.n];

		s->floor[l->tick] = l->floor;
		s->witness[l->tick] = l->witness;
	}
	while (s->n_placed > to.placed) {
		uint32_t i = s->stack[--s->n_placed];

		s->life_top[s->m->life[i]] = s->life_before[i];
		count_item(s, i, 1);
	}
}

/* Neighbours of a new top rise above it; false: one of them passes the cap. */
static bool lift_neighbours(hbm_xstate *s, uint32_t i, hbm_xoff top)
{
	const hbm_xmodel *m = s->m;

	s->work += m->adj_first[i + 1] - m->adj_first[i];
	for (uint32_t k = m->adj_first[i]; k < m->adj_first[i + 1]; k++) {
		uint32_t j = m->adj[k];
		hbm_xoff base;

		if (s->base[j] >= top)
			continue;
		base = settle(m, j, top);
		raise(s, j, s->low[j] < base ? base : s->low[j], base);
		if (s->low[j] > s->cap - m->size[j]) {
			s->failed_tick = m->span[m->span_first[j]].first;
			return false;
		}
	}
	return true;
}

bool hbm_xstate_place(hbm_xstate *s, uint32_t i)
{
	const hbm_xmodel *m = s->m;
	hbm_xoff top = s->low[i] + m->size[i];

	s->off[i] = s->low[i];
	close_item(s, i);
	raise(s, i, HBM_XOFF_MAX, HBM_XOFF_MAX);
	if (!lift_neighbours(s, i, top))
		return false;
	for (uint32_t k = m->span_first[i]; k < m->span_first[i + 1]; k++)
		for (uint32_t t = m->span[k].first; t < m->span[k].last; t++)
			if (!renew_tick(s, t, top))
				return false;
	return renew_ticks(s, m->reach[i]);
}

/* Least offset of item i when it is not at its low: it then lies on the top of
 * an item that would be in its way there. */
static hbm_xoff support(hbm_xstate *s, uint32_t i)
{
	const hbm_xmodel *m = s->m;
	hbm_xoff best = HBM_XOFF_MAX, end = s->low[i] + m->size[i];

	for (uint32_t k = m->adj_first[i]; k < m->adj_first[i + 1]; k++) {
		uint32_t j = m->adj[k];

		if (s->low[j] < end && s->low[j] + m->size[j] < best)
			best = s->low[j] + m->size[j];
	}
	s->work += m->adj_first[i + 1] - m->adj_first[i];
	return best == HBM_XOFF_MAX ? best : settle(m, i, best);
}

bool hbm_xstate_waste(hbm_xstate *s, uint32_t tick)
{
	const hbm_xmodel *m = s->m;
	hbm_xoff floor = s->floor[tick];
	hbm_xspan range = {tick, tick + 1};

	s->failed_tick = tick;
	for (uint32_t k = m->tick_first[tick]; k < m->tick_first[tick + 1]; k++) {
		uint32_t i = m->tick_item[k];
		hbm_xspan hull = hbm_xmodel_hull(m, i);
		hbm_xoff low;

		if (s->low[i] != floor)
			continue;
		low = s->disabled & HBM_X_SUPPORT ? settle(m, i, floor + 1)
		                                  : support(s, i);
		if (low > s->cap - m->size[i])
			return false;
		raise(s, i, low, s->base[i]);
		range.first = hull.first < range.first ? hull.first : range.first;
		range.last = hull.last > range.last ? hull.last : range.last;
	}
	return renew_ticks(s, range);
}
