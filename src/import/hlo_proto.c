/* SPDX-License-Identifier: Apache-2.0
 * hlo_proto: HLO protobuf (HloProto, HloModuleProto; binary or text) into a module.
 *
 * Messages come from hlo_wire.c or hlo_pbtext.c; ids become positions. A schedule gives
 * the order in which a computation's instructions stand. Cost: linear in the bytes. */
#include "import/hlo.h"

#include <string.h>

#if HBM_HAVE_HLO_PROTO
#include "import/hlo_proto.h"

#include <inttypes.h>

/* ---- shapes --------------------------------------------------------------- */

typedef struct maker {
	hlo_module *m;
	const Hlo__HloModuleProto *from;
	hbm_map comps; /* id -> computation */
	hbm_map ids;   /* id -> instruction, of the computation at hand */
} maker;

static hbm_status bad(const maker *k, const char *what, const char *name)
{
	return hbm_fail(k->m->diags, HBM_SEMANTIC, HBM_E_HLO_PROTO,
	                (hbm_where){.file = k->m->file}, "%s '%s'", what, name);
}

static hbm_status need_sym(hbm_sym s, hbm_sym *ret)
{
	*ret = s;
	return s == HBM_NONE ? HBM_NOMEM : HBM_OK;
}

static hlo_slice slice(const char *s)
{
	return (hlo_slice){s, (uint32_t)strlen(s)};
}

static hbm_sym name_of(hlo_module *m, const char *s)
{
	return hlo_clean(m->arena, m->syms, slice(s), false);
}

/* Element types in the order of their numbers in the schema. */
static const char *const type_names[] = {
	"", "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "f32",
	"f64", "", "opaque", "c64", "bf16", "token", "c128", "f8e5m2", "f8e4m3fn", "s4",
	"u4", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "s2", "u2", "f8e4m3", "f8e3m4",
	"s1", "u1", "f4e2m1fn", "f8e8m0fnu",
};

static hbm_status layout(maker *k, const Hlo__ShapeProto *s, hlo_node *node,
                         hlo_layout *l)
{
	const Hlo__LayoutProto *p = s->layout;
	uint64_t seen = 0;

	if (!p)
		return HBM_OK;
	for (size_t i = 0; i < p->n_minor_to_major; i++) {
		int64_t v = p->minor_to_major[i];
		if (p->n_minor_to_major != node->n || v < 0 || v >= (int64_t)node->n ||
		    seen >> v & 1)
			return bad(k, "layout is no permutation in a shape of", k->from->name);
		seen |= (uint64_t)1 << v;
		k->m->dims.items[node->first + i].minor = (uint32_t)v;
	}
	for (size_t i = 0; i < p->n_tiles; i++) {
		const Hlo__TileProto *t = p->tiles[i];
		if (i == HLO_MAX_TILES || t->n_dimensions > HBM_MAX_RANK)
			return bad(k, "too many tiles in a shape of", k->from->name);
		for (size_t j = 0; j < t->n_dimensions; j++) /* negative: kept whole */
			l->tile[i][j] = t->dimensions[j] > 0 ? (uint64_t)t->dimensions[j] : 1;
		l->tile_rank[i] = (uint32_t)t->n_dimensions;
		l->n_tiles++;
	}
	if (p->element_size_in_bits > 0 && p->element_size_in_bits <= 4096)
		l->element_bits = (uint64_t)p->element_size_in_bits;
	if (p->tail_padding_alignment_in_elements > 1)
		l->multiple = (uint64_t)p->tail_padding_alignment_in_elements;
	if (p->memory_space > 0)
		node->space = p->memory_space > 255 ? 255 : (uint8_t)p->memory_space;
	node->tiled = l->n_tiles || l->multiple || l->element_bits;
	return HBM_OK;
}

