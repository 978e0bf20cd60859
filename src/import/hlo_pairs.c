/* SPDX-License-Identifier: Apache-2.0
 * hlo_pairs: which operand a result may stand in, as XLA's in-place rules say
 * (docs/formats/hlo.md). Linear in the operands of an instruction. */
#include "import/hlo_walk.h"

static hbm_status add_pair(hlo_flat *f, uint32_t read, uint32_t write, bool update)
{
	const hlo_value *r, *w;

	if (read == HBM_NONE || write == HBM_NONE)
		return HBM_OK;
	read = hlo_value_of(f, read);
	r = &f->values.items[read];
	w = &f->values.items[write];
	if (r->size != w->size || (r->flags ^ w->flags) & HLO_V_HOST)
		return HBM_OK;
	HBM_NEED(HBM_PUSH(f->arena, &f->pairs, (hlo_pair){read, write, update}));
	hlo_now(f)->pairs.n++;
	return HBM_OK;
}

/* The value stands in one operand only. */
static bool once(const hlo_flat *f, uint32_t v)
{
	return v != HBM_NONE && f->values.items[hlo_value_of(f, v)].slots == 1;
}

static hbm_status elementwise_pairs(hlo_flat *f, const hlo_frame *fr,
                                    const hlo_instr *x)
{
	uint32_t out = hlo_refs(fr, x)[0], n;

	for (uint32_t k = 0; k < x->operands.n && x->leaves.n == 1; k++) {
		const uint32_t *v = hlo_operand_refs(f, fr, x, k, &n);
		bool again = false;
		if (n != 1 || v[0] == HBM_NONE ||
		    !hlo_same_bytes(f->m, hlo_operand_node(f, x, k), x->shape))
			continue;
		for (uint32_t j = 0; j < hlo_now(f)->pairs.n; j++)
			again |= f->pairs.items[hlo_now(f)->pairs.first + j].read ==
			         hlo_value_of(f, v[0]);
		if (!again)
			HBM_TRY(add_pair(f, v[0], out, false));
	}
	return HBM_OK;
}

/* Result i and operand i, for the first `n` operands. */
static hbm_status update_pairs(hlo_flat *f, const hlo_frame *fr, const hlo_instr *x,
                               uint32_t n)
{
	uint32_t out = 0, k, parts;

	for (k = 0; k < n && k < x->operands.n; k++) {
		const uint32_t *v = hlo_operand_refs(f, fr, x, k, &parts);
		for (uint32_t i = 0; i < parts && out < x->leaves.n; i++, out++)
			if (once(f, v[i]))
				HBM_TRY(add_pair(f, v[i], hlo_refs(fr, x)[out], true));
	}
	return HBM_OK;
}

static hbm_status fusion_pairs(hlo_flat *f, const hlo_frame *fr, const hlo_instr *x)
{
	uint32_t comp = f->m->called.items[x->called.first].comp, n;
	hbm_span shares;

	HBM_TRY(hlo_fusion_shares(f->m, comp));
	shares = f->m->comps.items[comp].shares;
	for (uint32_t i = 0; i < shares.n; i++) {
		hlo_share s = f->m->shares.items[shares.first + i];
		const uint32_t *v;
		if (s.param >= x->operands.n || s.out >= x->leaves.n ||
		    (x->fusion != HLO_K_LOOP && !s.update))
			continue;
		v = hlo_operand_refs(f, fr, x, s.param, &n);
		if (n == 1 && once(f, v[0]))
			HBM_TRY(add_pair(f, v[0], hlo_refs(fr, x)[s.out], s.update));
	}
	return HBM_OK;
}

static hbm_status custom_pairs(hlo_flat *f, const hlo_frame *fr, const hlo_instr *x)
{
	for (uint32_t i = 0; i < x->aliases.n; i++) {
		const hlo_alias *a = &f->m->aliases.items[x->aliases.first + i];
		uint32_t out = hlo_leaf_at(f, x->shape, a->out), in, n;
		const uint32_t *v;
		if (a->operand >= x->operands.n || out == HBM_NONE)
			continue;
		in = hlo_leaf_at(f, hlo_operand_node(f, x, (uint32_t)a->operand), a->in);
		v = hlo_operand_refs(f, fr, x, (uint32_t)a->operand, &n);
		if (in != HBM_NONE && once(f, v[in]))
			HBM_TRY(add_pair(f, v[in], hlo_refs(fr, x)[out], true));
	}
	return HBM_OK;
}

hbm_status hlo_add_pairs(hlo_flat *f, const hlo_frame *fr, const hlo_instr *x)
{
	hlo_now(f)->pairs.first = f->pairs.n;
	switch (hlo_opcode_infos[x->opcode].class) {
	case HLO_ELEM:
		return elementwise_pairs(f, fr, x);
	case HLO_DUS:
		return update_pairs(f, fr, x, 1);
	case HLO_SCATTER:
		return update_pairs(f, fr, x, x->leaves.n);
	case HLO_LEAFWISE:
		return update_pairs(f, fr, x, x->operands.n);
	case HLO_FUSION:
		return fusion_pairs(f, fr, x);
	case HLO_CUSTOM:
		return custom_pairs(f, fr, x);
	default:
		return HBM_OK;
	}
}
