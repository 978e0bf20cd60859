/* SPDX-License-Identifier: Apache-2.0
 * Random packing problems. Pins are drawn so that they seldom contradict each
 * other; sets and groups are small. */
#include "support/gen_problem.h"

#include <string.h>

uint64_t problem_next(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t problem_below(uint64_t *seed, uint64_t n)
{
	return problem_next(seed) % n;
}

static bool chance(uint64_t *seed, uint64_t one_in)
{
	return problem_below(seed, one_in) == 0;
}

static void add_gaps(gen_problem *g, uint64_t *seed, uint32_t i, uint32_t *n)
{
	int64_t now = g->start[i], end = g->end[i];

	g->gap_first[i] = *n;
	for (uint32_t k = 0; k < 2 && end - now >= 3 && chance(seed, 2); k++) {
		hbm_gap *x = &g->gaps[(*n)++];
		uint64_t lo = problem_below(seed, g->size[i] + 1);
		int64_t at = now + 1 + (int64_t)problem_below(seed, (uint64_t)(end - now - 2));

		x->start = at;
		x->end = at + 1 + (int64_t)problem_below(seed, (uint64_t)(end - at - 1));
		x->lo = lo;
		x->hi = chance(seed, 2) ? lo : lo + problem_below(seed, g->size[i] - lo + 1);
		now = x->end;
	}
	g->gap_first[i + 1] = *n;
}

static void add_one(gen_problem *g, uint64_t *seed, uint32_t i, uint64_t max_size,
                    int64_t max_time, uint32_t features)
{
	uint64_t span = (uint64_t)max_time;

	g->size[i] = 1 + problem_below(seed, max_size);
	g->start[i] = (int64_t)problem_below(seed, span) - max_time / 2;
	g->end[i] = g->start[i] + 1 + (int64_t)problem_below(seed, 1 + problem_below(seed, span));
	if (features & GEN_EMPTY && chance(seed, 8))
		g->size[i] = 0;
	if (features & GEN_EMPTY && chance(seed, 8))
		g->end[i] = g->start[i];
	g->align[i] = chance(seed, 2) ? 1 : 1 + problem_below(seed, 4);
	g->pin[i] = g->hint[i] = HBM_NO_OFFSET;
	if (chance(seed, 6))
		g->pin[i] = problem_below(seed, 3 * max_size) * g->align[i];
	if (features & GEN_ALIGN)
		;
	else if (g->pin[i] != HBM_NO_OFFSET)
		g->pin[i] /= g->align[i];
	if (chance(seed, 3))
		g->hint[i] = problem_below(seed, 3 * max_size);
	g->set[i] = g->group[i] = HBM_NONE;
	g->shift[i] = 0;
	if (chance(seed, 3)) {
		g->set[i] = (uint32_t)problem_below(seed, 3);
		g->shift[i] = problem_below(seed, max_size + 1);
	}
	if (chance(seed, 3))
		g->group[i] = (uint32_t)problem_below(seed, 3);
}

void gen_make(gen_problem *g, uint64_t *seed, uint32_t n, uint64_t max_size,
              int64_t max_time, uint32_t features)
{
	uint32_t n_gaps = 0;

	memset(g, 0, sizeof *g);
	for (uint32_t i = 0; i < n; i++) {
		add_one(g, seed, i, max_size, max_time, features);
		if (g->set[i] != HBM_NONE && features & GEN_SETS)
			g->pin[i] = HBM_NO_OFFSET, g->align[i] = 1;
		add_gaps(g, seed, i, &n_gaps);
	}
	g->p = (hbm_problem){.n = n, .size = g->size, .start = g->start, .end = g->end,
	                     .capacity = HBM_NO_OFFSET};
	g->p.align = features & GEN_ALIGN ? g->align : NULL;
	g->p.pin = features & GEN_PINS ? g->pin : NULL;
	g->p.hint = features & GEN_HINTS ? g->hint : NULL;
	g->p.gaps = features & GEN_GAPS ? g->gaps : NULL;
	g->p.gap_first = features & GEN_GAPS ? g->gap_first : NULL;
	g->p.set = features & GEN_SETS ? g->set : NULL;
	g->p.shift = features & GEN_SETS ? g->shift : NULL;
	g->p.group = features & GEN_GROUPS ? g->group : NULL;
}

/* An optional array of the copy, where the original has one. */
#define POINT(ret, g, field) ((ret)->p.field = (g)->p.field ? (ret)->field : NULL)

static void point(gen_problem *ret, const gen_problem *g)
{
	ret->p = g->p;
	ret->p.size = ret->size;
	ret->p.start = ret->start;
	ret->p.end = ret->end;
	POINT(ret, g, align);
	POINT(ret, g, pin);
	POINT(ret, g, hint);
	POINT(ret, g, gaps);
	POINT(ret, g, gap_first);
	POINT(ret, g, set);
	POINT(ret, g, shift);
	POINT(ret, g, group);
}

void gen_shuffle(const gen_problem *g, uint64_t *seed, gen_problem *ret, uint32_t *to)
{
	uint32_t from[GEN_MAX], n = g->p.n, n_gaps = 0;

	for (uint32_t i = 0; i < n; i++)
		from[i] = i;
	for (uint32_t i = n; i-- > 1;) {
		uint32_t j = (uint32_t)problem_below(seed, i + 1), swap = from[i];

		from[i] = from[j];
		from[j] = swap;
	}
	point(ret, g);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = from[i];

		to[k] = i;
		ret->size[i] = g->size[k];
		ret->align[i] = g->align[k];
		ret->pin[i] = g->pin[k];
		ret->hint[i] = g->hint[k];
		ret->shift[i] = g->shift[k];
		ret->start[i] = g->start[k];
		ret->end[i] = g->end[k];
		ret->set[i] = g->set[k];
		ret->group[i] = g->group[k];
		ret->gap_first[i] = n_gaps;
		for (uint32_t j = g->gap_first[k]; j < g->gap_first[k + 1]; j++)
			ret->gaps[n_gaps++] = g->gaps[j];
		ret->gap_first[i + 1] = n_gaps;
	}
}
