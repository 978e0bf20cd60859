/* SPDX-License-Identifier: Apache-2.0
 *
 * simulate: runs the program on the planned addresses and, beside it, on unlimited
 * memory; every read must see the same.
 *
 * Memory     Two maps of byte ranges (verify/ranges.h): in one each class has a
 *            space of its own, in the other bytes lie where the plan puts them.
 *            A range holds a token and where its write began, so that a value in
 *            the wrong place is a wrong value.
 * Tokens     A hash of the operand, the trips of all loops and every input token:
 *            no two writes make the same one, and a wrong read spoils all that
 *            follows from it.
 * An op      First reads all its inputs, then writes its outputs, then looks at its
 *            inputs again: an output may not land on them, unless the plan gave it
 *            an input's storage.
 * Loops      Long ones run fewer trips, the last one included; see opts.
 * Pools      Hold nothing before their bundle begins and after it ends.
 * Cost       Per access the pieces it meets, times log of all pieces. */
#include "verify/verify.h"

#include "verify/check.h"
#include "verify/ranges.h"

#include "base/ckd.h"

#include <assert.h>
#include <inttypes.h>

enum {
	DEFAULT_TRIPS = 4,
	DEFAULT_STEPS = 10000000,
	MAX_CORES = 4096,
	/* Spaces of the planned memory. */
	SPACE_HBM = 0,
	FIRST_CORE = 1,
	FIRST_POOL = FIRST_CORE + MAX_CORES,
};

typedef struct frame { /* a loop that runs */
	hbm_node_id loop;
	uint64_t done, runs, trips;
} frame;

typedef struct sim {
	hbm_check *cx;
	const hbm_program *p;
	hbm_ranges plain, planned;
	uint32_t *op_of;    /* operand -> op */
	uint32_t *kept;     /* write -> the read whose bytes it leaves as they are,
	                     * HBM_NONE: none */
	uint32_t *stamp;    /* storage -> last step that wrote it */
	frame frames[HBM_MAX_DEPTH];
	uint32_t depth;
	hbm_op_id op;       /* that runs; HBM_NONE: after the last */
	uint64_t max_trips, max_steps;
	uint32_t deepest;   /* loops nested deeper run one trip */
	hbm_sim_result r;
} sim;

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9fb21c651e98df25u;
	h ^= h >> 31;
	h *= 0xc2b2ae3d27d4eb4fu;
	return h ^ h >> 29;
}

/* ---- addresses ------------------------------------------------------------- */

/* Bytes of a class in one space. */
typedef struct segment {
	uint32_t space;
	uint64_t lo, hi; /* addresses */
	uint64_t from;   /* byte of the class at `lo` */
} segment;

static const hbm_plan_storage *storage_of(const sim *m, uint32_t c)
{
	return &m->cx->plan->storages.items[m->cx->storage_of[c]];
}

static uint32_t pool_space(hbm_node_id bundle)
{
	return FIRST_POOL + bundle;
}

static uint32_t own_space(const sim *m, uint32_t s)
{
	return FIRST_POOL + m->p->nodes.n + s;
}

/* In a scratchpad each core holds an equal slice, at the same address. */
static segment in_core(const sim *m, const hbm_plan_storage *x, uint64_t at,
                       uint64_t end)
{
	uint64_t size = m->cx->own[x - m->cx->plan->storages.items].size;
	uint64_t least = size / MAX_CORES + 1;
	uint64_t slice = x->home.size > least ? x->home.size : least;
	uint64_t core = at / slice, within = at % slice;
	segment g = {.lo = x->home.offset + within};

	g.space = FIRST_CORE + (uint32_t)(core < MAX_CORES ? core : MAX_CORES - 1);
	g.hi = g.lo + (end - at < slice - within ? end - at : slice - within);
	return g;
}

/* The segment that begins at byte `at` of a class. */
static segment segment_at(const sim *m, uint32_t c, uint64_t at, uint64_t end)
{
	uint32_t s = m->cx->storage_of[c];
	const hbm_plan_storage *x = storage_of(m, c);
	uint64_t shift = m->cx->at[c];
	segment g = {.space = own_space(m, s)};

	if (x->home.kind == HBM_HOME_LX) {
		g = in_core(m, x, at + shift, end + shift);
	} else {
		bool placed = x->home.offset != HBM_NO_OFFSET;
		if (placed)
			g.space = x->home.kind == HBM_HOME_POOL
				? pool_space(x->home.bundle) : SPACE_HBM;
		g.lo = (placed ? x->home.offset : 0) + at + shift;
		g.hi = g.lo + (end - at);
	}
	g.from = at;
	return g;
}

