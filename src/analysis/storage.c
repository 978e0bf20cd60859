/* SPDX-License-Identifier: Apache-2.0
 * storage: from classes of tensors to storages with size, flags and accesses.
 *
 * A storage is as large as the largest offset + size among its tensors, where a
 * tile counts once per trip of the loops that an access advances it on. Two
 * counting sorts give each storage its members and its accesses in ascending order.
 * Cost: linear in tensors and operands. */
#include "analysis/internal.h"
#include "base/ckd.h"
#include "ir/size.h"

#include <inttypes.h>

/* Numbers the classes by their lowest tensor and shifts each so that its lowest
 * byte is 0. */
static hbm_status number(hbm_analysis *an, const hbm_program *p, hbm_classes *c)
{
	uint32_t n = p->tensors.n;
	int64_t *shift = HBM_ARRAY(an->arena, int64_t, n);
	int64_t *low = HBM_ARRAY(an->arena, int64_t, n);

	HBM_NEED(shift && low);
	HBM_NEED(an->of = HBM_ARRAY(an->arena, hbm_storage_id, n));
	HBM_NEED(an->offset = HBM_ARRAY(an->arena, uint64_t, n));
	for (uint32_t t = 0; t < n; t++) {
		hbm_tensor_id rep = hbm_class_of(c, t, &shift[t]);
		if (rep == t) { /* representatives are the lowest ids */
			hbm_storage s = {.root = t, .align = 1, .pin = HBM_NO_OFFSET,
			                 .advance = 1, .first_write = HBM_NONE,
			                 .last_read = HBM_NONE};
			low[an->storages.n] = INT64_MAX;
			an->of[t] = an->storages.n;
			HBM_NEED(HBM_PUSH(an->arena, &an->storages, s));
		}
		an->of[t] = an->of[rep];
		if (shift[t] < low[an->of[t]])
			low[an->of[t]] = shift[t];
	}
	for (uint32_t t = 0; t < n; t++)
		an->offset[t] = (uint64_t)(shift[t] - low[an->of[t]]);
	return HBM_OK;
}

static hbm_status too_large(const hbm_program *p, hbm_diags *d, hbm_tensor_id t,
                            uint64_t factor)
{
	const hbm_tensor *x = &p->tensors.items[t];

	return hbm_fail(d, HBM_SEMANTIC, HBM_E_SIZE_OVERFLOW,
	                hbm_at(p, x->line, x->col, 0),
	                "storage of '%s': offset plus %" PRIu64 " bytes times %" PRIu64
	                " trips is beyond 2^62 bytes",
	                hbm_tensor_name(p, t), x->size, factor);
}

static hbm_status demands(const hbm_program *p, hbm_diags *d, hbm_storage *s,
                          hbm_tensor_id t)
{
	const hbm_tensor *x = &p->tensors.items[t];
	bool home_clash = x->demand && s->demand && x->demand != s->demand;

	if (home_clash)
		return hbm_fail(d, HBM_SEMANTIC, HBM_E_DEMAND,
		                hbm_at(p, x->line, x->col, 0),
		                "'%s' and '%s' share storage but demand different homes",
		                hbm_tensor_name(p, s->root), hbm_tensor_name(p, t));
	if (x->demand)
		s->demand = x->demand;
	return HBM_OK;
}

static hbm_status pins(const hbm_program *p, hbm_diags *d, hbm_storage *s,
                       hbm_tensor_id t, uint64_t offset)
{
	const hbm_tensor *x = &p->tensors.items[t];
	uint64_t at = x->pin - offset;

	if (x->pin == HBM_NO_OFFSET)
		return HBM_OK;
	if (x->pin < offset || (s->pin != HBM_NO_OFFSET && s->pin != at))
		return hbm_fail(d, HBM_SEMANTIC, HBM_E_DEMAND,
		                hbm_at(p, x->line, x->col, 0),
		                "'%s' is pinned at %" PRIu64 ", which its storage, that "
		                "of '%s', cannot meet",
		                hbm_tensor_name(p, t), x->pin, hbm_tensor_name(p, s->root));
	s->pin = at;
	return HBM_OK;
}

static hbm_status add_member(hbm_analysis *an, const hbm_program *p, hbm_diags *d,
                             const hbm_tiles *tiles, hbm_tensor_id t)
{
	const hbm_tensor *x = &p->tensors.items[t];
	hbm_storage *s = &an->storages.items[an->of[t]];
	uint64_t end;

	if (!hbm_mul(x->size, tiles->factor[t], &end) ||
	    !hbm_add(end, an->offset[t], &end) || end > HBM_MAX_BYTES)
		return too_large(p, d, t, tiles->factor[t]);
	if (end > s->size)
		s->size = end;
	if (tiles->factor[t] > s->advance)
		s->advance = tiles->factor[t];
	if (x->align > s->align)
		s->align = x->align;
	s->flags |= x->flags & ~(uint32_t)(HBM_T_SIZED);
	if (tiles->unknown[t])
		s->flags |= HBM_T_DYNAMIC;
	if (!an->offset[t] && an->offset[s->root])
		s->root = t;
	s->members.n++;
	HBM_TRY(demands(p, d, s, t));
	return pins(p, d, s, t, an->offset[t]);
}

