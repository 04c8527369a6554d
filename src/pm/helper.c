/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. A process that was started without mpiexec and wants processes to be started: it starts an mpiexec for
 * itself, which makes a job segment for one rank, hands it over a socket, and looks after what comes. That mpiexec is
 * nobody's child, so the program does not see its end; each ends with the other. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "pm/int_pm.h"
#include "sys/pass.h"
#include "sys/segment.h"

enum { PATH_SIZE = 4096, HELPER_FD = 100, END_MS = 500, GONE_ROUNDS = 200 };

/* Where mpiexec lies, seen from the library: in an installation, in a build folder; else it is looked for in PATH. */
static void find_mpiexec(char path[PATH_SIZE])
{
    static const char *const places[] = { "/../bin/mpiexec", "/../../bin/mpiexec", "/../launch/mpiexec" };
    Dl_info info;
    char folder[PATH_SIZE] = "";

    if (dladdr(places, &info) && info.dli_fname && strlen(info.dli_fname) < sizeof folder)
        strcpy(folder, info.dli_fname);
    if (strrchr(folder, '/'))
        *strrchr(folder, '/') = 0;
    for (size_t i = 0; *folder && i < sizeof places / sizeof *places; i++) {
        snprintf(path, PATH_SIZE, "%.4000s%s", folder, places[i]);
        if (!access(path, X_OK))
            return;
    }
    strcpy(path, "mpiexec");
}

/* In a forked child: system calls only, but for execvp. */
static _Noreturn void run_mpiexec(const char *path, const char *program, int fd)
{
    char option[32];

    if (fork() == 0) { /* so that it is nobody's child */
        snprintf(option, sizeof option, "--adopt=%d", HELPER_FD);
        if (dup2(fd, HELPER_FD) == HELPER_FD && (fd != HELPER_FD || !fcntl(fd, F_SETFD, 0)))
            execlp(path, "mpiexec", option, program, (char *)NULL);
    }
    _exit(0);
}

static bool start_mpiexec(int fd)
{
    char path[PATH_SIZE], program[PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    pid_t pid;

    if (length < 0)
        return false;
    program[length] = 0;
    find_mpiexec(path);
    pid = fork();
    if (pid == 0)
        run_mpiexec(path, program, fd);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0;
}

/* As it has handed it over: its head tells the rest. */
static int take_segment(struct pm_job *job, int segment_fd, int control_fd)
{
    struct job_head *head = segment_map(segment_fd, sizeof *head);
    struct pm_ticket ticket = { .segment_fd = segment_fd, .control_fd = control_fd, .rank = 0, .size = 1, .proc = 0 };

    if (!head)
        return err(MPI_ERR_OTHER, "the job segment cannot be mapped: %s", strerror(errno));
    memcpy(ticket.token, head->token, sizeof ticket.token);
    ticket.launcher_pid = head->launcher_pid;
    ticket.procs = (int)head->slots;
    munmap(head, sizeof *head);
    return pm_join(job, &ticket);
}

/* The end of mpiexec is ours from now on. */
static void guard(int fd)
{
    if (!fcntl(fd, F_SETOWN, getpid()) && !fcntl(fd, F_SETSIG, SIGKILL))
        (void)fcntl(fd, F_SETFL, O_ASYNC);
}

int pm_begin_job(struct pm_job *job, const char *what)
{
    int ends[2], segment_fd = -1, rc;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return err(MPI_ERR_UNSUPPORTED_OPERATION, "E1006: %s needs mpiexec of Parley, which this process cannot start: "
                   "%s", what, strerror(errno));
    if (start_mpiexec(ends[1])) {
        close(ends[1]);
        segment_fd = pass_receive(ends[0]);
    } else {
        close(ends[1]);
    }
    if (segment_fd < 0) {
        close(ends[0]);
        return err(MPI_ERR_UNSUPPORTED_OPERATION, "E1006: %s needs mpiexec of Parley, which this process cannot start: "
                   "it is not beside the library, nor in PATH, or has refused", what);
    }
    rc = take_segment(job, segment_fd, ends[0]);
    if (rc || job->is_singleton) {
        close(segment_fd);
        close(ends[0]);
        return rc ? rc : err(MPI_ERR_OTHER, "this process is its own ancestor");
    }
    guard(ends[0]);
    job->has_helper = true;
    return 0;
}

/* So that nothing is left when the program has ended; but children that go on need it. */
void pm_end_helper(struct pm_job *job)
{
    const struct timespec moment = { .tv_nsec = 100000 };
    struct pollfd end = { .fd = job->control_fd, .events = POLLIN };

    (void)fcntl(job->control_fd, F_SETFL, fcntl(job->control_fd, F_GETFL) & ~O_ASYNC);
    if (shutdown(job->control_fd, SHUT_WR) || poll(&end, 1, END_MS) <= 0)
        return;
    for (int i = 0; i < GONE_ROUNDS && !kill(job->head->launcher_pid, 0); i++)
        nanosleep(&moment, NULL);
}
