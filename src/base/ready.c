/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ready.h"

static bool before(const hbm_ready *a, const hbm_ready *b)
{
	return a->gain != b->gain ? a->gain > b->gain : a->id < b->id;
}

bool hbm_ready_push(hbm_arena *a, hbm_ready_heap *h, hbm_ready x)
{
	uint32_t i = h->n;

	if (!HBM_PUSH(a, h, x))
		return false;
	for (; i && before(&x, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = x;
	return true;
}

hbm_ready hbm_ready_pop(hbm_ready_heap *h)
{
	hbm_ready top = h->items[0], x = h->items[--h->n];
	uint32_t i = 0, k;

	while ((k = 2 * i + 1) < h->n) {
		if (k + 1 < h->n && before(&h->items[k + 1], &h->items[k]))
			k++;
		if (!before(&h->items[k], &x))
			break;
		h->items[i] = h->items[k];
		i = k;
	}
	h->items[i] = x;
	return top;
}
