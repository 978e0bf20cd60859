/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ir.h"

#include "ir/json.h"

#include <string.h>

hbm_status ir_read(hbm_arena *a, hbm_diags *d, const char *text, hbm_program *ret)
{
	return hbm_text_read(a, d, "t.hbm", text, strlen(text), NULL, 0, ret);
}

static char *print(hbm_arena *a, const hbm_program *p,
                   void (*write)(const hbm_program *, hbm_out *))
{
	hbm_membuf buf = {.arena = a};
	hbm_out out;

	hbm_out_init(&out, hbm_membuf_write, &buf);
	write(p, &out);
	if (hbm_out_finish(&out) != HBM_OK)
		return NULL;
	return buf.bytes.items ? buf.bytes.items : hbm_arena_strndup(a, "", 0);
}

char *ir_print(hbm_arena *a, const hbm_program *p)
{
	return print(a, p, hbm_text_print);
}

char *ir_print_json(hbm_arena *a, const hbm_program *p)
{
	return print(a, p, hbm_json_print);
}

static void put_source(hbm_out *out, const hbm_diag *m)
{
	uint32_t n = m->source ? (uint32_t)strlen(m->source) : 0;

	if (!m->source)
		return;
	hbm_putf(out, "  | %s\n  | ", m->source);
	for (uint32_t i = 0; i + 1 < m->col && i < n; i++)
		hbm_putc(out, m->source[i] == '\t' ? '\t' : ' ');
	hbm_putc(out, '^');
	for (uint32_t i = 1; i < m->len && m->col + i <= n; i++)
		hbm_putc(out, '~');
	hbm_putc(out, '\n');
}

char *ir_messages(hbm_arena *a, const hbm_diags *d, bool source)
{
	static const char *const words[] = {"error", "warning", "note"};
	hbm_membuf buf = {.arena = a};
	hbm_out out;

	hbm_out_init(&out, hbm_membuf_write, &buf);
	for (uint32_t i = 0; i < d->list.n; i++) {
		const hbm_diag *m = &d->list.items[i];
		if (m->line)
			hbm_putf(&out, "%u:%u: ", m->line, m->col);
		else
			hbm_puts(&out, "-: ");
		hbm_putf(&out, "%s: %s", words[m->severity], m->text);
		if (m->code)
			hbm_putf(&out, " [HBM%04d]", (int)m->code);
		hbm_putc(&out, '\n');
		if (source)
			put_source(&out, m);
	}
	if (hbm_out_finish(&out) != HBM_OK)
		return NULL;
	return buf.bytes.items ? buf.bytes.items : hbm_arena_strndup(a, "", 0);
}

/* ---- comparing ----------------------------------------------------------- */

typedef struct pair {
	const hbm_program *a, *b;
} pair;

static bool same_sym(const pair *c, hbm_sym x, hbm_sym y)
{
	return !strcmp(hbm_str_of(c->a, x), hbm_str_of(c->b, y));
}

static bool same_dims(const pair *c, hbm_span x, hbm_span y)
{
	if (x.n != y.n)
		return false;
	for (uint32_t i = 0; i < x.n; i++) {
		const hbm_dim *p = &c->a->dims.items[x.first + i];
		const hbm_dim *q = &c->b->dims.items[y.first + i];
		if (p->value != q->value || p->min != q->min || p->hint != q->hint ||
		    p->unknown != q->unknown || p->nosplit != q->nosplit ||
		    !same_sym(c, p->sym, q->sym))
			return false;
	}
	return true;
}

static bool same_attrs(const pair *c, hbm_span x, hbm_span y)
{
	if (x.n != y.n)
		return false;
	for (uint32_t i = 0; i < x.n; i++) {
		const hbm_attr *p = &c->a->attrs.items[x.first + i];
		const hbm_attr *q = &c->b->attrs.items[y.first + i];
		if (p->n != q->n || !same_sym(c, p->key, q->key))
			return false;
		for (uint32_t k = 0; k < p->n; k++) {
			const hbm_value *v = &c->a->values.items[p->first + k];
			const hbm_value *w = &c->b->values.items[q->first + k];
			if (v->is_num != w->is_num || v->num != w->num ||
			    !same_sym(c, v->str, w->str))
				return false;
		}
	}
	return true;
}

