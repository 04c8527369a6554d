/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: processes that ranks want to be started. Calls are done one after the other, each in steps; where a step has
 * to wait for other machines, the loop looks again after each event. */
#include "spawning.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/diagnostic.h"
#include "base/mem.h"
#include "far.h"
#include "job_text.h"
#include "options.h"

enum { FILES_EACH = 4, FILES_LEFT = 64 };

enum step { STEP_LINKS, STEP_AGENTS, STEP_PROGRAMS, STEP_PROCESSES };
enum outcome { WAITS, GOES_ON, IS_DONE, HAS_FAILED };

struct spawning {
    struct spawning *next;
    struct call call;
    char *request;
    enum step step;
    bool is_new;         /* it has just come: who has brought it tells the rank */
    int first, total;    /* places */
    int *node_of;        /* of each process */
    struct world *world; /* NULL: not entered yet. From then on the apps and the request are its own */
};

static enum outcome fail(struct spawning *s, const char *text)
{
    snprintf(s->call.why, sizeof s->call.why, "%s", text);
    return HAS_FAILED;
}

/* --- on every machine --- */

static bool is_arch(const struct app *app, struct refusal *refusal)
{
    struct utsname system;

    if (!app->arch)
        return true;
    uname(&system);
    if (options_is_arch(app->arch, system.machine))
        return true;
    refusal->exit_code = EXIT_USAGE;
    snprintf(refusal->text, sizeof refusal->text, "E0102: arch %.200s: this machine is %s", app->arch, system.machine);
    return false;
}

bool spawning_prepare(struct job *job, struct app *app, int world, struct refusal *refusal)
{
    if (!is_arch(app, refusal))
        return false;
    profile_spawned(&job->options, app, world);
    return program_prepare(&job->options, app, refusal);
}

void spawning_fill_desk(struct job *job, int place, int parent, int call)
{
    struct job_desk *desk = job_desk(job->head, place);

    desk->parent = parent;
    desk->spawn_number = (uint32_t)call;
    desk->links[parent / 64] = UINT64_C(1) << parent % 64;
}

/* --- where --- */

/* Of those that may be fewer, as many as there is room for. */
static bool count_ranks(struct spawning *s)
{
    struct call *call = &s->call;
    const int room = worlds_room(call->job);

    for (int i = 0; i < call->app_count; i++) {
        struct app *app = &call->apps[i];
        const int left = room - s->total;

        if (app->soft)
            app->ranks = options_largest(app->soft, app->ranks < left ? app->ranks : left);
        if (app->ranks > left || (app->soft && !app->ranks))
            return call_refuse(call, "E1001: %s cannot be started: there is room for %d more processes in a row, of %u "
                               "that the job may have", app->argv.at[0], left, call->job->head->slots);
        s->total += app->ranks;
    }
    return true;
}

/* What nobody has opened yet is told before anything is started. */
static bool has_files(struct call *call, int count)
{
    struct rlimit limit;
    const rlim_t needed = (rlim_t)(call->job->used + count) * FILES_EACH + FILES_LEFT;

    return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed ||
           call_refuse(call, "E0106: %d more processes need %llu open files, the limit is %llu", count,
                       (unsigned long long)needed, (unsigned long long)limit.rlim_cur);
}

static enum outcome after_links(struct spawning *s)
{
    struct job *job = s->call.job;
    char why[NODES_WHY];

    if (far_is_linking(job))
        return WAITS;
    if (!count_ranks(s) || !has_files(&s->call, s->total))
        return HAS_FAILED;
    s->node_of = need(((size_t)s->total + 1) * sizeof *s->node_of);
    if (!nodes_place_more(job, s->call.rank, s->call.apps, s->call.app_count, s->node_of, why))
        return fail(s, why);
    s->first = worlds_find_room(job, s->total);
    for (int i = 0; i < s->total; i++)
        far_need(job, s->node_of[i]);
    return GOES_ON;
}

/* --- programs --- */

static bool has_own(const struct spawning *s, int first, int count)
{
    for (int i = first; i < first + count; i++)
        if (s->node_of[i] == s->call.job->nodes.here)
            return true;
    return false;
}

static bool prepare_own(struct spawning *s)
{
    struct refusal refusal;

    for (int i = 0, first = 0; i < s->call.app_count; first += s->call.apps[i++].ranks)
        if (has_own(s, first, s->call.apps[i].ranks) &&
            !spawning_prepare(s->call.job, &s->call.apps[i], s->call.job->worlds + 1, &refusal))
            return call_refuse(&s->call, "%s", refusal.text);
    return true;
}

/* To the agents, as it will be. */
static void tell_agents(struct spawning *s)
{
    struct job *job = s->call.job;
    const struct world world = { .number = job->worlds + 1, .first = s->first, .size = s->total, .apps = s->call.apps,
                                 .app_count = s->call.app_count };
    struct world_text text = { .world = &world, .parent = s->call.rank, .call = s->call.number };
    struct bytes bytes = { 0 };

    text.node_of = s->node_of;
    text.is_new = true;
    job_text_write_world(job, &text, &bytes);
    far_world(job, bytes.data, bytes.length);
    bytes_free(&bytes);
}

/* In one line: the last of several is a remedy, which is left to whoever reads the text. */
static enum outcome fail_in_line(struct spawning *s, const char *text)
{
    char *at = s->call.why;

    fail(s, text);
    at[strrchr(at, '\n') ? strrchr(at, '\n') - at : (ptrdiff_t)strlen(at)] = 0;
    while ((at = strchr(at, '\n')))
        *at = ' ';
    return HAS_FAILED;
}

