/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_LX_EXACT_H
#define HBM_PACK_LX_EXACT_H

/* Proof: which sets of items fit, and which of them saves the most. */

#include "pack/lx_board.h"

/* Problems with more items are left to search. */
enum { LX_EXACT_MAX = 128 };

typedef enum lx_answer { LX_NO, LX_YES, LX_UNKNOWN } lx_answer;

typedef struct lx_fitter {
	const lx_core *c;
	uint32_t *set, n; /* the items in question */
	uint64_t steps;   /* nodes so far */
	uint32_t pins[LX_EXACT_MAX], n_pins;
	int64_t *key, *level, *rest; /* scratch */
} lx_fitter;

hbm_status lx_fitter_init(lx_fitter *f, const lx_core *c) HBM_MUST_USE;
/* Answers for f->set within `steps` nodes. YES: they stand on `board`. */
lx_answer lx_fits(lx_fitter *f, lx_board *board, uint64_t steps);

/* Best choice of items within `steps`, better than base[] or the same; *ret_bound
 * is lowered to what is proven. At most LX_EXACT_MAX items. */
hbm_status lx_prove(lx_core *c, const lx_prices *prices, uint64_t steps,
                    int64_t *base, uint64_t *ret_bound,
                    uint64_t *ret_steps) HBM_MUST_USE;

#endif
