/* SPDX-License-Identifier: Apache-2.0 */
#include "support/naive_plan.h"

#include "base/ckd.h"

#include <string.h>

typedef struct maker {
	hbm_arena *a;
	hbm_facts f;
	hbm_plan plan;
	hbm_node_id *pool_of; /* class -> bundle, HBM_NONE */
} maker;

void naive_target(hbm_target *ret, uint64_t granule)
{
	static const struct {
		hbm_key key;
		uint64_t num;
	} values[] = {
		{HBM_KEY_HBM_WINDOW, 1 << 20}, {HBM_KEY_POOL_CAP, 1 << 18},
		{HBM_KEY_LX_SIZE, 4096}, {HBM_KEY_LX_USABLE, 4096}, {HBM_KEY_CORES, 2},
		{HBM_KEY_HBM_ALIGN, 0}, {HBM_KEY_HBM_GRANULE, 0}, {HBM_KEY_LX_ALIGN, 0},
		{HBM_KEY_ROTATION_MAX, 1 << 16},
	};

	*ret = (hbm_target){.name = "naive"};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		hbm_target_value *v = &ret->values[values[i].key];
		v->set = true;
		v->num = values[i].num ? values[i].num : granule;
	}
}

static hbm_node_id pool_for(const maker *m, const hbm_class *c)
{
	enum { NEVER = HBM_T_CALLER | HBM_T_HOST | HBM_T_ZERO | HBM_T_DYNAMIC };
	const hbm_touch *t = m->f.touches + c->touches.first;
	hbm_node_id bundle = HBM_NONE;
	uint32_t reads = 0, writes = 0;

	for (uint32_t i = 0; i < c->touches.n; i++) {
		const hbm_op *op = &m->f.p->ops.items[t[i].op];
		hbm_node_id b = m->f.bundle[op->node];
		if (b == HBM_NONE || (i && b != bundle) || op->kind == HBM_OP_NOP ||
		    op->kind == HBM_OP_FALLBACK || op->kind == HBM_OP_EXTERN)
			return HBM_NONE;
		bundle = b;
		reads += !t[i].write;
		writes += t[i].write;
	}
	return c->flags & NEVER || !reads || !writes ? HBM_NONE : bundle;
}

static bool meet(const hbm_plan_storage *a, const hbm_plan_storage *b)
{
	return a->start < b->end && b->start < a->end;
}

/* The lowest offset where the storage meets none of the pool's that are live with
 * it. */
static uint64_t first_fit(const maker *m, const hbm_plan_storage *s)
{
	uint64_t at = 0;
	bool moved = true;

	while (moved) {
		moved = false;
		for (uint32_t i = 0; i < m->plan.storages.n; i++) {
			const hbm_plan_storage *o = &m->plan.storages.items[i];
			if (o == s || o->home.kind != HBM_HOME_POOL ||
			    o->home.bundle != s->home.bundle ||
			    o->home.offset == HBM_NO_OFFSET || !meet(o, s) ||
			    at >= o->home.offset + o->reserve ||
			    o->home.offset >= at + s->reserve)
				continue;
			at = o->home.offset + o->reserve;
			moved = true;
		}
	}
	return at;
}

static hbm_status add_storage(maker *m, uint32_t c)
{
	const hbm_class *k = &m->f.classes.items[c];
	const hbm_tensor_id *tensors = m->f.members + k->members.first;
	uint64_t granule = hbm_target_num(m->plan.target, HBM_KEY_HBM_GRANULE, 1);
	hbm_plan_storage s = {.root = tensors[0], .size = k->size, .flags = k->flags,
	                      .start = k->start, .end = k->end,
	                      .align = hbm_target_num(m->plan.target,
	                                              HBM_KEY_HBM_ALIGN, 1)};

	s.name = m->plan.prog->tensors.items[s.root].name;
	if (!hbm_align_up(k->size, granule, &s.reserve))
		return HBM_SEMANTIC;
	s.members = (hbm_span){m->plan.members.n, k->members.n};
	for (uint32_t i = 0; i < k->members.n; i++) {
		hbm_plan_member member = {tensors[i], m->f.offset[tensors[i]]};
		m->plan.of_tensor[tensors[i]] = m->plan.storages.n;
		HBM_NEED(HBM_PUSH(m->a, &m->plan.members, member));
	}
	m->pool_of[c] = pool_for(m, k);
	s.home = (hbm_home){.kind = HBM_HOME_HBM, .bundle = m->pool_of[c],
	                    .offset = HBM_NO_OFFSET, .size = s.reserve};
	if (k->flags & (HBM_T_CALLER | HBM_T_HOST))
		s.home.kind = HBM_HOME_IO;
	if (m->pool_of[c] != HBM_NONE)
		s.home.kind = HBM_HOME_POOL;
	HBM_NEED(HBM_PUSH(m->a, &m->plan.storages, s));
	return HBM_OK;
}

