/* SPDX-License-Identifier: Apache-2.0 */
/* spyre_build: tensors and ops from addresses.
 *
 * Method    Addresses are all there is, so values are found by who wrote last: each
 *           write makes a tensor at its bytes (or, where the op also reads exactly
 *           these, changes the one that is there); a read means the tensor whose
 *           bytes it finds. Several that lie side by side and are read as one become
 *           views of one.
 * HBM       Bundles of today have a pool of their own and arguments. Older ones use
 *           absolute addresses: each argument has a segment; segment 0 holds the
 *           intermediates of all bundles, at addresses that are checked as such, or
 *           an argument where it is read and nobody wrote it.
 * Faults    a read of pool or scratchpad bytes that no op wrote in full, and a pool
 *           that is too small, break a rule of plans: HBM_VERIFY.
 * Cost      O(operands * (log + pieces read)). */
#include "import/spyre_build.h"

#include "base/ckd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef hbm_spyre_builder builder;
typedef hbm_spyre_pieces pieces;
typedef hbm_spyre_region region;

/* An operand with its address worked out. */
typedef struct place {
	hbm_spyre_space space;
	uint32_t arg;
	uint64_t lo, len, reach; /* reach: end over all trips */
	const hbm_spyre_addr *steps; /* NULL: it stays */
	hbm_operand operand;
} place;

static hbm_status bad(const builder *b, const char *fmt, const char *op, uint64_t lo,
                      uint64_t hi)
{
	hbm_where at = {.file = b->path, .line = b->item->line};

	return hbm_fail(b->d, HBM_VERIFY, HBM_E_BUNDLE, at, fmt, op, lo, hi);
}

static hbm_sym format_name(builder *b, const char *stem, const char *suffix)
{
	char text[256];
	int n = b->bundle ? snprintf(text, sizeof text, "b%" PRIu32 ".%s%s", b->bundle,
	                             stem, suffix)
	                  : snprintf(text, sizeof text, "%s%s", stem, suffix);

	if (n < 0 || (size_t)n >= sizeof text)
		return HBM_NONE;
	return hbm_intern(&b->p->syms, text, (size_t)n);
}

/* ---- tensors --------------------------------------------------------------------- */

static hbm_status add_tensor(builder *b, hbm_sym name, uint64_t lo, uint64_t hi,
                             uint64_t size, hbm_tensor_id *ret)
{
	hbm_tensor *x;

	HBM_NEED(name != HBM_NONE);
	HBM_NEED((*ret = hbm_add_tensor(b->p, name)) != HBM_NONE);
	HBM_NEED(HBM_RESERVE(b->a, &b->regions, 1));
	b->regions.items[b->regions.n++] = (region){lo, hi};
	x = &b->p->tensors.items[*ret];
	x->flags = HBM_T_SIZED;
	x->size = size;
	return HBM_OK;
}

static hbm_status argument(builder *b, uint32_t arg, hbm_tensor_id *ret)
{
	char name[24];

	while (b->args.n <= arg) {
		HBM_NEED(HBM_PUSH(b->a, &b->args, HBM_NONE));
		HBM_NEED(HBM_PUSH(b->a, &b->arg_end, 0));
	}
	*ret = b->args.items[arg];
	if (*ret != HBM_NONE)
		return HBM_OK;
	snprintf(name, sizeof name, "arg_%" PRIu32, arg);
	HBM_TRY(add_tensor(b, format_name(b, name, ""), 0, 0, 0, ret));
	b->args.items[arg] = *ret;
	return HBM_OK;
}

static void set_home(builder *b, hbm_tensor_id t, const place *x, uint64_t core_bytes)
{
	bool lx = x->space == HBM_SPYRE_LX, pool = x->space == HBM_SPYRE_POOL;

	b->p->tensors.items[t].home = (hbm_home){
		.kind = lx ? HBM_HOME_LX : pool ? HBM_HOME_POOL : HBM_HOME_HBM,
		.bundle = pool ? b->node : HBM_NONE, .offset = b->regions.items[t].lo,
		.size = lx ? core_bytes : x->reach - x->lo};
}

