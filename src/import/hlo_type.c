/* SPDX-License-Identifier: Apache-2.0 */
/* Reads shapes: TYPE[dims]{layout}, tuples of them, b(shape). */
#include "import/hlo_lex.h"

#include <inttypes.h>
#include <string.h>

/* ---- layout --------------------------------------------------------------- */

static hbm_status tile(hlo_reader *r, hlo_layout *l)
{
	uint64_t v;

	if (l->n_tiles == HLO_MAX_TILES)
		return hlo_syntax(r, hlo_pos(r), "more than %d tiles", HLO_MAX_TILES);
	l->tile_rank[l->n_tiles] = 0;
	while (!hlo_accept(r, ')')) {
		uint32_t rank = l->tile_rank[l->n_tiles];
		if (rank == HBM_MAX_RANK)
			return hlo_syntax(r, hlo_pos(r), "tile of too many dimensions");
		if (hlo_accept(r, '*')) /* keeps the dimension whole */
			v = 1;
		else
			HBM_TRY(hlo_take_number(r, &v));
		l->tile[l->n_tiles][rank] = v ? v : 1;
		l->tile_rank[l->n_tiles]++;
		if (!hlo_accept(r, ',') && (r->p >= r->end || *r->p != ')'))
			return hlo_syntax(r, hlo_pos(r), "expected ',' or ')' in a tile");
	}
	l->n_tiles++;
	return HBM_OK;
}

static hbm_status number_in_parens(hlo_reader *r, uint64_t *ret)
{
	HBM_TRY(hlo_take_number(r, ret));
	return hlo_expect(r, ')', "after the number");
}

/* One property of a layout: T(..)(..), S(n), E(n), L(n), others. */
static hbm_status property(hlo_reader *r, hlo_node *node, hlo_layout *l)
{
	const char *key = r->p;
	hlo_slice skipped;
	uint64_t v;

	while (r->p < r->end && *r->p != '(' && *r->p != '}')
		r->p++;
	if (r->p >= r->end || *r->p != '(' || r->p == key)
		return hlo_syntax(r, hlo_pos(r), "expected a layout property such as T(8,128)");
	r->p++;
	if (*key == 'T' && r->p == key + 2) {
		HBM_TRY(tile(r, l));
		while (hlo_accept(r, '('))
			HBM_TRY(tile(r, l));
		return HBM_OK;
	}
	if (*key == 'S' && r->p == key + 2) {
		HBM_TRY(number_in_parens(r, &v));
		node->space = v > 255 ? 255 : (uint8_t)v;
		return HBM_OK;
	}
	if (*key == 'E' && r->p == key + 2) {
		HBM_TRY(number_in_parens(r, &l->element_bits));
		if (l->element_bits > 4096)
			return hlo_syntax(r, hlo_pos(r), "element of more than 4096 bits");
		return HBM_OK;
	}
	if (*key == 'L' && r->p == key + 2)
		return number_in_parens(r, &l->multiple);
	return hlo_take_balanced(r, ')', &skipped);
}

/* The order of dimensions must be a permutation of them. */
static hbm_status minor_to_major(hlo_reader *r, const hlo_node *node)
{
	uint32_t pos = hlo_pos(r);
	uint32_t seen = 0, n = 0;
	uint64_t v;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9') {
		HBM_TRY(hlo_take_number(r, &v));
		if (v >= node->n || seen >> v & 1)
			return hlo_syntax(r, pos, "layout is no permutation of the %u dimensions",
			                  node->n);
		seen |= 1u << v;
		r->m->dims.items[node->first + n++].minor = (uint32_t)v;
		if (!hlo_accept(r, ','))
			break;
		hlo_skip_ws(r);
	}
	if (n && n != node->n)
		return hlo_syntax(r, pos, "layout names %u of %u dimensions", n, node->n);
	return HBM_OK;
}

static hbm_status layout(hlo_reader *r, hlo_node *node, hlo_layout *l)
{
	hlo_skip_ws(r);
	HBM_TRY(minor_to_major(r, node));
	if (hlo_accept(r, ':')) {
		hlo_skip_ws(r);
		while (r->p < r->end && *r->p != '}') {
			HBM_TRY(property(r, node, l));
			hlo_skip_ws(r);
		}
	}
	node->tiled = l->n_tiles || l->multiple > 1 || l->element_bits;
	return hlo_expect(r, '}', "after the layout");
}

/* ---- arrays --------------------------------------------------------------- */

static hbm_status dimension(hlo_reader *r, hlo_node *node)
{
	hlo_dim d = {0};

	if (node->n == HBM_MAX_RANK)
		return hlo_syntax(r, hlo_pos(r), "more than %d dimensions", HBM_MAX_RANK);
	if (hlo_accept(r, '?')) {
		d.unknown = node->dynamic = true;
	} else {
		if (hlo_accept(r, '<')) {
			HBM_TRY(hlo_expect(r, '=', "after '<'"));
			d.bounded = true;
		}
		HBM_TRY(hlo_take_number(r, &d.extent));
	}
	HBM_NEED(HBM_PUSH(r->m->arena, &r->m->dims, d));
	node->n++;
	return HBM_OK;
}