static bool same_tensor(const pair *c, const hbm_tensor *x, const hbm_tensor *y)
{
	return same_sym(c, x->name, y->name) && x->flags == y->flags &&
	       x->dtype == y->dtype && same_dims(c, x->dims, y->dims) &&
	       same_dims(c, x->device, y->device) && x->size == y->size &&
	       x->align == y->align && x->pin == y->pin && x->base == y->base &&
	       x->offset == y->offset && x->demand == y->demand &&
	       x->home.kind == y->home.kind && x->home.bundle == y->home.bundle &&
	       x->home.offset == y->home.offset && x->home.with == y->home.with &&
	       x->home.size == y->home.size && same_sym(c, x->src, y->src) &&
	       same_sym(c, x->owner, y->owner) && same_attrs(c, x->attrs, y->attrs);
}

static bool same_operands(const pair *c, hbm_span x, hbm_span y)
{
	if (x.n != y.n)
		return false;
	for (uint32_t i = 0; i < x.n; i++) {
		const hbm_operand *p = &c->a->operands.items[x.first + i];
		const hbm_operand *q = &c->b->operands.items[y.first + i];
		if (p->tensor != q->tensor || p->offset != q->offset ||
		    p->len != q->len || p->strides.n != q->strides.n)
			return false;
		for (uint32_t k = 0; k < p->strides.n; k++) {
			const hbm_stride *s =
				&c->a->strides.items[p->strides.first + k];
			const hbm_stride *t =
				&c->b->strides.items[q->strides.first + k];
			if (s->loop != t->loop || s->bytes != t->bytes)
				return false;
		}
	}
	return true;
}

static bool same_inplace(const pair *c, hbm_span x, hbm_span y)
{
	if (x.n != y.n)
		return false;
	for (uint32_t i = 0; i < x.n; i++) {
		const hbm_inplace *p = &c->a->inplaces.items[x.first + i];
		const hbm_inplace *q = &c->b->inplaces.items[y.first + i];
		if (p->write != q->write || p->read != q->read || p->must != q->must ||
		    p->keeps != q->keeps)
			return false;
	}
	return true;
}

static bool same_iters(const pair *c, hbm_span x, hbm_span y)
{
	if (x.n != y.n)
		return false;
	for (uint32_t i = 0; i < x.n; i++) {
		const hbm_iter *p = &c->a->iters.items[x.first + i];
		const hbm_iter *q = &c->b->iters.items[y.first + i];
		if (!same_sym(c, p->name, q->name) || p->extent != q->extent ||
		    p->split != q->split || p->reduction != q->reduction ||
		    p->stick != q->stick)
			return false;
	}
	return true;
}

static bool same_op(const pair *c, const hbm_op *x, const hbm_op *y)
{
	return same_sym(c, x->name, y->name) && same_sym(c, x->opname, y->opname) &&
	       x->kind == y->kind && x->node == y->node &&
	       same_operands(c, x->reads, y->reads) &&
	       same_operands(c, x->writes, y->writes) &&
	       same_inplace(c, x->inplace, y->inplace) &&
	       same_iters(c, x->iters, y->iters) && x->scratch == y->scratch &&
	       x->cores == y->cores && same_sym(c, x->src, y->src) &&
	       same_attrs(c, x->attrs, y->attrs);
}

static bool same_node(const pair *c, const hbm_node *x, const hbm_node *y)
{
	return x->kind == y->kind && same_sym(c, x->name, y->name) &&
	       x->parent == y->parent && x->end == y->end && x->op == y->op &&
	       x->trips == y->trips && same_attrs(c, x->attrs, y->attrs);
}

static bool same_reduction(const pair *c, const hbm_reduction *x,
                           const hbm_reduction *y)
{
	return same_sym(c, x->name, y->name) && same_sym(c, x->fill, y->fill) &&
	       same_sym(c, x->combine, y->combine) && same_sym(c, x->drain, y->drain) &&
	       x->acc == y->acc;
}

#define SAME_ALL(field, same)                                                  \
	do {                                                                   \
		if (a->field.n != b->field.n)                                  \
			return "number of " #field;                            \
		for (uint32_t i = 0; i < a->field.n; i++)                      \
			if (!same(&c, &a->field.items[i], &b->field.items[i])) \
				return #field;                                 \
	} while (0)

const char *ir_difference(const hbm_program *a, const hbm_program *b)
{
	pair c = {a, b};

	if (!same_sym(&c, a->name, b->name))
		return "name";
	if (!same_sym(&c, a->target, b->target))
		return "target";
	SAME_ALL(tensors, same_tensor);
	SAME_ALL(ops, same_op);
	SAME_ALL(nodes, same_node);
	SAME_ALL(reductions, same_reduction);
	return NULL;
}
