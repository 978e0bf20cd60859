/* SPDX-License-Identifier: Apache-2.0
 * The flat model of an instance for the exact search.
 *
 * Cells (item x tick) and neighbours are laid out once as CSR arrays, so that a
 * node of the search touches nothing else. The arrays are as long as the sum of
 * lives in ticks and the number of pairs that meet; both are limited, because an
 * exact search of anything larger would not end anyway. */
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

static uint32_t n_spans(const hbm_inst *in, uint32_t i)
{
	return in->pieces ? in->piece_first[i + 1] - in->piece_first[i] : 1;
}

static void get_span(const hbm_inst *in, uint32_t i, uint32_t k, uint32_t *ret_start,
                     uint32_t *ret_end)
{
	if (in->pieces) {
		*ret_start = in->pieces[in->piece_first[i] + k].start;
		*ret_end = in->pieces[in->piece_first[i] + k].end;
	} else {
		*ret_start = in->start[i];
		*ret_end = in->end[i];
	}
}

static hbm_status count_cells(const hbm_inst *in, uint64_t *ret)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < in->n; i++)
		for (uint32_t k = 0; k < n_spans(in, i); k++) {
			uint32_t start, end;

			get_span(in, i, k, &start, &end);
			n += end - start;
		}
	*ret = n;
	return n > MAX_CELLS ? HBM_UNSUPPORTED : HBM_OK;
}

/* Cells of all items, pinned ones too, in ticks of each item. */
static void fill_cells(const hbm_inst *in, uint32_t *first, uint32_t *tick)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < in->n; i++) {
		first[i] = n;
		for (uint32_t k = 0; k < n_spans(in, i); k++) {
			uint32_t start, end;

			get_span(in, i, k, &start, &end);
			for (uint32_t t = start; t < end; t++)
				tick[n++] = t;
		}
	}
	first[in->n] = n;
}

/* Items by tick: items of tick t are ids[first[t] .. first[t + 1]). */
typedef struct columns {
	uint32_t *first, *ids;
} columns;

static bool make_columns(hbm_arena *a, uint32_t n, uint32_t n_ticks,
                         const uint32_t *cell_first, const uint32_t *cell_tick,
                         columns *ret)
{
	uint32_t n_cells = cell_first[n];

	ret->first = HBM_ZARRAY(a, uint32_t, (size_t)n_ticks + 2);
	ret->ids = HBM_ARRAY(a, uint32_t, n_cells);
	if (!ret->first || !ret->ids)
		return false;
	for (uint32_t c = 0; c < n_cells; c++)
		ret->first[cell_tick[c] + 2]++;
	for (uint32_t t = 0; t < n_ticks; t++)
		ret->first[t + 2] += ret->first[t + 1];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = cell_first[i]; c < cell_first[i + 1]; c++)
			ret->ids[ret->first[cell_tick[c] + 1]++] = i;
	return true;
}

/* Lists, for each item, the others that meet it; `out` NULL: only counts. A new
 * neighbour shows at the first tick of a span, or starts at a later one. */
static bool list_neighbours(const hbm_inst *in, const uint32_t *cell_first,
                            const uint32_t *cell_tick, const columns *col,
                            uint32_t *seen, uint32_t *first, uint32_t *out,
                            uint64_t limit)
{
	uint64_t n = 0;

	memset(seen, 0xff, in->n * sizeof *seen);
	for (uint32_t i = 0; i < in->n; i++) {
		first[i] = (uint32_t)n;
		seen[i] = i;
		for (uint32_t c = cell_first[i]; c < cell_first[i + 1]; c++) {
			uint32_t t = cell_tick[c];

			for (uint32_t k = col->first[t]; k < col->first[t + 1]; k++) {
				uint32_t j = col->ids[k];

				if (seen[j] == i)
					continue;
				seen[j] = i;
				if (out)
					out[n] = j;
				n++;
			}
			if (n > limit)
				return false;
		}
	}
	first[in->n] = (uint32_t)n;
	return true;
}

/* Moves the pinned ones of each list of ids behind the list's end, by offset:
 * ids[first[i] .. first[i + 1]) keeps the free ones. */
