/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. How a process is woken that sleeps for descriptors, not on its word alone: it has a bell, a datagram
 * socket with a name in the system's abstract space, which everybody on the machine can ring. What stands in the sleep
 * word of a process (sys/job.h) tells which way it sleeps. */
#ifndef SYS_BELL_H
#define SYS_BELL_H

#include <stdatomic.h>
#include <stdint.h>

#include "sys/job.h"

/* Values of a sleep word. */
enum {
    SLEEP_NOT = 0,
    SLEEP_ON_WORD = 1, /* a futex */
    SLEEP_AT_BELL = 2, /* plus the number of the process: at its bell */
};

/* The bell of process `proc` of the job that `head` tells of: a descriptor that polls readable once it has been rung.
 * -1 with errno. */
int bell_open(const struct job_head *head, int proc);
/* Take what rings there are away. Does not block. */
void bell_quiet(int bell);

/* News have been stored for who sleeps by this word: wake it, if it does. `from` is a bell of this process, or -1.
 * Does not block; who has no bell by now needs none. */
void bell_wake(int from, const struct job_head *head, _Atomic uint32_t *sleep_word);

#endif
