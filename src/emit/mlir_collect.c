/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_collect: the addresses of one bundle.
 *
 * Method    Ops in order, reads before writes, core by core. An address is a kernel
 *           argument (a storage of the caller or with HBM of its own; numbered by
 *           first appearance), perhaps a slice of it, perhaps the block of a core;
 *           or a byte of the pool. Each distinct one is a symbol once in the
 *           bundle, and an argument once per op. Scratchpad operands have none: the
 *           op's descriptor holds their address. A core's block is left alone where
 *           all cores use the same.
 * Cost      Linear in operands times cores. */
#include "emit/mlir.h"

#include "plan/partition.h"

#include <inttypes.h>

static const hbm_plan_storage *storage_of(const hbm_mlir_bundle *b, hbm_tensor_id t)
{
	return &b->plan->storages.items[b->plan->of_tensor[t]];
}

/* ---- symbols ------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

static hbm_status find_symbol(hbm_mlir_bundle *b, hbm_mlir_kind kind, uint32_t of,
                              uint64_t bytes, uint32_t *ret)
{
	uint64_t key = mix(mix(mix(1, kind), of), bytes);
	uint32_t head = hbm_map_get(&b->symbol_map, key);
	hbm_mlir_symbol s = {kind, of, bytes, head};

	for (uint32_t k = head; k != HBM_NONE; k = b->symbols.items[k].next) {
		const hbm_mlir_symbol *x = &b->symbols.items[k];
		if (x->kind == kind && x->of == of && x->bytes == bytes) {
			*ret = k;
			return HBM_OK;
		}
	}
	*ret = b->symbols.n;
	HBM_NEED(HBM_PUSH(b->a, &b->symbols, s));
	HBM_NEED(hbm_map_set(&b->symbol_map, key, *ret));
	return HBM_OK;
}

static hbm_status find_argument(hbm_mlir_bundle *b, hbm_tensor_id t, uint32_t *ret)
{
	uint32_t storage = b->plan->of_tensor[t];
	uint32_t arg = hbm_map_get(&b->arg_map, storage);

	if (arg == HBM_NONE) {
		arg = b->n_args++;
		HBM_NEED(hbm_map_set(&b->arg_map, storage, arg));
	}
	return find_symbol(b, HBM_MLIR_ARG, arg, 0, ret);
}

/* Symbol of `at` bytes into an operand, of which `core` belong to the core. */
static hbm_status address(hbm_mlir_bundle *b, const hbm_operand *o, uint64_t core,
                          uint32_t *ret)
{
	const hbm_plan_storage *s = storage_of(b, o->tensor);
	uint64_t at = b->place[o->tensor] + o->offset;

	if (s->home.kind == HBM_HOME_POOL) {
		b->uses_pool = true;
		return find_symbol(b, HBM_MLIR_POOL, 0, s->home.offset + at + core, ret);
	}
	HBM_TRY(find_argument(b, o->tensor, ret));
	if (at)
		HBM_TRY(find_symbol(b, HBM_MLIR_SLICE, *ret, at, ret));
	if (core)
		HBM_TRY(find_symbol(b, HBM_MLIR_CORE, *ret, core, ret));
	return HBM_OK;
}

/* ---- maps ---------------------------------------------------------------------- */

static bool same_strides(const hbm_mlir_bundle *b, hbm_span x, hbm_span y)
{
	if (x.n != y.n)
		return false;
	for (uint32_t k = 0; k < x.n; k++)
		if (b->strides.items[x.first + k] != b->strides.items[y.first + k])
			return false;
	return true;
}

/* The map of the strides at the end of the list, which go when it is there. */
static hbm_status find_map(hbm_mlir_bundle *b, hbm_span strides, uint32_t *ret)
{
	uint64_t key = strides.n;
	uint32_t head;

	for (uint32_t k = 0; k < strides.n; k++)
		key = mix(key, b->strides.items[strides.first + k]);
	head = hbm_map_get(&b->map_map, key);
	for (uint32_t k = head; k != HBM_NONE; k = b->maps.items[k].next)
		if (same_strides(b, b->maps.items[k].strides, strides)) {
			b->strides.n = strides.first;
			*ret = k;
			return HBM_OK;
		}
	*ret = b->maps.n;
	HBM_NEED(HBM_PUSH(b->a, &b->maps, (hbm_mlir_map){strides, head}));
	HBM_NEED(hbm_map_set(&b->map_map, key, *ret));
	return HBM_OK;
}

/* Strides of an operand, by loops from the outermost in. */
static hbm_status advance_of(hbm_mlir_bundle *b, const hbm_operand *o,
                             hbm_mlir_use *ret)
{
	hbm_span strides = {b->strides.n, 0};
	hbm_node_id last = HBM_NONE;

	ret->map = HBM_NONE;
	ret->loops = (hbm_span){b->loops.n, 0};
	for (;;) {
		const hbm_stride *next = NULL;
		for (uint32_t k = 0; k < o->strides.n; k++) {
			const hbm_stride *s = &b->p->strides.items[o->strides.first + k];
			if (s->bytes && (last == HBM_NONE || s->loop > last) &&
			    (!next || s->loop < next->loop))
				next = s;
		}
		if (!next)
			break;
		last = next->loop;
		HBM_NEED(HBM_PUSH(b->a, &b->strides, next->bytes));
		HBM_NEED(HBM_PUSH(b->a, &b->loops, b->loop_number[last - b->node]));
		strides.n++;
	}
	ret->loops.n = strides.n;
	return strides.n ? find_map(b, strides, &ret->map) : HBM_OK;
}

