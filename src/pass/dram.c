/* SPDX-License-Identifier: Apache-2.0
 * dram: addresses for all storages of the program in HBM, and their reuse.
 *
 * Decides    An offset in the core's window for every storage that no other tier
 *            took: storages whose lives do not meet may share bytes, over the whole
 *            program. The caller's storages come first, each for good; what is placed
 *            starts just above them.
 * Units      Sizes and offsets are multiples of the target's page (4 KiB).
 * Regions    Storages of one class (attribute `class`) have a region of their own:
 *            shared DRAM, which all cores of a pair see at one address, is no place
 *            for private data and counts once. With plain_in_shared plain storages
 *            may fill bytes of region "shared" that are free; the region does not
 *            grow for them. A limit on blocks (dram_block) cuts a region into blocks;
 *            no storage lies across two.
 * Faithful   --allocator degree-first: the order in which colouring would place, each
 *            at the lowest free gap. The default allocator is never worse.
 * Rotation   With rotation_size storages that live across basic blocks stand one behind
 *            the other in a window of their own (rotation.c).
 * On chip    Storages that demand the scratchpad get an address there.
 * Cost       What the allocator takes; blocks times that. */
#include "base/ckd.h"
#include "base/sort.h"
#include "pass/rotation.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_BLOCKS = 4096 };

/* What one call of the allocator places. */
typedef struct items {
	uint32_t n;
	uint32_t *storage; /* HBM_NONE: scratch of `op` */
	uint32_t *op;
	uint64_t *size, *align, *pin;
	int64_t *start, *end;
	hbm_sym *class;
} items;

typedef struct placer {
	hbm_pass_cx *cx;
	uint64_t page;
	uint64_t next; /* first byte above what is placed */
	items all;
} placer;

/* ---- what there is to place ----------------------------------------------- */

static hbm_sym class_of(const placer *pl, const hbm_storage *s)
{
	const hbm_analysis *an = pl->cx->an;
	const hbm_program *p = pl->cx->prog;

	for (uint32_t i = 0; i < s->members.n; i++) {
		hbm_tensor_id t = an->members[s->members.first + i];
		const hbm_attr *a = hbm_attr_find(p, p->tensors.items[t].attrs, "class");
		if (a && a->n)
			return p->values.items[a->first].str;
	}
	return 0;
}

static bool elsewhere(const placer *pl, const hbm_storage *s)
{
	const hbm_analysis *an = pl->cx->an;

	for (uint32_t i = 0; i < s->members.n; i++) {
		hbm_tensor_id t = an->members[s->members.first + i];
		if (pl->cx->prog->tensors.items[t].home.kind != HBM_HOME_NONE)
			return true;
	}
	return s->flags & (HBM_T_CALLER | HBM_T_HOST | HBM_T_DYNAMIC) ||
	       s->demand == HBM_HOME_LX;
}

static bool items_init(items *it, hbm_arena *a, uint32_t cap)
{
	it->n = 0;
	it->storage = HBM_ARRAY(a, uint32_t, cap);
	it->op = HBM_ARRAY(a, uint32_t, cap);
	it->size = HBM_ARRAY(a, uint64_t, cap);
	it->align = HBM_ARRAY(a, uint64_t, cap);
	it->pin = HBM_ARRAY(a, uint64_t, cap);
	it->start = HBM_ARRAY(a, int64_t, cap);
	it->end = HBM_ARRAY(a, int64_t, cap);
	it->class = HBM_ARRAY(a, hbm_sym, cap);
	return it->storage && it->op && it->size && it->align && it->pin && it->start &&
	       it->end && it->class;
}

static void copy_item(items *to, const items *from, uint32_t i)
{
	uint32_t k = to->n++;

	to->storage[k] = from->storage[i];
	to->op[k] = from->op[i];
	to->size[k] = from->size[i];
	to->align[k] = from->align[i];
	to->pin[k] = from->pin[i];
	to->start[k] = from->start[i];
	to->end[k] = from->end[i];
	to->class[k] = from->class[i];
}

