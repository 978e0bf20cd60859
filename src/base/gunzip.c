/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip in memory (RFC 1952): one member after the other, then nothing but zero
 * padding. A file that ends early or is damaged is an error, never a part of its
 * content. zlib's own memory comes from the arena. */
#include "base/gunzip.h"

#include <string.h>

bool hbm_is_gzip(hbm_bytes raw)
{
	return raw.n >= 3 && !memcmp(raw.data, "\x1f\x8b\x08", 3);
}

#if HBM_HAVE_ZLIB
#include <zlib.h>

enum { MAX_STEP = 1 << 30, GZIP_ONLY = 16 + MAX_WBITS };

typedef struct unpack {
	hbm_arena *arena;
	z_stream z;
	const char *in;
	size_t left; /* input bytes not given to zlib yet */
	char *out;
	size_t n, cap;
	uint64_t limit;
} unpack;

static void *zlib_alloc(void *user, unsigned n, unsigned size)
{
	return hbm_arena_array(user, n, size);
}

static void zlib_release(void *user, void *ptr)
{
	(void)user;
	(void)ptr;
}

static hbm_status damaged(hbm_diags *d, const char *path, const char *what)
{
	hbm_where where = {.file = path};

	return hbm_fail(d, HBM_SYNTAX, HBM_E_GZIP, where, "cannot unpack gzip: %s", what);
}

static void feed(unpack *u)
{
	unsigned step = u->left < MAX_STEP ? (unsigned)u->left : MAX_STEP;

	if (u->z.avail_in)
		return;
	/* zlib reads through a pointer that older versions do not declare const. */
	memcpy(&u->z.next_in, &u->in, sizeof u->in);
	u->z.avail_in = step;
	u->in += step;
	u->left -= step;
}

static bool make_room(unpack *u)
{
	size_t room;

	if (u->n + 1 == u->cap) {
		char *grown =
			u->cap <= PTRDIFF_MAX / 2
				? hbm_arena_grow(u->arena, u->out, u->cap, u->cap * 2)
				: NULL;
		if (!grown)
			return false;
		u->out = grown;
		u->cap *= 2;
	}
	room = u->cap - 1 - u->n;
	u->z.next_out = (unsigned char *)u->out + u->n;
	u->z.avail_out = room < MAX_STEP ? (unsigned)room : MAX_STEP;
	return true;
}

/* Bytes behind a member: another member, or the zeros that tapes pad with. */
static bool rest_is_padding(const unpack *u)
{
	for (size_t i = 0; i < u->z.avail_in; i++)
		if (u->z.next_in[i])
			return false;
	for (size_t i = 0; i < u->left; i++)
		if (u->in[i])
			return false;
	return true;
}

/* One call of inflate; *ret_end when the last member has ended. */
static hbm_status step(unpack *u, hbm_diags *d, const char *path, bool *ret_end)
{
	hbm_where where = {.file = path};
	int got;

	feed(u);
	HBM_NEED(make_room(u));
	got = inflate(&u->z, Z_NO_FLUSH);
	u->n = (size_t)((char *)u->z.next_out - u->out);
	if (u->n > u->limit)
		return hbm_fail(d, HBM_LIMIT, HBM_E_TOO_LARGE, where,
		                "the file unpacks to more than the limit of %llu bytes",
		                (unsigned long long)u->limit);
	if (got == Z_MEM_ERROR)
		return HBM_NOMEM;
	if (got == Z_BUF_ERROR && !u->z.avail_in && !u->left)
		return damaged(d, path, "the file ends early");
	if (got == Z_STREAM_END) {
		*ret_end = rest_is_padding(u);
		return inflateReset(&u->z) == Z_OK ? HBM_OK : HBM_NOMEM;
	}
	if (got != Z_OK && got != Z_BUF_ERROR)
		return damaged(d, path, u->z.msg ? u->z.msg : "damaged data");
	return HBM_OK;
}

hbm_status hbm_gunzip(hbm_arena *a, hbm_diags *d, const char *path, hbm_bytes raw,
                      uint64_t limit, hbm_bytes *ret)
{
	unpack u = {.arena = a, .in = raw.data, .left = raw.n, .limit = limit};
	bool end = false;

	u.cap = raw.n < PTRDIFF_MAX / 8 ? raw.n * 4 + 2 : 0;
	u.out = u.cap ? hbm_arena_alloc(a, u.cap) : NULL;
	HBM_NEED(u.out);
	u.z.zalloc = zlib_alloc;
	u.z.zfree = zlib_release;
	u.z.opaque = a;
	if (inflateInit2(&u.z, GZIP_ONLY) != Z_OK)
		return HBM_NOMEM;
	while (!end)
		HBM_TRY(step(&u, d, path, &end));
	u.out[u.n] = '\0';
	*ret = (hbm_bytes){u.out, u.n};
	return HBM_OK;
}

#else

hbm_status hbm_gunzip(hbm_arena *a, hbm_diags *d, const char *path, hbm_bytes raw,
                      uint64_t limit, hbm_bytes *ret)
{
	hbm_where where = {.file = path};

	(void)a;
	(void)raw;
	(void)limit;
	(void)ret;
	return hbm_fail(d, HBM_UNSUPPORTED, HBM_E_GZIP, where,
	                "the file is gzip and this build has no zlib; unpack it first");
}

#endif