/* ---- ops ------------------------------------------------------------------------- */

/* Adds an address to the op's list unless it is there. */
static hbm_status add_use(hbm_mlir_bundle *b, hbm_span *list, hbm_mlir_use use)
{
	uint64_t key = (uint64_t)use.symbol << 32 | use.map;
	uint32_t at = hbm_map_get(&b->use_map, key);

	if (at != HBM_NONE && at >= list->first)
		return HBM_OK;
	HBM_NEED(hbm_map_set(&b->use_map, key, b->uses.n));
	HBM_NEED(HBM_PUSH(b->a, &b->uses, use));
	list->n++;
	return HBM_OK;
}

static hbm_status add_operand(hbm_mlir_bundle *b, hbm_op_id id, const hbm_operand *o,
                              hbm_span *list)
{
	const hbm_op *op = &b->p->ops.items[id];
	uint32_t cores = op->cores ? op->cores : 1;
	hbm_partition cut;
	hbm_mlir_use use;

	if (storage_of(b, o->tensor)->home.kind == HBM_HOME_LX)
		return HBM_OK;
	HBM_TRY(advance_of(b, o, &use));
	hbm_partition_of(b->p, b->plan->target, id, o, &cut);
	if (!cut.known || cut.cores == 1)
		cores = 1;
	for (uint32_t core = 0; core < cores; core++) {
		HBM_TRY(address(b, o, hbm_core_offset(b->p, id, &cut, core), &use.symbol));
		HBM_TRY(add_use(b, list, use));
	}
	return HBM_OK;
}

static hbm_status no_code(const hbm_mlir_bundle *b, hbm_op_id id)
{
	const hbm_op *op = &b->p->ops.items[id];

	return hbm_fail(b->diags, HBM_UNSUPPORTED, HBM_E_NO_CODE,
	                hbm_at(b->p, op->line, op->col, 0),
	                "op '%s' (%s) stands in a bundle but does not run on the device",
	                hbm_op_name(b->p, id), hbm_op_kind_name(op->kind));
}

static hbm_status add_op(hbm_mlir_bundle *b, hbm_op_id id)
{
	const hbm_op *op = &b->p->ops.items[id];
	hbm_span sides[] = {op->reads, op->writes};
	hbm_span *list = &b->of_op[id - b->first_op];

	*list = (hbm_span){b->uses.n, 0};
	if (op->kind == HBM_OP_ALLOC || op->kind == HBM_OP_NOP)
		return HBM_OK;
	if (op->kind != HBM_OP_COMPUTE && op->kind != HBM_OP_DMA)
		return no_code(b, id);
	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t k = 0; k < sides[s].n; k++)
			HBM_TRY(add_operand(b, id, &b->p->operands.items[sides[s].first + k],
			                    list));
	return HBM_OK;
}

static hbm_status number_loop(hbm_mlir_bundle *b, hbm_node_id n)
{
	const hbm_node *loop = &b->p->nodes.items[n];

	if (!loop->trips)
		return hbm_fail(b->diags, HBM_UNSUPPORTED, HBM_E_NO_CODE,
		                hbm_at(b->p, loop->line, loop->col, 0),
		                "loop '%s' has no trip count, which code needs",
		                hbm_str_of(b->p, loop->name));
	b->loop_number[n - b->node] = b->n_loops++;
	return HBM_OK;
}

hbm_status hbm_mlir_collect(hbm_mlir_bundle *b)
{
	const hbm_node *nodes = b->p->nodes.items;
	hbm_node_id end = nodes[b->node].end;

	hbm_map_init(&b->symbol_map, b->a);
	hbm_map_init(&b->map_map, b->a);
	hbm_map_init(&b->arg_map, b->a);
	hbm_map_init(&b->use_map, b->a);
	b->first_op = HBM_NONE;
	for (hbm_node_id n = b->node; n < end; n++)
		if (nodes[n].kind == HBM_NODE_OP) {
			b->first_op = b->first_op == HBM_NONE ? nodes[n].op : b->first_op;
			b->n_ops++;
		}
	HBM_NEED(b->of_op = HBM_ARRAY(b->a, hbm_span, b->n_ops));
	HBM_NEED(b->loop_number = HBM_ARRAY(b->a, uint32_t, end - b->node));
	for (hbm_node_id n = b->node; n < end; n++) {
		if (nodes[n].kind == HBM_NODE_LOOP)
			HBM_TRY(number_loop(b, n));
		if (nodes[n].kind == HBM_NODE_OP)
			HBM_TRY(add_op(b, nodes[n].op));
	}
	return HBM_OK;
}
