/* SPDX-License-Identifier: Apache-2.0
 * hlo_order: in which order the instructions of a computation run.
 *
 * Decides    A scheduled module runs in the order of its text. Else three orders are
 *            tried and the one with the smallest peak is taken, the text's when equal:
 *              text   as written, dead instructions left out
 *              list   of the ready instructions the one that frees most and
 *                     allocates least
 *              depth  operands first, the largest and most used first
 * Model      One buffer an instruction, as large as its result; bitcasts, tuples and
 *            elements have none. An elementwise instruction or update takes the bytes
 *            of an operand that dies there. A called computation adds its own peak
 *            while it runs. Parameters, constants and results that leave are no
 *            matter of order.
 * Cost       O(n log n) in instructions and operands. */
#include "base/ckd.h"
#include "base/ready.h"
#include "base/sort.h"
#include "import/hlo.h"

#include <string.h>

typedef HBM_VEC(uint32_t) ids;

/* Local ids count from the computation's first instruction. */
typedef struct graph {
	hlo_module *m;
	hlo_comp *c;
	hbm_arena *arena;
	uint32_t n;
	bool *live;
	uint64_t *own;       /* bytes of the result */
	uint64_t *inner;     /* peak of what it calls */
	uint32_t *use_first; /* n + 1 indices into uses: buffers read, no duplicates */
	ids uses;
	uint32_t *n_users;   /* of a buffer */
	uint32_t *xor_users; /* of their ids: the last one is known by itself */
	bool *leaves;        /* the buffer is part of the root's result */
	uint32_t *next_first, *next; /* n + 1, edges to dependents */
	uint32_t *n_deps;
} graph;

static const hlo_instr *at(const graph *g, uint32_t i)
{
	return &g->m->instrs.items[g->c->first + i];
}

static uint32_t operand(const graph *g, const hlo_instr *x, uint32_t k)
{
	return g->m->operands.items[x->operands.first + k].instr - g->c->first;
}

static uint32_t control(const graph *g, const hlo_instr *x, uint32_t k)
{
	return g->m->operands.items[x->controls.first + k].instr - g->c->first;
}

/* Instructions without a buffer: their result is their operands'. */
static bool no_buffer(const hlo_instr *x)
{
	switch (hlo_opcode_infos[x->opcode].class) {
	case HLO_SAME:
	case HLO_TUPLE:
	case HLO_GTE:
	case HLO_DONE:
		return true;
	default:
		return false;
	}
}

static bool outside(const hlo_instr *x)
{
	return x->opcode == HLO_OP_PARAMETER || x->opcode == HLO_OP_CONSTANT;
}

static bool has_effect(const hlo_instr *x)
{
	return x->effect || hlo_opcode_infos[x->opcode].class == HLO_EFFECT ||
	       x->opcode == HLO_OP_SEND_DONE || x->opcode == HLO_OP_PARAMETER;
}

/* ---- the graph ------------------------------------------------------------ */

static hbm_status mark_live(graph *g)
{
	ids stack = {0};

	HBM_NEED(g->live = HBM_ZARRAY(g->arena, bool, g->n));
	for (uint32_t i = 0; i < g->n; i++)
		if (g->c->first + i == g->c->root || has_effect(at(g, i))) {
			g->live[i] = true;
			HBM_NEED(HBM_PUSH(g->arena, &stack, i));
		}
	while (stack.n) {
		const hlo_instr *x = at(g, stack.items[--stack.n]);
		for (uint32_t k = 0; k < x->operands.n + x->controls.n; k++) {
			uint32_t o = k < x->operands.n
			                     ? operand(g, x, k)
			                     : control(g, x, k - x->operands.n);
			if (g->live[o])
				continue;
			g->live[o] = true;
			HBM_NEED(HBM_PUSH(g->arena, &stack, o));
		}
	}
	return HBM_OK;
}

