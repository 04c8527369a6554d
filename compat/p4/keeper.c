/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The keeper: a process between the master of a cluster and its slaves. It forks the slaves, so it
 * hears of the end of each with its status, and ends with the last of them. When one ends badly, or somebody has
 * called p4_error, or the master is gone, it ends the others. It handles signals one after the other, so nothing
 * here runs in a handler; it never takes part in messages.
 *
 *   signal    from                     meaning
 *   SIGCHLD   the kernel               a slave has ended
 *   SIGTERM   the kernel               the master has ended
 *   SIGUSR1   any process of the run   look at control->end */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "p4/int_door.h"
#include "p4/int_keeper.h"
#include "sys/clock.h"
#include "sys/wake.h"

enum {
    PATIENCE_S = 2, /* between the wish that a process ends and its end by force */
    LOOK_FORCE_MS = 100,
    LOOK_MS = 1000, /* between looks whether all wait for each other */
};

static struct keeper {
    const struct cluster_plan *plan;
    int master;
    int pid[P4_MAXPROCS]; /* of the slaves, from 1 on; 0: none, or it has ended */
    int alive;
    bool is_ending;
    uint64_t force_ns;    /* with is_ending: when to use force; 0: it has been used */
    int force_looks;      /* and how often to look for the end of the others before */
    int signals;          /* descriptor of the signals in the table above */
    sigset_t before;      /* signals that the master had blocked */
} keeper = { .signals = -1 };

struct job_proc *keeper_proc(int place)
{
    return job_proc(keeper.plan->head, keeper.plan->place + place);
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
    atomic_store(&control->is_told, 1);
    wake_all(&control->is_told);
    hub_tell(-1, "end %d", job_end_code(control->end));
    keeper.force_ns = clock_ns() + (uint64_t)PATIENCE_S * 1000000000;
    keeper.force_looks = PATIENCE_S * 1000 / LOOK_FORCE_MS; /* all may have been stopped for a while */
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

/* Of another host the first cluster's keeper says it, so that it is said once and where the user looks. */
void keeper_fail(const char *format, ...)
{
    char text[512];
    va_list args;

    if (keeper.is_ending || p4_is_ending())
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (keeper.plan->hub_fd >= 0)
        hub_tell(-1, "fail %s", text);
    else
        door->diagnose(text);
    begin_ending(1);
}

void keeper_heard_gone(int id, int from_fd)
{
    if (id < 0 || id >= P4_MAXPROCS)
        return;
    atomic_store_explicit(&control->peer[id].is_gone, true, memory_order_release); /* pairs with remote.c */
    if (keeper.plan->hub_fd < 0)
        hub_tell(from_fd, "gone %d", id);
    wake_everybody();
}

void keeper_heard_end(int code)
{
    begin_ending(code);
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
    hub_tell(-1, "gone %d", id);
    wake_everybody();
    if (is_fine)
        return;
    if (WIFSIGNALED(status))
        keeper_fail("E0605: process %d (pid %d) was ended by signal %d (%s)%s", id, pid, WTERMSIG(status),
                    strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
    else
        keeper_fail("E0605: process %d (pid %d) ended with exit code %d, and not by exit", id, pid,
                    WEXITSTATUS(status));
}

static void reap(void)
{
    int status, pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (hosts_shell_ended(pid, status))
            continue;
        for (int place = 1; place < keeper.plan->count; place++) {
            if (keeper.pid[place] == pid)
                on_end_of_slave(place, status);
        }
    }
}

/* That of another cluster than the first may end before its keeper: it is not waited for by a shell of this one. */
static void on_end_of_master(void)
{
    const bool has_left = atomic_load_explicit(&keeper_proc(0)->state, memory_order_acquire) >= JOB_FINALISED;

    hub_tell(-1, "gone %d", p4_own.first);
    if (has_left && !keeper.alive)
        return;
    if (keeper.plan->hub_fd >= 0)
        keeper_fail("E0605: process %d (pid %d) has ended, and neither by p4_wait_for_end nor by exit", p4_own.first,
                    keeper.master);
    begin_ending(1);
}

/* --- the loop --- */

/* Somebody who uses MPI's own ways has ended the job in the segment. */
static uint64_t end_of_run(void)
{
    const uint64_t end = atomic_load_explicit(&control->end, memory_order_relaxed);

    return end ? end : atomic_load_explicit(&keeper.plan->head->end, memory_order_relaxed);
}

/* The first keeper ends with the last of the others, whose output may still be in remote shells. Those go when their
 * master has gone. */
static bool is_over(void)
{
    if (keeper.alive || (keeper.is_ending && has_master()))
        return false;
    if (keeper.plan->hub_fd >= 0)
        return !has_master();
    return keeper.is_ending || (!hub_count() && !hosts_shells());
}

/* Wait for signals, and for lines of other keepers. */
static void wait_for_news(void)
{
    static struct pollfd wait[P4_MAX_PROCGROUP_ENTRIES + 1];
    static int fds[P4_MAX_PROCGROUP_ENTRIES];
    const int count = hub_fds(fds);
    struct signalfd_siginfo info;

    wait[0] = (struct pollfd){ .fd = keeper.signals, .events = POLLIN };
    for (int i = 0; i < count; i++)
        wait[i + 1] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
    if (poll(wait, (nfds_t)count + 1, keeper.force_ns ? LOOK_FORCE_MS : keeper.plan->has_others ? -1 : LOOK_MS) <= 0) {
        if (!keeper.plan->has_others && !keeper.is_ending)
            stall_look(keeper.plan->count);
        return;
    }
    while (read(keeper.signals, &info, sizeof info) == sizeof info)
        ;
    for (int i = 0; i < count; i++) {
        if (wait[i + 1].revents)
            hub_read(wait[i + 1].fd);
    }
}

static void tell_all_gone(void)
{
    if (keeper.alive || atomic_load_explicit(&control->all_gone, memory_order_relaxed) ||
        (keeper.plan->hub_fd < 0 && hub_count()))
        return;
    atomic_store_explicit(&control->all_gone, 1, memory_order_release); /* pairs with finish.c */
    wake_everybody();
}

static _Noreturn void keep(void)
{
    bool had_master = true;

    for (;;) {
        reap();
        if (p4_is_ending() && !keeper.is_ending) /* who ends the run may be about to say why */
            finish_let_tell();
        if (end_of_run())
            begin_ending(job_end_code(end_of_run()));
        if (had_master && !has_master()) { /* it may have ended before we asked to be told */
            had_master = false;
            on_end_of_master();
        }
        tell_all_gone();
        if (is_over())
            break;
        wait_for_news();
        if (keeper.force_ns && --keeper.force_looks < 0 && clock_ns() >= keeper.force_ns)
            use_force();
    }
    if (!keeper.is_ending)
        hub_tell(-1, "bye");
    if (keeper.plan->hub_fd >= 0)
        hub_close();
    _exit(0);
}

/* What the master was, this is too, but for these. The input that the master has read and not used is the master's. */
static void become_slave(int keeper_pid)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper_pid)
        _exit(1);
    __fpurge(stdin);
    close(keeper.signals);
    hub_forget();
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
            keeper_fail("E0604: no process for number %d: %s", p4_own.first + place, strerror(errno));
            return 0;
        }
        keeper.pid[place] = pid;
        keeper.alive++;
    }
    return 0;
}

