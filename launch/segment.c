/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the job segment. A sparse memory file without a name anywhere: it ends with the last process that
 * has it open, whatever happens. The seal keeps a rank from shrinking it under the others. Where the system has
 * no memory files (memfd_create: old kernels, some sandboxes), it is a file in /dev/shm or a directory for
 * temporary files that loses its name before anything else happens; then there must be room for it. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sys/wake.h"

/* Ranks find their descriptors at numbers from here on, where scripts do not put theirs. */
static const int first_fds[] = { 100, 20, STDERR_FILENO + 1 }; /* the later ones where few are allowed */

/* Of a segment that lies in a file system: what the ranks may come to touch, a guess on the safe side. */
#define RANK_SPACE ((uint64_t)2 << 20)
#define PAIR_SPACE ((uint64_t)JOB_PAGE)

/* Move `fd` up, out of the way; the old number is closed. */
static int move_up(int fd)
{
    int moved = -1;

    for (size_t i = 0; i < ARRAY_LEN(first_fds) && moved < 0; i++)
        moved = fcntl(fd, F_DUPFD_CLOEXEC, first_fds[i]);
    if (moved < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor left: %s", strerror(errno));
    close(fd);
    return moved;
}

/* Names the job and lets in who knows it, so it must not be guessable. */
static void make_token(struct job_head *head)
{
    ssize_t got = getrandom(head->token, sizeof head->token, 0);

    if (got != (ssize_t)sizeof head->token) {
        const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
        got = fd < 0 ? -1 : read(fd, head->token, sizeof head->token);
        if (fd >= 0)
            close(fd);
    }
    if (got != (ssize_t)sizeof head->token)
        die(EXIT_SYSTEM, "E0106: no random numbers, neither by getrandom nor from /dev/urandom: %s",
            strerror(errno));
}

static void fill_head(struct job *job)
{
    struct job_head *head = job->head;

    head->major = JOB_MAJOR;
    head->minor = JOB_MINOR;
    head->head_size = sizeof *head;
    head->proc_size = sizeof(struct job_proc);
    head->size = head->local_size = (uint32_t)job->size;
    head->apps = (uint32_t)job->options.app_count;
    head->errhandler = (uint32_t)job->options.errhandler;
    head->launcher_pid = getpid();
    head->start_ns = now_ns();
    head->no_barrier = !wake_barrier_offered();
    snprintf(head->launcher, sizeof head->launcher, "mpiexec of Parley %s", PARLEY_VERSION);
    make_token(head);
    head->magic = JOB_MAGIC;
}

/* A file without a name in `directory` if it has `space` bytes left; -1. */
static int open_in(const char *directory, uint64_t space)
{
    char path[4096];
    struct statvfs room;
    int fd;

    if (statvfs(directory, &room) || (uint64_t)room.f_bavail * room.f_frsize < space)
        return -1;
    fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (fd >= 0 || snprintf(path, sizeof path, "%s/parley-XXXXXX", directory) >= (int)sizeof path)
        return fd;
    fd = mkostemp(path, O_CLOEXEC); /* not every file system can do without a name from the beginning */
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Without memory files. */
static int open_somewhere(int size)
{
    const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp", getenv("TMPDIR") };
    const uint64_t ranks = (uint64_t)size, space = ranks * (RANK_SPACE + ranks * PAIR_SPACE);
    const int why = errno;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const int fd = places[i] ? open_in(places[i], space) : -1;
        if (fd >= 0)
            return fd;
    }
    die(EXIT_SYSTEM,
        "E0106: no shared memory for %d ranks: memfd_create: %s; nor are %llu MB free for a file in /dev/shm, "
        "/tmp, /var/tmp or $TMPDIR\nlet the container use memfd_create (seccomp), or give it a larger /dev/shm "
        "(--shm-size)",
        size, strerror(why), (unsigned long long)(space >> 20) + 1);
}

/* Make the file long enough for good: a rank with a limit on the size of files could not do it. Nothing is used
 * that is not touched. Our own limit, if it is only the soft one, stands aside for this moment. */
static void set_size(int fd, size_t size)
{
    struct rlimit limit, wider;
    const bool has_limit = !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size;

    if (has_limit) {
        wider = (struct rlimit){ limit.rlim_max, limit.rlim_max };
        if (limit.rlim_max < size || setrlimit(RLIMIT_FSIZE, &wider))
            die(EXIT_SYSTEM,
                "E0106: the shared memory of the ranks needs %zu MB of address space in a file, the limit on the "
                "size of files is %llu bytes\nraise it (ulimit -f unlimited); only what is touched uses memory",
                size >> 20, (unsigned long long)limit.rlim_max);
    }
    if (ftruncate(fd, (off_t)size))
        die(EXIT_SYSTEM, "E0106: no memory file of %zu bytes: %s", size, strerror(errno));
    if (has_limit)
        setrlimit(RLIMIT_FSIZE, &limit);
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

void segment_create(struct job *job)
{
    const size_t size = job_transport_offset(job->size);
    int fd = memfd_create("parley-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const bool is_memory = fd >= 0;

    if (!is_memory)
        fd = open_somewhere(job->size);
    set_size(fd, job_segment_room(job->size));
    if (is_memory && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
        die(EXIT_SYSTEM, "E0106: the memory file for %d ranks cannot be sealed: %s", job->size, strerror(errno));
    job->segment_fd = move_up(fd);
    job->null_fd = open_nothing();
    fd = fcntl(job->null_fd, F_DUPFD_CLOEXEC, 0); /* keeps the number free of anything else */
    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor left: %s", strerror(errno));
    job->rank_control_fd = move_up(fd);
    job->head = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, job->segment_fd, 0);
    if (job->head == MAP_FAILED)
        die(EXIT_SYSTEM, "E0106: cannot map %zu bytes: %s", size, strerror(errno));
    fill_head(job);
    for (int i = 0; i < job->size; i++) {
        struct job_proc *proc = job_proc(job->head, i);
        proc->appnum = (uint32_t)job->ranks[i].appnum;
        proc->local_rank = (uint32_t)i;
    }
}