static void add_storage(placer *pl, hbm_storage_id id)
{
	const hbm_storage *s = &pl->cx->an->storages.items[id];
	bool never = s->start == s->end, all = pl->cx->opts->no_reuse && !never;
	items *it = &pl->all;
	uint32_t k = it->n++;

	it->storage[k] = id;
	it->op[k] = HBM_NONE;
	it->size[k] = s->reserve;
	it->align[k] = s->align > pl->page ? s->align : pl->page;
	it->pin[k] = HBM_NO_OFFSET;
	it->start[k] = all ? 0 : s->start;
	it->end[k] = all ? pl->cx->an->n_ticks : s->end;
	it->class[k] = class_of(pl, s);
}

static hbm_status add_scratch(placer *pl, hbm_op_id op)
{
	items *it = &pl->all;
	uint32_t k = it->n;

	it->storage[k] = HBM_NONE;
	it->op[k] = op;
	it->align[k] = pl->page;
	it->pin[k] = HBM_NO_OFFSET;
	it->start[k] = op;
	it->end[k] = (int64_t)op + 1;
	it->class[k] = 0;
	if (!hbm_align_up(pl->cx->prog->ops.items[op].scratch, pl->page, &it->size[k]) ||
	    it->size[k] > HBM_MAX_BYTES)
		return hbm_fail(pl->cx->diags, HBM_SEMANTIC, HBM_E_SIZE_OVERFLOW, HBM_NOWHERE,
		                "scratch of op '%s' is beyond 2^62 bytes",
		                hbm_op_name(pl->cx->prog, op));
	it->n++;
	return HBM_OK;
}

static hbm_status gather(placer *pl)
{
	hbm_pass_cx *cx = pl->cx;
	uint32_t n = cx->an->storages.n;
	uint32_t *order = HBM_ARRAY(cx->scratch, uint32_t, n), k = 0;

	HBM_NEED(order);
	HBM_NEED(items_init(&pl->all, cx->scratch, n + cx->prog->ops.n));
	for (uint32_t s = 0; s < n; s++)
		if (!elsewhere(pl, &cx->an->storages.items[s]))
			order[k++] = s;
	HBM_NEED(hbm_merge_sort(cx->scratch, order, k, hbm_storage_order, cx));
	for (uint32_t i = 0; i < k; i++)
		add_storage(pl, order[i]);
	for (uint32_t o = 0; o < cx->prog->ops.n; o++)
		if (cx->prog->ops.items[o].scratch)
			HBM_TRY(add_scratch(pl, o));
	return HBM_OK;
}

/* ---- placing -------------------------------------------------------------- */

static hbm_status solve(placer *pl, const items *it, uint64_t capacity, bool some,
                        hbm_placement *ret)
{
	const hbm_plan_opts *o = pl->cx->opts;
	hbm_problem problem = {.n = it->n, .size = it->size, .start = it->start,
	                       .end = it->end, .align = it->align, .pin = it->pin,
	                       .capacity = capacity};
	hbm_solve_opts opts;

	hbm_solve_defaults(&opts);
	opts.allocator = o->allocator;
	opts.effort = o->effort;
	opts.threads = o->threads;
	opts.deadline = o->deadline;
	opts.keep_going = some;
	return hbm_solve(pl->cx->scratch, &problem, &opts, pl->cx->diags, ret);
}

static hbm_status put(placer *pl, const items *it, uint32_t i, uint64_t offset)
{
	hbm_pass_cx *cx = pl->cx;
	hbm_home home = {.kind = HBM_HOME_HBM, .bundle = HBM_NONE, .offset = offset,
	                 .size = it->size[i]};
	hbm_plan_scratch s = {it->op[i], offset, it->size[i]};

	if (it->storage[i] != HBM_NONE) {
		hbm_tensor_id root = cx->an->storages.items[it->storage[i]].root;
		cx->prog->tensors.items[root].home = home;
		return HBM_OK;
	}
	return HBM_PUSH(cx->keep, &cx->plan->scratch, s) ? HBM_OK : HBM_NOMEM;
}

/* Lower bound of the items that were placed; without reuse, of what reuse would make
 * of them. */
