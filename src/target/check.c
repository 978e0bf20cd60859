/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks a target as a whole and derives what its file leaves out:
 *
 *   pool.cap   hbm.segment - pool.headroom
 *   lx.usable  what the back end's share leaves of lx.size - lx.reserved
 *
 * Regions are checked by a sweep in order of address: O(n log n). */
#include "target/reader.h"

#include "base/ckd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000 };

static const hbm_target_value *value(const reader *rd, hbm_key key)
{
	return &rd->t->values[key];
}

static hbm_where at_key(const reader *rd, hbm_key key)
{
	return hbm_reader_line(rd, value(rd, key)->line);
}

#define WRONG(rd, where, ...)                                                       \
	hbm_reader_failed((rd), hbm_fail((rd)->d, HBM_SEMANTIC, HBM_E_TARGET_VALUE, \
	                                 (where), __VA_ARGS__))

/* ---- single values --------------------------------------------------------- */

static void check_rules(reader *rd)
{
	for (uint32_t k = 0; k < HBM_N_KEYS; k++) {
		const hbm_key_info *info = &hbm_key_infos[k];
		uint64_t v = value(rd, k)->num;
		if (!value(rd, k)->set || info->rule == HBM_RULE_ANY)
			continue;
		if (!v)
			WRONG(rd, at_key(rd, k), "%s must not be zero", info->name);
		else if (info->rule == HBM_RULE_POWER2 && (v & (v - 1)))
			WRONG(rd, at_key(rd, k),
			      "%s is %" PRIu64 ", not a power of two", info->name, v);
	}
}

static void check_family(reader *rd)
{
	static const char *const families[] = {"spyre", "neuron", "generic"};
	const hbm_target_value *v = value(rd, HBM_KEY_FAMILY);

	for (uint32_t i = 0; v->set && i < 3; i++)
		if (!strcmp(v->text, families[i]))
			return;
	if (v->set)
		WRONG(rd, at_key(rd, HBM_KEY_FAMILY),
		      "unknown family '%s'; families are spyre, neuron and generic",
		      v->text);
}

static void check_required(reader *rd)
{
	hbm_where file = {.file = rd->file};

	if (!value(rd, HBM_KEY_HBM_WINDOW)->set && !rd->seen[HBM_KEY_HBM_WINDOW])
		WRONG(rd, file, "hbm.window is missing");
	if (!rd->t->pipeline.n && !rd->first[ST_PIPELINE])
		WRONG(rd, file, "the pipeline is missing");
}

/* ---- values against each other --------------------------------------------- */

/* Where both are set, `small` must not be larger than `large`. */
static const struct {
	hbm_key small, large;
} orders[] = {
	{HBM_KEY_HBM_WINDOW, HBM_KEY_HBM_DEVICE},
	{HBM_KEY_POOL_HEADROOM, HBM_KEY_HBM_SEGMENT},
	{HBM_KEY_POOL_CAP, HBM_KEY_HBM_SEGMENT},
	{HBM_KEY_POOL_CAP, HBM_KEY_HBM_WINDOW},
	{HBM_KEY_SPAN_LIMIT, HBM_KEY_HBM_WINDOW},
	{HBM_KEY_ROTATION_MAX, HBM_KEY_HBM_WINDOW},
	{HBM_KEY_LX_RESERVED, HBM_KEY_LX_SIZE},
	{HBM_KEY_LX_USABLE, HBM_KEY_LX_SIZE},
	{HBM_KEY_SBUF_RESERVED, HBM_KEY_SBUF_PARTITION},
	{HBM_KEY_DMA_DESC, HBM_KEY_DMA_DESC_MAX},
};

static void check_orders(reader *rd)
{
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		hbm_key s = orders[i].small, l = orders[i].large;
		const hbm_target_value *small = value(rd, s), *large = value(rd, l);
		bool at_small = small->line >= large->line;
		if (!small->set || !large->set || small->num <= large->num)
			continue;
		WRONG(rd, at_key(rd, at_small ? s : l),
		      "%s (%" PRIu64 ") is larger than %s (%" PRIu64 ")",
		      hbm_key_infos[s].name, small->num, hbm_key_infos[l].name,
		      large->num);
		hbm_note(rd->d, at_key(rd, at_small ? l : s), "%s is set here",
		         hbm_key_infos[at_small ? l : s].name);
	}
}

