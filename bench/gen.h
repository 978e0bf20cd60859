/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BENCH_GEN_H
#define HBM_BENCH_GEN_H

#include "instance.h"

/* A family with about n buffers; false: no such family. */
bool instance_make(const char *family, uint32_t n, uint64_t seed, instance *ret);
/* Names of all families, NULL-ended. */
extern const char *const instance_families[];

#endif
