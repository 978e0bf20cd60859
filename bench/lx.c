/* SPDX-License-Identifier: Apache-2.0 */
/* lx: the scratchpad solvers on random problems of the published shape (12 ticks,
 * sizes up to 200, a quarter in-place children), beside the published annealing.
 *
 *     bench_lx [instances per cell, 5] [buffers, 0: 8 to 256] [align, 1]
 *
 * One line per number of buffers and capacity (three times the largest buffer, a
 * quarter, half of all bytes): saved bytes in percent of the bound, milliseconds of
 * CPU; how much faster than the annealing the default is; on how many instances it is
 * proven best, and on how many it saves less than the annealing. */
#include "lx_anneal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HORIZON = 12, MAX_SIZE = 200, MAX_N = 1024 };

typedef struct instance {
	hbm_lx_problem p;
	uint64_t size[MAX_N];
	uint32_t use_first[MAX_N + 1], uses[MAX_N * HORIZON];
	uint32_t parent_first[MAX_N + 1], parents[MAX_N];
	bool input[MAX_N];
} instance;

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state += 0x9e3779b97f4a7c15u;
	uint64_t z = state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) % n);
}

static void add_buffer(instance *x, uint32_t i)
{
	uint32_t start = below(HORIZON - 1), end, n_uses = x->use_first[i];
	uint32_t parent = HBM_NONE, size = 1 + below(MAX_SIZE);

	x->parent_first[i + 1] = x->parent_first[i];
	if (i && below(4) == 0) {
		uint32_t q = below(i), first = x->use_first[q], last = x->use_first[q + 1];
		if (last - first > 1 && x->uses[last - 1] < HORIZON - 1)
			parent = q;
	}
	if (parent != HBM_NONE) {
		start = x->uses[x->use_first[parent + 1] - 1];
		size = 1 + below((uint32_t)x->size[parent]);
		x->parents[x->parent_first[i + 1]++] = parent;
	}
	end = start + 1 + below(HORIZON - 1 - start);
	x->size[i] = size;
	x->uses[n_uses++] = start;
	for (uint32_t t = start + 1; t < end; t++)
		if (below(3) == 0)
			x->uses[n_uses++] = t;
	x->uses[n_uses++] = end;
	x->use_first[i + 1] = n_uses;
	x->input[i] = parent == HBM_NONE && below(8) == 0;
}

/* Capacity: 0: three times the largest, else the footprint divided by it. */
static void make(instance *x, uint32_t n, uint32_t seed, uint32_t divisor,
                 uint64_t align)
{
	uint64_t sum = 0, largest = 0;

	memset(x, 0, sizeof *x);
	state = (uint64_t)seed * 7919 + n;
	for (uint32_t i = 0; i < n; i++) {
		add_buffer(x, i);
		sum += x->size[i];
		largest = x->size[i] > largest ? x->size[i] : largest;
	}
	x->p = (hbm_lx_problem){
		.n = n, .size = x->size, .use_first = x->use_first, .uses = x->uses,
		.input = x->input, .parent_first = x->parent_first,
		.parents = x->parents, .align = align,
		.capacity = divisor ? sum / divisor : 3 * largest};
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static uint64_t run(const hbm_lx_problem *p, const char *solver, double *ms,
                    hbm_lx_layout *layout)
{
	hbm_lx_opts opts = {.solver = solver, .effort = 5};
	hbm_arena arena;
	double t = now();
	uint64_t saved;

	hbm_arena_init(&arena, NULL);
	if (hbm_lx_solve(&arena, p, &opts, NULL, layout) != HBM_OK)
		abort();
	saved = layout->saved;
	hbm_arena_fini(&arena);
	*ms += now() - t;
	return saved;
}

static void cell(instance *x, uint32_t n, uint32_t divisor, uint64_t align,
                 uint32_t n_instances)
{
	static const char *const solvers[] = {"greedy", "first-fit", "best-fit", "auto"};
	double ms[5] = {0}, share[5] = {0};
	uint32_t n_proven = 0, n_placed = 0, behind = 0;

	for (uint32_t seed = 0; seed < n_instances; seed++) {
		uint64_t *address, saved = 0, ours = 0;
		hbm_lx_layout layout;
		double got[5] = {0}, t;
		make(x, n, seed, divisor, align);
		for (uint32_t k = 0; k < 4; k++) {
			ours = run(&x->p, solvers[k], &ms[k], &layout);
			got[k] = (double)ours;
		}
		n_proven += layout.saved == layout.bound;
		n_placed += layout.n_placed;
		t = now();
		address = malloc(n * sizeof *address);
		saved = lx_anneal(&x->p, 0, address);
		ms[4] += now() - t;
		got[4] = (double)saved;
		behind += saved > ours;
		free(address);
		for (uint32_t k = 0; k < 5; k++)
			share[k] += 100 * got[k] / (double)layout.bound;
	}
	printf("%4u %-5s", n, divisor == 0 ? "3max" : divisor == 2 ? "f/2" : "f/4");
	for (uint32_t k = 0; k < 5; k++)
		printf(" %7.3f%% %8.2f", share[k] / n_instances, ms[k] / n_instances);
	printf(" %7.1fx  proven %u/%u placed %u behind %u\n", ms[4] / ms[3], n_proven,
	       n_instances, n_placed / n_instances, behind);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {8, 16, 32, 64, 128, 256}, divisors[] = {0, 4, 2};
	uint32_t n_instances = argc > 1 ? (uint32_t)atoi(argv[1]) : 5;
	uint32_t only = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
	uint64_t align = argc > 3 ? (uint64_t)atoi(argv[3]) : 1;
	instance *x = malloc(sizeof *x);

	if (!x || !n_instances || !align || only > MAX_N)
		return 2;
	printf("   n cap     greedy       ms first-fit       ms  best-fit       ms "
	       "     auto       ms    anneal       ms   faster\n");
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
		for (size_t c = 0; c < 3; c++)
			if (!only || only == sizes[k])
				cell(x, sizes[k], divisors[c], align, n_instances);
	free(x);
	return 0;
}