/* What the planner and the reserved part take together. */
static void check_lx(reader *rd)
{
	const hbm_target_value *size = value(rd, HBM_KEY_LX_SIZE);
	const hbm_target_value *usable = value(rd, HBM_KEY_LX_USABLE);
	uint64_t reserved = value(rd, HBM_KEY_LX_RESERVED)->num;

	if (value(rd, HBM_KEY_LX_SHARE_PPM)->num > MILLION)
		WRONG(rd, at_key(rd, HBM_KEY_LX_SHARE_PPM),
		      "lx.backend_share_ppm is more than a million");
	if (size->set && usable->set && usable->num <= size->num &&
	    reserved <= size->num && usable->num > size->num - reserved)
		WRONG(rd, at_key(rd, HBM_KEY_LX_USABLE),
		      "lx.usable (%" PRIu64 ") and lx.reserved (%" PRIu64
		      ") are more than lx.size (%" PRIu64 ")",
		      usable->num, reserved, size->num);
}

static void check_products(reader *rd)
{
	uint64_t cores = value(rd, HBM_KEY_CORES_PER_DEVICE)->num, board;
	uint64_t devices = value(rd, HBM_KEY_DEVICES_PER_BOARD)->num;
	uint64_t used = value(rd, HBM_KEY_CORES)->num;

	if (cores && devices && hbm_mul(cores, devices, &board) && used > board)
		WRONG(rd, at_key(rd, HBM_KEY_CORES),
		      "cores (%" PRIu64 ") is more than a board has (%" PRIu64 ")",
		      used, board);
}

/* ---- regions --------------------------------------------------------------- */

/* The bytes of a space, UINT64_MAX: unlimited. False: there is no such space. */
static bool space_size(const hbm_target *t, const char *space, uint64_t *ret)
{
	uint64_t window = hbm_target_num(t, HBM_KEY_HBM_WINDOW, UINT64_MAX);

	if (!strcmp(space, "hbm"))
		*ret = hbm_target_num(t, HBM_KEY_HBM_DEVICE, window);
	else if (!strcmp(space, "lx"))
		*ret = hbm_target_num(t, HBM_KEY_LX_SIZE, UINT64_MAX);
	else if (!strcmp(space, "sbuf"))
		*ret = hbm_target_num(t, HBM_KEY_SBUF_PARTITION, UINT64_MAX);
	else if (!strcmp(space, "psum"))
		*ret = hbm_mul_sat(hbm_target_num(t, HBM_KEY_PSUM_BANK, UINT64_MAX),
		                   hbm_target_num(t, HBM_KEY_PSUM_BANKS, 1));
	else
		return false;
	return true;
}

static void check_region(reader *rd, const hbm_region *r)
{
	hbm_where where = hbm_reader_line(rd, r->line);
	uint64_t space, usable = hbm_target_num(rd->t, HBM_KEY_LX_USABLE, 0);

	if (!r->size)
		WRONG(rd, where, "region %s is empty", r->name);
	if (!space_size(rd->t, r->space, &space))
		WRONG(rd, where,
		      "unknown space '%s'; spaces are hbm, lx, sbuf and psum",
		      r->space);
	else if (r->base + r->size > space)
		WRONG(rd, where,
		      "region %s [%" PRIu64 ",%" PRIu64
		      ") ends beyond %s, which has %" PRIu64 " bytes",
		      r->name, r->base, r->base + r->size, r->space, space);
	if (!strcmp(r->space, "lx") && r->base < usable)
		WRONG(rd, where,
		      "region %s [%" PRIu64 ",%" PRIu64
		      ") lies in the planner's part of the scratchpad, [0,%" PRIu64 ")",
		      r->name, r->base, r->base + r->size, usable);
}