/* ---- addresses -------------------------------------------------------------------- */

/* Splits an absolute address. */
static hbm_status absolute(const builder *b, uint64_t at, hbm_spyre_addr *ret)
{
	uint64_t segment = at / HBM_SPYRE_SEGMENT;

	if (segment > HBM_SPYRE_LAST_SEGMENT)
		return hbm_fail(b->d, HBM_SEMANTIC, HBM_E_BUNDLE,
		                (hbm_where){.file = b->path, .line = b->item->line},
		                "address %" PRIu64 " lies in segment %" PRIu64
		                " of 16 GiB, the last is %d", at, segment,
		                HBM_SPYRE_LAST_SEGMENT);
	ret->space = segment ? HBM_SPYRE_ARG : HBM_SPYRE_FIXED;
	ret->arg = (uint32_t)segment;
	ret->at = at % HBM_SPYRE_SEGMENT;
	return HBM_OK;
}

/* A core's address as space and offset. */
static hbm_status locate(const builder *b, const hbm_spyre_operand *o, int64_t at,
                         hbm_spyre_addr *ret)
{
	if (at < 0) {
		for (uint32_t k = 0; k < b->item->ids.n; k++)
			if (b->text.ids.items[b->item->ids.first + k] == at) {
				*ret = b->text.addrs.items[b->item->addrs.first + k];
				return ret->space == HBM_SPYRE_CONST
					? absolute(b, ret->at, ret) : HBM_OK;
			}
		return hbm_fail(b->d, HBM_SEMANTIC, HBM_E_BUNDLE,
		                (hbm_where){.file = b->path, .line = b->item->line},
		                "the descriptor uses symbol %" PRId64 ", which the bundle "
		                "does not give", at);
	}
	*ret = (hbm_spyre_addr){.space = HBM_SPYRE_LX, .at = (uint64_t)at};
	return o->lx ? HBM_OK : absolute(b, (uint64_t)at, ret);
}

static uint64_t trips_of(const builder *b, uint32_t loop)
{
	return b->p->nodes.items[b->loops[loop]].trips;
}

/* The operand's bytes over all cores and trips. */
static hbm_status find_place(const builder *b, const hbm_spyre_op *op,
                             const hbm_spyre_operand *o, place *ret)
{
	hbm_spyre_addr *low = HBM_ARRAY(b->a, hbm_spyre_addr, 1), x;

	HBM_NEED(low);
	HBM_TRY(locate(b, o, o->at.items[0], low));
	for (uint32_t k = 1; k < o->at.n; k++) {
		HBM_TRY(locate(b, o, o->at.items[k], &x));
		if (x.space != low->space || x.arg != low->arg)
			return bad(b, "op '%s': an operand lies in several places (%" PRIu64
			           ", %" PRIu64 ")", op->name, low->at, x.at);
		if (x.at < low->at)
			*low = x;
	}
	*ret = (place){.space = low->space, .arg = low->arg, .lo = low->at,
	               .len = o->lx ? o->core_bytes : o->bytes,
	               .steps = low->n_steps ? low : NULL};
	ret->reach = hbm_add_sat(ret->lo, ret->len);
	for (uint32_t k = 0; k < low->n_steps; k++)
		ret->reach = hbm_add_sat(ret->reach, hbm_mul_sat(low->step[k].bytes,
		                         trips_of(b, low->step[k].loop) - 1));
	if (ret->reach >= HBM_MAX_BYTES)
		return bad(b, "op '%s': an operand ends beyond 2^62 (%" PRIu64 ", %" PRIu64
		           ")", op->name, ret->lo, ret->reach);
	return HBM_OK;
}

/* ---- reads and writes -------------------------------------------------------------- */

