/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Threads of the library's own. */
#ifndef SYS_THREAD_H
#define SYS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Start a thread that has `stack` bytes to itself, beside the thread-local variables of the program, which the C
 * library puts there as well; all signals are left to the program's own threads. `name` has at most 15 characters. */
bool thread_start(pthread_t *thread, const char *name, size_t stack, void *(*body)(void *arg));

#endif