static hbm_status array_shape(maker *k, const Hlo__ShapeProto *s, uint32_t *ret)
{
	size_t n_types = sizeof type_names / sizeof *type_names;
	size_t type = (size_t)s->element_type;
	const char *name = type < n_types ? type_names[type] : "";
	hlo_node node = {.first = k->m->dims.n};
	hlo_layout l = {0};
	hlo_kind kind;
	hbm_dtype dtype;

	if (!*name || !hlo_type_find(name, strlen(name), &dtype, &node.bits, &kind))
		return bad(k, "unknown element type in a shape of", k->from->name);
	node.kind = (uint8_t)kind;
	node.dtype = (uint8_t)dtype;
	if (s->n_dimensions > HBM_MAX_RANK)
		return bad(k, "too many dimensions in a shape of", k->from->name);
	for (size_t i = 0; i < s->n_dimensions; i++) {
		hlo_dim d = {.minor = (uint32_t)(s->n_dimensions - 1 - i)};
		d.bounded = i < s->n_is_dynamic_dimension && s->is_dynamic_dimension[i];
		d.unknown = s->dimensions[i] < 0; /* no bound */
		d.extent = d.unknown ? 0 : (uint64_t)s->dimensions[i];
		node.dynamic |= d.unknown;
		HBM_NEED(HBM_PUSH(k->m->arena, &k->m->dims, d));
		node.n++;
	}
	HBM_TRY(layout(k, s, &node, &l));
	if (!hlo_array_size(k->m, &node, &l, &node.size))
		return hbm_fail(k->m->diags, HBM_SEMANTIC, HBM_E_SIZE_OVERFLOW,
		                (hbm_where){.file = k->m->file},
		                "array is larger than 2^62 bytes");
	HBM_NEED(HBM_PUSH(k->m->arena, &k->m->nodes, node));
	*ret = k->m->nodes.n - 1;
	return HBM_OK;
}

/* The nesting was limited before. */
static hbm_status shape_node(maker *k, const Hlo__ShapeProto *s, uint32_t *ret)
{
	hlo_module *m = k->m;
	uint32_t id = m->nodes.n, *kids, first;

	if (s->element_type == HLO__PRIMITIVE_TYPE__BUFFER && s->n_tuple_shapes == 1)
		return shape_node(k, s->tuple_shapes[0], ret);
	if (s->element_type != HLO__PRIMITIVE_TYPE__TUPLE)
		return array_shape(k, s, ret);
	HBM_NEED(HBM_PUSH(m->arena, &m->nodes, (hlo_node){.kind = HLO_TUPLES}));
	HBM_NEED(kids = HBM_ARRAY(m->arena, uint32_t, s->n_tuple_shapes));
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		HBM_TRY(shape_node(k, s->tuple_shapes[i], &kids[i]));
	first = m->kids.n;
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		HBM_NEED(HBM_PUSH(m->arena, &m->kids, kids[i]));
	m->nodes.items[id].first = first;
	m->nodes.items[id].n = (uint32_t)s->n_tuple_shapes;
	*ret = id;
	return HBM_OK;
}

/* ---- instructions --------------------------------------------------------- */

static hbm_status numbers(maker *k, const int64_t *v, size_t n, hbm_span *ret)
{
	hbm_span span = {.first = k->m->numbers.n, .n = (uint32_t)n};

	for (size_t i = 0; i < n; i++)
		HBM_NEED(HBM_PUSH(k->m->arena, &k->m->numbers,
		                  v[i] < 0 ? UINT64_MAX : (uint64_t)v[i]));
	*ret = span;
	return HBM_OK;
}

static hbm_status operands(maker *k, const int64_t *v, size_t n, const char *name,
                           hbm_span *ret)
{
	hbm_span span = {.first = k->m->operands.n, .n = (uint32_t)n};

	for (size_t i = 0; i < n; i++) {
		hlo_operand o = {.name = HBM_NONE};
		o.instr = hbm_map_get(&k->ids, (uint64_t)v[i]);
		if (o.instr == HBM_NONE)
			return bad(k, "unknown operand of", name);
		HBM_NEED(HBM_PUSH(k->m->arena, &k->m->operands, o));
	}
	*ret = span;
	return HBM_OK;
}

