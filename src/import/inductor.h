/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_INDUCTOR_H
#define HBM_IMPORT_INDUCTOR_H

/* Reading PyTorch Inductor's debug dumps. Inside src/import/ only.
 *
 *   inductor_text     places in a text: lines, brackets, argument lists
 *   inductor_expr     size expressions (sympy's text form)
 *   inductor_shape    extents, strides, layouts -> bytes
 *   inductor_ir       ir_pre_fusion.txt, ir_post_fusion.txt -> hbm_ind_graph
 *   inductor_list     the lists in them
 *   inductor_code     output_code.py: the statements of call()
 *   inductor_replay   what those statements allocate, and when
 *   inductor_fx       fx_graph_readable.py: inputs, source lines
 *   inductor_log      the same texts inside a log
 *   inductor_facts    who reads, writes, aliases what -> hbm_ind_facts
 *   inductor_learn    what call() tells in addition
 *   inductor_tensor   tensors of the program
 *   inductor_build    nodes and ops of the program
 *   inductor          the importer: files, order of work
 *
 * Everything here lives in one scratch arena; only the program outlives it. */

#include "import/importer.h"

/* ---- texts ---------------------------------------------------------------- */

/* One file. Texts cut out of a log keep every byte in its place: what does not
 * belong to them is blank in `s` and still there in `shown`. */
typedef struct hbm_ind_text {
	const char *path;
	const char *s; /* n bytes and a NUL */
	size_t n;
	const char *shown;
} hbm_ind_text;

/* A place; text NULL: none. */
typedef struct hbm_ind_at {
	const hbm_ind_text *text;
	size_t pos;
	uint32_t line;
} hbm_ind_at;

typedef struct hbm_ind_scan {
	const hbm_ind_text *text;
	size_t pos;
	uint32_t line; /* of pos, from 1 */
} hbm_ind_scan;

typedef struct hbm_ind_line {
	size_t start, end; /* without leading and trailing blanks */
	size_t indent;
	uint32_t no;
} hbm_ind_line;

typedef struct hbm_ind_arg {
	size_t start, end;   /* the value, trimmed */
	size_t key, key_end; /* key == key_end: positional */
} hbm_ind_arg;

void hbm_ind_open(hbm_ind_text *t, const char *path, hbm_bytes bytes);
hbm_where hbm_ind_where(hbm_ind_at at, size_t len);
/* The next line; false: end of text. */
bool hbm_ind_next_line(hbm_ind_scan *s, hbm_ind_line *ret);
/* Goes on behind the line that holds `pos` (not before the scan's place). */
void hbm_ind_skip_line(hbm_ind_scan *s, size_t pos);
/* The bracket that closes the one at `open`; false: not before `end`. */
bool hbm_ind_close(const hbm_ind_text *t, size_t open, size_t end, size_t *ret);
/* The next of the values between *pos and `end` that commas separate. */
bool hbm_ind_next_arg(const hbm_ind_text *t, size_t *pos, size_t end, hbm_ind_arg *ret);
/* Removes quotes around a value. */
void hbm_ind_unquote(const hbm_ind_text *t, size_t *start, size_t *end);
/* End of the identifier at `pos`; == pos: there is none. */
size_t hbm_ind_word(const hbm_ind_text *t, size_t pos, size_t end);
bool hbm_ind_is(const hbm_ind_text *t, size_t start, size_t end, const char *word);
bool hbm_ind_starts(const hbm_ind_text *t, size_t start, size_t end, const char *with);
/* First `needle` in [start, end); SIZE_MAX: none. */
size_t hbm_ind_find(const hbm_ind_text *t, size_t start, size_t end,
                    const char *needle);
/* A call NAME(...): the range between its brackets; false: not of this form. */
bool hbm_ind_call(const hbm_ind_text *t, size_t start, size_t end, size_t *ret_name_end,
                  size_t *ret_in, size_t *ret_out);

/* ---- expressions ---------------------------------------------------------- */

typedef enum hbm_ind_eval {
	HBM_IND_OK,
	HBM_IND_UNBOUND, /* a symbol has no value: [*ret_bad, *ret_bad_end) */
	HBM_IND_BAD,     /* not an expression that we know */
	HBM_IND_RANGE,   /* negative, no whole number, or beyond 2^62 */
} hbm_ind_eval;

