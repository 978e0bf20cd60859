/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a dump and its messages. */
#include "import/inductor.h"

hbm_where hbm_ind_shown(const hbm_ind_dump *dump, hbm_ind_at at, size_t len)
{
	if (!dump->d || hbm_diags_full(dump->d))
		return HBM_NOWHERE;
	return hbm_ind_where(at, len);
}

bool hbm_ind_full(const hbm_ind_dump *dump)
{
	return dump->d && hbm_diags_full(dump->d);
}

hbm_sym hbm_ind_sym(hbm_ind_dump *dump, const hbm_ind_text *t, size_t start, size_t end)
{
	return hbm_intern(&dump->syms, t->s + start, end > start ? end - start : 0);
}

const char *hbm_ind_str(const hbm_ind_dump *dump, hbm_sym sym)
{
	return hbm_sym_str(&dump->syms, sym);
}

hbm_ind_name *hbm_ind_name_of(hbm_ind_dump *dump, hbm_sym sym)
{
	while (dump->names.n <= sym) {
		hbm_ind_name none = {.stmt = HBM_NONE,
		                     .writer = HBM_NONE,
		                     .top = HBM_NONE,
		                     .tensor = HBM_NONE};
		if (!HBM_PUSH(dump->a, &dump->names, none))
			return NULL;
	}
	return &dump->names.items[sym];
}