static int by_address(const void *x, const void *y)
{
	const hbm_region *a = x, *b = y;
	int space = strcmp(a->space, b->space);

	if (space)
		return space;
	if (a->base != b->base)
		return a->base < b->base ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static void check_overlap(reader *rd, const hbm_region *a, const hbm_region *b)
{
	uint64_t a_end = a->base + a->size, b_end = b->base + b->size;
	const hbm_region *later = b->line >= a->line ? b : a;
	const hbm_region *first = later == a ? b : a;

	if (strcmp(a->space, b->space) || b->base >= a_end || !b->size)
		return;
	hbm_reader_failed(rd, HBM_SEMANTIC);
	hbm_fail(rd->d, HBM_SEMANTIC, HBM_E_TARGET_OVERLAP,
	         hbm_reader_line(rd, later->line),
	         "%s [%" PRIu64 ",%" PRIu64 ") and %s [%" PRIu64 ",%" PRIu64
	         ") overlap by %" PRIu64 " bytes",
	         a->name, a->base, a_end, b->name, b->base, b_end,
	         (a_end < b_end ? a_end : b_end) - b->base);
	hbm_note(rd->d, hbm_reader_line(rd, first->line), "%s is declared here",
	         first->name);
}

/* Each region against the one before it that reaches farthest. */
static hbm_status check_overlaps(reader *rd)
{
	uint32_t n = rd->t->regions.n, far = 0;
	hbm_region *sorted = HBM_ARRAY(rd->arena, hbm_region, n);

	HBM_NEED(sorted);
	if (n)
		memcpy(sorted, rd->t->regions.items, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_address);
	for (uint32_t i = 1; i < n; i++) {
		const hbm_region *a = &sorted[far], *b = &sorted[i];
		check_overlap(rd, a, b);
		if (strcmp(a->space, b->space) || b->base + b->size > a->base + a->size)
			far = i;
	}
	return HBM_OK;
}

/* ---- names that stand twice ------------------------------------------------ */

typedef struct named {
	const char *kind, *scope, *name;
	uint32_t line;
} named;

static int by_name(const void *x, const void *y)
{
	const named *a = x, *b = y;
	int order = strcmp(a->kind, b->kind);

	order = order ? order : strcmp(a->scope, b->scope);
	order = order ? order : strcmp(a->name, b->name);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static void check_twice(reader *rd, named *list, uint32_t n)
{
	qsort(list, n, sizeof *list, by_name);
	for (uint32_t i = 1; i < n; i++) {
		const named *a = &list[i - 1], *b = &list[i];
		if (strcmp(a->kind, b->kind) || strcmp(a->scope, b->scope) ||
		    strcmp(a->name, b->name))
			continue;
		hbm_reader_failed(rd, HBM_SEMANTIC);
		hbm_fail(rd->d, HBM_SEMANTIC, HBM_E_DUPLICATE,
		         hbm_reader_line(rd, b->line), "%s '%s' stands twice", b->kind,
		         b->name);
		if (a->line != b->line)
			hbm_note(rd->d, hbm_reader_line(rd, a->line), "the first one");
	}
}

static hbm_status check_names(reader *rd)
{
	const hbm_target *t = rd->t;
	uint32_t n = t->regions.n + t->slots.n + t->pipeline.n, k = 0;
	named *list = HBM_ARRAY(rd->arena, named, n);

	HBM_NEED(list);
	for (uint32_t i = 0; i < t->regions.n; i++)
		list[k++] = (named){"region", t->regions.items[i].space,
		                    t->regions.items[i].name, t->regions.items[i].line};
	for (uint32_t i = 0; i < t->slots.n; i++)
		list[k++] = (named){"slot", "", t->slots.items[i].dtype,
		                    t->slots.items[i].line};
	for (uint32_t i = 0; i < t->pipeline.n; i++)
		list[k++] = (named){"pass", "", t->pipeline.items[i],
		                    rd->first[ST_PIPELINE]};
	check_twice(rd, list, n);
	return HBM_OK;
}

/* ---- all ------------------------------------------------------------------- */

static void derive(reader *rd, hbm_key key, uint64_t num, const char *from)
{
	hbm_target_value *v = &rd->t->values[key];

	if (!v->set && !rd->seen[key])
		*v = (hbm_target_value){.set = true,
		                        .derived = true,
		                        .num = num,
		                        .text = "derived",
		                        .source = from};
}

static void derive_all(reader *rd)
{
	uint64_t segment = value(rd, HBM_KEY_HBM_SEGMENT)->num;
	uint64_t headroom = value(rd, HBM_KEY_POOL_HEADROOM)->num;

	if (segment > headroom)
		derive(rd, HBM_KEY_POOL_CAP, segment - headroom,
		       "hbm.segment - pool.headroom");
	if (value(rd, HBM_KEY_LX_SIZE)->set)
		derive(rd, HBM_KEY_LX_USABLE,
		       hbm_target_lx_usable(rd->t, HBM_NO_OFFSET),
		       "lx.size, lx.reserved and lx.backend_share_ppm");
}

hbm_status hbm_target_check(reader *rd)
{
	if (rd->t->refused)
		return HBM_OK;
	derive_all(rd);
	check_required(rd);
	check_family(rd);
	check_rules(rd);
	check_orders(rd);
	check_lx(rd);
	check_products(rd);
	for (uint32_t i = 0; i < rd->t->regions.n; i++)
		check_region(rd, &rd->t->regions.items[i]);
	HBM_TRY(check_overlaps(rd));
	return check_names(rd);
}
