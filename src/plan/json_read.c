/* SPDX-License-Identifier: Apache-2.0
 * json_read: a plan for a program, from our own JSON or a short form of it.
 *
 * A storage needs "name" (of a tensor) and "home"; "bundle" for pools, "offset"
 * where it has one. The rest is optional: without "tensors" the storage holds the
 * named tensor and its views; without sizes, what the tensors need. Nothing is
 * judged here but whether names and numbers make sense. */
#include "base/ckd.h"
#include "ir/size.h"
#include "plan/json.h"

#include <inttypes.h>
#include <string.h>

#if HBM_HAVE_JANSSON
#include <jansson.h>

typedef struct reader {
	hbm_arena *a;
	hbm_diags *d;
	const char *file;
	const hbm_program *p;
	hbm_plan *plan;
	hbm_map bundles; /* name -> node */
	hbm_tiles tiles;
	hbm_tensor_id *views;
	uint32_t *view_first; /* root -> first of its views, itself among them */
} reader;

static hbm_status bad(const reader *r, hbm_code code, const char *path, uint32_t i,
                      const char *what)
{
	hbm_status status = hbm_fail(r->d, HBM_SEMANTIC, code, (hbm_where){.file = r->file},
	                             "%s[%" PRIu32 "]: %s", path, i, what);

	if (code == HBM_E_PLAN_MISMATCH)
		hbm_note(r->d, HBM_NOWHERE, "passes may add tensors and bundles; the program "
		         "with all of them is what `plan --emit hbm` writes");
	return status;
}

/* A part of the file as a whole. */
static hbm_status bad_part(const reader *r, const char *what)
{
	return hbm_fail(r->d, HBM_SEMANTIC, HBM_E_PLAN_SYNTAX, (hbm_where){.file = r->file},
	                "%s", what);
}

/* A number, or a decimal string for what JSON readers may round; null is none. */
static bool number(const json_t *v, uint64_t *ret)
{
	const char *s = json_string_value(v);

	if (json_is_integer(v)) {
		*ret = (uint64_t)json_integer_value(v);
		return json_integer_value(v) >= 0;
	}
	if (!s || !*s || strspn(s, "0123456789") != strlen(s) || strlen(s) > 20)
		return false;
	*ret = 0;
	for (; *s; s++) {
		uint64_t digit = (uint64_t)(*s - '0');
		if (*ret > (UINT64_MAX - digit) / 10)
			return false;
		*ret = *ret * 10 + digit;
	}
	return true;
}

/* Sets *ret when the member is there; false: it is there and no number. */
static bool optional(const json_t *o, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(o, key);

	return !v || json_is_null(v) || number(v, ret);
}

/* False: the member is there and no truth value. */
static bool optional_bool(const json_t *o, const char *key, bool *ret)
{
	const json_t *v = json_object_get(o, key);

	if (v)
		*ret = json_is_true(v);
	return !v || json_is_boolean(v);
}

static hbm_status read_bundles(reader *r)
{
	hbm_map_init(&r->bundles, r->a);
	for (uint32_t n = 0; n < r->p->nodes.n; n++) {
		const hbm_node *node = &r->p->nodes.items[n];
		if (node->kind == HBM_NODE_BUNDLE)
			HBM_NEED(hbm_map_set(&r->bundles, node->name, n));
	}
	return HBM_OK;
}

static hbm_node_id bundle_at(const reader *r, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "bundle"));
	hbm_sym sym = name ? hbm_sym_find(&r->p->syms, name, strlen(name)) : HBM_NONE;

	return sym == HBM_NONE ? HBM_NONE : hbm_map_get(&r->bundles, sym);
}

static hbm_home_kind home_kind(const char *s)
{
	for (hbm_home_kind k = HBM_HOME_LX; s && k <= HBM_HOME_IO; k++)
		if (!strcmp(hbm_home_text(k), s))
			return k;
	return HBM_HOME_NONE;
}

static hbm_tensor_id tensor_at(const reader *r, const json_t *name)
{
	const char *s = json_string_value(name);
	hbm_sym sym = s ? hbm_sym_find(&r->p->syms, s, strlen(s)) : HBM_NONE;

	return sym == HBM_NONE ? HBM_NONE : hbm_find_tensor(r->p, sym);
}

