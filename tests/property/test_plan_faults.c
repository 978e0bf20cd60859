/* SPDX-License-Identifier: Apache-2.0 */
/* Planted faults: legal plans of random programs are changed in one place, in ways
 * that no planner may; the checker alone must refuse each of them, and nothing
 * else. Every kind must have been planted many times. */
#include "support/gen_program.h"
#include "support/ir.h"
#include "support/naive_plan.h"
#include "pass/pass.h"
#include "verify/verify.h"

#include "support/test.h"

enum { PROGRAMS = 1500, EACH_KIND = 10 };

typedef struct trial {
	hbm_arena arena;
	hbm_diags d;
	uint64_t seed, rng;
	hbm_program p;
	hbm_target t;
	hbm_facts f;
	hbm_plan legal, plan;
} trial;

static uint32_t below(trial *x, uint32_t n)
{
	return (uint32_t)gen_below(&x->rng, n);
}

static uint32_t n_storages(const trial *x)
{
	return x->plan.storages.n;
}

static hbm_plan_storage *at(trial *x, uint32_t s)
{
	return &x->plan.storages.items[s];
}

/* A storage of some kind, HBM_NONE: there is none. */
static uint32_t pick(trial *x, bool (*fits)(trial *x, uint32_t s))
{
	uint32_t n = n_storages(x), from = below(x, n);

	for (uint32_t i = 0; i < n; i++)
		if (fits(x, (from + i) % n))
			return (from + i) % n;
	return HBM_NONE;
}

static bool any(trial *x, uint32_t s)
{
	return s < n_storages(x);
}

static bool pooled(trial *x, uint32_t s)
{
	return at(x, s)->home.kind == HBM_HOME_POOL;
}

static bool has_bytes(trial *x, uint32_t s)
{
	return at(x, s)->size > 0;
}

static bool pooled_bytes(trial *x, uint32_t s)
{
	return pooled(x, s) && has_bytes(x, s);
}

static bool callers(trial *x, uint32_t s)
{
	return at(x, s)->home.kind == HBM_HOME_IO && has_bytes(x, s) &&
	       !(at(x, s)->flags & HBM_T_HOST);
}

static bool output(trial *x, uint32_t s)
{
	return callers(x, s) && at(x, s)->flags & HBM_T_OUTPUT;
}

static bool alone(trial *x, uint32_t s)
{
	return at(x, s)->home.kind == HBM_HOME_HBM;
}

static bool has_view(trial *x, uint32_t s)
{
	const hbm_plan_storage *st = at(x, s);

	for (uint32_t i = 0; i < st->members.n; i++) {
		uint32_t k = st->members.first + i;
		if (x->p.tensors.items[x->plan.members.items[k].tensor].base != HBM_NONE)
			return true;
	}
	return false;
}

/* The life the program needs, from the verifier's own facts (which another test
 * holds against the simulator). */
static void needed(trial *x, uint32_t s, uint32_t *ret_start, uint32_t *ret_end)
{
	const hbm_plan_storage *st = at(x, s);

	*ret_start = UINT32_MAX;
	*ret_end = 0;
	for (uint32_t i = 0; i < st->members.n; i++) {
		hbm_tensor_id t = x->plan.members.items[st->members.first + i].tensor;
		const hbm_class *c = &x->f.classes.items[x->f.class_of[t]];
		if (!c->touches.n)
			continue;
		*ret_start = c->start < *ret_start ? c->start : *ret_start;
		*ret_end = c->end > *ret_end ? c->end : *ret_end;
	}
}

static bool meet(trial *x, uint32_t a, uint32_t b)
{
	uint32_t sa, ea, sb, eb;

	needed(x, a, &sa, &ea);
	needed(x, b, &sb, &eb);
	return sa < eb && sb < ea;
}

/* A neighbour in the pool that is live together with it, HBM_NONE: none. */
static uint32_t neighbour(trial *x, uint32_t s)
{
	for (uint32_t i = 0; i < n_storages(x); i++)
		if (i != s && pooled_bytes(x, i) &&
		    at(x, i)->home.bundle == at(x, s)->home.bundle && meet(x, s, i))
			return i;
	return HBM_NONE;
}

static bool has_neighbour(trial *x, uint32_t s)
{
	return pooled_bytes(x, s) && neighbour(x, s) != HBM_NONE;
}

