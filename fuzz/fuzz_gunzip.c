/* SPDX-License-Identifier: Apache-2.0
 *
 * Unpacking: any bytes give a whole content within the limit or an error, and the
 * same content when more is allowed. */
#include "fuzz.h"

#include "base/gunzip.h"

#include <string.h>

enum { LIMIT = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char magic[] = "\x1f\x8b\x08";
	hbm_arena arena;
	hbm_bytes raw, got = {0}, again = {0};
	char *packed;
	hbm_status status;

	/* Most inputs should get beyond the first test. */
	hbm_arena_init(&arena, NULL);
	packed = hbm_arena_strndup(&arena, (const char *)data, n);
	CHECK(packed);
	if (n >= 3)
		memcpy(packed, magic, 3);
	raw = (hbm_bytes){packed, n};
	status = hbm_gunzip(&arena, NULL, "f", raw, LIMIT, &got);
	if (status == HBM_OK) {
		CHECK(got.n <= LIMIT && got.data[got.n] == '\0');
		CHECK(hbm_gunzip(&arena, NULL, "f", raw, 4 * LIMIT, &again) == HBM_OK);
		CHECK(again.n == got.n && !memcmp(again.data, got.data, got.n));
	}
	hbm_arena_fini(&arena);
	return 0;
}
