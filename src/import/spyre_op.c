/* SPDX-License-Identifier: Apache-2.0 */
/* spyre_op: sdsc_N.json, the descriptor of one op. Read are the op's name, its
 * cores, and for each operand where it lives, at which address per core, and how
 * many bytes it has: per dimension the positions of one core times its folds. */
#include "import/spyre.h"

#include "base/ckd.h"

#if HBM_HAVE_JANSSON
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
	hbm_arena *a;
	hbm_diags *d;
	const char *path;
	hbm_spyre_op *op;
	const json_t *dsc;
} reader;

static hbm_status bad(const reader *r, const char *what)
{
	return hbm_fail(r->d, HBM_SEMANTIC, HBM_E_BUNDLE, (hbm_where){.file = r->path},
	                "%s", what);
}

static uint64_t number(const json_t *v, uint64_t other)
{
	return json_is_integer(v) && json_integer_value(v) >= 0
		? (uint64_t)json_integer_value(v) : other;
}

static const json_t *first_of(const json_t *object)
{
	void *it = json_object_iter((json_t *)object);

	return it ? json_object_iter_value(it) : NULL;
}

/* The labelled data structure with this number. */
static const json_t *label_of(const reader *r, uint64_t index)
{
	const json_t *list = json_object_get(r->dsc, "labeledDs_");

	for (size_t k = 0; k < json_array_size(list); k++) {
		const json_t *x = json_array_get(list, k);
		if (number(json_object_get(x, "ldsIdx_"), UINT64_MAX) == index)
			return x;
	}
	return NULL;
}

/* Does a list of "Tensor0-idx0" name the data structure? */
static bool listed(const reader *r, const char *key, uint64_t index)
{
	const json_t *ops = json_object_get(r->dsc, "computeOp_");

	for (size_t k = 0; k < json_array_size(ops); k++) {
		const json_t *list = json_object_get(json_array_get(ops, k), key);
		for (size_t i = 0; i < json_array_size(list); i++) {
			const char *s = json_string_value(json_array_get(list, i));
			const char *at = s ? strstr(s, "-idx") : NULL;
			if (at && strtoull(at + 4, NULL, 10) == index)
				return true;
		}
	}
	return false;
}

static bool read_address(const char *s, int64_t *ret)
{
	char *end;

	*ret = strtoll(s, &end, 10);
	return end != s && !*end;
}

/* Addresses by core; "[core, corelet, time]" are the keys, in order. */
static hbm_status read_addresses(const reader *r, const json_t *node,
                                 hbm_spyre_operand *o)
{
	const json_t *data = json_object_get(
		json_object_get(node, "startAddressCoreCorelet_"), "data_");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)data, key, v) {
		int64_t at;
		if (!json_is_string(v) || !read_address(json_string_value(v), &at))
			return bad(r, "an operand's address is no number");
		HBM_NEED(HBM_PUSH(r->a, &o->at, at));
	}
	return o->at.n ? HBM_OK : bad(r, "an operand has no address");
}

/* Positions of one core and of all along a dimension. */
static void positions(const json_t *dim, uint64_t *ret_core, uint64_t *ret_all)
{
	const json_t *folds = json_object_get(dim, "folds");
	const json_t *func = json_array_get(json_object_get(folds, "dim_prop_func"), 0);
	const json_t *attr = json_array_get(json_object_get(folds, "dim_prop_attr"), 0);
	uint64_t core = number(json_object_get(json_object_get(func, "Affine"), "alpha_"), 0);
	uint64_t folded = number(json_object_get(attr, "factor_"), 1);

	*ret_core = core ? core : 1;
	*ret_all = hbm_mul_sat(*ret_core, core && folded ? folded : 1);
}

