/* SPDX-License-Identifier: Apache-2.0
 * hlo_pbtext: protobuf text format into messages, led by their descriptors.
 *
 * Fields that the schema does not have are skipped, whatever their value. The module
 * is the first message of that type on the way in: at the top, in `hlo_module`, or in
 * what an executable calls so. Nesting is limited. Cost: linear in the bytes. */
#if HBM_HAVE_HLO_PROTO
#include "import/hlo_proto.h"

#include "base/ckd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
	hlo_module *m;
	const char *p, *end, *text;
} reader;

static hbm_status fail(const reader *r, const char *what)
{
	return hbm_fail(r->m->diags, HBM_SYNTAX, HBM_E_HLO_PROTO,
	                hlo_at(r->m, (uint32_t)(r->p - r->text), 0), "%s", what);
}

static hbm_status too_deep(const reader *r)
{
	return hbm_fail(r->m->diags, HBM_LIMIT, HBM_E_TOO_LARGE,
	                hlo_at(r->m, (uint32_t)(r->p - r->text), 0),
	                "messages nest deeper than %d", HBM_MAX_DEPTH);
}

/* ---- tokens --------------------------------------------------------------- */

static void skip_ws(reader *r)
{
	while (r->p < r->end) {
		char c = *r->p;
		if (c == '#') {
			const char *nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
			r->p = nl ? nl : r->end;
		} else if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ',' ||
		           c == ';') {
			r->p++;
		} else {
			return;
		}
	}
}

static bool accept(reader *r, char c)
{
	skip_ws(r);
	if (r->p >= r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '+';
}

static hlo_slice word(reader *r)
{
	const char *from;

	skip_ws(r);
	from = r->p;
	while (r->p < r->end && is_word(*r->p))
		r->p++;
	return (hlo_slice){from, (uint32_t)(r->p - from)};
}

static bool skip_string(reader *r)
{
	char quote = *r->p;

	for (r->p++; r->p < r->end; r->p++) {
		if (*r->p == '\\' && r->p + 1 < r->end)
			r->p++;
		else if (*r->p == quote)
			return r->p++, true;
	}
	return false;
}

/* Skips a value: words and strings, or a message or list with all it holds. */
static hbm_status skip_value(reader *r)
{
	uint32_t depth = 0;

	accept(r, ':');
	do {
		skip_ws(r);
		if (r->p >= r->end)
			return fail(r, "the text ends inside a value");
		if (*r->p == '"' || *r->p == '\'') {
			if (!skip_string(r))
				return fail(r, "string has no end");
		} else if (*r->p == '{' || *r->p == '[' || *r->p == '<') {
			depth++;
			r->p++;
		} else if (*r->p == '}' || *r->p == ']' || *r->p == '>') {
			if (!depth)
				return fail(r, "expected a value");
			depth--;
			r->p++;
		} else if (is_word(*r->p) || *r->p == ':' || *r->p == '/') {
			r->p++;
			while (r->p < r->end && is_word(*r->p))
				r->p++;
		} else {
			return fail(r, "unexpected byte");
		}
	} while (depth);
	skip_ws(r);
	while (r->p < r->end && *r->p == '"') { /* strings stand side by side */
		if (!skip_string(r))
			return fail(r, "string has no end");
		skip_ws(r);
	}
	return HBM_OK;
}

/* ---- scalars -------------------------------------------------------------- */

static int octal(reader *r)
{
	int v = 0;

	for (int i = 0; i < 3 && r->p < r->end && *r->p >= '0' && *r->p <= '7'; i++)
		v = v * 8 + (*r->p++ - '0');
	return v;
}

static char escape(reader *r)
{
	char c = *r->p;

	if (c >= '0' && c <= '7')
		return (char)octal(r);
	r->p++;
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	default:
		return c;
	}
}

static hbm_status string(reader *r, char **ret, size_t *ret_n)
{
	const char *from = r->p;
	char quote = *r->p, *s;
	size_t n = 0;

	if (!skip_string(r))
		return fail(r, "string has no end");
	HBM_NEED(s = HBM_ARRAY(r->m->arena, char, (size_t)(r->p - from)));
	for (r->p = from + 1; *r->p != quote;) {
		if (*r->p == '\\' && r->p + 1 < r->end) {
			r->p++;
			s[n++] = escape(r);
		} else {
			s[n++] = *r->p++;
		}
	}
	r->p++;
	s[n] = 0;
	*ret = s;
	*ret_n = n;
	return HBM_OK;
}

static hbm_status integer(reader *r, int64_t *ret)
{
	hlo_slice w = word(r);
	uint64_t v = 0;
	bool minus = w.n && w.s[0] == '-';

	if (w.n == (uint32_t)minus)
		return fail(r, "expected a number");
	for (uint32_t i = minus; i < w.n; i++) {
		if (w.s[i] < '0' || w.s[i] > '9' || !hbm_mul(v, 10, &v) ||
		    !hbm_add(v, (uint64_t)(w.s[i] - '0'), &v))
			return fail(r, "expected a number of 64 bits");
	}
	*ret = (int64_t)(minus ? 0 - v : v);
	return HBM_OK;
}

