/* SPDX-License-Identifier: Apache-2.0
 * Families of problems, the same on every machine:
 *
 *   chain    each buffer overlaps only the one before it
 *   train    a training step: weights for all of it, activations from forward to
 *            backward, short temporaries, gradients until the optimizer
 *   fsdp     sharded training: gathered weights in a sliding window, recomputed
 *            activations, gradient buckets
 *   infer    decoding: growing caches in blocks, short activations
 *   random   uniform births, heavy-tailed lives, log-uniform sizes
 *   robson   rounds of doubling sizes; one in two of the older blocks stays and
 *            breaks the holes of birth-ordered allocators
 *   pins     many long thin buffers and short big ones of nearly equal size
 *   tile     a rectangle cut at random into n pieces: the optimum is known and
 *            nothing is slack
 *   slack    tile, with about 3 % of slack
 *   alllive  all overlap all
 *   nested   lives that contain one another */
#include "gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Whole number in [lo, hi). */
static int64_t between(int64_t lo, int64_t hi)
{
	return lo + (int64_t)(next() % (uint64_t)(hi - lo));
}

static double unit(void)
{
	return (double)(next() >> 11) * 0x1p-53;
}

#define PICK(...)                                                              \
	((const int64_t[]){__VA_ARGS__}[next() % (sizeof((int64_t[]){           \
							   __VA_ARGS__}) /     \
						   sizeof(int64_t))])

static void add(instance *in, int64_t start, int64_t end, int64_t size)
{
	instance_add(in, start, end, (uint64_t)size);
}

static void chain(instance *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add(in, i, i + 2, 64 * between(1, 100));
}

static void alllive(instance *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add(in, between(0, n), n + between(1, n), 64 * between(1, 10000));
}

static void nested(instance *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add(in, i, 2 * (int64_t)n - i, 64 * between(1, 10000));
}

static void random_lives(instance *in, uint32_t n)
{
	int64_t span = n < 16 ? 16 : n;

	for (uint32_t i = 0; i < n; i++) {
		int64_t a = between(0, span);
		int64_t life = (int64_t)(2 * pow(1 - unit(), -1 / 0.9));
		int64_t size = (int64_t)exp2(6 + 18 * unit());

		life = life < 1 ? 1 : life > span ? span : life;
		add(in, a, a + life > span ? span + 1 : a + life, size / 64 * 64 + 64);
	}
}

static void robson(instance *in, uint32_t n)
{
	enum { ROUNDS = 12 };
	int64_t *birth = calloc(n, sizeof *birth), *size = calloc(n, sizeof *size);
	int64_t t = 0, s = 64;
	uint32_t live = 0;

	for (uint32_t r = 0; r < ROUNDS; r++) {
		uint32_t k = (n - in->p.n - live) / (ROUNDS - r), kept = 0;

		for (uint32_t i = 0; i < k; i++) {
			birth[live] = t++;
			size[live++] = s;
		}
		for (uint32_t i = 0; i < live; i++) {
			if (i % 2 == 0) {
				add(in, birth[i], t, size[i]);
				continue;
			}
			birth[kept] = birth[i];
			size[kept++] = size[i];
		}
		live = kept;
		t++;
		s = s * 2 - (r % 2 ? 64 : 0);
	}
	for (uint32_t i = 0; i < live; i++)
		add(in, birth[i], t + 1 + between(0, 4), size[i]);
	free(birth);
	free(size);
}

static void pins(instance *in, uint32_t n)
{
	int64_t span = n / 4 < 64 ? 64 : n / 4;

	for (uint32_t i = 0; i < n - n / 2; i++) {
		int64_t a = between(0, span), end = a + span / 16;

		end += between(0, span / 8 + 1);
		add(in, a, end > span + 8 ? span + 8 : end, PICK(128, 192, 320, 448, 704));
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		int64_t a = between(0, span);

		add(in, a, a + 1 + between(0, 6),
		    1000000 + between(-40000, 40000) / 64 * 64);
	}
}

static void infer(instance *in, uint32_t n)
{
	static const int64_t shape[6][2] = {{1, 2}, {3, 2}, {1, 4}, {3, 1}, {3, 2}, {1, 6}};
	const int64_t h = 4096;
	int64_t t = 0;

	while (in->p.n < n) {
		int64_t s = PICK(1, 1, 1, 16, 64, 256, 1000);

		for (uint32_t l = 0; l < 32; l++) {
			for (uint32_t k = 0; k < 6; k++, t++)
				add(in, t, t + shape[k][1], s * h * shape[k][0] * 2);
			if (unit() < 0.2)
				add(in, t, t + between(200, 6000),
				    16 * 1024 * PICK(8, 8, 16));
		}
		if (unit() < 0.1)
			add(in, t, t + between(2, 50), 50257 * 4 * (s < 16 ? s : 16));
	}
}

