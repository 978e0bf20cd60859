/* SPDX-License-Identifier: Apache-2.0
 * Random HLO modules: the program made of one computes what the module says.
 *
 * The module is run as HLO means it, each value a hash of what it was made from; the
 * program is run op by op on the bytes of its storages. Results must be equal,
 * aliased results must stand in their arguments, other arguments must be as before;
 * the same holds in the order that `reorder` gives; and the plan for a device must be
 * legal and keep every value. */
#include "import/hlo.h"
#include "ir/text.h"
#include "ir/validate.h"
#include "pass/pass.h"
#include "support/test.h"
#include "verify/verify.h"

#include <inttypes.h>

enum { ROUNDS = 1000, MAX_VALUES = 64, MAX_LEAVES = 8, TRIPS = 3, TEXT = 1 << 17 };

static uint64_t seed;

static uint64_t rnd(void)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(rnd() % n);
}

/* ---- writing a random module ---------------------------------------------- */

typedef struct text {
	char s[TEXT];
	size_t n;
} text;

static text done_; /* finished computations */
static uint32_t n_names;

static void put(text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, ap);
	va_end(ap);
	assert_true(t->n < sizeof t->s);
}

typedef struct value {
	uint32_t id;
	bool big; /* f32[64], else f32[32] */
} value;

typedef struct comp {
	text t;
	value v[MAX_VALUES];
	uint32_t n;
	uint32_t zero, truth; /* names of an index and a predicate */
	uint32_t depth;
} comp;

static const char *type(bool big)
{
	return big ? "f32[64]" : "f32[32]";
}

static void add(comp *c, uint32_t id, bool big)
{
	if (c->n < MAX_VALUES)
		c->v[c->n++] = (value){id, big};
}

static value any(comp *c)
{
	/* The newest are taken more often, so that chains come about. */
	uint32_t i = below(2) ? below(c->n) : c->n - 1 - below(c->n < 4 ? c->n : 4);

	return c->v[i];
}

static value like(comp *c, bool big)
{
	for (uint32_t k = 0; k < 20; k++) {
		value v = any(c);
		if (v.big == big)
			return v;
	}
	put(&c->t, "  n%u = %s broadcast(n%u), dimensions={}\n", n_names, type(big), c->zero);
	add(c, n_names, big);
	return (value){n_names++, big};
}

static void tuple_type(text *t, const bool *big, uint32_t n)
{
	put(t, "(");
	for (uint32_t i = 0; i < n; i++)
		put(t, "%s%s", i ? ", " : "", type(big[i]));
	put(t, ")");
}

static uint32_t gen_comp(const bool *in, uint32_t n_in, const bool *out, uint32_t n_out,
                         bool tuple_in, bool tuple_out, uint32_t depth);
static uint32_t gen_condition(const bool *big, uint32_t n);
static uint32_t gen_fused(uint32_t kind);

static void gte(comp *c, uint32_t from, const bool *big, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		put(&c->t, "  n%u = %s get-tuple-element(n%u), index=%u\n", n_names,
		    type(big[i]), from, i);
		add(c, n_names++, big[i]);
	}
}

static uint32_t gen_tuple(comp *c, const bool *big, uint32_t n)
{
	uint32_t parts[MAX_LEAVES], id;

	for (uint32_t i = 0; i < n; i++)
		parts[i] = like(c, big[i]).id;
	id = n_names++;
	put(&c->t, "  n%u = ", id);
	tuple_type(&c->t, big, n);
	put(&c->t, " tuple(");
	for (uint32_t i = 0; i < n; i++)
		put(&c->t, "%sn%u", i ? ", " : "", parts[i]);
	put(&c->t, ")\n");
	return id;
}

