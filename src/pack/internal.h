/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_INTERNAL_H
#define HBM_PACK_INTERNAL_H

/* What the allocators share.
 *
 * A problem is first made into *instances* (normal.c): one per stretch of time
 * that nothing crosses, with dense ticks, sizes divided by their common divisor,
 * colocation sets merged, and buffers without bytes or life left out. An
 * allocator sees one instance and improves one answer. */

#include "base/ckd.h"
#include "pack/problem.h"

/* What an instance contains beyond sizes and lives. */
enum {
	HBM_F_ALIGN = 1 << 0,  /* some modulus is above 1 */
	HBM_F_PINS = 1 << 1,
	HBM_F_PIECES = 1 << 2, /* an item of several rectangles: gaps, sets */
	HBM_F_GROUPS = 1 << 3,
	HBM_F_HINTS = 1 << 4,
	HBM_F_ALL = (1 << 5) - 1,
};

/* Needs bytes [lo, hi) of its item during ticks [start, end). */
typedef struct hbm_piece {
	uint32_t start, end;
	uint64_t lo, hi;
} hbm_piece;

/* Items are numbered 0..n-1; equal items keep the order of the problem. Every
 * item has size > 0 and start < end. Ticks 0..n_ticks-1 are the maximal sets of
 * items alive together, in order of time: two pieces meet in time exactly if
 * their ticks do. Optional arrays are NULL when no item uses them (see
 * `features`). */
typedef struct hbm_inst {
	uint32_t n, n_ticks;
	uint32_t features;    /* HBM_F_* */
	const uint64_t *size; /* offset + size <= extent; no hi is above it */
	const uint32_t *start, *end;
	/* offset % mod == rest; rest < mod, mod >= 1. Both or neither NULL. */
	const uint64_t *mod, *rest;
	const uint64_t *pin;  /* HBM_NO_OFFSET: free */
	const uint64_t *hint; /* HBM_NO_OFFSET: none */
	/* Pieces of item i: pieces[piece_first[i] .. piece_first[i + 1]). They
	 * may overlap each other and may be none. NULL: each item is one piece
	 * [start, end) x [0, size). */
	const hbm_piece *pieces;
	const uint32_t *piece_first;
	/* One for each piece (for each item when pieces is NULL); pieces of one
	 * group may overlap. HBM_NONE: in no group. */
	const uint32_t *group;
	uint64_t lower_bound;  /* pressure */
	uint32_t peak_tick;    /* where it is reached */
} hbm_inst;

/* The best placement of one instance so far; bytes in units of the instance.
 * An allocator that finds a smaller extent writes all offsets and the extent
 * together, and otherwise leaves both alone. */
typedef struct hbm_answer {
	uint64_t *offset;     /* n items */
	uint64_t extent;      /* HBM_NO_OFFSET: none yet */
	uint64_t lower_bound; /* proven; exact allocators raise it. Above `cap`:
	                       * proven infeasible */
	uint64_t cap;         /* only placements with extent <= cap are of use;
	                       * HBM_NO_OFFSET: any */
	uint64_t goal;        /* stop once extent <= goal; >= lower_bound */
	uint64_t enough;      /* an extent that will do: `auto` spends its first stage
	                       * on the goal and stops later ones here; 0: none */
	const char *by;       /* name of the allocator that found it */
} hbm_answer;

/* What one call may use. Steps are counted by the allocator, about one for each
 * buffer looked at or node visited, and decide when it stops; time only when the
 * user asked for a deadline. */
typedef struct hbm_pack_cx {
	hbm_arena *scratch; /* the caller empties it afterwards */
	uint64_t steps;     /* used so far */
	uint64_t max_steps; /* UINT64_MAX: no limit */
	uint64_t poll_at;   /* steps at which to look at clock and cancel again */
	bool stopped;       /* deadline or cancel: return the best so far */
	double deadline;    /* on hbm_pack_clock; 0: none */
	bool (*cancelled)(void *user);
	void *user;
	uint32_t effort;
	uint64_t disabled;  /* hbm_solve_opts.disabled */
	uint64_t seed;      /* of what an allocator tries at random */
} hbm_pack_cx;

double hbm_pack_clock(void);
bool hbm_pack_poll(hbm_pack_cx *cx);

/* Counts steps; false: stop now, with the best so far. */
static inline bool hbm_spend(hbm_pack_cx *cx, uint64_t steps)
{
	cx->steps += steps;
	if (cx->steps < cx->poll_at)
		return true;
	return hbm_pack_poll(cx);
}

/* ---- the table ---------------------------------------------------------- */

/* Places all items of `in` or leaves `ans` alone. Returns HBM_OK also when it
 * found nothing or ran out of steps. Never called with in->n == 0, nor with
 * features that `can` lacks. */
typedef hbm_status (*hbm_solve_fn)(hbm_pack_cx *cx, const hbm_inst *in,
                                   hbm_answer *ans);

/* One row of allocators.def. */
typedef struct hbm_allocator {
	const char *name;
	uint32_t can; /* HBM_F_* it respects */
	bool exact;
	/* NULL: solve.c runs it on the whole problem (`auto`, `bump`). */
	hbm_solve_fn solve;
} hbm_allocator;

/* NULL: no such name. */
const hbm_allocator *hbm_allocator_find(const char *name);

#define ALLOCATOR(id, name, summary, can, anytime, exact)                      \
	hbm_status hbm_alloc_##id(hbm_pack_cx *cx, const hbm_inst *in,         \
	                          hbm_answer *ans) HBM_MUST_USE;
#define WHOLE(id, name, summary, can, anytime, exact)
#include "pack/allocators.def"
#undef ALLOCATOR
#undef WHOLE

/* ---- small tools -------------------------------------------------------- */

/* Deterministic numbers (splitmix64). */
static inline uint64_t hbm_rand(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Sorts ids by ascending key[id]; equal keys keep their order. O(n) for small
 * keys, radix. NOMEM only from `scratch`. */
hbm_status hbm_sort_ids(hbm_arena *scratch, uint32_t *ids, uint32_t n,
                        const uint64_t *key) HBM_MUST_USE;
/* The same with room for n ids from the caller. */
void hbm_sort_ids_with(uint32_t *ids, uint32_t n, const uint64_t *key, uint32_t *room);

/* Highest end of a placed item. */
uint64_t hbm_inst_extent(const hbm_inst *in, const uint64_t *offset);

/* Sum of size x ticks, and how much more than that lies below a limit; UINT64_MAX
 * when that is no 64-bit number. A skyline that loses more area ends above it. */
uint64_t hbm_inst_area(const hbm_inst *in);
uint64_t hbm_inst_spare(const hbm_inst *in, uint64_t area, uint64_t limit);
/* Whether nearly all ticks are nearly as full as the fullest. */
bool hbm_inst_tight(const hbm_inst *in);

/* Least offset >= y that item i may have by its modulus. */
static inline uint64_t hbm_item_up(const hbm_inst *in, uint32_t i, uint64_t y)
{
	uint64_t mod, over;

	if (!in->mod)
		return y;
	mod = in->mod[i];
	over = (y % mod + mod - in->rest[i]) % mod;
	return over ? y + (mod - over) : y;
}

#endif
