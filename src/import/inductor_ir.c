/* SPDX-License-Identifier: Apache-2.0 */
/* ir_pre_fusion.txt and ir_post_fusion.txt: the list of scheduler nodes.
 *
 * Line by line with a stack of open nodes. A header opens a node; it is a child
 * when a line "PARENT.snodes[i] =" stands before it, else it closes everything
 * and starts a new top-level node. Lists may go over lines
 * (inductor_list.c). Bodies and kernel code are skipped by their indent. All versions
 * from torch 2.0 on are read by the same rules: a field that a version lacks is not
 * asked for, except the dependencies, whose absence means a truncated file.
 * Index expressions are never looked into. Linear in the text. */
#include "import/inductor_ir.h"

#include <string.h>

static hbm_ind_node *top(hbm_ind_reader *r)
{
	return r->depth ? &r->g->nodes.items[r->open[r->depth - 1]] : NULL;
}

static void close_to(hbm_ind_reader *r, uint32_t depth)
{
	while (r->depth > depth)
		r->g->nodes.items[r->open[--r->depth]].end = r->g->nodes.n;
	r->in_outputs = false;
	r->buf = 0;
}

/* A line of a kind that newer versions may print; not one that lacks its end. */
static void unknown_line(hbm_ind_reader *r)
{
	if (r->line.end == r->t->n) {
		HBM_IND_FAIL(r->dump, HBM_E_IND_MISSING, hbm_ind_here(r, r->line.start),
		             1, "the file ends inside this line; it may be truncated");
		return;
	}
	if (!r->n_unknown++)
		r->unknown = hbm_ind_here(r, r->line.start);
}

/* ---- headers -------------------------------------------------------------- */

static bool ends_with(const hbm_ind_text *t, size_t start, size_t end, const char *with)
{
	size_t n = strlen(with);

	return end - start >= n && hbm_ind_is(t, end - n, end, with);
}

/* "op0_op1: FusedSchedulerNode(SchedulerNode,SchedulerNode)" */
static bool is_header(const hbm_ind_text *t, const hbm_ind_line *l,
                      size_t *ret_name_end, size_t *ret_kind, size_t *ret_kind_end)
{
	size_t name = hbm_ind_word(t, l->start, l->end), kind, close;

	if (name == l->start || name + 2 >= l->end || t->s[name] != ':' ||
	    t->s[name + 1] != ' ')
		return false;
	kind = hbm_ind_word(t, name + 2, l->end);
	if (kind >= l->end || t->s[kind] != '(' ||
	    !ends_with(t, name + 2, kind, "SchedulerNode") ||
	    !hbm_ind_close(t, kind, l->end, &close) || close != l->end - 1)
		return false;
	*ret_name_end = name;
	*ret_kind = name + 2;
	*ret_kind_end = kind;
	return true;
}

static hbm_ind_kind node_kind(const hbm_ind_text *t, size_t start, size_t end)
{
	if (hbm_ind_is(t, start, end, "SchedulerNode"))
		return HBM_IND_PLAIN;
	if (hbm_ind_starts(t, start, end, "ExternKernel"))
		return HBM_IND_EXTERN;
	if (hbm_ind_starts(t, start, end, "NopKernel"))
		return HBM_IND_NOP;
	if (hbm_ind_starts(t, start, end, "CountedLoop"))
		return HBM_IND_LOOP;
	if (hbm_ind_starts(t, start, end, "Foreach"))
		return HBM_IND_FOREACH;
	return HBM_IND_FUSED; /* Fused, Grouped, OuterLoopFused, ... */
}

static hbm_status open_node(hbm_ind_reader *r, size_t name_end, size_t kind,
                            size_t kind_end)
{
	hbm_ind_node n = {.parent = HBM_NONE, .at = hbm_ind_here(r, r->line.start)};

	if (!r->child)
		close_to(r, 0);
	if (r->depth == HBM_MAX_DEPTH) {
		HBM_IND_FAIL(r->dump, HBM_E_NESTING, n.at, 1,
		             "nodes nest deeper than %d", HBM_MAX_DEPTH);
		r->stop = true;
		return HBM_OK;
	}
	n.kind = node_kind(r->t, kind, kind_end);
	n.name = hbm_ind_sym(r->dump, r->t, r->line.start, name_end);
	n.ir = hbm_ind_sym(r->dump, r->t, kind_end + 1, r->line.end - 1);
	HBM_NEED(n.name != HBM_NONE && n.ir != HBM_NONE);
	if (r->depth) {
		n.parent = r->open[r->depth - 1];
		top(r)->n_children++;
	}
	n.end = r->g->nodes.n + 1;
	HBM_NEED(HBM_PUSH(r->dump->a, &r->g->nodes, n));
	r->open[r->depth++] = r->g->nodes.n - 1;
	r->child = r->in_outputs = false;
	r->buf = 0;
	return HBM_OK;
}

