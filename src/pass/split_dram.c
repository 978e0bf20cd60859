/* SPDX-License-Identifier: Apache-2.0
 * split-dram: divides tensors too large for the device window (seed B's
 * split_huge_dram_tensor and vn_split_dram_node).
 *
 * Decides    A tensor above the threshold is cut along one dimension, the outermost
 *            that may be and whose single slice is within the limit. The threshold is
 *            never above the window; a size equal to it is left alone.
 * Parts      As few as can be. If a divisor of the extent gives at most twice as many,
 *            the least such divisor, so that parts are equal; else the last part is
 *            the smaller one. Arithmetic only: no candidates are tried one by one.
 *            Parts cover the tensor once, in order, named <name>_VN_<k>.
 * Users      An access to all of the tensor becomes one to each part; a window of
 *            bytes becomes windows of the parts it meets. Views move to the part
 *            they lie in.
 * Refused    With a reason and figures (plan.h, HBM_UNSPLIT_MAP): the tensor reaches
 *            the allocator intact. --no-split-dram refuses splits whose parts would
 *            be above the per-split limit, and no others.
 * Cost       Linear in tensors and operands, and in the parts. */
#include "base/ckd.h"
#include "pass/pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PARTS = 4096 };

/* How one tensor is cut. */
typedef struct cut {
	hbm_tensor_id whole;  /* becomes part 0 */
	uint32_t split;       /* in plan.splits */
	uint64_t slice;       /* bytes of one index of the dimension */
	uint64_t block;       /* indices in a part */
	uint32_t n_parts;
	bool contiguous;      /* parts are ranges of the tensor's bytes */
} cut;

typedef struct splitter {
	hbm_pass_cx *cx;
	hbm_program *p;
	uint64_t limit, part_limit;
	uint32_t *cut_of;     /* root tensor -> cut, HBM_NONE */
	bool *shared;         /* tensor -> in a mandatory in-place pair or reduction */
	HBM_VEC(cut) cuts;
} splitter;

/* ---- the dimension -------------------------------------------------------- */

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

/* The least divisor of `extent` in [least, 2 * least], else `least`. */
static uint64_t part_count(uint64_t extent, uint64_t least)
{
	uint64_t most = 2 * least < MAX_PARTS ? 2 * least : MAX_PARTS;

	for (uint64_t k = least; k <= most && k <= extent; k++)
		if (extent % k == 0)
			return k;
	return least;
}

static bool may_cut(const hbm_dim *d)
{
	return !d->nosplit && !d->unknown && d->min == d->value && d->value > 1;
}

/* The outermost dimension that may be cut so that every part is within the limit;
 * false: `why` has the reason. */
static bool choose(const splitter *s, const hbm_tensor *t, cut *c, hbm_plan_split *why)
{
	uint64_t fixed = 0, fewest = 0;

	c->contiguous = true;
	for (uint32_t i = 0; i < t->dims.n; i++) {
		const hbm_dim *d = &s->p->dims.items[t->dims.first + i];
		uint64_t rows;
		fixed += d->nosplit;
		c->slice = d->value ? t->size / d->value : 0;
		rows = c->slice ? s->limit / c->slice : 0;
		if (may_cut(d) && rows) {
			uint64_t n = part_count(d->value, div_up(d->value, rows));
			if (n <= MAX_PARTS) {
				c->block = div_up(d->value, n);
				c->n_parts = (uint32_t)div_up(d->value, c->block);
				why->dim = i;
				why->extent = d->value;
				why->block = c->block;
				return true;
			}
			fewest = fewest && fewest < n ? fewest : n;
		}
		c->contiguous &= d->value == 1;
	}
	why->refused = fewest ? HBM_UNSPLIT_PARTS : HBM_UNSPLIT_NO_DIM;
	why->figure[0] = fewest ? fewest : t->dims.n;
	why->figure[1] = fewest ? MAX_PARTS : fixed;
	return false;
}

/* ---- whether -------------------------------------------------------------- */

