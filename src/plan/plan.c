/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

static const char *const reason_texts[] = {
#define X(id, text, figures) text,
	HBM_REASON_MAP(X)
#undef X
};

const char *hbm_reason_text(hbm_reason_id r)
{
	return (uint32_t)r < HBM_N_REASONS ? reason_texts[r] : "";
}

const char *hbm_home_text(hbm_home_kind k)
{
	static const char *const texts[] = {"none", "lx", "pool", "hbm", "io"};

	return (uint32_t)k < sizeof texts / sizeof *texts ? texts[k] : "none";
}

const char *hbm_unsplit_text(hbm_unsplit_id id)
{
	static const char *const texts[] = {
#define X(id, text, figures) text,
		HBM_UNSPLIT_MAP(X)
#undef X
	};

	return (uint32_t)id < HBM_N_UNSPLIT ? texts[id] : "";
}
