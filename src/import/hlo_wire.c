/* SPDX-License-Identifier: Apache-2.0
 * hlo_wire: the messages of binary HLO protobuf.
 *
 * They are decoded with protobuf-c by our subset of the schema (hlo.proto). Before
 * that the nesting of the bytes is checked: the decoder itself would follow it to any
 * depth. Cost: linear in the bytes. */
#include "import/hlo.h"

#if HBM_HAVE_HLO_PROTO
#include "import/hlo_proto.h"

typedef struct memory {
	hbm_arena *arena;
	bool out; /* the arena had none left */
} memory;

static void *take(void *user, size_t size)
{
	memory *m = user;
	void *p = hbm_arena_alloc(m->arena, size);

	m->out |= !p;
	return p;
}

static void leave(void *user, void *ptr)
{
	(void)user, (void)ptr; /* the arena gives all back at once */
}

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
	uint64_t v = 0;

	for (uint32_t shift = 0; *p < end && shift < 64; shift += 7) {
		uint8_t byte = *(*p)++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

typedef struct level {
	const ProtobufCMessageDescriptor *d;
	const uint8_t *end;
} level;

/* Walks the messages without decoding them; false: malformed or too deep. */
static bool well_nested(const uint8_t *p, size_t n, const ProtobufCMessageDescriptor *d)
{
	level stack[HBM_MAX_DEPTH];
	uint32_t depth = 1;

	stack[0] = (level){d, p + n};
	while (depth) {
		level *top = &stack[depth - 1];
		const ProtobufCFieldDescriptor *f;
		uint64_t key, len;
		if (p == top->end) {
			depth--;
			continue;
		}
		if (!varint(&p, top->end, &key))
			return false;
		if ((key & 7) != 2) {
			len = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : 0;
			if ((key & 7) == 0 ? !varint(&p, top->end, &len)
			                   : !len || len > (uint64_t)(top->end - p))
				return false;
			p += (key & 7) == 0 ? 0 : len;
			continue;
		}
		if (!varint(&p, top->end, &len) || len > (uint64_t)(top->end - p))
			return false;
		f = key >> 3 > UINT32_MAX ? NULL
		    : protobuf_c_message_descriptor_get_field(top->d, (unsigned)(key >> 3));
		if (!f || f->type != PROTOBUF_C_TYPE_MESSAGE) {
			p += len;
			continue;
		}
		if (depth == HBM_MAX_DEPTH)
			return false;
		stack[depth++] = (level){f->descriptor, p + len};
	}
	return true;
}

static ProtobufCMessage *unpack(memory *m, const char *bytes, size_t n,
                                const ProtobufCMessageDescriptor *d)
{
	ProtobufCAllocator a = {take, leave, m};

	if (!well_nested((const uint8_t *)bytes, n, d))
		return NULL;
	return protobuf_c_message_unpack(d, &a, n, (const uint8_t *)bytes);
}

/* Either of the two messages; the one in which there are computations. */
hbm_status hlo_wire_read(hlo_module *m, const char *bytes, size_t n,
                         const Hlo__HloModuleProto **ret)
{
	memory mem = {.arena = m->arena};
	const Hlo__HloProto *outer = (const Hlo__HloProto *)unpack(
		&mem, bytes, n, &hlo__hlo_proto__descriptor);

	if (outer && outer->hlo_module && outer->hlo_module->n_computations) {
		*ret = outer->hlo_module;
		return HBM_OK;
	}
	*ret = (const Hlo__HloModuleProto *)unpack(&mem, bytes, n,
	                                           &hlo__hlo_module_proto__descriptor);
	HBM_NEED(!mem.out);
	if (*ret && (*ret)->n_computations)
		return HBM_OK;
	return hbm_fail(m->diags, HBM_SYNTAX, HBM_E_HLO_PROTO, (hbm_where){.file = m->file},
	                "the bytes are no HloProto and no HloModuleProto");
}

#endif
