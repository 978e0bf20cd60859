/* SPDX-License-Identifier: Apache-2.0
 * `join`: what fits together exactly becomes one block, and few blocks are packed by
 * `climb` and `exact`.
 *
 * Two blocks of the same life are stacked; two of the same size, one of which ends
 * where the other starts, lie in a row. Joining costs no area, but may keep apart
 * what the optimum needs together: so those pairs come first that have the fewest
 * other partners. Each round joins in another random order.
 *
 * For problems cut out of one piece. Leaves others alone: when more than MAX_BLOCKS
 * are left it is not worth while. A round takes O(n) steps for each number of
 * partners that a join waited for. */
#include "base/map.h"
#include "pack/climb.h"
#include "pack/normal.h"

#include <string.h>

enum {
	MAX_BLOCKS = 400,
	CLIMB_STEPS = 400000,
	EXACT_STEPS = 1 << 17,
	MAX_PARTNERS = 64, /* of both blocks of a pair, that are still joined */
};

/* What blocks are looked up by. */
typedef enum by { BY_LIFE, BY_BIRTH, BY_DEATH, N_BY } by;

typedef struct block {
	uint64_t size;
	uint32_t start, end;
	uint32_t low, high; /* its parts, HBM_NONE: an item */
	bool stacked;       /* high lies on low; else behind it in time */
	bool gone;          /* part of another */
	uint32_t bucket[N_BY], next[N_BY], prev[N_BY];
} block;

typedef struct bucket {
	uint32_t head, n;
} bucket;

typedef struct joiner {
	hbm_arena *a;
	const hbm_inst *in;
	block *blocks; /* items first */
	uint32_t n;
	hbm_map ids;   /* key -> bucket */
	HBM_VEC(bucket) buckets;
	uint64_t steps;
} joiner;

/* ---- looking up ------------------------------------------------------------ */

static uint64_t key_of(const block *b, by what)
{
	uint64_t seed = what == BY_LIFE ? b->end : b->size;

	seed = hbm_rand(&seed) + (what == BY_DEATH ? b->end : b->start) * 4u + what;
	return hbm_rand(&seed);
}

/* Puts a block into its lists. */
static hbm_status enter(joiner *j, uint32_t id)
{
	block *b = &j->blocks[id];

	for (uint32_t k = 0; k < N_BY; k++) {
		uint64_t key = key_of(b, (by)k);
		uint32_t at = hbm_map_get(&j->ids, key);
		bucket *list;

		if (at == HBM_NONE) {
			at = j->buckets.n;
			HBM_NEED(HBM_PUSH(j->a, &j->buckets, (bucket){HBM_NONE, 0}));
			HBM_NEED(hbm_map_set(&j->ids, key, at));
		}
		list = &j->buckets.items[at];
		b->bucket[k] = at;
		b->prev[k] = HBM_NONE;
		b->next[k] = list->head;
		if (list->head != HBM_NONE)
			j->blocks[list->head].prev[k] = id;
		list->head = id;
		list->n++;
	}
	return HBM_OK;
}

static void leave(joiner *j, uint32_t id)
{
	block *b = &j->blocks[id];

	b->gone = true;
	for (uint32_t k = 0; k < N_BY; k++) {
		bucket *list = &j->buckets.items[b->bucket[k]];

		if (b->prev[k] == HBM_NONE)
			list->head = b->next[k];
		else
			j->blocks[b->prev[k]].next[k] = b->next[k];
		if (b->next[k] != HBM_NONE)
			j->blocks[b->next[k]].prev[k] = b->prev[k];
		list->n--;
	}
}

/* The list of blocks that could follow b in a row, or come before it. */
static uint32_t row_list(const joiner *j, const block *b, bool after)
{
	block other = {.size = b->size, .start = b->end, .end = b->start};

	return hbm_map_get(&j->ids, key_of(&other, after ? BY_BIRTH : BY_DEATH));
}

static uint32_t length(const joiner *j, uint32_t list)
{
	return list == HBM_NONE ? 0 : j->buckets.items[list].n;
}

/* How many blocks it could be joined with. */
static uint32_t partners(const joiner *j, uint32_t id)
{
	const block *b = &j->blocks[id];

	return j->buckets.items[b->bucket[BY_LIFE]].n - 1 +
	       length(j, row_list(j, b, true)) + length(j, row_list(j, b, false));
}