static uint64_t result_bytes(const graph *g, const hlo_instr *x)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < x->leaves.n; k++)
		sum = hbm_add_sat(sum, g->m->nodes.items[g->m->leaf_nodes.items[
		                               x->leaves.first + k]].size);
	return sum;
}

static hbm_status sizes(graph *g)
{
	HBM_NEED(g->own = HBM_ZARRAY(g->arena, uint64_t, g->n));
	HBM_NEED(g->inner = HBM_ZARRAY(g->arena, uint64_t, g->n));
	for (uint32_t i = 0; i < g->n; i++) {
		const hlo_instr *x = at(g, i);
		hlo_class class = hlo_opcode_infos[x->opcode].class;
		if (!no_buffer(x) && !outside(x))
			g->own[i] = result_bytes(g, x);
		if (class != HLO_WHILE && class != HLO_COND && class != HLO_CALL)
			continue;
		for (uint32_t k = 0; k < x->called.n; k++) {
			uint32_t comp = g->m->called.items[x->called.first + k].comp;
			uint64_t peak = g->m->comps.items[comp].peak;
			if (peak > g->inner[i])
				g->inner[i] = peak;
		}
		if (class == HLO_WHILE) /* its result is its operand's buffer */
			g->own[i] = 0;
	}
	return HBM_OK;
}

/* Lists the buffers behind `from` that `user` has not listed yet. A tuple gives all
 * of its parts, an element of a tuple only the one. */
static hbm_status buffers_of(graph *g, uint32_t from, uint32_t *seen, uint32_t user,
                             ids *stack)
{
	stack->n = 0;
	HBM_NEED(HBM_PUSH(g->arena, stack, from));
	while (stack->n) {
		uint32_t i = stack->items[--stack->n];
		const hlo_instr *x = at(g, i);
		hlo_class class = hlo_opcode_infos[x->opcode].class;
		if (seen[i] == user + 1)
			continue;
		seen[i] = user + 1;
		if (class == HLO_GTE) {
			const hlo_instr *t = at(g, operand(g, x, 0));
			bool part = hlo_opcode_infos[t->opcode].class == HLO_TUPLE &&
			            x->number < t->operands.n &&
			            !g->m->operands.items[x->operands.first].path.n;
			i = part ? operand(g, t, (uint32_t)x->number) : operand(g, x, 0);
			HBM_NEED(HBM_PUSH(g->arena, stack, i));
		} else if (no_buffer(x) || class == HLO_WHILE) {
			for (uint32_t k = 0; k < x->operands.n; k++)
				HBM_NEED(HBM_PUSH(g->arena, stack, operand(g, x, k)));
		} else if (!outside(x)) {
			HBM_NEED(HBM_PUSH(g->arena, &g->uses, i));
		}
	}
	return HBM_OK;
}

static hbm_status list_uses(graph *g)
{
	uint32_t *seen = HBM_ZARRAY(g->arena, uint32_t, g->n);
	ids stack = {0};

	HBM_NEED(seen);
	HBM_NEED(g->use_first = HBM_ARRAY(g->arena, uint32_t, g->n + 1));
	HBM_NEED(g->n_users = HBM_ZARRAY(g->arena, uint32_t, g->n));
	HBM_NEED(g->xor_users = HBM_ZARRAY(g->arena, uint32_t, g->n));
	HBM_NEED(g->leaves = HBM_ZARRAY(g->arena, bool, g->n));
	for (uint32_t i = 0; i < g->n; i++) {
		const hlo_instr *x = at(g, i);
		g->use_first[i] = g->uses.n;
		if (!g->live[i] || no_buffer(x))
			continue;
		for (uint32_t k = 0; k < x->operands.n; k++)
			HBM_TRY(buffers_of(g, operand(g, x, k), seen, i, &stack));
		for (uint32_t u = g->use_first[i]; u < g->uses.n; u++) {
			g->n_users[g->uses.items[u]]++;
			g->xor_users[g->uses.items[u]] ^= i;
		}
	}
	g->use_first[g->n] = g->uses.n;
	HBM_TRY(buffers_of(g, g->c->root - g->c->first, seen, g->n, &stack));
	for (uint32_t u = g->use_first[g->n]; u < g->uses.n; u++)
		g->leaves[g->uses.items[u]] = true;
	return HBM_OK;
}

