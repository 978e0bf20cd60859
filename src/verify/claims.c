/* SPDX-License-Identifier: Apache-2.0
 *
 * claims: what a plan file says besides the plan is so.
 *
 * Traffic       Worked out anew: an op moves the windows of its operands once for each
 *               run of the loops around it, those of one storage and direction at most
 *               the storage. The scratchpad and host memory are free.
 * Usage, status From the sums, which are checked before.
 * Pools         An optimum is no higher than its lower bound. A bound is not above the
 *               bytes that a simple placement of the same storages takes: two are made,
 *               for pools of up to 1024 storages.
 * Cost          Linear in operands; quadratic in the storages of one pool, as limited. */
#include "verify/check.h"

#include "base/ckd.h"
#include "base/sort.h"

#include <inttypes.h>

enum { MAX_POOL = 1024, OPTIMAL = 2 }; /* hbm_plan_outcomes */

static void said(hbm_check *cx, const char *what, uint64_t claim, uint64_t is)
{
	if (claim != HBM_NO_OFFSET)
		hbm_check_differs(cx, what, claim, is);
}

/* ---- traffic -------------------------------------------------------------- */

typedef struct meter {
	hbm_check *cx;
	uint64_t *runs;    /* by node */
	uint64_t *moved;   /* by storage, of the side at hand */
	uint64_t sum;
} meter;

static uint32_t storage_of(const meter *m, const hbm_operand *o)
{
	return m->cx->storage_of[m->cx->f.class_of[o->tensor]];
}

static bool is_free(const meter *m, uint32_t s)
{
	return m->cx->plan->storages.items[s].home.kind == HBM_HOME_LX ||
	       m->cx->own[s].flags & HBM_T_HOST;
}

static void move_side(meter *m, hbm_span side, uint64_t runs)
{
	const hbm_operand *all = m->cx->p->operands.items + side.first;

	for (uint32_t i = 0; i < side.n; i++) {
		uint64_t lo, len;
		hbm_facts_window(&m->cx->f, &all[i], &lo, &len);
		m->moved[storage_of(m, &all[i])] =
			hbm_add_sat(m->moved[storage_of(m, &all[i])], len);
	}
	for (uint32_t i = 0; i < side.n; i++) {
		uint32_t s = storage_of(m, &all[i]);
		uint64_t size = m->cx->own[s].size;
		uint64_t bytes = m->moved[s] < size ? m->moved[s] : size;
		m->moved[s] = 0; /* its other operands add nothing */
		if (!is_free(m, s))
			m->sum = hbm_add_sat(m->sum, hbm_mul_sat(bytes, runs));
	}
}

static hbm_status traffic(hbm_check *cx, uint64_t *ret)
{
	meter m = {.cx = cx, .runs = HBM_ARRAY(cx->a, uint64_t, cx->p->nodes.n),
	           .moved = HBM_ZARRAY(cx->a, uint64_t, cx->plan->storages.n)};

	HBM_NEED(m.runs && m.moved);
	for (uint32_t n = 0; n < cx->p->nodes.n; n++) {
		const hbm_node *node = &cx->p->nodes.items[n];
		bool loop = node->kind == HBM_NODE_LOOP && node->trips;
		m.runs[n] = node->parent == HBM_NONE ? 1 : m.runs[node->parent];
		m.runs[n] = hbm_mul_sat(m.runs[n], loop ? node->trips : 1);
	}
	for (uint32_t o = 0; o < cx->p->ops.n; o++) {
		const hbm_op *op = &cx->p->ops.items[o];
		if (op->kind == HBM_OP_NOP || op->kind == HBM_OP_ALLOC)
			continue;
		move_side(&m, op->reads, m.runs[op->node]);
		move_side(&m, op->writes, m.runs[op->node]);
	}
	*ret = m.sum;
	return HBM_OK;
}

/* ---- usage ---------------------------------------------------------------- */

/* Inputs and outputs to the byte, for the early gate. */
static uint64_t gate_bytes(const hbm_check *cx)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < cx->plan->storages.n; s++)
		if (cx->own[s].flags & HBM_T_IO && !(cx->own[s].flags & HBM_T_HOST))
			sum = hbm_add_sat(sum, cx->own[s].size);
	return sum;
}

/* First byte above the regions, or above everything where there are none. */
static uint64_t end_address(const hbm_check *cx, uint64_t all)
{
	const hbm_plan *plan = cx->plan;
	uint64_t end = 0;

	for (uint32_t i = 0; i < plan->regions.n; i++) {
		uint64_t e = hbm_add_sat(plan->regions.items[i].base,
		                         plan->regions.items[i].extent);
		end = e > end ? e : end;
	}
	return end ? end : all;
}

