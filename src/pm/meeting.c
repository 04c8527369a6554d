/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. How the ranks of a launcher of somebody else meet, by its common store and its fence. On each node the
 * lowest rank makes the job segment and hands it to the others of the node over an abstract Unix socket; who knows the
 * token of the meeting, which only the store tells, and is the same user gets it.
 *
 *   lowest rank of a node                             its others
 *   makes the segment, listens at its token's name
 *   puts "parley-job": version, token, host
 *   ------------------------------- fence -------------------------------
 *   takes the job's token from rank 0's word          get its word and rank 0's, compare the host
 *   takes their connections                           connect, say HELLO
 *   sees their processors, hands the segment to all   receive the segment and take their places
 *
 * Where there are several nodes, all put their addresses into the store when their networks are open, and after another
 * fence the lowest rank of a node writes those of the other nodes into its segment. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "pm/int_pm.h"
#include "sys/bell.h"
#include "sys/control.h"
#include "sys/cpus.h"
#include "sys/descriptor.h"
#include "sys/pass.h"
#include "sys/segment.h"

#define JOB_KEY     "parley-job"
#define ADDRESS_KEY "parley-net"

enum { PATIENCE_S = PM_PATIENCE_MS / 1000, HOST_SIZE = 96 };

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

/* The key under which a rank has put something for the others. */
static void write_key(char key[PM_KEY_SIZE], const char *what, int rank)
{
    snprintf(key, PM_KEY_SIZE, "%s-%d", what, rank);
}

/* Where the ranks of a node meet. */
struct meeting {
    struct pm_job *job;
    const struct pm_place *place;
    int *node;             /* of each rank, from 0 */
    int nodes;
    int lowest;            /* rank of this node */
    /* of the lowest rank: */
    struct job_head *head; /* mapped for the time of the meeting */
    uint64_t token[2];     /* of the meeting; the job's is that of rank 0's */
    int segment_fd, listener;
    int *sockets, *pids;   /* of each rank; socket -1: not here yet */
    int present, members;  /* of this node: connected, and in all */
};

static bool is_member(const struct meeting *m, int rank)
{
    return m->node[rank] == m->node[m->place->rank];
}

/* --- the lowest rank --- */

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
    int rank = m->lowest + 1;

    while (rank < m->place->size - 1 && (!is_member(m, rank) || m->sockets[rank] >= 0))
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
    return err(MPI_ERR_OTHER, "rank %d does not come to rank %d within %d s", first_missing(m), m->lowest, PATIENCE_S);
}

/* The first packet of a newcomer: which rank it is, if it is one of us; else -1. */
static int check_guest(const struct meeting *m, int fd, const struct ucred *peer)
{
    const struct timeval limit = { .tv_sec = PATIENCE_S };
    struct control_header hello;
    ssize_t got;

    if (peer->uid != geteuid() || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit))
        return -1;
    do /* a signal ends a wait with a limit */
        got = recv(fd, &hello, sizeof hello, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof hello || hello.kind != CONTROL_HELLO ||
        memcmp(hello.token, m->token, sizeof hello.token) != 0 || hello.rank >= (uint32_t)m->place->size ||
        (int)hello.rank == m->lowest || !is_member(m, (int)hello.rank) || m->sockets[hello.rank] >= 0)
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
                   : err(MPI_ERR_OTHER, "rank %d cannot take the connection of rank %d: %s%s", m->lowest,
                         first_missing(m), strerror(errno), errno == EMFILE ? "; raise the limit (ulimit -n)" : "");
    rank = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? -1 : check_guest(m, fd, &peer);
    if (rank < 0) {
        close(fd);
        return 0;
    }
    m->sockets[rank] = fd;
    m->pids[m->present++] = peer.pid;
    return 0;
}

/* All together decide how long to spin, so all must be seen before the first begins. */
static void hand_out(struct meeting *m)
{
    m->head->cpus = (uint32_t)cpus_in_masks(m->pids, m->members);
    for (int i = 0; i < m->place->size; i++)
        if (m->sockets[i] >= 0)
            (void)pass_send(m->sockets[i], m->segment_fd); /* who has gone meanwhile misses nothing */
}

static int invite(const struct meeting *m)
{
    const struct pm_foreign *foreign = m->job->foreign;
    char host[HOST_SIZE], key[PM_KEY_SIZE], value[PM_VALUE_SIZE];
    int rc;

    write_host(host);
    write_key(key, JOB_KEY, m->lowest);
    snprintf(value, sizeof value, "%d:%016llx%016llx:%s", CONTROL_VERSION, (unsigned long long)m->token[0],
             (unsigned long long)m->token[1], host);
    rc = foreign->protocol->put(foreign->state, key, value);
    return rc ? rc : foreign->protocol->fence(foreign->state);
}