/* ---- buffers -------------------------------------------------------------- */

static hbm_status add_buf(hbm_ind_reader *r, hbm_sym name, hbm_sym ir, uint32_t *ret)
{
	hbm_ind_node *n = top(r);
	hbm_ind_buf buf = {
		.name = name, .ir = ir, .at = hbm_ind_here(r, r->line.start)};

	HBM_NEED(HBM_PUSH(r->dump->a, &r->g->bufs, buf));
	if (!n->bufs.n)
		n->bufs.first = r->g->bufs.n - 1;
	n->bufs.n = r->g->bufs.n - n->bufs.first;
	*ret = r->g->bufs.n - 1;
	return HBM_OK;
}

/* "    buf0: ComputedBuffer" inside outputs. */
static hbm_status open_buf(hbm_ind_reader *r, size_t name_end)
{
	hbm_sym name = hbm_ind_sym(r->dump, r->t, r->line.start, name_end);
	hbm_sym ir = hbm_ind_sym(r->dump, r->t, name_end + 2, r->line.end);
	uint32_t buf;

	HBM_NEED(name != HBM_NONE && ir != HBM_NONE);
	HBM_TRY(add_buf(r, name, ir, &buf));
	r->buf = name;
	return HBM_OK;
}

/* The literal of a layout, remembered where it first stands; it is read when its
 * size is needed. */
static hbm_status keep_layout(hbm_ind_reader *r, hbm_sym name, size_t pos)
{
	hbm_ind_name *n = hbm_ind_name_of(r->dump, name);
	size_t word = hbm_ind_word(r->t, pos, r->line.end), close;

	HBM_NEED(n);
	if (word == pos ||
	    (word < r->line.end && (r->t->s[word] != '(' ||
	                            !hbm_ind_close(r->t, word, r->line.end, &close)))) {
		HBM_IND_FAIL(r->dump, HBM_E_IND_SYNTAX, hbm_ind_here(r, pos),
		             r->line.end - pos, "this is no layout");
		return HBM_OK;
	}
	if (!n->layout.text)
		n->layout = hbm_ind_here(r, pos);
	return HBM_OK;
}

/* Fields of a buffer: in the outputs of its node, or, up to torch 2.4, of the
 * node that has its name. False: not a field of buffers. */
static hbm_status buffer_field(hbm_ind_reader *r, size_t word, size_t word_end,
                               size_t value, bool *ret_known)
{
	const hbm_ind_text *t = r->t;
	hbm_ind_node *n = top(r);
	hbm_ind_buf *buf;
	uint32_t id;

	*ret_known = hbm_ind_is(t, word, word_end, "users") ||
	             hbm_ind_is(t, word, word_end, "aliases") ||
	             hbm_ind_is(t, word, word_end, "mutations") ||
	             hbm_ind_is(t, word, word_end, "layout");
	if (!*ret_known || (!r->buf && hbm_ind_is(t, value, r->line.end, "None")))
		return HBM_OK;
	if (!r->buf && !n->bufs.n)
		HBM_TRY(add_buf(r, n->name, n->ir, &id));
	buf = &r->g->bufs.items[n->bufs.first + n->bufs.n - 1];
	if (hbm_ind_is(t, word, word_end, "users"))
		return hbm_ind_read_users(r, value, buf);
	if (hbm_ind_is(t, word, word_end, "layout"))
		return keep_layout(r, buf->name, value);
	return hbm_ind_read_names(r, value,
	                          hbm_ind_is(t, word, word_end, "aliases")
	                                  ? &buf->aliases
	                                  : &buf->mutations);
}

/* ---- fields of nodes ------------------------------------------------------ */

static hbm_status dependency_field(hbm_ind_reader *r, size_t word, size_t word_end,
                                   size_t value, bool *ret_known)
{
	hbm_ind_node *n = top(r);
	hbm_span span;
	int which = hbm_ind_is(r->t, word, word_end, "writes")               ? 1
	            : hbm_ind_is(r->t, word, word_end, "unmet_dependencies") ? 2
	            : hbm_ind_is(r->t, word, word_end, "met_dependencies")   ? 3
	                                                                     : 0;

	*ret_known = which != 0;
	if (!which)
		return HBM_OK;
	HBM_TRY(hbm_ind_read_deps(r, value, &span));
	if (which == 1) {
		n->has_writes = true;
		n->writes = span;
	} else if (which == 2) {
		n->has_unmet = true;
		n->unmet = span;
	} else {
		n->has_met = true;
		n->met = span;
	}
	return HBM_OK;
}

