/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_PARALLEL_H
#define HBM_PACK_PARALLEL_H

#include <stdint.h>

/* Calls work(user, i) once for each i < n, on up to `threads` threads (0, 1: on
 * this one, in order), and returns when all are done. When a thread cannot be
 * made the others do its work. */
void hbm_parallel(uint32_t n, uint32_t threads, void (*work)(void *user, uint32_t i),
                  void *user);

#endif
