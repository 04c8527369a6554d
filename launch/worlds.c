/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: processes that ranks have started (MPI_Comm_spawn), beside those of the command line: their places in the
 * job segment, what they are called, and who of all is connected with whom (MPI 5.0 §11.10.4).
 *
 * A place is had again by others when its process has ended in order and so have the others of its world (they may
 * still have to read what it has sent them), all of its output has come, and nobody has a communicator with it any
 * more; but those that nobody has had yet go first. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch.h"
#include "slots.h"

const char *rank_name(const struct job *job, int rank, char name[RANK_NAME_SIZE])
{
    const struct rank *r = &job->ranks[rank];

    if (r->world->number < 0)
        snprintf(name, RANK_NAME_SIZE, "process %d of another job", (int)job_proc(job->head, rank)->abroad.home);
    else if (r->world->number)
        snprintf(name, RANK_NAME_SIZE, "rank %d of spawned world %d", r->number, r->world->number);
    else
        snprintf(name, RANK_NAME_SIZE, "rank %d", r->number);
    return name;
}

/* --- places --- */

/* Has somebody still a communicator with the process that had this place? */
static bool is_linked(const struct job *job, int place)
{
    for (int i = 0; i < job->used; i++)
        if (!job->ranks[i].is_over && slots_has(job_desk(job->head, i)->links, place))
            return true;
    return false;
}

static bool is_connected(const struct job *job, int place)
{
    for (int i = 0; i < job->guest_count; i++)
        if (job->guests[i]->fd >= 0 && job->guests[i]->rank == place)
            return true;
    return false;
}

bool worlds_is_done_with(const struct job *job, int place)
{
    const struct rank *r = &job->ranks[place];

    return r->control.fd < 0 && r->out.source.fd < 0 && r->err.source.fd < 0 && !r->out.is_far && !r->err.is_far &&
           !is_connected(job, place);
}

/* All that are in places of this world still; others may have taken some. */
static bool is_world_over(const struct job *job, const struct world *world)
{
    for (int i = world->first; i < world->first + world->size; i++)
        if (job->ranks[i].world == world && !job->ranks[i].is_over)
            return false;
    return true;
}

static bool is_free(const void *arg, int place)
{
    const struct job *job = arg;
    const struct rank *r = &job->ranks[place];

    if (place >= job->used)
        return true;
    return place >= job->size && is_world_over(job, r->world) && r->is_clean && !r->end.is_held &&
           worlds_is_done_with(job, place) && !r->is_used_there && !is_linked(job, place);
}

int worlds_find_room(struct job *job, int size)
{
    return slots_find(is_free, job, job->used, job->size, (int)job->head->slots, size);
}

int worlds_room(struct job *job)
{
    return slots_longest(is_free, job, job->size, (int)job->head->slots);
}

/* --- coming and going --- */

/* What the place's last process has left goes, but for what the next one goes on from. */
static void clear_place(struct job *job, int place)
{
    struct job_proc *proc = job_proc(job->head, place);
    struct job_desk *desk = job_desk(job->head, place);
    struct rank *r = &job->ranks[place];
    struct job_place *where = job_place(job->head, place);
    const uint32_t tenant = proc->tenant + (r->world != NULL);
    const uint32_t contexts[2] = { desk->contexts[0], desk->contexts[1] };

    mem_free(r->request);
    mem_free(r->words.at);
    memset(r, 0, sizeof *r);
    memset(proc, 0, sizeof *proc);
    memset(desk, 0, sizeof *desk);
    memset(where, 0, sizeof *where);
    proc->tenant = tenant;
    desk->contexts[0] = contexts[0];
    desk->contexts[1] = contexts[1];
    desk->parent = -1;
    desk->hold = tenant != 0;
}

static void fill_rank(struct job *job, struct world *world, int number, int appnum)
{
    struct rank *r = &job->ranks[world->first + number];

    r->world = world;
    r->number = number;
    r->app = &world->apps[appnum];
    r->appnum = appnum;
    r->node = job->nodes.here;
    r->control.fd = r->out.source.fd = r->err.source.fd = r->in.source.fd = -1;
}

