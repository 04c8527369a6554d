/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: stdin for the ranks. One rank simply gets our descriptor, and nobody else reads from it: what it leaves
 * is there for who comes next. Several get copies: of a file each opens its own, of a pipe or a terminal we
 * read and hand on, at most WINDOW bytes ahead of the slowest one that still reads.
 *
 *   stdin -> [data: from the slowest rank's position to the fastest's] -> a pipe for each rank
 *
 * A rank on another machine gets copies, too: its agent is sent at most INPUT_WINDOW bytes that the rank has not got
 * yet. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"
#include "base/mem.h"
#include "far.h"
#include "launch.h"
#include "options.h"

enum { READ_SIZE = 65536, WINDOW = 16 << 20 };

struct input {
    struct source source; /* our stdin */
    char *data;
    size_t length, room;
    uint64_t begin; /* position of data[0] in all that came */
    bool is_watched;
    bool is_file; /* cannot be watched, is always ready */
    bool is_over;
};

static bool is_regular(int fd)
{
    struct stat st;
    return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

static void watch(struct job *job, struct source *source, bool *is_watched, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = source };

    if (*is_watched != (events != 0))
        epoll_ctl(job->epoll_fd, events ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, source->fd, &event);
    *is_watched = events != 0;
}

static bool is_open(const struct feed *feed)
{
    return feed->source.fd >= 0 || feed->is_far;
}

static void close_feed(struct job *job, struct feed *feed)
{
    feed->is_far = false;
    if (feed->source.fd < 0)
        return;
    watch(job, &feed->source, &feed->is_watched, 0);
    close(feed->source.fd);
    feed->source.fd = -1;
}

/* Send a rank on another machine what may be on its way. */
static void push_far(struct job *job, struct feed *feed)
{
    const struct input *input = job->input;
    const uint64_t end = input->begin + input->length;

    while (feed->given < end && feed->given - feed->fed < INPUT_WINDOW) {
        const size_t size = size_min(FRAME_PIECE, (size_t)(end - feed->given));

        far_input(job, feed->source.rank, input->data + (feed->given - input->begin), size);
        feed->given += size;
    }
    if (feed->given == end && input->is_over) {
        far_input(job, feed->source.rank, NULL, 0);
        close_feed(job, feed);
    }
}

/* Give a rank what its pipe takes. */
static void push(struct job *job, struct feed *feed)
{
    const struct input *input = job->input;
    const uint64_t end = input->begin + input->length;

    while (feed->source.fd >= 0 && feed->given < end) {
        const ssize_t done =
            write(feed->source.fd, input->data + (feed->given - input->begin), (size_t)(end - feed->given));
        if (done >= 0)
            feed->given += (uint64_t)done;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            close_feed(job, feed); /* it reads no more */
    }
    if (feed->given == end && input->is_over)
        close_feed(job, feed);
    if (feed->source.fd >= 0)
        watch(job, &feed->source, &feed->is_watched, feed->given < end ? EPOLLOUT : 0);
}

/* Forget what all have got; false: nobody reads any more. */
static bool trim(struct job *job)
{
    struct input *input = job->input;
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < job->size; i++)
        if (is_open(&job->ranks[i].in) && job->ranks[i].in.given < least)
            least = job->ranks[i].in.given;
    if (least == UINT64_MAX)
        return false;
    if (least == input->begin || least - input->begin < input->length / 2)
        return true; /* moving pays later */
    input->length -= (size_t)(least - input->begin);
    memmove(input->data, input->data + (least - input->begin), input->length);
    input->begin = least;
    return true;
}

static void read_input(struct job *job)
{
    struct input *input = job->input;
    ssize_t got;

    if (input->room - input->length < READ_SIZE) {
        input->room = size_max(input->room * 2, input->length + READ_SIZE);
        input->data = need_more(input->data, input->room);
    }
    got = read(STDIN_FILENO, input->data + input->length, READ_SIZE);
    if (got > 0)
        input->length += (size_t)got;
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        input->is_over = true;
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].in.is_far)
            push_far(job, &job->ranks[i].in);
        else
            push(job, &job->ranks[i].in);
}

/* Read while there is room and somebody to read for, a file without being told that it is ready. */
static void go_on(struct job *job)
{
    struct input *input = job->input;
    bool is_wanted;

    do {
        is_wanted = trim(job) && !input->is_over && input->length < WINDOW;
        if (is_wanted && input->is_file)
            read_input(job);
    } while (is_wanted && input->is_file);
    if (!input->is_file)
        watch(job, &input->source, &input->is_watched, is_wanted ? EPOLLIN : 0);
}

static void input_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)source;
    (void)events;
    read_input(job);
    go_on(job);
}

static void feed_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)events;
    push(job, CONTAINER_OF(source, struct feed, source));
    go_on(job);
}

void feed_rank_over(struct job *job, int rank)
{
    struct feed *feed = &job->ranks[rank].in;

    if (!is_open(feed))
        return;
    close_feed(job, feed);
    if (!job->root)
        go_on(job);
}