static hbm_status sum_too_large(const hbm_program *p, hbm_diags *d, hbm_tensor_id t)
{
	const hbm_tensor *x = &p->tensors.items[t];

	return hbm_fail(d, HBM_SEMANTIC, HBM_E_SIZE_OVERFLOW, hbm_at(p, x->line, x->col, 0),
	                "storages up to that of '%s' are larger than 2^62 bytes together",
	                hbm_tensor_name(p, t));
}

static hbm_status list_members(hbm_analysis *an, const hbm_program *p)
{
	uint32_t next = 0;

	HBM_NEED(an->members = HBM_ARRAY(an->arena, hbm_tensor_id, p->tensors.n));
	for (uint32_t s = 0; s < an->storages.n; s++) {
		an->storages.items[s].members.first = next;
		next += an->storages.items[s].members.n;
		an->storages.items[s].members.n = 0;
	}
	for (uint32_t t = 0; t < p->tensors.n; t++) {
		hbm_span *m = &an->storages.items[an->of[t]].members;
		an->members[m->first + m->n++] = t;
	}
	return HBM_OK;
}

static void add_access(hbm_analysis *an, const hbm_program *p, hbm_op_id op,
                       hbm_span operands, bool write)
{
	for (uint32_t i = 0; i < operands.n; i++) {
		uint32_t k = operands.first + i;
		hbm_storage *s = &an->storages.items[an->of[p->operands.items[k].tensor]];
		an->accesses[s->accesses.first + s->accesses.n++] =
			(hbm_access){op, k, write};
		if (write) {
			s->n_writes++;
			if (s->first_write == HBM_NONE)
				s->first_write = op;
		} else {
			s->n_reads++;
			s->last_read = op;
		}
	}
}

/* Reads of an op stand before its writes. */
static hbm_status list_accesses(hbm_analysis *an, const hbm_program *p)
{
	uint32_t next = 0;

	HBM_NEED(an->accesses = HBM_ARRAY(an->arena, hbm_access, p->operands.n));
	for (uint32_t o = 0; o < p->ops.n; o++) {
		const hbm_op *op = &p->ops.items[o];
		for (uint32_t i = 0; i < op->reads.n; i++)
			an->storages.items[an->of[p->operands.items[op->reads.first + i].tensor]].accesses.n++;
		for (uint32_t i = 0; i < op->writes.n; i++)
			an->storages.items[an->of[p->operands.items[op->writes.first + i].tensor]].accesses.n++;
	}
	for (uint32_t s = 0; s < an->storages.n; s++) {
		an->storages.items[s].accesses.first = next;
		next += an->storages.items[s].accesses.n;
		an->storages.items[s].accesses.n = 0;
	}
	for (uint32_t o = 0; o < p->ops.n; o++) {
		add_access(an, p, o, p->ops.items[o].reads, false);
		add_access(an, p, o, p->ops.items[o].writes, true);
	}
	return HBM_OK;
}

/* Granule and alignment of the target; a storage larger than the sums allow is
 * refused. */
static hbm_status reserve(hbm_analysis *an, const hbm_program *p,
                          const hbm_target *t, hbm_diags *d)
{
	uint64_t granule = hbm_target_num(t, HBM_KEY_HBM_GRANULE, 1);
	uint64_t align = hbm_target_num(t, HBM_KEY_HBM_ALIGN, 1);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < an->storages.n; i++) {
		hbm_storage *s = &an->storages.items[i];
		if (s->align < align)
			s->align = align;
		if (!hbm_align_up(s->size, granule, &s->reserve) ||
		    !hbm_add(sum, s->reserve, &sum) || sum > HBM_MAX_BYTES)
			return sum_too_large(p, d, s->root);
	}
	return HBM_OK;
}

hbm_status hbm_storages_build(hbm_analysis *an, const hbm_program *p,
                              const hbm_target *t, hbm_classes *c, hbm_diags *d)
{
	hbm_tiles tiles;

	an->storages.n = 0;
	HBM_TRY(hbm_tiles_count(an->arena, p, &tiles));
	HBM_TRY(number(an, p, c));
	for (uint32_t i = 0; i < p->tensors.n; i++)
		HBM_TRY(add_member(an, p, d, &tiles, i));
	HBM_TRY(list_members(an, p));
	HBM_TRY(list_accesses(an, p));
	return reserve(an, p, t, d);
}
