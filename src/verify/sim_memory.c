/* SPDX-License-Identifier: Apache-2.0
 *
 * sim_memory: what the simulated program reads and writes.
 *
 * Two maps of byte ranges hold the same values, one by class and byte, the other by
 * the addresses of the plan. A range holds a token and where its write began, so a
 * value in the wrong place is a wrong value. A storage without an address has a
 * space of its own, as in the system that runs it. */
#include "verify/sim.h"

#include <inttypes.h>

enum {
	MAX_CORES = 4096,
	/* Spaces of the planned memory. */
	SPACE_HBM = 0,
	FIRST_CORE = 1,
	FIRST_POOL = FIRST_CORE + MAX_CORES,
};

/* Bytes of a class in one space. */
typedef struct segment {
	uint32_t space;
	uint64_t lo, hi; /* addresses */
} segment;

static uint32_t pool_space(hbm_node_id bundle)
{
	return FIRST_POOL + bundle;
}

/* In a scratchpad each core holds an equal slice, at the same address. */
static segment in_core(const hbm_sim *m, uint32_t s, uint64_t at, uint64_t end)
{
	const hbm_home *home = &m->cx->plan->storages.items[s].home;
	uint64_t least = m->cx->own[s].size / MAX_CORES + 1;
	uint64_t slice = home->size > least ? home->size : least;
	uint64_t core = at / slice, within = at % slice, rest = slice - within;
	segment g = {.lo = home->offset + within};

	g.space = FIRST_CORE + (uint32_t)(core < MAX_CORES ? core : MAX_CORES - 1);
	g.hi = g.lo + (end - at < rest ? end - at : rest);
	return g;
}

/* The segment that begins at byte `at` of a class. */
static segment segment_at(const hbm_sim *m, uint32_t c, uint64_t at, uint64_t end)
{
	uint32_t s = m->cx->storage_of[c];
	const hbm_home *home = &m->cx->plan->storages.items[s].home;
	uint64_t shift = m->cx->at[c];
	segment g = {.space = FIRST_POOL + m->p->nodes.n + s, .lo = at + shift};

	if (home->kind == HBM_HOME_LX)
		return in_core(m, s, at + shift, end + shift);
	if (home->offset != HBM_NO_OFFSET) {
		g.space = home->kind == HBM_HOME_POOL ? pool_space(home->bundle)
		                                      : SPACE_HBM;
		g.lo += home->offset;
	}
	g.hi = g.lo + (end - at);
	return g;
}

hbm_window hbm_sim_operand(const hbm_sim *m, const hbm_operand *o)
{
	hbm_window w = {.c = m->cx->f.class_of[o->tensor]};
	uint64_t len;

	hbm_facts_window(&m->cx->f, o, &w.lo, &len);
	for (uint32_t i = 0; i < o->strides.n; i++) {
		const hbm_stride *s = &m->p->strides.items[o->strides.first + i];
		w.lo += s->bytes * hbm_sim_trip(&m->frames[m->frame_of[s->loop]]);
	}
	w.hi = w.lo + len;
	return w;
}

hbm_window hbm_sim_tensor(const hbm_sim *m, hbm_tensor_id t)
{
	uint64_t lo = m->cx->f.offset[t];

	return (hbm_window){m->cx->f.class_of[t], lo, lo + m->cx->f.extent[t]};
}

/* ---- writing --------------------------------------------------------------- */

/* `cargo.origin` in bytes of the class. */
static hbm_status put(hbm_sim *m, const hbm_window *w, hbm_cargo cargo)
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

hbm_status hbm_sim_put(hbm_sim *m, const hbm_window *w, uint64_t token, uint32_t who)
{
	return put(m, w, (hbm_cargo){token, w->lo, who});
}

hbm_status hbm_sim_copy(hbm_sim *m, const hbm_window *from, const hbm_window *to)
{
	uint64_t shift = to->lo - from->lo, at = from->lo, end = from->hi;
	const hbm_piece *p;

	if (to->hi - to->lo < from->hi - from->lo)
		end = from->lo + (to->hi - to->lo);
	while (at < end && m->pieces &&
	       (p = hbm_ranges_find(&m->plain, from->c, at, end)) != NULL) {
		uint64_t lo = p->lo > at ? p->lo : at, hi = p->hi < end ? p->hi : end;
		hbm_window part = {to->c, lo + shift, hi + shift};
		hbm_cargo cargo = p->cargo;
		cargo.origin += shift;
		HBM_TRY(put(m, &part, cargo));
		m->pieces--;
		at = hi;
	}
	return HBM_OK;
}

