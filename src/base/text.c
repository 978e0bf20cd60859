/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/ckd.h"

#include <string.h>

static uint32_t digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (uint32_t)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (uint32_t)(c - 'A') + 10;
	return 99;
}

/* Shift of the unit in [s, s + n), UINT32_MAX: not one. */
static uint32_t unit_shift(const char *s, size_t n)
{
	static const char letters[] = "KMGTP";
	const char *at = n ? memchr(letters, s[0], sizeof letters - 1) : NULL;

	if (!n)
		return 0;
	if (!at || n < 2 || n > 3 || s[1] != 'i' || (n == 3 && s[2] != 'B'))
		return UINT32_MAX;
	return 10 * (uint32_t)(at - letters + 1);
}

hbm_number hbm_parse_size(const char *s, size_t n, uint64_t *ret)
{
	bool hex = n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	uint32_t base = hex ? 16 : 10, shift;
	size_t i = hex ? 2 : 0, first = i;
	bool fits = true;
	uint64_t v = 0;

	for (; i < n; i++) {
		if (s[i] == '_' && i > first && s[i - 1] != '_' && i + 1 < n)
			continue;
		if (digit_of(s[i]) >= base)
			break;
		fits = fits && hbm_mul(v, base, &v) && hbm_add(v, digit_of(s[i]), &v);
	}
	shift = unit_shift(s + i, n - i);
	if (i == first || s[i - 1] == '_' || shift == UINT32_MAX)
		return HBM_NUMBER_MALFORMED;
	if (!fits || !hbm_mul(v, (uint64_t)1 << shift, &v))
		return HBM_NUMBER_TOO_LARGE;
	*ret = v;
	return HBM_NUMBER_OK;
}

/* Length of the well-formed sequence at s, 0: none. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2
	             : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

bool hbm_is_utf8(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;

	while (n) {
		size_t len = utf8_len(p, n);
		if (!len)
			return false;
		p += len;
		n -= len;
	}
	return true;
}
