/* SPDX-License-Identifier: Apache-2.0
 * Small problems, as a compiler's inner loop asks them: for each family and size
 * the median and the worst time of many problems, and how many were solved to
 * proven optimality.
 *
 *     bench_tiny [PROBLEMS] */
#include "gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROW_SECONDS 1e-4
enum { ROW = 32 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double row_time(const hbm_problem *p, hbm_arena *a, int solves, bool *ret_optimal)
{
	hbm_placement out;
	double t = now();

	for (int k = 0; k < solves; k++) {
		if (hbm_solve(a, p, NULL, NULL, &out) != HBM_OK)
			exit(70);
		*ret_optimal = out.outcome == HBM_OPTIMAL;
		hbm_arena_fini(a);
	}
	return (now() - t) / solves;
}

/* Seconds of one solve. To read the clock takes as long as a small one, and the
 * first pays for cold caches: so the best of three rows. */
static double solve_time(const hbm_problem *p, hbm_arena *a, bool *ret_optimal)
{
	double best = row_time(p, a, 1, ret_optimal);
	int solves = best < ROW_SECONDS ? ROW : 1;

	for (int k = 0; k < 3; k++) {
		double t = row_time(p, a, solves, ret_optimal);

		best = t < best ? t : best;
	}
	return best;
}

static void measure(const char *family, uint32_t n, uint32_t rounds)
{
	double *times = calloc(rounds, sizeof *times);
	uint32_t n_optimal = 0;
	hbm_arena a;

	hbm_arena_init(&a, NULL);
	for (uint32_t r = 0; r < rounds; r++) {
		instance in;
		bool optimal;

		if (!instance_make(family, n, r + 1, &in))
			exit(2);
		times[r] = solve_time(&in.p, &a, &optimal);
		n_optimal += optimal;
		instance_free(&in);
	}
	qsort(times, rounds, sizeof *times, by_value);
	printf("%s,%u,%u,%u,%.2f,%.2f,%.2f\n", family, n, rounds, n_optimal,
	       times[rounds / 2] * 1e6, times[rounds * 99 / 100] * 1e6,
	       times[rounds - 1] * 1e6);
	free(times);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {10, 16, 30, 60, 100};
	uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 200;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("family,buffers,problems,optimal,median_us,p99_us,worst_us\n");
	for (uint32_t f = 0; instance_families[f]; f++)
		for (uint32_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
			measure(instance_families[f], sizes[k], rounds);
	return 0;
}
