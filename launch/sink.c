/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: where output goes: a descriptor and a queue before it. We never block on a reader, because ranks may
 * need us meanwhile; who fills a queue looks whether it is full and stops reading (forward.c). */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch.h"

enum {
    PIPE_PIECE = 4096, /* what a pipe that polls writable takes without blocking */
    FILE_PIECE = 1 << 20,
    GROWTH = 65536,
    QUEUE_FULL = 4 << 20,
    QUEUE_LOW = 1 << 20,
};

void sink_put(struct sink *sink, const char *data, size_t size)
{
    if (sink->is_broken || size == 0)
        return;
    if (sink->start + sink->length + size > sink->room) {
        if (sink->length > 0)
            memmove(sink->data, sink->data + sink->start, sink->length);
        sink->start = 0;
        if (sink->length + size > sink->room) {
            sink->room = size_max(sink->room * 2, sink->length + size + GROWTH);
            sink->data = need_more(sink->data, sink->room);
        }
    }
    memcpy(sink->data + sink->start + sink->length, data, size);
    sink->length += size;
}

/* Nobody takes it any more. The ranks learn it the way they would without us: their next write fails. */
static void break_sink(struct job *job, struct sink *sink, int error)
{
    sink->is_broken = job->has_broken_sink = true;
    sink->length = 0;
    job->has_lost_output |= error != EPIPE;
    if (error != EPIPE)
        report_rank(job, -1, "E0130: output cannot be written to %s: %s",
                    sink->path           ? sink->path
                    : sink == job->sinks ? "stdout"
                                         : "stderr",
                    strerror(error));
    forward_break(job, sink);
}

/* Can we write a piece without blocking? */
static bool is_writable(const struct sink *sink)
{
    struct pollfd poll_fd = { .fd = sink->source.fd, .events = POLLOUT };

    return sink->is_regular || poll(&poll_fd, 1, 0) > 0;
}

void sink_drain(struct job *job, struct sink *sink)
{
    while (sink->length > 0 && is_writable(sink)) {
        const size_t piece = size_min(sink->length, sink->is_regular ? FILE_PIECE : PIPE_PIECE);
        const ssize_t done = write(sink->source.fd, sink->data + sink->start, piece);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            break_sink(job, sink, errno);
            break;
        }
        if (done < 0)
            break;
        sink->start += (size_t)done;
        sink->length -= (size_t)done;
    }
    if (sink->length == 0)
        sink->start = 0;
    if ((sink->length > 0) != sink->is_watched && !sink->is_regular) {
        struct epoll_event event = { .events = EPOLLOUT, .data.ptr = &sink->source };
        sink->is_watched = !sink->is_watched;
        epoll_ctl(job->epoll_fd, sink->is_watched ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, sink->source.fd, &event);
    }
    if (sink->has_paused && sink->length < QUEUE_LOW) {
        sink->has_paused = false;
        forward_resume(job, sink);
    }
}

bool sink_is_full(const struct sink *sink)
{
    return sink->length >= QUEUE_FULL;
}

static void sink_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)events;
    sink_drain(job, CONTAINER_OF(source, struct sink, source));
}

void sink_init(struct sink *sink, int fd)
{
    struct stat st;

    *sink = (struct sink){ .source = { .ready = sink_ready, .fd = fd, .rank = -1 } };
    sink->is_regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
}
