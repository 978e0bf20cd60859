/* SPDX-License-Identifier: Apache-2.0
 *
 * bundle.mlir: a text is read or refused with a message, the same twice; what is read
 * has loops that close, operands that exist and as many symbols as operands. The
 * same bytes as a descriptor are read or refused. */
#include "fuzz.h"

#include "import/spyre.h"

static void check_text(const hbm_spyre_text *t)
{
	uint32_t open = 0;

	for (uint32_t k = 0; k < t->items.n; k++) {
		const hbm_spyre_item *x = &t->items.items[k];
		if (x->kind == HBM_SPYRE_OPEN) {
			CHECK(x->loop < t->n_loops);
			open++;
		} else if (x->kind == HBM_SPYRE_CLOSE) {
			CHECK(open--);
		} else {
			CHECK(x->addrs.first + x->addrs.n <= t->addrs.n);
			CHECK(!x->ids.n || x->ids.n == x->addrs.n);
		}
	}
	CHECK(!open);
	for (uint32_t k = 0; k < t->addrs.n; k++)
		CHECK(t->addrs.items[k].n_steps <= HBM_SPYRE_MAX_STEPS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	hbm_arena arena;
	hbm_diags d, d2, d3;
	hbm_syms syms;
	hbm_spyre_text text, again;
	hbm_spyre_op op;
	hbm_bytes bytes;
	hbm_status status;

	hbm_arena_init(&arena, NULL);
	hbm_diags_init(&d, &arena);
	hbm_diags_init(&d2, &arena);
	hbm_diags_init(&d3, &arena);
	CHECK(hbm_syms_init(&syms, &arena) == HBM_OK);
	bytes = (hbm_bytes){hbm_arena_strndup(&arena, (const char *)data, n), n};
	CHECK(bytes.data);
	status = hbm_spyre_read_text(&arena, &d, &syms, "f", bytes, &text);
	CHECK((status == HBM_OK) == (d.n_errors == 0));
	if (status == HBM_OK)
		check_text(&text);
	CHECK(hbm_spyre_read_text(&arena, &d2, &syms, "f", bytes, &again) == status);
	status = hbm_spyre_read_op(&arena, &d3, "f", bytes, &op);
	CHECK((status == HBM_OK) == (d3.n_errors == 0));
	hbm_arena_fini(&arena);
	return 0;
}