/* Value of the expression in [start, end), exactly, over the rationals. */
hbm_ind_eval hbm_ind_expr(const hbm_import_opts *opts, const hbm_ind_text *t,
                          size_t start, size_t end, uint64_t *ret, size_t *ret_bad,
                          size_t *ret_bad_end);

/* ---- what was read -------------------------------------------------------- */

typedef enum hbm_ind_kind {
	HBM_IND_PLAIN,
	HBM_IND_FUSED,
	HBM_IND_FOREACH,
	HBM_IND_LOOP,
	HBM_IND_EXTERN,
	HBM_IND_NOP,
} hbm_ind_kind;

typedef struct hbm_ind_user {
	hbm_sym node; /* 0: OUTPUT */
	bool inplace;
} hbm_ind_user;

/* A buffer as its node prints it. */
typedef struct hbm_ind_buf {
	hbm_sym name, ir;
	hbm_span aliases, mutations; /* in lists */
	hbm_span users;
	hbm_ind_at at;
} hbm_ind_buf;

typedef struct hbm_ind_node {
	hbm_sym name, ir, kernel, opname, device;
	hbm_ind_kind kind;
	uint32_t parent, end;        /* pre-order: the subtree is [own index, end) */
	hbm_span writes, unmet, met; /* buffer names, in lists */
	hbm_span bufs;
	hbm_span snodes; /* names of children that are not printed (era A) */
	uint32_t n_children;
	bool has_writes, has_unmet, has_met, has_outputs;
	uint64_t trips; /* 0: not said */
	hbm_ind_at at;
} hbm_ind_node;

/* One ir_*.txt. */
typedef struct hbm_ind_graph {
	const hbm_ind_text *text;
	HBM_VEC(hbm_ind_node) nodes;
	HBM_VEC(hbm_ind_buf) bufs;
	HBM_VEC(hbm_ind_user) users;
	HBM_VEC(hbm_sym) lists;
	bool has_users;
} hbm_ind_graph;

typedef enum hbm_ind_verb {
	HBM_IND_ALLOC,  /* dst = empty_strided(...) */
	HBM_IND_MOVE,   /* dst = src */
	HBM_IND_VIEW,   /* dst = reinterpret_tensor(src, ...) */
	HBM_IND_INDEX,  /* dst = src[i] */
	HBM_IND_GIVEN,  /* dst = kernel(...): the kernel allocates */
	HBM_IND_DEL,    /* del names */
	HBM_IND_ASSERT, /* assert_size_stride(dst, ...) */
	HBM_IND_ARGS,   /* names = args */
	HBM_IND_RUN,    /* any other statement */
	HBM_IND_RETURN,
} hbm_ind_verb;

typedef struct hbm_ind_stmt {
	hbm_ind_verb verb;
	hbm_sym dst, src;
	hbm_span names;  /* identifiers of the statement, in hbm_ind_code.names */
	size_t in, out;  /* arguments of the call, in the text; in == out: none */
	hbm_sym comment; /* source nodes named above it, 0: none */
	hbm_ind_at at;
} hbm_ind_stmt;

/* One output_code.py. */
typedef struct hbm_ind_code {
	const hbm_ind_text *text;
	HBM_VEC(hbm_ind_stmt) stmts;
	HBM_VEC(hbm_sym) names;
	bool found; /* there is a call() */
} hbm_ind_code;

/* Extents and strides, or what is known of them. */
typedef struct hbm_ind_shape {
	bool has_extents;
	uint32_t n;
	uint64_t extent[HBM_MAX_RANK];
	hbm_ind_at at[HBM_MAX_RANK]; /* of the extents, for symbols */
	uint32_t at_len[HBM_MAX_RANK];
	uint64_t elements; /* from the first to the last one used */
	uint64_t offset;   /* elements before the first */
	uint32_t n_device; /* device_size; 0: none */
	uint64_t device[HBM_MAX_RANK];
	hbm_dtype dtype;   /* none: not said */
	uint32_t itemsize; /* 0: not said */
	bool host;
} hbm_ind_shape;

typedef enum hbm_ind_class {
	HBM_IND_NO_LAYOUT,
	HBM_IND_PLAIN_LAYOUT,
	HBM_IND_MUTATION,  /* the bytes of the buffer it mutates */
	HBM_IND_NO_MEMORY, /* NoneLayout, MultiOutputLayout */
} hbm_ind_class;

