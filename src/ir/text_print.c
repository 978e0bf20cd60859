/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the text form: every field that differs from its default, in a fixed
 * order, so that reading it back gives the same program and two dumps can be
 * compared line by line. */
#include "ir/text.h"

#include "ir/lex.h"

#include <string.h>

static void put_quoted(hbm_out *o, const char *s, uint32_t n)
{
	hbm_putc(o, '"');
	for (uint32_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '"' || c == '\\')
			hbm_putc(o, '\\');
		if (c == '\n')
			hbm_puts(o, "\\n");
		else if (c == '\t')
			hbm_puts(o, "\\t");
		else if (c < 0x20 || c == 0x7f)
			hbm_putf(o, "\\x%02x", c);
		else
			hbm_putc(o, (char)c);
	}
	hbm_putc(o, '"');
}

static void put_name(const hbm_program *p, hbm_out *o, hbm_sym sym)
{
	const char *s = hbm_str_of(p, sym);
	uint32_t n = hbm_sym_len(&p->syms, sym);

	if (hbm_name_is_bare(s, n))
		hbm_put(o, s, n);
	else
		put_quoted(o, s, n);
}

static void put_tensor(const hbm_program *p, hbm_out *o, hbm_tensor_id t)
{
	put_name(p, o, p->tensors.items[t].name);
}

static void put_key_num(hbm_out *o, const char *key, uint64_t v)
{
	hbm_putf(o, " %s=", key);
	hbm_putu(o, v);
}

static void put_key_name(const hbm_program *p, hbm_out *o, const char *key, hbm_sym sym)
{
	hbm_putf(o, " %s=", key);
	put_name(p, o, sym);
}

static void put_value(const hbm_program *p, hbm_out *o, const hbm_value *v)
{
	if (v->is_num)
		hbm_putu(o, v->num);
	else
		put_name(p, o, v->str);
}

static void put_attrs(const hbm_program *p, hbm_out *o, hbm_span attrs)
{
	for (uint32_t i = 0; i < attrs.n; i++) {
		const hbm_attr *a = &p->attrs.items[attrs.first + i];
		const hbm_value *v = p->values.items + a->first;
		hbm_putc(o, ' ');
		put_name(p, o, a->key);
		if (a->n)
			hbm_puts(o, a->n == 1 ? "=" : "=[");
		for (uint32_t k = 0; k < a->n; k++) {
			hbm_puts(o, k ? ", " : "");
			put_value(p, o, &v[k]);
		}
		if (a->n > 1)
			hbm_putc(o, ']');
	}
}

/* ---- tensors ------------------------------------------------------------- */

static void put_symbol(const hbm_program *p, hbm_out *o, hbm_sym sym)
{
	if (sym)
		put_name(p, o, sym);
	else
		hbm_putc(o, '?');
}

static void put_dim(const hbm_program *p, hbm_out *o, const hbm_dim *d)
{
	bool known = !d->unknown && d->min == d->value;

	if (known && !d->sym) {
		hbm_putu(o, d->value);
	} else {
		if (!d->unknown && !known && d->min) {
			hbm_putu(o, d->min);
			hbm_puts(o, "<=");
		}
		put_symbol(p, o, d->sym);
		if (!d->unknown || d->min) {
			hbm_puts(o, known ? "=" : d->unknown ? ">=" : "<=");
			hbm_putu(o, d->unknown ? d->min : d->value);
		}
	}
	if (d->hint) {
		hbm_putc(o, '~');
		hbm_putu(o, d->hint);
	}
	if (d->nosplit)
		hbm_putc(o, '!');
}

static bool has_unknown(const hbm_program *p, hbm_span dims)
{
	for (uint32_t i = 0; i < dims.n; i++)
		if (p->dims.items[dims.first + i].unknown)
			return true;
	return false;
}

static void put_dims(const hbm_program *p, hbm_out *o, hbm_span dims)
{
	hbm_putc(o, '[');
	for (uint32_t i = 0; i < dims.n; i++) {
		hbm_puts(o, i ? ", " : "");
		put_dim(p, o, &p->dims.items[dims.first + i]);
	}
	hbm_putc(o, ']');
}

