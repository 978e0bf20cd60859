/* SPDX-License-Identifier: Apache-2.0
 * hbm-pool: decides which storages live in the pool of their bundle, and where.
 *
 * A pool is scoped to one bundle: allocated in its code, gone when it ends. A
 * storage is eligible when it is written and read; is not the caller's; is not in
 * LX; is touched by no op that runs outside device kernels; has all its accesses
 * in one bundle, and so is written by exactly one. Every rule holds for the
 * storage, never for one of its names.
 *
 * Candidates of a bundle stand in the order (start, end, name). `bump` is the
 * seed's allocator to the letter; the default may do better and never does worse:
 * what it gives is compared with `bump` and the better one is kept. What does not
 * fit below the cap lives in standalone HBM; the rest of the bundle is unaffected.
 * Cost: O(n log n) and what the allocator takes. */
#include "base/ckd.h"
#include "base/sort.h"
#include "pass/pass.h"

#include <inttypes.h>

typedef struct verdict {
	hbm_reason_id id;
	hbm_sym who;
	hbm_node_id bundle; /* when id is NONE */
} verdict;

static bool non_device(hbm_op_kind k)
{
	return k == HBM_OP_FALLBACK || k == HBM_OP_EXTERN || k == HBM_OP_NOP;
}

static verdict no(hbm_reason_id id, hbm_sym who)
{
	return (verdict){id, who, HBM_NONE};
}

/* Rules that need only the storage's flags. */
static hbm_reason_id by_flags(const hbm_pass_cx *cx, const hbm_storage *s)
{
	hbm_home_kind home = cx->prog->tensors.items[s->root].home.kind;

	if (s->flags & HBM_T_HOST)
		return HBM_REASON_HOST;
	if (s->flags & HBM_T_INPUT)
		return HBM_REASON_GRAPH_INPUT;
	if (s->flags & HBM_T_OUTPUT)
		return HBM_REASON_GRAPH_OUTPUT;
	if (s->flags & HBM_T_WEIGHT)
		return HBM_REASON_WEIGHT;
	if (s->flags & HBM_T_STATE)
		return HBM_REASON_STATE;
	if (home == HBM_HOME_LX)
		return HBM_REASON_IN_LX;
	if (cx->opts->pool_off)
		return HBM_REASON_OFF;
	if (s->demand != HBM_HOME_NONE && s->demand != HBM_HOME_POOL)
		return HBM_REASON_DEMAND;
	if (s->flags & HBM_T_DYNAMIC)
		return HBM_REASON_DYNAMIC;
	if (s->flags & HBM_T_ZERO)
		return HBM_REASON_ZERO_FILLED;
	if (!s->n_writes)
		return HBM_REASON_NOT_WRITTEN;
	return s->n_reads ? HBM_REASON_NONE : HBM_REASON_NOT_READ;
}

static verdict by_op_kind(const hbm_pass_cx *cx, const hbm_storage *s)
{
	const hbm_access *acc = cx->an->accesses + s->accesses.first;

	for (uint32_t i = 0; i < s->accesses.n; i++) {
		const hbm_op *op = &cx->prog->ops.items[acc[i].op];
		if (non_device(op->kind))
			return no(acc[i].write ? HBM_REASON_NON_DEVICE_WRITE
			                       : HBM_REASON_FALLBACK_READ, op->name);
	}
	return (verdict){.bundle = HBM_NONE};
}

/* The one bundle with all accesses. A second writer counts before a reader in
 * another bundle, as that rule is unconditional. */
static verdict by_bundle(const hbm_pass_cx *cx, const hbm_storage *s)
{
	const hbm_access *acc = cx->an->accesses + s->accesses.first;
	hbm_node_id home = cx->an->bundle[s->first_write];
	verdict v = {.bundle = home};

	for (uint32_t i = 0; i < s->accesses.n; i++) {
		hbm_node_id b = cx->an->bundle[acc[i].op];
		hbm_sym op = cx->prog->ops.items[acc[i].op].name;
		if (b == HBM_NONE)
			return no(HBM_REASON_NO_BUNDLE, op);
		if (b == home)
			continue;
		if (acc[i].write)
			return no(HBM_REASON_MULTI_BUNDLE_WRITE, op);
		v = no(HBM_REASON_CROSS_BUNDLE_READ, op);
	}
	return v;
}

