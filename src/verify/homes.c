/* SPDX-License-Identifier: Apache-2.0
 *
 * homes: rules that concern one storage at a time.
 *
 * Size and life are at least what the program needs; the home is of the right
 * kind, honours demands and pins, is aligned and within its space. */
#include "verify/check.h"

#include "base/ckd.h"

#include <inttypes.h>

static const hbm_plan_storage *storage_at(const hbm_check *cx, uint32_t s)
{
	return &cx->plan->storages.items[s];
}

static void check_size(hbm_check *cx, uint32_t s)
{
	const hbm_plan_storage *x = storage_at(cx, s);
	const hbm_own *o = &cx->own[s];
	const char *name = hbm_check_name(cx, s);

	if (x->size != o->size)
		HBM_FAULT(cx, x->root, "storage '%s' is said to have %" PRIu64
		          " bytes; its tensors take %" PRIu64, name, x->size, o->size);
	if (x->reserve < o->reserve)
		HBM_FAULT(cx, x->root, "storage '%s' reserves %" PRIu64
		          " bytes; it needs %" PRIu64, name, x->reserve, o->reserve);
	if ((x->flags ^ o->flags) & ~(uint32_t)HBM_T_SIZED)
		HBM_FAULT(cx, x->root, "storage '%s' has flags 0x%x; its tensors have "
		          "0x%x", name, (unsigned)x->flags, (unsigned)o->flags);
}

static void check_life(hbm_check *cx, uint32_t s)
{
	const hbm_plan_storage *x = storage_at(cx, s);
	const hbm_own *o = &cx->own[s];

	if (o->start < o->end && (x->start > o->start || x->end < o->end))
		HBM_FAULT(cx, x->root, "storage '%s' is said to be live at [%u, %u); it "
		          "is needed at [%u, %u)", hbm_check_name(cx, s), x->start,
		          x->end, o->start, o->end);
}

/* Every byte that is touched lies within the class, in every trip. */
static void check_windows(hbm_check *cx, uint32_t c)
{
	const hbm_class *k = &cx->f.classes.items[c];
	const hbm_touch *t = cx->f.touches + k->touches.first;

	for (uint32_t i = 0; i < k->touches.n && !(k->flags & HBM_T_DYNAMIC); i++) {
		const hbm_operand *o = &cx->p->operands.items[t[i].operand];
		uint64_t lo, end;
		hbm_facts_window(&cx->f, o, &lo, &end);
		end = hbm_add_sat(lo, end);
		for (uint32_t j = 0; j < o->strides.n; j++) {
			const hbm_stride *st = &cx->p->strides.items[o->strides.first + j];
			uint64_t trips = cx->p->nodes.items[st->loop].trips;
			uint64_t more = trips ? trips - 1 : 0;
			end = hbm_add_sat(end, hbm_mul_sat(st->bytes, more));
		}
		if (end > k->size)
			HBM_FAULT(cx, o->tensor, "op '%s' touches '%s' up to byte %" PRIu64
			          ", beyond the %" PRIu64 " bytes behind it",
			          hbm_check_op(cx, t[i].op),
			          hbm_tensor_name(cx->p, o->tensor), end, k->size);
	}
}

static void check_kind(hbm_check *cx, uint32_t s)
{
	const hbm_plan_storage *x = storage_at(cx, s);
	const char *name = hbm_check_name(cx, s);
	const char *home = hbm_home_kind_name(x->home.kind);
	bool callers = cx->own[s].flags & (HBM_T_CALLER | HBM_T_HOST);

	if (x->home.kind == HBM_HOME_NONE || x->home.kind > HBM_HOME_IO)
		HBM_FAULT(cx, x->root, "storage '%s' has no home", name);
	else if (callers && x->home.kind != HBM_HOME_IO)
		HBM_FAULT(cx, x->root, "storage '%s' belongs to the caller, but its home "
		          "is '%s'", name, home);
	else if (!callers && x->home.kind == HBM_HOME_IO)
		HBM_FAULT(cx, x->root, "storage '%s' is not the caller's, but its home is "
		          "'%s'", name, home);
	if ((cx->own[s].flags & HBM_T_DYNAMIC) &&
	    (x->home.kind == HBM_HOME_LX || x->home.kind == HBM_HOME_POOL))
		HBM_FAULT(cx, x->root, "storage '%s' has no static size, but its home is "
		          "'%s'", name, home);
	if ((cx->own[s].flags & HBM_T_HOST) && x->home.offset != HBM_NO_OFFSET)
		HBM_FAULT(cx, x->root, "storage '%s' is in host memory, but has offset "
		          "%" PRIu64 " of the device", name, x->home.offset);
	if ((x->home.kind == HBM_HOME_LX || x->home.kind == HBM_HOME_POOL) &&
	    x->home.offset == HBM_NO_OFFSET)
		HBM_FAULT(cx, x->root, "storage '%s' has home '%s' but no offset there",
		          name, home);
}

