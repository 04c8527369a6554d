/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: processes of two jobs end that are connected with each other (MPI 5.0 §11.10.4). Who of ours is connected
 * with whom of theirs our ranks' bits say; those of ranks on other machines the agents have to tell first. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bonds.h"
#include "far.h"
#include "guests.h"
#include "slots.h"

#define LINKS_SECONDS 1.0 /* for agents to tell who is connected with whom */

/* Of a process of theirs. */
struct bond_end {
    struct bond_end *next;
    uint64_t bond;
    int place, code;
    uint32_t home;
    const char *what;
    char name[BOND_NAME_SIZE]; /* the bond's */
};

/* Has our rank a communicator with the guest in this place, or with any of the bond? */
static bool is_linked(const struct job *job, int rank, uint64_t bond, int place)
{
    const struct job_desk *desk = job_desk(job->head, rank);

    for (int i = place < 0 ? 0 : place; i < (place < 0 ? job->used : place + 1); i++)
        if (job_proc(job->head, i)->abroad.bond == bond && slots_has(desk->links, i))
            return true;
    return false;
}

/* --- of ours --- */

static int code_of(const struct job *job)
{
    return job->exit_code ? job->exit_code : 1;
}

/* Of those whose machine is lost nobody can tell with whom they were connected. */
void bonds_tell_ends(struct job *job)
{
    for (struct bond *bond = bonds_first(job); bond; bond = bond->next)
        for (int rank = 0; bond->state == BOND_IS_OPEN && rank < job->used; rank++)
            if (job->ranks[rank].is_lost ||
                (job->ranks[rank].will_end && is_linked(job, rank, bond->number, -1)))
                bond_put(bond, BOND_OVER, rank, (uint32_t)code_of(job), NULL, 0);
}

/* Whoever is still connected with one that has not ended as it should has not been told; where there is none, that
 * costs nothing. */
void bonds_tell_last_ends(struct job *job)
{
    for (struct bond *bond = bonds_first(job); bond && job->exit_code; bond = bond->next)
        for (int rank = 0; rank < job->used; rank++)
            if (job->ranks[rank].world->number >= 0 && !job->ranks[rank].is_clean)
                bond_put(bond, BOND_OVER, rank, (uint32_t)code_of(job), NULL, 0);
}

void bonds_rank_over(struct job *job, int rank)
{
    for (struct bond *bond = bonds_first(job); bond && job->ranks[rank].is_clean; bond = bond->next)
        bond_put(bond, BOND_GONE, rank, job_proc(job->head, rank)->tenant, NULL, 0);
    meetings_rank_over(job, rank);
    bonds_drop_calls(job, rank);
}

/* --- of theirs --- */

static bool has_ended(const struct job *job, int place)
{
    return atomic_load_explicit(&job_proc(job->head, place)->state, memory_order_relaxed) == JOB_EXITED;
}

static void note(struct job *job, const struct bond *bond, int place, int code, const char *what)
{
    struct bond_end *end = need(sizeof *end);

    *end = (struct bond_end){ .next = job->bond_ends, .bond = bond->number, .place = place, .code = code,
                              .home = job_proc(job->head, place)->abroad.home, .what = what };
    memcpy(end->name, bond->name, sizeof end->name);
    job->bond_ends = end;
}

/* When the agents have told, or had the time to. */
static void find_out(struct job *job)
{
    if (!job->bond_ends)
        return;
    far_ask_links(job);
    timer_set(job, TIMER_FAILED, LINKS_SECONDS);
    job_find_doomed(job, false);
}

void bond_guest_over(struct job *job, const struct bond *bond, int place, int code)
{
    if (has_ended(job, place))
        return;
    note(job, bond, place, code, "has failed");
    guests_retire(job, bond, place);
    find_out(job);
}

void bond_guests_lost(struct job *job, const struct bond *bond)
{
    for (int place = job->size; bond->number && place < job->used; place++) {
        if (job_proc(job->head, place)->abroad.bond != bond->number)
            continue;
        if (!bond->has_left && !has_ended(job, place))
            note(job, bond, place, 1, "is lost: its mpiexec has ended, or the network has failed");
        guests_retire(job, bond, place);
    }
    find_out(job);
}

static void end_others(struct job *job, const struct bond_end *end)
{
    for (int rank = 0; rank < job->used; rank++) {
        if (job->ranks[rank].is_over || job->ranks[rank].will_end || !is_linked(job, rank, end->bond, end->place))
            continue;
        report_rank(job, rank, "E1015: process %u of the job of %s, with which it is connected, %s", end->home,
                    end->name, end->what);
        job_failed(job, rank, end->code, true);
    }
}

void bonds_find_ends(struct job *job)
{
    while (job->bond_ends) {
        struct bond_end *end = job->bond_ends;

        job->bond_ends = end->next;
        end_others(job, end);
        mem_free(end);
    }
}
