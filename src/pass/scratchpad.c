/* SPDX-License-Identifier: Apache-2.0 */
/* scratchpad: decides which storages live in the cores' scratchpads (LX), where.
 *
 * An address there is the same on every core, each holding its own block. The
 * planner owns [0, lx.usable) of each; the back end has the rest. The pass works
 * on the flat program, before bundles are known: contents survive from one kernel
 * to the next. What is worth it is judged (scratchpad_model), chosen and placed so
 * that the most HBM traffic is saved (pack/lx), then written into the program
 * (scratchpad_commit). A storage that the user wants there and that finds no place
 * is an error; any other one that stays out has a reason with figures. */
#include "base/ckd.h"
#include "pack/lx.h"
#include "pass/scratchpad.h"

#include <inttypes.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t bit;
} features[] = {
	{"reductions", HBM_LX_REDUCTIONS},
	{"results", HBM_LX_RESULTS},
	{"in-place", HBM_LX_IN_PLACE},
	{"input-clones", HBM_LX_INPUT_CLONES},
	{"output-clones", HBM_LX_OUTPUT_CLONES},
};

enum { N_FEATURES = sizeof features / sizeof *features };

static uint32_t feature_bit(const char *name, size_t n)
{
	for (uint32_t k = 0; k < N_FEATURES; k++)
		if (strlen(features[k].name) == n && !memcmp(features[k].name, name, n))
			return features[k].bit;
	return 0;
}

static hbm_status read_features(hbm_pass_cx *cx, uint32_t *ret)
{
	const char *list = cx->opts->lx_features;

	*ret = ~(uint32_t)0;
	if (!list)
		return HBM_OK;
	for (*ret = 0; *list;) {
		size_t n = strcspn(list, ",");
		uint32_t bit = feature_bit(list, n);
		if (n && !bit)
			return hbm_fail(cx->diags, HBM_OPTION, HBM_E_OPTION, HBM_NOWHERE,
			                "unknown scratchpad feature '%.*s': there are "
			                "reductions, results, in-place, input-clones and "
			                "output-clones", (int)n, list);
		*ret |= bit;
		list += n + (list[n] == ',');
	}
	return HBM_OK;
}

/* Refusals are kept by tensor: storages are numbered anew after the pass. */
static hbm_status refuse(hbm_lx_model *m, hbm_storage_id s, hbm_reason_id id,
                         hbm_sym who, uint32_t n_figures, const uint64_t *figures)
{
	hbm_refusal r = {.tensor = m->an.storages.items[s].root,
	                 .reason = {.tier = HBM_HOME_LX, .id = id, .who = who,
	                            .n_figures = n_figures}};

	for (uint32_t k = 0; k < n_figures; k++)
		r.reason.figure[k] = figures[k];
	HBM_NEED(HBM_PUSH(m->cx->keep, &m->cx->refusals, r));
	return HBM_OK;
}

static hbm_status demand_failed(hbm_lx_model *m, hbm_storage_id s, hbm_reason_id id,
                                const uint64_t *figures, uint32_t n_figures)
{
	const hbm_program *p = m->cx->prog;
	hbm_tensor_id root = m->an.storages.items[s].root;
	const hbm_tensor *x = &p->tensors.items[root];
	hbm_status status;

	status = hbm_fail(m->cx->diags, HBM_UNSUPPORTED, HBM_E_HOME_DEMAND,
	                  hbm_at(p, x->line, x->col, 0),
	                  "'%s' demands the scratchpad, but its storage may not live "
	                  "there: %s", hbm_tensor_name(p, root), hbm_reason_text(id));
	if (n_figures == 3)
		hbm_note(m->cx->diags, HBM_NOWHERE, "needed %" PRIu64 ", free %" PRIu64
		         ", largest hole %" PRIu64, figures[0], figures[1], figures[2]);
	return status;
}

/* ---- the problem -------------------------------------------------------------- */

static bool is_wanted(const hbm_lx_model *m, hbm_storage_id s)
{
	return m->an.storages.items[s].demand == HBM_HOME_LX;
}

static uint64_t value_of(const hbm_lx_model *m, hbm_storage_id s, uint32_t shift)
{
	uint64_t value = m->buffers[s].value >> shift;

	return m->buffers[s].barred ? 0 : value ? value : 1;
}

/* How values were made from bytes. */
typedef struct scale {
	uint32_t shift;
	uint64_t extra; /* sum of what was added for demands */
} scale;

/* What the user demands outweighs all else. Values are bytes, unless long loops make
 * them too large for the solver: then all are halved as often as it takes. */
static void set_values(const hbm_lx_model *m, uint32_t n, uint64_t *value, scale *ret)
{
	uint64_t wanted = 1, all = 0;
	uint32_t shift = 0;

	for (uint32_t s = 0; s < n; s++)
		wanted += is_wanted(m, s);
	for (;; shift++) {
		all = 1;
		for (uint32_t s = 0; s < n; s++)
			all = hbm_add_sat(all, value_of(m, s, shift));
		if (hbm_mul_sat(all, wanted) < HBM_MAX_BYTES / 2)
			break;
	}
	for (uint32_t s = 0; s < n; s++) {
		value[s] = value_of(m, s, shift);
		if (value[s] && is_wanted(m, s)) {
			value[s] += all;
			ret->extra += all;
		}
	}
	ret->shift = shift;
}

