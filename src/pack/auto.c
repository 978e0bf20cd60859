/* SPDX-License-Identifier: Apache-2.0
 * `auto`: the default.
 *
 * 1. Cheap orders over the whole instance; each is given up once it cannot win.
 * 2. What is above the goal then is cut into parts that share no time. Those with
 *    at most two live at once are solved; the others are worked on in stages,
 *    each a few tasks of fixed budget that start from the best so far and know
 *    nothing of each other. Of a stage the first result at the goal counts, else
 *    the best, the first among equals: so the number of threads changes nothing.
 *    What the caller calls enough ends the stages after the first.
 * 3. A part that is above the goal after its last stage decides the extent: the
 *    others need not be lower.
 *
 * Budgets are steps: they grow with the part, double with the effort, and effort
 * 0 ends after 1. With a deadline the last stage is repeated until then. */
#include "pack/auto.h"
#include "base/parallel.h"
#include "pack/climb.h"
#include "pack/fit.h"
#include "pack/part.h"

#include <stdatomic.h>
#include <string.h>

enum {
	MAX_TASKS = 4,
	EXACT_MAX = 3000, /* items of a part that exact search is tried on */
	SHORT_LIFE = 64,  /* ticks: up to here on average `layers` is cheap */
};

/* An allocator and its steps at effort 5. */
typedef struct task {
	const char *name; /* NULL: no more */
	uint64_t steps, per_item, seed;
} task;

typedef struct stage {
	task tasks[MAX_TASKS];
} stage;

/* The seeds of exact are those of a dozen that did best on two hard instances. */
static const stage small_stages[] = {
	{{{"exact", 1 << 17, 0, 0}}},
	{{{"exact", 1 << 19, 0, 10}, {"climb", 2000000, 0, 1}, {"layers", 0, 20000, 1}}},
	{{{"join", 0, 10000, 0}, {"exact", 1 << 20, 40000, 11}, {"climb", 6000000, 0, 2},
	  {"layers", 0, 50000, 2}}},
};

static const stage middle_stages[] = {
	{{{"restart", 30000000, 0, 1}, {"layers", 50000000, 0, 1}}},
	{{{"exact", 1 << 22, 0, 0}, {"restart", 60000000, 0, 2}, {"layers", 100000000, 0, 2}}},
	{{{"join", 20000000, 0, 0}, {"restart", 100000000, 0, 3},
	  {"layers", 200000000, 0, 3}}},
};

static const stage large_stages[] = {
	{{{"restart", 100000000, 20, 1}, {"layers", 100000000, 20, 1}}},
	{{{"restart", 100000000, 0, 2}, {"layers", 100000000, 0, 2}}},
};

/* With pins, pieces or groups the skyline does not work. */
static const stage general_stages[] = {
	{{{"exact", 1 << 18, 0, 0}}},
	{{{"exact", 1 << 22, 0, 0}}},
};

/* A cheap allocator. */
typedef struct order {
	const char *name; /* NULL: no more */
	uint32_t least;   /* items from which on it pays */
	uint32_t steps;   /* 0: as many as it takes */
} order;

/* One try of `layers`: it comes first where it is likely to win. */
static const order layers_orders[] = {{"two-sided", 0, 0}, {"layers", 64, 2},
                                     {"skyline", 0, 0}, {0}};
static const order plain_orders[] = {{"two-sided", 0, 0}, {"skyline", 0, 0},
                                     {"layers", 64, 2}, {0}};
static const order general_orders[] = {
	{"size-first", 0, 0}, {"area-first", 0, 0}, {"first-fit", 0, 0},
	{"life-first", 0, 0}, {"best-fit", 0, 0}, {"size-best", 0, 0}, {0},
};

typedef struct part {
	hbm_inst in;
	const uint32_t *ids; /* of its items in the whole; NULL: all */
	hbm_answer ans;
	const stage *stages;
	uint32_t n_stages;
} part;

typedef struct attempt {
	part *of;
	const task *task;
	uint32_t index;     /* in its stage */
	atomic_uint *won;   /* lowest index of the stage that reached the goal */
	uint64_t capacity;
	hbm_pack_cx cx;
	hbm_answer ans;
	hbm_arena arena;
	hbm_status status;
	bool ran;
	const hbm_pack_cx *outer;
} attempt;

typedef struct driver {
	hbm_pack_cx *cx;
	const hbm_inst *in;
	hbm_answer *ans;
	uint64_t capacity;
	uint32_t threads;
	part *parts; /* those above the goal, by falling top */
	uint32_t n_parts;
	uint64_t lower_bound;
	bool above; /* some part is above the capacity */
	attempt *attempts;
	uint32_t n_attempts;
} driver;

/* ---- one attempt ---------------------------------------------------------- */