static void gen_while(comp *c)
{
	bool big[MAX_LEAVES];
	uint32_t n = 1 + below(4), body, condition, init;

	for (uint32_t i = 0; i < n; i++)
		big[i] = below(2);
	body = gen_comp(big, n, big, n, true, true, c->depth + 1);
	condition = gen_condition(big, n);
	init = gen_tuple(c, big, n);
	put(&c->t, "  n%u = ", n_names);
	tuple_type(&c->t, big, n);
	put(&c->t, " while(n%u), condition=c%u, body=c%u, "
	    "backend_config={\"known_trip_count\":{\"n\":\"%d\"}}\n", init, condition, body,
	    TRIPS);
	gte(c, n_names++, big, n);
}

static void gen_conditional(comp *c)
{
	bool in[2][MAX_LEAVES], out[MAX_LEAVES];
	uint32_t n_out = 1 + below(3), n_in[2], b[2], arg[2];

	for (uint32_t i = 0; i < n_out; i++)
		out[i] = below(2);
	for (uint32_t k = 0; k < 2; k++) {
		n_in[k] = 1 + below(3);
		for (uint32_t i = 0; i < n_in[k]; i++)
			in[k][i] = below(2);
		b[k] = gen_comp(in[k], n_in[k], out, n_out, true, true, c->depth + 1);
		arg[k] = gen_tuple(c, in[k], n_in[k]);
	}
	put(&c->t, "  n%u = ", n_names);
	tuple_type(&c->t, out, n_out);
	put(&c->t, " conditional(n%u, n%u, n%u), true_computation=c%u, "
	    "false_computation=c%u\n", c->truth, arg[0], arg[1], b[0], b[1]);
	gte(c, n_names++, out, n_out);
}

static void gen_call(comp *c)
{
	bool in[2] = {below(2), below(2)}, out = below(2);
	uint32_t callee = gen_comp(in, 2, &out, 1, false, false, c->depth + 1);

	for (uint32_t k = 0; k <= below(2); k++) {
		uint32_t a = like(c, in[0]).id, b = like(c, in[1]).id;
		put(&c->t, "  n%u = %s call(n%u, n%u), to_apply=c%u\n", n_names, type(out), a,
		    b, callee);
		add(c, n_names++, out);
	}
}

static void gen_fusion(comp *c)
{
	static const char *const kinds[] = {"kLoop", "kInput", "kOutput"};
	uint32_t kind = below(6), f = gen_fused(kind);
	uint32_t a = like(c, true).id, b = like(c, kind != 3).id;
	bool big[2] = {true, true};

	if (kind == 2) {
		put(&c->t, "  n%u = ", n_names);
		tuple_type(&c->t, big, 2);
	} else {
		put(&c->t, "  n%u = %s", n_names, type(true));
	}
	put(&c->t, " fusion(n%u, n%u), kind=%s, calls=c%u\n", a, b, kinds[below(3)], f);
	if (kind == 2)
		gte(c, n_names++, big, 2);
	else
		add(c, n_names++, true);
}

static void gen_async(comp *c)
{
	value x = any(c);
	const char *t = type(x.big);
	uint32_t s = n_names++, d = n_names++;

	if (below(2)) {
		put(&c->t, "  n%u = (%s, %s, u32[]) copy-start(n%u)\n", s, t, t, x.id);
		for (uint32_t k = below(3); k; k--) {
			value y = any(c);
			put(&c->t, "  n%u = %s negate(n%u)\n", n_names, type(y.big), y.id);
			add(c, n_names++, y.big);
		}
		put(&c->t, "  n%u = %s copy-done(n%u)\n", d, t, s);
	} else {
		put(&c->t, "  n%u = ((%s), %s) all-to-all-start(n%u)\n", s, t, t, x.id);
		put(&c->t, "  n%u = %s all-to-all-done(n%u)\n", d, t, s);
	}
	add(c, d, x.big);
}

