/* SPDX-License-Identifier: Apache-2.0
 * Why nothing fits: a tick whose live bytes exceed the capacity, or a set of
 * buffers that cannot fit together while without any one of them they can.
 *
 * The set comes from a deletion filter: pieces of the problem, in order of time,
 * halves first and single buffers last, are left out for good when what remains is
 * still proven infeasible. What cannot be decided within a budget stays, so the set
 * is always infeasible and nearly always irreducible. */
#include "pack/witness.h"
#include "pack/fit.h"

enum {
	STEPS_EACH = 1 << 21, /* of exact search, for one question */
	MAX_QUESTIONS = 4000,
};

typedef struct filter {
	const hbm_problem *p;
	const hbm_pack_cx *cx;
	hbm_problem sub;
	uint64_t *size;    /* 0: left out */
	int64_t *end;      /* = start: left out */
	uint32_t *members; /* still in, by start */
	uint32_t n, asked;
} filter;

static uint64_t live_bytes(const hbm_problem *p, int64_t tick)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->start[i] <= tick && tick < p->end[i] &&
		    !(p->group && p->group[i] != HBM_NONE) &&
		    !(p->set && p->set[i] != HBM_NONE) &&
		    !(p->gap_first && p->gap_first[i] < p->gap_first[i + 1]))
			sum += p->size[i];
	return sum;
}

/* A buffer that no capacity like this can hold, HBM_NONE. */
static uint32_t too_high(const hbm_problem *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		bool pinned = p->pin && p->pin[i] != HBM_NO_OFFSET;

		if ((pinned ? p->pin[i] : 0) + p->size[i] > p->capacity)
			return i;
	}
	return HBM_NONE;
}

static hbm_status decide(filter *f, hbm_arena *tmp, bool *ret_infeasible)
{
	hbm_answer ans = {.extent = HBM_NO_OFFSET};
	hbm_pack_cx cx = *f->cx;
	hbm_normal nm;

	HBM_TRY(hbm_normalise(tmp, tmp, &f->sub, NULL, &nm));
	*ret_infeasible = nm.lower_bound > f->p->capacity;
	if (*ret_infeasible || nm.inst.n == 0)
		return HBM_OK;
	cx.scratch = tmp;
	cx.steps = 0;
	cx.max_steps = STEPS_EACH;
	cx.poll_at = 0;
	ans.cap = ans.goal = f->p->capacity / nm.unit;
	ans.lower_bound = nm.inst.lower_bound;
	ans.offset = HBM_ARRAY(tmp, uint64_t, nm.inst.n);
	HBM_NEED(ans.offset);
	HBM_TRY(hbm_fit(&cx, &nm.inst, nm.inst.size, HBM_FIT_LOWEST, "", &ans));
	if (ans.extent == HBM_NO_OFFSET)
		HBM_TRY(hbm_allocator_find("exact")->solve(&cx, &nm.inst, &ans));
	*ret_infeasible = ans.lower_bound > ans.cap;
	return HBM_OK;
}

static void set_in(filter *f, uint32_t i, bool in)
{
	f->size[i] = in ? f->p->size[i] : 0;
	f->end[i] = in ? f->p->end[i] : f->p->start[i];
}

/* Leaves out members [from, to) when the rest is infeasible without them. */
static hbm_status try_without(filter *f, uint32_t from, uint32_t to, bool *ret_gone)
{
	hbm_arena tmp;
	hbm_status st;

	for (uint32_t k = from; k < to; k++)
		set_in(f, f->members[k], false);
	hbm_arena_init(&tmp, &f->cx->scratch->mem);
	st = decide(f, &tmp, ret_gone);
	hbm_arena_fini(&tmp);
	HBM_TRY(st);
	f->asked++;
	if (!*ret_gone) {
		for (uint32_t k = from; k < to; k++)
			set_in(f, f->members[k], true);
		return HBM_OK;
	}
	for (uint32_t k = to; k < f->n; k++)
		f->members[from + k - to] = f->members[k];
	f->n -= to - from;
	return HBM_OK;
}

static hbm_status reduce(filter *f)
{
	for (uint32_t chunk = f->n / 2; chunk; chunk /= 2)
		for (uint32_t at = 0; at < f->n;) {
			uint32_t to = f->n - at < chunk ? f->n : at + chunk;
			bool gone;

			if (f->asked >= MAX_QUESTIONS || f->cx->stopped)
				return HBM_OK;
			HBM_TRY(try_without(f, at, to, &gone));
			at = gone ? at : to;
		}
	return HBM_OK;
}

static hbm_status filter_init(hbm_arena *keep, const hbm_problem *p, filter *f)
{
	size_t n = (size_t)p->n + 1;
	uint64_t *key = HBM_ARRAY(f->cx->scratch, uint64_t, n);

	f->size = HBM_ARRAY(f->cx->scratch, uint64_t, n);
	f->end = HBM_ARRAY(f->cx->scratch, int64_t, n);
	f->members = HBM_ARRAY(keep, uint32_t, n);
	HBM_NEED(key && f->size && f->end && f->members);
	for (uint32_t i = 0; i < p->n; i++) {
		key[i] = (uint64_t)p->start[i] ^ (uint64_t)1 << 63;
		set_in(f, i, true);
		if (p->size[i] && p->start[i] < p->end[i])
			f->members[f->n++] = i;
	}
	f->sub = *p;
	f->sub.size = f->size;
	f->sub.end = f->end;
	return hbm_sort_ids(f->cx->scratch, f->members, f->n, key);
}

hbm_status hbm_find_witness(hbm_arena *keep, const hbm_problem *p, int64_t peak,
                            const hbm_pack_cx *cx, hbm_placement *out)
{
	filter f = {.p = p, .cx = cx};
	uint32_t one = too_high(p);

	out->witness_tick = peak;
	if (one != HBM_NONE) {
		out->witness = HBM_ARRAY(keep, uint32_t, 1);
		HBM_NEED(out->witness);
		out->witness[0] = one;
		out->n_witness = 1;
		return HBM_OK;
	}
	if (live_bytes(p, peak) > p->capacity)
		return HBM_OK;
	HBM_TRY(filter_init(keep, p, &f));
	HBM_TRY(reduce(&f));
	out->witness = f.members;
	out->n_witness = f.n;
	return HBM_OK;
}