/* ---- reading and writing --------------------------------------------------- */

/* Bytes [lo, hi) of a class. */
typedef struct window {
	uint32_t c;
	uint64_t lo, hi;
} window;

/* The trip a loop is in: the last run is the last trip. */
static uint64_t trip_of(const frame *f)
{
	return f->done + 1 == f->runs && f->trips ? f->trips - 1 : f->done;
}

static window window_of(const sim *m, const hbm_operand *o)
{
	window w = {.c = m->cx->f.class_of[o->tensor]};
	uint64_t len;

	hbm_facts_window(&m->cx->f, o, &w.lo, &len);
	for (uint32_t i = 0; i < o->strides.n; i++) {
		const hbm_stride *s = &m->p->strides.items[o->strides.first + i];
		for (uint32_t d = 0; d < m->depth; d++) {
			const frame *f = &m->frames[d];
			if (f->loop == s->loop)
				w.lo += s->bytes * trip_of(f);
		}
	}
	w.hi = w.lo + len;
	return w;
}

/* `cargo.origin` in bytes of the class. */
static hbm_status put(sim *m, const window *w, hbm_cargo cargo)
{
	HBM_NEED(hbm_ranges_put(&m->plain, w->c, w->lo, w->hi, cargo));
	for (uint64_t at = w->lo; at < w->hi;) {
		segment g = segment_at(m, w->c, at, w->hi);
		hbm_cargo there = cargo;
		there.origin = g.lo - (at - cargo.origin);
		HBM_NEED(hbm_ranges_put(&m->planned, g.space, g.lo, g.hi, there));
		at += g.hi - g.lo;
	}
	return HBM_OK;
}

/* A write is named by its operand; what is there before the program runs, by its
 * tensor. */
static uint32_t initial(const sim *m, hbm_tensor_id t)
{
	return m->p->operands.n + t;
}

static hbm_tensor_id tensor_of(const sim *m, uint32_t who)
{
	return who < m->p->operands.n ? m->p->operands.items[who].tensor
	                              : who - m->p->operands.n;
}

static void note_write(const sim *m, const char *what, const hbm_piece *p)
{
	uint32_t who = p->cargo.who;
	const char *name = hbm_tensor_name(m->p, tensor_of(m, who));
	uint32_t s = m->cx->storage_of[m->cx->f.class_of[tensor_of(m, who)]];

	if (who < m->p->operands.n)
		hbm_note(m->cx->d, HBM_NOWHERE,
		         "%s: bytes [%" PRIu64 ", %" PRIu64 ") that op '%s' (tick %u) "
		         "wrote to '%s' in storage '%s'", what, p->lo, p->hi,
		         hbm_check_op(m->cx, m->op_of[who]), m->op_of[who], name,
		         hbm_check_name(m->cx, s));
	else
		hbm_note(m->cx->d, HBM_NOWHERE,
		         "%s: bytes [%" PRIu64 ", %" PRIu64 ") of '%s' in storage '%s' "
		         "from before the program ran", what, p->lo, p->hi, name,
		         hbm_check_name(m->cx, s));
}

static hbm_status wrong(const sim *m, hbm_tensor_id t, const segment *g,
                        const hbm_piece *right, const hbm_piece *seen)
{
	const hbm_tensor *x = &m->p->tensors.items[t];
	uint32_t s = m->cx->storage_of[m->cx->f.class_of[t]];
	const hbm_plan_storage *st = &m->cx->plan->storages.items[s];
	bool end = m->op == HBM_NONE;

	(void)hbm_fail(m->cx->d, HBM_VERIFY, HBM_E_SIMULATION,
	               hbm_at(m->p, x->line, x->col, 0),
	               "%s%s%s finds a wrong value in '%s' (storage '%s', home '%s') at "
	               "tick %u, addresses [%" PRIu64 ", %" PRIu64 ")",
	               end ? "the caller" : "op '", end ? "" : hbm_check_op(m->cx, m->op),
	               end ? "" : "'", hbm_tensor_name(m->p, t),
	               hbm_check_name(m->cx, s), hbm_home_kind_name(st->home.kind),
	               end ? m->cx->f.n_ticks : m->op, g->lo, g->hi);
	for (uint32_t d = 0; d < m->depth; d++)
		hbm_note(m->cx->d, HBM_NOWHERE, "in trip %" PRIu64 " of loop '%s'",
		         trip_of(&m->frames[d]),
		         hbm_str_of(m->p, m->p->nodes.items[m->frames[d].loop].name));
	note_write(m, "it should find", right);
	if (seen)
		note_write(m, "it finds", seen);
	else
		hbm_note(m->cx->d, HBM_NOWHERE, "it finds bytes that nobody wrote");
	return HBM_VERIFY;
}

