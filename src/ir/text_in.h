/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_TEXT_IN_H
#define HBM_IR_TEXT_IN_H

/* What the files of the text reader share (text_read*.c). */

#include "ir/attrs.h"
#include "ir/lex.h"
#include "ir/symbols.h"

/* A name used before its declaration; resolved at the end of the file. */
typedef enum hbm_fix_kind {
	HBM_FIX_BASE,    /* index: tensor */
	HBM_FIX_HOME,    /* index: tensor; the name is a bundle */
	HBM_FIX_WITH,    /* index: tensor whose home it is */
	HBM_FIX_OPERAND, /* index: operand */
	HBM_FIX_ACC,     /* index: reduction */
} hbm_fix_kind;

typedef struct hbm_fix {
	hbm_fix_kind kind;
	uint32_t index;
	hbm_sym name;
	uint32_t line, col;
} hbm_fix;

/* A block that is open at the current line. */
typedef struct hbm_block_open {
	hbm_node_id node; /* HBM_NONE: of a header with errors */
	hbm_token at;
} hbm_block_open;

typedef struct hbm_reader {
	hbm_lexer lx;
	hbm_program *p;
	hbm_symbols symbols;
	hbm_block_open open[HBM_MAX_DEPTH];
	uint32_t n_open;
	uint64_t n_over; /* blocks open beyond the limit */
	HBM_VEC(hbm_fix) fixes;
	HBM_VEC(hbm_sym) operand_names; /* of the op being read: reads, writes */
	HBM_VEC(hbm_value) values;      /* of the attribute being read */
	hbm_map operand_of;             /* see text_read_op.c */
} hbm_reader;

/* Every function below reports what is wrong and returns its status; the caller
 * skips the rest of the line. HBM_NOMEM ends the reading. */

#define HBM_READ_FAIL(r, token, status, code, ...) \
	HBM_LEX_FAIL(&(r)->lx, (token), (status), (code), __VA_ARGS__)

/* True and past it when the current token is this. */
bool hbm_read_if(hbm_reader *r, int kind);
/* The same for a bare word. */
bool hbm_read_if_word(hbm_reader *r, const char *word);
bool hbm_token_is(const hbm_token *t, const char *word);
/* The current token must be of this kind; `what` says where and what for. */
hbm_status hbm_read_expect(hbm_reader *r, int kind, const char *what) HBM_MUST_USE;
hbm_status hbm_read_num(hbm_reader *r, uint64_t *ret, const char *what) HBM_MUST_USE;
hbm_status hbm_read_name(hbm_reader *r, hbm_sym *ret, const char *what) HBM_MUST_USE;
void hbm_read_skip_lines(hbm_reader *r);
/* Between items of a list that ends with `close`: true and past the comma when
 * another item follows. A list may span lines; where it is not closed, the
 * current token stays at the end of its line. */
bool hbm_read_more(hbm_reader *r, int close);
/* Interns the text of a name token. */
hbm_status hbm_read_intern(hbm_reader *r, const hbm_token *t,
                           hbm_sym *ret) HBM_MUST_USE;
hbm_status hbm_read_fix(hbm_reader *r, hbm_fix_kind kind, uint32_t index, hbm_sym name,
                        const hbm_token *at) HBM_MUST_USE;
/* Gives the names noted above their meaning. Unknown ones are reported. */
hbm_status hbm_read_resolve(hbm_reader *r) HBM_MUST_USE;

/* "word" among n words; an unknown one is reported with the nearest. */
hbm_status hbm_read_choice(hbm_reader *r, const hbm_token *t, const char *const *words,
                           uint32_t n, const char *what, uint32_t *ret) HBM_MUST_USE;
/* `key=` or a flag behind a declaration, as an attribute of attrs.def. The key is
 * the current token. */
hbm_status hbm_read_attr(hbm_reader *r, hbm_attr_object o,
                         hbm_span *attrs) HBM_MUST_USE;
/* Notes that field `bit` was given; a second time is an error. */
hbm_status hbm_read_once(hbm_reader *r, const hbm_token *t, uint32_t bit,
                         uint32_t *seen) HBM_MUST_USE;

/* The node that encloses the current line, HBM_NONE: top level. */
hbm_node_id hbm_read_parent(const hbm_reader *r);

/* Statements; the current token is the one behind the keyword. */
hbm_status hbm_read_tensor(hbm_reader *r, uint32_t flags) HBM_MUST_USE;
hbm_status hbm_read_view(hbm_reader *r, uint32_t flags) HBM_MUST_USE;
hbm_status hbm_read_op(hbm_reader *r, uint32_t unused) HBM_MUST_USE;
hbm_status hbm_read_reduction(hbm_reader *r, uint32_t unused) HBM_MUST_USE;

#endif