static hbm_node_id other_bundle(trial *x, hbm_node_id not)
{
	uint32_t n = x->p.nodes.n, from = below(x, n);

	for (uint32_t i = 0; i < n; i++) {
		hbm_node_id b = (from + i) % n;
		if (b != not && x->p.nodes.items[b].kind == HBM_NODE_BUNDLE)
			return b;
	}
	return HBM_NONE;
}

/* ---- kinds of faults: each changes the plan, or returns false ------------------ */

static bool onto_neighbour(trial *x)
{
	uint32_t s = pick(x, has_neighbour), o;
	uint64_t align = hbm_target_num(&x->t, HBM_KEY_HBM_ALIGN, 1);

	if (s == HBM_NONE)
		return false;
	o = neighbour(x, s);
	at(x, s)->home.offset = at(x, o)->home.offset +
		gen_below(&x->rng, at(x, o)->reserve) / align * align;
	naive_sums(&x->plan);
	return true;
}

/* Only the neighbour's last unit is taken. */
static bool touching_neighbour(trial *x)
{
	uint32_t s = pick(x, has_neighbour), o;
	uint64_t unit = hbm_target_num(&x->t, HBM_KEY_HBM_ALIGN, 1);

	if (s == HBM_NONE)
		return false;
	o = neighbour(x, s);
	at(x, s)->home.offset = at(x, o)->home.offset + at(x, o)->reserve - unit;
	naive_sums(&x->plan);
	return true;
}

static hbm_plan_pool *any_pool(trial *x)
{
	uint32_t n = x->plan.pools.n;

	return n ? &x->plan.pools.items[below(x, n)] : NULL;
}

static bool extent_too_small(trial *x)
{
	hbm_plan_pool *pool = any_pool(x);

	if (!pool || !pool->extent)
		return false;
	pool->extent -= 1 + gen_below(&x->rng, pool->extent);
	return true;
}

static bool extent_beyond_cap(trial *x)
{
	hbm_plan_pool *pool = any_pool(x);

	if (!pool)
		return false;
	pool->extent = pool->cap + 1;
	return true;
}

static bool end_beyond_cap(trial *x)
{
	uint32_t s = pick(x, pooled_bytes);
	uint64_t cap = hbm_target_num(&x->t, HBM_KEY_POOL_CAP, 0);

	if (s == HBM_NONE)
		return false;
	at(x, s)->home.offset = cap;
	naive_sums(&x->plan);
	return true;
}

static bool storage_dropped(trial *x)
{
	uint32_t s = pick(x, any);

	at(x, s)->members = at(x, n_storages(x) - 1)->members;
	*at(x, s) = *at(x, n_storages(x) - 1);
	x->plan.storages.n--;
	return true;
}

static bool tensor_dropped(trial *x)
{
	uint32_t s = pick(x, has_view);

	if (s == HBM_NONE)
		return false;
	at(x, s)->members.n--;
	return true;
}

static bool tensor_twice(trial *x)
{
	uint32_t a = pick(x, any), b = below(x, n_storages(x));

	if (a == b)
		return false;
	x->plan.members.items[at(x, b)->members.first].tensor =
		x->plan.members.items[at(x, a)->members.first].tensor;
	return true;
}

static bool storage_twice(trial *x)
{
	uint32_t s = pick(x, any);

	return HBM_PUSH(&x->arena, &x->plan.storages, *at(x, s));
}

static bool view_moved_out(trial *x)
{
	uint32_t s = pick(x, has_view);
	hbm_plan_storage new;

	if (s == HBM_NONE || at(x, s)->members.n < 2)
		return false;
	new = *at(x, s);
	at(x, s)->members.n--;
	new.members.first += new.members.n - 1;
	new.members.n = 1;
	new.root = x->plan.members.items[new.members.first].tensor;
	if (x->plan.members.items[new.members.first].tensor == at(x, s)->root)
		return false;
	x->plan.of_tensor[new.root] = n_storages(x);
	return HBM_PUSH(&x->arena, &x->plan.storages, new);
}

static bool view_shifted(trial *x)
{
	uint32_t s = pick(x, has_view);

	for (uint32_t i = 0; s != HBM_NONE && i < at(x, s)->members.n; i++) {
		hbm_plan_member *m = &x->plan.members.items[at(x, s)->members.first + i];
		if (x->p.tensors.items[m->tensor].base == HBM_NONE)
			continue;
		m->offset += 1;
		return true;
	}
	return false;
}

static bool homes_swapped(trial *x)
{
	uint32_t a = pick(x, pooled), b = pick(x, callers);
	hbm_home home;

	if (a == HBM_NONE || b == HBM_NONE)
		return false;
	home = at(x, a)->home;
	at(x, a)->home = at(x, b)->home;
	at(x, b)->home = home;
	return true;
}

