/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TARGET_READER_H
#define HBM_TARGET_READER_H

/* What reading a target file keeps until the file is checked. */

#include "target/target.h"

typedef struct word {
	const char *s;
	uint32_t n;
} word;

/* The statements that are not "key = value". */
typedef enum statement {
	ST_TARGET,
	ST_LIKE,
	ST_ALIAS,
	ST_PIPELINE,
	ST_REGION,
	ST_SLOT,
	ST_NOTE,
	ST_REFUSED,
	N_STATEMENTS
} statement;

typedef struct reader {
	hbm_arena *arena;
	hbm_diags *d;
	hbm_target *t;
	const char *file;
	const char *text; /* NUL-ended */
	HBM_VEC(const char *) lines;
	HBM_VEC(word) words;          /* of the current line, without its comment */
	const char *source;           /* named in the comment of the current line */
	uint32_t line;                /* current, from 1 */
	uint32_t depth;               /* of `like` */
	uint32_t first[N_STATEMENTS]; /* line of the first of its kind, 0: none */
	bool seen[HBM_N_KEYS];        /* set by this file, well or badly */
	hbm_status status;            /* of the first error */
} reader;

enum { TARGET_MAX_LIKE = 4 };
/* No number in a target file is larger. */
#define TARGET_MAX_NUM ((uint64_t)1 << 62)

/* ---- lex.c ---- */

/* Where the statement of a line ends: before blanks and the comment. */
const char *hbm_reader_end(const char *line);
/* Splits the line into rd->words. */
hbm_status hbm_reader_split(reader *rd, const char *line) HBM_MUST_USE;
/* Finds rd->source in the comment of the line. */
hbm_status hbm_reader_source(reader *rd, const char *line) HBM_MUST_USE;
/* Decimal, decimal with commas between groups of three, or 0x. */
bool hbm_reader_num(word w, uint64_t *ret);
/* B, KiB .. TiB: how far to shift. */
bool hbm_reader_unit(word w, uint32_t *ret_shift);
bool hbm_word_is(word w, const char *s);

/* ---- where an error is ---- */

/* `n` bytes at `s` in line `line`. */
hbm_where hbm_reader_at(const reader *rd, uint32_t line, const char *s, uint32_t n);
/* The statement in line `line`; line 0: the `like` line. */
hbm_where hbm_reader_line(const reader *rd, uint32_t line);
/* Takes note that an error was listed. */
void hbm_reader_failed(reader *rd, hbm_status status);

/* ---- read.c, check.c ---- */

/* Reads rd->text into rd->t and checks it. */
hbm_status hbm_target_read(reader *rd) HBM_MUST_USE;
/* Derives what is not set and lists what is wrong with the target as a whole. */
hbm_status hbm_target_check(reader *rd) HBM_MUST_USE;

#endif
