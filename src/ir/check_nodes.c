/* SPDX-License-Identifier: Apache-2.0 */
/* The node tree: ids in range, nesting, names of ops and nodes. */
#include "ir/check.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- shape --------------------------------------------------------------- */

static void misshapen(hbm_checker *c, const char *what, uint32_t i)
{
	hbm_check_failed(c, hbm_fail(c->diags, HBM_USAGE, HBM_E_STRUCTURE, HBM_NOWHERE,
	                             "%s %" PRIu32 " of the program is malformed", what,
	                             i));
}

static bool in(hbm_span s, uint32_t n)
{
	return !s.n || (s.first < n && s.n <= n - s.first);
}

static bool tensor_shape(const hbm_program *p, uint32_t i)
{
	const hbm_tensor *t = &p->tensors.items[i];

	return t->dtype < HBM_N_DTYPES && in(t->dims, p->dims.n) &&
	       in(t->device, p->dims.n) && in(t->attrs, p->attrs.n) &&
	       (t->base == HBM_NONE || t->base < p->tensors.n) &&
	       t->demand <= HBM_HOME_IO && t->home.kind <= HBM_HOME_IO &&
	       t->home.with <= p->tensors.n;
}

static bool op_shape(const hbm_program *p, uint32_t i)
{
	const hbm_op *op = &p->ops.items[i];

	return op->kind <= HBM_OP_COLLECTIVE && op->node < p->nodes.n &&
	       p->nodes.items[op->node].kind == HBM_NODE_OP &&
	       p->nodes.items[op->node].op == i &&
	       (!i || op->node > p->ops.items[i - 1].node) &&
	       in(op->reads, p->operands.n) && in(op->writes, p->operands.n) &&
	       in(op->inplace, p->inplaces.n) && in(op->iters, p->iters.n) &&
	       in(op->attrs, p->attrs.n);
}

/* `open` is the innermost node that holds node i. */
static bool node_shape(const hbm_program *p, uint32_t i, hbm_node_id open)
{
	const hbm_node *n = &p->nodes.items[i];
	uint32_t limit = open == HBM_NONE ? p->nodes.n : p->nodes.items[open].end;
	bool leaf = n->kind == HBM_NODE_OP;

	return n->kind <= HBM_NODE_PARALLEL && n->parent == open && n->end > i &&
	       n->end <= limit && (!leaf || n->end == i + 1) &&
	       (leaf ? n->op < p->ops.n && p->ops.items[n->op].node == i
	             : n->op == HBM_NONE) &&
	       in(n->attrs, p->attrs.n);
}

static void check_node_shapes(hbm_checker *c)
{
	const hbm_program *p = c->p;
	hbm_node_id open = HBM_NONE;

	for (uint32_t i = 0; i < p->nodes.n; i++) {
		while (open != HBM_NONE && p->nodes.items[open].end <= i)
			open = p->nodes.items[open].parent;
		if (!node_shape(p, i, open)) {
			misshapen(c, "node", i);
			return;
		}
		if (p->nodes.items[i].kind != HBM_NODE_OP)
			open = i;
	}
}

static bool operand_shape(const hbm_program *p, uint32_t i)
{
	const hbm_operand *o = &p->operands.items[i];

	if (o->tensor >= p->tensors.n || !in(o->strides, p->strides.n))
		return false;
	for (uint32_t k = 0; k < o->strides.n; k++)
		if (p->strides.items[o->strides.first + k].loop >= p->nodes.n)
			return false;
	return true;
}

/* Names reach JSON and HTML: they must be text. */
static void check_texts(hbm_checker *c)
{
	char text[64];

	for (uint32_t i = 0; i < c->p->syms.strs.n && !hbm_check_full(c); i++) {
		const hbm_str *s = &c->p->syms.strs.items[i];
		uint32_t n = 0;
		if (hbm_is_utf8(s->s, s->n) && strlen(s->s) == s->n)
			continue;
		for (uint32_t k = 0; k < s->n && n + 8 < sizeof text; k++) {
			bool plain = s->s[k] >= 0x20 && s->s[k] < 0x7f;
			n += (uint32_t)snprintf(text + n, sizeof text - n,
			                        plain ? "%c" : "\\x%02x",
			                        (unsigned char)s->s[k]);
		}
		HBM_CHECK_FAIL(c, (hbm_where){.file = c->p->file}, HBM_E_SYNTAX,
		               "a name is not UTF-8: '%s'", text);
	}
}

