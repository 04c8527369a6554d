/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: ends. What the end of a rank means, how the others are ended, when the job is over, what is left
 * to clean.
 *
 * The first failure decides the exit code. It ends the other ranks: after 50 ms, in which others may fail in
 * the same way and be reported together, they get TERM, 2 s later KILL. While a TERM or INT of the user is on
 * its way, deaths are what was asked for: the grace time of the options counts instead. Processes that are not
 * connected with the one that has failed (MPI 5.0 §11.10.4) go on. */
#include "agent.h"
#include "bonds.h"
#include "client.h"
#include "far.h"
#include "launch.h"
#include "names.h"
#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETTLE_SECONDS  0.05
#define LINKS_SECONDS   1.0 /* for agents to tell who is connected with whom */
#define KILL_SECONDS    2.0
#define LINGER_SECONDS  1.0 /* pipes that descendants of a rank hold open after all ranks are over */
#define GIVE_UP_SECONDS 0.2 /* after those have been killed */

enum { CLEAN_ROUNDS = 500, GIVE_UP_LOOKS = 25 };

static bool was_sent(const struct job *job, int signal)
{
    return job->forwarded >> signal & 1;
}

void job_failed(struct job *job, int rank, int exit_code, bool ends_others)
{
    if (job->failed_rank == -1) {
        job->failed_rank = rank;
        job->exit_code = exit_code;
        control_held(job);
        job_judge_held(job);
        mpir_aborting("a rank has failed");
    }
    if (!ends_others || job->is_ending || job->is_signalled)
        return;
    if (job->worlds > 0 || bonds_first(job))
        far_ask_links(job);
    if (rank < 0) {
        timer_set(job, TIMER_SETTLE, SETTLE_SECONDS);
        return;
    }
    job->ranks[rank].has_failed = job->ranks[rank].will_end = true;
    timer_set(job, TIMER_FAILED, LINKS_SECONDS);
    job_find_doomed(job, false);
}

void job_find_doomed(struct job *job, bool is_late)
{
    if (!is_late && far_is_linking(job))
        return;
    job->timers[TIMER_FAILED] = 0;
    bonds_find_ends(job);
    for (int i = 0; i < job->used; i++) {
        if (!job->ranks[i].has_failed)
            continue;
        job->ranks[i].has_failed = false;
        timer_set(job, worlds_doom(job, i) ? TIMER_SETTLE : TIMER_DOOM, SETTLE_SECONDS);
    }
    bonds_tell_ends(job);
}

static const char *program_of(const struct job *job, int rank)
{
    return job->ranks[rank].app->argv.at[0];
}

/* An unexpected KILL: by whom? */
static void report_killed(struct job *job, int rank, enum oom oom)
{
    const char *more = "";

    if (oom == OOM_GROUP) {
        report_rank(job, rank, "E0118: %s was ended because the memory of its cgroup had run out (signal 9)",
                    program_of(job, rank));
        return;
    }
    if (oom == OOM_MACHINE)
        more = "\nthe out-of-memory killer has ended processes on this machine meanwhile";
    else if (oom == OOM_UNKNOWN)
        more = "\nif nobody killed it, look for the out-of-memory killer in the kernel's log (dmesg)";
    report_rank(job, rank, "E0110: %s was ended by signal 9 (Killed)%s", program_of(job, rank),
                *more ? more : "\nsomebody has killed it; it was not for want of memory");
}

/* It had found another process to be gone, and that has been told. */
static bool is_consequence(const struct job *job, int rank)
{
    return job->ranks[rank].lost && job->failed_rank != -1;
}

