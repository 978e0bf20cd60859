/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: one walk that opens and closes blocks and adds ops. */
#include "support/gen_internal.h"

#include "ir/validate.h"

uint64_t gen_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t gen_below(uint64_t *state, uint64_t n)
{
	return n ? gen_random(state) % n : 0;
}

uint32_t gen_under(gen *g, uint32_t n)
{
	return (uint32_t)gen_below(&g->rng, n);
}

bool gen_chance(gen *g, uint32_t in_1000)
{
	return in_1000 && gen_under(g, 1000) < in_1000;
}

void gen_defaults(gen_opts *o, uint64_t seed)
{
	uint64_t r = seed ^ 0x5851f42d4c957f2du;
#define UP_TO(n) ((uint32_t)gen_below(&r, (n) + 1))
	*o = (gen_opts){.seed = seed};
	o->n_ops = 2 + UP_TO(40);
	o->n_inputs = 1 + UP_TO(3);
	o->max_depth = UP_TO(4);
	o->max_trips = 2 + UP_TO(3);
	o->max_size = 1u << (4 + UP_TO(8));
	o->bundle = 500 + UP_TO(500);
	o->close = 50 + UP_TO(200);
	o->loop = UP_TO(200);
	o->region = UP_TO(60);
	o->parallel = UP_TO(2) ? 0 : UP_TO(80);
	o->unknown_trips = UP_TO(3) ? 0 : 150;
	o->far = UP_TO(600);
	o->view = UP_TO(300);
	o->may = UP_TO(400);
	o->must = UP_TO(200);
	o->rewrite = UP_TO(200);
	o->fallback = UP_TO(150);
	o->window = UP_TO(300);
	o->advance = UP_TO(500);
	o->tile = UP_TO(1000);
	o->carried = UP_TO(300);
	o->zero = UP_TO(60);
	o->state = UP_TO(100);
	o->donated = UP_TO(500);
	o->weight = UP_TO(300);
	o->output = UP_TO(120);
	o->scratch = UP_TO(100);
	o->host = UP_TO(200);
#undef UP_TO
}

/* ---- blocks -------------------------------------------------------------- */

/* One op that reads or writes just this tensor. */
static void touch(gen *g, hbm_tensor_id t, bool write)
{
	bool member = gen_enter_member(g);
	hbm_op_id id = gen_begin_op(g, HBM_OP_COMPUTE);

	if (g->nomem)
		return;
	if (!write)
		g->nomem |= !hbm_add_read(g->p, id, t);
	else
		gen_add_read(g, id, false);
	if (write)
		g->nomem |= !hbm_add_write(g->p, id, t);
	else
		gen_write_new(g, id, 0);
	if (member)
		g->n_active--;
}

static void open_block(gen *g, hbm_node_kind kind)
{
	static const char *const letters[] = {"o", "k", "L", "r", "q"};
	gen_block b = {.kind = kind, .carried = HBM_NONE};
	hbm_sym name;

	if (g->n_open == GEN_MAX_OPEN)
		return;
	name = gen_name_of(g, letters[kind]);
	b.is_member = gen_enter_member(g);
	b.first_member = g->next_member;
	b.node = hbm_open_node(g->p, kind, name, gen_around(g));
	if (name == HBM_NONE || b.node == HBM_NONE) {
		g->nomem = true;
		return;
	}
	if (kind == HBM_NODE_LOOP && !gen_chance(g, g->o->unknown_trips))
		g->p->nodes.items[b.node].trips = 1 + gen_under(g, g->o->max_trips);
	if (gen_chance(g, g->o->decorate / 2))
		gen_add_attr(g, &g->p->nodes.items[b.node].attrs);
	g->open[g->n_open++] = b;
	if (kind == HBM_NODE_LOOP && gen_chance(g, g->o->carried)) {
		hbm_tensor_id t = gen_new_tensor(g, "c", gen_size_of_new(g, UINT64_MAX),
		                                 HBM_T_CARRIED);
		g->open[g->n_open - 1].carried = t;
		if (!g->nomem)
			touch(g, t, false);
	}
}

static void settle_roots(gen *g, const gen_block *b)
{
	uint32_t member = gen_member_now(g);

	for (uint32_t i = 0; i < g->roots.n; i++) {
		gen_root *r = &g->roots.items[i];
		if (r->until == b->node) {
			r->until = HBM_NONE;
			r->whole = true;
		}
		if (b->kind == HBM_NODE_PARALLEL && r->member >= b->first_member &&
		    r->member)
			r->member = member;
	}
}

