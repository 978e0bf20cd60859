/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_LX_INTERNAL_H
#define HBM_PACK_LX_INTERNAL_H

/* What the scratchpad solvers share: the problem with lives, values and the
 * right to be placed worked out, and an index over lives. */

#include "pack/lx.h"
#include "base/vec.h"

typedef struct lx_view {
	const hbm_lx_problem *p;
	hbm_arena *mem; /* scratch of this solve */
	uint32_t n;
	uint32_t *start, *end;
	uint64_t *value;
	bool *ok;       /* may be placed */
	uint32_t *child_first, *children; /* the parent edges, turned round */
	uint32_t *grouped; /* buffers sorted by group, then index; those without a
	                    * group come last */
	uint32_t *group_at; /* buffer -> place in `grouped` of its group's first */
	const hbm_lx_opts *opts;
} lx_view;

/* One block of the scratchpad. */
typedef struct lx_span {
	uint64_t lo, hi;
	uint32_t who;
} lx_span;

typedef HBM_VEC(lx_span) lx_spans;
typedef HBM_VEC(uint32_t) lx_ids;

/* Result of one solver; `address` has n items. */
typedef struct lx_result {
	uint64_t *address;
	uint64_t saved, bound; /* bound UINT64_MAX: not computed */
	uint64_t steps;
	const char *solver; /* who found it */
} lx_result;

typedef struct lx_solver {
	hbm_lx_solver_info info;
	hbm_status (*run)(lx_view *v, lx_result *r);
} lx_solver;

hbm_status lx_run_greedy(lx_view *v, lx_result *r) HBM_MUST_USE;
hbm_status lx_run_first_fit(lx_view *v, lx_result *r) HBM_MUST_USE;
hbm_status lx_run_best_fit(lx_view *v, lx_result *r) HBM_MUST_USE;
hbm_status lx_run_exact(lx_view *v, lx_result *r) HBM_MUST_USE;
hbm_status lx_run_search(lx_view *v, lx_result *r) HBM_MUST_USE;
hbm_status lx_run_auto(lx_view *v, lx_result *r) HBM_MUST_USE;

static inline bool lx_meet(const lx_view *v, uint32_t a, uint32_t b)
{
	return v->start[a] < v->end[b] && v->start[b] < v->end[a];
}

/* True when `child` names `parent` and both may be placed. */
bool lx_is_parent(const lx_view *v, uint32_t child, uint32_t parent);
/* Parents and children of a buffer, as spans of ids. */
const uint32_t *lx_parents(const lx_view *v, uint32_t i, uint32_t *ret_n);
const uint32_t *lx_children(const lx_view *v, uint32_t i, uint32_t *ret_n);
/* Members of a buffer's group; the buffer alone when it has none. */
const uint32_t *lx_group(const lx_view *v, uint32_t i, uint32_t *ret_n);
uint64_t lx_pin(const lx_view *v, uint32_t i);
uint64_t lx_align_up(const lx_view *v, uint64_t x);
/* Sum of the values of the placed. */
uint64_t lx_saved(const lx_view *v, const uint64_t *address);
hbm_status lx_view_init(lx_view *v, hbm_arena *mem, const hbm_lx_problem *p,
                        const hbm_lx_opts *opts) HBM_MUST_USE;
/* A result with nothing placed. */
bool lx_result_init(lx_view *v, lx_result *r) HBM_MUST_USE;
int lx_by_address(const void *a, const void *b);

/* Index over the placed buffers: who is live with a given one. Segment tree
 * over the buffers sorted by start, each node with the latest end below it. */
typedef struct lx_index {
	const lx_view *v;
	uint32_t *order;   /* sorted by start */
	uint32_t *rank;    /* buffer -> place in order */
	uint32_t *latest;  /* heap order, 2 * leaves items */
	uint32_t leaves;
} lx_index;

bool lx_index_init(lx_index *x, const lx_view *v) HBM_MUST_USE;
void lx_index_add(lx_index *x, uint32_t i);
/* Appends the placed buffers live with `i`, in order of start. */
bool lx_index_meet(const lx_index *x, uint32_t i, lx_ids *ret) HBM_MUST_USE;

/* Places the pinned buffers and adds them to the index. They stand before all
 * others; of two that clash the later one in the input stays out. */
hbm_status lx_place_pins(lx_view *v, lx_index *placed,
                         uint64_t *address) HBM_MUST_USE;

#endif