static void put_type(const hbm_program *p, hbm_out *o, const hbm_tensor *t)
{
	bool bytes = t->dtype == HBM_DT_none && !t->dims.n;
	bool sized = (t->flags & HBM_T_SIZED) != 0;

	if (bytes && sized) {
		hbm_puts(o, " : ");
		hbm_putu(o, t->size);
		hbm_puts(o, " bytes");
		return;
	}
	if (!bytes) {
		hbm_puts(o, " : ");
		if (t->dtype != HBM_DT_none)
			hbm_puts(o, hbm_dtype_name(t->dtype));
		if (t->dims.n)
			put_dims(p, o, t->dims);
	}
	if (sized)
		put_key_num(o, "size", t->size);
}

static void put_home(const hbm_program *p, hbm_out *o, const hbm_home *h)
{
	if (h->with && h->with <= p->tensors.n) {
		hbm_puts(o, " @ with ");
		put_name(p, o, p->tensors.items[h->with - 1].name);
	} else if (h->kind == HBM_HOME_NONE) {
		return;
	} else {
		hbm_putf(o, " @ %s", hbm_home_kind_name(h->kind));
	}
	if (h->kind == HBM_HOME_POOL) {
		hbm_putc(o, ' ');
		if (h->bundle < p->nodes.n)
			put_name(p, o, p->nodes.items[h->bundle].name);
		else
			hbm_putc(o, '?');
	}
	if (h->offset != HBM_NO_OFFSET) {
		hbm_putc(o, ' ');
		hbm_putu(o, h->offset);
	}
	if (h->size) {
		hbm_puts(o, " size ");
		hbm_putu(o, h->size);
	}
}

/* A tensor with several of these is declared by the first. */
static const hbm_flag_word classes[] = {{"input", HBM_T_INPUT},
                                        {"weight", HBM_T_WEIGHT},
                                        {"state", HBM_T_STATE},
                                        {"output", HBM_T_OUTPUT}};

/* The keyword of the declaration; returns the flags it says. */
static uint32_t put_class(hbm_out *o, const hbm_tensor *t)
{
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		if (t->flags & classes[i].flag) {
			hbm_putf(o, "%s ", classes[i].word);
			return classes[i].flag;
		}
	}
	hbm_puts(o, t->base != HBM_NONE ? "view " : "tensor ");
	return 0;
}

static void put_flags(const hbm_program *p, hbm_out *o, const hbm_tensor *t,
                      uint32_t said)
{
	if (!(t->flags & HBM_T_SIZED) &&
	    (has_unknown(p, t->dims) || has_unknown(p, t->device)))
		said |= HBM_T_DYNAMIC;
	for (uint32_t i = 0; i < HBM_N_FLAG_WORDS; i++)
		if (t->flags & ~said & hbm_flag_words[i].flag)
			hbm_putf(o, " %s", hbm_flag_words[i].word);
}

static void print_tensor(const hbm_program *p, hbm_out *o, const hbm_tensor *t)
{
	uint32_t said = put_class(o, t);

	put_name(p, o, t->name);
	if (t->base != HBM_NONE) {
		hbm_puts(o, " = ");
		put_tensor(p, o, t->base);
		if (t->offset) {
			hbm_puts(o, " + ");
			hbm_putu(o, t->offset);
		}
	}
	put_type(p, o, t);
	put_flags(p, o, t, said);
	if (t->device.n) {
		hbm_puts(o, " device=");
		put_dims(p, o, t->device);
	}
	if (t->align)
		put_key_num(o, "align", t->align);
	if (t->pin != HBM_NO_OFFSET)
		put_key_num(o, "pin", t->pin);
	if (t->demand != HBM_HOME_NONE)
		hbm_putf(o, " home=%s", hbm_home_kind_name(t->demand));
	if (t->src)
		put_key_name(p, o, "src", t->src);
	if (t->owner)
		put_key_name(p, o, "owner", t->owner);
	put_attrs(p, o, t->attrs);
	put_home(p, o, &t->home);
	hbm_putc(o, '\n');
}