static hbm_status make_problem(hbm_lx_model *m, hbm_lx_problem *ret, scale *sc)
{
	uint32_t n = m->an.storages.n;
	uint64_t *size = HBM_ARRAY(m->mem, uint64_t, n);
	uint64_t *value = HBM_ARRAY(m->mem, uint64_t, n);
	uint64_t *pin = HBM_ARRAY(m->mem, uint64_t, n);
	uint32_t *start = HBM_ARRAY(m->mem, uint32_t, n);
	uint32_t *end = HBM_ARRAY(m->mem, uint32_t, n);
	uint32_t *use_first = HBM_ARRAY(m->mem, uint32_t, (size_t)n + 1);
	bool *barred = HBM_ARRAY(m->mem, bool, n), *input = HBM_ARRAY(m->mem, bool, n);

	HBM_NEED(size && value && pin && start && end && use_first && barred && input);
	set_values(m, n, value, sc);
	for (uint32_t s = 0; s < n; s++) {
		const hbm_lx_buffer *b = &m->buffers[s];
		barred[s] = b->barred != HBM_REASON_NONE;
		size[s] = b->size;
		pin[s] = barred[s] || !is_wanted(m, s) ? HBM_NO_OFFSET
		                                       : m->an.storages.items[s].pin;
		start[s] = b->start;
		end[s] = b->end;
		use_first[s] = b->use_first;
		input[s] = b->way == HBM_LX_INPUT;
	}
	use_first[n] = m->uses.n;
	*ret = (hbm_lx_problem){.n = n, .size = size, .use_first = use_first,
	                        .uses = m->uses.items, .input = input, .start = start,
	                        .end = end, .parent_first = m->parent_first,
	                        .parents = m->parents.items, .pin = pin,
	                        .barred = barred, .value = value,
	                        .capacity = m->capacity, .align = m->align};
	return HBM_OK;
}

/* The bytes saved, and how close that is to the bound. Every demand was met. */
static void record(const hbm_lx_model *m, const hbm_lx_layout *layout, const scale *sc,
                   hbm_plan_lx *ret)
{
	uint64_t bound = layout->bound > sc->extra ? layout->bound - sc->extra : 0;

	*ret = (hbm_plan_lx){.solver = layout->solver, .n_placed = layout->n_placed,
	                     .optimal = layout->saved >= layout->bound};
	for (uint32_t s = 0; s < m->an.storages.n; s++)
		if (layout->address[s] != HBM_NO_OFFSET)
			ret->saved = hbm_add_sat(ret->saved, m->buffers[s].value);
	if (sc->shift)
		bound = hbm_add_sat(bound, m->an.storages.n);
	ret->bound = hbm_mul_sat(bound, (uint64_t)1 << sc->shift);
	if (ret->optimal || ret->bound < ret->saved)
		ret->bound = ret->saved;
}

/* ---- what stays out -------------------------------------------------------------- */

static hbm_status explain(hbm_lx_model *m, const hbm_lx_problem *p,
                          const uint64_t *address)
{
	uint64_t *room = HBM_ARRAY(m->mem, uint64_t, p->n);
	uint64_t *hole = HBM_ARRAY(m->mem, uint64_t, p->n);

	HBM_NEED(room && hole);
	HBM_TRY(hbm_lx_room(m->mem, p, address, room, hole));
	for (uint32_t s = 0; s < p->n; s++) {
		const hbm_lx_buffer *b = &m->buffers[s];
		uint64_t figures[3] = {b->size, room[s], hole[s]};
		hbm_reason_id id = b->barred ? b->barred : HBM_REASON_LX_NO_ROOM;
		uint32_t n = b->barred ? b->n_figures : room[s] == HBM_NO_OFFSET ? 1 : 3;
		const uint64_t *figure = b->barred ? b->figure : figures;
		if (address[s] != HBM_NO_OFFSET)
			continue;
		if (m->an.storages.items[s].demand == HBM_HOME_LX)
			return demand_failed(m, s, id, figure, n);
		HBM_TRY(refuse(m, s, id, b->who, n, figure));
	}
	return HBM_OK;
}

static hbm_status refuse_all(hbm_pass_cx *cx, hbm_reason_id id)
{
	for (hbm_storage_id s = 0; s < cx->an->storages.n; s++)
		HBM_TRY(hbm_refuse(cx, s, HBM_HOME_LX, id, 0, 0, NULL));
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	hbm_lx_model m = {.cx = cx, .mem = cx->scratch};
	hbm_lx_opts opts = {.solver = cx->opts->lx_solver, .effort = cx->opts->effort};
	hbm_lx_problem problem;
	hbm_lx_layout layout;
	scale sc = {0};

	m.capacity = hbm_target_num(cx->target, HBM_KEY_LX_USABLE, 0);
	m.align = hbm_target_num(cx->target, HBM_KEY_LX_ALIGN, 1);
	if (cx->opts->lx_off)
		return refuse_all(cx, HBM_REASON_OFF);
	if (!m.capacity)
		return refuse_all(cx, HBM_REASON_NO_TIER);
	HBM_TRY(read_features(cx, &m.features));
	if (cx->opts->no_reuse)
		m.features &= ~(uint32_t)HBM_LX_IN_PLACE;
	HBM_TRY(hbm_lx_model_make(&m));
	HBM_TRY(make_problem(&m, &problem, &sc));
	HBM_TRY(hbm_lx_solve(m.mem, &problem, &opts, cx->diags, &layout));
	HBM_TRY(explain(&m, &problem, layout.address));
	record(&m, &layout, &sc, &cx->plan->lx);
	return hbm_lx_commit(&m, layout.address);
}

const hbm_pass hbm_pass_scratchpad = {
	.name = "scratchpad",
	.summary = "choose what lives in the cores' scratchpads, and where",
	.needs = HBM_FACT_DIVIDED,
	.gives = HBM_FACT_LX,
	.before = HBM_FACT_POOLS | HBM_FACT_DRAM,
	.breaks_analysis = true,
	.run = run,
};
