/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec, and its agents: places for processes of other jobs. */
#include "guests.h"

#include <string.h>

#include "agent.h"
#include "base/mem.h"
#include "far.h"

enum { NO_HOME = BOND_GROUP_MAX };

static struct job_abroad *abroad_at(const struct job *job, int place)
{
    return &job_proc(job->head, place)->abroad;
}

static bool is_guest(const struct job *job, int place)
{
    return job->ranks[place].world->number < 0;
}

/* --- on every machine --- */

/* The place is a guest's. */
static void fill(struct job *job, const struct frame_guest *guest)
{
    struct job_proc *proc = job_proc(job->head, guest->place);
    struct job_place *where = job_place(job->head, guest->place);

    proc->rank = guest->abroad.home;
    proc->tenant = guest->tenant;
    proc->abroad = guest->abroad;
    proc->abroad.step = (uint32_t)job->nodes.count;
    atomic_store_explicit(&proc->abroad.contexts, (uint32_t)job->nodes.here, memory_order_relaxed);
    proc->appnum = where->appnum = guest->appnum;
    where->node = guest->node;
    memcpy(where->address[JOB_TCP].bytes, guest->address, sizeof guest->address);
    atomic_store_explicit(&where->address[JOB_TCP].size, guest->size, memory_order_release);
    if (guest->is_over)
        worlds_dismiss(job, guest->place);
}

static void tell_processes(struct job *job)
{
    atomic_store_explicit(&job->head->has_abroad, 1, memory_order_release);
}

/* --- mpiexec --- */

int guests_find(const struct job *job, const struct bond *bond, uint32_t home)
{
    for (int place = job->size; place < job->used; place++)
        if (abroad_at(job, place)->bond == bond->number && abroad_at(job, place)->home == home &&
            !job->ranks[place].is_gone)
            return place;
    return -1;
}

int guests_room(struct job *job, const struct bond *bond)
{
    int room = worlds_room(job);

    for (int place = job->size; place < job->used; place++)
        room += bond->number && abroad_at(job, place)->bond == bond->number && !job->ranks[place].is_gone;
    return room;
}

/* The number of a machine of theirs, behind those of ours. */
static uint32_t number_node(const struct job *job, const struct bond *bond, uint32_t theirs)
{
    const uint32_t first = (uint32_t)(job->nodes.count > JOB_SLOTS_MAX ? job->nodes.count : JOB_SLOTS_MAX);
    uint64_t taken[JOB_SLOTS_MAX / 64 + 1] = { 0 };
    uint32_t number = 0;

    for (int place = job->size; place < job->used; place++) {
        const uint32_t node = job_place(job->head, place)->node;
        if (!abroad_at(job, place)->bond || node < first)
            continue;
        if (abroad_at(job, place)->bond == bond->number && abroad_at(job, place)->node == theirs)
            return node;
        taken[(node - first) / 64] |= UINT64_C(1) << (node - first) % 64;
    }
    while (taken[number / 64] >> number % 64 & 1)
        number++;
    return first + number;
}

static struct frame_guest guest_of(struct job *job, struct bond *bond, int place, const struct bond_member *member)
{
    struct frame_guest guest = { .place = place, .tenant = job_proc(job->head, place)->tenant,
                                 .node = number_node(job, bond, member->node), .appnum = member->appnum,
                                 .size = member->size };

    bond->first = bond->first < 0 ? place : bond->first;
    memcpy(guest.address, member->address, sizeof guest.address);
    guest.abroad = (struct job_abroad){ .bond = bond->number, .job = bond->job, .key = { bond->key[0], bond->key[1] },
                                        .home = member->home, .range = bond->secret.range, .side = bond->side,
                                        .first = (uint32_t)bond->first, .tenant = member->tenant,
                                        .node = member->node };
    return guest;
}

/* Who has been at that home before is not found there any more. Until now it had to be: some of ours may have learnt
 * late that they are connected with it. */
static void clear_home(struct job *job, const struct bond *bond, uint32_t home)
{
    for (int place = job->size; place < job->used; place++) {
        if (!abroad_at(job, place)->bond || abroad_at(job, place)->job != bond->job ||
            abroad_at(job, place)->home != home)
            continue;
        abroad_at(job, place)->home = NO_HOME;
        far_put_guest_gone(job, place);
    }
}

