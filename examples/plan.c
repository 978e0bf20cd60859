/* SPDX-License-Identifier: Apache-2.0
 * Plans a program that is given as text, and asks where its tensors live. */
#include <hbmplan/hbmplan.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char program[] =
	"input  x : f16[512, 64]\n"
	"tensor a : f16[512, 64]\n"
	"tensor b : f16[512, 64]\n"
	"output y : f16[512, 64]\n"
	"bundle k {\n"
	"  op exp(x) -> a\n"
	"  op exp(a) -> b\n"
	"  op exp(b) -> y\n"
	"}\n";

static void show(const hbm_planned *plan, const char *tensor)
{
	hbm_place_info at;

	if (!hbm_planned_find(plan, tensor, &at))
		return;
	printf("%s: %s", tensor, at.home);
	if (at.bundle)
		printf(" of %s", at.bundle);
	if (at.offset != HBM_NO_OFFSET)
		printf(", offset %" PRIu64, at.offset);
	printf(", %" PRIu64 " bytes\n", at.size);
}

static void complain(const hbm_context *cx)
{
	for (uint32_t i = 0; i < hbm_context_n_diagnostics(cx); i++)
		fprintf(stderr, "%s\n", hbm_context_diagnostic(cx, i).text);
}

int main(void)
{
	hbm_context *cx = NULL;
	hbm_input *in = NULL;
	hbm_planned *plan = NULL;
	hbm_plan_opts opts;
	hbm_status status = hbm_context_new(NULL, &cx);

	if (status != HBM_OK)
		return 1;
	hbm_plan_defaults(&opts);
	opts.lx_off = true; /* pools only, so that there is something to see */
	status = hbm_input_parse(cx, "example", program, strlen(program), NULL, &in);
	if (status == HBM_OK)
		status = hbm_planned_make(cx, in, "spyre", &opts, &plan);
	if (status == HBM_OK) {
		printf("%s\n", hbm_planned_fits(plan) ? "fits" : "over budget");
		show(plan, "a");
		show(plan, "b");
		show(plan, "y");
	}
	complain(cx);
	hbm_planned_free(plan);
	hbm_input_free(in);
	hbm_context_free(cx);
	return status == HBM_OK ? 0 : 1;
}