static hbm_status add_pool(maker *m, hbm_node_id bundle)
{
	hbm_plan_pool pool = {.bundle = bundle,
	                      .name = m->plan.prog->nodes.items[bundle].name,
	                      .cap = hbm_target_num(m->plan.target, HBM_KEY_POOL_CAP,
	                                            HBM_NO_OFFSET)};

	for (uint32_t i = 0; i < m->plan.storages.n; i++) {
		hbm_plan_storage *s = &m->plan.storages.items[i];
		uint64_t at;
		if (s->home.kind != HBM_HOME_POOL || s->home.bundle != bundle)
			continue;
		at = first_fit(m, s);
		if (at + s->reserve > pool.cap) {
			s->home.kind = HBM_HOME_HBM;
			s->home.bundle = HBM_NONE;
			pool.n_overflow++;
			continue;
		}
		s->home.offset = at;
	}
	HBM_NEED(HBM_PUSH(m->a, &m->plan.pools, pool));
	return HBM_OK;
}

static void sum_storages(hbm_plan *plan)
{
	hbm_totals *t = &plan->totals;

	for (uint32_t i = 0; i < plan->storages.n; i++) {
		const hbm_plan_storage *s = &plan->storages.items[i];
		uint64_t end = s->home.offset + s->home.size;
		if (s->home.kind == HBM_HOME_LX && end > plan->lx_peak)
			plan->lx_peak = end;
		if (s->flags & HBM_T_HOST)
			continue;
		t->at_least |= (s->flags & HBM_T_DYNAMIC) != 0;
		if (s->home.kind == HBM_HOME_HBM)
			t->standalone += s->reserve;
		else if (s->home.kind == HBM_HOME_IO && s->flags & HBM_T_INPUT)
			t->inputs += s->reserve;
		else if (s->home.kind == HBM_HOME_IO && s->flags & HBM_T_OUTPUT)
			t->outputs += s->reserve;
		else if (s->home.kind == HBM_HOME_IO && s->flags & HBM_T_WEIGHT)
			t->weights += s->reserve;
		else if (s->home.kind == HBM_HOME_IO)
			t->state += s->reserve;
	}
}

static void sum_pressure(hbm_plan *plan)
{
	plan->peak = plan->peak_tick = 0;
	for (uint32_t tick = 0; tick < plan->n_ticks; tick++) {
		uint64_t live = 0;
		for (uint32_t i = 0; i < plan->storages.n; i++) {
			const hbm_plan_storage *s = &plan->storages.items[i];
			if (s->start <= tick && tick < s->end &&
			    !(s->flags & (HBM_T_CALLER | HBM_T_HOST)))
				live += s->reserve;
		}
		plan->pressure[tick] = live;
		if (live > plan->peak) {
			plan->peak = live;
			plan->peak_tick = tick;
		}
	}
}

static void sum_pool(const hbm_plan *plan, hbm_plan_pool *pool)
{
	pool->n_placed = 0;
	pool->no_reuse = pool->extent = 0;
	for (uint32_t i = 0; i < plan->storages.n; i++) {
		const hbm_plan_storage *s = &plan->storages.items[i];
		if (s->home.kind != HBM_HOME_POOL || s->home.bundle != pool->bundle)
			continue;
		pool->n_placed++;
		pool->no_reuse += s->reserve;
		if (s->home.offset + s->reserve > pool->extent)
			pool->extent = s->home.offset + s->reserve;
	}
}

