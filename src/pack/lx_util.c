/* SPDX-License-Identifier: Apache-2.0 */
/* lx_util: the parts that all scratchpad solvers share. */
#include "pack/lx_internal.h"

#include <stdlib.h>

const uint32_t *lx_parents(const lx_view *v, uint32_t i, uint32_t *ret_n)
{
	const hbm_lx_problem *p = v->p;

	*ret_n = p->parent_first ? p->parent_first[i + 1] - p->parent_first[i] : 0;
	return *ret_n ? p->parents + p->parent_first[i] : NULL;
}

const uint32_t *lx_children(const lx_view *v, uint32_t i, uint32_t *ret_n)
{
	*ret_n = v->child_first[i + 1] - v->child_first[i];
	return v->children + v->child_first[i];
}

bool lx_is_parent(const lx_view *v, uint32_t child, uint32_t parent)
{
	uint32_t n;
	const uint32_t *ids = lx_parents(v, child, &n);

	for (uint32_t k = 0; k < n; k++)
		if (ids[k] == parent)
			return v->ok[child] && v->ok[parent];
	return false;
}

uint64_t lx_pin(const lx_view *v, uint32_t i)
{
	return v->p->pin ? v->p->pin[i] : HBM_NO_OFFSET;
}

uint64_t lx_align_up(const lx_view *v, uint64_t x)
{
	uint64_t rest = x % v->p->align;

	return rest ? x + (v->p->align - rest) : x;
}

uint64_t lx_saved(const lx_view *v, const uint64_t *address)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < v->n; i++)
		if (address[i] != HBM_NO_OFFSET)
			sum += v->value[i];
	return sum;
}

bool lx_result_init(lx_view *v, lx_result *r)
{
	*r = (lx_result){.bound = UINT64_MAX};
	r->address = HBM_ARRAY(v->mem, uint64_t, v->n);
	if (!r->address)
		return false;
	for (uint32_t i = 0; i < v->n; i++)
		r->address[i] = HBM_NO_OFFSET;
	return true;
}