/* ---- ops ----------------------------------------------------------------- */

static void put_operand(const hbm_program *p, hbm_out *o, const hbm_operand *a)
{
	const char *sep = "";

	put_tensor(p, o, a->tensor);
	if (!a->offset && !a->len && !a->strides.n)
		return;
	hbm_putc(o, '[');
	if (a->offset || a->len) {
		hbm_putu(o, a->offset);
		hbm_puts(o, "..");
		if (a->len)
			hbm_putu(o, a->offset + a->len);
		sep = ", ";
	}
	for (uint32_t i = 0; i < a->strides.n; i++) {
		const hbm_stride *s = &p->strides.items[a->strides.first + i];
		hbm_puts(o, sep);
		put_name(p, o, p->nodes.items[s->loop].name);
		hbm_putc(o, '*');
		hbm_putu(o, s->bytes);
		sep = ", ";
	}
	hbm_putc(o, ']');
}

static void put_operands(const hbm_program *p, hbm_out *o, hbm_span span)
{
	for (uint32_t i = 0; i < span.n; i++) {
		hbm_puts(o, i ? ", " : "");
		put_operand(p, o, &p->operands.items[span.first + i]);
	}
}

/* By name where the name is enough to find it again. */
static void put_operand_ref(const hbm_program *p, hbm_out *o, hbm_span span, uint32_t i)
{
	enum { FEW = 16 };
	const hbm_operand *a = p->operands.items + span.first;
	bool unique = i < span.n && span.n <= FEW;

	for (uint32_t k = 0; unique && k < i; k++)
		unique = a[k].tensor != a[i].tensor;
	if (unique) {
		put_tensor(p, o, a[i].tensor);
		return;
	}
	hbm_putc(o, '$');
	hbm_putu(o, i);
}

static void put_inplace(const hbm_program *p, hbm_out *o, const hbm_op *op)
{
	const hbm_inplace *pair = p->inplaces.items + op->inplace.first;

	for (uint32_t i = 0; i < op->inplace.n; i++) {
		hbm_puts(o, i ? ", " : " inplace(");
		put_operand_ref(p, o, op->writes, pair[i].write);
		hbm_putc(o, '=');
		put_operand_ref(p, o, op->reads, pair[i].read);
		hbm_puts(o, pair[i].must ? " must" : "");
		hbm_puts(o, pair[i].keeps ? " keeps" : "");
	}
	if (op->inplace.n)
		hbm_putc(o, ')');
}

static void put_iters(const hbm_program *p, hbm_out *o, const hbm_op *op)
{
	const hbm_iter *it = p->iters.items + op->iters.first;

	for (uint32_t i = 0; i < op->iters.n; i++) {
		hbm_puts(o, i ? ", " : " iter(");
		put_name(p, o, it[i].name);
		hbm_putc(o, '=');
		hbm_putu(o, it[i].extent);
		hbm_puts(o, it[i].reduction ? " reduction" : "");
		hbm_puts(o, it[i].stick ? " stick" : "");
		if (it[i].split)
			put_key_num(o, "split", it[i].split);
	}
	if (op->iters.n)
		hbm_putc(o, ')');
}

static void print_op(const hbm_program *p, hbm_out *o, const hbm_op *op)
{
	hbm_puts(o, "op ");
	if (op->name) {
		put_name(p, o, op->name);
		hbm_puts(o, ": ");
	}
	if (op->opname)
		put_name(p, o, op->opname);
	hbm_putc(o, '(');
	put_operands(p, o, op->reads);
	hbm_putc(o, ')');
	if (op->writes.n) {
		hbm_puts(o, " -> ");
		put_operands(p, o, op->writes);
	}
	if (op->kind != HBM_OP_COMPUTE)
		hbm_putf(o, " kind=%s", hbm_op_kind_name(op->kind));
	put_inplace(p, o, op);
	put_iters(p, o, op);
	if (op->cores)
		put_key_num(o, "cores", op->cores);
	if (op->scratch)
		put_key_num(o, "scratch", op->scratch);
	if (op->src)
		put_key_name(p, o, "src", op->src);
	put_attrs(p, o, op->attrs);
	hbm_putc(o, '\n');
}

