/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_EXACT_H
#define HBM_PACK_EXACT_H

/* Inside the exact allocator: the flat model of an instance, the state of one
 * search, and the search itself. docs/algorithms/exact.md tells the method. */

#include "pack/internal.h"

/* Pruning rules: bits of hbm_solve_opts.disabled. None changes the answer. */
enum {
	HBM_X_SUM = 1 << 0,     /* free bytes of a tick hold what is to come */
	HBM_X_SUPPORT = 1 << 1, /* what is not at the floor rests on something */
	HBM_X_FEWEST = 1 << 2,  /* branch where the fewest choices are left */
	HBM_X_TWINS = 1 << 3,   /* equal items keep their order */
	HBM_X_STACK = 1 << 4,   /* items of one life, one on the other, too */
	HBM_X_SPLIT = 1 << 5,   /* parts that nothing joins are solved alone */
	HBM_X_LEARN = 1 << 6,   /* ticks that failed often come first */
	HBM_X_RESTART = 1 << 7, /* short runs in several orders first */
	HBM_X_ALL = (1 << 8) - 1,
};

/* Offsets inside a search: signed, so that differences are easy. Every extent
 * is below 2^62. */
typedef int64_t hbm_xoff;

typedef struct hbm_xspan {
	uint32_t first, last; /* ticks [first, last) */
} hbm_xspan;

/* An instance as flat arrays. Pinned items are obstacles, not items of the search:
 * they are in no list but the two of pins. */
typedef struct hbm_xmodel {
	const hbm_inst *in;
	uint32_t n, n_ticks, n_free; /* n_free: items without a pin */
	hbm_xoff *size;
	hbm_xspan *span; /* of item i: from span_first[i] on */
	uint32_t *span_first;
	uint32_t *tick_first, *tick_item; /* items of a tick */
	uint32_t *adj_first, *adj;        /* items that meet in time */
	uint32_t *pins_first, *pins;      /* pinned items that meet item i, by offset;
	                                   * NULL: no pins */
	uint32_t *tpins_first, *tpins;    /* the same for ticks */
	hbm_xspan *reach;                 /* of item i: hull of its neighbours */
	hbm_xoff *load;                   /* bytes of each tick, without pinned ones */
	uint32_t *twin;                   /* the equal item before, HBM_NONE */
	uint32_t *life; /* number of the set of items with the same ticks */
	uint32_t n_lives;
	hbm_xoff pins_end; /* highest end of a pinned item */
	bool clash;        /* two pinned items meet */
} hbm_xmodel;

static inline bool hbm_xmodel_pinned(const hbm_xmodel *m, uint32_t i)
{
	return m->in->pin && m->in->pin[i] != HBM_NO_OFFSET;
}

/* From the first to the last tick of item i. */
static inline hbm_xspan hbm_xmodel_hull(const hbm_xmodel *m, uint32_t i)
{
	return (hbm_xspan){m->span[m->span_first[i]].first,
	                   m->span[m->span_first[i + 1] - 1].last};
}

/* HBM_UNSUPPORTED: shapes the model cannot hold (windows, groups) or more cells
 * and edges than it may have. */
hbm_status hbm_xmodel_build(hbm_arena *a, const hbm_inst *in,
                            hbm_xmodel *ret) HBM_MUST_USE;

typedef struct hbm_xitem_log {
	uint32_t item;
	hbm_xoff low, base;
} hbm_xitem_log;

typedef struct hbm_xtick_log {
	uint32_t tick, witness;
	hbm_xoff floor;
} hbm_xtick_log;

/* State of a search at capacity `cap`. Of an item that is not placed yet:
 * `base` is the least offset that the placed ones allow, `low` >= base what the
 * branches taken allow; both are HBM_XOFF_MAX once it is placed. Of a tick:
 * `floor` is the least low of its items to come, or a lower bound of it, and
 * `witness` one that has it. */
typedef struct hbm_xstate {
	const hbm_xmodel *m;
	hbm_xoff cap;
	uint64_t disabled;
	uint32_t n_placed;
	hbm_xoff *low, *base, *off;
	uint32_t *open, *open_at; /* items to come are the first of `open` */
	uint32_t *life_top;       /* last placed item of each life, HBM_NONE */
	uint32_t *life_before;    /* per item: life_top before it was placed */
	hbm_xoff *rest;           /* sum of sizes to come */
	hbm_xoff *floor;
	uint32_t *witness;
	uint32_t *n_open; /* items to come */
	uint32_t *cut;    /* those that cross from t - 1 to t */
	HBM_VEC(hbm_xitem_log) item_log;
	HBM_VEC(hbm_xtick_log) tick_log;
	uint32_t *stack; /* placed items, in order */
	uint32_t failed_tick;
	uint64_t work; /* about how many items were looked at */
	bool nomem;
	hbm_arena *arena;
} hbm_xstate;

#define HBM_XOFF_MAX INT64_MAX

static inline bool hbm_xstate_placed(const hbm_xstate *s, uint32_t i)
{
	return s->low[i] == HBM_XOFF_MAX;
}

typedef struct hbm_xmark {
	uint32_t items, ticks, placed;
} hbm_xmark;

