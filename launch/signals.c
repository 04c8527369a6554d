/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: signals. Ours are blocked and read from a descriptor; each goes on to every rank exactly once.
 *
 * Every rank has a process group of its own, so that only we pass signals on, to the rank and to what it
 * started. The exception is rank 0 when stdin is a terminal: it stays in our group, or it could not read from
 * the terminal; what comes to the whole group, from the terminal or from a shell's fg and kill %1, it has got
 * already. A process of our own in the group, the witness, shows which signals do: they stay pending there. A
 * signal that is ignored when we start (nohup, background jobs of scripts) stays ignored, here and in the ranks. */
#include "agent.h"
#include "far.h"
#include "launch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGCONT, SIGWINCH,
};

#define AGAIN_SECONDS 1.0 /* a second SIGINT within this time ends the job at once */

static bool is_ignored(int signal)
{
    struct sigaction action;
    return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

static void make_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        if (!is_ignored(passed_on[i]))
            sigaddset(set, passed_on[i]);
}

void signals_send(struct job *job, int rank, int signal)
{
    const struct rank *r = &job->ranks[rank];

    if (is_far(job, rank) && !r->is_over)
        far_signal(job, rank, signal);
    else if (r->pid && !r->is_over && !r->has_ended)
        kill(r->group ? -r->group : r->pid, signal);
}

/* Blocks all signals and holds nothing open. */
static void start_witness(struct job *job)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    job->witness = fork();
    if (job->witness == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "mpiexec-witness");
        close_range(0, ~0u, 0);
        while (getppid() == job->head->launcher_pid)
            pause();
        _exit(0);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void end_witness(struct job *job)
{
    if (job->witness > 0) {
        kill(job->witness, SIGKILL);
        waitpid(job->witness, NULL, 0);
    }
    job->witness = 0;
}

/* Signals that have come to the witness, as bits. */
static uint64_t ask_witness(const struct job *job)
{
    unsigned long long pending = 0;
    char path[32], line[128];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)job->witness);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "ShdPnd: %llx", &pending) != 1) {
    }
    if (file)
        fclose(file);
    return pending;
}

/* Has the signal come to all of our process group? */
static bool is_for_group(struct job *job, const struct signalfd_siginfo *info)
{
    const uint64_t bit = UINT64_C(1) << (info->ssi_signo - 1);
    uint64_t pending;
    bool found;

    if (job->witness <= 0)
        return info->ssi_code == SI_KERNEL;
    pending = ask_witness(job);
    if (pending) { /* a new one, for what comes next */
        end_witness(job);
        start_witness(job);
    }
    job->witnessed |= pending;
    found = job->witnessed & bit;
    job->witnessed &= ~bit;
    return found;
}

static void send_all(struct job *job, int signal, bool is_group)
{
    for (int i = 0; i < job->used; i++)
        if (job->ranks[i].group || !is_group || is_far(job, i))
            signals_send(job, i, signal);
    job->forwarded |= UINT64_C(1) << signal;
}

/* INT and TERM ask the job to end: give it time, unless the user presses Ctrl-C twice. */
static void begin_grace(struct job *job, int signal)
{
    const int64_t now = now_ns();

    job->is_signalled = true;
    if (signal == SIGINT && job->last_int_ns && now - job->last_int_ns < (int64_t)(AGAIN_SECONDS * 1e9)) {
        send_all(job, SIGKILL, false);
        return;
    }
    if (signal == SIGINT)
        job->last_int_ns = now;
    timer_set(job, TIMER_KILL, job->options.grace);
}

void signals_quit(struct job *job)
{
    send_all(job, SIGQUIT, job->is_quit_for_group);
}

static void pass_on(struct job *job, const struct signalfd_siginfo *info)
{
    const int signal = (int)info->ssi_signo;
    const bool is_group = job->has_terminal && is_for_group(job, info);

    if (job->root) { /* mpiexec passes on what the ranks are to have; this is for us alone */
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT)
            agent_end(job);
        return;
    }
    if (job->running == 0 && (signal == SIGINT || signal == SIGTERM || signal == SIGHUP))
        _exit(EXIT_SIGNAL + signal); /* only a reader of our output keeps us */
    if (signal == SIGQUIT) { /* most programs end with it, so the report comes first */
        job->is_quit_for_group = is_group;
        hang_want(job, HANG_SIGNAL);
        return;
    }
    if (signal == SIGINT && debug_takes_interrupt(job)) {
        if (job->console)
            console_interrupt(job);
        return;
    }
    send_all(job, signal, is_group);
    if (signal == SIGINT || signal == SIGTERM)
        begin_grace(job, signal);
    else if (signal == SIGTSTP)
        raise(SIGSTOP);
}

static void ready(struct job *job, struct source *source, uint32_t events)
{
    struct signalfd_siginfo info;
    bool has_child = false;

    (void)events;
    while (read(source->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            has_child = true;
        else
            pass_on(job, &info);
    }
    if (has_child)
        job_reap(job);
}

void signals_init(struct job *job)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN }, standard = { .sa_handler = SIG_DFL };
    sigset_t set;

    make_set(&set);
    sigaction(SIGPIPE, &ignore, &job->inherited.sigpipe);
    sigaction(SIGCHLD, &standard, NULL); /* ignored, it would keep the ranks' exit codes from us */
    sigprocmask(SIG_BLOCK, &set, &job->inherited.mask);
}

void signals_watch(struct job *job)
{
    sigset_t set;
    int fd;

    make_set(&set);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor for signals: %s", strerror(errno));
    job->signals = (struct source){ .ready = ready, .fd = fd, .rank = -1 };
    source_add(job, &job->signals);
    if (job->has_terminal)
        start_witness(job);
}

void signals_close(struct job *job)
{
    end_witness(job);
}
