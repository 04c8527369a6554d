/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room init: a program that runs alone comes up and goes down without any file, socket or helper. The
 * kernel ends the process that asks for one. */
#include "init/init.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"

enum { SKIPPED = 77 };

static const unsigned forbidden[] = {
#ifdef SYS_open /* newer machines have only openat */
    SYS_open,   SYS_creat,  SYS_fork,       SYS_vfork,   SYS_pipe,
#endif
    SYS_openat, SYS_socket, SYS_socketpair, SYS_connect, SYS_clone, SYS_execve, SYS_pipe2, SYS_memfd_create,
};

/* A filter of two instructions for each: equal, then the end of the process. */
static bool forbid(void)
{
    struct sock_filter code[2 * ARRAY_LEN(forbidden) + 2];
    struct sock_fprog program = { ARRAY_LEN(code), code };
    size_t n = 0;

    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
    int flag, provided = -1;

    if (!forbid())
        return SKIPPED;
    CHECK_INT(init_start(MPI_THREAD_MULTIPLE, &provided), 0);
    CHECK_INT(provided, MPI_THREAD_MULTIPLE);
    CHECK(init_is_running() && process.job.is_singleton);
    CHECK_INT(init_finish(), 0);
    CHECK(!init_finalized(&flag) && flag);
    _exit(0); /* what a sanitizer does at the end of a process is not ours */
}
