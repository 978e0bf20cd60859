/* SPDX-License-Identifier: Apache-2.0
 * pool_solve: offsets in the pool of each bundle.
 *
 * `bump` is the seed's allocator to the letter. The default may do better and never
 * does worse: it is compared with `bump` in bytes pooled, then in extent, and the
 * better answer is kept. */
#include "base/parallel.h"
#include "pass/pool.h"

#include <string.h>

typedef struct solver {
	hbm_pass_cx *cx;
	hbm_diags *diags; /* NULL on other threads than the first */
	hbm_pool_job *job;
	hbm_arena *work;  /* emptied after each job */
	hbm_arena *keep;
	hbm_problem problem;
	uint32_t threads;
} solver;

static const hbm_storage *storage_at(const solver *s, uint32_t i)
{
	return &s->cx->an->storages.items[s->job->ids[i]];
}

static uint64_t capacity(const hbm_pass_cx *cx)
{
	if (cx->opts->pool_cap)
		return cx->opts->pool_cap;
	return hbm_target_num(cx->target, HBM_KEY_POOL_CAP, HBM_NO_OFFSET);
}

static hbm_status make_problem(solver *s)
{
	uint64_t granule = hbm_target_num(s->cx->target, HBM_KEY_HBM_GRANULE, 1);
	bool no_reuse = s->cx->opts->no_reuse, aligned = false, pinned = false;
	uint32_t n = s->job->n;
	uint64_t *size = HBM_ARRAY(s->work, uint64_t, n);
	uint64_t *align = HBM_ARRAY(s->work, uint64_t, n);
	uint64_t *pin = HBM_ARRAY(s->work, uint64_t, n);
	int64_t *start = HBM_ARRAY(s->work, int64_t, n);
	int64_t *end = HBM_ARRAY(s->work, int64_t, n);

	HBM_NEED(size && align && pin && start && end);
	for (uint32_t i = 0; i < n; i++) {
		const hbm_storage *x = storage_at(s, i);
		size[i] = x->reserve;
		align[i] = x->align;
		pin[i] = x->pin;
		start[i] = no_reuse ? 0 : x->start;
		end[i] = no_reuse ? 1 : x->end;
		/* Sizes that are multiples of the granule keep smaller alignments,
		 * but for what stands on a pin. */
		aligned |= granule % x->align != 0;
		pinned |= x->pin != HBM_NO_OFFSET;
	}
	s->problem = (hbm_problem){.n = n, .size = size, .start = start, .end = end,
	                           .align = aligned || pinned ? align : NULL,
	                           .pin = pinned ? pin : NULL,
	                           .capacity = capacity(s->cx)};
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

static hbm_status solve(const solver *s, hbm_placement *ret, uint64_t *ret_bump)
{
	const hbm_plan_opts *o = s->cx->opts;
	hbm_problem unpinned = s->problem;
	hbm_solve_opts so;
	hbm_placement bump;

	hbm_solve_defaults(&so);
	so.keep_going = true;
	so.allocator = "bump";
	unpinned.pin = NULL;
	HBM_TRY(hbm_solve(s->work, &unpinned, &so, s->diags, &bump));
	*ret_bump = bump.extent;
	so.allocator = o->allocator;
	so.effort = o->effort;
	so.threads = s->threads;
	so.deadline = o->deadline;
	HBM_TRY(hbm_solve(s->work, &s->problem, &so, s->diags, ret));
	if (!o->allocator && !s->problem.pin && worse(&s->problem, ret, &bump))
		*ret = bump;
	return HBM_OK;
}

/* Lower bound of what was placed; without reuse, of what reuse would make of it. */
static hbm_status placed_bound(const solver *s, const hbm_placement *pl, uint64_t *ret)
{
	hbm_problem sub = s->problem;
	uint64_t *size;
	int64_t *start, *end, tick;

	*ret = pl->lower_bound;
	if (pl->n_placed == sub.n && !s->cx->opts->no_reuse)
		return HBM_OK;
	HBM_NEED(size = HBM_ARRAY(s->work, uint64_t, sub.n));
	HBM_NEED(start = HBM_ARRAY(s->work, int64_t, sub.n));
	HBM_NEED(end = HBM_ARRAY(s->work, int64_t, sub.n));
	for (uint32_t i = 0; i < sub.n; i++) {
		size[i] = pl->offset[i] == HBM_NO_OFFSET ? 0 : sub.size[i];
		start[i] = storage_at(s, i)->start;
		end[i] = storage_at(s, i)->end;
	}
	sub.size = size;
	sub.start = start;
	sub.end = end;
	return hbm_lower_bound(s->work, &sub, ret, &tick);
}

static hbm_status fill_job(solver *s)
{
	hbm_pool_job *job = s->job;
	hbm_placement pl;

	HBM_TRY(make_problem(s));
	HBM_TRY(solve(s, &pl, &job->bump));
	HBM_TRY(placed_bound(s, &pl, &job->lower_bound));
	HBM_NEED(job->offset = HBM_ARRAY(s->keep, uint64_t, job->n));
	memcpy(job->offset, pl.offset, job->n * sizeof *job->offset);
	job->capacity = s->problem.capacity;
	job->extent = pl.extent;
	job->no_reuse = placed_bytes(&s->problem, &pl);
	job->n_placed = pl.n_placed;
	job->outcome = job->extent == job->lower_bound           ? HBM_OPTIMAL
	               : s->cx->opts->no_reuse && pl.outcome == HBM_OPTIMAL ? HBM_FEASIBLE
	                                                         : pl.outcome;
	job->allocator = pl.allocator;
	return HBM_OK;
}

typedef struct crew {
	hbm_pass_cx *cx;
	hbm_pool_job *jobs;
	hbm_arena *keep; /* one for each worker */
	uint32_t threads_within;
} crew;

static void run_job(crew *c, uint32_t i, uint32_t worker, hbm_diags *diags)
{
	hbm_arena work;
	solver s = {.cx = c->cx, .diags = diags, .job = &c->jobs[i], .work = &work,
	            .keep = &c->keep[worker], .threads = c->threads_within};

	hbm_arena_init(&work, &c->cx->keep->mem);
	c->jobs[i].status = fill_job(&s);
	hbm_arena_fini(&work);
}

static void quiet_job(void *user, uint32_t i, uint32_t worker)
{
	run_job(user, i + 1, worker, NULL);
}

/* The first bundle alone, with messages: an option that is wrong is wrong there. */
hbm_status hbm_pool_solve(hbm_pass_cx *cx, hbm_pool_job *jobs, uint32_t n,
                          hbm_pool_arenas *arenas)
{
	uint32_t threads = cx->opts->threads ? cx->opts->threads : 1;
	crew c = {.cx = cx, .jobs = jobs, .threads_within = threads};

	arenas->n = threads < HBM_MAX_THREADS ? threads : HBM_MAX_THREADS;
	HBM_NEED(arenas->items = HBM_ARRAY(cx->scratch, hbm_arena, arenas->n));
	for (uint32_t i = 0; i < arenas->n; i++)
		hbm_arena_init(&arenas->items[i], &cx->keep->mem);
	c.keep = arenas->items;
	if (!n)
		return HBM_OK;
	run_job(&c, 0, 0, cx->diags);
	if (jobs[0].status != HBM_OK)
		return jobs[0].status;
	c.threads_within = n > threads ? 1 : threads;
	hbm_parallel(arenas->n, n - 1, quiet_job, &c);
	for (uint32_t i = 1; i < n; i++)
		HBM_TRY(jobs[i].status);
	return HBM_OK;
}

void hbm_pool_release(hbm_pool_arenas *arenas)
{
	for (uint32_t i = 0; arenas->items && i < arenas->n; i++)
		hbm_arena_fini(&arenas->items[i]);
}
