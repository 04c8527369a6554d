/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --agent: processes that are started later (spawning.h). Every agent enters every world, so that all machines
 * agree about places; it starts those processes that are to be here. */
#include <string.h>

#include "agent.h"
#include "base/mem.h"
#include "job_text.h"
#include "launch.h"
#include "spawning.h"

/* The world that is to be started next; there is none if it has no number. */
static struct world_text waiting;

/* What has been read of a world that is not entered. */
static void drop(struct world_text *text, bool with_programs)
{
    if (with_programs) {
        call_free_apps(text->world->apps, text->world->app_count);
        mem_free(text->world->request);
    }
    mem_free((void *)(uintptr_t)text->world);
    mem_free((void *)(uintptr_t)text->node_of);
    mem_free(text->tenant);
    mem_free(text->contexts);
    *text = (struct world_text){ 0 };
}

static bool is_own(const struct job *job, const struct world_text *text, int number)
{
    return text->node_of[number] == job->nodes.here;
}

static void enter(struct job *job, const struct world_text *text)
{
    const struct world *world = text->world;

    job->worlds = world->number - 1;
    worlds_add(job, world, text->node_of);
    for (int i = 0; i < world->size; i++) {
        struct job_desk *desk = job_desk(job->head, world->first + i);
        job_proc(job->head, world->first + i)->tenant = text->tenant[i];
        desk->hold = text->tenant[i] != 0;
        desk->contexts[0] = text->contexts[i][0];
        desk->contexts[1] = text->contexts[i][1];
    }
}

/* The programs of those that are to be here. */
static bool prepare(struct job *job, const struct world_text *text, struct refusal *refusal)
{
    const struct world *world = text->world;

    for (int i = 0, first = 0; i < world->app_count; first += world->apps[i++].ranks) {
        bool is_here = false;

        for (int number = first; number < first + world->apps[i].ranks; number++)
            is_here |= is_own(job, text, number);
        if (is_here && !spawning_prepare(job, &world->apps[i], world->number, refusal))
            return false;
    }
    return true;
}

bool agent_take_world(struct job *job, const char *data, size_t size)
{
    struct refusal refusal = { 0 };
    struct world_text text;
    char *copy = need(size);

    memcpy(copy, data, size);
    if (!job_text_read_world(job, &text, copy, size) || waiting.world)
        return false;
    if (!text.is_new) {
        enter(job, &text);
        drop(&text, false);
        return true;
    }
    waiting = text;
    if (prepare(job, &text, &refusal))
        agent_put(job, -1, FRAME_READY, 0, NULL, 0);
    else
        agent_refuse(job, -1, &refusal);
    return true;
}

/* After one that cannot be started no other is tried. */
static void start(struct job *job, const struct world_text *text)
{
    struct refusal refusal = { 0 };

    for (int i = 0; i < text->world->size; i++) {
        const int place = text->world->first + i;
        if (!is_own(job, text, i))
            continue;
        spawning_fill_desk(job, place, text->parent, text->call);
        if (!refusal.exit_code && spawn_rank(job, place, &refusal)) {
            agent_started(job, place, job->ranks[place].pid);
            continue;
        }
        job->ranks[place].is_over = true;
        agent_refuse(job, place, &refusal);
        refusal.text[0] = 0;
    }
    address_watch(job);
}

void agent_take_go(struct job *job, bool is_wanted)
{
    if (!waiting.world)
        return;
    if (is_wanted) {
        enter(job, &waiting);
        start(job, &waiting);
    }
    drop(&waiting, !is_wanted);
}

void agent_tell_links(struct job *job)
{
    for (int place = 0; place < job->used; place++) {
        const struct job_desk *desk = job_desk(job->head, place);
        struct frame_linked linked;
        if (is_far(job, place) || job->ranks[place].world->number < 0)
            continue;
        memcpy(linked.contexts, (const void *)desk->contexts, sizeof linked.contexts);
        memcpy(linked.links, (const void *)desk->links, sizeof linked.links);
        agent_put(job, place, FRAME_LINKED, !worlds_is_done_with(job, place), &linked, sizeof linked);
    }
    agent_put(job, -1, FRAME_LINKED, 0, NULL, 0);
}

bool agent_take_call(struct job *job, const struct frame *frame, const char *data)
{
    struct frame_answer answer;
    struct frame_visit visit;

    if (frame->kind == FRAME_VISIT) {
        memcpy(&visit, data, sizeof visit);
        if (visit.visitor < 0 || visit.visitor >= JOB_VISITORS)
            return false;
        if (!calls_visit(job, frame->rank, &visit))
            agent_put(job, frame->rank, FRAME_UNVISITED, (uint32_t)visit.visitor, &visit.number, sizeof visit.number);
    } else if (frame->kind == FRAME_LEAVE) {
        if (frame->value >= JOB_VISITORS)
            return false;
        calls_leave(job, frame->rank, (int)frame->value);
    } else {
        memcpy(&answer, data, sizeof answer);
        if (answer.slot < 0 || answer.slot >= JOB_CALLS)
            return false;
        calls_answer(job, frame->rank, &answer);
    }
    return true;
}
