/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_PINS_H
#define HBM_PACK_PINS_H

/* Pins that contradict each other, found before anything is placed. */

#include "pack/problem.h"

/* The first two (in order of time) plain pinned buffers that live together on the
 * same bytes; false: none. Buffers with gaps, sets or groups are not looked at.
 * O(k log k) for k pinned buffers, and k for each one live at a time at worst. */
hbm_status hbm_pins_meet(hbm_arena *scratch, const hbm_problem *p, bool *ret_found,
                         uint32_t *ret_a, uint32_t *ret_b) HBM_MUST_USE;

#endif