static hbm_status placed_bound(placer *pl, const items *it, const hbm_placement *placed,
                               uint64_t *ret)
{
	hbm_problem problem = {.n = it->n, .align = it->align, .capacity = HBM_NO_OFFSET};
	int64_t *start, *end, tick;
	uint64_t *size;

	*ret = placed->lower_bound;
	if (placed->n_placed == it->n && !pl->cx->opts->no_reuse)
		return HBM_OK;
	HBM_NEED(size = HBM_ARRAY(pl->cx->scratch, uint64_t, it->n));
	HBM_NEED(start = HBM_ARRAY(pl->cx->scratch, int64_t, it->n));
	HBM_NEED(end = HBM_ARRAY(pl->cx->scratch, int64_t, it->n));
	problem.size = size;
	problem.start = start;
	problem.end = end;
	for (uint32_t i = 0; i < it->n; i++) {
		bool storage = it->storage[i] != HBM_NONE;
		const hbm_storage *s = storage ? &pl->cx->an->storages.items[it->storage[i]]
		                               : NULL;
		size[i] = placed->offset[i] == HBM_NO_OFFSET ? 0 : it->size[i];
		start[i] = s ? s->start : it->start[i];
		end[i] = s ? s->end : it->end[i];
	}
	return hbm_lower_bound(pl->cx->scratch, &problem, ret, &tick);
}

/* Writes down where the placed items of a region are; the others go to `rest`. */
static hbm_status take(placer *pl, const items *it, const hbm_placement *placed,
                       hbm_sym class, items *rest)
{
	hbm_plan_region r = {.class = class, .base = pl->next, .extent = placed->extent,
	                     .outcome = placed->outcome, .allocator = placed->allocator};

	rest->n = 0;
	HBM_TRY(placed_bound(pl, it, placed, &r.lower_bound));
	if (r.outcome == HBM_OPTIMAL && pl->cx->opts->no_reuse && r.extent > r.lower_bound)
		r.outcome = HBM_FEASIBLE;
	for (uint32_t i = 0; i < it->n; i++) {
		if (placed->offset[i] == HBM_NO_OFFSET) {
			copy_item(rest, it, i);
			continue;
		}
		HBM_TRY(put(pl, it, i, r.base + placed->offset[i]));
		r.no_reuse = hbm_add_sat(r.no_reuse, it->size[i]);
		r.n_placed++;
	}
	if (!hbm_align_up(r.extent, pl->page, &r.extent) ||
	    !hbm_add(pl->next, r.extent, &pl->next) || pl->next > HBM_MAX_BYTES)
		return hbm_fail(pl->cx->diags, HBM_SEMANTIC, HBM_E_SIZE_OVERFLOW, HBM_NOWHERE,
		                "all storages together are beyond 2^62 bytes");
	HBM_NEED(HBM_PUSH(pl->cx->keep, &pl->cx->plan->regions, r));
	return HBM_OK;
}

static hbm_status too_large(placer *pl, const items *it, uint32_t i, uint64_t block)
{
	const hbm_program *p = pl->cx->prog;
	bool scratch = it->storage[i] == HBM_NONE;
	const char *name = scratch ? hbm_op_name(p, it->op[i])
	                           : hbm_str_of(p, hbm_storage_name(p, pl->cx->an,
	                                                            it->storage[i]));

	return hbm_fail(pl->cx->diags, HBM_UNSUPPORTED, HBM_E_BLOCK, HBM_NOWHERE,
	                "%s'%s' of %" PRIu64 " bytes is larger than a block of %" PRIu64,
	                scratch ? "scratch of op " : "", name, it->size[i], block);
}

/* One region, or blocks of limited size until all is placed. */
static hbm_status place_class(placer *pl, const items *it, hbm_sym class)
{
	uint64_t block = pl->cx->opts->dram_block / pl->page * pl->page;
	items a = *it, b, left;
	hbm_placement placed;

	HBM_NEED(items_init(&b, pl->cx->scratch, it->n));
	HBM_NEED(items_init(&left, pl->cx->scratch, it->n));
	for (uint32_t i = 0; i < it->n && pl->cx->opts->dram_block; i++)
		if (it->size[i] > block)
			return too_large(pl, it, i, pl->cx->opts->dram_block);
	for (uint32_t k = 0; a.n; k++) {
		bool some = pl->cx->opts->dram_block && k < MAX_BLOCKS;
		HBM_TRY(solve(pl, &a, some ? block : HBM_NO_OFFSET, some, &placed));
		HBM_TRY(take(pl, &a, &placed, class, &left));
		b.n = 0;
		for (uint32_t i = 0; i < left.n; i++)
			copy_item(&b, &left, i);
		a = b;
	}
	return HBM_OK;
}

