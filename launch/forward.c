/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: output of the ranks, in whole lines.
 *
 *   rank's pipe -> [partial line of the stream] -> queue of the sink -> descriptor 1 or 2, or a file
 *
 * A line goes out when its end has come. A beginning that stays one may be a prompt: it goes out after 100 ms
 * if nothing else was written meanwhile, else after 1 s; but after 5 s if it came in blocks of 4096 bytes,
 * for then it is where the rank's buffer was full. If another rank writes while such a beginning stands
 * there, that gets a line of its own. Reading stops while a sink's queue is long, so a slow reader slows the
 * ranks down and not our memory.
 *
 * Ranks on other machines: their agent reads the pipes and sends what comes as it is, at most OUTPUT_WINDOW bytes of a
 * stream before mpiexec has taken them; lines, prefixes and sinks are here. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "base/mem.h"
#include "far.h"
#include "launch.h"

enum {
    READ_SIZE = 65536,
    READS_AT_ONCE = 4,     /* then it is another stream's turn */
    PARTIAL_MAX = 1 << 20, /* a longer line is not kept together */
    BLOCK_SIZE = 4096,     /* buffers of stdio are multiples */
    TIME_SIZE = 64,
};

#define FLUSH_SECONDS       0.1
#define FLUSH_BUSY_SECONDS  1.0
#define FLUSH_BLOCK_SECONDS 5.0

static bool is_error(const struct job *job, const struct stream *stream)
{
    return stream == &job->ranks[stream->source.rank].err;
}

/* Wait until `sink` has room. */
static void pause_stream(struct job *job, struct stream *stream, struct sink *sink)
{
    if (!stream->is_far)
        epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, stream->source.fd, NULL);
    stream->is_paused = true;
    sink->has_paused = true;
}

/* What has come from another machine has been taken; a small amount is not worth a message. */
static void pay(struct job *job, struct stream *stream)
{
    if (stream->unpaid < OUTPUT_WINDOW / 4)
        return;
    far_credit(job, stream->source.rank, is_error(job, stream), stream->unpaid);
    stream->unpaid = 0;
}

static void resume_stream(struct job *job, struct stream *stream, const struct sink *sink)
{
    if (stream->is_paused && (stream->sink == sink || stream->copy == sink)) {
        stream->is_paused = false;
        if (stream->is_far)
            pay(job, stream);
        else if (stream->source.fd >= 0) /* else it was closed meanwhile */
            source_add(job, &stream->source);
    }
}

void forward_resume(struct job *job, const struct sink *sink)
{
    for (int i = 0; i < job->used; i++) {
        resume_stream(job, &job->ranks[i].out, sink);
        resume_stream(job, &job->ranks[i].err, sink);
    }
}

static bool is_open(const struct stream *stream)
{
    return stream->source.fd >= 0 || stream->is_far;
}

static void close_stream(struct job *job, struct stream *stream)
{
    if (!stream->is_far)
        source_remove(job, &stream->source);
    stream->is_far = false;
    job->streams_open--;
}

void forward_break(struct job *job, const struct sink *sink)
{
    for (int i = 0; i < job->used; i++) {
        struct stream *const streams[] = { &job->ranks[i].out, &job->ranks[i].err };
        for (size_t s = 0; s < ARRAY_LEN(streams); s++) {
            if (streams[s]->copy == sink) {
                resume_stream(job, streams[s], sink);
                streams[s]->copy = NULL; /* the file goes on */
            }
            if (streams[s]->sink == sink && is_open(streams[s])) {
                if (streams[s]->is_far)
                    far_broken(job, i, s == 1);
                close_stream(job, streams[s]);
                streams[s]->is_paused = false; /* or it would be watched again when the sink has drained */
            }
        }
    }
}

/* "2026-11-22 14:03:07.125 " */
static size_t write_time(char *text)
{
    struct timespec now;
    struct tm parts;
    size_t length;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    length = strftime(text, TIME_SIZE, "%Y-%m-%d %H:%M:%S", &parts);
    return length +
           (size_t)snprintf(text + length, TIME_SIZE - length, ".%03d ", (int)(now.tv_nsec / 1000000));
}

