/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/attrs.h"

#include <string.h>

static const hbm_attr_row rows[] = {
#define ATTR(object, key, kind, meaning) \
	{HBM_ATTR_##object, key, HBM_ATTR_##kind, meaning},
#include "ir/attrs.def"
#undef ATTR
};

enum { N_ROWS = sizeof rows / sizeof *rows };

const hbm_attr_row *hbm_attr_rows(uint32_t *ret_n)
{
	*ret_n = N_ROWS;
	return rows;
}

const char *hbm_attr_object_name(hbm_attr_object o)
{
	static const char *const names[] = {"tensor", "op",     "bundle",
	                                    "loop",   "region", "parallel"};

	return names[o];
}

hbm_attr_object hbm_attr_object_of(hbm_node_kind k)
{
	switch (k) {
	case HBM_NODE_BUNDLE:
		return HBM_ATTR_BUNDLE;
	case HBM_NODE_LOOP:
		return HBM_ATTR_LOOP;
	case HBM_NODE_REGION:
		return HBM_ATTR_REGION;
	case HBM_NODE_PARALLEL:
		return HBM_ATTR_PARALLEL;
	case HBM_NODE_OP:
		break;
	}
	return HBM_ATTR_OP;
}

static const hbm_attr_row *find_row(hbm_attr_object o, const char *key)
{
	for (uint32_t i = 0; i < N_ROWS; i++)
		if (rows[i].object == o && !strcmp(rows[i].key, key))
			return &rows[i];
	return NULL;
}

/* NULL: nothing near. */
static const char *nearest(hbm_attr_object o, const char *key)
{
	const char *best = NULL;
	uint32_t limit = 2;

	for (uint32_t i = 0; i < N_ROWS; i++) {
		uint32_t d = rows[i].object == o
		                     ? hbm_edit_distance(key, rows[i].key, limit)
		                     : limit + 1;
		if (d > limit)
			continue;
		best = rows[i].key;
		limit = d ? d - 1 : 0;
	}
	return best;
}

static hbm_status unknown(hbm_diags *d, hbm_attr_object o, const char *key,
                          hbm_where at)
{
	const char *near = nearest(o, key);
	hbm_status st = hbm_fail(
		d, HBM_SEMANTIC, HBM_E_ATTRIBUTE, at, "no attribute '%s' of %s %s", key,
		o == HBM_ATTR_OP ? "an" : "a", hbm_attr_object_name(o));

	if (near)
		hbm_note(d, at, "did you mean '%s'?", near);
	return st;
}

static bool values_are(const hbm_program *p, const hbm_attr *attr, bool num)
{
	for (uint32_t i = 0; i < attr->n; i++)
		if (p->values.items[attr->first + i].is_num != num)
			return false;
	return true;
}

hbm_status hbm_attr_check(const hbm_program *p, hbm_diags *d, hbm_attr_object o,
                          const hbm_attr *attr, hbm_where at)
{
	static const char *const wants[] = {
		"takes no value", "takes one number", "takes one string",
		"takes numbers",  "takes strings",
	};
	const char *key = hbm_str_of(p, attr->key);
	const hbm_attr_row *row = find_row(o, key);
	bool ok;

	if (strchr(key, '.') && key[0] != '.')
		return HBM_OK;
	if (!row)
		return unknown(d, o, key, at);
	switch (row->kind) {
	case HBM_ATTR_FLAG:
		ok = attr->n == 0;
		break;
	case HBM_ATTR_NUM:
	case HBM_ATTR_STR:
		ok = attr->n == 1 && values_are(p, attr, row->kind == HBM_ATTR_NUM);
		break;
	default:
		ok = attr->n >= 1 && values_are(p, attr, row->kind == HBM_ATTR_NUMS);
	}
	if (ok)
		return HBM_OK;
	return hbm_fail(d, HBM_SEMANTIC, HBM_E_ATTRIBUTE, at, "attribute '%s' %s", key,
	                wants[row->kind]);
}