static void read_bytes(const json_t *node, uint64_t word, hbm_spyre_operand *o)
{
	const json_t *dims = json_object_get(json_object_get(node, "coordinates_"),
	                                     "coordInfo");
	const char *key;
	json_t *dim;

	o->bytes = o->core_bytes = json_object_size(dims) ? word : 0;
	json_object_foreach((json_t *)dims, key, dim) {
		uint64_t core, all;
		positions(dim, &core, &all);
		o->core_bytes = hbm_mul_sat(o->core_bytes, core);
		o->bytes = hbm_mul_sat(o->bytes, all);
	}
}

static hbm_status read_operand(reader *r, const json_t *node)
{
	const char *space = json_string_value(json_object_get(node, "component_"));
	uint64_t index = number(json_object_get(node, "ldsIdx_"), UINT64_MAX);
	const json_t *label = label_of(r, index);
	hbm_spyre_operand o = {.lx = space && !strcmp(space, "lx")};

	if (!label)
		return bad(r, "an allocation belongs to no operand");
	o.read = listed(r, "inputLabeledDs", index);
	o.write = listed(r, "outputLabeledDs", index);
	read_bytes(node, number(json_object_get(label, "wordLength"), 1), &o);
	HBM_TRY(read_addresses(r, node, &o));
	HBM_NEED(HBM_PUSH(r->a, &r->op->operands, o));
	return HBM_OK;
}

static hbm_status read_dsc(reader *r, const json_t *holder)
{
	const json_t *tree;

	r->dsc = first_of(holder);
	tree = json_object_get(r->dsc, "scheduleTree_");
	for (size_t k = 0; k < json_array_size(tree); k++) {
		const json_t *node = json_array_get(tree, k);
		const char *kind = json_string_value(json_object_get(node, "nodeType_"));
		if (kind && !strcmp(kind, "allocate"))
			HBM_TRY(read_operand(r, node));
	}
	return HBM_OK;
}

static hbm_status read_all(reader *r, const json_t *root)
{
	const json_t *body = first_of(root);
	const json_t *list = json_object_get(body, "dscs_");
	void *it = json_object_iter((json_t *)root);
	const json_t *cores = json_object_get(body, "numCoresUsed_");
	uint64_t n = number(cores, cores ? 0 : 1);

	if (!it || !json_array_size(list))
		return bad(r, "this is no op descriptor: it has no dscs_");
	r->op->name = hbm_arena_strndup(r->a, json_object_iter_key(it),
	                                strlen(json_object_iter_key(it)));
	HBM_NEED(r->op->name);
	if (!n || n > HBM_SPYRE_MAX_CORES)
		return bad(r, "numCoresUsed_ is not between 1 and 65536");
	r->op->cores = (uint32_t)n;
	for (size_t k = 0; k < json_array_size(list); k++)
		HBM_TRY(read_dsc(r, json_array_get(list, k)));
	return HBM_OK;
}

hbm_status hbm_spyre_read_op(hbm_arena *a, hbm_diags *d, const char *path,
                             hbm_bytes bytes, hbm_spyre_op *ret)
{
	reader r = {.a = a, .d = d, .path = path, .op = ret};
	json_error_t error;
	json_t *root = json_loadb(bytes.data, bytes.n, 0, &error);
	hbm_status status;

	*ret = (hbm_spyre_op){0};
	if (!root && (json_error_code(&error) == json_error_out_of_memory || error.line < 0))
		return HBM_NOMEM;
	if (!root)
		return hbm_fail(d, HBM_SYNTAX, HBM_E_JSON,
		                (hbm_where){.file = path, .line = (uint32_t)error.line,
		                            .col = (uint32_t)error.column},
		                "%s", error.text);
	status = read_all(&r, root);
	json_decref(root);
	return status;
}

#else

hbm_status hbm_spyre_read_op(hbm_arena *a, hbm_diags *d, const char *path,
                             hbm_bytes bytes, hbm_spyre_op *ret)
{
	(void)a;
	(void)bytes;
	*ret = (hbm_spyre_op){0};
	return hbm_fail(d, HBM_UNSUPPORTED, HBM_E_JSON, (hbm_where){.file = path},
	                "this build lacks jansson, which reads JSON");
}

#endif
