/* SPDX-License-Identifier: Apache-2.0
 * The exact allocator: runs the search at capacities between the lower bound and
 * the best extent until they meet.
 *
 * An exhausted tree raises the bound, a placement lowers the extent. The bound
 * itself is tried first and most: a tight capacity leaves few answers, and it is
 * reached far more often than not. Run times are heavy-tailed, so runs are short
 * at first (Luby's sequence) and each looks another way: order of items, which
 * ticks, noise. The sequence contains ever longer runs, hence ends. Once a placement
 * is known, every other run follows the order of its offsets, with some noise: most of
 * what made it good is kept, and what stands in the way of a lower one is moved. */
#include "pack/exact.h"

#include <string.h>

/* Tried first; chosen together: each is the best of sixty on some hard instance. */
static const hbm_xstyle styles[] = {
	{"TUA", true, false},  {"ATW", false, false}, {"WTA", true, true},
	{"OTA", false, false}, {"CAT", true, false},  {"OTA", true, true},
	{"ZWT", true, false},  {"TWA", false, true},  {"AWT", false, false},
	{"CAT", false, true},  {"ZWT", false, false},
};

/* Later any of these, in any way. */
static const char *const orders[] = {
	"TWA", "TAW", "WAT", "CAT", "OTA", "TCA", "WZT", "TLA",
	"TUA", "AWT", "ATW", "WTA", "ZWT", "LZT", "UTW", "UZT",
};

enum {
	N_STYLES = sizeof styles / sizeof *styles,
	N_ORDERS = sizeof orders / sizeof *orders,
	RUN_NODES_PER_ITEM = 4,
	RUN_NODES_MIN = 64,
	N_TIGHT = 4 * N_STYLES, /* runs at the bound before others get a turn */
	ALLOWANCE = 1 << 23,    /* steps at effort 5; four times as many per level */
	NOISE_MIN = 16,         /* of 1024: ranks move by that share of all */
	NEAR_NOISE = 4,         /* the same around the best placement */
	NEAR_NODES = 512,       /* of a run there, and two for each item */
};

typedef struct solver {
	hbm_pack_cx *cx;
	hbm_answer *ans;
	const hbm_inst *in;
	hbm_xmodel model;
	hbm_xstate state;
	hbm_xsearch search;
	hbm_xpairs *pairs; /* used instead, for general shapes */
	hbm_arena tmp;
	uint64_t low, high; /* extents worth a run: [low, high] */
	uint64_t aim;       /* next capacity between them */
	uint64_t proven;    /* no placement has a smaller extent */
	uint32_t run;
	hbm_xstyle won;     /* how the best placement was found; order NULL: not here */
} solver;

/* One way to search. */
typedef struct way {
	hbm_xstyle style;
	const uint64_t *after; /* offsets whose order is followed; NULL: the style's */
	uint32_t noise;
	uint64_t seed;
} way;

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...: k counts from 1. */
static uint64_t luby(uint64_t k)
{
	uint64_t size = 1;

	while (size < k)
		size = 2 * size + 1;
	while (size != k) {
		size /= 2;
		if (k > size)
			k -= size;
	}
	return (size + 1) / 2;
}

static void keep_solution(solver *v)
{
	const hbm_xoff *off = v->pairs ? hbm_xpairs_offsets(v->pairs) : v->state.off;
	uint64_t extent = 0;

	for (uint32_t i = 0; i < v->in->n; i++) {
		uint64_t end = (uint64_t)off[i] + v->in->size[i];

		v->ans->offset[i] = (uint64_t)off[i];
		if (end > extent)
			extent = end;
	}
	v->ans->extent = extent;
	v->ans->by = "exact";
	v->high = extent - 1;
}

/* The goal, when it is above the bound, gets most runs. Else the bound at first
 * and now and then; the other runs aim between: half way to it after a success,
 * nearer to what is known after each failure. */
static uint64_t choose_cap(solver *v)
{
	if (v->ans->goal > v->low && v->ans->goal <= v->high && v->run % 4 != 3)
		return v->ans->goal;
	if (v->run < N_TIGHT || v->run % 8 == 0)
		return v->low;
	if (v->aim < v->low || v->aim > v->high)
		v->aim = v->low + (v->high - v->low) / 2;
	return v->aim;
}

/* The fixed styles, twice; then any, and as often the best placement is followed,
 * mostly in the style that found it. */
