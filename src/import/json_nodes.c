/* SPDX-License-Identifier: Apache-2.0 */
/* The body of the JSON form: ops and blocks. Recursion is bounded by
 * HBM_MAX_DEPTH. */
#include "import/importer.h"

#if HBM_HAVE_JANSSON
#include "import/json_in.h"

#include <inttypes.h>

/* ---- operands ------------------------------------------------------------ */

static hbm_status find_loop(jreader *r, const jpath *at, hbm_sym name, hbm_node_id *ret)
{
	JBUF;

	for (uint32_t i = r->n_open; i--;) {
		const hbm_node *n = &r->p->nodes.items[r->open[i]];
		if (n->kind == HBM_NODE_LOOP && n->name == name) {
			*ret = r->open[i];
			return HBM_OK;
		}
	}
	return JFAIL(r, at, HBM_E_UNKNOWN_NAME, "no loop '%.40s' encloses this op",
	             hbm_str_of(r->p, name));
}

static hbm_status read_stride(jreader *r, const jpath *at, const json_t *v,
                              hbm_operand *o)
{
	static const char *const keys[] = {"loop", "bytes"};
	hbm_stride s = {0};
	hbm_sym loop = 0;

	HBM_TRY(hbm_jto_object(r, at, v));
	HBM_TRY(hbm_jkeys(r, at, v, keys, 2));
	HBM_TRY(hbm_jsym(r, at, v, "loop", &loop));
	HBM_TRY(hbm_jnum(r, at, v, "bytes", &s.bytes));
	HBM_TRY(find_loop(r, at, loop, &s.loop));
	if (!o->strides.n)
		o->strides.first = r->p->strides.n;
	HBM_NEED(HBM_PUSH(r->a, &r->p->strides, s));
	o->strides.n++;
	return HBM_OK;
}

static hbm_status read_window(jreader *r, const jpath *at, const json_t *v,
                              hbm_operand *o)
{
	static const char *const keys[] = {"tensor", "offset", "length", "strides"};
	const jpath *path = J_MEMBER(at, "strides");
	const json_t *list;

	HBM_TRY(hbm_jkeys(r, at, v, keys, 4));
	HBM_TRY(hbm_jnum(r, at, v, "offset", &o->offset));
	HBM_TRY(hbm_jnum(r, at, v, "length", &o->len));
	HBM_TRY(hbm_jlist(r, at, v, "strides", &list));
	for (size_t i = 0; list && i < json_array_size(list); i++)
		HBM_TRY(read_stride(r, J_ITEM(path, i), json_array_get(list, i), o));
	return HBM_OK;
}

static hbm_status read_operand(jreader *r, const jpath *at, const json_t *v,
                               hbm_op_id op, bool write)
{
	bool window = json_is_object(v);
	const json_t *name = window ? json_object_get(v, "tensor") : v;
	hbm_tensor_id t;
	JBUF;

	if (!name)
		return JFAIL(r, at, HBM_E_JSON, "the operand has no '%s'", "tensor");
	HBM_TRY(hbm_jto_tensor(r, window ? J_MEMBER(at, "tensor") : at, name, &t));
	HBM_NEED(write ? hbm_add_write(r->p, op, t) : hbm_add_read(r->p, op, t));
	if (!window)
		return HBM_OK;
	return read_window(r, at, v, &r->p->operands.items[r->p->operands.n - 1]);
}

static hbm_status read_operands(jreader *r, const jpath *at, const json_t *o,
                                const char *key, hbm_op_id op, bool write)
{
	const jpath *path = J_MEMBER(at, key);
	const json_t *list;

	HBM_TRY(hbm_jlist(r, at, o, key, &list));
	for (size_t i = 0; list && i < json_array_size(list); i++)
		HBM_TRY(read_operand(r, J_ITEM(path, i), json_array_get(list, i), op,
		                     write));
	return HBM_OK;
}

/* ---- the rest of an op --------------------------------------------------- */

static hbm_status read_pair(jreader *r, const jpath *at, const json_t *v, hbm_op *op)
{
	static const char *const keys[] = {"write", "read", "must", "keeps"};
	hbm_inplace pair = {.write = UINT32_MAX - 1, .read = UINT32_MAX - 1};
	JBUF;

	HBM_TRY(hbm_jto_object(r, at, v));
	HBM_TRY(hbm_jkeys(r, at, v, keys, 4));
	HBM_TRY(hbm_ju32(r, at, v, "write", &pair.write));
	HBM_TRY(hbm_ju32(r, at, v, "read", &pair.read));
	HBM_TRY(hbm_jbool(r, at, v, "must", &pair.must));
	HBM_TRY(hbm_jbool(r, at, v, "keeps", &pair.keeps));
	if (pair.write >= op->writes.n || pair.read >= op->reads.n)
		return JFAIL(r, at, HBM_E_INPLACE,
		             "needs a 'write' below %" PRIu32
		             " and a 'read' below %" PRIu32,
		             op->writes.n, op->reads.n);
	if (!op->inplace.n)
		op->inplace.first = r->p->inplaces.n;
	HBM_NEED(HBM_PUSH(r->a, &r->p->inplaces, pair));
	op->inplace.n++;
	return HBM_OK;
}

