/* SPDX-License-Identifier: Apache-2.0 */
/* Extents, strides and layouts as the dumps print them, and the bytes they need:
 *
 *   device layout   product(device_size but the last) * 128: one stick is 128 B
 *   else            (sum((size_i - 1) * stride_i) + 1 + offset) * itemsize,
 *                   0 when an extent is 0
 *
 * Checked arithmetic throughout; each unbound symbol is reported once. */
#include "import/inductor.h"

#include "base/ckd.h"

#include <string.h>

enum { STICK = 128 };

/* ---- dtypes --------------------------------------------------------------- */

static const struct {
	const char *torch, *fx;
	hbm_dtype dtype;
	uint32_t itemsize;
} dtypes[] = {
	{"float32", "f32", HBM_DT_f32, 4},
	{"float16", "f16", HBM_DT_f16, 2},
	{"bfloat16", "bf16", HBM_DT_bf16, 2},
	{"float64", "f64", HBM_DT_f64, 8},
	{"int64", "i64", HBM_DT_i64, 8},
	{"int32", "i32", HBM_DT_i32, 4},
	{"int16", "i16", HBM_DT_i16, 2},
	{"int8", "i8", HBM_DT_i8, 1},
	{"uint8", "u8", HBM_DT_u8, 1},
	{"uint16", "u16", HBM_DT_u16, 2},
	{"uint32", "u32", HBM_DT_u32, 4},
	{"uint64", "u64", HBM_DT_u64, 8},
	{"bool", "b8", HBM_DT_bool, 1},
	{"complex64", "c64", HBM_DT_c64, 8},
	{"complex128", "c128", HBM_DT_c128, 16},
	{"complex32", "c32", HBM_DT_none, 4},
	{"float8_e4m3fn", "f8e4m3fn", HBM_DT_f8e4m3, 1},
	{"float8_e5m2", "f8e5m2", HBM_DT_f8e5m2, 1},
	{"float8_e4m3fnuz", "f8e4m3fnuz", HBM_DT_f8e4m3, 1},
	{"float8_e5m2fnuz", "f8e5m2fnuz", HBM_DT_f8e5m2, 1},
	{"float8_e8m0fnu", "f8e8m0fnu", HBM_DT_f8e8m0, 1},
	/* Two values in one byte; extents count bytes. */
	{"float4_e2m1fn_x2", "f4e2m1fn_x2", HBM_DT_u8, 1},
	{"qint8", "qi8", HBM_DT_i8, 1},
	{"quint8", "qu8", HBM_DT_u8, 1},
	{"qint32", "qi32", HBM_DT_i32, 4},
};

/* int1 to int7, uint1 to uint7, bits8: one byte each in memory. */
static bool is_narrow(const hbm_ind_text *t, size_t start, size_t end)
{
	bool narrow = hbm_ind_starts(t, start, end, "int") ||
	              hbm_ind_starts(t, start, end, "uint");
	size_t digit = end - 1;

	if (hbm_ind_is(t, start, end, "bits8"))
		return true;
	return narrow && t->s[digit] >= '1' && t->s[digit] <= '7' &&
	       t->s[digit - 1] == 't';
}

bool hbm_ind_dtype(const hbm_ind_text *t, size_t start, size_t end, hbm_dtype *ret,
                   uint32_t *ret_itemsize)
{
	if (hbm_ind_starts(t, start, end, "torch."))
		start += strlen("torch.");
	if (is_narrow(t, start, end)) {
		*ret = HBM_DT_u8;
		*ret_itemsize = 1;
		return true;
	}
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
		if (hbm_ind_is(t, start, end, dtypes[i].torch) ||
		    hbm_ind_is(t, start, end, dtypes[i].fx)) {
			*ret = dtypes[i].dtype;
			*ret_itemsize = dtypes[i].itemsize;
			return true;
		}
	}
	return false;
}

/* ---- extents -------------------------------------------------------------- */

