/* SPDX-License-Identifier: Apache-2.0
 * A loop spread over threads: each takes the next index until none is left. */
#include "pack/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MAX_THREADS = 64 };

typedef struct loop {
	void (*work)(void *user, uint32_t i);
	void *user;
	uint32_t n;
	atomic_uint next;
} loop;

static void *run(void *arg)
{
	loop *l = arg;
	uint32_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < l->n)
		l->work(l->user, i);
	return NULL;
}

void hbm_parallel(uint32_t n, uint32_t threads, void (*work)(void *user, uint32_t i),
                  void *user)
{
	pthread_t ids[MAX_THREADS];
	uint32_t n_more = 0, want = threads < n ? threads : n;
	loop l = {.work = work, .user = user, .n = n};

	if (want > MAX_THREADS)
		want = MAX_THREADS;
	while (n_more + 1 < want &&
	       pthread_create(&ids[n_more], NULL, run, &l) == 0)
		n_more++;
	run(&l);
	for (uint32_t k = 0; k < n_more; k++)
		pthread_join(ids[k], NULL);
}