hbm_status hbm_check_shape(hbm_checker *c)
{
	const hbm_program *p = c->p;

	check_texts(c);
	check_node_shapes(c);
	for (uint32_t i = 0; i < p->tensors.n && !hbm_check_full(c); i++)
		if (!tensor_shape(p, i))
			misshapen(c, "tensor", i);
	for (uint32_t i = 0; i < p->ops.n && !hbm_check_full(c); i++)
		if (!op_shape(p, i))
			misshapen(c, "op", i);
	for (uint32_t i = 0; i < p->operands.n && !hbm_check_full(c); i++)
		if (!operand_shape(p, i))
			misshapen(c, "operand", i);
	for (uint32_t i = 0; i < p->attrs.n && !hbm_check_full(c); i++) {
		const hbm_attr *a = &p->attrs.items[i];
		if (!in((hbm_span){a->first, a->n}, p->values.n))
			misshapen(c, "attribute", i);
	}
	for (uint32_t i = 0; i < p->reductions.n && !hbm_check_full(c); i++) {
		hbm_tensor_id acc = p->reductions.items[i].acc;
		if (acc != HBM_NONE && acc >= p->tensors.n)
			misshapen(c, "reduction", i);
	}
	return HBM_OK;
}

/* ---- names --------------------------------------------------------------- */

static void duplicate(hbm_checker *c, hbm_where at, hbm_where first, const char *what,
                      hbm_sym name)
{
	const char *s = hbm_str_of(c->p, name);

	at.len = first.len = hbm_sym_len(&c->p->syms, name);
	HBM_CHECK_FAIL(c, at, HBM_E_DUPLICATE, "%s '%s' is declared twice", what, s);
	hbm_note(c->diags, first, "'%s' is declared first here", s);
}

/* The first of "<letters><n>", "<letters><n>_", ... that is not in `used`. */
static hbm_sym fresh_name(hbm_checker *c, const hbm_map *used, const char *letter,
                          uint32_t n)
{
	char buf[64];
	int len = snprintf(buf, sizeof buf, "%s%" PRIu32, letter, n);

	for (;;) {
		hbm_sym sym = hbm_intern(&c->p->syms, buf, (size_t)len);
		if (sym == HBM_NONE || hbm_map_get(used, sym) == HBM_NONE ||
		    len + 2 >= (int)sizeof buf)
			return sym;
		buf[len++] = '_';
		buf[len] = '\0';
	}
}

static hbm_status check_op_names(hbm_checker *c)
{
	hbm_program *p = c->p;
	hbm_map used;

	hbm_map_init(&used, &c->scratch);
	for (uint32_t i = 0; i < p->ops.n && !hbm_check_full(c); i++) {
		hbm_sym name = p->ops.items[i].name;
		uint32_t first = name ? hbm_map_get(&used, name) : HBM_NONE;
		if (first != HBM_NONE)
			duplicate(c, hbm_check_op_at(c, i), hbm_check_op_at(c, first),
			          "op", name);
		else if (name)
			HBM_NEED(hbm_map_set(&used, name, i));
	}
	for (uint32_t i = 0; i < p->ops.n; i++) {
		hbm_op *op = &p->ops.items[i];
		if (!op->name)
			op->name = fresh_name(c, &used, "o", i);
		HBM_NEED(op->name != HBM_NONE);
		p->nodes.items[op->node].name = op->name;
	}
	return HBM_OK;
}

static const struct {
	const char *letter, *word;
} kinds[] = {{"o", "op"},
             {"k", "bundle"},
             {"L", "loop"},
             {"r", "region"},
             {"p", "parallel"}};

/* A name may come again, but not inside itself, and a bundle's not at all. */
static hbm_status check_node_name(hbm_checker *c, hbm_map *used, hbm_node_id i)
{
	const hbm_node *n = &c->p->nodes.items[i], *a;
	hbm_node_id first = HBM_NONE;

	if (!n->name)
		return HBM_OK;
	if (n->kind == HBM_NODE_BUNDLE)
		first = hbm_map_get(used, n->name);
	for (hbm_node_id k = n->parent; k != HBM_NONE && first == HBM_NONE;
	     k = a->parent) {
		a = &c->p->nodes.items[k];
		if (a->kind == n->kind && a->name == n->name)
			first = k;
	}
	if (first != HBM_NONE)
		duplicate(c, hbm_check_node_at(c, i), hbm_check_node_at(c, first),
		          kinds[n->kind].word, n->name);
	if (n->kind == HBM_NODE_BUNDLE || hbm_map_get(used, n->name) == HBM_NONE)
		HBM_NEED(hbm_map_set(used, n->name, i));
	return HBM_OK;
}