static bool calls(const hlo_instr *x)
{
	switch (hlo_opcode_infos[x->opcode].class) {
	case HLO_WHILE:
	case HLO_COND:
	case HLO_CALL:
	case HLO_FUSION:
		return true;
	default:
		return false;
	}
}

/* The schema has a loop's body before its condition; we have them the other way. */
static hbm_status called(maker *k, const Hlo__HloInstructionProto *p, hlo_instr *x)
{
	size_t n = p->n_called_computation_ids;
	bool swap = x->opcode == HLO_OP_WHILE && n == 2;

	x->called.first = k->m->called.n;
	for (size_t i = 0; i < n && calls(x); i++) {
		hlo_called c = {.name = HBM_NONE};
		c.comp = hbm_map_get(&k->comps,
		                     (uint64_t)p->called_computation_ids[swap ? 1 - i : i]);
		if (c.comp == HBM_NONE)
			return bad(k, "unknown computation called by", p->name);
		HBM_NEED(HBM_PUSH(k->m->arena, &k->m->called, c));
		x->called.n++;
	}
	return HBM_OK;
}

static hbm_status aliases(maker *k, const Hlo__HloInstructionProto *p, hlo_instr *x)
{
	x->aliases.first = k->m->aliases.n;
	for (size_t i = 0; i < p->n_output_operand_aliasing; i++) {
		const Hlo__OutputOperandAliasing *q = p->output_operand_aliasing[i];
		hlo_alias a = {.operand = q->operand_index < 0 ? UINT64_MAX
		                                               : (uint64_t)q->operand_index};
		HBM_TRY(numbers(k, q->output_shape_index, q->n_output_shape_index, &a.out));
		HBM_TRY(numbers(k, q->operand_shape_index, q->n_operand_shape_index, &a.in));
		HBM_NEED(HBM_PUSH(k->m->arena, &k->m->aliases, a));
		x->aliases.n++;
	}
	return HBM_OK;
}

static void metadata(const Hlo__OpMetadata *p, hlo_meta *ret)
{
	if (!p)
		return;
	ret->op_name = slice(p->op_name);
	ret->file = slice(p->source_file);
	ret->line = p->source_line > 0 ? (uint64_t)p->source_line : 0;
	ret->frame = p->stack_frame_id > 0 ? (uint64_t)p->stack_frame_id : 0;
}

static hbm_status opcode(maker *k, const Hlo__HloInstructionProto *p, hlo_instr *x)
{
	hlo_opcode op = hlo_opcode_find(p->opcode, strlen(p->opcode));

	if (op == HLO_N_OPCODES) {
		HBM_NEED(hbm_warn(k->m->diags, HBM_E_HLO_OPCODE,
		                  (hbm_where){.file = k->m->file}, "opcode '%.80s' is "
		                  "not known: taken as an operation that reads its "
		                  "operands and writes a result of its own",
		                  p->opcode));
		op = HLO_OP_UNKNOWN;
		x->target = slice(p->opcode);
	}
	x->opcode = (uint8_t)op;
	return HBM_OK;
}

static void whole_number(const Hlo__LiteralProto *p, hlo_instr *x)
{
	if (!p || p->n_s32s + p->n_s64s + p->n_u32s + p->n_u64s != 1)
		return;
	x->number = p->n_s32s   ? (uint64_t)p->s32s[0]
	            : p->n_s64s ? (uint64_t)p->s64s[0]
	            : p->n_u32s ? p->u32s[0]
	                        : p->u64s[0];
	x->whole = !p->n_u64s || p->u64s[0] <= INT64_MAX;
}

