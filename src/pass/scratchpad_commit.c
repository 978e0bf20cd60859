/* SPDX-License-Identifier: Apache-2.0 */
/* scratchpad_commit: writes a scratchpad layout into the program.
 *
 * Homes      on every tensor of a placed storage.
 * Clones     An input that is placed gets a copy op before the node of its first
 *            read, which fills a new tensor that all its readers then read. A
 *            result gets a new tensor that its producer writes and its readers
 *            read, and a copy op behind the producer's node. Copies out stand
 *            before copies in at one place: what ends there ends first.
 * In-place   An optional pair stays only where its two storages share an address
 *            or both live in HBM; a pair that the layout uses is declared.
 * Cost       Linear in the program. */
#include "pass/rewrite.h"
#include "pass/scratchpad.h"
#include "plan/partition.h"

typedef struct commit {
	hbm_lx_model *m;
	hbm_program *p;
	const uint64_t *address;
	hbm_tensor_id *clone;   /* by storage, HBM_NONE: none */
	hbm_storage_id *before; /* by node: chain of inputs filled before it */
	hbm_storage_id *behind; /* by node: chain of results copied out behind it */
	hbm_storage_id *next;   /* by storage: the chains */
	hbm_rewrite w;
	bool any;
} commit;

static bool placed(const commit *c, hbm_storage_id s)
{
	return c->address[s] != HBM_NO_OFFSET;
}

/* ---- clones ------------------------------------------------------------------- */

/* A tensor like `like`, the planner's own. */
static hbm_tensor_id add_clone(hbm_program *p, hbm_tensor_id like)
{
	hbm_sym name = hbm_fresh_name(p, hbm_tensor_name(p, like), ".lx");
	hbm_tensor_id t = name == HBM_NONE ? HBM_NONE : hbm_add_tensor(p, name);
	hbm_tensor *to;
	const hbm_tensor *from;

	if (t == HBM_NONE)
		return t;
	to = &p->tensors.items[t];
	from = &p->tensors.items[like];
	to->flags = from->flags & HBM_T_SIZED;
	to->dtype = from->dtype;
	to->dims = from->dims;
	to->device = from->device;
	to->size = from->size;
	to->align = from->align;
	to->src = from->src;
	to->owner = from->owner;
	to->line = from->line;
	to->col = from->col;
	return t;
}

static void set_home(commit *c, hbm_storage_id s, hbm_tensor_id t)
{
	if (c->p->tensors.items[t].base == HBM_NONE)
		c->p->tensors.items[t].home =
			(hbm_home){.kind = HBM_HOME_LX, .bundle = HBM_NONE,
		                   .offset = c->address[s], .size = c->m->buffers[s].size};
}

static hbm_status make_tensors(commit *c)
{
	for (hbm_storage_id s = 0; s < c->m->an.storages.n; s++) {
		const hbm_storage *st = &c->m->an.storages.items[s];
		const hbm_lx_buffer *b = &c->m->buffers[s];
		c->clone[s] = HBM_NONE;
		if (!placed(c, s))
			continue;
		if (b->way == HBM_LX_VALUE) {
			for (uint32_t k = 0; k < st->members.n; k++)
				set_home(c, s, c->m->an.members[st->members.first + k]);
			continue;
		}
		HBM_NEED((c->clone[s] = add_clone(c->p, st->root)) != HBM_NONE);
		set_home(c, s, c->clone[s]);
		c->any = true;
	}
	return HBM_OK;
}

/* All operands of a cloned storage now mean the clone. Operands are shared by no
 * two ops, so each is looked at once. */
static void redirect(commit *c)
{
	for (hbm_op_id o = 0; o < c->p->ops.n; o++) {
		const hbm_op *op = &c->p->ops.items[o];
		hbm_span sides[] = {op->reads, op->writes};
		for (uint32_t k = 0; k < 2; k++)
			for (uint32_t i = 0; i < sides[k].n; i++) {
				hbm_operand *x = &c->p->operands.items[sides[k].first + i];
				hbm_storage_id s = c->m->an.of[x->tensor];
				if (c->clone[s] != HBM_NONE)
					x->tensor = c->clone[s];
			}
	}
	for (uint32_t k = 0; k < c->p->reductions.n; k++) {
		hbm_reduction *r = &c->p->reductions.items[k];
		if (r->acc != HBM_NONE && c->clone[c->m->an.of[r->acc]] != HBM_NONE)
			r->acc = c->clone[c->m->an.of[r->acc]];
	}
}

/* The copy's iteration space: one variable per dimension, cut as the other users
 * of the storage cut it. */
