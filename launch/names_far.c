/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --name-server HOST: names of services are known on that machine, too. For each name that is published there,
 * and for each that is looked up, an mpiexec is started there (names_there.c), as agents are. It keeps the name while
 * the way to it stands; so nothing is left there when we end, however that is. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "channel.h"
#include "hosts.h"
#include "names.h"
#include "remote.h"
#include "spawning.h"

extern char **environ;

struct far_name {
    struct far_name *next;
    struct channel channel;
    int rank;            /* whom this is to be told; -1: nobody */
    struct name *name;   /* that is published, … */
    struct look *look;   /* … or looked up; both NULL: its end is awaited */
    bool has_answered;
    bool has_own;        /* it has been sent our own program */
    bool is_over;        /* an event may still lead to it */
    int64_t end_ns;      /* when it is given up */
    char said[400];      /* its last line that was no answer */
};

bool names_are_far(const struct job *job)
{
    return job->options.name_server && !job->options.name_server_is_here;
}

/* --- what becomes of it --- */

static void drop(struct job *job, struct far_name *far)
{
    channel_close(job, &far->channel);
    if (far->name)
        far->name->far = NULL;
    far->is_over = true;
    timer_set(job, TIMER_NAMES, 0);
}

static void answer(struct job *job, int rank, int error, const char *text)
{
    if (rank < 0)
        return;
    dynamic_answer(job, rank, error, text);
    control_answered(job, rank);
}

/* It is of no use any more. */
static void fail(struct job *job, struct far_name *far, const char *how)
{
    struct name *name = far->name;
    struct look *look = far->look;
    const int rank = far->rank;
    const bool has_answered = far->has_answered;
    char text[JOB_REPLY_SIZE];

    snprintf(text, sizeof text, "E1020: names of services are not known on %s: mpiexec there %s%s%s",
             job->options.name_server, how, *far->said ? ", and said: " : "", far->said);
    drop(job, far);
    if (look) {
        names_heard(job, look, NULL, text);
    } else if (!name) {
        answer(job, rank, 0, ""); /* it has gone, which was wanted */
    } else if (has_answered) {
        report_rank(job, name->owner, "%s", text);
    } else {
        names_remove(job, name, -1);
        answer(job, rank, MPI_ERR_OTHER, text);
    }
}

/* --- what it says --- */

static void send_own(struct job *job, struct far_name *far, const char *machine)
{
    size_t size;
    char *own = remote_is_alike(machine) && !far->has_own ? remote_own_file(&size) : NULL;

    snprintf(far->said, sizeof far->said, "there is no mpiexec of this version, and this one cannot be sent to %.60s",
             machine);
    far->has_own = own;
    if (!own)
        return;
    far->said[0] = 0;
    channel_put_text(&far->channel, own, size);
    channel_flush(job, &far->channel);
    mem_free(own);
}

static bool take_found(struct job *job, struct far_name *far, const char *line)
{
    struct names_found found;
    struct look *look = far->look;
    char hex[2 * MPI_MAX_PORT_NAME + 1] = "", *port;

    if (!look || sscanf(line, "%d %d %d %d %512s", &found.known, &found.silent, &found.first, &found.other, hex) < 4)
        return false;
    port = names_from_hex(hex);
    found.port = port ? port : "";
    drop(job, far);
    names_heard(job, look, &found, NULL);
    mem_free(port);
    return true;
}

/* False: it makes no sense, or there is nothing more to come. */
static bool take_line(struct job *job, struct far_name *far, const char *line)
{
    const size_t head = strlen(NAMES_SAID);

    if (!strncmp(line, REMOTE_SEND, strlen(REMOTE_SEND))) {
        send_own(job, far, line + strlen(REMOTE_SEND));
    } else if (strncmp(line, NAMES_SAID, head) != 0) {
        if (*line)
            snprintf(far->said, sizeof far->said, "%s", line);
    } else if (far->name && !strcmp(line + head, "published")) {
        const int rank = far->rank;
        far->has_answered = true;
        far->rank = -1;
        answer(job, rank, 0, "");
    } else if (far->name && !strcmp(line + head, "full")) {
        snprintf(far->said, sizeof far->said, "that too many others have published this name there");
    } else {
        return !take_found(job, far, line + head);
    }
    return true;
}