static bool output_pooled(trial *x)
{
	uint32_t s = pick(x, output);
	hbm_node_id b = other_bundle(x, HBM_NONE);

	if (s == HBM_NONE || b == HBM_NONE)
		return false;
	at(x, s)->home = (hbm_home){.kind = HBM_HOME_POOL, .bundle = b, .offset = 4096,
	                            .size = at(x, s)->reserve};
	naive_sums(&x->plan);
	return true;
}

/* Standalone storages may not live in a pool; those that only overflowed do not
 * occur below. */
static bool standalone_pooled(trial *x)
{
	uint32_t s = pick(x, alone);
	hbm_plan_pool *pool = any_pool(x);

	if (s == HBM_NONE || !pool)
		return false;
	at(x, s)->home = (hbm_home){.kind = HBM_HOME_POOL, .bundle = pool->bundle,
	                            .offset = (pool->extent + 4095) / 4096 * 4096,
	                            .size = at(x, s)->reserve};
	naive_sums(&x->plan);
	return true;
}

static bool wrong_bundle(trial *x)
{
	uint32_t s = pick(x, pooled);
	hbm_node_id b = s == HBM_NONE ? s : other_bundle(x, at(x, s)->home.bundle);

	if (b == HBM_NONE)
		return false;
	at(x, s)->home.bundle = b;
	naive_sums(&x->plan);
	return true;
}

static bool no_bundle(trial *x)
{
	uint32_t s = pick(x, pooled);
	static const hbm_node_id none[] = {HBM_NONE, HBM_NONE - 1, 1u << 31};

	if (s == HBM_NONE)
		return false;
	at(x, s)->home.bundle = none[below(x, 3)];
	return true;
}

static bool misaligned(trial *x)
{
	uint32_t s = pick(x, pooled);

	if (s == HBM_NONE || hbm_target_num(&x->t, HBM_KEY_HBM_ALIGN, 1) == 1)
		return false;
	at(x, s)->home.offset += 1 + below(x, 15);
	naive_sums(&x->plan);
	return true;
}

static bool wrong_size(trial *x)
{
	uint32_t s = pick(x, has_bytes);

	if (s == HBM_NONE)
		return false;
	at(x, s)->size += below(x, 2) ? 1 : UINT64_MAX;
	return true;
}

static bool reserve_too_small(trial *x)
{
	uint32_t s = pick(x, has_bytes);

	if (s == HBM_NONE)
		return false;
	at(x, s)->reserve -= 1;
	naive_sums(&x->plan);
	return true;
}

static bool home_too_small(trial *x)
{
	uint32_t s = pick(x, has_bytes);

	if (s == HBM_NONE || at(x, s)->reserve < 2)
		return false;
	at(x, s)->home.size = 1;
	return true;
}

static bool life_too_short(trial *x)
{
	uint32_t s = pick(x, any), start, end;

	needed(x, s, &start, &end);
	if (start >= end)
		return false;
	if (below(x, 2))
		at(x, s)->start = start + 1;
	else
		at(x, s)->end = end - 1;
	if (at(x, s)->start > at(x, s)->end)
		at(x, s)->start = at(x, s)->end;
	naive_sums(&x->plan);
	return true;
}

static bool no_home(trial *x)
{
	at(x, pick(x, any))->home.kind = HBM_HOME_NONE;
	return true;
}

static bool no_offset(trial *x)
{
	uint32_t s = pick(x, pooled);

	if (s == HBM_NONE)
		return false;
	at(x, s)->home.offset = HBM_NO_OFFSET;
	return true;
}

static bool flags_changed(trial *x)
{
	at(x, pick(x, any))->flags ^= HBM_T_OUTPUT;
	return true;
}

static bool strangers_joined(trial *x)
{
	uint32_t a = pick(x, any), b = below(x, n_storages(x));

	if (a == b || at(x, a)->home.kind != at(x, b)->home.kind || !meet(x, a, b))
		return false;
	return naive_join(&x->plan, a, b) == HBM_OK;
}

static bool into_scratchpad(trial *x)
{
	uint32_t s = pick(x, has_bytes);

	if (s == HBM_NONE)
		return false;
	at(x, s)->home = (hbm_home){.kind = HBM_HOME_LX, .bundle = HBM_NONE,
	                            .offset = 4096, .size = at(x, s)->reserve};
	naive_sums(&x->plan);
	return true;
}