static hbm_status instruction(maker *k, const Hlo__HloInstructionProto *p)
{
	hlo_instr x = {.effect = p->custom_call_has_side_effect};

	if (!*p->name || !*p->opcode)
		return bad(k, "no name or opcode in an instruction of", k->from->name);
	if (!p->shape)
		return bad(k, "no shape in", p->name);
	HBM_TRY(need_sym(name_of(k->m, p->name), &x.name));
	HBM_TRY(shape_node(k, p->shape, &x.shape));
	HBM_TRY(hlo_shape_leaves(k->m, x.shape, &x.leaves));
	HBM_TRY(opcode(k, p, &x));
	x.number = (uint64_t)(x.opcode == HLO_OP_PARAMETER ? p->parameter_number
	                                                   : p->tuple_index);
	if (x.opcode == HLO_OP_CONSTANT)
		whole_number(p->literal, &x);
	hlo_fusion_kind(slice(p->fusion_kind), &x);
	hlo_direction(slice(p->comparison_direction), &x);
	if (x.opcode != HLO_OP_UNKNOWN)
		x.target = slice(p->custom_call_target);
	metadata(p->metadata, &x.meta);
	if (x.opcode == HLO_OP_WHILE)
		hlo_trip_count((hlo_slice){(const char *)p->backend_config.data,
		                           (uint32_t)p->backend_config.len}, &x);
	HBM_TRY(operands(k, p->operand_ids, p->n_operand_ids, p->name, &x.operands));
	HBM_TRY(operands(k, p->control_predecessor_ids, p->n_control_predecessor_ids,
	                 p->name, &x.controls));
	HBM_TRY(numbers(k, p->dimensions, p->n_dimensions, &x.dims));
	HBM_TRY(called(k, p, &x));
	HBM_TRY(aliases(k, p, &x));
	HBM_NEED(HBM_PUSH(k->m->arena, &k->m->instrs, x));
	return HBM_OK;
}

/* ---- computations --------------------------------------------------------- */

static const Hlo__HloScheduleProto__InstructionSequence *sequence(const maker *k,
                                                                  int64_t id)
{
	const Hlo__HloScheduleProto *s = k->from->schedule;

	for (size_t i = 0; s && i < s->n_sequences; i++)
		if (s->sequences[i]->key == id)
			return s->sequences[i]->value;
	return NULL;
}

/* The instructions in the order of the schedule, if it has this computation. */
static hbm_status in_order(maker *k, const Hlo__HloComputationProto *p,
                           const Hlo__HloInstructionProto ***ret)
{
	const Hlo__HloScheduleProto__InstructionSequence *s = sequence(k, p->id);
	const Hlo__HloInstructionProto **list =
		HBM_ARRAY(k->m->arena, const Hlo__HloInstructionProto *, p->n_instructions);
	hbm_map at;

	HBM_NEED(list);
	hbm_map_init(&at, k->m->arena);
	for (size_t i = 0; i < p->n_instructions; i++) {
		if (hbm_map_get(&at, (uint64_t)p->instructions[i]->id) != HBM_NONE)
			return bad(k, "an id stands twice in", p->name);
		HBM_NEED(hbm_map_set(&at, (uint64_t)p->instructions[i]->id, (uint32_t)i));
		list[i] = p->instructions[i];
	}
	*ret = list;
	if (!s)
		return HBM_OK;
	if (s->n_instruction_ids != p->n_instructions)
		return bad(k, "the schedule does not list all instructions of", p->name);
	for (size_t i = 0; i < s->n_instruction_ids; i++) {
		uint32_t j = hbm_map_get(&at, (uint64_t)s->instruction_ids[i]);
		if (j == HBM_NONE)
			return bad(k, "the schedule lists an instruction that is not in", p->name);
		list[i] = p->instructions[j];
	}
	return HBM_OK;
}