static void gen_simple(comp *c)
{
	value x = any(c);
	const char *t = type(x.big);
	uint32_t other = like(c, x.big).id, small, id;

	switch (below(9)) {
	case 0:
		put(&c->t, "  n%u = %s negate(n%u)\n", n_names, t, x.id);
		break;
	case 1:
		put(&c->t, "  n%u = %s add(n%u, n%u)\n", n_names, t, x.id, other);
		break;
	case 2:
		put(&c->t, "  n%u = %s reverse(n%u), dimensions={0}\n", n_names, t, x.id);
		break;
	case 3:
		put(&c->t, "  n%u = %s custom-call(n%u), custom_call_target=\"f\"\n", n_names,
		    type(!x.big), x.id);
		x.big = !x.big;
		break;
	case 4:
		put(&c->t, "  n%u = %s custom-call(n%u, n%u), custom_call_target=\"g\", "
		    "output_to_operand_aliasing={{}: (0, {})}\n", n_names, t, x.id, other);
		break;
	case 5:
		put(&c->t, "  n%u = %s copy(n%u)\n", n_names, t, x.id);
		break;
	case 6:
		put(&c->t, "  n%u = %s bitcast(n%u)\n", n_names, t, x.id);
		break;
	case 7:
		put(&c->t, "  n%u = %s all-reduce(n%u), to_apply=c0\n", n_names, t, x.id);
		break;
	default:
		id = like(c, true).id;
		small = like(c, false).id;
		put(&c->t, "  n%u = %s dynamic-update-slice(n%u, n%u, n%u)\n", n_names,
		    type(true), id, small, c->zero);
		x.big = true;
		break;
	}
	add(c, n_names++, x.big);
}

static void gen_step(comp *c)
{
	uint32_t k = below(c->depth < 2 ? 12 : 8);

	if (k < 6)
		gen_simple(c);
	else if (k == 6)
		gen_fusion(c);
	else if (k == 7)
		gen_async(c);
	else if (k < 10)
		gen_while(c);
	else if (k == 10)
		gen_conditional(c);
	else
		gen_call(c);
}

static void start(comp *c)
{
	c->zero = n_names++;
	c->truth = n_names++;
	put(&c->t, "  n%u = s32[] constant(0)\n  n%u = pred[] constant(true)\n", c->zero,
	    c->truth);
}

static void gen_params(comp *c, const bool *in, uint32_t n_in, bool tuple)
{
	if (!tuple) {
		for (uint32_t i = 0; i < n_in; i++) {
			put(&c->t, "  n%u = %s parameter(%u)\n", n_names, type(in[i]), i);
			add(c, n_names++, in[i]);
		}
		return;
	}
	put(&c->t, "  n%u = ", n_names);
	tuple_type(&c->t, in, n_in);
	put(&c->t, " parameter(0)\n");
	gte(c, n_names++, in, n_in);
}

static uint32_t finish(const comp *c)
{
	uint32_t id = n_names++;

	put(&done_, "c%u {\n%s}\n\n", id, c->t.s);
	return id;
}

static uint32_t gen_comp(const bool *in, uint32_t n_in, const bool *out, uint32_t n_out,
                         bool tuple_in, bool tuple_out, uint32_t depth)
{
	comp *c = calloc(1, sizeof *c);
	uint32_t id, steps = 2 + below(6), last;

	assert_non_null(c);
	c->depth = depth;
	gen_params(c, in, n_in, tuple_in);
	start(c);
	while (steps--)
		gen_step(c);
	if (tuple_out) {
		gen_tuple(c, out, n_out);
	} else {
		last = like(c, out[0]).id;
		put(&c->t, "  ROOT n%u = %s bitcast(n%u)\n", n_names++, type(out[0]), last);
	}
	id = finish(c);
	free(c);
	return id;
}

static uint32_t gen_condition(const bool *big, uint32_t n)
{
	comp *c = calloc(1, sizeof *c);
	uint32_t id;

	assert_non_null(c);
	gen_params(c, big, n, true);
	put(&c->t, "  n%u = pred[] custom-call(n%u), custom_call_target=\"test\"\n", n_names,
	    c->v[0].id);
	n_names++;
	id = finish(c);
	free(c);
	return id;
}

