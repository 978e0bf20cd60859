/* SPDX-License-Identifier: Apache-2.0
 * The state of one exact search: which items are placed, how low the others can
 * still lie, and what every tick has left. Every change is logged and can be
 * taken back.
 *
 * Invariants between calls: low[i] >= base[i] for each item that is not placed;
 * floor[t] is the least low of the active items of t, over[t] the least low
 * above it, alt[t] how many active items may start right at the floor; offsets
 * of placed items never pass the floor of a tick they share with an active one.
 *
 * Cost: a placement looks at each neighbour once and at the active items of each
 * tick whose floor may have risen. */
#include "pack/exact.h"

#include <string.h>

#define XOFF_MAX INT64_MAX

/* Least offset >= y that item i may have, its modulus and the pinned items
 * considered. */
static hbm_xoff settle(const hbm_xmodel *m, uint32_t i, hbm_xoff y)
{
	const hbm_inst *in = m->in;

	if (in->mod)
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

/* Bytes of pinned items of tick t at or above y. */
static hbm_xoff pinned_above(const hbm_xmodel *m, uint32_t t, hbm_xoff y)
{
	hbm_xoff sum = 0;

	if (!m->tpins)
		return 0;
	for (uint32_t k = m->tpins_first[t]; k < m->tpins_first[t + 1]; k++) {
		hbm_xoff from = (hbm_xoff)m->in->pin[m->tpins[k]];
		hbm_xoff to = from + m->size[m->tpins[k]];

		if (to > y)
			sum += to - (from > y ? from : y);
	}
	return sum;
}

hbm_xoff hbm_xstate_slack(const hbm_xstate *s, uint32_t tick)
{
	return s->cap - s->floor[tick] - s->rest[tick] -
	       pinned_above(s->m, tick, s->floor[tick]);
}

hbm_status hbm_xstate_init(hbm_arena *a, const hbm_xmodel *m, uint64_t disabled,
                           hbm_xstate *s)
{
	size_t n = m->n, n_ticks = (size_t)m->n_ticks + 1;

	memset(s, 0, sizeof *s);
	s->m = m;
	s->arena = a;
	s->disabled = disabled;
	s->low = HBM_ARRAY(a, hbm_xoff, 3 * n + 3 * n_ticks);
	s->life_before = HBM_ARRAY(
		a, uint32_t, 2 * n + m->n_lives + 3 * (size_t)m->n_cells + 5 * n_ticks);
	s->placed = HBM_ARRAY(a, bool, n + n_ticks);
	HBM_NEED(s->low && s->life_before && s->placed);
	s->base = s->low + n;
	s->off = s->base + n;
	s->rest = s->off + n;
	s->floor = s->rest + n_ticks;
	s->over = s->floor + n_ticks;
	s->stack = s->life_before + n;
	s->life_top = s->stack + n;
	s->act = s->life_top + m->n_lives;
	s->act_cell = s->act + m->n_cells;
	s->cell_pos = s->act_cell + m->n_cells;
	s->n_active = s->cell_pos + m->n_cells;
	s->alt = s->n_active + n_ticks;
	s->cut = s->alt + n_ticks;
	s->dirty = s->cut + n_ticks;
	s->is_dirty = s->placed + n;
	return HBM_OK;
}

static inline void touch(hbm_xstate *s, uint32_t t)
{
	if (!s->is_dirty[t]) {
		s->is_dirty[t] = true;
		s->dirty[s->n_dirty++] = t;
	}
}

/* Raises an item; ticks whose figures it shaped are looked at again. */
static void raise(hbm_xstate *s, uint32_t i, hbm_xoff low, hbm_xoff base)
{
	const hbm_xmodel *m = s->m;
	hbm_xoff old = s->low[i];

	if (!HBM_PUSH(s->arena, &s->item_log,
	              (hbm_xitem_log){i, s->low[i], s->base[i]}))
		s->nomem = true;
	s->low[i] = low;
	s->base[i] = base;
	for (uint32_t c = m->cell_first[i]; c < m->cell_first[i + 1]; c++)
		if (s->over[m->cell_tick[c]] >= old)
			touch(s, m->cell_tick[c]);
}

typedef struct tick_sum {
	hbm_xoff floor, over, at_floor;
	uint32_t alt;
} tick_sum;

/* Without branches that depend on the data: this is where the time goes. */
static tick_sum sum_tick(const hbm_xstate *s, uint32_t t)
{
	const uint32_t *act = s->act + s->m->tick_first[t];
	const hbm_xoff *low = s->low, *base = s->base, *size = s->m->size;
	uint32_t n = s->n_active[t];
	tick_sum r = {XOFF_MAX, XOFF_MAX, 0, 0};

	for (uint32_t k = 0; k < n; k++)
		r.floor = low[act[k]] < r.floor ? low[act[k]] : r.floor;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = act[k];
		bool here = low[i] == r.floor;
		hbm_xoff above = here ? XOFF_MAX : low[i];

		r.over = above < r.over ? above : r.over;
		r.at_floor += here ? size[i] : 0;
		r.alt += here & (base[i] == r.floor);
	}
	return r;
}

