/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what goes over bonds: a rank's call to a port of another job; the processes of the two groups, which get
 * places in the other job's segment; processes that have failed, so that those who are connected with them end, too.
 * A call of theirs waits at the port as those of other machines do (calls.c). */
#include <mpi.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bonds.h"
#include "slots.h"
#include "sys/control.h"

enum { THEIRS_MAX = 256, FIRST_NODE = JOB_SLOTS_MAX, TAG_SIDE = 1 << 16, NO_HOME = BOND_GROUP_MAX };

struct abroad_call {
    struct abroad_call *next;
    struct bond *bond;
    uint32_t tag;
    bool is_theirs;
    int rank;            /* ours: who calls; theirs: who owns the port */
    int slot;            /* ours: which of the caller's entries, … */
    uint32_t number;     /* … the number of the call there, … */
    int owner;           /* … and who owns the port, at home */
    bool is_accepted;    /* theirs: our group is awaited */
    uint32_t room;       /* theirs: places that they have for it */
    bool is_sent;        /* ours; and that the caller waits no more, too */
    bool has_left;
    char *data;          /* ours: what is sent. Theirs: the members of their group */
    size_t size;
};

/* --- places for processes of the other job --- */

static void fill_place(struct job *job, struct bond *bond, int place, const struct bond_member *member)
{
    struct job_proc *proc = job_proc(job->head, place);
    struct job_place *where = job_place(job->head, place);

    bond->first = bond->first < 0 ? place : bond->first;
    proc->rank = member->home;
    proc->abroad = (struct job_abroad){ .bond = bond->number, .job = bond->job, .key = { bond->key[0], bond->key[1] },
                                        .home = member->home, .range = bond->secret.range, .side = bond->side,
                                        .first = (uint32_t)bond->first, .tenant = member->tenant };
    proc->appnum = where->appnum = member->appnum;
    where->node = FIRST_NODE + bond->secret.range;
    memcpy(where->address, member->address, member->size);
    atomic_store_explicit(&where->size, member->size, memory_order_release);
}

static uint32_t tenant_at(const struct job *job, int place)
{
    return job_proc(job->head, place)->abroad.tenant;
}

static int find_place(const struct job *job, const struct bond *bond, uint32_t home)
{
    for (int place = 0; place < job->used; place++)
        if (job_proc(job->head, place)->abroad.bond == bond->number &&
            job_proc(job->head, place)->abroad.home == home)
            return place;
    return -1;
}

/* The process there has ended: another one may be at its home. The place in which contexts are counted is not had again
 * before the bond is over. */
static void retire(struct job *job, const struct bond *bond, int place)
{
    job_proc(job->head, place)->abroad.home = NO_HOME;
    if (place == bond->first)
        atomic_store_explicit(&job_proc(job->head, place)->state, JOB_EXITED, memory_order_relaxed);
    else
        worlds_dismiss(job, place);
}

/* Has the process a place here? Another one that was at its home before has ended, also if that has not been told yet:
 * what ranks hear from each other may be faster. */
static bool has_place(struct job *job, const struct bond *bond, const struct bond_member *member)
{
    const int place = find_place(job, bond, member->home);

    if (place >= 0 && tenant_at(job, place) < member->tenant)
        retire(job, bond, place);
    return place >= 0 && tenant_at(job, place) >= member->tenant;
}

/* Those that have none yet get a row of them. */
int bond_give_places(struct job *job, struct bond *bond, const char *members, int count)
{
    struct bond_member member = { 0 };
    int fresh = 0, next;

    for (int i = 0; i < count; i++) {
        if (!bond_member(members, i, &member))
            return -1;
        fresh += !has_place(job, bond, &member);
    }
    next = fresh ? worlds_admit(job, fresh) : 0;
    if (next < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        bond_member(members, i, &member);
        if (find_place(job, bond, member.home) < 0 && fresh-- > 0)
            fill_place(job, bond, next++, &member);
    }
    atomic_store_explicit(&job->head->has_abroad, 1, memory_order_release);
    bond_member(members, 0, &member);
    return find_place(job, bond, member.home);
}

