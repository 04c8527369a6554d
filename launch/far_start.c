/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: starting agents on other machines, all at once, and reading what comes from them. Until an agent has greeted
 * us, the other machine's shell may say anything on its stdout; what it says there and on stderr is the best there is
 * to tell why it does not work. Later lines on stderr are passed on with the name of the machine. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "base/mem.h"
#include "far.h"
#include "far_link.h"
#include "job_text.h"
#include "remote.h"

#define OTHERS_SECONDS 0.5 /* after the first failure, for others to fail, too */
#define ENDED_SECONDS  1.0 /* from the end of the connection to that of its process */

enum { SAID_MAX = 2000, LINE_MAX_SIZE = 4096 };

static const char *name_of(const struct job *job, const struct link *link)
{
    return job->nodes.at[link->node].name;
}

/* --- what it says --- */

static void keep_line(struct link *link, const char *line)
{
    if (!*line || link->said.length + strlen(line) > SAID_MAX)
        return;
    bytes_add(&link->said, line, strlen(line));
    bytes_add(&link->said, "\n", 1);
}

static void take_line(struct job *job, struct link *link, const char *line)
{
    char text[LINE_MAX_SIZE + 300];

    if (link->state < LINK_READY) {
        keep_line(link, line);
        return;
    }
    snprintf(text, sizeof text, "%s: %s\n", name_of(job, link), line);
    forward_print(job, text);
}

/* Whole lines of stderr; with `is_end` what is left as well. */
static void take_lines(struct job *job, struct link *link, bool is_end)
{
    char line[LINE_MAX_SIZE];

    while (link->line.length > 0) {
        const char *start = link->line.data + link->line.start, *end = memchr(start, '\n', link->line.length);
        const size_t length = end ? (size_t)(end - start) : link->line.length;

        if (!end && !is_end && length < sizeof line - 1)
            break;
        snprintf(line, sizeof line, "%.*s", (int)length, start);
        line[strcspn(line, "\r")] = 0;
        take_line(job, link, line);
        bytes_drop(&link->line, end ? length + 1 : length);
    }
}

static void read_error(struct job *job, struct link *link)
{
    char block[LINE_MAX_SIZE];
    ssize_t got = 1;

    while (link->err.fd >= 0 && got > 0) {
        got = read(link->err.fd, block, sizeof block);
        if (got > 0)
            bytes_add(&link->line, block, (size_t)got);
        else if (got == 0 || errno != EAGAIN)
            source_remove(job, &link->err);
        take_lines(job, link, link->err.fd < 0);
    }
}

static void error_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)events;
    read_error(job, CONTAINER_OF(source, struct link, err));
}

/* --- its end --- */

/* "ended with exit code 255", "was ended by signal 15", "has closed the connection" */
static void write_end(const struct link *link, char *text, size_t size)
{
    if (link->pid)
        snprintf(text, size, "has closed the connection");
    else if (WIFSIGNALED(link->status))
        snprintf(text, size, "was ended by signal %d", WTERMSIG(link->status));
    else
        snprintf(text, size, "ended with exit code %d", WEXITSTATUS(link->status));
}

static void refuse(struct job *job, struct link *link, int exit_code, const char *text)
{
    link->refusal.exit_code = exit_code;
    snprintf(link->refusal.text, sizeof link->refusal.text, "%s", text);
    read_error(job, link);
    link_close(job, link);
    timer_set(job, TIMER_LINKS, OTHERS_SECONDS);
}

/* It has not become ready. */
static void cannot_start(struct job *job, struct link *link, const char *how)
{
    char text[4096];
    const int length = link->said.length > 0 ? (int)link->said.length - 1 : 0;

    snprintf(text, sizeof text, "E0150: mpiexec cannot be started on %s: %s %s%s%.*s\n"
             "mpiexec --doctor -host tries it step by step; ssh must work without a password or a question",
             name_of(job, link),
             link->command, how, length ? ", and said:\n" : ", and said nothing", length,
             length ? link->said.data + link->said.start : "");
    refuse(job, link, EXIT_SYSTEM, text);
}