static void report_symbol(hbm_ind_dump *dump, hbm_ind_at at, size_t start, size_t end)
{
	hbm_sym sym = hbm_ind_sym(dump, at.text, start, end);

	dump->failed = true;
	for (uint32_t i = 0; i < dump->unbound.n; i++)
		if (dump->unbound.items[i] == sym)
			return;
	if (sym == HBM_NONE || dump->unbound.n > HBM_MAX_ERRORS ||
	    !HBM_PUSH(dump->a, &dump->unbound, sym))
		return;
	at.pos = start;
	HBM_IND_FAIL(dump, HBM_E_UNBOUND, at, end - start,
	             "a size depends on '%s', which has no value; give one with "
	             "--bind %s=N",
	             hbm_ind_str(dump, sym), hbm_ind_str(dump, sym));
}

/* Every symbol of the expression without a value. */
static void report_unbound(hbm_ind_dump *dump, hbm_ind_at at, size_t start, size_t end)
{
	const hbm_ind_text *t = at.text;

	while (start < end) {
		size_t word = hbm_ind_word(t, start, end);
		uint64_t v;
		if (word == start) {
			start++;
			continue;
		}
		if ((word >= end || t->s[word] != '(') &&
		    !hbm_bound(dump->opts, t->s + start, word - start, &v))
			report_symbol(dump, at, start, word);
		start = word;
	}
}

static bool eval(hbm_ind_dump *dump, hbm_ind_at at, size_t start, size_t end,
                 uint64_t *ret)
{
	size_t bad, bad_end;
	hbm_ind_eval e =
		hbm_ind_expr(dump->opts, at.text, start, end, ret, &bad, &bad_end);

	if (e == HBM_IND_OK)
		return true;
	at.pos = bad;
	if (e == HBM_IND_UNBOUND)
		report_unbound(dump, at, start, end);
	else if (e == HBM_IND_BAD)
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, bad_end - bad,
		             "this is no size expression");
	else
		HBM_IND_FAIL(dump, HBM_E_SIZE_OVERFLOW, at, bad_end - bad,
		             "the size is not a whole number from 0 to 2^62");
	return false;
}

/* Strips the brackets of "(8, 3)", "[8, 3]", "(8, )". */
static bool inside(const hbm_ind_text *t, size_t *start, size_t *end)
{
	size_t close;

	if (*start >= *end || (t->s[*start] != '(' && t->s[*start] != '[') ||
	    !hbm_ind_close(t, *start, *end, &close) || close != *end - 1)
		return false;
	++*start;
	--*end;
	return true;
}

static bool not_a_list(hbm_ind_dump *dump, hbm_ind_at at, size_t start)
{
	at.pos = start;
	HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, 1, "a list of sizes is expected");
	return false;
}

static bool numbers(hbm_ind_dump *dump, hbm_ind_at at, size_t start, size_t end,
                    uint64_t *values, hbm_ind_shape *places, uint32_t *ret_n)
{
	hbm_ind_arg arg;
	bool ok = true;

	*ret_n = 0;
	if (!inside(at.text, &start, &end))
		return not_a_list(dump, at, start);
	while (hbm_ind_next_arg(at.text, &start, end, &arg)) {
		uint32_t i = *ret_n;
		if (i == HBM_MAX_RANK) {
			at.pos = arg.start;
			HBM_IND_FAIL(dump, HBM_E_TOO_LARGE, at, 1,
			             "more than %d extents", HBM_MAX_RANK);
			return false;
		}
		if (places) {
			places->at[i] = (hbm_ind_at){at.text, arg.start, at.line};
			places->at_len[i] = (uint32_t)(arg.end - arg.start);
		}
		ok &= eval(dump, at, arg.start, arg.end, &values[i]);
		++*ret_n;
	}
	return ok;
}