/* Makes the tensors of pieces [from, to) views of one. */
static hbm_status unite(builder *b, pieces *v, uint32_t from, uint32_t to,
                        const place *x, hbm_tensor_id *ret)
{
	const char *first = hbm_tensor_name(b->p, v->items[from].t);
	uint64_t lo = UINT64_MAX, hi = 0;
	char name[160];

	snprintf(name, sizeof name, "%.*s+%" PRIu32, (int)strcspn(first, "+"), first,
	         ++b->n_unions);
	for (uint32_t k = from; k < to; k++) {
		const region *r = &b->regions.items[v->items[k].t];
		lo = r->lo < lo ? r->lo : lo;
		hi = r->hi > hi ? r->hi : hi;
	}
	HBM_TRY(add_tensor(b, hbm_intern_cstr(&b->p->syms, name), lo, hi, hi - lo, ret));
	for (uint32_t k = from; k < to; k++) {
		hbm_tensor *t = &b->p->tensors.items[v->items[k].t];
		if (t->base != HBM_NONE)
			continue;
		t->base = *ret;
		t->offset = b->regions.items[v->items[k].t].lo - lo;
		t->home = (hbm_home){.bundle = HBM_NONE, .offset = HBM_NO_OFFSET};
	}
	set_home(b, *ret, &(place){.space = x->space, .lo = lo, .reach = hi}, hi - lo);
	HBM_NEED(hbm_spyre_put_piece(b->a, v, lo, hi, *ret));
	return HBM_OK;
}

static pieces *space_of(builder *b, const place *x)
{
	return x->space == HBM_SPYRE_LX     ? &b->lx
	       : x->space == HBM_SPYRE_POOL ? &b->pool
	                                    : &b->fixed;
}

/* A read of bytes that no op wrote in full: a fault, unless a descriptor is missing. */
static hbm_status unwritten(const builder *b, const hbm_spyre_op *op, const place *x)
{
	if (b->missing == HBM_NONE)
		return bad(b, "op '%s' reads bytes [%" PRIu64 ", %" PRIu64
		           ") of the pool or scratchpad, which no op wrote in full",
		           op->name, x->lo, x->reach);
	return hbm_fail(b->d, HBM_SEMANTIC, HBM_E_BUNDLE,
	                (hbm_where){.file = b->path, .line = b->item->line},
	                "cannot check: op '%s' reads bytes [%" PRIu64 ", %" PRIu64
	                "), which only the op of the missing '%s' could have written",
	                op->name, x->lo, x->reach, hbm_sym_str(&b->p->syms, b->missing));
}

/* The tensor whose bytes a read finds. */
static hbm_status find_value(builder *b, const hbm_spyre_op *op, const place *x,
                             hbm_tensor_id *ret)
{
	pieces *v = space_of(b, x);
	uint32_t from = hbm_spyre_first_piece(v, x->lo), to = from;
	uint64_t at = x->lo;

	while (to < v->n && v->items[to].lo <= at && at < x->reach)
		at = v->items[to++].hi;
	if (at < x->reach)
		return unwritten(b, op, x);
	if (to - from > 1)
		return unite(b, v, from, to, x, ret);
	*ret = from < v->n ? v->items[from].t : HBM_NONE;
	return *ret != HBM_NONE ? HBM_OK
		: bad(b, "op '%s' reads nothing at [%" PRIu64 ", %" PRIu64 ")", op->name,
		      x->lo, x->reach);
}

static bool nobody_wrote(const builder *b, const place *x)
{
	uint32_t k = hbm_spyre_first_piece(&b->fixed, x->lo);

	return k == b->fixed.n || b->fixed.items[k].lo >= x->reach;
}

static bool same_region(const builder *b, hbm_tensor_id t, const place *x)
{
	return b->regions.items[t].lo == x->lo && b->regions.items[t].hi == x->reach &&
	       b->p->tensors.items[t].base == HBM_NONE;
}

