/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a program made from a dump: sizes from the best source there is,
 * views linked to their roots.
 *
 * A buffer without a size that only one kernel touches lives in registers and is
 * left out; elsewhere a missing size is an error, and for a graph input it makes
 * the tensor dynamic: unknown is not zero. */
#include "import/inductor_build.h"

#include "base/ckd.h"

#include <string.h>

hbm_sym hbm_ind_copy_sym(hbm_ind_builder *b, hbm_sym sym)
{
	return sym ? hbm_intern(&b->p->syms, hbm_ind_str(b->dump, sym),
	                        hbm_sym_len(&b->dump->syms, sym))
	           : 0;
}

static hbm_ind_at place(const hbm_ind_builder *b, const hbm_ind_name *n)
{
	const hbm_ind_buf *buf = hbm_ind_buf_of(n);

	if (buf)
		return buf->at;
	if (n->writer != HBM_NONE)
		return b->f->leaves.items[n->writer].node->at;
	return n->layout.text ? n->layout : n->fx;
}

/* ---- what a name stands for ----------------------------------------------- */

/* Arguments of rand_strided, up to the bracket that closes them. */
static bool rand_shape(hbm_ind_dump *dump, hbm_ind_at at, hbm_ind_shape *shape)
{
	size_t close;

	return hbm_ind_close(at.text, at.pos - 1, at.text->n, &close) &&
	       hbm_ind_alloc_shape(dump, at, at.pos, close, shape);
}

/* Reads the shape of a name from the best source there is. *ret_class tells
 * whether it has memory of its own. False: an error was listed. */
static bool find_shape(hbm_ind_builder *b, const hbm_ind_name *n,
                       hbm_ind_class *ret_class, hbm_ind_shape *shape)
{
	hbm_ind_dump *dump = b->dump;
	bool ok = true;

	*shape = (hbm_ind_shape){0};
	*ret_class = HBM_IND_PLAIN_LAYOUT;
	if (n->layout.text)
		return hbm_ind_layout(dump, n->layout, ret_class, shape);
	if (n->fx.text)
		return hbm_ind_fx_type(dump, n->fx, shape);
	if (n->tuple)
		*ret_class = HBM_IND_NO_MEMORY;
	else if (n->rand.text)
		ok = rand_shape(dump, n->rand, shape);
	else if (n->stmt != HBM_NONE)
		ok = hbm_ind_stmt_shape(dump, &dump->code.stmts.items[n->stmt], shape);
	else if (!n->used)
		*ret_class = HBM_IND_NO_LAYOUT;
	if (!shape->itemsize) {
		shape->dtype = n->dtype;
		shape->itemsize = n->itemsize;
	}
	return ok;
}

/* A type that no file tells: the one of the first allocation of floats. */
static void guess_type(hbm_ind_builder *b, hbm_sym sym, hbm_ind_shape *shape)
{
	if (shape->itemsize || !shape->has_extents || !b->f->itemsize ||
	    hbm_ind_name_in(b, sym)->writer == HBM_NONE)
		return;
	shape->dtype = b->f->dtype;
	shape->itemsize = b->f->itemsize;
	if (!b->n_guessed++)
		b->guessed = sym;
}

static bool is_word(const hbm_ind_text *t, size_t start, size_t n)
{
	return n && hbm_ind_word(t, start, start + n) == start + n;
}

static hbm_status add_dims(hbm_ind_builder *b, hbm_tensor *t,
                           const hbm_ind_shape *shape)
{
	for (uint32_t i = 0; i < shape->n; i++) {
		const hbm_ind_text *text = shape->at[i].text;
		hbm_dim d = {.value = shape->extent[i], .min = shape->extent[i]};
		if (text && is_word(text, shape->at[i].pos, shape->at_len[i]))
			d.sym = hbm_intern(&b->p->syms, text->s + shape->at[i].pos,
			                   shape->at_len[i]);
		HBM_NEED(d.sym != HBM_NONE && hbm_add_dim(b->p, &t->dims, d));
	}
	for (uint32_t i = 0; i < shape->n_device; i++)
		HBM_NEED(hbm_add_dim(
			b->p, &t->device,
			(hbm_dim){.value = shape->device[i], .min = shape->device[i]}));
	return HBM_OK;
}

/* True when extents alone give this size (the strides are contiguous). */
static bool natural(const hbm_ind_shape *shape, uint64_t bytes)
{
	uint64_t n = shape->itemsize;

	if (shape->n_device)
		return true;
	for (uint32_t i = 0; i < shape->n; i++)
		n = hbm_mul_sat(n, shape->extent[i]);
	return n == bytes && shape->dtype != HBM_DT_none;
}