static bool elements_only(const splitter *s, const hbm_tensor *t, uint64_t *ret_bytes)
{
	uint64_t n = 1, bits = hbm_dtype_bits(t->dtype), slot;

	slot = hbm_target_slot_bits(s->cx->target, hbm_dtype_name(t->dtype));
	bits = slot ? slot : bits;
	for (uint32_t i = 0; i < t->dims.n; i++)
		n = hbm_mul_sat(n, s->p->dims.items[t->dims.first + i].value);
	*ret_bytes = hbm_mul_sat(n, bits) / 8;
	return bits % 8 == 0 && *ret_bytes == t->size;
}

static hbm_status name_part(splitter *s, const hbm_plan_split *why, uint32_t k,
                            hbm_sym *ret)
{
	char tail[24];
	const char *name = hbm_str_of(s->p, why->name);
	int n = snprintf(tail, sizeof tail, "_VN_%" PRIu32, k);
	char *text = HBM_ARRAY(s->cx->scratch, char, strlen(name) + sizeof tail);

	HBM_NEED(text);
	strcpy(text, name);
	strcat(text, tail);
	*ret = hbm_intern(&s->p->syms, text, strlen(name) + (size_t)n);
	return *ret == HBM_NONE ? HBM_NOMEM : HBM_OK;
}

static hbm_status names_free(splitter *s, const hbm_plan_split *why, uint32_t n_parts,
                             bool *ret)
{
	*ret = true;
	for (uint32_t k = 0; k < n_parts && *ret; k++) {
		hbm_sym sym;
		HBM_TRY(name_part(s, why, k, &sym));
		*ret = hbm_find_tensor(s->p, sym) == HBM_NONE;
	}
	return HBM_OK;
}

/* What the declaration alone rules out. */
static hbm_unsplit_id by_tensor(const splitter *s, hbm_tensor_id id,
                                hbm_plan_split *why)
{
	const hbm_tensor *t = &s->p->tensors.items[id];

	if (t->flags & (HBM_T_INPUT | HBM_T_OUTPUT | HBM_T_STATE))
		return HBM_UNSPLIT_CALLER;
	if (t->flags & HBM_T_TILE)
		return HBM_UNSPLIT_TILE;
	if (t->pin != HBM_NO_OFFSET) {
		why->figure[0] = t->pin;
		return HBM_UNSPLIT_PINNED;
	}
	if (s->shared[id])
		return HBM_UNSPLIT_SHARED;
	if (t->dims.n && !t->device.n && !elements_only(s, t, &why->figure[1])) {
		why->figure[0] = t->size;
		return HBM_UNSPLIT_PADDED;
	}
	return t->device.n ? HBM_UNSPLIT_PADDED : HBM_UNSPLIT_NONE;
}

static hbm_status refuse(splitter *s, const hbm_plan_split *why)
{
	const hbm_tensor *t = &s->p->tensors.items[hbm_find_tensor(s->p, why->name)];
	bool figures = why->figure[0] || why->figure[1];

	HBM_NEED(hbm_warn(s->cx->diags, HBM_E_UNSPLIT, hbm_at(s->p, t->line, t->col, 0),
	                  "'%s' of %" PRIu64 " bytes is above the split threshold of %"
	                  PRIu64 " and stays whole: %s", hbm_str_of(s->p, why->name),
	                  why->size, why->limit, hbm_unsplit_text(why->refused)));
	if (figures)
		hbm_note(s->cx->diags, HBM_NOWHERE, "%" PRIu64 ", %" PRIu64, why->figure[0],
		         why->figure[1]);
	return HBM_OK;
}

static hbm_status consider(splitter *s, hbm_tensor_id id, cut *c, hbm_plan_split *why)
{
	const hbm_tensor *t = &s->p->tensors.items[id];
	bool free;

	why->refused = by_tensor(s, id, why);
	if (why->refused || !choose(s, t, c, why))
		return HBM_OK;
	if (s->cx->opts->no_split_dram &&
	    hbm_mul_sat(c->slice, c->block) > s->part_limit) {
		why->refused = HBM_UNSPLIT_PART_LIMIT;
		why->figure[0] = hbm_mul_sat(c->slice, c->block);
		why->figure[1] = s->part_limit;
		return HBM_OK;
	}
	HBM_TRY(names_free(s, why, c->n_parts, &free));
	if (!free)
		why->refused = HBM_UNSPLIT_NAME;
	return HBM_OK;
}