/* The tensor that a write makes or changes. */
static hbm_status make_value(builder *b, const hbm_spyre_operand *o, const place *x,
                             const place *reads, uint32_t n_reads, uint32_t number,
                             hbm_tensor_id *ret)
{
	char suffix[24] = ".out";
	uint64_t size = x->space == HBM_SPYRE_LX ? o->bytes : x->reach - x->lo;

	for (uint32_t k = 0; k < n_reads; k++)
		if (reads[k].space == x->space && same_region(b, reads[k].operand.tensor, x)) {
			*ret = reads[k].operand.tensor;
			return HBM_OK;
		}
	if (number)
		snprintf(suffix, sizeof suffix, ".out%" PRIu32, number);
	HBM_TRY(add_tensor(b, format_name(b, b->stem, suffix), x->lo, x->reach, size, ret));
	set_home(b, *ret, x, o->core_bytes);
	HBM_NEED(hbm_spyre_put_piece(b->a, space_of(b, x), x->lo, x->reach, *ret));
	return HBM_OK;
}

static hbm_status use_argument(builder *b, place *x, bool write)
{
	hbm_tensor *t;

	HBM_TRY(argument(b, x->arg, &x->operand.tensor));
	t = &b->p->tensors.items[x->operand.tensor];
	if (b->arg_end.items[x->arg] < x->reach)
		b->arg_end.items[x->arg] = x->reach;
	if (write)
		t->flags |= t->flags & HBM_T_INPUT ? HBM_T_STATE : HBM_T_OUTPUT;
	else if (!(t->flags & (HBM_T_OUTPUT | HBM_T_STATE)))
		t->flags |= HBM_T_INPUT;
	if (t->flags & HBM_T_STATE)
		t->flags &= ~(uint32_t)HBM_T_INPUT;
	x->operand.offset = x->lo;
	x->operand.len = x->len;
	return HBM_OK;
}

static hbm_status add_strides(builder *b, place *x)
{
	x->operand.strides = (hbm_span){b->p->strides.n, 0};
	for (uint32_t k = 0; x->steps && k < x->steps->n_steps; k++) {
		hbm_stride s = {b->loops[x->steps->step[k].loop], x->steps->step[k].bytes};
		if (!s.bytes)
			continue;
		HBM_NEED(HBM_PUSH(b->p->arena, &b->p->strides, s));
		x->operand.strides.n++;
	}
	return HBM_OK;
}

/* The window of a value in its tensor. Blocks of the scratchpad are cut alike on all
 * cores. */
static void set_window(const builder *b, const hbm_spyre_op *op, place *x)
{
	const region *r = &b->regions.items[x->operand.tensor];
	uint64_t times = x->space == HBM_SPYRE_LX && op->cores ? op->cores : 1;
	uint64_t size = b->p->tensors.items[x->operand.tensor].size;
	uint64_t offset = (x->lo - r->lo) * times, len = x->len * times;

	if (x->lo == r->lo && x->reach == r->hi && !x->steps)
		return;
	if (offset >= size)
		return;
	x->operand.offset = offset;
	x->operand.len = len < size - offset ? len : size - offset;
}

static hbm_status resolve(builder *b, const hbm_spyre_op *op,
                          const hbm_spyre_operand *o, place *x)
{
	HBM_TRY(find_place(b, op, o, x));
	if (x->space == HBM_SPYRE_ARG)
		return HBM_OK;
	if (x->space != HBM_SPYRE_POOL && x->space != HBM_SPYRE_LX &&
	    x->space != HBM_SPYRE_FIXED)
		return bad(b, "op '%s': an operand is no address (%" PRIu64 ", %" PRIu64 ")",
		           op->name, x->lo, x->reach);
	if (!x->len)
		return bad(b, "op '%s': size of the operand at %" PRIu64 " is not known (%"
		           PRIu64 ")", op->name, x->lo, x->len);
	return HBM_OK;
}

static hbm_status find_reads(builder *b, const hbm_spyre_op *op, place *reads,
                             uint32_t *ret_n)
{
	for (uint32_t k = 0; k < op->operands.n; k++) {
		const hbm_spyre_operand *o = &op->operands.items[k];
		place *x = &reads[*ret_n];
		if (!o->read)
			continue;
		HBM_TRY(resolve(b, op, o, x));
		if (x->space == HBM_SPYRE_FIXED && nobody_wrote(b, x))
			x->space = HBM_SPYRE_ARG;
		if (x->space == HBM_SPYRE_ARG) {
			HBM_TRY(use_argument(b, x, false));
		} else {
			HBM_TRY(find_value(b, op, x, &x->operand.tensor));
			set_window(b, op, x);
		}
		HBM_TRY(add_strides(b, x));
		(*ret_n)++;
	}
	return HBM_OK;
}

