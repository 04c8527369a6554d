/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --agent: the other end of far.c, one loop for all. */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "channel.h"
#include "hang.h"
#include "job_text.h"
#include "sys/control.h"
#include "sys/wake.h"

extern char **environ;

/* The way to mpiexec. */
struct root {
    struct channel channel;
    bool is_greeted, has_job, has_started, has_bye;
    char *text; /* of the job; much points into it */
};

/* --- to mpiexec --- */

void agent_put(struct job *job, int rank, enum frame_kind kind, uint32_t value, const void *data, size_t size)
{
    channel_put(&job->root->channel, kind, rank, value, data, size);
}

void agent_started(struct job *job, int rank, int pid)
{
    agent_put(job, rank, FRAME_STARTED, (uint32_t)pid, NULL, 0);
}

void agent_output(struct job *job, int rank, bool is_error, const void *data, size_t size)
{
    agent_put(job, rank, FRAME_OUTPUT, is_error, data, size);
}

void agent_said(struct job *job, int rank, const struct control_message *message)
{
    const struct frame_said said = { message->header.kind, message->header.code };
    char data[sizeof said + CONTROL_TEXT_MAX];

    memcpy(data, &said, sizeof said);
    memcpy(data + sizeof said, message->text, message->header.length);
    agent_put(job, rank, FRAME_SAID, 0, data, sizeof said + message->header.length);
}

void agent_over(struct job *job, int rank, const struct frame_over *over)
{
    const char *other = other_mpi_of(job, rank);
    char data[sizeof *over + OTHER_MPI_SIZE];

    memcpy(data, over, sizeof *over);
    memcpy(data + sizeof *over, other, strlen(other));
    agent_put(job, rank, FRAME_OVER, 0, data, sizeof *over + strlen(other));
}

void agent_fed(struct job *job, int rank, size_t size)
{
    agent_put(job, rank, FRAME_FED, (uint32_t)size, NULL, 0);
}

void agent_note(struct job *job, int rank, const char *text)
{
    agent_put(job, rank, FRAME_NOTE, 0, text, strlen(text));
}

void agent_address(struct job *job, int rank, int net)
{
    const struct job_address *address = &job_place(job->head, rank)->address[net];

    agent_put(job, rank, FRAME_ADDRESS, (uint32_t)net, address->bytes, job_address_size(address));
}

void agent_page(struct job *job, int rank, const void *data, size_t size)
{
    agent_put(job, rank, FRAME_PAGE, 0, data, size);
}

void agent_looked(struct job *job, uint32_t value)
{
    agent_put(job, -1, FRAME_LOOKED, value, NULL, 0);
}

void agent_refuse(struct job *job, int rank, const struct refusal *refusal)
{
    agent_put(job, rank, FRAME_REFUSED, (uint32_t)refusal->exit_code, refusal->text, strlen(refusal->text));
}

void agent_flush(struct job *job)
{
    channel_flush(job, &job->root->channel);
}

/* --- the end --- */

void agent_end(struct job *job)
{
    if (job->ranks)
        job_clean(job);
    exit(EXIT_SYSTEM);
}

static bool is_said(struct job *job)
{
    const struct channel *channel = &job->root->channel;

    return channel->queue.length == 0 || channel->out.fd < 0;
}

/* What the ranks have left is killed; then their pipes are at their ends. */
static _Noreturn void bye(struct job *job)
{
    if (job->ranks)
        job_clean(job);
    forward_empty(job);
    loop_until(job, is_said);
    exit(0);
}

/* --- the job --- */

/* mpiexec's environment over that of this login. */
static void take_environment(struct orders *orders)
{
    struct strings all = { 0 };
    struct stat st;
    char *pwd = need(PATH_MAX + 8);

    for (char **text = environ; *text; text++)
        strings_add(&all, *text);
    for (size_t i = 0; i < orders->environment.count; i++) {
        char *text = orders->environment.at[i];
        const bool is_gone = !strncmp(text, "TMPDIR=", 7) && (stat(text + 7, &st) || !S_ISDIR(st.st_mode));
        if (!is_gone && strchr(text, '='))
            program_set(&all, text);
    }
    snprintf(pwd, PATH_MAX + 8, "PWD=%s", orders->folder);
    program_set(&all, pwd);
    environ = all.at;
}

