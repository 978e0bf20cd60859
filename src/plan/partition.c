/* SPDX-License-Identifier: Apache-2.0 */
/* partition: how the cores of an op share one operand. */
#include "plan/partition.h"

#include "base/ckd.h"

static uint64_t element_bits(const hbm_program *p, const hbm_target *t,
                             hbm_tensor_id id)
{
	hbm_dtype dtype = p->tensors.items[id].dtype;
	uint32_t slot = hbm_target_slot_bits(t, hbm_dtype_name(dtype));

	return slot ? slot : hbm_dtype_bits(dtype);
}

static uint64_t last_extent(const hbm_program *p, hbm_tensor_id id)
{
	hbm_span dims = p->tensors.items[id].dims;

	return dims.n ? p->dims.items[dims.first + dims.n - 1].value : 0;
}

/* Element bits of the op's operand whose innermost dimension is this long; the
 * results come first. */
static uint64_t stick_bits(const hbm_program *p, const hbm_target *t, hbm_op_id id,
                           uint64_t extent)
{
	const hbm_op *op = &p->ops.items[id];
	hbm_span spans[] = {op->writes, op->reads};

	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t k = 0; k < spans[s].n; k++) {
			hbm_tensor_id x = p->operands.items[spans[s].first + k].tensor;
			if (last_extent(p, x) == extent && element_bits(p, t, x))
				return element_bits(p, t, x);
		}
	return 16;
}

uint64_t hbm_iter_units(const hbm_program *p, const hbm_target *t, hbm_op_id op,
                        uint32_t iter)
{
	const hbm_iter *it = &p->iters.items[p->ops.items[op].iters.first + iter];
	uint64_t stick = hbm_target_num(t, HBM_KEY_STICK, 0), bytes;

	if (!it->stick || !stick)
		return it->extent;
	bytes = hbm_mul_sat(it->extent, stick_bits(p, t, op, it->extent)) / 8;
	return bytes / stick + (bytes % stick != 0);
}

static bool fits(const hbm_dim *dim, const hbm_iter *it)
{
	return dim->sym ? dim->sym == it->name
	                : dim->value == it->extent && it->extent > 1;
}

/* The variable of a dimension; variables in `taken` belong to others. */
static uint32_t find_iter(const hbm_program *p, const hbm_op *op, const hbm_dim *dim,
                          uint64_t taken, bool *ret_ambiguous)
{
	const hbm_iter *it = p->iters.items + op->iters.first;
	uint32_t found = HBM_NONE, n = op->iters.n < 64 ? op->iters.n : 64;

	for (uint32_t k = 0; k < n; k++) {
		if (taken >> k & 1 || !fits(dim, &it[k]))
			continue;
		if (found == HBM_NONE)
			found = k;
		else if (it[k].split > 1 || it[found].split > 1)
			*ret_ambiguous = true;
	}
	return found;
}

static bool shape_known(const hbm_program *p, const hbm_tensor *x)
{
	uint64_t rows = 1;

	if (!x->dims.n || x->dims.n > HBM_MAX_RANK || !x->size)
		return false;
	for (uint32_t d = 0; d + 1 < x->dims.n; d++)
		rows = hbm_mul_sat(rows, p->dims.items[x->dims.first + d].value);
	return rows && x->size % rows == 0;
}

/* Extents and strides: rows are padded to sticks where the target has them. */
static void lay_out(const hbm_program *p, const hbm_target *t, const hbm_tensor *x,
                    hbm_partition *ret)
{
	uint64_t stick = hbm_target_num(t, HBM_KEY_STICK, 0), stride, row = x->size;
	uint32_t last = x->dims.n - 1;
	uint64_t extent = p->dims.items[x->dims.first + last].value;

	for (uint32_t d = 0; d < last; d++)
		row /= p->dims.items[x->dims.first + d].value;
	ret->n = x->dims.n;
	for (uint32_t d = 0; d < ret->n; d++)
		ret->cut[d] = (hbm_cut){.iter = HBM_NONE, .split = 1};
	if (stick && row % stick == 0)
		ret->cut[last] = (hbm_cut){row / stick, stick, HBM_NONE, 1};
	else
		ret->cut[last] = (hbm_cut){extent, extent ? row / extent : 0, HBM_NONE, 1};
	stride = row;
	for (uint32_t d = last; d-- > 0;) {
		ret->cut[d].extent = p->dims.items[x->dims.first + d].value;
		ret->cut[d].stride = stride;
		stride *= ret->cut[d].extent;
	}
}

/* Cuts the extents down to a window of `len` bytes: the outermost dimension of
 * which it holds whole positions. */
static bool cut_window(hbm_partition *ret, uint64_t len)
{
	for (uint32_t d = 0; d < ret->n; d++) {
		uint64_t stride = ret->cut[d].stride;
		if (stride && len >= stride) {
			ret->cut[d].extent = len / stride;
			return len % stride == 0;
		}
		ret->cut[d].extent = 1;
	}
	return false;
}

void hbm_partition_of(const hbm_program *p, const hbm_target *t, hbm_op_id id,
                      const hbm_operand *operand, hbm_partition *ret)
{
	const hbm_op *op = &p->ops.items[id];
	const hbm_tensor *x = &p->tensors.items[operand->tensor];
	uint64_t taken = 0, len = operand->len;

	*ret = (hbm_partition){.cores = 1};
	if (!shape_known(p, x) || operand->offset >= x->size)
		return;
	lay_out(p, t, x, ret);
	len = len ? len : x->size - operand->offset;
	ret->known = len == x->size || cut_window(ret, len);
	for (uint32_t d = 0; d < ret->n && ret->known; d++) {
		hbm_dim dim = p->dims.items[x->dims.first + d];
		uint32_t k;
		if (len != x->size && ret->cut[d].extent < dim.value)
			dim = (hbm_dim){.value = ret->cut[d].extent, .min = dim.min,
			                .sym = dim.sym};
		k = find_iter(p, op, &dim, taken, &ret->ambiguous);
		uint32_t split;
		if (k == HBM_NONE)
			continue;
		taken |= (uint64_t)1 << k;
		split = p->iters.items[op->iters.first + k].split;
		ret->cut[d].iter = k;
		ret->cut[d].split = split ? split : 1;
		if (ret->cut[d].extent % ret->cut[d].split)
			ret->known = false;
		ret->cores *= ret->cut[d].split;
	}
}

uint64_t hbm_core_offset(const hbm_program *p, hbm_op_id id,
                         const hbm_partition *cut, uint32_t core)
{
	const hbm_op *op = &p->ops.items[id];
	uint64_t offset = 0;

	for (uint32_t k = op->iters.n; k-- > 0;) {
		uint32_t split = p->iters.items[op->iters.first + k].split, at;
		split = split ? split : 1;
		at = core % split;
		core /= split;
		for (uint32_t d = 0; d < cut->n; d++)
			if (cut->cut[d].iter == k)
				offset += at * (cut->cut[d].extent / split) *
				          cut->cut[d].stride;
	}
	return offset;
}

uint64_t hbm_core_span(const hbm_partition *cut)
{
	for (uint32_t d = 0; d < cut->n; d++) {
		uint64_t n = cut->cut[d].extent / cut->cut[d].split;
		if (n > 1)
			return hbm_mul_sat(n, cut->cut[d].stride);
	}
	return cut->n ? cut->cut[cut->n - 1].stride : 0;
}
