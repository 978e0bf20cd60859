/* SPDX-License-Identifier: Apache-2.0
 * Weak stand-ins until the checker lands. */
#include "base/out.h"
#include "ir/program.h"
#include "verify/verify.h"

void hbm_json_print(const hbm_program *p, hbm_out *o);
#define WEAK __attribute__((weak))
WEAK hbm_status hbm_verify(hbm_arena *s, const hbm_program *p, const hbm_target *t,
                           const hbm_plan *plan, hbm_diags *d)
{
	(void)s, (void)p, (void)t, (void)plan, (void)d;
	return HBM_OK;
}
WEAK hbm_status hbm_simulate(hbm_arena *s, const hbm_program *p, const hbm_target *t,
                             const hbm_plan *plan, const hbm_sim_opts *o, hbm_diags *d,
                             hbm_sim_result *r)
{
	(void)s, (void)p, (void)t, (void)plan, (void)o, (void)d, (void)r;
	return HBM_OK;
}
WEAK void hbm_json_print(const hbm_program *p, hbm_out *o)
{
	(void)p, (void)o;
}
