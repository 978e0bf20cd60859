/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_write: one bundle as text.
 *
 * Order      maps; the function with its arguments; the pool, first in the body;
 *            extracts of the arguments; bounds of loops; one constant and one sum
 *            per derived address; the ops in their loops. Symbol ids are negative
 *            and run through the whole bundle. */
#include "emit/mlir.h"

#include <inttypes.h>

typedef struct writer {
	const hbm_mlir_bundle *b;
	hbm_out *o;
	bool generic;
	uint32_t depth;
	uint32_t n_addr;     /* affine.apply results so far */
	uint32_t n_files;    /* descriptors so far */
	uint64_t n_symbols;  /* symbol ids so far */
} writer;

static const char arg_type[] = "!sdscbundle.input_arg<index>";

static void indent(const writer *w)
{
	for (uint32_t k = 0; k < w->depth; k++)
		hbm_putc(w->o, '\t');
}

/* ---- names -------------------------------------------------------------------- */

/* `inner` goes before the number of the last part: "offset_" names the constant. */
static void put_symbol(const writer *w, uint32_t id, const char *inner)
{
	const hbm_mlir_symbol *s = &w->b->symbols.items[id];

	switch (s->kind) {
	case HBM_MLIR_ARG:
		hbm_putf(w->o, "%%arg_%" PRIu32, s->of);
		return;
	case HBM_MLIR_POOL:
		hbm_putf(w->o, "%%pool_%s%llu", *inner ? inner : "addr_",
		         (unsigned long long)s->bytes);
		return;
	case HBM_MLIR_SLICE:
	case HBM_MLIR_CORE:
		put_symbol(w, s->of, "");
		hbm_putf(w->o, "_%s_%s%llu", s->kind == HBM_MLIR_SLICE ? "slice" : "core",
		         inner, (unsigned long long)s->bytes);
	}
}

static void put_base(const writer *w, const hbm_mlir_symbol *s)
{
	if (s->kind == HBM_MLIR_POOL)
		hbm_puts(w->o, "%pool");
	else
		put_symbol(w, s->of, "");
}

/* ---- before the ops ------------------------------------------------------------- */

static void put_maps(const writer *w)
{
	for (uint32_t m = 0; m < w->b->maps.n; m++) {
		hbm_span s = w->b->maps.items[m].strides;
		hbm_putf(w->o, "#map_%" PRIu32 " = affine_map<(", m);
		for (uint32_t k = 0; k < s.n; k++)
			hbm_putf(w->o, "%sd%" PRIu32, k ? ", " : "", k);
		hbm_puts(w->o, ")[s0] -> (s0");
		for (uint32_t k = 0; k < s.n; k++)
			hbm_putf(w->o, " + %llu*d%" PRIu32,
			         (unsigned long long)w->b->strides.items[s.first + k], k);
		hbm_puts(w->o, ")>\n");
	}
}

static void put_head(writer *w)
{
	hbm_puts(w->o, "module {\n");
	w->depth++;
	indent(w);
	hbm_puts(w->o, "func.func @sdsc_bundle(");
	for (uint32_t k = 0; k < w->b->n_args; k++)
		hbm_putf(w->o, "%s%%arg_%" PRIu32 "_base_addr: %s", k ? ", " : "", k,
		         arg_type);
	hbm_puts(w->o, ") {\n");
	w->depth++;
}

static void put_pool(const writer *w)
{
	unsigned long long bytes = w->b->pool;

	if (!w->b->uses_pool)
		return;
	indent(w);
	if (w->generic)
		hbm_putf(w->o, "%%pool = \"sdscbundle.device_mem_allocate\"() "
		         "{size = %llu : i64} : () -> index\n", bytes);
	else
		hbm_putf(w->o, "%%pool = sdscbundle.device_mem_allocate %llu bytes : index\n",
		         bytes);
}

static void put_extracts(const writer *w)
{
	for (uint32_t k = 0; k < w->b->n_args; k++) {
		indent(w);
		if (w->generic)
			hbm_putf(w->o, "%%arg_%" PRIu32 " = \"sdscbundle.input_arg_extract\""
			         "(%%arg_%" PRIu32 "_base_addr) : (%s) -> index\n", k, k,
			         arg_type);
		else
			hbm_putf(w->o, "%%arg_%" PRIu32 " = sdscbundle.input_arg_extract value "
			         "from %%arg_%" PRIu32 "_base_addr : %s -> index\n", k, k,
			         arg_type);
	}
}

static void put_bounds(const writer *w)
{
	const hbm_node *nodes = w->b->p->nodes.items;
	uint32_t number = 0;

	if (!w->b->n_loops)
		return;
	for (uint32_t k = 0; k < 2; k++) {
		indent(w);
		hbm_putf(w->o, "%%c%" PRIu32 " = arith.constant %" PRIu32 " : index\n", k, k);
	}
	for (hbm_node_id n = w->b->node; n < nodes[w->b->node].end; n++) {
		if (nodes[n].kind != HBM_NODE_LOOP)
			continue;
		indent(w);
		hbm_putf(w->o, "%%loop_bound_%" PRIu32 " = arith.constant %llu : index\n",
		         number++, (unsigned long long)nodes[n].trips);
	}
}