/* Whole lines, or the beginning of one, each line with what belongs before it. */
static void emit_to(struct job *job, struct stream *stream, struct sink *sink, const char *data, size_t size)
{
    const size_t prefix_size = stream->prefix ? strlen(stream->prefix) : 0;
    bool is_mid_line = sink->open_line == stream;
    char time[TIME_SIZE];
    const size_t time_size = job->options.timestamp ? write_time(time) : 0;

    if (sink->open_line && !is_mid_line)
        sink_put(sink, "\n", 1);
    if (prefix_size + time_size == 0) {
        sink_put(sink, data, size);
    } else {
        for (size_t at = 0; at < size;) {
            const char *newline = memchr(data + at, '\n', size - at);
            const size_t length = newline ? (size_t)(newline - data) - at + 1 : size - at;
            if (!is_mid_line) {
                sink_put(sink, time, time_size);
                sink_put(sink, stream->prefix, prefix_size);
            }
            sink_put(sink, data + at, length);
            at += length;
            is_mid_line = false;
        }
    }
    sink->last_ns = now_ns();
    sink->open_line = data[size - 1] != '\n' ? stream : NULL;
}

static void emit(struct job *job, struct stream *stream, const char *data, size_t size)
{
    emit_to(job, stream, stream->sink, data, size);
    if (stream->copy)
        emit_to(job, stream, stream->copy, data, size);
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
    if (is_open(stream))
        close_stream(job, stream);
}

static void relay(struct job *job, struct stream *stream, const char *data, size_t size)
{
    agent_output(job, stream->source.rank, is_error(job, stream), data, size);
    stream->unpaid += size;
}

static void drain(struct job *job, struct stream *stream)
{
    if (stream->sink)
        sink_drain(job, stream->sink);
    if (stream->copy)
        sink_drain(job, stream->copy);
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
        if (got > 0 && job->root)
            relay(job, stream, block, (size_t)got);
        else if (got > 0)
            take(job, stream, block, (size_t)got);
        if (got == 0 && job->root)
            relay(job, stream, NULL, 0);
        if (got == 0)
            stream_end(job, stream);
        if (got < (ssize_t)sizeof block)
            break;
    }
    drain(job, stream);
}

/* Is a sink of the stream full, so that it has to wait? */
static bool pause_if_full(struct job *job, struct stream *stream)
{
    if (stream->sink && sink_is_full(stream->sink))
        pause_stream(job, stream, stream->sink);
    else if (stream->copy && sink_is_full(stream->copy))
        pause_stream(job, stream, stream->copy);
    else
        return false;
    return true;
}

static void pause_relay(struct job *job, struct stream *stream)
{
    epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, stream->source.fd, NULL);
    stream->is_paused = true;
}

static void stream_ready(struct job *job, struct source *source, uint32_t events)
{
    struct stream *stream = CONTAINER_OF(source, struct stream, source);

    (void)events;
    if (job->root && stream->unpaid >= OUTPUT_WINDOW)
        pause_relay(job, stream);
    else if (!pause_if_full(job, stream))
        read_stream(job, stream, READS_AT_ONCE);
}

void forward_init(struct job *job)
{
    const struct options *options = &job->options;

    sink_init(&job->sinks[0], STDOUT_FILENO);
    sink_init(&job->sinks[1], STDERR_FILENO);
    job->is_direct = job->size == 1 && !is_far(job, 0) && !job->root &&
                     !options->label && !options->timestamp && !options->prefix &&
                     !options->out_pattern && !options->err_pattern;
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

void make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC))
        die(EXIT_SYSTEM, "E0106: no pipe for the output of the ranks: %s", strerror(errno));
}

