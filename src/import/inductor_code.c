/* SPDX-License-Identifier: Apache-2.0 */
/* output_code.py: the statements of call(), in order.
 *
 * Only what touches memory is told apart: allocation, reuse, view, del, a kernel
 * that allocates its own result, the arguments and what is returned. Of every
 * statement the identifiers are kept, because buffers are named by them.
 * Statements end at the end of a line or at ';' outside brackets. Outside call()
 * two things are of use: rand_strided tells the types of the inputs, and comments
 * map source nodes to fx nodes. */
#include "import/inductor.h"

#include <string.h>

typedef struct reader {
	hbm_ind_dump *dump;
	const hbm_ind_text *t;
	hbm_ind_code *code;
	hbm_sym comment; /* source nodes named by the last comment */
	bool stop;
} reader;

/* ---- statements ----------------------------------------------------------- */

static hbm_status push(reader *r, hbm_ind_stmt st)
{
	st.comment = r->comment;
	HBM_NEED(HBM_PUSH(r->dump->a, &r->code->stmts, st));
	return HBM_OK;
}

/* Identifiers in [start, end) but attributes, called functions and keywords. */
static hbm_status take_names(reader *r, size_t start, size_t end, hbm_span *ret)
{
	const hbm_ind_text *t = r->t;
	char before = 0;

	*ret = (hbm_span){r->code->names.n, 0};
	for (size_t p = start; p < end;) {
		size_t word = hbm_ind_word(t, p, end);
		char c = t->s[p], after = word < end ? t->s[word] : 0;
		hbm_sym sym;
		if (c == '\'' || c == '"') {
			for (p++; p < end && t->s[p] != c; p++)
				;
			p += p < end;
			continue;
		}
		if (word == p) {
			before = c;
			p++;
			continue;
		}
		if (before != '.' && after != '(' &&
		    (after != '=' || t->s[word + 1] == '=')) {
			sym = hbm_ind_sym(r->dump, t, p, word);
			HBM_NEED(sym != HBM_NONE &&
			         HBM_PUSH(r->dump->a, &r->code->names, sym));
			ret->n++;
		}
		before = 0;
		p = word;
	}
	return HBM_OK;
}

static bool is_one_of(const hbm_ind_text *t, size_t start, size_t end,
                      const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (hbm_ind_is(t, start, end, words[i]))
			return true;
	return false;
}

static bool allocates(const hbm_ind_text *t, size_t start, size_t end)
{
	static const char *const names[] = {
		"empty",
		"torch.empty",
		"torch.empty_strided",
		"rand_strided",
		"spyre_empty_with_layout",
		"alloc_from_pool",
	};

	return hbm_ind_starts(t, start, end, "empty_strided") ||
	       is_one_of(t, start, end, names, sizeof names / sizeof *names);
}

static bool views(const hbm_ind_text *t, size_t start, size_t end)
{
	static const char *const names[] = {
		"as_strided",
		"reinterpret_tensor",
		"torch.as_strided",
		"torch.ops.inductor._reinterpret_tensor",
	};

	return is_one_of(t, start, end, names, sizeof names / sizeof *names);
}

/* The verb and the source of "dst = [start, end)". */
static hbm_status right_side(reader *r, size_t start, size_t end, hbm_ind_stmt *st)
{
	const hbm_ind_text *t = r->t;
	size_t word = hbm_ind_word(t, start, end), name_end, close;

	st->verb = HBM_IND_RUN;
	if (word == end && word > start) {
		st->verb = HBM_IND_MOVE;
		st->src = hbm_ind_sym(r->dump, t, start, end);
	} else if (word > start && word < end && t->s[word] == '[' &&
	           hbm_ind_close(t, word, end, &close) && close == end - 1) {
		st->verb = HBM_IND_INDEX;
		st->src = hbm_ind_sym(r->dump, t, start, word);
	} else if (hbm_ind_call(t, start, end, &name_end, &st->in, &st->out)) {
		st->verb = allocates(t, start, name_end) ? HBM_IND_ALLOC
		           : views(t, start, name_end)   ? HBM_IND_VIEW
		                                         : HBM_IND_GIVEN;
		if (st->verb == HBM_IND_VIEW && st->names.n)
			st->src = r->code->names.items[st->names.first];
	} else {
		st->in = st->out = 0;
	}
	HBM_NEED(st->src != HBM_NONE);
	return HBM_OK;
}

