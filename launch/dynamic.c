/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: requests of ranks (sys/control.h): to start processes (MPI 5.0 §11.8), to publish services (§11.9.4). What
 * becomes of one is told in the rank's job_desk; here is the only place that writes there. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch.h"
#include "options.h"
#include "sys/control.h"

enum { FILES_EACH = 4, FILES_LEFT = 64 };

/* The texts of a request, one after the other. */
struct texts {
    char *at, *end;
};

/* A call of MPI_Comm_spawn or MPI_Comm_spawn_multiple. */
struct call {
    struct job *job;
    int rank;
    int number;      /* of the call there */
    struct app *apps;
    int app_count;
    char why[JOB_REPLY_SIZE];
};

static void answer(struct job *job, int rank, int error, const char *text)
{
    struct job_desk *desk = job_desk(job->head, rank);

    desk->reply_error = (uint32_t)error;
    snprintf(desk->reply, sizeof desk->reply, "%.*s", (int)strcspn(text, "\n"), text); /* the cause alone */
}

/* The next text; NULL: there is none. */
static char *next(struct texts *texts)
{
    char *text = texts->at, *zero = texts->at < texts->end ? memchr(texts->at, 0, (size_t)(texts->end - text)) : NULL;

    if (!zero)
        return NULL;
    texts->at = zero + 1;
    return text;
}

/* The next one is a number from 0 to `most`; -1: it is none. */
static int next_number(struct texts *texts, int most)
{
    const char *text = next(texts);
    char *end;
    long number;

    if (!text || *text < '0' || *text > '9')
        return -1;
    number = strtol(text, &end, 10);
    return *end || number > most ? -1 : (int)number;
}

static bool PRINTF_LIKE(2, 3) refuse(struct call *call, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(call->why, sizeof call->why, format, args);
    va_end(args);
    return false;
}

/* --- what is asked for --- */

static bool take_hosts(struct call *call, char *hosts)
{
    for (char *host; (host = strsep(&hosts, ", "));)
        if (*host && !hosts_is_here(host))
            return refuse(call, "E0102: host %s: this version starts processes on this machine only", host);
    return true;
}

static bool take_arch(struct call *call, const char *name)
{
    struct utsname system;

    uname(&system);
    return options_is_arch(name, system.machine) ||
           refuse(call, "E0102: arch %s: this machine is %s, and this version starts processes on this machine only",
                  name, system.machine);
}

static bool take_errhandler(struct call *call, struct app *app, const char *name)
{
    for (int i = JOB_ERRORS_ARE_FATAL; i <= JOB_ERRORS_RETURN; i++)
        if (!strcmp(name, job_errhandler_name(i))) {
            app->errhandler = i;
            return true;
        }
    return refuse(call, "E1003: mpi_initial_errhandler is %s; it must be mpi_errors_are_fatal, mpi_errors_abort or "
                  "mpi_errors_return", name);
}

/* NAME=VALUE, a line each. */
static bool take_variables(struct call *call, struct app *app, char *lines)
{
    for (char *line; (line = strsep(&lines, "\n"));) {
        if (!*line)
            continue;
        if (*line == '=' || !strchr(line, '='))
            return refuse(call, "E1003: env has the line %s; NAME=VALUE is needed", line);
        strings_add(&app->set, line);
    }
    return true;
}

/* One info; those that are not known are left (§11.8.4). */
static bool take_info(struct call *call, struct app *app, const char *key, char *value)
{
    if (!strcmp(key, "wdir"))
        app->wdir = value;
    else if (!strcmp(key, "path"))
        app->path = value;
    else if (!strcmp(key, "mpi_memory_alloc_kinds"))
        app->memory_kinds = value;
    else if (!strcmp(key, "host"))
        return take_hosts(call, value);
    else if (!strcmp(key, "arch"))
        return take_arch(call, value);
    else if (!strcmp(key, "env"))
        return take_variables(call, app, value);
    else if (!strcmp(key, "mpi_initial_errhandler"))
        return take_errhandler(call, app, value);
    else if (!strcmp(key, "soft") && options_largest(value, INT32_MAX) < 0)
        return refuse(call, "E1003: soft is %s; a list of N, FROM:TO and FROM:TO:STEP is needed", value);
    else if (!strcmp(key, "soft"))
        app->soft = value;
    return true;
}

