/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_HLO_H
#define HBM_IMPORT_HLO_H

/* An XLA HLO module in memory, and the steps from it to a program.
 *
 *     text  (hlo_text.c, hlo_instr.c)  \
 *     proto (hlo_proto.c)               > hlo_module -> order -> flat -> merge -> emit
 *
 * Flat arrays and 32-bit ids throughout; the instructions of a computation stand
 * together. Strings are slices of the input. */

#include "import/importer.h"

typedef struct hlo_slice {
	const char *s;
	uint32_t n;
} hlo_slice;

/* How an opcode treats memory. */
typedef enum hlo_class {
	HLO_PLAIN,     /* writes a result of its own */
	HLO_ELEM,      /* the same, element i from elements i of the operands */
	HLO_SAME,      /* its result is its first operand */
	HLO_RESHAPE,   /* is its operand when the bytes keep their order */
	HLO_TRANSPOSE, /* the same, seen through `dimensions` */
	HLO_TUPLE,
	HLO_GTE,
	HLO_PARAM,
	HLO_CONST,
	HLO_WHILE,
	HLO_COND,
	HLO_CALL,
	HLO_FUSION,
	HLO_CUSTOM,
	HLO_DUS,       /* may update its first operand in place */
	HLO_SCATTER,   /* the same for the operands that match the results */
	HLO_LEAFWISE,  /* result i may take operand i in place */
	HLO_START,     /* begins an asynchronous operation */
	HLO_DONE,      /* ends it */
	HLO_EFFECT,    /* has an effect besides its result */
} hlo_class;

typedef enum hlo_opcode {
#define OPCODE(id, text, class, kind) HLO_OP_##id,
#include "import/hlo_opcodes.def"
#undef OPCODE
	HLO_N_OPCODES
} hlo_opcode;

typedef struct hlo_opcode_info {
	const char *text;
	hlo_class class;
	hbm_op_kind kind;
} hlo_opcode_info;

extern const hlo_opcode_info hlo_opcode_infos[HLO_N_OPCODES];
/* HLO_N_OPCODES: no such opcode. */
hlo_opcode hlo_opcode_find(const char *s, size_t n);

/* One dimension of an array. `minor` is the layout: the logical dimension at this
 * place, counted from the minor-most. */
typedef struct hlo_dim {
	uint64_t extent; /* upper bound when bounded */
	uint32_t minor;
	bool bounded, unknown;
} hlo_dim;

typedef enum hlo_kind { HLO_ARRAY, HLO_TUPLES, HLO_TOKEN } hlo_kind;

/* A shape or a part of one; nodes stand in pre-order. A leaf is an array or a
 * token. */
typedef struct hlo_node {
	uint32_t first, n;       /* array: in dims; tuple: in kids */
	uint32_t leaf, n_leaves; /* first leaf, counted within the whole shape */
	uint64_t size;           /* bytes of an array, padding of tiles included */
	uint8_t kind, dtype;     /* hlo_kind, hbm_dtype */
	uint8_t bits;            /* of one element */
	uint8_t space;           /* memory space S(n) */
	bool tiled, dynamic;     /* dynamic: some extent has no bound */
} hlo_node;

enum { HLO_SPACE_DEVICE = 0, HLO_SPACE_FAST = 1, HLO_SPACE_HOST = 5,
       HLO_SPACE_UNPINNED = 6 };

typedef struct hlo_operand {
	hbm_sym name;
	uint32_t instr; /* after hlo_resolve; module-wide id */
	uint32_t pos;
	hbm_span path;  /* in numbers: "name#1#0" picks out of a tuple */
} hlo_operand;

typedef struct hlo_called {
	hbm_sym name;
	uint32_t comp; /* after hlo_resolve */
	uint32_t pos;
} hlo_called;

/* An output that is (or, module-wide, may be) an input: paths in numbers. */
typedef struct hlo_alias {
	hbm_span out, in;
	uint64_t operand; /* operand or parameter number */
	uint32_t pos;
} hlo_alias;

enum { HLO_K_NONE, HLO_K_LOOP, HLO_K_INPUT, HLO_K_OUTPUT, HLO_K_CUSTOM };
enum { HLO_CMP_OTHER, HLO_CMP_LT, HLO_CMP_LE, HLO_CMP_GT, HLO_CMP_GE };