static hbm_status enumerator(reader *r, const ProtobufCEnumDescriptor *d, int *ret)
{
	const char *from = r->p;
	char name[64];
	const ProtobufCEnumValue *v;
	hlo_slice w = word(r);
	int64_t n;

	if (w.n && (w.s[0] == '-' || (w.s[0] >= '0' && w.s[0] <= '9'))) {
		r->p = from;
		HBM_TRY(integer(r, &n));
		*ret = (int)(n < -1 || n > 1 << 20 ? 0 : n);
		return HBM_OK;
	}
	if (w.n >= sizeof name)
		return fail(r, "unknown enumerator");
	memcpy(name, w.s, w.n);
	name[w.n] = 0;
	v = protobuf_c_enum_descriptor_get_value_by_name(d, name);
	*ret = v ? v->value : 0; /* newer than our schema */
	return HBM_OK;
}

static hbm_status boolean(reader *r, protobuf_c_boolean *ret)
{
	hlo_slice w = word(r);

	*ret = w.n && (w.s[0] == 't' || w.s[0] == 'T' || w.s[0] == '1');
	return w.n ? HBM_OK : fail(r, "expected true or false");
}

/* ---- messages ------------------------------------------------------------- */

static hbm_status message(reader *r, const ProtobufCMessageDescriptor *d, char close,
                          uint32_t depth, ProtobufCMessage **ret);

static hbm_status sub_message(reader *r, const ProtobufCMessageDescriptor *d,
                              uint32_t depth, ProtobufCMessage **ret)
{
	if (accept(r, '{'))
		return message(r, d, '}', depth + 1, ret);
	if (accept(r, '<'))
		return message(r, d, '>', depth + 1, ret);
	return fail(r, "expected '{'");
}

static hbm_status scalar(reader *r, const ProtobufCFieldDescriptor *f, uint32_t depth,
                         void *to)
{
	int64_t v;
	size_t n = 0;
	char *s = NULL;

	skip_ws(r);
	switch (f->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
		return sub_message(r, f->descriptor, depth, to);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
		if (r->p >= r->end || (*r->p != '"' && *r->p != '\''))
			return fail(r, "expected a string");
		HBM_TRY(string(r, &s, &n));
		if (f->type == PROTOBUF_C_TYPE_STRING)
			*(char **)to = s;
		else
			*(ProtobufCBinaryData *)to = (ProtobufCBinaryData){n, (uint8_t *)s};
		return HBM_OK;
	case PROTOBUF_C_TYPE_ENUM:
		return enumerator(r, f->descriptor, to);
	case PROTOBUF_C_TYPE_BOOL:
		return boolean(r, to);
	case PROTOBUF_C_TYPE_INT64:
		return integer(r, to);
	case PROTOBUF_C_TYPE_INT32:
		HBM_TRY(integer(r, &v));
		*(int32_t *)to = (int32_t)(v < INT32_MIN || v > INT32_MAX ? 0 : v);
		return HBM_OK;
	case PROTOBUF_C_TYPE_UINT64:
		HBM_TRY(integer(r, &v));
		*(uint64_t *)to = (uint64_t)v;
		return HBM_OK;
	case PROTOBUF_C_TYPE_UINT32:
		HBM_TRY(integer(r, &v));
		*(uint32_t *)to = (uint32_t)(v < 0 || v > UINT32_MAX ? 0 : v);
		return HBM_OK;
	default:
		return fail(r, "field of a type that is not read");
	}
}

static size_t item_size(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		return sizeof(int64_t);
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_UINT32:
		return sizeof(int32_t);
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_ENUM:
		return sizeof(int);
	default:
		return sizeof(void *);
	}
}

/* One more item; the room doubles when the count is a power of two. */
static hbm_status repeated(reader *r, const ProtobufCFieldDescriptor *f, uint32_t depth,
                           char *msg)
{
	size_t *n = (size_t *)(void *)(msg + f->quantifier_offset), size = item_size(f);
	char **items = (char **)(void *)(msg + f->offset);

	if (!(*n & (*n - 1))) {
		size_t old = *n * size, room = *n ? 2 * old : size;
		char *more = hbm_arena_grow(r->m->arena, *n ? *items : NULL, old, room);
		HBM_NEED(more);
		*items = more;
	}
	HBM_TRY(scalar(r, f, depth, *items + *n * size));
	(*n)++;
	return HBM_OK;
}

static hbm_status field(reader *r, const ProtobufCFieldDescriptor *f, uint32_t depth,
                        char *msg)
{
	accept(r, ':');
	if (f->label != PROTOBUF_C_LABEL_REPEATED)
		return scalar(r, f, depth, msg + f->offset);
	if (!accept(r, '['))
		return repeated(r, f, depth, msg);
	while (!accept(r, ']'))
		HBM_TRY(repeated(r, f, depth, msg));
	return HBM_OK;
}

