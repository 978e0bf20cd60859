/* SPDX-License-Identifier: Apache-2.0 */
/* The module's parts that text and proto share: places, leaves of shapes, and the
 * resolution of names into ids with the checks that later steps rely on. */
#include "import/hlo.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

const hlo_opcode_info hlo_opcode_infos[HLO_N_OPCODES] = {
#define OPCODE(id, text, class, kind) {text, HLO_##class, HBM_OP_##kind},
#include "import/hlo_opcodes.def"
#undef OPCODE
};

hlo_opcode hlo_opcode_find(const char *s, size_t n)
{
	uint32_t lo = 0, hi = HLO_N_OPCODES;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		const char *text = hlo_opcode_infos[mid].text;
		int order = strncmp(text, s, n);
		if (!order && text[n])
			order = 1;
		if (!order)
			return (hlo_opcode)mid;
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return HLO_N_OPCODES;
}

void hlo_module_init(hlo_module *m, hbm_arena *a, hbm_diags *d, hbm_syms *syms,
                     const char *file)
{
	*m = (hlo_module){.arena = a, .diags = d, .syms = syms, .file = file,
	                  .entry = HBM_NONE};
}

hbm_sym hlo_clean(hbm_arena *a, hbm_syms *syms, hlo_slice s, bool escapes)
{
	char *buf = HBM_ARRAY(a, char, s.n);
	size_t n = 0;
	bool bad;

	if (!buf)
		return HBM_NONE;
	for (uint32_t i = 0; i < s.n; i++) {
		if (escapes && s.s[i] == '\\' && i + 1 < s.n)
			i++;
		buf[n++] = s.s[i];
	}
	bad = !hbm_is_utf8(buf, n);
	for (size_t i = 0; i < n; i++)
		if (!buf[i] || (bad && (unsigned char)buf[i] >= 0x80))
			buf[i] = '?';
	return hbm_intern(syms, buf, n);
}