typedef struct lists {
	uint32_t *first, *ids;
} lists;

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
	uint32_t a = m->cell_first[i], b = m->cell_first[j];
	uint32_t n = m->cell_first[i + 1] - a;

	return n == m->cell_first[j + 1] - b &&
	       memcmp(m->cell_tick + a, m->cell_tick + b, n * sizeof *m->cell_tick) ==
	               0;
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
		if (m->cell_first[i] == m->cell_first[i + 1])
			continue;
		t = m->cell_tick[m->cell_first[i]];
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

/* Cells again, without those of pinned items. */
static void drop_pinned_cells(hbm_xmodel *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t c = m->cell_first[i], end = m->cell_first[i + 1];

		m->cell_first[i] = n;
		if (!is_pinned(m->in, i))
			for (; c < end; c++)
				m->cell_tick[n++] = m->cell_tick[c];
	}
	m->cell_first[m->n] = n;
	m->n_cells = n;
}

static hbm_status take_pins_out(hbm_arena *a, hbm_xmodel *m, columns *col)
{
	lists adj = {m->adj_first, m->adj}, by_tick = {col->first, col->ids}, pins;

	HBM_NEED(split_pins(a, m->in, m->n, &adj, &pins));
	m->pins_first = pins.first;
	m->pins = pins.ids;
	HBM_NEED(split_pins(a, m->in, m->n_ticks, &by_tick, &pins));
	m->tpins_first = pins.first;
	m->tpins = pins.ids;
	m->clash = pins_clash(m, &pins);
	drop_pinned_cells(m);
	m->n_free = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		uint64_t end = is_pinned(m->in, i) ? m->in->pin[i] + m->in->size[i] : 0;

		m->n_free += end == 0;
		if ((hbm_xoff)end > m->pins_end)
			m->pins_end = (hbm_xoff)end;
	}
	return HBM_OK;
}

hbm_status hbm_xmodel_build(hbm_arena *a, const hbm_inst *in, hbm_xmodel *ret)
{
	hbm_xmodel m = {.in = in, .n = in->n, .n_ticks = in->n_ticks, .n_free = in->n};
	uint64_t n_cells;
	uint32_t *seen = HBM_ARRAY(a, uint32_t, in->n);
	columns col;

	if (in->group || (in->pieces && !whole_pieces(in)))
		return HBM_UNSUPPORTED;
	HBM_TRY(count_cells(in, &n_cells));
	m.n_cells = (uint32_t)n_cells;
	m.size = HBM_ARRAY(a, hbm_xoff, m.n);
	m.cell_first = HBM_ARRAY(a, uint32_t, (size_t)m.n + 1);
	m.cell_tick = HBM_ARRAY(a, uint32_t, n_cells);
	m.adj_first = HBM_ARRAY(a, uint32_t, (size_t)m.n + 1);
	m.twin = HBM_ARRAY(a, uint32_t, m.n);
	m.life = HBM_ARRAY(a, uint32_t, m.n);
	HBM_NEED(seen && m.size && m.cell_first && m.cell_tick && m.adj_first &&
	         m.twin && m.life);
	for (uint32_t i = 0; i < m.n; i++)
		m.size[i] = (hbm_xoff)in->size[i];
	fill_cells(in, m.cell_first, m.cell_tick);
	HBM_NEED(make_columns(a, m.n, m.n_ticks, m.cell_first, m.cell_tick, &col));
	if (!list_neighbours(in, m.cell_first, m.cell_tick, &col, seen, m.adj_first,
	                     NULL, MAX_EDGES))
		return HBM_UNSUPPORTED;
	m.n_edges = m.adj_first[m.n];
	m.adj = HBM_ARRAY(a, uint32_t, m.n_edges);
	HBM_NEED(m.adj);
	list_neighbours(in, m.cell_first, m.cell_tick, &col, seen, m.adj_first, m.adj,
	                MAX_EDGES);
	if (in->pin)
		HBM_TRY(take_pins_out(a, &m, &col));
	m.tick_first = col.first;
	HBM_TRY(find_lives(a, &m));
	HBM_TRY(find_twins(a, &m));
	*ret = m;
	return HBM_OK;
}