/* As mpiexec's own prepare. False, and why. */
static bool prepare(struct job *job, struct refusal *refusal)
{
    struct options *options = &job->options;

    if (chdir(job->orders->folder)) {
        refusal->exit_code = EXIT_NOT_FOUND;
        snprintf(refusal->text, sizeof refusal->text, "E0105: the working directory %s: %s", job->orders->folder,
                 strerror(errno));
        return false;
    }
    take_environment(job->orders);
    job->first_world = (struct world){ .size = job->size, .apps = options->apps, .app_count = options->app_count };
    job->ranks = need((size_t)job->orders->slots * sizeof *job->ranks);
    worlds_fill(job, &job->first_world);
    for (int i = 0; i < job->size; i++)
        job->ranks[i].node = job->orders->node_of[i];
    profile_prepare(options);
    if (!prepare_programs(job, refusal))
        return false;
    prepare_ranks(job);
    return true;
}

static bool take_job(struct job *job, const struct frame *frame, const char *data)
{
    struct refusal refusal = { 0 };

    if (job->root->has_job)
        return false;
    job->root->has_job = true;
    job->root->text = need(frame->length);
    memcpy(job->root->text, data, frame->length);
    job->orders = need(sizeof *job->orders);
    if (!job_text_read(job, job->orders, job->root->text, frame->length))
        return false;
    if (!prepare(job, &refusal)) {
        agent_refuse(job, -1, &refusal);
        return true;
    }
    agent_put(job, -1, FRAME_READY, job->head->cpus, NULL, 0);
    return true;
}

/* The ranks of this machine; what comes after one that cannot be started is not tried. */
static void start(struct job *job)
{
    struct refusal refusal = { 0 };

    for (int i = 0; i < job->size; i++) {
        if (is_far(job, i))
            continue;
        if (!refusal.exit_code && spawn_rank(job, i, &refusal)) {
            agent_started(job, i, job->ranks[i].pid);
            continue;
        }
        agent_refuse(job, i, &refusal);
        refusal.text[0] = 0;
    }
    other_mpi_init(job);
    bind_watch(job);
    address_watch(job);
}

/* --- from mpiexec --- */

static void take_end(struct job *job, const char *data)
{
    uint64_t running = 0, end;

    memcpy(&end, data, sizeof end);
    job->is_ending = true;
    atomic_compare_exchange_strong(&job->head->end, &running, end);
}

/* The answer to a request is there before the rank knows of it. */
static void take_taken(struct job *job, int rank, const char *data, size_t size)
{
    struct job_desk *desk = job_desk(job->head, rank);
    uint32_t head[3];

    if (size > sizeof head) {
        memcpy(head, data, sizeof head);
        desk->reply_error = head[0];
        desk->reply_first = (int32_t)head[1];
        desk->reply_count = head[2];
        snprintf(desk->reply, sizeof desk->reply, "%.*s", (int)(size - sizeof head), data + sizeof head);
    }
    control_taken(job, rank);
}

static void take_release(struct job *job)
{
    atomic_store_explicit(&job->head->hold, 0, memory_order_release);
    wake_all(&job->head->hold);
}

/* What concerns a rank concerns one of ours, but for addresses. */
static bool is_ours(const struct job *job, const struct frame *frame)
{
    return frame->rank < 0 || is_far(job, frame->rank) == (frame->kind == FRAME_ADDRESS);
}

