/* SPDX-License-Identifier: Apache-2.0
 * program: time and memory of reading, planning, checking and writing one large
 * program. Usage: bench_program [TENSORS [BUNDLES [THREADS]]], default 1,000,000 in
 * 10,000. Each bundle is a chain of ops with some long reads back. */
#include "hbmplan/hbmplan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct text {
	char *s;
	size_t n, cap;
} text;

static void add(text *t, const char *fmt, ...)
{
	va_list ap;

	if (t->cap - t->n < 256) {
		t->cap = t->cap * 2 + 4096;
		t->s = realloc(t->s, t->cap);
		if (!t->s)
			exit(70);
	}
	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->s + t->n, t->cap - t->n, fmt, ap);
	va_end(ap);
}

static uint32_t random_below(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % n);
}

static text make_program(uint32_t tensors, uint32_t bundles)
{
	static const uint32_t back[] = {1, 1, 1, 2, 5, 20};
	uint32_t per = tensors / bundles;
	uint64_t state = 1;
	text t = {0};

	add(&t, "output y : 128 bytes\n");
	for (uint32_t k = 0; k < bundles; k++)
		for (uint32_t i = 0; i < per; i++)
			add(&t, "tensor t%u_%u : %u bytes\n", k, i,
			    1024 * (1 + random_below(&state, 100)));
	for (uint32_t k = 0; k < bundles; k++) {
		add(&t, "bundle k%u {\n  op () -> t%u_0\n", k, k);
		for (uint32_t i = 1; i < per; i++) {
			uint32_t step = back[random_below(&state, 6)];
			uint32_t from = step < i ? i - step : 0;
			if (from == i - 1)
				add(&t, "  op (t%u_%u) -> t%u_%u\n", k, i - 1, k, i);
			else
				add(&t, "  op (t%u_%u, t%u_%u) -> t%u_%u\n", k, i - 1, k, from,
				    k, i);
		}
		add(&t, "  op (t%u_%u) -> y\n}\n", k, per - 1);
	}
	return t;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long megabytes(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

static bool count(void *user, const void *bytes, size_t n)
{
	(void)bytes;
	*(uint64_t *)user += n;
	return true;
}

static void phase(const char *name, double *since)
{
	double t = now();

	printf("%-22s %8.3f s  %6ld MiB at most\n", name, t - *since, megabytes());
	*since = now();
}

static int fail(hbm_context *cx)
{
	for (uint32_t i = 0; i < hbm_context_n_diagnostics(cx); i++)
		fprintf(stderr, "%s\n", hbm_context_diagnostic(cx, i).text);
	return 70;
}

int main(int argc, char **argv)
{
	uint32_t tensors = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000000;
	uint32_t bundles = argc > 2 ? (uint32_t)atoi(argv[2]) : (tensors + 99) / 100;
	hbm_context *cx;
	hbm_input *in;
	hbm_planned *p;
	hbm_plan_opts opts;
	uint64_t written = 0;
	double t = now();
	text source = make_program(tensors, bundles);

	hbm_plan_defaults(&opts);
	opts.threads = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
	opts.passes = "hbm-pool";
	printf("%u tensors in %u bundles, %zu bytes of text\n", tensors, bundles, source.n);
	phase("make the text", &t);
	if (hbm_context_new(NULL, &cx) != HBM_OK)
		return 70;
	if (hbm_input_parse(cx, "bench", source.s, source.n, NULL, &in) != HBM_OK)
		return fail(cx);
	phase("read", &t);
	if (hbm_planned_make(cx, in, "spyre", &opts, &p) != HBM_OK)
		return fail(cx);
	phase("plan and check", &t);
	if (hbm_planned_write(cx, p, "json", count, &written) != HBM_OK)
		return fail(cx);
	phase("write JSON", &t);
	printf("%" PRIu64 " bytes of JSON, %" PRIu64 " bytes of HBM\n", written,
	       hbm_planned_total(p));
	hbm_planned_free(p);
	hbm_input_free(in);
	hbm_context_free(cx);
	free(source.s);
	return 0;
}
