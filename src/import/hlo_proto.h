/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IMPORT_HLO_PROTO_H
#define HBM_IMPORT_HLO_PROTO_H

/* What the files of the protobuf reader share. Only with HBM_HAVE_HLO_PROTO. */

#include "import/hlo.h"
#include "import/hlo.pb-c.h"

/* The module in binary bytes, of a module or an HloProto that holds one. */
hbm_status hlo_wire_read(hlo_module *m, const char *bytes, size_t n,
                         const Hlo__HloModuleProto **ret) HBM_MUST_USE;
/* Finds the module in a text dump (of a module, an HloProto, or an executable that
 * holds one) and reads it. */
hbm_status hlo_pbtext_read(hlo_module *m, const char *text, size_t n,
                           Hlo__HloModuleProto **ret) HBM_MUST_USE;
/* The text looks like one of these. */
bool hlo_pbtext_probe(const char *text, size_t n);

#endif
