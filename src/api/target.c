/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "base/out.h"
#include "target/target.h"

#include <string.h>

const char *hbm_target_nth(uint32_t i)
{
	uint32_t n;
	const char *const *names = hbm_target_names(&n);

	return i < n ? names[i] : NULL;
}

/* Also one that is known by name only: it can be shown. */
static hbm_status load(hbm_arena *a, hbm_diags *d, const char *name, hbm_target *ret)
{
	const char *text = hbm_target_builtin(name);

	if (text)
		return hbm_target_parse(a, d, name, text, strlen(text), ret);
	return hbm_target_load(a, d, name, ret);
}

const char *hbm_target_summary(hbm_context *cx, const char *name)
{
	hbm_target t;
	const char *text;

	if (load(&cx->results, NULL, name, &t) != HBM_OK)
		return NULL;
	text = hbm_target_text(&t, HBM_KEY_SUMMARY);
	return text ? text : "";
}

typedef void (*print_fn)(const hbm_target *t, hbm_out *o);

static hbm_status print(hbm_context *cx, const char *name, print_fn fn,
                        hbm_write_fn write, void *user)
{
	hbm_arena arena;
	hbm_target t;
	hbm_status status;
	hbm_out out;

	hbm_arena_init(&arena, &cx->mem);
	status = load(&arena, &cx->diags, name, &t);
	if (status == HBM_OK) {
		hbm_out_init(&out, write, user);
		fn(&t, &out);
		status = hbm_out_finish(&out);
	}
	hbm_arena_fini(&arena);
	return status;
}

static void put_value(hbm_out *o, hbm_key key, const hbm_target_value *v)
{
	const hbm_key_info *info = &hbm_key_infos[key];

	hbm_putf(o, "  %-24s ", info->name);
	if (info->unit == HBM_UNIT_BYTES)
		hbm_put_bytes(o, v->num);
	else if (info->unit == HBM_UNIT_COUNT)
		hbm_putu(o, v->num);
	else
		hbm_puts(o, v->text);
	hbm_putf(o, "\n      %s", info->meaning);
	if (v->source)
		hbm_putf(o, "; source: %s", v->source);
	hbm_putc(o, '\n');
}

static void put_lists(const hbm_target *t, hbm_out *o)
{
	for (uint32_t i = 0; i < t->regions.n; i++) {
		const hbm_region *r = &t->regions.items[i];
		hbm_putf(o, "  region %s %s [", r->space, r->name);
		hbm_putu(o, r->base);
		hbm_putc(o, ',');
		hbm_putu(o, r->base + r->size);
		hbm_putf(o, ")%s%s\n", r->source ? "; source: " : "",
		         r->source ? r->source : "");
	}
	for (uint32_t i = 0; i < t->slots.n; i++)
		hbm_putf(o, "  slot %s: %u bits per element\n", t->slots.items[i].dtype,
		         t->slots.items[i].bits);
	for (uint32_t i = 0; i < t->notes.n; i++)
		hbm_putf(o, "  note: %s\n", t->notes.items[i]);
}

static void put_text(const hbm_target *t, hbm_out *o)
{
	hbm_putf(o, "target %s\n", t->name);
	for (uint32_t i = 0; i < t->aliases.n; i++)
		hbm_putf(o, "%s%s", i ? ", " : "  also called: ", t->aliases.items[i]);
	hbm_puts(o, t->aliases.n ? "\n" : "");
	for (uint32_t i = 0; i < t->pipeline.n; i++)
		hbm_putf(o, "%s%s", i ? ", " : "  passes: ", t->pipeline.items[i]);
	hbm_puts(o, t->pipeline.n ? "\n" : "");
	if (t->refused)
		hbm_putf(o, "  cannot be planned for: %s\n", t->refused);
	for (hbm_key k = 0; k < HBM_N_KEYS; k++)
		if (t->values[k].set)
			put_value(o, k, &t->values[k]);
	put_lists(t, o);
}

hbm_status hbm_target_write(hbm_context *cx, const char *name, hbm_write_fn write,
                            void *user)
{
	return print(cx, name, put_text, write, user);
}

static void put_json_value(hbm_json *j, hbm_key key, const hbm_target_value *v)
{
	static const char *const units[] = {"bytes", "count", "text"};
	const hbm_key_info *info = &hbm_key_infos[key];

	hbm_json_key(j, info->name);
	hbm_json_open(j, '{', true);
	hbm_json_key(j, "value");
	if (info->unit == HBM_UNIT_TEXT)
		hbm_json_str(j, v->text);
	else
		hbm_json_uint(j, v->num);
	hbm_json_kstr(j, "unit", units[info->unit]);
	hbm_json_kstr(j, "meaning", info->meaning);
	hbm_json_kstr(j, "source", v->source);
	hbm_json_close(j);
}

static void put_json_strings(hbm_json *j, const char *key, const char *const *items,
                             uint32_t n)
{
	hbm_json_key(j, key);
	hbm_json_open(j, '[', true);
	for (uint32_t i = 0; i < n; i++)
		hbm_json_str(j, items[i]);
	hbm_json_close(j);
}

static void put_json(const hbm_target *t, hbm_out *o)
{
	hbm_json j;

	hbm_json_init(&j, o);
	hbm_json_open(&j, '{', false);
	hbm_json_kstr(&j, "schema", "hbmplan.target");
	hbm_json_kstr(&j, "schema_version", "1.0");
	hbm_json_kstr(&j, "name", t->name);
	hbm_json_kstr(&j, "refused", t->refused);
	put_json_strings(&j, "aliases", t->aliases.items, t->aliases.n);
	put_json_strings(&j, "passes", t->pipeline.items, t->pipeline.n);
	put_json_strings(&j, "notes", t->notes.items, t->notes.n);
	hbm_json_key(&j, "values");
	hbm_json_open(&j, '{', false);
	for (hbm_key k = 0; k < HBM_N_KEYS; k++)
		if (t->values[k].set)
			put_json_value(&j, k, &t->values[k]);
	hbm_json_close(&j);
	hbm_json_close(&j);
}

hbm_status hbm_target_write_json(hbm_context *cx, const char *name, hbm_write_fn write,
                                 void *user)
{
	return print(cx, name, put_json, write, user);
}