/* Has the process a place here? Another one that was at its home before has ended, also if that has not been told yet:
 * what ranks hear from each other may be faster. */
static bool has_place(struct job *job, const struct bond *bond, const struct bond_member *member)
{
    const int place = guests_find(job, bond, member->home);

    if (place >= 0 && abroad_at(job, place)->tenant < member->tenant)
        guests_retire(job, bond, place);
    return place >= 0 && abroad_at(job, place)->tenant >= member->tenant;
}

static int count_fresh(struct job *job, const struct bond *bond, const char *members, int count)
{
    struct bond_member member;
    int fresh = 0;

    for (int i = 0; i < count; i++) {
        bond_member(members, i, &member);
        fresh += !has_place(job, bond, &member);
    }
    return fresh;
}

int guests_admit(struct job *job, struct bond *bond, const char *members, int count, uint32_t *number)
{
    const int fresh = count_fresh(job, bond, members, count);
    const int first = fresh ? worlds_find_room(job, fresh) : 0;
    struct frame_guest *guests = need(((size_t)fresh + 1) * sizeof *guests);
    struct bond_member member;
    int entered = 0;

    if (fresh && first >= 0)
        worlds_admit(job, first, fresh);
    for (int i = 0; i < count && first >= 0; i++) {
        bond_member(members, i, &member);
        if (entered == fresh || has_place(job, bond, &member))
            continue;
        clear_home(job, bond, member.home);
        guests[entered] = guest_of(job, bond, first + entered, &member);
        fill(job, &guests[entered++]);
    }
    *number = entered ? far_put_guests(job, guests, entered) : job->admissions;
    mem_free(guests);
    if (first < 0)
        return -1;
    tell_processes(job);
    bond_member(members, 0, &member);
    return guests_find(job, bond, member.home);
}

/* The place in which contexts are counted is not had again before the bond is over. */
void guests_retire(struct job *job, const struct bond *bond, int place)
{
    job->ranks[place].is_gone = true;
    if (place == bond->first && bond->state != BOND_IS_OVER)
        atomic_store_explicit(&job_proc(job->head, place)->state, JOB_EXITED, memory_order_relaxed);
    else
        worlds_dismiss(job, place);
}

struct frame_guest *guests_list(struct job *job, int *count)
{
    struct frame_guest *guests = need(((size_t)job->used + 1) * sizeof *guests);

    *count = 0;
    for (int place = job->size; place < job->used; place++) {
        const struct job_place *where = job_place(job->head, place);
        struct frame_guest *guest = &guests[*count];
        if (!is_guest(job, place))
            continue;
        *guest = (struct frame_guest){ .place = place, .tenant = job_proc(job->head, place)->tenant,
                                       .is_over = job_proc(job->head, place)->state == JOB_EXITED, .node = where->node,
                                       .appnum = where->appnum, .size = where->address[JOB_TCP].size,
                                       .abroad = *abroad_at(job, place) };
        memcpy(guest->address, where->address[JOB_TCP].bytes, sizeof guest->address);
        ++*count;
    }
    return guests;
}

/* --- agents --- */

bool agent_take_guests(struct job *job, uint32_t number, const char *data, size_t size)
{
    const size_t count = size / sizeof(struct frame_guest);
    struct frame_guest guest;

    for (size_t i = 0; i < count; i++) {
        memcpy(&guest, data + i * sizeof guest, sizeof guest);
        if (guest.place < job->size || guest.place >= (int)job->head->slots || guest.size > sizeof guest.address)
            return false;
        worlds_admit(job, guest.place, 1);
        fill(job, &guest);
    }
    tell_processes(job);
    agent_put(job, -1, FRAME_ADMITTED, number, NULL, 0);
    return size % sizeof guest == 0;
}

bool agent_take_guest_gone(struct job *job, uint32_t place)
{
    if (place >= (uint32_t)job->used || (int)place < job->size || !is_guest(job, (int)place))
        return false;
    abroad_at(job, (int)place)->home = NO_HOME;
    return true;
}
