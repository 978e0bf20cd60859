/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_OOM_H
#define HBM_TESTS_OOM_H

/* What a function does when memory runs out: each of its allocations fails once.
 *
 *     static hbm_status read_it(hbm_arena *a, void *user)
 *     {
 *             hbm_diags d;
 *             hbm_target t;
 *             hbm_diags_init(&d, a);
 *             return hbm_target_parse(a, &d, "t", user, strlen(user), &t);
 *     }
 *     ...
 *     oom_sweep(read_it, "hbm.window = 1 KiB\npipeline p\n");
 *
 * The function runs with allocation 0 failing, then 1, and so on (beyond 256 in
 * growing steps) until a run has none fail. It must answer HBM_NOMEM exactly in the
 * runs where one failed, and `final` in the last run; no block may be left then. Where
 * `final` is an error it may also stand while memory is short: then only its message
 * was lost. In builds with a sanitizer every piece of an arena is an allocation of its
 * own, else only whole blocks are. */

#include "hbmplan/status.h"
#include "base/arena.h"

/* Memory that counts, and fails once. */
typedef struct oom_mem {
	hbm_mem mem;      /* hand this to the code under test */
	uint64_t calls;   /* allocations so far */
	uint64_t fail_at; /* this one fails; UINT64_MAX: none */
	uint64_t live;    /* blocks not given back */
	uint64_t bytes;   /* in them */
	bool failed;
	bool trace; /* show the stack of the one that fails */
} oom_mem;

void oom_mem_init(oom_mem *m, uint64_t fail_at);

/* `a` is new in every run and ended by the sweep. */
typedef hbm_status (*oom_fn)(hbm_arena *a, void *user);
/* Returns the number of allocations of the last run. */
uint64_t oom_sweep_status(oom_fn f, void *user, hbm_status final);
uint64_t oom_sweep(oom_fn f, void *user);

/* The same for functions that take memory rather than an arena. */
typedef hbm_status (*oom_mem_fn)(const hbm_mem *mem, void *user);
uint64_t oom_sweep_mem(oom_mem_fn f, void *user, hbm_status final);

#endif
