/* SPDX-License-Identifier: Apache-2.0
 *
 * The planner, the checker and the simulator on any program. Input that begins with
 * byte 1 is a seed and options for the generator of random programs; other input is
 * program text. A plan that is made passes the checker and the simulator; after a
 * change anywhere in it nothing crashes, and what the simulator finds wrong the
 * checker refuses as well. */
#include "fuzz.h"

#include "ir/text.h"
#include "pass/pass.h"
#include "support/gen_program.h"
#include "verify/verify.h"

#include <string.h>

enum { MAX_TEXT = 1 << 14, MAX_OPS = 60 };

typedef struct input {
	const uint8_t *data;
	size_t n;
} input;

static uint64_t take(input *in, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++) {
		v = v << 8 | (in->n ? *in->data : 0);
		in->data += in->n > 0;
		in->n -= in->n > 0;
	}
	return v;
}

/* Bytes that are there replace the chances that the seed gives. */
static hbm_status generate(hbm_arena *a, input *in, hbm_program *ret)
{
	gen_opts o;

	gen_defaults(&o, take(in, 8));
	o.n_ops = in->n ? 1 + (uint32_t)take(in, 1) % MAX_OPS : o.n_ops;
	uint32_t *chances[] = {&o.bundle, &o.close, &o.loop, &o.region, &o.parallel,
	                       &o.unknown_trips, &o.far, &o.view, &o.may, &o.must,
	                       &o.rewrite, &o.fallback, &o.window, &o.advance, &o.tile,
	                       &o.carried, &o.zero, &o.state, &o.donated, &o.weight,
	                       &o.output, &o.scratch, &o.host, &o.dynamic};
	for (size_t i = 0; i < sizeof chances / sizeof *chances && in->n > 4; i++) {
		uint32_t b = (uint32_t)take(in, 1);
		if (b)
			*chances[i] = b * 4;
	}
	return gen_program(a, &o, ret);
}

static hbm_status parse(hbm_arena *a, const input *in, hbm_program *ret)
{
	char *text = hbm_arena_strndup(a, (const char *)in->data, in->n);
	hbm_diags d;

	hbm_diags_init(&d, a);
	HBM_NEED(text);
	return hbm_text_read(a, &d, "f", text, in->n, NULL, 0, ret);
}

static void target(hbm_target *t, uint64_t choice)
{
	static const uint64_t granules[] = {1, 16, 128, 64};
	uint64_t granule = granules[choice % 4];
	const struct {
		hbm_key key;
		uint64_t num;
	} values[] = {{HBM_KEY_HBM_WINDOW, 1 << 20}, {HBM_KEY_POOL_CAP, 1 << 14},
	              {HBM_KEY_HBM_ALIGN, granule}, {HBM_KEY_HBM_GRANULE, granule},
	              {HBM_KEY_CORES, 2}, {HBM_KEY_LX_SIZE, 4096},
	              {HBM_KEY_LX_USABLE, 4096}, {HBM_KEY_LX_ALIGN, granule}};

	*t = (hbm_target){.name = "fuzz"};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		t->values[values[i].key] =
			(hbm_target_value){.set = true, .num = values[i].num};
}

static hbm_plan_opts options(uint64_t choice)
{
	static const char *const passes[] = {"hbm-pool", "hbm-pool,dram",
	                                     "io-gate,split-dram,dram,hbm-usage",
	                                     "hbm-pool"};
	hbm_plan_opts o;

	hbm_plan_defaults(&o);
	o.effort = 1;
	o.passes = passes[choice % 4];
	o.allocator = choice & 4 ? "bump" : NULL;
	o.no_reuse = choice & 8;
	o.split_threshold = choice & 16 ? 512 : 0;
	o.pool_cap = choice & 32 ? 700 : 0;
	if (strstr(o.passes, "dram"))
		o.allocator = NULL;
	return o;
}

typedef struct trial {
	hbm_arena *a;
	hbm_program p;
	hbm_target t;
	hbm_plan plan;
} trial;

static void say(const hbm_diags *d)
{
	for (uint32_t i = 0; i < d->list.n; i++)
		fprintf(stderr, "%s\n", d->list.items[i].text);
}

