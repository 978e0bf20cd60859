/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of the JSON form. Bases and homes name things that may stand further
 * down, so they are read after all names are known. */
#include "import/importer.h"

#if HBM_HAVE_JANSSON
#include "import/json_in.h"

#include <inttypes.h>

/* ---- extents ------------------------------------------------------------- */

static hbm_status read_dim_object(jreader *r, const jpath *at, const json_t *v,
                                  hbm_dim *d)
{
	static const char *const keys[] = {"symbol", "value", "min",
	                                   "max",    "hint",  "nosplit"};
	bool value = json_object_get(v, "value") != NULL;
	JBUF;

	HBM_TRY(hbm_jkeys(r, at, v, keys, 6));
	HBM_TRY(hbm_jsym(r, at, v, "symbol", &d->sym));
	HBM_TRY(hbm_jnum(r, at, v, "min", &d->min));
	HBM_TRY(hbm_jnum(r, at, v, "hint", &d->hint));
	HBM_TRY(hbm_jbool(r, at, v, "nosplit", &d->nosplit));
	d->unknown = !value && !json_object_get(v, "max");
	HBM_TRY(hbm_jnum(r, at, v, value ? "value" : "max", &d->value));
	if (value)
		d->min = d->value;
	if (d->unknown || d->min <= d->value)
		return HBM_OK;
	return JFAIL(r, at, HBM_E_BOUND,
	             "lower bound %" PRIu64 " is above upper bound %" PRIu64, d->min,
	             d->value);
}

static hbm_status read_dim(jreader *r, const jpath *at, const json_t *v, hbm_span *span)
{
	const hbm_tensor *t = &r->p->tensors.items[r->p->tensors.n - 1];
	hbm_dim d = {0};
	hbm_status st;

	if (json_is_object(v)) {
		HBM_TRY(read_dim_object(r, at, v, &d));
	} else {
		HBM_TRY(hbm_jto_num(r, at, v, &d.value));
		d.min = d.value;
	}
	HBM_NEED(hbm_add_dim(r->p, span, d));
	if (!d.sym)
		return HBM_OK;
	st = hbm_symbols_use(&r->symbols, r->p->dims.n - 1,
	                     hbm_at(r->p, t->line, t->col, 0));
	return st == HBM_OK ? st : hbm_jfailed(r, st);
}

static hbm_status read_dims(jreader *r, const jpath *at, const json_t *o,
                            const char *key, hbm_span *span)
{
	const jpath *path = J_MEMBER(at, key);
	const json_t *list;
	size_t n;
	JBUF;

	HBM_TRY(hbm_jlist(r, at, o, key, &list));
	n = list ? json_array_size(list) : 0;
	if (n > HBM_MAX_RANK)
		return JFAIL(r, path, HBM_E_TOO_LARGE, "%zu extents; the limit is %d",
		             n, (int)HBM_MAX_RANK);
	for (size_t i = 0; i < n; i++)
		HBM_TRY(read_dim(r, J_ITEM(path, i), json_array_get(list, i), span));
	return HBM_OK;
}

/* ---- words --------------------------------------------------------------- */

static hbm_status read_flags(jreader *r, const jpath *at, const json_t *o,
                             uint32_t *flags)
{
	const char *words[HBM_N_FLAG_WORDS];
	const jpath *path = J_MEMBER(at, "flags");
	const json_t *list;

	for (uint32_t i = 0; i < HBM_N_FLAG_WORDS; i++)
		words[i] = hbm_flag_words[i].word;
	HBM_TRY(hbm_jlist(r, at, o, "flags", &list));
	for (size_t i = 0; list && i < json_array_size(list); i++) {
		uint32_t k = 0;
		HBM_TRY(hbm_jto_word(r, J_ITEM(path, i), json_array_get(list, i),
		                     "flag", words, HBM_N_FLAG_WORDS, &k));
		*flags |= hbm_flag_words[k].flag;
	}
	return HBM_OK;
}

static hbm_status read_dtype(jreader *r, const jpath *at, const json_t *o,
                             hbm_dtype *ret)
{
	static const char *const names[] = {
#define X(name, bits) #name,
		HBM_DTYPE_MAP(X)
#undef X
	};
	const json_t *v = json_object_get(o, "dtype");
	uint32_t i = 0;

	if (!v)
		return HBM_OK;
	HBM_TRY(hbm_jto_word(r, J_MEMBER(at, "dtype"), v, "dtype", names, HBM_N_DTYPES,
	                     &i));
	*ret = (hbm_dtype)i;
	return HBM_OK;
}

static hbm_status read_home_kind(jreader *r, const jpath *at, const json_t *o,
                                 const char *key, hbm_home_kind *ret)
{
	static const char *const words[] = {"none", "lx", "pool", "hbm", "io"};
	const json_t *v = json_object_get(o, key);
	uint32_t i = 0;

	if (!v)
		return HBM_OK;
	HBM_TRY(hbm_jto_word(r, J_MEMBER(at, key), v, "home", words, 5, &i));
	*ret = (hbm_home_kind)i;
	return HBM_OK;
}

/* ---- one tensor ---------------------------------------------------------- */

