/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the job segment (sys/segment.h), and the numbers under which ranks find their descriptors. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job_text.h"
#include "sys/segment.h"

enum { SPARE_PLACES = 128 }; /* for processes that are started later, if nothing is said */

/* Ranks find their descriptors at numbers from here on, where scripts do not put theirs. */
static const int first_fds[] = { 100, 20, STDERR_FILENO + 1 }; /* the later ones where few are allowed */

int descriptor_move_up(int fd)
{
    int moved = -1;

    for (size_t i = 0; i < ARRAY_LEN(first_fds) && moved < 0; i++)
        moved = fcntl(fd, F_DUPFD_CLOEXEC, first_fds[i]);
    if (moved < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor left: %s", strerror(errno));
    close(fd);
    return moved;
}

/* Something to read from that is at its end, and that is not our stdin: /dev/null, or where there is none a pipe
 * that nobody writes to. */
int open_nothing(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC), ends[2];

    if (fd < 0 && !pipe2(ends, O_CLOEXEC)) {
        fd = ends[0];
        close(ends[1]);
    }
    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: neither /dev/null nor a pipe: %s", strerror(errno));
    return fd;
}

/* The names of process sets; behind the last one nothing is written. */
static void write_psets(const struct options *options, struct job_head *head)
{
    size_t used = 0;
    int last = options->app_count;

    while (last > 0 && !options->apps[last - 1].pset)
        last--;
    for (int i = 0; i < last; i++) {
        const char *name = options->apps[i].pset ? options->apps[i].pset : "";
        const size_t size = strlen(name) + 1;

        if (size > JOB_PSETS_SIZE - used)
            die(EXIT_USAGE, "E0101: -pset %s: the names of all process sets have %d bytes together", name,
                JOB_PSETS_SIZE);
        memcpy(head->psets + used, name, size);
        used += size;
    }
}

/* PARLEY_NODES: as if there were so many machines, for tests. */
static long nodes_wanted(int ranks)
{
    const char *text = getenv("PARLEY_NODES");
    char *end;
    long nodes;

    if (!text || !*text)
        return 1;
    errno = 0;
    nodes = strtol(text, &end, 10);
    if (errno || *end || nodes < 1)
        die(EXIT_USAGE, "E0101: PARLEY_NODES is \"%s\"; it must be a number of machines, at least 1", text);
    return nodes < ranks ? nodes : ranks;
}

/* As those of the other machines. */
static void make_alike(struct job_head *head, const struct orders *orders)
{
    if ((int)head->slots != orders->slots)
        die(EXIT_SYSTEM, "E0106: the job segment has %u places here, %d are needed", head->slots, orders->slots);
    memcpy(head->token, orders->token, sizeof head->token);
    atomic_store_explicit(&head->hold, orders->hold, memory_order_relaxed);
}

/* What the maker does not know. */
static void fill_places(struct job *job)
{
    if (job->orders)
        make_alike(job->head, job->orders);
    if (job->nodes.count > 1)
        job->head->here = (uint32_t)ranks_here(job);
    job->head->is_spread |= job->nodes.is_spread;
    for (int i = 0; i < job->size; i++) {
        job_proc(job->head, i)->appnum = job_place(job->head, i)->appnum = (uint32_t)job->ranks[i].appnum;
        if (job->nodes.count > 1)
            job_place(job->head, i)->node = (uint32_t)job->ranks[i].node;
    }
}

void segment_create(struct job *job)
{
    const struct segment_plan plan = { .size = job->size,
                                       .nodes = job->nodes.count > 1 ? 1 : (int)nodes_wanted(job->size),
                                       .spare = (int)segment_spare(job),
                                       .apps = job->options.app_count,
                                       .errhandler = job->options.errhandler,
                                       .launcher = "mpiexec of Parley " PARLEY_VERSION };
    char why[SEGMENT_WHY];
    int fd = segment_make(&plan, &job->head, why);

    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: %s", why);
    job->segment_fd = descriptor_move_up(fd);
    job->null_fd = open_nothing();
    fd = fcntl(job->null_fd, F_DUPFD_CLOEXEC, 0); /* keeps the number free of anything else */
    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor left: %s", strerror(errno));
    job->rank_control_fd = descriptor_move_up(fd);
    fill_places(job);
    write_psets(&job->options, job->head);
}

size_t segment_spare(const struct job *job)
{
    const int said = job->options.universe - job->size, wished = said > SPARE_PLACES ? said : SPARE_PLACES;
    const int most = job->size < JOB_SLOTS_MAX ? JOB_SLOTS_MAX - job->size : 0;
    struct rlimit space;

    if (job->orders) /* the same as on all other machines */
        return (size_t)(job->orders->slots - job->size);
    /* places take address room in every rank; where that is limited, only who asks for them gets some */
    if (!job->options.universe && !getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
        return 0;
    return (size_t)(wished < most ? wished : most);
}

/* A processor for each process, unless the user says otherwise. */
void segment_set_universe(struct job *job)
{
    job->head->universe = job->options.universe ? (uint32_t)job->options.universe : job->head->cpus;
}
