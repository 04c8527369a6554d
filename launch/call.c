/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what a rank wants when it starts processes (MPI 5.0 §11.8): its request (sys/control.h) read. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "options.h"
#include "spawning.h"

char *texts_next(struct texts *texts)
{
    char *text = texts->at, *zero = texts->at < texts->end ? memchr(texts->at, 0, (size_t)(texts->end - text)) : NULL;

    if (!zero)
        return NULL;
    texts->at = zero + 1;
    return text;
}

int texts_next_number(struct texts *texts, int most)
{
    const char *text = texts_next(texts);
    char *end;
    long number;

    if (!text || *text < '0' || *text > '9')
        return -1;
    number = strtol(text, &end, 10);
    return *end || number > most ? -1 : (int)number;
}

bool call_refuse(struct call *call, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(call->why, sizeof call->why, format, args);
    va_end(args);
    return false;
}

static bool take_errhandler(struct call *call, struct app *app, const char *name)
{
    for (int i = JOB_ERRORS_ARE_FATAL; i <= JOB_ERRORS_RETURN; i++)
        if (!strcmp(name, job_errhandler_name(i))) {
            app->errhandler = i;
            return true;
        }
    return call_refuse(call, "E1003: mpi_initial_errhandler is %s; it must be mpi_errors_are_fatal, mpi_errors_abort "
                       "or mpi_errors_return", name);
}

/* NAME=VALUE, a line each. */
static bool take_variables(struct call *call, struct app *app, char *lines)
{
    for (char *line; (line = strsep(&lines, "\n"));) {
        if (!*line)
            continue;
        if (*line == '=' || !strchr(line, '='))
            return call_refuse(call, "E1003: env has the line %s; NAME=VALUE is needed", line);
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
        app->wanted_hosts = value;
    else if (!strcmp(key, "arch"))
        app->arch = value;
    else if (!strcmp(key, "env"))
        return take_variables(call, app, value);
    else if (!strcmp(key, "mpi_initial_errhandler"))
        return take_errhandler(call, app, value);
    else if (!strcmp(key, "soft") && options_largest(value, INT32_MAX) < 0)
        return call_refuse(call, "E1003: soft is %s; a list of N, FROM:TO and FROM:TO:STEP is needed", value);
    else if (!strcmp(key, "soft"))
        app->soft = value;
    return true;
}

static bool take_infos(struct call *call, struct app *app, struct texts *texts)
{
    for (int left = texts_next_number(texts, INT32_MAX); left > 0; left--) {
        char *key = texts_next(texts), *value = texts_next(texts);

        if (!key || !value)
            return call_refuse(call, "the request is cut off");
        if (!take_info(call, app, key, value))
            return false;
    }
    return true;
}

/* As children of a process do: what was set for the program of the rank alone (-env, -x, an "env" of its own call), and
 * what of mpiexec's own it gets. The texts may live longer than that program. */
static void inherit(struct app *app, const struct app *parent)
{
    app->pass = parent->pass;
    for (size_t i = 0; i < parent->set.count; i++) {
        char *text = need_text(parent->set.at[i]);

        strings_add(&app->kept, text);
        strings_add(&app->set, text);
    }
}

/* One program. */
static bool take_app(struct call *call, struct texts *texts)
{
    struct app *app;
    char *command = texts_next(texts);
    int ranks = texts_next_number(texts, INT32_MAX), arguments = texts_next_number(texts, INT32_MAX);

    call->apps = need_more(call->apps, ((size_t)call->app_count + 1) * sizeof *call->apps);
    app = &call->apps[call->app_count++];
    *app = (struct app){ .ranks = ranks, .errhandler = call->job->options.errhandler };
    inherit(app, call->job->ranks[call->rank].app);
    if (!command || ranks < 0 || arguments < 0)
        return call_refuse(call, "the request is cut off");
    strings_add(&app->argv, command);
    for (; arguments > 0; arguments--) {
        char *word = texts_next(texts);
        if (!word)
            return call_refuse(call, "the request is cut off");
        strings_add(&app->argv, word);
    }
    return take_infos(call, app, texts);
}

bool call_take(struct call *call, struct texts *texts)
{
    call->number = texts_next_number(texts, INT32_MAX);
    while (texts->at < texts->end)
        if (!take_app(call, texts))
            return false;
    return call->app_count > 0 || call_refuse(call, "no program is named");
}

void call_free_apps(struct app *apps, int count)
{
    for (int i = 0; i < count; i++)
        program_free(&apps[i]);
    mem_free(apps);
}
