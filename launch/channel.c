/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: a connection to an agent, or of an agent to mpiexec. What it may have to keep is limited by those who put
 * frames: windows for output and input, and all else is short. */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/mem.h"

enum { READ_SIZE = 128 << 10 };

static void bytes_reserve(struct bytes *bytes, size_t size)
{
    if (bytes->start + bytes->length + size <= bytes->room)
        return;
    if (bytes->length > 0)
        memmove(bytes->data, bytes->data + bytes->start, bytes->length);
    bytes->start = 0;
    if (bytes->length + size > bytes->room) {
        bytes->room = size_max(bytes->room * 2, bytes->length + size);
        bytes->data = need_more(bytes->data, bytes->room);
    }
}

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
    if (size == 0)
        return;
    bytes_reserve(bytes, size);
    memcpy(bytes->data + bytes->start + bytes->length, data, size);
    bytes->length += size;
}

void bytes_drop(struct bytes *bytes, size_t size)
{
    bytes->start += size;
    bytes->length -= size;
    if (bytes->length == 0)
        bytes->start = 0;
}

void bytes_free(struct bytes *bytes)
{
    mem_free(bytes->data);
    *bytes = (struct bytes){ 0 };
}

static void out_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)events;
    channel_flush(job, CONTAINER_OF(source, struct channel, out));
}

void channel_open(struct job *job, struct channel *channel, int in, int out,
                  void (*ready)(struct job *job, struct source *source, uint32_t events))
{
    *channel = (struct channel){ .in = { .ready = ready, .fd = in, .rank = -1 },
                                 .out = { .ready = out_ready, .fd = out, .rank = -1 } };
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
    source_add(job, &channel->in);
}

static void close_out(struct job *job, struct channel *channel)
{
    if (channel->out.fd < 0)
        return;
    if (channel->is_watched)
        epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, channel->out.fd, NULL);
    close(channel->out.fd);
    channel->out.fd = -1;
    channel->is_watched = false;
    bytes_free(&channel->queue);
}

void channel_end(struct job *job, struct channel *channel)
{
    close_out(job, channel);
}

void channel_close(struct job *job, struct channel *channel)
{
    close_out(job, channel);
    if (channel->in.fd >= 0)
        source_remove(job, &channel->in);
    bytes_free(&channel->got);
}

void channel_put_text(struct channel *channel, const char *text, size_t size)
{
    if (channel->out.fd >= 0)
        bytes_add(&channel->queue, text, size);
}

void channel_put(struct channel *channel, enum frame_kind kind, int rank, uint32_t value, const void *data,
                 size_t size)
{
    const struct frame frame = { kind, rank, value, (uint32_t)size };

    if (channel->out.fd < 0)
        return;
    bytes_add(&channel->queue, &frame, sizeof frame);
    bytes_add(&channel->queue, data, size);
}

/* Whoever does not take it any more ends his own side, too, which is seen in reading. */
void channel_flush(struct job *job, struct channel *channel)
{
    struct epoll_event event = { .events = EPOLLOUT, .data.ptr = &channel->out };

    while (channel->out.fd >= 0 && channel->queue.length > 0) {
        const ssize_t done =
            write(channel->out.fd, channel->queue.data + channel->queue.start, channel->queue.length);
        if (done > 0)
            bytes_drop(&channel->queue, (size_t)done);
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            close_out(job, channel);
    }
    if (channel->out.fd < 0 || channel->is_watched == (channel->queue.length > 0))
        return;
    channel->is_watched = !channel->is_watched;
    epoll_ctl(job->epoll_fd, channel->is_watched ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, channel->out.fd, &event);
}

bool channel_read(struct channel *channel)
{
    struct bytes *got = &channel->got;
    ssize_t size;

    bytes_reserve(got, READ_SIZE);
    do {
        size = read(channel->in.fd, got->data + got->start + got->length, READ_SIZE);
    } while (size < 0 && errno == EINTR);
    if (size > 0)
        got->length += (size_t)size;
    return size > 0 || (size < 0 && errno == EAGAIN);
}

char *channel_line(struct channel *channel)
{
    struct bytes *got = &channel->got;
    char *line = got->data + got->start, *end = got->length ? memchr(line, '\n', got->length) : NULL;

    if (!end)
        return NULL;
    *end = 0;
    if (end > line && end[-1] == '\r')
        end[-1] = 0;
    bytes_drop(got, (size_t)(end + 1 - line));
    return line;
}
