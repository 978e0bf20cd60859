/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_CHECK_H
#define HBM_VERIFY_CHECK_H

/* What the steps of the checker share: the facts about the program, the plan,
 * and for each storage of the plan what the verifier itself makes of it. */

#include "plan/plan.h"
#include "verify/facts.h"

typedef struct hbm_own {
	uint64_t size, reserve;
	uint32_t flags;
	uint32_t start, end; /* live [start, end) */
	hbm_span classes;    /* in hbm_check.classes */
} hbm_own;

typedef struct hbm_check {
	hbm_arena *a;
	const hbm_program *p;
	const hbm_target *t;
	const hbm_plan *plan;
	hbm_diags *d;
	hbm_facts f;
	hbm_own *own;         /* by storage of the plan */
	uint32_t *storage_of; /* class -> storage of the plan */
	uint64_t *at;         /* class -> its first byte in the storage */
	uint32_t *classes;    /* see hbm_own.classes, ascending */
	uint32_t n_faults;
} hbm_check;

/* Lists a fault at the declaration of a tensor (HBM_NONE: nowhere). */
#define HBM_FAULT(cx, tensor, ...)                                             \
	((cx)->n_faults++,                                                     \
	 (void)hbm_fail((cx)->d, HBM_VERIFY, HBM_E_PLAN,                       \
	                hbm_check_where((cx), (tensor)), __VA_ARGS__))
hbm_where hbm_check_where(const hbm_check *cx, hbm_tensor_id t);
/* Names for messages. */
const char *hbm_check_name(const hbm_check *cx, uint32_t storage);
const char *hbm_check_op(const hbm_check *cx, uint32_t tick);

/* Facts, then: every tensor in exactly one storage, tensors that must share bytes
 * in the same one and at the right distance. HBM_VERIFY when that fails, and then
 * no later step may run. (members.c) */
hbm_status hbm_check_members(hbm_check *cx) HBM_MUST_USE;
/* Classes that share a storage without having to. (merges.c) */
hbm_status hbm_check_merges(hbm_check *cx) HBM_MUST_USE;
/* Size, life, home, alignment and bounds of each storage. (homes.c) */
void hbm_check_homes(hbm_check *cx);
/* Who may live in the scratchpads, and how large its blocks are. (scratchpad.c) */
hbm_status hbm_check_scratchpad(hbm_check *cx) HBM_MUST_USE;
/* No two live storages share bytes. (overlap.c) */
hbm_status hbm_check_overlap(hbm_check *cx) HBM_MUST_USE;
/* Who may live in a pool, and the entries of pools. (pools.c) */
hbm_status hbm_check_pools(hbm_check *cx) HBM_MUST_USE;
/* Stretches of HBM with addresses. (regions.c) */
hbm_status hbm_check_regions(hbm_check *cx) HBM_MUST_USE;
/* Parts of divided tensors. (splits.c) */
hbm_status hbm_check_splits(hbm_check *cx) HBM_MUST_USE;
/* Sums by category, pressure and the verdict on the budget. (sums.c) */
hbm_status hbm_check_sums(hbm_check *cx) HBM_MUST_USE;
/* A fault unless what is said is so. (sums.c) */
void hbm_check_differs(hbm_check *cx, const char *what, uint64_t said, uint64_t is);
/* Traffic, usage, and what a plan file claims. (claims.c) */
hbm_status hbm_check_claims(hbm_check *cx) HBM_MUST_USE;

#endif