static hbm_status computation(maker *k, const Hlo__HloComputationProto *p)
{
	hlo_comp c = {.first = k->m->instrs.n, .n = (uint32_t)p->n_instructions,
	              .entry = p->id == k->from->entry_computation_id};
	const Hlo__HloInstructionProto **list = NULL;

	if (!p->n_instructions || p->n_instructions > UINT32_MAX / 2)
		return bad(k, "no instruction in", p->name);
	HBM_TRY(need_sym(name_of(k->m, p->name), &c.name));
	HBM_TRY(in_order(k, p, &list));
	hbm_map_init(&k->ids, k->m->arena);
	for (size_t i = 0; i < p->n_instructions; i++) {
		uint64_t id = (uint64_t)list[i]->id;
		if (hbm_map_get(&k->ids, id) != HBM_NONE)
			return bad(k, "the schedule lists an instruction twice in", p->name);
		HBM_NEED(hbm_map_set(&k->ids, id, c.first + (uint32_t)i));
	}
	c.root = hbm_map_get(&k->ids, (uint64_t)p->root_id);
	if (c.root == HBM_NONE)
		return bad(k, "no root in", p->name);
	for (size_t i = 0; i < p->n_instructions; i++)
		HBM_TRY(instruction(k, list[i]));
	HBM_NEED(HBM_PUSH(k->m->arena, &k->m->comps, c));
	return HBM_OK;
}

/* ---- the module ----------------------------------------------------------- */

static hbm_status io_aliases(maker *k)
{
	const Hlo__HloInputOutputAliasProto *io = k->from->input_output_alias;
	const Hlo__HloBufferDonorProto *d = k->from->buffer_donor;
	hlo_module *m = k->m;

	m->io_aliases.first = m->aliases.n;
	for (size_t i = 0; io && i < io->n_entries; i++) {
		const Hlo__HloInputOutputAliasProto__AliasEntryProto *e = io->entries[i];
		hlo_alias a = {.operand = (uint64_t)e->parameter_number};
		HBM_TRY(numbers(k, e->output_shape_index, e->n_output_shape_index, &a.out));
		HBM_TRY(numbers(k, e->parameter_shape_index, e->n_parameter_shape_index,
		                &a.in));
		HBM_NEED(HBM_PUSH(m->arena, &m->aliases, a));
		m->io_aliases.n++;
	}
	m->donors.first = m->aliases.n;
	for (size_t i = 0; d && i < d->n_entries; i++) {
		const Hlo__HloBufferDonorProto__BufferDonorEntryProto *e = d->entries[i];
		hlo_alias a = {.operand = (uint64_t)e->parameter_number};
		HBM_TRY(numbers(k, e->parameter_shape_index, e->n_parameter_shape_index,
		                &a.in));
		HBM_NEED(HBM_PUSH(m->arena, &m->aliases, a));
		m->donors.n++;
	}
	return HBM_OK;
}

static hbm_status frames(maker *k)
{
	const Hlo__StackFrameIndexProto *s = k->from->stack_frame_index;
	hlo_module *m = k->m;

	for (size_t i = 0; s && i < s->n_file_locations; i++) {
		const Hlo__StackFrameIndexProto__FileLocation *l = s->file_locations[i];
		hlo_meta at = {.line = l->line > 0 ? (uint64_t)l->line : 0};
		if (l->file_name_id > 0 && (size_t)l->file_name_id <= s->n_file_names)
			at.file = slice(s->file_names[l->file_name_id - 1]);
		HBM_NEED(HBM_PUSH(m->arena, &m->locations, at));
	}
	for (size_t i = 0; s && i < s->n_stack_frames; i++) {
		int32_t at = s->stack_frames[i]->file_location_id;
		HBM_NEED(HBM_PUSH(m->arena, &m->frames, at > 0 ? (uint32_t)at : 0));
	}
	return HBM_OK;
}

static hbm_status build(hlo_module *m, const Hlo__HloModuleProto *from)
{
	maker k = {.m = m, .from = from};

	HBM_TRY(need_sym(name_of(m, from->name), &m->name));
	m->scheduled = sequence(&k, from->entry_computation_id) != NULL;
	hbm_map_init(&k.comps, m->arena);
	for (size_t i = 0; i < from->n_computations; i++) {
		uint64_t id = (uint64_t)from->computations[i]->id;
		if (hbm_map_get(&k.comps, id) != HBM_NONE)
			return bad(&k, "an id of computations stands twice in", from->name);
		HBM_NEED(hbm_map_set(&k.comps, id, (uint32_t)i));
	}
	if (hbm_map_get(&k.comps, (uint64_t)from->entry_computation_id) == HBM_NONE)
		return bad(&k, "no entry computation in", from->name);
	HBM_TRY(frames(&k));
	for (size_t i = 0; i < from->n_computations; i++)
		HBM_TRY(computation(&k, from->computations[i]));
	HBM_TRY(io_aliases(&k));
	return hlo_resolve(m);
}