static hbm_status index_lines(hlo_module *m)
{
	uint32_t n = 1;
	const char *end = m->text + m->n_text;

	for (const char *p = m->text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		n++;
	HBM_NEED(m->line_at = HBM_ARRAY(m->arena, uint32_t, n));
	m->line_at[0] = 0;
	m->n_lines = 1;
	for (const char *p = m->text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		m->line_at[m->n_lines++] = (uint32_t)(p + 1 - m->text);
	return HBM_OK;
}

hbm_status hlo_set_text(hlo_module *m, const char *text, size_t n)
{
	m->text = text;
	m->n_text = n;
	return index_lines(m);
}

uint32_t hlo_line(const hlo_module *m, uint32_t pos, uint32_t *ret_col)
{
	uint32_t lo = 0, hi = m->n_lines;

	*ret_col = 0;
	if (!m->text || !hi)
		return 0;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (m->line_at[mid] <= pos)
			lo = mid;
		else
			hi = mid;
	}
	*ret_col = pos - m->line_at[lo] + 1;
	return lo + 1;
}

hbm_where hlo_at(const hlo_module *m, uint32_t pos, uint32_t len)
{
	hbm_where w = {.file = m->file, .len = len};

	w.line = hlo_line(m, pos, &w.col);
	if (w.line)
		w.text = m->text + m->line_at[w.line - 1];
	return w;
}

hbm_status hlo_shape_leaves(hlo_module *m, uint32_t shape, hbm_span *ret)
{
	hbm_span span = {.first = m->leaf_nodes.n};

	/* Nodes stand in pre-order and the shape was finished last. */
	for (uint32_t i = shape; i < m->nodes.n; i++) {
		m->nodes.items[i].leaf = span.n;
		if (m->nodes.items[i].kind == HLO_TUPLES)
			continue;
		m->nodes.items[i].n_leaves = 1;
		HBM_NEED(HBM_PUSH(m->arena, &m->leaf_nodes, i));
		span.n++;
	}
	for (uint32_t i = m->nodes.n; i-- > shape;) {
		hlo_node *n = &m->nodes.items[i];
		if (n->kind != HLO_TUPLES)
			continue;
		n->n_leaves = 0;
		for (uint32_t k = 0; k < n->n; k++)
			n->n_leaves += m->nodes.items[m->kids.items[n->first + k]].n_leaves;
	}
	*ret = span;
	return HBM_OK;
}

static const char *find_in(hlo_slice s, const char *what)
{
	size_t n = strlen(what);

	for (uint32_t i = 0; i + n <= s.n; i++)
		if (s.s[i] == what[0] && !memcmp(s.s + i, what, n))
			return s.s + i + n;
	return NULL;
}

void hlo_trip_count(hlo_slice config, hlo_instr *x)
{
	const char *end = config.s + config.n;
	const char *p = find_in(config, "known_trip_count");
	uint64_t v = 0;

	for (; p && p < end && *p != '}' && (*p < '0' || *p > '9'); p++)
		;
	for (; p && p < end && *p >= '0' && *p <= '9' && v < (uint64_t)1 << 50; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	x->trips = v;
}

static bool is_text(hlo_slice s, const char *text)
{
	return strlen(text) == s.n && !memcmp(text, s.s, s.n);
}

void hlo_fusion_kind(hlo_slice kind, hlo_instr *x)
{
	x->fusion = !kind.n                    ? HLO_K_NONE
	            : is_text(kind, "kLoop")   ? HLO_K_LOOP
	            : is_text(kind, "kInput")  ? HLO_K_INPUT
	            : is_text(kind, "kOutput") ? HLO_K_OUTPUT
	                                       : HLO_K_CUSTOM;
}

void hlo_direction(hlo_slice direction, hlo_instr *x)
{
	x->compare = is_text(direction, "LT")   ? HLO_CMP_LT
	             : is_text(direction, "LE") ? HLO_CMP_LE
	             : is_text(direction, "GT") ? HLO_CMP_GT
	             : is_text(direction, "GE") ? HLO_CMP_GE
	                                        : HLO_CMP_OTHER;
}

uint32_t hlo_subshape(const hlo_module *m, uint32_t node, hbm_span path)
{
	for (uint32_t i = 0; i < path.n; i++) {
		const hlo_node *n = &m->nodes.items[node];
		uint64_t k = m->numbers.items[path.first + i];
		if (n->kind != HLO_TUPLES || k >= n->n)
			return HBM_NONE;
		node = m->kids.items[n->first + k];
	}
	return node;
}

/* ---- names ---------------------------------------------------------------- */

typedef struct resolver {
	hlo_module *m;
	uint32_t *instr; /* sym -> instruction */
	uint32_t *comp;  /* sym -> computation */
	uint32_t n;
} resolver;

static const char *str(const resolver *r, hbm_sym name)
{
	return hbm_sym_str(r->m->syms, name);
}

static hbm_status unknown(const resolver *r, const char *what, hbm_sym name,
                          uint32_t pos)
{
	return hbm_fail(r->m->diags, HBM_SEMANTIC, HBM_E_HLO_NAME,
	                hlo_at(r->m, pos, hbm_sym_len(r->m->syms, name)),
	                "no %s '%s'", what, str(r, name));
}

static hbm_status wrong(const resolver *r, const hlo_instr *x, const char *what)
{
	return hbm_fail(r->m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
	                hlo_at(r->m, x->pos, hbm_sym_len(r->m->syms, x->name)),
	                "'%s' (%s): %s", str(r, x->name),
	                hlo_opcode_infos[x->opcode].text, what);
}

static hbm_status find_operand(resolver *r, const hlo_comp *c, hlo_operand *o)
{
	uint32_t at = o->name == HBM_NONE ? o->instr : r->instr[o->name];
	uint32_t sub;

	/* Names of other computations linger in the table. */
	if (at == HBM_NONE || at < c->first || at >= c->first + c->n)
		return unknown(r, "instruction", o->name, o->pos);
	o->instr = at;
	sub = hlo_subshape(r->m, r->m->instrs.items[at].shape, o->path);
	if (sub == HBM_NONE)
		return hbm_fail(r->m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
		                hlo_at(r->m, o->pos, 0), "'%s' has no such element",
		                str(r, o->name));
	return HBM_OK;
}

static uint32_t operand_shape(const hlo_module *m, const hlo_instr *x, uint32_t i)
{
	const hlo_operand *o = &m->operands.items[x->operands.first + i];

	return hlo_subshape(m, m->instrs.items[o->instr].shape, o->path);
}

/* What an instruction calls by name must be there, and be as many as it needs. */
static hbm_status find_called(resolver *r, const hlo_instr *x)
{
	for (uint32_t i = 0; i < x->called.n; i++) {
		hlo_called *c = &r->m->called.items[x->called.first + i];
		if (c->name != HBM_NONE)
			c->comp = r->comp[c->name];
		if (c->comp == HBM_NONE)
			return unknown(r, "computation", c->name, c->pos);
	}
	return HBM_OK;
}

static uint32_t leaves_of(const hlo_module *m, uint32_t node)
{
	return node == HBM_NONE ? 0 : m->nodes.items[node].n_leaves;
}

/* First leaf of a shape, in leaf_nodes: `node` is a part of instruction `x`'s. */
static uint32_t first_leaf(const hlo_module *m, const hlo_instr *x, uint32_t node)
{
	return x->leaves.first + m->nodes.items[node].leaf;
}

/* Two runs of leaves are of the same types and sizes. */
static bool alike(hlo_module *m, uint32_t a, uint32_t b, uint32_t n)
{
	m->compared += n;
	for (uint32_t i = 0; i < n; i++) {
		const hlo_node *x = &m->nodes.items[m->leaf_nodes.items[a + i]];
		const hlo_node *y = &m->nodes.items[m->leaf_nodes.items[b + i]];
		if (x->kind != y->kind || x->dtype != y->dtype || x->size != y->size)
			return false;
	}
	return true;
}

static hbm_status check_same(const resolver *r, const hlo_instr *x)
{
	if (!x->operands.n)
		return wrong(r, x, "lacks its operand");
	if (leaves_of(r->m, operand_shape(r->m, x, 0)) < x->leaves.n)
		return wrong(r, x, "result has more parts than the operand");
	return HBM_OK;
}

static hbm_status check_gte(const resolver *r, const hlo_instr *x)
{
	const hlo_node *n;

	if (x->operands.n != 1)
		return wrong(r, x, "takes one operand");
	n = &r->m->nodes.items[operand_shape(r->m, x, 0)];
	if (n->kind != HLO_TUPLES || x->number >= n->n)
		return wrong(r, x, "index is out of the operand's range");
	if (leaves_of(r->m, r->m->kids.items[n->first + x->number]) != x->leaves.n)
		return wrong(r, x, "result does not match the element");
	return HBM_OK;
}

static hbm_status check_tuple(const resolver *r, const hlo_instr *x)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < x->operands.n; i++)
		sum += leaves_of(r->m, operand_shape(r->m, x, i));
	return sum == x->leaves.n ? HBM_OK
	                          : wrong(r, x, "shape does not match the operands");
}

