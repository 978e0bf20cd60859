/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_SUPPORT_GEN_PROGRAM_H
#define HBM_TESTS_SUPPORT_GEN_PROGRAM_H

/* Random programs, valid by construction: the same seed and options give the same
 * program everywhere.
 *
 *     gen_opts o;
 *     gen_defaults(&o, seed);
 *     o.parallel = 0;
 *     if (gen_program(arena, &o, &p) != HBM_OK) ...
 *
 * Every byte that is read was written before, on every trip, or was given: input,
 * weight, state, zero. The exception are carried tensors, whose first trip reads
 * what nobody wrote. Nobody writes a plain input or a weight. */

#include "ir/program.h"

typedef struct gen_opts {
	uint64_t seed;
	uint32_t n_ops;     /* about */
	uint32_t n_inputs;  /* at least 1 */
	uint32_t max_depth; /* blocks inside a bundle */
	uint32_t max_trips;
	uint32_t max_size; /* bytes of one tensor */

	/* Chances in 1000. */
	uint32_t bundle;                 /* an op at top level begins a bundle */
	uint32_t close;                  /* the innermost block ends before an op */
	uint32_t loop, region, parallel; /* a block begins before an op */
	uint32_t unknown_trips;          /* of a loop */
	uint32_t far;       /* a read goes back anywhere, not to recent tensors */
	uint32_t view;      /* a view of something is declared before an op */
	uint32_t may, must; /* an output is declared in place */
	uint32_t rewrite;   /* an output is an existing tensor */
	uint32_t fallback;  /* the op is a fallback, extern or nop */
	uint32_t window;    /* an operand touches part of its tensor */
	uint32_t advance;   /* a new tensor in loops is written trip by trip */
	uint32_t tile;      /* such a tensor is declared as one tile */
	uint32_t carried;   /* a loop has a carried tensor */
	uint32_t zero, state, donated, weight, output; /* of tensors */
	uint32_t scratch;                              /* the op has scratch */
	uint32_t host; /* a fallback op writes host memory */

	uint32_t decorate; /* fields that change no decision; odd names */
	uint32_t planned;  /* homes, without sense */
	uint32_t pin;      /* pins, without sense */
	uint32_t dynamic;  /* tensors without static size */
} gen_opts;

/* Small programs; how much of what varies with the seed. decorate, planned, pin and
 * dynamic are 0. */
void gen_defaults(gen_opts *o, uint64_t seed);
/* The program is validated but not sized. */
hbm_status gen_program(hbm_arena *a, const gen_opts *o, hbm_program *ret) HBM_MUST_USE;

/* The generator's random numbers, for tests that want more. */
uint64_t gen_random(uint64_t *state);
/* Below n; n 0 gives 0. */
uint64_t gen_below(uint64_t *state, uint64_t n);

#endif
