/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct shared {
	atomic_uint next;
	uint32_t n;
	void (*job)(void *user, uint32_t i, uint32_t worker);
	void *user;
} shared;

typedef struct worker {
	shared *all;
	uint32_t id;
	pthread_t thread;
	bool started;
} worker;

static void *work(void *arg)
{
	worker *w = arg;

	for (;;) {
		uint32_t i = atomic_fetch_add(&w->all->next, 1);
		if (i >= w->all->n)
			return NULL;
		w->all->job(w->all->user, i, w->id);
	}
}

void hbm_parallel(uint32_t threads, uint32_t n,
                  void (*job)(void *user, uint32_t i, uint32_t worker), void *user)
{
	shared all = {.n = n, .job = job, .user = user};
	worker workers[HBM_MAX_THREADS];

	if (threads > HBM_MAX_THREADS)
		threads = HBM_MAX_THREADS;
	if (threads > n)
		threads = n;
	for (uint32_t i = 0; i < threads || i == 0; i++) {
		workers[i] = (worker){.all = &all, .id = i};
		if (i)
			workers[i].started =
				!pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	work(&workers[0]);
	for (uint32_t i = 1; i < threads; i++)
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
}