static uint32_t role_flags(const hbm_ind_builder *b, hbm_sym sym)
{
	const hbm_ind_name *n = hbm_ind_name_in(b, sym);
	const char *s = hbm_ind_str(b->dump, sym);
	bool constant = !strncmp(s, "constant", 8) ||
	                !strncmp(s, "_frozen_param", 13) ||
	                !strncmp(s, "_tensor_constant", 16);
	uint32_t flags = n->output ? HBM_T_OUTPUT : 0;

	if (n->writer != HBM_NONE || n->base)
		return flags;
	/* What is read, not made, and no argument of call() is a constant. */
	if (constant || (b->dump->code.found && !n->arg))
		return flags | HBM_T_WEIGHT;
	return flags | HBM_T_INPUT;
}

static hbm_status unsized(hbm_ind_builder *b, hbm_sym sym, hbm_tensor *t)
{
	const hbm_ind_name *n = hbm_ind_name_in(b, sym);

	if (n->writer == HBM_NONE) {
		if (!b->n_unsized++)
			b->unsized = sym;
		t->flags |= HBM_T_DYNAMIC;
		HBM_NEED(hbm_add_dim(b->p, &t->dims, (hbm_dim){.unknown = true}));
		return HBM_OK;
	}
	HBM_IND_FAIL(b->dump, HBM_E_IND_MISSING, place(b, n), 1,
	             "no size of buffer '%s' is known%s", hbm_ind_str(b->dump, sym),
	             b->dump->code.found ? ""
	                                 : "; this version of torch tells it in "
	                                   "output_code.py, which is missing");
	return HBM_OK;
}

/* A buffer that call() never names: a kernel keeps it to itself. Before fusion the
 * kernels are not known yet. */
static bool is_internal(const hbm_ind_builder *b, const hbm_ind_name *n, bool known)
{
	bool spread = n->spread && b->dump->fused;

	return !known && n->writer != HBM_NONE && !spread && !n->output && !n->base &&
	       b->dump->code.found;
}

static hbm_status fill_tensor(hbm_ind_builder *b, hbm_sym sym, hbm_ind_shape *shape,
                              bool known, uint64_t bytes)
{
	hbm_ind_name *n = hbm_ind_name_in(b, sym);
	hbm_ind_at at = place(b, n);
	hbm_sym name = hbm_ind_copy_sym(b, sym);
	hbm_sym src = n->writer == HBM_NONE
	                      ? 0
	                      : b->f->src.items[b->f->leaves.items[n->writer].top];
	hbm_tensor *t;

	HBM_NEED(name != HBM_NONE);
	n->tensor = hbm_add_tensor(b->p, name);
	HBM_NEED(n->tensor != HBM_NONE);
	t = &b->p->tensors.items[n->tensor];
	t->flags = role_flags(b, sym);
	t->dtype = shape->dtype;
	t->src = hbm_ind_copy_sym(b, src ? src : n->origin);
	HBM_NEED(t->src != HBM_NONE);
	if (at.text == b->dump->graph.text) {
		hbm_where w = hbm_ind_where(at, 1);
		t->line = w.line;
		t->col = w.col;
	}
	if (shape->host && b->f->device)
		t->flags |= HBM_T_HOST;
	if (n->base)
		return HBM_OK; /* the view pass sets the rest */
	if (!known)
		return unsized(b, sym, t);
	t->size = bytes;
	if (!natural(shape, bytes))
		t->flags |= HBM_T_SIZED;
	return add_dims(b, t, shape);
}

/* The tensor of a name, unless it has none. */
static hbm_status make_tensor(hbm_ind_builder *b, hbm_sym sym)
{
	hbm_ind_name *n = hbm_ind_name_in(b, sym);
	hbm_ind_class class;
	hbm_ind_shape shape;
	uint64_t bytes = 0;
	bool known;

	if (n->tensor != HBM_NONE || n->sym_arg)
		return HBM_OK;
	if (!find_shape(b, n, &class, &shape))
		return HBM_OK;
	guess_type(b, sym, &shape);
	if (class == HBM_IND_NO_LAYOUT || (class == HBM_IND_NO_MEMORY && !n->base))
		return HBM_OK;
	known = hbm_ind_bytes(&shape, &bytes);
	if (!known && shape.itemsize && shape.has_extents) {
		HBM_IND_FAIL(b->dump, HBM_E_SIZE_OVERFLOW, place(b, n), 1,
		             "'%s' has more than 2^62 bytes",
		             hbm_ind_str(b->dump, sym));
		return HBM_OK;
	}
	if (is_internal(b, n, known)) {
		b->n_internal++;
		return HBM_OK;
	}
	if (n->base && shape.itemsize && shape.has_extents && !shape.n_device) {
		b->offset[sym] = hbm_mul_sat(shape.offset, shape.itemsize);
		b->sized[sym] = 1;
		bytes = hbm_mul_sat(shape.elements, shape.itemsize);
		HBM_TRY(fill_tensor(b, sym, &shape, true, bytes));
		b->p->tensors.items[n->tensor].size = bytes;
		if (!natural(&shape, bytes))
			b->p->tensors.items[n->tensor].flags |= HBM_T_SIZED;
		return add_dims(b, &b->p->tensors.items[n->tensor], &shape);
	}
	return fill_tensor(b, sym, &shape, known, bytes);
}