static hbm_status read_trips(hbm_ind_reader *r, size_t value)
{
	hbm_ind_node *n = top(r);
	size_t bad, bad_end;
	hbm_ind_eval e = hbm_ind_expr(r->dump->opts, r->t, value, r->line.end,
	                              &n->trips, &bad, &bad_end);

	if (e != HBM_IND_OK || !n->trips)
		HBM_IND_FAIL(r->dump, HBM_E_TRIP_COUNT, hbm_ind_here(r, value),
		             r->line.end - value, "this is no trip count");
	return HBM_OK;
}

static hbm_status plain_field(hbm_ind_reader *r, size_t word, size_t word_end,
                              size_t value, bool *ret_known)
{
	static const char *const skipped[] = {
		"group.iteration",    "sizes",     "min_input_distance",
		"max_input_distance", "min_order", "max_order",
	};
	const hbm_ind_text *t = r->t;
	hbm_ind_node *n = top(r);

	*ret_known = true;
	if (hbm_ind_is(t, word, word_end, "outputs")) {
		n->has_outputs = r->in_outputs = true;
		if (hbm_ind_is(t, value, r->line.end, "[]"))
			r->in_outputs = false;
		else if (!hbm_ind_is(t, value, r->line.end, "["))
			HBM_IND_FAIL(r->dump, HBM_E_IND_SYNTAX, hbm_ind_here(r, value),
			             1, "'[' is expected");
		return HBM_OK;
	}
	if (hbm_ind_is(t, word, word_end, "snodes"))
		return hbm_ind_read_names(r, value, &n->snodes);
	if (hbm_ind_is(t, word, word_end, "node.kernel")) {
		n->kernel = hbm_ind_sym(r->dump, t, value, r->line.end);
		HBM_NEED(n->kernel != HBM_NONE);
		return HBM_OK;
	}
	if (hbm_ind_is(t, word, word_end, "group.device")) {
		n->device = hbm_ind_sym(r->dump, t, value, r->line.end);
		HBM_NEED(n->device != HBM_NONE);
		return HBM_OK;
	}
	if (hbm_ind_is(t, word, word_end, "loop_count") ||
	    hbm_ind_is(t, word, word_end, "trip_count"))
		return read_trips(r, value);
	for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
		if (hbm_ind_is(t, word, word_end, skipped[i]))
			return HBM_OK;
	*ret_known = false;
	return HBM_OK;
}

/* "P.snodes[2] =": the next header is the third child of P. */
static void next_child(hbm_ind_reader *r, size_t word, size_t word_end)
{
	const hbm_ind_text *t = r->t;
	size_t open = word + strlen("snodes[");
	hbm_ind_node *n = top(r);
	uint64_t i = 0;

	for (size_t p = open; p < word_end - 1 && i <= n->n_children; p++)
		i = i * 10 + (uint64_t)(t->s[p] - '0');
	if (i != n->n_children) {
		HBM_IND_FAIL(r->dump, HBM_E_IND_STRUCTURE, hbm_ind_here(r, word),
		             word_end - word, "child %u of '%s' is expected here",
		             n->n_children, hbm_ind_str(r->dump, n->name));
		r->stop = true;
	}
	r->child = true;
}

/* Closes nodes until the one with this name is on top; false: it is not open. */
static bool back_to(hbm_ind_reader *r, hbm_sym name)
{
	for (uint32_t d = r->depth; d > 0; d--) {
		if (r->g->nodes.items[r->open[d - 1]].name == name) {
			if (d < r->depth)
				close_to(r, d);
			return true;
		}
	}
	return false;
}

/* ---- lines ---------------------------------------------------------------- */

/* End of "word", "word.word" or "snodes[3]". */
static size_t field_end(const hbm_ind_text *t, size_t pos, size_t end)
{
	size_t p = hbm_ind_word(t, pos, end);

	if (p > pos && p < end && t->s[p] == '.')
		p = hbm_ind_word(t, p + 1, end);
	if (hbm_ind_is(t, pos, p, "snodes") && p < end && t->s[p] == '[') {
		size_t q = p + 1;
		while (q < end && t->s[q] >= '0' && t->s[q] <= '9')
			q++;
		if (q > p + 1 && q < end && t->s[q] == ']')
			p = q + 1;
	}
	return p;
}