hbm_status hbm_xstate_init(hbm_arena *a, const hbm_xmodel *m, uint64_t disabled,
                           hbm_xstate *s) HBM_MUST_USE;
/* Nothing placed; false: `cap` is too small already. */
bool hbm_xstate_reset(hbm_xstate *s, hbm_xoff cap);
hbm_xmark hbm_xstate_mark(const hbm_xstate *s);
void hbm_xstate_undo(hbm_xstate *s, hbm_xmark to);
/* Puts item i at low[i]; false: nothing can follow (undo it). */
bool hbm_xstate_place(hbm_xstate *s, uint32_t i);
/* No item starts at the floor of `tick`; false: nothing can follow. */
bool hbm_xstate_waste(hbm_xstate *s, uint32_t tick);
hbm_xoff hbm_xmodel_pinned_above(const hbm_xmodel *m, uint32_t t, hbm_xoff y);

/* Bytes of tick t that stay empty when what is to come starts at `floor`. */
static inline hbm_xoff hbm_xstate_room(const hbm_xstate *s, uint32_t t, hbm_xoff floor)
{
	hbm_xoff room = s->cap - floor - s->rest[t];

	return s->m->pins ? room - hbm_xmodel_pinned_above(s->m, t, floor) : room;
}

/* Is the floor of the tick exact, not only a bound? */
static inline bool hbm_xstate_current(const hbm_xstate *s, uint32_t tick)
{
	return s->low[s->witness[tick]] == s->floor[tick];
}

/* Makes it exact. */
bool hbm_xstate_renew(hbm_xstate *s, uint32_t tick);

typedef enum hbm_xresult {
	HBM_XR_FOUND,     /* offsets are in state.off */
	HBM_XR_EXHAUSTED, /* proven: none within the capacity */
	HBM_XR_BUDGET,
	HBM_XR_GAVE_UP, /* neither found nor proven, and more time would not help */
	HBM_XR_NOMEM,
} hbm_xresult;

/* How a run looks for its next tick. */
typedef struct hbm_xstyle {
	const char *order; /* letters, most important first; see exact_order.c */
	bool lowest;       /* only ticks with the lowest floor */
	bool tight;        /* least slack first, else fewest choices */
} hbm_xstyle;

typedef struct hbm_xpart {
	uint32_t first, last; /* ticks [first, last) */
	uint32_t depth;       /* frames below it that it depends on */
	uint32_t next;        /* HBM_NONE */
} hbm_xpart;

typedef struct hbm_xframe {
	hbm_xmark mark;
	uint32_t tick;
	uint32_t cand, n_cand, next; /* range of state.cands */
	bool waste;
	uint32_t back;        /* frames left when this one has failed */
	uint32_t first, last; /* part in work */
	uint32_t waiting;     /* parts still to do, HBM_NONE */
	uint32_t n_parts;     /* of search.parts, before this frame */
} hbm_xframe;

typedef struct hbm_xsearch {
	hbm_xstate *s;
	hbm_pack_cx *cx;
	uint32_t *rank;             /* per item: order among choices */
	uint32_t *weight;           /* per tick */
	uint32_t *run_end;          /* per tick: end of the ticks with the same floor */
	uint32_t *alt;              /* per tick: items that may start at its floor */
	uint32_t *ready, n_ready;   /* items that lie flat at their base */
	HBM_VEC(hbm_xframe) frames; /* n: allocated; depth: in use */
	uint32_t depth;
	HBM_VEC(uint32_t) cands;
	HBM_VEC(hbm_xpart) parts;
	uint64_t nodes, max_nodes;
	hbm_xstyle style;
} hbm_xsearch;

hbm_status hbm_xsearch_init(hbm_arena *a, hbm_pack_cx *cx, hbm_xstate *s,
                            hbm_xsearch *ret) HBM_MUST_USE;
/* One depth-first search at `cap` with at most `max_nodes` nodes. */
hbm_xresult hbm_xsearch_run(hbm_xsearch *x, hbm_xoff cap, hbm_xstyle style,
                            uint64_t max_nodes);

hbm_status hbm_alloc_exact(hbm_pack_cx *cx, const hbm_inst *in,
                           hbm_answer *ans) HBM_MUST_USE;

/* Ranks the items by `order`: A area, C ticks, L start, O neighbours, T highest
 * pressure, U end, W span of time, Z size; larger first. Or, unless it is NULL, by
 * rising `after`. `noise` > 0 mixes neighbours in rank, by `seed`. */
hbm_status hbm_xorder(hbm_arena *scratch, const hbm_xmodel *m, const char *order,
                      const uint64_t *after, uint32_t noise, uint64_t seed,
                      uint32_t *rank) HBM_MUST_USE;

/* The search for what the model cannot hold: branches on the order of pairs. */
typedef struct hbm_xpairs hbm_xpairs;

/* HBM_UNSUPPORTED: too many pairs. */
hbm_status hbm_xpairs_init(hbm_arena *a, hbm_pack_cx *cx, const hbm_inst *in,
                           hbm_xpairs **ret) HBM_MUST_USE;
hbm_xresult hbm_xpairs_run(hbm_xpairs *p, hbm_xoff cap, uint64_t max_nodes);
const hbm_xoff *hbm_xpairs_offsets(const hbm_xpairs *p);

#endif