static hbm_status find_writes(builder *b, const hbm_spyre_op *op, const place *reads,
                              uint32_t n_reads, place *writes, uint32_t *ret_n)
{
	for (uint32_t k = 0; k < op->operands.n; k++) {
		const hbm_spyre_operand *o = &op->operands.items[k];
		place *x = &writes[*ret_n];
		if (!o->write)
			continue;
		HBM_TRY(resolve(b, op, o, x));
		if (x->space == HBM_SPYRE_ARG) {
			HBM_TRY(use_argument(b, x, true));
		} else {
			HBM_TRY(make_value(b, o, x, reads, n_reads, *ret_n,
			                   &x->operand.tensor));
			set_window(b, op, x);
		}
		HBM_TRY(add_strides(b, x));
		(*ret_n)++;
	}
	return HBM_OK;
}

/* ---- ops --------------------------------------------------------------------------- */

static hbm_status put_op(builder *b, const hbm_spyre_op *op, const place *reads,
                         uint32_t n_reads, const place *writes, uint32_t n_writes)
{
	const char *kind = op->name + strspn(op->name, "0123456789_");
	hbm_sym name, opname = hbm_intern_cstr(&b->p->syms, kind);
	hbm_op_id id;

	name = format_name(b, b->stem, "");
	HBM_NEED(name != HBM_NONE && opname != HBM_NONE);
	id = hbm_add_op(b->p, b->open[b->depth], HBM_OP_COMPUTE, name, opname);
	HBM_NEED(id != HBM_NONE);
	b->p->ops.items[id].cores = op->cores;
	for (uint32_t k = 0; k < n_reads; k++) {
		HBM_NEED(hbm_add_read(b->p, id, reads[k].operand.tensor));
		b->p->operands.items[b->p->operands.n - 1] = reads[k].operand;
	}
	for (uint32_t k = 0; k < n_writes; k++) {
		HBM_NEED(hbm_add_write(b->p, id, writes[k].operand.tensor));
		b->p->operands.items[b->p->operands.n - 1] = writes[k].operand;
	}
	if (!strcmp(kind, "batchmatmul"))
		HBM_NEED(hbm_add_attr_flag(b->p, &b->p->ops.items[id].attrs, "matmul"));
	if (!strncmp(kind, "ReStickify", 10))
		HBM_NEED(hbm_add_attr_flag(b->p, &b->p->ops.items[id].attrs, "restickify"));
	return HBM_OK;
}

/* Without a descriptor only the arguments are known, and of them where they begin. */
static hbm_status put_unknown(builder *b, hbm_spyre_op *op)
{
	place *reads = HBM_ZARRAY(b->a, place, b->item->addrs.n);
	uint32_t n = 0;

	HBM_NEED(reads);
	op->name = "op";
	b->missing = b->item->file;
	HBM_NEED(hbm_warn(b->d, HBM_E_BUNDLE,
	                  (hbm_where){.file = b->path, .line = b->item->line},
	                  "'%s' is not there: what its op writes, and sizes, are not known",
	                  hbm_sym_str(&b->p->syms, b->item->file)));
	for (uint32_t k = 0; k < b->item->addrs.n; k++) {
		const hbm_spyre_addr *x = &b->text.addrs.items[b->item->addrs.first + k];
		place *r = &reads[n];
		if (x->space != HBM_SPYRE_ARG || x->most ||
		    (n && reads[n - 1].arg == x->arg))
			continue;
		*r = (place){.space = x->space, .arg = x->arg};
		HBM_TRY(use_argument(b, r, false));
		b->p->tensors.items[r->operand.tensor].flags |= HBM_T_DYNAMIC;
		n++;
	}
	return put_op(b, op, reads, n, NULL, 0);
}