static bool pool_entry_dropped(trial *x)
{
	for (uint32_t i = 0; i < x->plan.pools.n; i++)
		if (x->plan.pools.items[i].n_placed) {
			hbm_plan_pool *items = x->plan.pools.items;
			memmove(items + i, items + i + 1,
			        (--x->plan.pools.n - i) * sizeof *items);
			naive_sums(&x->plan);
			return true;
		}
	return false;
}

static bool pool_entry_twice(trial *x)
{
	hbm_plan_pool *pool = any_pool(x);

	return pool && HBM_PUSH(&x->arena, &x->plan.pools, *pool) &&
	       (naive_sums(&x->plan), true);
}

static bool pool_entry_without_use(trial *x)
{
	hbm_node_id b = other_bundle(x, HBM_NONE);
	hbm_plan_pool pool = {.bundle = b, .cap = 1 << 18};

	for (uint32_t i = 0; i < x->plan.pools.n; i++)
		if (x->plan.pools.items[i].bundle == b)
			return false;
	return b != HBM_NONE && HBM_PUSH(&x->arena, &x->plan.pools, pool);
}

static bool totals_changed(trial *x)
{
	hbm_totals *t = &x->plan.totals;
	uint64_t *fields[] = {&t->inputs, &t->outputs, &t->weights, &t->state,
	                      &t->standalone, &t->pools, &t->pools_sum, &t->total,
	                      &t->descriptors, &t->resident, &t->code};

	*fields[below(x, sizeof fields / sizeof *fields)] += 1;
	return true;
}

static bool budget_changed(trial *x)
{
	hbm_budget *b = &x->plan.budget;

	switch (below(x, 4)) {
	case 0: b->fits = !b->fits; return true;
	case 1: b->limit++; return true;
	case 2: b->margin++; return true;
	default: b->within_margin = !b->within_margin; return true;
	}
}

static bool pressure_changed(trial *x)
{
	if (below(x, 2))
		x->plan.peak++;
	else
		x->plan.pressure[below(x, x->plan.n_ticks)] ^= 1;
	return true;
}

static bool pool_figures_changed(trial *x)
{
	hbm_plan_pool *pool = any_pool(x);

	if (!pool)
		return false;
	switch (below(x, 4)) {
	case 0: pool->n_placed++; return true;
	case 1: pool->n_overflow++; return true;
	case 2: pool->no_reuse++; return true;
	default: pool->lower_bound = pool->extent + 1; return true;
	}
}

static bool wrong_index(trial *x)
{
	uint32_t t = below(x, x->p.tensors.n);

	if (n_storages(x) < 2)
		return false;
	x->plan.of_tensor[t] = (x->plan.of_tensor[t] + 1) % n_storages(x);
	return true;
}

