/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpiexec and its agents on other machines read from each other. The first byte says what the rest is: frames from
 * one of the two sides, the job as an agent gets it, or processes that are started later. */
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "fuzz.h"
#include "job_text.h"
#include "options.h"

enum { RANKS = 8, SLOTS = 40 };

/* --- what job_text.c uses of mpiexec --- */

/* What is had in one run is given back after it. */
static struct piece {
    struct piece *next;
    uint64_t align;
} *pieces;

void *need(size_t size)
{
    struct piece *piece = calloc(1, sizeof *piece + size);

    MUST(piece);
    piece->next = pieces;
    pieces = piece;
    return piece + 1;
}

void strings_add(struct strings *strings, char *text)
{
    char **old = strings->at;

    if (strings->count + 2 > strings->room) {
        strings->room = strings->room * 2 + 16;
        strings->at = need(strings->room * sizeof *strings->at);
        if (old)
            memcpy(strings->at, old, strings->count * sizeof *old);
    }
    strings->at[strings->count++] = text;
}

/* Of values that cannot be mpiexec would end by itself. */
void bind_option(struct binding *binding, const char *option, const char *value)
{
    (void)binding;
    MUST(strlen(option) + (value ? strlen(value) : 0) < SIZE_MAX);
}

bool options_is_ranks(const char *text)
{
    return *text != 'x';
}

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
    (void)bytes;
    (void)data;
    (void)size;
}

/* --- */

static void give_back(void)
{
    while (pieces) {
        struct piece *piece = pieces;

        pieces = piece->next;
        free(piece);
    }
}

static void read_frames(enum frame_side side, const char *data, size_t size)
{
    struct frame frame;
    long length;

    while ((length = frame_next(side, RANKS, data, size, &frame)) > 0) {
        MUST((size_t)length <= size && (size_t)length == sizeof frame + frame.length);
        MUST(frame.kind >= FRAME_JOB && frame.kind < FRAME_KINDS && frame.rank >= -1 && frame.rank < RANKS);
        data += length;
        size -= (size_t)length;
    }
}

/* Whatever comes, what is taken fits together. */
static void read_job(const uint8_t *data, size_t size)
{
    struct job *job = calloc(1, sizeof *job);
    struct orders orders = { 0 };
    char *copy = malloc(size + 1);
    int ranks = 0;

    MUST(job && copy);
    memcpy(copy, data, size);
    if (job_text_read(job, &orders, copy, size)) {
        for (int i = 0; i < job->options.app_count; i++) {
            MUST(job->options.apps[i].argv.count > 0);
            ranks += job->options.apps[i].ranks;
        }
        MUST(ranks == job->size && ranks <= orders.slots && job->nodes.here < job->nodes.count);
        for (int i = 0; i < ranks; i++)
            MUST(orders.node_of[i] >= 0 && orders.node_of[i] < job->nodes.count);
    }
    give_back();
    free(copy);
    free(job);
}

/* The same of a world: its processes have places, and machines of the job. */
static void read_world(const uint8_t *data, size_t size)
{
    struct job_head head = { .slots = SLOTS };
    struct job job = { .head = &head, .size = RANKS, .nodes.count = 3 };
    struct world_text text;
    char *copy = malloc(size + 1);
    int ranks = 0;

    MUST(copy);
    memcpy(copy, data, size);
    if (job_text_read_world(&job, &text, copy, size)) {
        const struct world *world = text.world;

        for (int i = 0; i < world->app_count; i++) {
            MUST(world->apps[i].argv.count > 0);
            ranks += world->apps[i].ranks;
        }
        MUST(ranks == world->size && world->first >= RANKS && world->first + ranks <= SLOTS);
        MUST(text.parent >= 0 && text.parent < SLOTS);
        for (int i = 0; i < ranks; i++)
            MUST(text.node_of[i] >= 0 && text.node_of[i] < 3);
    }
    give_back();
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *words;
    char line[FRAME_HELLO_SIZE];

    if (size == 0)
        return 0;
    MUST(frame_is_hello(*data & 1, (frame_write_hello(*data & 1, line), line), &words));
    if (*data == 'j')
        read_job(data + 1, size - 1);
    else if (*data == 'w')
        read_world(data + 1, size - 1);
    else
        read_frames(*data & 1, (const char *)data + 1, size - 1);
    return 0;
}
