/* SPDX-License-Identifier: Apache-2.0 */
/* Building a program, looking into it, copying it.
 *
 * A span that is not the tail of its array when something is added to it moves
 * to the tail first; the old items stay behind unused. So spans may grow at any
 * time, at a cost only when they do so out of turn. */
#include "ir/program.h"

#include <assert.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t bits;
} dtypes[HBM_N_DTYPES] = {
#define X(name, bits) {#name, bits},
	HBM_DTYPE_MAP(X)
#undef X
};

const hbm_flag_word hbm_flag_words[HBM_N_FLAG_WORDS] = {
	{"input", HBM_T_INPUT},     {"output", HBM_T_OUTPUT},
	{"weight", HBM_T_WEIGHT},   {"state", HBM_T_STATE},
	{"donated", HBM_T_DONATED}, {"zero", HBM_T_ZERO},
	{"carried", HBM_T_CARRIED}, {"tile", HBM_T_TILE},
	{"host", HBM_T_HOST},       {"dynamic", HBM_T_DYNAMIC},
};

uint32_t hbm_dtype_bits(hbm_dtype t)
{
	return t < HBM_N_DTYPES ? dtypes[t].bits : 0;
}

const char *hbm_dtype_name(hbm_dtype t)
{
	return t < HBM_N_DTYPES ? dtypes[t].name : "none";
}

hbm_dtype hbm_dtype_find(const char *name, size_t n)
{
	for (uint32_t i = 0; i < HBM_N_DTYPES; i++)
		if (n && dtypes[i].name[0] == name[0] && strlen(dtypes[i].name) == n &&
		    !memcmp(dtypes[i].name, name, n))
			return (hbm_dtype)i;
	return HBM_DT_none;
}

const char *hbm_op_kind_name(hbm_op_kind k)
{
	static const char *const names[] = {
#define X(id, text) #text,
		HBM_OP_KIND_MAP(X)
#undef X
	};

	return (size_t)k < sizeof names / sizeof *names ? names[k] : "?";
}

const char *hbm_home_kind_name(hbm_home_kind k)
{
	static const char *const names[] = {"none", "lx", "pool", "hbm", "io"};

	return (size_t)k < sizeof names / sizeof *names ? names[k] : "?";
}

hbm_status hbm_program_init(hbm_program *p, hbm_arena *arena)
{
	*p = (hbm_program){.arena = arena};
	hbm_map_init(&p->by_name, arena);
	return hbm_syms_init(&p->syms, arena);
}

/* Makes room for one more item at the end of `span`. */
static bool span_open(hbm_arena *a, void **items, uint32_t *n, uint32_t *cap,
                      size_t size, hbm_span *span)
{
	bool tail = !span->n || span->first + span->n == *n;
	uint64_t want = tail ? 1 : (uint64_t)span->n + 1;
	char *base;

	if ((uint64_t)*cap - *n < want &&
	    !hbm_vec_reserve(a, items, *n, cap, want, size))
		return false;
	base = *items;
	if (!span->n) {
		span->first = *n;
	} else if (!tail) {
		memcpy(base + *n * size, base + span->first * size, span->n * size);
		span->first = *n;
		*n += span->n;
	}
	return true;
}

#define SPAN_PUSH(p, vec, span, ...)                                           \
	(span_open((p)->arena, (void **)&(vec)->items, &(vec)->n, &(vec)->cap, \
	           sizeof *(vec)->items, (span)) &&                            \
	 ((vec)->items[(vec)->n++] = (__VA_ARGS__), (span)->n++, true))

hbm_tensor_id hbm_add_tensor(hbm_program *p, hbm_sym name)
{
	hbm_tensor t = {.name = name, .pin = HBM_NO_OFFSET, .base = HBM_NONE};

	t.home.bundle = HBM_NONE;
	t.home.offset = HBM_NO_OFFSET;
	if (!HBM_PUSH(p->arena, &p->tensors, t))
		return HBM_NONE;
	if (hbm_map_get(&p->by_name, name) == HBM_NONE &&
	    !hbm_map_set(&p->by_name, name, p->tensors.n - 1)) {
		p->tensors.n--;
		return HBM_NONE;
	}
	return p->tensors.n - 1;
}

hbm_tensor_id hbm_find_tensor(const hbm_program *p, hbm_sym name)
{
	return hbm_map_get(&p->by_name, name);
}

