/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TARGET_TARGET_H
#define HBM_TARGET_TARGET_H

/* A device model: numbers under documented keys, read from a data file
 * (docs/targets.md). Built-ins are files under src/target/data, embedded at
 * build time. Every key is a row of keys.def; every number in a file carries
 * its source. Code asks by key and never by the name of a device. */

#include "base/map.h"
#include "base/diag.h"

/* keys.def: KEY(id, "text.name", UNIT, RULE, "meaning"). */
typedef enum hbm_key {
#define KEY(id, name, unit, rule, meaning) HBM_KEY_##id,
#include "target/keys.def"
#undef KEY
	HBM_N_KEYS
} hbm_key;

typedef enum hbm_unit { HBM_UNIT_BYTES, HBM_UNIT_COUNT, HBM_UNIT_TEXT } hbm_unit;

/* What the number of a key must be. */
typedef enum hbm_key_rule {
	HBM_RULE_ANY,
	HBM_RULE_POSITIVE,
	HBM_RULE_POWER2,
} hbm_key_rule;

typedef struct hbm_key_info {
	const char *name;
	hbm_unit unit;
	hbm_key_rule rule;
	const char *meaning;
} hbm_key_info;

extern const hbm_key_info hbm_key_infos[HBM_N_KEYS];

typedef struct hbm_target_value {
	bool set;
	bool derived; /* not in the file; follows from other values */
	uint64_t num;
	const char *text;   /* as written; for TEXT the value */
	const char *source; /* where the figure comes from, NULL: not said */
	uint32_t line;      /* 0: derived, or taken over with `like` */
} hbm_target_value;

/* A named byte range of a space, by declaration: a part of the device's map. */
typedef struct hbm_region {
	const char *space, *name;
	uint64_t base, size;
	const char *source;
	uint32_t line;
} hbm_region;

/* Bits one element takes on the device where that differs from its dtype
 * (Spyre keeps int64 in 32-bit slots). */
typedef struct hbm_slot {
	const char *dtype;
	uint32_t bits;
	uint32_t line;
} hbm_slot;

typedef struct hbm_target {
	hbm_arena *arena;
	const char *name;
	const char *file; /* for messages */
	HBM_VEC(const char *) aliases;
	HBM_VEC(const char *) notes;    /* shown by `targets NAME` */
	HBM_VEC(const char *) pipeline; /* pass names in order */
	HBM_VEC(hbm_region) regions;
	HBM_VEC(hbm_slot) slots;
	hbm_target_value values[HBM_N_KEYS];
	const char *refused; /* reason; such a target cannot be planned for */
} hbm_target;

/* Reads a target file; all its errors are listed. Succeeds for a target that is
 * known by name only: see `refused`. */
hbm_status hbm_target_parse(hbm_arena *a, hbm_diags *d, const char *file,
                            const char *text, size_t n, hbm_target *ret) HBM_MUST_USE;
/* A built-in by name or alias, else the file `name`. HBM_UNSUPPORTED: the target
 * is refused. */
hbm_status hbm_target_load(hbm_arena *a, hbm_diags *d, const char *name,
                           hbm_target *ret) HBM_MUST_USE;
/* Names of the built-ins, sorted; *ret_n items. */
const char *const *hbm_target_names(uint32_t *ret_n);
/* Text of a built-in's file, by name or alias. NULL: no such one. */
const char *hbm_target_builtin(const char *name);

/* The number under a key, or `other` when the target does not set it. */
uint64_t hbm_target_num(const hbm_target *t, hbm_key key, uint64_t other);
bool hbm_target_has(const hbm_target *t, hbm_key key);
/* NULL: not set. */
const char *hbm_target_text(const hbm_target *t, hbm_key key);
/* Slot bits for a dtype name, 0: as the dtype says. */
uint32_t hbm_target_slot_bits(const hbm_target *t, const char *dtype);
/* Scratchpad bytes per core that the planner may use: [0, usable). `share_ppm`
 * replaces the back end's share; HBM_NO_OFFSET: the target's own. */
uint64_t hbm_target_lx_usable(const hbm_target *t, uint64_t share_ppm);

#endif
