/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: messages. They are kept for 50 ms, so that many ranks saying the same make one message:
 *
 *   parley: ranks 0-3, 7: E0123: cause with its values
 *           remedy
 */
#include "launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MERGE_SECONDS 0.05

enum { TEXT_SIZE = 4200 };

static struct note *find_note(struct job *job, const char *text)
{
    for (int i = 0; i < job->note_count; i++)
        if (!job->notes[i].is_printed && !strcmp(job->notes[i].text, text))
            return &job->notes[i];
    return NULL;
}

static struct note *add_note(struct job *job, const char *text)
{
    struct note *note;

    if (job->note_count == job->note_room) {
        job->note_room = job->note_room * 2 + 8;
        job->notes = need_more(job->notes, (size_t)job->note_room * sizeof *job->notes);
    }
    note = &job->notes[job->note_count++];
    *note = (struct note){ .text = need(strlen(text) + 1) };
    strcpy(note->text, text);
    return note;
}

void report_text(struct job *job, int rank, const char *text)
{
    struct note *note = find_note(job, text);

    if (!note)
        note = add_note(job, text);
    note->ranks = need_more(note->ranks, ((size_t)note->count + 1) * sizeof *note->ranks);
    note->ranks[note->count++] = rank;
    timer_set(job, TIMER_REPORT, MERGE_SECONDS);
}

void report_rank(struct job *job, int rank, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    if (job->options.quiet)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    report_text(job, rank, text);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* "rank 3", "ranks 0-3, 7", "mpiexec" into `text`. */
static void write_ranks(struct note *note, char *text, size_t size)
{
    const char *separator = "";
    size_t used;

    qsort(note->ranks, (size_t)note->count, sizeof *note->ranks, compare);
    if (note->ranks[0] < 0) {
        snprintf(text, size, "mpiexec");
        return;
    }
    used = (size_t)snprintf(text, size, "%s ",
                            note->ranks[0] == note->ranks[note->count - 1] ? "rank" : "ranks");
    for (int from = 0, to; from < note->count; from = to) {
        for (to = from + 1; to < note->count && note->ranks[to] - note->ranks[to - 1] <= 1; to++) {
        }
        if (size - used < 40) {
            snprintf(text + used, size - used, " and more");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%d", separator, note->ranks[from]);
        if (note->ranks[to - 1] != note->ranks[from])
            used += (size_t)snprintf(text + used, size - used, "-%d", note->ranks[to - 1]);
        separator = ", ";
    }
}

static void print_note(struct job *job, struct note *note)
{
    static const char indent[] = "        ";
    char ranks[256];
    const size_t size = strlen(note->text) + sizeof ranks + 32;
    size_t lines = 1, used;
    char *text;

    for (const char *at = note->text; (at = strchr(at, '\n')); at++)
        lines++;
    text = need(size + lines * sizeof indent);
    write_ranks(note, ranks, sizeof ranks);
    used = (size_t)sprintf(text, "parley: %s: ", ranks);
    for (const char *at = note->text; *at; at++) {
        text[used++] = *at;
        if (*at == '\n' && at[1])
            used += (size_t)sprintf(text + used, "%s", indent);
    }
    if (text[used - 1] != '\n')
        strcpy(text + used, "\n");
    forward_print(job, text);
    mem_free(text);
    note->is_printed = true;
}

void report_print(struct job *job)
{
    for (int i = 0; i < job->note_count; i++)
        if (!job->notes[i].is_printed)
            print_note(job, &job->notes[i]);
}
