/* SPDX-License-Identifier: Apache-2.0
 * hlo_emit: the program of a flat module.
 *
 * A class of values becomes one tensor with its own bytes and views of it for the
 * other values; so every value keeps its name, shape and source. Steps become ops
 * outside any bundle, loops become loops, branches regions; a move that copies
 * becomes an op of its own.
 *
 * Copies     Those at one border are made at once: one that overwrites what another
 *            reads comes after it; where they go round in circles they are saved first.
 * Cost       Linear. */
#include "import/hlo_flat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct emitter {
	hlo_flat *f;
	hbm_program *p;
	hbm_arena *arena;
	uint32_t *lead;       /* root value -> the value that owns the bytes */
	uint32_t *tensor;     /* value -> tensor, HBM_NONE: none yet */
	bool *host;           /* root value -> the class is in host memory */
	uint32_t *readers;    /* root value -> copies of this border that read it */
	uint32_t *writer;     /* root value -> the copy that writes it, HBM_NONE */
	uint32_t *twin;       /* value -> the one whose tensor it has, in general itself */
	bool *argument;       /* value -> stands for what an argument's bytes end with */
	hbm_map n_tensors;    /* name -> tensors of that name so far */
	hbm_map n_ops;
	HBM_VEC(hbm_node_id) open;
} emitter;

static const hlo_value *value(const emitter *e, uint32_t v)
{
	return &e->f->values.items[v];
}

static const hlo_instr *giver(const emitter *e, uint32_t v)
{
	return &e->f->m->instrs.items[value(e, v)->instr];
}

static const hlo_node *node_of(const emitter *e, uint32_t v)
{
	const hlo_module *m = e->f->m;

	return &m->nodes.items[m->leaf_nodes.items[giver(e, v)->leaves.first +
	                                           value(e, v)->leaf]];
}

/* ---- names ---------------------------------------------------------------- */

/* "name{1,0}" for a part of a tuple, as XLA prints it. */
static void leaf_path(const hlo_module *m, const hlo_instr *x, uint32_t leaf, char *buf,
                      size_t size)
{
	const hlo_node *n = &m->nodes.items[x->shape];
	size_t at = 0;

	buf[0] = 0;
	while (n->kind == HLO_TUPLES && at + 24 < size) {
		uint32_t lo = 0, hi = n->n;
		while (hi - lo > 1) { /* kids start at ascending leaves */
			uint32_t mid = (lo + hi) / 2;
			if (m->nodes.items[m->kids.items[n->first + mid]].leaf <= leaf)
				lo = mid;
			else
				hi = mid;
		}
		at += (size_t)snprintf(buf + at, size - at, "%c%u", at ? ',' : '{', lo);
		n = &m->nodes.items[m->kids.items[n->first + lo]];
	}
	if (at)
		snprintf(buf + at, size - at, "}");
}

/* name@k */
static hbm_sym numbered(emitter *e, const char *text, size_t n, uint32_t k)
{
	char buf[32];
	size_t tail = (size_t)snprintf(buf, sizeof buf, "@%u", k);
	char *s = HBM_ARRAY(e->arena, char, n + tail);

	if (!s)
		return HBM_NONE;
	memcpy(s, text, n);
	memcpy(s + n, buf, tail);
	return hbm_intern(&e->p->syms, s, n + tail);
}

/* The name itself the first time, then name@2, name@3, ... */
static hbm_sym unique(emitter *e, hbm_map *counts, const char *text, size_t n)
{
	hbm_sym sym = hbm_intern(&e->p->syms, text, n), name = sym;
	uint32_t k;

	if (sym == HBM_NONE)
		return sym;
	k = hbm_map_get(counts, sym);
	k = k == HBM_NONE ? 1 : k + 1;
	if (k > 1) /* an input may have such a name of its own */
		while ((name = numbered(e, text, n, k)) != HBM_NONE &&
		       hbm_map_get(counts, name) != HBM_NONE)
			k++;
	if (name == HBM_NONE || !hbm_map_set(counts, sym, k) ||
	    (name != sym && !hbm_map_set(counts, name, 1)))
		return HBM_NONE;
	return name;
}

