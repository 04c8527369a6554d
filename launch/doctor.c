/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --doctor: the list. A line says what there is, and what follows for jobs on this machine; lines that fail
 * are why no job can run, and then the exit code is 1. */
#include "doctor.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "launch.h"
#include "sys/cgroup.h"
#include "sys/text.h"
#include "sys/wake.h"

enum { VALUE_SIZE = 256, TEXT_SIZE = 8192, MEGABYTE = 1 << 20 };

static int failures;

void doctor_say(enum doctor_mark mark, const char *what, const char *value, const char *follows, ...)
{
    static const char *const marks[] = { "ok", "note", "FAIL" };
    char text[TEXT_SIZE], *rest = text;
    va_list args;

    failures += mark == DOCTOR_FAIL;
    va_start(args, follows);
    vsnprintf(text, sizeof text, follows, args);
    va_end(args);
    printf("%-5s %-17s %-24s %s\n", marks[mark], what, value, strsep(&rest, "\n"));
    while (rest)
        printf("%-5s %-17s %-24s %s\n", "", "", "", strsep(&rest, "\n"));
}

/* The number behind `name` in a text of lines such as /proc/meminfo; -1: not there. */
static long long number_behind(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static void system_and_versions(void)
{
    struct utsname system;
    char value[VALUE_SIZE];

    uname(&system);
    snprintf(value, sizeof value, "%s %.20s", system.sysname, system.release);
    doctor_say(DOCTOR_OK, "system", value, "%s, C library %s (of mpiexec)", system.machine, gnu_get_libc_version());
}

static void processors(void)
{
    const int in_mask = cpus_in_mask(), within = cpus_within_quota(in_mask);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    char value[VALUE_SIZE];

    snprintf(value, sizeof value, within < in_mask ? "%d of %ld, quota %d" : "%d of %ld, no quota", in_mask, online,
             within);
    doctor_say(within < in_mask ? DOCTOR_NOTE : DOCTOR_OK, "processors", value,
               "up to %d ranks run side by side; more take turns, and sleep while they wait", within);
}

static long long limit_v1(const char *directory)
{
    const long long limit = cgroup_number(directory, "memory.limit_in_bytes");

    return limit < 1LL << 60 ? limit : 0; /* a very large one stands for none */
}

static long long limit_v2(const char *directory)
{
    return cgroup_number(directory, "memory.max");
}

static void memory(void)
{
    const unsigned long long limit =
        (unsigned long long)cgroup_least("", "memory", limit_v1, limit_v2) / MEGABYTE;
    char text[TEXT_SIZE], value[VALUE_SIZE];
    long long all, left;

    text_read("/proc/meminfo", text, sizeof text);
    all = number_behind(text, "MemTotal:") / 1024;
    left = number_behind(text, "MemAvailable:") / 1024;
    snprintf(value, sizeof value, "%lld of %lld MB free", left, all);
    if (limit && limit < (unsigned long long)all)
        doctor_say(DOCTOR_NOTE, "memory", value, "the cgroup's limit is %llu MB, for all ranks together", limit);
    else
        doctor_say(DOCTOR_OK, "memory", value, "a rank takes about 1 MB itself, and 5 KB for each partner");
}

static void huge_pages(void)
{
    char text[128];

    if (!text_read("/sys/kernel/mm/transparent_hugepage/shmem_enabled", text, sizeof text))
        return;
    if (strstr(text, "[always]") || strstr(text, "[force]"))
        doctor_say(DOCTOR_NOTE, "shared huge pages", "always", "shared memory is taken 2 MB at a time: many ranks "
                   "take more of it than they need");
}

static const char *refusal(int error, char *value)
{
    snprintf(value, VALUE_SIZE, "%.40s", error ? strerror(error) : "works");
    return value;
}

/* Why one process may not look into another, as far as the system says. */
static const char *why_no_peeking(void)
{
    char text[TEXT_SIZE];

    if (text_read("/proc/sys/kernel/yama/ptrace_scope", text, sizeof text) && atoi(text) >= 2)
        return "sysctl kernel.yama.ptrace_scope is 2 or more";
    text_read("/proc/self/status", text, sizeof text);
    if (number_behind(text, "Seccomp:") > 0)
        return "a seccomp filter is on: allow process_vm_readv and process_vm_writev in its profile";
    return "the kernel or a security module refuses it";
}

static void peeking(const struct doctor_pair *pair)
{
    char value[VALUE_SIZE];

    if (!pair->read && !pair->write)
        doctor_say(DOCTOR_OK, "process_vm_readv", "works", "long messages are copied once, from buffer to buffer");
    else
        doctor_say(DOCTOR_NOTE, "process_vm_readv", refusal(pair->read ? pair->read : pair->write, value),
                   "long messages are copied twice, through cells\n%s", why_no_peeking());
}

static void sharing(void)
{
    struct doctor_pair pair;
    char value[VALUE_SIZE];

    fflush(stdout); /* once, not by each child */
    doctor_probe_pair(&pair);
    if (!pair.has_file) {
        doctor_say(DOCTOR_FAIL, "memory file", "refused", "%s", pair.why);
        return;
    }
    if (pair.is_memory)
        doctor_say(DOCTOR_OK, "memory file", "works", "ranks meet in it; nothing is put in /dev/shm or on a disk");
    else
        doctor_say(DOCTOR_NOTE, "memory file", "refused", "ranks meet in a file without a name, in /dev/shm or a "
                   "directory for temporary files\nallow memfd_create in the seccomp profile");
    if (pair.process || pair.wake) {
        doctor_say(DOCTOR_FAIL, "two processes", refusal(pair.process ? pair.process : pair.wake, value),
                   pair.process ? "raise the limit of processes (ulimit -u, pids of the cgroup)"
                                : "one does not wake the other\nallow futex in the seccomp profile");
        return;
    }
    doctor_say(DOCTOR_OK, "two processes", "works", "a waiting rank sleeps, and is woken through shared memory");
    peeking(&pair);
}

static void barrier(void)
{
    wake_barrier_init();
    if (wake_barrier())
        doctor_say(DOCTOR_OK, "membarrier", "works", "a sender needs no fence for those who sleep");
    else
        doctor_say(DOCTOR_NOTE, "membarrier", "refused", "a rank that sleeps may notice a message up to 1 ms late\n"
                   "allow it in the seccomp profile");
}

static void launching(void)
{
    const char *refused = doctor_probe_launcher();

    if (refused)
        doctor_say(DOCTOR_FAIL, "launching", strerror(errno), "mpiexec needs %s", refused);
    else
        doctor_say(DOCTOR_OK, "launching", "works", "ranks end with mpiexec, and mpiexec with the first that fails");
}

static const char *limit_text(rlim_t limit, char *value)
{
    if (limit == RLIM_INFINITY)
        snprintf(value, VALUE_SIZE, "no limit");
    else
        snprintf(value, VALUE_SIZE, "%llu", (unsigned long long)limit);
    return value;
}

static void limits(void)
{
    struct rlimit files, processes;
    char value[VALUE_SIZE];
    unsigned long long ranks;

    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NPROC, &processes);
    ranks = files.rlim_max == RLIM_INFINITY ? 1000000 : files.rlim_max > 256 ? (files.rlim_max - 256) / 3 : 0;
    doctor_say(ranks >= 64 ? DOCTOR_OK : ranks ? DOCTOR_NOTE : DOCTOR_FAIL, "open files",
               limit_text(files.rlim_max, value), ranks >= 64 ? "enough for %llu ranks" :
               "enough for %llu ranks only\nraise it with ulimit -Hn", ranks);
    doctor_say(DOCTOR_OK, "processes", limit_text(processes.rlim_cur, value), "of this user at once, threads included; "
               "locked memory is not needed");
}

