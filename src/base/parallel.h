/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_PARALLEL_H
#define HBM_BASE_PARALLEL_H

/* Runs independent jobs on several threads. Which thread runs which job is not
 * fixed, so a job must depend on nothing but its index and write nothing that
 * another job touches; then the results are the same for any number of threads. */

#include <stdint.h>

enum { HBM_MAX_THREADS = 64 };

/* Calls job(user, i, worker) once for each i in [0, n), on up to `threads` threads
 * (this one among them); `worker` < threads tells which. Threads that cannot be
 * started are done without. Returns when all jobs have ended. */
void hbm_parallel(uint32_t threads, uint32_t n,
                  void (*job)(void *user, uint32_t i, uint32_t worker), void *user);

#endif