/* Where an instruction comes from, as its metadata say. */
typedef struct hlo_meta {
	hlo_slice op_name, file; /* n 0: not said */
	uint64_t line, frame;
} hlo_meta;

typedef struct hlo_instr {
	hbm_sym name;
	uint32_t pos;          /* in the text, 0 for proto */
	uint8_t opcode, fusion;
	uint8_t compare;       /* HLO_CMP_*, direction of a compare */
	bool effect;           /* custom_call_has_side_effect */
	bool whole;            /* a constant that is one integer: `number` */
	uint32_t shape;        /* node */
	hbm_span leaves;       /* nodes, in leaf_nodes */
	hbm_span operands;
	hbm_span controls;     /* in operands: control-predecessors */
	hbm_span called;       /* while: condition, body */
	hbm_span dims;         /* in numbers: dimensions of a transpose */
	hbm_span aliases;      /* output_to_operand_aliasing */
	uint64_t number;       /* parameter number, tuple index, value (int64_t) */
	uint64_t trips;        /* of a while, 0: unknown */
	hlo_slice target;      /* custom_call_target, text of an unknown opcode */
	hlo_meta meta;
} hlo_instr;

/* Fused computation: parameter `param` may give its bytes to result leaf `out`. */
typedef struct hlo_share {
	uint32_t param, out;
	bool update; /* as the target of an update, not element by element */
} hlo_share;

typedef struct hlo_comp {
	hbm_sym name;
	uint32_t pos;
	uint32_t first, n;     /* instructions */
	uint32_t root;         /* module-wide id */
	uint32_t n_leaves;     /* of all its instructions */
	uint32_t *params, n_params; /* instruction of each parameter, HBM_NONE: none */
	bool entry, bad;       /* bad: an error was reported inside */
	uint32_t *order;       /* run order, module-wide ids; NULL: not asked yet */
	uint32_t n_order;      /* without dead instructions */
	const char *order_from; /* which order won */
	uint64_t peak;         /* bytes at its peak in that order; 0: scheduled */
	uint8_t visit;         /* whether it was walked for its order */
	uint64_t walk, steps;  /* instructions and leaves, least steps, written out */
	bool shares_known;
	hbm_span shares;       /* in module.shares */
} hlo_comp;

/* Leaves that all calls together may hand over. */
enum { HLO_MAX_COMPARED = 1 << 27 };

typedef struct hlo_module {
	hbm_arena *arena;
	hbm_diags *diags;
	const char *file;
	const char *text; /* NULL: no text to point into */
	size_t n_text;
	uint32_t *line_at; /* offset of each line */
	uint32_t n_lines;
	hbm_syms *syms;
	hbm_sym name;
	bool scheduled;
	uint32_t entry; /* computation */
	uint64_t compared; /* leaves that calls were checked for */
	HBM_VEC(hlo_node) nodes;
	HBM_VEC(uint32_t) kids;       /* node ids */
	HBM_VEC(uint32_t) leaf_nodes; /* node ids */
	HBM_VEC(hlo_dim) dims;
	HBM_VEC(uint64_t) numbers;
	HBM_VEC(hlo_operand) operands;
	HBM_VEC(hlo_called) called;
	HBM_VEC(hlo_alias) aliases;
	HBM_VEC(hlo_instr) instrs;
	HBM_VEC(hlo_comp) comps;
	HBM_VEC(hlo_share) shares;
	hbm_span io_aliases;  /* in aliases: input_output_alias */
	hbm_span donors;      /* the same, `in` only */
	HBM_VEC(hlo_slice) file_names;
	HBM_VEC(hlo_meta) locations;  /* file and line by location id - 1 */
	HBM_VEC(uint32_t) frames;     /* location by frame id - 1 */
} hlo_module;

/* ---- module (hlo_module.c) ----------------------------------------------- */

void hlo_module_init(hlo_module *m, hbm_arena *a, hbm_diags *d, hbm_syms *syms,
                     const char *file);
/* A string of the input as a name: UTF-8 without NUL, '?' for bytes that are not.
 * `escapes`: \\c stands for c. HBM_NONE: out of memory. */
