/* SPDX-License-Identifier: Apache-2.0
 * The allocator table: allocators.def unrolled into the public description and
 * the functions behind it. */
#include "pack/internal.h"

#include <string.h>

static const hbm_allocator table[] = {
#define ALLOCATOR(id, name, summary, can, anytime, exact)                      \
	{name, (can), exact, hbm_alloc_##id},
#define WHOLE(id, name, summary, can, anytime, exact) {name, (can), exact, NULL},
#include "pack/allocators.def"
#undef ALLOCATOR
#undef WHOLE
};

#define INFO(name, summary, can, anytime, exact)                               \
	{name,                                                                 \
	 summary,                                                              \
	 exact,                                                                \
	 ((can) & HBM_F_PIECES) != 0,                                          \
	 ((can) & HBM_F_PINS) != 0,                                            \
	 ((can) & HBM_F_PIECES) != 0,                                          \
	 ((can) & HBM_F_GROUPS) != 0,                                          \
	 ((can) & HBM_F_ALIGN) != 0,                                           \
	 ((can) & HBM_F_HINTS) != 0,                                           \
	 anytime},

static const hbm_allocator_info infos[] = {
#define ALLOCATOR(id, name, summary, can, anytime, exact)                      \
	INFO(name, summary, can, anytime, exact)
#define WHOLE(id, name, summary, can, anytime, exact)                          \
	INFO(name, summary, can, anytime, exact)
#include "pack/allocators.def"
#undef ALLOCATOR
#undef WHOLE
};

enum { N_ALLOCATORS = sizeof table / sizeof *table };

const hbm_allocator_info *hbm_allocators(uint32_t *ret_n)
{
	*ret_n = N_ALLOCATORS;
	return infos;
}

const hbm_allocator *hbm_allocator_find(const char *name)
{
	for (uint32_t i = 0; i < N_ALLOCATORS; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}
