/* SPDX-License-Identifier: Apache-2.0 */
/* HLO text. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	return fuzz_import(&hbm_importer_hlo, data, n);
}
