/* SPDX-License-Identifier: Apache-2.0 */
/* The program as JSON: what differs from its default, one tensor and one op a
 * line, in a fixed order. */
#include "ir/json.h"

#include <stdio.h>

/* ---- values -------------------------------------------------------------- */

static void put_num(hbm_json *j, uint64_t v)
{
	char text[24];

	if (v < HBM_JSON_SAFE) {
		hbm_json_uint(j, v);
		return;
	}
	snprintf(text, sizeof text, "%llu", (unsigned long long)v);
	hbm_json_str(j, text);
}

static void put_knum(hbm_json *j, const char *key, uint64_t v)
{
	hbm_json_key(j, key);
	put_num(j, v);
}

static void put_ksym(const hbm_program *p, hbm_json *j, const char *key, hbm_sym sym)
{
	if (sym)
		hbm_json_kstr(j, key, hbm_str_of(p, sym));
}

static void put_ktrue(hbm_json *j, const char *key, bool v)
{
	if (v)
		hbm_json_kbool(j, key, true);
}

static void put_value(const hbm_program *p, hbm_json *j, const hbm_value *v)
{
	if (!v->is_num) {
		hbm_json_str(j, hbm_str_of(p, v->str));
	} else if (v->num < HBM_JSON_SAFE) {
		hbm_json_uint(j, v->num);
	} else { /* not to be taken for a string */
		hbm_json_open(j, '{', true);
		put_knum(j, "number", v->num);
		hbm_json_close(j);
	}
}

static void put_attrs(const hbm_program *p, hbm_json *j, hbm_span attrs)
{
	if (!attrs.n)
		return;
	hbm_json_key(j, "attrs");
	hbm_json_open(j, '{', true);
	for (uint32_t i = 0; i < attrs.n; i++) {
		const hbm_attr *a = &p->attrs.items[attrs.first + i];
		hbm_json_key(j, hbm_str_of(p, a->key));
		if (!a->n)
			hbm_json_bool(j, true);
		if (a->n > 1)
			hbm_json_open(j, '[', true);
		for (uint32_t k = 0; k < a->n; k++)
			put_value(p, j, &p->values.items[a->first + k]);
		if (a->n > 1)
			hbm_json_close(j);
	}
	hbm_json_close(j);
}

/* ---- tensors ------------------------------------------------------------- */

static void put_dim(const hbm_program *p, hbm_json *j, const hbm_dim *d)
{
	bool known = !d->unknown && d->min == d->value;

	if (known && !d->sym && !d->hint && !d->nosplit) {
		put_num(j, d->value);
		return;
	}
	hbm_json_open(j, '{', true);
	put_ksym(p, j, "symbol", d->sym);
	if (known)
		put_knum(j, "value", d->value);
	if (!known && d->min)
		put_knum(j, "min", d->min);
	if (!known && !d->unknown)
		put_knum(j, "max", d->value);
	if (d->hint)
		put_knum(j, "hint", d->hint);
	put_ktrue(j, "nosplit", d->nosplit);
	hbm_json_close(j);
}

static void put_dims(const hbm_program *p, hbm_json *j, const char *key, hbm_span dims)
{
	if (!dims.n)
		return;
	hbm_json_key(j, key);
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < dims.n; i++)
		put_dim(p, j, &p->dims.items[dims.first + i]);
	hbm_json_close(j);
}

static void put_flags(hbm_json *j, uint32_t flags)
{
	if (!(flags & ~(uint32_t)HBM_T_SIZED))
		return;
	hbm_json_key(j, "flags");
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < HBM_N_FLAG_WORDS; i++)
		if (flags & hbm_flag_words[i].flag)
			hbm_json_str(j, hbm_flag_words[i].word);
	hbm_json_close(j);
}

static void put_home(const hbm_program *p, hbm_json *j, const hbm_home *h)
{
	if (h->kind == HBM_HOME_NONE && !h->with)
		return;
	hbm_json_key(j, "home");
	hbm_json_open(j, '{', true);
	if (h->with)
		hbm_json_kstr(j, "with", hbm_tensor_name(p, h->with - 1));
	else
		hbm_json_kstr(j, "kind", hbm_home_kind_name(h->kind));
	if (h->kind == HBM_HOME_POOL && h->bundle < p->nodes.n)
		hbm_json_kstr(j, "bundle",
		              hbm_str_of(p, p->nodes.items[h->bundle].name));
	if (h->offset != HBM_NO_OFFSET)
		put_knum(j, "offset", h->offset);
	if (h->size)
		put_knum(j, "size_bytes", h->size);
	hbm_json_close(j);
}