/* ---- views ---------------------------------------------------------------- */

/* Root and offset of every name, each chain followed once. */
static void find_roots(hbm_ind_builder *b)
{
	for (hbm_sym i = 0; i < b->dump->names.n; i++) {
		uint32_t depth = 0;
		hbm_sym sym = i;
		while (b->root[sym] == HBM_NONE && hbm_ind_name_in(b, sym)->base) {
			b->stack[depth++] = sym;
			sym = hbm_ind_name_in(b, sym)->base;
		}
		if (b->root[sym] == HBM_NONE)
			b->root[sym] = sym;
		while (depth) {
			hbm_sym base = sym;
			sym = b->stack[--depth];
			b->root[sym] = b->root[base];
			if (base != b->root[base])
				b->offset[sym] =
					hbm_add_sat(b->offset[sym], b->offset[base]);
		}
	}
}

/* A view that does not say what part it is, or does not fit, is all of its root:
 * that keeps every byte of it alive. */
static void link_view(hbm_ind_builder *b, hbm_sym sym)
{
	hbm_ind_name *n = hbm_ind_name_in(b, sym);
	hbm_ind_name *root = hbm_ind_name_in(b, b->root[sym]);
	hbm_tensor *t, *r;
	uint64_t end;

	if (n->tensor == HBM_NONE || !n->base || root->tensor == HBM_NONE)
		return;
	t = &b->p->tensors.items[n->tensor];
	r = &b->p->tensors.items[root->tensor];
	t->base = root->tensor;
	t->flags |= r->flags & HBM_T_HOST;
	end = hbm_add_sat(b->offset[sym], t->size);
	if (b->sized[sym] && !(r->flags & HBM_T_DYNAMIC) && !r->device.n &&
	    end <= r->size) {
		t->offset = b->offset[sym];
		if (t->size < r->size) /* the target may not stretch only one of them */
			r->flags |= HBM_T_SIZED, t->flags |= HBM_T_SIZED;
	} else {
		t->offset = 0;
		t->size = r->size;
		t->dims = (hbm_span){0};
		t->dtype = HBM_DT_none;
		t->flags &= ~(uint32_t)HBM_T_SIZED;
	}
	if (n->mutates && r->flags & (HBM_T_INPUT | HBM_T_WEIGHT)) {
		r->flags |= HBM_T_STATE;
		t->flags &= ~(uint32_t)HBM_T_OUTPUT;
	}
}

/* ---- tensors -------------------------------------------------------------- */

static hbm_status add_arguments(hbm_ind_builder *b)
{
	for (uint32_t i = 0; i < b->dump->args.n; i++)
		HBM_TRY(make_tensor(b, b->dump->args.items[i]));
	for (uint32_t i = 0; i < b->dump->code.stmts.n; i++) {
		const hbm_ind_stmt *st = &b->dump->code.stmts.items[i];
		for (uint32_t k = 0; st->verb == HBM_IND_ARGS && k < st->names.n; k++)
			HBM_TRY(make_tensor(
				b, b->dump->code.names.items[st->names.first + k]));
	}
	return HBM_OK;
}

hbm_status hbm_ind_add_tensors(hbm_ind_builder *b)
{
	const hbm_sym *lists = b->f->lists.items;
	bool stop = false;

	HBM_TRY(add_arguments(b));
	for (uint32_t i = 0; i < b->f->leaves.n && !stop; i++) {
		const hbm_ind_leaf *l = &b->f->leaves.items[i];
		for (uint32_t k = 0; k < l->reads.n; k++)
			HBM_TRY(make_tensor(b, lists[l->reads.first + k]));
		for (uint32_t k = 0; k < l->writes.n; k++)
			HBM_TRY(make_tensor(b, lists[l->writes.first + k]));
		stop = hbm_ind_full(b->dump);
	}
	find_roots(b);
	/* Roots that are reached through their views only. */
	for (hbm_sym i = 0; i < b->dump->names.n; i++)
		if (hbm_ind_name_in(b, i)->base &&
		    hbm_ind_name_in(b, i)->tensor != HBM_NONE) {
			hbm_ind_name_in(b, b->root[i])->used = true;
			HBM_TRY(make_tensor(b, b->root[i]));
		}
	for (hbm_sym i = 0; i < b->dump->names.n; i++)
		link_view(b, i);
	return HBM_OK;
}