/* Computation `comp` takes operand `k` of `x` as its parameter `param`. */
static bool takes(hlo_module *m, uint32_t comp, uint64_t param, const hlo_instr *x,
                  uint32_t k)
{
	const hlo_comp *c = &m->comps.items[comp];
	const hlo_operand *o = &m->operands.items[x->operands.first + k];
	uint32_t node = operand_shape(m, x, k);
	const hlo_instr *p;

	if (param >= c->n_params || c->params[param] == HBM_NONE)
		return true;
	p = &m->instrs.items[c->params[param]];
	return p->leaves.n == leaves_of(m, node) &&
	       alike(m, p->leaves.first, first_leaf(m, &m->instrs.items[o->instr], node),
	             p->leaves.n);
}

static bool gives(hlo_module *m, uint32_t comp, const hlo_instr *x)
{
	const hlo_instr *root = &m->instrs.items[m->comps.items[comp].root];

	return root->leaves.n == x->leaves.n &&
	       alike(m, root->leaves.first, x->leaves.first, x->leaves.n);
}

static uint32_t called(const hlo_module *m, const hlo_instr *x, uint32_t i)
{
	return m->called.items[x->called.first + i].comp;
}

static bool gives_bool(const hlo_module *m, uint32_t comp)
{
	const hlo_instr *root = &m->instrs.items[m->comps.items[comp].root];

	return m->nodes.items[root->shape].kind == HLO_ARRAY &&
	       m->nodes.items[root->shape].dtype == HBM_DT_bool;
}