static hbm_sym name_with(emitter *e, hbm_map *counts, uint32_t i, uint32_t leaf,
                         const char *tail)
{
	const hlo_module *m = e->f->m;
	const hlo_instr *x = &m->instrs.items[i];
	uint32_t n = hbm_sym_len(&e->p->syms, x->name);
	char path[512];
	char *s;

	leaf_path(m, x, leaf, path, sizeof path);
	s = HBM_ARRAY(e->arena, char, n + strlen(path) + strlen(tail) + 1);
	if (!s)
		return HBM_NONE;
	memcpy(s, hbm_sym_str(&e->p->syms, x->name), n);
	strcpy(s + n, path);
	strcat(s + n, tail);
	return unique(e, counts, s, strlen(s));
}

/* "file:line" of the metadata with the framework's name of the operation as owner;
 * without a file that name. */
static hbm_status source(emitter *e, const hlo_instr *x, hbm_sym *ret_src,
                         hbm_sym *ret_owner)
{
	const hlo_module *m = e->f->m;
	hlo_meta at = x->meta;
	char line[24];
	uint32_t n;
	char *s;

	if (!at.file.n && at.frame && at.frame <= m->frames.n) {
		uint32_t loc = m->frames.items[at.frame - 1];
		if (loc && loc <= m->locations.n) {
			at.file = m->locations.items[loc - 1].file;
			at.line = m->locations.items[loc - 1].line;
		}
	}
	if (at.op_name.n) {
		*ret_owner = hlo_clean(e->arena, &e->p->syms, at.op_name, true);
		HBM_NEED(*ret_owner != HBM_NONE);
	}
	if (!at.file.n) {
		*ret_src = *ret_owner;
		*ret_owner = 0;
		return HBM_OK;
	}
	n = (uint32_t)snprintf(line, sizeof line, ":%" PRIu64, at.line);
	HBM_NEED(s = HBM_ARRAY(e->arena, char, at.file.n + sizeof line));
	memcpy(s, at.file.s, at.file.n);
	memcpy(s + at.file.n, line, n);
	*ret_src = hlo_clean(e->arena, &e->p->syms, (hlo_slice){s, at.file.n + n}, true);
	HBM_NEED(*ret_src != HBM_NONE);
	return HBM_OK;
}

/* ---- tensors -------------------------------------------------------------- */

/* The owner of a class: an argument, else the largest, else the first. */
static bool leads(const hlo_value *a, const hlo_value *b)
{
	bool pa = a->flags & HLO_V_PARAM, pb = b->flags & HLO_V_PARAM;

	return pa != pb ? pa : a->size > b->size;
}

static hbm_status find_leads(emitter *e)
{
	const hlo_flat *f = e->f;

	HBM_NEED(e->lead = HBM_ARRAY(e->arena, uint32_t, f->values.n));
	HBM_NEED(e->tensor = HBM_ARRAY(e->arena, uint32_t, f->values.n));
	HBM_NEED(e->host = HBM_ZARRAY(e->arena, bool, f->values.n));
	HBM_NEED(e->readers = HBM_ZARRAY(e->arena, uint32_t, f->values.n));
	HBM_NEED(e->writer = HBM_ARRAY(e->arena, uint32_t, f->values.n));
	memset(e->writer, 0xff, f->values.n * sizeof *e->writer);
	HBM_NEED(e->argument = HBM_ZARRAY(e->arena, bool, f->values.n));
	HBM_NEED(e->twin = HBM_ARRAY(e->arena, uint32_t, f->values.n));
	memset(e->lead, 0xff, f->values.n * sizeof *e->lead);
	memset(e->tensor, 0xff, f->values.n * sizeof *e->tensor);
	for (uint32_t v = 0; v < f->values.n; v++) {
		uint32_t r = f->root[v];
		if (value(e, v)->same != v)
			continue;
		if (e->lead[r] == HBM_NONE || leads(value(e, v), value(e, e->lead[r])))
			e->lead[r] = v;
		if (value(e, v)->flags & HLO_V_HOST)
			e->host[r] = true;
	}
	return HBM_OK;
}

/* A loop's state has one name, before and after. */
static void find_twins(emitter *e)
{
	hlo_flat *f = e->f;

	for (uint32_t v = 0; v < f->values.n; v++)
		e->twin[v] = v;
	for (uint32_t i = 0; i < f->bound.n; i++) {
		const hlo_pair *b = &f->bound.items[i];
		uint32_t before = hlo_value_of(f, b->read);
		if (value(e, before)->flags & HLO_V_PARAM) {
			e->argument[b->write] = true;
			continue;
		}
		e->twin[b->write] = before;
		f->values.items[before].flags |= value(e, b->write)->flags & HLO_V_OUTPUT;
	}
}

