/* SPDX-License-Identifier: Apache-2.0
 * `layers`: the skyline of sky.c, but each valley is filled by those items that
 * together cover most of its floor, so that little of it is lost.
 *
 * Of the items inside a valley a row that does not overlap is chosen by dynamic
 * programming over its ticks. An item is worth the ticks it covers, less a little for
 * being one more: short ones are kept for narrow valleys. A small bonus goes to what is
 * large, which is harder to place later, and to an item whose top is level with the
 * wall beside it. Further tries vary both.
 *
 * For problems that are tight nearly everywhere: what it saves is lost area.
 *
 * Cost: each look at a valley takes its ticks and the items that start in them. Lives
 * that contain each other in long chains suit that badly: when the steps run ahead
 * of what is placed, the search is over. O(n) steps; about 60 bytes an item. */
#include "pack/internal.h"
#include "pack/segment.h"

#include <string.h>

enum {
	STEPS_AHEAD = 40,   /* for each item, and more for each one placed */
	STEPS_EACH = 300,
	ONE = 1 << 10,      /* worth of a covered tick */
	FIRST_TILT = 16,    /* of ONE, for an item of mean area and life */
	MAX_TILT = 64,
	MAX_NOISE = 40,
	FIRST_TOLL = 64,    /* of ONE, for each item, at mean life */
	MAX_TOLL = 192,
	RATIO_ONE = 64,     /* area of an item over the mean */
	MAX_RATIO = 4096,
};

typedef struct layers {
	const hbm_inst *in;
	uint32_t *first;    /* by tick: the first of its items in `sorted` */
	uint32_t *sorted;   /* items by start, then by end */
	uint32_t *list;     /* the same; of each tick's items unplaced ones lead */
	uint32_t *n_list;   /* by tick: how many of them to look at */
	uint64_t *worth;    /* by item */
	uint64_t *most;     /* by tick: worth of the best row from here on */
	uint32_t *choice;   /* by tick: its first item, HBM_NONE: the tick is left */
	hbm_segment *seg;
	uint64_t *offset;   /* HBM_NO_OFFSET: not placed */
	uint64_t area, mean_life; /* area: of all items */
	uint64_t steps;
	uint32_t n_left;
} layers;

/* ---- making one ------------------------------------------------------------ */

static hbm_status sort_items(hbm_arena *a, const hbm_inst *in, layers *l)
{
	uint64_t *key = HBM_ARRAY(a, uint64_t, in->n);

	HBM_NEED(key);
	for (uint32_t i = 0; i < in->n; i++) {
		l->sorted[i] = i;
		key[i] = (uint64_t)in->start[i] << 32 | in->end[i];
		l->first[in->start[i] + 1]++;
	}
	for (uint32_t t = 0; t < in->n_ticks; t++)
		l->first[t + 1] += l->first[t];
	return hbm_sort_ids(a, l->sorted, in->n, key);
}

static hbm_status layers_init(hbm_arena *a, const hbm_inst *in, layers *l)
{
	size_t n = in->n, ticks = (size_t)in->n_ticks + 1;
	uint64_t life = 0;

	*l = (layers){.in = in};
	l->first = HBM_ZARRAY(a, uint32_t, ticks);
	l->sorted = HBM_ARRAY(a, uint32_t, n);
	l->list = HBM_ARRAY(a, uint32_t, n);
	l->n_list = HBM_ARRAY(a, uint32_t, ticks);
	l->worth = HBM_ARRAY(a, uint64_t, n);
	l->most = HBM_ARRAY(a, uint64_t, ticks);
	l->choice = HBM_ARRAY(a, uint32_t, ticks);
	l->seg = HBM_ARRAY(a, hbm_segment, ticks);
	l->offset = HBM_ARRAY(a, uint64_t, n);
	HBM_NEED(l->first && l->sorted && l->list && l->n_list && l->worth && l->most);
	HBM_NEED(l->choice && l->seg && l->offset);
	for (uint32_t i = 0; i < in->n; i++)
		life += in->end[i] - in->start[i];
	l->mean_life = life / n;
	l->area = hbm_inst_area(in);
	return sort_items(a, in, l);
}