static uint64_t shared_bytes(const hbm_plan *plan)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < plan->regions.n; i++)
		if (plan->regions.items[i].class)
			sum = hbm_add_sat(sum, plan->regions.items[i].extent);
	return sum;
}

static void check_usage(hbm_check *cx, const hbm_usage *u, uint64_t gate_fits)
{
	const hbm_totals *t = &cx->plan->totals;
	uint64_t limit = hbm_target_num(cx->t, HBM_KEY_HBM_WINDOW, HBM_NO_OFFSET);
	uint64_t io = hbm_add_sat(hbm_add_sat(t->inputs, t->outputs), t->state);
	uint64_t between = hbm_add_sat(t->standalone, t->pools);
	uint64_t usage = t->total - t->code, shared = shared_bytes(cx->plan);
	uint64_t all = hbm_add_sat(t->weights, hbm_add_sat(io, between));

	said(cx, "bytes of the model", u->model_bytes, t->weights);
	said(cx, "bytes of intermediates", u->tensor_bytes, t->standalone);
	said(cx, "bytes of inputs, outputs and state", u->io_bytes, io);
	said(cx, "bytes of descriptors", u->descriptor_bytes, t->descriptors);
	said(cx, "bytes for the early gate", u->gate_bytes, gate_bytes(cx));
	said(cx, "whether inputs and outputs fit", gate_fits, gate_bytes(cx) <= limit);
	said(cx, "hbm_io", u->hbm_io, io);
	said(cx, "hbm_intermediate", u->hbm_intermediate, between);
	said(cx, "hbm_internal", u->hbm_internal,
	     hbm_add_sat(hbm_add_sat(t->weights, t->descriptors), t->resident));
	said(cx, "hbm_usage", u->hbm_usage, usage);
	said(cx, "hbm_size", u->hbm_size, limit);
	said(cx, "hbm_limit", u->hbm_limit, limit);
	said(cx, "end_address", u->end_address, end_address(cx, all));
	said(cx, "private_hbm", u->private_hbm, usage - (shared < usage ? shared : usage));
}

/* A plan just made: the gate counts where its pass ran. */
static void check_own_usage(hbm_check *cx)
{
	hbm_usage u = cx->plan->usage;

	if (!u.gated)
		u.gate_bytes = HBM_NO_OFFSET;
	check_usage(cx, &u, u.gated ? u.gate_fits : HBM_NO_OFFSET);
}

/* ---- pools ---------------------------------------------------------------- */

typedef struct packed {
	const hbm_plan *plan;
	uint32_t *order;       /* storages of the pool */
	uint32_t *stack, n;    /* those that stand, by offset */
	uint64_t *at;          /* by storage */
} packed;

static bool together(const hbm_plan_storage *a, const hbm_plan_storage *b)
{
	return a->start < b->end && b->start < a->end;
}

/* Puts a storage at the lowest place that is free; returns its end. */
static uint64_t put(packed *k, uint32_t s)
{
	const hbm_plan_storage *all = k->plan->storages.items, *x = &all[s];
	uint64_t at = 0;
	uint32_t i;

	for (i = 0; i < k->n; i++) {
		const hbm_plan_storage *y = &all[k->stack[i]];
		uint64_t end = hbm_add_sat(k->at[k->stack[i]], y->reserve);
		if (!together(x, y))
			continue;
		if (k->at[k->stack[i]] >= hbm_add_sat(at, x->reserve))
			break;
		if (end > at && !hbm_align_up(end, x->align ? x->align : 1, &at))
			return UINT64_MAX;
	}
	k->at[s] = at;
	for (i = k->n++; i && k->at[k->stack[i - 1]] > at; i--)
		k->stack[i] = k->stack[i - 1];
	k->stack[i] = s;
	return hbm_add_sat(at, x->reserve);
}

static int by_size(const void *context, uint32_t a, uint32_t b)
{
	const hbm_plan_storage *all = context;

	if (all[a].reserve != all[b].reserve)
		return all[a].reserve > all[b].reserve ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_start(const void *context, uint32_t a, uint32_t b)
{
	const hbm_plan_storage *all = context;

	if (all[a].start != all[b].start)
		return all[a].start < all[b].start ? -1 : 1;
	return by_size(context, a, b);
}

static uint64_t pack(packed *k, uint32_t n)
{
	uint64_t extent = 0;

	k->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = put(k, k->order[i]);
		extent = end > extent ? end : extent;
	}
	return extent;
}

/* Bytes that the storages of a pool take when they are simply put down. */
static hbm_status simple_extent(hbm_check *cx, packed *k, uint32_t n, uint64_t *ret)
{
	uint64_t one, two;

	HBM_NEED(hbm_merge_sort(cx->a, k->order, n, by_size, cx->plan->storages.items));
	one = pack(k, n);
	HBM_NEED(hbm_merge_sort(cx->a, k->order, n, by_start, cx->plan->storages.items));
	two = pack(k, n);
	*ret = one < two ? one : two;
	return HBM_OK;
}