/* "dst = ...", "a, b = args". Position of the '=' is known. */
static hbm_status assignment(reader *r, size_t start, size_t eq, size_t end,
                             hbm_ind_at at)
{
	const hbm_ind_text *t = r->t;
	hbm_ind_stmt st = {.at = at};
	size_t left = eq, right = eq + 1;

	while (left > start && t->s[left - 1] == ' ')
		left--;
	while (right < end && t->s[right] == ' ')
		right++;
	if (hbm_ind_is(t, right, end, "args")) {
		st.verb = HBM_IND_ARGS;
		HBM_TRY(take_names(r, start, left, &st.names));
		return push(r, st);
	}
	HBM_TRY(take_names(r, right, end, &st.names));
	if (hbm_ind_word(t, start, left) != left) {
		st.verb = HBM_IND_RUN;
		return push(r, st);
	}
	st.dst = hbm_ind_sym(r->dump, t, start, left);
	HBM_NEED(st.dst != HBM_NONE);
	HBM_TRY(right_side(r, right, end, &st));
	return push(r, st);
}

/* First '=' outside brackets that is no comparison; SIZE_MAX: none. */
static size_t find_assign(const hbm_ind_text *t, size_t start, size_t end)
{
	for (size_t p = start; p < end; p++) {
		char c = t->s[p];
		if (c == '(' || c == '[' || c == '{' || c == '\'' || c == '"')
			return SIZE_MAX;
		if (c == '=')
			return t->s[p + 1] == '=' ? SIZE_MAX : p;
	}
	return SIZE_MAX;
}

static hbm_status call_statement(reader *r, size_t start, size_t end, hbm_ind_at at)
{
	hbm_ind_stmt st = {.verb = HBM_IND_RUN, .at = at};
	size_t name_end;

	HBM_TRY(take_names(r, start, end, &st.names));
	if (hbm_ind_call(r->t, start, end, &name_end, &st.in, &st.out)) {
		if (hbm_ind_is(r->t, start, name_end, "assert_size_stride") &&
		    st.names.n) {
			st.verb = HBM_IND_ASSERT;
			st.dst = r->code->names.items[st.names.first];
		}
	} else {
		st.in = st.out = 0;
	}
	return push(r, st);
}

static hbm_status statement(reader *r, size_t start, size_t end, uint32_t line)
{
	const hbm_ind_text *t = r->t;
	hbm_ind_stmt st = {.at = {t, start, line}};
	size_t eq, word;

	while (end > start && (t->s[end - 1] == ' ' || t->s[end - 1] == '\r'))
		end--;
	if (start == end)
		return HBM_OK;
	word = hbm_ind_word(t, start, end);
	if (hbm_ind_is(t, start, word, "del") || hbm_ind_is(t, start, word, "return")) {
		st.verb = t->s[start] == 'd' ? HBM_IND_DEL : HBM_IND_RETURN;
		HBM_TRY(take_names(r, word, end, &st.names));
		return push(r, st);
	}
	if (hbm_ind_is(t, start, word, "with") || hbm_ind_is(t, start, word, "print") ||
	    hbm_ind_is(t, start, word, "if") || hbm_ind_is(t, start, word, "for"))
		return HBM_OK;
	eq = find_assign(t, start, end);
	return eq != SIZE_MAX ? assignment(r, start, eq, end, st.at)
	                      : call_statement(r, start, end, st.at);
}

/* The statements of one line, which goes on while a bracket is open. */
static hbm_status logical_line(reader *r, hbm_ind_scan *scan, const hbm_ind_line *line)
{
	const hbm_ind_text *t = r->t;
	size_t from = line->start, p = from, end = line->end, close;

	for (; p < end && t->s[p] != '#'; p++) {
		char c = t->s[p];
		if (c == '\'' || c == '"') {
			do
				p++;
			while (p < end && t->s[p] != c);
		} else if (c == '(' || c == '[' || c == '{') {
			if (!hbm_ind_close(t, p, t->n, &close)) {
				HBM_IND_FAIL(r->dump, HBM_E_IND_SYNTAX,
				             ((hbm_ind_at){t, p, line->no}), 1,
				             "this bracket is never closed");
				r->stop = true;
				return HBM_OK;
			}
			p = close;
			if (p >= end) { /* up to the end of the line it closes on */
				const char *nl = memchr(t->s + p, '\n', t->n - p);
				end = nl ? (size_t)(nl - t->s) : t->n;
				hbm_ind_skip_line(scan, p);
			}
		} else if (c == ';') {
			HBM_TRY(statement(r, from, p, line->no));
			for (p++; p < end && t->s[p] == ' ';)
				p++;
			from = p--;
		}
	}
	return statement(r, from, p < end ? p : end, line->no);
}

