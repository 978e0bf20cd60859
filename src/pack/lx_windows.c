/* SPDX-License-Identifier: Apache-2.0 */
/* lx_windows: search for very many items, window by window.
 *
 * Method    Items stand by birth. A window is WIDTH of them in a row; it ends where
 *           the next item is born. Its items are free when their life ends in it;
 *           all other placed items that are live in it are pinned where they are.
 *           Each window is a problem of its own for lx_improve, with time cut down
 *           to it; the next one begins half a width later. Windows in which nothing
 *           free is out are left alone.
 * Keeps     the layout is legal after each window and never worse than before.
 * Cost      O(items + windows * (WIDTH + live items) * steps). */
#include "pack/lx_core.h"

enum { WIDTH = 192 };

typedef struct window {
	const lx_core *c;
	hbm_arena mem;
	lx_core sub;
	int64_t *base;     /* of the items of sub */
	uint32_t *item;    /* item of sub -> item of c */
	uint32_t *place;   /* item of c -> item of sub; valid for those in it */
	uint32_t n_out;    /* free ones that are out */
} window;

/* Adds item i; segments are cut down to [from, to). */
static void add_item(window *w, uint32_t i, uint32_t from, uint32_t to,
                     const int64_t *base)
{
	const lx_item *x = &w->c->items[i];
	bool fixed = x->lo < from || x->hi > to || x->pin >= 0;
	lx_item y = *x;

	if ((fixed && base[i] < 0) || x->lo >= to)
		return; /* the latter are born together with the next window's first */
	if (fixed)
		y.pin = base[i];
	w->n_out += base[i] < 0;
	y.lo = (x->lo < from ? from : x->lo) - from;
	y.hi = (x->hi > to ? to : x->hi) - from;
	/* What was born before shares nothing any more. */
	y.child = x->child && x->lo >= from;
	w->place[i] = w->sub.n;
	w->item[w->sub.n] = i;
	w->base[w->sub.n] = base[i];
	w->sub.items[w->sub.n++] = y;
}

static bool inside(const window *w, uint32_t i)
{
	return w->place[i] < w->sub.n && w->item[w->place[i]] == i;
}

static hbm_status link_partners(window *w)
{
	lx_ids all = {0};

	for (uint32_t k = 0; k < w->sub.n; k++) {
		lx_item *x = &w->sub.items[k];
		uint32_t first = x->partner, n = x->n_partners;
		x->partner = all.n;
		x->n_partners = 0;
		for (uint32_t j = 0; j < n; j++) {
			uint32_t q = w->c->partners[first + j];
			if (!inside(w, q))
				continue;
			HBM_NEED(HBM_PUSH(&w->mem, &all, w->place[q]));
			x->n_partners++;
		}
	}
	w->sub.partners = all.items;
	return HBM_OK;
}

/* Items [a, b) and what is placed beside them: `before` lists placed ones born
 * earlier. */
static hbm_status fill(window *w, uint32_t a, uint32_t b, const lx_ids *before,
                       const int64_t *base)
{
	const lx_core *c = w->c;
	uint32_t from = c->items[a].lo, behind = b, room;
	uint32_t to = b < c->n ? c->items[b].lo : c->n_segments;

	/* Items born in the first segment of the next window are not live here. */
	while (behind < c->n && c->items[behind].lo < to)
		behind++;
	room = behind - a + before->n;
	w->sub = (lx_core){.v = c->v, .mem = &w->mem, .capacity = c->capacity,
	                   .n_segments = to > from ? to - from : 1};
	w->n_out = 0;
	HBM_NEED(w->sub.items = HBM_ARRAY(&w->mem, lx_item, room));
	HBM_NEED(w->base = HBM_ARRAY(&w->mem, int64_t, room));
	HBM_NEED(w->item = HBM_ARRAY(&w->mem, uint32_t, room));
	if (to <= from)
		return HBM_OK;
	for (uint32_t k = 0; k < before->n; k++)
		if (c->items[before->items[k]].hi > from)
			add_item(w, before->items[k], from, to, base);
	for (uint32_t i = a; i < behind; i++)
		add_item(w, i, from, to, base);
	return link_partners(w);
}

static hbm_status improve(window *w, const lx_prices *prices, uint64_t steps,
                          int64_t *base, uint64_t *ret_steps)
{
	lx_prices own = {.bound = UINT64_MAX, .scale = prices->scale};

	*ret_steps = 0;
	if (!w->n_out)
		return HBM_OK;
	HBM_TRY(lx_improve(&w->sub, &own, steps, w->base, ret_steps));
	for (uint32_t k = 0; k < w->sub.n; k++)
		base[w->item[k]] = w->base[k];
	return HBM_OK;
}

/* Drops from the list what has died before the segment; adds items [a, b). */
static hbm_status pass_items(const lx_core *c, lx_ids *live, uint32_t a, uint32_t b,
                             uint32_t segment, const int64_t *base)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < live->n; k++)
		if (c->items[live->items[k]].hi > segment)
			live->items[n++] = live->items[k];
	live->n = n;
	for (uint32_t i = a; i < b; i++)
		if (base[i] >= 0 && c->items[i].hi > segment)
			HBM_NEED(HBM_PUSH(c->mem, live, i));
	return HBM_OK;
}

hbm_status lx_improve_windows(lx_core *c, const lx_prices *prices, uint64_t steps,
                              int64_t *base, uint64_t *ret_steps)
{
	window w = {.c = c};
	lx_ids live = {0};
	hbm_status status = HBM_OK;

	*ret_steps = 0;
	HBM_NEED(w.place = HBM_ZARRAY(c->mem, uint32_t, c->n));
	for (uint32_t a = 0; a < c->n && status == HBM_OK; a += WIDTH / 2) {
		uint32_t b = c->n - a > WIDTH ? a + WIDTH : c->n;
		uint32_t next = c->n - a > WIDTH / 2 ? a + WIDTH / 2 : c->n;
		uint64_t taken = 0;
		hbm_arena_init(&w.mem, &c->mem->mem);
		status = fill(&w, a, b, &live, base);
		if (status == HBM_OK)
			status = improve(&w, prices, steps, base, &taken);
		hbm_arena_fini(&w.mem);
		*ret_steps += taken;
		if (status == HBM_OK && next < c->n)
			status = pass_items(c, &live, a, next, c->items[next].lo, base);
	}
	return status;
}