static hbm_status check_while(const resolver *r, const hlo_instr *x)
{
	hlo_module *m = r->m;

	if (x->operands.n != 1 || x->called.n != 2)
		return wrong(r, x, "needs one operand, a condition and a body");
	if (leaves_of(m, operand_shape(m, x, 0)) != x->leaves.n ||
	    !takes(m, called(m, x, 0), 0, x, 0) || !takes(m, called(m, x, 1), 0, x, 0) ||
	    !gives(m, called(m, x, 1), x))
		return wrong(r, x, "operand, body and result do not match");
	if (!gives_bool(m, called(m, x, 0)))
		return wrong(r, x, "the condition gives no pred[]");
	return HBM_OK;
}

static hbm_status check_cond(const resolver *r, const hlo_instr *x)
{
	if (!x->called.n || x->operands.n != x->called.n + 1)
		return wrong(r, x, "needs a selector and one operand for each branch");
	for (uint32_t i = 0; i < x->called.n; i++)
		if (!takes(r->m, called(r->m, x, i), 0, x, i + 1) ||
		    !gives(r->m, called(r->m, x, i), x))
			return wrong(r, x, "a branch does not match operand or result");
	return HBM_OK;
}

static hbm_status check_call(const resolver *r, const hlo_instr *x)
{
	if (x->called.n != 1)
		return wrong(r, x, "needs one called computation");
	for (uint32_t i = 0; i < x->operands.n; i++)
		if (!takes(r->m, called(r->m, x, 0), i, x, i))
			return wrong(r, x, "an operand does not match its parameter");
	if (!gives(r->m, called(r->m, x, 0), x))
		return wrong(r, x, "result does not match the called computation");
	return HBM_OK;
}

static hbm_status check(const resolver *r, const hlo_instr *x)
{
	switch (hlo_opcode_infos[x->opcode].class) {
	case HLO_SAME:
	case HLO_RESHAPE:
	case HLO_TRANSPOSE:
		return check_same(r, x);
	case HLO_GTE:
		return check_gte(r, x);
	case HLO_TUPLE:
		return check_tuple(r, x);
	case HLO_WHILE:
		return check_while(r, x);
	case HLO_COND:
		return check_cond(r, x);
	case HLO_CALL:
		return check_call(r, x);
	case HLO_DONE:
		return x->operands.n ? HBM_OK : wrong(r, x, "lacks its operand");
	case HLO_FUSION:
		return x->called.n == 1 ? HBM_OK
		                        : wrong(r, x, "needs one called computation");
	default:
		return HBM_OK;
	}
}

static hbm_status resolve_instr(resolver *r, const hlo_comp *c, const hlo_instr *x)
{
	for (uint32_t i = 0; i < x->operands.n; i++)
		HBM_TRY(find_operand(r, c, &r->m->operands.items[x->operands.first + i]));
	for (uint32_t i = 0; i < x->controls.n; i++)
		HBM_TRY(find_operand(r, c, &r->m->operands.items[x->controls.first + i]));
	return find_called(r, x);
}

/* Enters the names of a computation's instructions; the later of two wins, as the
 * text's own reader has it only when the first is in another computation. */
static hbm_status enter(resolver *r, const hlo_comp *c)
{
	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		const hlo_instr *x = &r->m->instrs.items[i];
		uint32_t old = r->instr[x->name];
		if (old != HBM_NONE && old >= c->first)
			return wrong(r, x, "name is taken by an earlier instruction");
		r->instr[x->name] = i;
	}
	return HBM_OK;
}

/* Takes the first of what the steps returned; goes on unless it is fatal. */
static bool keep(hbm_status status, hbm_status *first)
{
	if (*first == HBM_OK)
		*first = status;
	return status == HBM_OK || status == HBM_SEMANTIC || status == HBM_SYNTAX;
}

