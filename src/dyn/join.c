/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. MPI_Comm_join (MPI 5.0 §11.10.5): two processes tell each other over a socket of theirs which places in
 * which job they have. If it is the same job, they are connected as any others. Else one of them, whose job's token is
 * the lower one, opens a port and tells its name over the socket; the other one connects there, and says whether that
 * has worked, so that the first need not wait for ever. If there is no way between them, both get no communicator.
 *
 *   both:         struct words
 *   then, between jobs:
 *   lower token:  the port's name, MPI_MAX_PORT_NAME bytes; empty: it has none that the other one could connect to
 *   the other:    a word, if there was a name: 1: connected; 0: that cannot be
 *
 * Nothing more than that passes through the socket, so it is as it was. Knows: comm, progress, ports. */
#include <errno.h>
#include <mpi.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "comm/comm.h"
#include "dyn/int_port.h"
#include "progress/progress.h"

/* "parleyJ2" */
#define JOIN_MAGIC UINT64_C(0x7061726c65794a32)

/* What each tells the other. */
struct words {
    uint64_t magic, token[2];
    int32_t proc;    /* -1: it cannot be reached */
    uint32_t number; /* of the call there */
};

/* What passes in one step; either way may be empty. */
struct join {
    int fd;
    const void *own;
    void *theirs;
    size_t own_size, their_size;
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

    while (!join->error && join->sent < join->own_size && moved >= 0) {
        moved = send(join->fd, (const char *)join->own + join->sent, join->own_size - join->sent,
                     MSG_DONTWAIT | MSG_NOSIGNAL);
        if (moved > 0)
            join->sent += (size_t)moved;
        else if (moved < 0 && errno != EAGAIN && errno != EINTR)
            join->error = errno;
    }
    while (!join->error && !join->is_at_end && join->got < join->their_size) {
        moved = recv(join->fd, (char *)join->theirs + join->got, join->their_size - join->got, MSG_DONTWAIT);
        if (moved < 0 && errno != EAGAIN && errno != EINTR)
            join->error = errno;
        if (moved < 0)
            break;
        join->got += (size_t)moved;
        join->is_at_end = moved == 0;
    }
    return join->error || join->is_at_end || (join->sent == join->own_size && join->got == join->their_size);
}

/* Something but ranks of the job may end it. */
bool join_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    if (wait->is_done != has_passed)
        return false;
    *out = (struct blocked){ .call = "MPI_Comm_join", .way = BLOCKED_OTHERWISE, .count = -1 };
    return true;
}

static int pass(struct join *join)
{
    progress_wait_until(has_passed, join);
    if (!join->error && !join->is_at_end)
        return 0;
    return err(MPI_ERR_OTHER, "E1012: the process at the other end of descriptor %d has not called MPI_Comm_join, or "
               "has left it: %s", join->fd, join->error ? strerror(join->error) : "it has closed the socket");
}

static int tell(int fd, const void *what, size_t size)
{
    struct join join = { .fd = fd, .own = what, .own_size = size };

    return pass(&join);
}

static int hear(int fd, void *what, size_t size)
{
    struct join join = { .fd = fd, .theirs = what, .their_size = size };

    return pass(&join);
}

static int check_socket(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    if (!getpeername(fd, (struct sockaddr *)&address, &size))
        return 0;
    return err(MPI_ERR_ARG, "E1012: descriptor %d is no connected socket: %s", fd, strerror(errno));
}

/* Are these words of the library's, and of a process that there can be? */
static bool make_sense(const struct words *theirs)
{
    return theirs->magic == JOIN_MAGIC &&
           (memcmp(theirs->token, dyn_job->token, sizeof theirs->token) || theirs->proc < dyn_job->procs);
}

static int exchange(int fd, const struct words *own, struct words *theirs)
{
    struct join join = { .fd = fd, .own = own, .theirs = theirs, .own_size = sizeof *own,
                         .their_size = sizeof *theirs };
    const int rc = pass(&join);

    if (!rc && !make_sense(theirs))
        return err(MPI_ERR_OTHER, "E1012: what comes from the other end of descriptor %d is not from MPI_Comm_join of "
                   "this library", fd);
    return rc;
}

/* --- with a process of another job --- */

/* Ours has the lower token. */
static int be_called(int fd, struct comm **out)
{
    char name[MPI_MAX_PORT_NAME] = "";
    const bool has_port = !dyn_open_port(name);
    uint32_t is_connected = 0;
    int rc;

    if (!strchr(name, '@')) { /* another job cannot connect to it */
        if (has_port)
            (void)dyn_close_port(name);
        memset(name, 0, sizeof name);
        return tell(fd, name, sizeof name);
    }
    rc = tell(fd, name, sizeof name);
    if (!rc)
        rc = accept_beside(name, fd, out);
    (void)dyn_close_port(name);
    if (err_class(rc) == MPI_ERR_PORT) /* there is no way, and the other one has been told */
        rc = 0;
    if (!rc)
        rc = hear(fd, &is_connected, sizeof is_connected);
    return rc;
}

static int call(int fd, struct comm **out)
{
    char name[MPI_MAX_PORT_NAME];
    uint32_t is_connected;
    int rc = hear(fd, name, sizeof name), told;

    if (rc || !*name)
        return rc;
    name[sizeof name - 1] = 0;
    rc = dyn_connect(name, NULL, 0, obj_comm(MPI_COMM_SELF), out);
    is_connected = !rc;
    told = tell(fd, &is_connected, sizeof is_connected);
    if (err_class(rc) == MPI_ERR_PORT) /* there is no way */
        rc = 0;
    return rc ? rc : told;
}

int dyn_join(int fd, struct comm **out)
{
    struct words own = { .magic = JOIN_MAGIC, .proc = -1 }, theirs;
    int rc = check_socket(fd), order;

    *out = NULL;
    if (rc)
        return rc;
    own.number = atomic_fetch_add_explicit(&joins, 1, memory_order_relaxed);
    if (!dyn_need_job("MPI_Comm_join")) /* without one we are alone, which is no error */
        own.proc = dyn_job->proc;
    memcpy(own.token, dyn_job->token, sizeof own.token);
    rc = exchange(fd, &own, &theirs);
    if (rc || own.proc < 0 || theirs.proc < 0)
        return rc;
    order = memcmp(own.token, theirs.token, sizeof own.token);
    if (order)
        return order < 0 ? be_called(fd, out) : call(fd, out);
    if (own.proc == theirs.proc)
        return 0;
    return comm_inter_with(obj_comm(MPI_COMM_SELF), 0, theirs.proc,
                           finding_tag(TAG_JOIN, own.proc < theirs.proc ? own.number : theirs.number), "MPI_Comm_join",
                           out);
}
