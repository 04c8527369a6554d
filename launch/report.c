/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: messages. They are kept for 50 ms, so that many ranks saying the same make one message:
 *
 *   parley: ranks 0-3, 7 (5): E0123: cause with its values
 *           remedy
 *
 * Errors of ranks that differ in numbers only, as those of their peers, are one message as well. The remedy is that
 * of the catalogue (base/diagnostic.h), unless the message brings one. */
#include "launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "base/diagnostic.h"

#define MERGE_SECONDS 0.05
#define INDENT        "        "

enum { TEXT_SIZE = 4200 };

/* Equal, or different in numbers only, addresses among them. */
static bool is_similar(const char *a, const char *b)
{
    static const char number[] = "0123456789abcdefx"; /* once it has begun with a digit */

    if (diagnostic_id(a) != diagnostic_id(b))
        return false;
    while (*a && *b) {
        if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
            a += strspn(a, number);
            b += strspn(b, number);
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

static struct note *find_note(struct job *job, const char *text)
{
    for (int i = 0; i < job->note_count; i++)
        if (!job->notes[i].is_printed && !strcmp(job->notes[i].text, text))
            return &job->notes[i];
    return NULL;
}

static struct note *find_error(struct job *job, const char *text, bool is_printed)
{
    for (int i = 0; i < job->note_count; i++) {
        struct note *note = &job->notes[i];
        if (note->is_error && !note->is_echo && note->is_printed == is_printed && is_similar(note->text, text))
            return note;
    }
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
    *note = (struct note){ .text = need_text(text) };
    return note;
}

static void add_rank(struct job *job, struct note *note, int rank)
{
    note->ranks = need_more(note->ranks, ((size_t)note->count + 1) * sizeof *note->ranks);
    note->ranks[note->count++] = rank;
    timer_set(job, TIMER_REPORT, MERGE_SECONDS);
}

void report_text(struct job *job, int rank, const char *text)
{
    struct note *note = job->root ? NULL : find_note(job, text);

    if (job->root)
        agent_note(job, rank, text);
    else
        add_rank(job, note ? note : add_note(job, text), rank);
}

/* Comes too late to be printed with those that say the same. */
static struct note *find_echo(struct job *job, const struct note *printed)
{
    char text[128], name[RANK_NAME_SIZE];
    struct note *note;

    snprintf(text, sizeof text, "%.*sthe same as %s", diagnostic_id(printed->text) ? DIAGNOSTIC_ID_LENGTH : 0,
             printed->text, rank_name(job, printed->ranks[0], name));
    note = find_note(job, text);
    if (!note)
        note = add_note(job, text);
    note->is_echo = true;
    return note;
}

void report_error(struct job *job, int rank, const char *text)
{
    struct note *note = find_error(job, text, false);
    const struct note *printed = note ? NULL : find_error(job, text, true);

    if (note)
        note->is_varied = note->is_varied || strcmp(note->text, text) != 0;
    else if (printed)
        note = find_echo(job, printed);
    else
        (note = add_note(job, text))->is_error = true;
    add_rank(job, note, rank);
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

/* A text of limited size. */
struct words {
    char *at;
    size_t size, used;
};

static void PRINTF_LIKE(2, 3) add_words(struct words *words, const char *format, ...)
{
    const size_t left = words->size - words->used;
    va_list args;

    va_start(args, format);
    words->used += size_min((size_t)vsnprintf(words->at + words->used, left, format, args), left - 1);
    va_end(args);
}

/* Those from number `from` to before `to`, which are of one world. */
static void write_world(struct job *job, const struct note *note, int from, int to, struct words *words)
{
    const struct world *world = job->ranks[note->ranks[from]].world;
    const int end = to;
    const char *separator = "";

    add_words(words, note->ranks[from] == note->ranks[to - 1] ? "rank " : "ranks ");
    for (; from < end; from = to) {
        for (to = from + 1; to < end && note->ranks[to] - note->ranks[to - 1] <= 1; to++) {
        }
        if (words->size - words->used < 90) {
            add_words(words, " and more");
            break;
        }
        add_words(words, "%s%d", separator, job->ranks[note->ranks[from]].number);
        if (note->ranks[to - 1] != note->ranks[from])
            add_words(words, "-%d", job->ranks[note->ranks[to - 1]].number);
        separator = ", ";
    }
    if (world->number)
        add_words(words, " of spawned world %d", world->number);
}

/* "rank 3", "ranks 0-3, 7 (5)", "ranks 0-1, rank 0 of spawned world 2 (3)", "mpiexec" into `text`. Sorts the ranks. */
static void write_ranks(struct job *job, struct note *note, char *text, size_t size)
{
    struct words words = { text, size, 0 };

    qsort(note->ranks, (size_t)note->count, sizeof *note->ranks, compare);
    if (note->ranks[0] < 0) {
        snprintf(text, size, "mpiexec");
        return;
    }
    for (int from = 0, to; from < note->count && size - words.used > 60; from = to) {
        for (to = from + 1; to < note->count &&
                            job->ranks[note->ranks[to]].world == job->ranks[note->ranks[from]].world; to++) {
        }
        if (from)
            add_words(&words, ", ");
        write_world(job, note, from, to, &words);
    }
    if (note->count > 1)
        add_words(&words, " (%d)", note->count);
}

/* Text, then what stands behind it, each line but the first indented. */
static void write_note(FILE *out, const struct note *note, const char *ranks, const char *first_rank)
{
    const bool has_more = note->is_echo || strchr(note->text, '\n');
    const char *remedy = has_more ? NULL : diagnostic_remedy(diagnostic_id(note->text));

    fprintf(out, "parley: %s: ", ranks);
    for (const char *at = note->text; *at; at++) {
        fputc(*at, out);
        if (*at == '\n' && at[1])
            fputs(INDENT, out);
    }
    if (!*note->text || note->text[strlen(note->text) - 1] != '\n')
        fputc('\n', out);
    if (note->is_varied)
        fprintf(out, INDENT "(so %s; in what the others say only numbers differ)\n", first_rank);
    if (remedy)
        fprintf(out, INDENT "%s\n", remedy);
}

static void print_note(struct job *job, struct note *note)
{
    const int first_rank = note->ranks[0];
    char ranks[256], name[RANK_NAME_SIZE], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        die(EXIT_SYSTEM, "E0106: no memory for a message");
    write_ranks(job, note, ranks, sizeof ranks);
    write_note(out, note, ranks, first_rank < 0 ? "mpiexec" : rank_name(job, first_rank, name));
    if (fclose(out))
        die(EXIT_SYSTEM, "E0106: no memory for a message");
    forward_print(job, text);
    free(text);
    note->is_printed = true;
}

void report_print(struct job *job)
{
    for (int i = 0; i < job->note_count; i++)
        if (!job->notes[i].is_printed)
            print_note(job, &job->notes[i]);
}
