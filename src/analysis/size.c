/* SPDX-License-Identifier: Apache-2.0
 * size: bytes of every tensor on a target.
 *
 * A size that was given stands. A device layout counts sticks. Otherwise extents
 * times element bits, where a target with sticks keeps some dtypes in wider slots
 * and pads the innermost extent to a whole stick (a partly filled stick costs a
 * whole one). Views are not padded: they lie inside their base. */
#include "analysis/analysis.h"
#include "base/ckd.h"
#include "ir/size.h"

#include <inttypes.h>

static bool padded(const hbm_tensor *x, uint64_t stick)
{
	return stick && x->base == HBM_NONE && !x->device.n && x->dims.n &&
	       x->dtype != HBM_DT_none && !(x->flags & HBM_T_SIZED);
}

/* Outer extents times the sticks of a row. */
static hbm_sizing padded_size(const hbm_program *p, const hbm_tensor *x,
                              uint32_t bits, uint64_t stick, uint64_t *ret)
{
	hbm_span outer = {x->dims.first, x->dims.n - 1};
	const hbm_dim *last = &p->dims.items[x->dims.first + outer.n];
	uint64_t rows, row;
	hbm_sizing how = hbm_span_elements(p, outer, &rows);

	if (how != HBM_SIZING_KNOWN || last->unknown)
		return how == HBM_SIZING_OVERFLOW ? how : HBM_SIZING_DYNAMIC;
	if (!hbm_mul(last->value, bits, &row) || !hbm_add(row, 7, &row) ||
	    !hbm_align_up(row / 8, stick, &row) || !hbm_mul(rows, row, &row) ||
	    row > HBM_MAX_BYTES)
		return HBM_SIZING_OVERFLOW;
	*ret = row;
	return HBM_SIZING_KNOWN;
}

/* What an importer worked out from a type or base, the target may know better. */
static void forget_size(hbm_tensor *x)
{
	if (!(x->flags & HBM_T_SIZED) && (x->dtype != HBM_DT_none || x->base != HBM_NONE))
		x->size = 0;
}

static hbm_status size_one(hbm_program *p, const hbm_target *t, hbm_tensor_id id,
                           hbm_diags *d)
{
	hbm_tensor *x = &p->tensors.items[id];
	uint64_t stick = hbm_target_num(t, HBM_KEY_STICK, 0), bytes = 0;
	uint32_t slot = hbm_target_slot_bits(t, hbm_dtype_name(x->dtype));
	uint32_t bits = slot ? slot : hbm_dtype_bits(x->dtype);
	hbm_where at = hbm_at(p, x->line, x->col, 0);
	hbm_sizing how;

	if (padded(x, stick))
		how = padded_size(p, x, bits, stick, &bytes);
	else
		how = hbm_tensor_natural_size(p, id, slot, stick, &bytes);
	if (how == HBM_SIZING_OVERFLOW)
		return hbm_fail(d, HBM_SEMANTIC, HBM_E_SIZE_OVERFLOW, at,
		                "size of '%s' is beyond 2^62 bytes",
		                hbm_tensor_name(p, id));
	if (how == HBM_SIZING_NONE)
		return hbm_fail(d, HBM_SEMANTIC, HBM_E_UNBOUND, at,
		                "size of '%s' is not known: no bytes, no shape",
		                hbm_tensor_name(p, id));
	if (how == HBM_SIZING_DYNAMIC)
		x->flags |= HBM_T_DYNAMIC;
	x->size = bytes;
	return HBM_OK;
}

/* Padding may have made tensors larger than their declarations said. */
static hbm_status check_view(const hbm_program *p, hbm_tensor_id id, hbm_diags *d)
{
	const hbm_tensor *x = &p->tensors.items[id];
	const hbm_tensor *b = x->base == HBM_NONE ? NULL : &p->tensors.items[x->base];
	uint64_t end;

	if (!b || (b->flags | x->flags) & HBM_T_DYNAMIC)
		return HBM_OK;
	if (hbm_add(x->offset, x->size, &end) && end <= b->size)
		return HBM_OK;
	return hbm_fail(d, HBM_SEMANTIC, HBM_E_VIEW_RANGE, hbm_at(p, x->line, x->col, 0),
	                "view '%s' ends at %" PRIu64 ", base '%s' has %" PRIu64 " bytes",
	                hbm_tensor_name(p, id), x->offset + x->size,
	                hbm_tensor_name(p, x->base), b->size);
}

hbm_status hbm_size_tensors(hbm_program *p, const hbm_target *t, hbm_diags *d)
{
	hbm_status status = HBM_OK;

	for (uint32_t i = 0; i < p->tensors.n; i++)
		forget_size(&p->tensors.items[i]);
	for (uint32_t i = 0; i < p->tensors.n; i++) {
		hbm_status one = size_one(p, t, i, d);
		status = one == HBM_OK ? status : one;
	}
	for (uint32_t i = 0; status == HBM_OK && i < p->tensors.n; i++)
		status = check_view(p, i, d);
	return status;
}