/* ---- nodes --------------------------------------------------------------- */

static void print_head(const hbm_program *p, hbm_out *o, const hbm_node *n)
{
	static const char *const words[] = {"op", "bundle", "loop", "region",
	                                    "parallel"};

	hbm_puts(o, words[n->kind]);
	if (n->name || (n->attrs.n && n->kind != HBM_NODE_LOOP)) {
		hbm_putc(o, ' ');
		put_name(p, o, n->name);
	}
	if (n->kind == HBM_NODE_LOOP && n->trips)
		hbm_putf(o, " x%llu", (unsigned long long)n->trips);
	else if (n->kind == HBM_NODE_LOOP)
		hbm_puts(o, " x?");
	put_attrs(p, o, n->attrs);
	hbm_puts(o, " {\n");
}

/* Ends the blocks that end before node `next`; returns the one around it. */
static hbm_node_id print_ends(const hbm_program *p, hbm_out *o, hbm_node_id around,
                              hbm_node_id next, uint32_t *depth)
{
	while (around != HBM_NONE && p->nodes.items[around].end <= next) {
		(*depth)--;
		hbm_pad(o, 2 * *depth);
		hbm_puts(o, "}\n");
		around = p->nodes.items[around].parent;
	}
	return around;
}

static void print_nodes(const hbm_program *p, hbm_out *o)
{
	hbm_node_id around = HBM_NONE;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < p->nodes.n; i++) {
		const hbm_node *n = &p->nodes.items[i];
		around = print_ends(p, o, around, i, &depth);
		if (!depth && (n->kind != HBM_NODE_OP || !i ||
		               p->nodes.items[i - 1].parent != HBM_NONE ||
		               p->nodes.items[i - 1].kind != HBM_NODE_OP))
			hbm_putc(o, '\n');
		hbm_pad(o, 2 * depth);
		if (n->kind == HBM_NODE_OP) {
			print_op(p, o, &p->ops.items[n->op]);
			continue;
		}
		print_head(p, o, n);
		around = i;
		depth++;
	}
	print_ends(p, o, around, p->nodes.n, &depth);
}

static void print_reduction(const hbm_program *p, hbm_out *o, const hbm_reduction *r)
{
	hbm_puts(o, "reduction ");
	if (r->name)
		put_name(p, o, r->name);
	hbm_putc(o, ':');
	if (r->fill)
		put_key_name(p, o, "fill", r->fill);
	if (r->combine)
		put_key_name(p, o, "combine", r->combine);
	if (r->drain)
		put_key_name(p, o, "drain", r->drain);
	if (r->acc != HBM_NONE) {
		hbm_puts(o, " acc=");
		put_tensor(p, o, r->acc);
	}
	hbm_putc(o, '\n');
}

void hbm_text_print(const hbm_program *p, hbm_out *o)
{
	if (p->name)
		hbm_puts(o, "program ");
	if (p->name)
		put_name(p, o, p->name);
	hbm_puts(o, p->name ? "\n" : "");
	if (p->target)
		hbm_puts(o, "target ");
	if (p->target)
		put_name(p, o, p->target);
	hbm_puts(o, p->target ? "\n" : "");
	if (p->tensors.n && (p->name || p->target))
		hbm_putc(o, '\n');
	for (uint32_t i = 0; i < p->tensors.n; i++)
		print_tensor(p, o, &p->tensors.items[i]);
	print_nodes(p, o);
	if (p->reductions.n)
		hbm_putc(o, '\n');
	for (uint32_t i = 0; i < p->reductions.n; i++)
		print_reduction(p, o, &p->reductions.items[i]);
}
