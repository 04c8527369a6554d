/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. Coming up under a launcher of somebody else, by whatever protocol it speaks (struct pm_protocol). It gives
 * us a rank, a common store and a fence, and nothing that the ranks of a machine inherit. So the lowest rank makes the
 * job segment and hands it to the others over an abstract Unix socket; who knows the job's token, which only the
 * store tells, and is the same user gets it.
 *
 *   rank 0                                            the others
 *   makes the segment, listens at the token's name
 *   puts "parley-job": version, token, host
 *   ------------------------------- fence -------------------------------
 *   takes their connections                           get it, compare the host, connect, say HELLO
 *   sees their processors, hands the segment to all   receive the segment and take their places */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "pm/int_pm.h"
#include "sys/clock.h"
#include "sys/control.h"
#include "sys/cpus.h"
#include "sys/descriptor.h"
#include "sys/pass.h"
#include "sys/segment.h"

#define JOB_KEY "parley-job"

enum { DRAIN_NS = 1000000000, PATIENCE_S = PM_PATIENCE_MS / 1000, HOST_SIZE = 96 };

static const struct pm_protocol *const protocols[] = { &pmi1_protocol };

const struct pm_protocol *pm_offered_protocol(void)
{
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++)
        if (protocols[i]->is_offered())
            return protocols[i];
    return NULL;
}

/* What processes must have in common to reach each other here: the running kernel, by its boot, and the namespace that
 * abstract sockets live in. What cannot be read is "?". */
static void write_host(char host[HOST_SIZE])
{
    char boot[40] = "?", net[40] = "?";
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, boot, sizeof boot - 1);

    if (fd >= 0)
        close(fd);
    if (got > 0)
        boot[got] = 0;
    boot[strcspn(boot, "\n")] = 0;
    got = readlink("/proc/self/ns/net", net, sizeof net - 1);
    if (got > 0)
        net[got] = 0;
    snprintf(host, HOST_SIZE, "%s/%s", boot, net);
}

/* --- the lowest rank --- */

/* Where the others connect and what they get. */
struct meeting {
    struct pm_job *job;
    const struct pm_place *place;
    struct job_head *head; /* mapped for the time of the meeting */
    int segment_fd, listener;
    int *sockets, *pids; /* of each rank; socket -1: not here yet */
    int present;
};

static int listen_at(uint64_t token)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int length =
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1, CONTROL_ADDRESS, (unsigned long long)token,
                 0);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    const int fd = descriptor_apart(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));

    if (fd >= 0 && !bind(fd, (const struct sockaddr *)&address, size) && !listen(fd, SOMAXCONN))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int first_missing(const struct meeting *m)
{
    int rank = 1;

    while (rank < m->place->size - 1 && m->sockets[rank] >= 0)
        rank++;
    return rank;
}

/* Wait for a connection; the launcher's end is an end of this, too. */
static int wait_for_guest(const struct meeting *m)
{
    const struct pm_foreign *foreign = m->job->foreign;
    struct pollfd waiting[] = { { .fd = m->listener, .events = POLLIN },
                                { .fd = foreign->protocol->lifeline(foreign->state), .events = POLLIN } };
    int ready;

    do
        ready = poll(waiting, ARRAY_LEN(waiting), PM_PATIENCE_MS);
    while (ready < 0 && errno == EINTR);
    if (ready > 0 && waiting[0].revents)
        return 0;
    if (ready > 0)
        return err(MPI_ERR_OTHER, "it has closed the connection before rank %d came", first_missing(m));
    return err(MPI_ERR_OTHER, "rank %d does not come to rank 0 within %d s", first_missing(m), PATIENCE_S);
}

/* The first packet of a newcomer: which rank it is, if it is one of us; else -1. */
static int check_guest(const struct meeting *m, int fd, const struct ucred *peer)
{
    const struct timeval limit = { .tv_sec = PATIENCE_S };
    struct control_header hello;

    if (peer->uid != geteuid() || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
        recv(fd, &hello, sizeof hello, 0) != (ssize_t)sizeof hello || hello.kind != CONTROL_HELLO ||
        memcmp(hello.token, m->head->token, sizeof hello.token) != 0 || hello.rank == 0 ||
        hello.rank >= (uint32_t)m->place->size || m->sockets[hello.rank] >= 0)
        return -1;
    return (int)hello.rank;
}