hbm_sym hlo_clean(hbm_arena *a, hbm_syms *syms, hlo_slice s, bool escapes);
/* Keeps the text for messages and finds its lines. */
hbm_status hlo_set_text(hlo_module *m, const char *text, size_t n) HBM_MUST_USE;
/* Place of a byte of the text. */
hbm_where hlo_at(const hlo_module *m, uint32_t pos, uint32_t len);
/* Line and column of a byte, 0 without text. */
uint32_t hlo_line(const hlo_module *m, uint32_t pos, uint32_t *ret_col);
/* Fills leaf, n_leaves and leaf_nodes of a finished instruction shape. */
hbm_status hlo_shape_leaves(hlo_module *m, uint32_t shape,
                            hbm_span *ret) HBM_MUST_USE;
/* Finds operands, called computations and the entry by name (those whose name is
 * HBM_NONE are found already); checks what later steps rely on: counts of operands,
 * tuple indices, parameter numbers. */
hbm_status hlo_resolve(hlo_module *m) HBM_MUST_USE;
/* trips from a loop's backend_config: "known_trip_count":{"n":"7"}, in quotes or
 * not, escaped or not. */
void hlo_trip_count(hlo_slice config, hlo_instr *x);
/* fusion from "kLoop" and its like; nothing from an empty text. */
void hlo_fusion_kind(hlo_slice kind, hlo_instr *x);
/* compare from "LT" and its like. */
void hlo_direction(hlo_slice direction, hlo_instr *x);
/* The part of shape `node` that a path picks; HBM_NONE: no such part. */
uint32_t hlo_subshape(const hlo_module *m, uint32_t node, hbm_span path);
static inline const char *hlo_name(const hlo_module *m, uint32_t instr)
{
	return hbm_sym_str(m->syms, m->instrs.items[instr].name);
}

/* ---- shapes (hlo_shape.c) ------------------------------------------------ */

/* Tiles and paddings of one layout. */
enum { HLO_MAX_TILES = 8 };
typedef struct hlo_layout {
	uint64_t tile[HLO_MAX_TILES][HBM_MAX_RANK];
	uint32_t tile_rank[HLO_MAX_TILES];
	uint32_t n_tiles;
	uint64_t element_bits, multiple; /* 0: not said */
} hlo_layout;

/* Bytes of an array whose dims stand in m->dims. False: beyond 2^62. */
bool hlo_array_size(const hlo_module *m, const hlo_node *node,
                    const hlo_layout *layout, uint64_t *ret) HBM_MUST_USE;
/* "f8e4m3fn" -> f8e4m3 and its bits; false: not a type. */
bool hlo_type_find(const char *s, size_t n, hbm_dtype *ret, uint8_t *ret_bits,
                   hlo_kind *ret_kind);
/* Element i of one is element i of the other, at the same byte. */
bool hlo_same_bytes(const hlo_module *m, uint32_t a, uint32_t b);
/* The same, when `to` is a reshape of `from`: both row-major and untiled. */
bool hlo_reshape_is_view(const hlo_module *m, uint32_t from, uint32_t to);
bool hlo_transpose_is_view(const hlo_module *m, const hlo_instr *t, uint32_t from);

/* ---- reading (hlo_text.c, hlo_proto.c) ----------------------------------- */

hbm_status hlo_read_text(hlo_module *m, const char *text, size_t n) HBM_MUST_USE;

/* ---- fusions (hlo_fusion.c) ---------------------------------------------- */

/* Fills shares of a fused computation (once). */
hbm_status hlo_fusion_shares(hlo_module *m, uint32_t comp) HBM_MUST_USE;

/* ---- loops (hlo_trips.c) ------------------------------------------------- */

/* Trips of the loops that do not say them and count plainly. */
void hlo_find_trips(hlo_module *m);

/* ---- order (hlo_order.c) ------------------------------------------------- */

/* Fills order and peak of a computation (once): the text's order when the module is
 * scheduled, else the best of three. What it calls must have its peak already. */
hbm_status hlo_order(hlo_module *m, uint32_t comp) HBM_MUST_USE;

/* ---- to a program (hlo.c) ------------------------------------------------- */

hbm_status hlo_to_program(hlo_module *m, hbm_arena *scratch,
                          hbm_program *p) HBM_MUST_USE;
typedef hbm_status (*hlo_read_fn)(hlo_module *m, const char *bytes, size_t n);
/* The importer's work, with what reads the bytes. */
hbm_status hlo_import(hbm_arena *a, const hbm_source *src, const hbm_import_opts *opts,
                      hbm_diags *d, hbm_imported *ret, hlo_read_fn read) HBM_MUST_USE;

#endif