const char *hbm_spyre_join(hbm_arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir), m = strlen(name);
	const char *slash = n && dir[n - 1] == '/' ? "" : "/";
	char *s = hbm_arena_alloc(a, n + m + 2);

	if (s)
		snprintf(s, n + m + 2, "%s%s%s", dir, slash, name);
	return s;
}

/* Name of the op: its file's, and a number from the second time that this runs. */
static hbm_status name_op(builder *b)
{
	const char *file = hbm_sym_str(&b->p->syms, b->item->file);
	int n = (int)strcspn(file, ".");
	hbm_sym stem;
	uint32_t times;

	snprintf(b->stem, sizeof b->stem, "%.*s", n < 96 ? n : 96, file);
	stem = hbm_intern_cstr(&b->p->syms, b->stem);
	HBM_NEED(stem != HBM_NONE);
	times = hbm_map_get(&b->runs, stem);
	times = times == HBM_NONE ? 1 : times + 1;
	HBM_NEED(hbm_map_set(&b->runs, stem, times));
	if (times > 1)
		snprintf(b->stem, sizeof b->stem, "%.*s.%" PRIu32, n < 96 ? n : 96, file,
		         times);
	return HBM_OK;
}

hbm_status hbm_spyre_run_op(hbm_spyre_builder *b, const char *dir)
{
	const char *path = hbm_spyre_join(b->a, dir, hbm_sym_str(&b->p->syms, b->item->file));
	hbm_spyre_op op = {.cores = 1};
	uint32_t n_reads = 0, n_writes = 0;
	place *reads, *writes;
	hbm_bytes bytes;

	HBM_NEED(path);
	HBM_TRY(name_op(b));
	if (!hbm_path_is_file(path))
		return put_unknown(b, &op);
	HBM_TRY(hbm_file_read(b->a, b->d, path, 0, &bytes));
	HBM_TRY(hbm_spyre_read_op(b->a, b->d, path, bytes, &op));
	HBM_NEED(reads = HBM_ZARRAY(b->a, place, op.operands.n));
	HBM_NEED(writes = HBM_ZARRAY(b->a, place, op.operands.n));
	HBM_TRY(find_reads(b, &op, reads, &n_reads));
	HBM_TRY(find_writes(b, &op, reads, n_reads, writes, &n_writes));
	return put_op(b, &op, reads, n_reads, writes, n_writes);
}

/* ---- the end of a bundle ------------------------------------------------------------- */

static void finish_arguments(builder *b)
{
	for (uint32_t k = 0; k < b->args.n; k++) {
		hbm_tensor *t;
		if (b->args.items[k] == HBM_NONE)
			continue;
		t = &b->p->tensors.items[b->args.items[k]];
		t->size = b->arg_end.items[k];
		t->home = (hbm_home){.kind = HBM_HOME_IO, .bundle = HBM_NONE,
		                     .offset = HBM_NO_OFFSET};
	}
}

/* What lies in the pool must end within what the bundle allocates. */
static hbm_status check_pool(const builder *b)
{
	uint64_t end = b->pool.n ? b->pool.items[b->pool.n - 1].hi : 0;
	hbm_where at = {.file = b->path, .line = b->text.pool_line};

	if (b->text.pool > HBM_SPYRE_MAX_POOL)
		return hbm_fail(b->d, HBM_VERIFY, HBM_E_BUNDLE, at, "the pool has %" PRIu64
		                " bytes, the most is %" PRIu64, b->text.pool,
		                HBM_SPYRE_MAX_POOL);
	if (!b->text.pool || end <= b->text.pool)
		return HBM_OK;
	return hbm_fail(b->d, HBM_VERIFY, HBM_E_BUNDLE,
	                at, "ops use %" PRIu64 " bytes of a pool of %" PRIu64, end,
	                b->text.pool);
}

hbm_status hbm_spyre_finish(hbm_spyre_builder *b)
{
	finish_arguments(b);
	return check_pool(b);
}
