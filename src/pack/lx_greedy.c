/* SPDX-License-Identifier: Apache-2.0 */
/* lx_greedy: place buffers in the order in which they are born.
 *
 * Decides   an address or none for each buffer, once, never looking ahead.
 * Method    At each tick first the blocks whose life ended leave; then, in input
 *           order, each buffer born there takes the base of its first parent
 *           that is in use, not handed over and large enough; else 0 when
 *           nothing lies below its size; else the top of all blocks; else the
 *           lowest hole between two blocks. A group is placed whole when its
 *           first member is born, or not at all. Pinned buffers are there from
 *           the beginning.
 * Keeps     `used` is sorted by address and holds the live blocks.
 * Cost      O(n log n + n * live blocks); a buffer larger than the free bytes is
 *           refused without a look at the blocks.
 * Source    the chronological greedy solver of torch-spyre's scratchpad planner,
 *           so that its addresses can be compared. */
#include "pack/lx_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct event {
	uint32_t tick;
	bool birth; /* deaths come first */
	uint32_t who;
} event;

typedef struct greedy {
	lx_view *v;
	uint64_t *address;
	lx_spans used;
	uint64_t used_bytes;      /* with shared bytes counted once */
	bool *handed;             /* the buffer's slot went to a child */
	bool *shares;             /* the buffer sits in a parent's slot */
	bool *tried;              /* placed or refused with its group */
	lx_ids pinned;
	lx_spans saved, merged;   /* scratch */
} greedy;

static int by_tick(const void *a, const void *b)
{
	const event *x = a, *y = b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	if (x->birth != y->birth)
		return x->birth ? 1 : -1;
	return (x->who > y->who) - (x->who < y->who);
}

