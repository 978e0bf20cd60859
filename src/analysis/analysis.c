/* SPDX-License-Identifier: Apache-2.0
 * analysis: classes, storages, live ranges, optional in-place, pressure. */
#include "analysis/internal.h"

static hbm_status bundles(hbm_analysis *an, const hbm_program *p)
{
	hbm_node_id bundle = HBM_NONE;

	HBM_NEED(an->bundle = HBM_ARRAY(an->arena, hbm_node_id, p->ops.n));
	for (uint32_t n = 0; n < p->nodes.n; n++) {
		const hbm_node *node = &p->nodes.items[n];
		if (node->parent == HBM_NONE)
			bundle = node->kind == HBM_NODE_BUNDLE ? n : HBM_NONE;
		if (node->kind == HBM_NODE_OP)
			an->bundle[node->op] = bundle;
	}
	return HBM_OK;
}

/* Live bytes at each tick, by differences at the ends of the ranges. */
static hbm_status pressure(hbm_analysis *an)
{
	uint32_t n = an->n_ticks;
	uint64_t *delta = HBM_ZARRAY(an->arena, uint64_t, (size_t)n + 1);
	uint64_t live = 0;

	HBM_NEED(delta);
	for (uint32_t i = 0; i < an->storages.n; i++) {
		const hbm_storage *s = &an->storages.items[i];
		if (s->flags & (HBM_T_CALLER | HBM_T_HOST) || s->start == s->end)
			continue;
		delta[s->start] += s->reserve; /* wraps back where ranges end */
		delta[s->end] -= s->reserve;
	}
	an->peak = 0;
	an->peak_tick = 0;
	for (uint32_t t = 0; t < n; t++) {
		live += delta[t];
		delta[t] = live;
		if (live > an->peak) {
			an->peak = live;
			an->peak_tick = t;
		}
	}
	an->pressure = delta;
	return HBM_OK;
}

hbm_status hbm_analyse(hbm_arena *arena, const hbm_program *p, const hbm_target *t,
                       const hbm_analysis_opts *opts, hbm_diags *d, hbm_analysis *ret)
{
	hbm_analysis an = {.arena = arena, .n_ticks = p->ops.n};
	hbm_classes classes;

	HBM_TRY(bundles(&an, p));
	HBM_TRY(hbm_classes_init(arena, p, d, &classes));
	HBM_TRY(hbm_storages_build(&an, p, t, &classes, d));
	HBM_TRY(hbm_live_ranges(&an, p));
	if (opts->inplace && p->inplaces.n) {
		HBM_TRY(hbm_inplace_join(&an, p, &classes));
		HBM_TRY(hbm_storages_build(&an, p, t, &classes, d));
		HBM_TRY(hbm_live_ranges(&an, p));
	}
	HBM_TRY(pressure(&an));
	*ret = an;
	return HBM_OK;
}