/* The planned memory must hold `right` in [lo, hi) of the class. */
static hbm_status compare_piece(const sim *m, hbm_tensor_id t, uint32_t c,
                                const hbm_piece *right, uint64_t lo, uint64_t hi)
{
	while (lo < hi) {
		segment g = segment_at(m, c, lo, hi);
		const hbm_piece *p = hbm_ranges_find(&m->planned, g.space, g.lo, g.hi);
		if (!p || p->lo > g.lo || p->cargo.token != right->cargo.token ||
		    g.lo - p->cargo.origin != lo - right->cargo.origin)
			return wrong(m, t, &g, right, p && p->lo <= g.lo ? p : NULL);
		lo += (p->hi < g.hi ? p->hi : g.hi) - g.lo;
	}
	return HBM_OK;
}

/* Compares what a window holds; adds the tokens to *digest (may be NULL). Bytes
 * that nobody has written are nobody's concern. */
static hbm_status look(const sim *m, hbm_tensor_id t, const window *w,
                       uint64_t *digest)
{
	const hbm_piece *p;
	uint64_t at = w->lo;

	while (at < w->hi &&
	       (p = hbm_ranges_find(&m->plain, w->c, at, w->hi)) != NULL) {
		uint64_t lo = p->lo > at ? p->lo : at;
		uint64_t hi = p->hi < w->hi ? p->hi : w->hi;
		HBM_TRY(compare_piece(m, t, w->c, p, lo, hi));
		if (digest)
			*digest = mix(mix(mix(*digest, p->cargo.token), lo - w->lo),
			              lo - p->cargo.origin);
		at = hi;
	}
	return HBM_OK;
}

static hbm_status look_at_reads(const sim *m, const hbm_op *op, bool again,
                                uint64_t *digest)
{
	for (uint32_t i = 0; i < op->reads.n; i++) {
		const hbm_operand *o = &m->p->operands.items[op->reads.first + i];
		window w = window_of(m, o);
		if (again && m->stamp[m->cx->storage_of[w.c]] == (uint32_t)m->r.steps)
			continue;
		HBM_TRY(look(m, o->tensor, &w, digest));
	}
	return HBM_OK;
}

/* An output that is an input's bytes unchanged. */
static hbm_status copy(sim *m, const window *from, const window *to)
{
	uint64_t shift = to->lo - from->lo, at = from->lo, end = from->hi;
	const hbm_piece *p;

	if (to->hi - to->lo < from->hi - from->lo)
		end = from->lo + (to->hi - to->lo);
	while (at < end && (p = hbm_ranges_find(&m->plain, from->c, at, end)) != NULL) {
		uint64_t lo = p->lo > at ? p->lo : at, hi = p->hi < end ? p->hi : end;
		window part = {to->c, lo + shift, hi + shift};
		hbm_cargo cargo = p->cargo;
		cargo.origin += shift;
		HBM_TRY(put(m, &part, cargo));
		at = hi;
	}
	return HBM_OK;
}

static hbm_status write_output(sim *m, uint32_t i, uint64_t token)
{
	window to = window_of(m, &m->p->operands.items[i]), from;
	uint32_t kept = m->kept[i];

	m->stamp[m->cx->storage_of[to.c]] = (uint32_t)m->r.steps;
	if (kept == HBM_NONE)
		return put(m, &to, (hbm_cargo){token, to.lo, i});
	from = window_of(m, &m->p->operands.items[kept]);
	if (from.c == to.c)
		return HBM_OK;
	HBM_TRY(put(m, &to, (hbm_cargo){token, to.lo, i}));
	return copy(m, &from, &to);
}