/* `words` must stand in one of the messages. */
static const struct {
	const char *name;
	bool (*plant)(trial *x);
	const char *words;
} kinds[] = {
	{"onto_neighbour", onto_neighbour, "share bytes"},
	{"touching_neighbour", touching_neighbour, "share bytes"},
	{"extent_too_small", extent_too_small, "its storages reach"},
	{"extent_beyond_cap", extent_beyond_cap, "beyond its cap"},
	{"end_beyond_cap", end_beyond_cap, "beyond its cap"},
	{"storage_dropped", storage_dropped, "is in no storage"},
	{"tensor_dropped", tensor_dropped, "is in no storage"},
	{"tensor_twice", tensor_twice, "is in two storages"},
	{"storage_twice", storage_twice, "is in two storages"},
	{"view_moved_out", view_moved_out, "must share bytes"},
	{"view_shifted", view_shifted, "it must be at"},
	{"homes_swapped", homes_swapped, "but its home is"},
	{"output_pooled", output_pooled, "may not be in the pool"},
	{"standalone_pooled", standalone_pooled, "may not be in the pool"},
	{"wrong_bundle", wrong_bundle, "may not be in the pool"},
	{"no_bundle", no_bundle, "in the pool of no bundle"},
	{"misaligned", misaligned, "not a multiple"},
	{"wrong_size", wrong_size, "its tensors take"},
	{"reserve_too_small", reserve_too_small, "it needs"},
	{"home_too_small", home_too_small, "it needs"},
	{"life_too_short", life_too_short, "it is needed at"},
	{"no_home", no_home, "has no home"},
	{"no_offset", no_offset, "but no offset"},
	{"flags_changed", flags_changed, "has flags"},
	{"strangers_joined", strangers_joined, "may not share the storage"},
	{"into_scratchpad", into_scratchpad, "bytes of scratchpad"},
	{"pool_entry_dropped", pool_entry_dropped, "which has no entry"},
	{"pool_entry_twice", pool_entry_twice, "listed twice"},
	{"pool_entry_without_use", pool_entry_without_use, "nothing could live"},
	{"totals_changed", totals_changed, "the plan says"},
	{"budget_changed", budget_changed, "the plan says"},
	{"pressure_changed", pressure_changed, "the plan says"},
	{"pool_figures_changed", pool_figures_changed, "pool of '"},
	{"wrong_index", wrong_index, "wrong storage"},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* ---- planting ------------------------------------------------------------------- */

static void begin(trial *x, uint64_t seed)
{
	static const uint64_t granules[] = {1, 16, 128};
	hbm_plan_opts opts;
	gen_opts o;

	*x = (trial){.seed = seed, .rng = seed ^ 0xbb67ae8584caa73bu};
	hbm_arena_init(&x->arena, NULL);
	hbm_diags_init(&x->d, &x->arena);
	gen_defaults(&o, seed);
	naive_target(&x->t, granules[gen_below(&x->rng, 3)]);
	assert_int_equal(gen_program(&x->arena, &o, &x->p), HBM_OK);
	hbm_plan_defaults(&opts);
	opts.passes = "hbm-pool";
	opts.effort = 1;
	assert_int_equal(hbm_run_passes(&x->arena, &x->p, &x->t, &opts, NULL, &x->legal),
	                 HBM_OK);
	assert_int_equal(hbm_facts_collect(&x->arena, &x->p, NULL, &x->f), HBM_OK);
	assert_int_equal(hbm_facts_trace(&x->f), HBM_OK);
}

#define COPY(x, field)                                                             \
	do {                                                                       \
		uint32_t n_ = (x)->legal.field.n;                                  \
		(x)->plan.field.items = NULL;                                      \
		(x)->plan.field.n = (x)->plan.field.cap = 0;                       \
		for (uint32_t i_ = 0; i_ < n_; i_++)                               \
			assert_true(HBM_PUSH(&(x)->arena, &(x)->plan.field,        \
			                     (x)->legal.field.items[i_]));         \
	} while (0)

static void copy_plan(trial *x)
{
	size_t n_tensors = x->p.tensors.n, n_ticks = x->legal.n_ticks;

	x->plan = x->legal;
	COPY(x, storages);
	COPY(x, members);
	COPY(x, pools);
	x->plan.of_tensor = HBM_ARRAY(&x->arena, uint32_t, n_tensors);
	x->plan.pressure = HBM_ARRAY(&x->arena, uint64_t, n_ticks);
	assert_true(x->plan.of_tensor && x->plan.pressure);
	memcpy(x->plan.of_tensor, x->legal.of_tensor,
	       n_tensors * sizeof *x->plan.of_tensor);
	memcpy(x->plan.pressure, x->legal.pressure, n_ticks * sizeof *x->plan.pressure);
}

static hbm_status verify(trial *x, const hbm_plan *plan)
{
	hbm_diags_init(&x->d, &x->arena);
	return hbm_verify(&x->arena, &x->p, &x->t, plan, &x->d);
}

static bool told(const trial *x, const char *words)
{
	for (uint32_t i = 0; i < x->d.list.n; i++)
		if (strstr(x->d.list.items[i].text, words))
			return true;
	return false;
}

static void overlooked(trial *x, uint32_t kind)
{
	fputs(ir_print(&x->arena, &x->p), stderr);
	fputs(messages(&x->arena, &x->d), stderr);
	fail_msg("seed %llu: '%s' was overlooked", (unsigned long long)x->seed,
	         kinds[kind].name);
}

static void test_planted_faults(void **state)
{
	uint32_t planted[N_KINDS] = {0}, all = 0;
	trial x;

	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		begin(&x, seed);
		assert_int_equal(verify(&x, &x.legal), HBM_OK);
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t kind = below(&x, N_KINDS);
			copy_plan(&x);
			if (!kinds[kind].plant(&x))
				continue;
			planted[kind]++;
			all++;
			if (verify(&x, &x.plan) != HBM_VERIFY || !told(&x, kinds[kind].words))
				overlooked(&x, kind);
		}
		hbm_arena_fini(&x.arena);
	}
	print_message("%u faults of %d kinds\n", all, N_KINDS);
	for (uint32_t k = 0; k < N_KINDS; k++)
		if (planted[k] < EACH_KIND)
			fail_msg("'%s' was planted %u times only", kinds[k].name, planted[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted_faults)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
