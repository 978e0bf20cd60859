/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_SYMBOLS_H
#define HBM_IR_SYMBOLS_H

/* Symbolic extents while a program is read: values from outside, and one meaning
 * of a symbol throughout the program. Bounds may stand at any one use of a
 * symbol; its bare uses take them over. */

#include "ir/program.h"

typedef struct hbm_dim_use {
	uint32_t dim; /* in hbm_program.dims */
	hbm_where at;
} hbm_dim_use;

typedef struct hbm_symbols {
	hbm_program *p;
	hbm_diags *diags;
	const hbm_bind *binds;
	uint32_t n_binds;
	bool *bind_used;
	hbm_map bind_of;           /* symbol -> bind index */
	hbm_map stated;            /* symbol -> index in uses of its bounds */
	HBM_VEC(hbm_dim_use) uses; /* where bounds stand */
	HBM_VEC(uint32_t) bare;    /* dims without bounds of their own */
} hbm_symbols;

hbm_status hbm_symbols_init(hbm_symbols *s, hbm_program *p, hbm_diags *d,
                            const hbm_bind *binds, uint32_t n_binds) HBM_MUST_USE;
/* Takes note of the dim added last, whose `sym` is set. Reports a bound value
 * outside its range and bounds that contradict an earlier use. */
hbm_status hbm_symbols_use(hbm_symbols *s, uint32_t dim, hbm_where at) HBM_MUST_USE;
/* Gives bare uses the bounds of their symbol; warns of values that nothing used. */
hbm_status hbm_symbols_finish(hbm_symbols *s) HBM_MUST_USE;

#endif
