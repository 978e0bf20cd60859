/* SPDX-License-Identifier: Apache-2.0
 *
 * pools: who may live in a pool, and what the plan says about each pool.
 *
 * A pool is there only while its bundle runs. So what lives in it is written and
 * read there and nowhere else, is nobody's outside, and is touched by nothing that
 * runs outside device kernels. A bundle has an entry if and only if some storage
 * could live in its pool; the entry's extent covers all that do. */
#include "verify/check.h"

#include "base/ckd.h"

#include <inttypes.h>

/* What the storages say about a bundle's pool. */
typedef struct tally {
	uint64_t end, sum;      /* of what is in it */
	uint32_t n_in, n_out;   /* in it; could be, but is not */
	uint32_t entry;         /* in hbm_plan.pools, HBM_NONE: none */
} tally;

typedef struct pools {
	hbm_check *cx;
	tally *of; /* by node */
} pools;

static bool is_bundle(const hbm_check *cx, hbm_node_id n)
{
	return n < cx->p->nodes.n && cx->p->nodes.items[n].kind == HBM_NODE_BUNDLE;
}

static const char *node_name(const hbm_check *cx, hbm_node_id n)
{
	return hbm_str_of(cx->p, cx->p->nodes.items[n].name);
}

static bool off_device(hbm_op_kind k)
{
	return k == HBM_OP_FALLBACK || k == HBM_OP_EXTERN || k == HBM_OP_NOP;
}

/* What is against the pool of `bundle`; its words may name *ret_op. */
static const char *why_not(const hbm_check *cx, uint32_t s, hbm_node_id bundle,
                           hbm_op_id *ret_op)
{
	bool reads = false, writes = false;
	hbm_span k = cx->own[s].classes;

	*ret_op = HBM_NONE;
	if (cx->own[s].flags & (HBM_T_CALLER | HBM_T_HOST))
		return "it belongs to the caller";
	if (cx->own[s].flags & (HBM_T_ZERO | HBM_T_DYNAMIC))
		return cx->own[s].flags & HBM_T_ZERO ? "it is zero-filled before the bundle"
		                                     : "it has no static size";
	for (uint32_t i = 0; i < k.n; i++) {
		const hbm_class *c = &cx->f.classes.items[cx->classes[k.first + i]];
		const hbm_touch *t = cx->f.touches + c->touches.first;
		for (uint32_t j = 0; j < c->touches.n; j++) {
			const hbm_op *op = &cx->p->ops.items[t[j].op];
			*ret_op = t[j].op;
			if (cx->f.bundle[op->node] != bundle)
				return t[j].write ? "it is written outside the bundle"
				                  : "it is read outside the bundle";
			if (off_device(op->kind))
				return "an op that runs outside device kernels uses it";
			writes |= t[j].write;
			reads |= !t[j].write;
		}
	}
	*ret_op = HBM_NONE;
	return !writes ? "nothing writes it" : !reads ? "nothing reads it" : NULL;
}

static void add_pooled(pools *ps, uint32_t s)
{
	hbm_check *cx = ps->cx;
	const hbm_plan_storage *x = &cx->plan->storages.items[s];
	uint64_t end = hbm_add_sat(x->home.offset, cx->own[s].reserve);
	const char *name = hbm_check_name(cx, s), *why;
	tally *of;
	hbm_op_id op;

	if (!is_bundle(cx, x->home.bundle)) {
		HBM_FAULT(cx, x->root, "storage '%s' is in the pool of no bundle", name);
		return;
	}
	of = &ps->of[x->home.bundle];
	of->n_in++;
	of->sum = hbm_add_sat(of->sum, x->reserve);
	of->end = end > of->end ? end : of->end;
	why = why_not(cx, s, x->home.bundle, &op);
	if (why)
		HBM_FAULT(cx, x->root, "storage '%s' may not be in the pool of '%s': %s%s%s"
		          "%s", name, node_name(cx, x->home.bundle), why,
		          op == HBM_NONE ? "" : " (op '",
		          op == HBM_NONE ? "" : hbm_check_op(cx, op),
		          op == HBM_NONE ? "" : "')");
}