static hbm_status run_op(sim *m, hbm_op_id id)
{
	const hbm_op *op = &m->p->ops.items[id];
	uint64_t digest = mix(0x9e3779b97f4a7c15u, id);

	m->op = id;
	m->r.steps++;
	m->r.reads += op->reads.n;
	for (uint32_t d = 0; d < m->depth; d++)
		digest = mix(digest, trip_of(&m->frames[d]));
	HBM_TRY(look_at_reads(m, op, false, &digest));
	for (uint32_t i = op->writes.first; i < op->writes.first + op->writes.n; i++)
		HBM_TRY(write_output(m, i, mix(digest, i)));
	return look_at_reads(m, op, true, NULL);
}

/* ---- control --------------------------------------------------------------- */

static uint64_t runs_of(const sim *m, const hbm_node *loop, uint32_t depth)
{
	uint64_t trips = loop->trips ? loop->trips : m->max_trips;

	if (depth >= m->deepest)
		return 1;
	return trips < m->max_trips ? trips : m->max_trips;
}

/* Op executions with the limits as they are; saturates. */
static uint64_t count_steps(const sim *m)
{
	uint64_t times[HBM_MAX_DEPTH + 1] = {1}, sum = 0;
	hbm_node_id ends[HBM_MAX_DEPTH];
	uint32_t depth = 0;

	for (uint32_t n = 0; n < m->p->nodes.n; n++) {
		const hbm_node *x = &m->p->nodes.items[n];
		while (depth && ends[depth - 1] <= n)
			depth--;
		if (x->kind == HBM_NODE_OP)
			sum = hbm_add_sat(sum, times[depth]);
		if (x->kind != HBM_NODE_LOOP)
			continue;
		assert(depth < HBM_MAX_DEPTH);
		times[depth + 1] = hbm_mul_sat(times[depth], runs_of(m, x, depth));
		ends[depth++] = x->end;
	}
	return sum;
}

/* Fewer trips, then fewer levels that repeat, until the steps suffice. */
static void set_limits(sim *m, const hbm_sim_opts *opts)
{
	m->max_trips = opts && opts->max_trips ? opts->max_trips : DEFAULT_TRIPS;
	m->max_steps = opts && opts->max_steps ? opts->max_steps : DEFAULT_STEPS;
	m->max_steps = m->max_steps < UINT32_MAX ? m->max_steps : UINT32_MAX - 1;
	m->deepest = HBM_MAX_DEPTH;
	while (m->max_trips > 2 && count_steps(m) > m->max_steps)
		m->max_trips /= 2;
	if (m->max_trips < 2)
		m->max_trips = 1;
	while (m->deepest && count_steps(m) > m->max_steps)
		m->deepest--;
}

static void enter_loop(sim *m, hbm_node_id n)
{
	const hbm_node *x = &m->p->nodes.items[n];
	frame f = {.loop = n, .trips = x->trips};

	assert(m->depth < HBM_MAX_DEPTH);
	f.runs = runs_of(m, x, m->depth);
	m->r.capped |= f.runs < x->trips;
	m->frames[m->depth++] = f;
}

static hbm_status clear_pool(sim *m, hbm_node_id bundle)
{
	HBM_NEED(hbm_ranges_cut(&m->planned, pool_space(bundle), 0, UINT64_MAX));
	return HBM_OK;
}

/* The node to go on with after the one before `n`: loops that end here run again
 * or are left. */
static hbm_node_id next_node(sim *m, hbm_node_id n)
{
	while (m->depth) {
		frame *f = &m->frames[m->depth - 1];
		if (m->p->nodes.items[f->loop].end != n)
			break;
		if (++f->done < f->runs)
			return f->loop + 1;
		m->depth--;
	}
	return n;
}

