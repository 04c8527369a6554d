/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: starting the ranks. Everything is prepared before; the child of vfork makes system calls only, on
 * memory it shares with us, so that a failure can be told with its step and errno.
 *
 * How a rank dies with mpiexec, however that ends: the child itself by PR_SET_PDEATHSIG; all of its process
 * group by the control socket, which is told to send SIGKILL to the group when our end of it closes. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "client.h"
#include "sys/pass.h"

enum { OWN_FILES = 16, GUEST_FILES = 240 };

enum step { STEP_NONE, STEP_LIFELINE, STEP_STDIO, STEP_BIND, STEP_WDIR, STEP_EXEC };

/* All that the child needs. */
struct start {
    const struct job *job;
    const struct app *app;
    char **argv;
    const char *program;
    pid_t launcher;
    int in, out, err; /* descriptors to become 0, 1, 2; -1: keep ours */
    int control;
    int listener; /* for other clients of IMPI; -1: there are none */
    const struct cpus *mask; /* NULL: ours */
    bool has_group; /* a process group of its own */
    /* told back */
    enum step failed;
    int error;
};

static bool set_lifeline(const struct start *start)
{
    const pid_t self = getpid();

    if (start->has_group && setpgid(0, 0))
        return false;
    /* Where the system knows one of the two not, this or signal-driven sockets, the other has to do. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start->launcher)
        return false;
    if (!fcntl(start->control, F_SETOWN, start->has_group ? -self : self) &&
        !fcntl(start->control, F_SETSIG, SIGKILL))
        (void)fcntl(start->control, F_SETFL, O_ASYNC);
    return true;
}

static bool set_descriptors(const struct start *start)
{
    return (start->in < 0 || dup2(start->in, 0) == 0) && (start->out < 0 || dup2(start->out, 1) == 1) &&
           (start->err < 0 || dup2(start->err, 2) == 2) &&
           dup2(start->control, start->job->rank_control_fd) >= 0 &&
           !fcntl(start->job->segment_fd, F_SETFD, 0) &&
           (start->listener < 0 || (dup2(start->listener, start->job->head->listener_fd) >= 0 &&
                                    !fcntl(start->job->head->joint_fd, F_SETFD, 0)));
}

static bool set_mask(const struct start *start)
{
    return !start->mask || !sched_setaffinity(0, sizeof *start->mask, (const cpu_set_t *)(const void *)start->mask) ||
           !start->job->is_bound_as_asked;
}

static void restore_inherited(const struct inherited *inherited)
{
    if (inherited->is_files_raised)
        setrlimit(RLIMIT_NOFILE, &inherited->files);
    sigaction(SIGPIPE, &inherited->sigpipe, NULL);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

static bool set_directory(const struct start *start)
{
    return !start->app->wdir || !chdir(start->app->wdir);
}

static _Noreturn void run_child(struct start *start)
{
    static const struct {
        enum step step;
        bool (*take)(const struct start *start);
    } steps[] = { { STEP_LIFELINE, set_lifeline }, { STEP_STDIO, set_descriptors }, { STEP_BIND, set_mask },
                  { STEP_WDIR, set_directory } };

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        start->failed = steps[i].step;
        if (!steps[i].take(start))
            goto fail;
    }
    start->failed = STEP_EXEC;
    restore_inherited(&start->job->inherited);
    execve(start->program, start->argv, start->app->env.at);
fail:
    start->error = errno;
    _exit(EXIT_NOT_FOUND);
}

/* The child's pid; -1: vfork failed. Not inlined, so that no local of the caller lives across vfork. */
static NOINLINE pid_t run(struct start *start)
{
    pid_t pid;

    start->failed = STEP_NONE;
    start->error = 0;
    pid = vfork();
    if (pid == 0)
        run_child(start);
    if (pid > 0 && start->error == 0)
        start->failed = STEP_NONE; /* the exec took place */
    return pid;
}

/* A script without "#!" is given to the shell, as execvp does. */
static pid_t run_by_shell(struct start *start)
{
    const size_t count = start->app->argv.count;
    char **argv = need((count + 2) * sizeof *argv);
    pid_t pid;

    argv[0] = "sh";
    argv[1] = start->app->program;
    memcpy(argv + 2, start->app->argv.at + 1, (count - 1) * sizeof *argv);
    start->argv = argv;
    start->program = "/bin/sh";
    pid = run(start);
    mem_free(argv);
    return pid;
}

static bool cannot_start(const struct job *job, int rank, const struct start *start, struct refusal *refusal)
{
    static const char *const steps[] = { "no process for it", "its process group", "its descriptors",
                                         "binding it to its processors", "its working directory", "executing it" };
    char name[RANK_NAME_SIZE];

    refusal->exit_code = start->failed == STEP_EXEC ? EXIT_CANNOT_RUN : EXIT_SYSTEM;
    snprintf(refusal->text, sizeof refusal->text, "E0107: %s (%s) cannot be started: %s: %s",
             rank_name(job, rank, name), start->program, steps[start->failed], strerror(start->error));
    return false;
}

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

bool spawn_rank(struct job *job, int rank, struct refusal *refusal)
{
    struct rank *r = &job->ranks[rank];
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 }, control[2];
    const bool has_console = debug_has_console(job, rank);
    struct start start = { .job = job,
                           .app = r->app,
                           .launcher = getpid(),
                           .mask = job->masks && rank < job->size ? &job->masks[rank] : NULL,
                           .has_group = !(rank == job->stdin_rank && job->has_terminal) || has_console };
    pid_t pid;

    if (has_console) {
        make_pipe(in);
        make_pipe(out);
        err[1] = out[1];
    } else {
        forward_pipes(job, rank, out, err);
    }
    start.in = has_console ? in[0] : feed_open(job, rank);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control))
        die(EXIT_SYSTEM, "E0106: no control socket for rank %d: %s", rank, strerror(errno));
    start.out = out[1];
    start.err = err[1];
    start.control = control[1];
    start.listener = client_listener(job, rank);
    start.argv = start.app->argv.at;
    start.program = start.app->program;
    debug_wrap(job, rank, &start.argv, &start.program);
    program_set_rank(job, rank);
    atomic_store(&job_proc(job->head, rank)->state, JOB_STARTED);
    pid = run(&start);
    if (pid > 0 && start.error == ENOEXEC)
        pid = run_by_shell(&start);
    if (pid < 0)
        start.error = errno;
    close_all((int[]){ control[1], out[1], has_console ? -1 : err[1], start.in }, 4);
    client_given(job, rank);
    if (pid < 0 || start.failed != STEP_NONE) {
        close_all((int[]){ control[0], out[0], err[0], in[1] }, 4);
        atomic_store(&job_proc(job->head, rank)->state, JOB_NONE);
        return cannot_start(job, rank, &start, refusal);
    }
    r->pid = pid;
    r->group = start.has_group ? pid : 0;
    job_proc(job->head, rank)->child_pid = pid;
    r->control = (struct source){ .ready = control_ready, .fd = control[0], .rank = rank };
    source_add(job, &r->control);
    if (has_console)
        console_open(job, rank, out[0], in[1]);
    else
        forward_open(job, rank, out[0], err[0]);
    job->running++;
    return true;
}

