/* SPDX-License-Identifier: Apache-2.0 */
/* Trying every address of every buffer never finds a layout that saves more than
 * the default solver when it claims a proof, nor more than its bound when not;
 * and the default never saves less than a named solver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "pack/lx.h"

enum { MAX_N = 9, HORIZON = 8, MAX_CAPACITY = 12 };

typedef struct instance {
	hbm_lx_problem p;
	uint64_t size[MAX_N], pin[MAX_N];
	uint32_t use_first[MAX_N + 1], uses[MAX_N * HORIZON];
	uint32_t parent_first[MAX_N + 1], parents[MAX_N * 2], group[MAX_N];
	bool input[MAX_N], barred[MAX_N];
} instance;

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) % n);
}

static uint32_t last_use(const instance *x, uint32_t i)
{
	return x->uses[x->use_first[i + 1] - 1];
}

static bool may_parent(const instance *x, uint32_t q)
{
	return x->use_first[q + 1] - x->use_first[q] > 1;
}

static void add_buffer(instance *x, uint32_t i)
{
	uint32_t start = below(HORIZON), n = x->use_first[i], parent = HBM_NONE;

	x->parent_first[i + 1] = x->parent_first[i];
	x->size[i] = 1 + below((uint32_t)x->p.capacity);
	if (i && below(2) && may_parent(x, parent = below(i))) {
		start = last_use(x, parent);
		x->size[i] = 1 + below((uint32_t)x->size[parent]);
		for (uint32_t q = 0; q < i; q++)
			if (may_parent(x, q) && last_use(x, q) == start &&
			    x->size[i] <= x->size[q] && below(2))
				x->parents[x->parent_first[i + 1]++] = q;
	}
	x->uses[n++] = start;
	for (uint32_t t = start + 1; t < HORIZON; t++)
		if (below(3) == 0)
			x->uses[n++] = t;
	x->use_first[i + 1] = n;
	x->input[i] = x->parent_first[i] == x->parent_first[i + 1] && below(8) == 0;
	x->barred[i] = below(16) == 0;
	x->pin[i] = HBM_NO_OFFSET;
	x->group[i] = HBM_NONE;
}

static void make(instance *x, uint32_t n, uint64_t at, bool pins, bool groups)
{
	memset(x, 0, sizeof *x);
	seed = at * 1000003;
	x->p.n = n;
	x->p.align = 1 + below(3) / 2;
	x->p.capacity = 3 + below(MAX_CAPACITY - 2);
	for (uint32_t i = 0; i < n; i++)
		add_buffer(x, i);
	if (pins && n) {
		uint32_t i = below(n);
		uint64_t top = (x->p.capacity - x->size[i]) / x->p.align;
		x->pin[i] = below((uint32_t)top + 1) * x->p.align;
	}
	for (uint32_t i = 0; groups && i < n; i++)
		x->group[i] = below(3) ? HBM_NONE : below(2);
	x->p.size = x->size;
	x->p.use_first = x->use_first;
	x->p.uses = x->uses;
	x->p.input = x->input;
	x->p.barred = x->barred;
	x->p.parent_first = x->parent_first;
	x->p.parents = x->parents;
	x->p.pin = x->pin;
	x->p.group = groups ? x->group : NULL;
}

/* ---- every address of every buffer --------------------------------------- */

typedef struct brute {
	const hbm_lx_problem *p;
	uint64_t address[MAX_N], value, best;
} brute;

static bool is_parent(const hbm_lx_problem *p, uint32_t child, uint32_t parent)
{
	for (uint32_t k = p->parent_first[child]; k < p->parent_first[child + 1]; k++)
		if (p->parents[k] == parent)
			return true;
	return false;
}

static bool clear(const brute *b, uint32_t i, uint64_t at)
{
	const hbm_lx_problem *p = b->p;

	for (uint32_t q = 0; q < i; q++) {
		uint64_t other = b->address[q];
		if (other == HBM_NO_OFFSET || other >= at + p->size[i] ||
		    at >= other + p->size[q] ||
		    hbm_lx_start(p, i) >= hbm_lx_end(p, q) ||
		    hbm_lx_start(p, q) >= hbm_lx_end(p, i))
			continue;
		if (other != at || (!is_parent(p, i, q) && !is_parent(p, q, i)))
			return false;
	}
	return true;
}

static bool group_ok(const brute *b, uint32_t i, bool placed)
{
	for (uint32_t q = 0; b->p->group && b->p->group[i] != HBM_NONE && q < i; q++)
		if (b->p->group[q] == b->p->group[i] &&
		    (b->address[q] != HBM_NO_OFFSET) != placed)
			return false;
	return true;
}

static void try_all(brute *b, uint32_t i)
{
	const hbm_lx_problem *p = b->p;
	uint64_t rest = 0;

	for (uint32_t q = i; q < p->n; q++)
		rest += hbm_lx_value(p, q);
	if (b->value + rest <= b->best)
		return;
	if (i == p->n) {
		b->best = b->value;
		return;
	}
	for (uint64_t at = 0; !p->barred[i] && at + p->size[i] <= p->capacity;
	     at += p->align) {
		if ((p->pin[i] != HBM_NO_OFFSET && p->pin[i] != at) ||
		    !group_ok(b, i, true) || !clear(b, i, at))
			continue;
		b->address[i] = at;
		b->value += hbm_lx_value(p, i);
		try_all(b, i + 1);
		b->value -= hbm_lx_value(p, i);
	}
	b->address[i] = HBM_NO_OFFSET;
	if (group_ok(b, i, false))
		try_all(b, i + 1);
}

static uint64_t n_proven;

static void check(instance *x, uint64_t at)
{
	static const char *const named[] = {"greedy", "first-fit", "best-fit"};
	brute b = {.p = &x->p};
	hbm_lx_layout layout, other;
	hbm_arena arena;
	hbm_diags diags;

	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&diags, &arena);
	if (hbm_lx_solve(&arena, &x->p, NULL, &diags, &layout) != HBM_OK)
		fail_msg("instance %llu: %s", (unsigned long long)at,
		         diags.list.n ? diags.list.items[0].text : "no message");
	try_all(&b, 0);
	if (b.best > layout.bound || layout.saved > b.best ||
	    (layout.saved == layout.bound && layout.saved != b.best))
		fail_msg("instance %llu: saved %llu bound %llu, best %llu",
		         (unsigned long long)at, (unsigned long long)layout.saved,
		         (unsigned long long)layout.bound, (unsigned long long)b.best);
	n_proven += layout.saved == layout.bound;
	for (uint32_t s = 0; s < 3; s++) {
		hbm_lx_opts opts = {.solver = named[s], .effort = 5};
		assert_int_equal(hbm_lx_solve(&arena, &x->p, &opts, &diags, &other), HBM_OK);
		assert_true(other.saved <= layout.saved);
	}
	hbm_arena_fini(&arena);
}

static void run(uint32_t from, uint32_t to, bool pins, bool groups)
{
	instance x;

	n_proven = 0;
	for (uint64_t at = from; at < to; at++) {
		make(&x, (uint32_t)(at % (MAX_N + 1)), at, pins, groups);
		check(&x, at);
	}
	/* All of these are small enough for a proof. */
	assert_int_equal(n_proven, to - from);
}

static void test_plain(void **state)
{
	(void)state;
	run(0, 3000, false, false);
}

static void test_pins(void **state)
{
	(void)state;
	run(3000, 5000, true, false);
}

static void test_groups(void **state)
{
	(void)state;
	run(5000, 7000, false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