static hbm_status add_member(reader *r, hbm_plan_storage *s, hbm_tensor_id t,
                             uint64_t at)
{
	const hbm_tensor *x = &r->p->tensors.items[t];
	uint64_t end = hbm_add_sat(at, hbm_mul_sat(x->size, r->tiles.factor[t]));
	hbm_plan_member m = {t, at};

	if (end > s->size)
		s->size = end;
	if (x->align > s->align)
		s->align = x->align;
	s->flags |= x->flags & ~(uint32_t)HBM_T_SIZED;
	s->flags |= r->tiles.unknown[t] ? HBM_T_DYNAMIC : 0;
	if (r->plan->of_tensor[t] == HBM_NONE)
		r->plan->of_tensor[t] = r->plan->storages.n;
	HBM_NEED(HBM_PUSH(r->a, &r->plan->members, m));
	s->members.n++;
	return HBM_OK;
}

static hbm_status add_views(reader *r, hbm_plan_storage *s)
{
	uint64_t at, from;
	hbm_tensor_id root = hbm_view_root(r->p, s->root, &from);

	for (uint32_t i = r->view_first[root + 1]; i < r->p->tensors.n; i++) {
		hbm_tensor_id t = r->views[i];
		if (hbm_view_root(r->p, t, &at) != root)
			break;
		HBM_TRY(add_member(r, s, t, at));
	}
	return HBM_OK;
}

static hbm_status read_members(reader *r, const json_t *o, hbm_plan_storage *s,
                               uint32_t i)
{
	const json_t *list = json_object_get(o, "tensors");
	size_t k;
	json_t *item;

	s->members.first = r->plan->members.n;
	if (!list)
		return add_views(r, s);
	if (!json_is_array(list))
		return bad(r, HBM_E_PLAN_SYNTAX, "storages", i, "bad \"tensors\"");
	json_array_foreach(list, k, item) {
		hbm_tensor_id t = tensor_at(r, json_object_get(item, "name"));
		uint64_t at = 0;
		if (t == HBM_NONE)
			return bad(r, HBM_E_PLAN_MISMATCH, "storages", i,
			           "holds a tensor that the program lacks");
		if (!optional(item, "at", &at))
			return bad(r, HBM_E_PLAN_SYNTAX, "storages", i, "bad \"at\"");
		HBM_TRY(add_member(r, s, t, at));
	}
	return HBM_OK;
}

static hbm_status read_live(reader *r, const json_t *o, hbm_plan_storage *s, uint32_t i)
{
	const json_t *live = json_object_get(o, "live");
	uint64_t start = 0, end = 0;

	if (!live)
		return HBM_OK;
	if (!number(json_array_get(live, 0), &start) ||
	    !number(json_array_get(live, 1), &end) || end > UINT32_MAX || start > end)
		return bad(r, HBM_E_PLAN_SYNTAX, "storages", i, "bad \"live\"");
	s->start = (uint32_t)start;
	s->end = (uint32_t)end;
	return HBM_OK;
}

static hbm_status read_storage(reader *r, const json_t *o, uint32_t i)
{
	hbm_plan_storage s = {.align = 1, .home = {.bundle = HBM_NONE,
	                                           .offset = HBM_NO_OFFSET}};
	const char *home = json_string_value(json_object_get(o, "home"));

	s.root = tensor_at(r, json_object_get(o, "name"));
	s.home.kind = home_kind(home);
	if (s.root == HBM_NONE)
		return bad(r, HBM_E_PLAN_MISMATCH, "storages", i,
		           "\"name\" is no tensor of the program");
	if (s.home.kind == HBM_HOME_NONE)
		return bad(r, HBM_E_PLAN_SYNTAX, "storages", i,
		           "\"home\" must be lx, pool, hbm or io");
	s.name = r->p->tensors.items[s.root].name;
	s.home.bundle = bundle_at(r, o);
	if (s.home.kind == HBM_HOME_POOL && s.home.bundle == HBM_NONE)
		return bad(r, HBM_E_PLAN_MISMATCH, "storages", i,
		           "\"bundle\" is no bundle of the program");
	HBM_TRY(read_live(r, o, &s, i));
	HBM_TRY(read_members(r, o, &s, i));
	if (!optional(o, "offset", &s.home.offset) ||
	    !optional(o, "size_bytes", &s.size) || !optional(o, "align", &s.align) ||
	    !optional(o, "reserved_bytes", &s.home.size) || !s.align ||
	    (s.align & (s.align - 1)))
		return bad(r, HBM_E_PLAN_SYNTAX, "storages", i, "bad number");
	if (!s.home.size)
		s.home.size = s.size;
	s.reserve = hbm_plan_reserve(r->plan, &s);
	HBM_NEED(HBM_PUSH(r->a, &r->plan->storages, s));
	return HBM_OK;
}

