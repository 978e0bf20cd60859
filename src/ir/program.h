/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_PROGRAM_H
#define HBM_IR_PROGRAM_H

/* The program: what is planned.
 *
 * Flat arrays and 32-bit ids. Nodes stand in pre-order, each knowing where its
 * subtree ends, so a walk is a loop and the run order is the array order:
 *
 *     node  0 bundle k0  end 5          bundle k0 {
 *           1   op a     end 2              op a ...
 *           2   loop L   end 5              loop L x4 {
 *           3     op b   end 4                  op b ...
 *           4     op c   end 5                  op c ...  } }
 *           5 op d       end 6          op d ...
 *
 * Bytes are uint64_t. A storage is the bytes behind a tensor and all tensors
 * that are views of it or must share with it (analysis/storage.h). */

#include "base/map.h"
#include "base/diag.h"

typedef uint32_t hbm_tensor_id;
typedef uint32_t hbm_op_id;
typedef uint32_t hbm_node_id;

/* name, bits */
#define HBM_DTYPE_MAP(X)                                                       \
	X(none, 0) X(f32, 32) X(f16, 16) X(bf16, 16) X(f64, 64)                \
	X(i64, 64) X(i32, 32) X(i16, 16) X(i8, 8) X(i4, 4) X(i2, 2)            \
	X(u64, 64) X(u32, 32) X(u16, 16) X(u8, 8) X(u4, 4) X(u2, 2)            \
	X(bool, 8) X(c64, 64) X(c128, 128)                                     \
	X(f8e4m3, 8) X(f8e5m2, 8) X(f8e8m0, 8) X(f4e2m1, 4)

typedef enum hbm_dtype {
#define X(name, bits) HBM_DT_##name,
	HBM_DTYPE_MAP(X)
#undef X
	HBM_N_DTYPES
} hbm_dtype;

uint32_t hbm_dtype_bits(hbm_dtype t);
const char *hbm_dtype_name(hbm_dtype t);
/* HBM_DT_none: no such name. */
hbm_dtype hbm_dtype_find(const char *name, size_t n);

/* One extent. Known: value. Bounded: 0 <= min <= extent <= value. Unknown: no
 * upper bound, and the tensor has no static size. Two unknown extents are
 * never equal. A hint never sets a size. */
typedef struct hbm_dim {
	uint64_t value; /* extent, or upper bound; 0 when unknown */
	uint64_t min;   /* lower bound; equals value when known */
	uint64_t hint;  /* 0: none */
	hbm_sym sym;    /* symbol, 0: none */
	bool unknown;   /* no value and no upper bound */
	bool nosplit;   /* seed B's split must leave this dimension whole */
} hbm_dim;

enum {
	HBM_T_INPUT = 1 << 0,   /* the caller gives it */
	HBM_T_OUTPUT = 1 << 1,  /* the caller gets it */
	HBM_T_WEIGHT = 1 << 2,  /* constant for the program's life */
	HBM_T_STATE = 1 << 3,   /* outlives the run, may be written */
	HBM_T_DONATED = 1 << 4, /* input whose bytes the program may reuse */
	HBM_T_ZERO = 1 << 5,    /* filled with zeros before its first use */
	HBM_T_CARRIED = 1 << 6, /* first read sees what an earlier trip wrote */
	HBM_T_TILE = 1 << 7,    /* declared size is one tile; it advances per trip */
	HBM_T_DYNAMIC = 1 << 8, /* no static size (an extent is unknown) */
	HBM_T_SIZED = 1 << 9,   /* `size` was given, not derived from extents */
	HBM_T_HOST = 1 << 10,   /* lives in host memory; takes no device bytes */
	HBM_T_IO = HBM_T_INPUT | HBM_T_OUTPUT,
	HBM_T_CALLER = HBM_T_INPUT | HBM_T_OUTPUT | HBM_T_WEIGHT | HBM_T_STATE,
};

/* The words for them in text and JSON, in a fixed order; T_SIZED has none. */
typedef struct hbm_flag_word {
	const char *word;
	uint32_t flag;
} hbm_flag_word;

enum { HBM_N_FLAG_WORDS = 10 };
extern const hbm_flag_word hbm_flag_words[HBM_N_FLAG_WORDS];

/* Where a storage lives. */
typedef enum hbm_home_kind {
	HBM_HOME_NONE,
	HBM_HOME_LX,   /* on-core scratchpad; offset is the per-core address */
	HBM_HOME_POOL, /* the pool of one bundle; offset in the pool */
	HBM_HOME_HBM,  /* standalone HBM; offset only when a pass placed it */
	HBM_HOME_IO,   /* the caller's: inputs, outputs, weights, state */
} hbm_home_kind;

/* An annotation: set by passes (or read from a planned dump) on the root tensor
 * of a storage. Another tensor that a plan put into that storage, and that is no
 * view, says `with`, has kind NONE, and `offset` is its place in the storage
 * (HBM_NO_OFFSET: 0). */