/* What the lowest rank of a node has put: its token, and *host, which points into `value`. */
static int read_invitation(const struct meeting *m, int host_rank, char value[PM_VALUE_SIZE], uint64_t token[2],
                           const char **host)
{
    const struct pm_foreign *foreign = m->job->foreign;
    char key[PM_KEY_SIZE];
    unsigned long long high, low;
    int version, used = 0, rc;

    write_key(key, JOB_KEY, host_rank);
    rc = foreign->protocol->get(foreign->state, host_rank, key, value);
    if (rc)
        return rc;
    if (!*value)
        return err(MPI_ERR_OTHER, "rank %d has left no word for the others; is it a program with another MPI library?",
                   host_rank);
    if (sscanf(value, "%d:%16llx%16llx:%n", &version, &high, &low, &used) != 3 || !used ||
        version != CONTROL_VERSION)
        return err(MPI_ERR_OTHER, "rank %d has another version of Parley than rank %d ('%.40s'); all ranks need the "
                   "same", host_rank, m->place->rank, value);
    token[0] = high;
    token[1] = low;
    *host = value + used;
    return 0;
}

/* All segments of the job have the token of rank 0's. */
static int take_job_token(struct meeting *m)
{
    char value[PM_VALUE_SIZE];
    const char *host;

    return m->lowest == 0 ? 0 : read_invitation(m, 0, value, m->head->token, &host);
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
    m->listener = listen_at(m->token[0]);
    if (m->listener < 0)
        return err(MPI_ERR_OTHER, "no socket for the ranks to meet: %s", strerror(errno));
    rc = invite(m);
    if (!rc)
        rc = take_job_token(m);
    for (m->present = 1; !rc && m->present < m->members;) { /* the first pid is ours: 0 */
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

/* What the maker of a segment does not know. */
static void fill_places(struct meeting *m)
{
    memcpy(m->token, m->head->token, sizeof m->token);
    m->head->is_spread = m->nodes > 1;
    for (int i = 0; i < m->place->size; i++) {
        job_place(m->head, i)->node = (uint32_t)m->node[i];
        if (!is_member(m, i))
            continue;
        atomic_store_explicit(&job_proc(m->head, i)->state, JOB_STARTED, memory_order_relaxed);
        m->members++;
    }
    m->head->here = m->nodes > 1 ? (uint32_t)m->members : 0;
}

/* Make the segment and give it to all. *ticket gets its descriptor. */
static int be_host(struct meeting *m, struct pm_ticket *ticket)
{
    char name[64];
    const struct segment_plan plan = { .size = m->place->size, .apps = 1, .cpus = 1, .launcher = name };
    char why[SEGMENT_WHY];
    int rc;

    snprintf(name, sizeof name, "rank %d under a launcher with %s", m->lowest, m->job->foreign->protocol->name);
    m->segment_fd = segment_make(&plan, &m->head, why);
    if (m->segment_fd < 0)
        return err(MPI_ERR_OTHER, "%s", why);
    fill_places(m);
    rc = hold_meeting(m);
    memcpy(ticket->token, m->head->token, sizeof ticket->token);
    close_meeting(m);
    if (rc)
        close(m->segment_fd);
    else
        ticket->segment_fd = m->segment_fd;
    return rc;
}

/* --- the others --- */

/* Where to go, from the word of the lowest rank here. */
static int find_host(const struct meeting *m, uint64_t token[2])
{
    char own[HOST_SIZE], value[PM_VALUE_SIZE];
    const char *host;
    const int rc = read_invitation(m, m->lowest, value, token, &host);

    if (rc)
        return rc;
    write_host(own);
    if (strcmp(own, host) != 0)
        return err(MPI_ERR_OTHER, "rank %d runs on another host or in another network namespace than rank %d, and the "
                   "launcher says nothing of that", m->place->rank, m->lowest);
    return 0;
}

/* Only the user's own process may tell us which memory to use. */
static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
}

static int get_segment(const struct meeting *m, struct pm_ticket *ticket)
{
    const int fd = descriptor_apart(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    int rc = 0;

    ticket->segment_fd = fd < 0 ? -1 : pm_say_hello(fd, ticket, PATIENCE_S);
    if (ticket->segment_fd < 0)
        rc = err(MPI_ERR_OTHER, "rank %d cannot get the job segment from rank %d: %s", ticket->rank, m->lowest,
                 strerror(errno));
    else if (!is_own_user(fd))
        rc = err(MPI_ERR_OTHER, "rank %d runs as another user than rank %d", m->lowest, ticket->rank);
    if (rc && ticket->segment_fd >= 0)
        close(ticket->segment_fd);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int be_guest(const struct meeting *m, struct pm_ticket *ticket)
{
    const struct pm_foreign *foreign = m->job->foreign;
    char value[PM_VALUE_SIZE];
    const char *host;
    int rc = foreign->protocol->fence(foreign->state);

    if (!rc)
        rc = find_host(m, ticket->token);
    if (!rc)
        rc = get_segment(m, ticket);
    if (rc || m->lowest == 0)
        return rc;
    rc = read_invitation(m, 0, value, ticket->token, &host);
    if (rc)
        close(ticket->segment_fd);
    return rc;
}

/* --- both --- */

/* As the launcher tells, numbered from 0 in the order of their lowest ranks; one node, if it does not tell. */
static int find_nodes(struct meeting *m)
{
    const struct pm_foreign *foreign = m->job->foreign;
    const int size = m->place->size;
    int *told = mem_alloc((size_t)size * sizeof *told);
    int rc = told && m->node ? foreign->protocol->nodes(foreign->state, told, size)
                             : err(MPI_ERR_OTHER, "no memory for the places of %d processes", size);

    for (int i = 0; !rc && i < size; i++) {
        int like = 0;
        while (told[like] != told[i])
            like++;
        m->node[i] = like == i ? m->nodes++ : m->node[like];
    }
    mem_free(told);
    while (!rc && !is_member(m, m->lowest))
        m->lowest++;
    return rc;
}

static int meet(struct meeting *m)
{
    struct pm_job *job = m->job;
    const struct pm_place *place = m->place;
    struct pm_ticket ticket = { .segment_fd = -1, .control_fd = -1, .rank = place->rank, .size = place->size,
                                .proc = place->rank, .procs = place->size };
    int rc = find_nodes(m);

    if (!rc)
        rc = place->rank == m->lowest ? be_host(m, &ticket) : be_guest(m, &ticket);
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

int pm_meet(struct pm_job *job, const struct pm_place *place)
{
    struct meeting m = { .job = job, .place = place, .listener = -1 };
    int rc;

    m.node = mem_alloc((size_t)place->size * sizeof *m.node);
    rc = meet(&m);
    mem_free(m.node);
    return rc;
}

/* --- addresses --- */

static int put_address(const struct pm_job *job)
{
    const struct job_place *place = job_place(job->head, job->proc);
    const enum job_net net = job_address_size(&place->address[JOB_OFI]) ? JOB_OFI : JOB_TCP;
    const struct job_address *address = &place->address[net];
    char key[PM_KEY_SIZE], hex[2 * JOB_ADDRESS_SIZE + 2];

    static_assert(sizeof hex <= PM_VALUE_SIZE, "an address is a value");
    snprintf(hex, sizeof hex, "%d", (int)net);
    for (uint32_t i = 0; i < job_address_size(address); i++)
        snprintf(hex + 1 + 2 * i, 3, "%02x", address->bytes[i]);
    write_key(key, ADDRESS_KEY, job->rank);
    return job->foreign->protocol->put(job->foreign->state, key, hex);
}

static int take_address(const struct pm_job *job, int rank)
{
    struct job_address *address;
    char key[PM_KEY_SIZE], hex[PM_VALUE_SIZE] = "";
    uint32_t size = 0;
    unsigned byte;
    int rc;

    write_key(key, ADDRESS_KEY, rank);
    rc = job->foreign->protocol->get(job->foreign->state, rank, key, hex);
    address = &job_place(job->head, rank)->address[*hex == '0' + JOB_OFI ? JOB_OFI : JOB_TCP];
    for (; !rc && *hex && size < JOB_ADDRESS_SIZE && sscanf(hex + 1 + 2 * size, "%2x", &byte) == 1; size++)
        address->bytes[size] = (unsigned char)byte;
    if (!rc && !size)
        rc = err(MPI_ERR_OTHER, "rank %d, on another host, has told no address of its network", rank);
    atomic_store_explicit(&address->size, size, memory_order_release); /* pairs with who connects */
    return rc;
}

/* Those of the other nodes, for all ranks here, who may sleep until they are known. */
static int take_addresses(const struct pm_job *job)
{
    int rc = 0;

    for (int rank = 0; !rc && rank < job->size; rank++)
        if (!job_is_near(job->head, rank, job->rank))
            rc = take_address(job, rank);
    for (int rank = 0; rank < job->size; rank++)
        if (rank != job->rank && job_is_near(job->head, rank, job->rank))
            bell_wake(-1, job->head, &job_proc(job->head, rank)->sleep);
    return rc;
}

int pm_share_addresses(struct pm_job *job)
{
    struct pm_foreign *foreign = job->foreign;
    int lowest = 0, rc;

    if (!job->head->is_spread || foreign->has_shared)
        return 0;
    foreign->has_shared = true;
    while (!job_is_near(job->head, lowest, job->rank))
        lowest++;
    pm_unguard(foreign);
    rc = put_address(job);
    if (!rc)
        rc = foreign->protocol->fence(foreign->state);
    if (!rc && lowest == job->rank)
        rc = take_addresses(job);
    return rc ? rc : pm_guard(foreign);
}
