/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_IR_TEXT_H
#define HBM_IR_TEXT_H

/* The text form of a program (docs/ir.md). Printing and reading back gives the
 * same program. */

#include "base/out.h"
#include "ir/program.h"

/* Reads n bytes of text (a NUL must stand behind them) and lists all errors, up
 * to the limit of `d`. `file` is for messages and is copied; `text` must live as
 * long as messages may be made from the program, or the caller clears
 * ret->text. Does not validate (ir/validate.h). */
hbm_status hbm_text_read(hbm_arena *a, hbm_diags *d, const char *file, const char *text,
                         size_t n, const hbm_bind *binds, uint32_t n_binds,
                         hbm_program *ret) HBM_MUST_USE;
/* Prints; failures of the output stick in `o`. */
void hbm_text_print(const hbm_program *p, hbm_out *o);

#endif
