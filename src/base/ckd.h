/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_BASE_CKD_H
#define HBM_BASE_CKD_H

/* Checked 64-bit arithmetic for bytes: each returns false on overflow and then
 * leaves *ret alone. Sizes from outside go through these and nothing else. */

#include <stdbool.h>
#include <stdint.h>

static inline bool hbm_add(uint64_t a, uint64_t b, uint64_t *ret)
{
	if (b > UINT64_MAX - a)
		return false;
	*ret = a + b;
	return true;
}

static inline bool hbm_mul(uint64_t a, uint64_t b, uint64_t *ret)
{
	if (a && b > UINT64_MAX / a)
		return false;
	*ret = a * b;
	return true;
}

/* Rounds up to a multiple of `align` (any positive number). */
static inline bool hbm_align_up(uint64_t a, uint64_t align, uint64_t *ret)
{
	uint64_t rest = a % align;

	return hbm_add(a, rest ? align - rest : 0, ret);
}

/* Adds with a ceiling, for reports and bounds where "at least" is enough. */
static inline uint64_t hbm_add_sat(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static inline uint64_t hbm_mul_sat(uint64_t a, uint64_t b)
{
	return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* Greatest common divisor; of 0 and v: v. */
static inline uint64_t hbm_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#endif
