/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: which files the output of a rank goes to, and what stands before its lines, by patterns:
 *
 *   %r %t  rank; %3r with at least three digits; %0r with as many as the largest rank has; 2.0 is rank 0 of spawned
 *          world 2
 *   %h %N  host    %u  user    %x  program    %j %J %A  job    %g %n %p %s %a  0    %%  a percent sign
 *
 * Files are opened before the first rank starts, so that what is wrong is told then, those of later worlds with them.
 * Ranks with the same name share the file, by whole lines. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch.h"

enum { VALUE_SIZE = 256, MAX_WIDTH = 20 };

static const char *program_name(const struct job *job, int rank)
{
    const char *path = job->ranks[rank].app->argv.at[0], *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int digits_of(int number)
{
    return snprintf(NULL, 0, "%d", number);
}

static void write_host(const struct job *job, int rank, char *value)
{
    struct utsname system;
    const char *name = job->nodes.at[job->ranks[rank].node].name;

    uname(&system);
    if (!is_far(job, rank))
        name = system.nodename;
    snprintf(value, VALUE_SIZE, "%.*s", (int)strcspn(name, isdigit((unsigned char)*name) ? "" : "."), name);
}

/* What `letter` stands for; false: nothing. `width` -1: not said. */
static bool write_value(const struct job *job, int rank, char letter, int width, char *value)
{
    const char *text;

    switch (letter) {
    case 'r':
    case 't':
        if (rank >= job->size)
            snprintf(value, VALUE_SIZE, "%d.%d", job->ranks[rank].world->number, job->ranks[rank].number);
        else
            snprintf(value, VALUE_SIZE, "%0*d",
                     width == 0  ? digits_of(job->size - 1)
                     : width < 0 ? 1
                                 : width,
                     rank);
        return true;
    case 'h':
    case 'N': write_host(job, rank, value); return true;
    case 'u':
        text = getenv("USER");
        snprintf(value, VALUE_SIZE, "%s", text && *text ? text : "user");
        return true;
    case 'x': snprintf(value, VALUE_SIZE, "%s", program_name(job, rank)); return true;
    case 'j':
    case 'J':
    case 'A':
        text = getenv("SLURM_JOB_ID");
        if (text && *text)
            snprintf(value, VALUE_SIZE, "%s", text);
        else
            snprintf(value, VALUE_SIZE, "%d", (int)getpid());
        return true;
    case 'g':
    case 'n':
    case 'p':
    case 's':
    case 'a': snprintf(value, VALUE_SIZE, "%0*d", width < 1 ? 1 : width, 0); return true;
    case '%': strcpy(value, "%"); return true;
    default: return false;
    }
}

char *output_expand(const struct job *job, int rank, const char *pattern)
{
    char *text = need(1), value[VALUE_SIZE];
    size_t used = 0;

    for (const char *at = pattern; *at; at++) {
        const size_t digits = *at == '%' ? strspn(at + 1, "0123456789") : 0;
        const long width = digits ? strtol(at + 1, NULL, 10) : -1;
        if (*at == '%' &&
            write_value(job, rank, at[1 + digits], width < MAX_WIDTH ? (int)width : MAX_WIDTH, value))
            at += 1 + digits;
        else
            snprintf(value, sizeof value, "%c", *at);
        text = need_more(text, used + strlen(value) + 1);
        strcpy(text + used, value);
        used += strlen(value);
    }
    return text;
}

/* Make the directories that `path` lies in. */
static void make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0777) && errno != EEXIST)
            die(EXIT_SYSTEM, "E0130: the directory %s for the output of the ranks: %s", path,
                strerror(errno));
        *slash = '/';
    }
}

static struct sink *find_file(const struct job *job, const char *path)
{
    for (int i = job->file_count - 1; i >= 0; i--)
        if (!strcmp(job->files[i]->path, path))
            return job->files[i];
    return NULL;
}

/* The file for a rank by `pattern`, opened if it is not yet. */
static void open_file(struct job *job, int rank, const char *pattern)
{
    char *path = output_expand(job, rank, pattern);
    struct sink *sink;
    int fd;

    if (find_file(job, path)) {
        mem_free(path);
        return;
    }
    make_directories(path);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0)
        die(EXIT_SYSTEM, "E0130: the file %s for the output of the ranks: %s", path, strerror(errno));
    sink = need(sizeof *sink);
    sink_init(sink, fd);
    sink->path = path;
    if (job->file_count == job->file_room) {
        job->file_room = job->file_room * 2 + 16;
        job->files = need_more(job->files, (size_t)job->file_room * sizeof *job->files);
    }
    job->files[job->file_count++] = sink;
}

static bool is_shown(const struct options *options, int rank)
{
    return options->only_rank < 0 || options->only_rank == rank;
}

void output_open(struct job *job)
{
    const struct options *options = &job->options;

    for (int rank = 0; rank < job->size; rank++) {
        if (options->out_pattern && is_shown(options, rank))
            open_file(job, rank, options->out_pattern);
        if (options->err_pattern && is_shown(options, rank) && !options->merge)
            open_file(job, rank, options->err_pattern);
    }
}

void output_place(struct job *job, int rank, bool is_error, struct stream *stream)
{
    const struct options *options = &job->options;
    const char *pattern = is_error ? options->err_pattern : options->out_pattern;

    if (options->prefix)
        stream->prefix = output_expand(job, rank, options->prefix);
    else if (options->label)
        stream->prefix = output_expand(job, rank, "[%r] ");
    if (pattern) {
        char *path = output_expand(job, rank, pattern);
        if (rank >= job->size)
            open_file(job, rank, pattern);
        stream->copy = options->copy ? stream->sink : NULL;
        stream->sink = find_file(job, path);
        mem_free(path);
    }
}