static void fsdp_back(instance *in, int64_t *t, int64_t act, int64_t weight,
                      int64_t birth, int64_t *bucket, int64_t *since)
{
	int64_t k = between(4, 9);

	add(in, *t < 10 ? 0 : *t - between(2, 10), *t + 2 * k + 1, weight * 2);
	for (int64_t j = 0; j < k; j++) {
		int64_t size = act * PICK(1, 1, 2, 3, 4) / PICK(1, 1, 2);

		add(in, *t + j, *t + 2 * k - j + 1, size);
		add(in, *t + 2 * k - j, *t + 2 * k - j + PICK(1, 2), size);
	}
	add(in, birth, *t + 2 * k + 1, act);
	add(in, *t + k, *t + 2 * k + between(2, 12), weight * 4);
	*bucket += weight * 4;
	if (*bucket > (int64_t)24 * 12 * 2048 * 2048) {
		add(in, *since, *t + 2 * k + between(4, 20), *bucket / 8);
		*bucket = 0;
		*since = *t;
	}
	*t += 2 * k + 1;
}

static void fsdp(instance *in, uint32_t n)
{
	enum { LAYERS = 40 };
	const int64_t h = 2048;
	int64_t weight[LAYERS], birth[LAYERS], t = 0;

	for (uint32_t l = 0; l < LAYERS; l++)
		weight[l] = 12 * h * h / PICK(1, 1, 2) + 128 * between(0, 64);
	while (in->p.n < n) {
		int64_t act = PICK(1, 1, 2, 3) * PICK(512, 1000, 1536, 2048, 3000) * h * 2;
		int64_t bucket = 0, since;

		for (uint32_t l = 0; l < LAYERS; l++) {
			int64_t k = between(4, 9);

			add(in, t < 10 ? 0 : t - between(2, 10), t + k, weight[l] * 2);
			for (int64_t j = 0; j < k; j++)
				add(in, t + j, t + j + PICK(1, 1, 2, 3),
				    act * PICK(1, 1, 2, 3, 4) / PICK(1, 1, 2));
			birth[l] = t + k - 1;
			t += k;
		}
		since = t;
		for (uint32_t l = LAYERS; l-- > 0;)
			fsdp_back(in, &t, act, weight[l], birth[l], &bucket, &since);
	}
}

enum { MAX_LAYERS = 96, SHAPES = 13 };

typedef struct saved {
	int64_t birth[SHAPES], size[SHAPES];
	uint32_t n;
} saved;

/* Forward through one layer: what is saved for backward goes to `keep`. */
static void train_layer(instance *in, int64_t *t, int64_t b, int64_t s, saved *keep)
{
	const int64_t act = b * s * 2048, score = b * 16 * s * s * 2;
	const int64_t size[SHAPES] = {act, b * s * 8, 3 * act, score, score / 4,
	                              act, act, act, act, 4 * act, 4 * act, act,
	                              act / 16};
	static const bool saves[SHAPES] = {1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1};
	bool checkpointed = unit() < 0.15;

	keep->n = 0;
	for (uint32_t k = 0; k < SHAPES; k++) {
		if (saves[k] && (!checkpointed || k == 7)) {
			keep->birth[keep->n] = *t;
			keep->size[keep->n++] = size[k];
		} else {
			add(in, *t, *t + PICK(1, 2, 2, 3), size[k]);
		}
		if (k % 3 == 2)
			add(in, *t, *t + 1, PICK(4096, 65536, 1 << 20, act / 2));
		*t += k % 2 == 0;
	}
	++*t;
}

static void train_back(instance *in, int64_t *t, const saved *keep)
{
	for (uint32_t k = 0; k < keep->n; k++) {
		uint32_t j = keep->n - 1 - k;

		add(in, keep->birth[j], *t + 1 + k, keep->size[j]);
		add(in, *t + k, *t + k + PICK(1, 2, 3), keep->size[j]);
	}
}