static uint32_t room_for(struct job *job, const struct bond *bond)
{
    int room = worlds_room(job);

    for (int place = 0; place < job->used; place++)
        room += bond->number && job_proc(job->head, place)->abroad.bond == bond->number &&
                job_proc(job->head, place)->abroad.home != NO_HOME;
    return (uint32_t)room;
}

/* The places that a request names, as members; their number, -1: one is none of ours. */
static int read_group(const struct job *job, struct texts *texts, char **members)
{
    struct bond_member *all = NULL;
    int count = 0;

    while (texts->at < texts->end) {
        const int place = texts_next_number(texts, job->used - 1);
        struct bond_member *member;
        if (place < 0 || job->ranks[place].is_over) {
            mem_free(all);
            return -1;
        }
        all = need_more(all, ((size_t)count + 1) * sizeof *all);
        member = &all[count++];
        *member = (struct bond_member){ .home = (uint32_t)place, .tenant = job_proc(job->head, place)->tenant,
                                        .appnum = job_place(job->head, place)->appnum,
                                        .size = job_place(job->head, place)->size };
        memcpy(member->address, job_place(job->head, place)->address, sizeof member->address);
    }
    *members = (char *)all;
    return count;
}

/* --- the list --- */

static struct abroad_call *add(struct job *job, const struct abroad_call *like)
{
    struct abroad_call *call = need(sizeof *call);

    *call = *like;
    call->next = job->abroad_calls;
    return job->abroad_calls = call;
}

static void drop(struct job *job, struct abroad_call *call)
{
    struct abroad_call **place = &job->abroad_calls;

    while (*place != call)
        place = &(*place)->next;
    *place = call->next;
    mem_free(call->data);
    mem_free(call);
}

static struct abroad_call *find(const struct job *job, const struct bond *bond, bool is_theirs, uint32_t tag)
{
    struct abroad_call *call = job->abroad_calls;

    while (call && (call->bond != bond || call->is_theirs != is_theirs || call->tag != tag))
        call = call->next;
    return call;
}

/* --- calls of ours --- */

static void answer_ours(struct job *job, struct abroad_call *call, int leader, enum job_refusal why)
{
    const bool is_accepted = leader >= 0;

    if (!job->ranks[call->rank].is_over) {
        job_desk(job->head, call->rank)->caller[call->slot].owner = leader;
        calls_answer(job, call->rank, &(struct frame_answer){ call->slot, is_accepted, is_accepted ? call->tag : why });
    }
    drop(job, call);
}

static void send_call(struct job *job, struct abroad_call *call)
{
    struct bond_port port;

    memcpy(&port, call->data, sizeof port);
    port.room = room_for(job, call->bond);
    memcpy(call->data, &port, sizeof port);
    call->tag = call->bond->side * TAG_SIDE + call->bond->calls++ % TAG_SIDE;
    bond_put(call->bond, BOND_CALL, call->owner, call->tag, call->data, call->size);
    call->is_sent = true;
    if (call->has_left)
        bond_put(call->bond, BOND_LEAVE, -1, call->tag, NULL, 0);
}

void bonds_move_calls(struct job *job, const struct bond *from, struct bond *to)
{
    meetings_move(job, from, to);
    for (struct abroad_call *call = job->abroad_calls; call; call = call->next) {
        if (call->bond != from || call->is_theirs)
            continue;
        call->bond = to;
        call->is_sent = false;
        if (to->state == BOND_IS_OPEN)
            send_call(job, call);
    }
}

static bool read_words(const char *text, uint64_t words[2])
{
    if (!text || strspn(text, "0123456789abcdef") != 32 || text[32])
        return false;
    return sscanf(text, "%16llx%16llx", (unsigned long long *)&words[0], (unsigned long long *)&words[1]) == 2;
}

