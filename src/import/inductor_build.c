/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a dump -> program: tensors first, views onto their roots, then nodes.
 *
 * One top-level node after fusion is one bundle; before fusion there are none.
 * A buffer without a size that only one kernel touches lives in registers and is
 * left out; elsewhere a missing size is an error, and for a graph input it makes
 * the tensor dynamic: unknown is not zero. */
#include "import/inductor.h"

#include "base/ckd.h"

#include <string.h>

typedef struct build {
	hbm_ind_dump *dump;
	const hbm_ind_facts *f;
	hbm_program *p;
	hbm_sym *root;      /* name -> name of the bytes behind it */
	uint64_t *offset;   /* in them */
	hbm_sym *stack;
	hbm_op_id *reader;  /* name -> last op that reads it, plus one */
	uint8_t *sized;     /* 1: tensor has extents and strides of its own */
	uint32_t n_internal, n_unsized, n_guessed;
	hbm_sym unsized, guessed; /* first of each */
} build;

static hbm_ind_name *name_at(const build *b, hbm_sym sym)
{
	return &b->dump->names.items[sym];
}

static const char *text_of(const build *b, hbm_sym sym)
{
	return hbm_ind_str(b->dump, sym);
}

static const hbm_ind_buf *buf_of(const build *b, const hbm_ind_name *n)
{
	if (n->buf == HBM_NONE || n->writer == HBM_NONE)
		return NULL;
	return &b->f->leaves.items[n->writer].g->bufs.items[n->buf];
}

/* A symbol of the program with the text of one of the dump. */
static hbm_sym copy_sym(build *b, hbm_sym sym)
{
	return sym ? hbm_intern(&b->p->syms, text_of(b, sym),
	                        hbm_sym_len(&b->dump->syms, sym))
	           : 0;
}