hbm_status hbm_sim_clear_pool(hbm_sim *m, hbm_node_id bundle)
{
	HBM_NEED(hbm_ranges_cut(&m->planned, pool_space(bundle), 0, UINT64_MAX));
	return HBM_OK;
}

/* ---- looking --------------------------------------------------------------- */

/* A write is named by its operand; what is there from the start, by its tensor. */
uint32_t hbm_sim_given(const hbm_sim *m, hbm_tensor_id t)
{
	return m->p->operands.n + t;
}

static void note_write(const hbm_sim *m, const char *what, const hbm_piece *p)
{
	uint32_t who = p->cargo.who, n = m->p->operands.n;
	hbm_tensor_id t = who < n ? m->p->operands.items[who].tensor : who - n;
	const char *name = hbm_tensor_name(m->p, t);
	uint32_t s = m->cx->storage_of[m->cx->f.class_of[t]];

	if (who < n)
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

static void note_trips(const hbm_sim *m)
{
	for (uint32_t d = 0; d < m->depth; d++) {
		const hbm_node *loop = &m->p->nodes.items[m->frames[d].loop];
		hbm_note(m->cx->d, HBM_NOWHERE, "in trip %" PRIu64 " of loop '%s'",
		         hbm_sim_trip(&m->frames[d]), hbm_str_of(m->p, loop->name));
	}
}

static hbm_status wrong(const hbm_sim *m, hbm_tensor_id t, const segment *g,
                        const hbm_piece *right, const hbm_piece *seen)
{
	uint32_t s = m->cx->storage_of[m->cx->f.class_of[t]];
	const hbm_home *home = &m->cx->plan->storages.items[s].home;
	bool end = m->op == HBM_NONE;

	(void)hbm_fail(m->cx->d, HBM_VERIFY, HBM_E_SIMULATION,
	               hbm_check_where(m->cx, t),
	               "%s%s%s finds a wrong value in '%s' (storage '%s', home '%s') at "
	               "tick %u, addresses [%" PRIu64 ", %" PRIu64 ")",
	               end ? "the caller" : "op '", end ? "" : hbm_check_op(m->cx, m->op),
	               end ? "" : "'", hbm_tensor_name(m->p, t),
	               hbm_check_name(m->cx, s), hbm_home_kind_name(home->kind),
	               end ? m->cx->f.n_ticks : m->op, g->lo, g->hi);
	note_trips(m);
	note_write(m, "it should find", right);
	if (seen)
		note_write(m, "it finds", seen);
	else
		hbm_note(m->cx->d, HBM_NOWHERE, "it finds bytes that nobody wrote");
	return HBM_VERIFY;
}

/* The planned memory must hold `right` in [lo, hi) of the class. */
static hbm_status compare(hbm_sim *m, hbm_tensor_id t, uint32_t c,
                          const hbm_piece *right, uint64_t lo, uint64_t hi)
{
	while (lo < hi && m->pieces) {
		segment g = segment_at(m, c, lo, hi);
		const hbm_piece *p = hbm_ranges_find(&m->planned, g.space, g.lo, g.hi);
		if (!p || p->lo > g.lo || p->cargo.token != right->cargo.token ||
		    g.lo - p->cargo.origin != lo - right->cargo.origin)
			return wrong(m, t, &g, right, p && p->lo <= g.lo ? p : NULL);
		lo += (p->hi < g.hi ? p->hi : g.hi) - g.lo;
		m->pieces--;
	}
	return HBM_OK;
}

hbm_status hbm_sim_look(hbm_sim *m, hbm_tensor_id t, const hbm_window *w,
                        uint64_t *digest)
{
	const hbm_piece *p;
	uint64_t at = w->lo, h = digest ? *digest : 0;

	while (at < w->hi && m->pieces &&
	       (p = hbm_ranges_find(&m->plain, w->c, at, w->hi)) != NULL) {
		uint64_t lo = p->lo > at ? p->lo : at;
		uint64_t hi = p->hi < w->hi ? p->hi : w->hi;
		HBM_TRY(compare(m, t, w->c, p, lo, hi));
		h = hbm_sim_mix(hbm_sim_mix(h, p->cargo.token), lo - w->lo);
		h = hbm_sim_mix(h, lo - p->cargo.origin);
		at = hi;
	}
	if (digest)
		*digest = h;
	return HBM_OK;
}

hbm_status hbm_sim_memory(hbm_sim *m)
{
	HBM_TRY(hbm_ranges_init(&m->plain, m->cx->a));
	return hbm_ranges_init(&m->planned, m->cx->a);
}