static void close_block(gen *g)
{
	gen_block b = g->open[g->n_open - 1];

	if (b.carried != HBM_NONE && !g->nomem)
		touch(g, b.carried, true);
	hbm_close_node(g->p, b.node);
	g->n_open--;
	settle_roots(g, &b);
	if (b.is_member)
		g->n_active--;
}

static void step(gen *g)
{
	if (gen_chance(g, g->o->view))
		gen_add_view(g);
	if (gen_chance(g, g->o->zero))
		gen_given(g, "z", HBM_T_ZERO);
	if (g->n_open && gen_chance(g, g->o->close)) {
		close_block(g);
		return;
	}
	if (!g->n_open && gen_chance(g, g->o->bundle))
		open_block(g, HBM_NODE_BUNDLE);
	else if (g->n_open <= g->o->max_depth && gen_chance(g, g->o->loop))
		open_block(g, HBM_NODE_LOOP);
	else if (g->n_open <= g->o->max_depth && gen_chance(g, g->o->region))
		open_block(g, HBM_NODE_REGION);
	else if (g->n_open <= g->o->max_depth && gen_chance(g, g->o->parallel))
		open_block(g, HBM_NODE_PARALLEL);
	if (!g->nomem)
		gen_add_op(g);
}

/* ---- the program --------------------------------------------------------- */

static void add_homes(gen *g)
{
	for (uint32_t i = 0; i < g->p->tensors.n; i++) {
		hbm_home *h = &g->p->tensors.items[i].home;
		hbm_node_id b = gen_under(g, g->p->nodes.n);
		if (!gen_chance(g, g->o->planned))
			continue;
		if (gen_chance(g, 200)) {
			h->with = 1 + gen_under(g, g->p->tensors.n);
			h->offset = gen_chance(g, 500) ? HBM_NO_OFFSET : 64;
			continue;
		}
		h->kind = (hbm_home_kind)(1 + gen_under(g, 4));
		if (h->kind == HBM_HOME_POOL &&
		    (!g->p->nodes.n || g->p->nodes.items[b].kind != HBM_NODE_BUNDLE))
			h->kind = HBM_HOME_HBM;
		if (h->kind == HBM_HOME_POOL)
			h->bundle = b;
		if (gen_chance(g, 700))
			h->offset = gen_below(&g->rng, 1 << 20);
		h->size = gen_chance(g, 500) ? 0 : 1 + gen_under(g, 4096);
	}
}

static void add_reduction(gen *g)
{
	hbm_reduction r = {.name = gen_name_of(g, "red"), .acc = HBM_NONE};

	if (g->p->ops.n)
		r.fill = g->p->ops.items[gen_under(g, g->p->ops.n)].name;
	r.combine = gen_chance(g, 500) ? hbm_intern_cstr(&g->p->syms, "gone") : 0;
	if (gen_chance(g, 700))
		r.acc = gen_under(g, g->p->tensors.n);
	g->nomem |= !HBM_PUSH(g->p->arena, &g->p->reductions, r);
}

hbm_status gen_program(hbm_arena *a, const gen_opts *o, hbm_program *ret)
{
	hbm_program p;
	gen g = {.o = o, .p = &p, .rng = o->seed, .next_member = 1};

	HBM_TRY(hbm_program_init(&p, a));
	if (gen_chance(&g, o->decorate))
		p.name = gen_name_of(&g, "program");
	if (gen_chance(&g, o->decorate))
		p.target = hbm_intern_cstr(&p.syms, "toy");
	gen_add_given(&g);
	while (p.ops.n < o->n_ops && !g.nomem)
		step(&g);
	while (g.n_open && !g.nomem)
		close_block(&g);
	if (!g.nomem) { /* at least one output */
		hbm_op_id id = gen_begin_op(&g, HBM_OP_COMPUTE);
		for (uint32_t i = 0; i < 2 && !g.nomem; i++)
			gen_add_read(&g, id, false);
		if (!g.nomem)
			gen_write_new(&g, id, HBM_T_OUTPUT);
	}
	while (gen_chance(&g, o->decorate / 2) && !g.nomem)
		add_reduction(&g);
	add_homes(&g);
	HBM_NEED(!g.nomem);
	*ret = p;
	return hbm_validate(ret, NULL);
}