/* Three descriptors a rank, more for files and stdin, and some more: our own, and as many as can be had for ranks that
 * connect anew. */
void spawn_raise_limits(struct job *job)
{
    const struct options *options = &job->options;
    const rlim_t each =
        3u + (options->out_pattern != NULL) + (options->err_pattern != NULL) + (job->stdin_rank < 0) +
        (options->client_server != NULL);
    const rlim_t needed = (rlim_t)(job->size + job->nodes.count) * each + OWN_FILES, wanted = needed + GUEST_FILES;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
        return;
    job->inherited.files = limit;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (limit.rlim_cur < needed)
        die(EXIT_SYSTEM, "E0106: %d ranks need %llu open files, the limit is %llu\nraise it (ulimit -Hn)",
            job->size, (unsigned long long)needed, (unsigned long long)limit.rlim_max);
    job->inherited.is_files_raised = !setrlimit(RLIMIT_NOFILE, &limit);
}

/* The process that has started us is the only rank. */
static void adopt(struct job *job)
{
    struct rank *r = &job->ranks[0];
    const int fd = job->options.adopted_fd;
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || fcntl(fd, F_SETFD, FD_CLOEXEC))
        die(EXIT_USAGE, "E0101: --adopt=%d: %s", fd, strerror(errno));
    r->pid = peer.pid;
    r->is_adopted = true;
    r->control = (struct source){ .ready = control_ready, .fd = fd, .rank = 0 };
    job_proc(job->head, 0)->child_pid = peer.pid;
    atomic_store(&job_proc(job->head, 0)->state, JOB_STARTED);
    source_add(job, &r->control);
    job->running++;
    if (!pass_send(fd, job->segment_fd))
        die(EXIT_SYSTEM, "E0106: the job segment cannot be handed over: %s", strerror(errno));
}

void spawn_all(struct job *job)
{
    struct refusal refusal;

    output_open(job);
    if (job->options.adopted_fd) {
        adopt(job);
        return;
    }
    for (int i = 0; i < job->size; i++) {
        if (is_far(job, i) || spawn_rank(job, i, &refusal))
            continue;
        for (int started = 0; started < i; started++)
            if (!is_far(job, started))
                signals_send(job, started, SIGKILL);
        die(refusal.exit_code, "%s", refusal.text);
    }
}
