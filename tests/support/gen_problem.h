/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_GEN_PROBLEM_H
#define HBM_TESTS_GEN_PROBLEM_H

/* Random packing problems, the same for the same seed. */

#include "pack/problem.h"

enum {
	GEN_ALIGN = 1 << 0,
	GEN_PINS = 1 << 1,
	GEN_HINTS = 1 << 2,
	GEN_GAPS = 1 << 3,
	GEN_SETS = 1 << 4,
	GEN_GROUPS = 1 << 5,
	GEN_EMPTY = 1 << 6, /* buffers without bytes or life */
	GEN_ALL = (1 << 7) - 1,
	GEN_MAX = 64,
};

typedef struct gen_problem {
	hbm_problem p;
	uint64_t size[GEN_MAX], align[GEN_MAX], pin[GEN_MAX], hint[GEN_MAX];
	uint64_t shift[GEN_MAX];
	int64_t start[GEN_MAX], end[GEN_MAX];
	hbm_gap gaps[2 * GEN_MAX];
	uint32_t gap_first[GEN_MAX + 1], set[GEN_MAX], group[GEN_MAX];
} gen_problem;

uint64_t problem_next(uint64_t *seed);
/* Whole number below n. */
uint64_t problem_below(uint64_t *seed, uint64_t n);
/* n <= GEN_MAX buffers with sizes 1..max_size and times below max_time. */
void gen_make(gen_problem *g, uint64_t *seed, uint32_t n, uint64_t max_size,
              int64_t max_time, uint32_t features);
/* Buffers in another order; to[i]: the new place of buffer i. */
void gen_shuffle(const gen_problem *g, uint64_t *seed, gen_problem *ret, uint32_t *to);

#endif
