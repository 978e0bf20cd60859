/* SPDX-License-Identifier: Apache-2.0 */
/* spyre_text: bundle.mlir in its custom form.
 *
 * Only what the bundle writer can produce is read: maps, one function, the pool,
 * extracts, constants, sums, affine.apply, counted loops and sdsc_execute. Values
 * are followed to their numbers, so an operand is known as space and offset.
 * Statements may stand on one line or on several; // begins a comment. */
#include "import/spyre.h"

#include "base/ckd.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct affine {
	hbm_span strides; /* in reader.strides, by dimension */
	uint32_t n_dims;
} affine;

typedef struct reader {
	hbm_arena *a;
	hbm_diags *d;
	hbm_syms *syms;
	const char *path, *s, *end;
	uint32_t line;
	hbm_spyre_text *t;
	hbm_map values;              /* name -> place in `known` */
	HBM_VEC(hbm_spyre_addr) known;
	HBM_VEC(affine) maps;
	hbm_map map_at;              /* name -> place in `maps` */
	HBM_VEC(uint64_t) strides;
	uint32_t open[HBM_MAX_DEPTH]; /* loops */
	uint32_t depth;
} reader;

static hbm_status bad(reader *r, const char *what)
{
	return hbm_fail(r->d, HBM_SYNTAX, HBM_E_BUNDLE,
	                (hbm_where){.file = r->path, .line = r->line}, "%s", what);
}

/* ---- tokens ------------------------------------------------------------------- */

static void skip(reader *r)
{
	for (; r->s < r->end; r->s++) {
		if (r->end - r->s > 1 && r->s[0] == '/' && r->s[1] == '/')
			while (r->s < r->end && *r->s != '\n')
				r->s++;
		if (r->s == r->end || !isspace((unsigned char)*r->s))
			return;
		r->line += *r->s == '\n';
	}
}

static bool accept(reader *r, const char *text)
{
	size_t n = strlen(text);

	skip(r);
	if ((size_t)(r->end - r->s) < n || memcmp(r->s, text, n))
		return false;
	r->s += n;
	return true;
}