/* Facts about one name (buffer or graph input). Indexed by symbol. */
typedef struct hbm_ind_name {
	hbm_ind_at layout; /* literal of its layout */
	hbm_ind_at fx;     /* literal of its type in the signature */
	hbm_ind_at rand;   /* arguments of rand_strided */
	uint32_t stmt;     /* statement that tells its shape, HBM_NONE: none */
	hbm_sym origin;    /* "model.py:12" of the fx node, 0: none */
	uint32_t writer;   /* leaf, HBM_NONE: none */
	const hbm_ind_graph *g; /* that prints the buffer, NULL: none */
	uint32_t buf;           /* in g->bufs */
	hbm_sym base;      /* view of, at last of a name that is no view; 0: none */
	uint32_t top;      /* top-level node that accesses it, HBM_NONE: none yet */
	bool spread;       /* accessed by several of them */
	bool mutates;      /* base: it takes the bytes over, changed */
	bool output, arg, sym_arg, used;
	bool tuple; /* several buffers, each with a name of its own */
	hbm_tensor_id tensor;
	hbm_dtype dtype; /* what the statements tell of it */
	uint32_t itemsize;
} hbm_ind_name;

/* The buffer as printed, NULL: the text has none of this name. Its writer may be a
 * node of the other graph. */
static inline const hbm_ind_buf *hbm_ind_buf_of(const hbm_ind_name *n)
{
	return n->g ? &n->g->bufs.items[n->buf] : NULL;
}

typedef struct hbm_ind_dump {
	hbm_arena *a;
	hbm_diags *d;
	const hbm_import_opts *opts;
	hbm_syms syms;
	HBM_VEC(hbm_ind_name) names;
	HBM_VEC(hbm_sym) args;    /* in the order of the signature */
	HBM_VEC(hbm_sym) unbound; /* symbols reported already */
	hbm_ind_graph graph;      /* the one that is planned */
	hbm_ind_graph pre; /* before fusion: children of era A; nodes.n may be 0 */
	hbm_ind_code code;
	bool fused; /* graph is the one after fusion */
	bool failed;
} hbm_ind_dump;

/* Lists an error and marks the dump as failed. */
#define HBM_IND_FAIL(dump, code, at, len, ...)           \
	((dump)->failed = true,                          \
	 (void)hbm_fail((dump)->d, HBM_SEMANTIC, (code), \
	                hbm_ind_shown((dump), (at), (len)), __VA_ARGS__))

/* The place of a message; costs nothing once no more are listed. */
hbm_where hbm_ind_shown(const hbm_ind_dump *dump, hbm_ind_at at, size_t len);
bool hbm_ind_full(const hbm_ind_dump *dump);
/* Symbol of the text in [start, end); HBM_NONE: no memory. */
hbm_sym hbm_ind_sym(hbm_ind_dump *dump, const hbm_ind_text *t, size_t start,
                    size_t end);
/* The record of a symbol; NULL: no memory. Valid until the next call. */
hbm_ind_name *hbm_ind_name_of(hbm_ind_dump *dump, hbm_sym sym);
const char *hbm_ind_str(const hbm_ind_dump *dump, hbm_sym sym);

/* ---- what it means -------------------------------------------------------- */

/* A node that becomes an op. */
typedef struct hbm_ind_leaf {
	const hbm_ind_node *node;
	const hbm_ind_graph *g;
	uint32_t top;           /* its top-level node, counted from 0 */
	hbm_span reads, writes; /* names, each once, in hbm_ind_facts.lists */
	bool multi;             /* only picks one buffer of a tuple */
} hbm_ind_leaf;

typedef struct hbm_ind_facts {
	HBM_VEC(hbm_ind_leaf) leaves;
	HBM_VEC(hbm_sym) lists;
	HBM_VEC(uint32_t) first; /* node of graph -> its first leaf; one more */
	HBM_VEC(hbm_sym) src;    /* top-level node -> where it comes from, 0 */
	hbm_map inplace;         /* buffer << 32 | node: the node may overwrite it */
	uint32_t n_tops;
	bool device, spyre; /* something runs elsewhere than on the CPU */
	hbm_dtype dtype;    /* of the first allocation of floats */
	uint32_t itemsize;
} hbm_ind_facts;

