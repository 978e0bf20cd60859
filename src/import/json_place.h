/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_JSON_PLACE_H
#define HBM_IMPORT_JSON_PLACE_H

/* Where values stand in a JSON text, which the library that reads it does not
 * tell. The text is known to be well formed. */

#include "base/diag.h"

/* The way from the root to a value: members by key, items by index. */
typedef struct hbm_json_path {
	const struct hbm_json_path *up; /* NULL: this is the root */
	const char *key;                /* NULL: an item */
	size_t index;
} hbm_json_path;

typedef struct hbm_json_place {
	uint32_t line, col;
} hbm_json_place;

typedef struct hbm_json_places {
	HBM_VEC(hbm_json_place) tensors; /* items of the root's "tensors" */
	HBM_VEC(hbm_json_place) nodes;   /* items of any "body", in pre-order */
} hbm_json_places;

/* One walk over the text. Nesting beyond what the program may have is skipped. */
hbm_status hbm_json_find_places(hbm_arena *a, const char *text, size_t n,
                                hbm_json_places *ret) HBM_MUST_USE;
/* Where the value at the end of the path stands: a walk over the text before it,
 * so only for messages. */
hbm_where hbm_json_where(const char *file, const char *text, const hbm_json_path *path);
enum { HBM_JSON_PATH_TEXT = 256 };
/* The path in words: $.tensors[3].dtype; returns buf. */
const char *hbm_json_path_text(const hbm_json_path *path, char buf[HBM_JSON_PATH_TEXT]);

#endif