/* ---- joining --------------------------------------------------------------- */

typedef struct choice {
	uint32_t partner, partners;
	by how; /* BY_LIFE: stacked; BY_BIRTH: it comes after; BY_DEATH: before */
} choice;

/* Lists are found by a hash of what they have in common. */
static bool matches(const block *a, const block *b, by how)
{
	if (how == BY_LIFE)
		return a->start == b->start && a->end == b->end;
	return a->size == b->size &&
	       (how == BY_BIRTH ? a->end == b->start : a->start == b->end);
}

static void look(joiner *j, uint32_t id, uint32_t list, by how, choice *best)
{
	uint32_t o = list == HBM_NONE ? HBM_NONE : j->buckets.items[list].head;

	for (; o != HBM_NONE; o = j->blocks[o].next[how]) {
		uint32_t n;

		j->steps++;
		if (o == id || !matches(&j->blocks[id], &j->blocks[o], how))
			continue;
		n = partners(j, o);
		if (n < best->partners)
			*best = (choice){o, n, how};
	}
}

static hbm_status join(joiner *j, uint32_t id, const choice *c)
{
	uint32_t low = c->how == BY_DEATH ? c->partner : id;
	uint32_t high = c->how == BY_DEATH ? id : c->partner;
	const block *x = &j->blocks[low], *y = &j->blocks[high];
	block b = {.size = x->size, .start = x->start, .end = y->end,
	           .low = low, .high = high, .stacked = c->how == BY_LIFE};

	if (b.stacked)
		b.size += y->size;
	leave(j, low);
	leave(j, high);
	j->blocks[j->n] = b;
	return enter(j, j->n++);
}

/* Joins blocks of which a pair has at most `limit` partners; how many it joined. */
static hbm_status pass(joiner *j, uint32_t limit, uint64_t *seed, uint32_t *ret)
{
	uint32_t from = (uint32_t)(hbm_rand(seed) % j->n), n = j->n;

	*ret = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t id = (from + k) % n, own;
		choice c = {HBM_NONE, HBM_NONE, BY_LIFE};
		const block *b = &j->blocks[id];

		j->steps++;
		if (b->gone)
			continue;
		own = partners(j, id);
		if (own == 0 || own >= limit)
			continue;
		look(j, id, b->bucket[BY_LIFE], BY_LIFE, &c);
		look(j, id, row_list(j, b, true), BY_BIRTH, &c);
		look(j, id, row_list(j, b, false), BY_DEATH, &c);
		if (c.partner == HBM_NONE || own + c.partners > limit)
			continue;
		HBM_TRY(join(j, id, &c));
		++*ret;
	}
	return HBM_OK;
}

static hbm_status join_all(joiner *j, uint64_t *seed)
{
	for (uint32_t limit = 2; limit <= MAX_PARTNERS;) {
		uint32_t joined;

		HBM_TRY(pass(j, limit, seed, &joined));
		limit = joined ? 2 : limit + 1;
	}
	return HBM_OK;
}

static hbm_status joiner_init(hbm_arena *a, const hbm_inst *in, joiner *j)
{
	*j = (joiner){.a = a, .in = in, .n = in->n};
	j->blocks = HBM_ARRAY(a, block, 2 * (size_t)in->n);
	HBM_NEED(j->blocks);
	hbm_map_init(&j->ids, a);
	for (uint32_t i = 0; i < in->n; i++) {
		j->blocks[i] = (block){.size = in->size[i], .start = in->start[i],
		                       .end = in->end[i], .low = HBM_NONE,
		                       .high = HBM_NONE};
		HBM_TRY(enter(j, i));
	}
	return HBM_OK;
}

/* ---- packing the blocks ------------------------------------------------------ */