static hbm_status read_storages(reader *r, const json_t *list)
{
	size_t i;
	json_t *o;

	if (!json_is_array(list))
		return hbm_fail(r->d, HBM_SYNTAX, HBM_E_PLAN_SYNTAX,
		                (hbm_where){.file = r->file},
		                "the plan has no \"storages\" array");
	HBM_NEED(r->plan->of_tensor = HBM_ARRAY(r->a, uint32_t, r->p->tensors.n));
	memset(r->plan->of_tensor, 0xff, r->p->tensors.n * sizeof(uint32_t));
	json_array_foreach(list, i, o)
		HBM_TRY(read_storage(r, o, (uint32_t)i));
	return HBM_OK;
}

static hbm_status read_outcome(const reader *r, const json_t *o, uint32_t i,
                               uint32_t *ret)
{
	const json_t *v = json_object_get(o, "outcome");
	const char *s = json_string_value(v);

	for (uint32_t k = 0; s && k < HBM_PLAN_N_OUTCOMES; k++)
		if (!strcmp(s, hbm_plan_outcomes[k])) {
			*ret = k;
			return HBM_OK;
		}
	return v ? bad(r, HBM_E_PLAN_SYNTAX, "pools", i, "bad \"outcome\"") : HBM_OK;
}

static hbm_status read_pool(reader *r, const json_t *o, uint32_t i)
{
	hbm_plan_pool pool = {.bundle = bundle_at(r, o), .cap = HBM_NO_OFFSET,
	                      .allocator = ""};
	uint64_t placed = 0, over = HBM_NONE;

	if (pool.bundle == HBM_NONE)
		return bad(r, HBM_E_PLAN_MISMATCH, "pools", i,
		           "\"bundle\" is no bundle of the program");
	if (!optional(o, "extent_bytes", &pool.extent) ||
	    !optional(o, "lower_bound_bytes", &pool.lower_bound) ||
	    !optional(o, "bump_bytes", &pool.bump) ||
	    !optional(o, "no_reuse_bytes", &pool.no_reuse) ||
	    !optional(o, "cap_bytes", &pool.cap) || !optional(o, "placed", &placed) ||
	    !optional(o, "overflowed", &over) || placed > UINT32_MAX || over > UINT32_MAX)
		return bad(r, HBM_E_PLAN_SYNTAX, "pools", i, "bad number");
	HBM_TRY(read_outcome(r, o, i, &pool.outcome));
	pool.name = r->p->nodes.items[pool.bundle].name;
	pool.n_placed = (uint32_t)placed;
	pool.n_overflow = (uint32_t)over;
	HBM_NEED(HBM_PUSH(r->a, &r->plan->pools, pool));
	return HBM_OK;
}

static hbm_status read_pools(reader *r, const json_t *list)
{
	size_t i;
	json_t *o;

	if (!list)
		return hbm_plan_infer_pools(r->plan);
	if (!json_is_array(list))
		return bad_part(r, "\"pools\" is no array");
	json_array_foreach(list, i, o)
		HBM_TRY(read_pool(r, o, (uint32_t)i));
	return HBM_OK;
}

static hbm_status bad_totals(const reader *r)
{
	return bad_part(r, "a number in \"totals\" or \"budget\" is malformed");
}

