/* SPDX-License-Identifier: Apache-2.0
 * The flat model of an instance for the exact search.
 *
 * Spans of items, items of ticks, and neighbours are laid out once as CSR arrays,
 * so that a node of the search touches nothing else. The arrays are as long as the
 * sum of lives in ticks and the number of pairs that meet; both are limited,
 * because an exact search of anything larger would not end anyway. */
#include "pack/exact.h"

#include <string.h>

enum { MAX_CELLS = 1 << 23, MAX_EDGES = 1 << 23 };

static bool is_pinned(const hbm_inst *in, uint32_t i)
{
	return in->pin && in->pin[i] != HBM_NO_OFFSET;
}

/* Rectangles of one item that are as high as the item and apart in time can be
 * searched as a set of ticks. */
static bool whole_pieces(const hbm_inst *in)
{
	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t first = in->piece_first[i], last = in->piece_first[i + 1];

		for (uint32_t k = first; k < last; k++)
			if (in->pieces[k].lo != 0 || in->pieces[k].hi != in->size[i])
				return false;
		for (uint32_t k = first + 1; k < last; k++)
			if (in->pieces[k].start < in->pieces[k - 1].end)
				return false;
		if (first == last)
			return false;
	}
	return true;
}

/* Spans of all items; *ret_cells: the ticks in them. */
static bool fill_spans(hbm_arena *a, const hbm_inst *in, hbm_xmodel *m,
                       uint64_t *ret_cells)
{
	uint32_t n = in->pieces ? in->piece_first[in->n] : in->n;

	*ret_cells = 0;
	m->span = HBM_ARRAY(a, hbm_xspan, n);
	m->span_first = HBM_ARRAY(a, uint32_t, (size_t)in->n + 1);
	if (!m->span || !m->span_first)
		return false;
	for (uint32_t i = 0; i <= in->n; i++)
		m->span_first[i] = in->pieces ? in->piece_first[i] : i;
	for (uint32_t k = 0; k < n; k++) {
		m->span[k].first = in->pieces ? in->pieces[k].start : in->start[k];
		m->span[k].last = in->pieces ? in->pieces[k].end : in->end[k];
		*ret_cells += m->span[k].last - m->span[k].first;
	}
	return true;
}

/* CSR: ids[first[k] .. first[k + 1]). */
typedef struct lists {
	uint32_t *first, *ids;
} lists;

/* Items by the ticks of their spans, or (`births`) by the first ticks. */
static bool list_by_tick(hbm_arena *a, const hbm_xmodel *m, uint64_t n_ids, bool births,
                         lists *ret)
{
	ret->first = HBM_ZARRAY(a, uint32_t, (size_t)m->n_ticks + 2);
	ret->ids = HBM_ARRAY(a, uint32_t, n_ids);
	if (!ret->first || !ret->ids)
		return false;
	for (uint32_t k = 0; k < m->span_first[m->n]; k++) {
		uint32_t t = m->span[k].first;

		for (; t < (births ? m->span[k].first + 1 : m->span[k].last); t++)
			ret->first[t + 2]++;
	}
	for (uint32_t t = 0; t < m->n_ticks; t++)
		ret->first[t + 2] += ret->first[t + 1];
	for (uint32_t i = 0; i < m->n; i++)
		for (uint32_t k = m->span_first[i]; k < m->span_first[i + 1]; k++) {
			uint32_t t = m->span[k].first;

			for (; t < (births ? m->span[k].first + 1 : m->span[k].last);
			     t++)
				ret->ids[ret->first[t + 1]++] = i;
		}
	return true;
}

typedef struct gather {
	const hbm_xmodel *m;
	uint32_t *seen; /* per item: the last item it was listed for */
	uint32_t *out;  /* NULL: only counts */
	uint64_t n;
} gather;

static void take(gather *g, uint32_t i, const lists *l, uint32_t from, uint32_t to)
{
	for (uint32_t k = l->first[from]; k < l->first[to]; k++) {
		uint32_t j = l->ids[k];

		if (g->seen[j] == i)
			continue;
		g->seen[j] = i;
		if (g->out)
			g->out[g->n] = j;
		g->n++;
	}
}

