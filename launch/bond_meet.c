/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: processes of another job of which our ranks have heard by a communicator with a third one (src/comm/meet.c).
 * They get places here, once there is a bond with their mpiexec. That one is asked by its own ranks to know ours, so
 * nothing of this goes over the bond; both may call each other at the same time. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bonds.h"
#include "far.h"
#include "guests.h"

enum meeting_step { MEETING_WAITS, MEETING_WANTS_ROOM, MEETING_IS_ADMITTED };

/* A request of a rank. */
struct meeting {
    struct meeting *next;
    struct bond *bond;
    int rank;
    enum meeting_step step;
    uint32_t admission;  /* far_has_admitted */
    char *members;       /* struct bond_member of each, one after the other */
    int count;
};

/* Pairs of digits, to their end. False: they are none, or too many. */
static bool read_hex(const char *hex, unsigned char *bytes, size_t room, uint32_t *size)
{
    static const char digits[] = "0123456789abcdef";

    for (*size = 0; hex && hex[0] && *size < room; hex += 2) {
        const char *high = strchr(digits, hex[0]), *low = hex[1] ? strchr(digits, hex[1]) : NULL;
        if (!high || !low)
            return false;
        bytes[(*size)++] = (unsigned char)((high - digits) << 4 | (low - digits));
    }
    return hex && !hex[0];
}

/* Their number; -1: one makes no sense. */
static int read_members(struct texts *texts, char **members)
{
    struct bond_member *all = NULL;
    int count = 0;

    while (texts->at < texts->end) {
        const int home = texts_next_number(texts, BOND_GROUP_MAX - 1);
        const int tenant = texts_next_number(texts, INT32_MAX), node = texts_next_number(texts, INT32_MAX);
        const int appnum = texts_next_number(texts, INT32_MAX);
        struct bond_member *member;

        all = need_more(all, ((size_t)count + 1) * sizeof *all);
        member = &all[count++];
        *member = (struct bond_member){ .home = (uint32_t)home, .tenant = (uint32_t)tenant, .node = (uint32_t)node,
                                        .appnum = (uint32_t)appnum };
        if (home < 0 || tenant < 0 || node < 0 || appnum < 0 ||
            !read_hex(texts_next(texts), member->address, sizeof member->address, &member->size) || !member->size) {
            mem_free(all);
            return -1;
        }
    }
    *members = (char *)all;
    return count;
}

/* As the guests of a call: false: not yet. True: they have places, or there is no room. */
static bool admit(struct job *job, struct meeting *meeting, bool *has_room)
{
    *has_room = true;
    if (meeting->step == MEETING_WAITS) {
        if (meeting->bond->state != BOND_IS_OPEN || !meeting->bond->is_certain)
            return false;
        far_ask_links(job);
        meeting->step = MEETING_WANTS_ROOM;
    }
    if (meeting->step == MEETING_WANTS_ROOM) {
        if (far_is_linking(job) || spawning_holds_places(job))
            return false;
        *has_room = guests_admit(job, meeting->bond, meeting->members, meeting->count, &meeting->admission) >= 0;
        meeting->step = MEETING_IS_ADMITTED;
    }
    return !*has_room || far_has_admitted(job, meeting->admission);
}

/* True: the rank has its answer. */
static bool answer(struct job *job, struct meeting *meeting)
{
    bool has_room;

    if (meeting->bond->state == BOND_IS_OVER)
        dynamic_answer(job, meeting->rank, MPI_ERR_OTHER, "E1017: the mpiexec of another job, some processes of which "
                       "are to be in a communicator with this one, cannot be reached, or has ended");
    else if (!admit(job, meeting, &has_room))
        return false;
    else
        dynamic_answer(job, meeting->rank, has_room ? 0 : MPI_ERR_OTHER, has_room ? "" : "E1001: there is no room in "
                       "this job for processes of another one which are to be in a communicator with this process");
    return true;
}

static void drop(struct meeting **place)
{
    struct meeting *meeting = *place;

    *place = meeting->next;
    mem_free(meeting->members);
    mem_free(meeting);
}

bool bonds_meet(struct job *job, int rank, struct texts *texts)
{
    const char *other = texts_next(texts);
    struct meeting *meeting = need(sizeof *meeting);
    struct bond fresh = { .job = other ? strtoull(other, NULL, 16) : 0 };
    const bool has_way = bond_read_way(texts, is_far(job, rank), &fresh);

    *meeting = (struct meeting){ .next = job->meetings, .rank = rank };
    meeting->count = read_members(texts, &meeting->members);
    job->meetings = meeting;
    if (!has_way || meeting->count < 1) {
        dynamic_answer(job, rank, MPI_ERR_INTERN, "processes of another job have been told of in words that make no "
                       "sense");
    } else {
        meeting->bond = bonds_with(job, &fresh);
        if (!answer(job, meeting))
            return false;
    }
    drop(&job->meetings);
    return true;
}

void meetings_look(struct job *job, const struct bond *bond)
{
    for (struct meeting **place = &job->meetings; *place;) {
        const int rank = (*place)->rank;
        if ((bond && (*place)->bond != bond) || !answer(job, *place)) {
            place = &(*place)->next;
            continue;
        }
        drop(place);
        control_answered(job, rank);
    }
}

void meetings_move(struct job *job, const struct bond *from, struct bond *to)
{
    for (struct meeting *meeting = job->meetings; meeting; meeting = meeting->next) {
        if (meeting->bond != from)
            continue;
        meeting->bond = to;
        meeting->step = MEETING_WAITS;
    }
}

void meetings_rank_over(struct job *job, int rank)
{
    for (struct meeting **place = &job->meetings; *place;)
        if ((*place)->rank == rank)
            drop(place);
        else
            place = &(*place)->next;
}
