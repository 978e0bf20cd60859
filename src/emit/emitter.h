/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_EMIT_EMITTER_H
#define HBM_EMIT_EMITTER_H

/* Emitters: a plan in, the files of the code that realises it out. One row of
 * emitters.def each. */

#include "hbmplan/plan.h"

#include "base/out.h"
#include "plan/plan.h"

typedef struct hbm_emitter {
	const char *name, *summary;
	/* Hands over whole files, in a fixed order. `scratch` is emptied by the
	 * caller. HBM_IO: the receiver said stop. */
	hbm_status (*emit)(hbm_arena *scratch, const hbm_plan *plan, hbm_diags *d,
	                   hbm_file_fn file, void *user);
} hbm_emitter;

#define EMITTER(id) extern const hbm_emitter hbm_emitter_##id;
#include "emit/emitters.def"
#undef EMITTER

/* NULL-ended, in table order. */
extern const hbm_emitter *const hbm_emitter_table[];
const hbm_emitter *hbm_emitter_find(const char *name);

#endif
