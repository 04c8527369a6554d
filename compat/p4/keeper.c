/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The keeper: a process between the master of a cluster and its slaves. It forks the slaves, so it hears
 * of the end of each with its status, and ends with the last of them. When one ends badly, or somebody has called
 * p4_error, or the master is gone, it ends the others. It handles signals one after the other, so nothing here runs in
 * a handler; it never takes part in messages.
 *
 *   signal    from                     meaning
 *   SIGCHLD   the kernel               a slave has ended
 *   SIGTERM   the kernel               the master has ended
 *   SIGUSR1   any process of the run   look at control->end */
#include <errno.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "p4/int_door.h"
#include "p4/int_keeper.h"
#include "sys/clock.h"
#include "sys/wake.h"

enum { PATIENCE_S = 2 }; /* between the wish that a process ends and its end by force */

static struct keeper {
    const struct cluster_plan *plan;
    int master;
    int pid[P4_MAXPROCS]; /* of the slaves, from 1 on; 0: none, or it has ended */
    int alive;
    bool is_ending;
    uint64_t force_ns;    /* with is_ending: when to use force; 0: it has been used */
    sigset_t before;      /* signals that the master had blocked */
} keeper;

struct job_proc *keeper_proc(int place)
{
    return job_proc(keeper.plan->head, place);
}

/* Waits end when they see that somebody has left. */
static void wake_everybody(void)
{
    for (int place = 0; place < keeper.plan->count; place++) {
        _Atomic uint32_t *word = &keeper_proc(place)->sleep;
        if (atomic_exchange_explicit(word, 0, memory_order_acq_rel))
            wake_all(word);
    }
}

/* --- ending --- */

static void signal_all(int number)
{
    for (int place = 1; place < keeper.plan->count; place++) {
        finish_signal(keeper.pid[place], number);
    }
    for (int i = 0; i < P4_CHILDREN; i++)
        finish_signal(atomic_load_explicit(&control->child[i], memory_order_relaxed), number);
}

static bool has_master(void)
{
    return getppid() == keeper.master;
}

static void begin_ending(int code)
{
    uint64_t none = 0;

    atomic_compare_exchange_strong(&control->end, &none, job_end(-1, code));
    if (keeper.is_ending)
        return;
    keeper.is_ending = true;
    keeper.force_ns = clock_ns() + (uint64_t)PATIENCE_S * 1000000000;
    signal_all(SIGTERM);
    if (has_master())
        finish_signal(keeper.master, SIGUSR1);
}

static void use_force(void)
{
    keeper.force_ns = 0;
    signal_all(SIGKILL);
    if (has_master())
        finish_signal(keeper.master, SIGKILL);
}

/* --- slaves --- */

static void PRINTF_LIKE(1, 2) tell(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    door->diagnose(text);
}

/* A process that leaves by exit has told so before; others may leave silently only by _exit(0). */
static void on_end_of_slave(int place, int status)
{
    const bool has_left = atomic_load_explicit(&keeper_proc(place)->state, memory_order_acquire) >= JOB_FINALISED;
    const bool is_fine = WIFEXITED(status) && (has_left || !WEXITSTATUS(status));
    const int id = p4_own.first + place, pid = keeper.pid[place];

    keeper.pid[place] = 0;
    keeper.alive--;
    atomic_store_explicit(&keeper_proc(place)->state, JOB_EXITED, memory_order_release);
    wake_everybody();
    if (is_fine || keeper.is_ending || p4_is_ending())
        return;
    if (WIFSIGNALED(status))
        tell("E0605: process %d (pid %d) was ended by signal %d (%s)%s", id, pid, WTERMSIG(status),
             strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
    else
        tell("E0605: process %d (pid %d) ended with exit code %d, and not by exit", id, pid, WEXITSTATUS(status));
    begin_ending(1);
}

static void reap(void)
{
    int status, pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (int place = 1; place < keeper.plan->count; place++) {
            if (keeper.pid[place] == pid)
                on_end_of_slave(place, status);
        }
    }
}

/* --- the loop --- */

/* Somebody who uses MPI's own ways has ended the job in the segment. */
static uint64_t end_of_run(void)
{
    const uint64_t end = atomic_load_explicit(&control->end, memory_order_relaxed);

    return end ? end : atomic_load_explicit(&keeper.plan->head->end, memory_order_relaxed);
}

static bool is_over(void)
{
    return !keeper.alive && (!keeper.is_ending || !has_master());
}

static _Noreturn void keep(const sigset_t *set)
{
    const struct timespec pause = { .tv_nsec = 100000000 };
    siginfo_t info;

    while (!is_over()) {
        const int number = keeper.force_ns ? sigtimedwait(set, &info, &pause) : sigwaitinfo(set, &info);
        reap();
        if (end_of_run())
            begin_ending(job_end_code(end_of_run()));
        if (!has_master() || number == SIGTERM)
            begin_ending(1);
        if (keeper.force_ns && clock_ns() >= keeper.force_ns)
            use_force();
    }
    atomic_store_explicit(&control->all_gone, 1, memory_order_release); /* pairs with finish.c */
    wake_everybody();
    _exit(0);
}

/* What the master was, this is too, but for these. The input that the master has read and not used is the master's. */
static void become_slave(int keeper_pid)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper_pid)
        _exit(1);
    __fpurge(stdin);
    sigprocmask(SIG_SETMASK, &keeper.before, NULL);
}

/* Fork them all. Their place in a slave, 0 here. */
static int fork_slaves(void)
{
    const int self = getpid();

    for (int place = 1; place < keeper.plan->count && !keeper.is_ending; place++) {
        const int pid = fork();
        if (!pid) {
            become_slave(self);
            return place;
        }
        if (pid < 0) {
            tell("E0604: no process for number %d: %s", p4_own.first + place, strerror(errno));
            begin_ending(1);
            return 0;
        }
        keeper.pid[place] = pid;
        keeper.alive++;
    }
    return 0;
}

static int become_keeper(void)
{
    sigset_t set;
    int place;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_NAME, "p4-keeper");
    signal(SIGCHLD, SIG_DFL); /* ignored, it would not be told */
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    place = fork_slaves();
    if (place)
        return place;
    keep(&set);
}

int keeper_start(const struct cluster_plan *plan)
{
    sigset_t all;
    int pid;

    keeper.plan = plan;
    keeper.master = getpid();
    fflush(stdout);
    fflush(stderr);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &keeper.before);
    pid = fork();
    if (!pid)
        return become_keeper();
    if (pid > 0)
        atomic_store(&control->keeper, pid);
    sigprocmask(SIG_SETMASK, &keeper.before, NULL);
    if (pid < 0)
        p4_fail("E0604: no process for the keeper: %s", strerror(errno));
    return 0;
}
