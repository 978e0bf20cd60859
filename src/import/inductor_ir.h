/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_INDUCTOR_IR_H
#define HBM_IMPORT_INDUCTOR_IR_H

/* Shared by the two files that read ir_*.txt: lines (inductor_ir.c) and the
 * bracketed values in them (inductor_list.c). */

#include "import/inductor.h"

typedef struct hbm_ind_reader {
	hbm_ind_dump *dump;
	const hbm_ind_text *t;
	hbm_ind_graph *g;
	hbm_ind_scan scan;
	hbm_ind_line line;
	uint32_t open[HBM_MAX_DEPTH]; /* nodes, outermost first */
	uint32_t depth;
	bool child; /* the next header belongs to open[depth - 1] */
	bool in_outputs;
	hbm_sym buf; /* the buffer whose fields follow */
	bool in_block;
	size_t block_indent;
	uint32_t n_unknown; /* lines left out, and the first of them */
	hbm_ind_at unknown;
	bool stop; /* nothing behind this place can be trusted */
} hbm_ind_reader;

/* A place on the line that is read. */
static inline hbm_ind_at hbm_ind_here(const hbm_ind_reader *r, size_t pos)
{
	return (hbm_ind_at){r->t, pos, r->line.no};
}

/* Each reads the list whose '[' stands at `pos` or first on the next line, and
 * goes on behind it. A list that is none was reported; then *ret is empty. */
hbm_status hbm_ind_read_names(hbm_ind_reader *r, size_t pos,
                              hbm_span *ret) HBM_MUST_USE;
hbm_status hbm_ind_read_deps(hbm_ind_reader *r, size_t pos, hbm_span *ret) HBM_MUST_USE;
hbm_status hbm_ind_read_users(hbm_ind_reader *r, size_t pos,
                              hbm_ind_buf *buf) HBM_MUST_USE;

#endif