/* From the first element to the last one that the strides reach. */
static bool count_elements(const hbm_ind_shape *s, const uint64_t *stride,
                           uint64_t *ret)
{
	uint64_t n = 1, part;

	for (uint32_t i = 0; i < s->n; i++)
		if (!s->extent[i])
			n = 0;
	for (uint32_t i = 0; i < s->n && n; i++)
		if (!hbm_mul(s->extent[i] - 1, stride[i], &part) ||
		    !hbm_add(n, part, &n) || n > HBM_MAX_BYTES)
			return false;
	*ret = n;
	return true;
}

bool hbm_ind_extents(hbm_ind_dump *dump, hbm_ind_at at, size_t start, size_t end,
                     size_t strides, size_t strides_end, hbm_ind_shape *shape)
{
	uint64_t stride[HBM_MAX_RANK];
	uint32_t n = 0;

	if (!numbers(dump, at, start, end, shape->extent, shape, &shape->n))
		return false;
	if (strides == strides_end) { /* contiguous */
		uint64_t step = 1;
		for (n = shape->n; n-- > 0;) {
			stride[n] = step;
			step = hbm_mul_sat(step, shape->extent[n]);
		}
		n = shape->n;
	} else if (!numbers(dump, at, strides, strides_end, stride, NULL, &n)) {
		return false;
	}
	if (n != shape->n) {
		at.pos = strides;
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, strides_end - strides,
		             "%u strides for %u extents", n, shape->n);
		return false;
	}
	shape->has_extents = true;
	if (count_elements(shape, stride, &shape->elements))
		return true;
	at.pos = start;
	HBM_IND_FAIL(dump, HBM_E_SIZE_OVERFLOW, at, end - start,
	             "the tensor has more than 2^62 elements");
	return false;
}

bool hbm_ind_bytes(const hbm_ind_shape *s, uint64_t *ret)
{
	uint64_t n = 1;

	if (s->n_device) {
		for (uint32_t i = 0; i + 1 < s->n_device; i++)
			n = hbm_mul_sat(n, s->device[i]);
		for (uint32_t i = 0; i + 1 < s->n_device; i++)
			n = s->device[i] ? n : 0;
		return hbm_mul(n, STICK, &n) && n <= HBM_MAX_BYTES && (*ret = n, true);
	}
	if (!s->has_extents || !s->itemsize)
		return false;
	if (!s->elements)
		return *ret = 0, true;
	return hbm_add(s->elements, s->offset, &n) && hbm_mul(n, s->itemsize, &n) &&
	       n <= HBM_MAX_BYTES && (*ret = n, true);
}

/* ---- literals ------------------------------------------------------------- */

typedef struct range {
	size_t start, end; /* equal: not there */
} range;

/* SpyreTensorLayout(device_size=[..], ...) */
static bool device_layout(hbm_ind_dump *dump, hbm_ind_at at, range r,
                          hbm_ind_shape *shape)
{
	size_t name_end, in, out;
	hbm_ind_arg arg;

	if (!hbm_ind_call(at.text, r.start, r.end, &name_end, &in, &out))
		return true; /* None, or a kind that tells no device size */
	while (hbm_ind_next_arg(at.text, &in, out, &arg))
		if (hbm_ind_is(at.text, arg.key, arg.key_end, "device_size"))
			return numbers(dump, at, arg.start, arg.end, shape->device,
			               NULL, &shape->n_device);
	return true;
}

static bool is_host(const hbm_ind_text *t, range r)
{
	hbm_ind_unquote(t, &r.start, &r.end);
	return hbm_ind_is(t, r.start, r.end, "cpu") ||
	       hbm_ind_starts(t, r.start, r.end, "cpu:") ||
	       hbm_ind_find(t, r.start, r.end, "'cpu'") != SIZE_MAX;
}

/* Values of a layout or an allocation call, by key or by what they are. */
typedef struct parts {
	range size, stride, offset, device, layout, dtype;
} parts;