/* A buffer into which values from host memory are put is in host memory too. */
static void spread_host(emitter *e)
{
	const hlo_flat *f = e->f;

	for (uint32_t s = 0; s < f->steps.n; s++) {
		const hlo_step *x = &f->steps.items[s];
		const hlo_instr *in = &f->m->instrs.items[x->instr];
		uint32_t update, out;
		if (x->kind != HLO_S_OP || in->opcode != HLO_OP_DYNAMIC_UPDATE_SLICE ||
		    x->reads.n < 2 || !x->writes.n)
			continue;
		update = f->root[f->operands.items[x->reads.first + 1]];
		out = f->root[f->operands.items[x->writes.first]];
		if (e->host[update] && !(value(e, e->lead[out])->flags & HLO_V_PARAM))
			e->host[out] = true;
	}
}

static hbm_status add_dims(emitter *e, uint32_t v, hbm_tensor *t)
{
	const hlo_node *n = node_of(e, v);

	for (uint32_t i = 0; i < n->n; i++) {
		const hlo_dim *d = &e->f->m->dims.items[n->first + i];
		hbm_dim dim = {.value = d->extent, .min = d->bounded ? 0 : d->extent,
		               .unknown = d->unknown};
		HBM_NEED(hbm_add_dim(e->p, &t->dims, dim));
	}
	return HBM_OK;
}

static uint32_t tensor_flags(const emitter *e, uint32_t v)
{
	uint32_t f = value(e, v)->flags, flags = 0;

	if (f & HLO_V_PARAM)
		flags |= HBM_T_INPUT;
	if (f & HLO_V_DONATED)
		flags |= HBM_T_DONATED;
	if (f & HLO_V_OUTPUT)
		flags |= HBM_T_OUTPUT;
	if (f & HLO_V_CONST)
		flags |= HBM_T_WEIGHT;
	if (e->host[e->f->root[v]])
		flags |= HBM_T_HOST;
	return flags;
}

static hbm_status add_space(emitter *e, uint32_t v, hbm_tensor *t)
{
	uint8_t space = node_of(e, v)->space;

	if (space == HLO_SPACE_FAST && !(t->flags & HBM_T_CALLER) && t->base == HBM_NONE)
		t->demand = HBM_HOME_LX;
	if (space)
		HBM_NEED(hbm_add_attr_num(e->p, &t->attrs, "hlo.space", space));
	return HBM_OK;
}

static hbm_status make_tensor(emitter *e, uint32_t v, hbm_tensor_id base,
                              uint64_t limit)
{
	hbm_sym name = name_with(e, &e->n_tensors, value(e, v)->instr, value(e, v)->leaf,
	                         "");
	hbm_tensor t, *slot;
	hbm_tensor_id id;

	HBM_NEED(name != HBM_NONE);
	id = hbm_add_tensor(e->p, name);
	HBM_NEED(id != HBM_NONE);
	t = e->p->tensors.items[id];
	t.flags = tensor_flags(e, v);
	t.dtype = (hbm_dtype)node_of(e, v)->dtype;
	if (node_of(e, v)->tiled || node_of(e, v)->bits < 8 || value(e, v)->size > limit) {
		t.size = value(e, v)->size < limit ? value(e, v)->size : limit;
		t.flags |= HBM_T_SIZED;
	}
	t.base = base;
	t.line = hlo_line(e->f->m, giver(e, v)->pos, &t.col);
	HBM_TRY(add_dims(e, v, &t));
	HBM_TRY(add_space(e, v, &t));
	HBM_TRY(source(e, giver(e, v), &t.src, &t.owner));
	slot = &e->p->tensors.items[id];
	*slot = t;
	e->tensor[v] = id;
	return HBM_OK;
}

static hbm_status tensor_of(emitter *e, uint32_t v, hbm_tensor_id *ret)
{
	uint32_t lead;

	v = e->twin[hlo_value_of(e->f, v)];
	lead = e->lead[e->f->root[v]];
	if (e->tensor[lead] == HBM_NONE)
		HBM_TRY(make_tensor(e, lead, HBM_NONE, HBM_MAX_BYTES));
	if (e->tensor[v] == HBM_NONE)
		HBM_TRY(make_tensor(e, v, e->tensor[lead], value(e, lead)->size));
	*ret = e->tensor[v];
	return HBM_OK;
}

