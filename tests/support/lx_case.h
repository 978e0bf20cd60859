/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_LX_CASE_H
#define HBM_TESTS_LX_CASE_H

/* Scratchpad problems written as a line of text:
 *
 *     "20:0,4 15:4,8<0"    buffer 0: 20 bytes, uses 0 and 4; buffer 1: 15 bytes,
 *                          uses 4 and 8, may take the bytes of buffer 0
 *     "i10:0,4"            the first use is a read (an input)
 *     "x40:0,1"            barred
 *     "8:0,1@64"           required address 64
 *     "8:0,1#3"            member of group 3 */

#include "pack/lx.h"

typedef struct lx_case {
	hbm_arena arena;
	hbm_diags diags;
	hbm_lx_problem p;
} lx_case;

/* Aborts on text that is not of that form. */
void lx_case_init(lx_case *c, const char *text, uint64_t capacity, uint64_t align);
void lx_case_fini(lx_case *c);
/* The layout as text: "0,-,128". */
const char *lx_case_text(lx_case *c, const hbm_lx_layout *layout);

#endif