static bool take_infos(struct call *call, struct app *app, struct texts *texts)
{
    for (int left = next_number(texts, INT32_MAX); left > 0; left--) {
        char *key = next(texts), *value = next(texts);

        if (!key || !value)
            return refuse(call, "the request is cut off");
        if (!take_info(call, app, key, value))
            return false;
    }
    return true;
}

/* One program. */
static bool take_app(struct call *call, struct texts *texts)
{
    struct app *app;
    char *command = next(texts);
    int ranks = next_number(texts, INT32_MAX), arguments = next_number(texts, INT32_MAX);

    call->apps = need_more(call->apps, ((size_t)call->app_count + 1) * sizeof *call->apps);
    app = &call->apps[call->app_count++];
    *app = (struct app){ .ranks = ranks, .errhandler = call->job->options.errhandler,
                         .pass = call->job->options.pass };
    if (!command || ranks < 0 || arguments < 0)
        return refuse(call, "the request is cut off");
    strings_add(&app->argv, command);
    for (; arguments > 0; arguments--) {
        char *word = next(texts);
        if (!word)
            return refuse(call, "the request is cut off");
        strings_add(&app->argv, word);
    }
    return take_infos(call, app, texts);
}

static bool take_call(struct call *call, struct texts *texts)
{
    call->number = next_number(texts, INT32_MAX);
    while (texts->at < texts->end)
        if (!take_app(call, texts))
            return false;
    return call->app_count > 0 || refuse(call, "no program is named");
}

/* --- starting --- */

/* Of those that may be fewer, as many as there is room for; how many in all, -1 if that cannot be. */
static int count_ranks(struct call *call)
{
    const int room = worlds_room(call->job);
    int total = 0;

    for (int i = 0; i < call->app_count; i++) {
        struct app *app = &call->apps[i];
        const int left = room - total;

        if (app->soft)
            app->ranks = options_largest(app->soft, app->ranks < left ? app->ranks : left);
        if (app->ranks > left || (app->soft && !app->ranks)) {
            refuse(call, "E1001: %s cannot be started: there is room for %d more processes in a row, of %u that the "
                   "job may have", app->argv.at[0], left, call->job->head->slots);
            return -1;
        }
        total += app->ranks;
    }
    return total;
}

/* What nobody has opened yet is told before anything is started. */
static bool has_files(struct call *call, int count)
{
    struct rlimit limit;
    const rlim_t needed = (rlim_t)(call->job->used + count) * FILES_EACH + FILES_LEFT;

    return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed ||
           refuse(call, "E0106: %d more processes need %llu open files, the limit is %llu", count,
                  (unsigned long long)needed, (unsigned long long)limit.rlim_cur);
}

static bool prepare(struct call *call)
{
    struct refusal refusal;

    for (int i = 0; i < call->app_count; i++) {
        profile_spawned(&call->job->options, &call->apps[i], call->job->worlds + 1);
        if (!program_prepare(&call->job->options, &call->apps[i], &refusal))
            return refuse(call, "%s", refusal.text);
    }
    return true;
}

/* All or none. */
static bool start(struct call *call, struct world *world)
{
    struct refusal refusal;

    for (int place = world->first; place < world->first + world->size; place++) {
        struct job_desk *desk = job_desk(call->job->head, place);

        desk->parent = call->rank;
        desk->spawn_number = (uint32_t)call->number;
        desk->links[call->rank / 64] = UINT64_C(1) << call->rank % 64;
        if (spawn_rank(call->job, place, &refusal))
            continue;
        world->is_cancelled = true;
        for (int started = world->first; started < world->first + world->size; started++) {
            job_desk(call->job->head, started)->links[call->rank / 64] = 0;
            call->job->ranks[started].is_over |= started >= place;
            signals_send(call->job, started, SIGKILL);
        }
        return refuse(call, "%s", refusal.text);
    }
    return true;
}