static hbm_status list_edges(graph *g)
{
	uint32_t *fill;

	HBM_NEED(g->next_first = HBM_ZARRAY(g->arena, uint32_t, g->n + 1));
	HBM_NEED(g->n_deps = HBM_ZARRAY(g->arena, uint32_t, g->n));
	HBM_NEED(fill = HBM_ARRAY(g->arena, uint32_t, g->n + 1));
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < g->n; i++) {
			const hlo_instr *x = at(g, i);
			if (!g->live[i])
				continue;
			for (uint32_t k = 0; k < x->operands.n + x->controls.n; k++) {
				uint32_t o = k < x->operands.n
				                     ? operand(g, x, k)
				                     : control(g, x, k - x->operands.n);
				if (pass)
					g->next[fill[o]++] = i;
				else
					g->next_first[o + 1]++, g->n_deps[i]++;
			}
		}
		if (pass)
			break;
		for (uint32_t i = 0; i < g->n; i++)
			g->next_first[i + 1] += g->next_first[i];
		memcpy(fill, g->next_first, (g->n + 1) * sizeof *fill);
		HBM_NEED(g->next = HBM_ARRAY(g->arena, uint32_t, g->next_first[g->n]));
	}
	return HBM_OK;
}

/* ---- what an instruction costs -------------------------------------------- */

/* Bytes that scheduling `i` now would free, and whether its result can stand in
 * bytes that it frees. `left`: users of each buffer that did not run yet. */
static uint64_t frees(const graph *g, const uint32_t *left, uint32_t i, bool *ret_takes)
{
	const hlo_instr *x = at(g, i);
	hlo_class class = hlo_opcode_infos[x->opcode].class;
	bool may = class == HLO_ELEM || class == HLO_DUS || class == HLO_SCATTER ||
	           class == HLO_LEAFWISE ||
	           (class == HLO_FUSION && x->fusion == HLO_K_LOOP);
	uint64_t sum = 0;

	*ret_takes = false;
	for (uint32_t u = g->use_first[i]; u < g->use_first[i + 1]; u++) {
		uint32_t b = g->uses.items[u];
		if (left[b] != 1 || g->leaves[b])
			continue;
		sum = hbm_add_sat(sum, g->own[b]);
		*ret_takes |= may && g->own[b] == g->own[i];
	}
	return sum;
}

typedef struct meter {
	const graph *g;
	uint32_t *left;
	uint64_t live, peak;
} meter;

static bool meter_init(meter *t, const graph *g, hbm_arena *a)
{
	*t = (meter){.g = g, .left = HBM_ARRAY(a, uint32_t, g->n)};
	if (t->left)
		memcpy(t->left, g->n_users, g->n * sizeof *t->left);
	return t->left;
}

static void meter_run(meter *t, uint32_t i)
{
	const graph *g = t->g;
	bool takes;
	uint64_t freed = frees(g, t->left, i, &takes), now;

	now = hbm_add_sat(t->live, takes ? 0 : g->own[i]);
	now = hbm_add_sat(now, g->inner[i]);
	if (now > t->peak)
		t->peak = now;
	t->live = hbm_add_sat(t->live, g->own[i]);
	t->live -= freed < t->live ? freed : t->live;
	for (uint32_t u = g->use_first[i]; u < g->use_first[i + 1]; u++)
		t->left[g->uses.items[u]]--;
	if (!g->n_users[i] && !g->leaves[i])
		t->live -= g->own[i] < t->live ? g->own[i] : t->live;
}