static hbm_status read_iter(jreader *r, const jpath *at, const json_t *v, hbm_op *op)
{
	static const char *const keys[] = {"name", "extent", "split", "reduction",
	                                   "stick"};
	hbm_iter it = {0};

	HBM_TRY(hbm_jto_object(r, at, v));
	HBM_TRY(hbm_jkeys(r, at, v, keys, 5));
	HBM_TRY(hbm_jsym(r, at, v, "name", &it.name));
	HBM_TRY(hbm_jnum(r, at, v, "extent", &it.extent));
	HBM_TRY(hbm_ju32(r, at, v, "split", &it.split));
	HBM_TRY(hbm_jbool(r, at, v, "reduction", &it.reduction));
	HBM_TRY(hbm_jbool(r, at, v, "stick", &it.stick));
	if (!op->iters.n)
		op->iters.first = r->p->iters.n;
	HBM_NEED(HBM_PUSH(r->a, &r->p->iters, it));
	op->iters.n++;
	return HBM_OK;
}

static hbm_status
read_parts(jreader *r, const jpath *at, const json_t *o, const char *key, hbm_op *op,
           hbm_status (*read)(jreader *, const jpath *, const json_t *, hbm_op *))
{
	const jpath *path = J_MEMBER(at, key);
	const json_t *list;

	HBM_TRY(hbm_jlist(r, at, o, key, &list));
	for (size_t i = 0; list && i < json_array_size(list); i++)
		HBM_TRY(read(r, J_ITEM(path, i), json_array_get(list, i), op));
	return HBM_OK;
}

static hbm_status read_kind(jreader *r, const jpath *at, const json_t *o,
                            hbm_op_kind *ret)
{
	static const char *const words[] = {
#define X(id, text) #text,
		HBM_OP_KIND_MAP(X)
#undef X
	};
	const json_t *v = json_object_get(o, "kind");
	uint32_t i = 0;

	if (!v)
		return HBM_OK;
	HBM_TRY(hbm_jto_word(r, J_MEMBER(at, "kind"), v, "kind of op", words,
	                     sizeof words / sizeof *words, &i));
	*ret = (hbm_op_kind)i;
	return HBM_OK;
}

static hbm_status read_op_rest(jreader *r, const jpath *at, const json_t *o, hbm_op *op)
{
	HBM_TRY(read_kind(r, at, o, &op->kind));
	HBM_TRY(read_parts(r, at, o, "inplace", op, read_pair));
	HBM_TRY(read_parts(r, at, o, "iter", op, read_iter));
	HBM_TRY(hbm_ju32(r, at, o, "cores", &op->cores));
	HBM_TRY(hbm_jnum(r, at, o, "scratch_bytes", &op->scratch));
	HBM_TRY(hbm_jsym(r, at, o, "src", &op->src));
	return hbm_jattrs(r, at, o, HBM_ATTR_OP, &op->attrs);
}

/* Where the next node in pre-order stands. */
static hbm_json_place next_place(const jreader *r)
{
	uint32_t i = r->p->nodes.n;

	return i < r->places.nodes.n ? r->places.nodes.items[i]
	                             : (hbm_json_place){0, 0};
}

static hbm_node_id parent_of(const jreader *r)
{
	return r->n_open ? r->open[r->n_open - 1] : HBM_NONE;
}

static hbm_status read_op(jreader *r, const jpath *at, const json_t *o)
{
	static const char *const keys[] = {"op",      "name", "kind",  "reads",
	                                   "writes",  "iter", "cores", "scratch_bytes",
	                                   "inplace", "src",  "attrs"};
	hbm_json_place place = next_place(r);
	hbm_sym name = 0, opname = 0;
	hbm_op_id id;

	HBM_TRY(hbm_jsym(r, at, o, "op", &opname));
	HBM_TRY(hbm_jsym(r, at, o, "name", &name));
	id = hbm_add_op(r->p, parent_of(r), HBM_OP_COMPUTE, name, opname);
	HBM_NEED(id != HBM_NONE);
	r->p->ops.items[id].line = r->p->nodes.items[r->p->nodes.n - 1].line =
		place.line;
	r->p->ops.items[id].col = r->p->nodes.items[r->p->nodes.n - 1].col = place.col;
	HBM_TRY(hbm_jkeys(r, at, o, keys, sizeof keys / sizeof *keys));
	HBM_TRY(read_operands(r, at, o, "reads", id, false));
	HBM_TRY(read_operands(r, at, o, "writes", id, true));
	return read_op_rest(r, at, o, &r->p->ops.items[id]);
}

/* ---- blocks -------------------------------------------------------------- */

static const char *const block_keys[] = {"op", "bundle", "loop", "region", "parallel"};

