/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_VERIFY_FACTS_H
#define HBM_VERIFY_FACTS_H

/* What the verifier finds out about a program by itself.
 *
 * A class is the tensors that must share bytes: views with their base, and the
 * two sides of a mandatory in-place pair. A plan may put several classes in one
 * storage where optional in-place pairs allow it (verify/merges.c). */

#include "ir/program.h"
#include "target/target.h"

typedef struct hbm_touch {
	hbm_op_id op;
	uint32_t operand; /* in hbm_program.operands */
	bool write;
} hbm_touch;

typedef struct hbm_class {
	uint64_t size;
	uint32_t flags;      /* union of HBM_T_* but HBM_T_SIZED */
	hbm_span members;    /* in hbm_facts.members, ascending */
	hbm_span touches;    /* in hbm_facts.touches, in run order */
	uint32_t first, last; /* ticks of the first and last touch, if any */
	uint32_t from, to;   /* hull of the loops and groups it lives through;
	                      * from >= to: none */
	uint32_t start, end; /* live [start, end) */
} hbm_class;

typedef struct hbm_facts {
	hbm_arena *arena;
	const hbm_program *p;
	HBM_VEC(hbm_class) classes;
	uint32_t *class_of;  /* tensor -> class */
	uint64_t *offset;    /* tensor -> bytes from the first byte of its class */
	uint64_t *extent;    /* tensor -> its size times the trips it advances over */
	hbm_tensor_id *members;
	hbm_touch *touches;
	uint32_t *begin, *end; /* node -> ticks [begin, end) */
	hbm_node_id *loop;   /* node -> innermost loop around it that can run twice */
	hbm_node_id *group;  /* node -> outermost parallel group it is in (or is) */
	hbm_node_id *bundle; /* node -> the bundle it is in (or is) */
	uint32_t n_ticks;
} hbm_facts;

/* Classes, touches and the node tables; no live ranges yet. The program is valid
 * and its tensors have sizes. A class that would need a tensor at two offsets is
 * a fault of code HBM_E_PLAN. */
hbm_status hbm_facts_collect(hbm_arena *a, const hbm_program *p, hbm_diags *d,
                             hbm_facts *ret) HBM_MUST_USE;
/* Live ranges of all classes, by running the program forward (trace.c). */
hbm_status hbm_facts_trace(hbm_facts *f) HBM_MUST_USE;

/* Bytes an operand covers in a trip 0 of all loops, from the first byte of its
 * class: [*ret_lo, *ret_lo + *ret_len). */
void hbm_facts_window(const hbm_facts *f, const hbm_operand *o, uint64_t *ret_lo,
                      uint64_t *ret_len);
static inline bool hbm_class_touched(const hbm_class *c)
{
	return c->touches.n > 0;
}

#endif