static verdict judge(const hbm_pass_cx *cx, const hbm_storage *s)
{
	hbm_reason_id id = by_flags(cx, s);
	verdict v;

	if (id != HBM_REASON_NONE)
		return no(id, 0);
	v = by_op_kind(cx, s);
	return v.id != HBM_REASON_NONE ? v : by_bundle(cx, s);
}

static hbm_status demand_failed(hbm_pass_cx *cx, const hbm_storage *s, hbm_reason_id id)
{
	const hbm_tensor *x = &cx->prog->tensors.items[s->root];

	return hbm_fail(cx->diags, HBM_UNSUPPORTED, HBM_E_HOME_DEMAND,
	                hbm_at(cx->prog, x->line, x->col, 0),
	                "'%s' demands a pool, but its storage may not live in one: %s",
	                hbm_tensor_name(cx->prog, s->root), hbm_reason_text(id));
}

/* One bundle's candidates: ids[0..n) in order. */
typedef struct candidates {
	hbm_pass_cx *cx;
	const uint32_t *ids;
	uint32_t n;
	hbm_node_id bundle;
	hbm_problem problem;
} candidates;

static const hbm_storage *storage_at(const candidates *c, uint32_t i)
{
	return &c->cx->an->storages.items[c->ids[i]];
}

static hbm_status make_problem(candidates *c, hbm_arena *a)
{
	hbm_pass_cx *cx = c->cx;
	uint64_t granule = hbm_target_num(cx->target, HBM_KEY_HBM_GRANULE, 1);
	uint64_t *size = HBM_ARRAY(a, uint64_t, c->n);
	uint64_t *align = HBM_ARRAY(a, uint64_t, c->n);
	uint64_t *pin = HBM_ARRAY(a, uint64_t, c->n);
	int64_t *start = HBM_ARRAY(a, int64_t, c->n), *end = HBM_ARRAY(a, int64_t, c->n);
	bool aligned = false, pinned = false;

	HBM_NEED(size && align && pin && start && end);
	for (uint32_t i = 0; i < c->n; i++) {
		const hbm_storage *s = storage_at(c, i);
		size[i] = s->reserve;
		align[i] = s->align;
		pin[i] = s->pin;
		start[i] = cx->opts->no_reuse ? 0 : s->start;
		end[i] = cx->opts->no_reuse ? 1 : s->end;
		/* Sizes that are multiples of the granule keep smaller alignments. */
		aligned |= granule % s->align != 0;
		pinned |= s->pin != HBM_NO_OFFSET;
	}
	c->problem = (hbm_problem){.n = c->n, .size = size, .start = start, .end = end,
	                           .align = aligned ? align : NULL,
	                           .pin = pinned ? pin : NULL};
	c->problem.capacity = cx->opts->pool_cap
		? cx->opts->pool_cap
		: hbm_target_num(cx->target, HBM_KEY_POOL_CAP, HBM_NO_OFFSET);
	return HBM_OK;
}

static uint64_t placed_bytes(const hbm_problem *p, const hbm_placement *pl)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		sum += pl->offset[i] == HBM_NO_OFFSET ? 0 : p->size[i];
	return sum;
}

static bool worse(const hbm_problem *p, const hbm_placement *a, const hbm_placement *b)
{
	uint64_t x = placed_bytes(p, a), y = placed_bytes(p, b);

	return x < y || (x == y && a->extent > b->extent);
}

static hbm_status solve(const candidates *c, hbm_arena *a, hbm_placement *ret,
                        uint64_t *ret_bump)
{
	const hbm_plan_opts *o = c->cx->opts;
	hbm_problem free_of_pins = c->problem;
	hbm_solve_opts so;
	hbm_placement bump;

	hbm_solve_defaults(&so);
	so.keep_going = true;
	so.allocator = "bump";
	free_of_pins.pin = NULL;
	HBM_TRY(hbm_solve(a, &free_of_pins, &so, c->cx->diags, &bump));
	*ret_bump = bump.extent;
	so.allocator = o->allocator;
	so.effort = o->effort;
	so.threads = o->threads;
	so.deadline = o->deadline;
	HBM_TRY(hbm_solve(a, &c->problem, &so, c->cx->diags, ret));
	if (!o->allocator && !c->problem.pin && worse(&c->problem, ret, &bump))
		*ret = bump;
	return HBM_OK;
}

