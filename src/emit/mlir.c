/* SPDX-License-Identifier: Apache-2.0 */
/* mlir: one file bundle_N.mlir per bundle, N in run order. The pool is allocated in
 * the code of its own bundle and lives as long as that runs. */
#include "emit/mlir.h"

#include "emit/emitter.h"

#include <inttypes.h>
#include <stdio.h>

/* What all bundles share. */
typedef struct emission {
	const hbm_plan *plan;
	hbm_diags *diags;
	uint64_t *place;  /* tensor -> its first byte in its storage */
	uint64_t *extent; /* node -> bytes of its pool */
	bool generic;
	hbm_file_fn file;
	void *user;
} emission;

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

/* Empty tensors have addresses too, so their pool is not empty. */
static uint64_t pool_of(const emission *e, hbm_node_id bundle)
{
	uint64_t least = hbm_target_num(e->plan->target, HBM_KEY_HBM_ALIGN, 1);

	return e->extent[bundle] ? e->extent[bundle] : least ? least : 1;
}

static hbm_status emit_bundle(hbm_arena *a, const emission *e, hbm_node_id node,
                              uint32_t number)
{
	hbm_mlir_bundle b = {.plan = e->plan, .p = e->plan->prog, .a = a,
	                     .diags = e->diags, .place = e->place, .node = node,
	                     .pool = pool_of(e, node)};
	hbm_membuf text = {.arena = a};
	hbm_out out;
	char name[32];

	HBM_TRY(hbm_mlir_collect(&b));
	HBM_TRY(check_pool(&b));
	hbm_out_init(&out, hbm_membuf_write, &text);
	hbm_mlir_write(&b, e->generic, &out);
	if (hbm_out_finish(&out) != HBM_OK)
		return HBM_NOMEM;
	snprintf(name, sizeof name, "bundle_%" PRIu32 ".mlir", number);
	return e->file(e->user, name, text.bytes.items, text.bytes.n) ? HBM_OK : HBM_IO;
}

static hbm_status emit_all(hbm_arena *scratch, emission e)
{
	const hbm_program *p = e.plan->prog;
	uint32_t number = 0;

	HBM_NEED(e.place = HBM_ZARRAY(scratch, uint64_t, p->tensors.n));
	HBM_NEED(e.extent = HBM_ZARRAY(scratch, uint64_t, p->nodes.n));
	for (uint32_t k = 0; k < e.plan->members.n; k++)
		e.place[e.plan->members.items[k].tensor] = e.plan->members.items[k].offset;
	for (uint32_t k = 0; k < e.plan->pools.n; k++)
		e.extent[e.plan->pools.items[k].bundle] = e.plan->pools.items[k].extent;
	for (hbm_node_id n = 0; n < p->nodes.n; n = p->nodes.items[n].end) {
		hbm_arena one;
		hbm_status status;
		if (p->nodes.items[n].kind != HBM_NODE_BUNDLE)
			continue;
		hbm_arena_init(&one, &scratch->mem);
		status = emit_bundle(&one, &e, n, number++);
		hbm_arena_fini(&one);
		if (status != HBM_OK)
			return status;
	}
	return HBM_OK;
}

static hbm_status emit_custom(hbm_arena *scratch, const hbm_plan *plan, hbm_diags *d,
                              hbm_file_fn file, void *user)
{
	return emit_all(scratch, (emission){.plan = plan, .diags = d, .file = file,
	                                    .user = user});
}

static hbm_status emit_generic(hbm_arena *scratch, const hbm_plan *plan, hbm_diags *d,
                               hbm_file_fn file, void *user)
{
	return emit_all(scratch, (emission){.plan = plan, .diags = d, .file = file,
	                                    .user = user, .generic = true});
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
