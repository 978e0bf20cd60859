/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BENCH_LX_ANNEAL_H
#define HBM_BENCH_LX_ANNEAL_H

/* The published simulated annealing for scratchpad planning, written anew from
 * its description, to measure the default solver against. */

#include "pack/lx.h"

/* Addresses go to address[n]; returns the saved bytes. `steps` 0: the published
 * schedule's number. NULL memory aborts: this is a measuring tool. */
uint64_t lx_anneal(const hbm_lx_problem *p, uint32_t steps, uint64_t *address);

#endif