static hbm_status find_params(const resolver *r, hlo_comp *c)
{
	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		const hlo_instr *x = &r->m->instrs.items[i];
		if (x->opcode != HLO_OP_PARAMETER)
			continue;
		if (x->number >= c->n)
			return wrong(r, x, "parameter numbers leave a gap");
		if (x->number >= c->n_params)
			c->n_params = (uint32_t)x->number + 1;
	}
	HBM_NEED(c->params = HBM_ARRAY(r->m->arena, uint32_t, c->n_params));
	memset(c->params, 0xff, c->n_params * sizeof *c->params);
	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		const hlo_instr *x = &r->m->instrs.items[i];
		if (x->opcode != HLO_OP_PARAMETER)
			continue;
		if (c->params[x->number] != HBM_NONE)
			return wrong(r, x, "parameter number is taken");
		c->params[x->number] = i;
	}
	return HBM_OK;
}

static hbm_status resolve_comp(resolver *r, hlo_comp *c)
{
	hbm_status first = HBM_OK;

	if (!keep(enter(r, c), &first))
		return first;
	for (uint32_t i = 0; i < c->n && !hbm_diags_full(r->m->diags); i++)
		if (!keep(resolve_instr(r, c, &r->m->instrs.items[c->first + i]), &first))
			break;
	if (first == HBM_OK)
		first = find_params(r, c);
	c->bad |= first != HBM_OK;
	return first;
}

static hbm_status check_comp(const resolver *r, hlo_comp *c)
{
	hbm_status first = HBM_OK;

	c->n_leaves = 0;
	for (uint32_t i = 0; i < c->n && !hbm_diags_full(r->m->diags); i++) {
		const hlo_instr *x = &r->m->instrs.items[c->first + i];
		c->n_leaves += x->leaves.n;
		keep(check(r, x), &first);
		if (r->m->compared > HLO_MAX_COMPARED)
			return hbm_fail(r->m->diags, HBM_LIMIT, HBM_E_TOO_LARGE,
			                hlo_at(r->m, x->pos, 0),
			                "calls hand over more than %d parts of tuples",
			                HLO_MAX_COMPARED);
	}
	return first;
}

static hbm_status find_entry(hlo_module *m)
{
	if (!m->comps.n)
		return hbm_fail(m->diags, HBM_SYNTAX, HBM_E_HLO_SYNTAX,
		                hlo_at(m, (uint32_t)m->n_text, 0),
		                "no computation in the module");
	m->entry = HBM_NONE;
	for (uint32_t i = 0; i < m->comps.n; i++) {
		if (!m->comps.items[i].entry)
			continue;
		if (m->entry != HBM_NONE)
			return hbm_fail(m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
			                hlo_at(m, m->comps.items[i].pos, 0),
			                "the module has two ENTRY computations");
		m->entry = i;
	}
	if (m->entry == HBM_NONE)
		m->entry = m->comps.n - 1;
	return HBM_OK;
}

static hbm_status name_comps(resolver *r)
{
	for (uint32_t i = 0; i < r->m->comps.n; i++) {
		const hlo_comp *c = &r->m->comps.items[i];
		if (r->comp[c->name] != HBM_NONE)
			return hbm_fail(r->m->diags, HBM_SEMANTIC, HBM_E_HLO_SEMANTIC,
			                hlo_at(r->m, c->pos, 0),
			                "computation '%s' stands twice", str(r, c->name));
		r->comp[c->name] = i;
	}
	return HBM_OK;
}

hbm_status hlo_resolve(hlo_module *m)
{
	resolver r = {.m = m, .n = m->syms->strs.n};
	hbm_status first = HBM_OK;

	HBM_TRY(find_entry(m));
	HBM_NEED(r.instr = HBM_ARRAY(m->arena, uint32_t, r.n));
	HBM_NEED(r.comp = HBM_ARRAY(m->arena, uint32_t, r.n));
	memset(r.instr, 0xff, r.n * sizeof *r.instr);
	memset(r.comp, 0xff, r.n * sizeof *r.comp);
	HBM_TRY(name_comps(&r));
	for (uint32_t i = 0; i < m->comps.n; i++)
		if (!keep(resolve_comp(&r, &m->comps.items[i]), &first))
			return first;
	for (uint32_t i = 0; i < m->comps.n && first == HBM_OK; i++)
		keep(check_comp(&r, &m->comps.items[i]), &first);
	return first;
}