static hbm_status expect(reader *r, const char *text)
{
	if (accept(r, text))
		return HBM_OK;
	return hbm_fail(r->d, HBM_SYNTAX, HBM_E_BUNDLE,
	                (hbm_where){.file = r->path, .line = r->line},
	                "expected '%s'", text);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* %name or #name, after its mark. */
static hbm_status name_after(reader *r, const char *mark, hbm_sym *ret)
{
	const char *from;

	HBM_TRY(expect(r, mark));
	for (from = r->s; r->s < r->end && is_word(*r->s);)
		r->s++;
	if (from == r->s)
		return bad(r, "a name is missing");
	*ret = hbm_intern(r->syms, from, (size_t)(r->s - from));
	HBM_NEED(*ret != HBM_NONE);
	return HBM_OK;
}

static hbm_status number(reader *r, uint64_t *ret)
{
	uint64_t v = 0;

	skip(r);
	if (r->s == r->end || !isdigit((unsigned char)*r->s))
		return bad(r, "expected a number");
	for (; r->s < r->end && isdigit((unsigned char)*r->s); r->s++)
		if (!hbm_mul(v, 10, &v) || !hbm_add(v, (uint64_t)(*r->s - '0'), &v) ||
		    v >> 62)
			return bad(r, "the number is too large");
	*ret = v;
	return HBM_OK;
}

/* max_value of `!sdscbundle.input_arg<index, granularity=64, max_value=4096>`, 0: it has
 * none; moves to the end of the type. */
static hbm_status read_type(reader *r, uint64_t *ret_most)
{
	*ret_most = 0;
	HBM_TRY(expect(r, "!sdscbundle.input_arg"));
	HBM_TRY(expect(r, "<"));
	HBM_TRY(expect(r, "index"));
	while (accept(r, ",")) {
		uint64_t v;
		bool most = accept(r, "max_value");
		if (!most)
			HBM_TRY(expect(r, "granularity"));
		HBM_TRY(expect(r, "="));
		HBM_TRY(number(r, &v));
		*ret_most = most ? v : *ret_most;
	}
	return expect(r, ">");
}

/* Skips a type, up to the end of its line or the closing bracket around it. */
static void skip_type(reader *r)
{
	uint32_t depth = 0;

	skip(r);
	for (; r->s < r->end; r->s++) {
		char c = *r->s;
		if (c == '<')
			depth++;
		else if (c == '>' && depth)
			depth--;
		else if (!depth && (c == ',' || c == ')' || isspace((unsigned char)c)))
			return;
	}
}

/* ---- values -------------------------------------------------------------------- */

static hbm_status define(reader *r, hbm_sym name, hbm_spyre_addr v)
{
	if (hbm_map_get(&r->values, name) != HBM_NONE)
		return bad(r, "a value is defined twice");
	HBM_NEED(hbm_map_set(&r->values, name, r->known.n));
	HBM_NEED(HBM_PUSH(r->a, &r->known, v));
	return HBM_OK;
}

static hbm_status value(reader *r, hbm_spyre_addr *ret)
{
	hbm_sym name;
	uint32_t at;

	HBM_TRY(name_after(r, "%", &name));
	at = hbm_map_get(&r->values, name);
	if (at == HBM_NONE)
		return hbm_fail(r->d, HBM_SYNTAX, HBM_E_BUNDLE,
		                (hbm_where){.file = r->path, .line = r->line},
		                "unknown value '%%%s'", hbm_sym_str(r->syms, name));
	*ret = r->known.items[at];
	return HBM_OK;
}

static hbm_status add_values(reader *r, hbm_spyre_addr *x, hbm_spyre_addr y)
{
	if (x->space == HBM_SPYRE_CONST) {
		hbm_spyre_addr swap = *x;
		*x = y;
		y = swap;
	}
	if (y.space != HBM_SPYRE_CONST || x->space == HBM_SPYRE_LOOP)
		return bad(r, "an address is the sum of two addresses");
	if (!hbm_add(x->at, y.at, &x->at))
		return bad(r, "an address is too large");
	return HBM_OK;
}

/* ---- maps ---------------------------------------------------------------------- */

/* `s0` and terms like `8192*d0`, joined by +. */
static hbm_status map_terms(reader *r, affine *m)
{
	do {
		uint64_t stride, dim;
		if (accept(r, "s0"))
			continue;
		HBM_TRY(number(r, &stride));
		HBM_TRY(expect(r, "*"));
		HBM_TRY(expect(r, "d"));
		HBM_TRY(number(r, &dim));
		if (dim >= m->n_dims)
			return bad(r, "the map has no such dimension");
		r->strides.items[m->strides.first + dim] = stride;
	} while (accept(r, "+"));
	return expect(r, ")>");
}

static hbm_status read_map(reader *r)
{
	affine m = {.strides = {r->strides.n, 0}};
	hbm_sym name;

	HBM_TRY(name_after(r, "", &name));
	HBM_TRY(expect(r, "="));
	HBM_TRY(expect(r, "affine_map<("));
	while (!accept(r, ")")) {
		uint64_t k;
		HBM_TRY(expect(r, "d"));
		HBM_TRY(number(r, &k));
		HBM_NEED(HBM_PUSH(r->a, &r->strides, 0));
		m.n_dims++;
		accept(r, ",");
	}
	HBM_TRY(expect(r, "[s0]"));
	HBM_TRY(expect(r, "->"));
	HBM_TRY(expect(r, "("));
	HBM_TRY(map_terms(r, &m));
	if (hbm_map_get(&r->map_at, name) != HBM_NONE)
		return bad(r, "a map is defined twice");
	HBM_NEED(hbm_map_set(&r->map_at, name, r->maps.n));
	HBM_NEED(HBM_PUSH(r->a, &r->maps, m));
	return HBM_OK;
}

static hbm_status find_map(reader *r, affine *ret)
{
	hbm_sym name;
	uint32_t at;

	HBM_TRY(name_after(r, "#", &name));
	at = hbm_map_get(&r->map_at, name);
	if (at == HBM_NONE)
		return bad(r, "unknown map");
	*ret = r->maps.items[at];
	return HBM_OK;
}

/* affine.apply #map(%i, ...)[%base] */
static hbm_status apply(reader *r, hbm_spyre_addr *ret)
{
	hbm_spyre_addr loops[HBM_SPYRE_MAX_STEPS];
	uint32_t n = 0;
	affine m = {0};

	HBM_TRY(find_map(r, &m));
	HBM_TRY(expect(r, "("));
	while (!accept(r, ")")) {
		if (n == HBM_SPYRE_MAX_STEPS)
			return bad(r, "an address advances with too many loops");
		HBM_TRY(value(r, &loops[n]));
		if (loops[n++].space != HBM_SPYRE_LOOP)
			return bad(r, "a map takes something that is no loop variable");
		accept(r, ",");
	}
	if (n != m.n_dims)
		return bad(r, "the map takes another number of loop variables");
	HBM_TRY(expect(r, "["));
	HBM_TRY(value(r, ret));
	if (ret->n_steps + n > HBM_SPYRE_MAX_STEPS)
		return bad(r, "an address advances with too many loops");
	for (uint32_t k = 0; k < n; k++)
		ret->step[ret->n_steps++] = (hbm_spyre_step){
			loops[k].arg, hbm_mul_sat(loops[k].at, r->strides.items[
				m.strides.first + k])};
	return expect(r, "]");
}

/* ---- statements ------------------------------------------------------------------ */

static hbm_status read_pool(reader *r, hbm_spyre_addr *ret)
{
	if (r->t->pool)
		return bad(r, "a bundle allocates one pool");
	if (r->depth)
		return bad(r, "the pool is allocated in a loop");
	r->t->pool_line = r->line;
	HBM_TRY(number(r, &r->t->pool));
	if (!r->t->pool)
		return bad(r, "the pool has no bytes");
	*ret = (hbm_spyre_addr){.space = HBM_SPYRE_POOL};
	HBM_TRY(expect(r, "bytes"));
	HBM_TRY(expect(r, ":"));
	return expect(r, "index");
}

/* The right side of `%name = `. */
static hbm_status definition(reader *r, hbm_spyre_addr *ret)
{
	hbm_spyre_addr other;
	hbm_sym from;

	*ret = (hbm_spyre_addr){.space = HBM_SPYRE_CONST};
	if (accept(r, "sdscbundle.device_mem_allocate"))
		return read_pool(r, ret);
	if (accept(r, "sdscbundle.input_arg_extract")) {
		HBM_TRY(expect(r, "value"));
		HBM_TRY(expect(r, "from"));
		HBM_TRY(value(r, ret));
		HBM_TRY(expect(r, ":"));
		skip_type(r);
		HBM_TRY(expect(r, "->"));
		return expect(r, "index");
	}
	if (accept(r, "arith.constant")) {
		HBM_TRY(number(r, &ret->at));
	} else if (accept(r, "arith.addi")) {
		HBM_TRY(value(r, ret));
		HBM_TRY(expect(r, ","));
		HBM_TRY(value(r, &other));
		HBM_TRY(add_values(r, ret, other));
	} else if (accept(r, "affine.apply")) {
		return apply(r, ret);
	} else {
		HBM_TRY(name_after(r, "", &from));
		return hbm_fail(r->d, HBM_SYNTAX, HBM_E_BUNDLE,
		                (hbm_where){.file = r->path, .line = r->line},
		                "unknown operation '%s'", hbm_sym_str(r->syms, from));
	}
	HBM_TRY(expect(r, ":"));
	return expect(r, "index");
}

/* Trips of a loop from 0; where a dimension bounds it, at most so many. */
static hbm_status count_trips(reader *r, hbm_spyre_addr from, hbm_spyre_addr to,
                              hbm_spyre_addr step, uint64_t *ret)
{
	uint64_t end = to.space == HBM_SPYRE_CONST ? to.at : to.most;

	if (from.space != HBM_SPYRE_CONST || from.at)
		return bad(r, "a loop does not count from 0");
	if (step.space != HBM_SPYRE_CONST || !step.at)
		return bad(r, "a loop's step is no positive number");
	if (!end)
		return bad(r, to.space == HBM_SPYRE_CONST
			? "a loop runs no trip"
			: "a loop's trips are not known: its bound has no max_value");
	*ret = (end - 1) / step.at + 1;
	return HBM_OK;
}

static hbm_status read_loop(reader *r)
{
	hbm_spyre_addr from, to, step;
	hbm_spyre_item item = {.kind = HBM_SPYRE_OPEN, .line = r->line};
	hbm_sym name;

	if (r->depth == HBM_MAX_DEPTH)
		return bad(r, "loops nest too deep");
	HBM_TRY(name_after(r, "%", &name));
	HBM_TRY(expect(r, "="));
	HBM_TRY(value(r, &from));
	HBM_TRY(expect(r, "to"));
	HBM_TRY(value(r, &to));
	HBM_TRY(expect(r, "step"));
	HBM_TRY(value(r, &step));
	HBM_TRY(expect(r, "{"));
	item.loop = r->t->n_loops++;
	HBM_TRY(count_trips(r, from, to, step, &item.trips));
	r->open[r->depth++] = item.loop;
	HBM_NEED(HBM_PUSH(r->a, &r->t->items, item));
	return define(r, name, (hbm_spyre_addr){.space = HBM_SPYRE_LOOP, .at = step.at,
	                                        .arg = item.loop});
}

static hbm_status close_loop(reader *r)
{
	hbm_spyre_item item = {.kind = HBM_SPYRE_CLOSE, .line = r->line};

	item.loop = r->open[--r->depth];
	HBM_NEED(HBM_PUSH(r->a, &r->t->items, item));
	return HBM_OK;
}

static hbm_status read_ids(reader *r, hbm_span *ret)
{
	*ret = (hbm_span){r->t->ids.n, 0};
	HBM_TRY(expect(r, "="));
	HBM_TRY(expect(r, "["));
	while (!accept(r, "]")) {
		bool minus = accept(r, "-");
		uint64_t id;
		HBM_TRY(number(r, &id));
		HBM_NEED(HBM_PUSH(r->a, &r->t->ids, minus ? -(int64_t)id : (int64_t)id));
		ret->n++;
		accept(r, ",");
	}
	return HBM_OK;
}

static hbm_status read_file_name(reader *r, hbm_sym *ret)
{
	const char *from;

	HBM_TRY(expect(r, "="));
	HBM_TRY(expect(r, "\""));
	for (from = r->s; r->s < r->end && *r->s != '"' && *r->s != '\n';)
		r->s++;
	if (memchr(from, '/', (size_t)(r->s - from)))
		return bad(r, "a descriptor lies in another directory");
	*ret = hbm_intern(r->syms, from, (size_t)(r->s - from));
	HBM_NEED(*ret != HBM_NONE);
	return expect(r, "\"");
}

/* sdsc_execute (...) {sdsc_filename="...", "symbol_ids"=[...]} */
static hbm_status read_run(reader *r)
{
	hbm_spyre_item item = {.kind = HBM_SPYRE_RUN, .line = r->line};

	item.addrs.first = r->t->addrs.n;
	HBM_TRY(expect(r, "("));
	while (!accept(r, ")")) {
		hbm_spyre_addr x;
		HBM_TRY(value(r, &x));
		HBM_NEED(HBM_PUSH(r->a, &r->t->addrs, x));
		item.addrs.n++;
		accept(r, ",");
	}
	HBM_TRY(expect(r, "{"));
	while (!accept(r, "}")) {
		bool quoted = accept(r, "\"");
		if (accept(r, quoted ? "sdsc_filename\"" : "sdsc_filename"))
			HBM_TRY(read_file_name(r, &item.file));
		else if (accept(r, quoted ? "symbol_ids\"" : "symbol_ids"))
			HBM_TRY(read_ids(r, &item.ids));
		else
			return bad(r, "unknown attribute of sdsc_execute");
		accept(r, ",");
	}
	if (!item.file)
		return bad(r, "sdsc_execute names no descriptor");
	if (item.ids.n && item.ids.n != item.addrs.n)
		return bad(r, "sdsc_execute has not one operand for each symbol");
	HBM_NEED(HBM_PUSH(r->a, &r->t->items, item));
	return HBM_OK;
}

static hbm_status read_params(reader *r)
{
	HBM_TRY(expect(r, "func.func"));
	HBM_TRY(expect(r, "@sdsc_bundle"));
	HBM_TRY(expect(r, "("));
	while (!accept(r, ")")) {
		hbm_sym name;
		hbm_spyre_addr x = {.space = HBM_SPYRE_POOL};
		HBM_TRY(name_after(r, "%", &name));
		if (strcmp(hbm_sym_str(r->syms, name), "pool_base_addr") != 0)
			x = (hbm_spyre_addr){.space = HBM_SPYRE_ARG,
			                     .arg = r->t->n_args++};
		HBM_TRY(expect(r, ":"));
		HBM_TRY(read_type(r, &x.most));
		HBM_TRY(define(r, name, x));
		accept(r, ",");
	}
	return expect(r, "{");
}

static hbm_status read_body(reader *r)
{
	for (;;) {
		hbm_spyre_addr v;
		hbm_sym name;
		if (accept(r, "return"))
			break;
		if (accept(r, "scf.for")) {
			HBM_TRY(read_loop(r));
		} else if (accept(r, "sdscbundle.sdsc_execute")) {
			HBM_TRY(read_run(r));
		} else if (r->depth && accept(r, "}")) {
			HBM_TRY(close_loop(r));
		} else {
			HBM_TRY(name_after(r, "%", &name));
			HBM_TRY(expect(r, "="));
			HBM_TRY(definition(r, &v));
			HBM_TRY(define(r, name, v));
		}
	}
	if (r->depth)
		return bad(r, "the function ends in a loop");
	HBM_TRY(expect(r, "}"));
	return expect(r, "}");
}

hbm_status hbm_spyre_read_text(hbm_arena *a, hbm_diags *d, hbm_syms *syms,
                               const char *path, hbm_bytes bytes,
                               hbm_spyre_text *ret)
{
	reader r = {.a = a, .d = d, .syms = syms, .path = path, .s = bytes.data,
	            .end = bytes.data + bytes.n, .line = 1, .t = ret};

	*ret = (hbm_spyre_text){0};
	hbm_map_init(&r.values, a);
	hbm_map_init(&r.map_at, a);
	while (accept(&r, "#"))
		HBM_TRY(read_map(&r));
	HBM_TRY(expect(&r, "module"));
	HBM_TRY(expect(&r, "{"));
	HBM_TRY(read_params(&r));
	HBM_TRY(read_body(&r));
	skip(&r);
	return r.s == r.end ? HBM_OK : bad(&r, "something follows the module");
}