static hbm_status find_large(splitter *s)
{
	for (uint32_t id = 0; id < s->p->tensors.n; id++) {
		const hbm_tensor *t = &s->p->tensors.items[id];
		hbm_plan_split why = {.name = t->name, .size = t->size, .limit = s->limit};
		cut c = {.whole = id, .split = s->cx->plan->splits.n};
		s->cut_of[id] = HBM_NONE;
		if (t->base != HBM_NONE || t->size <= s->limit ||
		    t->flags & (HBM_T_DYNAMIC | HBM_T_HOST))
			continue;
		HBM_TRY(consider(s, id, &c, &why));
		if (!why.refused) {
			s->cut_of[id] = s->cuts.n;
			HBM_NEED(HBM_PUSH(s->cx->scratch, &s->cuts, c));
		}
		HBM_NEED(HBM_PUSH(s->cx->keep, &s->cx->plan->splits, why));
	}
	return HBM_OK;
}

/* ---- users ---------------------------------------------------------------- */

static cut *cut_at(const splitter *s, hbm_tensor_id t, uint64_t *ret_offset)
{
	hbm_tensor_id root = hbm_view_root(s->p, t, ret_offset);

	return s->cut_of[root] == HBM_NONE ? NULL : &s->cuts.items[s->cut_of[root]];
}

static void give_up(splitter *s, cut *c, hbm_unsplit_id why)
{
	s->cut_of[c->whole] = HBM_NONE;
	s->cx->plan->splits.items[c->split].refused = why;
}

static uint64_t part_bytes(const cut *c)
{
	return c->slice * c->block;
}

/* A view must lie within one part. */
static void check_view(splitter *s, hbm_tensor_id id)
{
	const hbm_tensor *t = &s->p->tensors.items[id];
	uint64_t at;
	cut *c;

	if (t->base == HBM_NONE)
		return;
	c = cut_at(s, id, &at);
	if (c && (!c->contiguous || s->shared[id] ||
	          (t->size && at / part_bytes(c) != (at + t->size - 1) / part_bytes(c))))
		give_up(s, c, HBM_UNSPLIT_VIEW);
}

static bool covers_all(const splitter *s, const hbm_operand *o)
{
	const hbm_tensor *t = &s->p->tensors.items[o->tensor];

	return t->base == HBM_NONE && !o->offset && !o->strides.n &&
	       (!o->len || o->len == t->size);
}

static void check_operand(splitter *s, const hbm_operand *o)
{
	uint64_t at;
	cut *c = cut_at(s, o->tensor, &at);

	if (!c || covers_all(s, o) || s->p->tensors.items[o->tensor].base != HBM_NONE)
		return;
	if (!c->contiguous || o->strides.n)
		give_up(s, c, HBM_UNSPLIT_WINDOW);
}

static void check_users(splitter *s)
{
	for (uint32_t t = 0; t < s->p->tensors.n; t++)
		check_view(s, t);
	for (uint32_t o = 0; o < s->p->ops.n; o++) {
		const hbm_op *op = &s->p->ops.items[o];
		for (uint32_t i = 0; i < op->reads.n; i++)
			check_operand(s, &s->p->operands.items[op->reads.first + i]);
		for (uint32_t i = 0; i < op->writes.n; i++)
			check_operand(s, &s->p->operands.items[op->writes.first + i]);
	}
}

/* ---- making the parts ----------------------------------------------------- */

static hbm_status shape_part(splitter *s, const cut *c, const hbm_tensor *whole,
                             hbm_tensor *part, uint32_t k)
{
	const hbm_plan_split *why = &s->cx->plan->splits.items[c->split];
	uint64_t first = k * c->block, rows = why->extent - first;
	hbm_span dims = {0};

	rows = rows < c->block ? rows : c->block;
	for (uint32_t i = 0; i < whole->dims.n; i++) {
		hbm_dim d = s->p->dims.items[whole->dims.first + i];
		if (i == why->dim)
			d = (hbm_dim){.value = rows, .min = rows};
		HBM_NEED(hbm_add_dim(s->p, &dims, d));
	}
	part->dims = dims;
	part->size = rows * c->slice;
	return HBM_OK;
}

