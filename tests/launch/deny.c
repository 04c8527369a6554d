/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of mpiexec: run a program that may not make some system calls, as in a container with a strict profile.
 *   deny CALL[,CALL...] PROGRAM [ARGUMENT...]
 * The calls fail with EPERM, in it and in all that it starts. Exit code 77: no filter can be set here. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_CALLS = 16 };

static const struct {
    const char *name;
    int number;
} known[] = {
    { "process_vm_readv", SYS_process_vm_readv },
    { "process_vm_writev", SYS_process_vm_writev },
    { "membarrier", SYS_membarrier },
    { "memfd_create", SYS_memfd_create },
    { "sched_setaffinity", SYS_sched_setaffinity },
    { "sched_getaffinity", SYS_sched_getaffinity },
    { "socketpair", SYS_socketpair },
};

static int number_of(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name))
            return known[i].number;
    return -1;
}

/* Load the number, compare it with each call, refuse or allow. */
static int set_filter(const int *calls, int count)
{
    struct sock_filter code[2 * MAX_CALLS + 2];
    struct sock_fprog program = { .filter = code };
    unsigned short at = 0;

    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < count; i++) {
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = at;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    int calls[MAX_CALLS], count = 0;

    if (argc < 3)
        return 2;
    for (char *name = strtok(argv[1], ","); name && count < MAX_CALLS; name = strtok(NULL, ",")) {
        calls[count] = number_of(name);
        if (calls[count++] < 0) {
            fprintf(stderr, "deny: unknown call %s\n", name);
            return 2;
        }
    }
    if (set_filter(calls, count)) {
        perror("deny: no filter");
        return 77;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