static hbm_status run_nodes(sim *m)
{
	const hbm_program *p = m->p;
	hbm_node_id bundle = HBM_NONE, n = 0;

	while (n < p->nodes.n) {
		const hbm_node *x = &p->nodes.items[n];
		bool empty = m->cx->f.begin[n] == m->cx->f.end[n];
		if (bundle != HBM_NONE && n >= p->nodes.items[bundle].end) {
			HBM_TRY(clear_pool(m, bundle));
			bundle = HBM_NONE;
		}
		if (x->kind == HBM_NODE_BUNDLE) {
			bundle = n;
			HBM_TRY(clear_pool(m, bundle));
		}
		if (x->kind == HBM_NODE_OP) {
			if (m->r.steps == m->max_steps) {
				m->r.capped = true;
				return HBM_OK;
			}
			HBM_TRY(run_op(m, x->op));
		}
		if (x->kind == HBM_NODE_LOOP && !empty)
			enter_loop(m, n);
		n = next_node(m, empty ? x->end : n + 1);
	}
	return HBM_OK;
}

/* ---- before and after ------------------------------------------------------ */

static hbm_status fill(sim *m)
{
	enum { FILLED = HBM_T_INPUT | HBM_T_WEIGHT | HBM_T_STATE | HBM_T_ZERO };

	for (uint32_t t = 0; t < m->p->tensors.n; t++) {
		window w = {.c = m->cx->f.class_of[t], .lo = m->cx->f.offset[t]};
		w.hi = w.lo + m->cx->f.extent[t];
		if (m->p->tensors.items[t].flags & FILLED)
			HBM_TRY(put(m, &w, (hbm_cargo){mix(t, 0x2545f4914f6cdd1du), w.lo,
			                               initial(m, t)}));
	}
	return HBM_OK;
}

/* The caller finds its outputs, and all that it lent as it was. */
static hbm_status look_at_results(sim *m)
{
	m->op = HBM_NONE;
	for (uint32_t t = 0; t < m->p->tensors.n; t++) {
		window w = {.c = m->cx->f.class_of[t], .lo = m->cx->f.offset[t]};
		uint32_t flags = m->p->tensors.items[t].flags;
		w.hi = w.lo + m->cx->f.extent[t];
		if (!(flags & HBM_T_CALLER) ||
		    ((flags & HBM_T_DONATED) && !(flags & HBM_T_OUTPUT)))
			continue;
		HBM_TRY(look(m, t, &w, NULL));
	}
	return HBM_OK;
}

static void index_op(sim *m, hbm_op_id id)
{
	const hbm_op *op = &m->p->ops.items[id];

	for (uint32_t i = 0; i < op->reads.n; i++)
		m->op_of[op->reads.first + i] = id;
	for (uint32_t i = 0; i < op->writes.n; i++) {
		m->op_of[op->writes.first + i] = id;
		m->kept[op->writes.first + i] = HBM_NONE;
	}
	for (uint32_t i = 0; i < op->inplace.n; i++) {
		const hbm_inplace *in = &m->p->inplaces.items[op->inplace.first + i];
		if (in->keeps)
			m->kept[op->writes.first + in->write] =
				op->reads.first + in->read;
	}
}

static hbm_status sim_init(sim *m)
{
	const hbm_program *p = m->p;
	hbm_arena *a = m->cx->a;

	HBM_TRY(hbm_ranges_init(&m->plain, a));
	HBM_TRY(hbm_ranges_init(&m->planned, a));
	HBM_NEED(m->op_of = HBM_ARRAY(a, uint32_t, p->operands.n));
	HBM_NEED(m->kept = HBM_ARRAY(a, uint32_t, p->operands.n));
	HBM_NEED(m->stamp = HBM_ZARRAY(a, uint32_t, m->cx->plan->storages.n));
	for (uint32_t o = 0; o < p->ops.n; o++)
		index_op(m, o);
	return HBM_OK;
}

hbm_status hbm_simulate(hbm_arena *scratch, const hbm_program *p, const hbm_target *t,
                        const hbm_plan *plan, const hbm_sim_opts *opts, hbm_diags *d,
                        hbm_sim_result *ret)
{
	hbm_check cx = {.a = scratch, .p = p, .t = t, .plan = plan, .d = d};
	sim m = {.cx = &cx, .p = p};

	HBM_TRY(hbm_check_members(&cx));
	HBM_TRY(sim_init(&m));
	set_limits(&m, opts);
	HBM_TRY(fill(&m));
	HBM_TRY(run_nodes(&m));
	HBM_TRY(look_at_results(&m));
	*ret = m.r;
	return HBM_OK;
}
