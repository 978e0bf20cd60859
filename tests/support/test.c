/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "base/out.h"

#include <assert.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

int test_begin(void **state)
{
	test_room *room = malloc(sizeof *room);

	if (!room)
		return -1;
	hbm_arena_init(&room->arena, NULL);
	hbm_diags_init(&room->diags, &room->arena);
	*state = room;
	return 0;
}

int test_end(void **state)
{
	test_room *room = *state;

	hbm_arena_fini(&room->arena);
	free(room);
	return 0;
}

const char *messages(hbm_arena *a, const hbm_diags *d)
{
	static const char *const severity[] = {"error", "warning", "note"};
	hbm_membuf buf = {.arena = a};
	hbm_out out;

	hbm_out_init(&out, hbm_membuf_write, &buf);
	for (uint32_t i = 0; i < d->list.n; i++) {
		const hbm_diag *m = &d->list.items[i];
		if (m->file)
			hbm_putf(&out, "%s:%u:%u: ", m->file, m->line, m->col);
		hbm_putf(&out, "%s: %s", severity[m->severity], m->text);
		if (m->code)
			hbm_putf(&out, " [HBM%04d]", (int)m->code);
		hbm_putc(&out, '\n');
	}
	assert_int_equal(hbm_out_finish(&out), HBM_OK);
	return buf.bytes.n ? buf.bytes.items : "";
}

void expect_errors(const hbm_diags *d, uint32_t n)
{
	if (d->n_errors != n)
		fail_msg("%u errors, expected %u:\n%s", d->n_errors, n,
		         messages(d->arena, d));
}

void expect_message(const hbm_diags *d, hbm_code code, const char *text)
{
	for (uint32_t i = 0; i < d->list.n; i++) {
		const hbm_diag *m = &d->list.items[i];
		if ((!code || m->code == code) && strstr(m->text, text))
			return;
	}
	fail_msg("no message with code %d and text '%s' in:\n%s", (int)code, text,
	         messages(d->arena, d));
}

static char temp_dir[64];

static void remove_temp_dir(void)
{
	DIR *dir = opendir(temp_dir);
	const struct dirent *e;
	char path[512];

	while (dir && (e = readdir(dir)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", temp_dir, e->d_name);
		if (unlink(path))
			rmdir(path);
	}
	if (dir)
		closedir(dir);
	rmdir(temp_dir);
}

const char *temp_path(hbm_arena *a, const char *name)
{
	char path[512];

	if (!*temp_dir) {
		strcpy(temp_dir, "/tmp/hbmplan-test-XXXXXX");
		assert_non_null(mkdtemp(temp_dir));
		atexit(remove_temp_dir);
	}
	snprintf(path, sizeof path, "%s/%s", temp_dir, name);
	return hbm_arena_strndup(a, path, strlen(path));
}

const char *temp_file(hbm_arena *a, const char *name, const void *bytes, size_t n)
{
	const char *path = temp_path(a, name);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	return path;
}

const char *shared_path(hbm_arena *a, const char *path)
{
	const char *root = getenv("HBM_SHARED");
	char full[1024];

	snprintf(full, sizeof full, "%s/%s", root ? root : "../shared", path);
	if (access(full, R_OK)) {
		print_message("SKIP: %s is not there\n", full);
		return NULL;
	}
	return hbm_arena_strndup(a, full, strlen(full));
}