typedef struct hbm_home {
	hbm_home_kind kind;
	hbm_node_id bundle; /* for POOL */
	uint64_t offset;    /* HBM_NO_OFFSET: none */
	uint64_t size;      /* reserved bytes (per core for LX); 0: not said */
	uint32_t with;      /* tensor id + 1 of the root it lives with; 0: none */
} hbm_home;

/* Generic attribute: key = values. Known keys are rows of ir/attrs.def. */
typedef struct hbm_value {
	bool is_num;
	hbm_sym str;
	uint64_t num;
} hbm_value;

typedef struct hbm_attr {
	hbm_sym key;
	uint32_t first, n; /* values in hbm_program.values; n 0: a flag */
} hbm_attr;

typedef struct hbm_span { /* items [first, first + n) of some array */
	uint32_t first, n;
} hbm_span;

typedef struct hbm_tensor {
	hbm_sym name;
	uint32_t flags;
	hbm_dtype dtype;
	hbm_span dims;   /* logical shape, in hbm_program.dims */
	hbm_span device; /* device_size, last = elements per stick; n 0: none */
	uint64_t size;   /* bytes; with T_TILE one tile; 0 until sized */
	uint64_t align;  /* 0: the target's */
	uint64_t pin;    /* required offset in its space, HBM_NO_OFFSET: none */
	hbm_tensor_id base; /* view of this tensor, HBM_NONE: not a view */
	uint64_t offset;    /* bytes into base */
	hbm_home_kind demand; /* home the user requires, HBM_HOME_NONE: any */
	hbm_home home;        /* home that was planned */
	hbm_sym src;          /* "model.py:12", 0: none */
	hbm_sym owner;        /* framework, delegate, layer, 0: none */
	hbm_span attrs;
	uint32_t line, col;   /* of the declaration, 0: not from a file */
} hbm_tensor;

/* kind, text */
#define HBM_OP_KIND_MAP(X)                                                     \
	X(COMPUTE, compute)       /* runs on the device, in a bundle */        \
	X(FALLBACK, fallback)     /* runs on the CPU */                        \
	X(EXTERN, extern)         /* a kernel of somebody else */              \
	X(NOP, nop)               /* launches nothing */                       \
	X(ALLOC, alloc)           /* allocation only: a destination */         \
	X(DMA, dma)               /* moves bytes */                            \
	X(COLLECTIVE, collective) /* talks to other devices */

typedef enum hbm_op_kind {
#define X(id, text) HBM_OP_##id,
	HBM_OP_KIND_MAP(X)
#undef X
} hbm_op_kind;

const char *hbm_op_kind_name(hbm_op_kind k);
/* "none", "lx", "pool", "hbm", "io". */
const char *hbm_home_kind_name(hbm_home_kind k);

/* Per trip of `loop` the operand's address advances by `bytes`. */
typedef struct hbm_stride {
	hbm_node_id loop;
	uint64_t bytes;
} hbm_stride;

/* One access: bytes [offset, offset + len) of the tensor, advanced by the
 * strides of the enclosing loops. len 0: to the end of the tensor (its declared
 * size). */
typedef struct hbm_operand {
	hbm_tensor_id tensor;
	uint64_t offset, len;
	hbm_span strides;
} hbm_operand;

/* Output `write` may (or, with must, does) take the bytes of input `read`.
 * Indices count within the op's writes and reads. `keeps`: the op leaves the
 * bytes as they are (reshape). */
typedef struct hbm_inplace {
	uint32_t write, read;
	bool must, keeps;
} hbm_inplace;

/* One variable of an op's iteration space. */
typedef struct hbm_iter {
	hbm_sym name;
	uint64_t extent;
	uint32_t split;  /* cores along it; 0: not divided yet */
	bool reduction, stick;
} hbm_iter;

typedef struct hbm_op {
	hbm_sym name, opname;
	hbm_op_kind kind;
	hbm_node_id node;
	hbm_span reads, writes; /* in hbm_program.operands */
	hbm_span inplace;       /* in hbm_program.inplaces */
	hbm_span iters;         /* in hbm_program.iters */
	uint64_t scratch;       /* compiler scratch bytes while it runs */
	uint32_t cores;         /* cores it runs on, 0: not decided */
	hbm_sym src;
	hbm_span attrs;
	uint32_t line, col;
} hbm_op;

typedef enum hbm_node_kind {
	HBM_NODE_OP,
	HBM_NODE_BUNDLE,   /* one kernel invocation; top level only */
	HBM_NODE_LOOP,     /* body runs `trips` times */
	HBM_NODE_REGION,   /* a named group that runs once */
	HBM_NODE_PARALLEL, /* a group whose members may run at the same time */
} hbm_node_kind;

typedef struct hbm_node {
	hbm_node_kind kind;
	hbm_sym name;
	hbm_node_id parent; /* HBM_NONE: top level */
	hbm_node_id end;    /* one past the subtree */
	hbm_op_id op;       /* for OP */
	uint64_t trips;     /* for LOOP; 0: unknown, taken as at least 2 */
	hbm_span attrs;
	uint32_t line, col;
} hbm_node;

