/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_SUPPORT_IR_H
#define HBM_TESTS_SUPPORT_IR_H

/* Programs from text and back, for tests. */

#include "ir/text.h"

/* Reads (without validating); the caller checks the status. */
hbm_status ir_read(hbm_arena *a, hbm_diags *d, const char *text, hbm_program *ret);
/* Text of a program; NULL: out of memory. */
char *ir_print(hbm_arena *a, const hbm_program *p);
/* The same as JSON. */
char *ir_print_json(hbm_arena *a, const hbm_program *p);
/* All messages: "3:7: error: text [HBM0201]", notes "3:7: note: text", without a
 * place "-" for it; below each, when `source`, its line and what is underlined. */
char *ir_messages(hbm_arena *a, const hbm_diags *d, bool source);
/* NULL when both programs are the same field by field (but for places in files),
 * else words for what differs. */
const char *ir_difference(const hbm_program *a, const hbm_program *b);

#endif
