/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_OUT_H
#define HBM_BASE_OUT_H

/* Output: bytes go through a small buffer to a callback; the first failure
 * sticks and is returned at the end, so writers need not check each call.
 * Also a streaming JSON writer on top of it. */

#include "hbmplan/context.h"

#include "base/diag.h"

typedef struct hbm_out {
	hbm_write_fn write;
	void *user;
	bool failed;
	uint32_t n;
	char buf[4096];
} hbm_out;

void hbm_out_init(hbm_out *o, hbm_write_fn write, void *user);
/* Flushes; HBM_IO if any write failed. */
hbm_status hbm_out_finish(hbm_out *o) HBM_MUST_USE;
void hbm_put(hbm_out *o, const char *bytes, size_t n);
void hbm_puts(hbm_out *o, const char *s);
void hbm_putc(hbm_out *o, char c);
void hbm_putu(hbm_out *o, uint64_t v);
/* Like printf with %s %c %d %u %x and the lengths l ll j z; strings of any
 * length, numbers and their widths up to 60 characters. */
void hbm_putf(hbm_out *o, const char *fmt, ...) HBM_PRINTF(2, 3);
/* Spaces. */
void hbm_pad(hbm_out *o, uint32_t n);
/* Bytes for a person: "1,625,344 B (1.55 MiB)"; below 1 KiB only bytes. */
void hbm_put_bytes(hbm_out *o, uint64_t bytes);
/* The same into a fixed buffer, which it returns; short form "1.55 MiB". */
enum { HBM_SIZE_TEXT = 48 };
const char *hbm_size_text(char buf[HBM_SIZE_TEXT], uint64_t bytes);

/* Collects output in memory. */
typedef struct hbm_membuf {
	hbm_arena *arena;
	HBM_VEC(char) bytes;
	bool nomem;
} hbm_membuf;

bool hbm_membuf_write(void *user, const void *bytes, size_t n);

/* JSON: two-space indent, fixed order, integers only. Containers opened with
 * `flat` stay on one line. */
enum { HBM_JSON_DEPTH = 160 };

typedef struct hbm_json {
	hbm_out *out;
	uint32_t depth;
	struct {
		char close;
		bool flat, any;
	} level[HBM_JSON_DEPTH];
	bool after_key;
} hbm_json;

void hbm_json_init(hbm_json *j, hbm_out *out);
void hbm_json_open(hbm_json *j, char bracket, bool flat); /* '{' or '[' */
void hbm_json_close(hbm_json *j);
void hbm_json_key(hbm_json *j, const char *key);
void hbm_json_uint(hbm_json *j, uint64_t v);
void hbm_json_int(hbm_json *j, int64_t v);
void hbm_json_bool(hbm_json *j, bool v);
void hbm_json_null(hbm_json *j);
void hbm_json_str(hbm_json *j, const char *s);
/* Key and value in one. */
void hbm_json_kuint(hbm_json *j, const char *key, uint64_t v);
void hbm_json_kbool(hbm_json *j, const char *key, bool v);
void hbm_json_kstr(hbm_json *j, const char *key, const char *s); /* NULL: null */

#endif
