/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded (LD_PRELOAD) into the command: the allocation number FAILMALLOC_AT,
 * from 0, fails, by whatever library it is made. Whether it was reached is said
 * by the existence of the file FAILMALLOC_REACHED. glibc only. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);

#define PUBLIC __attribute__((visibility("default")))
PUBLIC void *malloc(size_t size);
PUBLIC void *calloc(size_t n, size_t size);
PUBLIC void *realloc(void *ptr, size_t size);

static long left = -1; /* allocations before the one that fails; -1: none does */

static void reached(void)
{
	const char *path = getenv("FAILMALLOC_REACHED");
	int fd = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;

	if (fd >= 0)
		close(fd);
}

/* What the loader and the start of libc allocate is not under test. */
__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("FAILMALLOC_AT");

	if (at)
		left = atol(at);
}

static int fails(void)
{
	if (left < 0 || left--)
		return 0;
	reached();
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *ptr, size_t size)
{
	return fails() ? NULL : __libc_realloc(ptr, size);
}
