/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target over files and folders of files, without a fuzzer. */
#include "fuzz.h"

#include "base/file.h"

#include <string.h>

static void run_file(hbm_arena *a, const char *path)
{
	hbm_bytes file;
	uint8_t *copy;

	CHECK(path && hbm_file_read(a, NULL, path, 0, &file) == HBM_OK);
	/* A block of exactly this size, so that a read beyond it is seen. */
	copy = malloc(file.n ? file.n : 1);
	CHECK(copy);
	memcpy(copy, file.data, file.n);
	LLVMFuzzerTestOneInput(copy, file.n);
	free(copy);
}

static uint32_t run_path(hbm_arena *a, const char *path)
{
	const char **names;
	uint32_t n;

	if (!hbm_path_is_dir(path)) {
		run_file(a, path);
		return 1;
	}
	CHECK(hbm_dir_list(a, NULL, path, &names, &n) == HBM_OK);
	for (uint32_t i = 0; i < n; i++)
		run_file(a, hbm_path_in(a, path, names[i]));
	return n;
}

int main(int argc, char **argv)
{
	uint32_t files = 0;

	for (int i = 1; i < argc; i++) {
		hbm_arena a;
		hbm_arena_init(&a, NULL);
		files += run_path(&a, argv[i]);
		hbm_arena_fini(&a);
	}
	printf("%u seeds\n", files);
	return files ? 0 : 1;
}