int lx_by_address(const void *a, const void *b)
{
	const lx_span *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

typedef struct start_key {
	uint32_t start, who;
} start_key;

static int by_start(const void *a, const void *b)
{
	const start_key *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

bool lx_index_init(lx_index *x, const lx_view *v)
{
	start_key *keys = HBM_ARRAY(v->mem, start_key, v->n);

	*x = (lx_index){.v = v, .leaves = 1};
	while (x->leaves < v->n)
		x->leaves *= 2;
	x->order = HBM_ARRAY(v->mem, uint32_t, v->n);
	x->rank = HBM_ARRAY(v->mem, uint32_t, v->n);
	x->latest = HBM_ZARRAY(v->mem, uint32_t, (size_t)x->leaves * 2);
	if (!keys || !x->order || !x->rank || !x->latest)
		return false;
	for (uint32_t i = 0; i < v->n; i++)
		keys[i] = (start_key){v->start[i], i};
	if (v->n)
		qsort(keys, v->n, sizeof *keys, by_start);
	for (uint32_t k = 0; k < v->n; k++) {
		x->order[k] = keys[k].who;
		x->rank[keys[k].who] = k;
	}
	return true;
}

void lx_index_add(lx_index *x, uint32_t i)
{
	uint32_t end = x->v->end[i];

	for (uint32_t k = x->leaves + x->rank[i]; k; k /= 2)
		if (x->latest[k] < end)
			x->latest[k] = end;
}

/* Depth is the height of the tree, at most 32. */
static bool collect(const lx_index *x, uint32_t node, uint32_t lo, uint32_t width,
                    uint32_t i, lx_ids *ret)
{
	const lx_view *v = x->v;

	if (lo >= v->n || x->latest[node] <= v->start[i] ||
	    v->start[x->order[lo]] >= v->end[i])
		return true;
	if (width == 1)
		return x->order[lo] == i || HBM_PUSH(v->mem, ret, x->order[lo]);
	return collect(x, node * 2, lo, width / 2, i, ret) &&
	       collect(x, node * 2 + 1, lo + width / 2, width / 2, i, ret);
}

bool lx_index_meet(const lx_index *x, uint32_t i, lx_ids *ret)
{
	return collect(x, 1, 0, x->leaves, i, ret);
}

hbm_status lx_place_pins(lx_view *v, lx_index *placed, uint64_t *address)
{
	const uint64_t *size = v->p->size;
	lx_ids met = {0};

	for (uint32_t i = 0; v->p->pin && i < v->n; i++) {
		uint64_t lo = v->p->pin[i];
		bool clear = v->ok[i] && lo != HBM_NO_OFFSET;
		met.n = 0;
		if (clear)
			HBM_NEED(lx_index_meet(placed, i, &met));
		for (uint32_t k = 0; k < met.n && clear; k++) {
			uint64_t other = address[met.items[k]];
			clear = lo >= other + size[met.items[k]] || other >= lo + size[i];
		}
		if (!clear)
			continue;
		address[i] = lo;
		lx_index_add(placed, i);
	}
	return HBM_OK;
}

/* ---- the view ------------------------------------------------------------ */

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

static uint32_t group_id(const lx_view *v, uint32_t i)
{
	return v->p->group ? v->p->group[i] : HBM_NONE;
}

const uint32_t *lx_group(const lx_view *v, uint32_t i, uint32_t *ret_n)
{
	uint32_t at = v->group_at[i], n = 1;

	if (group_id(v, i) != HBM_NONE)
		while (at + n < v->n && group_id(v, v->grouped[at + n]) == group_id(v, i))
			n++;
	*ret_n = n;
	return &v->grouped[at];
}

static hbm_status sort_groups(lx_view *v)
{
	group_key *keys = HBM_ARRAY(v->mem, group_key, v->n);

	HBM_NEED(keys);
	for (uint32_t i = 0; i < v->n; i++)
		keys[i] = (group_key){group_id(v, i), i};
	if (v->n)
		qsort(keys, v->n, sizeof *keys, by_group);
	for (uint32_t k = 0; k < v->n; k++) {
		bool same = k && keys[k].group != HBM_NONE &&
		            keys[k].group == keys[k - 1].group;
		v->grouped[k] = keys[k].who;
		v->group_at[keys[k].who] = same ? v->group_at[keys[k - 1].who] : k;
	}
	return HBM_OK;
}

/* A group with a member that cannot be placed cannot be placed. */
static void bar_groups(lx_view *v)
{
	for (uint32_t k = 0, n; k < v->n; k += n) {
		const uint32_t *members = lx_group(v, v->grouped[k], &n);
		bool ok = true;
		for (uint32_t j = 0; j < n; j++)
			ok &= v->ok[members[j]];
		for (uint32_t j = 0; j < n; j++)
			v->ok[members[j]] = ok;
	}
}

static hbm_status turn_edges(lx_view *v)
{
	const hbm_lx_problem *p = v->p;
	uint32_t n_edges = p->parent_first ? p->parent_first[v->n] : 0;

	HBM_NEED(v->child_first = HBM_ZARRAY(v->mem, uint32_t, (size_t)v->n + 2));
	HBM_NEED(v->children = HBM_ARRAY(v->mem, uint32_t, n_edges));
	for (uint32_t e = 0; e < n_edges; e++)
		v->child_first[p->parents[e] + 2]++;
	for (uint32_t i = 0; i < v->n; i++)
		v->child_first[i + 2] += v->child_first[i + 1];
	for (uint32_t i = 0; n_edges && i < v->n; i++)
		for (uint32_t e = p->parent_first[i]; e < p->parent_first[i + 1]; e++)
			v->children[v->child_first[p->parents[e] + 1]++] = i;
	return HBM_OK;
}

hbm_status lx_view_init(lx_view *v, hbm_arena *mem, const hbm_lx_problem *p,
                        const hbm_lx_opts *opts)
{
	*v = (lx_view){.p = p, .mem = mem, .n = p->n, .opts = opts};
	HBM_NEED(v->start = HBM_ARRAY(mem, uint32_t, v->n));
	HBM_NEED(v->end = HBM_ARRAY(mem, uint32_t, v->n));
	HBM_NEED(v->value = HBM_ARRAY(mem, uint64_t, v->n));
	HBM_NEED(v->ok = HBM_ARRAY(mem, bool, v->n));
	HBM_NEED(v->grouped = HBM_ARRAY(mem, uint32_t, v->n));
	HBM_NEED(v->group_at = HBM_ARRAY(mem, uint32_t, v->n));
	for (uint32_t i = 0; i < v->n; i++) {
		v->start[i] = hbm_lx_start(p, i);
		v->end[i] = hbm_lx_end(p, i);
		v->value[i] = hbm_lx_value(p, i);
		v->ok[i] = v->start[i] < v->end[i] && p->size[i] &&
		           p->size[i] <= p->capacity && !(p->barred && p->barred[i]);
	}
	HBM_TRY(sort_groups(v));
	bar_groups(v);
	return turn_edges(v);
}
