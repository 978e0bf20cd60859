/* SPDX-License-Identifier: Apache-2.0 */
#include "report/reporter.h"

#include <string.h>

const hbm_reporter *const hbm_reporter_table[] = {
#define REPORTER(id) &hbm_reporter_##id,
#include "report/reporters.def"
#undef REPORTER
	NULL,
};

const hbm_reporter *hbm_reporter_find(const char *name)
{
	for (uint32_t i = 0; hbm_reporter_table[i]; i++)
		if (!strcmp(hbm_reporter_table[i]->name, name))
			return hbm_reporter_table[i];
	return NULL;
}