/* Plain items into what the region leaves free; those that found no place go to
 * `rest`. */
static hbm_status fill_region(placer *pl, uint32_t region, const items *inside,
                              const items *plain, items *rest)
{
	hbm_plan_region *r = &pl->cx->plan->regions.items[region];
	hbm_placement placed;
	items both;

	rest->n = 0;
	HBM_NEED(items_init(&both, pl->cx->scratch, inside->n + plain->n));
	for (uint32_t i = 0; i < inside->n; i++) {
		const hbm_storage *s = &pl->cx->an->storages.items[inside->storage[i]];
		copy_item(&both, inside, i);
		both.pin[i] = pl->cx->prog->tensors.items[s->root].home.offset - r->base;
	}
	for (uint32_t i = 0; i < plain->n; i++)
		copy_item(&both, plain, i);
	HBM_TRY(solve(pl, &both, r->extent, true, &placed));
	for (uint32_t i = inside->n; i < both.n; i++) {
		if (placed.offset[i] == HBM_NO_OFFSET) {
			copy_item(rest, &both, i);
			continue;
		}
		HBM_TRY(put(pl, &both, i, r->base + placed.offset[i]));
		r->n_placed++;
	}
	return HBM_OK;
}

/* ---- rotation ------------------------------------------------------------- */

static hbm_status check_rotation(hbm_pass_cx *cx)
{
	uint64_t most = hbm_target_num(cx->target, HBM_KEY_ROTATION_MAX, 0);
	uint64_t page = hbm_target_num(cx->target, HBM_KEY_HBM_GRANULE, 1);
	uint64_t asked = cx->opts->rotation_size;

	if (!asked)
		return HBM_OK;
	if (!most)
		return hbm_fail(cx->diags, HBM_UNSUPPORTED, HBM_E_ROTATION, HBM_NOWHERE,
		                "DRAM rotation: target '%s' has no such window",
		                cx->target->name);
	if (asked == HBM_ROTATION_HIGH_WATER)
		asked = page;
	if (asked > most || asked < page)
		return hbm_fail(cx->diags, HBM_OPTION, HBM_E_ROTATION, HBM_NOWHERE,
		                "DRAM rotation window of %" PRIu64 " bytes: the least is %"
		                PRIu64 ", the most is %" PRIu64, asked, page, most);
	if (cx->opts->dram_block)
		return hbm_fail(cx->diags, HBM_OPTION, HBM_E_ROTATION, HBM_NOWHERE,
		                "DRAM rotation and blocks of limited size do not go together");
	return HBM_OK;
}

/* Bytes of the window: as asked, or what the items would take without rotation. */
static hbm_status rotation_window(placer *pl, const items *all, uint64_t *ret)
{
	uint64_t most = hbm_target_num(pl->cx->target, HBM_KEY_ROTATION_MAX, 0);
	hbm_placement placed;

	*ret = pl->cx->opts->rotation_size;
	if (*ret == HBM_ROTATION_HIGH_WATER) {
		HBM_TRY(solve(pl, all, HBM_NO_OFFSET, false, &placed));
		*ret = placed.extent < most ? placed.extent : most;
	}
	*ret = *ret / pl->page * pl->page;
	return HBM_OK;
}

/* Puts the storages that cross blocks into the window and takes them out of `plain`. */
static hbm_status fill_window(placer *pl, items *plain, const items *cross,
                              uint64_t window, items *rest)
{
	hbm_placement placed = {.outcome = HBM_FEASIBLE, .allocator = "rotation"};
	uint32_t *queue = HBM_ARRAY(pl->cx->scratch, uint32_t, cross->n);

	HBM_NEED(queue);
	HBM_NEED(placed.offset = HBM_ARRAY(pl->cx->scratch, uint64_t, cross->n));
	placed.extent = hbm_rotate(cross->n, cross->size, cross->start, cross->end, window,
	                           queue, placed.offset);
	HBM_TRY(take(pl, cross, &placed, 0, rest));
	HBM_NEED(!rest->n ||
	         hbm_warn(pl->cx->diags, HBM_E_ROTATION, HBM_NOWHERE,
	                  "DRAM rotation: of %" PRIu32 " storages that live across blocks %"
	                  PRIu32 " find no room in the window of %" PRIu64 " bytes and are "
	                  "placed like the others", cross->n, rest->n, window));
	for (uint32_t i = 0; i < rest->n; i++)
		copy_item(plain, rest, i);
	return HBM_OK;
}