hbm_status hbm_ind_find_facts(hbm_ind_dump *dump, hbm_ind_facts *ret) HBM_MUST_USE;
/* The part of it that the statements of call() tell. */
hbm_status hbm_ind_learn(hbm_ind_dump *dump, hbm_ind_facts *facts) HBM_MUST_USE;

/* ---- shapes --------------------------------------------------------------- */

/* torch.float16 and the short names of fx graphs; false: unknown. */
bool hbm_ind_dtype(const hbm_ind_text *t, size_t start, size_t end, hbm_dtype *ret,
                   uint32_t *ret_itemsize);
/* Sequences "(8, s0)" of extents and strides into *shape. False: an error was
 * listed. */
bool hbm_ind_extents(hbm_ind_dump *dump, hbm_ind_at at, size_t start, size_t end,
                     size_t strides, size_t strides_end, hbm_ind_shape *shape);
/* A layout literal. */
bool hbm_ind_layout(hbm_ind_dump *dump, hbm_ind_at at, hbm_ind_class *ret_class,
                    hbm_ind_shape *shape);
/* A type of the fx signature: "f32[2, 3][3, 1]cuda:0". */
bool hbm_ind_fx_type(hbm_ind_dump *dump, hbm_ind_at at, hbm_ind_shape *shape);
/* Arguments (size, stride, dtype | dtype=) of an allocation. */
bool hbm_ind_alloc_shape(hbm_ind_dump *dump, hbm_ind_at at, size_t in, size_t out,
                         hbm_ind_shape *shape);
/* Shape of what a statement makes, without a dtype that it inherits. */
bool hbm_ind_stmt_shape(hbm_ind_dump *dump, const hbm_ind_stmt *st,
                        hbm_ind_shape *shape);
/* Bytes of the storage; false: not known or beyond 2^62. */
bool hbm_ind_bytes(const hbm_ind_shape *shape, uint64_t *ret);

/* ---- files ---------------------------------------------------------------- */

hbm_status hbm_ind_read_ir(hbm_ind_dump *dump, const hbm_ind_text *t,
                           hbm_ind_graph *ret) HBM_MUST_USE;
hbm_status hbm_ind_read_code(hbm_ind_dump *dump, const hbm_ind_text *t,
                             hbm_ind_code *ret) HBM_MUST_USE;
hbm_status hbm_ind_read_fx(hbm_ind_dump *dump, const hbm_ind_text *t) HBM_MUST_USE;

/* Sections of a log, blanked copies of it; NULL: not there. n_graphs counts the
 * sections after fusion. */
typedef struct hbm_ind_log {
	const char *pre, *post, *code;
	uint32_t n_graphs;
} hbm_ind_log;

hbm_status hbm_ind_split_log(hbm_arena *a, hbm_bytes log,
                             hbm_ind_log *ret) HBM_MUST_USE;
bool hbm_ind_is_log(hbm_bytes bytes);

/* ---- results -------------------------------------------------------------- */

/* One block of memory that call() holds. Times count statements. */
typedef struct hbm_ind_block {
	hbm_sym name; /* first name it had */
	uint64_t size;
	uint32_t start, end;
	bool given; /* allocated inside a kernel, not by call() itself */
	bool output;
} hbm_ind_block;

typedef struct hbm_ind_replay {
	HBM_VEC(hbm_ind_block) blocks;
	uint32_t *block_of; /* symbol -> block it first stood for, HBM_NONE: none */
	uint32_t n_syms;
	uint32_t n_allocs;  /* explicit allocations */
	uint64_t peak;      /* of those */
	uint32_t n_unsized; /* blocks of unknown size, counted as 0 */
} hbm_ind_replay;

hbm_status hbm_ind_replay_code(hbm_ind_dump *dump, hbm_ind_replay *ret) HBM_MUST_USE;
hbm_status hbm_ind_build(hbm_ind_dump *dump, const hbm_ind_facts *facts, hbm_arena *a,
                         hbm_program *ret) HBM_MUST_USE;

/* Reads all files of a source into *dump, whose memory is `scratch`. */
hbm_status hbm_ind_read_dump(hbm_arena *scratch, const hbm_source *src,
                             const hbm_import_opts *opts, hbm_diags *d,
                             hbm_ind_dump *ret) HBM_MUST_USE;

#endif