static bool not_needed(void *user)
{
	const attempt *t = user;

	if (atomic_load(t->won) < t->index)
		return true;
	return t->outer->cancelled && t->outer->cancelled(t->outer->user);
}

static hbm_status try_one(attempt *t)
{
	const hbm_allocator *al = hbm_allocator_find(t->task->name);

	t->ans = t->of->ans;
	if (al->exact && t->ans.extent > t->capacity)
		t->ans.cap = t->capacity;
	t->ans.offset = HBM_ARRAY(&t->arena, uint64_t, t->of->in.n);
	HBM_NEED(t->ans.offset);
	memcpy(t->ans.offset, t->of->ans.offset, t->of->in.n * sizeof *t->ans.offset);
	return al->solve(&t->cx, &t->of->in, &t->ans);
}

static void work(void *user, uint32_t i, uint32_t worker)
{
	attempt *t = (attempt *)user + i;
	unsigned won = atomic_load(t->won);

	(void)worker;
	if (won < t->index || t->outer->stopped)
		return;
	t->ran = true;
	t->status = try_one(t);
	if (t->status != HBM_OK || t->ans.extent > t->of->ans.goal)
		return;
	while (won > t->index && !atomic_compare_exchange_weak(t->won, &won, t->index))
		;
}

static uint64_t steps_of(const driver *d, const task *t, uint32_t n, uint32_t round)
{
	uint32_t effort = d->cx->effort > 9 ? 9 : d->cx->effort;
	uint64_t steps = t->steps + t->per_item * n;

	return steps << (effort + (round < 20 ? round : 20)) >> 5;
}

/* Of the two decoders for many items `layers` alone goes on where all is tight, and
 * only where it leads. */
static bool trails(const part *p, const char *name)
{
	bool leads = strcmp(p->ans.by, "layers") == 0;

	if (p->in.n <= EXACT_MAX)
		return false;
	if (strcmp(name, "layers") == 0)
		return !leads;
	return strcmp(name, "restart") == 0 && leads && hbm_inst_tight(&p->in);
}

/* ---- one stage ------------------------------------------------------------ */

static void add_attempts(driver *d, part *p, const stage *s, uint32_t round,
                         atomic_uint *won)
{
	for (uint32_t k = 0; k < MAX_TASKS && s->tasks[k].name; k++) {
		const hbm_allocator *al = hbm_allocator_find(s->tasks[k].name);
		attempt *t = &d->attempts[d->n_attempts];

		if (p->in.features & ~al->can & ~(uint32_t)HBM_F_HINTS ||
		    trails(p, al->name))
			continue;
		*t = (attempt){.of = p, .task = &s->tasks[k], .index = k, .won = won,
		               .capacity = d->capacity, .outer = d->cx};
		hbm_arena_init(&t->arena, &d->cx->scratch->mem);
		t->cx = (hbm_pack_cx){
			.scratch = &t->arena,
			.max_steps = steps_of(d, t->task, p->in.n, round),
			.deadline = d->cx->deadline,
			.cancelled = not_needed,
			.user = t,
			.effort = d->cx->effort,
			.disabled = d->cx->disabled,
			.seed = t->task->seed + 16 * (uint64_t)round,
		};
		d->n_attempts++;
	}
}

/* Takes over what one part's attempts found, in order. */
static hbm_status merge(driver *d, part *p, attempt *first, uint32_t n)
{
	for (uint32_t k = 0; k < n && p->ans.extent > p->ans.goal; k++) {
		attempt *t = &first[k];

		if (!t->ran)
			continue;
		HBM_TRY(t->status);
		d->cx->steps += t->cx.steps;
		if (t->ans.lower_bound > p->ans.lower_bound)
			p->ans.lower_bound = t->ans.lower_bound;
		if (t->ans.extent >= p->ans.extent)
			continue;
		memcpy(p->ans.offset, t->ans.offset, p->in.n * sizeof *t->ans.offset);
		p->ans.extent = t->ans.extent;
		p->ans.by = t->ans.by;
	}
	return HBM_OK;
}

static bool needs_work(const part *p)
{
	return p->ans.extent > p->ans.goal && p->ans.extent > p->ans.lower_bound;
}

/* One stage of n parts, at the same time. */
static hbm_status run_stage(driver *d, part **ps, uint32_t n, uint32_t s, uint32_t round)
{
	atomic_uint *won = HBM_ARRAY(d->cx->scratch, atomic_uint, n);
	uint32_t *first = HBM_ARRAY(d->cx->scratch, uint32_t, (size_t)n + 1);
	hbm_status st = HBM_OK;

	d->attempts = HBM_ARRAY(d->cx->scratch, attempt, (size_t)n * MAX_TASKS);
	d->n_attempts = 0;
	HBM_NEED(won && first && d->attempts);
	for (uint32_t k = 0; k < n; k++) {
		atomic_init(&won[k], UINT32_MAX);
		first[k] = d->n_attempts;
		add_attempts(d, ps[k], &ps[k]->stages[s], round, &won[k]);
	}
	first[n] = d->n_attempts;
	hbm_parallel(d->threads, d->n_attempts, work, d->attempts);
	for (uint32_t k = 0; k < n && st == HBM_OK; k++)
		st = merge(d, ps[k], &d->attempts[first[k]], first[k + 1] - first[k]);
	for (uint32_t k = 0; k < d->n_attempts; k++)
		hbm_arena_fini(&d->attempts[k].arena);
	hbm_pack_poll(d->cx);
	return st;
}

