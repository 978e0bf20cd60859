/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_VALIDATE_H
#define HBM_IR_VALIDATE_H

/* The structural rules of a program, in one place for all importers and passes.
 * Sizes are checked where the declarations give them (ir/size.h). */

#include "ir/program.h"

/* Lists every broken rule, up to the limit of `d`. Gives ops and nodes without a
 * name one (o<tick>, k<n>, L<n>, r<n>, p<n>) and sets HBM_T_DYNAMIC; changes
 * nothing else. Linear in the program but for sorting. */
hbm_status hbm_validate(hbm_program *p, hbm_diags *d) HBM_MUST_USE;

#endif
