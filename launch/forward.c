/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: output of the ranks to our stdout and stderr, in whole lines.
 *
 *   rank's pipe -> [partial line of the stream] -> queue of the sink -> descriptor 1 or 2
 *
 * A line goes out when its end has come. A beginning that stays one may be a prompt: it goes out after 100 ms
 * if nothing else was written meanwhile, else after 1 s; but after 5 s if it came in blocks of 4096 bytes,
 * for then it is where the rank's buffer was full. If another rank writes while such a beginning stands
 * there, that gets a line of its own. Reading stops while a sink's queue is long, so a slow reader slows the
 * ranks down and not our memory; we never block on a reader, because ranks may need us meanwhile. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    READ_SIZE = 65536,
    READS_AT_ONCE = 4,     /* then it is another stream's turn */
    PARTIAL_MAX = 1 << 20, /* a longer line is not kept together */
    BLOCK_SIZE = 4096,     /* buffers of stdio are multiples */
    PIPE_PIECE = 4096,     /* what a pipe that polls writable takes without blocking */
    FILE_PIECE = 1 << 20,
    QUEUE_FULL = 4 << 20,
    QUEUE_LOW = 1 << 20,
};

#define FLUSH_SECONDS       0.1
#define FLUSH_BUSY_SECONDS  1.0
#define FLUSH_BLOCK_SECONDS 5.0

static void pause_stream(struct job *job, struct stream *stream)
{
    epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, stream->source.fd, NULL);
    stream->is_paused = true;
    stream->sink->has_paused = true;
}

static void resume_stream(struct job *job, struct stream *stream, const struct sink *sink)
{
    if (stream->is_paused && stream->sink == sink) {
        stream->is_paused = false;
        source_add(job, &stream->source);
    }
}

static void resume_streams(struct job *job, struct sink *sink)
{
    sink->has_paused = false;
    for (int i = 0; i < job->size; i++) {
        resume_stream(job, &job->ranks[i].out, sink);
        resume_stream(job, &job->ranks[i].err, sink);
    }
}

static void put(struct sink *sink, const char *data, size_t size)
{
    if (sink->is_broken)
        return;
    if (sink->start + sink->length + size > sink->room) {
        if (sink->length > 0)
            memmove(sink->data, sink->data + sink->start, sink->length);
        sink->start = 0;
        if (sink->length + size > sink->room) {
            sink->room = size_max(sink->room * 2, sink->length + size + READ_SIZE);
            sink->data = need_more(sink->data, sink->room);
        }
    }
    memcpy(sink->data + sink->start + sink->length, data, size);
    sink->length += size;
}

/* The reader has gone. The ranks learn it the way they would without us: their next write fails. */
static void break_sink(struct job *job, struct sink *sink)
{
    sink->is_broken = true;
    sink->length = 0;
    for (int i = 0; i < job->size; i++) {
        struct stream *const streams[] = { &job->ranks[i].out, &job->ranks[i].err };
        for (size_t s = 0; s < ARRAY_LEN(streams); s++)
            if (streams[s]->sink == sink && streams[s]->source.fd >= 0) {
                source_remove(job, &streams[s]->source);
                job->streams_open--;
            }
    }
}

/* Can we write a piece without blocking? */
static bool is_writable(const struct sink *sink)
{
    struct pollfd poll_fd = { .fd = sink->source.fd, .events = POLLOUT };

    return sink->is_regular || poll(&poll_fd, 1, 0) > 0;
}

/* Write what goes without blocking; watch the sink for the rest. */
static void drain(struct job *job, struct sink *sink)
{
    while (sink->length > 0 && is_writable(sink)) {
        const size_t piece = size_min(sink->length, sink->is_regular ? FILE_PIECE : PIPE_PIECE);
        const ssize_t done = write(sink->source.fd, sink->data + sink->start, piece);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            break_sink(job, sink);
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
    if (sink->has_paused && sink->length < QUEUE_LOW)
        resume_streams(job, sink);
}

static void sink_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)events;
    drain(job, CONTAINER_OF(source, struct sink, source));
}

/* Whole lines, or the beginning of one, each line with its label if wanted. */
static void emit(struct job *job, struct stream *stream, const char *data, size_t size)
{
    struct sink *sink = stream->sink;
    char label[16];
    const size_t label_size = (size_t)snprintf(label, sizeof label, "[%d] ", stream->source.rank);

    if (sink->open_line && sink->open_line != stream) {
        put(sink, "\n", 1);
        sink->open_line->is_mid_line = false;
    }
    if (!job->options.label) {
        put(sink, data, size);
    } else {
        for (size_t at = 0; at < size;) {
            const char *newline = memchr(data + at, '\n', size - at);
            const size_t length = newline ? (size_t)(newline - data) - at + 1 : size - at;
            if (at > 0 || !stream->is_mid_line)
                put(sink, label, label_size);
            put(sink, data + at, length);
            at += length;
        }
    }
    stream->is_mid_line = data[size - 1] != '\n';
    sink->last_ns = now_ns();
    sink->open_line = stream->is_mid_line ? stream : NULL;
}

static void emit_partial(struct job *job, struct stream *stream)
{
    if (stream->length > 0)
        emit(job, stream, stream->partial, stream->length);
    stream->length = 0;
    stream->begun_ns = 0;
}

static void keep_partial(struct job *job, struct stream *stream, const char *data, size_t size)
{
    if (size == 0)
        return;
    if (stream->length + size > stream->room) {
        stream->room = size_max(stream->room * 2, stream->length + size);
        stream->partial = need_more(stream->partial, stream->room);
    }
    memcpy(stream->partial + stream->length, data, size);
    stream->length += size;
    if (stream->length > PARTIAL_MAX) {
        emit_partial(job, stream);
    } else if (!stream->begun_ns) {
        stream->begun_ns = now_ns();
        timer_set(job, TIMER_FLUSH, FLUSH_SECONDS);
    }
}

