/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading files. A read is whole or an error: interrupted and short reads go on
 * until the end of the file. Regular files are read with one block of their
 * size; pipes and devices grow a block by doubling. */
#include "base/file.h"
#include "base/gunzip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 64 * 1024 };

/* Texts of our own: strerror speaks the language of the locale. */
static const char *error_text(int error)
{
	switch (error) {
	case ENOENT:
		return "no such file or directory";
	case EACCES:
	case EPERM:
		return "permission denied";
	case EISDIR:
		return "is a directory";
	case ENOTDIR:
		return "a part of the path is not a directory";
	case ENAMETOOLONG:
		return "the path is too long";
	case ELOOP:
		return "too many symbolic links";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENXIO:
		return "is not a file that can be read";
	case EBADF:
		return "is not open";
	case EIO:
		return "input/output error";
	default:
		return "system error";
	}
}

static hbm_status io_error(hbm_diags *d, const char *path, const char *what, int error)
{
	hbm_where where = {.file = path};

	if (error == ENOMEM)
		return HBM_NOMEM;
	return hbm_fail(d, HBM_IO, HBM_E_IO, where, "cannot %s: %s (errno %d)", what,
	                error_text(error), error);
}

static hbm_status too_large(hbm_diags *d, const char *path, uint64_t limit)
{
	hbm_where where = {.file = path};

	return hbm_fail(d, HBM_LIMIT, HBM_E_TOO_LARGE, where,
	                "the file is larger than the limit of %llu bytes",
	                (unsigned long long)limit);
}

/* Reads to the end of `fd`, at most `limit` bytes. `hint` is the size to expect. */
static hbm_status read_all(hbm_arena *a, hbm_diags *d, const char *path, int fd,
                           uint64_t hint, uint64_t limit, hbm_bytes *ret)
{
	/* Room for one byte more than expected, so that the read that finds the
	 * end of the file does not grow the block, and for the closing NUL. */
	size_t cap = hint < PTRDIFF_MAX - 2 ? (size_t)hint + 2 : 0, n = 0;
	char *data = cap ? hbm_arena_alloc(a, cap) : NULL;

	HBM_NEED(data);
	for (;;) {
		ssize_t got;
		if (n + 1 == cap) {
			char *grown = cap <= PTRDIFF_MAX / 2
			                      ? hbm_arena_grow(a, data, cap, cap * 2)
			                      : NULL;
			HBM_NEED(grown);
			data = grown;
			cap *= 2;
		}
		got = read(fd, data + n, cap - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return io_error(d, path, "read", errno);
		if (!got)
			break;
		n += (size_t)got;
		if (n > limit)
			return too_large(d, path, limit);
	}
	data[n] = '\0';
	*ret = (hbm_bytes){data, n};
	return HBM_OK;
}

/* Refuses what cannot be read as a file; *hint becomes the size to expect. */
static hbm_status check_kind(hbm_diags *d, const char *path, int fd, uint64_t limit,
                             uint64_t *hint)
{
	struct stat st;

	if (fstat(fd, &st))
		return io_error(d, path, "read", errno);
	if (S_ISDIR(st.st_mode))
		return io_error(d, path, "read", EISDIR);
	if (S_ISBLK(st.st_mode))
		return io_error(d, path, "read", ENXIO);
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return HBM_OK; /* some regular files of /proc have size 0 */
	if ((uint64_t)st.st_size > limit)
		return too_large(d, path, limit);
	*hint = (uint64_t)st.st_size;
	return HBM_OK;
}

static hbm_status read_fd(hbm_arena *a, hbm_diags *d, const char *path, int fd,
                          uint64_t limit, hbm_bytes *ret)
{
	hbm_bytes raw;
	uint64_t hint = FIRST_READ;

	HBM_TRY(check_kind(d, path, fd, limit, &hint));
	HBM_TRY(read_all(a, d, path, fd, hint, limit, &raw));
	if (hbm_is_gzip(raw))
		return hbm_gunzip(a, d, path, raw, limit, ret);
	*ret = raw;
	return HBM_OK;
}

static int open_again(const char *path)
{
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	return fd;
}

hbm_status hbm_file_read(hbm_arena *a, hbm_diags *d, const char *path, uint64_t limit,
                         hbm_bytes *ret)
{
	hbm_status status;
	int fd;

	if (!limit)
		limit = HBM_FILE_LIMIT;
	if (!strcmp(path, "-"))
		return read_fd(a, d, "<stdin>", STDIN_FILENO, limit, ret);
	fd = open_again(path);
	if (fd < 0)
		return io_error(d, path, "open", errno);
	status = read_fd(a, d, path, fd, limit, ret);
	close(fd);
	return status;
}

bool hbm_path_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool hbm_path_is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK);
}

const char *hbm_path_in(hbm_arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir), m = strlen(name);
	bool slash = n && dir[n - 1] != '/';
	char *path = hbm_arena_alloc(a, n + slash + m + 1);

	if (!path)
		return NULL;
	memcpy(path, dir, n);
	path[n] = '/';
	memcpy(path + n + slash, name, m + 1);
	return hbm_path_is_file(path) ? path : NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef HBM_VEC(const char *) names;

static hbm_status list_names(hbm_arena *a, hbm_diags *d, const char *path, DIR *dir,
                             names *list)
{
	const struct dirent *e;

	while (errno = 0, (e = readdir(dir)) != NULL) {
		const char *name;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		name = hbm_arena_strndup(a, e->d_name, strlen(e->d_name));
		HBM_NEED(name && HBM_PUSH(a, list, name));
	}
	return errno ? io_error(d, path, "list the directory", errno) : HBM_OK;
}

hbm_status hbm_dir_list(hbm_arena *a, hbm_diags *d, const char *path,
                        const char ***ret_names, uint32_t *ret_n)
{
	DIR *dir = opendir(path);
	names list = {0};
	hbm_status status;

	if (!dir)
		return io_error(d, path, "list the directory", errno);
	status = list_names(a, d, path, dir, &list);
	closedir(dir);
	HBM_TRY(status);
	if (list.n)
		qsort(list.items, list.n, sizeof *list.items, by_name);
	*ret_names = list.items;
	*ret_n = list.n;
	return HBM_OK;
}
