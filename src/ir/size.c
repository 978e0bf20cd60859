/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes from declarations, in checked integers. A bounded extent counts with its
 * upper bound; an extent without one makes the size dynamic. */
#include "ir/size.h"

#include "base/ckd.h"

enum { DEFAULT_STICK = 128 };

hbm_sizing hbm_span_elements(const hbm_program *p, hbm_span dims, uint64_t *ret)
{
	uint64_t n = 1;
	bool empty = false, overflow = false;

	for (uint32_t i = 0; i < dims.n; i++) {
		const hbm_dim *d = &p->dims.items[dims.first + i];
		if (d->unknown)
			return HBM_SIZING_DYNAMIC;
		empty |= d->value == 0;
		overflow |= !hbm_mul(n, d->value, &n);
	}
	if (overflow && !empty)
		return HBM_SIZING_OVERFLOW;
	*ret = empty ? 0 : n;
	return HBM_SIZING_KNOWN;
}

/* ceil(n * bits / 8) without an intermediate that overflows early. */
static bool bits_to_bytes(uint64_t n, uint32_t bits, uint64_t *ret)
{
	uint64_t whole, rest = (n % 8 * bits + 7) / 8;

	return hbm_mul(n / 8, bits, &whole) && hbm_add(whole, rest, ret);
}

static hbm_sizing limited(bool fits, uint64_t bytes, uint64_t *ret)
{
	if (!fits || bytes > HBM_MAX_BYTES)
		return HBM_SIZING_OVERFLOW;
	*ret = bytes;
	return HBM_SIZING_KNOWN;
}

static hbm_sizing device_size(const hbm_program *p, hbm_span device, uint64_t stick,
                              uint64_t *ret)
{
	hbm_span outer = {device.first, device.n - 1};
	uint64_t sticks, bytes = 0;
	hbm_sizing s = hbm_span_elements(p, outer, &sticks);
	bool fits;

	if (s != HBM_SIZING_KNOWN)
		return s;
	fits = hbm_mul(sticks, stick ? stick : DEFAULT_STICK, &bytes);
	return limited(fits, bytes, ret);
}

static hbm_sizing logical_size(const hbm_program *p, const hbm_tensor *t, uint32_t bits,
                               uint64_t *ret)
{
	uint64_t n, bytes = 0;
	hbm_sizing s = hbm_span_elements(p, t->dims, &n);
	bool fits;

	if (s != HBM_SIZING_KNOWN)
		return s;
	if (!bits)
		bits = hbm_dtype_bits(t->dtype);
	fits = bits_to_bytes(n, bits, &bytes);
	return limited(fits, bytes, ret);
}

/* The tensor's own declaration, without its base. */
static hbm_sizing own_size(const hbm_program *p, const hbm_tensor *t, uint32_t bits,
                           uint64_t stick, uint64_t *ret)
{
	if (t->size || t->flags & HBM_T_SIZED)
		return limited(true, t->size, ret);
	if (t->device.n)
		return device_size(p, t->device, stick, ret);
	if (t->dtype != HBM_DT_none)
		return logical_size(p, t, bits, ret);
	/* Without a type, an extent without a bound still tells that the size is
	 * not static; known extents alone tell nothing. */
	if (t->dims.n && hbm_span_elements(p, t->dims, ret) == HBM_SIZING_DYNAMIC)
		return HBM_SIZING_DYNAMIC;
	return HBM_SIZING_NONE;
}

hbm_sizing hbm_tensor_natural_size(const hbm_program *p, hbm_tensor_id id,
                                   uint32_t bits, uint64_t stick, uint64_t *ret)
{
	uint64_t offset = 0, bytes;

	for (;;) {
		const hbm_tensor *t = &p->tensors.items[id];
		hbm_sizing s = own_size(p, t, bits, stick, &bytes);
		if (s == HBM_SIZING_KNOWN && offset <= bytes) {
			*ret = bytes - offset;
			return s;
		}
		if (s != HBM_SIZING_NONE || t->base == HBM_NONE)
			return s == HBM_SIZING_KNOWN ? HBM_SIZING_NONE : s;
		if (!hbm_add(offset, t->offset, &offset))
			return HBM_SIZING_OVERFLOW;
		id = t->base;
	}
}

static void count_tiles(hbm_tiles *tiles, const hbm_program *p, const hbm_operand *o)
{
	uint64_t factor = 1;

	for (uint32_t i = 0; i < o->strides.n; i++) {
		const hbm_stride *s = &p->strides.items[o->strides.first + i];
		uint64_t trips = p->nodes.items[s->loop].trips;
		if (!s->bytes)
			continue;
		tiles->unknown[o->tensor] |= !trips;
		factor = hbm_mul_sat(factor, trips ? trips : 1);
	}
	if (factor > tiles->factor[o->tensor])
		tiles->factor[o->tensor] = factor;
}

hbm_status hbm_tiles_count(hbm_arena *a, const hbm_program *p, hbm_tiles *ret)
{
	HBM_NEED(ret->factor = HBM_ARRAY(a, uint64_t, p->tensors.n));
	HBM_NEED(ret->unknown = HBM_ZARRAY(a, bool, p->tensors.n));
	for (uint32_t t = 0; t < p->tensors.n; t++)
		ret->factor[t] = 1;
	for (uint32_t i = 0; i < p->operands.n; i++) {
		const hbm_operand *o = &p->operands.items[i];
		if (p->tensors.items[o->tensor].flags & HBM_T_TILE)
			count_tiles(ret, p, o);
	}
	return HBM_OK;
}
