/* SPDX-License-Identifier: Apache-2.0
 * io-gate: can the arguments and results alone be there at once?
 *
 * Runs before everything else, as a program that fails here needs no planning to be
 * turned down. Adds up inputs and outputs, each storage once (an output that stands
 * in a donated input is not counted twice), to the byte, against the window of one
 * core; there is no margin. Says which inputs are the largest. The verdict is in the
 * plan's usage; the sums of the budget contain these bytes, so a program that fails
 * here does not fit. Source: the compiler's early check (NCC_EVRF009). */
#include "base/ckd.h"
#include "base/out.h"
#include "base/sort.h"
#include "pass/pass.h"

#include <inttypes.h>
#include <stdio.h>

enum { SHOWN = 3 };

static int larger_first(const void *context, uint32_t a, uint32_t b)
{
	const hbm_program *p = context;
	uint64_t x = p->tensors.items[a].size, y = p->tensors.items[b].size;

	return x > y ? -1 : x < y ? 1 : a < b ? -1 : a > b;
}

static void shape_text(const hbm_program *p, const hbm_tensor *t, char *buf, size_t size)
{
	size_t at = (size_t)snprintf(buf, size, "%s[", hbm_dtype_name(t->dtype));

	for (uint32_t i = 0; i < t->dims.n && at + 24 < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%" PRIu64, i ? "," : "",
		                       p->dims.items[t->dims.first + i].value);
	snprintf(buf + at, size - at, "]");
}

static hbm_status name_largest(hbm_pass_cx *cx)
{
	const hbm_program *p = cx->prog;
	uint32_t *ids = HBM_ARRAY(cx->scratch, uint32_t, p->tensors.n);
	uint32_t *index = HBM_ARRAY(cx->scratch, uint32_t, p->tensors.n);
	uint32_t n = 0;

	HBM_NEED(ids && index);
	for (uint32_t t = 0; t < p->tensors.n; t++)
		if (p->tensors.items[t].flags & HBM_T_INPUT) {
			index[t] = n;
			ids[n++] = t;
		}
	HBM_NEED(hbm_merge_sort(cx->scratch, ids, n, larger_first, p));
	for (uint32_t i = 0; i < n && i < SHOWN; i++) {
		const hbm_tensor *t = &p->tensors.items[ids[i]];
		char shape[256], size[HBM_SIZE_TEXT];
		shape_text(p, t, shape, sizeof shape);
		hbm_note(cx->diags, hbm_at(p, t->line, t->col, 0),
		         "input %" PRIu32 ", '%s', %s: %" PRIu64 " bytes (%s)",
		         index[ids[i]], hbm_str_of(p, t->name), shape, t->size,
		         hbm_size_text(size, t->size));
	}
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	uint64_t window = hbm_target_num(cx->target, HBM_KEY_HBM_WINDOW, HBM_NO_OFFSET);
	char need[HBM_SIZE_TEXT], have[HBM_SIZE_TEXT];
	uint64_t sum = 0;

	for (uint32_t s = 0; s < cx->an->storages.n; s++) {
		const hbm_storage *x = &cx->an->storages.items[s];
		if (x->flags & HBM_T_IO && !(x->flags & HBM_T_HOST))
			sum = hbm_add_sat(sum, x->size);
	}
	cx->plan->usage.gated = true;
	cx->plan->usage.gate_bytes = sum;
	cx->plan->usage.gate_fits = sum <= window;
	if (sum <= window || cx->opts->budget_off)
		return HBM_OK;
	HBM_NEED(hbm_warn(cx->diags, HBM_E_IO_GATE, HBM_NOWHERE, "inputs and outputs "
	                  "need %" PRIu64 " bytes (%s); a core of %s has %" PRIu64 " "
	                  "(%s)", sum, hbm_size_text(need, sum), cx->target->name,
	                  window, hbm_size_text(have, window)));
	return name_largest(cx);
}

const hbm_pass hbm_pass_io_gate = {
	.name = "io-gate",
	.summary = "inputs and outputs against the window, before everything else",
	.run = run,
};