static int duplicate(int fd)
{
    const int other = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (other < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor for the output of the ranks: %s", strerror(errno));
    return other;
}

void forward_pipes(const struct job *job, int rank, int out[2], int err[2])
{
    const bool is_hidden = job->options.only_rank >= 0 && job->options.only_rank != rank;
    const bool is_direct = job->is_direct && rank == 0;

    out[0] = out[1] = err[0] = err[1] = -1;
    if (is_hidden)
        out[1] = duplicate(job->null_fd);
    else if (!is_direct)
        make_pipe(out);
    if (is_hidden || job->options.merge)
        err[1] = duplicate(out[1] >= 0 ? out[1] : STDOUT_FILENO);
    else if (!is_direct)
        make_pipe(err);
}

static void open_stream(struct job *job, struct stream *stream, int rank, int fd, struct sink *sink)
{
    if (fd < 0)
        return;
    *stream = (struct stream){ .source = { .ready = stream_ready, .fd = fd, .rank = rank }, .sink = sink };
    output_place(job, rank, stream == &job->ranks[rank].err, stream);
    fcntl(fd, F_SETFL, O_NONBLOCK); /* our end only: the rank's end is another open file */
    source_add(job, &stream->source);
    job->streams_open++;
}

void forward_open(struct job *job, int rank, int out_fd, int err_fd)
{
    open_stream(job, &job->ranks[rank].out, rank, out_fd, job->root ? NULL : &job->sinks[0]);
    open_stream(job, &job->ranks[rank].err, rank, err_fd, job->root ? NULL : error_sink(job));
}

static void open_far(struct job *job, struct stream *stream, int rank, struct sink *sink)
{
    *stream = (struct stream){ .source = { .fd = -1, .rank = rank }, .sink = sink, .is_far = true };
    output_place(job, rank, stream == &job->ranks[rank].err, stream);
    job->streams_open++;
}

/* As forward_pipes does it there. */
void forward_open_far(struct job *job, int rank)
{
    if (job->options.only_rank >= 0 && job->options.only_rank != rank)
        return;
    open_far(job, &job->ranks[rank].out, rank, &job->sinks[0]);
    if (!job->options.merge)
        open_far(job, &job->ranks[rank].err, rank, error_sink(job));
}

void forward_far(struct job *job, int rank, bool error, const char *data, size_t size)
{
    struct stream *stream = error ? &job->ranks[rank].err : &job->ranks[rank].out;

    if (!stream->is_far) /* given up, or never open */
        return;
    if (size == 0) {
        stream_end(job, stream);
        drain(job, stream);
        return;
    }
    job->ranks[rank].has_written = true;
    take(job, stream, data, size);
    drain(job, stream);
    stream->unpaid += size;
    if (stream->is_far && !stream->is_paused && !pause_if_full(job, stream))
        pay(job, stream);
}

void forward_credit(struct job *job, int rank, bool error, size_t size)
{
    struct stream *stream = error ? &job->ranks[rank].err : &job->ranks[rank].out;

    stream->unpaid -= size_min(size, stream->unpaid);
    if (!stream->is_paused || stream->source.fd < 0 || stream->unpaid >= OUTPUT_WINDOW)
        return;
    stream->is_paused = false;
    source_add(job, &stream->source);
}

void forward_unwanted(struct job *job, int rank, bool error)
{
    struct stream *stream = error ? &job->ranks[rank].err : &job->ranks[rank].out;

    if (stream->source.fd >= 0)
        close_stream(job, stream);
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
    for (int i = 0; i < job->used; i++) {
        flush_stream(job, &job->ranks[i].out, now);
        flush_stream(job, &job->ranks[i].err, now);
    }
    sink_drain(job, &job->sinks[0]);
    sink_drain(job, &job->sinks[1]);
    for (int i = 0; i < job->file_count; i++)
        sink_drain(job, job->files[i]);
}

void forward_close(struct job *job)
{
    for (int i = 0; i < job->used; i++) {
        struct stream *const streams[] = { &job->ranks[i].out, &job->ranks[i].err };
        for (size_t s = 0; s < ARRAY_LEN(streams); s++)
            if (streams[s]->sink)
                stream_end(job, streams[s]);
    }
}

bool forward_is_held_up(const struct job *job)
{
    for (int i = 0; i < job->used; i++)
        if (job->ranks[i].out.is_paused || job->ranks[i].err.is_paused)
            return true;
    return false;
}

void forward_empty(struct job *job)
{
    for (int i = 0; i < job->used; i++) {
        read_stream(job, &job->ranks[i].out, INT_MAX);
        read_stream(job, &job->ranks[i].err, INT_MAX);
    }
}

void forward_print(struct job *job, const char *text)
{
    struct sink *sink = error_sink(job);

    if (sink->open_line) {
        sink_put(sink, "\n", 1);
        sink->open_line = NULL;
    }
    sink_put(sink, text, strlen(text));
    sink_drain(job, sink);
}

void forward_write(struct job *job, const char *text)
{
    sink_put(&job->sinks[0], text, strlen(text));
    sink_drain(job, &job->sinks[0]);
}

bool forward_is_done(const struct job *job)
{
    bool is_done = job->streams_open == 0 && job->sinks[0].length == 0 && job->sinks[1].length == 0;

    for (int i = 0; i < job->file_count && is_done; i++)
        is_done = job->files[i]->length == 0;
    return is_done;
}