static void put_tensor(const hbm_program *p, hbm_json *j, const hbm_tensor *t)
{
	hbm_json_open(j, '{', true);
	hbm_json_kstr(j, "name", hbm_str_of(p, t->name));
	if (t->base != HBM_NONE)
		hbm_json_kstr(j, "base", hbm_tensor_name(p, t->base));
	if (t->offset)
		put_knum(j, "offset", t->offset);
	put_flags(j, t->flags);
	if (t->dtype != HBM_DT_none)
		hbm_json_kstr(j, "dtype", hbm_dtype_name(t->dtype));
	put_dims(p, j, "shape", t->dims);
	put_dims(p, j, "device", t->device);
	if (t->flags & HBM_T_SIZED)
		put_knum(j, "size_bytes", t->size);
	if (t->align)
		put_knum(j, "align_bytes", t->align);
	if (t->pin != HBM_NO_OFFSET)
		put_knum(j, "pin", t->pin);
	if (t->demand != HBM_HOME_NONE)
		hbm_json_kstr(j, "demand", hbm_home_kind_name(t->demand));
	put_ksym(p, j, "src", t->src);
	put_ksym(p, j, "owner", t->owner);
	put_attrs(p, j, t->attrs);
	put_home(p, j, &t->home);
	hbm_json_close(j);
}

/* ---- ops ----------------------------------------------------------------- */

static void put_operand(const hbm_program *p, hbm_json *j, const hbm_operand *o)
{
	const char *name = hbm_tensor_name(p, o->tensor);

	if (!o->offset && !o->len && !o->strides.n) {
		hbm_json_str(j, name);
		return;
	}
	hbm_json_open(j, '{', true);
	hbm_json_kstr(j, "tensor", name);
	if (o->offset)
		put_knum(j, "offset", o->offset);
	if (o->len)
		put_knum(j, "length", o->len);
	if (o->strides.n) {
		hbm_json_key(j, "strides");
		hbm_json_open(j, '[', true);
	}
	for (uint32_t i = 0; i < o->strides.n; i++) {
		const hbm_stride *s = &p->strides.items[o->strides.first + i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "loop", hbm_str_of(p, p->nodes.items[s->loop].name));
		put_knum(j, "bytes", s->bytes);
		hbm_json_close(j);
	}
	if (o->strides.n)
		hbm_json_close(j);
	hbm_json_close(j);
}

static void put_operands(const hbm_program *p, hbm_json *j, const char *key,
                         hbm_span span)
{
	if (!span.n)
		return;
	hbm_json_key(j, key);
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < span.n; i++)
		put_operand(p, j, &p->operands.items[span.first + i]);
	hbm_json_close(j);
}

static void put_inplace(const hbm_program *p, hbm_json *j, hbm_span span)
{
	if (!span.n)
		return;
	hbm_json_key(j, "inplace");
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < span.n; i++) {
		const hbm_inplace *pair = &p->inplaces.items[span.first + i];
		hbm_json_open(j, '{', true);
		hbm_json_kuint(j, "write", pair->write);
		hbm_json_kuint(j, "read", pair->read);
		put_ktrue(j, "must", pair->must);
		put_ktrue(j, "keeps", pair->keeps);
		hbm_json_close(j);
	}
	hbm_json_close(j);
}

static void put_iters(const hbm_program *p, hbm_json *j, hbm_span span)
{
	if (!span.n)
		return;
	hbm_json_key(j, "iter");
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < span.n; i++) {
		const hbm_iter *it = &p->iters.items[span.first + i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "name", hbm_str_of(p, it->name));
		put_knum(j, "extent", it->extent);
		if (it->split)
			hbm_json_kuint(j, "split", it->split);
		put_ktrue(j, "reduction", it->reduction);
		put_ktrue(j, "stick", it->stick);
		hbm_json_close(j);
	}
	hbm_json_close(j);
}