static hbm_status make_parts(splitter *s, const cut *c)
{
	hbm_plan *plan = s->cx->plan;
	hbm_plan_split *why = &plan->splits.items[c->split];
	hbm_tensor whole = s->p->tensors.items[c->whole];

	why->parts = (hbm_span){plan->parts.n, c->n_parts};
	for (uint32_t k = 0; k < c->n_parts; k++) {
		hbm_tensor part = whole;
		hbm_tensor_id id = c->whole;
		HBM_TRY(name_part(s, why, k, &part.name));
		HBM_TRY(shape_part(s, c, &whole, &part, k));
		if (k)
			id = hbm_add_tensor(s->p, part.name);
		else
			HBM_NEED(hbm_map_set(&s->p->by_name, part.name, id));
		HBM_NEED(id != HBM_NONE);
		s->p->tensors.items[id] = part;
		HBM_NEED(HBM_PUSH(s->cx->keep, &plan->parts, id));
	}
	return HBM_OK;
}

static hbm_tensor_id part_of(const splitter *s, const cut *c, uint64_t k)
{
	const hbm_plan *plan = s->cx->plan;

	return plan->parts.items[plan->splits.items[c->split].parts.first + k];
}

/* ---- rewriting ------------------------------------------------------------ */

/* Appends what becomes of one operand; *ret_n items. */
static hbm_status expand(splitter *s, const hbm_operand *old, const cut *c,
                         uint32_t *ret_n)
{
	hbm_program *p = s->p;
	hbm_plan_split *why = &s->cx->plan->splits.items[c->split];
	uint64_t whole = why->size, part = part_bytes(c);
	uint64_t from = old->offset, to = old->len ? old->offset + old->len : whole;
	bool all = !old->offset && to == whole;

	*ret_n = 0;
	why->n_users++;
	for (uint64_t k = all ? 0 : from / part; k < c->n_parts && (all || k * part < to); k++) {
		uint64_t lo = k * part, hi = lo + part < whole ? lo + part : whole;
		hbm_operand o = {.tensor = part_of(s, c, k)};
		if (!all && from > lo)
			o.offset = from - lo;
		if (!all && (from > lo || to < hi))
			o.len = (to < hi ? to : hi) - (lo + o.offset);
		HBM_NEED(HBM_PUSH(p->arena, &p->operands, o));
		(*ret_n)++;
	}
	return HBM_OK;
}

/* Rewrites a span; `place` tells where each old operand went, HBM_NONE: to parts. */
static hbm_status rewrite_span(splitter *s, hbm_span *span, uint32_t *place)
{
	hbm_program *p = s->p;
	hbm_span out = {.first = p->operands.n};

	for (uint32_t i = 0; i < span->n; i++) {
		hbm_operand o = p->operands.items[span->first + i];
		bool view = p->tensors.items[o.tensor].base != HBM_NONE;
		uint64_t at;
		cut *c = view ? NULL : cut_at(s, o.tensor, &at);
		uint32_t n = 1;
		place[i] = c ? HBM_NONE : out.n;
		if (c)
			HBM_TRY(expand(s, &o, c, &n));
		else
			HBM_NEED(HBM_PUSH(p->arena, &p->operands, o));
		out.n += n;
	}
	*span = out;
	return HBM_OK;
}

/* Pairs with a tensor that was split go; the others follow their operands. */
static void follow_pairs(splitter *s, hbm_op *op, const uint32_t *reads,
                         const uint32_t *writes)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < op->inplace.n; i++) {
		hbm_inplace in = s->p->inplaces.items[op->inplace.first + i];
		in.read = reads[in.read];
		in.write = writes[in.write];
		if (in.read != HBM_NONE && in.write != HBM_NONE)
			s->p->inplaces.items[op->inplace.first + kept++] = in;
	}
	op->inplace.n = kept;
}

static bool touches(const splitter *s, hbm_span span)
{
	uint64_t at;

	for (uint32_t i = 0; i < span.n; i++)
		if (cut_at(s, s->p->operands.items[span.first + i].tensor, &at))
			return true;
	return false;
}

static hbm_status rewrite_op(splitter *s, hbm_op_id id)
{
	hbm_op *op = &s->p->ops.items[id];
	uint32_t *reads, *writes;

	if (!touches(s, op->reads) && !touches(s, op->writes))
		return HBM_OK;
	HBM_NEED(reads = HBM_ARRAY(s->cx->scratch, uint32_t, op->reads.n));
	HBM_NEED(writes = HBM_ARRAY(s->cx->scratch, uint32_t, op->writes.n));
	HBM_TRY(rewrite_span(s, &op->reads, reads));
	HBM_TRY(rewrite_span(s, &op->writes, writes));
	follow_pairs(s, op, reads, writes);
	return HBM_OK;
}

