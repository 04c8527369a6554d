/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what ranks say on their control sockets (sys/control.h), and newcomers on the abstract address:
 * ranks whose wrapper has closed the inherited descriptors. Nothing is ever sent to a rank; it is answered
 * through its job_proc. */
#include "sys/control.h"

#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"
#include "base/diagnostic.h"
#include "base/mem.h"
#include "far.h"
#include "launch.h"
#include "source.h"
#include "sys/pass.h"
#include "sys/wake.h"

enum { PEER_HAS_ENDED = 338, OTHER_HAS_FAILED = 339, WAY_HAS_ENDED = 362,
       ONE_OF_MANY = DIAGNOSTIC_CLASS + MPI_ERR_IN_STATUS, REPLY_PART = 16384, REQUEST_MAX = 64 << 20 };

/* Of a call that has waited for several requests: that of the one that failed, which its text tells. */
static int id_of_request(const char *text)
{
    const char *index = strstr(text, "array_of_requests["), *cause = index ? strstr(index, "]: ") : NULL;

    return cause ? diagnostic_id(cause + strlen("]: ")) : 0;
}

/* An abort for want of another process comes before we know of that one's end or failure, which is the cause. */
static bool is_consequence(const struct control_message *message)
{
    int id = message->header.kind == CONTROL_ABORT ? diagnostic_id(message->text) : 0;

    if (id == ONE_OF_MANY)
        id = id_of_request(message->text);
    return id == PEER_HAS_ENDED || id == WAY_HAS_ENDED || id == OTHER_HAS_FAILED;
}

/* Of a rank on another machine that has been done there. */
static void add_site(const struct control_message *message, int pid, char *text, size_t size)
{
    const uint64_t site = message->header.call_site;

    diagnostic_add_site(message->text, site ? source_line(pid, site) : NULL, text, size);
}

static void abort_job(struct job *job, int rank, const struct control_message *message)
{
    const struct job_proc *proc = job_proc(job->head, rank);
    const int code = message->header.code, exit_code = (code & 0xff) == 0 && code != 0 ? 1 : code & 0xff;
    char text[CONTROL_TEXT_MAX + 512];

    job->ranks[rank].has_aborted = true;
    if (is_consequence(message) && job->failed_rank != -1)
        return;
    add_site(message, proc->pid, text, sizeof text);
    report_error(job, rank, text);
    job_failed(job, rank, exit_code, true);
}

/* Part of a request, or the end of it. False: it is answered later. */
static bool take_request(struct job *job, int rank, const struct control_message *message)
{
    struct rank *r = &job->ranks[rank];
    const size_t length = message->header.length;
    char *request;
    bool is_answered;

    if (r->request_size + length > REQUEST_MAX)
        return true; /* nobody asks for so much; the end of it is no request, and is told so */
    r->request = need_more(r->request, r->request_size + length + 1);
    memcpy(r->request + r->request_size, message->text, length);
    r->request_size += length;
    if (message->header.kind == CONTROL_MORE)
        return true;
    request = r->request;
    r->request = NULL;
    is_answered = dynamic_request(job, rank, message->header.kind, request, r->request_size);
    r->request_size = 0;
    return is_answered;
}

void control_taken(struct job *job, int rank)
{
    struct job_proc *proc = job_proc(job->head, rank);

    atomic_fetch_add_explicit(&proc->acknowledged, 1, memory_order_release);
    wake_all(&proc->acknowledged);
}

/* Its process is known, or its address. */
static void take_presence(struct job *job, int rank)
{
    if (job->root)
        agent_started(job, rank, atomic_load(&job_proc(job->head, rank)->pid));
    else
        mpir_update(job, rank);
    address_watch(job);
}

static void acknowledge(struct job *job, int rank, bool with_reply)
{
    if (is_far(job, rank))
        far_taken(job, rank, with_reply);
    else
        control_taken(job, rank);
}

void control_answered(struct job *job, int rank)
{
    acknowledge(job, rank, true);
}

static void take(struct job *job, int rank, const struct control_message *message)
{
    bool is_taken = true;

    if (message->header.kind == CONTROL_DIAGNOSE)
        report_text(job, rank, message->text);
    else if (message->header.kind == CONTROL_ABORT)
        abort_job(job, rank, message);
    else if (message->header.kind == CONTROL_PRESENT)
        take_presence(job, rank);
    else if (message->header.kind >= CONTROL_MORE && message->header.kind <= CONTROL_LAST)
        is_taken = take_request(job, rank, message);
    if (is_taken)
        acknowledge(job, rank, message->header.kind >= CONTROL_SPAWN);
}

static bool is_open(int fd)
{
    struct pollfd end = { .fd = fd, .events = POLLRDHUP };

    return poll(&end, 1, 0) == 0;
}

void control_far(struct job *job, int rank, struct control_message *message)
{
    struct rank *r = &job->ranks[rank];

    if (!is_consequence(message) || job->failed_rank != -1 || r->held) {
        take(job, rank, message);
        return;
    }
    r->held = need(sizeof *message); /* the rank waits for its acknowledgement */
    *r->held = *message;
    timer_set(job, TIMER_HELD, HELD_SECONDS);
}