/* ---- ops ------------------------------------------------------------------ */

static hbm_node_id parent(const emitter *e)
{
	return e->open.n ? e->open.items[e->open.n - 1] : HBM_NONE;
}

static hbm_status add_op(emitter *e, uint32_t i, hbm_sym name, hbm_op_kind kind,
                         hlo_slice opname, hbm_op_id *ret)
{
	const hlo_instr *x = &e->f->m->instrs.items[i];
	hbm_sym op = hlo_clean(e->arena, &e->p->syms, opname, true), owner = 0;
	hbm_op *o;

	HBM_NEED(name != HBM_NONE && op != HBM_NONE);
	*ret = hbm_add_op(e->p, parent(e), kind, name, op);
	HBM_NEED(*ret != HBM_NONE);
	o = &e->p->ops.items[*ret];
	o->line = hlo_line(e->f->m, x->pos, &o->col);
	return source(e, x, &e->p->ops.items[*ret].src, &owner);
}

/* Reads of step `s`, each once; a value's place among them goes to its slots. */
static hbm_status add_operands(emitter *e, const hlo_step *x, hbm_op_id op)
{
	uint32_t n = 0, tag = HBM_NONE - 1 - op; /* unlike any step */
	hbm_tensor_id t;

	for (uint32_t i = 0; i < x->reads.n; i++) {
		uint32_t v = hlo_value_of(e->f, e->f->operands.items[x->reads.first + i]);
		if (e->f->values.items[v].mark == tag)
			continue;
		e->f->values.items[v].mark = tag;
		e->f->values.items[v].slots = n++;
		HBM_TRY(tensor_of(e, v, &t));
		HBM_NEED(hbm_add_read(e->p, op, t));
	}
	for (uint32_t i = 0; i < x->writes.n; i++) {
		uint32_t v = e->f->operands.items[x->writes.first + i];
		e->f->values.items[v].slots = i;
		HBM_TRY(tensor_of(e, v, &t));
		HBM_NEED(hbm_add_write(e->p, op, t));
	}
	return HBM_OK;
}

static hbm_status add_inplace(emitter *e, const hlo_step *x, uint32_t step, hbm_op_id op)
{
	const hlo_flat *f = e->f;
	hbm_span span = {.first = e->p->inplaces.n};

	for (uint32_t i = 0; i < x->pairs.n; i++) {
		const hlo_pair *pair = &f->pairs.items[x->pairs.first + i];
		uint32_t r = hlo_value_of(f, pair->read);
		hbm_inplace in = {value(e, pair->write)->slots, value(e, r)->slots,
		                  f->root[r] == f->root[pair->write], false};
		if (value(e, r)->last != step ||
		    (!in.must && value(e, e->lead[f->root[r]])->flags & HLO_V_CONST))
			continue;
		HBM_NEED(HBM_PUSH(e->p->arena, &e->p->inplaces, in));
		span.n++;
	}
	e->p->ops.items[op].inplace = span;
	return HBM_OK;
}

static hbm_status emit_op(emitter *e, const hlo_step *x, uint32_t step)
{
	const hlo_instr *in = &e->f->m->instrs.items[x->instr];
	const hlo_opcode_info *info = &hlo_opcode_infos[in->opcode];
	hlo_slice opname = {info->text, (uint32_t)strlen(info->text)};
	hbm_sym name = unique(e, &e->n_ops, hbm_sym_str(&e->p->syms, in->name),
	                      hbm_sym_len(&e->p->syms, in->name));
	hbm_op_id op;

	if (in->target.n)
		opname = in->target;
	HBM_TRY(add_op(e, x->instr, name, x->nop ? HBM_OP_NOP : info->kind, opname, &op));
	if (in->opcode == HLO_OP_COPY)
		HBM_NEED(hbm_add_attr_flag(e->p, &e->p->ops.items[op].attrs, "copy"));
	HBM_TRY(add_operands(e, x, op));
	return add_inplace(e, x, step, op);
}

/* ---- copies at borders ---------------------------------------------------- */

