/* SPDX-License-Identifier: Apache-2.0 */
/* verify-carried-reduction: the stages of each carried reduction are still there.
 *
 * A carried reduction has one accumulator and three ops: fill before the loop,
 * combine in it, drain behind it. All three must have come through fusion, with
 * the accesses that make them what they are. An accumulator in the scratchpad
 * must have an owner for each byte: cores that agree on who has which block, from
 * fill to drain. One in HBM is right but slower, which a note says. Order of
 * loops is not derived again.
 * Cost      Linear in the program. */
#include "pass/pass.h"

typedef struct stages {
	hbm_op_id op[3]; /* fill, combine, drain; HBM_NONE: gone */
} stages;

static const char *const stage_names[] = {"fill", "combine", "drain"};

typedef struct check {
	hbm_pass_cx *cx;
	const hbm_reduction *r;
	stages found;
	hbm_storage_id acc;
} check;

static hbm_status fail(const check *k, const char *what, const char *which)
{
	const hbm_program *p = k->cx->prog;

	return hbm_fail(k->cx->diags, HBM_UNSUPPORTED, HBM_E_REDUCTION,
	                hbm_at(p, k->r->line, k->r->col, 0),
	                "carried reduction '%s': %s%s", hbm_str_of(p, k->r->name), what,
	                which);
}

static bool accesses(const check *k, hbm_op_id id, bool write)
{
	const hbm_program *p = k->cx->prog;
	const hbm_op *op = &p->ops.items[id];
	hbm_span side = write ? op->writes : op->reads;

	for (uint32_t i = 0; i < side.n; i++)
		if (k->cx->an->of[p->operands.items[side.first + i].tensor] == k->acc)
			return true;
	return false;
}

static hbm_status check_stages(const check *k)
{
	for (uint32_t i = 0; i < 3; i++)
		if (k->found.op[i] == HBM_NONE)
			return fail(k, "lost its stage ", stage_names[i]);
	if (k->r->acc == HBM_NONE)
		return fail(k, "has no accumulator", "");
	return HBM_OK;
}

static hbm_status check_accesses(const check *k)
{
	static const struct {
		uint32_t stage;
		bool write;
		const char *text;
	} needed[] = {
		{0, true, "fill no longer writes the accumulator"},
		{1, false, "combine no longer reads the accumulator"},
		{1, true, "combine no longer writes the accumulator"},
		{2, false, "drain no longer reads the accumulator"},
	};

	for (uint32_t i = 0; i < 4; i++)
		if (!accesses(k, k->found.op[needed[i].stage], needed[i].write))
			return fail(k, needed[i].text, "");
	return HBM_OK;
}

/* In the scratchpad: the same cores from fill to drain, with room for all. */
static hbm_status check_owner(const check *k)
{
	const hbm_program *p = k->cx->prog;
	const hbm_storage *s = &k->cx->an->storages.items[k->acc];
	const hbm_home *home = &p->tensors.items[s->root].home;
	uint64_t cores = p->ops.items[k->found.op[0]].cores;

	if (home->kind != HBM_HOME_LX) {
		HBM_NEED(hbm_warn(k->cx->diags, HBM_E_REDUCTION,
		                  hbm_at(p, k->r->line, k->r->col, 0), "carried "
		                  "reduction '%s': the accumulator '%s' stays in HBM; "
		                  "the result is right, but each trip moves it",
		                  hbm_str_of(p, k->r->name),
		                  hbm_tensor_name(p, s->root)));
		return HBM_OK;
	}
	for (uint32_t i = 0; i < 3; i++)
		if (p->ops.items[k->found.op[i]].cores != cores)
			return fail(k, "the accumulator has a scratchpad address but no "
			               "physical ownership: other cores in ", stage_names[i]);
	if (!cores || home->size < s->size / cores || !home->size)
		return fail(k, "the accumulator has a scratchpad address but no physical "
		               "ownership", "");
	return HBM_OK;
}

/* Finds the ops of all reductions by name. */
static hbm_status find_stages(hbm_pass_cx *cx, stages *ret)
{
	const hbm_program *p = cx->prog;
	hbm_map ops;

	hbm_map_init(&ops, cx->scratch);
	for (hbm_op_id o = 0; o < p->ops.n; o++)
		HBM_NEED(hbm_map_set(&ops, p->ops.items[o].name, o));
	for (uint32_t i = 0; i < p->reductions.n; i++) {
		const hbm_reduction *r = &p->reductions.items[i];
		ret[i].op[0] = hbm_map_get(&ops, r->fill);
		ret[i].op[1] = hbm_map_get(&ops, r->combine);
		ret[i].op[2] = hbm_map_get(&ops, r->drain);
	}
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	const hbm_program *p = cx->prog;
	stages *found = HBM_ARRAY(cx->scratch, stages, p->reductions.n);

	HBM_NEED(found);
	if (!p->reductions.n)
		return HBM_OK;
	HBM_TRY(find_stages(cx, found));
	for (uint32_t i = 0; i < p->reductions.n; i++) {
		check k = {.cx = cx, .r = &p->reductions.items[i], .found = found[i]};
		HBM_TRY(check_stages(&k));
		k.acc = cx->an->of[k.r->acc];
		HBM_TRY(check_accesses(&k));
		HBM_TRY(check_owner(&k));
	}
	return HBM_OK;
}

const hbm_pass hbm_pass_verify_carried_reduction = {
	.name = "verify-carried-reduction",
	.summary = "check that the stages of carried reductions came through fusion",
	.needs = HBM_FACT_BUNDLES,
	.run = run,
};
