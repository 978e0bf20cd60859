/* SPDX-License-Identifier: Apache-2.0
 * Measures allocators:
 *
 *     bench_pack [-a NAME]... [-e EFFORT] [-t THREADS] [-c CAPACITY]
 *                [-r REPEATS] [-s SECONDS] [-1] FILE.csv | FAMILY:N[:SEED] ...
 *
 * One line for each instance and allocator: name, buffers, lower bound, extent,
 * ratio, outcome, winner, steps, seconds of CPU, peak memory of the process in KiB.
 * Every placement is checked. -1: only the first, in this process, for profilers. */
#include "gen.h"
#include "support/pack_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct options {
	const char *allocators[32];
	uint32_t n_allocators, repeats;
	uint64_t capacity;
	bool enough, here;
	hbm_solve_opts solve;
} options;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long memory(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool load(const char *what, instance *ret)
{
	const char *colon = strchr(what, ':');
	char family[32], *end;
	uint32_t n;

	if (!colon)
		return instance_read(what, ret);
	snprintf(family, sizeof family, "%.*s", (int)(colon - what), what);
	n = (uint32_t)strtoul(colon + 1, &end, 10);
	return instance_make(family, n, *end ? strtoull(end + 1, NULL, 10) : 1, ret);
}

static bool measure(const char *what, const instance *in, const char *name,
                    const options *o)
{
	hbm_solve_opts opts = o->solve;
	hbm_problem p = in->p;
	hbm_placement out;
	const char *wrong;
	double best = 1e30;
	hbm_arena a;

	p.capacity = o->capacity;
	opts.allocator = name;
	if (o->enough)
		opts.enough = p.capacity;
	hbm_arena_init(&a, NULL);
	for (uint32_t r = 0; r < o->repeats; r++) {
		double t = now();
		hbm_status st;

		hbm_arena_fini(&a);
		st = hbm_solve(&a, &p, &opts, NULL, &out);
		t = now() - t;
		if (st != HBM_OK) {
			printf("%s,%s: %s\n", what, name, hbm_status_text(st));
			hbm_arena_fini(&a);
			return false;
		}
		best = t < best ? t : best;
	}
	printf("%s,%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%.6f,%s,%s,%" PRIu64
	       ",%.6f,%ld",
	       base_name(what), name ? name : "auto", p.n, out.lower_bound, out.extent,
	       out.lower_bound ? (double)out.extent / (double)out.lower_bound : 1.0,
	       hbm_outcome_name(out.outcome), out.allocator, out.steps, best, memory());
	wrong = pack_check(&p, &out, false);
	printf("%s%s\n", wrong ? ",WRONG: " : "", wrong ? wrong : "");
	fflush(stdout);
	hbm_arena_fini(&a);
	return !wrong;
}

/* In a process of its own, so that its peak memory is its own. */
static bool measure_apart(const char *what, const char *name, const options *o)
{
	pid_t pid = o->here ? 0 : fork();
	int status = 0;

	if (pid == 0) {
		instance in;
		bool ok = load(what, &in);

		if (!ok)
			printf("%s: cannot be read\n", what);
		else
			ok = measure(what, &in, name, o);
		fflush(stdout);
		_exit(ok ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

int main(int argc, char **argv)
{
	options o = {.repeats = 1, .capacity = HBM_NO_OFFSET};
	bool ok = true;
	int c;

	hbm_solve_defaults(&o.solve);
	while ((c = getopt(argc, argv, "1a:e:t:c:C:r:s:")) != -1) {
		if (c == 'a' && o.n_allocators < 32)
			o.allocators[o.n_allocators++] = optarg;
		else if (c == 'e')
			o.solve.effort = (uint32_t)atoi(optarg);
		else if (c == 't')
			o.solve.threads = (uint32_t)atoi(optarg);
		else if (c == 'c' || c == 'C')
			o.capacity = strtoull(optarg, NULL, 10), o.enough |= c == 'c';
		else if (c == 'r')
			o.repeats = (uint32_t)atoi(optarg);
		else if (c == '1')
			o.here = true;
		else if (c == 's')
			o.solve.deadline = atof(optarg);
		else
			return 2;
	}
	if (o.n_allocators == 0)
		o.allocators[o.n_allocators++] = NULL;
	for (int i = optind; i < argc; i++)
		for (uint32_t k = 0; k < o.n_allocators; k++)
			ok &= measure_apart(argv[i], o.allocators[k], &o);
	return ok ? 0 : 1;
}