static void ready(struct job *job, struct source *source, uint32_t events)
{
    struct far_name *far = CONTAINER_OF(source, struct far_name, channel.in);
    const bool is_open = channel_read(&far->channel);
    const char *line;

    (void)events;
    while ((line = channel_line(&far->channel)))
        if (!take_line(job, far, line))
            return;
    if (!is_open)
        fail(job, far, "has ended");
}

/* --- starting --- */

static pid_t start(const struct job *job, char **words, int in, int out)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t pid;
    int error;

    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &job->inherited.mask);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    error = posix_spawnp(&pid, words[0], &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = error;
    return error ? -1 : pid;
}

/* With `what` as its option, which is given up. */
static struct far_name *begin(struct job *job, int rank, char *what)
{
    struct far_name *far = need(sizeof *far);
    const double limit = job->options.launch_limit;
    struct strings words = { 0 };
    int in[2], out[2];

    remote_command(&job->options, job->options.name_server, what, &words);
    make_pipe(in);
    make_pipe(out);
    far->rank = rank;
    far->end_ns = limit > 0 ? now_ns() + (int64_t)(limit * 1e9) : INT64_MAX;
    far->next = job->far_names;
    job->far_names = far;
    if (start(job, words.at, in[0], out[1]) < 0)
        snprintf(far->said, sizeof far->said, "%s: %s", words.at[0], strerror(errno));
    close(in[0]);
    close(out[1]);
    channel_open(job, &far->channel, out[0], in[1], ready);
    if (limit > 0)
        timer_set(job, TIMER_NAMES, limit);
    for (size_t i = 0; i < words.count; i++)
        mem_free(words.at[i]);
    mem_free(words.at);
    mem_free(what);
    return far;
}

static char *write_option(const char *what, const char *service, const char *port)
{
    const size_t size = 40 + 2 * strlen(service) + 2 * strlen(port);
    char *text = need(size), *service_hex = names_hex(service), *port_hex = names_hex(port);

    snprintf(text, size, "--names=%s:%s%s%s", what, service_hex, *port ? ":" : "", port_hex);
    mem_free(service_hex);
    mem_free(port_hex);
    return text;
}

bool names_publish_far(struct job *job, struct name *name, int rank)
{
    if (!names_are_far(job))
        return false;
    name->far = begin(job, rank, write_option("publish", name->service, name->port));
    name->far->name = name;
    return true;
}

bool names_unpublish_far(struct job *job, struct name *name, int rank)
{
    struct far_name *far = name->far;

    if (!far)
        return false;
    name->far = NULL;
    far->name = NULL;
    far->rank = rank;
    channel_end(job, &far->channel);
    return true;
}

void names_look_far(struct job *job, struct look *look, const char *service)
{
    begin(job, -1, write_option("lookup", service, ""))->look = look;
}

void names_far_no_more(struct job *job, int rank, const struct look *look)
{
    for (struct far_name *far = job->far_names; far; far = far->next) {
        if (far->rank == rank)
            far->rank = -1;
        if (!far->is_over && look && far->look == look)
            drop(job, far);
    }
}

void names_far_tick(struct job *job)
{
    const int64_t now = now_ns();
    char how[64];

    snprintf(how, sizeof how, "has not answered within %g s", job->options.launch_limit);
    for (struct far_name *far = job->far_names; far; far = far->next)
        if (!far->is_over && !far->has_answered && far->end_ns <= now)
            fail(job, far, how);
        else if (!far->is_over && !far->has_answered && far->end_ns != INT64_MAX)
            timer_set(job, TIMER_NAMES, (double)(far->end_ns - now) / 1e9);
    for (struct far_name **place = &job->far_names; *place;) {
        struct far_name *far = *place;
        if (!far->is_over) {
            place = &far->next;
            continue;
        }
        *place = far->next;
        mem_free(far);
    }
}
