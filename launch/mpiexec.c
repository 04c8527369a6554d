/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: main, the loop, and what every file of it uses. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "agent.h"
#include "base/mem.h"
#include "bonds.h"
#include "client.h"
#include "explain.h"
#include "far.h"
#include "spawning.h"
#include "sys/control.h"

enum { EVENTS = 64 };

int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void complain(const char *text)
{
    const char *remedy = strchr(text, '\n') ? NULL : diagnostic_remedy(diagnostic_id(text));

    fputs("parley: mpiexec: ", stderr);
    for (const char *at = text; *at; at++) {
        fputc(*at, stderr);
        if (*at == '\n')
            fputs("        ", stderr); /* the remedy */
    }
    if (remedy)
        fprintf(stderr, "\n        %s", remedy);
    fputc('\n', stderr);
}

void die(int exit_code, const char *format, ...)
{
    char text[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    complain(text);
    exit(exit_code);
}

void *need_more(void *old, size_t size)
{
    void *p = mem_realloc(old, size);

    if (!p)
        die(EXIT_SYSTEM, "E0106: no memory for %zu bytes", size);
    return p;
}

void *need(size_t size)
{
    void *p = mem_zalloc(size);

    if (!p)
        die(EXIT_SYSTEM, "E0106: no memory for %zu bytes", size);
    return p;
}

void strings_add(struct strings *strings, char *text)
{
    if (strings->count + 2 > strings->room) {
        strings->room = strings->room * 2 + 16;
        strings->at = need_more(strings->at, strings->room * sizeof *strings->at);
    }
    strings->at[strings->count++] = text;
    strings->at[strings->count] = NULL;
}

void source_add(struct job *job, struct source *source)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

    if (epoll_ctl(job->epoll_fd, EPOLL_CTL_ADD, source->fd, &event))
        die(EXIT_SYSTEM, "E0106: cannot watch descriptor %d: %s", source->fd, strerror(errno));
}

void source_remove(struct job *job, struct source *source)
{
    epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
    close(source->fd);
    source->fd = -1;
}

void timer_set(struct job *job, enum timer timer, double seconds)
{
    const int64_t when = now_ns() + (int64_t)(seconds * 1e9);

    if (!job->timers[timer] || when < job->timers[timer])
        job->timers[timer] = when;
}

/* Milliseconds to the next timer, rounded up; -1: none is set. */
static int next_timer(const struct job *job)
{
    int64_t first = 0, left;

    for (int i = 0; i < TIMERS; i++)
        if (job->timers[i] && (!first || job->timers[i] < first))
            first = job->timers[i];
    if (!first)
        return -1;
    left = first - now_ns();
    return left <= 0 ? 0 : left > INT64_C(3600000000000) ? 3600000 : (int)((left + 999999) / 1000000);
}

static void run_timers(struct job *job)
{
    const int64_t now = now_ns();

    for (int i = 0; i < TIMERS; i++)
        if (job->timers[i] && job->timers[i] <= now) {
            job->timers[i] = 0;
            job_timer(job, (enum timer)i);
        }
}

/* What has been put for others goes now. */
static void flush(struct job *job)
{
    if (job->links)
        far_flush(job);
    if (job->root)
        agent_flush(job);
    client_flush(job);
    bonds_flush(job);
}

/* What waits for other machines, and perhaps no longer. */
static void look(struct job *job)
{
    if (job->timers[TIMER_FAILED])
        job_find_doomed(job, false);
    if (job->spawnings)
        spawning_look(job);
    if (job->abroad_calls)
        bonds_look(job);
    if (job->meetings)
        meetings_look(job, NULL);
}

void loop_until(struct job *job, bool (*is_so)(struct job *job))
{
    struct epoll_event events[EVENTS];

    while (!is_so(job)) {
        int count;

        look(job);
        flush(job);
        count = epoll_wait(job->epoll_fd, events, EVENTS, next_timer(job));
        for (int i = 0; i < count; i++) {
            struct source *source = events[i].data.ptr;
            if (source->fd >= 0) /* else closed by an event before it */
                source->ready(job, source, events[i].events);
        }
        run_timers(job);
    }
    flush(job);
}

/* What can be told when all have ended is told before the last output has gone. */
static bool is_over(struct job *job)
{
    if (job->running == 0)
        job_judge_held(job);
    if (job->running == 0 && job->streams_open == 0) {
        if (!job->has_judged)
            other_mpi_report(job);
        job->has_judged = true;
        report_print(job);
    }
    return job_is_over(job);
}

