/* SPDX-License-Identifier: Apache-2.0 */
#include "support/oom.h"
#include "support/test.h"

/* There in builds with a sanitizer: says where the failing allocation is. */
void __sanitizer_print_stack_trace(void) __attribute__((weak));

enum { GUARD = 32 }; /* keeps the size in front of a block, to compare at release */

static void *oom_alloc(void *user, size_t size)
{
	oom_mem *m = user;
	char *p;

	if (m->calls++ == m->fail_at) {
		m->failed = true;
		if (m->trace && __sanitizer_print_stack_trace)
			__sanitizer_print_stack_trace();
		return NULL;
	}
	p = malloc(GUARD + size);
	assert_non_null(p);
	memcpy(p, &size, sizeof size);
	memset(p + GUARD, 0xa5, size); /* what is not set must not be read */
	m->live++;
	m->bytes += size;
	return p + GUARD;
}

static void oom_release(void *user, void *ptr, size_t size)
{
	oom_mem *m = user;
	char *p = (char *)ptr - GUARD;
	size_t was;

	memcpy(&was, p, sizeof was);
	assert_int_equal(size, was);
	assert_true(m->live > 0);
	m->live--;
	m->bytes -= size;
	free(p);
}

void oom_mem_init(oom_mem *m, uint64_t fail_at)
{
	*m = (oom_mem){.fail_at = fail_at, .mem = {oom_alloc, oom_release, m}};
}

static bool is_right(hbm_status status, bool failed, hbm_status final)
{
	if (failed && final != HBM_OK)
		return status == HBM_NOMEM || status == final;
	return status == (failed ? HBM_NOMEM : final);
}

/* Runs once more, to show where, and ends the test. */
static void complain(oom_mem_fn f, void *user, const oom_mem *was, hbm_status status)
{
	oom_mem m;

	oom_mem_init(&m, was->fail_at);
	m.trace = true;
	if (was->failed)
		(void)f(&m.mem, user);
	fail_msg("allocation %llu %s: '%s', %llu blocks are left",
	         (unsigned long long)was->fail_at,
	         was->failed ? "failed" : "was not reached", hbm_status_text(status),
	         (unsigned long long)was->live);
}

uint64_t oom_sweep_mem(oom_mem_fn f, void *user, hbm_status final)
{
	for (uint64_t n = 0;; n += 1 + n / 256) {
		oom_mem m;
		hbm_status status;
		oom_mem_init(&m, n);
		status = f(&m.mem, user);
		if (m.live || !is_right(status, m.failed, final))
			complain(f, user, &m, status);
		if (!m.failed)
			return m.calls;
	}
}

typedef struct arena_call {
	oom_fn f;
	void *user;
} arena_call;

static hbm_status with_arena(const hbm_mem *mem, void *user)
{
	const arena_call *call = user;
	hbm_arena a;
	hbm_status status;

	hbm_arena_init(&a, mem);
	status = call->f(&a, call->user);
	hbm_arena_fini(&a);
	return status;
}

uint64_t oom_sweep_status(oom_fn f, void *user, hbm_status final)
{
	arena_call call = {f, user};

	return oom_sweep_mem(with_arena, &call, final);
}

uint64_t oom_sweep(oom_fn f, void *user)
{
	return oom_sweep_status(f, user, HBM_OK);
}