static bool take(struct job *job, const struct frame *frame, const char *data)
{
    const int rank = frame->rank;

    if (frame->kind == FRAME_JOB)
        return take_job(job, frame, data);
    if (frame->kind == FRAME_BYE)
        return job->root->has_bye = true;
    if (!job->head || (!job->root->has_started && frame->kind != FRAME_START) || !is_ours(job, frame))
        return false;
    switch ((enum frame_kind)frame->kind) {
    case FRAME_START:
        job->head->universe = frame->value;
        job->root->has_started = true;
        start(job);
        return true;
    case FRAME_SIGNAL: signals_send(job, rank, (int)frame->value); return true;
    case FRAME_END: take_end(job, data); return true;
    case FRAME_TAKEN: take_taken(job, rank, data, frame->length); return true;
    case FRAME_CREDIT: forward_credit(job, rank, *data, frame->value); return true;
    case FRAME_BROKEN: forward_unwanted(job, rank, frame->value); return true;
    case FRAME_INPUT: feed_take(job, rank, data, frame->length); return true;
    case FRAME_ADDRESS: return address_store(job, frame, data);
    case FRAME_RELEASE: take_release(job); return true;
    case FRAME_LOOK: hang_there_look(job, frame->value, data); return true;
    case FRAME_ASK: hang_there_ask(job, rank, data); return true;
    case FRAME_LINKS: agent_tell_links(job); return true;
    case FRAME_VISIT:
    case FRAME_LEAVE:
    case FRAME_ANSWER: return agent_take_call(job, frame, data);
    case FRAME_GUESTS: return agent_take_guests(job, frame->value, data, frame->length);
    case FRAME_GUEST_GONE: return agent_take_guest_gone(job, frame->value);
    case FRAME_WORLD: return agent_take_world(job, data, frame->length);
    case FRAME_GO: agent_take_go(job, frame->value); return true;
    default: return false;
    }
}

static void take_frames(struct job *job)
{
    struct bytes *got = &job->root->channel.got;
    struct frame frame;
    long size;

    while (!job->root->has_bye &&
           (size = frame_next(FRAME_FROM_ROOT, job->used, got->data + got->start, got->length, &frame))) {
        if (size < 0 || !take(job, &frame, got->data + got->start + sizeof frame)) {
            fprintf(stderr, "parley: mpiexec --agent: what comes is no message: kind %u, rank %d, value %u, %u bytes\n",
                    frame.kind, frame.rank, frame.value, frame.length);
            agent_end(job);
        }
        bytes_drop(got, (size_t)size);
    }
}

/* mpiexec has looked at our greeting before it goes on. */
static void take_greeting(struct job *job)
{
    const char *line = channel_line(&job->root->channel), *words;

    if (!line)
        return;
    if (!frame_is_hello(FRAME_FROM_ROOT, line, &words) || strcmp(words, frame_own_words()) != 0) {
        fprintf(stderr, "parley: mpiexec --agent: this is started by mpiexec %s on another machine, not by hand\n",
                frame_own_words());
        exit(EXIT_USAGE);
    }
    job->root->is_greeted = true;
}

static void root_ready(struct job *job, struct source *source, uint32_t events)
{
    const bool is_open = channel_read(&job->root->channel);

    (void)source;
    (void)events;
    if (!job->root->is_greeted)
        take_greeting(job);
    if (job->root->is_greeted)
        take_frames(job);
    if (job->root->has_bye)
        bye(job);
    if (!is_open)
        agent_end(job);
}

/* stdin and stdout are the way to mpiexec and nobody else's; what is printed by mistake goes to stderr. */
static void take_descriptors(struct job *job)
{
    const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int nothing = open_nothing();

    if (in < 0 || out < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        die(EXIT_SYSTEM, "E0106: no descriptor left: %s", strerror(errno));
    close(nothing);
    channel_open(job, &job->root->channel, in, out, root_ready);
}

static bool is_never(struct job *job)
{
    (void)job;
    return false;
}

void agent_main(struct job *job)
{
    char line[FRAME_HELLO_SIZE];

    fcntl(STDERR_FILENO + 1, F_SETFD, FD_CLOEXEC); /* our file, if we have been sent here (remote.c): not for ranks */
    prepare_process(job);
    job->root = need(sizeof *job->root);
    take_descriptors(job);
    channel_put_text(&job->root->channel, line, frame_write_hello(FRAME_FROM_AGENT, line));
    loop_until(job, is_never);
    exit(0);
}
