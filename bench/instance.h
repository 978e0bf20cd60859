/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BENCH_INSTANCE_H
#define HBM_BENCH_INSTANCE_H

/* Problems to measure on: read from minimalloc's CSV, or made (gen.h). */

#include "pack/problem.h"

typedef struct instance {
	hbm_problem p;
	uint64_t *size;
	int64_t *start, *end;
} instance;

/* columns id, lower | start, upper | end, size; false: cannot be read. */
bool instance_read(const char *path, instance *ret);
void instance_free(instance *in);
/* Room for one more buffer; exits on lack of memory. */
void instance_add(instance *in, int64_t start, int64_t end, uint64_t size);

#endif