/* What others trip over and this one does not touch. */
static void not_needed(void)
{
    struct statvfs shm;
    char value[VALUE_SIZE] = "not there", text[TEXT_SIZE];

    if (!statvfs("/dev/shm", &shm))
        snprintf(value, sizeof value, "%llu MB free", (unsigned long long)shm.f_bavail * shm.f_frsize / MEGABYTE);
    doctor_say(DOCTOR_OK, "/dev/shm", value, "not used; neither are /tmp, the network and the name of this host");
    text_read("/proc/self/status", text, sizeof text);
    doctor_say(DOCTOR_OK, "seccomp", number_behind(text, "Seccomp:") > 0 ? "a filter is on" : "no filter",
               "what counts has been tried above");
}

/* This machine. */
static void here(void)
{
    system_and_versions();
    processors();
    memory();
    huge_pages();
    launching();
    sharing();
    barrier();
    limits();
    not_needed();
    doctor_networks();
    doctor_paths();
}

int doctor_run(const struct options *options)
{
    const struct host own = { .name = "localhost", .is_here = true };
    const bool is_meant = options->hosts.count == 0 || hosts_find(&options->hosts, &own);

    puts("mpiexec (Parley) " PARLEY_VERSION);
    if (is_meant)
        here();
    doctor_hosts(options);
    printf(failures ? "no job can run %s: see FAIL\n" : "jobs can run %s\n", is_meant ? "here" : "there");
    return failures ? 1 : 0;
}