static hbm_status measure(const graph *g, const uint32_t *order, uint32_t n,
                          uint64_t *ret)
{
	meter t;

	HBM_NEED(meter_init(&t, g, g->arena));
	for (uint32_t i = 0; i < n; i++)
		meter_run(&t, order[i]);
	*ret = t.peak;
	return HBM_OK;
}

/* ---- text order ----------------------------------------------------------- */

/* False: an instruction stands before one of its operands. */
static bool text_order(const graph *g, uint32_t *order, uint32_t *ret_n)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		const hlo_instr *x = at(g, i);
		if (!g->live[i])
			continue;
		for (uint32_t k = 0; k < x->operands.n; k++)
			if (operand(g, x, k) >= i)
				return false;
		for (uint32_t k = 0; k < x->controls.n; k++)
			if (control(g, x, k) >= i)
				return false;
		order[n++] = i;
	}
	*ret_n = n;
	return true;
}

/* ---- list order ----------------------------------------------------------- */

typedef struct lister {
	const graph *g;
	meter t;
	hbm_ready_heap heap;
	bool *done, *is_ready;
	uint32_t *deps, *xor_left;
	ids free_ones; /* ready instructions that take no memory */
} lister;

static bool push(lister *l, int64_t gain, uint32_t id)
{
	return hbm_ready_push(l->g->arena, &l->heap, (hbm_ready){gain, id});
}

static int64_t gain(const lister *l, uint32_t i)
{
	bool takes;
	uint64_t freed = frees(l->g, l->t.left, i, &takes), own = l->g->own[i];
	uint64_t lim = INT64_MAX;

	if (freed >= own)
		return (int64_t)(freed - own < lim ? freed - own : lim);
	return -(int64_t)(own - freed < lim ? own - freed : lim);
}

static bool make_ready(lister *l, uint32_t i)
{
	l->is_ready[i] = true;
	if (no_buffer(at(l->g, i)) || outside(at(l->g, i)))
		return HBM_PUSH(l->g->arena, &l->free_ones, i);
	return push(l, gain(l, i), i);
}

/* The user that is now the only one left of a buffer gains its bytes. */
static bool notice_last_users(lister *l, uint32_t i)
{
	const graph *g = l->g;

	for (uint32_t u = g->use_first[i]; u < g->use_first[i + 1]; u++) {
		uint32_t b = g->uses.items[u], last;
		l->xor_left[b] ^= i;
		last = l->xor_left[b];
		if (l->t.left[b] == 1 && l->is_ready[last] && !l->done[last] &&
		    !push(l, gain(l, last), last))
			return false;
	}
	return true;
}

static bool run_one(lister *l, uint32_t i, uint32_t *order, uint32_t *n)
{
	const graph *g = l->g;

	l->done[i] = true;
	order[(*n)++] = i;
	meter_run(&l->t, i);
	if (!notice_last_users(l, i))
		return false;
	for (uint32_t e = g->next_first[i]; e < g->next_first[i + 1]; e++)
		if (!--l->deps[g->next[e]] && !make_ready(l, g->next[e]))
			return false;
	return true;
}

static hbm_status lister_init(lister *l, const graph *g)
{
	*l = (lister){.g = g};
	HBM_NEED(meter_init(&l->t, g, g->arena));
	HBM_NEED(l->done = HBM_ZARRAY(g->arena, bool, g->n));
	HBM_NEED(l->is_ready = HBM_ZARRAY(g->arena, bool, g->n));
	HBM_NEED(l->deps = HBM_ARRAY(g->arena, uint32_t, g->n));
	HBM_NEED(l->xor_left = HBM_ARRAY(g->arena, uint32_t, g->n));
	memcpy(l->deps, g->n_deps, g->n * sizeof *l->deps);
	memcpy(l->xor_left, g->xor_users, g->n * sizeof *l->xor_left);
	for (uint32_t i = 0; i < g->n; i++)
		if (g->live[i] && !l->deps[i])
			HBM_NEED(make_ready(l, i));
	return HBM_OK;
}