/* How one try weighs items; of ONE, for an item of mean area and life. */
typedef struct weights {
	uint32_t tilt, noise, toll;
} weights;

static void set_worth(layers *l, const weights *w, uint64_t *seed)
{
	const hbm_inst *in = l->in;
	uint64_t unit = l->area / in->n / RATIO_ONE + 1, toll = w->toll * l->mean_life;

	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t life = in->end[i] - in->start[i];
		uint64_t ratio = hbm_mul_sat(in->size[i], life) / unit, bonus;

		bonus = w->tilt * (ratio < MAX_RATIO ? ratio : MAX_RATIO) / RATIO_ONE;
		if (w->noise)
			bonus += (hbm_rand(seed) >> 32) * w->noise >> 32;
		bonus = life * ONE + bonus * l->mean_life;
		l->worth[i] = bonus > toll ? bonus - toll : 1;
	}
}

/* ---- one valley ------------------------------------------------------------ */

/* Takes placed items out of the first k of a tick's list; `kept` are left. */
static void close_up(layers *l, uint32_t tick, uint32_t kept, uint32_t k)
{
	uint32_t *list = l->list + l->first[tick];

	if (kept == k)
		return;
	memmove(list + kept, list + k, (l->n_list[tick] - k) * sizeof *list);
	l->n_list[tick] -= k - kept;
}

/* Worth of an item's top being level with a wall of the valley. */
static uint64_t level(const layers *l, uint32_t i, uint32_t at)
{
	const hbm_segment *x = &l->seg[at];
	uint64_t top = x->height + l->in->size[i];

	uint64_t sides = 0;

	sides += l->in->start[i] == at && top == l->seg[x->left].height;
	sides += l->in->end[i] == x->end && top == l->seg[x->end].height;
	return sides * ONE;
}

/* The best row of items in [tick, end of the valley at `at`). */
static void look_at_tick(layers *l, uint32_t tick, uint32_t at)
{
	uint32_t *list = l->list + l->first[tick], to = l->seg[at].end;
	uint32_t k = 0, kept = 0, choice = HBM_NONE;
	uint64_t most = l->most[tick + 1];

	for (; k < l->n_list[tick]; k++) {
		uint32_t i = list[k];
		uint64_t worth;

		if (l->offset[i] != HBM_NO_OFFSET)
			continue;
		if (l->in->end[i] > to)
			break;
		list[kept++] = i;
		worth = l->worth[i] + level(l, i, at) + l->most[l->in->end[i]];
		if (worth > most) {
			most = worth;
			choice = i;
		}
	}
	l->steps += k + 1;
	close_up(l, tick, kept, k);
	l->most[tick] = most;
	l->choice[tick] = choice;
}

/* An item that covers the whole floor alone, HBM_NONE: there is none. */
static uint32_t covering(layers *l, uint32_t at)
{
	const uint32_t *list = l->list + l->first[at];
	uint32_t to = l->seg[at].end, best = HBM_NONE, k = 0;

	for (; k < l->n_list[at] && l->in->end[list[k]] <= to; k++) {
		uint32_t i = list[k];

		if (l->in->end[i] == to && l->offset[i] == HBM_NO_OFFSET &&
		    (best == HBM_NONE || l->worth[i] > l->worth[best]))
			best = i;
	}
	l->steps += k + 1;
	return best;
}

/* The best row of items on the floor of the valley. */
static void choose_row(layers *l, uint32_t at)
{
	uint32_t to = l->seg[at].end, one = covering(l, at);

	l->most[to] = 0;
	if (one != HBM_NONE) {
		l->choice[at] = one;
		return;
	}
	for (uint32_t t = to; t-- > at;)
		look_at_tick(l, t, at);
}