static hbm_status known_field(hbm_ind_reader *r, size_t word, size_t word_end,
                              size_t value)
{
	bool known = false;

	if (hbm_ind_starts(r->t, word, word_end, "snodes[")) {
		next_child(r, word, word_end);
		return HBM_OK;
	}
	if (!r->buf) {
		HBM_TRY(dependency_field(r, word, word_end, value, &known));
		if (!known)
			HBM_TRY(plain_field(r, word, word_end, value, &known));
	}
	if (!known)
		HBM_TRY(buffer_field(r, word, word_end, value, &known));
	if (!known)
		unknown_line(r);
	return HBM_OK;
}

static bool is_structural(const hbm_ind_text *t, size_t word, size_t word_end)
{
	return hbm_ind_is(t, word, word_end, "writes") ||
	       hbm_ind_is(t, word, word_end, "unmet_dependencies") ||
	       hbm_ind_is(t, word, word_end, "met_dependencies") ||
	       hbm_ind_is(t, word, word_end, "outputs") ||
	       hbm_ind_starts(t, word, word_end, "snodes");
}

/* "NAME.field = value" */
static hbm_status field_line(hbm_ind_reader *r, size_t name_end, bool *ret_is_field)
{
	const hbm_ind_text *t = r->t;
	size_t word = name_end + 1, word_end = field_end(t, word, r->line.end);
	size_t p = word_end;
	hbm_sym name;

	while (p < r->line.end && t->s[p] == ' ')
		p++;
	*ret_is_field = word_end > word && p < r->line.end && t->s[p] == '=';
	if (!*ret_is_field)
		return HBM_OK;
	for (p++; p < r->line.end && t->s[p] == ' ';)
		p++;
	name = hbm_ind_sym(r->dump, t, r->line.start, name_end);
	HBM_NEED(name != HBM_NONE);
	if (r->in_outputs && r->buf && name == r->buf)
		return known_field(r, word, word_end, p);
	r->buf = 0;
	if (back_to(r, name))
		return known_field(r, word, word_end, p);
	if (is_structural(t, word, word_end)) {
		HBM_IND_FAIL(r->dump, HBM_E_IND_STRUCTURE,
		             hbm_ind_here(r, r->line.start), name_end - r->line.start,
		             "a field of node '%s', which is not open here",
		             hbm_ind_str(r->dump, name));
		r->stop = true;
	} else {
		unknown_line(r);
	}
	return HBM_OK;
}

/* "buf0_layout = FixedLayout(...)" */
static hbm_status layout_line(hbm_ind_reader *r, size_t name_end, bool *ret_is_layout)
{
	static const char tail[] = "_layout";
	const hbm_ind_text *t = r->t;
	size_t p = name_end;
	hbm_sym name;

	*ret_is_layout = ends_with(t, r->line.start, name_end, tail) &&
	                 hbm_ind_starts(t, p, r->line.end, " = ");
	if (!*ret_is_layout)
		return HBM_OK;
	name = hbm_ind_sym(r->dump, t, r->line.start, name_end - (sizeof tail - 1));
	HBM_NEED(name != HBM_NONE);
	return keep_layout(r, name, p + 3);
}

/* "class op0_loop_body:" or "op0 Triton code:": what follows deeper is code. */
static bool is_block(const hbm_ind_text *t, const hbm_ind_line *l)
{
	return ends_with(t, l->start, l->end, " code:") ||
	       (hbm_ind_starts(t, l->start, l->end, "class ") &&
	        ends_with(t, l->start, l->end, ":"));
}

/* Moves [*start, *end) to the last quoted word of the line, if there is one. */
static void last_quoted(const hbm_ind_text *t, size_t *start, size_t *end, size_t stop)
{
	size_t quote = hbm_ind_find(t, *end, stop, "'"), close;

	while (quote != SIZE_MAX) {
		close = hbm_ind_find(t, quote + 1, stop, "'");
		if (close == SIZE_MAX)
			break;
		*start = quote + 1;
		*end = close;
		quote = hbm_ind_find(t, close + 1, stop, "'");
	}
}

