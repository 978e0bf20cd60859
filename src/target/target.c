/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking targets up and asking them. */
#include "target/target.h"

#include "base/ckd.h"
#include "base/embedded.h"
#include "base/file.h"

#include <string.h>

enum { MAX_FILE = 1 << 20, MILLION = 1000000 };

extern const hbm_embedded hbm_target_files[];
extern const char *const hbm_target_files_names[];

const hbm_key_info hbm_key_infos[HBM_N_KEYS] = {
#define KEY(id, name, unit, rule, meaning) \
	{name, HBM_UNIT_##unit, HBM_RULE_##rule, meaning},
#include "target/keys.def"
#undef KEY
};

/* ---- asking ---------------------------------------------------------------- */

uint64_t hbm_target_num(const hbm_target *t, hbm_key key, uint64_t other)
{
	return t->values[key].set ? t->values[key].num : other;
}

bool hbm_target_has(const hbm_target *t, hbm_key key)
{
	return t->values[key].set;
}

const char *hbm_target_text(const hbm_target *t, hbm_key key)
{
	return t->values[key].set ? t->values[key].text : NULL;
}

uint32_t hbm_target_slot_bits(const hbm_target *t, const char *dtype)
{
	for (uint32_t i = 0; i < t->slots.n; i++)
		if (!strcmp(t->slots.items[i].dtype, dtype))
			return t->slots.items[i].bits;
	return 0;
}

/* floor(bytes * (1 - share)), exact for all 64-bit numbers, rounded up to `align`
 * but never beyond `bytes`. */
static uint64_t share_left(uint64_t bytes, uint64_t share_ppm, uint64_t align)
{
	uint64_t keep = share_ppm < MILLION ? MILLION - share_ppm : 0;
	uint64_t left = bytes / MILLION * keep + bytes % MILLION * keep / MILLION;

	if (!hbm_align_up(left, align, &left) || left > bytes)
		return bytes / align * align;
	return left;
}

uint64_t hbm_target_lx_usable(const hbm_target *t, uint64_t share_ppm)
{
	const hbm_target_value *usable = &t->values[HBM_KEY_LX_USABLE];
	uint64_t size = hbm_target_num(t, HBM_KEY_LX_SIZE, 0);
	uint64_t reserved = hbm_target_num(t, HBM_KEY_LX_RESERVED, 0);
	uint64_t align = hbm_target_num(t, HBM_KEY_LX_ALIGN, 1);

	if (share_ppm == HBM_NO_OFFSET && usable->set)
		return usable->num;
	if (share_ppm == HBM_NO_OFFSET)
		share_ppm = hbm_target_num(t, HBM_KEY_LX_SHARE_PPM, 0);
	return share_left(size > reserved ? size - reserved : 0, share_ppm,
	                  align ? align : 1);
}

/* ---- looking up ------------------------------------------------------------ */

/* Whether a line "alias ..." of the text has this word. */
static bool has_alias(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *p = text;
		if (strncmp(p, "alias ", 6))
			continue;
		while (*p && *p != '\n' && *p != '#') {
			size_t word = strcspn(p, " \t\r\n#");
			if (p > text && word == n && !memcmp(p, name, n))
				return true;
			p += word;
			p += strspn(p, " \t\r");
		}
	}
	return false;
}

static const hbm_embedded *find_builtin(const char *name)
{
	for (const hbm_embedded *f = hbm_target_files; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	for (const hbm_embedded *f = hbm_target_files; *name && f->name; f++)
		if (has_alias(f->text, name))
			return f;
	return NULL;
}

const char *hbm_target_builtin(const char *name)
{
	const hbm_embedded *f = find_builtin(name);

	return f ? f->text : NULL;
}

const char *const *hbm_target_names(uint32_t *ret_n)
{
	*ret_n = 0;
	while (hbm_target_files_names[*ret_n])
		(*ret_n)++;
	return hbm_target_files_names;
}

/* Unknown name: near a built-in's, or not even a file. */
static hbm_status unknown(hbm_diags *d, const char *name)
{
	uint32_t limit = strlen(name) <= 3 ? 1 : 2;
	const char *near = NULL;

	for (const hbm_embedded *f = hbm_target_files; limit && f->name; f++) {
		uint32_t distance = hbm_edit_distance(name, f->name, limit);
		if (distance > limit)
			continue;
		near = f->name;
		limit = distance ? distance - 1 : 0;
	}
	if (near)
		return hbm_fail(d, HBM_OPTION, HBM_E_TARGET_UNKNOWN, HBM_NOWHERE,
		                "unknown target '%s'; did you mean '%s'?", name, near);
	return hbm_fail(d, HBM_OPTION, HBM_E_TARGET_UNKNOWN, HBM_NOWHERE,
	                "unknown target '%s'", name);
}

/* A name with a '/' or a '.' is meant as a file. */
static hbm_status load_file(hbm_arena *a, hbm_diags *d, const char *path,
                            hbm_target *ret)
{
	hbm_bytes bytes;

	if (!strpbrk(path, "/.") && strcmp(path, "-"))
		return unknown(d, path);
	HBM_TRY(hbm_file_read(a, d, path, MAX_FILE, &bytes));
	return hbm_target_parse(a, d, path, bytes.data, bytes.n, ret);
}

hbm_status hbm_target_load(hbm_arena *a, hbm_diags *d, const char *name,
                           hbm_target *ret)
{
	const hbm_embedded *f = find_builtin(name);
	hbm_target t;

	if (f)
		HBM_TRY(hbm_target_parse(a, d, f->name, f->text, f->n, &t));
	else
		HBM_TRY(load_file(a, d, name, &t));
	if (t.refused)
		return hbm_fail(d, HBM_UNSUPPORTED, HBM_E_TARGET_REFUSED, HBM_NOWHERE,
		                "target '%s' cannot be planned for: %s", t.name,
		                t.refused);
	*ret = t;
	return HBM_OK;
}