void worlds_fill(struct job *job, struct world *world)
{
    int number = 0;

    for (int app = 0; app < world->app_count; app++)
        for (int i = 0; i < world->apps[app].ranks; i++)
            fill_rank(job, world, number++, app);
    if (world->first + world->size > job->used)
        job->used = world->first + world->size;
}

/* On one machine that is to behave as several they are spread as the ranks of the first world are. */
static int node_of(const struct job *job, int place)
{
    const struct rank *r = &job->ranks[place];
    const int pretended = (int)job_place(job->head, job->size - 1)->node + 1;

    return job->nodes.count > 1 ? r->node : r->number * pretended / r->world->size;
}

static void fill_page(struct job *job, int place)
{
    const struct rank *r = &job->ranks[place];
    struct job_proc *proc = job_proc(job->head, place);

    proc->rank = (uint32_t)r->number;
    proc->first = (uint32_t)r->world->first;
    proc->size = (uint32_t)r->world->size;
    proc->world = (uint32_t)r->world->number;
    proc->appnum = job_place(job->head, place)->appnum = (uint32_t)r->appnum;
    job_place(job->head, place)->node = (uint32_t)node_of(job, place);
    job_desk(job->head, place)->errhandler = (uint32_t)r->app->errhandler;
}

static void free_world(struct world *world)
{
    for (int i = 0; i < world->app_count; i++)
        program_free(&world->apps[i]);
    mem_free(world->apps);
    mem_free(world->request);
    mem_free(world);
}

/* Others have taken a place of it; the last one of them frees it. */
static void leave_world(struct job *job, int place)
{
    struct world *world = job->ranks[place].world;

    if (world && --world->places == 0)
        free_world(world);
}

/* Its places are its own from now on. */
static void take_places(struct job *job, struct world *world)
{
    report_print(job); /* what is still to be said of those that had them */
    for (int place = world->first; place < world->first + world->size; place++) {
        leave_world(job, place);
        clear_place(job, place);
        hang_forget(job, place);
    }
    worlds_fill(job, world);
}

struct world *worlds_add(struct job *job, const struct world *wanted, const int *nodes)
{
    struct world *world = need(sizeof *world);
    const int first = wanted->first, size = wanted->size;

    *world = *wanted;
    world->number = ++job->worlds;
    world->places = size;
    take_places(job, world);
    for (int place = first; place < first + size; place++) {
        job->ranks[place].node = nodes[place - first];
        fill_page(job, place);
    }
    return world;
}

void worlds_admit(struct job *job, int first, int size)
{
    struct world *world = need(sizeof *world);

    *world = (struct world){ .number = -1, .first = first, .size = size, .places = size, .app_count = 1,
                             .apps = need(sizeof *world->apps) };
    world->apps[0].ranks = size;
    take_places(job, world);
    for (int place = first; place < first + size; place++) {
        job->ranks[place].is_over = true; /* there is nothing of it here */
        atomic_store_explicit(&job_proc(job->head, place)->state, JOB_STARTED, memory_order_relaxed);
    }
}

void worlds_dismiss(struct job *job, int place)
{
    job->ranks[place].is_clean = true;
    atomic_store_explicit(&job_proc(job->head, place)->state, JOB_EXITED, memory_order_relaxed);
}

/* --- who is connected with whom --- */

static bool runs(const struct job *job, int place)
{
    return (job->ranks[place].pid || is_far(job, place)) && !job->ranks[place].is_over;
}

static bool are_connected(const struct job *job, int one, int other)
{
    return job->ranks[one].world == job->ranks[other].world || slots_has(job_desk(job->head, one)->links, other) ||
           slots_has(job_desk(job->head, other)->links, one);
}

bool worlds_doom(struct job *job, int rank)
{
    bool has_changed = true;

    job->ranks[rank].will_end = true;
    while (has_changed) {
        has_changed = false;
        for (int one = 0; one < job->used; one++)
            for (int other = 0; job->ranks[one].will_end && other < job->used; other++)
                if (!job->ranks[other].will_end && runs(job, other) && are_connected(job, one, other))
                    has_changed = job->ranks[other].will_end = true;
    }
    for (int i = 0; i < job->used; i++)
        if (runs(job, i) && !job->ranks[i].will_end)
            return false;
    return true;
}
