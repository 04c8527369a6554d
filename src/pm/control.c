/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. The way to the launcher: the control socket, inherited or connected anew, and what goes through
 * it. Answers come through the job segment (see sys/control.h). */
#include "sys/control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "base/err.h"
#include "pm/int_pm.h"
#include "sys/callsite.h"
#include "sys/clock.h"
#include "sys/descriptor.h"
#include "sys/pass.h"
#include "sys/wake.h"

enum { CONNECT_S = 5, LOCK_S = 1 };

#define ANSWER_NS   UINT64_C(5000000000)
#define FOR_EVER_NS (UINT64_C(1) << 60)

static_assert((int)PM_TEXT_MAX == (int)CONTROL_TEXT_MAX, "a text of pm fits a control message");

/* A decimal number at *at and the `end` behind it, which *at moves past. Every rank reads eight words at its start:
 * sscanf would cost more pages of the C library than all else here. */
static bool parse_number(const char **at, char end, int *number)
{
    const bool is_negative = **at == '-';
    int64_t value = 0;
    const char *digit = *at + is_negative;

    if (*digit < '0' || *digit > '9')
        return false;
    for (; *digit >= '0' && *digit <= '9' && value <= INT32_MAX; digit++)
        value = value * 10 + *digit - '0';
    *number = (int)(is_negative ? -value : value);
    *at = digit + (*digit != 0);
    return *digit == end && value <= INT32_MAX;
}

/* Sixteen hexadecimal digits. */
static bool parse_word(const char **at, uint64_t *word)
{
    *word = 0;
    for (int i = 0; i < 16; i++, ++*at) {
        const char c = **at;
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        *word = *word << 4 | (uint64_t)digit;
    }
    return true;
}

int pm_parse_ticket(const char *text, struct pm_ticket *ticket)
{
    const char *at = text;
    int version;

    if (parse_number(&at, ':', &version) && version != CONTROL_VERSION)
        return err(MPI_ERR_OTHER,
                   "E0311: mpiexec speaks version %d of the control protocol, this library version %d",
                   version, CONTROL_VERSION);
    if (at == text || !parse_number(&at, ':', &ticket->launcher_pid) ||
        !parse_number(&at, ':', &ticket->segment_fd) || !parse_number(&at, ':', &ticket->control_fd) ||
        !parse_word(&at, &ticket->token[0]) || !parse_word(&at, &ticket->token[1]) || *at++ != ':' ||
        !parse_number(&at, ':', &ticket->rank) || !parse_number(&at, ':', &ticket->size) ||
        !parse_number(&at, ':', &ticket->proc) || !parse_number(&at, 0, &ticket->procs))
        return err(MPI_ERR_OTHER, "E0310: " CONTROL_JOB_VARIABLE "=%s is not of a form that this library knows", text);
    if (ticket->size < 1 || ticket->rank < 0 || ticket->rank >= ticket->size || ticket->proc < 0 ||
        ticket->proc >= ticket->procs || ticket->procs > 2 * JOB_SLOTS_MAX)
        return err(MPI_ERR_OTHER, "E0310: " CONTROL_JOB_VARIABLE "=%s: rank %d of %d", text, ticket->rank,
                   ticket->size);
    return 0;
}

/* A Unix packet socket whose other end was made by the launcher, and is open? Seen from another process namespace, a
 * container of the rank's own, that has the number 0; the token in the segment tells the rest. Nothing is ever sent to
 * us. */
static bool is_control(int fd, int launcher_pid)
{
    struct ucred peer;
    int type = 0;
    char byte;
    socklen_t type_size = sizeof type, peer_size = sizeof peer;

    return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) && type == SOCK_SEQPACKET &&
           !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) &&
           (peer.pid == launcher_pid || peer.pid == 0) && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           errno == EAGAIN;
}

bool pm_inherited(const struct pm_ticket *ticket)
{
    const off_t need = (off_t)job_transport_offset(ticket->procs);
    struct stat st;

    return !fstat(ticket->segment_fd, &st) && S_ISREG(st.st_mode) && st.st_size >= need &&
           is_control(ticket->control_fd, ticket->launcher_pid);
}

