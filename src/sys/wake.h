/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Sleeping and waking on a word in shared memory, and the barrier that makes it safe without a fence
 * on the waker's side: the waker stores its news and loads the sleep word; the sleeper stores the sleep word,
 * calls wake_barrier, and looks for news once more. */
#ifndef SYS_WAKE_H
#define SYS_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Sleep while *word is `value`, at most `timeout_ns`. May return early. The word may lie in a shared mapping. */
void wake_sleep(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
/* Wake all who sleep on the word; one of them. */
void wake_all(_Atomic uint32_t *word);
void wake_one(_Atomic uint32_t *word);

/* Does the system offer the barrier to this process? Containers deny it, old kernels do not know it. */
bool wake_barrier_offered(void);
/* Once per process, before it can wake anybody. Two system calls the first time. False: others' barriers do not reach
 * this process, so it needs a fence of its own before it looks who sleeps. */
bool wake_barrier_init(void);
/* Every store that any registered process issued before is visible, and every load after comes after.
 * False: the system does not offer it; news may be missed, so sleep only shortly. */
bool wake_barrier(void);

/* The same among the threads of this process. */
bool wake_barrier_own_init(void);
bool wake_barrier_own(void);

#endif
