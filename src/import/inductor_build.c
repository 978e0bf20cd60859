/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a dump -> program: tensors first (inductor_tensor.c), then nodes and
 * ops. One top-level node after fusion is one bundle; before fusion there are
 * none. */
#include "import/inductor_build.h"

#include <string.h>

/* ---- ops ------------------------------------------------------------------ */

static const struct {
	const char *ir;
	hbm_op_kind kind;
} extern_kinds[] = {
	{"SpyreEmptyFallback", HBM_OP_ALLOC},
	{"MultiOutput", HBM_OP_NOP},
	{"DeviceCopy", HBM_OP_DMA},
	{"_CollectiveKernel", HBM_OP_COLLECTIVE},
	{"_WaitKernel", HBM_OP_COLLECTIVE},
	{"_AllReduceKernel", HBM_OP_COLLECTIVE},
	{"_AllReduce_Kernel", HBM_OP_COLLECTIVE},
};

static hbm_op_kind op_kind(const hbm_ind_builder *b, const hbm_ind_leaf *l)
{
	const char *ir = hbm_ind_str(b->dump, l->node->ir);

	if (l->node->kind == HBM_IND_NOP)
		return HBM_OP_NOP;
	if (l->node->kind != HBM_IND_EXTERN) {
		/* On a machine with a device, what runs on the CPU is a fallback. */
		bool host = !strcmp(hbm_ind_str(b->dump, l->node->device), "cpu");
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
static hbm_status read_operand(hbm_ind_builder *b, hbm_op_id op, hbm_sym sym)
{
	hbm_tensor_id t = hbm_ind_name_in(b, sym)->tensor;

	if (t == HBM_NONE || b->reader[sym] == op + 1)
		return HBM_OK;
	b->reader[sym] = op + 1;
	HBM_NEED(hbm_add_read(b->p, op, t));
	return HBM_OK;
}

/* An alias of bytes that were there before: the op only looks at them. */
static bool only_looks(const hbm_ind_builder *b, hbm_sym sym, uint32_t leaf)
{
	const hbm_ind_name *n = hbm_ind_name_in(b, sym);
	uint32_t maker = hbm_ind_name_in(b, b->root[sym])->writer;

	return n->base && !n->mutates && (maker == HBM_NONE || maker < leaf);
}

static hbm_status add_reads(hbm_ind_builder *b, hbm_op_id op, const hbm_ind_leaf *l,
                            uint32_t leaf)
{
	for (uint32_t i = 0; i < l->reads.n; i++)
		HBM_TRY(read_operand(b, op, b->f->lists.items[l->reads.first + i]));
	for (uint32_t i = 0; i < l->reads.n; i++) {
		const hbm_ind_name *n =
			hbm_ind_name_in(b, b->f->lists.items[l->reads.first + i]);
		const hbm_ind_buf *buf = hbm_ind_buf_of(n);
		/* A view of several buffers keeps them all alive. */
		for (uint32_t k = 1; buf && k < buf->aliases.n; k++)
			HBM_TRY(read_operand(
				b, op, n->g->lists.items[buf->aliases.first + k]));
	}
	for (uint32_t i = 0; i < l->writes.n; i++) {
		hbm_sym sym = b->f->lists.items[l->writes.first + i];
		if (only_looks(b, sym, leaf))
			HBM_TRY(read_operand(b, op, b->root[sym]));
	}
	return HBM_OK;
}

static hbm_status add_writes(hbm_ind_builder *b, hbm_op_id op, const hbm_ind_leaf *l,
                             uint32_t leaf)
{
	for (uint32_t i = 0; i < l->writes.n; i++) {
		hbm_sym sym = b->f->lists.items[l->writes.first + i];
		hbm_tensor_id t = hbm_ind_name_in(b, sym)->tensor;
		if (t != HBM_NONE && !only_looks(b, sym, leaf))
			HBM_NEED(hbm_add_write(b->p, op, t));
	}
	return HBM_OK;
}

/* The first output that could stand where the input stands. */
static uint32_t inplace_write(const hbm_ind_builder *b, const hbm_op *op,
                              const hbm_tensor *from)
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

static hbm_status add_inplaces(hbm_ind_builder *b, hbm_op_id id, const hbm_ind_leaf *l)
{
	hbm_op *op = &b->p->ops.items[id];
	uint32_t at = 0;

	op->inplace.first = b->p->inplaces.n;
	for (uint32_t i = 0; i < l->reads.n; i++) {
		hbm_sym sym = b->f->lists.items[l->reads.first + i];
		const hbm_ind_name *n = hbm_ind_name_in(b, sym);
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

static hbm_status add_op(hbm_ind_builder *b, hbm_node_id parent, uint32_t leaf)
{
	const hbm_ind_leaf *l = &b->f->leaves.items[leaf];
	const hbm_ind_node *n = l->node;
	hbm_sym name = hbm_ind_copy_sym(b, n->name);
	hbm_sym opname = hbm_ind_copy_sym(
		b, n->kernel && strcmp(hbm_ind_str(b->dump, n->kernel), "None")
			   ? n->kernel
		   : n->opname ? n->opname
			       : n->ir);
	hbm_sym src = hbm_ind_copy_sym(b, b->f->src.items[l->top]);
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

static hbm_status open_at(hbm_ind_builder *b, hbm_node_kind kind, const hbm_ind_node *n,
                          hbm_node_id *parent)
{
	hbm_sym name = hbm_ind_copy_sym(b, n->name);
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

typedef struct level {           /* an open container of the dump */
	uint32_t end;            /* of its subtree */
	hbm_node_id node, outer; /* our node for it, and the one to go back to */
} level;

/* Opens what a container becomes: up to a bundle with one node in it. */
static hbm_status open_container(hbm_ind_builder *b, const hbm_ind_node *n,
                                 hbm_node_id *parent)
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

static void close_container(hbm_ind_builder *b, const level *l)
{
	hbm_node_id id = l->node;

	while (id != l->outer) {
		hbm_close_node(b->p, id);
		id = b->p->nodes.items[id].parent;
	}
}

static hbm_status add_nodes(hbm_ind_builder *b)
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
		for (uint32_t k = b->f->first.items[i]; k < b->f->first.items[i + 1];
		     k++)
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

static hbm_status warn_about(const hbm_ind_builder *b)
{
	hbm_where w = {.file = b->dump->graph.text->path};
	hbm_diags *d = b->dump->d;

	if (b->n_unsized)
		HBM_NEED(hbm_warn(d, HBM_E_IND_ASSUMED, w, "graph inputs without a "
		                  "size in the dump: %u, '%s' first; totals leave "
		                  "them out", b->n_unsized,
		                  hbm_ind_str(b->dump, b->unsized)));
	if (b->n_guessed)
		HBM_NEED(hbm_warn(d, HBM_E_IND_ASSUMED, w, "buffers without a dtype in "
		                  "the dump: %u, '%s' first; taken as %s", b->n_guessed,
		                  hbm_ind_str(b->dump, b->guessed),
		                  hbm_dtype_name(b->f->dtype)));
	if (b->n_internal)
		HBM_NEED(hbm_warn(d, HBM_E_IND_ASSUMED, w, "buffers without a size in "
		                  "the dump that never leave their kernel: %u; "
		                  "taken as registers", b->n_internal));
	return HBM_OK;
}

static hbm_status begin(hbm_ind_builder *b)
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
	hbm_ind_builder b = {.dump = dump, .f = facts, .p = ret};

	HBM_TRY(hbm_program_init(ret, a));
	HBM_TRY(begin(&b));
	if (facts->spyre)
		HBM_NEED((ret->target = hbm_intern_cstr(&ret->syms, "spyre")) !=
		         HBM_NONE);
	HBM_TRY(hbm_ind_add_tensors(&b));
	if (dump->failed)
		return HBM_SEMANTIC;
	HBM_TRY(add_nodes(&b));
	return warn_about(&b);
}