/* ---- parts ---------------------------------------------------------------- */

/* Runs an allocator on all of `in` if it is made for such instances. Its memory is
 * given back. */
static hbm_status run_cheap(hbm_pack_cx *cx, const order *o, const hbm_inst *in,
                            hbm_answer *ans)
{
	const hbm_allocator *al = hbm_allocator_find(o->name);
	hbm_pack_cx sub = *cx;
	hbm_arena scratch;
	hbm_status st;

	if (in->n < o->least || in->features & ~al->can & ~(uint32_t)HBM_F_HINTS)
		return HBM_OK;
	hbm_arena_init(&scratch, &cx->scratch->mem);
	sub.scratch = &scratch;
	sub.poll_at = 0;
	if (o->steps && cx->max_steps - cx->steps > o->steps)
		sub.max_steps = cx->steps + o->steps;
	st = al->solve(&sub, in, ans);
	hbm_arena_fini(&scratch);
	cx->steps = sub.steps;
	cx->stopped = sub.stopped;
	return st;
}

static void choose_stages(part *p)
{
#define STAGES(list)                                                           \
	(p->stages = (list), p->n_stages = sizeof(list) / sizeof *(list))
	if (p->in.features & ~(uint32_t)(HBM_F_ALIGN | HBM_F_HINTS))
		STAGES(general_stages);
	else if (p->in.n <= HBM_CLIMB_MAX)
		STAGES(small_stages);
	else if (p->in.n <= EXACT_MAX)
		STAGES(middle_stages);
	else
		STAGES(large_stages);
#undef STAGES
}

static uint64_t top_of_part(const driver *d, const hbm_parts *ps, uint32_t k)
{
	uint64_t top = 0;

	for (uint32_t j = ps->first[k]; j < ps->first[k + 1]; j++) {
		uint32_t i = ps->items[j];
		uint64_t end = d->ans->offset[i] + d->in->size[i];

		top = end > top ? end : top;
	}
	return top;
}

static hbm_status make_part(driver *d, const hbm_parts *ps, uint32_t k, uint64_t top,
                            part *p)
{
	hbm_arena *a = d->cx->scratch;

	*p = (part){.in = *d->in, .ans = *d->ans};
	if (ps->n > 1) {
		HBM_TRY(hbm_part_cut(a, d->in, ps, k, &p->in));
		p->ids = ps->items + ps->first[k];
		p->ans.lower_bound = p->in.lower_bound;
	}
	p->ans.extent = top;
	p->ans.offset = HBM_ARRAY(a, uint64_t, p->in.n);
	HBM_NEED(p->ans.offset);
	for (uint32_t i = 0; i < p->in.n; i++)
		p->ans.offset[i] = d->ans->offset[p->ids ? p->ids[i] : i];
	choose_stages(p);
	return ps->n > 1 ? run_cheap(d->cx, &plain_orders[0], &p->in, &p->ans) : HBM_OK;
}

/* The parts above the goal, highest first. */
static hbm_status find_parts(driver *d, hbm_parts *ps)
{
	hbm_arena *a = d->cx->scratch;
	uint64_t *top;
	uint32_t *ids, n = 0;

	HBM_TRY(hbm_parts_find(a, d->in, ps));
	top = HBM_ARRAY(a, uint64_t, ps->n);
	ids = HBM_ARRAY(a, uint32_t, ps->n);
	HBM_NEED(top && ids);
	for (uint32_t k = 0; k < ps->n; k++) {
		top[k] = ~top_of_part(d, ps, k);
		if (~top[k] > d->ans->goal)
			ids[n++] = k;
	}
	HBM_TRY(hbm_sort_ids(a, ids, n, top));
	d->parts = HBM_ARRAY(a, part, (size_t)n + 1);
	HBM_NEED(d->parts);
	for (uint32_t k = 0; k < n; k++)
		HBM_TRY(make_part(d, ps, ids[k], ~top[ids[k]], &d->parts[k]));
	d->n_parts = n;
	return HBM_OK;
}

/* No part can help by being lower than one that cannot be improved. As long as
 * something is above the capacity, to fit is enough. */