bool pm_is_guarded(const struct pm_ticket *ticket)
{
    const int owner = fcntl(ticket->control_fd, F_GETOWN);

    return owner < 0 ? getpgrp() == -owner : owner == getpid();
}

int pm_say_hello(int fd, const struct pm_ticket *ticket, int seconds)
{
    const struct timeval limit = { .tv_sec = seconds };
    const struct control_header hello = { .kind = CONTROL_HELLO,
                                          .rank = (uint32_t)ticket->proc,
                                          .token = { ticket->token[0], ticket->token[1] } };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, CONTROL_ADDRESS,
                                (unsigned long long)ticket->token[0], ticket->launcher_pid);
    const socklen_t address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) ||
        connect(fd, (const struct sockaddr *)&address, address_size) ||
        send(fd, &hello, sizeof hello, MSG_NOSIGNAL) < 0)
        return -1;
    return pass_receive(fd);
}

int pm_reconnect(struct pm_ticket *ticket)
{
    const int fd = descriptor_apart(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const int segment_fd = fd < 0 ? -1 : pm_say_hello(fd, ticket, CONNECT_S);
    int rc;

    if (segment_fd < 0) {
        rc = err(MPI_ERR_OTHER,
                 "E0314: rank %d of %d cannot reach its mpiexec (process %d): %s; its descriptors are closed, "
                 "and it may have ended or run in another network namespace",
                 ticket->rank, ticket->size, ticket->launcher_pid, strerror(errno));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    /* From here on nothing comes in but the end of the launcher, which ends us too. */
    if (!fcntl(fd, F_SETOWN, getpid()) && !fcntl(fd, F_SETSIG, SIGKILL))
        (void)fcntl(fd, F_SETFL, O_ASYNC);
    ticket->segment_fd = segment_fd;
    ticket->control_fd = fd;
    return 0;
}

/* Sleep until the launcher has taken `count` messages from us, or the time is over. */
static void wait_acknowledged(_Atomic uint32_t *acknowledged, uint32_t count, uint64_t limit_ns)
{
    const uint64_t end = clock_ns() + limit_ns;

    for (;;) {
        const uint32_t seen = atomic_load_explicit(acknowledged, memory_order_acquire);
        const uint64_t now = clock_ns();
        if ((int32_t)(seen - count) >= 0 || now >= end)
            return;
        wake_sleep(acknowledged, seen, end - now);
    }
}

/* Another thread may be telling something; or this one, if we are in a signal handler: then it goes out without the
 * lock, and the most that is lost is an acknowledgement. */
static bool take_lock(struct pm_job *job)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += LOCK_S;
    return !pthread_mutex_timedlock(&job->control_lock, &end);
}

/* Send and wait for the acknowledgement; false: it did not go out. With the lock, if that could be had. */
static bool send_message(struct pm_job *job, struct control_header header, const char *text, uint64_t limit_ns)
{
    struct iovec parts[2] = { { .iov_base = &header, .iov_len = sizeof header },
                              { .iov_base = (void *)(uintptr_t)text, .iov_len = header.length } };
    const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    _Atomic uint32_t *acknowledged = &job_proc(job->head, job->proc)->acknowledged;

    header.rank = (uint32_t)job->proc;
    memcpy(header.token, job->token, sizeof header.token);
    if (job->sent - atomic_load_explicit(acknowledged, memory_order_acquire) >= CONTROL_WINDOW ||
        sendmsg(job->control_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return false;
    wait_acknowledged(acknowledged, ++job->sent, limit_ns);
    return true;
}

/* false: it did not go out. */
static bool tell(struct pm_job *job, enum control_kind kind, int code, const char *text, uint64_t call_site)
{
    const struct control_header header = { .kind = kind,
                                           .code = code,
                                           .length = (uint32_t)size_min(strlen(text), PM_TEXT_MAX),
                                           .call_site = call_site };
    const bool has_lock = take_lock(job);
    const bool is_sent = send_message(job, header, text, ANSWER_NS);

    if (has_lock)
        pthread_mutex_unlock(&job->control_lock);
    return is_sent;
}

/* With the lock; false: the launcher is gone. */
static bool send_request(struct pm_job *job, unsigned kind, const char *request, size_t size)
{
    bool is_sent;

    do {
        const size_t part = size_min(size, PM_TEXT_MAX);
        const struct control_header header = { .kind = part < size ? CONTROL_MORE : kind, .length = (uint32_t)part };

        is_sent = send_message(job, header, request, FOR_EVER_NS);
        request += part;
        size -= part;
    } while (is_sent && size > 0);
    return is_sent;
}

int pm_ask(struct pm_job *job, unsigned kind, const char *request, size_t size, const char *what,
           struct pm_reply *reply)
{
    const struct job_desk *desk;
    int rc = 0;

    if (job->control_fd < 0 || getpid() != job->pid)
        return err(MPI_ERR_UNSUPPORTED_OPERATION, "E1006: %s needs mpiexec of Parley, and this process was started %s",
                   what, job->foreign ? "by another launcher" : "without it");
    desk = job_desk(job->head, job->proc);
    pthread_mutex_lock(&job->control_lock);
    if (!send_request(job, kind, request, size))
        rc = err(MPI_ERR_OTHER, "%s: mpiexec cannot be reached: %s", what, strerror(errno));
    else if (desk->reply_error)
        rc = err_told((int)desk->reply_error, desk->reply);
    *reply = (struct pm_reply){ .first = desk->reply_first, .count = (int)desk->reply_count };
    memcpy(reply->text, desk->reply, sizeof reply->text);
    pthread_mutex_unlock(&job->control_lock);
    return rc;
}

void pm_present(struct pm_job *job)
{
    const int child = job_proc(job->head, job->proc)->child_pid;

    if ((child && child != job->pid) || pm_has_address(job))
        tell(job, CONTROL_PRESENT, 0, "", 0);
}

/* As the launcher would, without the line of the source, and in one piece, so that nobody's words come between. */
static void print(const struct pm_job *job, const char *text, uint64_t call_site)
{
    char line[PM_TEXT_MAX + 300], site[256], who[24] = "";
    const char *remedy = strchr(text, '\n') ? NULL : diagnostic_remedy(diagnostic_id(text));
    size_t length;
    ssize_t done;

    if (job->foreign && job->size > 1 && getpid() == job->pid)
        snprintf(who, sizeof who, "rank %d: ", job->rank);
    length = (size_t)snprintf(line, sizeof line, "parley: %s", who);
    diagnostic_add_site(text, callsite_name(call_site, site, sizeof site) ? site : NULL, line + length, PM_TEXT_MAX);
    length = strlen(line);
    snprintf(line + length, sizeof line - length, "%s%s\n", remedy ? "\n        " : "", remedy ? remedy : "");
    done = write(STDERR_FILENO, line, strlen(line));
    (void)done;
}

void pm_diagnose(struct pm_job *job, const char *text)
{
    if (!job->head || job->foreign || getpid() != job->pid || !tell(job, CONTROL_DIAGNOSE, 0, text, 0))
        print(job, text, 0);
}

/* The exit status a shell can see; a code that loses all its bits on the way still tells of a failure. */
static int exit_status(int code)
{
    return (code & 0xff) == 0 && code != 0 ? 1 : code & 0xff;
}

void pm_abort(struct pm_job *job, int code, const char *text, uint64_t call_site)
{
    uint64_t expected = 0;

    if (job->foreign && getpid() == job->pid) {
        print(job, text, call_site);
        pm_abort_foreign(job, exit_status(code));
    } else if (job->head && getpid() == job->pid) {
        atomic_compare_exchange_strong(&job->head->end, &expected, job_end(job->proc, code));
        if (!tell(job, CONTROL_ABORT, code, text, call_site))
            print(job, text, call_site);
    } else {
        print(job, text, call_site);
    }
    _exit(exit_status(code));
}