/* The last op of a body that computes something names the node in reports. */
static hbm_status body_line(hbm_ind_reader *r)
{
	static const char *const dull[] = {
		"load",         "store",    "store_reduction", "constant",
		"get_index",    "to_dtype", "index_expr",      "indirect_indexing",
		"check_bounds", "masked",
	};
	const hbm_ind_text *t = r->t;
	size_t p = hbm_ind_find(t, r->line.start, r->line.end, " = ops."), end;
	hbm_ind_node *n = top(r);

	if (p == SIZE_MAX || !n)
		return HBM_OK;
	p += strlen(" = ops.");
	end = hbm_ind_word(t, p, r->line.end);
	for (size_t i = 0; i < sizeof dull / sizeof *dull; i++)
		if (hbm_ind_is(t, p, end, dull[i]))
			return HBM_OK;
	if (hbm_ind_is(t, p, end, "reduction"))
		last_quoted(t, &p, &end, r->line.end);
	n->opname = hbm_ind_sym(r->dump, t, p, end);
	HBM_NEED(n->opname != HBM_NONE);
	return HBM_OK;
}

static hbm_status other_line(hbm_ind_reader *r)
{
	const hbm_ind_text *t = r->t;
	size_t name_end = hbm_ind_word(t, r->line.start, r->line.end);
	bool done = false;

	if (r->in_outputs && hbm_ind_is(t, r->line.start, r->line.end, "]")) {
		r->in_outputs = false;
		r->buf = 0;
		return HBM_OK;
	}
	if (is_block(t, &r->line)) {
		r->in_block = true;
		r->block_indent = r->line.indent;
		return HBM_OK;
	}
	if (name_end == r->line.start || name_end >= r->line.end || !r->depth) {
		unknown_line(r);
		return HBM_OK;
	}
	if (r->in_outputs && hbm_ind_starts(t, name_end, r->line.end, ": ") &&
	    hbm_ind_word(t, name_end + 2, r->line.end) == r->line.end)
		return open_buf(r, name_end);
	if (t->s[name_end] == '.')
		HBM_TRY(field_line(r, name_end, &done));
	else
		HBM_TRY(layout_line(r, name_end, &done));
	if (!done)
		unknown_line(r);
	return HBM_OK;
}

static hbm_status read_line(hbm_ind_reader *r)
{
	size_t name_end, kind, kind_end;

	if (r->line.start == r->line.end)
		return HBM_OK;
	if (r->in_block && r->line.indent > r->block_indent)
		return body_line(r);
	r->in_block = false;
	if (is_header(r->t, &r->line, &name_end, &kind, &kind_end))
		return open_node(r, name_end, kind, kind_end);
	if (r->child) {
		HBM_IND_FAIL(r->dump, HBM_E_IND_STRUCTURE,
		             hbm_ind_here(r, r->line.start),
		             r->line.end - r->line.start,
		             "the child that was announced is expected here");
		r->stop = true;
		return HBM_OK;
	}
	return other_line(r);
}

/* ---- checks --------------------------------------------------------------- */

static void check_node(hbm_ind_reader *r, const hbm_ind_node *n)
{
	const char *lacks = !n->has_writes  ? "writes"
	                    : !n->has_unmet ? "unmet_dependencies"
	                    : !n->has_met   ? "met_dependencies"
	                                    : NULL;

	if (lacks)
		HBM_IND_FAIL(r->dump, HBM_E_IND_MISSING, n->at, 1,
		             "node '%s' has no line '%s'; the file may be truncated",
		             hbm_ind_str(r->dump, n->name), lacks);
}

static hbm_status finish(hbm_ind_reader *r)
{
	close_to(r, 0);
	if (r->child && !r->stop)
		HBM_IND_FAIL(r->dump, HBM_E_IND_MISSING, hbm_ind_here(r, r->line.start),
		             1, "the file ends before the child that was announced");
	if (!r->g->nodes.n && r->n_unknown && !r->dump->failed)
		HBM_IND_FAIL(r->dump, HBM_E_IND_SYNTAX, ((hbm_ind_at){r->t, 0, 1}), 1,
		             "the file holds no scheduler node");
	for (uint32_t i = 0; i < r->g->nodes.n && !r->stop; i++)
		check_node(r, &r->g->nodes.items[i]);
	if (r->n_unknown && !r->stop)
		HBM_NEED(hbm_warn(r->dump->d, HBM_E_IND_IGNORED,
		                  hbm_ind_shown(r->dump, r->unknown, 1),
		                  "lines of an unknown kind left out: %u; this is the "
		                  "first", r->n_unknown));
	return HBM_OK;
}

hbm_status hbm_ind_read_ir(hbm_ind_dump *dump, const hbm_ind_text *t,
                           hbm_ind_graph *ret)
{
	hbm_ind_reader r = {.dump = dump, .t = t, .g = ret, .scan = {t, 0, 1}};

	ret->text = t;
	while (!r.stop && !hbm_ind_full(dump) && hbm_ind_next_line(&r.scan, &r.line))
		HBM_TRY(read_line(&r));
	return finish(&r);
}
