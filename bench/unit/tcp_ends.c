/* SPDX-License-Identifier: BSD-3-Clause */
/* What the TCP transport adds to sockets: half a round trip of 8 bytes, and messages of 8 bytes in windows of 64 that
 * are answered, each by spinning on plain sockets and through the transport, in turns, between two pinned processes
 * over the loopback. Also the bandwidth of long records, out of memory and into it.
 *
 * Output: lines as those of bare_line; "bare" is the plain socket. */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../stats.h"
#include "net/tcp/tcp.h"
#include "sys/job.h"

enum { BATCHES = 101, TRIPS = 200, WINDOW = 64, WINDOWS = 30, LONG = 1 << 20, LONGS = 16, WARM_UP = 5 };

struct side {
    int proc, fd;
    struct net *net;
    struct net_ep *ep;
    _Atomic uint32_t got;
    uint32_t awaited;
    char *target;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* --- plain sockets --- */

static void bare_send(int fd, const void *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t sent = send(fd, (const char *)data + done, len - done, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0)
            done += (size_t)sent;
        else if (errno != EAGAIN)
            fail("send");
    }
}

static void bare_recv(int fd, void *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t got = recv(fd, (char *)data + done, len - done, MSG_DONTWAIT);
        if (got > 0)
            done += (size_t)got;
        else if (!got || errno != EAGAIN)
            fail("recv");
    }
}

static void bare_trips(struct side *side)
{
    char data[8] = { 0 };

    for (int i = 0; i < TRIPS; i++) {
        if (side->proc == 0)
            bare_send(side->fd, data, sizeof data);
        bare_recv(side->fd, data, sizeof data);
        if (side->proc == 1)
            bare_send(side->fd, data, sizeof data);
    }
}

static void bare_windows(struct side *side)
{
    char data[8 * WINDOW] = { 0 };

    for (int i = 0; i < WINDOWS; i++) {
        if (side->proc == 0) {
            for (int n = 0; n < WINDOW; n++)
                bare_send(side->fd, data, 8);
            bare_recv(side->fd, data, 8);
        } else {
            bare_recv(side->fd, data, sizeof data);
            bare_send(side->fd, data, 8);
        }
    }
}

static void bare_stream(struct side *side)
{
    for (int i = 0; i < LONGS; i++) {
        if (side->proc == 0)
            bare_send(side->fd, side->target, LONG);
        else
            bare_recv(side->fd, side->target, LONG);
    }
    if (side->proc == 0)
        bare_recv(side->fd, side->target, 8);
    else
        bare_send(side->fd, side->target, 8);
}

/* --- the transport --- */

static int arrive(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct side *side = arg;

    (void)proc, (void)head;
    if (payload != side->target)
        memcpy(side->target, payload, len);
    side->got++;
    return 0;
}

static void *land(void *arg, int proc, struct net_head head, uint32_t len)
{
    (void)proc, (void)head, (void)len;
    return ((struct side *)arg)->target;
}

/* `n` more. */
static void await(struct side *side, uint32_t n)
{
    side->awaited += n;
    while (side->got != side->awaited)
        tcp_ops.poll_ep(side->ep, NULL);
}

static void say(struct side *side)
{
    while (tcp_ops.send(side->ep, (struct net_head){ { 1, 2 } }, "1234567", 8))
        tcp_ops.poll_ep(side->ep, NULL);
}

static void trips(struct side *side)
{
    for (int i = 0; i < TRIPS; i++) {
        if (side->proc == 0)
            say(side);
        await(side, 1);
        if (side->proc == 1)
            say(side);
    }
}

static void windows(struct side *side)
{
    for (int i = 0; i < WINDOWS; i++) {
        if (side->proc == 0) {
            for (int n = 0; n < WINDOW; n++) {
                while (tcp_ops.send_soon(side->ep, (struct net_head){ { 1, 2 } }, "1234567", 8) == NET_AGAIN)
                    tcp_ops.poll_ep(side->ep, NULL);
            }
            await(side, 1);
        } else {
            await(side, WINDOW);
            say(side);
        }
    }
}