static bool is_object_or_absent(const json_t *root, const char *key)
{
	const json_t *o = json_object_get(root, key);

	return !o || json_is_object(o);
}

static hbm_status read_lifetime(reader *r, const json_t *root)
{
	const json_t *o = json_object_get(root, "pool_lifetime");
	const char *life = json_string_value(o);
	bool program = life && !strcmp(life, "program");

	if (o && !program && (!life || strcmp(life, "bundle")))
		return bad_part(r, "\"pool_lifetime\" must be bundle or program");
	r->plan->pool_lifetime_program = program;
	return HBM_OK;
}

static hbm_status read_region(reader *r, const json_t *o, uint32_t i)
{
	const char *class = json_string_value(json_object_get(o, "class"));
	hbm_plan_region x = {.allocator = "file"};
	uint64_t placed = 0;

	if (!optional(o, "base", &x.base) || !optional(o, "extent_bytes", &x.extent) ||
	    !optional(o, "lower_bound_bytes", &x.lower_bound) ||
	    !optional(o, "no_reuse_bytes", &x.no_reuse) ||
	    !optional(o, "placed", &placed) || placed > UINT32_MAX)
		return bad(r, HBM_E_PLAN_SYNTAX, "dram.regions", i, "bad number");
	if (class)
		x.class = hbm_sym_find(&r->p->syms, class, strlen(class));
	if (x.class == HBM_NONE)
		return bad(r, HBM_E_PLAN_MISMATCH, "dram.regions", i,
		           "\"class\" is no class of the program");
	x.n_placed = (uint32_t)placed;
	HBM_NEED(HBM_PUSH(r->a, &r->plan->regions, x));
	return HBM_OK;
}

static hbm_status read_scratch(reader *r, const hbm_map *ops, const json_t *o,
                               uint32_t i)
{
	const char *name = json_string_value(json_object_get(o, "op"));
	hbm_sym sym = name ? hbm_sym_find(&r->p->syms, name, strlen(name)) : HBM_NONE;
	hbm_plan_scratch x = {.op = sym == HBM_NONE ? HBM_NONE : hbm_map_get(ops, sym)};

	if (x.op == HBM_NONE)
		return bad(r, HBM_E_PLAN_MISMATCH, "dram.scratch", i,
		           "\"op\" is no op of the program");
	if (!optional(o, "offset", &x.offset) || !optional(o, "size_bytes", &x.size))
		return bad(r, HBM_E_PLAN_SYNTAX, "dram.scratch", i, "bad number");
	HBM_NEED(HBM_PUSH(r->a, &r->plan->scratch, x));
	return HBM_OK;
}

static hbm_status read_dram(reader *r, const json_t *dram)
{
	const json_t *scratch = json_object_get(dram, "scratch");
	hbm_map ops;
	size_t i;
	json_t *o;

	r->plan->placed_dram = json_is_object(dram);
	if (!optional(dram, "bytes", &r->plan->dram_bytes))
		return bad(r, HBM_E_PLAN_SYNTAX, "dram", 0, "bad number");
	json_array_foreach(json_object_get(dram, "regions"), i, o)
		HBM_TRY(read_region(r, o, (uint32_t)i));
	hbm_map_init(&ops, r->a);
	for (uint32_t k = 0; k < r->p->ops.n && json_array_size(scratch); k++)
		HBM_NEED(hbm_map_set(&ops, r->p->ops.items[k].name, k));
	json_array_foreach(scratch, i, o)
		HBM_TRY(read_scratch(r, &ops, o, (uint32_t)i));
	return HBM_OK;
}