static int take_guest(struct meeting *m)
{
    const int fd = descriptor_apart(accept4(m->listener, NULL, NULL, SOCK_CLOEXEC));
    struct ucred peer;
    socklen_t size = sizeof peer;
    int rank;

    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED
                   ? 0
                   : err(MPI_ERR_OTHER, "rank 0 cannot take the connection of rank %d: %s%s", first_missing(m),
                         strerror(errno), errno == EMFILE ? "; raise the limit (ulimit -n)" : "");
    rank = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? -1 : check_guest(m, fd, &peer);
    if (rank < 0) {
        close(fd);
        return 0;
    }
    m->sockets[rank] = fd;
    m->pids[rank] = peer.pid;
    m->present++;
    return 0;
}

/* All together decide how long to spin, so all must be seen before the first begins. */
static void hand_out(struct meeting *m)
{
    m->head->cpus = (uint32_t)cpus_in_masks(m->pids, m->place->size);
    for (int i = 1; i < m->place->size; i++)
        (void)pass_send(m->sockets[i], m->segment_fd); /* who has gone meanwhile misses nothing */
}

static int invite(const struct meeting *m)
{
    const struct pm_foreign *foreign = m->job->foreign;
    char host[HOST_SIZE], value[PM_VALUE_SIZE];
    int rc;

    write_host(host);
    snprintf(value, sizeof value, "%d:%016llx%016llx:%s", CONTROL_VERSION, (unsigned long long)m->head->token[0],
             (unsigned long long)m->head->token[1], host);
    rc = foreign->protocol->put(foreign->state, JOB_KEY, value);
    return rc ? rc : foreign->protocol->fence(foreign->state);
}

static int hold_meeting(struct meeting *m)
{
    int rc;

    m->sockets = mem_alloc((size_t)m->place->size * sizeof *m->sockets);
    m->pids = mem_zalloc((size_t)m->place->size * sizeof *m->pids);
    if (!m->sockets || !m->pids)
        return err(MPI_ERR_OTHER, "no memory to meet %d processes", m->place->size);
    for (int i = 0; i < m->place->size; i++)
        m->sockets[i] = -1;
    m->listener = listen_at(m->head->token[0]);
    if (m->listener < 0)
        return err(MPI_ERR_OTHER, "no socket for the ranks to meet: %s", strerror(errno));
    rc = invite(m);
    for (m->present = 1; !rc && m->present < m->place->size;) {
        rc = wait_for_guest(m);
        if (!rc)
            rc = take_guest(m);
    }
    if (!rc)
        hand_out(m);
    return rc;
}

static void close_meeting(struct meeting *m)
{
    for (int i = 0; m->sockets && i < m->place->size; i++)
        if (m->sockets[i] >= 0)
            close(m->sockets[i]);
    if (m->listener >= 0)
        close(m->listener);
    mem_free(m->sockets);
    mem_free(m->pids);
    munmap(m->head, job_transport_offset(m->place->size));
}

/* Make the segment and give it to all. *ticket gets its descriptor. */
static int be_host(struct pm_job *job, const struct pm_place *place, struct pm_ticket *ticket)
{
    char name[64];
    const struct segment_plan plan = { .size = place->size, .apps = 1, .cpus = 1, .launcher = name };
    struct meeting m = { .job = job, .place = place, .listener = -1 };
    char why[SEGMENT_WHY];
    int rc;

    snprintf(name, sizeof name, "rank 0 under a launcher with %s", job->foreign->protocol->name);
    m.segment_fd = segment_make(&plan, &m.head, why);
    if (m.segment_fd < 0)
        return err(MPI_ERR_OTHER, "%s", why);
    for (int i = 0; i < place->size; i++)
        atomic_store_explicit(&job_proc(m.head, i)->state, JOB_STARTED, memory_order_relaxed);
    memcpy(ticket->token, m.head->token, sizeof ticket->token);
    rc = hold_meeting(&m);
    close_meeting(&m);
    if (rc)
        close(m.segment_fd);
    else
        ticket->segment_fd = m.segment_fd;
    return rc;
}