/* `legal`: it must be, or say why not. */
static hbm_status verify(trial *x, bool legal)
{
	hbm_arena scratch;
	hbm_diags d;
	hbm_status status;

	hbm_arena_init(&scratch, NULL);
	hbm_diags_init(&d, &scratch);
	status = hbm_verify(&scratch, &x->p, &x->t, &x->plan, &d);
	if (legal && status != HBM_OK)
		say(&d);
	CHECK(status == HBM_OK || (status == HBM_VERIFY && d.n_errors));
	hbm_arena_fini(&scratch);
	return status;
}

static hbm_status simulate(trial *x, bool legal)
{
	hbm_sim_opts opts = {.max_steps = 5000};
	hbm_arena scratch;
	hbm_sim_result r;
	hbm_diags d;
	hbm_status status;

	hbm_arena_init(&scratch, NULL);
	hbm_diags_init(&d, &scratch);
	status = hbm_simulate(&scratch, &x->p, &x->t, &x->plan, &opts, &d, &r);
	if (legal && status != HBM_OK)
		say(&d);
	CHECK(status == HBM_OK || (status == HBM_VERIFY && d.n_errors));
	hbm_arena_fini(&scratch);
	return status;
}

/* Writes anything into one field of the plan. */
static void spoil(trial *x, uint64_t where, uint64_t what)
{
	uint32_t n = x->plan.storages.n, k = (uint32_t)(where >> 8);
	hbm_plan_storage *s = n ? &x->plan.storages.items[k % n] : NULL;
	hbm_plan_pool *pool = x->plan.pools.n
		? &x->plan.pools.items[k % x->plan.pools.n] : NULL;
	hbm_plan_member *m = x->plan.members.n
		? &x->plan.members.items[k % x->plan.members.n] : NULL;

	if (!s)
		return;
	switch (where % 16) {
	case 0: s->home.offset = what; break;
	case 1: s->home.offset = what % 4096; break;
	case 2: s->home.kind = (hbm_home_kind)(what % 7); break;
	case 3: s->home.bundle = (hbm_node_id)what; break;
	case 4: s->home.size = what; break;
	case 5: s->size = what; break;
	case 6: s->members.n = (uint32_t)what; break;
	case 7: s->members.first = (uint32_t)what % 64; break;
	case 8: s->start = (uint32_t)what; break;
	case 9: s->end = (uint32_t)what % 64; break;
	case 10: m->tensor = (hbm_tensor_id)what % 64; break;
	case 11: m->offset = what % 4096; break;
	case 12: s->root = (hbm_tensor_id)what % 64; break;
	case 13: x->plan.storages.n--; break;
	case 14: if (pool) pool->bundle = (hbm_node_id)what % 64; break;
	default: if (pool) pool->extent = what; break;
	}
}

/* The program of a plan that is refused, with its homes. */
static void show(trial *x)
{
	hbm_membuf buf = {.arena = x->a};
	hbm_out out;

	hbm_out_init(&out, hbm_membuf_write, &buf);
	hbm_text_print(&x->p, &out);
	CHECK(hbm_out_finish(&out) == HBM_OK);
	fprintf(stderr, "%.*s\n", (int)buf.bytes.n, buf.bytes.items);
	abort();
}

static void judge(trial *x, input *spoils)
{
	if (verify(x, true) != HBM_OK || simulate(x, true) != HBM_OK)
		show(x);
	do {
		spoil(x, take(spoils, 3), take(spoils, 8));
		if (verify(x, false) == HBM_OK)
			CHECK(simulate(x, true) == HBM_OK);
		else
			(void)simulate(x, false);
	} while (spoils->n > 11);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	input in = {data, n}, spoils;
	hbm_arena arena;
	hbm_plan_opts opts;
	hbm_status status;
	trial x = {.a = &arena};
	uint64_t kind, choice;

	if (n > MAX_TEXT)
		return 0;
	hbm_arena_init(&arena, NULL);
	kind = take(&in, 1);
	choice = take(&in, 1);
	target(&x.t, choice >> 6);
	opts = options(choice);
	spoils = in;
	status = kind == 1 ? generate(&arena, &in, &x.p) : parse(&arena, &in, &x.p);
	CHECK(kind != 1 || status == HBM_OK);
	if (kind == 1)
		spoils = in;
	if (status == HBM_OK)
		status = hbm_run_passes(&arena, &x.p, &x.t, &opts, NULL, &x.plan);
	CHECK(status != HBM_VERIFY && status != HBM_CONTRACT && status != HBM_NOMEM);
	if (status == HBM_OK)
		judge(&x, &spoils);
	hbm_arena_fini(&arena);
	return 0;
}
