/* SPDX-License-Identifier: Apache-2.0 */
/* scratchpad: rules for storages in the cores' scratchpads.
 *
 * Each core holds its own block at one address, so every op that touches the storage
 * must run on the same cores, cut alike, and find its whole block there. The CPU
 * cannot reach in; foreign kernels may use any byte, so nothing lives there while one
 * runs; gathers, scatters and addresses that advance with a loop need HBM. What the
 * program does not say (cores, cuts) is not held against the plan.
 *
 * Cost  O(touches * rank + ops). */
#include "verify/check.h"

#include "base/ckd.h"
#include "plan/partition.h"

#include <inttypes.h>

typedef struct visit {
	hbm_check *cx;
	uint32_t storage;
	hbm_op_id first;   /* op that all others must agree with; HBM_NONE: none yet */
	hbm_partition cut; /* of `first` */
	uint32_t *foreign; /* per tick, foreign kernels before it */
} visit;

static const hbm_plan_storage *storage_of(const visit *v)
{
	return &v->cx->plan->storages.items[v->storage];
}

static const hbm_op *op_at(const visit *v, hbm_op_id id)
{
	return &v->cx->p->ops.items[id];
}

static void fault(const visit *v, const char *what, hbm_op_id id, const char *why)
{
	HBM_FAULT(v->cx, storage_of(v)->root, "storage '%s' is in the scratchpad, but %s "
	          "'%s' %s", hbm_check_name(v->cx, v->storage), what,
	          hbm_check_op(v->cx, id), why);
}

static bool is_foreign(const hbm_program *p, const hbm_op *op)
{
	return op->kind == HBM_OP_EXTERN || hbm_has_attr(p, op->attrs, "opaque");
}

static hbm_status count_foreign(visit *v)
{
	const hbm_program *p = v->cx->p;

	HBM_NEED(v->foreign = HBM_ZARRAY(v->cx->a, uint32_t, (size_t)p->ops.n + 1));
	for (hbm_op_id o = 0; o < p->ops.n; o++)
		v->foreign[o + 1] = v->foreign[o] + is_foreign(p, &p->ops.items[o]);
	return HBM_OK;
}

/* No foreign kernel runs between start and end. */
static void check_foreign(const visit *v)
{
	const hbm_own *own = &v->cx->own[v->storage];
	uint32_t k = own->start;

	if (own->start >= own->end || v->foreign[own->start] == v->foreign[own->end])
		return;
	while (v->foreign[k + 1] == v->foreign[own->start])
		k++;
	fault(v, "foreign kernel", k, "runs while it lives, and may use any byte");
}

/* Cores hold equal blocks, rounded down by the rule of the target's compiler. */
static void check_block(const visit *v, uint64_t cores, const char *of)
{
	uint64_t size = v->cx->own[v->storage].size, block = storage_of(v)->home.size;

	if (size && (!block || block < size / cores))
		HBM_FAULT(v->cx, storage_of(v)->root, "storage '%s' of %" PRIu64
		          " bytes has only %" PRIu64 " bytes on each of %" PRIu64
		          " core%s%s", hbm_check_name(v->cx, v->storage), size, block,
		          cores, cores == 1 ? "" : "s", of);
}

static bool advances(const hbm_program *p, const hbm_operand *o)
{
	for (uint32_t k = 0; k < o->strides.n; k++)
		if (p->strides.items[o->strides.first + k].bytes)
			return true;
	return false;
}

static bool same_cut(const hbm_partition *a, const hbm_partition *b)
{
	if (!a->known || !b->known || a->n != b->n)
		return true;
	for (uint32_t d = 0; d < a->n; d++)
		if (a->cut[d].split != b->cut[d].split)
			return false;
	return true;
}

/* An op says on how many cores it runs, and where its cores cut. */
static bool check_cores(visit *v, const hbm_touch *t)
{
	const hbm_op *op = op_at(v, t->op);
	hbm_partition cut;

	if (!op->cores)
		return true;
	hbm_partition_of(v->cx->p, v->cx->t, t->op, &v->cx->p->operands.items[t->operand],
	                 &cut);
	if (op->cores > 1 && op->iters.n && cut.known && cut.cores != op->cores) {
		fault(v, "op", t->op, "needs blocks of other cores");
		return false;
	}
	if (v->first == HBM_NONE) {
		v->first = t->op;
		v->cut = cut;
		check_block(v, op->cores, "");
	} else if (op->cores != op_at(v, v->first)->cores ||
	           (op->cores > 1 && !same_cut(&v->cut, &cut))) {
		HBM_FAULT(v->cx, storage_of(v)->root, "storage '%s' is in the scratchpad, "
		          "but op '%s' shares it among the cores in another way than op "
		          "'%s'", hbm_check_name(v->cx, v->storage),
		          hbm_check_op(v->cx, t->op), hbm_check_op(v->cx, v->first));
		return false;
	}
	return true;
}

/* False: a fault was told. */
static bool check_touch(visit *v, const hbm_touch *t)
{
	const hbm_program *p = v->cx->p;
	const hbm_op *op = op_at(v, t->op);

	if (op->kind == HBM_OP_FALLBACK)
		fault(v, "op", t->op, "runs on the CPU");
	else if (hbm_has_attr(p, op->attrs, "indirect"))
		fault(v, "op", t->op, "gathers or scatters");
	else if (advances(p, &p->operands.items[t->operand]))
		fault(v, "op", t->op, "would advance its address with a loop");
	else
		return check_cores(v, t);
	return false;
}

static void check_storage(visit *v)
{
	hbm_span k = v->cx->own[v->storage].classes;
	bool good = true;

	v->first = HBM_NONE;
	for (uint32_t i = 0; i < k.n && good; i++) {
		const hbm_class *c = &v->cx->f.classes.items[v->cx->classes[k.first + i]];
		for (uint32_t j = 0; j < c->touches.n && good; j++)
			good = check_touch(v, &v->cx->f.touches[c->touches.first + j]);
	}
	if (v->first == HBM_NONE && good)
		check_block(v, hbm_target_num(v->cx->t, HBM_KEY_CORES, 1), " of the target");
	check_foreign(v);
}

hbm_status hbm_check_scratchpad(hbm_check *cx)
{
	visit v = {.cx = cx};

	HBM_TRY(count_foreign(&v));
	for (v.storage = 0; v.storage < cx->plan->storages.n; v.storage++)
		if (storage_of(&v)->home.kind == HBM_HOME_LX)
			check_storage(&v);
	return HBM_OK;
}