/* Lower bound of what was placed. */
static hbm_status placed_bound(const candidates *c, hbm_arena *a,
                               const hbm_placement *pl, uint64_t *ret)
{
	hbm_problem sub = c->problem;
	uint64_t *size = HBM_ARRAY(a, uint64_t, c->n);
	int64_t tick;

	*ret = pl->lower_bound;
	if (pl->n_placed == c->n)
		return HBM_OK;
	HBM_NEED(size);
	for (uint32_t i = 0; i < c->n; i++)
		size[i] = pl->offset[i] == HBM_NO_OFFSET ? 0 : c->problem.size[i];
	sub.size = size;
	return hbm_lower_bound(a, &sub, ret, &tick);
}

static bool pins_meet(const hbm_storage *a, const hbm_storage *b)
{
	return b->pin != HBM_NO_OFFSET && a->start < b->end && b->start < a->end &&
	       a->pin < hbm_add_sat(b->pin, b->reserve) &&
	       b->pin < hbm_add_sat(a->pin, a->reserve);
}

/* A pin is a demand: one that cannot be met is an error, with the other party. */
static hbm_status pin_failed(const candidates *c, uint32_t i)
{
	hbm_pass_cx *cx = c->cx;
	const hbm_storage *s = storage_at(c, i);
	const hbm_tensor *x = &cx->prog->tensors.items[s->root];
	hbm_where at = hbm_at(cx->prog, x->line, x->col, 0);
	const char *name = hbm_tensor_name(cx->prog, s->root);

	for (uint32_t k = 0; k < c->n; k++) {
		const hbm_storage *o = storage_at(c, k);
		if (k == i || !pins_meet(s, o))
			continue;
		return hbm_fail(cx->diags, HBM_SEMANTIC, HBM_E_DEMAND, at,
		                "'%s' [%" PRIu64 ",%" PRIu64 ") and '%s' [%" PRIu64
		                ",%" PRIu64 ") are pinned to the same bytes and both live "
		                "at tick %" PRIu32, name, s->pin, s->pin + s->reserve,
		                hbm_tensor_name(cx->prog, o->root), o->pin,
		                o->pin + o->reserve, s->start > o->start ? s->start : o->start);
	}
	return hbm_fail(cx->diags, HBM_SEMANTIC, HBM_E_DEMAND, at,
	                "'%s' is pinned at %" PRIu64 ": %" PRIu64 " bytes from there pass "
	                "the pool's cap of %" PRIu64, name, s->pin, s->reserve,
	                c->problem.capacity);
}

static hbm_status annotate(const candidates *c, const hbm_placement *pl)
{
	hbm_pass_cx *cx = c->cx;

	for (uint32_t i = 0; i < c->n; i++) {
		const hbm_storage *s = storage_at(c, i);
		uint64_t figures[2] = {pl->extent + s->reserve, c->problem.capacity};
		if (pl->offset[i] == HBM_NO_OFFSET && s->pin != HBM_NO_OFFSET)
			return pin_failed(c, i);
		if (pl->offset[i] == HBM_NO_OFFSET) {
			if (s->demand == HBM_HOME_POOL)
				return demand_failed(cx, s, HBM_REASON_OVERFLOW);
			HBM_TRY(hbm_refuse(cx, c->ids[i], HBM_HOME_POOL,
			                   HBM_REASON_OVERFLOW, 0, 2, figures));
			continue;
		}
		cx->prog->tensors.items[s->root].home =
			(hbm_home){.kind = HBM_HOME_POOL, .bundle = c->bundle,
			           .offset = pl->offset[i], .size = s->reserve};
	}
	return HBM_OK;
}

