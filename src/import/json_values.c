/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects with their kinds, and what is said when they are wrong. */
#include "base/text.h"
#include "import/importer.h"

#if HBM_HAVE_JANSSON
#include "import/json_in.h"

#include <inttypes.h>
#include <string.h>

hbm_status hbm_jfailed(jreader *r, hbm_status status)
{
	r->n_errors++;
	if (r->status == HBM_OK || status == HBM_NOMEM)
		r->status = status;
	return status;
}

bool hbm_jfull(const jreader *r)
{
	return r->d ? hbm_diags_full(r->d) : r->n_errors >= HBM_MAX_ERRORS;
}

hbm_where hbm_jat(const jreader *r, const jpath *path)
{
	if (!r->d || hbm_jfull(r)) /* nobody will see it */
		return HBM_NOWHERE;
	return hbm_json_where(r->file, r->text, path);
}

static const char *kind_of(const json_t *v)
{
	static const char *const words[] = {"an object",  "an array", "a string",
	                                    "an integer", "a real",   "true",
	                                    "false",      "null"};

	return words[json_typeof(v)];
}

static hbm_status wrong_kind(jreader *r, const jpath *at, const json_t *v,
                             const char *want)
{
	JBUF;

	return JFAIL(r, at, HBM_E_JSON, "expected %s, got %s", want, kind_of(v));
}

/* ---- unknown words ------------------------------------------------------- */

static const char *nearest(const char *word, const char *const *words, uint32_t n)
{
	const char *best = NULL;
	uint32_t limit = 2;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = hbm_edit_distance(word, words[i], limit);
		if (d > limit || d >= strlen(word))
			continue;
		best = words[i];
		limit = d ? d - 1 : 0;
	}
	return best;
}

static void suggest(jreader *r, const char *word, const char *const *words, uint32_t n)
{
	const char *near = nearest(word, words, n);

	if (near)
		hbm_note(r->d, HBM_NOWHERE, "did you mean '%s'?", near);
}

hbm_status hbm_jkeys(jreader *r, const jpath *at, const json_t *o,
                     const char *const *keys, uint32_t n)
{
	hbm_status st = HBM_OK;
	const char *key;
	json_t *v;
	JBUF;

	json_object_foreach((json_t *)(uintptr_t)o, key, v)
	{
		bool known = false;
		for (uint32_t i = 0; i < n && !known; i++)
			known = !strcmp(keys[i], key);
		if (known)
			continue;
		st = JFAIL(r, J_MEMBER(at, key), HBM_E_JSON, "unknown member '%.40s'",
		           key);
		suggest(r, key, keys, n);
	}
	return st;
}

hbm_status hbm_jto_word(jreader *r, const jpath *at, const json_t *v, const char *what,
                        const char *const *words, uint32_t n, uint32_t *ret)
{
	const char *s = json_string_value(v);
	hbm_status st;
	JBUF;

	if (!s)
		return wrong_kind(r, at, v, "a string");
	for (uint32_t i = 0; i < n; i++) {
		if (!strcmp(words[i], s)) {
			*ret = i;
			return HBM_OK;
		}
	}
	st = JFAIL(r, at, HBM_E_JSON, "unknown %s '%.40s'", what, s);
	suggest(r, s, words, n);
	return st;
}

/* ---- values -------------------------------------------------------------- */

hbm_status hbm_jto_num(jreader *r, const jpath *at, const json_t *v, uint64_t *ret)
{
	const char *s = json_string_value(v);
	JBUF;

	if (json_is_integer(v) && json_integer_value(v) >= 0) {
		*ret = (uint64_t)json_integer_value(v);
		return HBM_OK;
	}
	if (json_is_integer(v))
		return JFAIL(r, at, HBM_E_NUMBER,
		             "%" JSON_INTEGER_FORMAT " is negative",
		             json_integer_value(v));
	if (!s)
		return wrong_kind(r, at, v, "a number");
	if (strspn(s, "0123456789") == strlen(s)) {
		hbm_number got = hbm_parse_size(s, strlen(s), ret);
		if (got == HBM_NUMBER_OK)
			return HBM_OK;
		if (got == HBM_NUMBER_TOO_LARGE)
			return JFAIL(r, at, HBM_E_NUMBER,
			             "number '%.40s' does not fit in 64 bits", s);
	}
	return JFAIL(r, at, HBM_E_NUMBER, "'%.40s' is no number", s);
}

hbm_status hbm_jto_sym(jreader *r, const jpath *at, const json_t *v, hbm_sym *ret)
{
	if (!json_is_string(v))
		return wrong_kind(r, at, v, "a string");
	*ret = hbm_intern(&r->p->syms, json_string_value(v), json_string_length(v));
	return *ret == HBM_NONE ? HBM_NOMEM : HBM_OK;
}

hbm_status hbm_jto_object(jreader *r, const jpath *at, const json_t *v)
{
	return json_is_object(v) ? HBM_OK : wrong_kind(r, at, v, "an object");
}

