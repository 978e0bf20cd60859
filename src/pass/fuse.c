/* SPDX-License-Identifier: Apache-2.0 */
/* fuse: forms bundles, the kernels that run in one call each.
 *
 * Method    The top-level nodes in order are cut into maximal runs of nodes that
 *           run on the device; order never changes, and there is no limit on a
 *           run. A run is trimmed to the span from its first to its last node that
 *           computes: allocation-only nodes outside it stay alone. Each span is a
 *           bundle. A program that has bundles keeps them. Without symbolic
 *           arguments nothing is fused: each node of the schedule is a bundle of
 *           its own, also those that stood in one.
 * Cost      Linear in the program. */
#include "pass/rewrite.h"
#include "pass/pass.h"

#include <stdio.h>

typedef struct fuser {
	hbm_program *p;
	hbm_rewrite w;
	uint32_t *foreign; /* nodes before this one that do not run on the device */
	uint32_t *computes; /* nodes before this one that compute there */
} fuser;

static bool on_device(hbm_op_kind k)
{
	return k == HBM_OP_COMPUTE || k == HBM_OP_DMA || k == HBM_OP_ALLOC;
}

static hbm_status count_nodes(fuser *f, hbm_arena *scratch)
{
	uint32_t n = f->p->nodes.n;

	HBM_NEED(f->foreign = HBM_ZARRAY(scratch, uint32_t, (size_t)n + 1));
	HBM_NEED(f->computes = HBM_ZARRAY(scratch, uint32_t, (size_t)n + 1));
	for (hbm_node_id k = 0; k < n; k++) {
		const hbm_node *node = &f->p->nodes.items[k];
		bool op = node->kind == HBM_NODE_OP;
		hbm_op_kind kind = op ? f->p->ops.items[node->op].kind : HBM_OP_COMPUTE;
		f->foreign[k + 1] = f->foreign[k] + (op && !on_device(kind));
		f->computes[k + 1] = f->computes[k] +
		                     (op && on_device(kind) && kind != HBM_OP_ALLOC);
	}
	return HBM_OK;
}

static bool fusable(const fuser *f, hbm_node_id n)
{
	return f->foreign[n] == f->foreign[f->p->nodes.items[n].end];
}

static bool computes(const fuser *f, hbm_node_id n)
{
	return f->computes[n] != f->computes[f->p->nodes.items[n].end];
}

static bool is_bundle(const hbm_program *p, hbm_node_id n)
{
	return p->nodes.items[n].kind == HBM_NODE_BUNDLE;
}

static bool has_bundles(const hbm_program *p)
{
	for (hbm_node_id n = 0; n < p->nodes.n; n = p->nodes.items[n].end)
		if (is_bundle(p, n))
			return true;
	return false;
}

/* Opens a bundle called k0, k1, ...: the next such name that is free. */
static bool open_bundle(fuser *f, uint32_t *number)
{
	char name[16];

	for (;;) {
		int n = snprintf(name, sizeof name, "k%u", (*number)++);
		hbm_sym sym = hbm_sym_find(&f->p->syms, name, (size_t)n);
		if (sym != HBM_NONE)
			continue;
		sym = hbm_intern(&f->p->syms, name, (size_t)n);
		return sym != HBM_NONE && hbm_rewrite_open(&f->w, HBM_NODE_BUNDLE, sym);
	}
}

/* Nodes [from, to), all fusable. */
static bool fuse_run(fuser *f, hbm_node_id from, hbm_node_id to, uint32_t *number)
{
	const hbm_node *nodes = f->p->nodes.items;
	hbm_node_id first = to, behind = to;

	for (hbm_node_id n = from; n < to; n = nodes[n].end)
		if (computes(f, n)) {
			first = first == to ? n : first;
			behind = nodes[n].end;
		}
	for (hbm_node_id n = from; n < to; n = nodes[n].end) {
		if (n == first && !open_bundle(f, number))
			return false;
		if (!hbm_rewrite_copy_tree(&f->w, n))
			return false;
		if (first != to && nodes[n].end == behind)
			hbm_rewrite_close(&f->w);
	}
	return true;
}

static hbm_status fuse_all(fuser *f)
{
	const hbm_node *nodes = f->p->nodes.items;
	uint32_t n_nodes = f->p->nodes.n, number = 0;

	for (hbm_node_id n = 0; n < n_nodes;) {
		hbm_node_id to = n;
		if (!fusable(f, n)) {
			HBM_NEED(hbm_rewrite_copy_tree(&f->w, n));
			n = nodes[n].end;
			continue;
		}
		while (to < n_nodes && fusable(f, to))
			to = nodes[to].end;
		HBM_NEED(fuse_run(f, n, to, &number));
		n = to;
	}
	return HBM_OK;
}

/* One node as a bundle, under the name of the bundle it stood in or a new one. */
static bool alone(fuser *f, hbm_node_id n, hbm_node_id inside, uint32_t *number)
{
	const hbm_node *nodes = f->p->nodes.items;
	bool only = inside != HBM_NONE && nodes[n].end == nodes[inside].end &&
	            n == inside + 1;

	if (!fusable(f, n) || !computes(f, n))
		return hbm_rewrite_copy_tree(&f->w, n);
	if (only)
		return hbm_rewrite_copy_tree(&f->w, inside);
	if (!open_bundle(f, number) || !hbm_rewrite_copy_tree(&f->w, n))
		return false;
	hbm_rewrite_close(&f->w);
	return true;
}

static hbm_status split_all(fuser *f)
{
	const hbm_node *nodes = f->p->nodes.items;
	uint32_t n_nodes = f->p->nodes.n, number = 0;

	for (hbm_node_id n = 0; n < n_nodes; n = nodes[n].end) {
		if (!is_bundle(f->p, n)) {
			HBM_NEED(alone(f, n, HBM_NONE, &number));
			continue;
		}
		for (hbm_node_id k = n + 1; k < nodes[n].end; k = nodes[k].end)
			HBM_NEED(alone(f, k, n, &number));
	}
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	fuser f = {.p = cx->prog};

	if (!cx->opts->no_bundle_args && has_bundles(cx->prog))
		return HBM_OK;
	HBM_TRY(count_nodes(&f, cx->scratch));
	HBM_TRY(hbm_rewrite_begin(&f.w, cx->scratch, cx->prog));
	HBM_TRY(cx->opts->no_bundle_args ? split_all(&f) : fuse_all(&f));
	hbm_rewrite_finish(&f.w);
	return HBM_OK;
}

const hbm_pass hbm_pass_fuse = {
	.name = "fuse",
	.summary = "form bundles: the kernels that run in one call each",
	.gives = HBM_FACT_BUNDLES,
	.before = HBM_FACT_POOLS,
	.breaks_analysis = true,
	.run = run,
};
