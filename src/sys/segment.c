/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The job segment: a sparse memory file without a name anywhere. It ends with the last process that has it
 * open, whatever happens. The seal keeps a rank from shrinking it under the others. */
#include "sys/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sys/clock.h"
#include "sys/wake.h"

/* Of a segment that lies in a file system: what the ranks may come to touch in one lane, on the safe side. */
#define RANK_SPACE ((uint64_t)1100 << 10)
#define PAIR_SPACE ((uint64_t)JOB_PAGE)

/* Why not. False, for those who have nothing else to say. */
static bool PRINTF_LIKE(2, 3) refuse(char *why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, SEGMENT_WHY, format, args);
    va_end(args);
    return false;
}

void *segment_map(int fd, size_t size)
{
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

    return start == MAP_FAILED ? NULL : start;
}

/* Names the job and lets in who knows it, so it must not be guessable. */
static bool make_token(struct job_head *head, char *why)
{
    ssize_t got = getrandom(head->token, sizeof head->token, 0);

    if (got != (ssize_t)sizeof head->token) {
        const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
        got = fd < 0 ? -1 : read(fd, head->token, sizeof head->token);
        if (fd >= 0)
            close(fd);
    }
    return got == (ssize_t)sizeof head->token ||
           refuse(why, "no random numbers, neither by getrandom nor from /dev/urandom: %s", strerror(errno));
}

static void fill_proc(struct job_head *head, int rank, int nodes)
{
    struct job_proc *proc = job_proc(head, rank);

    proc->rank = (uint32_t)rank;
    proc->size = head->size;
    job_desk(head, rank)->parent = -1;
    job_desk(head, rank)->errhandler = head->errhandler;
    if (nodes > 1)
        job_place(head, rank)->node = (uint32_t)((uint64_t)rank * (uint64_t)nodes / head->size);
}

static bool fill(struct job_head *head, const struct segment_plan *plan, int slots, char *why)
{
    head->major = JOB_MAJOR;
    head->minor = JOB_MINOR;
    head->head_size = sizeof *head;
    head->proc_size = sizeof(struct job_proc);
    head->size = (uint32_t)plan->size;
    head->slots = (uint32_t)slots;
    head->apps = (uint32_t)plan->apps;
    head->errhandler = (uint32_t)plan->errhandler;
    head->launcher_pid = getpid();
    head->cpus = (uint32_t)plan->cpus;
    head->is_spread = plan->nodes > 1;
    head->start_ns = (int64_t)clock_ns();
    head->no_barrier = !wake_barrier_offered();
    snprintf(head->launcher, sizeof head->launcher, "%s", plan->launcher);
    for (int i = 0; i < plan->size; i++)
        fill_proc(head, i, plan->nodes);
    if (!make_token(head, why))
        return false;
    head->magic = JOB_MAGIC;
    return true;
}

/* Make the file long enough for good: a rank with a limit on the size of files could not do it. Nothing is used that is
 * not touched. Our own limit, if it is only the soft one, stands aside for this moment. */
static bool set_size(int fd, size_t size, char *why)
{
    struct rlimit limit, wider;
    const bool has_limit = !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size;
    bool is_set;

    if (has_limit) {
        wider = (struct rlimit){ limit.rlim_max, limit.rlim_max };
        if (limit.rlim_max < size || setrlimit(RLIMIT_FSIZE, &wider))
            return refuse(why,
                          "the shared memory of the ranks needs %zu MB of address space in a file, the limit on the "
                          "size of files is %llu bytes\nraise it (ulimit -f unlimited); only what is touched uses "
                          "memory",
                          size >> 20, (unsigned long long)limit.rlim_max);
    }
    is_set = !ftruncate(fd, (off_t)size) || refuse(why, "no memory file of %zu bytes: %s", size, strerror(errno));
    if (has_limit)
        setrlimit(RLIMIT_FSIZE, &limit);
    return is_set;
}

/* A file without a name in `directory`; -1. */
static int open_nameless(const char *directory)
{
    char path[4096];
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

    if (fd >= 0 || snprintf(path, sizeof path, "%s/parley-XXXXXX", directory) >= (int)sizeof path)
        return fd;
    fd = mkostemp(path, O_CLOEXEC); /* not every file system can do without a name from the beginning */
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Such a file, of the segment's size, with `space` bytes reserved, so that no rank meets a full file system; -1. */
static int open_in(const char *directory, size_t size, uint64_t space, char *why)
{
    struct statvfs room;
    int fd;

    if (statvfs(directory, &room) || (uint64_t)room.f_bavail * room.f_frsize < space)
        return -1;
    fd = open_nameless(directory);
    if (fd < 0)
        return -1;
    if (set_size(fd, size, why) &&
        (!fallocate(fd, 0, 0, (off_t)space) || errno == EOPNOTSUPP || errno == ENOSYS))
        return fd;
    close(fd);
    return -1;
}

/* Without memory files; -1. */
static int open_somewhere(int ranks, char *why)
{
    const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp", getenv("TMPDIR") };
    const size_t n = (size_t)ranks;
    const uint64_t space = job_transport_offset(ranks) + n * (RANK_SPACE + n * PAIR_SPACE);
    const int error = errno;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const int fd = places[i] ? open_in(places[i], job_segment_room(ranks), space, why) : -1;
        if (fd >= 0)
            return fd;
    }
    refuse(why,
           "no shared memory for %d ranks: memfd_create: %s; nor are %llu MB free for a file in /dev/shm, /tmp, "
           "/var/tmp or $TMPDIR\nlet the container use memfd_create (seccomp), or give it a larger /dev/shm "
           "(--shm-size)",
           ranks, strerror(error), (unsigned long long)(space >> 20) + 1);
    return -1;
}

/* *is_memory: the system has memory files, whatever became of this one. */
static int open_memory(int slots, bool *is_memory, char *why)
{
    const int fd = memfd_create("parley-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    *is_memory = fd >= 0;
    if (fd < 0 || set_size(fd, job_segment_room(slots), why))
        return fd;
    close(fd);
    return -1;
}

int segment_open(int slots, bool *is_memory, char why[SEGMENT_WHY])
{
    const int fd = open_memory(slots, is_memory, why);

    return fd < 0 && !*is_memory ? open_somewhere(slots, why) : fd;
}

/* With the spare places, if they are to be had for nothing; *slots is what there is. */
static int open_with_spare(const struct segment_plan *plan, int *slots, char *why)
{
    const int all = plan->size + plan->spare;
    bool is_memory;
    int fd = -1;

    *slots = all < JOB_SLOTS_MAX || plan->size > JOB_SLOTS_MAX ? all : JOB_SLOTS_MAX;
    if (*slots > plan->size)
        fd = open_memory(*slots, &is_memory, why);
    if (fd >= 0)
        return fd;
    *slots = plan->size;
    return segment_open(*slots, &is_memory, why);
}

static bool prepare(int fd, const struct segment_plan *plan, int slots, struct job_head **head, char *why)
{
    const size_t size = job_transport_offset(slots);

    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); /* a file that is not memory has no seals; nobody shrinks it */
    *head = segment_map(fd, size);
    if (!*head)
        return refuse(why, "cannot map %zu bytes: %s", size, strerror(errno));
    if (fill(*head, plan, slots, why))
        return true;
    munmap(*head, size);
    return false;
}

int segment_make(const struct segment_plan *plan, struct job_head **head, char why[SEGMENT_WHY])
{
    int slots;
    const int fd = open_with_spare(plan, &slots, why);

    if (fd < 0 || prepare(fd, plan, slots, head, why))
        return fd;
    close(fd);
    return -1;
}