static void free_apps(struct call *call)
{
    for (int i = 0; i < call->app_count; i++)
        program_free(&call->apps[i]);
    mem_free(call->apps);
}

static bool spawn(struct call *call, struct texts *texts, char *request)
{
    struct job_desk *desk = job_desk(call->job->head, call->rank);
    struct world *world;
    bool is_started;
    int total, first;

    if (call->job->links) {
        mem_free(request);
        return refuse(call, "E1014: processes cannot be started yet in a job on several machines");
    }
    if (!take_call(call, texts) || (total = count_ranks(call)) < 0 || !has_files(call, total) || !prepare(call)) {
        free_apps(call);
        mem_free(request);
        return false;
    }
    first = worlds_find_room(call->job, total);
    world = worlds_add(call->job, first, total, call->apps, call->app_count, request);
    is_started = start(call, world);
    desk->reply_first = first;
    desk->reply_count = (uint32_t)total;
    return is_started;
}

/* --- names --- */

static void publish(struct job *job, int rank, struct texts *texts)
{
    const char *service = next(texts), *port = next(texts);
    struct name **found = service ? names_find(&job->names, service) : NULL;
    char text[JOB_REPLY_SIZE] = "", owner[RANK_NAME_SIZE];

    if (found)
        snprintf(text, sizeof text, "E1004: the service \"%.200s\" has been published already, by %s", service,
                 rank_name(job, (*found)->owner, owner));
    else if (port)
        names_add(&job->names, service, port, rank);
    answer(job, rank, found ? MPI_ERR_SERVICE : 0, text);
}

static void unpublish(struct job *job, int rank, struct texts *texts)
{
    const char *service = next(texts), *port = next(texts);
    struct name **found = service ? names_find(&job->names, service) : NULL;
    char text[JOB_REPLY_SIZE] = "";
    int error = MPI_ERR_SERVICE;

    if (!found)
        snprintf(text, sizeof text, "E1005: the service \"%.200s\" has not been published", service ? service : "");
    else if (port && strcmp(port, (*found)->port) != 0)
        snprintf(text, sizeof text, "E1005: the service \"%.200s\" has been published with the port %.100s, and not "
                 "with %.100s", service, (*found)->port, port);
    else
        error = 0;
    if (!error)
        names_remove(found);
    answer(job, rank, error, text);
}

static void look_up(struct job *job, int rank, struct texts *texts)
{
    const char *service = next(texts);
    struct name **found = service ? names_find(&job->names, service) : NULL;
    char text[JOB_REPLY_SIZE];

    if (found)
        snprintf(text, sizeof text, "%s", (*found)->port);
    else
        snprintf(text, sizeof text, "E1005: the service \"%.200s\" has not been published", service ? service : "");
    answer(job, rank, found ? 0 : MPI_ERR_NAME, text);
}

void dynamic_request(struct job *job, int rank, unsigned kind, char *request, size_t size)
{
    struct texts texts = { request, request + size };
    struct call call = { .job = job, .rank = rank };
    bool is_done;

    if (kind == CONTROL_SPAWN) {
        is_done = spawn(&call, &texts, request);
        answer(job, rank, is_done ? 0 : MPI_ERR_SPAWN, call.why);
        return;
    }
    if (kind == CONTROL_PUBLISH)
        publish(job, rank, &texts);
    else if (kind == CONTROL_UNPUBLISH)
        unpublish(job, rank, &texts);
    else
        look_up(job, rank, &texts);
    mem_free(request);
}