static uint32_t gen_fused(uint32_t kind)
{
	uint32_t id = n_names++, a = n_names++, b = n_names++, m = n_names++, r = n_names++;

	put(&done_, "c%u {\n  n%u = f32[64] parameter(0)\n  n%u = %s parameter(1)\n", id, a,
	    b, type(kind != 3));
	switch (kind) {
	case 0:
		put(&done_, "  n%u = f32[64] add(n%u, n%u)\n", r, a, b);
		break;
	case 1:
		put(&done_, "  n%u = f32[64] reverse(n%u), dimensions={0}\n"
		    "  n%u = f32[64] add(n%u, n%u)\n", m, a, r, m, b);
		break;
	case 2:
		put(&done_, "  n%u = f32[64] multiply(n%u, n%u)\n"
		    "  n%u = (f32[64], f32[64]) tuple(n%u, n%u)\n", m, a, b, r, m, a);
		break;
	case 3:
		put(&done_, "  n%u = s32[] constant(0)\n"
		    "  n%u = f32[64] dynamic-update-slice(n%u, n%u, n%u)\n", m, r, a, b, m);
		break;
	case 4:
		put(&done_, "  n%u = f32[64] add(n%u, n%u)\n"
		    "  n%u = f32[64] subtract(n%u, n%u)\n", m, a, b, r, m, a);
		break;
	default:
		put(&done_, "  n%u = f32[64] reverse(n%u), dimensions={0}\n"
		    "  n%u = f32[64] add(n%u, n%u)\n", m, a, r, m, a);
		break;
	}
	put(&done_, "}\n\n");
	return id;
}

/* Aliases between results and arguments of one type, each argument once. */
static void gen_aliases(text *t, const bool *in, uint32_t n_in, const bool *out,
                        uint32_t n_out)
{
	bool used[MAX_LEAVES] = {false};
	const char *sep = "";

	put(t, ", input_output_alias={ ");
	for (uint32_t i = 0; i < n_out; i++) {
		uint32_t p = below(n_in);
		if (below(2) || used[p] || in[p] != out[i])
			continue;
		used[p] = true;
		put(t, "%s{%u}: (%u, {}, may-alias)", sep, i, p);
		sep = ", ";
	}
	put(t, " }");
}

static void gen_module(text *t)
{
	bool in[MAX_LEAVES], out[MAX_LEAVES];
	uint32_t n_in = 1 + below(5), n_out = 1 + below(4), steps = 3 + below(10);
	comp *c = calloc(1, sizeof *c);

	assert_non_null(c);
	done_.n = 0;
	done_.s[0] = 0;
	n_names = 1;
	t->n = 0;
	for (uint32_t i = 0; i < n_in; i++)
		in[i] = below(2);
	for (uint32_t i = 0; i < n_out; i++)
		out[i] = below(2);
	gen_params(c, in, n_in, false);
	start(c);
	while (steps--)
		gen_step(c);
	put(&c->t, "  ROOT ");
	{
		comp root = *c;
		root.t.n = 0;
		root.t.s[0] = 0;
		gen_tuple(&root, out, n_out);
		/* Values that the tuple needed and that were made for it come first. */
		c->t.n -= strlen("  ROOT ");
		c->t.s[c->t.n] = 0;
		put(&c->t, "%s", root.t.s);
	}
	put(t, "HloModule m%s", below(2) ? ", is_scheduled=true" : "");
	if (below(3))
		gen_aliases(t, in, n_in, out, n_out);
	put(t, "\n\nc0 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
	    "  s = f32[] add(a, b)\n}\n\n%sENTRY main {\n%s}\n", done_.s, c->t.s);
	free(c);
}

/* ---- running the module --------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdu;
	return h ^ (h >> 32);
}

static uint64_t name_hash(const char *s)
{
	uint64_t h = 1;

	for (; *s && *s != '@'; s++)
		h = mix(h, (unsigned char)*s);
	return h;
}

/* The order of operands and their repetition do not count. */
typedef struct set {
	uint64_t v[64];
	uint32_t n;
} set;