/* A pin may be what makes a pool large. */
static bool any_pinned(const hbm_plan *plan, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		hbm_span m = plan->storages.items[ids[i]].members;
		for (uint32_t k = m.first; k < m.first + m.n; k++)
			if (plan->prog->tensors.items[plan->members.items[k].tensor].pin !=
			    HBM_NO_OFFSET)
				return true;
	}
	return false;
}

static hbm_status check_pool(hbm_check *cx, packed *k, const hbm_plan_pool *e, uint32_t n)
{
	const char *name = hbm_str_of(cx->p, e->name);
	uint64_t extent;

	if (e->outcome == OPTIMAL && e->extent != e->lower_bound)
		HBM_FAULT(cx, HBM_NONE, "pool of '%s' is said to be optimal; its extent is %"
		          PRIu64 ", its lower bound %" PRIu64, name, e->extent,
		          e->lower_bound);
	if (!n || n > MAX_POOL || !e->lower_bound || any_pinned(cx->plan, k->order, n))
		return HBM_OK;
	HBM_TRY(simple_extent(cx, k, n, &extent));
	if (extent < e->lower_bound)
		HBM_FAULT(cx, HBM_NONE, "pool of '%s' is said to need at least %" PRIu64
		          " bytes; its storages fit into %" PRIu64, name, e->lower_bound,
		          extent);
	return HBM_OK;
}

static bool is_pooled(const hbm_plan *plan, uint32_t s)
{
	return plan->storages.items[s].home.kind == HBM_HOME_POOL;
}

/* Storages by the node of their pool: those of node b are [ret_first[b + 1],
 * ret_first[b + 2]) of the list. */
static hbm_status list_pooled(hbm_check *cx, uint32_t **ret_ids, uint32_t **ret_first)
{
	const hbm_plan *plan = cx->plan;
	uint32_t *ids = HBM_ARRAY(cx->a, uint32_t, plan->storages.n);
	uint32_t *first = HBM_ZARRAY(cx->a, uint32_t, (size_t)cx->p->nodes.n + 2);

	HBM_NEED(ids && first);
	for (uint32_t s = 0; s < plan->storages.n; s++)
		if (is_pooled(plan, s))
			first[plan->storages.items[s].home.bundle + 1]++;
	for (uint32_t b = 0; b <= cx->p->nodes.n; b++)
		first[b + 1] += first[b];
	for (uint32_t s = plan->storages.n; s-- > 0;)
		if (is_pooled(plan, s))
			ids[--first[plan->storages.items[s].home.bundle + 1]] = s;
	*ret_ids = ids;
	*ret_first = first;
	return HBM_OK;
}

static hbm_status check_pools(hbm_check *cx)
{
	const hbm_plan *plan = cx->plan;
	uint32_t *ids, *first;
	packed k = {.plan = plan, .stack = HBM_ARRAY(cx->a, uint32_t, plan->storages.n),
	            .at = HBM_ARRAY(cx->a, uint64_t, plan->storages.n)};

	HBM_NEED(k.stack && k.at);
	HBM_TRY(list_pooled(cx, &ids, &first));
	for (uint32_t i = 0; i < plan->pools.n; i++) {
		const hbm_plan_pool *e = &plan->pools.items[i];
		uint32_t from = first[e->bundle + 1], to = first[e->bundle + 2];
		k.order = ids + from;
		HBM_TRY(check_pool(cx, &k, e, to - from));
	}
	return HBM_OK;
}

hbm_status hbm_check_claims(hbm_check *cx)
{
	const hbm_plan *plan = cx->plan;
	const hbm_claims *c = &plan->claims;
	uint64_t moved = 0;

	if (cx->n_faults || (!c->made && !plan->traffic && !plan->usage.made))
		return HBM_OK; /* what follows rests on what is wrong already */
	HBM_TRY(traffic(cx, &moved));
	if (plan->traffic)
		hbm_check_differs(cx, "bytes moved in HBM", plan->traffic, moved);
	if (plan->usage.made)
		check_own_usage(cx);
	if (!c->made)
		return HBM_OK;
	said(cx, "bytes moved in HBM", c->traffic, moved);
	said(cx, "the peak of live bytes", c->peak, plan->peak);
	said(cx, "the tick of the peak", c->peak_tick, plan->peak_tick);
	said(cx, "the highest end in the scratchpad", c->lx_peak, plan->lx_peak);
	said(cx, "that the status is over_budget", c->over,
	     plan->budget.checked && !plan->budget.fits);
	said(cx, "the excess", c->excess,
	     plan->budget.fits ? 0 : plan->totals.total - plan->budget.limit);
	check_usage(cx, &c->usage, c->gate_fits);
	return check_pools(cx);
}