/* ---- comments ------------------------------------------------------------- */

/* "# Topologically Sorted Source Nodes: [a, b], Original ATen: [...]" */
static hbm_status source_comment(reader *r, const hbm_ind_line *line)
{
	static const char mark[] = "Source Nodes: [";
	size_t p = hbm_ind_find(r->t, line->start, line->end, mark), end;

	if (p == SIZE_MAX)
		return HBM_OK;
	p += sizeof mark - 1;
	end = hbm_ind_find(r->t, p, line->end, "]");
	r->comment = 0;
	if (end == SIZE_MAX || end == p)
		return HBM_OK;
	r->comment = hbm_ind_sym(r->dump, r->t, p, end);
	HBM_NEED(r->comment != HBM_NONE);
	return HBM_OK;
}

/* "#   out_1 => convolution, relu": the source node has the place of that fx
 * node. */
static hbm_status map_comment(reader *r, const hbm_ind_line *line)
{
	size_t p = line->start + 1, word, q, end;
	hbm_sym source, fx, origin;
	hbm_ind_name *n;

	while (p < line->end && r->t->s[p] == ' ')
		p++;
	word = hbm_ind_word(r->t, p, line->end);
	if (word == p || !hbm_ind_starts(r->t, word, line->end, " => "))
		return HBM_OK;
	q = word + 4;
	end = hbm_ind_word(r->t, q, line->end);
	source = hbm_ind_sym(r->dump, r->t, p, word);
	fx = hbm_ind_sym(r->dump, r->t, q, end);
	HBM_NEED(source != HBM_NONE && fx != HBM_NONE);
	HBM_NEED(n = hbm_ind_name_of(r->dump, fx));
	origin = n->origin;
	HBM_NEED(n = hbm_ind_name_of(r->dump, source));
	if (origin && !n->origin)
		n->origin = origin;
	return HBM_OK;
}

/* "    arg0_1 = rand_strided((8, 3), (3, 1), device='cuda:0', dtype=torch.float32)" */
static hbm_status rand_line(reader *r, const hbm_ind_line *line)
{
	size_t word = hbm_ind_word(r->t, line->start, line->end), name_end, in, out;
	hbm_ind_name *n;
	hbm_sym sym;

	if (word == line->start ||
	    !hbm_ind_starts(r->t, word, line->end, " = rand_strided(") ||
	    !hbm_ind_call(r->t, word + 3, line->end, &name_end, &in, &out))
		return HBM_OK;
	sym = hbm_ind_sym(r->dump, r->t, line->start, word);
	HBM_NEED(sym != HBM_NONE);
	HBM_NEED(n = hbm_ind_name_of(r->dump, sym));
	n->rand = (hbm_ind_at){r->t, in, line->no};
	return HBM_OK;
}

/* ---- the file ------------------------------------------------------------- */

static bool is_call_head(const hbm_ind_text *t, const hbm_ind_line *l)
{
	return hbm_ind_starts(t, l->start, l->end, "def call(");
}

hbm_status hbm_ind_read_code(hbm_ind_dump *dump, const hbm_ind_text *t,
                             hbm_ind_code *ret)
{
	reader r = {.dump = dump, .t = t, .code = ret};
	hbm_ind_scan scan = {t, 0, 1};
	hbm_ind_line line;
	size_t indent = 0;
	bool inside = false;

	ret->text = t;
	while (!r.stop && !hbm_ind_full(dump) && hbm_ind_next_line(&scan, &line)) {
		if (line.start == line.end)
			continue;
		if (inside && line.indent <= indent)
			inside = false;
		if (t->s[line.start] == '#') {
			HBM_TRY(inside ? source_comment(&r, &line)
			               : map_comment(&r, &line));
		} else if (inside) {
			HBM_TRY(logical_line(&r, &scan, &line));
		} else if (!ret->found && is_call_head(t, &line)) {
			ret->found = inside = true;
			indent = line.indent;
		} else {
			HBM_TRY(rand_line(&r, &line));
		}
	}
	return HBM_OK;
}