static void begin_input(struct job *job)
{
    struct epoll_event event = { .events = EPOLLIN };

    job->input = need(sizeof *job->input);
    job->input->source = (struct source){ .ready = input_ready, .fd = STDIN_FILENO, .rank = -1 };
    event.data.ptr = &job->input->source;
    job->input->is_watched = !epoll_ctl(job->epoll_fd, EPOLL_CTL_ADD, STDIN_FILENO, &event);
    job->input->is_file = !job->input->is_watched;
}

void feed_open_far(struct job *job, int rank)
{
    struct feed *feed = &job->ranks[rank].in;

    if (!options_has_rank(job->options.stdin_ranks, rank))
        return;
    *feed = (struct feed){ .source = { .fd = -1, .rank = rank }, .is_far = true };
    if (!job->input)
        begin_input(job);
}

void feed_go(struct job *job)
{
    if (job->input && job->input->is_file)
        go_on(job);
}

void feed_far(struct job *job, int rank, size_t size)
{
    struct feed *feed = &job->ranks[rank].in;

    if (!feed->is_far)
        return;
    if (size == 0)
        close_feed(job, feed);
    else
        feed->fed += size;
    if (feed->is_far)
        push_far(job, feed);
    go_on(job);
}

/* --- of an agent --- */

/* Give the rank what has come for it and its pipe takes. */
static void push_own(struct job *job, struct feed *feed)
{
    size_t taken = 0;

    while (feed->source.fd >= 0 && feed->length > 0) {
        const ssize_t done = write(feed->source.fd, feed->data + feed->start, feed->length);
        if (done < 0 && errno == EAGAIN)
            break;
        if (done < 0 && errno != EINTR) {
            close_feed(job, feed);
            agent_fed(job, feed->source.rank, 0);
        } else if (done > 0) {
            feed->start += (size_t)done;
            feed->length -= (size_t)done;
            taken += (size_t)done;
        }
    }
    if (taken > 0)
        agent_fed(job, feed->source.rank, taken);
    if (feed->length == 0 && feed->is_ending)
        close_feed(job, feed);
    if (feed->source.fd >= 0)
        watch(job, &feed->source, &feed->is_watched, feed->length > 0 ? EPOLLOUT : 0);
}

static void own_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)events;
    push_own(job, CONTAINER_OF(source, struct feed, source));
}

void feed_take(struct job *job, int rank, const char *data, size_t size)
{
    struct feed *feed = &job->ranks[rank].in;

    if (feed->source.fd < 0)
        return;
    feed->is_ending |= size == 0;
    if (feed->length > 0)
        memmove(feed->data, feed->data + feed->start, feed->length);
    feed->start = 0;
    if (feed->length + size > feed->room)
        feed->data = need_more(feed->data, feed->room = feed->length + size);
    if (size > 0)
        memcpy(feed->data + feed->length, data, size);
    feed->length += size;
    push_own(job, feed);
}

/* A description of our stdin's file of its own, at the same place; -1: it cannot be had. */
static int open_again(void)
{
    const off_t place = lseek(STDIN_FILENO, 0, SEEK_CUR);
    const int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && place > 0)
        lseek(fd, place, SEEK_SET);
    return fd;
}

static int open_pipe(struct job *job, int rank)
{
    struct feed *feed = &job->ranks[rank].in;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        die(EXIT_SYSTEM, "E0106: no pipe for the stdin of rank %d: %s", rank, strerror(errno));
    fcntl(ends[1], F_SETFL, O_NONBLOCK); /* our end only */
    *feed = (struct feed){ .source = { .ready = job->root ? own_ready : feed_ready, .fd = ends[1], .rank = rank } };
    if (job->root)
        return ends[0];
    if (!job->input)
        begin_input(job);
    if (job->input->is_file) /* whose readiness nobody tells */
        watch(job, &feed->source, &feed->is_watched, EPOLLOUT);
    return ends[0];
}

void feed_init(struct job *job)
{
    const struct options *options = &job->options;
    int count = 0, fd;

    if (options->stdin_file) {
        fd = open(options->stdin_file, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
            die(EXIT_USAGE, "E0101: the file %s for stdin: %s", options->stdin_file, strerror(errno));
        close(fd);
    }
    job->stdin_rank = -1;
    for (int i = 0; i < job->size; i++)
        if (options_has_rank(options->stdin_ranks, i)) {
            job->stdin_rank = i;
            count++;
        }
    if (count > 1 || job->root || (job->stdin_rank >= 0 && is_far(job, job->stdin_rank)))
        job->stdin_rank = -1;
    job->has_terminal = !job->root && isatty(STDIN_FILENO);
}

int feed_open(struct job *job, int rank)
{
    int fd = -1;

    if (rank == job->stdin_rank)
        return -1;
    if (rank < job->size && options_has_rank(job->options.stdin_ranks, rank)) {
        if (!job->root && is_regular(STDIN_FILENO))
            fd = open_again();
        return fd >= 0 ? fd : open_pipe(job, rank);
    }
    fd = fcntl(job->null_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor for the stdin of rank %d: %s", rank, strerror(errno));
    return fd;
}