/* Bytes that must fit into tick t; false: they do not. */
static bool tick_fits(const hbm_xstate *s, uint32_t t, const tick_sum *r)
{
	if (!(s->disabled & HBM_X_SUM) && hbm_xstate_slack(s, t) < 0)
		return false;
	if (s->disabled & HBM_X_LATER || r->over == XOFF_MAX)
		return true;
	return r->over + s->rest[t] - r->at_floor + pinned_above(s->m, t, r->over) <=
	       s->cap;
}

/* Renews the figures of the ticks that were touched. */
static bool settle_ticks(hbm_xstate *s)
{
	bool fits = true;

	for (uint32_t k = 0; k < s->n_dirty; k++) {
		uint32_t t = s->dirty[k];
		tick_sum r;

		s->is_dirty[t] = false;
		if (!fits || !s->n_active[t])
			continue;
		r = sum_tick(s, t);
		s->work += s->n_active[t];
		if (!HBM_PUSH(s->arena, &s->tick_log,
		              (hbm_xtick_log){t, s->alt[t], s->floor[t], s->over[t]}))
			s->nomem = true;
		s->floor[t] = r.floor;
		s->over[t] = r.over;
		s->alt[t] = r.alt;
		if (!tick_fits(s, t, &r)) {
			s->failed_tick = t;
			fits = false;
		}
	}
	s->n_dirty = 0;
	return fits && !s->nomem;
}

static void fill_active(hbm_xstate *s)
{
	const hbm_xmodel *m = s->m;

	memset(s->n_active, 0, ((size_t)m->n_ticks + 1) * sizeof *s->n_active);
	memset(s->cut, 0, ((size_t)m->n_ticks + 1) * sizeof *s->cut);
	memset(s->rest, 0, ((size_t)m->n_ticks + 1) * sizeof *s->rest);
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t first = m->cell_first[i], end = m->cell_first[i + 1];

		for (uint32_t c = first; c < end; c++) {
			uint32_t t = m->cell_tick[c], at = s->n_active[t]++;

			s->cell_pos[c] = at;
			s->act[m->tick_first[t] + at] = i;
			s->act_cell[m->tick_first[t] + at] = c;
			s->rest[t] += m->size[i];
		}
		if (first < end)
			for (uint32_t t = m->cell_tick[first] + 1;
			     t <= m->cell_tick[end - 1]; t++)
				s->cut[t]++;
	}
}

bool hbm_xstate_reset(hbm_xstate *s, hbm_xoff cap)
{
	const hbm_xmodel *m = s->m;

	s->cap = cap;
	s->n_placed = 0;
	s->n_dirty = 0;
	s->item_log.n = 0;
	s->tick_log.n = 0;
	fill_active(s);
	memset(s->placed, 0, m->n * sizeof *s->placed);
	memset(s->is_dirty, 0, ((size_t)m->n_ticks + 1) * sizeof *s->is_dirty);
	memset(s->life_top, 0xff, m->n_lives * sizeof *s->life_top);
	if (m->clash || m->pins_end > cap)
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->cell_first[i] == m->cell_first[i + 1]) {
			s->off[i] = (hbm_xoff)m->in->pin[i];
			continue;
		}
		s->low[i] = s->base[i] = settle(m, i, 0);
		if (s->low[i] > cap - m->size[i])
			return false;
	}
	for (uint32_t t = 0; t < m->n_ticks; t++)
		touch(s, t);
	if (!settle_ticks(s))
		return false;
	s->tick_log.n = 0;
	return true;
}

hbm_xmark hbm_xstate_mark(const hbm_xstate *s)
{
	return (hbm_xmark){s->item_log.n, s->tick_log.n, s->n_placed};
}

/* Takes item i out of the active lists of its ticks. */
static void leave_ticks(hbm_xstate *s, uint32_t i)
{
	const hbm_xmodel *m = s->m;
	uint32_t first = m->cell_first[i], end = m->cell_first[i + 1];

	for (uint32_t c = first; c < end; c++) {
		uint32_t t = m->cell_tick[c], at = s->cell_pos[c];
		uint32_t last = --s->n_active[t];
		uint32_t *act = s->act + m->tick_first[t];
		uint32_t *act_cell = s->act_cell + m->tick_first[t];

		act[at] = act[last];
		act_cell[at] = act_cell[last];
		s->cell_pos[act_cell[at]] = at;
		act[last] = i;
		act_cell[last] = c;
		s->cell_pos[c] = last;
		s->rest[t] -= m->size[i];
		touch(s, t);
	}
	for (uint32_t t = m->cell_tick[first] + 1; t <= m->cell_tick[end - 1]; t++)
		s->cut[t]--;
}

