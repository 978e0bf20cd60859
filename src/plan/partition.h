/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PLAN_PARTITION_H
#define HBM_PLAN_PARTITION_H

/* How the cores of an op share one operand: each core works on a block of the
 * iteration space, and so on a block of the tensor.
 *
 *     iter(i=512 split=4, j=1024 stick)      rows of 2048 B, 4 cores:
 *     x : f16[512, 1024]                     core c has rows [128 c, 128 c + 128),
 *                                            at byte 262144 c of x
 *
 * An iteration variable belongs to the dimension of its name (a dimension may
 * have a symbol), else to the first free one of its extent, outermost first. */

#include "ir/program.h"
#include "target/target.h"

/* One dimension of a tensor as it lies in memory. */
typedef struct hbm_cut {
	uint64_t extent; /* positions; of the innermost one: sticks, where the target
	                  * has them */
	uint64_t stride; /* bytes from one position to the next */
	uint32_t iter;   /* place in the op's iteration space, HBM_NONE: none */
	uint32_t split;  /* cores along it, 1: whole */
} hbm_cut;

typedef struct hbm_partition {
	uint32_t n;
	hbm_cut cut[HBM_MAX_RANK];
	uint32_t cores;  /* that have a block of their own: product of the splits */
	bool known;      /* false: no shape, the cut is not known */
	bool ambiguous;  /* another variable that is split fits a dimension as well */
} hbm_partition;

/* Positions along an iteration variable: its extent, or its sticks. */
uint64_t hbm_iter_units(const hbm_program *p, const hbm_target *t, hbm_op_id op,
                        uint32_t iter);
/* The cut of an operand's window by its op. A window that is not a whole number of
 * rows, planes, ... is not known. */
void hbm_partition_of(const hbm_program *p, const hbm_target *t, hbm_op_id op,
                      const hbm_operand *operand, hbm_partition *ret);
/* Byte in the window where the block of `core` begins. */
uint64_t hbm_core_offset(const hbm_program *p, hbm_op_id op,
                         const hbm_partition *cut, uint32_t core);
/* Bytes from the first to one past the last that one core touches: positions on
 * the outermost dimension where it has several, times its stride. */
uint64_t hbm_core_span(const hbm_partition *cut);

#endif
