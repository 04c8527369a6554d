/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: a rank looks up a service that this job does not know: other mpiexecs of the user are asked, at all doors of
 * that name. Exactly one of them must know it. Nothing waits here; the rank does. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "names.h"
#include "spawning.h"

#define PATIENCE_SECONDS 5.0

enum { MPIEXEC_SIZE = 100 };

struct ask {
    struct source source; /* fd -1: nobody of ours is there, or he has answered */
    struct look *look;
    pid_t pid;            /* of that mpiexec, as far as it can be seen from here */
};

struct look {
    struct look *next;
    int rank;
    int64_t end_ns;
    char *service;
    struct ask asks[NAME_DOORS];
    int pending;
    int known, silent;     /* mpiexecs that know it; those that have not said what */
    char first[MPIEXEC_SIZE], other[MPIEXEC_SIZE]; /* two of these: "4711", "4711 on alpha" */
    bool awaits_far;       /* another machine is asked, too, … */
    char why[JOB_REPLY_SIZE]; /* … or cannot be, for this reason; empty: none */
    char port[MPI_MAX_PORT_NAME];
    bool is_over;          /* an event may still lead to it */
};

/* One more publishes it. */
static void count(struct look *look, pid_t pid, const char *host)
{
    snprintf(look->known++ == 0 ? look->first : look->other, MPIEXEC_SIZE, "%d%s%.60s", (int)pid, host ? " on " : "",
             host ? host : "");
}

static void end(struct job *job, struct look *look)
{
    for (int i = 0; i < NAME_DOORS; i++)
        if (look->asks[i].source.fd >= 0)
            source_remove(job, &look->asks[i].source);
    if (look->awaits_far)
        names_far_no_more(job, -1, look);
    look->is_over = true;
    timer_set(job, TIMER_NAMES, 0);
}

/* All have answered, or have had the time to. */
static void answer(struct job *job, struct look *look)
{
    char text[JOB_REPLY_SIZE];

    for (int i = 0; i < NAME_DOORS; i++)
        if (look->asks[i].source.fd >= 0) {
            count(look, look->asks[i].pid, NULL);
            look->silent++;
        }
    if (look->known > 1)
        snprintf(text, sizeof text, "E1018: the service \"%.200s\" has been published by several mpiexecs, %s and %s "
                 "among them", look->service, look->first, look->other);
    else if (look->silent)
        snprintf(text, sizeof text, "E1019: mpiexec %s, which has published the service \"%.200s\", does not answer",
                 look->first, look->service);
    else if (look->known)
        snprintf(text, sizeof text, "%s", look->port);
    else if (*look->why)
        snprintf(text, sizeof text, "%s", look->why);
    else
        snprintf(text, sizeof text, "E1005: the service \"%.200s\" has not been published", look->service);
    dynamic_answer(job, look->rank, look->known == 1 && !look->silent ? 0 :
                   !look->known && *look->why ? MPI_ERR_OTHER : MPI_ERR_NAME, text);
    end(job, look);
}

/* The same port again is the same service, whoever has published it. */
static void take_port(struct look *look, const char *port, pid_t pid, const char *host)
{
    if (look->known && !strcmp(look->port, port))
        return;
    if (!look->known)
        snprintf(look->port, sizeof look->port, "%s", port);
    count(look, pid, host);
}

static void one_less(struct job *job, struct look *look)
{
    if (--look->pending > 0)
        return;
    answer(job, look);
    control_answered(job, look->rank);
}

static void ask_ready(struct job *job, struct source *source, uint32_t events)
{
    struct ask *ask = CONTAINER_OF(source, struct ask, source);
    struct look *look = ask->look;
    char port[MPI_MAX_PORT_NAME];
    const ssize_t got = recv(source->fd, port, sizeof port, MSG_DONTWAIT);

    (void)events;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (names_is_port(port, got))
        take_port(look, port, ask->pid, NULL);
    source_remove(job, source);
    one_less(job, look);
}

void names_heard(struct job *job, struct look *look, const struct names_found *found, const char *why)
{
    const char *host = job->options.name_server;

    look->awaits_far = false;
    if (why)
        snprintf(look->why, sizeof look->why, "%s", why);
    if (found && found->known == 1 && !found->silent)
        take_port(look, found->port, found->first, host);
    for (int i = 0; found && (found->known > 1 || found->silent) && i < found->known; i++)
        count(look, i ? found->other : found->first, host);
    look->silent += found ? found->silent : 0;
    if (look->pending > 1) {
        look->end_ns = now_ns() + (int64_t)(PATIENCE_SECONDS * 1e9);
        timer_set(job, TIMER_NAMES, PATIENCE_SECONDS);
    }
    one_less(job, look);
}

static void knock(struct job *job, struct look *look, int door)
{
    struct ask *ask = &look->asks[door];
    struct sockaddr_un address;
    const socklen_t size = names_address(&address, look->service, door);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *ask = (struct ask){ .source = { .ready = ask_ready, .fd = -1, .rank = -1 }, .look = look };
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)&address, size) || !names_is_own_user(fd, &ask->pid)) {
        close(fd);
        return;
    }
    ask->source.fd = fd;
    source_add(job, &ask->source);
    look->pending++;
}

bool names_ask(struct job *job, int rank, const char *service)
{
    struct look *look = need(sizeof *look);

    look->rank = rank;
    look->service = need_text(service);
    look->end_ns = now_ns() + (int64_t)(PATIENCE_SECONDS * 1e9);
    look->next = job->looks;
    job->looks = look;
    for (int door = 0; door < NAME_DOORS; door++)
        knock(job, look, door);
    if (names_are_far(job)) { /* that has a time limit of its own */
        look->end_ns = INT64_MAX;
        look->awaits_far = true;
        look->pending++;
        names_look_far(job, look, service);
    }
    if (!look->pending)
        answer(job, look);
    else
        timer_set(job, TIMER_NAMES, PATIENCE_SECONDS);
    return look->is_over;
}

void names_ask_no_more(struct job *job, int rank)
{
    for (struct look *look = job->looks; look; look = look->next)
        if (look->rank == rank && !look->is_over)
            end(job, look);
}

void names_ask_tick(struct job *job)
{
    const int64_t now = now_ns();

    for (struct look **place = &job->looks; *place;) {
        struct look *look = *place;
        if (!look->is_over && look->end_ns <= now) {
            answer(job, look);
            control_answered(job, look->rank);
        }
        if (!look->is_over) {
            if (!look->awaits_far)
                timer_set(job, TIMER_NAMES, (double)(look->end_ns - now) / 1e9);
            place = &look->next;
            continue;
        }
        *place = look->next;
        mem_free(look->service);
        mem_free(look);
    }
}
