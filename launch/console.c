/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: one prompt for the gdbs of several ranks. A line goes to all of them, or to those chosen:
 *
 *   bt            to the chosen ranks, at first all
 *   @1 bt         to rank 1 this time;  @0,2-3 print x
 *   @1            from now on to rank 1;  @all
 *
 * When all that were asked are at their prompt again, what they wrote is printed, equal texts once: "[0-2] ...". While
 * some run on, and people look on, what has come so far is printed every now and then. A gdb knows nothing of this: its
 * stdin is a pipe of ours, and its prompt a mark that no program writes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch.h"

#define PROMPT       "\035parley\035"
#define LOOK_SECONDS 0.3

enum { READ_SIZE = 65536, RANGES_SIZE = 128 };

/* The gdb of one rank. */
struct member {
    struct source source; /* what it and its program write */
    int in;               /* its stdin */
    char *text;           /* written and not printed yet */
    size_t length, room;
    bool is_at_prompt, is_chosen, is_over;
    bool is_printed;      /* in the round of printing that is under way */
};

struct console {
    struct member *members; /* by rank; those without gdb have is_over set */
    struct source in;
    char *line;             /* of stdin, not complete or not sent yet */
    size_t length, room;
    char *last;             /* an empty line repeats it */
    bool has_people, is_watched, is_unwatchable, is_at_end, has_prompt;
};

void console_add_words(struct strings *words)
{
    static const char *const commands[] = {
        "set prompt " PROMPT, "set confirm off", "set pagination off", "set height 0", "set width 0",
        "set style enabled off", "set breakpoint pending on",
        /* the program must not read our commands */
        "set exec-wrapper sh -c 'exec \"$0\" \"$@\" </dev/null'",
    };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        strings_add(words, "-iex");
        strings_add(words, (char *)(uintptr_t)commands[i]);
    }
}

static void append(char **text, size_t *length, size_t *room, const char *data, size_t size)
{
    if (*length + size + 1 > *room) {
        *room = size_max(*room * 2, *length + size + 1);
        *text = need_more(*text, *room);
    }
    memcpy(*text + *length, data, size);
    *length += size;
    (*text)[*length] = '\0';
}

static bool is_waiting(const struct member *m)
{
    return !m->is_over && m->is_chosen && !m->is_at_prompt;
}

static bool is_any(const struct job *job, bool (*is)(const struct member *))
{
    for (int i = 0; i < job->size; i++)
        if (is(&job->console->members[i]))
            return true;
    return false;
}

static bool is_alive(const struct member *m)
{
    return !m->is_over;
}

/* "0-2,5": those for which `is`. */
static void write_ranges(const struct job *job, bool (*is)(const struct member *), char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int from = 0, to; from < job->size && size - used > 32; from = to) {
        to = from + 1;
        if (!is(&job->console->members[from]))
            continue;
        while (to < job->size && is(&job->console->members[to]))
            to++;
        used += (size_t)snprintf(text + used, size - used, to - 1 > from ? "%s%d-%d" : "%s%d", used ? "," : "",
                                 from, to - 1);
    }
}

static bool is_in_print(const struct member *m)
{
    return m->is_printed;
}

/* Each line of `text` with the ranks that have written it. */
static void print_text(struct job *job, const char *text)
{
    char ranks[RANGES_SIZE];

    write_ranges(job, is_in_print, ranks, sizeof ranks);
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        char *line = NULL;
        if (asprintf(&line, "[%s] %.*s\n", ranks, length, text) < 0)
            die(EXIT_SYSTEM, "E0106: no memory for the output of gdb");
        forward_write(job, line);
        free(line);
        text += length + (text[length] == '\n');
    }
}

/* What all have written so far; equal texts once. */
static void print_all(struct job *job)
{
    struct member *members = job->console->members;

    if (job->console->has_prompt)
        forward_write(job, "\n");
    job->console->has_prompt = false;
    for (int i = 0; i < job->size; i++) {
        if (!members[i].length)
            continue;
        for (int k = 0; k < job->size; k++)
            members[k].is_printed = k >= i && members[k].length == members[i].length &&
                                    !memcmp(members[k].text, members[i].text, members[i].length);
        print_text(job, members[i].text);
        for (int k = job->size - 1; k >= i; k--)
            if (members[k].is_printed)
                members[k].length = 0;
    }
}

