/* SPDX-License-Identifier: Apache-2.0 */
/* mlir: one file bundle_N.mlir per bundle, N in run order. The pool is allocated in
 * the code of its own bundle and lives as long as that runs. */
#include "emit/mlir.h"

#include "emit/emitter.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t pool_extent(const hbm_plan *plan, hbm_node_id bundle)
{
	for (uint32_t k = 0; k < plan->pools.n; k++)
		if (plan->pools.items[k].bundle == bundle)
			return plan->pools.items[k].extent;
	return 0;
}

/* What is reserved must be something, and at most what the target allows. */
static hbm_status check_pool(const hbm_mlir_bundle *b)
{
	uint64_t cap = hbm_target_num(b->plan->target, HBM_KEY_POOL_CAP, HBM_NO_OFFSET);

	if (!b->uses_pool || (b->pool && b->pool <= cap))
		return HBM_OK;
	return hbm_fail(b->diags, HBM_CONTRACT, HBM_E_NO_CODE, HBM_NOWHERE,
	                "bundle '%s' uses a pool of %" PRIu64 " bytes; it must be above 0 "
	                "and at most %" PRIu64,
	                hbm_str_of(b->p, b->p->nodes.items[b->node].name), b->pool, cap);
}

static hbm_status emit_bundle(hbm_arena *a, const hbm_plan *plan, hbm_diags *d,
                              const uint64_t *place, hbm_node_id node, uint32_t number, bool generic,
                              hbm_file_fn file, void *user)
{
	hbm_mlir_bundle b = {.plan = plan, .p = plan->prog, .a = a, .diags = d,
	                     .place = place, .node = node, .pool = pool_extent(plan, node)};
	hbm_membuf text = {.arena = a};
	hbm_out out;
	char name[32];

	HBM_TRY(hbm_mlir_collect(&b));
	HBM_TRY(check_pool(&b));
	hbm_out_init(&out, hbm_membuf_write, &text);
	hbm_mlir_write(&b, generic, &out);
	if (hbm_out_finish(&out) != HBM_OK)
		return HBM_NOMEM;
	snprintf(name, sizeof name, "bundle_%" PRIu32 ".mlir", number);
	return file(user, name, text.bytes.items, text.bytes.n) ? HBM_OK : HBM_IO;
}

static hbm_status emit_all(hbm_arena *scratch, const hbm_plan *plan, hbm_diags *d,
                           bool generic, hbm_file_fn file, void *user)
{
	const hbm_program *p = plan->prog;
	uint64_t *place = HBM_ZARRAY(scratch, uint64_t, p->tensors.n);
	uint32_t number = 0;

	HBM_NEED(place);
	for (uint32_t k = 0; k < plan->members.n; k++)
		place[plan->members.items[k].tensor] = plan->members.items[k].offset;
	for (hbm_node_id n = 0; n < p->nodes.n; n = p->nodes.items[n].end) {
		hbm_arena one;
		hbm_status status;
		if (p->nodes.items[n].kind != HBM_NODE_BUNDLE)
			continue;
		hbm_arena_init(&one, &scratch->mem);
		status = emit_bundle(&one, plan, d, place, n, number++, generic, file, user);
		hbm_arena_fini(&one);
		if (status != HBM_OK)
			return status;
	}
	return HBM_OK;
}

static hbm_status emit_custom(hbm_arena *scratch, const hbm_plan *plan, hbm_diags *d,
                              hbm_file_fn file, void *user)
{
	return emit_all(scratch, plan, d, false, file, user);
}

static hbm_status emit_generic(hbm_arena *scratch, const hbm_plan *plan, hbm_diags *d,
                               hbm_file_fn file, void *user)
{
	return emit_all(scratch, plan, d, true, file, user);
}

const hbm_emitter hbm_emitter_mlir = {
	.name = "mlir",
	.summary = "bundle_N.mlir for each bundle, as the device compiler reads it",
	.emit = emit_custom,
};

const hbm_emitter hbm_emitter_mlir_generic = {
	.name = "mlir-generic",
	.summary = "the same with the dialect's ops in generic form, for mlir-opt",
	.emit = emit_generic,
};
