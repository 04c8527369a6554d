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
#include "base/err.h"
#include "base/mem.h"
#include "obj/errhandler.h"
#include "obj/info.h"

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

/* Made, asked, ended; and with memory that runs out at each step. */
static void test_session(void)
{
    struct session *session;
    struct info *info;
    int rc = 1;

    CHECK_INT(init_session_open(NULL, &errhandler_return, &session), 0); /* what is made at first use only */
    CHECK_INT(init_session_info(session, &info), 0);
    info_unref(info);
    CHECK_INT(init_session_close(session), 0);
    for (int n = 0; rc; n++) {
        const long live = mem_live();
        mem_fail_after(n);
        rc = init_session_open(NULL, &errhandler_return, &session);
        mem_fail_after(-1);
        CHECK(rc == 0 || mem_live() == live);
    }
    rc = 1;
    for (int n = 0; rc; n++) {
        const long live = mem_live();
        mem_fail_after(n);
        rc = init_session_info(session, &info);
        mem_fail_after(-1);
        CHECK(rc == 0 || mem_live() == live);
    }
    info_unref(info);
    CHECK_INT(init_session_close(session), 0);
}

int main(void)
{
    int flag, provided = -1;

    if (!forbid())
        return SKIPPED;
    CHECK_INT(init_start(MPI_THREAD_MULTIPLE, &provided), 0);
    CHECK_INT(provided, MPI_THREAD_MULTIPLE);
    CHECK(init_is_running() && process.job.is_singleton);
    test_session();
    CHECK_INT(init_finish(), 0);
    CHECK(!init_finalized(&flag) && flag && !init_is_running());
    test_session(); /* after the end of the world */
    CHECK(!init_is_running());
    CHECK_INT(err_class(init_start(MPI_THREAD_SINGLE, NULL)), MPI_ERR_OTHER);
    _exit(0); /* what a sanitizer does at the end of a process is not ours */
}