/* As mpiexec gets it from an agent; it acknowledges it. */
static void relay(struct job *job, int rank, struct control_message *message)
{
    char text[CONTROL_TEXT_MAX + 512];

    if (message->header.kind == CONTROL_PRESENT) {
        take_presence(job, rank);
        control_taken(job, rank);
        return;
    }
    if (message->header.kind == CONTROL_ABORT) {
        add_site(message, job_proc(job->head, rank)->pid, text, sizeof text);
        message->header.length = (uint32_t)size_min(strlen(text), CONTROL_TEXT_MAX);
        memcpy(message->text, text, message->header.length);
    }
    agent_said(job, rank, message);
}

static void handle(struct job *job, int rank, struct control_message *message, size_t size)
{
    const size_t length = size_min(size - sizeof message->header, message->header.length);

    message->text[length] = 0;
    message->header.length = (uint32_t)length;
    forward_rank_over(job, rank); /* what it printed before comes before */
    if (job->root)
        relay(job, rank, message);
    else
        control_far(job, rank, message);
}

void control_held(struct job *job)
{
    for (int i = 0; i < job->used; i++) {
        struct control_message *message = job->ranks[i].held;
        if (!message)
            continue;
        job->ranks[i].held = NULL;
        take(job, i, message);
        mem_free(message);
    }
}

/* The rank has closed it, or has ended. */
static void close_control(struct job *job, struct source *source)
{
    const int rank = source->rank;

    if (job->ranks[rank].is_adopted && !job->ranks[rank].is_over) {
        epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL); /* it may wait for our end, which closes it */
        job_adopted_over(job, rank);
        return;
    }
    source_remove(job, source);
}

void control_ready(struct job *job, struct source *source, uint32_t events)
{
    struct control_message message;

    (void)events;
    for (;;) {
        const ssize_t got =
            recv(source->fd, &message, sizeof message.header + CONTROL_TEXT_MAX, MSG_DONTWAIT);
        if ((got < 0 && errno == EINTR) || (got == 0 && is_open(source->fd)))
            continue; /* an empty packet looks like the end */
        if (got == 0 || (got < 0 && errno != EAGAIN))
            close_control(job, source);
        if (got <= 0)
            return;
        if ((size_t)got >= sizeof message.header &&
            !memcmp(message.header.token, job->head->token, sizeof job->head->token))
            handle(job, source->rank, &message, (size_t)got);
    }
}

void control_rank_over(struct job *job, int rank)
{
    if (job->ranks[rank].control.fd >= 0)
        control_ready(job, &job->ranks[rank].control, 0);
    for (int i = 0; i < job->guest_count; i++)
        if (job->guests[i]->fd >= 0 && job->guests[i]->rank == rank)
            control_ready(job, job->guests[i], 0);
}

static bool is_same_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && (peer.uid == geteuid() || peer.uid == 0);
}

/* Somebody waits for a report, and has nothing to say: this is the end of it. */
static void asker_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)events;
    source_remove(job, source);
}

void control_reply(struct job *job, struct source *source, const char *text)
{
    size_t left = strlen(text);

    if (source->fd < 0 || source->ready != asker_ready) /* gone meanwhile */
        return;
    while (left > 0) {
        const size_t part = size_min(left, REPLY_PART);
        if (send(source->fd, text, part, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)part)
            break; /* who asks and does not read gets no more */
        text += part;
        left -= part;
    }
    source_remove(job, source);
}

/* The first packet of a newcomer. Whoever knows the token and is the same user is one of our ranks, or wants a
 * report. */
static void guest_ready(struct job *job, struct source *source, uint32_t events)
{
    struct control_header hello;
    const ssize_t got = recv(source->fd, &hello, sizeof hello, MSG_DONTWAIT);
    const bool is_known = got == (ssize_t)sizeof hello &&
                          !memcmp(hello.token, job->head->token, sizeof hello.token) && is_same_user(source->fd);

    (void)events;
    if (is_known && hello.kind == CONTROL_REPORT) {
        source->ready = asker_ready;
        hang_want_for(job, source);
        return;
    }
    if (!is_known || hello.kind != CONTROL_HELLO || hello.rank >= (uint32_t)job->used ||
        is_far(job, (int)hello.rank)) {
        source_remove(job, source);
        return;
    }
    (void)pass_send(source->fd, job->segment_fd); /* whoever does not get it says so */
    source->rank = (int)hello.rank;
    source->ready = control_ready;
}

static struct source *new_guest(struct job *job)
{
    for (int i = 0; i < job->guest_count; i++)
        if (job->guests[i]->fd < 0)
            return job->guests[i];
    if (job->guest_count == job->guest_room) {
        job->guest_room = job->guest_room * 2 + 8;
        job->guests = need_more(job->guests, (size_t)job->guest_room * sizeof *job->guests);
    }
    return job->guests[job->guest_count++] = need(sizeof *job->guests[0]);
}

static void listener_ready(struct job *job, struct source *source, uint32_t events)
{
    const int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC);
    struct source *guest;

    (void)events;
    if (fd < 0)
        return;
    guest = new_guest(job);
    *guest = (struct source){ .ready = guest_ready, .fd = fd, .rank = -1 };
    source_add(job, guest);
}

/* Without the address everything works but wrappers that close descriptors, so a refusal is not the end. */
void control_listen(struct job *job)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, CONTROL_ADDRESS,
                                (unsigned long long)job->head->token[0], job->head->launcher_pid);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    job->listener = (struct source){ .ready = listener_ready, .fd = fd, .rank = -1 };
    if (fd < 0)
        return;
    if (bind(fd, (const struct sockaddr *)&address, size) || listen(fd, SOMAXCONN)) {
        close(fd);
        job->listener.fd = -1;
        return;
    }
    source_add(job, &job->listener);
}
