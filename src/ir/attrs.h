/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_ATTRS_H
#define HBM_IR_ATTRS_H

/* Attributes that objects may carry besides their fields; rows of attrs.def. */

#include "ir/program.h"

typedef enum hbm_attr_object {
	HBM_ATTR_TENSOR,
	HBM_ATTR_OP,
	HBM_ATTR_BUNDLE,
	HBM_ATTR_LOOP,
	HBM_ATTR_REGION,
	HBM_ATTR_PARALLEL,
} hbm_attr_object;

typedef enum hbm_attr_kind {
	HBM_ATTR_FLAG, /* no value */
	HBM_ATTR_NUM,
	HBM_ATTR_STR,
	HBM_ATTR_NUMS, /* one or more */
	HBM_ATTR_STRS,
} hbm_attr_kind;

typedef struct hbm_attr_row {
	hbm_attr_object object;
	const char *key;
	hbm_attr_kind kind;
	const char *meaning;
} hbm_attr_row;

enum { HBM_MAX_ATTRS = 64 }; /* on one object */

const hbm_attr_row *hbm_attr_rows(uint32_t *ret_n);
const char *hbm_attr_object_name(hbm_attr_object o);
hbm_attr_object hbm_attr_object_of(hbm_node_kind k);
/* Checks key and values of one attribute; what is wrong is reported at `at`. */
hbm_status hbm_attr_check(const hbm_program *p, hbm_diags *d, hbm_attr_object o,
                          const hbm_attr *attr, hbm_where at) HBM_MUST_USE;

#endif