static void into(set *s, uint64_t v)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i] == v)
			return;
	assert_true(s->n < 64);
	s->v[s->n++] = v;
}

static uint64_t made(const char *name, uint32_t result, const set *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		sum += mix(s->v[i], 7);
	return mix(mix(name_hash(name), result), sum);
}

typedef struct world {
	test_room *room;
	hlo_module m;
	hbm_program p;
	uint32_t choice; /* branch that conditionals take */
} world;

typedef struct leaves {
	uint64_t v[3 * MAX_LEAVES];
} leaves;

static leaves eval(world *w, uint32_t id, const leaves *args);

static leaves eval_instr(world *w, const hlo_comp *c, const leaves *at, uint32_t i,
                         const leaves *args)
{
	const hlo_instr *x = &w->m.instrs.items[i];
	const hlo_operand *o = &w->m.operands.items[x->operands.first];
	const hlo_called *called = &w->m.called.items[x->called.first];
	leaves r = {{0}}, in[MAX_LEAVES];
	set s = {.n = 0};
	uint32_t n = 0;

	for (uint32_t k = 0; k < x->operands.n; k++) {
		const hlo_instr *y = &w->m.instrs.items[o[k].instr];
		in[k] = at[o[k].instr - c->first];
		for (uint32_t l = 0; l < y->leaves.n; l++)
			into(&s, in[k].v[l]);
	}
	switch (x->opcode) {
	case HLO_OP_PARAMETER:
		return args[x->number];
	case HLO_OP_CONSTANT:
		r.v[0] = mix(name_hash(hlo_name(&w->m, i)), 99);
		return r;
	case HLO_OP_BITCAST:
	case HLO_OP_COPY:
		return in[0];
	case HLO_OP_TUPLE:
		for (uint32_t k = 0; k < x->operands.n; k++)
			r.v[n++] = in[k].v[0];
		return r;
	case HLO_OP_GET_TUPLE_ELEMENT:
		r.v[0] = in[0].v[x->number];
		return r;
	case HLO_OP_COPY_DONE:
		r.v[0] = in[0].v[0];
		return r;
	case HLO_OP_ALL_TO_ALL_DONE:
		r.v[0] = in[0].v[1];
		return r;
	case HLO_OP_COPY_START:
		r.v[0] = made(hlo_name(&w->m, i), 0, &s);
		r.v[1] = in[0].v[0];
		return r;
	case HLO_OP_ALL_TO_ALL_START:
		r.v[0] = in[0].v[0];
		r.v[1] = made(hlo_name(&w->m, i), 0, &s);
		return r;
	case HLO_OP_CALL:
		return eval(w, called[0].comp, in);
	case HLO_OP_CONDITIONAL:
		return eval(w, called[w->choice].comp, &in[1 + w->choice]);
	case HLO_OP_WHILE:
		r = in[0];
		for (uint32_t k = 0; k < TRIPS; k++)
			r = eval(w, called[1].comp, &r);
		return r;
	default:
		for (uint32_t l = 0; l < x->leaves.n; l++)
			r.v[l] = made(hlo_name(&w->m, i), l, &s);
		return r;
	}
}

static leaves eval(world *w, uint32_t id, const leaves *args)
{
	const hlo_comp *c = &w->m.comps.items[id];
	leaves *at = calloc(c->n, sizeof *at), r;

	assert_non_null(at);
	for (uint32_t i = 0; i < c->n; i++)
		at[i] = eval_instr(w, c, at, c->first + i, args);
	r = at[c->root - c->first];
	free(at);
	return r;
}

/* ---- running the program -------------------------------------------------- */

static uint64_t *content; /* by root tensor */

static uint64_t *bytes_of(const world *w, hbm_tensor_id t)
{
	uint64_t offset;

	return &content[hbm_view_root(&w->p, t, &offset)];
}

