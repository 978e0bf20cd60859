/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_FUZZ_FUZZ_H
#define HBM_FUZZ_FUZZ_H

/* A fuzz target is a property of one function: for any bytes it holds, or the
 * program ends in CHECK. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define CHECK(condition)                                                   \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
			        #condition);                               \
			abort();                                           \
		}                                                          \
	} while (0)

#endif
