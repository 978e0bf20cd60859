/* SPDX-License-Identifier: Apache-2.0
 * hlo: XLA HLO modules become programs.
 *
 * Text here, protobuf in hlo_proto.c; both give a module, and the rest is common:
 * order of each computation, flattening, sharing of bytes, program
 * (docs/formats/hlo.md). */
#include "import/hlo_flat.h"

#include "base/ckd.h"

#include <stdio.h>
#include <string.h>

/* ---- order of what is called ---------------------------------------------- */

static bool enters(const hlo_instr *x)
{
	switch (hlo_opcode_infos[x->opcode].class) {
	case HLO_WHILE:
	case HLO_COND:
	case HLO_CALL:
		return true;
	default:
		return false;
	}
}

/* What writing the computation out takes; that of what it calls is known. */
static void count_steps(hlo_module *m, hlo_comp *c)
{
	c->walk = (uint64_t)c->n_order + c->n_leaves;
	c->steps = 0;
	for (uint32_t i = 0; i < c->n_order; i++) {
		const hlo_instr *x = &m->instrs.items[c->order[i]];
		hlo_class class = hlo_opcode_infos[x->opcode].class;
		c->steps += class == HLO_PLAIN || class == HLO_ELEM || class == HLO_FUSION;
		for (uint32_t k = 0; k < x->called.n && enters(x); k++) {
			const hlo_comp *in =
				&m->comps.items[m->called.items[x->called.first + k].comp];
			c->walk = hbm_add_sat(c->walk, in->walk);
			c->steps = hbm_add_sat(c->steps, in->steps);
		}
	}
}

/* Orders `comp` and what it calls; of what stands in a fusion only finds out that it
 * does not call itself. */
static hbm_status order_all(hlo_module *m, uint32_t comp, uint32_t depth, bool fused)
{
	enum { NEW, OPEN, FUSED, DONE };
	hlo_comp *c = &m->comps.items[comp];

	if (c->visit == DONE || (c->visit == FUSED && fused))
		return HBM_OK;
	if (c->visit == OPEN)
		return hbm_fail(m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
		                hlo_at(m, c->pos, 0), "computation '%s' calls itself",
		                hbm_sym_str(m->syms, c->name));
	if (depth >= HBM_MAX_DEPTH)
		return hbm_fail(m->diags, HBM_LIMIT, HBM_E_NESTING, hlo_at(m, c->pos, 0),
		                "computations call each other deeper than %d",
		                HBM_MAX_DEPTH);
	c->visit = OPEN;
	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		const hlo_instr *x = &m->instrs.items[i];
		bool fusion = x->opcode == HLO_OP_FUSION;
		for (uint32_t k = 0; k < x->called.n && (enters(x) || fusion); k++)
			HBM_TRY(order_all(m, m->called.items[x->called.first + k].comp,
			                  depth + 1, fused || fusion));
	}
	c->visit = fused ? FUSED : DONE;
	if (fused)
		return HBM_OK;
	HBM_TRY(hlo_order(m, comp));
	count_steps(m, c);
	return HBM_OK;
}

/* Calls within calls multiply; what is certain to be too much is not begun. */
static hbm_status check_steps(const hlo_module *m)
{
	const hlo_comp *c = &m->comps.items[m->entry];

	if (c->walk <= HLO_MAX_WALK && c->steps <= HLO_MAX_FLAT)
		return HBM_OK;
	return hbm_fail(m->diags, HBM_LIMIT, HBM_E_TOO_LARGE, hlo_at(m, c->pos, 0),
	                "written out, the calls of this module take more than %d steps",
	                HLO_MAX_FLAT);
}

static hbm_status tell_order(const hlo_module *m, hbm_program *p)
{
	const hlo_comp *c = &m->comps.items[m->entry];
	char text[160];

	if (m->scheduled)
		return HBM_OK;
	snprintf(text, sizeof text, "not scheduled: planned in %s order (the smallest peak "
	         "of three topological orders); intermediates are an upper bound, as "
	         "nothing is fused yet", c->order_from);
	HBM_NEED(hbm_warn(m->diags, HBM_E_HLO_ORDER, hlo_at(m, c->pos, 0), "module "
	                  "'%s' is %s", hbm_sym_str(m->syms, m->name), text));
	p->order = hbm_intern_cstr(&p->syms, text);
	return p->order == HBM_NONE ? HBM_NOMEM : HBM_OK;
}

hbm_status hlo_to_program(hlo_module *m, hbm_arena *scratch, hbm_program *p)
{
	hlo_flat f = {.m = m, .arena = scratch};

	hlo_find_trips(m);
	HBM_TRY(order_all(m, m->entry, 0, false));
	HBM_TRY(check_steps(m));
	HBM_TRY(hlo_flatten(&f));
	HBM_TRY(hlo_merge(&f));
	HBM_TRY(hlo_emit(&f, p));
	p->name = m->name;
	return tell_order(m, p);
}

/* ---- the importer --------------------------------------------------------- */

hbm_status hlo_import(hbm_arena *a, const hbm_source *src, const hbm_import_opts *opts,
                      hbm_diags *d, hbm_imported *ret, hlo_read_fn read)
{
	hbm_program p;
	hbm_arena scratch;
	hlo_module m;
	hbm_status status;

	HBM_TRY(hbm_program_init(&p, a));
	p.file = src->path;
	hbm_arena_init(&scratch, &a->mem);
	hlo_module_init(&m, &scratch, d, &p.syms, src->path);
	status = read(&m, src->bytes.data, src->bytes.n);
	if (status == HBM_OK)
		status = hlo_to_program(&m, &scratch, &p);
	hbm_arena_fini(&scratch);
	HBM_TRY(status);
	if (opts->target) {
		p.target = hbm_intern_cstr(&p.syms, opts->target);
		HBM_NEED(p.target != HBM_NONE);
	}
	*ret = (hbm_imported){.program = p};
	return HBM_OK;
}

static hbm_status hlo_text_read(hbm_arena *a, const hbm_source *src,
                                const hbm_import_opts *opts, hbm_diags *d,
                                hbm_imported *ret)
{
	return hlo_import(a, src, opts, d, ret, hlo_read_text);
}

static const char *find(const char *s, size_t n, const char *what)
{
	size_t k = strlen(what);

	for (size_t i = 0; i + k <= n; i++)
		if (s[i] == *what && !memcmp(s + i, what, k))
			return s + i;
	return NULL;
}

enum { PROBE_BYTES = 1 << 16 };

/* A header, or a computation whose parameters are numbered. */
static int hlo_text_probe(const hbm_source *src)
{
	const char *s = src->bytes.data;
	size_t n = src->bytes.n < PROBE_BYTES ? src->bytes.n : PROBE_BYTES;

	if (src->is_dir || memchr(s, 0, n))
		return 0;
	if (find(s, n, "HloModule "))
		return 90;
	return find(s, n, "] parameter(") || find(s, n, "} parameter(") ||
	                       find(s, n, ") parameter(")
	               ? 60
	               : 0;
}

const hbm_importer hbm_importer_hlo = {
	"hlo", "XLA HLO text (*.hlo, *.after_optimizations.txt)",
	hlo_text_probe, hlo_text_read,
};