/* It cannot be used any more. */
static void broken(struct job *job, struct link *link, const char *how)
{
    char why[1024];

    snprintf(why, sizeof why, "%.700s %s", link->command, how);
    if (link->has_bye)
        link_close(job, link);
    else if (link->state == LINK_RUNS)
        link_lost(job, link, why);
    else
        cannot_start(job, link, how);
}

static void over(struct job *job, struct link *link)
{
    char how[64];

    read_error(job, link);
    write_end(link, how, sizeof how);
    broken(job, link, how);
}

/* How its process ends is worth a moment. */
static void ended(struct job *job, struct link *link)
{
    if (link->pid == 0) {
        over(job, link);
        return;
    }
    channel_close(job, &link->channel);
    link->has_ended = true;
    timer_set(job, TIMER_LINKS, ENDED_SECONDS);
}

/* --- frames --- */

static void greet(struct job *job, struct link *link)
{
    char line[FRAME_HELLO_SIZE];
    struct bytes text = { 0 };

    channel_put_text(&link->channel, line, frame_write_hello(FRAME_FROM_ROOT, line));
    job_text_write(job, link->node, &text);
    channel_put(&link->channel, FRAME_JOB, -1, 0, text.data, text.length);
    bytes_free(&text);
    link->state = LINK_GREETED;
}

/* There is no mpiexec of our version on that machine: it gets ours. */
static void send_own(struct job *job, struct link *link, const char *machine)
{
    static char *own;
    static size_t size;
    struct utsname here;
    char how[256];

    if (!own && remote_is_alike(machine))
        own = remote_own_file(&size);
    if (remote_is_alike(machine) && own && !link->has_own) {
        channel_put_text(&link->channel, own, size);
        link->has_own = true;
        return;
    }
    uname(&here);
    snprintf(how, sizeof how, "finds no mpiexec of this version, and this one, for %.60s, cannot be sent to %.60s",
             here.machine, machine);
    cannot_start(job, link, how);
}

/* Lines before the greeting, and it. */
static void take_greeting(struct job *job, struct link *link)
{
    const char *line, *words;
    char text[1024];

    while (link->state == LINK_STARTING && (line = channel_line(&link->channel))) {
        if (!strncmp(line, REMOTE_SEND, strlen(REMOTE_SEND))) {
            send_own(job, link, line + strlen(REMOTE_SEND));
        } else if (!frame_is_hello(FRAME_FROM_AGENT, line, &words)) {
            keep_line(link, line);
        } else if (strcmp(words, frame_own_words()) != 0) {
            snprintf(text, sizeof text,
                     "E0151: on %s mpiexec is that of Parley %.200s, and here it is %s",
                     name_of(job, link), words, frame_own_words());
            refuse(job, link, EXIT_SYSTEM, text);
        } else {
            greet(job, link);
        }
    }
}

bool link_refusal(const struct job *job, struct link *link, const struct frame *frame, const char *data)
{
    if (frame->length < DIAGNOSTIC_ID_LENGTH)
        return false;
    link->refusal.exit_code = (int)frame->value;
    snprintf(link->refusal.text, sizeof link->refusal.text, "%.*son %s: %.*s", DIAGNOSTIC_ID_LENGTH, data,
             name_of(job, link), (int)frame->length - DIAGNOSTIC_ID_LENGTH, data + DIAGNOSTIC_ID_LENGTH);
    return true;
}

/* It has looked at the job. */
static bool take_answer(struct job *job, struct link *link, const struct frame *frame, const char *data)
{
    struct refusal why;

    if (frame->kind == FRAME_READY) {
        link->cpus = frame->value;
        link->state = LINK_READY;
        for (char *at = link->said.data + link->said.start, *end = at + link->said.length, *line; at < end; at = line) {
            line = memchr(at, '\n', (size_t)(end - at));
            *line++ = 0;
            take_line(job, link, at);
        }
        if (link->is_late)
            link_join(job, link);
        return true;
    }
    if (frame->kind != FRAME_REFUSED || !link_refusal(job, link, frame, data))
        return false;
    why = link->refusal;
    refuse(job, link, why.exit_code, why.text);
    return true;
}