/* The blocks that are left, as a problem. */
static hbm_status list_blocks(const joiner *j, hbm_problem *p, uint32_t **ret_ids)
{
	uint64_t *size = HBM_ARRAY(j->a, uint64_t, j->n);
	int64_t *start = HBM_ARRAY(j->a, int64_t, j->n);
	int64_t *end = HBM_ARRAY(j->a, int64_t, j->n);
	uint32_t *ids = HBM_ARRAY(j->a, uint32_t, j->n);

	HBM_NEED(size && start && end && ids);
	*p = (hbm_problem){.size = size, .start = start, .end = end,
	                   .capacity = HBM_NO_OFFSET};
	for (uint32_t k = 0; k < j->n; k++) {
		const block *b = &j->blocks[k];

		if (b->gone)
			continue;
		size[p->n] = b->size;
		start[p->n] = b->start;
		end[p->n] = b->end;
		ids[p->n++] = k;
	}
	*ret_ids = ids;
	return HBM_OK;
}

/* Offsets of all blocks from those that are left. */
static void take_apart(const joiner *j, uint64_t *offset)
{
	for (uint32_t k = j->n; k-- > j->in->n;) {
		const block *b = &j->blocks[k];

		offset[b->low] = offset[k];
		offset[b->high] = offset[k] + (b->stacked ? j->blocks[b->low].size : 0);
	}
}

static hbm_status run(hbm_pack_cx *cx, const char *name, uint64_t steps, hbm_arena *a,
                      const hbm_inst *in, hbm_answer *ans)
{
	hbm_pack_cx sub = *cx;
	hbm_status st;

	sub.scratch = a;
	sub.max_steps = cx->steps + steps;
	sub.poll_at = 0;
	st = hbm_allocator_find(name)->solve(&sub, in, ans);
	cx->steps = sub.steps;
	cx->stopped = sub.stopped;
	return st;
}

static hbm_status pack_blocks(hbm_pack_cx *cx, joiner *j, const hbm_problem *p,
                              const uint32_t *ids, hbm_answer *ans)
{
	uint64_t *at = HBM_ARRAY(j->a, uint64_t, p->n);
	uint64_t *offset = HBM_ARRAY(j->a, uint64_t, j->n), top;
	hbm_answer sub = {.extent = HBM_NO_OFFSET, .cap = HBM_NO_OFFSET};
	hbm_normal nm;

	HBM_TRY(hbm_normalise(j->a, j->a, p, NULL, &nm));
	sub.offset = HBM_ARRAY(j->a, uint64_t, nm.inst.n);
	HBM_NEED(at && offset && sub.offset);
	sub.lower_bound = nm.inst.lower_bound;
	sub.goal = ans->goal / nm.unit;
	HBM_TRY(run(cx, "climb", CLIMB_STEPS, j->a, &nm.inst, &sub));
	if (sub.extent > sub.goal && !cx->stopped)
		HBM_TRY(run(cx, "exact", EXACT_STEPS, j->a, &nm.inst, &sub));
	if (sub.extent == HBM_NO_OFFSET)
		return HBM_OK;
	hbm_denormalise(&nm, p, sub.offset, at);
	for (uint32_t k = 0; k < p->n; k++)
		offset[ids[k]] = at[k];
	take_apart(j, offset);
	top = hbm_inst_extent(j->in, offset);
	if (top > ans->cap || top >= ans->extent)
		return HBM_OK;
	memcpy(ans->offset, offset, j->in->n * sizeof *offset);
	ans->extent = top;
	ans->by = "join";
	return HBM_OK;
}

/* One round; *ret_few: few enough blocks were left. */
static hbm_status try_round(hbm_pack_cx *cx, hbm_arena *a, const hbm_inst *in,
                            uint64_t *seed, hbm_answer *ans, bool *ret_few)
{
	hbm_problem p;
	uint32_t *ids;
	joiner j;

	HBM_TRY(joiner_init(a, in, &j));
	HBM_TRY(join_all(&j, seed));
	hbm_spend(cx, j.steps);
	HBM_TRY(list_blocks(&j, &p, &ids));
	*ret_few = p.n <= MAX_BLOCKS && p.n <= in->n / 2;
	return *ret_few ? pack_blocks(cx, &j, &p, ids, ans) : HBM_OK;
}

hbm_status hbm_alloc_join(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	uint64_t seed = cx->seed;
	bool few = true;

	while (few && ans->extent > ans->goal && hbm_spend(cx, 1)) {
		hbm_arena a;
		hbm_status st;

		hbm_arena_init(&a, &cx->scratch->mem);
		st = try_round(cx, &a, in, &seed, ans, &few);
		hbm_arena_fini(&a);
		HBM_TRY(st);
	}
	return HBM_OK;
}