static void stream(struct side *side)
{
    _Atomic uint32_t pending = LONGS;

    for (int i = 0; i < LONGS && side->proc == 0; i++) {
        while (tcp_ops.send_from(side->ep, (struct net_head){ { 1, 2 } }, side->target, LONG, &pending))
            tcp_ops.poll(side->net);
    }
    if (side->proc == 0) {
        while (pending)
            tcp_ops.poll(side->net);
        await(side, 1);
    } else {
        await(side, LONGS);
        say(side);
    }
}

/* --- both in turns --- */

typedef void part_fn(struct side *side);

static const struct {
    const char *name, *parameter, *unit;
    part_fn *bare, *ours;
    double amount;              /* of the unit in a batch; 0: microseconds one way */
} measures[] = {
    { "tcp_latency", "8", "us", bare_trips, trips, 0 },
    { "tcp_rate", "8", "M/s", bare_windows, windows, 1e-6 * WINDOW * WINDOWS },
    { "tcp_bandwidth", "1048576", "MB/s", bare_stream, stream, 1e-6 * LONG * LONGS },
};

static double timed(struct side *side, part_fn *part, double amount)
{
    const double start = stats_now();

    part(side);
    return amount > 0 ? amount / (stats_now() - start) : 1e6 * (stats_now() - start) / (2 * TRIPS);
}

static void measure(struct side *side, int batches)
{
    double bare[BATCHES], ours[BATCHES];
    char name[64];

    for (size_t m = 0; m < sizeof measures / sizeof measures[0]; m++) {
        const enum better better = measures[m].amount > 0 ? BETTER_HIGH : BETTER_LOW;
        for (int i = -WARM_UP; i < batches; i++) {
            const double first = timed(side, measures[m].bare, measures[m].amount);
            const double second = timed(side, measures[m].ours, measures[m].amount);
            if (i < 0)
                continue;
            bare[i] = first;
            ours[i] = second;
        }
        if (side->proc)
            continue;
        snprintf(name, sizeof name, "bare_%s", measures[m].name);
        stats_print(name, measures[m].parameter, bare, batches, measures[m].unit, better);
        stats_print(measures[m].name, measures[m].parameter, ours, batches, measures[m].unit, better);
    }
}

/* --- coming up --- */

static struct job_head *make_segment(void)
{
    const int access = PROT_READ | PROT_WRITE, kind = MAP_SHARED | MAP_ANONYMOUS;
    struct job_head *head = mmap(NULL, job_transport_offset(2), access, kind, -1, 0);

    if (head == MAP_FAILED)
        fail("mmap");
    head->slots = 2;
    head->token[0] = 1;
    return head;
}

static void make_sockets(int fds[2])
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    socklen_t size = sizeof at;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, size) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &size) || connect(fds[0], (struct sockaddr *)&at, size))
        fail("loopback");
    fds[1] = accept(listener, NULL, NULL);
    for (int i = 0; i < 2; i++)
        setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void run(struct job_head *segment, int proc, int fd, int batches)
{
    static char target[LONG];
    struct side side = { .proc = proc, .fd = fd, .target = target };
    struct net_config config = { .proc = proc, .procs = 2, .segment = segment };

    memset(target, 1, sizeof target);
    config.sink.arrive = arrive;
    config.sink.arg = &side;
    config.sink.land = land;
    if (stats_pin(proc) || tcp_ops.open(&config, &side.net) || tcp_ops.connect(side.net, 1 - proc, &side.ep)) {
        fprintf(stderr, "tcp_ends: side %d does not come up\n", proc);
        exit(1);
    }
    measure(&side, batches);
    tcp_ops.close(side.net);
}

int main(int argc, char **argv)
{
    const int batches = argc == 3 && !strcmp(argv[1], "--batches") ? atoi(argv[2]) : BATCHES;
    struct job_head *segment = make_segment();
    int fds[2], status;
    pid_t pid;

    if (batches < 1 || batches > BATCHES || (argc != 1 && argc != 3)) {
        fprintf(stderr, "usage: tcp_ends [--batches N], N from 1 to %d\n", BATCHES);
        return 2;
    }
    if (stats_cores() < 2) {
        printf("# tcp_ends needs two cores\n");
        return 77;
    }
    make_sockets(fds);
    pid = fork();
    if (pid < 0)
        fail("fork");
    if (!pid)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(segment, pid ? 0 : 1, fds[pid ? 0 : 1], batches);
    return pid && waitpid(pid, &status, 0) == pid ? status != 0 : 0;
}