static void take(struct job *job, struct stream *stream, const char *data, size_t size)
{
    const char *newline = memrchr(data, '\n', size);
    const size_t whole = newline ? (size_t)(newline - data) + 1 : 0;

    stream->is_block = size % BLOCK_SIZE == 0;
    if (whole > 0 && stream->length > 0) {
        const size_t first = (size_t)((const char *)memchr(data, '\n', size) - data) + 1;
        keep_partial(job, stream, data, first);
        emit_partial(job, stream);
        if (whole > first)
            emit(job, stream, data + first, whole - first);
    } else if (whole > 0) {
        emit(job, stream, data, whole);
    }
    keep_partial(job, stream, data + whole, size - whole);
}

static void stream_end(struct job *job, struct stream *stream)
{
    emit_partial(job, stream);
    mem_free(stream->partial);
    stream->partial = NULL;
    stream->room = 0;
    if (stream->source.fd >= 0) {
        source_remove(job, &stream->source);
        job->streams_open--;
    }
}

/* Read at most `reads` times; the pipe does not block. */
static void read_stream(struct job *job, struct stream *stream, int reads)
{
    static char block[READ_SIZE]; /* only here, and empty between calls */

    for (int i = 0; i < reads && stream->source.fd >= 0; i++) {
        const ssize_t got = read(stream->source.fd, block, sizeof block);
        if (got > 0 && !job->ranks[stream->source.rank].has_written) {
            job->ranks[stream->source.rank].has_written = true;
            other_mpi_look(job, stream->source.rank);
        }
        if (got > 0)
            take(job, stream, block, (size_t)got);
        else if (got == 0)
            stream_end(job, stream);
        if (got < (ssize_t)sizeof block)
            break;
    }
    drain(job, stream->sink);
}

static void stream_ready(struct job *job, struct source *source, uint32_t events)
{
    struct stream *stream = CONTAINER_OF(source, struct stream, source);

    (void)events;
    if (stream->sink->length >= QUEUE_FULL)
        pause_stream(job, stream);
    else
        read_stream(job, stream, READS_AT_ONCE);
}

static void sink_init(struct sink *sink, int fd)
{
    struct stat st;

    *sink = (struct sink){ .source = { .ready = sink_ready, .fd = fd, .rank = -1 } };
    sink->is_regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
}

void forward_init(struct job *job)
{
    sink_init(&job->sinks[0], STDOUT_FILENO);
    sink_init(&job->sinks[1], STDERR_FILENO);
    job->is_direct = job->size == 1 && !job->options.label;
}

/* The sink of descriptor 2: that of 1, if both are one file, so that unfinished lines are seen. */
static struct sink *error_sink(struct job *job)
{
    struct stat out, err;

    if (!fstat(STDOUT_FILENO, &out) && !fstat(STDERR_FILENO, &err) && out.st_dev == err.st_dev &&
        out.st_ino == err.st_ino)
        return &job->sinks[0];
    return &job->sinks[1];
}

static void open_stream(struct job *job, struct stream *stream, int rank, int fd, struct sink *sink)
{
    *stream = (struct stream){ .source = { .ready = stream_ready, .fd = fd, .rank = rank }, .sink = sink };
    fcntl(fd, F_SETFL, O_NONBLOCK); /* our end only: the rank's end is another open file */
    source_add(job, &stream->source);
    job->streams_open++;
}

void forward_open(struct job *job, int rank, int out_fd, int err_fd)
{
    open_stream(job, &job->ranks[rank].out, rank, out_fd, &job->sinks[0]);
    open_stream(job, &job->ranks[rank].err, rank, err_fd, error_sink(job));
}

void forward_rank_over(struct job *job, int rank)
{
    struct stream *const streams[] = { &job->ranks[rank].out, &job->ranks[rank].err };

    for (size_t i = 0; i < ARRAY_LEN(streams); i++)
        if (streams[i]->source.fd >= 0 && !streams[i]->is_paused)
            read_stream(job, streams[i], READS_AT_ONCE);
}

static void flush_stream(struct job *job, struct stream *stream, int64_t now)
{
    double wait;

    if (!stream->begun_ns)
        return;
    if (stream->is_block)
        wait = FLUSH_BLOCK_SECONDS;
    else
        wait = stream->sink->last_ns > stream->begun_ns ? FLUSH_BUSY_SECONDS : FLUSH_SECONDS;
    if ((double)(now - stream->begun_ns) >= wait * 1e9)
        emit_partial(job, stream);
    else
        timer_set(job, TIMER_FLUSH, FLUSH_SECONDS);
}

void forward_flush_partial(struct job *job, int64_t now)
{
    for (int i = 0; i < job->size; i++) {
        flush_stream(job, &job->ranks[i].out, now);
        flush_stream(job, &job->ranks[i].err, now);
    }
    drain(job, &job->sinks[0]);
    drain(job, &job->sinks[1]);
}

void forward_close(struct job *job)
{
    for (int i = 0; i < job->size && !job->is_direct; i++) {
        stream_end(job, &job->ranks[i].out);
        stream_end(job, &job->ranks[i].err);
    }
}

void forward_print(struct job *job, const char *text)
{
    struct sink *sink = error_sink(job);

    if (sink->open_line) {
        put(sink, "\n", 1);
        sink->open_line->is_mid_line = false;
        sink->open_line = NULL;
    }
    put(sink, text, strlen(text));
    drain(job, sink);
}

bool forward_is_done(const struct job *job)
{
    return job->streams_open == 0 && job->sinks[0].length == 0 && job->sinks[1].length == 0;
}
