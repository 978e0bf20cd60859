/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_JSON_IN_H
#define HBM_IMPORT_JSON_IN_H

/* What the files of the JSON importer share (json*.c). */

#include "import/json_place.h"
#include "ir/attrs.h"
#include "ir/symbols.h"

#include <jansson.h>

typedef hbm_json_path jpath;

typedef struct jreader {
	hbm_arena *a;
	hbm_diags *d;
	const char *file, *text;
	hbm_program *p;
	hbm_symbols symbols;
	hbm_json_places places;
	hbm_node_id open[HBM_MAX_DEPTH];
	uint32_t n_open;
	hbm_status status; /* of the first error */
	uint32_t n_errors;
} jreader;

/* Every function that meets an error reports it, notes the status and returns it;
 * readers of lists go on with the next item unless it is HBM_NOMEM. */

hbm_status hbm_jfailed(jreader *r, hbm_status status);
bool hbm_jfull(const jreader *r);
hbm_where hbm_jat(const jreader *r, const jpath *path);

#define JFAIL(r, path, code, fmt, ...)                                                \
	hbm_jfailed((r), hbm_fail((r)->d, HBM_SEMANTIC, (code), hbm_jat((r), (path)), \
	                          "%s: " fmt, hbm_json_path_text((path), jbuf_),      \
	                          __VA_ARGS__))
/* JFAIL needs it in its block. */
#define JBUF char jbuf_[HBM_JSON_PATH_TEXT]

#define J_MEMBER(path, name) (&(const jpath){(path), (name), 0})
#define J_ITEM(path, i)      (&(const jpath){(path), NULL, (i)})

/* Reports members that are none of the n keys. */
hbm_status hbm_jkeys(jreader *r, const jpath *at, const json_t *o,
                     const char *const *keys, uint32_t n) HBM_MUST_USE;
/* Members that may be missing: then *ret stays as it is. */
hbm_status hbm_jnum(jreader *r, const jpath *at, const json_t *o, const char *key,
                    uint64_t *ret) HBM_MUST_USE;
hbm_status hbm_ju32(jreader *r, const jpath *at, const json_t *o, const char *key,
                    uint32_t *ret) HBM_MUST_USE;
hbm_status hbm_jsym(jreader *r, const jpath *at, const json_t *o, const char *key,
                    hbm_sym *ret) HBM_MUST_USE;
hbm_status hbm_jbool(jreader *r, const jpath *at, const json_t *o, const char *key,
                     bool *ret) HBM_MUST_USE;
/* An array, NULL when missing. */
hbm_status hbm_jlist(jreader *r, const jpath *at, const json_t *o, const char *key,
                     const json_t **ret) HBM_MUST_USE;
/* The value itself must be a number, string, object. */
hbm_status hbm_jto_num(jreader *r, const jpath *at, const json_t *v,
                       uint64_t *ret) HBM_MUST_USE;
hbm_status hbm_jto_sym(jreader *r, const jpath *at, const json_t *v,
                       hbm_sym *ret) HBM_MUST_USE;
hbm_status hbm_jto_object(jreader *r, const jpath *at, const json_t *v) HBM_MUST_USE;
/* The tensor with that name; unknown ones are reported. */
hbm_status hbm_jto_tensor(jreader *r, const jpath *at, const json_t *v,
                          hbm_tensor_id *ret) HBM_MUST_USE;
/* One of n words. */
hbm_status hbm_jto_word(jreader *r, const jpath *at, const json_t *v, const char *what,
                        const char *const *words, uint32_t n,
                        uint32_t *ret) HBM_MUST_USE;
hbm_status hbm_jattrs(jreader *r, const jpath *at, const json_t *o,
                      hbm_attr_object kind, hbm_span *attrs) HBM_MUST_USE;

/* The tensors, without bases and homes; then these, when all names are known. */
hbm_status hbm_jtensors(jreader *r, const jpath *at, const json_t *root) HBM_MUST_USE;
hbm_status hbm_jbases(jreader *r, const jpath *at, const json_t *root) HBM_MUST_USE;
hbm_status hbm_jhomes(jreader *r, const jpath *at, const json_t *root) HBM_MUST_USE;
hbm_status hbm_jbody(jreader *r, const jpath *at, const json_t *o) HBM_MUST_USE;
hbm_status hbm_jreductions(jreader *r, const jpath *at,
                           const json_t *root) HBM_MUST_USE;

#endif
