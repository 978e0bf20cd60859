/* SPDX-License-Identifier: Apache-2.0
 * hlo_text: HLO text into a module.
 *
 * Method     Recursive descent over the bytes, one pass; names are resolved when all
 *            is read, so computations and instructions may stand in any order.
 * Reads      Modules as XLA prints them (long and short form, since 2019), with or
 *            without header, ENTRY, ROOT and signatures; tables of files, functions
 *            and frames. Of several modules in one file the first.
 * Errors     After an error the rest of its line is skipped.
 * Cost       Linear in the bytes.
 * Source     XLA's HLO text syntax. */
#include "import/hlo_lex.h"

#include <string.h>

static void next_line(hlo_reader *r)
{
	const char *nl = memchr(r->p, '\n', (size_t)(r->end - r->p));

	r->p = nl ? nl + 1 : r->end;
}

/* ---- module header and tables --------------------------------------------- */

static hbm_status header(hlo_reader *r)
{
	hlo_module *m = r->m;
	hlo_slice name = hlo_take_name(r), quoted;

	if (!name.n && r->p < r->end && *r->p == '"') {
		HBM_TRY(hlo_take_string(r, &quoted));
		name = quoted;
	}
	m->name = hlo_clean(m->arena, m->syms, name, true);
	HBM_NEED(m->name != HBM_NONE);
	while (hlo_accept(r, ',')) {
		hlo_slice key = hlo_take_name(r), value;
		HBM_TRY(hlo_expect(r, '=', "after the module attribute"));
		HBM_TRY(hlo_take_value(r, &value));
		if (hlo_is_word(key, "is_scheduled"))
			m->scheduled = hlo_is_word(value, "true");
		else if (hlo_is_word(key, "input_output_alias"))
			HBM_TRY(hlo_take_aliases(r, value, true, &m->io_aliases));
		else if (hlo_is_word(key, "buffer_donor"))
			HBM_TRY(hlo_take_aliases(r, value, false, &m->donors));
	}
	return HBM_OK;
}

/* key=number ... } */
static uint64_t field(hlo_slice value, const char *key)
{
	size_t n = strlen(key);
	uint64_t v = 0;

	for (uint32_t i = 0; i + n < value.n; i++) {
		const char *p = value.s + i + n, *end = value.s + value.n;
		if (memcmp(value.s + i, key, n) != 0 || *p++ != '=')
			continue;
		for (; p < end && *p >= '0' && *p <= '9' && v < UINT32_MAX; p++)
			v = v * 10 + (uint64_t)(*p - '0');
		return v;
	}
	return 0;
}

static hbm_status location(hlo_module *m, hlo_slice value)
{
	uint64_t file = field(value, "file_name_id");
	hlo_meta loc = {.line = field(value, "line")};

	if (file && file <= m->file_names.n)
		loc.file = m->file_names.items[file - 1];
	HBM_NEED(HBM_PUSH(m->arena, &m->locations, loc));
	return HBM_OK;
}

/* Rows "1 "text"" or "1 {key=value ...}", numbered from 1. */
static hbm_status table(hlo_reader *r, hlo_slice word)
{
	hlo_module *m = r->m;
	hlo_slice value;
	uint64_t id;

	for (;;) {
		hlo_skip_ws(r);
		if (r->p >= r->end || *r->p < '0' || *r->p > '9')
			return HBM_OK;
		HBM_TRY(hlo_take_number(r, &id));
		hlo_skip_ws(r);
		if (r->p < r->end && *r->p == '"')
			HBM_TRY(hlo_take_string(r, &value));
		else
			HBM_TRY(hlo_take_value(r, &value));
		if (hlo_is_word(word, "FileNames"))
			HBM_NEED(HBM_PUSH(m->arena, &m->file_names, value));
		else if (hlo_is_word(word, "FileLocations"))
			HBM_TRY(location(m, value));
		else if (hlo_is_word(word, "StackFrames"))
			HBM_NEED(HBM_PUSH(m->arena, &m->frames,
			                  (uint32_t)field(value, "file_location_id")));
	}
}

static bool is_table(hlo_slice w)
{
	return hlo_is_word(w, "FileNames") || hlo_is_word(w, "FunctionNames") ||
	       hlo_is_word(w, "FileLocations") || hlo_is_word(w, "StackFrames");
}

/* ---- computations --------------------------------------------------------- */

static hbm_status body(hlo_reader *r, hlo_comp *c)
{
	hlo_module *m = r->m;
	hbm_status first = HBM_OK;
	bool root;

	c->first = m->instrs.n;
	c->root = HBM_NONE;
	while (!hlo_accept(r, '}')) {
		hbm_status status;
		if (r->p >= r->end)
			return hlo_syntax(r, c->pos, "no '}' ends this computation");
		status = hlo_take_instr(r, &root);
		if (first == HBM_OK)
			first = status;
		if (status != HBM_OK && status != HBM_SYNTAX && status != HBM_SEMANTIC)
			return status;
		if (status != HBM_OK) {
			if (hbm_diags_full(m->diags))
				return status;
			next_line(r);
		} else if (root) {
			c->root = m->instrs.n - 1;
		}
	}
	c->n = m->instrs.n - c->first;
	if (c->root == HBM_NONE)
		c->root = m->instrs.n - 1;
	if (first == HBM_OK && !c->n)
		return hlo_syntax(r, c->pos, "computation has no instruction");
	return first;
}