hbm_status hbm_jto_tensor(jreader *r, const jpath *at, const json_t *v,
                          hbm_tensor_id *ret)
{
	hbm_sym name = 0;
	JBUF;

	HBM_TRY(hbm_jto_sym(r, at, v, &name));
	*ret = hbm_find_tensor(r->p, name);
	if (*ret != HBM_NONE)
		return HBM_OK;
	return JFAIL(r, at, HBM_E_UNKNOWN_NAME, "unknown tensor '%.40s'",
	             hbm_str_of(r->p, name));
}

/* ---- members ------------------------------------------------------------- */

hbm_status hbm_jnum(jreader *r, const jpath *at, const json_t *o, const char *key,
                    uint64_t *ret)
{
	const json_t *v = json_object_get(o, key);

	return v ? hbm_jto_num(r, J_MEMBER(at, key), v, ret) : HBM_OK;
}

hbm_status hbm_ju32(jreader *r, const jpath *at, const json_t *o, const char *key,
                    uint32_t *ret)
{
	uint64_t v = *ret;
	JBUF;

	HBM_TRY(hbm_jnum(r, at, o, key, &v));
	if (v >= UINT32_MAX)
		return JFAIL(r, J_MEMBER(at, key), HBM_E_NUMBER,
		             "%" PRIu64 " does not fit in 32 bits", v);
	*ret = (uint32_t)v;
	return HBM_OK;
}

hbm_status hbm_jsym(jreader *r, const jpath *at, const json_t *o, const char *key,
                    hbm_sym *ret)
{
	const json_t *v = json_object_get(o, key);

	return v ? hbm_jto_sym(r, J_MEMBER(at, key), v, ret) : HBM_OK;
}

hbm_status hbm_jbool(jreader *r, const jpath *at, const json_t *o, const char *key,
                     bool *ret)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_boolean(v))
		return wrong_kind(r, J_MEMBER(at, key), v, "true or false");
	if (v)
		*ret = json_is_true(v);
	return HBM_OK;
}

hbm_status hbm_jlist(jreader *r, const jpath *at, const json_t *o, const char *key,
                     const json_t **ret)
{
	*ret = json_object_get(o, key);
	if (*ret && !json_is_array(*ret)) {
		const json_t *v = *ret;
		*ret = NULL;
		return wrong_kind(r, J_MEMBER(at, key), v, "an array");
	}
	return HBM_OK;
}

/* ---- attributes ---------------------------------------------------------- */

static hbm_status attr_value(jreader *r, const jpath *at, const json_t *v,
                             hbm_value *ret)
{
	*ret = (hbm_value){.is_num = !json_is_string(v)};
	if (json_is_string(v))
		return hbm_jto_sym(r, at, v, &ret->str);
	if (!json_is_object(v))
		return hbm_jto_num(r, at, v, &ret->num);
	if (!json_object_get(v, "number"))
		return wrong_kind(r, at, v, "a number, a string or {\"number\": ...}");
	return hbm_jto_num(r, J_MEMBER(at, "number"), json_object_get(v, "number"),
	                   &ret->num);
}

static hbm_status add_attr(jreader *r, const jpath *at, const char *key,
                           const json_t *v, hbm_span *attrs)
{
	bool many = json_is_array(v), flag = json_is_true(v);
	size_t n = many ? json_array_size(v) : !flag;
	hbm_value *values = HBM_ZARRAY(r->a, hbm_value, n);

	HBM_NEED(values);
	for (size_t i = 0; i < n; i++) {
		const jpath *item = many ? J_ITEM(at, i) : at;
		const json_t *x = many ? json_array_get(v, i) : v;
		HBM_TRY(attr_value(r, item, x, &values[i]));
	}
	HBM_NEED(hbm_add_attr(r->p, attrs, hbm_intern_cstr(&r->p->syms, key), values,
	                      (uint32_t)n));
	return HBM_OK;
}

hbm_status hbm_jattrs(jreader *r, const jpath *at, const json_t *o,
                      hbm_attr_object kind, hbm_span *attrs)
{
	const json_t *all = json_object_get(o, "attrs");
	const jpath *path = J_MEMBER(at, "attrs");
	const char *key;
	json_t *v;
	JBUF;

	if (!all)
		return HBM_OK;
	HBM_TRY(hbm_jto_object(r, path, all));
	json_object_foreach((json_t *)(uintptr_t)all, key, v)
	{
		const jpath *member = J_MEMBER(path, key);
		const hbm_attr *last;
		if (attrs->n >= HBM_MAX_ATTRS)
			return JFAIL(r, path, HBM_E_TOO_LARGE,
			             "more than %d attributes", (int)HBM_MAX_ATTRS);
		HBM_TRY(add_attr(r, member, key, v, attrs));
		last = &r->p->attrs.items[r->p->attrs.n - 1];
		if (hbm_attr_check(r->p, NULL, kind, last, HBM_NOWHERE) == HBM_OK)
			continue;
		return hbm_jfailed(
			r, hbm_attr_check(r->p, r->d, kind, last, hbm_jat(r, member)));
	}
	return HBM_OK;
}
#endif
