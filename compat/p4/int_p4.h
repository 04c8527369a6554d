/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. What its files share: who this process is, messages of the library's own, the shared area.
 *
 * p4 has one thread a process; functions here are called by it alone unless something else is said. */
#ifndef P4_INT_P4_H
#define P4_INT_P4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

/* What p4.h declares is exported, all else is not. */
#pragma GCC visibility push(default)
#include "p4.h"
#pragma GCC visibility pop

/* --- start.c: who this process is --- */

enum p4_stage {
    P4_NOT_YET, /* p4_initenv has not been called */
    P4_READY,   /* it has; there is one process, and shared memory can be used */
    P4_RUNNING, /* ids are settled and messages go */
    P4_ENDED,   /* p4_wait_for_end has returned */
};

struct p4_own {
    enum p4_stage stage;
    bool is_child;         /* of p4_create: no id, no messages, but the arena */
    int id, total;         /* before the procgroup 0 and 1; in a child -1 */
    int first, last;       /* ids of this cluster, both inclusive */
    int cluster, clusters; /* which one of how many */
    int debug_level;
    bool soft_errors;
    int pid;               /* of the process that these words are about */
    uint64_t start_ns;     /* CLOCK_MONOTONIC at p4_initenv, for p4_clock; the same in all processes of a cluster */
    char who[64];          /* "p3_4711", for messages */

    /* The shared area, mapped by p4_initenv before anything is forked: at the same address in all processes of the
     * cluster and in their p4_create children, zeroed, aligned to a page, and only what is touched takes memory. It is
     * p4_shmalloc's alone. */
    void *arena;
    size_t arena_size;     /* -p4gm or P4_GLOBMEMSIZE, or GLOBMEMSIZE */
};

extern struct p4_own p4_own;

/* First id of cluster `cluster`; ids of a cluster are consecutive, and so are clusters. */
int p4_cluster_first(int cluster);

/* --- error.c --- */

/* p4_error if p4_initenv has not been called; `call` is the function of the user's. */
void p4_need_started(const char *call);
/* The same if ids are not settled yet, or p4_wait_for_end has been called. */
void p4_need_running(const char *call);
/* As p4_error with a text of printf; begins with the id of a diagnostic ("E0601: ..."). Never returns. */
_Noreturn void p4_fail(const char *format, ...) PRINTF_LIKE(1, 2);

/* Has the run been ended by somebody? For waits outside of progress: looked at between two sleeps. */
bool p4_is_ending(void);

/* --- Messages of the library's own: no receive of the user's sees them, and they may be of any length. Both progress
 * and acknowledge ordinary messages meanwhile; the send never waits for the receiver. `kind` keeps global operations,
 * barriers and whatever else apart. Messages of one kind between two processes stay in order. --- */

enum inner_kind { INNER_GLOBAL = 1, INNER_BARRIER, INNER_CLUSTER, INNER_KINDS };

/* 0, or -1: the process is gone. */
int inner_send(enum inner_kind kind, int to, const void *data, size_t len);
/* Waits for the next one from `from` and returns its length; what is beyond `room` is dropped. `call` and `type` say in
 * the report of a hang what the user is in. */
size_t inner_recv(enum inner_kind kind, int from, void *data, size_t room, const char *call, int type);

#endif