/* Descriptors 0, 1 and 2 must not become something of ours. */
static void open_standard(void)
{
    int fd;

    do {
        fd = open_nothing();
        if (fd <= STDERR_FILENO)
            fcntl(fd, F_SETFD, 0);
    } while (fd <= STDERR_FILENO);
    close(fd);
}

/* Inside a rank of another job: its descriptors are not for our ranks. */
static void leave_outer_job(void)
{
    const char *text = getenv(CONTROL_JOB_VARIABLE);
    struct stat st;
    int segment, control;

    if (!text || sscanf(text, "%*d:%*d:%d:%d:", &segment, &control) != 2)
        return;
    if (segment > STDERR_FILENO && !fstat(segment, &st) && S_ISREG(st.st_mode))
        close(segment);
    if (control > STDERR_FILENO && !fstat(control, &st) && S_ISSOCK(st.st_mode))
        close(control);
}

static void make_ranks(struct job *job)
{
    const struct options *options = &job->options;

    for (int app = 0; app < options->app_count; app++)
        job->size += options->apps[app].ranks;
    job->first_world = (struct world){ .size = job->size, .apps = options->apps, .app_count = options->app_count };
    job->ranks = need(((size_t)job->size + segment_spare(job)) * sizeof *job->ranks);
    worlds_fill(job, &job->first_world);
    nodes_place(job);
}

int ranks_here(const struct job *job)
{
    int count = 0;

    for (int i = 0; i < job->size; i++)
        count += !is_far(job, i);
    return count;
}

/* Has the program ranks here? */
static bool is_app_here(const struct job *job, int app)
{
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].appnum == app && !is_far(job, i))
            return true;
    return false;
}

bool prepare_programs(struct job *job, struct refusal *refusal)
{
    for (int i = 0; i < job->options.app_count; i++) {
        job->options.apps[i].errhandler = job->options.errhandler;
        if (is_app_here(job, i) && !program_prepare(&job->options, &job->options.apps[i], refusal))
            return false;
    }
    return true;
}

void prepare_process(struct job *job)
{
    leave_outer_job();
    signals_init(job);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    job->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (job->epoll_fd < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor for waiting: %s", strerror(errno));
}

void prepare_ranks(struct job *job)
{
    spawn_raise_limits(job);
    feed_init(job);
    debug_prepare(job);
    segment_create(job);
    bind_job(job);
    segment_set_universe(job);
    job->oom_kills = memory_oom_kills();
    signals_watch(job);
    control_listen(job);
    forward_init(job);
}

static void prepare(struct job *job, char **argv)
{
    struct refusal refusal;

    open_standard();
    explain_if_asked(argv);
    if (argv[1] && !strcmp(argv[1], "--agent"))
        agent_main(job);
    options_read(&job->options, argv);
    prepare_process(job);
    make_ranks(job);
    profile_prepare(&job->options);
    if (!prepare_programs(job, &refusal))
        die(refusal.exit_code, "%s", refusal.text);
    prepare_ranks(job);
    if (job->options.debug.place == DEBUG_CONSOLE)
        console_init(job);
    mpir_prepare(job);
}

/* "ranks 0-3: ./a.out", a line for each program. */
static void show_map(struct job *job)
{
    const struct options *options = &job->options;
    char text[256];

    for (int app = 0, first = 0; app < options->app_count; first += options->apps[app++].ranks) {
        const int last = first + options->apps[app].ranks - 1;
        char more[16] = "";
        if (last > first)
            snprintf(more, sizeof more, "-%d", last);
        snprintf(text, sizeof text, "parley: rank%s %d%s: %.200s\n", last > first ? "s" : "", first, more,
                 options->apps[app].argv.at[0]);
        forward_print(job, text);
    }
    if (options->hosts.count > 0 || options->wanted_count > 0)
        nodes_show(job);
}

int main(int argc, char **argv)
{
    static struct job job = { .failed_rank = -1, .squeezed_rank = -1 };

    (void)argc;
    prepare(&job, argv);
    if (job.options.show_map)
        show_map(&job);
    if (job.options.show_hosts)
        nodes_show_hosts(&job);
    if (job.options.is_dry)
        return 0;
    far_start(&job);
    client_start(&job);
    spawn_all(&job);
    far_go(&job);
    other_mpi_init(&job);
    bind_watch(&job);
    mpir_started(&job);
    debug_announce(&job);
    if (job.options.time_limit > 0)
        timer_set(&job, TIMER_LIMIT, job.options.time_limit);
    hang_start(&job);
    loop_until(&job, is_over);
    client_end(&job);
    bonds_end(&job);
    far_close(&job);
    signals_close(&job);
    job_clean(&job);
    return job.exit_code == 0 && job.has_lost_output ? EXIT_SYSTEM : job.exit_code;
}
