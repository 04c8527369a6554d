/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. What the tests of launchers' protocols share: ranks that are forked, and what they see of pm. */
#ifndef PM_PM_RANKS_H
#define PM_PM_RANKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "pm/pm.h"

enum { MAX_RANKS = 8 };

static int universe; /* what the made up server says of it; -1: nothing */

/* All have ended, and their wait statuses must be `expected`. */
static inline void ranks_wait(const pid_t *pids, int size, int expected)
{
    int status;

    for (int i = 0; i < size; i++) {
        CHECK(waitpid(pids[i], &status, 0) == pids[i]);
        CHECK_INT(status, expected);
    }
}

static inline void open_ok(struct pm_job *job, int rank, int size)
{
    char text[ERR_TEXT_SIZE];
    const int rc = pm_open(job);

    if (rc) {
        err_text(rc, text, sizeof text);
        fprintf(stderr, "rank %d: %s\n", rank, text);
    }
    CHECK(!rc && job->rank == rank && job->size == size && job->foreign);
    CHECK_INT(job->appnum, 3);
    CHECK_INT(job->universe_size, universe);
}

/* It cannot come up; the text names the protocol and has what EXPECT says. */
static inline void open_fails(struct pm_job *job, const char *protocol)
{
    char text[ERR_TEXT_SIZE];
    const int rc = pm_open(job);

    CHECK_INT(err_class(rc), MPI_ERR_OTHER);
    err_text(rc, text, sizeof text);
    CHECK(strstr(text, protocol) && strstr(text, "PARLEY_SINGLETON=1") && !strchr(text, '\n'));
    CHECK(strstr(text, getenv("EXPECT")) || (fprintf(stderr, "%s\n", text), false));
    CHECK(job->is_singleton);
}

static inline void give_up(int rank, int size)
{
    struct pm_job job;

    open_ok(&job, rank, size);
    close(STDERR_FILENO);
    pm_abort(&job, 300, "the end", 0);
}

#endif
