/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_TEXT_H
#define HBM_BASE_TEXT_H

/* Small readers of text that several formats share. */

#include "hbmplan/status.h"

typedef enum hbm_number {
	HBM_NUMBER_OK,
	HBM_NUMBER_MALFORMED,
	HBM_NUMBER_TOO_LARGE, /* not below 2^64 */
} hbm_number;

/* All n bytes as a number: digits, or 0x and hex digits, with single '_' between
 * digits; then perhaps Ki, Mi, Gi, Ti or Pi (or KiB ...), powers of 1024. */
hbm_number hbm_parse_size(const char *s, size_t n, uint64_t *ret);
bool hbm_is_utf8(const char *s, size_t n);

#endif
