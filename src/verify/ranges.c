/* SPDX-License-Identifier: Apache-2.0
 *
 * ranges: see ranges.h. */
#include "verify/ranges.h"

static hbm_piece_node *node(const hbm_ranges *r, uint32_t i)
{
	return &r->nodes.items[i];
}

static uint32_t priority(uint32_t i)
{
	uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u;

	x ^= x >> 29;
	return (uint32_t)(x * 0xbf58476d1ce4e5b9u >> 32);
}

static bool before(const hbm_piece *a, uint32_t space, uint64_t lo)
{
	return a->space < space || (a->space == space && a->lo < lo);
}

static bool same(const hbm_cargo *a, const hbm_cargo *b)
{
	return a->token == b->token && a->origin == b->origin && a->who == b->who;
}

hbm_status hbm_ranges_init(hbm_ranges *r, hbm_arena *arena)
{
	*r = (hbm_ranges){.arena = arena};
	HBM_NEED(HBM_PUSH(arena, &r->nodes, (hbm_piece_node){0}));
	return HBM_OK;
}

void hbm_ranges_clear(hbm_ranges *r)
{
	r->nodes.n = 1;
	r->root = r->free = 0;
}

/* 0: out of memory. */
static uint32_t take(hbm_ranges *r, hbm_piece piece)
{
	uint32_t i = r->free;

	if (i) {
		r->free = node(r, i)->left;
	} else {
		if (!HBM_PUSH(r->arena, &r->nodes, (hbm_piece_node){0}))
			return 0;
		i = r->nodes.n - 1;
	}
	*node(r, i) = (hbm_piece_node){.piece = piece};
	return i;
}

static void give(hbm_ranges *r, uint32_t i)
{
	node(r, i)->left = r->free;
	r->free = i;
}

/* Pieces before (space, lo) go to *left, the others to *right. */
static void split(hbm_ranges *r, uint32_t t, uint32_t space, uint64_t lo,
                  uint32_t *left, uint32_t *right)
{
	while (t) {
		if (before(&node(r, t)->piece, space, lo)) {
			*left = t;
			left = &node(r, t)->right;
			t = *left;
		} else {
			*right = t;
			right = &node(r, t)->left;
			t = *right;
		}
	}
	*left = *right = 0;
}

/* All of `a` stands before all of `b`. */
static uint32_t merge(hbm_ranges *r, uint32_t a, uint32_t b)
{
	uint32_t root = 0, *at = &root;

	while (a && b) {
		if (priority(a) > priority(b)) {
			*at = a;
			at = &node(r, a)->right;
			a = *at;
		} else {
			*at = b;
			at = &node(r, b)->left;
			b = *at;
		}
	}
	*at = a ? a : b;
	return root;
}

static void insert(hbm_ranges *r, uint32_t i)
{
	const hbm_piece *p = &node(r, i)->piece;
	uint32_t *at = &r->root;

	while (*at && priority(*at) > priority(i)) {
		hbm_piece_node *n = node(r, *at);
		at = before(&n->piece, p->space, p->lo) ? &n->right : &n->left;
	}
	split(r, *at, p->space, p->lo, &node(r, i)->left, &node(r, i)->right);
	*at = i;
}

/* Removes the piece that begins at (space, lo); it must be there. */
static void erase(hbm_ranges *r, uint32_t space, uint64_t lo)
{
	uint32_t *at = &r->root, i;

	while (node(r, *at)->piece.space != space || node(r, *at)->piece.lo != lo) {
		hbm_piece_node *n = node(r, *at);
		at = before(&n->piece, space, lo) ? &n->right : &n->left;
	}
	i = *at;
	*at = merge(r, node(r, i)->left, node(r, i)->right);
	give(r, i);
}

/* Node of the first piece of the space that ends after `lo`, 0: none. */
static uint32_t first_after(const hbm_ranges *r, uint32_t space, uint64_t lo)
{
	uint32_t t = r->root, found = 0;

	while (t) {
		const hbm_piece_node *n = node(r, t);
		bool left_of = n->piece.space < space ||
		               (n->piece.space == space && n->piece.hi <= lo);
		if (!left_of)
			found = t;
		t = left_of ? n->right : n->left;
	}
	return found && node(r, found)->piece.space == space ? found : 0;
}

const hbm_piece *hbm_ranges_find(const hbm_ranges *r, uint32_t space, uint64_t lo,
                                 uint64_t hi)
{
	uint32_t i = first_after(r, space, lo);

	return i && lo < hi && node(r, i)->piece.lo < hi ? &node(r, i)->piece : NULL;
}

bool hbm_ranges_cut(hbm_ranges *r, uint32_t space, uint64_t lo, uint64_t hi)
{
	uint32_t i;

	while (lo < hi && (i = first_after(r, space, lo)) != 0) {
		hbm_piece p = node(r, i)->piece;
		if (p.lo >= hi)
			break;
		if (p.hi > hi) {
			hbm_piece rest = p;
			rest.lo = hi;
			i = take(r, rest);
			if (!i)
				return false;
			insert(r, i);
		}
		if (p.lo < lo)
			node(r, first_after(r, space, p.lo))->piece.hi = lo;
		else
			erase(r, space, p.lo);
	}
	return true;
}

bool hbm_ranges_put(hbm_ranges *r, uint32_t space, uint64_t lo, uint64_t hi,
                    hbm_cargo cargo)
{
	hbm_piece p = {lo, hi, space, cargo};
	uint32_t i;

	if (lo >= hi)
		return true;
	if (!hbm_ranges_cut(r, space, lo, hi))
		return false;
	i = lo ? first_after(r, space, lo - 1) : 0;
	if (i && node(r, i)->piece.hi == lo && same(&node(r, i)->piece.cargo, &cargo)) {
		p.lo = node(r, i)->piece.lo;
		erase(r, space, p.lo);
	}
	i = hi < UINT64_MAX ? first_after(r, space, hi) : 0;
	if (i && node(r, i)->piece.lo == hi && same(&node(r, i)->piece.cargo, &cargo)) {
		p.hi = node(r, i)->piece.hi;
		erase(r, space, hi);
	}
	i = take(r, p);
	if (!i)
		return false;
	insert(r, i);
	return true;
}
