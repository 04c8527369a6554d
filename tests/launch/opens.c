/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of start-up: run a program and count the files that it opens, or tries to.
 *   opens PROGRAM [ARGUMENT...]
 * Prints "opened N of M" on stderr, N opened of M tried. Exit code: the program's; 77: nobody may be traced here. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h> /* after <sys/ptrace.h>: both have the struct below, the older one under another name */

static int opened, tried;

/* At a stop of a system call: of its way in, remember which; of its way out, count. */
static void look(pid_t child)
{
    static unsigned long long call;
    struct ptrace_syscall_info info;

    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
        call = info.entry.nr;
    if (info.op != PTRACE_SYSCALL_INFO_EXIT)
        return;
#ifdef SYS_open
    if (call != SYS_openat && call != SYS_open)
#else
    if (call != SYS_openat)
#endif
        return;
    tried++;
    opened += info.exit.rval >= 0;
}

int main(int argc, char **argv)
{
    int status;
    pid_t child;

    if (argc < 2)
        return 2;
    child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(77);
        raise(SIGSTOP);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 77;
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (!ptrace(PTRACE_SYSCALL, child, NULL, NULL) && waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        if (WSTOPSIG(status) == (SIGTRAP | 0x80))
            look(child);
    fprintf(stderr, "opened %d of %d\n", opened, tried);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
