/* SPDX-License-Identifier: Apache-2.0
 *
 * verify: the checker, step by step. Later steps rest on the first: a plan whose
 * tensors are not each in one storage has no homes to speak of. */
#include "verify/verify.h"

#include "verify/check.h"

hbm_status hbm_verify(hbm_arena *scratch, const hbm_program *p, const hbm_target *t,
                      const hbm_plan *plan, hbm_diags *d)
{
	hbm_check cx = {.a = scratch, .p = p, .t = t, .plan = plan, .d = d};

	HBM_TRY(hbm_check_members(&cx));
	HBM_TRY(hbm_check_merges(&cx));
	hbm_check_homes(&cx);
	HBM_TRY(hbm_check_scratchpad(&cx));
	HBM_TRY(hbm_check_overlap(&cx));
	HBM_TRY(hbm_check_pools(&cx));
	HBM_TRY(hbm_check_regions(&cx));
	HBM_TRY(hbm_check_splits(&cx));
	HBM_TRY(hbm_check_sums(&cx));
	HBM_TRY(hbm_check_claims(&cx));
	return cx.n_faults ? HBM_VERIFY : HBM_OK;
}
