/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_HLO_LEX_H
#define HBM_IMPORT_HLO_LEX_H

/* Reading HLO text byte by byte. Every function looks at each byte a bounded
 * number of times; a NUL stands behind the last byte. */

#include "import/hlo.h"

typedef struct hlo_reader {
	hlo_module *m;
	const char *p, *end, *text;
} hlo_reader;

bool hlo_is_name(char c);
/* Blanks, // and comments. */
void hlo_skip_ws(hlo_reader *r);
/* Takes one byte if it comes next (after blanks). */
bool hlo_accept(hlo_reader *r, char c);
hbm_status hlo_expect(hlo_reader *r, char c, const char *where) HBM_MUST_USE;
/* Takes a name, without a leading '%'; n 0: none comes next. */
hlo_slice hlo_take_name(hlo_reader *r);
bool hlo_is_word(hlo_slice w, const char *text);
hbm_status hlo_take_number(hlo_reader *r, uint64_t *ret) HBM_MUST_USE;
/* A quoted string, without its quotes, escapes left in. */
hbm_status hlo_take_string(hlo_reader *r, hlo_slice *ret) HBM_MUST_USE;
/* Text up to the close of the bracket that was just taken, which is taken too. */
hbm_status hlo_take_balanced(hlo_reader *r, char close, hlo_slice *ret) HBM_MUST_USE;
/* An attribute's value: up to a comma, blank or closing bracket outside brackets
 * and strings. */
hbm_status hlo_take_value(hlo_reader *r, hlo_slice *ret) HBM_MUST_USE;
/* A reader of a part of the text. */
hlo_reader hlo_within(const hlo_reader *r, hlo_slice part);
uint32_t hlo_pos(const hlo_reader *r);
hbm_status hlo_syntax(const hlo_reader *r, uint32_t pos, const char *fmt, ...)
	HBM_PRINTF(3, 4);

/* A shape; its leaves are listed. */
hbm_status hlo_take_shape(hlo_reader *r, uint32_t *ret_node,
                          hbm_span *ret_leaves) HBM_MUST_USE;
/* "{1,0}" -> numbers. */
hbm_status hlo_take_path(hlo_reader *r, hbm_span *ret) HBM_MUST_USE;
/* One instruction of a computation that is open. */
hbm_status hlo_take_instr(hlo_reader *r, bool *ret_root) HBM_MUST_USE;
/* "{ {0}: (1, {}, kind), ... }": outputs that are inputs. With `pairs` false the
 * list of donors: "{ (1, {}), ... }". */
hbm_status hlo_take_aliases(hlo_reader *r, hlo_slice value, bool pairs,
                            hbm_span *ret) HBM_MUST_USE;

#endif