/* A carried reduction: fill before the loop, combine in it, drain after it. */
typedef struct hbm_reduction {
	hbm_sym name;
	hbm_sym fill, combine, drain; /* op names: the ops may be gone */
	hbm_tensor_id acc;
	uint32_t line, col;
} hbm_reduction;

typedef struct hbm_program {
	hbm_arena *arena;
	hbm_syms syms;
	hbm_sym name, target; /* 0: not said */
	hbm_sym order;        /* who chose the run order, 0: the input gives it */
	const char *file;     /* name for messages, NULL: none */
	const char *text;     /* its bytes, for source lines; NULL: not at hand */
	HBM_VEC(hbm_tensor) tensors;
	HBM_VEC(hbm_op) ops; /* in run order */
	HBM_VEC(hbm_node) nodes;
	HBM_VEC(hbm_operand) operands;
	HBM_VEC(hbm_stride) strides;
	HBM_VEC(hbm_inplace) inplaces;
	HBM_VEC(hbm_iter) iters;
	HBM_VEC(hbm_dim) dims;
	HBM_VEC(hbm_attr) attrs;
	HBM_VEC(hbm_value) values;
	HBM_VEC(hbm_reduction) reductions;
	hbm_map by_name; /* tensor name -> id */
} hbm_program;

enum { HBM_MAX_DEPTH = 64, HBM_MAX_RANK = 32 };
/* Largest size of a tensor or sum of sizes. */
#define HBM_MAX_BYTES ((uint64_t)1 << 62)

/* An empty program in `arena`. */
hbm_status hbm_program_init(hbm_program *p, hbm_arena *arena) HBM_MUST_USE;

/* ---- building (importers, the reader, passes) -------------------------- */

/* A tensor with defaults; the caller fills in the rest. HBM_NONE: no memory.
 * Names are not checked here (see hbm_validate). */
hbm_tensor_id hbm_add_tensor(hbm_program *p, hbm_sym name) HBM_MUST_USE;
hbm_tensor_id hbm_find_tensor(const hbm_program *p, hbm_sym name);
bool hbm_add_dim(hbm_program *p, hbm_span *span, hbm_dim dim) HBM_MUST_USE;

/* Opens a node below the one opened last and not closed yet. */
hbm_node_id hbm_open_node(hbm_program *p, hbm_node_kind kind, hbm_sym name,
                          hbm_node_id parent) HBM_MUST_USE;
void hbm_close_node(hbm_program *p, hbm_node_id node);
/* Opens and closes an op node. The op's operands follow with hbm_add_read and
 * hbm_add_write: all reads first, then all writes, before the next op. */
hbm_op_id hbm_add_op(hbm_program *p, hbm_node_id parent, hbm_op_kind kind,
                     hbm_sym name, hbm_sym opname) HBM_MUST_USE;
/* Whole-tensor operands of the op added last. */
bool hbm_add_read(hbm_program *p, hbm_op_id op, hbm_tensor_id t) HBM_MUST_USE;
bool hbm_add_write(hbm_program *p, hbm_op_id op, hbm_tensor_id t) HBM_MUST_USE;
/* Attributes of the object whose span it is, added one after the other. */
bool hbm_add_attr_flag(hbm_program *p, hbm_span *span, const char *key) HBM_MUST_USE;
bool hbm_add_attr_num(hbm_program *p, hbm_span *span, const char *key,
                      uint64_t num) HBM_MUST_USE;
bool hbm_add_attr_str(hbm_program *p, hbm_span *span, const char *key,
                      const char *str) HBM_MUST_USE;

/* The general form: n values, 0 for a flag. */
bool hbm_add_attr(hbm_program *p, hbm_span *span, hbm_sym key,
                  const hbm_value *values, uint32_t n) HBM_MUST_USE;

/* ---- looking ------------------------------------------------------------ */

const char *hbm_str_of(const hbm_program *p, hbm_sym sym);
const char *hbm_tensor_name(const hbm_program *p, hbm_tensor_id t);
const char *hbm_op_name(const hbm_program *p, hbm_op_id op);
/* NULL: not there. */
const hbm_attr *hbm_attr_find(const hbm_program *p, hbm_span attrs, const char *key);
bool hbm_has_attr(const hbm_program *p, hbm_span attrs, const char *key);
/* The number of an attribute, or `other`. */
uint64_t hbm_attr_num(const hbm_program *p, hbm_span attrs, const char *key,
                      uint64_t other);
/* The bundle a node stands in, HBM_NONE: outside any. */
hbm_node_id hbm_bundle_of(const hbm_program *p, hbm_node_id node);
/* Place of a declaration, for diagnostics. */
hbm_where hbm_at(const hbm_program *p, uint32_t line, uint32_t col, uint32_t len);
/* The root tensor of a chain of views, with the byte offset in it. The chain
 * must be valid (no cycle). */
hbm_tensor_id hbm_view_root(const hbm_program *p, hbm_tensor_id t,
                            uint64_t *ret_offset);
/* Deep copy into another arena; only `text` is shared. */
hbm_status hbm_program_copy(const hbm_program *from, hbm_arena *arena,
                            hbm_program *ret) HBM_MUST_USE;

#endif