static hbm_status read_tensor(jreader *r, const jpath *at, const json_t *o)
{
	static const char *const keys[] = {
		"name",   "base",   "offset",     "flags",       "dtype",
		"shape",  "device", "size_bytes", "align_bytes", "pin",
		"demand", "src",    "owner",      "attrs",       "home"};
	hbm_tensor t = {0};
	hbm_tensor_id id;
	hbm_sym name = 0;
	uint32_t i = r->p->tensors.n;
	JBUF;

	HBM_TRY(hbm_jto_object(r, at, o));
	HBM_TRY(hbm_jkeys(r, at, o, keys, sizeof keys / sizeof *keys));
	HBM_TRY(hbm_jsym(r, at, o, "name", &name));
	if (!name)
		return JFAIL(r, at, HBM_E_JSON, "the tensor has no '%s'", "name");
	id = hbm_add_tensor(r->p, name);
	HBM_NEED(id != HBM_NONE);
	if (i < r->places.tensors.n) {
		r->p->tensors.items[id].line = r->places.tensors.items[i].line;
		r->p->tensors.items[id].col = r->places.tensors.items[i].col;
	}
	t = r->p->tensors.items[id];
	HBM_TRY(hbm_jnum(r, at, o, "offset", &t.offset));
	HBM_TRY(read_flags(r, at, o, &t.flags));
	HBM_TRY(read_dtype(r, at, o, &t.dtype));
	HBM_TRY(read_dims(r, at, o, "shape", &t.dims));
	HBM_TRY(read_dims(r, at, o, "device", &t.device));
	HBM_TRY(hbm_jnum(r, at, o, "size_bytes", &t.size));
	if (json_object_get(o, "size_bytes"))
		t.flags |= HBM_T_SIZED;
	HBM_TRY(hbm_jnum(r, at, o, "align_bytes", &t.align));
	HBM_TRY(hbm_jnum(r, at, o, "pin", &t.pin));
	HBM_TRY(read_home_kind(r, at, o, "demand", &t.demand));
	HBM_TRY(hbm_jsym(r, at, o, "src", &t.src));
	HBM_TRY(hbm_jsym(r, at, o, "owner", &t.owner));
	HBM_TRY(hbm_jattrs(r, at, o, HBM_ATTR_TENSOR, &t.attrs));
	r->p->tensors.items[id] = t;
	return HBM_OK;
}

hbm_status hbm_jtensors(jreader *r, const jpath *at, const json_t *root)
{
	const jpath *path = J_MEMBER(at, "tensors");
	const json_t *list;

	HBM_TRY(hbm_jlist(r, at, root, "tensors", &list));
	for (size_t i = 0; list && i < json_array_size(list) && !hbm_jfull(r); i++)
		if (read_tensor(r, J_ITEM(path, i), json_array_get(list, i)) ==
		    HBM_NOMEM)
			return HBM_NOMEM;
	return HBM_OK;
}

/* ---- names of other things ----------------------------------------------- */

hbm_status hbm_jbases(jreader *r, const jpath *at, const json_t *root)
{
	const jpath *path = J_MEMBER(at, "tensors");
	const json_t *list = json_object_get(root, "tensors");

	for (uint32_t i = 0; i < r->p->tensors.n && !hbm_jfull(r); i++) {
		const json_t *v = json_object_get(json_array_get(list, i), "base");
		const jpath *item = J_ITEM(path, i);
		if (v && hbm_jto_tensor(r, J_MEMBER(item, "base"), v,
		                        &r->p->tensors.items[i].base) == HBM_NOMEM)
			return HBM_NOMEM;
	}
	return HBM_OK;
}

static hbm_status map_bundles(const hbm_program *p, hbm_map *ret)
{
	hbm_map_init(ret, p->arena);
	for (uint32_t i = 0; i < p->nodes.n; i++) {
		const hbm_node *n = &p->nodes.items[i];
		if (n->kind == HBM_NODE_BUNDLE && hbm_map_get(ret, n->name) == HBM_NONE)
			HBM_NEED(hbm_map_set(ret, n->name, i));
	}
	return HBM_OK;
}

static hbm_status read_home(jreader *r, const jpath *at, const json_t *o,
                            const hbm_map *bundles, hbm_home *h)
{
	static const char *const keys[] = {"kind", "with", "bundle", "offset",
	                                   "size_bytes"};
	const json_t *with = json_object_get(o, "with");
	hbm_sym bundle = HBM_NONE;
	hbm_tensor_id other;
	JBUF;

	HBM_TRY(hbm_jto_object(r, at, o));
	HBM_TRY(hbm_jkeys(r, at, o, keys, 5));
	if (with) {
		HBM_TRY(hbm_jto_tensor(r, J_MEMBER(at, "with"), with, &other));
		h->with = other + 1;
	}
	HBM_TRY(read_home_kind(r, at, o, "kind", &h->kind));
	HBM_TRY(hbm_jnum(r, at, o, "offset", &h->offset));
	HBM_TRY(hbm_jnum(r, at, o, "size_bytes", &h->size));
	HBM_TRY(hbm_jsym(r, at, o, "bundle", &bundle));
	if (bundle == HBM_NONE)
		return HBM_OK;
	h->bundle = hbm_map_get(bundles, bundle);
	if (h->bundle != HBM_NONE)
		return HBM_OK;
	return JFAIL(r, J_MEMBER(at, "bundle"), HBM_E_UNKNOWN_NAME,
	             "unknown bundle '%.40s'", hbm_str_of(r->p, bundle));
}

hbm_status hbm_jhomes(jreader *r, const jpath *at, const json_t *root)
{
	const jpath *path = J_MEMBER(at, "tensors");
	const json_t *list = json_object_get(root, "tensors");
	hbm_map bundles;

	HBM_TRY(map_bundles(r->p, &bundles));
	for (uint32_t i = 0; i < r->p->tensors.n && !hbm_jfull(r); i++) {
		const json_t *v = json_object_get(json_array_get(list, i), "home");
		const jpath *item = J_ITEM(path, i);
		if (v && read_home(r, J_MEMBER(item, "home"), v, &bundles,
		                   &r->p->tensors.items[i].home) == HBM_NOMEM)
			return HBM_NOMEM;
	}
	return HBM_OK;
}
#endif
