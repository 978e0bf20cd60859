/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if HBM_HAVE_ZLIB
#include <zlib.h>
#endif

static hbm_bytes must_read(test_room *r, const char *path, uint64_t limit)
{
	hbm_bytes got = {0};
	hbm_status status = hbm_file_read(&r->arena, &r->diags, path, limit, &got);

	if (status != HBM_OK)
		fail_msg("%s: %s", hbm_status_text(status),
		         messages(&r->arena, &r->diags));
	assert_int_equal(got.data[got.n], 0);
	return got;
}

static void must_fail(test_room *r, const char *path, uint64_t limit, hbm_status status,
                      hbm_code code, const char *text)
{
	hbm_bytes got = {"untouched", 9};

	assert_int_equal(hbm_file_read(&r->arena, &r->diags, path, limit, &got),
	                 status);
	expect_errors(&r->diags, 1);
	expect_message(&r->diags, code, text);
	assert_string_equal(got.data, "untouched");
}

static void whole_file(void **state)
{
	test_room *r = *state;
	static const char bytes[] = "a\0b\n";
	hbm_bytes got = must_read(r, temp_file(&r->arena, "f", bytes, 4), 0);

	assert_int_equal(got.n, 4);
	assert_memory_equal(got.data, bytes, 4);
}

static void empty_file(void **state)
{
	test_room *r = *state;

	assert_int_equal(must_read(r, temp_file(&r->arena, "empty", "", 0), 0).n, 0);
}

/* Its size is 0 for the system though it has content. */
static void file_of_unknown_size(void **state)
{
	test_room *r = *state;

	if (access("/proc/self/status", R_OK))
		skip();
	assert_true(must_read(r, "/proc/self/status", 0).n > 0);
}

static void limit_is_inclusive(void **state)
{
	test_room *r = *state;
	const char *path = temp_file(&r->arena, "ten", "0123456789", 10);

	assert_int_equal(must_read(r, path, 10).n, 10);
	must_fail(r, path, 9, HBM_LIMIT, HBM_E_TOO_LARGE, "limit of 9 bytes");
}

static void missing_file(void **state)
{
	test_room *r = *state;

	must_fail(r, temp_path(&r->arena, "absent"), 0, HBM_IO, HBM_E_IO,
	          "cannot open: no such file or directory");
}

static void directory_is_no_file(void **state)
{
	test_room *r = *state;

	assert_true(hbm_path_is_dir("/"));
	must_fail(r, "/", 0, HBM_IO, HBM_E_IO, "is a directory");
}

/* Starts a child that writes `n` bytes of 'x' to `fd` in small pieces. */
static pid_t write_slowly(const char *path, size_t n)
{
	pid_t pid = fork();

	if (!pid) {
		int fd = open(path, O_WRONLY);
		for (size_t i = 0; i < n; i += 100)
			if (write(fd, memset((char[100]){0}, 'x', 100), 100) != 100)
				_exit(1);
		_exit(0);
	}
	return pid;
}

static void fifo_is_read_to_its_end(void **state)
{
	test_room *r = *state;
	const char *path = temp_path(&r->arena, "fifo");
	hbm_bytes got;
	pid_t pid;
	int code;

	assert_int_equal(mkfifo(path, 0600), 0);
	pid = write_slowly(path, 300000);
	got = must_read(r, path, 0);
	assert_int_equal(waitpid(pid, &code, 0), pid);
	assert_int_equal(code, 0);
	assert_int_equal(got.n, 300000);
	for (size_t i = 0; i < got.n; i++)
		assert_int_equal(got.data[i], 'x');
}

static void standard_input(void **state)
{
	test_room *r = *state;
	int saved = dup(STDIN_FILENO), ends[2];
	hbm_bytes got;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "hello", 5), 5);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	got = must_read(r, "-", 0);
	assert_string_equal(got.data, "hello");
	close(STDIN_FILENO);
	must_fail(r, "-", 0, HBM_IO, HBM_E_IO, "is not open");
	assert_string_equal(r->diags.list.items[0].file, "<stdin>");
	if (saved >= 0)
		dup2(saved, STDIN_FILENO);
}

static void endless_device_meets_the_limit(void **state)
{
	test_room *r = *state;

	must_fail(r, "/dev/zero", 1 << 20, HBM_LIMIT, HBM_E_TOO_LARGE, "1048576");
}

#if HBM_HAVE_ZLIB
static size_t pack(void *to, size_t room, const void *from, size_t n)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY),
	                 Z_OK);
	z.next_in = (Bytef *)(uintptr_t)from;
	z.avail_in = (uInt)n;
	z.next_out = to;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static void gzip_is_unpacked(void **state)
{
	test_room *r = *state;
	static char plain[1 << 20], packed[1 << 16];
	size_t n;
	hbm_bytes got;

	memset(plain, 'p', sizeof plain);
	n = pack(packed, sizeof packed, plain, sizeof plain);
	got = must_read(r, temp_file(&r->arena, "g", packed, n), sizeof plain);
	assert_int_equal(got.n, sizeof plain);
	assert_memory_equal(got.data, plain, sizeof plain);
	must_fail(r, temp_file(&r->arena, "g", packed, n), sizeof plain - 1, HBM_LIMIT,
	          HBM_E_TOO_LARGE, "unpacks to more");
}