static void ended_by_signal(struct job *job, int rank, int status, enum oom oom)
{
    const int signal = WTERMSIG(status);
    const bool is_expected = job->is_ending || job->ranks[rank].is_doomed || was_sent(job, signal) ||
                             job->ranks[rank].has_aborted || is_consequence(job, rank) ||
                             (signal == SIGPIPE && job->has_broken_sink);

    if (!is_expected && signal == SIGKILL)
        report_killed(job, rank, oom);
    else if (!is_expected)
        report_rank(job, rank, "E0110: %s was ended by signal %d (%s)%s", program_of(job, rank), signal,
                    strsignal(signal), WCOREDUMP(status) ? ", core dumped" : "");
    job_failed(job, rank, EXIT_SIGNAL + signal, true);
}

/* A program that is there, and that the shell or the dynamic linker of another machine could not start. */
static bool report_not_found(struct job *job, int rank, int code)
{
    if (code != EXIT_NOT_FOUND || !is_far(job, rank))
        return false;
    report_rank(job, rank, "E0154: on %s: %s exited with code %d before MPI_Init",
                job->nodes.at[job->ranks[rank].node].name, program_of(job, rank), code);
    return true;
}

static void ended_by_exit(struct job *job, int rank, int code, enum job_state state)
{
    const bool is_expected = job->is_ending || job->ranks[rank].is_doomed || job->is_signalled ||
                             job->ranks[rank].has_aborted || is_consequence(job, rank) ||
                             debug_has_people(job, rank);

    if (state == JOB_INITIALISED) {
        if (!is_expected)
            report_rank(job, rank,
                        "E0112: %s exited with code %d after MPI_Init and without MPI_Finalize",
                        program_of(job, rank), code);
        job_failed(job, rank, code ? code : 1, true);
    } else if (code != 0) {
        if (!is_expected && state < JOB_INITIALISED && !report_not_found(job, rank, code) &&
            (job->size > 1 || job->ranks[rank].world->number))
            report_rank(job, rank, "E0111: %s exited with code %d", program_of(job, rank), code);
        job_failed(job, rank, code, state < JOB_INITIALISED);
    } else if (state < JOB_INITIALISED && job->ranks[rank].world->number) {
        if (!is_expected)
            report_rank(job, rank, "E1002: %s has ended and has not called MPI_Init; the MPI_Comm_spawn that has "
                        "started it waits for that", program_of(job, rank));
        job_failed(job, rank, 1, true);
    }
}

static void judge(struct job *job, int rank, enum job_state state, enum oom oom)
{
    const int status = job->ranks[rank].status;

    if (WIFSIGNALED(status))
        ended_by_signal(job, rank, status, oom);
    else
        ended_by_exit(job, rank, WEXITSTATUS(status), state);
}

void job_judge_held(struct job *job)
{
    for (int i = 0; i < job->used; i++) {
        struct rank *r = &job->ranks[i];
        if (!r->end.is_held)
            continue;
        r->end.is_held = false;
        judge(job, i, r->end.state, r->end.oom);
    }
}

/* Has it failed because another one has, whose end is still to be seen? */
static bool is_early(const struct job *job, int rank, enum job_state state)
{
    const struct rank *r = &job->ranks[rank];
    const bool has_failed = WIFSIGNALED(r->status) || WEXITSTATUS(r->status) || state == JOB_INITIALISED;
    const int lost = r->lost - 1;

    return has_failed && job->failed_rank == -1 && job->running > 0 && lost >= 0 && lost < job->used &&
           (!job->ranks[lost].is_over || job->ranks[lost].end.is_held);
}

void job_judge(struct job *job, int rank, int status, enum job_state state, enum oom oom)
{
    struct rank *r = &job->ranks[rank];

    r->is_over = true;
    r->status = status;
    r->is_clean = state == JOB_FINALISED && WIFEXITED(status);
    job->running--;
    names_drop(job, rank);
    calls_rank_over(job, rank);
    bonds_rank_over(job, rank);
    if (!r->world->is_cancelled && is_early(job, rank, state)) {
        r->end.is_held = true;
        r->end.state = state;
        r->end.oom = oom;
        timer_set(job, TIMER_HELD, HELD_SECONDS);
    } else if (!r->world->is_cancelled) {
        judge(job, rank, state, oom);
    }
    if (job->running == 0 && job->streams_open > 0)
        timer_set(job, TIMER_LINGER, LINGER_SECONDS);
}