static hbm_status read_binary(hlo_module *m, const char *bytes, size_t n)
{
	const Hlo__HloModuleProto *from;

	HBM_TRY(hlo_wire_read(m, bytes, n, &from));
	return build(m, from);
}

static hbm_status read_text(hlo_module *m, const char *text, size_t n)
{
	Hlo__HloModuleProto *from;
	hbm_status status;

	if (n >= UINT32_MAX)
		return hbm_fail(m->diags, HBM_LIMIT, HBM_E_TOO_LARGE, HBM_NOWHERE,
		                "protobuf text of 4 GiB or more");
	HBM_TRY(hlo_set_text(m, text, n));
	status = hlo_pbtext_read(m, text, n, &from);
	m->text = NULL; /* instructions have no place in it */
	HBM_TRY(status);
	return build(m, from);
}

static bool is_text(const char *s, size_t n)
{
	return hlo_pbtext_probe(s, n < 1 << 20 ? n : 1 << 20);
}

static hbm_status proto_read(hbm_arena *a, const hbm_source *src,
                             const hbm_import_opts *opts, hbm_diags *d,
                             hbm_imported *ret)
{
	bool text = !memchr(src->bytes.data, 0, src->bytes.n) &&
	            is_text(src->bytes.data, src->bytes.n);

	return hlo_import(a, src, opts, d, ret, text ? read_text : read_binary);
}

#else

static bool is_text(const char *s, size_t n)
{
	(void)s, (void)n;
	return false;
}

static hbm_status proto_read(hbm_arena *a, const hbm_source *src,
                             const hbm_import_opts *opts, hbm_diags *d,
                             hbm_imported *ret)
{
	(void)a, (void)opts, (void)ret;
	return hbm_fail(d, HBM_UNSUPPORTED, HBM_E_HLO_PROTO, (hbm_where){.file = src->path},
	                "this build has no protobuf-c, so it does not read HLO protobuf; "
	                "HLO text it does");
}

#endif

/* ---- the importer --------------------------------------------------------- */

/* Behind the tag and length of field 1; NULL: something else stands there. */
static const unsigned char *field_1(const unsigned char *p, const unsigned char *end,
                                    size_t *ret_n)
{
	size_t n = 0;
	uint32_t shift = 0;

	if (p == end || *p++ != 0x0a)
		return NULL;
	for (; p < end && shift < 35; shift += 7) {
		n |= (size_t)(*p & 0x7f) << shift;
		if (!(*p++ & 0x80)) {
			*ret_n = n;
			return p;
		}
	}
	return NULL;
}

/* A module begins with its name and then its entry's; an HloProto with a module. */
static bool is_module(const unsigned char *p, const unsigned char *end)
{
	size_t n = 0;

	p = field_1(p, end, &n);
	if (!p || !n || n > 1024 || n >= (size_t)(end - p))
		return false;
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return false;
	return p[n] == 0x12 || p[n] == 0x1a;
}

static int proto_probe(const hbm_source *src)
{
	const unsigned char *p = (const unsigned char *)src->bytes.data;
	const unsigned char *end = p + src->bytes.n;
	size_t n;

	if (src->is_dir)
		return 0;
	if (is_text(src->bytes.data, src->bytes.n))
		return 85;
	if (is_module(p, end))
		return 80;
	p = field_1(p, end, &n);
	return p && is_module(p, end) ? 80 : 0;
}

const hbm_importer hbm_importer_hlo_proto = {
	"hlo-proto", "XLA HLO protobuf (*.hlo.pb, *.hlo_module.pb) and its text form",
	proto_probe, proto_read,
};