static hbm_status read_trips(jreader *r, const jpath *at, const json_t *o,
                             uint64_t *trips)
{
	const json_t *v = json_object_get(o, "trips");
	JBUF;

	if (!v)
		return JFAIL(r, at, HBM_E_JSON, "the loop has no '%s'", "trips");
	if (json_is_null(v))
		return HBM_OK;
	HBM_TRY(hbm_jto_num(r, J_MEMBER(at, "trips"), v, trips));
	if (*trips)
		return HBM_OK;
	return JFAIL(r, J_MEMBER(at, "trips"), HBM_E_TRIP_COUNT, "%s",
	             "the loop runs zero times");
}

static hbm_status read_block(jreader *r, const jpath *at, const json_t *o,
                             hbm_node_kind kind)
{
	const char *keys[] = {block_keys[kind], "attrs", "body", "trips"};
	hbm_json_place place = next_place(r);
	hbm_sym name = 0;
	hbm_node_id id;
	hbm_node *n;
	JBUF;

	if (r->n_open == HBM_MAX_DEPTH)
		return JFAIL(r, at, HBM_E_NESTING,
		             "more than %d blocks inside each other",
		             (int)HBM_MAX_DEPTH);
	HBM_TRY(hbm_jsym(r, at, o, block_keys[kind], &name));
	HBM_TRY(hbm_jkeys(r, at, o, keys, kind == HBM_NODE_LOOP ? 4 : 3));
	id = hbm_open_node(r->p, kind, name, parent_of(r));
	HBM_NEED(id != HBM_NONE);
	n = &r->p->nodes.items[id];
	n->line = place.line;
	n->col = place.col;
	if (kind == HBM_NODE_LOOP)
		HBM_TRY(read_trips(r, at, o, &n->trips));
	HBM_TRY(hbm_jattrs(r, at, o, hbm_attr_object_of(kind), &n->attrs));
	r->open[r->n_open++] = id;
	HBM_TRY(hbm_jbody(r, at, o));
	r->n_open--;
	hbm_close_node(r->p, id);
	return HBM_OK;
}

static hbm_status read_node(jreader *r, const jpath *at, const json_t *o)
{
	uint32_t kind, n = sizeof block_keys / sizeof *block_keys;
	JBUF;

	HBM_TRY(hbm_jto_object(r, at, o));
	for (kind = 0; kind < n; kind++)
		if (json_object_get(o, block_keys[kind]))
			break;
	if (kind == HBM_NODE_OP)
		return read_op(r, at, o);
	if (kind < n)
		return read_block(r, at, o, (hbm_node_kind)kind);
	return JFAIL(r, at, HBM_E_JSON, "%s",
	             "neither op, bundle, loop, region nor parallel");
}

hbm_status hbm_jbody(jreader *r, const jpath *at, const json_t *o)
{
	const jpath *path = J_MEMBER(at, "body");
	const json_t *list;

	HBM_TRY(hbm_jlist(r, at, o, "body", &list));
	for (size_t i = 0; list && i < json_array_size(list) && !hbm_jfull(r); i++) {
		uint32_t depth = r->n_open;
		if (read_node(r, J_ITEM(path, i), json_array_get(list, i)) == HBM_NOMEM)
			return HBM_NOMEM;
		r->n_open = depth; /* a faulty block is left behind */
	}
	return HBM_OK;
}

/* ---- reductions ---------------------------------------------------------- */

static hbm_status read_reduction(jreader *r, const jpath *at, const json_t *o)
{
	static const char *const keys[] = {"name", "fill", "combine", "drain", "acc"};
	hbm_reduction red = {.acc = HBM_NONE};
	const json_t *acc = json_object_get(o, "acc");

	HBM_TRY(hbm_jto_object(r, at, o));
	HBM_TRY(hbm_jkeys(r, at, o, keys, 5));
	HBM_TRY(hbm_jsym(r, at, o, "name", &red.name));
	HBM_TRY(hbm_jsym(r, at, o, "fill", &red.fill));
	HBM_TRY(hbm_jsym(r, at, o, "combine", &red.combine));
	HBM_TRY(hbm_jsym(r, at, o, "drain", &red.drain));
	if (acc)
		HBM_TRY(hbm_jto_tensor(r, J_MEMBER(at, "acc"), acc, &red.acc));
	HBM_NEED(HBM_PUSH(r->a, &r->p->reductions, red));
	return HBM_OK;
}

hbm_status hbm_jreductions(jreader *r, const jpath *at, const json_t *root)
{
	const jpath *path = J_MEMBER(at, "reductions");
	const json_t *list;

	HBM_TRY(hbm_jlist(r, at, root, "reductions", &list));
	for (size_t i = 0; list && i < json_array_size(list) && !hbm_jfull(r); i++)
		if (read_reduction(r, J_ITEM(path, i), json_array_get(list, i)) ==
		    HBM_NOMEM)
			return HBM_NOMEM;
	return HBM_OK;
}
#endif