static bool add_iters(commit *c, hbm_storage_id s, hbm_op *op)
{
	const hbm_storage *st = &c->m->an.storages.items[s];
	const hbm_access *acc = c->m->an.accesses + st->accesses.first;
	hbm_partition cut;

	hbm_partition_of(c->p, c->m->cx->target, acc->op,
	                 &c->p->operands.items[acc->operand], &cut);
	op->cores = c->m->buffers[s].cores;
	if (!cut.known || cut.cores == 1)
		return true;
	op->iters = (hbm_span){c->p->iters.n, cut.n};
	for (uint32_t d = 0; d < cut.n; d++) {
		hbm_dim dim = c->p->dims.items[c->p->tensors.items[st->root].dims.first + d];
		char name[] = {'d', (char)('0' + d / 10), (char)('0' + d % 10), 0};
		hbm_iter it = {.extent = dim.value, .split = cut.cut[d].split,
		               .stick = cut.cut[d].extent != dim.value};
		it.name = dim.sym ? dim.sym : hbm_intern_cstr(&c->p->syms, name);
		if (it.name == HBM_NONE || !HBM_PUSH(c->p->arena, &c->p->iters, it))
			return false;
	}
	return true;
}

static bool add_copy(commit *c, hbm_storage_id s, bool in)
{
	hbm_program *p = c->p;
	hbm_tensor_id own = c->m->an.storages.items[s].root;
	hbm_tensor_id from = in ? own : c->clone[s], to = in ? c->clone[s] : own;
	hbm_op op = {.kind = HBM_OP_COMPUTE};

	op.name = hbm_fresh_name(p, hbm_tensor_name(p, own), in ? ".to_lx" : ".from_lx");
	op.opname = hbm_intern_cstr(&p->syms, "clone");
	if (op.name == HBM_NONE || op.opname == HBM_NONE || !add_iters(c, s, &op))
		return false;
	op.reads = (hbm_span){p->operands.n, 1};
	op.writes = (hbm_span){p->operands.n + 1, 1};
	return HBM_PUSH(p->arena, &p->operands, (hbm_operand){.tensor = from}) &&
	       HBM_PUSH(p->arena, &p->operands, (hbm_operand){.tensor = to}) &&
	       hbm_add_attr_flag(p, &op.attrs, "clone") &&
	       hbm_add_attr_flag(p, &op.attrs, "copy") &&
	       hbm_add_attr_flag(p, &op.attrs, "pointwise") &&
	       hbm_rewrite_op(&c->w, op);
}

/* Chains the clones to their places; backwards, so that a chain is in order. */
static hbm_status chain(commit *c)
{
	uint32_t n = c->m->an.storages.n;

	HBM_NEED(c->before = HBM_ARRAY(c->m->mem, hbm_storage_id, c->p->nodes.n));
	HBM_NEED(c->behind = HBM_ARRAY(c->m->mem, hbm_storage_id, c->p->nodes.n));
	HBM_NEED(c->next = HBM_ARRAY(c->m->mem, hbm_storage_id, n));
	for (hbm_node_id k = 0; k < c->p->nodes.n; k++)
		c->before[k] = c->behind[k] = HBM_NONE;
	for (hbm_storage_id s = n; s-- > 0;) {
		const hbm_lx_buffer *b = &c->m->buffers[s];
		hbm_storage_id *head;
		if (c->clone[s] == HBM_NONE)
			continue;
		head = b->way == HBM_LX_INPUT ? &c->before[b->clone_at]
		                              : &c->behind[b->clone_at];
		c->next[s] = *head;
		*head = s;
	}
	return HBM_OK;
}

static bool add_copies(commit *c, hbm_storage_id s, bool in)
{
	for (; s != HBM_NONE; s = c->next[s])
		if (!add_copy(c, s, in))
			return false;
	return true;
}

/* Copies a node that may have clones around it, with all inside it. */
static bool copy_child(commit *c, hbm_node_id n)
{
	return add_copies(c, c->before[n], true) && hbm_rewrite_copy_tree(&c->w, n) &&
	       add_copies(c, c->behind[n], false);
}

/* Clones stand at the top level or directly inside a bundle. */
static hbm_status insert_copies(commit *c)
{
	const hbm_program *p = c->p;
	uint32_t n_nodes = p->nodes.n;

	HBM_TRY(chain(c));
	HBM_TRY(hbm_rewrite_begin(&c->w, c->m->mem, c->p));
	for (hbm_node_id n = 0, end; n < n_nodes; n = end) {
		end = p->nodes.items[n].end;
		if (p->nodes.items[n].kind != HBM_NODE_BUNDLE) {
			HBM_NEED(copy_child(c, n));
			continue;
		}
		HBM_NEED(hbm_rewrite_copy(&c->w, n));
		for (hbm_node_id k = n + 1; k < end; k = p->nodes.items[k].end)
			HBM_NEED(copy_child(c, k));
		hbm_rewrite_close(&c->w);
	}
	hbm_rewrite_finish(&c->w);
	return HBM_OK;
}

