/* SPDX-License-Identifier: Apache-2.0
 * homes: a plan from the annotations of a planned program, so that every dump can
 * be checked. A view lives where its base does; a tensor that says `with` lives in
 * that tensor's storage; every other must say its home. Cost: tensors times the
 * length of chains, which is bounded. */
#include "base/ckd.h"
#include "ir/size.h"
#include "plan/plan.h"

#include <string.h>

enum { MAX_CHAIN = 4096 };

typedef struct reader {
	hbm_arena *a;
	hbm_diags *d;
	const hbm_program *p;
	hbm_plan *plan;
	hbm_tensor_id *root; /* tensor -> root of its storage */
	uint64_t *at;        /* tensor -> byte offset in the storage */
	hbm_tiles tiles;
} reader;

static hbm_status homeless(const reader *r, hbm_tensor_id t, const char *what)
{
	const hbm_tensor *x = &r->p->tensors.items[t];

	return hbm_fail(r->d, HBM_SEMANTIC, HBM_E_PLAN_MISMATCH,
	                hbm_at(r->p, x->line, x->col, 0), "tensor '%s' %s",
	                hbm_tensor_name(r->p, t), what);
}

static hbm_status find_root(reader *r, hbm_tensor_id id)
{
	hbm_tensor_id t = id;
	uint64_t at = 0;

	for (uint32_t hops = 0;; hops++) {
		const hbm_tensor *x = &r->p->tensors.items[t];
		uint64_t own = x->home.offset == HBM_NO_OFFSET ? 0 : x->home.offset;
		if (hops > MAX_CHAIN)
			return homeless(r, id, "lives with others in a circle");
		if (x->base == HBM_NONE && !x->home.with)
			break;
		at = hbm_add_sat(at, x->base != HBM_NONE ? x->offset : own);
		t = x->base != HBM_NONE ? x->base : x->home.with - 1;
	}
	if (r->p->tensors.items[t].home.kind == HBM_HOME_NONE)
		return homeless(r, id, "has no home: the program is not planned");
	r->root[id] = t;
	r->at[id] = at;
	r->plan->of_tensor[t]++; /* members of the storage, for now */
	return HBM_OK;
}

/* One storage for each root, with room for its members. */
static hbm_status open_storages(reader *r)
{
	uint32_t first = 0;

	for (uint32_t t = 0; t < r->p->tensors.n; t++) {
		const hbm_tensor *x = &r->p->tensors.items[t];
		hbm_plan_storage s = {.root = t, .name = x->name, .home = x->home,
		                      .align = 1, .members = {first, 0}};
		uint32_t n = r->plan->of_tensor[t];
		if (r->root[t] != t)
			continue;
		r->plan->of_tensor[t] = r->plan->storages.n;
		first += n;
		HBM_NEED(HBM_PUSH(r->a, &r->plan->storages, s));
	}
	return HBM_OK;
}

static void add_member(reader *r, hbm_tensor_id t)
{
	const hbm_tensor *x = &r->p->tensors.items[t];
	uint32_t id = r->plan->of_tensor[r->root[t]];
	hbm_plan_storage *s = &r->plan->storages.items[id];
	uint64_t end = hbm_add_sat(r->at[t], hbm_mul_sat(x->size, r->tiles.factor[t]));

	r->plan->of_tensor[t] = id;
	r->plan->members.items[s->members.first + s->members.n++] =
		(hbm_plan_member){t, r->at[t]};
	s->flags |= x->flags & ~(uint32_t)HBM_T_SIZED;
	s->flags |= r->tiles.unknown[t] ? HBM_T_DYNAMIC : 0;
	if (end > s->size)
		s->size = end;
	if (x->align > s->align)
		s->align = x->align;
}

static hbm_status add_members(reader *r)
{
	hbm_plan *plan = r->plan;

	HBM_NEED(HBM_RESERVE(r->a, &plan->members, r->p->tensors.n));
	plan->members.n = r->p->tensors.n;
	for (uint32_t t = 0; t < r->p->tensors.n; t++)
		add_member(r, t);
	for (uint32_t i = 0; i < plan->storages.n; i++) {
		hbm_plan_storage *s = &plan->storages.items[i];
		if (!s->home.size)
			s->home.size = s->size;
		s->reserve = hbm_plan_reserve(plan, s);
	}
	return HBM_OK;
}

hbm_status hbm_plan_from_homes(hbm_arena *a, hbm_diags *d, const hbm_program *p,
                               const hbm_target *t, hbm_plan *ret)
{
	hbm_plan plan = {.arena = a, .prog = p, .target = t};
	reader r = {.a = a, .d = d, .p = p, .plan = &plan};

	HBM_NEED(r.root = HBM_ARRAY(a, hbm_tensor_id, p->tensors.n));
	HBM_NEED(r.at = HBM_ARRAY(a, uint64_t, p->tensors.n));
	HBM_NEED(plan.of_tensor = HBM_ZARRAY(a, uint32_t, p->tensors.n));
	HBM_TRY(hbm_tiles_count(a, p, &r.tiles));
	for (uint32_t i = 0; i < p->tensors.n; i++)
		HBM_TRY(find_root(&r, i));
	HBM_TRY(open_storages(&r));
	HBM_TRY(add_members(&r));
	HBM_TRY(hbm_plan_infer_pools(&plan));
	hbm_plan_sum(&plan, 0, false);
	*ret = plan;
	return HBM_OK;
}

uint64_t hbm_plan_reserve(const hbm_plan *plan, const hbm_plan_storage *s)
{
	uint64_t granule = hbm_target_num(plan->target, HBM_KEY_HBM_GRANULE, 1), bytes;

	if (s->home.kind != HBM_HOME_LX)
		return s->home.size;
	return hbm_align_up(s->size, granule, &bytes) ? bytes : UINT64_MAX;
}

hbm_status hbm_plan_infer_pools(hbm_plan *plan)
{
	uint32_t n = plan->prog->nodes.n;
	uint64_t *extent = HBM_ZARRAY(plan->arena, uint64_t, n);
	uint64_t *sum = HBM_ZARRAY(plan->arena, uint64_t, n);
	uint32_t *placed = HBM_ZARRAY(plan->arena, uint32_t, n);

	HBM_NEED(extent && sum && placed);
	for (uint32_t i = 0; i < plan->storages.n; i++) {
		const hbm_home *h = &plan->storages.items[i].home;
		uint64_t end = hbm_add_sat(h->offset, h->size);
		if (h->kind != HBM_HOME_POOL || h->bundle >= n)
			continue;
		placed[h->bundle]++;
		sum[h->bundle] = hbm_add_sat(sum[h->bundle], plan->storages.items[i].reserve);
		if (end > extent[h->bundle])
			extent[h->bundle] = end;
	}
	for (uint32_t b = 0; b < n; b++) {
		hbm_plan_pool pool = {.bundle = b, .name = plan->prog->nodes.items[b].name,
		                      .extent = extent[b], .no_reuse = sum[b],
		                      .n_placed = placed[b], .n_overflow = HBM_NONE,
		                      .allocator = ""};
		pool.cap = hbm_target_num(plan->target, HBM_KEY_POOL_CAP, HBM_NO_OFFSET);
		if (placed[b])
			HBM_NEED(HBM_PUSH(plan->arena, &plan->pools, pool));
	}
	return HBM_OK;
}