static void put_sums(const writer *w)
{
	for (uint32_t k = 0; k < w->b->symbols.n; k++) {
		const hbm_mlir_symbol *s = &w->b->symbols.items[k];
		if (s->kind == HBM_MLIR_ARG)
			continue;
		indent(w);
		put_symbol(w, k, "offset_");
		hbm_putf(w->o, " = arith.constant %llu : index\n",
		         (unsigned long long)s->bytes);
		indent(w);
		put_symbol(w, k, "");
		hbm_puts(w->o, " = arith.addi ");
		put_base(w, s);
		hbm_puts(w->o, ", ");
		put_symbol(w, k, "offset_");
		hbm_puts(w->o, " : index\n");
	}
}

/* ---- ops ------------------------------------------------------------------------ */

/* The addresses that advance, each as a value of its own before the op. */
static void put_advances(writer *w, hbm_span uses)
{
	uint32_t m = w->n_addr;

	for (uint32_t k = 0; k < uses.n; k++) {
		const hbm_mlir_use *u = &w->b->uses.items[uses.first + k];
		if (u->map == HBM_NONE)
			continue;
		indent(w);
		hbm_putf(w->o, "%%addr_%" PRIu32 " = affine.apply #map_%" PRIu32 "(", m++,
		         u->map);
		for (uint32_t i = 0; i < u->loops.n; i++)
			hbm_putf(w->o, "%s%%i_%" PRIu32, i ? ", " : "",
			         w->b->loops.items[u->loops.first + i]);
		hbm_puts(w->o, ")[");
		put_symbol(w, u->symbol, "");
		hbm_puts(w->o, "]\n");
	}
}

static void put_operands(writer *w, hbm_span uses)
{
	hbm_putc(w->o, '(');
	for (uint32_t k = 0; k < uses.n; k++) {
		const hbm_mlir_use *u = &w->b->uses.items[uses.first + k];
		hbm_puts(w->o, k ? ", " : "");
		if (u->map == HBM_NONE)
			put_symbol(w, u->symbol, "");
		else
			hbm_putf(w->o, "%%addr_%" PRIu32, w->n_addr++);
	}
	hbm_putc(w->o, ')');
}

static void put_ids(writer *w, uint32_t n)
{
	hbm_putc(w->o, '[');
	for (uint32_t k = 0; k < n; k++)
		hbm_putf(w->o, "%s-%llu", k ? ", " : "",
		         (unsigned long long)++w->n_symbols);
	hbm_putc(w->o, ']');
}

static void put_op(writer *w, hbm_op_id id)
{
	hbm_op_kind kind = w->b->p->ops.items[id].kind;
	hbm_span uses = w->b->of_op[id - w->b->first_op];

	if (kind == HBM_OP_ALLOC || kind == HBM_OP_NOP)
		return;
	put_advances(w, uses);
	indent(w);
	hbm_puts(w->o, w->generic ? "\"sdscbundle.sdsc_execute\"" :
	                            "sdscbundle.sdsc_execute ");
	put_operands(w, uses);
	if (w->generic)
		hbm_putf(w->o, " {sdsc_filename = \"sdsc_%" PRIu32 ".json\", symbol_ids = ",
		         w->n_files++);
	else
		hbm_putf(w->o, " {sdsc_filename=\"sdsc_%" PRIu32 ".json\", \"symbol_ids\"=",
		         w->n_files++);
	put_ids(w, uses.n);
	hbm_putc(w->o, '}');
	if (w->generic) {
		hbm_puts(w->o, " : (");
		for (uint32_t k = 0; k < uses.n; k++)
			hbm_puts(w->o, k ? ", index" : "index");
		hbm_puts(w->o, ") -> ()");
	}
	hbm_putc(w->o, '\n');
}

static void close_loop(writer *w)
{
	w->depth--;
	indent(w);
	hbm_puts(w->o, "}\n");
}

static void put_body(writer *w)
{
	const hbm_node *nodes = w->b->p->nodes.items;
	hbm_node_id ends[HBM_MAX_DEPTH + 2], end = nodes[w->b->node].end;
	uint32_t n_open = 0, number = 0;

	for (hbm_node_id n = w->b->node; n < end; n++) {
		while (n_open && ends[n_open - 1] == n) {
			close_loop(w);
			n_open--;
		}
		if (nodes[n].kind == HBM_NODE_OP)
			put_op(w, nodes[n].op);
		if (nodes[n].kind != HBM_NODE_LOOP)
			continue;
		indent(w);
		hbm_putf(w->o, "scf.for %%i_%" PRIu32 " = %%c0 to %%loop_bound_%" PRIu32
		         " step %%c1 {\n", number, number);
		number++;
		ends[n_open++] = nodes[n].end;
		w->depth++;
	}
	while (n_open--)
		close_loop(w);
}

void hbm_mlir_write(const hbm_mlir_bundle *b, bool generic, hbm_out *o)
{
	writer w = {.b = b, .o = o, .generic = generic};

	put_maps(&w);
	put_head(&w);
	put_pool(&w);
	put_extracts(&w);
	put_bounds(&w);
	put_sums(&w);
	put_body(&w);
	indent(&w);
	hbm_puts(o, "return\n\t}\n}\n");
}
