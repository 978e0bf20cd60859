/* SPDX-License-Identifier: Apache-2.0
 * Arrays of buffers, and the reader. */
#include "instance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void instance_add(instance *in, int64_t start, int64_t end, uint64_t size)
{
	uint32_t n = in->p.n++;

	if ((n & (n - 1)) == 0) {
		size_t cap = n ? 2 * (size_t)n : 1;

		in->size = realloc(in->size, cap * sizeof *in->size);
		in->start = realloc(in->start, cap * sizeof *in->start);
		in->end = realloc(in->end, cap * sizeof *in->end);
		if (!in->size || !in->start || !in->end) {
			fprintf(stderr, "bench: out of memory\n");
			exit(70);
		}
	}
	in->size[n] = size;
	in->start[n] = start;
	in->end[n] = end;
	in->p.size = in->size;
	in->p.start = in->start;
	in->p.end = in->end;
	in->p.capacity = HBM_NO_OFFSET;
}

bool instance_read(const char *path, instance *ret)
{
	FILE *f = fopen(path, "r");
	char line[256];
	bool closed;

	*ret = (instance){.p = {.capacity = HBM_NO_OFFSET}};
	if (!f)
		return false;
	if (!fgets(line, sizeof line, f)) {
		fclose(f);
		return false;
	}
	closed = strstr(line, ",end") != NULL;
	while (fgets(line, sizeof line, f)) {
		int64_t start, end;
		uint64_t size;
		char *comma = strchr(line, ',');

		if (!comma || sscanf(comma, ",%" SCNd64 ",%" SCNd64 ",%" SCNu64, &start,
		                     &end, &size) != 3)
			break;
		instance_add(ret, start, end + closed, size);
	}
	fclose(f);
	return true;
}

void instance_free(instance *in)
{
	free(in->size);
	free(in->start);
	free(in->end);
	*in = (instance){0};
}