static hbm_status rotate(placer *pl, items *plain)
{
	bool *crosses, branches;
	items cross, rest, stay;
	uint64_t window;

	HBM_TRY(hbm_cross_blocks(pl->cx, &crosses, &branches));
	if (branches) {
		HBM_NEED(hbm_warn(pl->cx->diags, HBM_E_ROTATION, HBM_NOWHERE,
		                  "DRAM rotation is left out: the program has branches or "
		                  "parallel groups"));
		return HBM_OK;
	}
	HBM_NEED(items_init(&cross, pl->cx->scratch, plain->n));
	HBM_NEED(items_init(&rest, pl->cx->scratch, plain->n));
	HBM_NEED(items_init(&stay, pl->cx->scratch, plain->n));
	HBM_TRY(rotation_window(pl, plain, &window));
	for (uint32_t i = 0; i < plain->n; i++) {
		bool rotates = plain->storage[i] != HBM_NONE && crosses[plain->storage[i]];
		copy_item(rotates ? &cross : &stay, plain, i);
	}
	*plain = stay;
	return cross.n ? fill_window(pl, plain, &cross, window, &rest) : HBM_OK;
}

/* ---- classes -------------------------------------------------------------- */

static void of_class(const items *all, hbm_sym class, items *ret)
{
	ret->n = 0;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->class[i] == class)
			copy_item(ret, all, i);
}

static int by_text(const void *context, uint32_t a, uint32_t b)
{
	const hbm_program *p = context;

	return strcmp(hbm_str_of(p, a), hbm_str_of(p, b));
}

/* Classes in the order of their names, each once. */
static hbm_status list_classes(const placer *pl, uint32_t **ret, uint32_t *ret_n)
{
	hbm_arena *a = pl->cx->scratch;
	hbm_map seen;
	uint32_t *ids, n = 0;

	hbm_map_init(&seen, a);
	HBM_NEED(ids = HBM_ARRAY(a, uint32_t, pl->all.n));
	for (uint32_t i = 0; i < pl->all.n; i++) {
		hbm_sym c = pl->all.class[i];
		if (hbm_map_get(&seen, c) != HBM_NONE)
			continue;
		HBM_NEED(hbm_map_set(&seen, c, 1));
		if (c)
			ids[n++] = c;
	}
	HBM_NEED(hbm_merge_sort(a, ids, n, by_text, pl->cx->prog));
	*ret = ids;
	*ret_n = n;
	return HBM_OK;
}

static hbm_status place_all(placer *pl)
{
	items some, plain, rest;
	uint32_t *classes, n;
	bool fill = pl->cx->opts->plain_in_shared && !pl->cx->opts->dram_block;

	HBM_TRY(list_classes(pl, &classes, &n));
	HBM_NEED(items_init(&some, pl->cx->scratch, pl->all.n));
	HBM_NEED(items_init(&plain, pl->cx->scratch, pl->all.n));
	HBM_NEED(items_init(&rest, pl->cx->scratch, pl->all.n));
	of_class(&pl->all, 0, &plain);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t region = pl->cx->plan->regions.n;
		of_class(&pl->all, classes[i], &some);
		HBM_TRY(place_class(pl, &some, classes[i]));
		if (fill && !strcmp(hbm_str_of(pl->cx->prog, classes[i]), "shared")) {
			items swap;
			HBM_TRY(fill_region(pl, region, &some, &plain, &rest));
			swap = plain;
			plain = rest;
			rest = swap;
		}
	}
	if (pl->cx->opts->rotation_size)
		HBM_TRY(rotate(pl, &plain));
	return place_class(pl, &plain, 0);
}