static const ProtobufCFieldDescriptor *find(const ProtobufCMessageDescriptor *d,
                                            hlo_slice name)
{
	char text[64];

	if (name.n >= sizeof text)
		return NULL;
	memcpy(text, name.s, name.n);
	text[name.n] = 0;
	return protobuf_c_message_descriptor_get_field_by_name(d, text);
}

static hbm_status fields(reader *r, const ProtobufCMessageDescriptor *d, char close,
                         uint32_t depth, ProtobufCMessage *msg)
{
	for (;;) {
		const ProtobufCFieldDescriptor *f;
		hlo_slice name;
		skip_ws(r);
		if (r->p >= r->end)
			return close ? fail(r, "the text ends inside a message") : HBM_OK;
		if (close && accept(r, close))
			return HBM_OK;
		name = word(r);
		if (!name.n)
			return fail(r, "expected a field");
		f = find(d, name);
		HBM_TRY(f ? field(r, f, depth, (char *)msg) : skip_value(r));
	}
}

static hbm_status message(reader *r, const ProtobufCMessageDescriptor *d, char close,
                          uint32_t depth, ProtobufCMessage **ret)
{
	ProtobufCMessage *msg;

	if (depth > HBM_MAX_DEPTH)
		return too_deep(r);
	HBM_NEED(msg = (ProtobufCMessage *)hbm_arena_zalloc(r->m->arena, 1,
	                                                    d->sizeof_message));
	protobuf_c_message_init(d, msg);
	HBM_TRY(fields(r, d, close, depth, msg));
	*ret = msg;
	return HBM_OK;
}

/* ---- where the module is -------------------------------------------------- */

static bool is(hlo_slice w, const char *text)
{
	return strlen(text) == w.n && !memcmp(text, w.s, w.n);
}

/* A field that only a module has comes first or second in it. */
static bool at_module(reader r)
{
	for (int i = 0; i < 4; i++) {
		hlo_slice name = word(&r);
		if (is(name, "computations"))
			return true;
		if (!name.n || (!is(name, "name") && !is(name, "entry_computation_name") &&
		                !is(name, "id")))
			return false;
		r.p = r.p < r.end && *r.p == ':' ? r.p + 1 : r.p;
		skip_ws(&r);
		if (r.p < r.end && *r.p == '"' ? !skip_string(&r) : !word(&r).n)
			return false;
	}
	return false;
}

/* Goes into messages that may hold the module, past everything else. */
static hbm_status search(reader *r, char *ret_close, bool *ret_found)
{
	char close[HBM_MAX_DEPTH];
	uint32_t depth = 0;

	*ret_found = false;
	*ret_close = 0;
	while (!(*ret_found = at_module(*r))) {
		hlo_slice name;
		skip_ws(r);
		if (r->p >= r->end)
			return HBM_OK;
		if (depth && accept(r, close[depth - 1])) {
			depth--;
			continue;
		}
		name = word(r);
		if (!name.n)
			return fail(r, "expected a field");
		if (!is(name, "hlo_module") && !is(name, "hlo_module_with_config") &&
		    !is(name, "gpu_executable") && !is(name, "cpu_executable") &&
		    !is(name, "hlo") && !is(name, "hlo_proto")) {
			HBM_TRY(skip_value(r));
			continue;
		}
		if (depth == HBM_MAX_DEPTH)
			return too_deep(r);
		if (!accept(r, '{'))
			return fail(r, "expected '{'");
		close[depth++] = '}';
	}
	*ret_close = depth ? close[depth - 1] : 0;
	return HBM_OK;
}

hbm_status hlo_pbtext_read(hlo_module *m, const char *text, size_t n,
                           Hlo__HloModuleProto **ret)
{
	reader r = {.m = m, .p = text, .end = text + n, .text = text};
	ProtobufCMessage *msg;
	bool found;
	char close;

	HBM_TRY(search(&r, &close, &found));
	if (!found)
		return fail(&r, "no HLO module in the text");
	HBM_TRY(message(&r, &hlo__hlo_module_proto__descriptor, close, 0, &msg));
	*ret = (Hlo__HloModuleProto *)msg;
	return HBM_OK;
}

bool hlo_pbtext_probe(const char *text, size_t n)
{
	static const char *const marks[] = {"hlo_module {", "computations {",
	                                    "hlo_module_with_config {"};

	for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
		size_t len = strlen(marks[k]);
		for (size_t i = 0; i + len <= n; i++)
			if (text[i] == marks[k][0] && !memcmp(text + i, marks[k], len))
				return true;
	}
	return false;
}
#else
typedef int hlo_pbtext_is_empty; /* a file needs a declaration */
#endif