static void train(instance *in, uint32_t n)
{
	const int64_t w[3] = {12 * 1024 * 1024 * 2, 4 * 1024 * 2, 8 * 1024 * 1024 * 2};
	uint32_t layers = n / 400 > MAX_LAYERS ? MAX_LAYERS : n / 400 < 2 ? 2 : n / 400;
	uint32_t first_weights;
	int64_t t = 0;
	bool graded = false;
	saved keep[MAX_LAYERS];

	for (uint32_t l = 0; l < layers * 3; l++) {
		add(in, 0, 0, w[l % 3]);
		if (next() % 2)
			add(in, 0, 0, 2 * w[l % 3]);
	}
	first_weights = in->p.n;
	while (in->p.n + layers * 3 < n) {
		int64_t b = PICK(1, 2, 4), s = PICK(384, 512, 640, 777, 1024, 1536, 2048);

		for (uint32_t l = 0; l < layers; l++)
			train_layer(in, &t, b, s, &keep[l]);
		for (uint32_t l = layers; l-- > 0;) {
			train_back(in, &t, &keep[l]);
			for (uint32_t j = 0; j < 3; j++)
				if (!graded) /* until the end: marked by its size */
					add(in, t + j, -1, w[j]);
				else
					add(in, t + j, t + j + 2, w[j] / PICK(1, 1, 2));
			t += keep[l].n + 2;
		}
		graded = true;
	}
	for (uint32_t i = 0; i < in->p.n; i++)
		if (i < first_weights || in->end[i] < 0)
			in->end[i] = t + 2;
}

typedef struct tile_piece {
	int64_t t0, t1, s0, s1;
} tile_piece;

static int64_t cells(const tile_piece *x)
{
	return (x->t1 - x->t0) * (x->s1 - x->s0);
}

static void sink(tile_piece *heap, uint32_t n, uint32_t at)
{
	tile_piece x = heap[at];
	uint32_t child;

	while ((child = 2 * at + 1) < n) {
		if (child + 1 < n && cells(&heap[child + 1]) > cells(&heap[child]))
			child++;
		if (cells(&heap[child]) <= cells(&x))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = x;
}

static void rise(tile_piece *heap, uint32_t at)
{
	tile_piece x = heap[at];

	for (; at && cells(&heap[(at - 1) / 2]) < cells(&x); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = x;
}

/* Cuts the piece with the most cells until there are n. */
static void tile(instance *in, uint32_t n, bool slack)
{
	int64_t w = (int64_t)sqrt(n) * 24 < 64 ? 64 : (int64_t)sqrt(n) * 24;
	tile_piece *heap = calloc(n, sizeof *heap);
	uint32_t live = 1;

	heap[0] = (tile_piece){0, w, 0, w};
	while (live < n) {
		tile_piece *x = &heap[0], rest = *x;
		int64_t dt = x->t1 - x->t0, ds = x->s1 - x->s0;
		double at = 0.2 + 0.6 * unit();

		if (ds < 2 || (dt >= 2 && unit() < (double)dt / (double)(dt + ds))) {
			int64_t c = (int64_t)((double)dt * at);

			c = c < 1 ? 1 : c > dt - 1 ? dt - 1 : c;
			x->t1 = rest.t0 = x->t0 + c;
		} else {
			int64_t c = (int64_t)((double)ds * at);

			c = c < 1 ? 1 : c > ds - 1 ? ds - 1 : c;
			x->s1 = rest.s0 = x->s0 + c;
		}
		sink(heap, live, 0);
		heap[live] = rest;
		rise(heap, live++);
	}
	for (uint32_t i = 0; i < live; i++) {
		int64_t size = (heap[i].s1 - heap[i].s0) * 1024;

		if (slack)
			size = (int64_t)((double)size * (1 - 0.06 * unit())) / 64 * 64;
		add(in, heap[i].t0, heap[i].t1, size < 64 ? 64 : size);
	}
	free(heap);
}

static void shuffle(instance *in)
{
	for (uint32_t i = in->p.n; i-- > 1;) {
		uint32_t j = (uint32_t)(next() % (i + 1));
		int64_t start = in->start[i], end = in->end[i];
		uint64_t size = in->size[i];

		in->start[i] = in->start[j], in->start[j] = start;
		in->end[i] = in->end[j], in->end[j] = end;
		in->size[i] = in->size[j], in->size[j] = size;
	}
}

const char *const instance_families[] = {
	"chain", "train", "fsdp", "infer", "random", "robson", "pins",
	"tile",  "slack", "alllive", "nested", NULL};

bool instance_make(const char *family, uint32_t n, uint64_t seed, instance *ret)
{
	static void (*const makers[])(instance *, uint32_t) = {
		chain, train, fsdp, infer, random_lives, robson, pins, NULL, NULL,
		alllive, nested};
	uint32_t k = 0;

	while (instance_families[k] && strcmp(instance_families[k], family) != 0)
		k++;
	if (!instance_families[k])
		return false;
	*ret = (instance){.p = {.capacity = HBM_NO_OFFSET}};
	state = seed * 1000003 + k;
	if (makers[k])
		makers[k](ret, n);
	else
		tile(ret, n, strcmp(family, "slack") == 0);
	if (ret->p.n > n) {
		shuffle(ret);
		ret->p.n = n;
	}
	shuffle(ret);
	return true;
}