/* ---- on chip -------------------------------------------------------------- */

static uint64_t scratchpad(const hbm_target *t)
{
	uint64_t part = hbm_target_num(t, HBM_KEY_SBUF_PARTITION, 0);
	uint64_t kept = hbm_target_num(t, HBM_KEY_SBUF_RESERVED, 0);

	if (hbm_target_has(t, HBM_KEY_LX_USABLE))
		return hbm_target_num(t, HBM_KEY_LX_USABLE, 0);
	part = part > kept ? part - kept : 0;
	return hbm_mul_sat(part, hbm_target_num(t, HBM_KEY_SBUF_PARTITIONS, 0));
}

static void add_on_chip(placer *pl, items *it, hbm_storage_id id)
{
	const hbm_storage *s = &pl->cx->an->storages.items[id];
	uint32_t k = it->n++;

	it->storage[k] = id;
	it->op[k] = HBM_NONE;
	it->size[k] = s->size;
	it->align[k] = hbm_target_num(pl->cx->target, HBM_KEY_LX_ALIGN, 64);
	it->pin[k] = HBM_NO_OFFSET;
	it->start[k] = s->start;
	it->end[k] = s->end;
	it->class[k] = 0;
}

/* Storages that demand the scratchpad and have no home there yet. */
static hbm_status place_on_chip(placer *pl)
{
	hbm_pass_cx *cx = pl->cx;
	hbm_placement placed;
	items it;

	HBM_NEED(items_init(&it, cx->scratch, cx->an->storages.n));
	for (uint32_t s = 0; s < cx->an->storages.n; s++) {
		const hbm_storage *x = &cx->an->storages.items[s];
		if (x->demand == HBM_HOME_LX && !(x->flags & (HBM_T_CALLER | HBM_T_HOST)) &&
		    cx->prog->tensors.items[x->root].home.kind == HBM_HOME_NONE)
			add_on_chip(pl, &it, s);
	}
	if (!it.n)
		return HBM_OK;
	HBM_TRY(solve(pl, &it, HBM_NO_OFFSET, false, &placed));
	if (placed.extent > scratchpad(cx->target))
		HBM_NEED(hbm_warn(cx->diags, HBM_E_ON_CHIP, HBM_NOWHERE, "values that "
		                  "the program keeps on chip take %" PRIu64 " bytes at "
		                  "once; the target has %" PRIu64, placed.extent,
		                  scratchpad(cx->target)));
	for (uint32_t i = 0; i < it.n; i++)
		cx->prog->tensors.items[cx->an->storages.items[it.storage[i]].root].home =
			(hbm_home){.kind = HBM_HOME_LX, .bundle = HBM_NONE,
				           .offset = placed.offset[i], .size = it.size[i]};
	return HBM_OK;
}

/* ---- the pass ------------------------------------------------------------- */

/* The caller's storages stand below everything else. */
static hbm_status above_callers(placer *pl)
{
	const hbm_analysis *an = pl->cx->an;

	for (uint32_t s = 0; s < an->storages.n; s++) {
		const hbm_storage *x = &an->storages.items[s];
		if (x->flags & HBM_T_CALLER && !(x->flags & HBM_T_HOST))
			pl->next = hbm_add_sat(pl->next, x->reserve);
	}
	return hbm_align_up(pl->next, pl->page, &pl->next) ? HBM_OK : HBM_LIMIT;
}

static hbm_status run(hbm_pass_cx *cx)
{
	placer pl = {.cx = cx};
	uint64_t base;

	pl.page = hbm_target_num(cx->target, HBM_KEY_HBM_GRANULE, 1);
	HBM_TRY(check_rotation(cx));
	HBM_TRY(above_callers(&pl));
	HBM_TRY(place_on_chip(&pl));
	HBM_TRY(gather(&pl));
	base = pl.next;
	HBM_TRY(place_all(&pl));
	cx->plan->placed_dram = true;
	cx->plan->dram_bytes = pl.next - base;
	return HBM_OK;
}

const hbm_pass hbm_pass_dram = {
	.name = "dram",
	.summary = "places storages in HBM over the whole program, with reuse",
	.gives = HBM_FACT_DRAM,
	.run = run,
};