/* *ret_n is smaller than the live instructions when they form a cycle. */
static hbm_status list_order(const graph *g, uint32_t *order, uint32_t *ret_n)
{
	uint32_t n = 0, free_at = 0;
	lister l;

	HBM_TRY(lister_init(&l, g));
	while (free_at < l.free_ones.n || l.heap.n) {
		hbm_ready top;
		if (free_at < l.free_ones.n) {
			HBM_NEED(run_one(&l, l.free_ones.items[free_at++], order, &n));
			continue;
		}
		top = hbm_ready_pop(&l.heap);
		if (!l.done[top.id])
			HBM_NEED(run_one(&l, top.id, order, &n));
	}
	*ret_n = n;
	return HBM_OK;
}

/* ---- depth-first order ---------------------------------------------------- */

typedef struct deep {
	const graph *g;
	uint64_t *extra, *bytes; /* users beyond the first, and sizes, of the subtree */
} deep;

static int deeper_first(const void *context, uint32_t a, uint32_t b)
{
	const deep *d = context;

	if (d->extra[a] != d->extra[b])
		return d->extra[a] > d->extra[b] ? -1 : 1;
	if (d->bytes[a] != d->bytes[b])
		return d->bytes[a] > d->bytes[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static hbm_status weigh(deep *d, const graph *g, const uint32_t *order, uint32_t n)
{
	*d = (deep){.g = g};
	HBM_NEED(d->extra = HBM_ZARRAY(g->arena, uint64_t, g->n));
	HBM_NEED(d->bytes = HBM_ZARRAY(g->arena, uint64_t, g->n));
	for (uint32_t j = 0; j < n; j++) {
		uint32_t i = order[j];
		const hlo_instr *x = at(g, i);
		d->bytes[i] = g->own[i];
		d->extra[i] = g->n_users[i] ? g->n_users[i] - 1 : 0;
		for (uint32_t k = 0; k < x->operands.n; k++) {
			uint32_t o = operand(g, x, k);
			d->bytes[i] = hbm_add_sat(d->bytes[i], d->bytes[o]);
			d->extra[i] = hbm_add_sat(d->extra[i], d->extra[o]);
		}
	}
	return HBM_OK;
}

/* Pushes what must run before `i`, the first to run last. */
static hbm_status push_deps(const deep *d, uint32_t i, const bool *done, ids *stack)
{
	const graph *g = d->g;
	const hlo_instr *x = at(g, i);
	uint32_t from = stack->n;

	for (uint32_t k = 0; k < x->operands.n + x->controls.n; k++) {
		uint32_t o = k < x->operands.n ? operand(g, x, k)
		                               : control(g, x, k - x->operands.n);
		if (!done[o])
			HBM_NEED(HBM_PUSH(g->arena, stack, o));
	}
	HBM_NEED(hbm_merge_sort(g->arena, stack->items + from, stack->n - from,
	                      deeper_first, d));
	for (uint32_t a = from, b = stack->n; a + 1 < b; a++) {
		uint32_t swap = stack->items[a];
		stack->items[a] = stack->items[--b];
		stack->items[b] = swap;
	}
	return HBM_OK;
}

static hbm_status depth_order(const graph *g, const uint32_t *some, uint32_t n,
                              uint32_t *order)
{
	bool *done = HBM_ZARRAY(g->arena, bool, g->n);
	bool *open = HBM_ZARRAY(g->arena, bool, g->n);
	uint32_t at_end = 0;
	ids stack = {0};
	deep d;

	HBM_NEED(done && open);
	HBM_TRY(weigh(&d, g, some, n));
	for (uint32_t j = 0; j <= n; j++) { /* the root, then what has an effect */
		uint32_t top = j ? some[j - 1] : g->c->root - g->c->first;
		if (!done[top])
			HBM_NEED(HBM_PUSH(g->arena, &stack, top));
		while (stack.n) {
			uint32_t i = stack.items[stack.n - 1];
			if (!open[i]) {
				open[i] = true;
				HBM_TRY(push_deps(&d, i, done, &stack));
				continue;
			}
			stack.n--;
			if (!done[i])
				order[at_end++] = i;
			done[i] = true;
		}
	}
	return HBM_OK;
}

/* ---- the choice ----------------------------------------------------------- */

static hbm_status cycle(const graph *g)
{
	return hbm_fail(g->m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
	                hlo_at(g->m, g->c->pos, 0),
	                "the instructions of '%s' depend on each other in a cycle",
	                hbm_sym_str(g->m->syms, g->c->name));
}

static hbm_status choose(graph *g, uint32_t *order)
{
	uint32_t *list = HBM_ARRAY(g->arena, uint32_t, g->n), n, n_live = 0;
	uint32_t *deep_ = HBM_ARRAY(g->arena, uint32_t, g->n), n_text;
	uint64_t best = UINT64_MAX, peak;

	HBM_NEED(list && deep_);
	for (uint32_t i = 0; i < g->n; i++)
		n_live += g->live[i];
	HBM_TRY(list_order(g, list, &n));
	if (n < n_live)
		return cycle(g);
	if (text_order(g, order, &n_text)) {
		HBM_TRY(measure(g, order, n, &best));
		g->c->order_from = "text";
	}
	HBM_TRY(measure(g, list, n, &peak));
	if (peak < best) {
		memcpy(order, list, n * sizeof *order);
		g->c->order_from = "list";
		best = peak;
	}
	HBM_TRY(depth_order(g, list, n, deep_));
	HBM_TRY(measure(g, deep_, n, &peak));
	if (peak < best) {
		memcpy(order, deep_, n * sizeof *order);
		g->c->order_from = "depth-first";
		best = peak;
	}
	g->c->peak = best;
	g->c->n_order = n;
	return HBM_OK;
}

static hbm_status as_written(hlo_module *m, hlo_comp *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const hlo_instr *x = &m->instrs.items[c->first + i];
		for (uint32_t k = 0; k < x->operands.n; k++)
			if (m->operands.items[x->operands.first + k].instr >= c->first + i)
				return hbm_fail(m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
				                hlo_at(m, x->pos, 0),
				                "'%s' stands before its operand '%s' although "
				                "the module is scheduled",
				                hlo_name(m, c->first + i),
				                hlo_name(m, m->operands.items[
						                 x->operands.first + k].instr));
		c->order[i] = c->first + i;
	}
	c->n_order = c->n;
	c->order_from = "schedule";
	return HBM_OK;
}

static hbm_status search(hlo_module *m, hbm_arena *scratch, hlo_comp *c)
{
	graph g = {.m = m, .c = c, .n = c->n, .arena = scratch};

	HBM_TRY(mark_live(&g));
	HBM_TRY(sizes(&g));
	HBM_TRY(list_uses(&g));
	HBM_TRY(list_edges(&g));
	HBM_TRY(choose(&g, c->order));
	for (uint32_t i = 0; i < c->n_order; i++)
		c->order[i] += c->first;
	return HBM_OK;
}

hbm_status hlo_order(hlo_module *m, uint32_t comp)
{
	hlo_comp *c = &m->comps.items[comp];
	hbm_arena scratch;
	hbm_status status;

	if (c->order)
		return HBM_OK;
	HBM_NEED(c->order = HBM_ARRAY(m->arena, uint32_t, c->n));
	if (m->scheduled)
		return as_written(m, c);
	hbm_arena_init(&scratch, &m->arena->mem);
	status = search(m, &scratch, c);
	hbm_arena_fini(&scratch);
	return status;
}
