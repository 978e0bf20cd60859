/* SPDX-License-Identifier: Apache-2.0
 * Lists of taken address ranges in arrays: places are found by halving, what lies
 * behind a change is moved. */
#include "pack/spans.h"

#include <string.h>

uint32_t hbm_spans_above(const hbm_span *s, uint32_t n, uint32_t at, uint64_t y)
{
	uint32_t step = 1, lo = at, hi;

	if (lo == n || s[lo].hi > y)
		return lo;
	while (lo + step < n && s[lo + step].hi <= y) {
		lo += step;
		step *= 2;
	}
	hi = lo + step < n ? lo + step : n;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s[mid].hi <= y)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

bool hbm_spans_unite(hbm_span *s, uint32_t *n, uint64_t lo, uint64_t hi)
{
	uint32_t from = 0, to = *n, end;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (s[mid].hi < lo)
			from = mid + 1;
		else
			to = mid;
	}
	if (from < *n && s[from].lo <= lo && s[from].hi >= hi)
		return false;
	for (end = from; end < *n && s[end].lo <= hi; end++) {
		lo = s[end].lo < lo ? s[end].lo : lo;
		hi = s[end].hi > hi ? s[end].hi : hi;
	}
	if (end - from != 1)
		memmove(s + from + 1, s + end, (*n - end) * sizeof *s);
	*n = *n + 1 - (end - from);
	s[from] = (hbm_span){lo, hi};
	return true;
}

static void insert_span(hbm_tagged *l, uint32_t at, hbm_span x, uint32_t tag)
{
	memmove(l->s + at + 1, l->s + at, (l->n - at) * sizeof *l->s);
	memmove(l->tag + at + 1, l->tag + at, (l->n - at) * sizeof *l->tag);
	l->s[at] = x;
	l->tag[at] = tag;
	l->n++;
}

/* Makes an end of span i at y, when y is inside it. */
static void cut_span(hbm_tagged *l, uint32_t i, uint64_t y)
{
	if (i == l->n || l->s[i].lo >= y || l->s[i].hi <= y)
		return;
	insert_span(l, i, (hbm_span){l->s[i].lo, y}, l->tag[i]);
	l->s[i + 1].lo = y;
}

/* Joins touching spans of one tag among those with index [from, to). */
static void join_spans(hbm_tagged *l, uint32_t from, uint32_t to)
{
	uint32_t n = from + 1, tail;

	for (uint32_t i = from + 1; i < to; i++) {
		if (l->s[n - 1].hi == l->s[i].lo && l->tag[n - 1] == l->tag[i]) {
			l->s[n - 1].hi = l->s[i].hi;
			continue;
		}
		l->s[n] = l->s[i];
		l->tag[n++] = l->tag[i];
	}
	if (n >= to)
		return;
	tail = l->n - to;
	memmove(l->s + n, l->s + to, tail * sizeof *l->s);
	memmove(l->tag + n, l->tag + to, tail * sizeof *l->tag);
	l->n = n + tail;
}

bool hbm_spans_paint(hbm_tagged *l, uint64_t lo, uint64_t hi, uint32_t tag)
{
	uint32_t i = hbm_spans_above(l->s, l->n, 0, lo), first;
	bool changed = false;

	cut_span(l, i, lo);
	i += i < l->n && l->s[i].lo < lo;
	first = i ? i - 1 : 0;
	for (; lo < hi; i++) {
		cut_span(l, i, hi);
		if (i == l->n || l->s[i].lo > lo) {
			uint64_t to = i < l->n && l->s[i].lo < hi ? l->s[i].lo : hi;

			insert_span(l, i, (hbm_span){lo, to}, tag);
			changed = true;
		} else if (l->tag[i] != tag && l->tag[i] != HBM_NONE) {
			l->tag[i] = HBM_NONE;
			changed = true;
		}
		lo = l->s[i].hi;
	}
	join_spans(l, first, i < l->n ? i + 1 : i);
	return changed;
}
