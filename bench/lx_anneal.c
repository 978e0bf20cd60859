/* SPDX-License-Identifier: Apache-2.0 */
/* lx_anneal: the published simulated annealing for scratchpad planning.
 *
 * State     an order of the buffers. In that order each goes to the top of the
 *           earlier ones it meets in time, or to the base of an in-place partner
 *           when all others below are clear of it; one that passes the capacity,
 *           or meets an evicted one, is evicted.
 * Move      take one buffer, try every place in the order, accept the best place
 *           that is better or passes the test exp(change / temperature).
 * Schedule  min(5000, max(500, 30 n)) steps in four cycles, cooled between the
 *           temperatures that accept a mean change with 0.8 and with 0.01.
 * Source    description of torch-spyre's solver; the packing is recomputed whole
 *           for each probe, as its native packer does. */
#include "lx_anneal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLES = 4, MAX_TICKS = 4096 };

typedef struct sa {
	const hbm_lx_problem *p;
	uint32_t n;
	uint32_t *start, *end;
	double *weight; /* of the quality: uses and half a write, times size */
	uint32_t *order, *probe, *best;
	uint32_t *kin_first, *kin; /* in-place partners, parents and children */
	uint32_t *rank;            /* place in the order */
	uint64_t *address;
	uint32_t n_placed;
	uint64_t seed;
	double *score;
	uint32_t *position;
} sa;

static double uniform(sa *s)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return (double)(s->seed >> 11) / 9007199254740992.0;
}

static uint64_t align_up(const sa *s, uint64_t x)
{
	return (x + s->p->align - 1) / s->p->align * s->p->align;
}

static bool meet(const sa *s, uint32_t a, uint32_t b)
{
	return s->start[a] < s->end[b] && s->start[b] < s->end[a];
}

/* Do all that come before place k in the order and meet its buffer, but for q, end at
 * or below the base of q? */
static bool clear_above(const sa *s, const uint32_t *order, uint32_t k, uint32_t q)
{
	for (uint32_t m = 0; m < k; m++) {
		uint32_t o = order[m];
		if (o != q && meet(s, o, order[k]) &&
		    s->address[o] + s->p->size[o] > s->address[q])
			return false;
	}
	return true;
}

/* Base of the first in-place partner, in the order, that the buffer may share, else
 * HBM_NO_OFFSET. */
static uint64_t shared_base(const sa *s, const uint32_t *order, uint32_t k)
{
	uint32_t i = order[k], best = HBM_NONE;

	for (uint32_t j = s->kin_first[i]; j < s->kin_first[i + 1]; j++) {
		uint32_t q = s->kin[j];
		if (s->rank[q] < k && meet(s, i, q) &&
		    (best == HBM_NONE || s->rank[q] < s->rank[best]) &&
		    clear_above(s, order, k, q))
			best = q;
	}
	return best == HBM_NONE ? HBM_NO_OFFSET : s->address[best];
}

static double pack(sa *s, const uint32_t *order, uint32_t *ret_last)
{
	static uint64_t top[MAX_TICKS];
	static bool gone[MAX_TICKS];
	const hbm_lx_problem *p = s->p;
	double quality = 0;

	memset(top, 0, sizeof top);
	memset(gone, 0, sizeof gone);
	s->n_placed = 0;
	*ret_last = 0;
	for (uint32_t k = 0; k < s->n; k++)
		s->rank[order[k]] = k;
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = order[k];
		uint64_t at = 0, shared = HBM_NO_OFFSET;
		bool evict = p->barred && p->barred[i];
		for (uint32_t t = s->start[i]; t < s->end[i]; t++) {
			evict |= gone[t];
			at = at < top[t] ? top[t] : at;
		}
		if (!evict && at)
			shared = shared_base(s, order, k);
		at = shared != HBM_NO_OFFSET ? shared : align_up(s, at);
		evict |= at + p->size[i] > p->capacity;
		s->address[i] = evict ? HBM_NO_OFFSET : at;
		for (uint32_t t = s->start[i]; t < s->end[i]; t++) {
			gone[t] |= evict;
			if (!evict && top[t] < at + p->size[i])
				top[t] = at + p->size[i];
		}
		if (evict)
			continue;
		quality += s->weight[i];
		s->n_placed++;
		*ret_last = k;
	}
	return quality;
}

