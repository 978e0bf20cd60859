/* SPDX-License-Identifier: Apache-2.0
 * blocks: fills one block after the other with as many bytes as fit, until all is
 * placed. Cost: one solve for each block. */
#include "pack/blocks.h"
#include "base/ckd.h"

#include <string.h>

typedef struct filler {
	hbm_arena *a;
	const hbm_problem *p;
	const hbm_solve_opts *opts;
	hbm_diags *d;
	hbm_placement out;
	uint64_t *size; /* 0: placed already */
	uint32_t left;
	HBM_VEC(uint64_t) extents;
} filler;

static hbm_status begin(filler *f)
{
	uint32_t n = f->p->n;

	HBM_NEED(f->size = HBM_ARRAY(f->a, uint64_t, n));
	HBM_NEED(f->out.offset = HBM_ARRAY(f->a, uint64_t, (size_t)n + 1));
	HBM_NEED(f->out.block = HBM_ZARRAY(f->a, uint32_t, (size_t)n + 1));
	memset(f->out.offset, 0xff, n * sizeof *f->out.offset);
	if (n)
		memcpy(f->size, f->p->size, n * sizeof *f->size);
	f->left = n;
	return HBM_OK;
}

/* A buffer that no block can hold. */
static hbm_status too_large(filler *f, uint32_t i)
{
	int64_t tick;

	HBM_TRY(hbm_lower_bound(f->a, f->p, &f->out.lower_bound, &tick));
	f->out.extent = HBM_NO_OFFSET;
	f->out.allocator = NULL;
	HBM_NEED(f->out.witness = HBM_ARRAY(f->a, uint32_t, 1));
	f->out.witness[0] = i;
	f->out.n_witness = 1;
	f->out.outcome = HBM_INFEASIBLE;
	return HBM_OK;
}

static void take(filler *f, const hbm_placement *pl)
{
	for (uint32_t i = 0; i < f->p->n; i++) {
		if (f->out.offset[i] != HBM_NO_OFFSET || pl->offset[i] == HBM_NO_OFFSET)
			continue;
		f->out.offset[i] = pl->offset[i];
		f->out.block[i] = f->extents.n;
		f->size[i] = 0;
		f->left--;
	}
	f->out.steps += pl->steps;
	f->out.allocator = pl->allocator;
	f->out.extent = hbm_add_sat(f->out.extent, pl->extent);
}

static hbm_status fill_block(filler *f)
{
	hbm_problem rest = *f->p;
	hbm_solve_opts opts;
	hbm_placement pl;
	uint32_t before = f->left;

	hbm_solve_defaults(&opts);
	if (f->opts)
		opts = *f->opts;
	opts.keep_going = true;
	rest.size = f->size;
	rest.capacity = f->p->max_block;
	rest.max_block = 0;
	HBM_TRY(hbm_solve(f->a, &rest, &opts, f->d, &pl));
	take(f, &pl);
	HBM_NEED(HBM_PUSH(f->a, &f->extents, pl.extent));
	if (f->left < before)
		return HBM_OK;
	return hbm_fail(f->d, HBM_UNSUPPORTED, HBM_E_PROBLEM, HBM_NOWHERE,
	                "the pins, sets or alignments of %u buffers do not fit in blocks",
	                f->left);
}

static hbm_status conclude(filler *f)
{
	hbm_placement *out = &f->out;
	int64_t tick;

	HBM_TRY(hbm_lower_bound(f->a, f->p, &out->lower_bound, &tick));
	out->block_extent = f->extents.items;
	out->n_blocks = f->extents.n;
	out->n_placed = f->p->n;
	out->outcome = out->extent > f->p->capacity          ? HBM_UNKNOWN
	               : out->extent == out->lower_bound ? HBM_OPTIMAL
	                                                 : HBM_FEASIBLE;
	if (out->lower_bound > f->p->capacity) {
		out->outcome = HBM_INFEASIBLE;
		out->witness_tick = tick;
	}
	return HBM_OK;
}

hbm_status hbm_solve_blocks(hbm_arena *a, const hbm_problem *p,
                            const hbm_solve_opts *opts, hbm_diags *d,
                            hbm_placement *ret)
{
	filler f = {.a = a, .p = p, .opts = opts, .d = d, .out = {.allocator = ""}};

	if (!p->max_block)
		return hbm_solve(a, p, opts, d, ret);
	HBM_TRY(hbm_problem_check(p, d));
	HBM_TRY(begin(&f));
	for (uint32_t i = 0; i < p->n && f.out.outcome != HBM_INFEASIBLE; i++)
		if (p->size[i] > p->max_block)
			HBM_TRY(too_large(&f, i));
	if (f.out.outcome != HBM_INFEASIBLE) {
		while (f.left)
			HBM_TRY(fill_block(&f));
		HBM_TRY(conclude(&f));
	}
	*ret = f.out;
	return HBM_OK;
}