static void rank_over(struct job *job, int rank, int status)
{
    struct rank *r = &job->ranks[rank];
    struct job_proc *proc = job_proc(job->head, rank);
    enum job_state state;
    enum oom oom;

    control_rank_over(job, rank);
    forward_rank_over(job, rank);
    feed_rank_over(job, rank);
    if (r->group && kill(-r->group, 0) && errno == ESRCH)
        r->group = 0; /* nothing of it is left; the number may mean another group soon */
    proc->exit_status = status;
    r->lost = (int)atomic_load(&proc->lost);
    state = atomic_exchange(&proc->state, JOB_EXITED);
    oom = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? memory_verdict(job) : OOM_UNKNOWN;
    if (!job->root) {
        job_judge(job, rank, status, state, oom);
        return;
    }
    r->is_over = true;
    job->running--;
    agent_over(job, rank, &(struct frame_over){ status, state, oom, (uint32_t)r->lost });
}

/* Whoever has started it sees how it has ended; we know whether it had left MPI. */
void job_adopted_over(struct job *job, int rank)
{
    struct rank *r = &job->ranks[rank];
    const enum job_state state = atomic_exchange(&job_proc(job->head, rank)->state, JOB_EXITED);

    r->is_over = true;
    job->running--;
    names_drop(job, rank);
    calls_rank_over(job, rank);
    bonds_rank_over(job, rank);
    if (state != JOB_FINALISED)
        job_failed(job, rank, 1, true);
}

static void note_end(struct job *job, pid_t pid, int status)
{
    for (int i = 0; i < job->used; i++) {
        struct rank *r = &job->ranks[i];
        if (r->pid != pid || r->is_over || r->has_ended || is_far(job, i))
            continue;
        r->status = status;
        r->has_ended = true;
        return;
    }
}

static void judge_ended(struct job *job, bool by_signal)
{
    for (int i = 0; i < job->used; i++) {
        struct rank *r = &job->ranks[i];
        if (!r->has_ended || WIFSIGNALED(r->status) != by_signal)
            continue;
        r->has_ended = false;
        rank_over(job, i, r->status);
    }
}

/* Of those that are found together, who was ended by a signal comes first: others may have ended because of that. */
void job_reap(struct job *job)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        far_reaped(job, pid, status);
        note_end(job, pid, status);
    }
    judge_ended(job, true);
    judge_ended(job, false);
}

void job_stop(struct job *job, int signal)
{
    uint64_t running = 0;

    if (job->is_ending)
        return;
    job->is_ending = true;
    atomic_compare_exchange_strong(&job->head->end, &running,
                                   job_end(job->failed_rank < 0 ? -1 : job->failed_rank, job->exit_code));
    far_end(job);
    for (int i = 0; i < job->used; i++)
        job->ranks[i].will_end |= !job->ranks[i].is_over;
    bonds_tell_ends(job);
    for (int i = 0; i < job->used; i++) {
        signals_send(job, i, signal);
        signals_send(job, i, SIGCONT); /* a stopped process takes no signal */
    }
    timer_set(job, TIMER_KILL, KILL_SECONDS);
}

/* Those that are connected with one that has failed, when they are not all. */
static void end_doomed(struct job *job, int signal)
{
    for (int i = 0; i < job->used; i++) {
        if (!job->ranks[i].will_end || job->ranks[i].is_over)
            continue;
        job->ranks[i].is_doomed = true;
        signals_send(job, i, signal);
        signals_send(job, i, SIGCONT);
    }
    if (signal != SIGKILL)
        timer_set(job, TIMER_DOOM_KILL, KILL_SECONDS);
}