static void take_frames(struct job *job, struct link *link)
{
    struct bytes *got = &link->channel.got;
    struct frame frame;
    char why[200];
    long size;

    while (link->state >= LINK_GREETED && link->state < LINK_OVER &&
           (size = frame_next(FRAME_FROM_AGENT, job->used, got->data + got->start, got->length, &frame))) {
        char *data = got->data + got->start + sizeof frame;
        const bool is_right = size > 0 && (link->state == LINK_GREETED ? take_answer(job, link, &frame, data)
                                                                       : link_take(job, link, &frame, data));
        if (!is_right) {
            snprintf(why, sizeof why, "sends what is no message: kind %u, rank %d, value %u, %u bytes", frame.kind,
                     frame.rank, frame.value, frame.length);
            broken(job, link, why);
        } else if (link->state < LINK_OVER) {
            bytes_drop(got, (size_t)size);
        }
    }
}

static void link_ready(struct job *job, struct source *source, uint32_t events)
{
    struct link *link = CONTAINER_OF(source, struct link, channel.in);
    const bool is_open = channel_read(&link->channel);

    (void)events;
    if (link->state == LINK_STARTING)
        take_greeting(job, link);
    if (link->state != LINK_OVER)
        take_frames(job, link);
    if (!is_open && link->state != LINK_OVER)
        ended(job, link);
}

/* --- starting --- */

/* For messages: up to the name of the machine. What comes then is long and always the same. */
static char *write_command(const struct strings *words, const char *target)
{
    struct bytes text = { 0 };
    size_t count = words->count;

    while (count > 1 && strcmp(words->at[count - 1], target) != 0)
        count--;
    for (size_t i = 0; i < count; i++) {
        const bool is_plain = !strpbrk(words->at[i], " '\"\\$*?;&|<>");
        const char *quote = is_plain ? "" : strchr(words->at[i], '\'') ? "\"" : "'";

        bytes_add(&text, " ", i > 0);
        bytes_add(&text, quote, strlen(quote));
        bytes_add(&text, words->at[i], strlen(words->at[i]));
        bytes_add(&text, quote, strlen(quote));
    }
    bytes_add(&text, " mpiexec --agent", sizeof " mpiexec --agent");
    return text.data;
}

/* In a process group of its own, so that Ctrl-C ends the ranks and not the way to them. When we die, however, its stdin
 * ends, and a signal comes besides. */
static pid_t run(char **words, const int fds[3], const struct inherited *inherited)
{
    const pid_t own = getpid();
    const pid_t pid = fork();

    if (pid > 0)
        setpgid(pid, pid); /* both, so that it is so for both at once */
    if (pid != 0)
        return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != own)
        _exit(EXIT_NOT_FOUND);
    for (int i = 0; i < 3; i++)
        dup2(fds[i], i);
    sigaction(SIGPIPE, &inherited->sigpipe, NULL);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
    execvp(words[0], words);
    dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
    _exit(EXIT_NOT_FOUND);
}

static void start_link(struct job *job, struct link *link)
{
    int in[2], out[2], err[2];

    nodes_command(job, &job->nodes.at[link->node], &link->words);
    link->command = write_command(&link->words, job->nodes.at[link->node].target);
    make_pipe(in);
    make_pipe(out);
    make_pipe(err);
    link->pid = run(link->words.at, (int[]){ in[0], out[1], err[1] }, &job->inherited);
    if (link->pid < 0)
        die(EXIT_SYSTEM, "E0106: no process for %s: %s", link->words.at[0], strerror(errno));
    close(in[0]);
    close(out[1]);
    close(err[1]);
    channel_open(job, &link->channel, out[0], in[1], link_ready);
    link->err = (struct source){ .ready = error_ready, .fd = err[0], .rank = -1 };
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    source_add(job, &link->err);
    link->state = LINK_STARTING;
}

void far_reaped(struct job *job, pid_t pid, int status)
{
    for (int i = 0; job->links && i < job->nodes.count; i++) {
        struct link *link = &job->links[i];
        if (link->pid != pid || link->state == LINK_NONE)
            continue;
        link->pid = 0;
        link->status = status;
        if (link->has_ended && link->state != LINK_OVER)
            over(job, link);
    }
}

bool far_is_way(const struct job *job, pid_t pid)
{
    for (int i = 0; job->links && i < job->nodes.count; i++)
        if (job->links[i].pid == pid)
            return true;
    return false;
}

