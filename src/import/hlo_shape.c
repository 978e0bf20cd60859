/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of HLO shapes and questions about their layouts.
 *
 * A tile T(a,b) cuts the minor-most dimensions into blocks and pads them up; more
 * tiles apply to the result in turn. Elements below eight bits take a byte each
 * unless the layout says E(bits). Source: XLA's layout and shape documentation. */
#include "base/ckd.h"
#include "import/hlo.h"

#include <string.h>

static const struct {
	const char *text;
	hbm_dtype dtype;
	uint8_t bits, kind;
} types[] = {
	{"bf16", HBM_DT_bf16, 16, HLO_ARRAY},
	{"c128", HBM_DT_c128, 128, HLO_ARRAY},
	{"c64", HBM_DT_c64, 64, HLO_ARRAY},
	{"f16", HBM_DT_f16, 16, HLO_ARRAY},
	{"f32", HBM_DT_f32, 32, HLO_ARRAY},
	{"f4e2m1fn", HBM_DT_f4e2m1, 4, HLO_ARRAY},
	{"f64", HBM_DT_f64, 64, HLO_ARRAY},
	{"f8e3m4", HBM_DT_f8e4m3, 8, HLO_ARRAY},
	{"f8e4m3", HBM_DT_f8e4m3, 8, HLO_ARRAY},
	{"f8e4m3b11fnuz", HBM_DT_f8e4m3, 8, HLO_ARRAY},
	{"f8e4m3fn", HBM_DT_f8e4m3, 8, HLO_ARRAY},
	{"f8e4m3fnuz", HBM_DT_f8e4m3, 8, HLO_ARRAY},
	{"f8e5m2", HBM_DT_f8e5m2, 8, HLO_ARRAY},
	{"f8e5m2fnuz", HBM_DT_f8e5m2, 8, HLO_ARRAY},
	{"f8e8m0fnu", HBM_DT_f8e8m0, 8, HLO_ARRAY},
	{"opaque", HBM_DT_none, 0, HLO_TOKEN},
	{"pred", HBM_DT_bool, 8, HLO_ARRAY},
	{"s1", HBM_DT_i2, 1, HLO_ARRAY},
	{"s16", HBM_DT_i16, 16, HLO_ARRAY},
	{"s2", HBM_DT_i2, 2, HLO_ARRAY},
	{"s32", HBM_DT_i32, 32, HLO_ARRAY},
	{"s4", HBM_DT_i4, 4, HLO_ARRAY},
	{"s64", HBM_DT_i64, 64, HLO_ARRAY},
	{"s8", HBM_DT_i8, 8, HLO_ARRAY},
	{"token", HBM_DT_none, 0, HLO_TOKEN},
	{"u1", HBM_DT_u2, 1, HLO_ARRAY},
	{"u16", HBM_DT_u16, 16, HLO_ARRAY},
	{"u2", HBM_DT_u2, 2, HLO_ARRAY},
	{"u32", HBM_DT_u32, 32, HLO_ARRAY},
	{"u4", HBM_DT_u4, 4, HLO_ARRAY},
	{"u64", HBM_DT_u64, 64, HLO_ARRAY},
	{"u8", HBM_DT_u8, 8, HLO_ARRAY},
};

bool hlo_type_find(const char *s, size_t n, hbm_dtype *ret, uint8_t *ret_bits,
                   hlo_kind *ret_kind)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].text[0] != s[0] || strlen(types[i].text) != n ||
		    memcmp(types[i].text, s, n) != 0)
			continue;
		*ret = types[i].dtype;
		*ret_bits = types[i].bits;
		*ret_kind = (hlo_kind)types[i].kind;
		return true;
	}
	return false;
}

/* Extents from the major-most to the minor-most, as they lie in memory. */
static uint32_t physical(const hlo_module *m, const hlo_node *node, uint64_t *ret)
{
	const hlo_dim *d = m->dims.items + node->first;

	for (uint32_t i = 0; i < node->n; i++)
		ret[i] = d[d[node->n - 1 - i].minor].extent;
	return node->n;
}

