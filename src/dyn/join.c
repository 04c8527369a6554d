/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. MPI_Comm_join (MPI 5.0 §11.10.5): two processes tell each other over a socket of theirs which places in
 * which job they have. If it is the same job, they are connected as any others; else the call gives no communicator.
 * Nothing more than these words passes through the socket, so it is as it was. Knows: comm, progress. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "comm/comm.h"
#include "dyn/int_dyn.h"
#include "progress/progress.h"

/* "parleyJ1" */
#define JOIN_MAGIC UINT64_C(0x70617264656c4a31)

/* What each tells the other. */
struct words {
    uint64_t magic, token[2];
    int32_t proc;    /* -1: it cannot be reached */
    uint32_t number; /* of the call there */
};

struct join {
    int fd;
    const struct words *own;
    struct words *theirs;
    size_t sent, got;
    int error; /* errno; 0: none */
    bool is_at_end;
};

static _Atomic uint32_t joins;

/* Both ways as far as it goes; true: all has passed, or it never will. */
static bool has_passed(void *arg)
{
    struct join *join = arg;
    ssize_t moved = 0;

    while (!join->error && join->sent < sizeof *join->own && moved >= 0) {
        moved = send(join->fd, (const char *)join->own + join->sent, sizeof *join->own - join->sent,
                     MSG_DONTWAIT | MSG_NOSIGNAL);
        if (moved > 0)
            join->sent += (size_t)moved;
        else if (moved < 0 && errno != EAGAIN && errno != EINTR)
            join->error = errno;
    }
    while (!join->error && !join->is_at_end && join->got < sizeof *join->theirs) {
        moved = recv(join->fd, (char *)join->theirs + join->got, sizeof *join->theirs - join->got, MSG_DONTWAIT);
        if (moved < 0 && errno != EAGAIN && errno != EINTR)
            join->error = errno;
        if (moved < 0)
            break;
        join->got += (size_t)moved;
        join->is_at_end = moved == 0;
    }
    return join->error || join->is_at_end || (join->sent == sizeof *join->own && join->got == sizeof *join->theirs);
}

/* Something but ranks of the job may end it. */
bool join_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    if (wait->is_done != has_passed)
        return false;
    *out = (struct blocked){ .call = "MPI_Comm_join", .way = BLOCKED_OTHERWISE, .count = -1 };
    return true;
}

static int exchange(int fd, const struct words *own, struct words *theirs)
{
    struct join join = { .fd = fd, .own = own, .theirs = theirs };
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    if (getpeername(fd, (struct sockaddr *)&address, &size))
        return err(MPI_ERR_ARG, "E1012: descriptor %d is no connected socket: %s", fd, strerror(errno));
    progress_wait_until(has_passed, &join);
    if (join.error || join.is_at_end)
        return err(MPI_ERR_OTHER, "E1012: the process at the other end of descriptor %d has not called MPI_Comm_join: "
                   "%s", fd, join.error ? strerror(join.error) : "it has closed the socket");
    if (theirs->magic != own->magic)
        return err(MPI_ERR_OTHER, "E1012: what comes from the other end of descriptor %d is not from MPI_Comm_join of "
                   "this library", fd);
    return 0;
}

int dyn_join(int fd, struct comm **out)
{
    struct words own = { JOIN_MAGIC, { dyn_job->token[0], dyn_job->token[1] }, dyn_job->head ? dyn_job->proc : -1, 0 },
                 theirs;
    int rc;

    own.number = atomic_fetch_add_explicit(&joins, 1, memory_order_relaxed);
    rc = exchange(fd, &own, &theirs);
    *out = NULL;
    if (rc || own.proc < 0 || theirs.proc < 0 || own.proc == theirs.proc ||
        memcmp(own.token, theirs.token, sizeof own.token) != 0)
        return rc;
    return comm_inter_with(obj_comm(MPI_COMM_SELF), 0, theirs.proc,
                           finding_tag(TAG_JOIN, own.proc < theirs.proc ? own.number : theirs.number), "MPI_Comm_join",
                           out);
}