static way choose_way(const solver *v)
{
	uint64_t seed = v->run + (v->cx->seed << 32), r = hbm_rand(&seed);
	way w = {.seed = seed};

	w.noise = v->run < N_STYLES ? 0 : (uint32_t)NOISE_MIN << (r >> 20) % 3;
	if (v->run < 2 * N_STYLES) {
		w.style = styles[v->run % N_STYLES];
		return w;
	}
	w.style = (hbm_xstyle){orders[r % N_ORDERS], r >> 10 & 1, r >> 11 & 1};
	if (v->ans->extent == HBM_NO_OFFSET || r >> 32 & 1)
		return w;
	w.after = v->ans->offset;
	w.noise = (uint32_t)NEAR_NOISE << (r >> 24) % 4;
	if (v->won.order && r >> 40 & 3)
		w.style = v->won;
	return w;
}

/* Luby's sequence; around the best placement runs are short and all alike. Without
 * restarts a single one has no limit. */
static uint64_t choose_nodes(const solver *v, const way *w)
{
	if (v->cx->disabled & HBM_X_RESTART)
		return UINT64_MAX;
	if (w->after)
		return NEAR_NODES + 2 * (uint64_t)v->in->n;
	return luby(v->run / N_STYLES + 1) *
	       (RUN_NODES_MIN + (uint64_t)v->in->n * RUN_NODES_PER_ITEM);
}

static hbm_status search_once(solver *v, uint64_t cap, hbm_xresult *ret)
{
	way w = choose_way(v);
	uint64_t nodes = choose_nodes(v, &w);
	hbm_status status;

	if (v->pairs) {
		*ret = hbm_xpairs_run(v->pairs, (hbm_xoff)cap, nodes);
		return HBM_OK;
	}
	status = hbm_xorder(&v->tmp, &v->model, w.style.order, w.after, w.noise, w.seed,
	                    v->search.rank);
	hbm_arena_fini(&v->tmp);
	HBM_TRY(status);
	*ret = hbm_xsearch_run(&v->search, (hbm_xoff)cap, w.style, nodes);
	if (*ret == HBM_XR_FOUND)
		v->won = w.style;
	return HBM_OK;
}

static hbm_status one_run(solver *v, uint64_t cap, bool *ret_more)
{
	hbm_xresult result;

	HBM_TRY(search_once(v, cap, &result));
	v->run++;
	switch (result) {
	case HBM_XR_FOUND:
		keep_solution(v);
		v->aim = 0;
		break;
	case HBM_XR_EXHAUSTED:
		v->low = v->proven = cap + 1;
		break;
	case HBM_XR_BUDGET:
		v->aim += (v->high - v->aim + 1) / 2;
		*ret_more = !v->cx->stopped && v->cx->steps < v->cx->max_steps;
		break;
	case HBM_XR_GAVE_UP:
		v->low = cap + 1;
		break;
	case HBM_XR_NOMEM:
		return HBM_NOMEM;
	}
	return HBM_OK;
}

static hbm_status minimise(solver *v)
{
	hbm_answer *ans = v->ans;
	bool more = true;

	v->low = v->proven = ans->lower_bound;
	v->high = ans->cap < (uint64_t)INT64_MAX / 2 ? ans->cap : INT64_MAX / 2;
	if (ans->extent != HBM_NO_OFFSET && ans->extent <= v->high)
		v->high = ans->extent - 1;
	while (more && v->low <= v->high && ans->extent > ans->goal)
		HBM_TRY(one_run(v, choose_cap(v), &more));
	ans->lower_bound = v->proven;
	return HBM_OK;
}

/* Without any other limit the effort gives one; 9 searches to the end. */
static uint64_t allowance(const hbm_pack_cx *cx)
{
	uint32_t effort = cx->effort < 9 ? cx->effort : 9;

	if (cx->max_steps != UINT64_MAX || cx->deadline > 0 || effort == 9)
		return cx->max_steps;
	return cx->steps + ((uint64_t)ALLOWANCE << 2 * effort >> 10);
}

hbm_status hbm_alloc_exact(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	solver v = {.cx = cx, .ans = ans, .in = in};
	uint64_t max_steps = cx->max_steps;
	hbm_status status;

	hbm_arena_init(&v.tmp, &cx->scratch->mem);
	status = hbm_xmodel_build(cx->scratch, in, &v.model);
	if (status == HBM_UNSUPPORTED) {
		status = hbm_xpairs_init(cx->scratch, cx, in, &v.pairs);
		if (status == HBM_UNSUPPORTED) /* too large to search at all */
			return HBM_OK;
		HBM_TRY(status);
	} else {
		HBM_TRY(status);
		HBM_TRY(hbm_xstate_init(cx->scratch, &v.model, cx->disabled, &v.state));
		HBM_TRY(hbm_xsearch_init(cx->scratch, cx, &v.state, &v.search));
	}
	if (cx->seed > 1) /* the fixed styles were tried before */
		v.run = 2 * N_STYLES;
	cx->max_steps = allowance(cx);
	status = minimise(&v);
	cx->max_steps = max_steps;
	return status;
}