void far_look(struct job *job)
{
    for (int i = 0; i < job->nodes.count; i++) {
        struct link *link = &job->links[i];
        if (link->has_ended && link->state != LINK_OVER)
            over(job, link);
    }
}

/* All can start, or some cannot and the others had time to say the same. */
static bool is_settled(struct job *job)
{
    bool is_ready = true, has_failed = false;

    for (int i = 0; i < job->nodes.count; i++) {
        is_ready &= job->links[i].state == LINK_NONE || job->links[i].state == LINK_READY;
        has_failed |= job->links[i].state == LINK_OVER;
    }
    return is_ready || (has_failed && !job->timers[TIMER_LINKS]);
}

void far_late(struct job *job)
{
    char how[64];

    snprintf(how, sizeof how, "has not answered within %g s", job->options.launch_limit);
    for (int i = 0; i < job->nodes.count; i++)
        if (job->links[i].state == LINK_STARTING || job->links[i].state == LINK_GREETED)
            cannot_start(job, &job->links[i], how);
}

/* What all those have said that cannot start. */
static void tell_refusals(const struct job *job)
{
    int exit_code = 0;

    for (int i = 0; i < job->nodes.count; i++) {
        const struct refusal *refusal = &job->links[i].refusal;
        if (!refusal->exit_code)
            continue;
        complain(refusal->text);
        exit_code = exit_code ? exit_code : refusal->exit_code;
    }
    for (int i = 0; i < job->nodes.count && exit_code; i++)
        link_signal(&job->links[i], SIGTERM);
    if (exit_code)
        exit(exit_code);
}

/* Without other wishes as many processes as there are processors where ranks are, and slots elsewhere. */
static void add_universe(struct job *job)
{
    uint32_t cpus = ranks_here(job) > 0 ? job->head->cpus : 0;

    for (int i = 0; i < job->nodes.count; i++)
        cpus += job->nodes.at[i].ranks > 0 ? job->links[i].cpus : (uint32_t)job->nodes.at[i].slots;
    if (!job->options.universe)
        job->head->universe = cpus;
}

/* What makes no sense over machines, before anything is started there. */
static void check_options(const struct job *job)
{
    const enum debug_tool tool = job->options.debug.tool;

    for (int rank = 0; rank < job->size; rank++)
        if (is_far(job, rank) && job->ranks[rank].has_tool && (tool == DEBUG_GDB || tool == DEBUG_GDBSERVER))
            die(EXIT_USAGE, "E0153: %s works on this machine only, and rank %d is on %s",
                tool == DEBUG_GDB ? "--gdb" : "--gdbserver", rank, job->nodes.at[job->ranks[rank].node].name);
}

/* One that has failed before may work now. */
void far_need(struct job *job, int node)
{
    struct link *link = job->links ? &job->links[node] : NULL;

    if (node == job->nodes.here || (link->state != LINK_NONE && (link->state != LINK_OVER || link->pid)))
        return;
    bytes_free(&link->said);
    bytes_free(&link->line);
    *link = (struct link){ .node = node, .channel = { .in.fd = -1, .out.fd = -1 }, .err.fd = -1, .is_late = true };
    start_link(job, link);
    if (job->options.launch_limit > 0)
        timer_set(job, TIMER_LAUNCH, job->options.launch_limit);
}

void far_start(struct job *job)
{
    if (job->nodes.count == 1)
        return;
    check_options(job);
    job->folder = job_text_folder();
    job->links = need((size_t)job->nodes.count * sizeof *job->links);
    for (int i = 0; i < job->nodes.count; i++) {
        job->links[i] = (struct link){ .node = i, .channel = { .in.fd = -1, .out.fd = -1 }, .err.fd = -1 };
        if (i != job->nodes.here && job->nodes.at[i].ranks > 0)
            start_link(job, &job->links[i]);
    }
    if (job->options.launch_limit > 0)
        timer_set(job, TIMER_LAUNCH, job->options.launch_limit);
    loop_until(job, is_settled);
    job->timers[TIMER_LAUNCH] = 0;
    tell_refusals(job);
    add_universe(job);
}