/* Views move to their part while the tensor still stands whole. */
static void move_views(splitter *s, hbm_tensor_id id, hbm_tensor_id *base,
                       uint64_t *offset)
{
	uint64_t at;
	cut *c = cut_at(s, id, &at);

	*base = HBM_NONE;
	if (!c || s->p->tensors.items[id].base == HBM_NONE)
		return;
	*base = part_of(s, c, at / part_bytes(c));
	*offset = at % part_bytes(c);
}

static hbm_status rewrite(splitter *s)
{
	uint32_t n = s->p->tensors.n;
	hbm_tensor_id *base = HBM_ARRAY(s->cx->scratch, hbm_tensor_id, n);
	uint64_t *offset = HBM_ARRAY(s->cx->scratch, uint64_t, n);

	HBM_NEED(base && offset);
	for (uint32_t i = 0; i < s->cuts.n; i++)
		if (s->cut_of[s->cuts.items[i].whole] == i)
			HBM_TRY(make_parts(s, &s->cuts.items[i]));
	for (uint32_t o = 0; o < s->p->ops.n; o++)
		HBM_TRY(rewrite_op(s, o));
	for (uint32_t t = 0; t < n; t++)
		move_views(s, t, &base[t], &offset[t]);
	for (uint32_t t = 0; t < n; t++)
		if (base[t] != HBM_NONE) {
			s->p->tensors.items[t].base = base[t];
			s->p->tensors.items[t].offset = offset[t];
		}
	return HBM_OK;
}

/* ---- the pass ------------------------------------------------------------- */

static void mark_pairs(const splitter *s, const hbm_op *op)
{
	for (uint32_t i = 0; i < op->inplace.n; i++) {
		const hbm_inplace *in = &s->p->inplaces.items[op->inplace.first + i];
		if (!in->must)
			continue;
		s->shared[s->p->operands.items[op->reads.first + in->read].tensor] = true;
		s->shared[s->p->operands.items[op->writes.first + in->write].tensor] = true;
	}
}

static hbm_status mark_shared(splitter *s)
{
	HBM_NEED(s->shared = HBM_ZARRAY(s->cx->scratch, bool, s->p->tensors.n));
	for (uint32_t o = 0; o < s->p->ops.n; o++)
		mark_pairs(s, &s->p->ops.items[o]);
	for (uint32_t i = 0; i < s->p->reductions.n; i++)
		s->shared[s->p->reductions.items[i].acc] = true;
	return HBM_OK;
}

static hbm_status limits(splitter *s)
{
	uint64_t window = hbm_target_num(s->cx->target, HBM_KEY_HBM_WINDOW, HBM_MAX_BYTES);
	uint64_t asked = s->cx->opts->split_threshold;
	uint64_t part = s->cx->opts->split_part;

	s->limit = asked && asked < window ? asked : window;
	s->part_limit = part ? part : hbm_target_num(s->cx->target, HBM_KEY_SPLIT_PART,
	                                             s->limit);
	return HBM_OK;
}

static hbm_status run(hbm_pass_cx *cx)
{
	splitter s = {.cx = cx, .p = cx->prog};

	HBM_TRY(limits(&s));
	HBM_NEED(s.cut_of = HBM_ARRAY(cx->scratch, uint32_t, s.p->tensors.n));
	HBM_TRY(mark_shared(&s));
	HBM_TRY(find_large(&s));
	if (s.cuts.n)
		check_users(&s);
	for (uint32_t i = 0; i < cx->plan->splits.n; i++)
		if (cx->plan->splits.items[i].refused)
			HBM_TRY(refuse(&s, &cx->plan->splits.items[i]));
	return s.cuts.n ? rewrite(&s) : HBM_OK;
}

const hbm_pass hbm_pass_split_dram = {
	.name = "split-dram",
	.summary = "divides tensors that are too large for the device window",
	.gives = HBM_FACT_SPLIT,
	.before = HBM_FACT_LX | HBM_FACT_POOLS | HBM_FACT_DRAM,
	.breaks_analysis = true,
	.run = run,
};
