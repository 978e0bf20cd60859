/* SPDX-License-Identifier: Apache-2.0 */
/* What call() of output_code.py holds in memory: its statements carried out with
 * reference counts, as Python does it. The answer to compare a plan with.
 *
 * A block lives from the statement that allocates it to the one that drops its
 * last name. Blocks that a kernel allocates itself are kept apart: the published
 * peaks do not count them. */
#include "import/inductor.h"

#include <string.h>

typedef struct replay {
	hbm_ind_dump *dump;
	hbm_ind_replay *r;
	uint32_t *now;   /* symbol -> block, HBM_NONE: none */
	uint32_t *names; /* block -> how many names it has */
	uint32_t cap;
	uint64_t held;
	uint32_t tick;
} replay;

static void drop(replay *p, hbm_sym name)
{
	uint32_t b = p->now[name];
	hbm_ind_block *block;

	if (b == HBM_NONE)
		return;
	p->now[name] = HBM_NONE;
	if (--p->names[b])
		return;
	block = &p->r->blocks.items[b];
	block->end = p->tick;
	if (!block->given)
		p->held -= block->size;
}

static void bind(replay *p, hbm_sym name, uint32_t b)
{
	drop(p, name);
	p->now[name] = b;
	if (p->r->block_of[name] == HBM_NONE)
		p->r->block_of[name] = b;
	if (b != HBM_NONE)
		p->names[b]++;
}

static hbm_status new_block(replay *p, hbm_sym name, uint64_t size, bool given)
{
	hbm_ind_block b = {.name = name,
	                   .size = size,
	                   .start = p->tick,
	                   .end = HBM_NONE,
	                   .given = given};

	HBM_NEED(HBM_PUSH(p->dump->a, &p->r->blocks, b));
	bind(p, name, p->r->blocks.n - 1);
	if (!given) {
		p->held += size;
		p->r->n_allocs++;
		if (p->held > p->r->peak)
			p->r->peak = p->held;
	}
	return HBM_OK;
}

static hbm_status allocate(replay *p, const hbm_ind_stmt *st)
{
	hbm_ind_shape shape;
	uint64_t size = 0;

	if (!hbm_ind_stmt_shape(p->dump, st, &shape))
		return HBM_SEMANTIC;
	if (!hbm_ind_bytes(&shape, &size))
		p->r->n_unsized++;
	return new_block(p, st->dst, size, false);
}

/* A kernel's own result: its size is in the assertion that follows. */
static void sized_by_assert(replay *p, const hbm_ind_stmt *st)
{
	uint32_t b = p->now[st->dst];
	const hbm_ind_name *n = &p->dump->names.items[st->dst];
	hbm_ind_shape shape;
	uint64_t size;

	if (b == HBM_NONE || !p->r->blocks.items[b].given ||
	    p->r->blocks.items[b].size || !hbm_ind_stmt_shape(p->dump, st, &shape))
		return;
	shape.itemsize = n->itemsize;
	if (hbm_ind_bytes(&shape, &size))
		p->r->blocks.items[b].size = size;
}

static hbm_status step(replay *p, const hbm_ind_stmt *st)
{
	const hbm_sym *names = p->dump->code.names.items + st->names.first;

	switch (st->verb) {
	case HBM_IND_ALLOC:
		return allocate(p, st);
	case HBM_IND_MOVE:
	case HBM_IND_VIEW:
		if (p->now[st->src] != HBM_NONE && st->dst != st->src)
			bind(p, st->dst, p->now[st->src]);
		return HBM_OK;
	case HBM_IND_GIVEN:
	case HBM_IND_INDEX:
		return new_block(p, st->dst, 0, true);
	case HBM_IND_ASSERT:
		sized_by_assert(p, st);
		return HBM_OK;
	case HBM_IND_DEL:
		for (uint32_t i = 0; i < st->names.n; i++)
			drop(p, names[i]);
		return HBM_OK;
	case HBM_IND_RETURN:
		for (uint32_t i = 0; i < st->names.n; i++)
			if (p->now[names[i]] != HBM_NONE)
				p->r->blocks.items[p->now[names[i]]].output = true;
		return HBM_OK;
	case HBM_IND_ARGS:
	case HBM_IND_RUN:
		break;
	}
	return HBM_OK;
}

static bool fill_none(hbm_arena *a, uint32_t n, uint32_t **ret)
{
	*ret = HBM_ARRAY(a, uint32_t, n);
	if (*ret)
		memset(*ret, 0xff, n * sizeof **ret);
	return *ret != NULL;
}

hbm_status hbm_ind_replay_code(hbm_ind_dump *dump, hbm_ind_replay *ret)
{
	replay p = {.dump = dump, .r = ret};
	uint32_t n = dump->syms.strs.n;

	*ret = (hbm_ind_replay){.n_syms = n};
	HBM_NEED(hbm_ind_name_of(dump, n - 1));
	HBM_NEED(fill_none(dump->a, n, &p.now) &&
	         fill_none(dump->a, n, &ret->block_of));
	HBM_NEED(p.names =
	                 HBM_ZARRAY(dump->a, uint32_t, (size_t)dump->code.stmts.n + 1));
	for (p.tick = 0; p.tick < dump->code.stmts.n; p.tick++)
		HBM_TRY(step(&p, &dump->code.stmts.items[p.tick]));
	for (uint32_t i = 0; i < ret->blocks.n; i++)
		if (ret->blocks.items[i].end == HBM_NONE)
			ret->blocks.items[i].end = p.tick;
	return HBM_OK;
}