static hbm_ind_at place(const build *b, const hbm_ind_name *n)
{
	const hbm_ind_buf *buf = buf_of(b, n);

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
static bool find_shape(build *b, const hbm_ind_name *n, hbm_ind_class *ret_class,
                       hbm_ind_shape *shape)
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
static void guess_type(build *b, hbm_sym sym, hbm_ind_shape *shape)
{
	if (shape->itemsize || !shape->has_extents || !b->f->itemsize ||
	    name_at(b, sym)->writer == HBM_NONE)
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

static hbm_status add_dims(build *b, hbm_tensor *t, const hbm_ind_shape *shape)
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
		HBM_NEED(hbm_add_dim(b->p, &t->device,
		                     (hbm_dim){.value = shape->device[i],
		                               .min = shape->device[i]}));
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

static uint32_t role_flags(const build *b, hbm_sym sym)
{
	const hbm_ind_name *n = name_at(b, sym);
	const char *s = text_of(b, sym);
	bool constant = !strncmp(s, "constant", 8) || !strncmp(s, "_frozen_param", 13) ||
	                !strncmp(s, "_tensor_constant", 16);
	uint32_t flags = n->output ? HBM_T_OUTPUT : 0;

	if (n->writer != HBM_NONE || n->base)
		return flags;
	/* What is read, not made, and no argument of call() is a constant. */
	if (constant || (b->dump->code.found && !n->arg))
		return flags | HBM_T_WEIGHT;
	return flags | HBM_T_INPUT;
}

static hbm_status unsized(build *b, hbm_sym sym, hbm_tensor *t)
{
	const hbm_ind_name *n = name_at(b, sym);

	if (n->writer == HBM_NONE) {
		if (!b->n_unsized++)
			b->unsized = sym;
		t->flags |= HBM_T_DYNAMIC;
		HBM_NEED(hbm_add_dim(b->p, &t->dims, (hbm_dim){.unknown = true}));
		return HBM_OK;
	}
	HBM_IND_FAIL(b->dump, HBM_E_IND_MISSING, place(b, n), 1,
	             "no size of buffer '%s' is known%s", text_of(b, sym),
	             b->dump->code.found ? ""
	                                 : "; this version of torch tells it in "
	                                   "output_code.py, which is missing");
	return HBM_OK;
}

/* A buffer that call() never names: a kernel keeps it to itself. Before fusion the
 * kernels are not known yet. */
static bool is_internal(const build *b, const hbm_ind_name *n, bool known)
{
	bool spread = n->spread && b->dump->fused;

	return !known && n->writer != HBM_NONE && !spread && !n->output && !n->base &&
	       b->dump->code.found;
}

static hbm_status fill_tensor(build *b, hbm_sym sym, hbm_ind_shape *shape, bool known,
                              uint64_t bytes)
{
	hbm_ind_name *n = name_at(b, sym);
	hbm_ind_at at = place(b, n);
	hbm_sym name = copy_sym(b, sym);
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
	t->src = copy_sym(b, src ? src : n->origin);
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
static hbm_status make_tensor(build *b, hbm_sym sym)
{
	hbm_ind_name *n = name_at(b, sym);
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
		             "'%s' has more than 2^62 bytes", text_of(b, sym));
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
static void find_roots(build *b)
{
	for (hbm_sym i = 0; i < b->dump->names.n; i++) {
		uint32_t depth = 0;
		hbm_sym sym = i;
		while (b->root[sym] == HBM_NONE && name_at(b, sym)->base) {
			b->stack[depth++] = sym;
			sym = name_at(b, sym)->base;
		}
		if (b->root[sym] == HBM_NONE)
			b->root[sym] = sym;
		while (depth) {
			hbm_sym base = sym;
			sym = b->stack[--depth];
			b->root[sym] = b->root[base];
			if (base != b->root[base])
				b->offset[sym] = hbm_add_sat(b->offset[sym],
				                             b->offset[base]);
		}
	}
}

/* A view that does not say what part it is, or does not fit, is all of its root:
 * that keeps every byte of it alive. */
static void link_view(build *b, hbm_sym sym)
{
	hbm_ind_name *n = name_at(b, sym);
	hbm_ind_name *root = name_at(b, b->root[sym]);
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

static hbm_status add_arguments(build *b)
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

static hbm_status add_tensors(build *b)
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
		if (name_at(b, i)->base && name_at(b, i)->tensor != HBM_NONE) {
			name_at(b, b->root[i])->used = true;
			HBM_TRY(make_tensor(b, b->root[i]));
		}
	for (hbm_sym i = 0; i < b->dump->names.n; i++)
		link_view(b, i);
	return HBM_OK;
}

/* ---- ops ------------------------------------------------------------------ */

static const struct {
	const char *ir;
	hbm_op_kind kind;
} extern_kinds[] = {
	{"SpyreEmptyFallback", HBM_OP_ALLOC}, {"MultiOutput", HBM_OP_NOP},
	{"DeviceCopy", HBM_OP_DMA}, {"_CollectiveKernel", HBM_OP_COLLECTIVE},
	{"_WaitKernel", HBM_OP_COLLECTIVE}, {"_AllReduceKernel", HBM_OP_COLLECTIVE},
	{"_AllReduce_Kernel", HBM_OP_COLLECTIVE},
};

static hbm_op_kind op_kind(const build *b, const hbm_ind_leaf *l)
{
	const char *ir = text_of(b, l->node->ir);

	if (l->node->kind == HBM_IND_NOP)
		return HBM_OP_NOP;
	if (l->node->kind != HBM_IND_EXTERN) {
		/* On a machine with a device, what runs on the CPU is a fallback. */
		bool host = !strcmp(text_of(b, l->node->device), "cpu");
		return host && b->f->device ? HBM_OP_FALLBACK : HBM_OP_COMPUTE;
	}
	for (size_t i = 0; i < sizeof extern_kinds / sizeof *extern_kinds; i++)
		if (!strcmp(ir, extern_kinds[i].ir))
			return extern_kinds[i].kind;
	if (!strcmp(ir, "FallbackKernel") && b->f->spyre)
		return HBM_OP_FALLBACK;
	return HBM_OP_EXTERN;
}

/* Each tensor once per op: `reader` remembers the last op that read it. */
static hbm_status read_operand(build *b, hbm_op_id op, hbm_sym sym)
{
	hbm_tensor_id t = name_at(b, sym)->tensor;

	if (t == HBM_NONE || b->reader[sym] == op + 1)
		return HBM_OK;
	b->reader[sym] = op + 1;
	HBM_NEED(hbm_add_read(b->p, op, t));
	return HBM_OK;
}

/* An alias of bytes that were there before: the op only looks at them. */
static bool only_looks(const build *b, hbm_sym sym, uint32_t leaf)
{
	const hbm_ind_name *n = name_at(b, sym);
	uint32_t maker = name_at(b, b->root[sym])->writer;

	return n->base && !n->mutates && (maker == HBM_NONE || maker < leaf);
}

static hbm_status add_reads(build *b, hbm_op_id op, const hbm_ind_leaf *l, uint32_t leaf)
{
	for (uint32_t i = 0; i < l->reads.n; i++)
		HBM_TRY(read_operand(b, op, b->f->lists.items[l->reads.first + i]));
	for (uint32_t i = 0; i < l->reads.n; i++) {
		const hbm_ind_name *n =
			name_at(b, b->f->lists.items[l->reads.first + i]);
		const hbm_ind_buf *buf = buf_of(b, n);
		/* A view of several buffers keeps them all alive. */
		for (uint32_t k = 1; buf && k < buf->aliases.n; k++)
			HBM_TRY(read_operand(
				b, op,
				b->f->leaves.items[n->writer]
					.g->lists.items[buf->aliases.first + k]));
	}
	for (uint32_t i = 0; i < l->writes.n; i++) {
		hbm_sym sym = b->f->lists.items[l->writes.first + i];
		if (only_looks(b, sym, leaf))
			HBM_TRY(read_operand(b, op, b->root[sym]));
	}
	return HBM_OK;
}

static hbm_status add_writes(build *b, hbm_op_id op, const hbm_ind_leaf *l, uint32_t leaf)
{
	for (uint32_t i = 0; i < l->writes.n; i++) {
		hbm_sym sym = b->f->lists.items[l->writes.first + i];
		hbm_tensor_id t = name_at(b, sym)->tensor;
		if (t != HBM_NONE && !only_looks(b, sym, leaf))
			HBM_NEED(hbm_add_write(b->p, op, t));
	}
	return HBM_OK;
}

/* The first output that could stand where the input stands. */
static uint32_t inplace_write(const build *b, const hbm_op *op, const hbm_tensor *from)
{
	for (uint32_t i = 0; i < op->writes.n; i++) {
		const hbm_operand *o = &b->p->operands.items[op->writes.first + i];
		const hbm_tensor *t = &b->p->tensors.items[o->tensor];
		if (t->base == HBM_NONE && t->size && t->size == from->size &&
		    !(t->flags & HBM_T_DYNAMIC))
			return i;
	}
	return HBM_NONE;
}

static hbm_status add_inplaces(build *b, hbm_op_id id, const hbm_ind_leaf *l)
{
	hbm_op *op = &b->p->ops.items[id];
	uint32_t at = 0;

	op->inplace.first = b->p->inplaces.n;
	for (uint32_t i = 0; i < l->reads.n; i++) {
		hbm_sym sym = b->f->lists.items[l->reads.first + i];
		const hbm_ind_name *n = name_at(b, sym);
		hbm_inplace pair = {.read = at};
		if (n->tensor == HBM_NONE)
			continue;
		while (b->p->operands.items[op->reads.first + at].tensor != n->tensor)
			at++;
		pair.read = at;
		if (n->base || n->writer == HBM_NONE ||
		    hbm_map_get(&b->f->inplace, (uint64_t)sym << 32 | l->node->name) ==
		            HBM_NONE)
			continue;
		pair.write = inplace_write(b, op, &b->p->tensors.items[n->tensor]);
		if (pair.write == HBM_NONE)
			continue;
		HBM_NEED(HBM_PUSH(b->p->arena, &b->p->inplaces, pair));
		op->inplace.n++;
	}
	return HBM_OK;
}

static hbm_status add_op(build *b, hbm_node_id parent, uint32_t leaf)
{
	const hbm_ind_leaf *l = &b->f->leaves.items[leaf];
	const hbm_ind_node *n = l->node;
	hbm_sym name = copy_sym(b, n->name);
	hbm_sym opname = copy_sym(b, n->kernel && strcmp(text_of(b, n->kernel), "None")
	                                     ? n->kernel
	                             : n->opname ? n->opname : n->ir);
	hbm_sym src = copy_sym(b, b->f->src.items[l->top]);
	hbm_op_id op;

	HBM_NEED(name != HBM_NONE && opname != HBM_NONE && src != HBM_NONE);
	op = hbm_add_op(b->p, parent, op_kind(b, l), name, opname);
	HBM_NEED(op != HBM_NONE);
	b->p->ops.items[op].src = src;
	if (n->at.text == b->dump->graph.text) {
		b->p->ops.items[op].line = n->at.line;
		b->p->ops.items[op].col = hbm_ind_where(n->at, 1).col;
	}
	if (l->multi)
		return HBM_OK;
	HBM_TRY(add_reads(b, op, l, leaf));
	HBM_TRY(add_writes(b, op, l, leaf));
	return add_inplaces(b, op, l);
}

/* ---- nodes ---------------------------------------------------------------- */

static hbm_status open_at(build *b, hbm_node_kind kind, const hbm_ind_node *n,
                          hbm_node_id *parent)
{
	hbm_sym name = copy_sym(b, n->name);
	hbm_node_id id;

	HBM_NEED(name != HBM_NONE);
	id = hbm_open_node(b->p, kind, name, *parent);
	HBM_NEED(id != HBM_NONE);
	b->p->nodes.items[id].line = n->at.line;
	b->p->nodes.items[id].col = hbm_ind_where(n->at, 1).col;
	if (kind == HBM_NODE_LOOP)
		b->p->nodes.items[id].trips = n->trips;
	*parent = id;
	return HBM_OK;
}

typedef struct level { /* an open container of the dump */
	uint32_t end;        /* of its subtree */
	hbm_node_id node, outer; /* our node for it, and the one to go back to */
} level;

/* Opens what a container becomes: up to a bundle with one node in it. */
static hbm_status open_container(build *b, const hbm_ind_node *n, hbm_node_id *parent)
{
	bool container = n->n_children || n->snodes.n;

	if (n->parent == HBM_NONE && b->dump->fused)
		HBM_TRY(open_at(b, HBM_NODE_BUNDLE, n, parent));
	if (!container)
		return HBM_OK;
	if (n->kind == HBM_IND_LOOP)
		return open_at(b, HBM_NODE_LOOP, n, parent);
	if (n->kind == HBM_IND_FOREACH)
		return open_at(b, HBM_NODE_PARALLEL, n, parent);
	if (n->parent != HBM_NONE || !b->dump->fused)
		return open_at(b, HBM_NODE_REGION, n, parent);
	return HBM_OK;
}

static void close_container(build *b, const level *l)
{
	hbm_node_id id = l->node;

	while (id != l->outer) {
		hbm_close_node(b->p, id);
		id = b->p->nodes.items[id].parent;
	}
}

static hbm_status add_nodes(build *b)
{
	const hbm_ind_graph *g = &b->dump->graph;
	level levels[HBM_MAX_DEPTH + 1];
	hbm_node_id parent = HBM_NONE;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < g->nodes.n; i++) {
		const hbm_ind_node *n = &g->nodes.items[i];
		level l = {.end = n->end, .outer = parent};
		HBM_TRY(open_container(b, n, &parent));
		l.node = parent;
		for (uint32_t k = b->f->first.items[i]; k < b->f->first.items[i + 1]; k++)
			HBM_TRY(add_op(b, parent, k));
		levels[depth++] = l;
		while (depth && levels[depth - 1].end <= i + 1) {
			close_container(b, &levels[--depth]);
			parent = levels[depth].outer;
		}
	}
	return HBM_OK;
}

/* ---- the whole ------------------------------------------------------------ */

static void warn_about(const build *b)
{
	hbm_where w = {.file = b->dump->graph.text->path};
	hbm_diags *d = b->dump->d;

	if (b->n_unsized)
		hbm_warn(d, HBM_E_IND_ASSUMED, w,
		         "graph inputs without a size in the dump: %u, '%s' first; "
		         "totals leave them out", b->n_unsized, text_of(b, b->unsized));
	if (b->n_guessed)
		hbm_warn(d, HBM_E_IND_ASSUMED, w,
		         "buffers without a dtype in the dump: %u, '%s' first; taken as "
		         "%s", b->n_guessed, text_of(b, b->guessed),
		         hbm_dtype_name(b->f->dtype));
	if (b->n_internal)
		hbm_warn(d, HBM_E_IND_ASSUMED, w,
		         "buffers without a size in the dump that never leave their "
		         "kernel: %u; taken as registers", b->n_internal);
}

static hbm_status begin(build *b)
{
	size_t n = b->dump->names.n;

	HBM_NEED(b->root = HBM_ARRAY(b->dump->a, hbm_sym, n));
	HBM_NEED(b->stack = HBM_ARRAY(b->dump->a, hbm_sym, n));
	HBM_NEED(b->offset = HBM_ZARRAY(b->dump->a, uint64_t, n));
	HBM_NEED(b->reader = HBM_ZARRAY(b->dump->a, hbm_op_id, n));
	HBM_NEED(b->sized = HBM_ZARRAY(b->dump->a, uint8_t, n));
	memset(b->root, 0xff, n * sizeof *b->root);
	return HBM_OK;
}

hbm_status hbm_ind_build(hbm_ind_dump *dump, const hbm_ind_facts *facts, hbm_arena *a,
                         hbm_program *ret)
{
	build b = {.dump = dump, .f = facts, .p = ret};

	HBM_TRY(hbm_program_init(ret, a));
	HBM_TRY(begin(&b));
	if (facts->spyre)
		HBM_NEED((ret->target = hbm_intern_cstr(&ret->syms, "spyre")) != HBM_NONE);
	HBM_TRY(add_tensors(&b));
	if (dump->failed)
		return HBM_SEMANTIC;
	HBM_TRY(add_nodes(&b));
	warn_about(&b);
	return HBM_OK;
}
