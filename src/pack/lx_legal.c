/* SPDX-License-Identifier: Apache-2.0 */
/* lx_legal: is a scratchpad layout legal, and what room does it leave.
 *
 * Method    A sweep over births and deaths with the live blocks sorted by
 *           address: a block that comes in must be clear of its neighbours, or
 *           share its base with an in-place partner.
 * Cost      O(n log n + n * live blocks), the second term one memory move. */
#include "pack/lx.h"
#include "base/ckd.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct block {
	uint64_t lo, hi;
	uint32_t start, end, who;
} block;

typedef HBM_VEC(block) blocks;

static int by_start(const void *a, const void *b)
{
	const block *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static int by_end(const void *a, const void *b)
{
	const block *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static int by_lo(const void *a, const void *b)
{
	const block *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static bool partners(const hbm_lx_problem *p, uint32_t a, uint32_t b)
{
	for (uint32_t turn = 0; turn < 2; turn++) {
		uint32_t child = turn ? b : a, parent = turn ? a : b;
		if (!p->parent_first)
			return false;
		for (uint32_t k = p->parent_first[child]; k < p->parent_first[child + 1]; k++)
			if (p->parents[k] == parent)
				return true;
	}
	return false;
}

static uint32_t place_of(const blocks *live, const block *key)
{
	uint32_t lo = 0, hi = live->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (by_lo(&live->items[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The buffer that `b` may not stand with, or HBM_NONE. Live blocks are clear of
 * each other but for partners at one base, so below `b` only the nearest base
 * can reach into it. */
static uint32_t clash(const hbm_lx_problem *p, const blocks *live, uint32_t at,
                      const block *b)
{
	uint64_t below = HBM_NO_OFFSET;

	for (uint32_t k = at; k < live->n && live->items[k].lo < b->hi; k++)
		if (live->items[k].lo != b->lo || !partners(p, live->items[k].who, b->who))
			return live->items[k].who;
	for (uint32_t k = at; k-- > 0;) {
		const block *o = &live->items[k];
		if (o->lo == b->lo) {
			if (!partners(p, o->who, b->who))
				return o->who;
			continue;
		}
		if (below == HBM_NO_OFFSET)
			below = o->lo;
		if (o->lo != below)
			break;
		if (o->hi > b->lo)
			return o->who;
	}
	return HBM_NONE;
}

static bool alone_ok(const hbm_lx_problem *p, const uint64_t *address, uint32_t i)
{
	uint64_t at = address[i];

	return at % p->align == 0 && p->size[i] && at <= p->capacity &&
	       p->size[i] <= p->capacity - at && !(p->barred && p->barred[i]) &&
	       p->use_first[i] < p->use_first[i + 1] &&
	       (!p->pin || p->pin[i] == HBM_NO_OFFSET || p->pin[i] == at);
}

typedef struct group_key {
	uint32_t group, who;
} group_key;

static int by_group(const void *a, const void *b)
{
	const group_key *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static hbm_status check_groups(hbm_arena *mem, const hbm_lx_problem *p,
                               const uint64_t *address, hbm_lx_verdict *v)
{
	group_key *keys = HBM_ARRAY(mem, group_key, p->n);

	HBM_NEED(keys);
	for (uint32_t i = 0; i < p->n; i++)
		keys[i] = (group_key){p->group[i], i};
	if (p->n)
		qsort(keys, p->n, sizeof *keys, by_group);
	for (uint32_t k = 1; k < p->n; k++) {
		uint32_t a = keys[k - 1].who, b = keys[k].who;
		if (keys[k].group != HBM_NONE && keys[k].group == keys[k - 1].group &&
		    (address[a] == HBM_NO_OFFSET) != (address[b] == HBM_NO_OFFSET))
			*v = (hbm_lx_verdict){false, a, b};
	}
	return HBM_OK;
}

static hbm_status collect(hbm_arena *mem, const hbm_lx_problem *p,
                          const uint64_t *address, blocks *ret, hbm_lx_verdict *v)
{
	for (uint32_t i = 0; i < p->n && v->legal; i++) {
		if (address[i] == HBM_NO_OFFSET)
			continue;
		if (!alone_ok(p, address, i))
			*v = (hbm_lx_verdict){false, i, i};
		HBM_NEED(HBM_PUSH(mem, ret, (block){address[i], address[i] + p->size[i],
		                                    hbm_lx_start(p, i), hbm_lx_end(p, i), i}));
	}
	return HBM_OK;
}

static hbm_status sweep(hbm_arena *mem, const hbm_lx_problem *p, blocks *born,
                        hbm_lx_verdict *v)
{
	blocks dead = {0}, live = {0};

	if (!born->n)
		return HBM_OK;
	HBM_NEED(HBM_RESERVE(mem, &dead, born->n) && HBM_RESERVE(mem, &live, born->n));
	memcpy(dead.items, born->items, born->n * sizeof(block));
	qsort(born->items, born->n, sizeof(block), by_start);
	qsort(dead.items, born->n, sizeof(block), by_end);
	for (uint32_t k = 0, gone = 0; k < born->n && v->legal; k++) {
		const block *b = &born->items[k];
		uint32_t at, other;
		for (; gone < born->n && dead.items[gone].end <= b->start; gone++) {
			at = place_of(&live, &dead.items[gone]);
			live.n--;
			memmove(&live.items[at], &live.items[at + 1],
			        (live.n - at) * sizeof(block));
		}
		at = place_of(&live, b);
		other = clash(p, &live, at, b);
		if (other != HBM_NONE)
			*v = (hbm_lx_verdict){false, b->who, other};
		memmove(&live.items[at + 1], &live.items[at], (live.n - at) * sizeof(block));
		live.items[at] = *b;
		live.n++;
	}
	return HBM_OK;
}

hbm_status hbm_lx_judge(hbm_arena *scratch, const hbm_lx_problem *p,
                        const uint64_t *address, hbm_lx_verdict *ret)
{
	blocks born = {0};
	hbm_lx_verdict v = {.legal = true};

	HBM_TRY(collect(scratch, p, address, &born, &v));
	if (v.legal && p->group)
		HBM_TRY(check_groups(scratch, p, address, &v));
	if (v.legal)
		HBM_TRY(sweep(scratch, p, &born, &v));
	*ret = v;
	return HBM_OK;
}
