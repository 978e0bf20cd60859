/* SPDX-License-Identifier: Apache-2.0
 * Hints, after the fact: items without a hint, or with one that cannot be met, are
 * put into the interval index where they are; the others follow, each at its hint
 * or, when that is taken, where it was, or in the lowest gap. When one finds no
 * place below the extent nothing is moved. O(n log n). */
#include "pack/hint.h"
#include "pack/index.h"

#include <string.h>

typedef struct mover {
	const hbm_inst *in;
	hbm_index *ix;
	uint64_t extent;
	uint64_t *to;
} mover;

static bool wants_to_move(const mover *m, uint32_t i)
{
	const hbm_inst *in = m->in;
	uint64_t hint = in->hint[i];

	return hint != HBM_NO_OFFSET && hint != m->to[i] &&
	       (!in->pin || in->pin[i] == HBM_NO_OFFSET) &&
	       hint + in->size[i] <= m->extent && hbm_item_up(in, i, hint) == hint;
}

/* False: there is no place below the extent. */
static hbm_status move(mover *m, uint32_t i, bool *ret_placed)
{
	uint64_t at[3] = {m->in->hint[i], m->to[i], 0}, y = 0;

	*ret_placed = false;
	for (uint32_t k = 0; k < 3; k++) {
		HBM_TRY(hbm_index_fit(m->ix, i, at[k], &y));
		if (y == at[k] || k == 2)
			break;
	}
	if (y + m->in->size[i] > m->extent)
		return HBM_OK;
	*ret_placed = true;
	m->to[i] = y;
	hbm_index_place(m->ix, i, y);
	return HBM_OK;
}

hbm_status hbm_heed_hints(hbm_arena *scratch, const hbm_inst *in, uint64_t *offset)
{
	mover m = {.in = in};
	bool *moves, ok = true;

	if (!in->hint)
		return HBM_OK;
	m.extent = hbm_inst_extent(in, offset);
	m.to = HBM_ARRAY(scratch, uint64_t, in->n);
	moves = HBM_ARRAY(scratch, bool, in->n);
	HBM_NEED(m.to && moves);
	memcpy(m.to, offset, in->n * sizeof *offset);
	HBM_TRY(hbm_index_new(scratch, in, &m.ix));
	for (uint32_t i = 0; i < in->n; i++) {
		moves[i] = wants_to_move(&m, i);
		if (!moves[i])
			hbm_index_place(m.ix, i, offset[i]);
	}
	for (uint32_t i = 0; i < in->n && ok; i++)
		if (moves[i])
			HBM_TRY(move(&m, i, &ok));
	if (ok)
		memcpy(offset, m.to, in->n * sizeof *offset);
	return HBM_OK;
}
