/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_SUPPORT_GEN_INTERNAL_H
#define HBM_TESTS_SUPPORT_GEN_INTERNAL_H

/* What the files of the generator share. It knows of each storage whether all its
 * bytes are written and who may see it: what a member of a parallel node makes is
 * for that member until the node ends; what is written trip by trip may be read in
 * the same way inside those loops and is whole after them. */
#include "support/gen_program.h"

enum { GEN_MAX_OPEN = 16 };

/* Bytes behind some tensors. */
typedef struct gen_root {
	hbm_tensor_id tensor;
	uint32_t member; /* who may see it; 0: all */
	bool writable;
	bool whole; /* all bytes are written */
	bool host;
	hbm_node_id until;  /* loop at whose end it will be whole */
	hbm_operand window; /* how it is written until then */
} gen_root;

/* A tensor that ops may name. */
typedef struct gen_value {
	hbm_tensor_id tensor;
	uint32_t root;
	uint64_t size;
} gen_value;

typedef struct gen_block {
	hbm_node_id node;
	hbm_node_kind kind;
	uint32_t first_member; /* of a parallel node */
	bool is_member;
	hbm_tensor_id carried; /* HBM_NONE: none */
} gen_block;

typedef struct gen {
	const gen_opts *o;
	hbm_program *p;
	uint64_t rng;
	gen_block open[GEN_MAX_OPEN];
	uint32_t n_open;
	uint32_t active[GEN_MAX_OPEN + 1], n_active; /* members around the next op */
	uint32_t next_member;
	HBM_VEC(gen_root) roots;
	HBM_VEC(gen_value) values;
	uint32_t n_named;
	bool nomem;
} gen;

uint32_t gen_under(gen *g, uint32_t n);
bool gen_chance(gen *g, uint32_t in_1000);
hbm_sym gen_name_of(gen *g, const char *letter);
hbm_tensor *gen_tensor_of(gen *g, hbm_tensor_id t);
void gen_add_attr(gen *g, hbm_span *attrs);
uint64_t gen_size_of_new(gen *g, uint64_t most);
hbm_tensor_id gen_new_tensor(gen *g, const char *letter, uint64_t size, uint32_t flags);
uint32_t gen_member_now(const gen *g);
uint32_t gen_new_root(gen *g, hbm_tensor_id t, bool writable);
void gen_new_value(gen *g, hbm_tensor_id t, uint32_t r, uint64_t size);
void gen_given(gen *g, const char *letter, uint32_t flags);
void gen_add_given(gen *g);
bool gen_writable(const gen *g, const gen_value *v);
const gen_value *gen_pick(gen *g, bool host);
void gen_add_view(gen *g);
bool gen_enter_member(gen *g);
void gen_add_read(gen *g, hbm_op_id op, bool host);
void gen_write_new(gen *g, hbm_op_id op, uint32_t flags);
hbm_op_id gen_begin_op(gen *g, hbm_op_kind kind);
void gen_add_op(gen *g);
hbm_node_id gen_around(const gen *g);

#endif