/* SIGTERM says that the master has ended, perhaps before it could be asked for. */
static void listen_to_signals(void)
{
    sigset_t set;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_NAME, "p4-keeper");
    signal(SIGCHLD, SIG_DFL); /* ignored, it would not be told */
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    keeper.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int become_keeper(void)
{
    int place = 0;

    listen_to_signals();
    if (keeper.plan->hub_fd >= 0)
        hub_add(keeper.plan->hub_fd, 0);
    if (keeper.signals < 0)
        keeper_fail("E0604: the keeper cannot hear signals: %s", strerror(errno));
    else if (!keeper.plan->has_others || keeper.plan->hub_fd >= 0 || hosts_start(keeper.plan))
        place = fork_slaves();
    else
        hosts_end_shells();
    if (place)
        return place;
    atomic_store_explicit(&control->is_ready, 1, memory_order_release); /* pairs with wait_until_ready */
    wake_all(&control->is_ready);
    keep();
}

/* In the master: the others are being started. The keeper ends this process if they cannot be. */
static void wait_until_ready(void)
{
    enum { LOOK_NS = 100000000 };
    const int pid = atomic_load(&control->keeper);

    while (!atomic_load_explicit(&control->is_ready, memory_order_acquire)) { /* pairs with become_keeper */
        wake_sleep(&control->is_ready, 0, LOOK_NS);
        if (waitpid(pid, NULL, WNOHANG) == pid)
            p4_fail("E0604: the keeper has been ended");
    }
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
    if (plan->hub_fd >= 0)
        close(plan->hub_fd);
    if (plan->has_others)
        wait_until_ready();
    return 0;
}
