/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "pack/blocks.h"
#include "verify/certificate.h"
#include "verify/placement.h"

#include <string.h>

static hbm_status keep_blocks(hbm_context *cx, const hbm_problem *p, hbm_placement *pl)
{
	uint32_t *block = HBM_ARRAY(&cx->results, uint32_t, p->n);
	uint64_t *extent = HBM_ARRAY(&cx->results, uint64_t, pl->n_blocks);

	HBM_NEED(block && extent);
	if (p->n)
		memcpy(block, pl->block, p->n * sizeof *block);
	if (pl->n_blocks)
		memcpy(extent, pl->block_extent, pl->n_blocks * sizeof *extent);
	pl->block = block;
	pl->block_extent = extent;
	return HBM_OK;
}

static hbm_status keep(hbm_context *cx, const hbm_problem *p, hbm_placement *pl)
{
	uint64_t *offset = HBM_ARRAY(&cx->results, uint64_t, p->n);
	uint32_t *witness = HBM_ARRAY(&cx->results, uint32_t, pl->n_witness);

	HBM_NEED(offset && witness);
	if (p->n)
		memcpy(offset, pl->offset, p->n * sizeof *offset);
	if (pl->n_witness)
		memcpy(witness, pl->witness, pl->n_witness * sizeof *witness);
	pl->offset = offset;
	pl->witness = witness;
	return pl->block ? keep_blocks(cx, p, pl) : HBM_OK;
}

/* Memory of each check is given back before the next. */
static hbm_status check(hbm_context *cx, const hbm_problem *p, const hbm_placement *pl)
{
	hbm_arena scratch;
	hbm_status status;
	bool proved;

	if (pl->outcome == HBM_INFEASIBLE)
		return HBM_OK;
	hbm_arena_init(&scratch, &cx->mem);
	status = hbm_verify_placement(&scratch, p, pl, &cx->diags);
	hbm_arena_fini(&scratch);
	if (status == HBM_OK && !pl->block)
		status = hbm_verify_claims(&scratch, p, pl, &cx->diags, &proved);
	hbm_arena_fini(&scratch);
	return status;
}

hbm_status hbm_place(hbm_context *cx, const hbm_problem *p, const hbm_solve_opts *opts,
                     hbm_placement *ret)
{
	hbm_solve_opts defaults;
	hbm_placement pl;
	hbm_arena arena;
	hbm_status status;

	hbm_solve_defaults(&defaults);
	hbm_arena_init(&arena, &cx->mem);
	status = hbm_solve_blocks(&arena, p, opts ? opts : &defaults, &cx->diags, &pl);
	if (status == HBM_OK)
		status = check(cx, p, &pl);
	if (status == HBM_OK)
		status = keep(cx, p, &pl);
	hbm_arena_fini(&arena);
	if (status == HBM_OK)
		*ret = pl;
	return status;
}