static hbm_status check_node_names(hbm_checker *c)
{
	hbm_program *p = c->p;
	uint32_t count[HBM_NODE_PARALLEL + 1] = {0};
	hbm_map used[2]; /* bundles, others */

	hbm_map_init(&used[0], &c->scratch);
	hbm_map_init(&used[1], &c->scratch);
	for (uint32_t i = 0; i < p->nodes.n && !hbm_check_full(c); i++)
		if (p->nodes.items[i].kind != HBM_NODE_OP)
			HBM_TRY(check_node_name(
				c, &used[p->nodes.items[i].kind != HBM_NODE_BUNDLE],
				i));
	for (uint32_t i = 0; i < p->nodes.n; i++) {
		hbm_node *n = &p->nodes.items[i];
		const hbm_map *m = &used[n->kind != HBM_NODE_BUNDLE];
		uint32_t nth = count[n->kind]++;
		if (n->kind == HBM_NODE_OP || n->name)
			continue;
		n->name = fresh_name(c, m, kinds[n->kind].letter, nth);
		HBM_NEED(n->name != HBM_NONE);
	}
	return HBM_OK;
}

static hbm_status check_reduction_names(hbm_checker *c)
{
	const hbm_program *p = c->p;
	hbm_map used;

	hbm_map_init(&used, &c->scratch);
	for (uint32_t i = 0; i < p->reductions.n && !hbm_check_full(c); i++) {
		const hbm_reduction *r = &p->reductions.items[i], *s;
		uint32_t first = r->name ? hbm_map_get(&used, r->name) : HBM_NONE;
		if (first == HBM_NONE && r->name) {
			HBM_NEED(hbm_map_set(&used, r->name, i));
		} else if (r->name) {
			s = &p->reductions.items[first];
			duplicate(c, hbm_at(p, r->line, r->col, 0),
			          hbm_at(p, s->line, s->col, 0), "reduction", r->name);
		}
	}
	return HBM_OK;
}

/* ---- nesting ------------------------------------------------------------- */

static void check_nesting(hbm_checker *c)
{
	const hbm_program *p = c->p;
	hbm_node_id open = HBM_NONE;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < p->nodes.n && !hbm_check_full(c); i++) {
		const hbm_node *n = &p->nodes.items[i];
		while (open != HBM_NONE && p->nodes.items[open].end <= i) {
			open = p->nodes.items[open].parent;
			depth--;
		}
		if (n->kind == HBM_NODE_BUNDLE && n->parent != HBM_NONE) {
			HBM_CHECK_FAIL(c, hbm_check_node_at(c, i), HBM_E_STRUCTURE,
			               "bundle '%s' stands inside a %s",
			               hbm_str_of(p, n->name),
			               kinds[p->nodes.items[open].kind].word);
			hbm_note(c->diags, hbm_check_node_at(c, open),
			         "a bundle is one kernel invocation and stands alone");
		}
		if (n->kind == HBM_NODE_OP)
			continue;
		open = i;
		if (++depth > HBM_MAX_DEPTH) {
			hbm_check_failed(c, hbm_fail(c->diags, HBM_LIMIT, HBM_E_NESTING,
			                             hbm_check_node_at(c, i),
			                             "more than %d blocks inside "
			                             "each other",
			                             (int)HBM_MAX_DEPTH));
			return;
		}
	}
}

static void check_node_attrs(hbm_checker *c)
{
	const hbm_program *p = c->p;

	for (uint32_t i = 0; i < p->nodes.n && !hbm_check_full(c); i++) {
		const hbm_node *n = &p->nodes.items[i];
		for (uint32_t k = 0; k < n->attrs.n && n->kind != HBM_NODE_OP; k++) {
			const hbm_attr *a = &p->attrs.items[n->attrs.first + k];
			hbm_status st =
				hbm_attr_check(p, c->diags, hbm_attr_object_of(n->kind),
			                       a, hbm_check_node_at(c, i));
			if (st != HBM_OK)
				hbm_check_failed(c, st);
		}
	}
}

hbm_status hbm_check_nodes(hbm_checker *c)
{
	check_nesting(c);
	if (c->status == HBM_LIMIT) /* names look at ancestors */
		return HBM_OK;
	HBM_TRY(check_op_names(c));
	HBM_TRY(check_node_names(c));
	HBM_TRY(check_reduction_names(c));
	check_node_attrs(c);
	return HBM_OK;
}