static void read_target(struct texts *texts, uint16_t port, struct bond *fresh)
{
    const char *ip = texts_next(texts);
    const int scope = texts_next_number(texts, INT32_MAX);
    union bond_address at = { .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };

    if (!ip || scope < 0 || fresh->count == BOND_TARGETS)
        return;
    if (inet_pton(AF_INET, ip, &at.v4.sin_addr) != 1) {
        at = (union bond_address){ .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port),
                                           .sin6_scope_id = (uint32_t)scope } };
        if (inet_pton(AF_INET6, ip, &at.v6.sin6_addr) != 1)
            return;
    }
    fresh->targets[fresh->count++] = at;
}

bool bond_read_way(struct texts *texts, struct bond *fresh)
{
    const bool has_key = read_words(texts_next(texts), fresh->secret.key);
    const int port = texts_next_number(texts, UINT16_MAX);

    for (int targets = texts_next_number(texts, BOND_TARGETS); targets > 0; targets--)
        read_target(texts, (uint16_t)port, fresh);
    return has_key && port >= 0;
}

/* As sys/control.h says. */
static void call_port(struct job *job, int rank, struct texts *texts)
{
    struct abroad_call like = { .rank = rank, .slot = texts_next_number(texts, JOB_CALLS - 1) }, *call;
    struct bond fresh = { .number = 0 };
    struct bond_port port = { 0 };
    char *members = NULL;
    const char *other;
    int count;

    like.number = (uint32_t)texts_next_number(texts, INT32_MAX);
    other = texts_next(texts);
    fresh.job = other ? strtoull(other, NULL, 16) : 0;
    like.owner = texts_next_number(texts, INT32_MAX);
    port.tenant = (uint32_t)texts_next_number(texts, INT32_MAX);
    port.number = (uint32_t)texts_next_number(texts, INT32_MAX);
    if (!bond_read_way(texts, &fresh))
        like.slot = -1;
    count = read_group(job, texts, &members);
    if (like.slot < 0 || like.owner < 0 || count < 1) {
        mem_free(members);
        dynamic_answer(job, rank, MPI_ERR_PORT, "E1007: this is not the name of a port of this library");
        return;
    }
    like.size = sizeof port + (size_t)count * sizeof(struct bond_member);
    like.data = need(like.size);
    memcpy(like.data, &port, sizeof port);
    memcpy(like.data + sizeof port, members, like.size - sizeof port);
    mem_free(members);
    dynamic_answer(job, rank, 0, "");
    call = add(job, &like);
    call->bond = bonds_with(job, &fresh);
    if (call->bond->state == BOND_IS_OVER)
        answer_ours(job, call, -1, JOB_NO_WAY);
    else if (call->bond->state == BOND_IS_OPEN)
        send_call(job, call);
}

bool bonds_withdraw(struct job *job, int rank, uint32_t number)
{
    struct abroad_call *call = job->abroad_calls;

    while (call && (call->is_theirs || call->rank != rank || call->number != number))
        call = call->next;
    if (!call)
        return false;
    if (call->is_sent) {
        call->has_left = true;
        bond_put(call->bond, BOND_LEAVE, -1, call->tag, NULL, 0); /* the answer says whether that was too late */
        return false;
    }
    drop(job, call);
    return true;
}

/* --- calls of theirs --- */

void bonds_refuse(struct job *job, struct bond *bond, uint32_t tag, enum job_refusal why)
{
    struct abroad_call *call = find(job, bond, true, tag);

    bond_put(bond, BOND_ANSWER, -1 - (int)why, tag, NULL, 0);
    if (call)
        drop(job, call);
}

int bonds_accept(struct job *job, struct bond *bond, uint32_t tag, int owner)
{
    struct abroad_call *call = find(job, bond, true, tag);
    int leader;

    if (!call)
        return -1;
    leader = bond_give_places(job, bond, call->data, (int)(call->size / sizeof(struct bond_member)));
    call->is_accepted = true;
    call->rank = owner;
    if (leader < 0)
        bonds_refuse(job, bond, tag, JOB_NO_ROOM);
    return leader;
}