/* What the user asked of each tensor. */
static void check_wishes(hbm_check *cx, uint32_t s)
{
	const hbm_plan_storage *x = storage_at(cx, s);
	const hbm_plan_member *m = cx->plan->members.items + x->members.first;

	for (uint32_t i = 0; i < x->members.n; i++) {
		const hbm_tensor *t = &cx->p->tensors.items[m[i].tensor];
		const char *name = hbm_tensor_name(cx->p, m[i].tensor);
		uint64_t at = x->home.offset + m[i].offset;
		if (t->demand != HBM_HOME_NONE && t->demand != x->home.kind)
			HBM_FAULT(cx, m[i].tensor, "'%s' demands home '%s' and has '%s'",
			          name, hbm_home_kind_name(t->demand),
			          hbm_home_kind_name(x->home.kind));
		if (t->pin != HBM_NO_OFFSET && x->home.offset == HBM_NO_OFFSET)
			HBM_FAULT(cx, m[i].tensor, "'%s' is pinned at %" PRIu64
			          " and has no offset", name, t->pin);
		else if (t->pin != HBM_NO_OFFSET && at != t->pin)
			HBM_FAULT(cx, m[i].tensor, "'%s' is pinned at %" PRIu64 " and is at "
			          "%" PRIu64, name, t->pin, at);
	}
}

/* A standalone storage has no address yet; then it is its alignment that must
 * suffice. */
static void check_tensor_align(hbm_check *cx, uint32_t s, const hbm_plan_member *m)
{
	const hbm_plan_storage *x = storage_at(cx, s);
	uint64_t want = cx->p->tensors.items[m->tensor].align;
	bool placed = x->home.offset != HBM_NO_OFFSET;
	uint64_t at = (placed ? x->home.offset : 0) + m->offset;

	if (!want || x->home.kind == HBM_HOME_LX)
		return;
	if (at % want)
		HBM_FAULT(cx, m->tensor, "'%s' is at byte %" PRIu64 "%s, not a multiple of "
		          "%" PRIu64, hbm_tensor_name(cx->p, m->tensor), at,
		          placed ? "" : " of its storage", want);
	else if (!placed && x->align % want)
		HBM_FAULT(cx, m->tensor, "'%s' asks for alignment %" PRIu64 "; its "
		          "storage has %" PRIu64, hbm_tensor_name(cx->p, m->tensor), want,
		          x->align);
}

static void check_align(hbm_check *cx, uint32_t s)
{
	const hbm_plan_storage *x = storage_at(cx, s);
	bool lx = x->home.kind == HBM_HOME_LX;
	hbm_key key = lx ? HBM_KEY_LX_ALIGN : HBM_KEY_HBM_ALIGN;
	uint64_t align = hbm_target_num(cx->t, key, 1);
	bool placed = x->home.offset != HBM_NO_OFFSET;

	if (cx->own[s].flags & HBM_T_HOST)
		return;
	if (align > 1 && placed && x->home.offset % align)
		HBM_FAULT(cx, x->root, "storage '%s' is at %" PRIu64 ", not a multiple of "
		          "%" PRIu64, hbm_check_name(cx, s), x->home.offset, align);
	if (align > 1 && !placed && x->align % align)
		HBM_FAULT(cx, x->root, "storage '%s' has alignment %" PRIu64 "; the "
		          "target asks for %" PRIu64, hbm_check_name(cx, s), x->align,
		          align);
	for (uint32_t i = 0; i < x->members.n; i++)
		check_tensor_align(cx, s, &cx->plan->members.items[x->members.first + i]);
}

static void check_bounds(hbm_check *cx, uint32_t s)
{
	const hbm_plan_storage *x = storage_at(cx, s);
	const hbm_budget *b = &cx->plan->budget;
	const char *name = hbm_check_name(cx, s);
	uint64_t end, usable = hbm_target_num(cx->t, HBM_KEY_LX_USABLE, UINT64_MAX);

	if (x->home.kind == HBM_HOME_LX) {
		end = hbm_add_sat(x->home.offset, x->home.size);
		if (end > usable)
			HBM_FAULT(cx, x->root, "storage '%s' ends at %" PRIu64 ", beyond the "
			          "%" PRIu64 " bytes of scratchpad", name, end, usable);
		return;
	}
	if (x->home.size && x->home.size < cx->own[s].reserve)
		HBM_FAULT(cx, x->root, "home of '%s' has %" PRIu64 " bytes; it needs "
		          "%" PRIu64, name, x->home.size, cx->own[s].reserve);
	if (x->home.offset == HBM_NO_OFFSET)
		return;
	end = hbm_add_sat(x->home.offset, cx->own[s].reserve);
	if (end > HBM_MAX_BYTES || (b->checked && b->fits && end > b->limit))
		HBM_FAULT(cx, x->root, "storage '%s' ends at %" PRIu64 ", beyond the window "
		          "of %" PRIu64 " bytes", name, end, b->limit);
}

void hbm_check_homes(hbm_check *cx)
{
	for (uint32_t s = 0; s < cx->plan->storages.n; s++) {
		check_size(cx, s);
		check_life(cx, s);
		check_kind(cx, s);
		check_wishes(cx, s);
		check_align(cx, s);
		check_bounds(cx, s);
	}
	for (uint32_t c = 0; c < cx->f.classes.n; c++)
		check_windows(cx, c);
}