static void sort_part(const hbm_ind_text *t, const hbm_ind_arg *a, parts *p)
{
	range r = {a->start, a->end};
	bool keyed = a->key < a->key_end;
	char c = a->start < a->end ? t->s[a->start] : 0;
#define KEY(word) (keyed && hbm_ind_is(t, a->key, a->key_end, word))
	if (KEY("size") || (!keyed && (c == '(' || c == '[') && !p->size.end))
		p->size = r;
	else if (KEY("stride") || (!keyed && (c == '(' || c == '[')))
		p->stride = r;
	else if (KEY("offset"))
		p->offset = r;
	else if (KEY("dtype") || hbm_ind_starts(t, r.start, r.end, "torch."))
		p->dtype =
			KEY("dtype") || hbm_ind_find(t, r.start, r.end, "(") == SIZE_MAX
				? r
				: p->dtype;
	else if (KEY("device_layout") ||
	         hbm_ind_starts(t, r.start, r.end, "SpyreTensorLayout("))
		p->layout = r;
	else if (KEY("device") || (!keyed && (c == '\'' || c == '"')))
		p->device = r;
#undef KEY
}

static bool take_parts(hbm_ind_dump *dump, hbm_ind_at at, const parts *p,
                       hbm_ind_shape *shape)
{
	const hbm_ind_text *t = at.text;
	bool ok = true;

	if (p->dtype.end && !hbm_ind_dtype(t, p->dtype.start, p->dtype.end,
	                                   &shape->dtype, &shape->itemsize)) {
		at.pos = p->dtype.start;
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, p->dtype.end - p->dtype.start,
		             "unknown dtype '%.*s'",
		             (int)(p->dtype.end - p->dtype.start < 60
		                           ? p->dtype.end - p->dtype.start
		                           : 60),
		             t->s + p->dtype.start);
		ok = false;
	}
	if (p->size.end)
		ok &= hbm_ind_extents(dump, at, p->size.start, p->size.end,
		                      p->stride.start, p->stride.end, shape);
	if (p->offset.end)
		ok &= eval(dump, at, p->offset.start, p->offset.end, &shape->offset);
	if (p->layout.end)
		ok &= device_layout(dump, at, p->layout, shape);
	shape->host = p->device.end && is_host(t, p->device);
	return ok;
}

static const struct {
	const char *name;
	hbm_ind_class class;
} layouts[] = {
	{"FixedLayout", HBM_IND_PLAIN_LAYOUT},
	{"FlexibleLayout", HBM_IND_PLAIN_LAYOUT},
	{"NonOwningLayout", HBM_IND_PLAIN_LAYOUT},
	{"AliasedLayout", HBM_IND_PLAIN_LAYOUT},
	{"CommBufferLayout", HBM_IND_PLAIN_LAYOUT},
	{"FixedTiledLayout", HBM_IND_PLAIN_LAYOUT},
	{"MutationLayout", HBM_IND_MUTATION},
	{"MutationLayoutSHOULDREMOVE", HBM_IND_MUTATION},
	{"NoneLayout", HBM_IND_NO_MEMORY},
	{"MultiOutputLayout", HBM_IND_NO_MEMORY},
};

/* An unknown kind of layout with a size is taken as a plain one. */
static hbm_ind_class layout_class(const hbm_ind_text *t, size_t start, size_t end)
{
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (hbm_ind_is(t, start, end, layouts[i].name))
			return layouts[i].class;
	return HBM_IND_PLAIN_LAYOUT;
}

/* End of the literal at `at`: a word, or a word and a bracket. */
static size_t literal_end(hbm_ind_at at)
{
	const hbm_ind_text *t = at.text;
	size_t p = hbm_ind_word(t, at.pos, t->n), close;

	if (p < t->n && t->s[p] == '(' && hbm_ind_close(t, p, t->n, &close))
		return close + 1;
	return p;
}