static hbm_status emit_copy(emitter *e, uint32_t i, uint32_t leaf, const char *tail,
                            hbm_tensor_id from, hbm_tensor_id to)
{
	hbm_op_id op;

	HBM_TRY(add_op(e, i, name_with(e, &e->n_ops, i, leaf, tail), HBM_OP_DMA,
	               (hlo_slice){"copy", 4}, &op));
	HBM_NEED(hbm_add_attr_flag(e->p, &e->p->ops.items[op].attrs, "copy"));
	HBM_NEED(hbm_add_read(e->p, op, from));
	HBM_NEED(hbm_add_write(e->p, op, to));
	return HBM_OK;
}

/* Bytes of their own for what a later copy of this border would overwrite. */
static hbm_status save(emitter *e, const hlo_move *m, const char *tail,
                       hbm_tensor_id *ret)
{
	const hlo_value *to = value(e, m->to);
	hbm_tensor_id from, id;
	hbm_sym name = name_with(e, &e->n_tensors, to->instr, to->leaf, ".saved");
	hbm_tensor t;

	HBM_NEED(name != HBM_NONE);
	HBM_TRY(tensor_of(e, m->from, &from));
	id = hbm_add_tensor(e->p, name);
	HBM_NEED(id != HBM_NONE);
	t = e->p->tensors.items[id];
	t.dtype = (hbm_dtype)node_of(e, m->to)->dtype;
	t.size = to->size;
	t.flags = HBM_T_SIZED;
	HBM_TRY(add_dims(e, m->to, &t));
	e->p->tensors.items[id] = t;
	*ret = id;
	return emit_copy(e, to->instr, to->leaf, tail, from, id);
}

static const hlo_move *move_at(const emitter *e, const hlo_step *x, uint32_t i)
{
	return &e->f->moves.items[x->moves.first + i];
}

static uint32_t root_from(const emitter *e, const hlo_move *m)
{
	return e->f->root[hlo_value_of(e->f, m->from)];
}

static hbm_status make_copy(emitter *e, const hlo_move *m, hbm_tensor_id from,
                            const char *tail)
{
	const hlo_value *v = value(e, m->to);
	hbm_tensor_id to;

	HBM_TRY(tensor_of(e, m->to, &to));
	return emit_copy(e, v->instr, v->leaf, tail, from, to);
}

/* Copies whose target nobody still has to read, until there are none. */
static hbm_status free_copies(emitter *e, const hlo_step *x, const char *tail, bool *done)
{
	uint32_t *todo = HBM_ARRAY(e->arena, uint32_t, x->moves.n), n = 0;
	hbm_tensor_id from;

	HBM_NEED(todo);
	for (uint32_t i = 0; i < x->moves.n; i++)
		if (!done[i] && !e->readers[e->f->root[move_at(e, x, i)->to]])
			todo[n++] = i;
	for (uint32_t i = 0; i < n; i++) {
		const hlo_move *m = move_at(e, x, todo[i]);
		uint32_t r = root_from(e, m);
		done[todo[i]] = true;
		HBM_TRY(tensor_of(e, m->from, &from));
		HBM_TRY(make_copy(e, m, from, tail));
		if (!--e->readers[r] && e->writer[r] != HBM_NONE && !done[e->writer[r]])
			todo[n++] = e->writer[r];
	}
	return HBM_OK;
}

/* What is left goes round in circles: all of it is saved, then all is put in place. */
static hbm_status circles(emitter *e, const hlo_step *x, const char *tail,
                          const bool *done)
{
	hbm_tensor_id *from = HBM_ARRAY(e->arena, hbm_tensor_id, x->moves.n);

	HBM_NEED(from);
	for (uint32_t i = 0; i < x->moves.n; i++)
		if (!done[i])
			HBM_TRY(save(e, move_at(e, x, i), ".save", &from[i]));
	for (uint32_t i = 0; i < x->moves.n; i++)
		if (!done[i])
			HBM_TRY(make_copy(e, move_at(e, x, i), from[i], tail));
	return HBM_OK;
}