/* ---- in-place pairs ------------------------------------------------------------- */

static bool is_parent(const commit *c, hbm_storage_id child, hbm_storage_id parent)
{
	const uint32_t *first = c->m->parent_first;

	for (uint32_t k = first[child]; k < first[child + 1]; k++)
		if (c->m->parents.items[k] == parent)
			return true;
	return false;
}

/* Does the layout put the child into the parent's bytes? */
static bool shares(const commit *c, hbm_storage_id child, hbm_storage_id parent)
{
	return placed(c, child) && placed(c, parent) &&
	       c->address[child] == c->address[parent] && is_parent(c, child, parent);
}

static hbm_storage_id storage_of(const commit *c, hbm_span side, uint32_t k)
{
	return c->m->an.of[c->p->operands.items[side.first + k].tensor];
}

static bool declared(const commit *c, const hbm_op *op, uint32_t w, uint32_t r)
{
	for (uint32_t k = 0; k < op->inplace.n; k++) {
		const hbm_inplace *in = &c->p->inplaces.items[op->inplace.first + k];
		if (in->write == w && in->read == r)
			return true;
	}
	return false;
}

static bool pair_stays(const commit *c, const hbm_op *op, const hbm_inplace *in)
{
	hbm_storage_id child = storage_of(c, op->writes, in->write);
	hbm_storage_id parent = storage_of(c, op->reads, in->read);

	return in->must || (!placed(c, child) && !placed(c, parent)) ||
	       shares(c, child, parent);
}

/* Drops the pairs that the layout does not use. */
static void drop_pairs(commit *c, hbm_op *op)
{
	hbm_inplace *in = c->p->inplaces.items + op->inplace.first;
	uint32_t n = 0;

	for (uint32_t k = 0; k < op->inplace.n; k++)
		if (pair_stays(c, op, &in[k]))
			in[n++] = in[k];
	op->inplace.n = n;
}

/* Adds a pair behind the op's other ones; they move when they are not the last. */
static bool add_pair(hbm_program *p, hbm_op *op, hbm_inplace in)
{
	uint32_t n = op->inplace.n, first = p->inplaces.n;

	if (n && op->inplace.first + n == first) {
		op->inplace.n++;
		return HBM_PUSH(p->arena, &p->inplaces, in);
	}
	if (!HBM_RESERVE(p->arena, &p->inplaces, (uint64_t)n + 1))
		return false;
	for (uint32_t k = 0; k < n; k++)
		p->inplaces.items[p->inplaces.n++] =
			p->inplaces.items[op->inplace.first + k];
	p->inplaces.items[p->inplaces.n++] = in;
	op->inplace = (hbm_span){first, n + 1};
	return true;
}

/* Declares the pairs of a pointwise op that the layout uses. */
static hbm_status declare_pairs(commit *c, hbm_op *op)
{
	for (uint32_t w = 0; w < op->writes.n; w++) {
		hbm_storage_id child = storage_of(c, op->writes, w);
		if (!placed(c, child) ||
		    c->m->parent_first[child] == c->m->parent_first[child + 1])
			continue;
		for (uint32_t r = 0; r < op->reads.n; r++)
			if (shares(c, child, storage_of(c, op->reads, r)) &&
			    !declared(c, op, w, r))
				HBM_NEED(add_pair(c->p, op, (hbm_inplace){.write = w, .read = r}));
	}
	return HBM_OK;
}

static hbm_status settle_pairs(commit *c)
{
	for (hbm_op_id o = 0; o < c->p->ops.n; o++) {
		drop_pairs(c, &c->p->ops.items[o]);
		HBM_TRY(declare_pairs(c, &c->p->ops.items[o]));
	}
	return HBM_OK;
}

hbm_status hbm_lx_commit(hbm_lx_model *m, const uint64_t *address)
{
	commit c = {.m = m, .p = m->cx->prog, .address = address};

	HBM_NEED(c.clone = HBM_ARRAY(m->mem, hbm_tensor_id, m->an.storages.n));
	HBM_TRY(settle_pairs(&c));
	HBM_TRY(make_tensors(&c));
	if (!c.any)
		return HBM_OK;
	redirect(&c);
	return insert_copies(&c);
}