bool hbm_ind_layout(hbm_ind_dump *dump, hbm_ind_at at, hbm_ind_class *ret_class,
                    hbm_ind_shape *shape)
{
	size_t end = literal_end(at), name_end, in, out;
	parts p = {0};
	hbm_ind_arg arg;

	*shape = (hbm_ind_shape){0};
	*ret_class = HBM_IND_NO_MEMORY;
	if (hbm_ind_is(at.text, at.pos, end, "None"))
		return true;
	if (!hbm_ind_call(at.text, at.pos, end, &name_end, &in, &out)) {
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, 1, "a layout is expected");
		return false;
	}
	*ret_class = layout_class(at.text, at.pos, name_end);
	if (*ret_class != HBM_IND_PLAIN_LAYOUT)
		return true;
	while (hbm_ind_next_arg(at.text, &in, out, &arg))
		sort_part(at.text, &arg, &p);
	if (!p.size.end || !p.dtype.end) {
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, name_end - at.pos,
		             "the layout has no %s", p.size.end ? "dtype" : "size");
		return false;
	}
	return take_parts(dump, at, &p, shape);
}

bool hbm_ind_alloc_shape(hbm_ind_dump *dump, hbm_ind_at at, size_t in, size_t out,
                         hbm_ind_shape *shape)
{
	parts p = {0};
	hbm_ind_arg arg;

	*shape = (hbm_ind_shape){0};
	while (hbm_ind_next_arg(at.text, &in, out, &arg))
		sort_part(at.text, &arg, &p);
	return take_parts(dump, at, &p, shape);
}

bool hbm_ind_fx_type(hbm_ind_dump *dump, hbm_ind_at at, hbm_ind_shape *shape)
{
	const hbm_ind_text *t = at.text;
	size_t start = at.pos, word, close, close2;

	*shape = (hbm_ind_shape){0};
	start += start < t->n && (t->s[start] == '"' || t->s[start] == '\'');
	word = hbm_ind_word(t, start, t->n);
	if (!hbm_ind_dtype(t, start, word, &shape->dtype, &shape->itemsize) ||
	    word >= t->n || t->s[word] != '[' ||
	    !hbm_ind_close(t, word, t->n, &close)) {
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, 1,
		             "a type such as f32[8, 3] is expected");
		return false;
	}
	close2 = close;
	if (close + 1 < t->n && t->s[close + 1] == '[' &&
	    !hbm_ind_close(t, close + 1, t->n, &close2)) {
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, 1, "the strides do not end");
		return false;
	}
	shape->host = hbm_ind_starts(t, close2 + 1, t->n, "cpu");
	return hbm_ind_extents(dump, at, word, close + 1,
	                       close2 > close ? close + 1 : 0,
	                       close2 > close ? close2 + 1 : 0, shape);
}

/* The n-th positional value; false: not there. */
static bool nth(const hbm_ind_text *t, size_t in, size_t out, uint32_t n, range *ret)
{
	hbm_ind_arg arg;

	for (uint32_t i = 0; hbm_ind_next_arg(t, &in, out, &arg); i++) {
		if (i == n && arg.key == arg.key_end) {
			*ret = (range){arg.start, arg.end};
			return true;
		}
	}
	return false;
}

bool hbm_ind_stmt_shape(hbm_ind_dump *dump, const hbm_ind_stmt *st,
                        hbm_ind_shape *shape)
{
	hbm_ind_at at = st->at;
	range size, stride, offset;

	if (st->verb == HBM_IND_ALLOC)
		return hbm_ind_alloc_shape(dump, at, st->in, st->out, shape);
	*shape = (hbm_ind_shape){0};
	if (!nth(at.text, st->in, st->out, 1, &size) ||
	    !nth(at.text, st->in, st->out, 2, &stride)) {
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, at, 1,
		             "size and stride are expected here");
		return false;
	}
	if (st->verb == HBM_IND_VIEW && nth(at.text, st->in, st->out, 3, &offset) &&
	    !eval(dump, at, offset.start, offset.end, &shape->offset))
		return false;
	return hbm_ind_extents(dump, at, size.start, size.end, stride.start, stride.end,
	                       shape);
}