bool hbm_add_dim(hbm_program *p, hbm_span *span, hbm_dim dim)
{
	return SPAN_PUSH(p, &p->dims, span, dim);
}

hbm_node_id hbm_open_node(hbm_program *p, hbm_node_kind kind, hbm_sym name,
                          hbm_node_id parent)
{
	hbm_node n = {.kind = kind,
	              .name = name,
	              .parent = parent,
	              .end = p->nodes.n + 1,
	              .op = HBM_NONE};

	return HBM_PUSH(p->arena, &p->nodes, n) ? p->nodes.n - 1 : HBM_NONE;
}

void hbm_close_node(hbm_program *p, hbm_node_id node)
{
	p->nodes.items[node].end = p->nodes.n;
}

hbm_op_id hbm_add_op(hbm_program *p, hbm_node_id parent, hbm_op_kind kind, hbm_sym name,
                     hbm_sym opname)
{
	hbm_op op = {.name = name, .opname = opname, .kind = kind};
	hbm_node_id node = hbm_open_node(p, HBM_NODE_OP, name, parent);

	if (node == HBM_NONE)
		return HBM_NONE;
	op.node = node;
	if (!HBM_PUSH(p->arena, &p->ops, op)) {
		p->nodes.n--;
		return HBM_NONE;
	}
	p->nodes.items[node].op = p->ops.n - 1;
	return p->ops.n - 1;
}

bool hbm_add_read(hbm_program *p, hbm_op_id op, hbm_tensor_id t)
{
	return SPAN_PUSH(p, &p->operands, &p->ops.items[op].reads,
	                 (hbm_operand){.tensor = t});
}

bool hbm_add_write(hbm_program *p, hbm_op_id op, hbm_tensor_id t)
{
	return SPAN_PUSH(p, &p->operands, &p->ops.items[op].writes,
	                 (hbm_operand){.tensor = t});
}