/* All ranks are over, but someone they started holds their pipes; or what they have written waits for our reader, who
 * may take his time. */
static void linger(struct job *job)
{
    if (forward_is_held_up(job)) {
        timer_set(job, TIMER_LINGER, LINGER_SECONDS);
        return;
    }
    if (job->lingers++ > 0) {
        if (far_has_gone(job) || job->lingers > GIVE_UP_LOOKS)
            forward_close(job);
        else /* what it has still read is on its way */
            timer_set(job, TIMER_LINGER, GIVE_UP_SECONDS);
        return;
    }
    far_bye(job);
    job_clean(job);
    timer_set(job, TIMER_LINGER, GIVE_UP_SECONDS);
}

void job_limit(struct job *job)
{
    if (job->running == 0)
        return;
    report_rank(job, -1, "E0114: the time limit of %g s is over, the job is ended", job->options.time_limit);
    job_failed(job, -2, EXIT_TIME_LIMIT, false);
    job_stop(job, SIGTERM);
}

void job_timer(struct job *job, enum timer timer)
{
    switch (timer) {
    case TIMER_FLUSH: forward_flush_partial(job, now_ns()); break;
    case TIMER_REPORT: report_print(job); break;
    case TIMER_SETTLE: job_stop(job, SIGTERM); break;
    case TIMER_DOOM: end_doomed(job, SIGTERM); break;
    case TIMER_DOOM_KILL: end_doomed(job, SIGKILL); break;
    case TIMER_KILL:
        job->forwarded |= UINT64_C(1) << SIGKILL; /* it is ours, and nobody asks who it was */
        for (int i = 0; i < job->used; i++)
            signals_send(job, i, SIGKILL);
        break;
    case TIMER_LINGER: linger(job); break;
    case TIMER_HELD:
        control_held(job);
        job_judge_held(job);
        break;
    case TIMER_MPIR: mpir_poll(job); break;
    case TIMER_CONSOLE: console_look(job); break;
    case TIMER_LIMIT:
        if (job->running > 0)
            hang_want(job, HANG_LIMIT);
        break;
    case TIMER_LOOK: other_mpi_look_at_all(job); break;
    case TIMER_BINDING: bind_watch(job); break;
    case TIMER_LINKS: far_look(job); break;
    case TIMER_LAUNCH: far_late(job); break;
    case TIMER_FAILED: job_find_doomed(job, true); break;
    case TIMER_CLIENT: client_late(job); break;
    case TIMER_BONDS: bonds_tick(job); break;
    case TIMER_NAMES: names_tick(job); break;
    case TIMER_SILENT: far_silent(job); break;
    case TIMER_ADDRESSES: address_watch(job); break;
    case TIMER_HANG: hang_look(job); break;
    case TIMER_ANSWERS: hang_answers(job); break;
    case TIMERS: break;
    }
}

bool job_is_over(const struct job *job)
{
    return job->running == 0 && forward_is_done(job);
}

/* Kill every child we have, but for our ways to other machines: as the subreaper we inherit what ranks have left
 * behind. True: there may be some left. */
static bool kill_children(const struct job *job)
{
    char path[64];
    FILE *file;
    int pid, count = 0;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "re");
    if (!file)
        return true;
    while (fscanf(file, "%d", &pid) == 1)
        if (!far_is_way(job, pid)) {
            kill(pid, SIGKILL);
            count++;
        }
    fclose(file);
    return count > 0;
}

void job_clean(struct job *job)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    int status;
    pid_t pid;

    for (int i = 0; i < job->used; i++)
        if (job->ranks[i].group && !is_far(job, i))
            kill(-job->ranks[i].group, SIGKILL);
    for (int round = 0; round < CLEAN_ROUNDS; round++) {
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            far_reaped(job, pid, status);
        if (pid < 0 || !kill_children(job))
            return;
        nanosleep(&moment, NULL);
    }
}
