/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of target files: it accepts only what the rest of the library can
 * rely on, lists an error whenever it refuses, and answers the same twice. */
#include "fuzz.h"

#include "target/target.h"

#include <string.h>

static void check_accepted(const hbm_target *t)
{
	uint64_t window = hbm_target_num(t, HBM_KEY_HBM_WINDOW, 0);
	uint64_t size = hbm_target_num(t, HBM_KEY_LX_SIZE, 0);
	uint64_t align = hbm_target_num(t, HBM_KEY_HBM_ALIGN, 1);

	CHECK(t->name && window > 0 && t->pipeline.n > 0);
	CHECK(hbm_target_num(t, HBM_KEY_POOL_CAP, 1) <= window);
	CHECK(align && !(align & (align - 1)));
	for (uint64_t ppm = 0; ppm <= 1000000; ppm += 62500)
		CHECK(hbm_target_lx_usable(t, ppm) <= size);
	CHECK(hbm_target_lx_usable(t, HBM_NO_OFFSET) <= size);
	for (uint32_t i = 0; i < t->regions.n; i++)
		for (uint32_t k = 0; k < i && t->regions.n < 100; k++) {
			const hbm_region *a = &t->regions.items[i];
			const hbm_region *b = &t->regions.items[k];
			CHECK(strcmp(a->space, b->space) ||
			      a->base + a->size <= b->base ||
			      b->base + b->size <= a->base);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hbm_arena arena;
	hbm_diags d, d2;
	hbm_target t, t2;
	hbm_status status;

	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&d, &arena);
	hbm_diags_init(&d2, &arena);
	status = hbm_target_parse(&arena, &d, "f", (const char *)data, n, &t);
	CHECK((status == HBM_OK) == (d.n_errors == 0));
	if (status == HBM_OK && !t.refused)
		check_accepted(&t);
	CHECK(hbm_target_parse(&arena, &d2, "f", (const char *)data, n, &t2) == status);
	CHECK(d.list.n == d2.list.n);
	hbm_arena_fini(&arena);
	return 0;
}