/* Counts the storage for the bundle whose pool it could be in. */
static void add_other(pools *ps, uint32_t s)
{
	hbm_check *cx = ps->cx;
	const hbm_plan_storage *x = &cx->plan->storages.items[s];
	const hbm_plan_member *m = cx->plan->members.items + x->members.first;
	hbm_node_id bundle;
	hbm_op_id op;

	if (x->home.kind == HBM_HOME_LX || cx->own[s].start >= cx->own[s].end)
		return;
	for (uint32_t i = 0; i < x->members.n; i++) {
		hbm_home_kind demand = cx->p->tensors.items[m[i].tensor].demand;
		if (demand != HBM_HOME_NONE && demand != HBM_HOME_POOL)
			return;
	}
	bundle = cx->f.bundle[cx->p->ops.items[cx->own[s].start].node];
	if (bundle != HBM_NONE && !why_not(cx, s, bundle, &op))
		ps->of[bundle].n_out++;
}

static void check_entry(pools *ps, uint32_t i)
{
	hbm_check *cx = ps->cx;
	const hbm_plan_pool *e = &cx->plan->pools.items[i];
	const hbm_plan_pool *last = i ? e - 1 : NULL;
	const char *name;
	tally *of;

	if (!is_bundle(cx, e->bundle)) {
		HBM_FAULT(cx, HBM_NONE, "pool %u of the plan is of no bundle", i);
		return;
	}
	of = &ps->of[e->bundle];
	name = node_name(cx, e->bundle);
	if (of->entry != HBM_NONE || (last && last->bundle > e->bundle))
		HBM_FAULT(cx, HBM_NONE, "pool of '%s' is listed twice or out of order", name);
	of->entry = i;
	if (!of->n_in && !of->n_out)
		HBM_FAULT(cx, HBM_NONE, "bundle '%s' has a pool entry, but nothing could "
		          "live in its pool", name);
	if (of->end > e->extent)
		HBM_FAULT(cx, HBM_NONE, "pool of '%s' has an extent of %" PRIu64
		          " bytes; its storages reach %" PRIu64, name, e->extent, of->end);
	if (e->extent > e->cap)
		HBM_FAULT(cx, HBM_NONE, "pool of '%s' has an extent of %" PRIu64
		          " bytes, beyond its cap of %" PRIu64, name, e->extent, e->cap);
	if (e->lower_bound > e->extent)
		HBM_FAULT(cx, HBM_NONE, "pool of '%s' has an extent of %" PRIu64
		          " bytes, below its lower bound of %" PRIu64, name, e->extent,
		          e->lower_bound);
	if (e->no_reuse != of->sum)
		HBM_FAULT(cx, HBM_NONE, "pool of '%s': sizes sum to %" PRIu64 ", the plan "
		          "says %" PRIu64, name, of->sum, e->no_reuse);
	if (e->n_placed != of->n_in ||
	    (e->n_overflow != of->n_out && e->n_overflow != HBM_NONE))
		HBM_FAULT(cx, HBM_NONE, "pool of '%s': %u storages in it and %u that could "
		          "be, the plan says %u and %u", name, of->n_in, of->n_out,
		          e->n_placed, e->n_overflow);
	if (last && last->cap != e->cap)
		HBM_FAULT(cx, HBM_NONE, "pools have different caps: %" PRIu64 " and %" PRIu64,
		          last->cap, e->cap);
}

hbm_status hbm_check_pools(hbm_check *cx)
{
	pools ps = {.cx = cx, .of = HBM_ZARRAY(cx->a, tally, cx->p->nodes.n)};

	HBM_NEED(ps.of);
	for (uint32_t n = 0; n < cx->p->nodes.n; n++)
		ps.of[n].entry = HBM_NONE;
	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		if (cx->plan->storages.items[s].home.kind == HBM_HOME_POOL)
			add_pooled(&ps, s);
		else
			add_other(&ps, s);
	}
	for (uint32_t i = 0; i < cx->plan->pools.n; i++)
		check_entry(&ps, i);
	for (uint32_t n = 0; n < cx->p->nodes.n; n++)
		if (ps.of[n].n_in && ps.of[n].entry == HBM_NONE)
			HBM_FAULT(cx, HBM_NONE, "storages live in the pool of '%s', which has "
			          "no entry", node_name(cx, n));
	return HBM_OK;
}
