/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and joining the threads of a test. */
#ifndef TESTS_THREADS_MPITHREAD_H
#define TESTS_THREADS_MPITHREAD_H

#include "mpitest.h"

#include <pthread.h>

enum { THREADS = 4 };

/* Runs body(0) ... body(n - 1), each in a thread of its own, and waits for all. */
struct thread_start {
    void (*body)(int);
    int number;
};

static inline void *thread_entry(void *arg)
{
    const struct thread_start *start = arg;

    start->body(start->number);
    return NULL;
}

static inline void run_threads(int n, void (*body)(int))
{
    struct thread_start starts[16];
    pthread_t threads[16];
    int i;

    CHECK(n <= 16, "%d threads", n);
    for (i = 0; i < n; i++) {
        starts[i].body = body;
        starts[i].number = i;
        CHECK(pthread_create(&threads[i], NULL, thread_entry, &starts[i]) == 0, "pthread_create");
    }
    for (i = 0; i < n; i++)
        CHECK(pthread_join(threads[i], NULL) == 0, "pthread_join");
}

#endif
