/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_SIZE = 4 * 1024,
	BLOCK_SIZE = 64 * 1024,
	LARGE_SIZE = BLOCK_SIZE / 4,
	ALIGN = 16,
};

/* 1: every piece is a block of its own, so that a sanitizer sees where it ends and
 * when it was given back, and a test can fail each allocation. */
#ifndef HBM_EXACT_ARENA
#define HBM_EXACT_ARENA 0
#endif

struct hbm_block {
	hbm_block *next;
	hbm_block *prev; /* large blocks only */
	size_t size;     /* with this header */
	size_t used;     /* with this header */
};

static void *libc_alloc(void *user, size_t size)
{
	(void)user;
	return malloc(size);
}

static void libc_release(void *user, void *ptr, size_t size)
{
	(void)user;
	(void)size;
	free(ptr);
}

static size_t round_up(size_t n)
{
	return (n + (ALIGN - 1)) & ~(size_t)(ALIGN - 1);
}

static size_t header_size(void)
{
	return round_up(sizeof(hbm_block));
}

void hbm_arena_init(hbm_arena *a, const hbm_mem *mem)
{
	*a = (hbm_arena){0};
	if (mem && mem->alloc)
		a->mem = *mem;
	else
		a->mem = (hbm_mem){libc_alloc, libc_release, NULL};
}

static void release_list(hbm_arena *a, hbm_block *b)
{
	while (b) {
		hbm_block *next = b->next;
		a->mem.release(a->mem.user, b, b->size);
		b = next;
	}
}

void hbm_arena_fini(hbm_arena *a)
{
	release_list(a, a->head);
	release_list(a, a->large);
	a->head = a->large = NULL;
	a->in_use = 0;
}

static hbm_block *block_new(hbm_arena *a, size_t size)
{
	hbm_block *b = a->mem.alloc(a->mem.user, size);

	if (!b)
		return NULL;
	*b = (hbm_block){.size = size, .used = header_size()};
	a->in_use += size;
	if (a->in_use > a->peak)
		a->peak = a->in_use;
	return b;
}

static bool is_large(size_t size)
{
	return HBM_EXACT_ARENA || round_up(size) >= LARGE_SIZE;
}

static void *large_alloc(hbm_arena *a, size_t size)
{
	hbm_block *b = block_new(a, header_size() + size);

	if (!b)
		return NULL;
	b->used = b->size;
	b->next = a->large;
	if (a->large)
		a->large->prev = b;
	a->large = b;
	return (char *)b + header_size();
}

/* Blocks double from the first on, so that small arenas cost little. */
static size_t next_size(const hbm_block *last, size_t size)
{
	size_t next = last ? 2 * last->size : FIRST_SIZE;

	while (next < size + header_size())
		next *= 2;
	return next < BLOCK_SIZE ? next : BLOCK_SIZE;
}

void *hbm_arena_alloc(hbm_arena *a, size_t size)
{
	hbm_block *b = a->head;
	void *p;

	if (size > PTRDIFF_MAX - 2 * BLOCK_SIZE)
		return NULL;
	size = size ? size : 1;
	if (is_large(size))
		return large_alloc(a, size);
	size = round_up(size);
	if (!b || b->size - b->used < size) {
		b = block_new(a, next_size(b, size));
		if (!b)
			return NULL;
		b->next = a->head;
		a->head = b;
	}
	p = (char *)b + b->used;
	b->used += size;
	return p;
}

void *hbm_arena_array(hbm_arena *a, size_t n, size_t size)
{
	if (size && n > PTRDIFF_MAX / size)
		return NULL;
	return hbm_arena_alloc(a, n * size);
}

void *hbm_arena_zalloc(hbm_arena *a, size_t n, size_t size)
{
	void *p = hbm_arena_array(a, n, size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

static void large_release(hbm_arena *a, hbm_block *b)
{
	if (b->prev)
		b->prev->next = b->next;
	else
		a->large = b->next;
	if (b->next)
		b->next->prev = b->prev;
	a->in_use -= b->size;
	a->mem.release(a->mem.user, b, b->size);
}

void *hbm_arena_grow(hbm_arena *a, void *ptr, size_t old_size, size_t new_size)
{
	void *p = hbm_arena_alloc(a, new_size);

	if (!p || !ptr)
		return p;
	memcpy(p, ptr, old_size < new_size ? old_size : new_size);
	if (is_large(old_size))
		large_release(a, (hbm_block *)(void *)((char *)ptr - header_size()));
	return p;
}

char *hbm_arena_strndup(hbm_arena *a, const char *s, size_t n)
{
	char *p = n < SIZE_MAX ? hbm_arena_alloc(a, n + 1) : NULL;

	if (!p)
		return NULL;
	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}
