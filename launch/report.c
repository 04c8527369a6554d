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

/* A copy of a status page that was not being written meanwhile; false: no luck. */
static bool read_status(struct job_status *page, struct job_status *copy)
{
    for (int tries = 0; tries < 100; tries++) {
        const uint32_t before = atomic_load_explicit(&page->lock, memory_order_acquire);
        memcpy(copy, page, sizeof *copy);
        atomic_thread_fence(memory_order_acquire);
        if (!(before & 1) && atomic_load_explicit(&page->lock, memory_order_relaxed) == before)
            return true;
    }
    return false;
}

/* " from rank 3" and so on, into `text`. */
static void write_peer(const struct job_status *status, char *text, size_t size)
{
    const char *way = status->way == JOB_SENDING ? "to" : "from";

    *text = '\0';
    if (status->peer >= 0)
        snprintf(text, size, " %s rank %d", way, status->peer);
    else if (status->peer != JOB_NO_VALUE)
        snprintf(text, size, " %s any rank", way);
}

static void report_status(struct job *job, int rank, const struct job_status *status)
{
    char peer[48], tag[32] = "", count[200] = "";

    write_peer(status, peer, sizeof peer);
    if (status->tag >= 0)
        snprintf(tag, sizeof tag, ", tag %d", status->tag);
    else if (status->tag != JOB_NO_VALUE)
        snprintf(tag, sizeof tag, ", any tag");
    if (status->count >= 0)
        snprintf(count, sizeof count, ", %lld x %.128s", (long long)status->count,
                 *status->type_name ? status->type_name : "a datatype");
    report_rank(job, rank, "E0115: in %.64s%s%.128s%s%s%s, since %.1f s", status->call_name,
                *status->comm_name ? " on " : "", status->comm_name, peer, tag, count,
                (double)(now_ns() - status->since_ns) / 1e9);
}

/* Ranks that are not in MPI at all are not spoken of. */
void report_blocked(struct job *job)
{
    struct job_status status;

    for (int i = 0; i < job->size; i++) {
        struct job_proc *proc = job_proc(job->head, i);
        if (job->ranks[i].is_over || atomic_load_explicit(&proc->state, memory_order_relaxed) != JOB_INITIALISED ||
            !read_status(&proc->status, &status))
            continue;
        if (status.way != JOB_NOT_BLOCKED)
            report_status(job, i, &status);
        else
            report_rank(job, i, "E0116: not blocked in MPI");
    }
}