static hbm_status dimensions(hlo_reader *r, hlo_node *node)
{
	node->first = r->m->dims.n;
	if (!hlo_accept(r, ']')) {
		do
			HBM_TRY(dimension(r, node));
		while (hlo_accept(r, ','));
		HBM_TRY(hlo_expect(r, ']', "after the dimensions"));
	}
	for (uint32_t i = 0; i < node->n; i++)
		r->m->dims.items[node->first + i].minor = node->n - 1 - i;
	return HBM_OK;
}

static bool layout_comes(const hlo_reader *r)
{
	char c = r->p + 1 < r->end ? r->p[1] : 0;

	return r->p < r->end && *r->p == '{' &&
	       ((c >= '0' && c <= '9') || c == ':' || c == '}');
}

static hbm_status array_shape(hlo_reader *r, uint32_t *ret)
{
	uint32_t pos, type_pos;
	hlo_node node = {0};
	hlo_layout l = {0};
	hlo_kind kind;
	hbm_dtype dtype;
	hlo_slice word;

	hlo_skip_ws(r);
	type_pos = hlo_pos(r);
	word = hlo_take_name(r);
	if (!word.n || !hlo_type_find(word.s, word.n, &dtype, &node.bits, &kind))
		return hlo_syntax(r, type_pos, "expected a type, found '%.*s'",
		                  (int)(word.n < 40 ? word.n : 40), word.s);
	node.kind = (uint8_t)kind;
	node.dtype = (uint8_t)dtype;
	pos = hlo_pos(r);
	HBM_TRY(hlo_expect(r, '[', "after the type"));
	HBM_TRY(dimensions(r, &node));
	if (layout_comes(r)) {
		r->p++;
		HBM_TRY(layout(r, &node, &l));
	}
	if (!hlo_array_size(r->m, &node, &l, &node.size))
		return hbm_fail(r->m->diags, HBM_SEMANTIC, HBM_E_SIZE_OVERFLOW,
		                hlo_at(r->m, pos, 0), "array is larger than 2^62 bytes");
	HBM_NEED(HBM_PUSH(r->m->arena, &r->m->nodes, node));
	*ret = r->m->nodes.n - 1;
	return HBM_OK;
}

/* ---- tuples --------------------------------------------------------------- */

typedef HBM_VEC(uint32_t) ids;

static hbm_status shape(hlo_reader *r, uint32_t depth, uint32_t *ret);

static hbm_status parts(hlo_reader *r, uint32_t depth, ids *kids)
{
	uint32_t kid;

	if (hlo_accept(r, ')'))
		return HBM_OK;
	do {
		HBM_TRY(shape(r, depth + 1, &kid));
		HBM_NEED(HBM_PUSH(r->m->arena, kids, kid));
	} while (hlo_accept(r, ','));
	return hlo_expect(r, ')', "after the parts of a tuple");
}

static hbm_status tuple_shape(hlo_reader *r, uint32_t depth, uint32_t *ret)
{
	hlo_module *m = r->m;
	uint32_t id = m->nodes.n, first;
	ids kids = {0};

	if (depth >= HBM_MAX_DEPTH)
		return hbm_fail(m->diags, HBM_LIMIT, HBM_E_TOO_LARGE,
		                hlo_at(m, hlo_pos(r), 0),
		                "tuples nest deeper than %d", HBM_MAX_DEPTH);
	HBM_NEED(HBM_PUSH(m->arena, &m->nodes, (hlo_node){.kind = HLO_TUPLES}));
	HBM_TRY(parts(r, depth, &kids));
	first = m->kids.n;
	for (uint32_t i = 0; i < kids.n; i++)
		HBM_NEED(HBM_PUSH(m->arena, &m->kids, kids.items[i]));
	m->nodes.items[id].first = first;
	m->nodes.items[id].n = kids.n;
	*ret = id;
	return HBM_OK;
}

static hbm_status shape(hlo_reader *r, uint32_t depth, uint32_t *ret)
{
	hlo_skip_ws(r);
	if (hlo_accept(r, '('))
		return tuple_shape(r, depth, ret);
	if (r->end - r->p > 2 && r->p[0] == 'b' && r->p[1] == '(') {
		r->p += 2; /* a buffer of the shape: the same bytes */
		HBM_TRY(array_shape(r, ret));
		return hlo_expect(r, ')', "after a buffer shape");
	}
	return array_shape(r, ret);
}

hbm_status hlo_take_shape(hlo_reader *r, uint32_t *ret_node, hbm_span *ret_leaves)
{
	uint32_t node;

	HBM_TRY(shape(r, 0, &node));
	HBM_TRY(hlo_shape_leaves(r->m, node, ret_leaves));
	*ret_node = node;
	return HBM_OK;
}