static void run_op(world *w, hbm_op_id id)
{
	const hbm_op *op = &w->p.ops.items[id];
	const hbm_operand *r = &w->p.operands.items[op->reads.first];
	const hbm_operand *o = &w->p.operands.items[op->writes.first];
	set s = {.n = 0};

	for (uint32_t i = 0; i < op->reads.n; i++)
		into(&s, *bytes_of(w, r[i].tensor));
	if (hbm_has_attr(&w->p, op->attrs, "copy")) {
		*bytes_of(w, o[0].tensor) = s.v[0];
		return;
	}
	for (uint32_t i = 0; i < op->writes.n; i++)
		*bytes_of(w, o[i].tensor) = made(hbm_str_of(&w->p, op->name), i, &s);
}

static void run_nodes(world *w, hbm_node_id from, hbm_node_id to)
{
	for (hbm_node_id i = from; i < to; i = w->p.nodes.items[i].end) {
		const hbm_node *n = &w->p.nodes.items[i];
		if (n->kind == HBM_NODE_OP)
			run_op(w, n->op);
		else if (n->kind == HBM_NODE_LOOP)
			for (uint64_t k = 0; k < n->trips; k++)
				run_nodes(w, i + 1, n->end);
		else if (hbm_attr_num(&w->p, n->attrs, "hlo.branch", 9) == w->choice)
			run_nodes(w, i + 1, n->end);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool same_results(world *w, const leaves *want, uint32_t n)
{
	uint64_t got[MAX_LEAVES + 1], need[MAX_LEAVES];
	uint32_t k = 0;

	for (uint32_t t = 0; t < w->p.tensors.n; t++)
		if (w->p.tensors.items[t].flags & HBM_T_OUTPUT && k <= n)
			got[k++] = *bytes_of(w, t);
	memcpy(need, want->v, n * sizeof *need);
	qsort(got, k, sizeof *got, by_value);
	qsort(need, n, sizeof *need, by_value);
	return k == n && !memcmp(got, need, n * sizeof *need);
}

static bool arguments_right(world *w, const leaves *want, const leaves *args)
{
	const hlo_comp *c = &w->m.comps.items[w->m.entry];

	for (uint32_t k = 0; k < c->n_params; k++) {
		const hlo_instr *x = &w->m.instrs.items[c->params[k]];
		hbm_tensor_id t = hbm_find_tensor(&w->p, x->name);
		uint64_t need = args[k].v[0];
		for (uint32_t i = 0; i < w->m.io_aliases.n; i++) {
			const hlo_alias *a =
				&w->m.aliases.items[w->m.io_aliases.first + i];
			if (a->operand == k)
				need = want->v[w->m.numbers.items[a->out.first]];
		}
		if (*bytes_of(w, t) != need)
			return false;
	}
	return true;
}

static bool run_both(world *w)
{
	const hlo_comp *c = &w->m.comps.items[w->m.entry];
	leaves args[MAX_LEAVES], want;
	bool right;

	content = calloc(w->p.tensors.n + 1, sizeof *content);
	assert_non_null(content);
	for (uint32_t k = 0; k < c->n_params; k++) {
		const hlo_instr *x = &w->m.instrs.items[c->params[k]];
		args[k].v[0] = mix(k, 1234567);
		*bytes_of(w, hbm_find_tensor(&w->p, x->name)) = args[k].v[0];
	}
	for (uint32_t t = 0; t < w->p.tensors.n; t++)
		if (w->p.tensors.items[t].flags & HBM_T_WEIGHT)
			content[t] = mix(name_hash(hbm_tensor_name(&w->p, t)), 99);
	want = eval(w, w->m.entry, args);
	run_nodes(w, 0, w->p.nodes.n);
	right = same_results(w, &want, w->m.instrs.items[c->root].leaves.n) &&
	        arguments_right(w, &want, args);
	free(content);
	return right;
}

/* ---- the property --------------------------------------------------------- */

static void show(test_room *room, const char *s, const hbm_program *p)
{
	hbm_membuf buf = {.arena = &room->arena};
	hbm_out out;

	fprintf(stderr, "%s%s", s, messages(&room->arena, &room->diags));
	if (!p)
		return;
	hbm_out_init(&out, hbm_membuf_write, &buf);
	hbm_text_print(p, &out);
	assert_int_equal(hbm_out_finish(&out), HBM_OK);
	fwrite(buf.bytes.items, 1, buf.bytes.n, stderr);
}

static bool make(world *w, const char *s)
{
	test_room *room = w->room;
	hbm_status status;

	assert_int_equal(hbm_program_init(&w->p, &room->arena), HBM_OK);
	hlo_module_init(&w->m, &room->arena, &room->diags, &w->p.syms, "t.hlo");
	status = hlo_read_text(&w->m, s, strlen(s));
	if (status == HBM_OK)
		status = hlo_to_program(&w->m, &room->arena, &w->p);
	w->p.text = NULL;
	return status == HBM_OK && hbm_validate(&w->p, &room->diags) == HBM_OK;
}

static bool plan_is_legal(world *w)
{
	test_room *room = w->room;
	hbm_plan_opts opts = {.effort = 1, .lx_share_ppm = HBM_NO_OFFSET};
	hbm_sim_opts sim = {.max_trips = 3};
	hbm_sim_result ran;
	hbm_target t;
	hbm_plan plan;

	assert_int_equal(hbm_target_load(&room->arena, &room->diags, "trn1", &t), HBM_OK);
	return hbm_run_passes(&room->arena, &w->p, &t, &opts, &room->diags, &plan) ==
	               HBM_OK &&
	       hbm_verify(&room->arena, &w->p, &t, &plan, &room->diags) == HBM_OK &&
	       hbm_simulate(&room->arena, &w->p, &t, &plan, &sim, &room->diags, &ran) ==
	               HBM_OK;
}

/* The same in another order of its ops. */
static bool reorder(world *w)
{
	test_room *room = w->room;
	hbm_plan_opts opts = {.passes = "reorder", .lx_share_ppm = HBM_NO_OFFSET};
	hbm_target t;
	hbm_plan plan;

	assert_int_equal(hbm_target_load(&room->arena, &room->diags, "trn1", &t), HBM_OK);
	return hbm_run_passes(&room->arena, &w->p, &t, &opts, &room->diags, &plan) == HBM_OK;
}

static void must_compute(world *w, const char *s, uint64_t number, const char *what)
{
	for (w->choice = 0; w->choice < 2; w->choice++)
		if (!run_both(w)) {
			show(w->room, s, &w->p);
			fail_msg("module %" PRIu64 " computes something else %s", number, what);
		}
}

static void one_module(uint64_t number)
{
	static text t;
	test_room room;
	world w = {.room = &room};

	hbm_arena_init(&room.arena, NULL);
	hbm_diags_init(&room.diags, &room.arena);
	seed = number * 0x1234567 + 1;
	gen_module(&t);
	if (!make(&w, t.s)) {
		show(&room, t.s, NULL);
		fail_msg("module %" PRIu64 " is not read", number);
	}
	must_compute(&w, t.s, number, "as it is read");
	assert_true(reorder(&w));
	must_compute(&w, t.s, number, "when reordered");
	if (!plan_is_legal(&w)) {
		show(&room, t.s, &w.p);
		fail_msg("module %" PRIu64 " is planned wrong", number);
	}
	hbm_arena_fini(&room.arena);
}

static void programs_compute_what_modules_say(void **state)
{
	const char *only = getenv("HBM_SEED");
	uint64_t n = only ? strtoull(only, NULL, 10) : 0;

	(void)state;
	if (only)
		one_module(n);
	for (uint64_t i = 0; !only && i < ROUNDS; i++)
		one_module(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_compute_what_modules_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