bool hbm_add_attr(hbm_program *p, hbm_span *span, hbm_sym key, const hbm_value *values,
                  uint32_t n)
{
	hbm_attr attr = {.key = key, .first = p->values.n, .n = n};

	if (key == HBM_NONE || !HBM_RESERVE(p->arena, &p->values, n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (values[i].str == HBM_NONE)
			return false;
		p->values.items[p->values.n++] = values[i];
	}
	return SPAN_PUSH(p, &p->attrs, span, attr);
}

bool hbm_add_attr_flag(hbm_program *p, hbm_span *span, const char *key)
{
	return hbm_add_attr(p, span, hbm_intern_cstr(&p->syms, key), NULL, 0);
}

bool hbm_add_attr_num(hbm_program *p, hbm_span *span, const char *key, uint64_t num)
{
	hbm_value v = {.is_num = true, .num = num};

	return hbm_add_attr(p, span, hbm_intern_cstr(&p->syms, key), &v, 1);
}

bool hbm_add_attr_str(hbm_program *p, hbm_span *span, const char *key, const char *str)
{
	hbm_value v = {.str = hbm_intern_cstr(&p->syms, str)};

	return hbm_add_attr(p, span, hbm_intern_cstr(&p->syms, key), &v, 1);
}

const char *hbm_str_of(const hbm_program *p, hbm_sym sym)
{
	return hbm_sym_str(&p->syms, sym);
}

const char *hbm_tensor_name(const hbm_program *p, hbm_tensor_id t)
{
	return hbm_str_of(p, p->tensors.items[t].name);
}

const char *hbm_op_name(const hbm_program *p, hbm_op_id op)
{
	const hbm_op *o = &p->ops.items[op];

	return hbm_str_of(p, o->name ? o->name : o->opname);
}

const hbm_attr *hbm_attr_find(const hbm_program *p, hbm_span attrs, const char *key)
{
	hbm_sym sym;

	if (!attrs.n)
		return NULL;
	sym = hbm_sym_find(&p->syms, key, strlen(key));
	for (uint32_t i = 0; i < attrs.n; i++)
		if (p->attrs.items[attrs.first + i].key == sym)
			return &p->attrs.items[attrs.first + i];
	return NULL;
}

bool hbm_has_attr(const hbm_program *p, hbm_span attrs, const char *key)
{
	return hbm_attr_find(p, attrs, key) != NULL;
}

uint64_t hbm_attr_num(const hbm_program *p, hbm_span attrs, const char *key,
                      uint64_t other)
{
	const hbm_attr *a = hbm_attr_find(p, attrs, key);

	if (!a || !a->n || !p->values.items[a->first].is_num)
		return other;
	return p->values.items[a->first].num;
}

hbm_node_id hbm_bundle_of(const hbm_program *p, hbm_node_id node)
{
	while (node != HBM_NONE && p->nodes.items[node].kind != HBM_NODE_BUNDLE)
		node = p->nodes.items[node].parent;
	return node;
}

hbm_where hbm_at(const hbm_program *p, uint32_t line, uint32_t col, uint32_t len)
{
	return (hbm_where){.file = p->file,
	                   .line = line,
	                   .col = col,
	                   .len = len,
	                   .input = line ? p->text : NULL};
}

hbm_tensor_id hbm_view_root(const hbm_program *p, hbm_tensor_id t, uint64_t *ret_offset)
{
	uint64_t offset = 0;

	while (p->tensors.items[t].base != HBM_NONE) {
		offset += p->tensors.items[t].offset;
		t = p->tensors.items[t].base;
	}
	if (ret_offset)
		*ret_offset = offset;
	return t;
}

/* ---- copy ---------------------------------------------------------------- */

static bool copy_items(hbm_arena *a, const void *from, uint32_t n, size_t size,
                       void **ret, uint32_t *ret_n, uint32_t *ret_cap)
{
	*ret = NULL;
	*ret_n = *ret_cap = n;
	if (!n)
		return true;
	*ret = hbm_arena_array(a, n, size);
	if (*ret)
		memcpy(*ret, from, n * size);
	return *ret != NULL;
}

#define COPY_VEC(from, to, field)                                            \
	copy_items((to)->arena, (from)->field.items, (from)->field.n,        \
	           sizeof *(from)->field.items, (void **)&(to)->field.items, \
	           &(to)->field.n, &(to)->field.cap)

static bool copy_syms(const hbm_syms *from, hbm_arena *a, hbm_syms *ret)
{
	*ret = (hbm_syms){.arena = a, .n_slots = from->n_slots};
	if (!COPY_VEC(from, ret, strs))
		return false;
	for (uint32_t i = 0; i < ret->strs.n; i++) {
		hbm_str *s = &ret->strs.items[i];
		s->s = hbm_arena_strndup(a, s->s, s->n);
		if (!s->s)
			return false;
	}
	ret->slots = HBM_ARRAY(a, uint64_t, ret->n_slots);
	if (ret->slots)
		memcpy(ret->slots, from->slots, ret->n_slots * sizeof *ret->slots);
	return ret->slots != NULL;
}

static bool copy_map(const hbm_map *from, hbm_arena *a, hbm_map *ret)
{
	size_t n = from->n_slots;

	*ret = *from;
	ret->arena = a;
	if (!n)
		return true;
	ret->keys = HBM_ARRAY(a, uint64_t, n);
	ret->values = HBM_ARRAY(a, uint32_t, n);
	if (!ret->keys || !ret->values)
		return false;
	memcpy(ret->keys, from->keys, n * sizeof *ret->keys);
	memcpy(ret->values, from->values, n * sizeof *ret->values);
	return true;
}

hbm_status hbm_program_copy(const hbm_program *from, hbm_arena *arena, hbm_program *ret)
{
	hbm_program to = *from;

	to.arena = arena;
	if (from->file)
		to.file = hbm_arena_strndup(arena, from->file, strlen(from->file));
	HBM_NEED(!from->file || to.file);
	HBM_NEED(copy_syms(&from->syms, arena, &to.syms));
	HBM_NEED(copy_map(&from->by_name, arena, &to.by_name));
	HBM_NEED(COPY_VEC(from, &to, tensors) && COPY_VEC(from, &to, ops) &&
	         COPY_VEC(from, &to, nodes) && COPY_VEC(from, &to, operands) &&
	         COPY_VEC(from, &to, strides) && COPY_VEC(from, &to, inplaces) &&
	         COPY_VEC(from, &to, iters) && COPY_VEC(from, &to, dims) &&
	         COPY_VEC(from, &to, attrs) && COPY_VEC(from, &to, values) &&
	         COPY_VEC(from, &to, reductions));
	*ret = to;
	return HBM_OK;
}