/* --- the others --- */

/* Where to go, from rank 0's word. */
static int read_invitation(const char *value, struct pm_ticket *ticket)
{
    char host[HOST_SIZE];
    unsigned long long high, low;
    int version, used = 0;

    if (!*value)
        return err(MPI_ERR_OTHER, "rank 0 has left no word for the others; is it a program with another MPI library?");
    if (sscanf(value, "%d:%16llx%16llx:%n", &version, &high, &low, &used) != 3 || !used ||
        version != CONTROL_VERSION)
        return err(MPI_ERR_OTHER, "rank 0 has another version of Parley than rank %d ('%.40s'); all ranks need the "
                   "same", ticket->rank, value);
    write_host(host);
    if (strcmp(host, value + used) != 0)
        return err(MPI_ERR_OTHER, "rank %d runs on another host or in another network namespace than rank 0; several "
                   "hosts are not supported yet", ticket->rank);
    ticket->token[0] = high;
    ticket->token[1] = low;
    return 0;
}

/* Only the user's own process may tell us which memory to use. */
static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
}

static int be_guest(const struct pm_foreign *foreign, struct pm_ticket *ticket)
{
    char value[PM_VALUE_SIZE];
    int fd, rc = foreign->protocol->fence(foreign->state);

    if (!rc)
        rc = foreign->protocol->get(foreign->state, JOB_KEY, value);
    if (!rc)
        rc = read_invitation(value, ticket);
    if (rc)
        return rc;
    fd = descriptor_apart(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ticket->segment_fd = fd < 0 ? -1 : pm_say_hello(fd, ticket, PATIENCE_S);
    if (ticket->segment_fd < 0)
        rc = err(MPI_ERR_OTHER, "rank %d cannot get the job segment from rank 0: %s", ticket->rank, strerror(errno));
    else if (!is_own_user(fd))
        rc = err(MPI_ERR_OTHER, "rank 0 runs as another user than rank %d", ticket->rank);
    if (rc && ticket->segment_fd >= 0)
        close(ticket->segment_fd);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* --- both --- */

static int check_nodes(const struct pm_foreign *foreign, const struct pm_place *place)
{
    int *node = mem_alloc((size_t)place->size * sizeof *node);
    int rc = node ? foreign->protocol->nodes(foreign->state, node, place->size)
                  : err(MPI_ERR_OTHER, "no memory for the places of %d processes", place->size);

    for (int i = 0; !rc && i < place->size; i++)
        if (node[i] != node[0])
            rc = err(MPI_ERR_OTHER, "ranks 0 and %d are on different hosts; several hosts are not supported yet", i);
    mem_free(node);
    return rc;
}

/* From here on the end of the launcher ends us. It may have ended already. */
static int guard(const struct pm_foreign *foreign)
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

static int meet(struct pm_job *job, const struct pm_place *place)
{
    struct pm_foreign *foreign = job->foreign;
    struct pm_ticket ticket = { .segment_fd = -1, .control_fd = -1, .rank = place->rank, .size = place->size,
                                .proc = place->rank, .procs = place->size };
    int rc = check_nodes(foreign, place);

    if (!rc)
        rc = place->rank == 0 ? be_host(job, place, &ticket) : be_guest(foreign, &ticket);
    if (rc)
        return rc;
    rc = pm_join(job, &ticket);
    if (job->is_singleton) {
        close(ticket.segment_fd);
        return rc ? rc : err(MPI_ERR_OTHER, "rank %d is its own ancestor", place->rank);
    }
    if (place->appnum >= 0)
        job_proc(job->head, job->proc)->appnum = job_place(job->head, job->proc)->appnum = (uint32_t)place->appnum;
    return 0;
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
        rc = meet(job, &place);
    if (!rc)
        rc = guard(foreign);
    if (rc)
        return explain(protocol, &place, rc);
    job->appnum = place.appnum;
    job->universe_size = place.universe_size;
    return 0;
}
