/* SPDX-License-Identifier: Apache-2.0
 * hlo: how fast an HLO module is read, and what planning it for a Neuron core costs,
 * in processor time.
 * Usage: bench_hlo FILE [TARGET]. bench/run_hlo makes a module and runs this. */
#include "hbmplan/hbmplan.h"

#include "base/file.h"
#include "import/hlo.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(const hbm_diags *d)
{
	for (uint32_t i = 0; i < d->list.n; i++)
		fprintf(stderr, "%s\n", d->list.items[i].text);
	return 70;
}

/* Best of five readings of the text alone. */
static int parse(const hbm_bytes *b, uint32_t *ret_instrs)
{
	double best = 1e9;

	for (int i = 0; i < 5; i++) {
		hbm_arena a;
		hbm_diags d;
		hbm_syms syms;
		hlo_module m;
		double t = now();
		hbm_arena_init(&a, NULL);
		hbm_diags_init(&d, &a);
		if (hbm_syms_init(&syms, &a) != HBM_OK)
			return 70;
		hlo_module_init(&m, &a, &d, &syms, "bench");
		if (hlo_read_text(&m, b->data, b->n) != HBM_OK)
			return fail(&d);
		t = now() - t;
		best = t < best ? t : best;
		*ret_instrs = m.instrs.n;
		hbm_arena_fini(&a);
	}
	printf("%-24s %8.3f s  %u instructions, %.1f MB/s\n", "parse", best, *ret_instrs,
	       (double)b->n / best / 1e6);
	return 0;
}

static int plan(const char *path, const char *target)
{
	hbm_context *cx;
	hbm_input *in;
	hbm_planned *p;
	double t = now();

	if (hbm_context_new(NULL, &cx) != HBM_OK ||
	    hbm_input_read(cx, path, NULL, &in) != HBM_OK)
		return 70;
	printf("%-24s %8.3f s\n", "read into a program", now() - t);
	t = now();
	if (hbm_planned_make(cx, in, target, NULL, &p) != HBM_OK)
		return 70;
	printf("%-24s %8.3f s\n", "plan, check and gate", now() - t);
	printf("%" PRIu64 " bytes of HBM\n", hbm_planned_total(p));
	hbm_planned_free(p);
	hbm_input_free(in);
	hbm_context_free(cx);
	return 0;
}

int main(int argc, char **argv)
{
	hbm_arena a;
	hbm_diags d;
	hbm_bytes b;
	uint32_t n = 0;

	if (argc < 2)
		return 2;
	hbm_arena_init(&a, NULL);
	hbm_diags_init(&d, &a);
	if (hbm_file_read(&a, &d, argv[1], 0, &b) != HBM_OK)
		return fail(&d);
	printf("%zu bytes\n", b.n);
	if (parse(&b, &n))
		return 70;
	hbm_arena_fini(&a);
	return plan(argv[1], argc > 2 ? argv[2] : "trn2");
}
