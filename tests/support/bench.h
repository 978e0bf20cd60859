/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_SUPPORT_BENCH_H
#define HBM_TESTS_SUPPORT_BENCH_H

/* A program from text with a plan of the naive planner, to be changed and judged. */

#include "support/ir.h"
#include "support/naive_plan.h"
#include "support/test.h"
#include "verify/verify.h"

typedef struct bench {
	test_room *room;
	hbm_program p;
	hbm_target t;
	hbm_plan plan;
} bench;

/* `state` of a ROOM_TEST. The target counts single bytes. */
bench bench_make(void **state, const char *text);
void bench_plan(bench *b);
hbm_tensor_id bench_tensor(const bench *b, const char *name);
hbm_plan_storage *bench_storage(const bench *b, const char *name);
/* Plans, and joins the storages of the named tensors ("a b c") one after the
 * other. */
void bench_join(bench *b, const char *names);
/* Gives a storage another home; sums are made anew. Pools: of the first bundle. */
void bench_move(bench *b, const char *name, hbm_home_kind kind, uint64_t offset,
                uint64_t size);

hbm_status bench_verify(bench *b);
hbm_status bench_simulate(bench *b);
void bench_expect_legal(bench *b);
void bench_expect_fault(bench *b, const char *words);

#endif