/* Neighbours of each item: alive at the first tick of a span, or born in it. */
static bool list_neighbours(gather *g, const lists *alive, const lists *born,
                            uint32_t *first)
{
	const hbm_xmodel *m = g->m;

	g->n = 0;
	memset(g->seen, 0xff, m->n * sizeof *g->seen);
	for (uint32_t i = 0; i < m->n; i++) {
		first[i] = (uint32_t)g->n;
		g->seen[i] = i;
		for (uint32_t k = m->span_first[i]; k < m->span_first[i + 1]; k++) {
			hbm_xspan s = m->span[k];

			take(g, i, alive, s.first, s.first + 1);
			take(g, i, born, s.first + 1, s.last);
		}
		if (g->n > MAX_EDGES)
			return false;
	}
	first[m->n] = (uint32_t)g->n;
	return true;
}

static hbm_status make_neighbours(hbm_arena *a, hbm_xmodel *m, const lists *alive)
{
	gather g = {.m = m, .seen = HBM_ARRAY(a, uint32_t, m->n)};
	lists born;

	m->adj_first = HBM_ARRAY(a, uint32_t, (size_t)m->n + 1);
	HBM_NEED(g.seen && m->adj_first &&
	         list_by_tick(a, m, m->span_first[m->n], true, &born));
	if (!list_neighbours(&g, alive, &born, m->adj_first))
		return HBM_UNSUPPORTED;
	g.out = m->adj = HBM_ARRAY(a, uint32_t, g.n);
	HBM_NEED(g.out);
	list_neighbours(&g, alive, &born, m->adj_first);
	return HBM_OK;
}

/* Moves the pinned ones of each list of ids behind the list's end, by offset:
 * ids[first[i] .. first[i + 1]) keeps the free ones. */
static bool split_pins(hbm_arena *a, const hbm_inst *in, uint32_t n, lists *all,
                       lists *ret_pins)
{
	uint32_t n_ids = 0, n_pins = 0;

	ret_pins->first = HBM_ARRAY(a, uint32_t, (size_t)n + 1);
	ret_pins->ids = HBM_ARRAY(a, uint32_t, all->first[n]);
	if (!ret_pins->first || !ret_pins->ids)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = all->first[i], end = all->first[i + 1], from = n_pins;

		all->first[i] = n_ids;
		ret_pins->first[i] = from;
		for (; k < end; k++) {
			uint32_t id = all->ids[k], at = n_pins;

			if (!is_pinned(in, id)) {
				all->ids[n_ids++] = id;
				continue;
			}
			for (;
			     at > from && in->pin[ret_pins->ids[at - 1]] > in->pin[id];
			     at--)
				ret_pins->ids[at] = ret_pins->ids[at - 1];
			ret_pins->ids[at] = id;
			n_pins++;
		}
	}
	all->first[n] = n_ids;
	ret_pins->first[n] = n_pins;
	return true;
}

static bool same_life(const hbm_xmodel *m, uint32_t i, uint32_t j)
{
	uint32_t a = m->span_first[i], b = m->span_first[j];
	uint32_t n = m->span_first[i + 1] - a;

	return n == m->span_first[j + 1] - b &&
	       memcmp(m->span + a, m->span + b, n * sizeof *m->span) == 0;
}

static bool same_class(const hbm_inst *in, uint32_t i, uint32_t j)
{
	return in->size[i] == in->size[j] &&
	       (!in->mod || (in->mod[i] == in->mod[j] && in->rest[i] == in->rest[j]));
}

/* Numbers the lives. Items with the same first tick are compared with one member
 * of each life found there. */
static hbm_status find_lives(hbm_arena *a, hbm_xmodel *m)
{
	uint32_t *head = HBM_ARRAY(a, uint32_t, (size_t)m->n_ticks + 1);
	uint32_t *chain = HBM_ARRAY(a, uint32_t, m->n);

	HBM_NEED(head && chain);
	memset(head, 0xff, ((size_t)m->n_ticks + 1) * sizeof *head);
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t t, r;

		m->life[i] = HBM_NONE;
		if (hbm_xmodel_pinned(m, i))
			continue;
		t = m->span[m->span_first[i]].first;
		for (r = head[t]; r != HBM_NONE && !same_life(m, r, i); r = chain[r])
			;
		if (r == HBM_NONE) {
			chain[i] = head[t];
			head[t] = i;
			m->life[i] = m->n_lives++;
		} else {
			m->life[i] = m->life[r];
		}
	}
	return HBM_OK;
}