/* What the file claims replaces what was summed, for the verifier to compare. */
static hbm_status read_totals(reader *r, const json_t *root)
{
	const json_t *o = json_object_get(root, "totals");
	hbm_totals *t = &r->plan->totals;

	if (!is_object_or_absent(root, "totals") || !is_object_or_absent(root, "budget"))
		return bad_part(r, "\"totals\" or \"budget\" is no object");
	HBM_TRY(read_lifetime(r, root));
	HBM_TRY(read_dram(r, json_object_get(root, "dram")));
	if (!optional(o, "descriptors_bytes", &t->descriptors) ||
	    !optional(o, "resident_bytes", &t->resident))
		return bad_totals(r);
	hbm_plan_sum(r->plan, t->resident, false);
	if (!optional(o, "inputs_bytes", &t->inputs) ||
	    !optional(o, "outputs_bytes", &t->outputs) ||
	    !optional(o, "weights_bytes", &t->weights) ||
	    !optional(o, "state_bytes", &t->state) ||
	    !optional(o, "standalone_bytes", &t->standalone) ||
	    !optional(o, "pools_bytes", &t->pools) ||
	    !optional(o, "pools_sum_bytes", &t->pools_sum) ||
	    !optional(o, "total_bytes", &t->total) ||
	    !optional_bool(o, "at_least", &t->at_least))
		return bad_totals(r);
	return HBM_OK;
}

static hbm_status read_budget(reader *r, const json_t *root)
{
	const json_t *o = json_object_get(root, "budget");
	hbm_budget *b = &r->plan->budget;

	if (!optional_bool(o, "checked", &b->checked) ||
	    !optional_bool(o, "fits", &b->fits) ||
	    !optional_bool(o, "within_margin", &b->within_margin) ||
	    !optional(o, "limit_bytes", &b->limit) ||
	    !optional(o, "margin_bytes", &b->margin))
		return bad_totals(r);
	return HBM_OK;
}

/* ---- claims --------------------------------------------------------------- */

static bool claim(const json_t *o, const char *key, uint64_t *ret)
{
	*ret = HBM_NO_OFFSET;
	return optional(o, key, ret);
}

static bool claim_bool(const json_t *o, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(o, key);

	*ret = v ? json_is_true(v) : HBM_NO_OFFSET;
	return !v || json_is_boolean(v);
}

static bool claim_usage(const json_t *o, hbm_claims *c)
{
	const json_t *m = json_object_get(o, "metrics");
	hbm_usage *u = &c->usage;

	return claim(o, "model_bytes", &u->model_bytes) &&
	       claim(o, "tensor_bytes", &u->tensor_bytes) &&
	       claim(o, "io_bytes", &u->io_bytes) &&
	       claim(o, "descriptor_bytes", &u->descriptor_bytes) &&
	       claim(o, "descriptors", &u->n_descriptors) &&
	       claim(o, "gate_bytes", &u->gate_bytes) &&
	       claim_bool(o, "gate_fits", &c->gate_fits) &&
	       claim(m, "hbm_internal", &u->hbm_internal) &&
	       claim(m, "hbm_intermediate", &u->hbm_intermediate) &&
	       claim(m, "hbm_io", &u->hbm_io) && claim(m, "hbm_usage", &u->hbm_usage) &&
	       claim(m, "hbm_size", &u->hbm_size) && claim(m, "hbm_limit", &u->hbm_limit) &&
	       claim(m, "end_address", &u->end_address) &&
	       claim(m, "private_hbm", &u->private_hbm);
}

static hbm_status read_claims(reader *r, const json_t *root)
{
	const json_t *o = json_object_get(root, "status");
	const char *status = json_string_value(o);
	hbm_claims *c = &r->plan->claims;

	c->made = true;
	c->over = !o ? HBM_NO_OFFSET : status && !strcmp(status, "over_budget");
	if (o && !c->over && (!status || strcmp(status, "ok")))
		return bad_part(r, "\"status\" must be ok or over_budget");
	o = json_object_get(root, "peak");
	if (!claim(json_object_get(root, "budget"), "excess_bytes", &c->excess) ||
	    !claim(o, "live_bytes", &c->peak) || !claim(o, "tick", &c->peak_tick) ||
	    !claim(root, "lx_peak_bytes", &c->lx_peak) ||
	    !claim(root, "hbm_traffic_bytes", &c->traffic) ||
	    !claim_usage(json_object_get(root, "usage"), c))
		return bad_part(r, "a number in \"peak\" or \"usage\", or a sum, is malformed");
	return HBM_OK;
}

