/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_JSON_H
#define HBM_IR_JSON_H

/* The same program as JSON (schema/program.schema.json), for tools. Its reader is
 * an importer (import/json.c). */

#include "base/out.h"
#include "ir/program.h"

#define HBM_PROGRAM_SCHEMA         "hbmplan.program"
#define HBM_PROGRAM_SCHEMA_VERSION "1.0"

/* Numbers from here on are written as decimal strings: JSON readers that keep
 * doubles would round them. */
#define HBM_JSON_SAFE ((uint64_t)1 << 53)

/* Prints; failures of the output stick in `o`. */
void hbm_json_print(const hbm_program *p, hbm_out *o);
#endif