static void warn_overflow(const candidates *c, const hbm_plan_pool *pool)
{
	const hbm_node *b = &c->cx->prog->nodes.items[c->bundle];

	if (pool->n_overflow)
		hbm_warn(c->cx->diags, HBM_E_POOL_OVERFLOW,
		         hbm_at(c->cx->prog, b->line, b->col, 0),
		         "bundle '%s': %u of %u pool-eligible storages do not fit below "
		         "the cap of %" PRIu64 " bytes and live in standalone HBM",
		         hbm_str_of(c->cx->prog, b->name), pool->n_overflow, c->n,
		         pool->cap);
}

static hbm_status plan_bundle(candidates *c, hbm_arena *a)
{
	hbm_plan_pool pool = {.bundle = c->bundle};
	hbm_placement pl;

	HBM_TRY(make_problem(c, a));
	HBM_TRY(solve(c, a, &pl, &pool.bump));
	HBM_TRY(placed_bound(c, a, &pl, &pool.lower_bound));
	HBM_TRY(annotate(c, &pl));
	pool.name = c->cx->prog->nodes.items[c->bundle].name;
	pool.extent = pl.extent;
	pool.no_reuse = placed_bytes(&c->problem, &pl);
	pool.cap = c->problem.capacity;
	pool.n_placed = pl.n_placed;
	pool.n_overflow = c->n - pl.n_placed;
	pool.outcome = pool.extent == pool.lower_bound ? HBM_OPTIMAL : pl.outcome;
	pool.allocator = pl.allocator;
	warn_overflow(c, &pool);
	HBM_NEED(HBM_PUSH(c->cx->keep, &c->cx->plan->pools, pool));
	return HBM_OK;
}

/* Bundles first, then the seed's order. */
typedef struct order_cx {
	const hbm_pass_cx *cx;
	const hbm_node_id *bundle; /* by storage */
} order_cx;

static int order(const void *context, uint32_t a, uint32_t b)
{
	const order_cx *o = context;

	if (o->bundle[a] != o->bundle[b])
		return o->bundle[a] < o->bundle[b] ? -1 : 1;
	return hbm_storage_order(o->cx, a, b);
}

static hbm_status eligible(hbm_pass_cx *cx, uint32_t *ids, hbm_node_id *bundle,
                           uint32_t *ret_n)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < cx->an->storages.n; i++) {
		const hbm_storage *s = &cx->an->storages.items[i];
		verdict v = judge(cx, s);
		bundle[i] = v.bundle;
		if (v.id == HBM_REASON_NONE) {
			ids[n++] = i;
			continue;
		}
		if (s->demand == HBM_HOME_POOL)
			return demand_failed(cx, s, v.id);
		HBM_TRY(hbm_refuse(cx, i, HBM_HOME_POOL, v.id, v.who, 0, NULL));
	}
	*ret_n = n;
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	uint32_t n_all = cx->an->storages.n, n = 0, i = 0;
	uint32_t *ids = HBM_ARRAY(cx->scratch, uint32_t, n_all);
	hbm_node_id *bundle = HBM_ARRAY(cx->scratch, hbm_node_id, n_all);
	order_cx context = {cx, bundle};
	hbm_status status = HBM_OK;
	hbm_arena arena;

	HBM_NEED(ids && bundle);
	HBM_TRY(eligible(cx, ids, bundle, &n));
	HBM_NEED(hbm_merge_sort(cx->scratch, ids, n, order, &context));
	hbm_arena_init(&arena, &cx->scratch->mem);
	while (i < n && status == HBM_OK) {
		candidates c = {.cx = cx, .ids = ids + i, .bundle = bundle[ids[i]]};
		while (i < n && bundle[ids[i]] == c.bundle) {
			c.n++;
			i++;
		}
		status = plan_bundle(&c, &arena);
		hbm_arena_fini(&arena);
	}
	return status;
}

const hbm_pass hbm_pass_hbm_pool = {
	.name = "hbm-pool",
	.summary = "place intermediates in the HBM pool of their bundle",
	.gives = HBM_FACT_POOLS,
	.run = run,
};
