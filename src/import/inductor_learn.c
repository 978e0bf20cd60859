/* SPDX-License-Identifier: Apache-2.0 */
/* What the statements of call() tell beside the graph: sizes and types of names,
 * the inputs and what is returned, which node overwrites what, source places. */
#include "import/inductor.h"

#include <string.h>

typedef struct learner {
	hbm_ind_dump *dump;
	hbm_ind_facts *f;
} learner;

static hbm_ind_name *name_at(learner *w, hbm_sym sym)
{
	return &w->dump->names.items[sym];
}

static const char *text_of(const learner *w, hbm_sym sym)
{
	return hbm_ind_str(w->dump, sym);
}

static void learn_type(learner *w, hbm_ind_name *n)
{
	hbm_ind_shape shape;

	if (n->fx.text) {
		hbm_ind_at at = n->fx;
		size_t end = hbm_ind_word(at.text, at.pos, at.text->n);
		hbm_ind_dtype(at.text, at.pos, end, &n->dtype, &n->itemsize);
	} else if (n->rand.text) {
		size_t close;
		if (hbm_ind_close(n->rand.text, n->rand.pos - 1, n->rand.text->n,
		                  &close) &&
		    hbm_ind_alloc_shape(w->dump, n->rand, n->rand.pos, close, &shape)) {
			n->dtype = shape.dtype;
			n->itemsize = shape.itemsize;
		}
	}
}

static void inherit(hbm_ind_name *to, const hbm_ind_name *from)
{
	to->dtype = from->dtype;
	to->itemsize = from->itemsize;
}

/* The result of a kernel has the type of its first input of a known type. */
static void result_type(learner *w, const hbm_ind_stmt *st)
{
	for (uint32_t i = 0; i < st->names.n; i++) {
		hbm_ind_name *from =
			name_at(w, w->dump->code.names.items[st->names.first + i]);
		if (from->itemsize) {
			inherit(name_at(w, st->dst), from);
			return;
		}
	}
}

static void alloc_type(learner *w, hbm_ind_name *n, const hbm_ind_stmt *st)
{
	hbm_ind_arg arg;
	size_t in = st->in;

	while (hbm_ind_next_arg(st->at.text, &in, st->out, &arg))
		if (hbm_ind_starts(st->at.text, arg.start, arg.end, "torch."))
			hbm_ind_dtype(st->at.text, arg.start, arg.end, &n->dtype,
			              &n->itemsize);
	if (!w->f->itemsize && n->dtype >= HBM_DT_f32 && n->dtype <= HBM_DT_f64) {
		w->f->dtype = n->dtype;
		w->f->itemsize = n->itemsize;
	}
}

static void learn(learner *w, uint32_t id)
{
	const hbm_ind_stmt *st = &w->dump->code.stmts.items[id];
	const hbm_sym *names = w->dump->code.names.items + st->names.first;
	hbm_ind_name *n = name_at(w, st->dst);

	switch (st->verb) {
	case HBM_IND_ALLOC:
		n->stmt = id;
		alloc_type(w, n, st);
		break;
	case HBM_IND_MOVE:
		n->stmt = name_at(w, st->src)->stmt;
		inherit(n, name_at(w, st->src));
		break;
	case HBM_IND_VIEW:
		n->stmt = id;
		inherit(n, name_at(w, st->src));
		break;
	case HBM_IND_INDEX:
		inherit(n, name_at(w, st->src));
		break;
	case HBM_IND_GIVEN:
		result_type(w, st);
		break;
	case HBM_IND_ASSERT:
		if (n->stmt == HBM_NONE)
			n->stmt = id;
		break;
	case HBM_IND_ARGS:
		for (uint32_t i = 0; i < st->names.n; i++)
			name_at(w, names[i])->arg = true;
		break;
	case HBM_IND_RETURN:
		for (uint32_t i = 0; i < st->names.n; i++)
			name_at(w, names[i])->output = true;
		break;
	case HBM_IND_DEL:
	case HBM_IND_RUN:
		break;
	}
}

