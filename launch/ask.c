/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --report PID: ask the mpiexec of a running job, from outside, who waits for whom. The job is found through
 * any of its processes: each has the job segment open, whose head says how to reach the launcher. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "launch.h"
#include "sys/control.h"

enum { ANSWER_SECONDS = 30, PART = 65536 };

/* The next part of the answer. A wait with a limit also ends when we have been stopped and go on. */
static ssize_t hear(int fd, char part[PART])
{
    ssize_t got;

    do
        got = recv(fd, part, PART, 0);
    while (got < 0 && errno == EINTR);
    return got;
}

/* The head of the segment if descriptor `name` of the process is one: it is a file, whatever its name. */
static bool read_head(int pid, const char *name, struct job_head *head)
{
    struct stat st;
    char path[64];
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/fd/%.20s", pid, name);
    if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof *head)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    got = pread(fd, head, sizeof *head, 0);
    close(fd);
    return got == (ssize_t)sizeof *head && head->magic == JOB_MAGIC && head->major == JOB_MAJOR;
}

static bool find_job(int pid, struct job_head *head)
{
    const struct dirent *entry;
    bool is_found = false;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    dir = opendir(path);
    if (!dir)
        die(EXIT_SYSTEM, "E0122: -report %d: %s", pid,
            errno == ENOENT ? "there is no such process" : strerror(errno));
    while (!is_found && (entry = readdir(dir)))
        is_found = read_head(pid, entry->d_name, head);
    closedir(dir);
    return is_found;
}

static int reach(const struct job_head *head)
{
    const struct timeval limit = { .tv_sec = ANSWER_SECONDS };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, CONTROL_ADDRESS,
                                (unsigned long long)head->token[0], head->launcher_pid);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
        connect(fd, (const struct sockaddr *)&address, size))
        die(EXIT_SYSTEM, "E0122: mpiexec (process %d) cannot be reached: %s", head->launcher_pid, strerror(errno));
    return fd;
}

_Noreturn void ask_report(int pid)
{
    struct control_header question = { .kind = CONTROL_REPORT };
    static char part[PART];
    struct job_head head;
    ssize_t got, all = 0;
    int fd;

    if (!find_job(pid, &head))
        die(EXIT_SYSTEM, "E0122: -report %d: this process belongs to no job of mpiexec (Parley)\n"
            "give the process number of an mpiexec, or of one of its ranks", pid);
    fd = reach(&head);
    memcpy(question.token, head.token, sizeof question.token);
    if (send(fd, &question, sizeof question, MSG_NOSIGNAL) < 0)
        die(EXIT_SYSTEM, "E0122: mpiexec (process %d) cannot be reached: %s", head.launcher_pid, strerror(errno));
    while ((got = hear(fd, part)) > 0) {
        fwrite(part, 1, (size_t)got, stdout);
        all += got;
    }
    if (got < 0 || !all)
        die(EXIT_SYSTEM, "E0122: mpiexec (process %d) does not answer: %s", head.launcher_pid,
            got < 0 ? strerror(errno) : "the job has just ended, or belongs to another user");
    exit(0);
}