/* The tag, and our group. */
static void answer_theirs(struct job *job, int rank, struct texts *texts)
{
    const int tag = texts_next_number(texts, INT32_MAX);
    struct abroad_call *call = job->abroad_calls;
    char *members = NULL;
    const int count = read_group(job, texts, &members);

    while (call && (!call->is_theirs || !call->is_accepted || call->rank != rank || call->tag != (uint32_t)tag))
        call = call->next;
    if (!call || count < 1 || (uint32_t)count > call->room) {
        dynamic_answer(job, rank, MPI_ERR_PORT, !call ? "E1009: the process that has called the port is gone"
                       : "E1001: there is no room for so many processes in the job that has called the port");
        if (call)
            bonds_refuse(job, call->bond, call->tag, count < 1 ? JOB_PORT_CLOSED : JOB_NO_ROOM);
    } else {
        bond_put(call->bond, BOND_ANSWER, 0, call->tag, members, (size_t)count * sizeof(struct bond_member));
        dynamic_answer(job, rank, 0, "");
        drop(job, call);
    }
    mem_free(members);
}

static void be_reachable(struct job *job, int rank)
{
    const bool is_simple = job->nodes.count <= 1 && !job->links && !job->client;
    const uint64_t *key = NULL;
    const uint16_t port = is_simple ? bonds_listen(job, &key) : 0;
    char text[64] = "";

    if (port)
        snprintf(text, sizeof text, "%u %016llx%016llx", port, (unsigned long long)key[0], (unsigned long long)key[1]);
    dynamic_answer(job, rank, 0, text);
}

bool bonds_request(struct job *job, int rank, unsigned kind, struct texts *texts)
{
    if (kind == CONTROL_OPEN)
        be_reachable(job, rank);
    else if (kind == CONTROL_CALL)
        call_port(job, rank, texts);
    else if (kind == CONTROL_GROUP)
        answer_theirs(job, rank, texts);
    else
        return false;
    return true;
}

void bonds_rank_over(struct job *job, int rank)
{
    struct abroad_call *next;

    for (struct bond *bond = bonds_first(job); bond && job->ranks[rank].is_clean; bond = bond->next)
        bond_put(bond, BOND_GONE, rank, job_proc(job->head, rank)->tenant, NULL, 0);
    meetings_rank_over(job, rank);
    for (struct abroad_call *call = job->abroad_calls; call; call = next) {
        next = call->next;
        if (call->rank != rank)
            continue;
        if (call->is_theirs) {
            bonds_refuse(job, call->bond, call->tag, JOB_PORT_CLOSED);
            continue;
        }
        if (call->is_sent)
            bond_put(call->bond, BOND_LEAVE, -1, call->tag, NULL, 0);
        drop(job, call);
    }
}

/* --- ends --- */

/* Has our rank a communicator with the process in this place, or with any of the bond? */
static bool is_linked(const struct job *job, int rank, const struct bond *bond, int place)
{
    const struct job_desk *desk = job_desk(job->head, rank);

    for (int i = place < 0 ? 0 : place; i < (place < 0 ? job->used : place + 1); i++)
        if (job_proc(job->head, i)->abroad.bond == bond->number && slots_has(desk->links, i))
            return true;
    return false;
}

void bonds_tell_ends(struct job *job)
{
    const int code = job->exit_code ? job->exit_code : 1;

    for (struct bond *bond = bonds_first(job); bond; bond = bond->next)
        for (int rank = 0; bond->state == BOND_IS_OPEN && rank < job->used; rank++)
            if (job->ranks[rank].will_end && is_linked(job, rank, bond, -1))
                bond_put(bond, BOND_OVER, rank, (uint32_t)code, NULL, 0);
}

/* A process of theirs has failed: so have all of ours that are connected with it. */
static void end_with(struct job *job, const struct bond *bond, int place, int code, const char *what)
{
    const uint32_t home = job_proc(job->head, place)->abroad.home;

    if (atomic_load_explicit(&job_proc(job->head, place)->state, memory_order_relaxed) == JOB_EXITED)
        return;
    worlds_dismiss(job, place);
    for (int rank = 0; rank < job->used; rank++) {
        if (job->ranks[rank].is_over || job->ranks[rank].will_end || !is_linked(job, rank, bond, place))
            continue;
        report_rank(job, rank, "E1015: process %u of the job of %s, with which it is connected, %s", home, bond->name,
                    what);
        job_failed(job, rank, code, true);
    }
}