static bool has_text(const struct member *m)
{
    return m->length > 0;
}

static void watch_stdin(struct job *job, bool is_wanted)
{
    struct console *c = job->console;
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = &c->in };

    if (is_wanted == c->is_watched || c->is_unwatchable || c->is_at_end)
        return;
    c->is_watched = is_wanted;
    if (epoll_ctl(job->epoll_fd, is_wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, STDIN_FILENO, &event))
        c->is_unwatchable = errno == EPERM; /* a file: always there to be read */
}

/* --- commands --- */

static void send_line(struct member *m, const char *line)
{
    char *text = NULL;
    const int size = asprintf(&text, "%s\n", line);

    if (size < 0)
        die(EXIT_SYSTEM, "E0106: no memory for a command");
    m->is_at_prompt = false;
    if (write(m->in, text, (size_t)size) < size)
        m->is_at_prompt = true; /* it has gone, and its end is on the way */
    free(text);
}

/* Choose the ranks of "0,2-3" or "all"; false, and nothing has changed: it is no such list. */
static bool choose(struct job *job, const char *list, size_t length)
{
    char *text = strndup(list, length), *at = text;
    bool *chosen = need((size_t)job->size * sizeof *chosen), is_good = length > 0;

    for (int i = 0; i < job->size && !strcmp(text, "all"); i++)
        chosen[i] = true;
    while (*at && strcmp(text, "all") && is_good) {
        const long first = strtol(at, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        is_good = first >= 0 && first <= last && last < job->size && (!*at || *at == ',');
        for (long i = first; is_good && i <= last; i++)
            chosen[i] = true;
        at += *at == ',';
    }
    for (int i = 0; i < job->size && is_good; i++)
        job->console->members[i].is_chosen = chosen[i] && !job->console->members[i].is_over;
    mem_free(chosen);
    free(text);
    return is_good;
}

static void send_chosen(struct job *job, const char *line)
{
    for (int i = 0; i < job->size; i++) {
        struct member *m = &job->console->members[i];
        if (m->is_chosen && !m->is_over && m->is_at_prompt)
            send_line(m, line);
    }
}

/* "@RANKS command": to these only, this time. */
static void send_to(struct job *job, const char *line)
{
    const size_t length = strcspn(line + 1, " \t");
    const char *command = line + 1 + length + strspn(line + 1 + length, " \t");
    bool *before = need((size_t)job->size * sizeof *before);

    for (int i = 0; i < job->size; i++)
        before[i] = job->console->members[i].is_chosen;
    if (!choose(job, line + 1, length)) {
        forward_write(job, "parley: @RANKS [COMMAND]: ranks such as 0,2-3, or all\n");
    } else if (*command) {
        send_chosen(job, command);
        for (int i = 0; i < job->size; i++) /* who has been asked is waited for */
            job->console->members[i].is_chosen = before[i] || !job->console->members[i].is_at_prompt;
    }
    mem_free(before);
}

static void take_line(struct job *job, const char *line)
{
    struct console *c = job->console;

    c->has_prompt = false;
    if (*line == '@') {
        send_to(job, line);
        return;
    }
    if (*line || !c->has_people) {
        free(c->last);
        c->last = strdup(line);
    }
    send_chosen(job, c->last ? c->last : "");
}

/* Let the gdbs go: the end of our stdin is the end of theirs. */
static void end_input(struct job *job)
{
    struct console *c = job->console;

    watch_stdin(job, false);
    c->is_at_end = true;
    for (int i = 0; i < job->size; i++) {
        struct member *m = &c->members[i];
        if (m->in >= 0)
            close(m->in);
        m->in = -1;
    }
}

/* Take lines while nobody has anything to do. */
static void take_lines(struct job *job)
{
    struct console *c = job->console;
    char *newline;

    while (!is_any(job, is_waiting) && (newline = c->line ? strchr(c->line, '\n') : NULL)) {
        char *line = c->line;
        const size_t size = (size_t)(newline - line) + 1;
        char *command;
        *newline = '\0';
        command = strdup(line);
        c->length -= size;
        memmove(c->line, c->line + size, c->length + 1);
        take_line(job, command);
        free(command);
    }
}

static void read_stdin(struct job *job)
{
    struct console *c = job->console;
    char block[4096];
    const ssize_t got = read(STDIN_FILENO, block, sizeof block);

    if (got > 0)
        append(&c->line, &c->length, &c->room, block, (size_t)got);
    else if (got == 0 || errno != EINTR)
        end_input(job);
}

/* All are at their prompt: print, prompt, and read on. */
static void go_on(struct job *job)
{
    struct console *c = job->console;
    char ranks[RANGES_SIZE], prompt[RANGES_SIZE + 16];

    while (!c->is_at_end && !is_any(job, is_waiting) && is_any(job, is_alive)) {
        print_all(job);
        take_lines(job);
        if (is_any(job, is_waiting))
            break;
        if (c->has_people && !c->has_prompt) {
            write_ranges(job, is_alive, ranks, sizeof ranks);
            snprintf(prompt, sizeof prompt, "(gdb %s) ", ranks);
            forward_write(job, prompt);
            c->has_prompt = true;
        }
        watch_stdin(job, true);
        if (!c->is_unwatchable)
            return;
        read_stdin(job);
    }
    watch_stdin(job, false);
}

static void stdin_ready(struct job *job, struct source *source, uint32_t events)
{
    (void)source;
    (void)events;
    read_stdin(job);
    take_lines(job);
    go_on(job);
}

/* --- what the gdbs write --- */

static void take_prompts(struct member *m)
{
    char *mark;

    while (m->length && (mark = strstr(m->text, PROMPT))) {
        const size_t rest = m->length - (size_t)(mark - m->text) - strlen(PROMPT);
        memmove(mark, mark + strlen(PROMPT), rest + 1);
        m->length -= strlen(PROMPT);
        m->is_at_prompt = true;
    }
}

static void member_over(struct job *job, struct member *m)
{
    source_remove(job, &m->source);
    if (m->in >= 0)
        close(m->in);
    m->in = -1;
    m->is_over = true;
    job->streams_open--;
}

static void member_ready(struct job *job, struct source *source, uint32_t events)
{
    static char block[READ_SIZE]; /* only here, and empty between calls */
    struct member *m = CONTAINER_OF(source, struct member, source);
    const ssize_t got = read(source->fd, block, sizeof block);

    (void)events;
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0)
        member_over(job, m);
    else
        append(&m->text, &m->length, &m->room, block, (size_t)got);
    take_prompts(m);
    if (is_any(job, is_waiting) && job->console->has_people)
        timer_set(job, TIMER_CONSOLE, LOOK_SECONDS);
    if (!is_any(job, is_alive))
        print_all(job);
    else
        go_on(job);
}

void console_look(struct job *job)
{
    if (is_any(job, is_waiting) && is_any(job, has_text))
        print_all(job);
}

void console_open(struct job *job, int rank, int out_fd, int in_fd)
{
    struct member *m = &job->console->members[rank];

    *m = (struct member){ .source = { .ready = member_ready, .fd = out_fd, .rank = rank }, .in = in_fd,
                          .is_chosen = true };
    source_add(job, &m->source);
    job->streams_open++;
}

void console_init(struct job *job)
{
    struct console *c = job->console = need(sizeof *c);

    c->members = need((size_t)job->size * sizeof *c->members);
    for (int i = 0; i < job->size; i++)
        c->members[i] = (struct member){ .source.fd = -1, .in = -1, .is_over = true };
    c->in = (struct source){ .ready = stdin_ready, .fd = STDIN_FILENO, .rank = -1 };
    c->has_people = isatty(STDIN_FILENO);
}

void console_interrupt(struct job *job)
{
    for (int i = 0; i < job->size; i++)
        if (is_waiting(&job->console->members[i]))
            kill(job->ranks[i].pid, SIGINT); /* gdb alone: it stops its program */
}
