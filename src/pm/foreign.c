/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. Coming up under a launcher of somebody else, by whatever protocol it speaks (struct pm_protocol). It gives
 * us a rank, a common store and a fence, and nothing that the ranks of a machine inherit: how they come to that is in
 * meeting.c. And the ends: the launcher's, and ours. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "pm/int_pm.h"
#include "sys/clock.h"

enum { DRAIN_NS = 1000000000 };

static const struct pm_protocol *const protocols[] = { &pmi1_protocol, &pmix_protocol };

const struct pm_protocol *pm_offered_protocol(void)
{
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++)
        if (protocols[i]->is_offered())
            return protocols[i];
    return NULL;
}

int pm_guard(const struct pm_foreign *foreign)
{
    const int fd = foreign->protocol->lifeline(foreign->state);
    struct pollfd now = { .fd = fd, .events = POLLIN };

    if (!fcntl(fd, F_SETOWN, getpid()) && !fcntl(fd, F_SETSIG, SIGKILL))
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
    return poll(&now, 1, 0) > 0 ? err(MPI_ERR_OTHER, "it has closed the connection") : 0;
}

void pm_unguard(const struct pm_foreign *foreign)
{
    const int fd = foreign->state ? foreign->protocol->lifeline(foreign->state) : -1;

    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_ASYNC);
}

/* Until the pipe `fd` has been read empty, or the time is over. */
static void drain(int fd, uint64_t end)
{
    const struct timespec moment = { .tv_nsec = 200000 };
    struct stat st;
    int left;

    if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
        return;
    while (!ioctl(fd, FIONREAD, &left) && left > 0 && clock_ns() < end)
        nanosleep(&moment, NULL);
}

void pm_abort_foreign(struct pm_job *job, int code)
{
    const struct pm_foreign *foreign = job->foreign;
    const uint64_t end = clock_ns() + DRAIN_NS;
    uint64_t expected = 0;

    if (job->head)
        atomic_compare_exchange_strong(&job->head->end, &expected, job_end(job->proc, code));
    pm_unguard(foreign);
    drain(STDOUT_FILENO, end);
    drain(STDERR_FILENO, end);
    if (foreign->state && !foreign->is_over)
        foreign->protocol->abort(foreign->state, code);
}

/* `rc` with both sides named. */
static int explain(const struct pm_protocol *protocol, const struct pm_place *place, int rc)
{
    char cause[ERR_TEXT_SIZE], who[64] = "";

    err_text(rc, cause, sizeof cause);
    if (place->size > 1)
        snprintf(who, sizeof who, " as process %d of %d", place->rank, place->size);
    return err(MPI_ERR_OTHER,
               "started by a launcher that speaks %s%s, which this library cannot join: %s; start it with Parley's own "
               "mpiexec, or set PARLEY_SINGLETON=1 to run it alone on purpose",
               protocol->name, who, cause);
}

int pm_open_foreign(struct pm_job *job, const struct pm_protocol *protocol)
{
    struct pm_foreign *foreign;
    struct pm_place place = { .size = 1, .appnum = -1, .universe_size = -1 };
    int rc;

    if (protocol->is_for_parent())
        return 0;
    foreign = job->foreign = mem_zalloc(sizeof *foreign);
    if (!foreign)
        return err(MPI_ERR_OTHER, "no memory for the way to the launcher");
    foreign->protocol = protocol;
    rc = protocol->start(&foreign->state, &place);
    if (!rc && place.size > 1)
        rc = pm_meet(job, &place);
    if (!rc)
        rc = pm_guard(foreign);
    if (rc)
        return explain(protocol, &place, rc);
    job->appnum = place.appnum;
    job->universe_size = place.universe_size;
    return 0;
}