static void put_op(const hbm_program *p, hbm_json *j, const hbm_op *op)
{
	hbm_json_open(j, '{', true);
	hbm_json_kstr(j, "op", hbm_str_of(p, op->opname));
	put_ksym(p, j, "name", op->name);
	if (op->kind != HBM_OP_COMPUTE)
		hbm_json_kstr(j, "kind", hbm_op_kind_name(op->kind));
	put_operands(p, j, "reads", op->reads);
	put_operands(p, j, "writes", op->writes);
	put_inplace(p, j, op->inplace);
	put_iters(p, j, op->iters);
	if (op->cores)
		hbm_json_kuint(j, "cores", op->cores);
	if (op->scratch)
		put_knum(j, "scratch_bytes", op->scratch);
	put_ksym(p, j, "src", op->src);
	put_attrs(p, j, op->attrs);
	hbm_json_close(j);
}

/* ---- the tree ------------------------------------------------------------ */

static void open_block(const hbm_program *p, hbm_json *j, const hbm_node *n)
{
	static const char *const keys[] = {"op", "bundle", "loop", "region",
	                                   "parallel"};

	hbm_json_open(j, '{', false);
	hbm_json_kstr(j, keys[n->kind], hbm_str_of(p, n->name));
	if (n->kind == HBM_NODE_LOOP) {
		hbm_json_key(j, "trips");
		if (n->trips)
			put_num(j, n->trips);
		else
			hbm_json_null(j);
	}
	put_attrs(p, j, n->attrs);
	hbm_json_key(j, "body");
	hbm_json_open(j, '[', false);
}

/* Ends the blocks that end before node `next`; returns the one around it. */
static hbm_node_id close_blocks(const hbm_program *p, hbm_json *j, hbm_node_id around,
                                hbm_node_id next)
{
	while (around != HBM_NONE && p->nodes.items[around].end <= next) {
		hbm_json_close(j);
		hbm_json_close(j);
		around = p->nodes.items[around].parent;
	}
	return around;
}

static void put_body(const hbm_program *p, hbm_json *j)
{
	hbm_node_id around = HBM_NONE;

	hbm_json_key(j, "body");
	hbm_json_open(j, '[', false);
	for (uint32_t i = 0; i < p->nodes.n; i++) {
		const hbm_node *n = &p->nodes.items[i];
		around = close_blocks(p, j, around, i);
		if (n->kind == HBM_NODE_OP) {
			put_op(p, j, &p->ops.items[n->op]);
		} else {
			open_block(p, j, n);
			around = i;
		}
	}
	close_blocks(p, j, around, p->nodes.n);
	hbm_json_close(j);
}

static void put_reductions(const hbm_program *p, hbm_json *j)
{
	if (!p->reductions.n)
		return;
	hbm_json_key(j, "reductions");
	hbm_json_open(j, '[', false);
	for (uint32_t i = 0; i < p->reductions.n; i++) {
		const hbm_reduction *r = &p->reductions.items[i];
		hbm_json_open(j, '{', true);
		hbm_json_kstr(j, "name", hbm_str_of(p, r->name));
		put_ksym(p, j, "fill", r->fill);
		put_ksym(p, j, "combine", r->combine);
		put_ksym(p, j, "drain", r->drain);
		if (r->acc != HBM_NONE)
			hbm_json_kstr(j, "acc", hbm_tensor_name(p, r->acc));
		hbm_json_close(j);
	}
	hbm_json_close(j);
}

void hbm_json_print(const hbm_program *p, hbm_out *o)
{
	hbm_json j;

	hbm_json_init(&j, o);
	hbm_json_open(&j, '{', false);
	hbm_json_kstr(&j, "schema", HBM_PROGRAM_SCHEMA);
	hbm_json_kstr(&j, "schema_version", HBM_PROGRAM_SCHEMA_VERSION);
	put_ksym(p, &j, "name", p->name);
	put_ksym(p, &j, "target", p->target);
	hbm_json_key(&j, "tensors");
	hbm_json_open(&j, '[', false);
	for (uint32_t i = 0; i < p->tensors.n; i++)
		put_tensor(p, &j, &p->tensors.items[i]);
	hbm_json_close(&j);
	put_body(p, &j);
	put_reductions(p, &j);
	hbm_json_close(&j);
}