static void move(uint32_t *order, uint32_t from, uint32_t to)
{
	uint32_t x = order[from];

	if (from < to)
		memmove(&order[from], &order[from + 1], (to - from) * sizeof x);
	else
		memmove(&order[to + 1], &order[to], (from - to) * sizeof x);
	order[to] = x;
}

/* Neighbours that never meet: the lower top comes first. */
static void settle(sa *s)
{
	for (bool again = true; again;) {
		again = false;
		for (uint32_t k = 0; k + 1 < s->n; k++) {
			uint32_t a = s->order[k], b = s->order[k + 1];
			if (meet(s, a, b) || s->address[b] == HBM_NO_OFFSET)
				continue;
			if (s->address[a] != HBM_NO_OFFSET &&
			    s->address[a] + s->p->size[a] <= s->address[b] + s->p->size[b])
				continue;
			s->order[k] = b;
			s->order[k + 1] = a;
			again = true;
		}
	}
}

static uint32_t pick(sa *s)
{
	double placed = (double)s->n, not = (double)s->n_placed + 1, sum = 0, x;

	for (uint32_t k = 0; k < s->n; k++)
		sum += s->address[s->order[k]] != HBM_NO_OFFSET ? placed : not;
	x = uniform(s) * sum;
	for (uint32_t k = 0; k < s->n; k++) {
		x -= s->address[s->order[k]] != HBM_NO_OFFSET ? placed : not;
		if (x < 0)
			return k;
	}
	return s->n - 1;
}

static double *scores;

static int by_score(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (scores[x] != scores[y])
		return scores[x] > scores[y] ? -1 : 1;
	return (x > y) - (x < y);
}

/* One step from quality `now`; returns the new quality. *ret_mean: mean absolute
 * change over the probes that changed anything, 0: none did. */
static double step(sa *s, double now, double temperature, double *ret_mean)
{
	uint32_t last, from, limit, n_changed = 0;
	double sum = 0;

	pack(s, s->order, &last);
	from = pick(s);
	limit = s->n;
	if (s->address[s->order[from]] == HBM_NO_OFFSET && last + 2 < s->n)
		limit = last + 2;
	for (uint32_t to = 0; to < limit; to++) {
		uint32_t unused;
		memcpy(s->probe, s->order, s->n * sizeof *s->probe);
		move(s->probe, from, to);
		s->score[to] = pack(s, s->probe, &unused);
		s->position[to] = to;
		if (s->score[to] != now) {
			sum += fabs(s->score[to] - now);
			n_changed++;
		}
	}
	*ret_mean = n_changed ? sum / n_changed : 0;
	scores = s->score;
	qsort(s->position, limit, sizeof *s->position, by_score);
	for (uint32_t k = 0; k < limit; k++) {
		uint32_t to = s->position[k];
		double change = s->score[to] - now;
		if (to == from)
			continue;
		if (change > 0 || uniform(s) < exp(change / temperature)) {
			move(s->order, from, to);
			now = pack(s, s->order, &last);
			settle(s);
			return pack(s, s->order, &last);
		}
	}
	return now;
}

static double peak_load(const sa *s)
{
	double peak = 0;

	for (uint32_t t = 0; t < MAX_TICKS; t++) {
		double load = 0;
		for (uint32_t i = 0; i < s->n; i++)
			if (s->start[i] <= t && t < s->end[i])
				load += (double)s->p->size[i];
		peak = load > peak ? load : peak;
	}
	return peak;
}

static void anneal(sa *s, uint32_t steps)
{
	const double a = -log(0.8), b = -log(0.01), delta = sqrt(b / a);
	double cycle = (double)steps / CYCLES, ema = 0, now, top;
	double temperature = peak_load(s) / 300 / delta * delta;
	double rate = fmin(1, 2 / cycle), factor = pow(delta, -2 / cycle);
	uint32_t last, n_samples = 0, first = (uint32_t)fmax(1, fmin(cycle / 4, 20));

	top = now = pack(s, s->order, &last);
	memcpy(s->best, s->order, s->n * sizeof *s->best);
	for (uint32_t k = 0; k < steps && s->n_placed < s->n; k++) {
		double mean;
		now = step(s, now, temperature, &mean);
		if (mean > 0) {
			ema = n_samples ? ema + rate * (mean - ema) : mean;
			n_samples++;
		}
		temperature *= factor;
		if (n_samples == first || (n_samples > first && fmod(k, cycle) < 1))
			temperature = ema / sqrt(a * b) * delta;
		if (n_samples == first)
			n_samples++;
		if (now > top) {
			top = now;
			memcpy(s->best, s->order, s->n * sizeof *s->best);
		}
		pack(s, s->order, &last);
	}
	pack(s, s->best, &last);
}