void bond_opened(struct job *job, struct bond *bond)
{
    struct abroad_call *next;

    for (struct abroad_call *call = job->abroad_calls; call; call = next) {
        next = call->next;
        if (call->bond == bond && !call->is_theirs && !call->is_sent)
            send_call(job, call);
    }
    meetings_look(job, bond);
}

void bond_lost(struct job *job, struct bond *bond)
{
    struct abroad_call *next;

    calls_drop_abroad(job, bond);
    for (struct abroad_call *call = job->abroad_calls; call; call = next) {
        next = call->next;
        if (call->bond == bond && call->is_theirs)
            drop(job, call);
        else if (call->bond == bond)
            answer_ours(job, call, -1, bond->number ? JOB_PORT_CLOSED : JOB_NO_WAY);
    }
    meetings_look(job, bond);
    for (int place = 0; bond->number && place < job->used; place++) {
        if (job_proc(job->head, place)->abroad.bond != bond->number)
            continue;
        if (!bond->has_left)
            end_with(job, bond, place, 1, "is lost: its mpiexec has ended, or the network has failed");
        worlds_dismiss(job, place);
    }
}

/* --- frames --- */

static bool take_call(struct job *job, struct bond *bond, const struct frame *frame, const char *data)
{
    struct abroad_call like = { .bond = bond, .tag = frame->value, .is_theirs = true, .rank = -1 };
    const char *members;
    const int count = bond_members(frame, data, &members);
    struct bond_port port;
    int theirs = 0;

    for (const struct abroad_call *call = job->abroad_calls; call; call = call->next)
        theirs += call->bond == bond && call->is_theirs;
    if (count < 1 || theirs >= THEIRS_MAX || frame->value / TAG_SIDE != 1 - bond->side ||
        find(job, bond, true, frame->value))
        return false;
    memcpy(&port, data, sizeof port);
    like.room = port.room;
    like.size = (size_t)count * sizeof(struct bond_member);
    like.data = need(like.size);
    memcpy(like.data, members, like.size);
    add(job, &like);
    if (frame->rank < 0 || frame->rank >= job->used || job->ranks[frame->rank].is_over)
        bonds_refuse(job, bond, frame->value, JOB_PORT_CLOSED);
    else
        calls_add_abroad(job, bond, frame->value, frame->rank, port.tenant, port.number);
    return true;
}

static bool take_answer(struct job *job, struct bond *bond, const struct frame *frame, const char *data)
{
    struct abroad_call *call = find(job, bond, false, frame->value);
    const char *members;
    const int count = bond_members(frame, data, &members);
    int leader;

    if (!call || !call->is_sent) /* its caller has ended */
        return count >= 0;
    if (count < 1) {
        answer_ours(job, call, -1, (enum job_refusal)(-1 - frame->rank));
        return count == 0;
    }
    leader = bond_give_places(job, bond, members, count);
    answer_ours(job, call, leader, JOB_NO_ROOM);
    return leader >= 0;
}

bool bond_take(struct job *job, struct bond *bond, const struct frame *frame, const char *data)
{
    int place;

    switch (frame->kind) {
    case BOND_CALL: return take_call(job, bond, frame, data);
    case BOND_ANSWER: return take_answer(job, bond, frame, data);
    case BOND_LEAVE:
        if (calls_leave_abroad(job, bond, frame->value))
            bonds_refuse(job, bond, frame->value, JOB_PORT_CLOSED);
        return true;
    case BOND_OVER:
        place = find_place(job, bond, (uint32_t)frame->rank);
        if (place >= 0)
            end_with(job, bond, place, frame->value & 0xff ? (int)(frame->value & 0xff) : 1, "has failed");
        return true;
    case BOND_GONE:
        place = find_place(job, bond, (uint32_t)frame->rank);
        if (place >= 0 && tenant_at(job, place) == frame->value)
            retire(job, bond, place);
        return true;
    case BOND_WELCOME:
        bond->is_certain = true;
        meetings_look(job, bond);
        return true;
    default:
        bond->has_left = true;
        return true;
    }
}