/* Dtype in the layout that is printed for a name. */
static void layout_type(hbm_ind_at at, hbm_dtype *dtype, uint32_t *itemsize)
{
	size_t p, nl;

	if (!at.text)
		return;
	nl = hbm_ind_find(at.text, at.pos, at.text->n, "\n");
	nl = nl == SIZE_MAX ? at.text->n : nl;
	p = hbm_ind_find(at.text, at.pos, nl, "torch.");
	if (p != SIZE_MAX)
		hbm_ind_dtype(at.text, p, hbm_ind_word(at.text, p + 6, nl), dtype,
		              itemsize);
}

/* An input without a type has the one of the library kernel's result that is
 * computed from it (matrix products, convolutions). */
static void guess_inputs(learner *w)
{
	for (uint32_t i = 0; i < w->f->leaves.n; i++) {
		const hbm_ind_leaf *l = &w->f->leaves.items[i];
		hbm_ind_name made = {0};
		if (l->node->kind != HBM_IND_EXTERN || !l->writes.n)
			continue;
		made = *name_at(w, w->f->lists.items[l->writes.first]);
		layout_type(made.layout, &made.dtype, &made.itemsize);
		for (uint32_t k = 0; k < l->reads.n; k++) {
			hbm_ind_name *n =
				name_at(w, w->f->lists.items[l->reads.first + k]);
			if (n->writer == HBM_NONE && n->stmt != HBM_NONE &&
			    !n->layout.text && !n->itemsize)
				inherit(n, &made);
		}
	}
}

/* Without users in the text, a direct reuse shows what a node may overwrite. */
static hbm_status learn_reuse(learner *w, const hbm_ind_stmt *st)
{
	uint32_t writer;

	if (w->dump->graph.has_users ||
	    (st->verb != HBM_IND_MOVE && st->verb != HBM_IND_VIEW))
		return HBM_OK;
	writer = name_at(w, st->dst)->writer;
	if (writer == HBM_NONE)
		return HBM_OK;
	HBM_NEED(hbm_map_set(
		&w->f->inplace,
		(uint64_t)st->src << 32 | w->f->leaves.items[writer].node->name, 1));
	return HBM_OK;
}

/* "out, out_1": the place of the first of them that has one, or the text. */
static hbm_sym place_of(const learner *w, hbm_sym comment)
{
	const char *s = text_of(w, comment);

	while (*s) {
		size_t n = strcspn(s, ", ");
		hbm_sym sym = hbm_sym_find(&w->dump->syms, s, n);
		if (sym < w->dump->names.n && w->dump->names.items[sym].origin)
			return w->dump->names.items[sym].origin;
		s += n;
		s += strspn(s, ", ");
	}
	return comment;
}

/* The kernel that a statement runs is the last one that makes any of its names. */
static void learn_source(learner *w, const hbm_ind_stmt *st)
{
	uint32_t last = HBM_NONE;

	if (!st->comment || (st->verb != HBM_IND_RUN && st->verb != HBM_IND_GIVEN))
		return;
	for (uint32_t i = 0; i <= st->names.n; i++) {
		hbm_sym sym = i < st->names.n
		                      ? w->dump->code.names.items[st->names.first + i]
		                      : st->dst;
		uint32_t writer = sym ? name_at(w, sym)->writer : HBM_NONE;
		uint32_t top =
			writer == HBM_NONE ? HBM_NONE : w->f->leaves.items[writer].top;
		if (top != HBM_NONE && (last == HBM_NONE || top > last))
			last = top;
	}
	if (last != HBM_NONE && !w->f->src.items[last])
		w->f->src.items[last] = place_of(w, st->comment);
}

hbm_status hbm_ind_learn(hbm_ind_dump *dump, hbm_ind_facts *facts)
{
	learner w = {dump, facts};

	for (uint32_t i = 0; i < facts->n_tops; i++)
		HBM_NEED(HBM_PUSH(dump->a, &facts->src, 0));
	for (uint32_t i = 0; i < dump->names.n; i++)
		learn_type(&w, &dump->names.items[i]);
	for (uint32_t i = 0; i < dump->code.stmts.n; i++) {
		const hbm_ind_stmt *st = &dump->code.stmts.items[i];
		learn(&w, i);
		learn_source(&w, st);
		HBM_TRY(learn_reuse(&w, st));
	}
	guess_inputs(&w);
	return HBM_OK;
}
