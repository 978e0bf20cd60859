/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target over files and folders of files, without a fuzzer. */
#include "fuzz.h"

#include "base/file.h"

/* Not by hbm_file_read, which would unpack it. The block has exactly the size of
 * the file, so that a read beyond it is seen. */
static void run_file(const char *path)
{
	FILE *f = path ? fopen(path, "rb") : NULL;
	uint8_t *bytes;
	long n;

	CHECK(f && !fseek(f, 0, SEEK_END));
	n = ftell(f);
	CHECK(n >= 0 && !fseek(f, 0, SEEK_SET));
	bytes = malloc(n ? (size_t)n : 1);
	CHECK(bytes && fread(bytes, 1, (size_t)n, f) == (size_t)n);
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, (size_t)n);
	free(bytes);
}

static uint32_t run_path(hbm_arena *a, const char *path)
{
	const char **names;
	uint32_t n;

	if (!hbm_path_is_dir(path)) {
		run_file(path);
		return 1;
	}
	CHECK(hbm_dir_list(a, NULL, path, &names, &n) == HBM_OK);
	for (uint32_t i = 0; i < n; i++)
		run_file(hbm_path_in(a, path, names[i]));
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