static void set_goals(driver *d, uint32_t done)
{
	uint64_t goal = d->ans->goal;
	bool above = false;

	if (done && d->ans->enough > goal)
		goal = d->ans->enough;

	for (uint32_t k = 0; k < d->n_parts; k++) {
		const part *p = &d->parts[k];
		bool stuck = done >= p->n_stages || p->ans.extent <= p->ans.lower_bound;

		above |= p->ans.extent > d->capacity;
		if (stuck && p->ans.extent > goal)
			goal = p->ans.extent;
		if (p->ans.lower_bound > d->lower_bound)
			d->lower_bound = p->ans.lower_bound;
	}
	if (above && d->capacity > goal)
		goal = d->capacity;
	d->above = above;
	for (uint32_t k = 0; k < d->n_parts; k++)
		d->parts[k].ans.goal = goal;
}

/* Those that stage s can improve; none when it is clear that not all fit. */
static uint32_t list_todo(driver *d, uint32_t s, part **todo)
{
	uint32_t n = 0;

	if (d->lower_bound > d->capacity)
		return 0;
	for (uint32_t k = 0; k < d->n_parts; k++)
		if (needs_work(&d->parts[k]) && s < d->parts[k].n_stages)
			todo[n++] = &d->parts[k];
	return n;
}

/* A stage that made everything fit is run again for the smallest extent. */
static hbm_status run_stages(driver *d)
{
	part **todo = HBM_ARRAY(d->cx->scratch, part *, (size_t)d->n_parts + 1);
	uint32_t n, s = 0;

	HBM_NEED(todo);
	set_goals(d, 0);
	while ((n = list_todo(d, s, todo)) > 0 && !d->cx->stopped) {
		bool above = d->above;

		HBM_TRY(run_stage(d, todo, n, s, 0));
		set_goals(d, s + 1);
		if (above && !d->above)
			set_goals(d, s);
		else
			s++;
	}
	return HBM_OK;
}

/* With a deadline: the last stage again and again, with growing budgets. */
static hbm_status run_on(driver *d)
{
	for (uint32_t round = 1; d->cx->deadline > 0 && !d->cx->stopped; round++) {
		part *worst = NULL;

		for (uint32_t k = 0; k < d->n_parts; k++)
			if (!worst || d->parts[k].ans.extent > worst->ans.extent)
				worst = &d->parts[k];
		if (!worst)
			break;
		worst->ans.goal = d->ans->goal;
		if (!needs_work(worst))
			break;
		HBM_TRY(run_stage(d, &worst, 1, worst->n_stages - 1, round));
	}
	return HBM_OK;
}

/* ---- the whole ------------------------------------------------------------ */

static const order *choose_orders(const hbm_inst *in)
{
	uint64_t life = 0;

	if (in->features & ~(uint32_t)(HBM_F_ALIGN | HBM_F_HINTS))
		return general_orders;
	for (uint32_t i = 0; i < in->n; i++)
		life += in->end[i] - in->start[i];
	if (life / in->n <= SHORT_LIFE || hbm_inst_tight(in))
		return layers_orders;
	return plain_orders;
}

static hbm_status cheap(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	const order *o = choose_orders(in);

	for (; o->name && ans->extent > ans->goal && !cx->stopped; o++)
		HBM_TRY(run_cheap(cx, o, in, ans));
	return HBM_OK;
}

/* The parts' placements become the whole one. */
static void collect(driver *d)
{
	hbm_answer *ans = d->ans;
	const char *by = ans->by;
	uint64_t top = 0;

	for (uint32_t k = 0; k < d->n_parts; k++) {
		const part *p = &d->parts[k];

		for (uint32_t i = 0; i < p->in.n; i++)
			ans->offset[p->ids ? p->ids[i] : i] = p->ans.offset[i];
		if (p->ans.extent > top) {
			top = p->ans.extent;
			by = p->ans.by;
		}
	}
	ans->extent = hbm_inst_extent(d->in, ans->offset);
	ans->by = by;
	if (d->lower_bound > ans->lower_bound)
		ans->lower_bound = d->lower_bound;
}

hbm_status hbm_auto(hbm_pack_cx *cx, const hbm_inst *in, uint64_t capacity,
                    uint32_t threads, hbm_answer *ans)
{
	driver d = {.cx = cx, .in = in, .ans = ans, .capacity = capacity,
	            .threads = threads};
	hbm_parts ps;

	HBM_TRY(cheap(cx, in, ans));
	if (ans->extent <= ans->goal || ans->extent == HBM_NO_OFFSET || cx->stopped ||
	    cx->effort == 0)
		return HBM_OK;
	HBM_TRY(find_parts(&d, &ps));
	HBM_TRY(run_stages(&d));
	HBM_TRY(run_on(&d));
	set_goals(&d, UINT32_MAX);
	collect(&d);
	return HBM_OK;
}
