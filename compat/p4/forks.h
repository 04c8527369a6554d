/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. For unit tests of what processes share: an arena, processes, and what p4_fail said. The rest of the
 * library is not linked. */
#ifndef P4_FORKS_H
#define P4_FORKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/check.h"
#include "p4/int_p4.h"

struct p4_own p4_own = { .total = 1, .clusters = 1 };

static jmp_buf after_failure;
static char failure[256];

/* The call must fail, with this in its text. */
#define CHECK_FAILS(call, text)                               \
    do {                                                      \
        failure[0] = 0;                                       \
        if (!setjmp(after_failure))                           \
            call;                                             \
        if (!strstr(failure, text)) {                         \
            fprintf(stderr, "%s:%d: %s: '%s' came, '%s' expected\n", __FILE__, __LINE__, #call, failure, text); \
            exit(1);                                          \
        }                                                     \
    } while (0)

_Noreturn void p4_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(failure, sizeof failure, format, args);
    va_end(args);
    longjmp(after_failure, 1);
}

void p4_dprintf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(failure, sizeof failure, format, args);
    va_end(args);
}

void p4_need_started(const char *call)
{
    if (!p4_own.arena)
        p4_fail("%s before p4_initenv", call);
}

int p4_num_cluster_ids(void)
{
    return p4_own.last - p4_own.first + 1;
}

P4BOOL p4_am_i_cluster_master(void)
{
    return p4_own.id == p4_own.first;
}

static inline void open_arena(size_t size)
{
    p4_own.arena = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p4_own.arena != MAP_FAILED);
    p4_own.arena_size = size;
}

/* fxn in so many processes, ids 0 to n-1, one of them this one. */
static inline void in_processes(int n, void (*fxn)(void))
{
    pid_t pids[64];
    int status;

    p4_own.last = p4_own.first + n - 1;
    p4_own.total = n;
    for (int i = 1; i < n; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            p4_own.id = i;
            fxn();
            _exit(0);
        }
    }
    fxn();
    for (int i = 1; i < n; i++) {
        CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
        CHECK_INT(status, 0);
    }
}

#endif