/* Cuts the last dimensions of the `n` in `e`; returns the new count, 0: too many. */
static uint32_t apply_tile(uint64_t *e, uint32_t n, const uint64_t *tile,
                           uint32_t rank)
{
	if (rank > n) { /* leading extents of one */
		memmove(e + (rank - n), e, n * sizeof *e);
		for (uint32_t i = 0; i < rank - n; i++)
			e[i] = 1;
		n = rank;
	}
	if (n + rank > 2 * HBM_MAX_RANK)
		return 0;
	for (uint32_t i = 0; i < rank; i++) {
		uint64_t *x = &e[n - rank + i];
		*x = *x / tile[i] + (*x % tile[i] != 0);
		e[n + i] = tile[i];
	}
	return n + rank;
}

bool hlo_array_size(const hlo_module *m, const hlo_node *node,
                    const hlo_layout *layout, uint64_t *ret)
{
	uint64_t e[3 * HBM_MAX_RANK], count = 1, bits = node->bits, bytes;
	uint32_t n = physical(m, node, e);

	for (uint32_t i = 0; i < layout->n_tiles; i++) {
		n = apply_tile(e, n, layout->tile[i], layout->tile_rank[i]);
		if (!n)
			return false;
	}
	for (uint32_t i = 0; i < n; i++)
		if (e[i] == 0)
			count = 0;
	for (uint32_t i = 0; i < n && count; i++)
		if (!hbm_mul(count, e[i], &count))
			return false;
	if (layout->multiple > 1 && !hbm_align_up(count, layout->multiple, &count))
		return false;
	if (layout->element_bits)
		bits = layout->element_bits;
	else if (bits < 8)
		bits = 8;
	if (bits % 8 == 0)
		return hbm_mul(count, bits / 8, ret) && *ret <= HBM_MAX_BYTES;
	if (!hbm_mul(count, bits, &bytes) || !hbm_add(bytes, 7, &bytes))
		return false;
	*ret = bytes / 8;
	return *ret <= HBM_MAX_BYTES;
}

static const hlo_node *array(const hlo_module *m, uint32_t node)
{
	const hlo_node *n = &m->nodes.items[node];

	return n->kind == HLO_ARRAY ? n : NULL;
}

bool hlo_same_bytes(const hlo_module *m, uint32_t a, uint32_t b)
{
	const hlo_node *x = array(m, a), *y = array(m, b);

	if (!x || !y || x->n != y->n || x->size != y->size || x->bits != y->bits ||
	    x->tiled != y->tiled)
		return false;
	for (uint32_t i = 0; i < x->n; i++) {
		const hlo_dim *p = &m->dims.items[x->first + i];
		const hlo_dim *q = &m->dims.items[y->first + i];
		if (p->extent != q->extent || p->minor != q->minor)
			return false;
	}
	return true;
}

static bool row_major(const hlo_module *m, const hlo_node *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		if (m->dims.items[n->first + i].minor != n->n - 1 - i)
			return false;
	return !n->tiled && !n->dynamic;
}

bool hlo_reshape_is_view(const hlo_module *m, uint32_t from, uint32_t to)
{
	const hlo_node *x = array(m, from), *y = array(m, to);

	return x && y && x->size == y->size && x->bits == y->bits && row_major(m, x) &&
	       row_major(m, y);
}

/* Dimension i of the result is dimension dims[i] of the operand; the order in
 * memory is the same when both lay the same operand dimension at each place.
 * Extents of one move nothing. */
bool hlo_transpose_is_view(const hlo_module *m, const hlo_instr *t, uint32_t from)
{
	const hlo_node *x = array(m, from), *y = array(m, t->shape);
	uint32_t i = 0, j = 0;

	if (!x || !y || x->n != y->n || t->dims.n != y->n || x->tiled || y->tiled ||
	    x->size != y->size)
		return false;
	for (;;) {
		const hlo_dim *dx = m->dims.items + x->first;
		const hlo_dim *dy = m->dims.items + y->first;
		while (i < x->n && dx[dx[i].minor].extent == 1)
			i++;
		while (j < y->n && dy[dy[j].minor].extent == 1)
			j++;
		if (i == x->n || j == y->n)
			return i == x->n && j == y->n;
		if (m->numbers.items[t->dims.first + dy[j].minor] != dx[i].minor)
			return false;
		i++;
		j++;
	}
}