/* The reverse, in the reverse order of leaving. */
static void rejoin_ticks(hbm_xstate *s, uint32_t i)
{
	const hbm_xmodel *m = s->m;
	uint32_t first = m->cell_first[i], end = m->cell_first[i + 1];

	for (uint32_t c = first; c < end; c++) {
		uint32_t t = m->cell_tick[c];

		s->n_active[t]++;
		s->rest[t] += m->size[i];
	}
	for (uint32_t t = m->cell_tick[first] + 1; t <= m->cell_tick[end - 1]; t++)
		s->cut[t]++;
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
		s->over[l->tick] = l->over;
		s->alt[l->tick] = l->alt;
	}
	while (s->n_placed > to.placed) {
		uint32_t i = s->stack[--s->n_placed];

		s->placed[i] = false;
		s->life_top[s->m->life[i]] = s->life_before[i];
		rejoin_ticks(s, i);
	}
}

/* Neighbours of a new top rise above it; false: one of them passes the cap. */
static bool lift_neighbours(hbm_xstate *s, uint32_t i, hbm_xoff top)
{
	const hbm_xmodel *m = s->m;

	for (uint32_t k = m->adj_first[i]; k < m->adj_first[i + 1]; k++) {
		uint32_t j = m->adj[k];
		hbm_xoff base;

		if (s->placed[j] || s->base[j] >= top)
			continue;
		base = settle(m, j, top);
		raise(s, j, s->low[j] < base ? base : s->low[j], base);
		if (s->low[j] > s->cap - m->size[j]) {
			s->failed_tick = m->cell_tick[m->cell_first[j]];
			return false;
		}
	}
	s->work += m->adj_first[i + 1] - m->adj_first[i];
	return true;
}

bool hbm_xstate_place(hbm_xstate *s, uint32_t i)
{
	uint32_t life = s->m->life[i];
	bool fits;

	s->off[i] = s->low[i];
	s->placed[i] = true;
	s->stack[s->n_placed++] = i;
	s->life_before[i] = s->life_top[life];
	s->life_top[life] = i;
	leave_ticks(s, i);
	fits = lift_neighbours(s, i, s->off[i] + s->m->size[i]);
	return settle_ticks(s) && fits;
}

/* Least offset of item i when it is not at its low: it then lies on the top of
 * an item that would be in its way there. */
static hbm_xoff support(hbm_xstate *s, uint32_t i)
{
	const hbm_xmodel *m = s->m;
	hbm_xoff best = XOFF_MAX, end = s->low[i] + m->size[i];

	for (uint32_t k = m->adj_first[i]; k < m->adj_first[i + 1]; k++) {
		uint32_t j = m->adj[k];

		if (!s->placed[j] && s->low[j] < end && s->low[j] + m->size[j] < best)
			best = s->low[j] + m->size[j];
	}
	s->work += m->adj_first[i + 1] - m->adj_first[i];
	return best == XOFF_MAX ? best : settle(m, i, best);
}

bool hbm_xstate_waste(hbm_xstate *s, uint32_t tick)
{
	const uint32_t *act = s->act + s->m->tick_first[tick];
	hbm_xoff floor = s->floor[tick];
	bool fits = true;

	for (uint32_t k = 0; k < s->n_active[tick] && fits; k++) {
		uint32_t i = act[k];
		hbm_xoff low;

		if (s->low[i] != floor)
			continue;
		low = s->disabled & HBM_X_SUPPORT ? settle(s->m, i, floor + 1)
		                                  : support(s, i);
		fits = low <= s->cap - s->m->size[i];
		if (fits)
			raise(s, i, low, s->base[i]);
		else
			s->failed_tick = tick;
	}
	return settle_ticks(s) && fits;
}

bool hbm_xstate_flat(const hbm_xstate *s, uint32_t tick)
{
	const hbm_xmodel *m = s->m;
	const uint32_t *act = s->act + m->tick_first[tick];
	hbm_xoff floor = s->floor[tick];

	for (uint32_t k = 0; k < s->n_active[tick]; k++) {
		uint32_t i = act[k];

		if (s->low[i] != floor)
			continue;
		for (uint32_t c = m->cell_first[i]; c < m->cell_first[i + 1]; c++)
			if (s->floor[m->cell_tick[c]] != floor)
				return false;
	}
	return true;
}
