/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: requests of ranks (sys/control.h): to start processes (spawning.h), to publish services (MPI 5.0 §11.9.4),
 * to be connected with processes of other machines (calls.c). What becomes of one is told in the rank's job_desk. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bonds.h"
#include "names.h"
#include "spawning.h"
#include "sys/control.h"

void dynamic_answer(struct job *job, int rank, int error, const char *text)
{
    struct job_desk *desk = job_desk(job->head, rank);

    desk->reply_error = (uint32_t)error;
    snprintf(desk->reply, sizeof desk->reply, "%.*s", (int)strcspn(text, "\n"), text); /* the cause alone */
}

/* False: on another machine it is not known yet, and that is answered later. */
static bool publish(struct job *job, int rank, struct texts *texts)
{
    const char *service = texts_next(texts), *port = texts_next(texts);
    struct name *found = service ? names_find(job, service) : NULL;
    char text[JOB_REPLY_SIZE] = "", owner[RANK_NAME_SIZE];

    if (found)
        snprintf(text, sizeof text, "E1004: the service \"%.200s\" has been published already, by %s", service,
                 rank_name(job, found->owner, owner));
    else if (port && names_publish_far(job, names_add(job, service, port, rank), rank))
        return false;
    dynamic_answer(job, rank, found ? MPI_ERR_SERVICE : 0, text);
    return true;
}

/* False: as with publish. */
static bool unpublish(struct job *job, int rank, struct texts *texts)
{
    const char *service = texts_next(texts), *port = texts_next(texts);
    struct name *found = service ? names_find(job, service) : NULL;
    char text[JOB_REPLY_SIZE] = "";
    int error = MPI_ERR_SERVICE;

    if (!found)
        snprintf(text, sizeof text, "E1005: the service \"%.200s\" has not been published", service ? service : "");
    else if (port && strcmp(port, found->port) != 0)
        snprintf(text, sizeof text, "E1005: the service \"%.200s\" has been published with the port %.100s, and not "
                 "with %.100s", service, found->port, port);
    else
        error = 0;
    if (!error && names_remove(job, found, rank))
        return false;
    dynamic_answer(job, rank, error, text);
    return true;
}

/* False: others are asked, and it is answered later. */
static bool look_up(struct job *job, int rank, struct texts *texts)
{
    const char *service = texts_next(texts);
    const struct name *found = service ? names_find(job, service) : NULL;

    if (!found)
        return names_ask(job, rank, service ? service : "");
    dynamic_answer(job, rank, 0, found->port);
    return true;
}

bool dynamic_request(struct job *job, int rank, unsigned kind, char *request, size_t size)
{
    struct texts texts = { request, request + size };
    struct call call = { .job = job, .rank = rank };
    bool is_answered = true;

    if (kind == CONTROL_SPAWN && call_take(&call, &texts))
        return spawning_add(&call, request);
    if (kind == CONTROL_SPAWN) {
        dynamic_answer(job, rank, MPI_ERR_SPAWN, call.why);
        call_free_apps(call.apps, call.app_count);
    } else if (kind == CONTROL_PUBLISH) {
        is_answered = publish(job, rank, &texts);
    } else if (kind == CONTROL_UNPUBLISH) {
        is_answered = unpublish(job, rank, &texts);
    } else if (kind == CONTROL_MEET) {
        is_answered = bonds_meet(job, rank, &texts);
    } else if (!calls_request(job, rank, kind, &texts, &is_answered) &&
               !bonds_request(job, rank, kind, &texts, &is_answered)) {
        is_answered = look_up(job, rank, &texts);
    }
    mem_free(request);
    return is_answered;
}