static void *take(size_t n, size_t size)
{
	void *x = calloc(n ? n : 1, size);

	if (!x)
		abort();
	return x;
}

typedef struct seat {
	uint64_t address;
	uint32_t who;
} seat;

static int by_address(const void *a, const void *b)
{
	const seat *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static void first_order(sa *s)
{
	seat *seats = take(s->n, sizeof *seats);
	hbm_lx_opts opts = {.solver = "first-fit", .effort = 5};
	hbm_lx_layout layout;
	hbm_arena arena;

	hbm_arena_init(&arena, NULL);
	if (hbm_lx_solve(&arena, s->p, &opts, NULL, &layout) != HBM_OK)
		abort();
	for (uint32_t i = 0; i < s->n; i++)
		seats[i] = (seat){layout.address[i], i};
	qsort(seats, s->n, sizeof *seats, by_address);
	for (uint32_t i = 0; i < s->n; i++)
		s->order[i] = seats[i].who;
	hbm_arena_fini(&arena);
	free(seats);
}

static void find_kin(sa *s)
{
	const hbm_lx_problem *p = s->p;
	uint32_t n = s->n, *fill = take(n + 1, sizeof *fill);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = p->parent_first[i]; k < p->parent_first[i + 1]; k++) {
			s->kin_first[i + 1]++;
			s->kin_first[p->parents[k] + 1]++;
		}
	for (uint32_t i = 0; i < n; i++)
		s->kin_first[i + 1] += s->kin_first[i];
	memcpy(fill, s->kin_first, (n + 1) * sizeof *fill);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = p->parent_first[i]; k < p->parent_first[i + 1]; k++) {
			s->kin[fill[i]++] = p->parents[k];
			s->kin[fill[p->parents[k]]++] = i;
		}
	free(fill);
}

uint64_t lx_anneal(const hbm_lx_problem *p, uint32_t steps, uint64_t *address)
{
	uint32_t n = p->n;
	sa s = {.p = p, .n = n, .seed = 0x9e3779b97f4a7c15u, .address = address};
	uint64_t saved = 0;

	if (!steps)
		steps = 30 * n < 500 ? 500 : 30 * n > 5000 ? 5000 : 30 * n;
	s.start = take(n, sizeof *s.start);
	s.end = take(n, sizeof *s.end);
	s.weight = take(n, sizeof *s.weight);
	s.order = take(n, sizeof *s.order);
	s.probe = take(n, sizeof *s.probe);
	s.best = take(n, sizeof *s.best);
	s.score = take(n, sizeof *s.score);
	s.position = take(n, sizeof *s.position);
	s.rank = take(n, sizeof *s.rank);
	s.kin_first = take(n + 1, sizeof *s.kin_first);
	s.kin = take(2 * p->parent_first[n], sizeof *s.kin);
	find_kin(&s);
	for (uint32_t i = 0; i < n; i++) {
		double uses = (double)(p->use_first[i + 1] - p->use_first[i]);
		s.start[i] = hbm_lx_start(p, i);
		s.end[i] = hbm_lx_end(p, i);
		if (s.end[i] > MAX_TICKS)
			abort();
		s.weight[i] = (uses + (p->input && p->input[i] ? 0 : 0.5)) *
		              (double)p->size[i];
	}
	first_order(&s);
	anneal(&s, steps);
	for (uint32_t i = 0; i < n; i++)
		if (address[i] != HBM_NO_OFFSET)
			saved += hbm_lx_value(p, i);
	free(s.start);
	free(s.end);
	free(s.weight);
	free(s.order);
	free(s.probe);
	free(s.best);
	free(s.score);
	free(s.position);
	free(s.rank);
	free(s.kin_first);
	free(s.kin);
	return saved;
}
