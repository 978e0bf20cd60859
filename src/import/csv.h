/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_CSV_H
#define HBM_IMPORT_CSV_H

/* Rows and fields of a table, after RFC 4180 with some kindness: blank lines and
 * comments are skipped, blanks around fields dropped, any line end is read. */

#include "import/importer.h"

enum { HBM_CSV_SHOWN = 40 }; /* bytes of a field that a message shows */

typedef struct hbm_csv_field {
	const char *s;
	size_t n;
	const char *at; /* in the input, for the column number */
	const char *line_start;
	uint32_t line;
} hbm_csv_field;

typedef struct hbm_csv {
	hbm_arena *a;
	hbm_diags *d;
	const char *path;
	const char *p, *end, *line_start;
	uint32_t line;
	bool failed; /* an error was listed */
} hbm_csv;

/* Lists an error at a field. */
#define HBM_CSV_FAIL(c, f, code, ...)                                          \
	((c)->failed = true, (void)hbm_fail((c)->d, HBM_SEMANTIC, (code),      \
	                                    hbm_csv_where((c), (f)), __VA_ARGS__))

void hbm_csv_open(hbm_csv *c, hbm_arena *a, const hbm_source *src, hbm_diags *d);
/* Goes to the next line that holds a row; false: no more. */
bool hbm_csv_next_row(hbm_csv *c);
/* All fields of that row, at most `max` kept. *ret_n counts all of them. */
hbm_status hbm_csv_row(hbm_csv *c, hbm_csv_field *fields, uint32_t max,
                       uint32_t *ret_n) HBM_MUST_USE;
hbm_where hbm_csv_where(const hbm_csv *c, const hbm_csv_field *f);
/* How much of a field a message shows. */
int hbm_csv_shown(const hbm_csv_field *f);
bool hbm_csv_is_blank(char c);

#endif