/* Links each item to the equal one before it. */
static hbm_status find_twins(hbm_arena *a, hbm_xmodel *m)
{
	uint32_t *latest = HBM_ARRAY(a, uint32_t, m->n_lives);
	uint32_t *chain = HBM_ARRAY(a, uint32_t, m->n);

	HBM_NEED(latest && chain);
	memset(latest, 0xff, m->n_lives * sizeof *latest);
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t life = m->life[i], j;

		m->twin[i] = HBM_NONE;
		if (life == HBM_NONE)
			continue;
		for (j = latest[life]; j != HBM_NONE && !same_class(m->in, i, j);)
			j = chain[j];
		m->twin[i] = j;
		chain[i] = latest[life];
		latest[life] = i;
	}
	return HBM_OK;
}

static bool pins_clash(const hbm_xmodel *m, const lists *pins)
{
	for (uint32_t t = 0; t < m->n_ticks; t++)
		for (uint32_t k = pins->first[t] + 1; k < pins->first[t + 1]; k++) {
			uint32_t p = pins->ids[k - 1], q = pins->ids[k];

			if (m->in->pin[p] + m->in->size[p] > m->in->pin[q])
				return true;
		}
	return false;
}

static hbm_status take_pins_out(hbm_arena *a, hbm_xmodel *m, lists *by_tick)
{
	lists adj = {m->adj_first, m->adj}, pins;

	HBM_NEED(split_pins(a, m->in, m->n, &adj, &pins));
	m->pins_first = pins.first;
	m->pins = pins.ids;
	HBM_NEED(split_pins(a, m->in, m->n_ticks, by_tick, &pins));
	m->tpins_first = pins.first;
	m->tpins = pins.ids;
	m->clash = pins_clash(m, &pins);
	for (uint32_t i = 0; i < m->n; i++) {
		uint64_t end;

		if (!hbm_xmodel_pinned(m, i))
			continue;
		m->n_free--;
		end = m->in->pin[i] + m->in->size[i];
		if ((hbm_xoff)end > m->pins_end)
			m->pins_end = (hbm_xoff)end;
	}
	return HBM_OK;
}

/* Loads, and how far the neighbours of an item reach in time. */
static hbm_status measure(hbm_arena *a, hbm_xmodel *m)
{
	m->reach = HBM_ARRAY(a, hbm_xspan, m->n);
	m->load = HBM_ZARRAY(a, hbm_xoff, (size_t)m->n_ticks + 1);
	HBM_NEED(m->reach && m->load);
	for (uint32_t i = 0; i < m->n; i++) {
		hbm_xspan r = hbm_xmodel_hull(m, i);

		for (uint32_t k = m->adj_first[i]; k < m->adj_first[i + 1]; k++) {
			hbm_xspan h = hbm_xmodel_hull(m, m->adj[k]);

			r.first = h.first < r.first ? h.first : r.first;
			r.last = h.last > r.last ? h.last : r.last;
		}
		m->reach[i] = r;
		if (hbm_xmodel_pinned(m, i))
			continue;
		for (uint32_t k = m->span_first[i]; k < m->span_first[i + 1]; k++)
			for (uint32_t t = m->span[k].first; t < m->span[k].last; t++)
				m->load[t] += m->size[i];
	}
	return HBM_OK;
}

hbm_status hbm_xmodel_build(hbm_arena *a, const hbm_inst *in, hbm_xmodel *ret)
{
	hbm_xmodel m = {.in = in, .n = in->n, .n_ticks = in->n_ticks, .n_free = in->n};
	uint64_t n_cells;
	lists alive;

	if (in->group || (in->pieces && !whole_pieces(in)))
		return HBM_UNSUPPORTED;
	HBM_NEED(fill_spans(a, in, &m, &n_cells));
	if (n_cells > MAX_CELLS)
		return HBM_UNSUPPORTED;
	m.size = HBM_ARRAY(a, hbm_xoff, m.n);
	m.twin = HBM_ARRAY(a, uint32_t, m.n);
	m.life = HBM_ARRAY(a, uint32_t, m.n);
	HBM_NEED(m.size && m.twin && m.life);
	for (uint32_t i = 0; i < m.n; i++)
		m.size[i] = (hbm_xoff)in->size[i];
	HBM_NEED(list_by_tick(a, &m, n_cells, false, &alive));
	HBM_TRY(make_neighbours(a, &m, &alive));
	if (in->pin)
		HBM_TRY(take_pins_out(a, &m, &alive));
	m.tick_first = alive.first;
	m.tick_item = alive.ids;
	HBM_TRY(measure(a, &m));
	HBM_TRY(find_lives(a, &m));
	HBM_TRY(find_twins(a, &m));
	*ret = m;
	return HBM_OK;
}