/* Places the best row on the floor of the valley; the segment to go on with,
 * HBM_NONE: nothing fits. */
static uint32_t fill_valley(layers *l, uint32_t at, uint64_t *top)
{
	const hbm_inst *in = l->in;
	uint32_t to = l->seg[at].end, rest = at, next = HBM_NONE;
	uint64_t floor = l->seg[at].height;

	choose_row(l, at);
	for (uint32_t t = at; t < to;) {
		uint32_t i = l->choice[t];
		uint64_t y;

		if (i == HBM_NONE) {
			t++;
			continue;
		}
		l->offset[i] = y = hbm_item_up(in, i, floor);
		l->n_left--;
		y += in->size[i];
		*top = y > *top ? y : *top;
		next = hbm_segment_raise(l->seg, rest, in->start[i], in->end[i], y);
		rest = t = in->end[i];
	}
	return next;
}

/* ---- one try --------------------------------------------------------------- */

static void begin(layers *l)
{
	const hbm_inst *in = l->in;

	memcpy(l->list, l->sorted, in->n * sizeof *l->list);
	for (uint32_t t = 0; t < in->n_ticks; t++)
		l->n_list[t] = l->first[t + 1] - l->first[t];
	memset(l->offset, 0xff, in->n * sizeof *l->offset);
	hbm_segment_begin(l->seg, in->n_ticks);
	l->n_left = in->n;
}

/* The extent; HBM_NO_OFFSET: above the limit, or too many steps. */
static uint64_t decode(layers *l, uint64_t limit, bool *ret_ended)
{
	uint64_t n = l->in->n, top = 0, lost = 0, first = l->steps;
	uint64_t spare = hbm_inst_spare(l->in, l->area, limit);
	uint32_t at = 0, next;

	begin(l);
	*ret_ended = true;
	while (l->n_left && top <= limit && lost <= spare) {
		at = hbm_segment_valley(l->seg, at);
		next = fill_valley(l, at, &top);
		if (next == HBM_NONE) {
			lost = hbm_add_sat(lost, hbm_segment_lost(l->seg, at));
			next = hbm_segment_fill(l->seg, at);
		}
		at = next;
		if (l->steps - first >
		    STEPS_AHEAD * n + STEPS_EACH * (n - l->n_left)) {
			*ret_ended = false;
			return HBM_NO_OFFSET;
		}
	}
	return l->n_left || top > limit ? HBM_NO_OFFSET : top;
}

static void note(const layers *l, uint64_t extent, hbm_answer *ans)
{
	memcpy(ans->offset, l->offset, l->in->n * sizeof *ans->offset);
	ans->extent = extent;
	ans->by = "layers";
}

hbm_status hbm_alloc_layers(hbm_pack_cx *cx, const hbm_inst *in, hbm_answer *ans)
{
	weights w = {FIRST_TILT, 0, FIRST_TOLL};
	uint64_t seed = cx->seed;
	bool ended = true;
	layers l;

	HBM_TRY(layers_init(cx->scratch, in, &l));
	while (ended && ans->extent > ans->goal && hbm_spend(cx, 1)) {
		uint64_t before = l.steps, limit = ans->cap, extent;

		if (ans->extent != HBM_NO_OFFSET && ans->extent <= limit)
			limit = ans->extent - 1;
		set_worth(&l, &w, &seed);
		extent = decode(&l, limit, &ended);
		if (extent != HBM_NO_OFFSET)
			note(&l, extent, ans);
		hbm_spend(cx, l.steps - before);
		w.tilt = (uint32_t)(hbm_rand(&seed) % MAX_TILT);
		w.noise = (uint32_t)(hbm_rand(&seed) % MAX_NOISE);
		w.toll = (uint32_t)(hbm_rand(&seed) % MAX_TOLL);
	}
	return HBM_OK;
}
