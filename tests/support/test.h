/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_TESTS_TEST_H
#define HBM_TESTS_TEST_H

/* What every test program includes: cmocka with the headers it wants before
 * it, and a setup that gives each test an arena and a list of diagnostics. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diag.h"

/* Room of one test; *state of tests that use test_begin and test_end. */
typedef struct test_room {
	hbm_arena arena;
	hbm_diags diags;
} test_room;

int test_begin(void **state);
int test_end(void **state);
#define ROOM_TEST(f) cmocka_unit_test_setup_teardown(f, test_begin, test_end)

/* Fails unless exactly `n` errors are listed. */
void expect_errors(const hbm_diags *d, uint32_t n);
/* Fails unless some message of the list has this code (HBM_E_NONE: any) and
 * contains `text`. */
void expect_message(const hbm_diags *d, hbm_code code, const char *text);
/* All messages, one a line, as "file:line:col: severity: text [HBMnnnn]". */
const char *messages(hbm_arena *a, const hbm_diags *d);

/* A path in a fresh directory of the test program; the directory is removed at
 * exit. */
const char *temp_path(hbm_arena *a, const char *name);
/* Writes a file there and returns its path. */
const char *temp_file(hbm_arena *a, const char *name, const void *bytes, size_t n);
/* $HBM_SHARED/path, or NULL (and a word on stderr) when it is not there. */
const char *shared_path(hbm_arena *a, const char *path);

#endif