void naive_sums(hbm_plan *plan)
{
	hbm_totals *t = &plan->totals;
	hbm_budget *b = &plan->budget;

	for (uint32_t i = 0; i < plan->pools.n; i++)
		sum_pool(plan, &plan->pools.items[i]);
	*t = (hbm_totals){0};
	plan->lx_peak = 0;
	sum_storages(plan);
	sum_pressure(plan);
	for (uint32_t i = 0; i < plan->pools.n; i++) {
		uint64_t extent = plan->pools.items[i].extent;
		t->pools_sum += extent;
		t->pools = extent > t->pools ? extent : t->pools;
	}
	t->total = t->inputs + t->outputs + t->weights + t->state + t->standalone +
	           t->pools;
	b->checked = true;
	b->limit = hbm_target_num(plan->target, HBM_KEY_HBM_WINDOW, 0);
	b->margin = b->limit + b->limit / 10;
	b->fits = t->total <= b->limit;
	b->within_margin = !b->fits && t->total <= b->margin;
}

hbm_status naive_plan(hbm_arena *a, const hbm_program *p, const hbm_target *t,
                      hbm_plan *ret)
{
	maker m = {.a = a, .plan = {.arena = a, .prog = p, .target = t}};
	bool *pooled;

	HBM_TRY(hbm_facts_collect(a, p, NULL, &m.f));
	HBM_TRY(hbm_facts_trace(&m.f));
	HBM_NEED(m.plan.of_tensor = HBM_ARRAY(a, uint32_t, p->tensors.n));
	HBM_NEED(m.pool_of = HBM_ARRAY(a, hbm_node_id, m.f.classes.n));
	HBM_NEED(pooled = HBM_ZARRAY(a, bool, p->nodes.n));
	for (uint32_t c = 0; c < m.f.classes.n; c++) {
		HBM_TRY(add_storage(&m, c));
		if (m.pool_of[c] != HBM_NONE)
			pooled[m.pool_of[c]] = true;
	}
	for (hbm_node_id n = 0; n < p->nodes.n; n++)
		if (pooled[n])
			HBM_TRY(add_pool(&m, n));
	m.plan.n_ticks = p->ops.n;
	HBM_NEED(m.plan.pressure = HBM_ARRAY(a, uint64_t, p->ops.n));
	naive_sums(&m.plan);
	*ret = m.plan;
	return HBM_OK;
}

static hbm_status join_members(hbm_plan *plan, hbm_plan_storage *x,
                               const hbm_plan_storage *y)
{
	hbm_span all = {plan->members.n, x->members.n + y->members.n};

	HBM_NEED(HBM_RESERVE(plan->arena, &plan->members, all.n));
	for (uint32_t i = 0; i < x->members.n; i++)
		plan->members.items[plan->members.n++] =
			plan->members.items[x->members.first + i];
	for (uint32_t i = 0; i < y->members.n; i++)
		plan->members.items[plan->members.n++] =
			plan->members.items[y->members.first + i];
	x->members = all;
	return HBM_OK;
}

hbm_status naive_join(hbm_plan *plan, uint32_t a, uint32_t b)
{
	hbm_plan_storage *x = &plan->storages.items[a], y = plan->storages.items[b];

	HBM_TRY(join_members(plan, x, &y));
	x->size = x->size > y.size ? x->size : y.size;
	x->reserve = x->reserve > y.reserve ? x->reserve : y.reserve;
	x->start = x->start < y.start ? x->start : y.start;
	x->end = x->end > y.end ? x->end : y.end;
	x->flags |= y.flags;
	if (y.home.kind == HBM_HOME_IO)
		x->home = y.home;
	x->home.size = x->reserve;
	plan->storages.items[b] = plan->storages.items[--plan->storages.n];
	for (uint32_t s = 0; s < plan->storages.n; s++) {
		const hbm_plan_storage *st = &plan->storages.items[s];
		for (uint32_t i = 0; i < st->members.n; i++) {
			uint32_t k = st->members.first + i;
			plan->of_tensor[plan->members.items[k].tensor] = s;
		}
	}
	naive_sums(plan);
	return HBM_OK;
}