static uint32_t place_of(const lx_spans *s, const lx_span *key)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (lx_by_address(&s->items[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool span_insert(greedy *g, lx_span s)
{
	uint32_t at = place_of(&g->used, &s);

	if (!HBM_PUSH(g->v->mem, &g->used, s))
		return false;
	memmove(&g->used.items[at + 1], &g->used.items[at],
	        (g->used.n - 1 - at) * sizeof s);
	g->used.items[at] = s;
	return true;
}

static bool take(greedy *g, uint32_t i, uint64_t address, bool share)
{
	uint64_t size = g->v->p->size[i];

	g->address[i] = address;
	g->shares[i] = share;
	if (!share)
		g->used_bytes += size;
	return span_insert(g, (lx_span){address, address + size, i});
}

static void leave(greedy *g, uint32_t i)
{
	uint64_t size = g->v->p->size[i];
	lx_span key = {g->address[i], 0, i};
	uint32_t at = place_of(&g->used, &key);

	if (at == g->used.n || g->used.items[at].who != i)
		return;
	memmove(&g->used.items[at], &g->used.items[at + 1],
	        (g->used.n - 1 - at) * sizeof key);
	g->used.n--;
	if (!g->shares[i])
		g->used_bytes -= size;
	g->shares[i] = false;
	/* A child that stays keeps its own part of the slot. */
	for (uint32_t k = at; g->handed[i] && k < g->used.n; k++) {
		lx_span *s = &g->used.items[k];
		if (s->lo != key.lo)
			break;
		g->shares[s->who] = false;
		g->used_bytes += s->hi - s->lo;
	}
}

static bool meets_pin(const greedy *g, uint32_t i, uint64_t at)
{
	const uint64_t *size = g->v->p->size;

	for (uint32_t k = 0; k < g->pinned.n; k++) {
		uint32_t q = g->pinned.items[k];
		if (lx_meet(g->v, i, q) && g->address[q] < at + size[i] &&
		    at < g->address[q] + size[q] && !lx_is_parent(g->v, i, q))
			return true;
	}
	return false;
}

static uint64_t parent_base(greedy *g, uint32_t i)
{
	const uint64_t *size = g->v->p->size;
	uint32_t n;
	const uint32_t *parents = lx_parents(g->v, i, &n);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t q = parents[k];
		if (g->address[q] == HBM_NO_OFFSET || g->handed[q] || size[q] < size[i] ||
		    meets_pin(g, i, g->address[q]))
			continue;
		g->handed[q] = true;
		return g->address[q];
	}
	return HBM_NO_OFFSET;
}

/* The blocks that matter to buffer i: those in use, and pinned ones it meets at
 * any time. */
static const lx_spans *obstacles(greedy *g, uint32_t i)
{
	if (!g->pinned.n)
		return &g->used;
	g->merged.n = 0;
	for (uint32_t k = 0; k < g->pinned.n; k++) {
		uint32_t q = g->pinned.items[k];
		uint64_t lo = g->address[q];
		if (lx_meet(g->v, i, q) &&
		    !HBM_PUSH(g->v->mem, &g->merged,
		              (lx_span){lo, lo + g->v->p->size[q], q}))
			return NULL;
	}
	for (uint32_t k = 0; k < g->used.n; k++)
		if (!HBM_PUSH(g->v->mem, &g->merged, g->used.items[k]))
			return NULL;
	if (g->merged.n)
		qsort(g->merged.items, g->merged.n, sizeof(lx_span), lx_by_address);
	return &g->merged;
}

static uint64_t find_room(const lx_view *v, const lx_spans *s, uint64_t size)
{
	uint64_t hole = HBM_NO_OFFSET, end = 0;

	if (!s->n || s->items[0].lo >= size)
		return 0;
	end = s->items[0].hi;
	for (uint32_t k = 1; k < s->n; k++) {
		uint64_t at = lx_align_up(v, end);
		if (hole == HBM_NO_OFFSET && at + size <= s->items[k].lo)
			hole = at;
		if (end < s->items[k].hi)
			end = s->items[k].hi;
	}
	end = lx_align_up(v, end);
	return end + size <= v->p->capacity ? end : hole;
}

static hbm_status try_place(greedy *g, uint32_t i, uint32_t tick, bool *ret)
{
	uint64_t size = g->v->p->size[i], at = HBM_NO_OFFSET;
	const lx_spans *s;
	bool share = false;

	*ret = true;
	if (g->v->start[i] == tick) {
		at = parent_base(g, i);
		share = at != HBM_NO_OFFSET;
	}
	if (!share && size <= g->v->p->capacity - g->used_bytes) {
		HBM_NEED(s = obstacles(g, i));
		at = find_room(g->v, s, size);
	}
	if (at == HBM_NO_OFFSET) {
		*ret = false;
		return HBM_OK;
	}
	HBM_NEED(take(g, i, at, share));
	return HBM_OK;
}

/* All members of a group, or none. */
static hbm_status place_group(greedy *g, uint32_t tick, const uint32_t *members,
                              uint32_t n_members)
{
	uint64_t used_bytes = g->used_bytes;
	bool ok = true;

	g->saved.n = 0;
	for (uint32_t k = 0; k < g->used.n; k++)
		HBM_NEED(HBM_PUSH(g->v->mem, &g->saved, g->used.items[k]));
	for (uint32_t k = 0; k < n_members; k++)
		g->tried[members[k]] = true;
	for (uint32_t k = 0; k < n_members && ok; k++)
		HBM_TRY(try_place(g, members[k], tick, &ok));
	if (ok)
		return HBM_OK;
	for (uint32_t k = 0; k < n_members; k++) {
		uint32_t m = members[k], n;
		const uint32_t *parents = lx_parents(g->v, m, &n);
		for (uint32_t j = 0; g->shares[m] && j < n; j++)
			if (g->address[parents[j]] == g->address[m])
				g->handed[parents[j]] = false;
		g->address[m] = HBM_NO_OFFSET;
		g->shares[m] = false;
	}
	g->used_bytes = used_bytes;
	g->used.n = 0;
	for (uint32_t k = 0; k < g->saved.n; k++)
		HBM_NEED(HBM_PUSH(g->v->mem, &g->used, g->saved.items[k]));
	return HBM_OK;
}

static hbm_status birth(greedy *g, uint32_t i, uint32_t tick)
{
	uint32_t n;
	const uint32_t *members;
	bool ok;

	if (g->address[i] != HBM_NO_OFFSET && lx_pin(g->v, i) != HBM_NO_OFFSET) {
		HBM_NEED(take(g, i, g->address[i], false));
		return HBM_OK;
	}
	if (g->tried[i])
		return HBM_OK;
	members = lx_group(g->v, i, &n);
	return n > 1 ? place_group(g, tick, members, n) : try_place(g, i, tick, &ok);
}

static hbm_status set_pins(greedy *g)
{
	lx_index placed;

	if (!g->v->p->pin)
		return HBM_OK;
	HBM_NEED(lx_index_init(&placed, g->v));
	HBM_TRY(lx_place_pins(g->v, &placed, g->address));
	for (uint32_t i = 0; i < g->v->n; i++)
		if (g->address[i] != HBM_NO_OFFSET)
			HBM_NEED(HBM_PUSH(g->v->mem, &g->pinned, i));
	return HBM_OK;
}

static hbm_status run_events(greedy *g)
{
	lx_view *v = g->v;
	HBM_VEC(event) events = {0};

	HBM_NEED(HBM_RESERVE(v->mem, &events, (uint64_t)v->n * 2));
	for (uint32_t i = 0; i < v->n; i++) {
		if (!v->ok[i])
			continue;
		events.items[events.n++] = (event){v->start[i], true, i};
		events.items[events.n++] = (event){v->end[i], false, i};
	}
	if (events.n)
		qsort(events.items, events.n, sizeof *events.items, by_tick);
	for (uint32_t k = 0; k < events.n; k++) {
		event e = events.items[k];
		if (e.birth)
			HBM_TRY(birth(g, e.who, e.tick));
		else if (g->address[e.who] != HBM_NO_OFFSET)
			leave(g, e.who);
	}
	return HBM_OK;
}

hbm_status lx_run_greedy(lx_view *v, lx_result *r)
{
	greedy g = {.v = v, .address = r->address};

	HBM_NEED(g.handed = HBM_ZARRAY(v->mem, bool, v->n));
	HBM_NEED(g.shares = HBM_ZARRAY(v->mem, bool, v->n));
	HBM_NEED(g.tried = HBM_ZARRAY(v->mem, bool, v->n));
	HBM_TRY(set_pins(&g));
	HBM_TRY(run_events(&g));
	r->saved = lx_saved(v, r->address);
	return HBM_OK;
}
