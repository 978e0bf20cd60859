/* SPDX-License-Identifier: Apache-2.0
 * Hints, after the fact: all items are put into the interval index anew, each at its
 * hint or, when that is taken, where it was, or in the lowest gap. First those that
 * have a hint or a pin; when some other then finds no place below the extent, once
 * more with those that want to move last; else nothing is moved. O(n log n). */
#include "pack/hint.h"
#include "pack/index.h"

#include <string.h>

typedef struct mover {
	const hbm_inst *in;
	hbm_index *ix;
	uint64_t extent;
	uint64_t *to;
	uint8_t *turn; /* in which they are seated */
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
static hbm_status seat(mover *m, uint32_t i, bool moves, bool *ret_placed)
{
	uint64_t at[3] = {moves ? m->in->hint[i] : m->to[i], m->to[i], 0}, y = 0;

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

/* When item i is seated: pins first, and last those of less right. */
static uint8_t turn_of(const mover *m, uint32_t i, bool hints_first)
{
	const hbm_inst *in = m->in;
	bool moves = wants_to_move(m, i);

	if (in->pin && in->pin[i] != HBM_NO_OFFSET)
		return 0;
	if (hints_first)
		return moves || in->hint[i] == m->to[i] ? 1 : 2;
	return moves ? 2 : 1;
}

static hbm_status seat_all(hbm_arena *scratch, mover *m, const uint64_t *offset,
                           bool hints_first, bool *ret_ok)
{
	const hbm_inst *in = m->in;

	*ret_ok = true;
	memcpy(m->to, offset, in->n * sizeof *offset);
	HBM_TRY(hbm_index_new(scratch, in, &m->ix));
	for (uint32_t i = 0; i < in->n; i++)
		m->turn[i] = turn_of(m, i, hints_first);
	for (uint32_t turn = 0; turn < 3; turn++)
		for (uint32_t i = 0; i < in->n && *ret_ok; i++)
			if (m->turn[i] == turn)
				HBM_TRY(seat(m, i, wants_to_move(m, i), ret_ok));
	return HBM_OK;
}

hbm_status hbm_heed_hints(hbm_arena *scratch, const hbm_inst *in, uint64_t *offset)
{
	mover m = {.in = in};
	bool ok;

	if (!in->hint)
		return HBM_OK;
	m.extent = hbm_inst_extent(in, offset);
	m.to = HBM_ARRAY(scratch, uint64_t, in->n);
	m.turn = HBM_ARRAY(scratch, uint8_t, in->n);
	HBM_NEED(m.to && m.turn);
	HBM_TRY(seat_all(scratch, &m, offset, true, &ok));
	if (!ok)
		HBM_TRY(seat_all(scratch, &m, offset, false, &ok));
	if (ok)
		memcpy(offset, m.to, in->n * sizeof *offset);
	return HBM_OK;
}