static enum outcome after_agents(struct spawning *s)
{
    struct job *job = s->call.job;
    const char *why;

    for (int i = 0; i < s->total; i++) {
        if ((why = far_cannot(job, s->node_of[i])))
            return fail_in_line(s, why);
        if (!far_is_there(job, s->node_of[i]))
            return WAITS;
    }
    if (!prepare_own(s))
        return HAS_FAILED;
    tell_agents(s);
    return GOES_ON;
}

/* --- processes --- */

static void cancel(struct spawning *s)
{
    struct job *job = s->call.job;

    s->world->is_cancelled = true;
    for (int place = s->first; place < s->first + s->total; place++) {
        memset((void *)job_desk(job->head, place)->links, 0, sizeof job_desk(job->head, place)->links);
        signals_send(job, place, SIGKILL);
    }
}

/* Those of this machine; after one that cannot be started no other is tried. */
static bool start_own(struct spawning *s)
{
    struct job *job = s->call.job;
    struct refusal refusal;
    bool is_right = true;

    for (int place = s->first; place < s->first + s->total; place++) {
        if (is_far(job, place))
            continue;
        if (is_right && spawn_rank(job, place, &refusal))
            continue;
        if (is_right)
            call_refuse(&s->call, "%s", refusal.text);
        job->ranks[place].is_over = true;
        is_right = false;
    }
    return is_right;
}

static enum outcome after_programs(struct spawning *s)
{
    struct job *job = s->call.job;
    const struct world world = { .first = s->first, .size = s->total, .apps = s->call.apps,
                                 .app_count = s->call.app_count, .request = s->request };
    const char *why;

    if (far_is_preparing(job, &why))
        return WAITS;
    if (why)
        return fail(s, why);
    s->world = worlds_add(job, &world, s->node_of);
    far_start_world(job, true);
    for (int place = s->first; place < s->first + s->total; place++) {
        spawning_fill_desk(job, place, s->call.rank, s->call.number);
        if (is_far(job, place))
            far_open_rank(job, place);
    }
    if (start_own(s))
        return GOES_ON;
    cancel(s);
    return HAS_FAILED;
}

bool spawning_refused(struct job *job, int rank, const char *text)
{
    struct spawning *s = job->spawnings;

    if (!s || !s->world || job->ranks[rank].world != s->world)
        return false;
    if (*text)
        snprintf(s->call.why, sizeof s->call.why, "%s", text);
    return true;
}

static enum outcome after_processes(struct spawning *s)
{
    struct job *job = s->call.job;

    for (int place = s->first; place < s->first + s->total; place++)
        if (is_far(job, place) && !job->ranks[place].pid && !job->ranks[place].is_over)
            return WAITS;
    if (!*s->call.why)
        return IS_DONE;
    cancel(s);
    return HAS_FAILED;
}

/* --- the calls --- */

bool spawning_holds_places(const struct job *job)
{
    return job->spawnings && job->spawnings->node_of && !job->spawnings->world;
}

/* Is there still somebody who waits for it? -2: the job itself has failed. */
static bool is_wanted(const struct spawning *s)
{
    const struct job *job = s->call.job;
    const struct rank *r = &job->ranks[s->call.rank];

    return !r->is_over && !r->will_end && !job->is_ending && job->failed_rank != -2;
}

static enum outcome advance(struct spawning *s)
{
    static enum outcome (*const steps[])(struct spawning *s) = {
        [STEP_LINKS] = after_links, [STEP_AGENTS] = after_agents,
        [STEP_PROGRAMS] = after_programs, [STEP_PROCESSES] = after_processes,
    };
    enum outcome outcome = GOES_ON;

    while (outcome == GOES_ON) {
        if (!s->world && !is_wanted(s))
            return fail(s, "E1001: whoever wants processes is about to end");
        outcome = steps[s->step](s);
        if (outcome == GOES_ON)
            s->step++;
    }
    if (outcome == HAS_FAILED && s->step == STEP_PROGRAMS && !s->world)
        far_start_world(s->call.job, false);
    return outcome;
}

static void finish(struct spawning *s, bool is_done)
{
    struct job *job = s->call.job;
    struct job_desk *desk = job_desk(job->head, s->call.rank);

    job->spawnings = s->next;
    if (!job->ranks[s->call.rank].is_over) {
        desk->reply_first = s->first;
        desk->reply_count = (uint32_t)s->total;
        dynamic_answer(job, s->call.rank, is_done ? 0 : MPI_ERR_SPAWN, is_done ? "" : s->call.why);
        if (!s->is_new)
            control_answered(job, s->call.rank);
    }
    if (!s->world) {
        call_free_apps(s->call.apps, s->call.app_count);
        mem_free(s->request);
    }
    mem_free(s->node_of);
    mem_free(s);
}

void spawning_look(struct job *job)
{
    while (job->spawnings) {
        const enum outcome outcome = advance(job->spawnings);

        if (outcome == WAITS)
            return;
        finish(job->spawnings, outcome == IS_DONE);
        if (job->spawnings)
            far_ask_links(job);
    }
}

bool spawning_add(const struct call *call, char *request)
{
    struct spawning *s = need(sizeof *s), **last = &call->job->spawnings;
    struct job *job = call->job;

    *s = (struct spawning){ .call = *call, .request = request, .is_new = true };
    if (!job->spawnings)
        far_ask_links(job);
    while (*last)
        last = &(*last)->next;
    *last = s;
    spawning_look(job);
    for (const struct spawning *at = job->spawnings; at; at = at->next)
        if (at == s) {
            s->is_new = false;
            return false;
        }
    return true;
}
