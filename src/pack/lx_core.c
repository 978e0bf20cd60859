/* SPDX-License-Identifier: Apache-2.0 */
/* lx_core: the scratchpad problem cut down for search and proof. */
#include "pack/lx_core.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t lower_bound(const uint32_t *ticks, uint32_t n, uint32_t tick)
{
	uint32_t lo = 0;

	while (lo < n) {
		uint32_t mid = lo + (n - lo) / 2;
		if (ticks[mid] < tick)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

/* Distinct ticks at which a placeable buffer is born. */
static hbm_status cut_time(lx_core *c, uint32_t **ret)
{
	const lx_view *v = c->v;
	uint32_t *ticks = HBM_ARRAY(c->mem, uint32_t, v->n), n = 0;

	HBM_NEED(ticks);
	for (uint32_t i = 0; i < v->n; i++)
		if (v->ok[i])
			ticks[n++] = v->start[i];
	c->n = n;
	if (n)
		qsort(ticks, n, sizeof *ticks, by_number);
	for (uint32_t k = 0; k < n; k++)
		if (!k || ticks[k] != ticks[k - 1])
			ticks[c->n_segments++] = ticks[k];
	*ret = ticks;
	return HBM_OK;
}

static int by_birth(const void *a, const void *b)
{
	const lx_item *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static lx_item make_item(const lx_core *c, const uint32_t *ticks, uint32_t i)
{
	const lx_view *v = c->v;
	uint64_t size = v->p->size[i], align = v->p->align, pin = lx_pin(v, i);

	return (lx_item){
		.lo = lower_bound(ticks, c->n_segments, v->start[i]),
		.hi = lower_bound(ticks, c->n_segments, v->end[i]),
		.units = (int64_t)((size - 1) / align + 1),
		.max_base = (int64_t)((v->p->capacity - size) / align),
		.pin = pin == HBM_NO_OFFSET ? -1 : (int64_t)(pin / align),
		.value = (int64_t)v->value[i],
		.buffer = i,
	};
}

static bool add_partners(lx_core *c, lx_ids *all, const uint32_t *ids, uint32_t n,
                         lx_item *item)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t q = c->item_of[ids[k]];
		if (q == HBM_NONE)
			continue;
		if (!HBM_PUSH(c->mem, all, q))
			return false;
		item->n_partners++;
	}
	return true;
}

static hbm_status link_partners(lx_core *c)
{
	lx_ids all = {0};

	for (uint32_t k = 0; k < c->n; k++) {
		lx_item *item = &c->items[k];
		uint32_t n;
		const uint32_t *ids = lx_parents(c->v, item->buffer, &n);
		item->partner = all.n;
		HBM_NEED(add_partners(c, &all, ids, n, item));
		item->child = item->n_partners > 0;
		ids = lx_children(c->v, item->buffer, &n);
		HBM_NEED(add_partners(c, &all, ids, n, item));
	}
	c->partners = all.items;
	return HBM_OK;
}

hbm_status lx_core_init(lx_core *c, lx_view *v)
{
	uint64_t align = v->p->align;
	uint32_t *ticks, n = 0, members;

	*c = (lx_core){.v = v, .mem = v->mem};
	HBM_TRY(cut_time(c, &ticks));
	c->capacity = (int64_t)(v->p->capacity / align + (v->p->capacity % align != 0));
	HBM_NEED(c->items = HBM_ARRAY(c->mem, lx_item, c->n));
	HBM_NEED(c->item_of = HBM_ARRAY(c->mem, uint32_t, v->n));
	for (uint32_t i = 0; i < v->n; i++) {
		c->item_of[i] = HBM_NONE;
		if (!v->ok[i])
			continue;
		c->items[n++] = make_item(c, ticks, i);
		lx_group(v, i, &members);
		c->groups |= members > 1;
	}
	if (n)
		qsort(c->items, n, sizeof *c->items, by_birth);
	for (uint32_t k = 0; k < n; k++)
		c->item_of[c->items[k].buffer] = k;
	return link_partners(c);
}

bool lx_partners(const lx_core *c, uint32_t a, uint32_t b)
{
	const lx_item *item = &c->items[a];

	for (uint32_t k = 0; k < item->n_partners; k++)
		if (c->partners[item->partner + k] == b)
			return true;
	return false;
}

void lx_core_read(const lx_core *c, const uint64_t *address, int64_t *base)
{
	for (uint32_t k = 0; k < c->n; k++) {
		uint64_t at = address[c->items[k].buffer];
		base[k] = at == HBM_NO_OFFSET ? -1 : (int64_t)(at / c->v->p->align);
	}
}

void lx_core_write(const lx_core *c, const int64_t *base, uint64_t *address)
{
	for (uint32_t k = 0; k < c->n; k++)
		address[c->items[k].buffer] =
			base[k] < 0 ? HBM_NO_OFFSET : (uint64_t)base[k] * c->v->p->align;
}

int64_t lx_core_value(const lx_core *c, const int64_t *base)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < c->n; k++)
		if (base[k] >= 0)
			sum += c->items[k].value;
	return sum;
}
