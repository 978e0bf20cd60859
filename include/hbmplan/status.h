/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBMPLAN_STATUS_H
#define HBMPLAN_STATUS_H

/* Status codes, export macro, and the small types that every header shares. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HBM_API __attribute__((visibility("default")))
#define HBM_MUST_USE __attribute__((warn_unused_result))
#define HBM_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define HBM_API
#define HBM_MUST_USE
#define HBM_PRINTF(f, a)
#endif

/* One row per status: name, text. Values are stable and never reused.
 * "Does not fit" is no status: it is an outcome of a call that returned HBM_OK. */
#define HBM_STATUS_MAP(X)                                                      \
	X(OK, "success")                                                       \
	X(NOMEM, "out of host memory")                                         \
	X(IO, "could not read or write a file")                                \
	X(SYNTAX, "input is not well formed")                                  \
	X(SEMANTIC, "input is well formed but not valid")                      \
	X(LIMIT, "input is larger than a documented limit")                    \
	X(UNSUPPORTED, "the target or importer cannot do this")                \
	X(OPTION, "unknown or contradictory option")                           \
	X(USAGE, "a function was called in a way its comment forbids")         \
	X(VERIFY, "a finished plan broke a rule; the planner has a bug")       \
	X(CONTRACT, "a pass ran without what it needs; the planner has a bug") \
	X(CANCELLED, "stopped on request")

typedef enum hbm_status {
#define HBM_STATUS_ENUM(name, text) HBM_##name,
	HBM_STATUS_MAP(HBM_STATUS_ENUM)
#undef HBM_STATUS_ENUM
} hbm_status;

/** Text of a status, for a person. Never NULL. */
HBM_API const char *hbm_status_text(hbm_status status);

/* Host memory. `alloc` returns NULL on failure; `release` gets the size that
 * was asked for. Both NULL: libc. */
typedef struct hbm_mem {
	void *(*alloc)(void *user, size_t size);
	void (*release)(void *user, void *ptr, size_t size);
	void *user;
} hbm_mem;

/* A value for a symbolic extent, given from outside. */
typedef struct hbm_bind {
	const char *name;
	uint64_t value;
} hbm_bind;

/* "No offset": not placed, not pinned, no hint. */
#define HBM_NO_OFFSET UINT64_MAX
/* "No object" for every 32-bit id. */
#define HBM_NONE UINT32_MAX

#ifdef __cplusplus
}
#endif
#endif
