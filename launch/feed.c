/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: stdin for the ranks. One rank simply gets our descriptor, and nobody else reads from it: what it leaves
 * is there for who comes next. Several get copies: of a file each opens its own, of a pipe or a terminal we
 * read and hand on, at most WINDOW bytes ahead of the slowest one that still reads.
 *
 *   stdin -> [data: from the slowest rank's position to the fastest's] -> a pipe for each rank */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
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

static void close_feed(struct job *job, struct feed *feed)
{
    if (feed->source.fd < 0)
        return;
    watch(job, &feed->source, &feed->is_watched, 0);
    close(feed->source.fd);
    feed->source.fd = -1;
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
        if (job->ranks[i].in.source.fd >= 0 && job->ranks[i].in.given < least)
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
    if (job->ranks[rank].in.source.fd < 0)
        return;
    close_feed(job, &job->ranks[rank].in);
    go_on(job);
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

static void begin_input(struct job *job)
{
    struct epoll_event event = { .events = EPOLLIN };

    job->input = need(sizeof *job->input);
    job->input->source = (struct source){ .ready = input_ready, .fd = STDIN_FILENO, .rank = -1 };
    event.data.ptr = &job->input->source;
    job->input->is_watched = !epoll_ctl(job->epoll_fd, EPOLL_CTL_ADD, STDIN_FILENO, &event);
    job->input->is_file = !job->input->is_watched;
}

static int open_pipe(struct job *job, int rank)
{
    struct feed *feed = &job->ranks[rank].in;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        die(EXIT_SYSTEM, "E0106: no pipe for the stdin of rank %d: %s", rank, strerror(errno));
    fcntl(ends[1], F_SETFL, O_NONBLOCK); /* our end only */
    *feed = (struct feed){ .source = { .ready = feed_ready, .fd = ends[1], .rank = rank } };
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
    if (count > 1)
        job->stdin_rank = -1;
    job->has_terminal = isatty(STDIN_FILENO);
}

int feed_open(struct job *job, int rank)
{
    int fd = -1;

    if (rank == job->stdin_rank)
        return -1;
    if (rank < job->size && options_has_rank(job->options.stdin_ranks, rank)) {
        if (is_regular(STDIN_FILENO))
            fd = open_again();
        return fd >= 0 ? fd : open_pipe(job, rank);
    }
    fd = fcntl(job->null_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor for the stdin of rank %d: %s", rank, strerror(errno));
    return fd;
}