static void gzip_members_are_joined(void **state)
{
	test_room *r = *state;
	char packed[256];
	size_t n = pack(packed, sizeof packed, "one,", 4);

	n += pack(packed + n, sizeof packed - n, "two", 3);
	memset(packed + n, 0, 32); /* padding */
	assert_string_equal(
		must_read(r, temp_file(&r->arena, "m", packed, n + 32), 0).data,
		"one,two");
}

/* Every shorter file of the same beginning is refused. */
static void gzip_cut_short(void **state)
{
	test_room *r = *state;
	char packed[256];
	size_t n = pack(packed, sizeof packed, "some text to pack", 17);
	hbm_bytes got;

	for (size_t cut = 3; cut < n; cut++) {
		const char *path = temp_file(&r->arena, "cut", packed, cut);
		assert_int_equal(hbm_file_read(&r->arena, NULL, path, 0, &got), HBM_SYNTAX);
	}
	must_fail(r, temp_file(&r->arena, "cut", packed, n - 1), 0, HBM_SYNTAX, HBM_E_GZIP,
	          "ends early");
}

static void gzip_damaged(void **state)
{
	test_room *r = *state;
	char packed[256];
	size_t n = pack(packed, sizeof packed, "some text to pack", 17);

	packed[n - 5] ^= 1; /* checksum */
	must_fail(r, temp_file(&r->arena, "bad", packed, n), 0, HBM_SYNTAX, HBM_E_GZIP,
	          "cannot unpack gzip");
}

static void gzip_with_junk_behind(void **state)
{
	test_room *r = *state;
	char packed[256];
	size_t n = pack(packed, sizeof packed, "text", 4);

	packed[n] = 'j';
	must_fail(r, temp_file(&r->arena, "junk", packed, n + 1), 0, HBM_SYNTAX, HBM_E_GZIP,
	          "cannot unpack gzip");
}
#endif

static void directory_is_listed_in_order(void **state)
{
	test_room *r = *state;
	const char *dir = temp_path(&r->arena, "dir"), **names;
	static const char *const want[] = {"B", "a", "b", "b2"};
	uint32_t n;

	assert_int_equal(mkdir(dir, 0700), 0);
	for (size_t i = 4; i-- > 0;) {
		char name[16];
		snprintf(name, sizeof name, "dir/%s", want[i]);
		temp_file(&r->arena, name, "", 0);
	}
	assert_int_equal(hbm_dir_list(&r->arena, &r->diags, dir, &names, &n), HBM_OK);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(names[i], want[i]);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(unlink(hbm_path_in(&r->arena, dir, want[i])), 0);
}

static void no_directory_to_list(void **state)
{
	test_room *r = *state;
	const char *path = temp_file(&r->arena, "plain", "", 0), **names;
	uint32_t n;

	assert_int_equal(hbm_dir_list(&r->arena, &r->diags, path, &names, &n), HBM_IO);
	expect_message(&r->diags, HBM_E_IO, "not a directory");
	assert_false(hbm_path_is_dir(path));
}

static void path_in_directory(void **state)
{
	test_room *r = *state;
	const char *path = temp_file(&r->arena, "inside", "x", 1);
	char *dir = hbm_arena_strndup(&r->arena, path, strlen(path) - strlen("inside"));

	assert_string_equal(hbm_path_in(&r->arena, dir, "inside"), path);
	dir[strlen(dir) - 1] = '\0';
	assert_string_equal(hbm_path_in(&r->arena, dir, "inside"), path);
	assert_null(hbm_path_in(&r->arena, dir, "outside"));
	assert_null(hbm_path_in(&r->arena, "/", "tmp"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOM_TEST(whole_file),
		ROOM_TEST(empty_file),
		ROOM_TEST(file_of_unknown_size),
		ROOM_TEST(limit_is_inclusive),
		ROOM_TEST(missing_file),
		ROOM_TEST(directory_is_no_file),
		ROOM_TEST(fifo_is_read_to_its_end),
		ROOM_TEST(standard_input),
		ROOM_TEST(endless_device_meets_the_limit),
#if HBM_HAVE_ZLIB
		ROOM_TEST(gzip_is_unpacked),
		ROOM_TEST(gzip_members_are_joined),
		ROOM_TEST(gzip_cut_short),
		ROOM_TEST(gzip_damaged),
		ROOM_TEST(gzip_with_junk_behind),
#endif
		ROOM_TEST(directory_is_listed_in_order),
		ROOM_TEST(no_directory_to_list),
		ROOM_TEST(path_in_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
