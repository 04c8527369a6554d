/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command to which the kernel denies some system calls, as containers and sandboxes do: a small seccomp filter.
 *
 *     deny [-e EPERM|ENOSYS|EACCES|EAGAIN] CALL[,CALL...] COMMAND [ARGUMENT]...
 *
 * Everything that the command starts inherits the filter. Exit code 77: this machine cannot do that. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CANNOT = 77, CALLS_MAX = 32 };

#if defined __x86_64__
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define THIS_ARCH AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define THIS_ARCH AUDIT_ARCH_RISCV64
#elif defined __powerpc64__ && defined __LITTLE_ENDIAN__
#define THIS_ARCH AUDIT_ARCH_PPC64LE
#elif defined __s390x__
#define THIS_ARCH AUDIT_ARCH_S390X
#endif

static const struct {
    const char *name;
    long number;
} calls[] = {
    { "process_vm_readv", SYS_process_vm_readv },
    { "process_vm_writev", SYS_process_vm_writev },
    { "clone", SYS_clone },
    { "membarrier", SYS_membarrier },
    { "memfd_create", SYS_memfd_create },
    { "sched_setaffinity", SYS_sched_setaffinity },
    { "sched_getaffinity", SYS_sched_getaffinity },
    { "getrandom", SYS_getrandom },
    { "socketpair", SYS_socketpair },
    { "prlimit64", SYS_prlimit64 },
    { "prctl", SYS_prctl },
    { "clone", SYS_clone },
#ifdef SYS_vfork
    { "vfork", SYS_vfork },
#else
    { "vfork", SYS_clone },
#endif
    { "clone3", 435 },
    { "pidfd_open", 434 },
    { "close_range", 436 },
    { "futex_waitv", 449 },
};

static long number_of(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!strcmp(calls[i].name, name))
            return calls[i].number;
    fprintf(stderr, "deny: %s is not in my list\n", name);
    exit(2);
}

static int errno_of(const char *name)
{
    if (!strcmp(name, "EPERM"))
        return EPERM;
    if (!strcmp(name, "ENOSYS"))
        return ENOSYS;
    if (!strcmp(name, "EACCES"))
        return EACCES;
    if (!strcmp(name, "EAGAIN"))
        return EAGAIN;
    fprintf(stderr, "deny: -e %s is none of EPERM, ENOSYS, EACCES, EAGAIN\n", name);
    exit(2);
}

#ifdef THIS_ARCH
/* Load the architecture, let others through; load the number; for each call a comparison and an answer; allow. */
static int install(char *names, int error)
{
    struct sock_filter code[CALLS_MAX * 2 + 5] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    struct sock_fprog filter = { .len = 4, .filter = code };

    for (char *name = strtok(names, ","); name && filter.len + 3 <= CALLS_MAX * 2; name = strtok(NULL, ",")) {
        code[filter.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number_of(name), 0, 1);
        code[filter.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
    }
    code[filter.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
#else
static int install(char *names, int error)
{
    (void)error;
    number_of(names);
    errno = ENOTSUP;
    return -1;
}
#endif

int main(int argc, char **argv)
{
    int at = 1, error = EPERM;

    if (argc > 2 && !strcmp(argv[1], "-e")) {
        error = errno_of(argv[2]);
        at = 3;
    }
    if (argc < at + 2) {
        fprintf(stderr, "usage: deny [-e ERROR] CALL[,CALL...] COMMAND [ARGUMENT]...\n");
        return 2;
    }
    if (install(argv[at], error)) {
        fprintf(stderr, "deny: no seccomp filter: %s\n", strerror(errno));
        return CANNOT;
    }
    execvp(argv[at + 1], argv + at + 1);
    fprintf(stderr, "deny: %s: %s\n", argv[at + 1], strerror(errno));
    return CANNOT;
}