/* Views of each root tensor, in one list. */
static hbm_status list_views(reader *r)
{
	uint32_t n = r->p->tensors.n;
	uint64_t at;

	HBM_NEED(r->view_first = HBM_ZARRAY(r->a, uint32_t, (size_t)n + 1));
	HBM_NEED(r->views = HBM_ARRAY(r->a, hbm_tensor_id, n));
	for (uint32_t t = 0; t < n; t++)
		r->view_first[hbm_view_root(r->p, t, &at) + 1]++;
	for (uint32_t t = 0; t < n; t++)
		r->view_first[t + 1] += r->view_first[t];
	for (uint32_t t = n; t-- > 0;)
		r->views[--r->view_first[hbm_view_root(r->p, t, &at) + 1]] = t;
	return HBM_OK;
}

static hbm_status read_plan(reader *r, const json_t *root)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	const json_t *version = json_object_get(root, "schema_version");
	const char *v = json_string_value(version);

	if (!json_is_object(root) || (schema && strcmp(schema, HBM_PLAN_SCHEMA)))
		return bad_part(r, "not a plan: \"schema\" must be \"" HBM_PLAN_SCHEMA "\"");
	if (version && (!v || strncmp(v, HBM_PLAN_SCHEMA_VERSION, 2)))
		return bad_part(r, "\"schema_version\" must be 1.x; this is another kind of plan");
	HBM_TRY(read_bundles(r));
	HBM_TRY(list_views(r));
	HBM_TRY(hbm_tiles_count(r->a, r->p, &r->tiles));
	HBM_TRY(read_storages(r, json_object_get(root, "storages")));
	HBM_TRY(read_pools(r, json_object_get(root, "pools")));
	HBM_TRY(read_totals(r, root));
	HBM_TRY(read_budget(r, root));
	return read_claims(r, root);
}

hbm_status hbm_plan_json_open(hbm_diags *d, const char *file, const char *text,
                              size_t n, hbm_plan_json *ret)
{
	json_error_t e;
	json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);

	if (!root && json_error_code(&e) == json_error_out_of_memory)
		return HBM_NOMEM;
	if (!root)
		return hbm_fail(d, HBM_SYNTAX, HBM_E_PLAN_SYNTAX,
		                (hbm_where){.file = file, .line = (uint32_t)e.line,
		                            .col = (uint32_t)e.column},
		                "%s", e.text);
	*ret = (hbm_plan_json){file, root};
	return HBM_OK;
}

void hbm_plan_json_close(hbm_plan_json *json)
{
	json_decref(json->root);
	json->root = NULL;
}

const char *hbm_plan_json_target(const hbm_plan_json *json)
{
	return json_string_value(json_object_get(json->root, "target"));
}

hbm_status hbm_plan_json_read(hbm_arena *a, hbm_diags *d, const hbm_plan_json *json,
                              const hbm_program *p, const hbm_target *t, hbm_plan *ret)
{
	hbm_plan plan = {.arena = a, .prog = p, .target = t};
	reader r = {.a = a, .d = d, .file = json->file, .p = p, .plan = &plan};

	HBM_TRY(read_plan(&r, json->root));
	*ret = plan;
	return HBM_OK;
}

#else

hbm_status hbm_plan_json_open(hbm_diags *d, const char *file, const char *text,
                              size_t n, hbm_plan_json *ret)
{
	(void)text, (void)n, (void)ret;
	return hbm_fail(d, HBM_UNSUPPORTED, HBM_E_PLAN_SYNTAX, (hbm_where){.file = file},
	                "this build cannot read JSON: it was made without jansson");
}

void hbm_plan_json_close(hbm_plan_json *json)
{
	(void)json;
}

const char *hbm_plan_json_target(const hbm_plan_json *json)
{
	(void)json;
	return NULL;
}

hbm_status hbm_plan_json_read(hbm_arena *a, hbm_diags *d, const hbm_plan_json *json,
                              const hbm_program *p, const hbm_target *t, hbm_plan *ret)
{
	(void)a, (void)d, (void)json, (void)p, (void)t, (void)ret;
	return HBM_CONTRACT;
}

#endif
