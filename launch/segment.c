/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the job segment. A sparse memory file without a name anywhere: it ends with the last process that
 * has it open, whatever happens. The seal keeps a rank from shrinking it under the others. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "sys/cpus.h"

/* Ranks find their descriptors at numbers from here on, where scripts do not put theirs. */
enum { FIRST_FD = 100, FIRST_FD_IF_FEW = 20 };

/* Move `fd` up, out of the way; the old number is closed. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);

    if (moved < 0)
        moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD_IF_FEW);
    if (moved < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor left: %s", strerror(errno));
    close(fd);
    return moved;
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
    head->cpus = (uint32_t)cpus_in_mask();
    head->start_ns = now_ns();
    snprintf(head->launcher, sizeof head->launcher, "mpiexec of Parley %s", PARLEY_VERSION);
    if (getrandom(head->token, sizeof head->token, 0) != (ssize_t)sizeof head->token)
        die(EXIT_SYSTEM, "E0106: no random numbers: %s", strerror(errno));
    head->magic = JOB_MAGIC;
}

void segment_create(struct job *job)
{
    const size_t size = job_transport_offset(job->size);
    int fd = memfd_create("parley-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
        die(EXIT_SYSTEM, "E0106: no memory file of %zu bytes for %d ranks: %s", size, job->size,
            strerror(errno));
    job->segment_fd = move_up(fd);
    job->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    fd = fcntl(job->null_fd, F_DUPFD_CLOEXEC, 0); /* keeps the number free of anything else */
    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: /dev/null: %s", strerror(errno));
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