static hbm_status emit_copies(emitter *e, const hlo_step *x, const char *tail)
{
	bool *done = HBM_ZARRAY(e->arena, bool, x->moves.n);

	HBM_NEED(done);
	for (uint32_t i = 0; i < x->moves.n; i++) {
		const hlo_move *m = move_at(e, x, i);
		done[i] = !m->copy;
		if (done[i])
			continue;
		e->readers[root_from(e, m)]++;
		e->writer[e->f->root[m->to]] = i;
	}
	HBM_TRY(free_copies(e, x, tail, done));
	HBM_TRY(circles(e, x, tail, done));
	for (uint32_t i = 0; i < x->moves.n; i++) {
		const hlo_move *m = move_at(e, x, i);
		e->readers[root_from(e, m)] = 0;
		e->writer[e->f->root[m->to]] = HBM_NONE;
	}
	return HBM_OK;
}

/* ---- structure ------------------------------------------------------------ */

static hbm_status open_node(emitter *e, const hlo_step *x, hbm_node_kind kind)
{
	const hlo_instr *in = &e->f->m->instrs.items[x->instr];
	hbm_node_id id = hbm_open_node(e->p, kind, 0, parent(e));

	HBM_NEED(id != HBM_NONE);
	e->p->nodes.items[id].trips = kind == HBM_NODE_LOOP ? in->trips : 0;
	e->p->nodes.items[id].line =
		hlo_line(e->f->m, in->pos, &e->p->nodes.items[id].col);
	HBM_NEED(hbm_add_attr_str(e->p, &e->p->nodes.items[id].attrs, "hlo.name",
	                          hbm_sym_str(&e->p->syms, in->name)));
	if (kind == HBM_NODE_REGION)
		HBM_NEED(hbm_add_attr_num(e->p, &e->p->nodes.items[id].attrs, "hlo.branch",
		                          x->open));
	HBM_NEED(HBM_PUSH(e->arena, &e->open, id));
	return HBM_OK;
}

static void close_node(emitter *e)
{
	hbm_close_node(e->p, e->open.items[--e->open.n]);
}

static hbm_status emit_step(emitter *e, const hlo_step *x, uint32_t step)
{
	switch (x->kind) {
	case HLO_S_OP:
		return emit_op(e, x, step);
	case HLO_S_LOOP:
		HBM_TRY(emit_copies(e, x, ".init"));
		return open_node(e, x, HBM_NODE_LOOP);
	case HLO_S_BRANCH:
		return open_node(e, x, HBM_NODE_REGION);
	case HLO_S_LOOP_END:
	case HLO_S_BRANCH_END:
		HBM_TRY(emit_copies(e, x, ".carry"));
		close_node(e);
		return HBM_OK;
	case HLO_S_END:
		return emit_copies(e, x, ".result");
	default:
		return HBM_OK;
	}
}

/* Arguments and results are there even when nothing touches them. */
static hbm_status emit_callers(emitter *e, uint32_t flags)
{
	hbm_tensor_id t;

	for (uint32_t v = 0; v < e->f->values.n; v++)
		if (value(e, v)->same == v && value(e, v)->flags & flags)
			HBM_TRY(tensor_of(e, v, &t));
	return HBM_OK;
}

/* A result that stands in an argument's bytes: the value put there last leaves. */
static hbm_status mark_results(emitter *e)
{
	const hlo_flat *f = e->f;
	const hlo_step *end = &f->steps.items[f->steps.n - 1];
	hbm_tensor_id t;

	for (uint32_t i = 0; i < end->moves.n; i++) {
		const hlo_move *m = &f->moves.items[end->moves.first + i];
		if (m->copy || !e->argument[m->to])
			continue;
		HBM_TRY(tensor_of(e, m->from, &t));
		e->p->tensors.items[t].flags |= HBM_T_OUTPUT;
	}
	return HBM_OK;
}

hbm_status hlo_emit(hlo_flat *f, hbm_program *p)
{
	emitter e = {.f = f, .p = p, .arena = f->arena};
	hbm_tensor_id t;

	hbm_map_init(&e.n_tensors, f->arena);
	hbm_map_init(&e.n_ops, f->arena);
	HBM_TRY(find_leads(&e));
	find_twins(&e);
	spread_host(&e);
	HBM_TRY(emit_callers(&e, HLO_V_PARAM));
	for (uint32_t s = 0; s < f->steps.n; s++)
		HBM_TRY(emit_step(&e, &f->steps.items[s], s));
	for (uint32_t v = 0; v < f->values.n; v++)
		if (value(&e, v)->same == v && value(&e, v)->flags & HLO_V_OUTPUT &&
		    !e.argument[v])
			HBM_TRY(tensor_of(&e, v, &t));
	return mark_results(&e);
}