/* Reads a shape and forgets it: the result of a computation is that of its root. */
static hbm_status skip_shape(hlo_reader *r)
{
	hlo_module *m = r->m;
	uint32_t nodes = m->nodes.n, kids = m->kids.n, leaves = m->leaf_nodes.n;
	uint32_t dims = m->dims.n, node;
	hbm_span span;

	HBM_TRY(hlo_take_shape(r, &node, &span));
	m->nodes.n = nodes;
	m->kids.n = kids;
	m->leaf_nodes.n = leaves;
	m->dims.n = dims;
	return HBM_OK;
}

/* [(name: shape, ...) -> shape] { ... } [, execution_thread="..."] */
static hbm_status computation(hlo_reader *r, hlo_slice name, uint32_t pos, bool entry)
{
	hlo_module *m = r->m;
	hlo_comp c = {.pos = pos, .entry = entry};
	hlo_slice skipped;
	hbm_status status;

	c.name = hbm_intern(m->syms, name.s, name.n);
	HBM_NEED(c.name != HBM_NONE);
	if (hlo_accept(r, '(')) {
		HBM_TRY(hlo_take_balanced(r, ')', &skipped));
		HBM_TRY(hlo_expect(r, '-', "before the result of a computation"));
		HBM_TRY(hlo_expect(r, '>', "before the result of a computation"));
		HBM_TRY(skip_shape(r));
	}
	HBM_TRY(hlo_expect(r, '{', "before the instructions"));
	status = body(r, &c);
	if (status == HBM_OK)
		HBM_NEED(HBM_PUSH(m->arena, &m->comps, c));
	if (status == HBM_OK && hlo_accept(r, ',')) {
		hlo_take_name(r);
		HBM_TRY(hlo_expect(r, '=', "after the attribute's name"));
		HBM_TRY(hlo_take_value(r, &skipped));
	}
	return status;
}

static uint32_t count_modules(const hlo_reader *r)
{
	hlo_slice rest = {r->p, (uint32_t)(r->end - r->p)};
	uint32_t n = 1;
	const char *p = rest.s;

	while ((p = memchr(p, 'H', (size_t)(r->end - p)))) {
		n += r->end - p > 10 && !memcmp(p, "HloModule ", 10) && p[-1] == '\n';
		p++;
	}
	return n;
}

/* Takes what comes next on the outermost level. */
static hbm_status item(hlo_reader *r, bool *ret_stop)
{
	hlo_module *m = r->m;
	uint32_t pos = hlo_pos(r);
	hlo_slice word = hlo_take_name(r);
	bool entry = hlo_is_word(word, "ENTRY");

	if (hlo_is_word(word, "HloModule") && (m->name || m->comps.n)) {
		HBM_NEED(hbm_warn(m->diags, HBM_E_HLO_MODULES, hlo_at(m, pos, word.n),
		                  "the file has %u more modules; only the first, '%s', "
		                  "is read", count_modules(r),
		                  hbm_sym_str(m->syms, m->name)));
		*ret_stop = true;
		return HBM_OK;
	}
	if (hlo_is_word(word, "HloModule"))
		return header(r);
	if (is_table(word))
		return table(r, word);
	if (entry) {
		hlo_skip_ws(r);
		pos = hlo_pos(r);
		word = hlo_take_name(r);
	}
	if (!word.n)
		return hlo_syntax(r, pos, "expected a computation");
	return computation(r, word, pos, entry);
}

hbm_status hlo_read_text(hlo_module *m, const char *text, size_t n)
{
	hlo_reader r = {.m = m, .p = text, .end = text + n, .text = text};
	hbm_status first = HBM_OK;
	bool stop = false;

	if (n >= UINT32_MAX)
		return hbm_fail(m->diags, HBM_LIMIT, HBM_E_TOO_LARGE, HBM_NOWHERE,
		                "HLO text of 4 GiB or more");
	HBM_TRY(hlo_set_text(m, text, n));
	for (hlo_skip_ws(&r); r.p < r.end && !stop; hlo_skip_ws(&r)) {
		const char *from = r.p;
		hbm_status status = item(&r, &stop);
		if (first == HBM_OK)
			first = status;
		if ((status != HBM_OK && status != HBM_SYNTAX && status != HBM_SEMANTIC) ||
		    hbm_diags_full(m->diags))
			return first;
		if (status != HBM_OK && r.p == from)
			next_line(&r);
	}
	HBM_TRY(first);
	return hlo_resolve(m);
}
