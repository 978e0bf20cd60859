/* SPDX-License-Identifier: Apache-2.0 */
/* emitter: the table of emitters. */
#include "emit/emitter.h"

#include <string.h>

const hbm_emitter *const hbm_emitter_table[] = {
#define EMITTER(id) &hbm_emitter_##id,
#include "emit/emitters.def"
#undef EMITTER
	NULL,
};

const hbm_emitter *hbm_emitter_find(const char *name)
{
	for (uint32_t i = 0; hbm_emitter_table[i]; i++)
		if (!strcmp(hbm_emitter_table[i]->name, name))
			return hbm_emitter_table[i];
	return NULL;
}
