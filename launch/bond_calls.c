/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: calls of ranks to ports of other jobs, and of theirs to ports of ours, over bonds. A call of theirs waits at
 * the port as those of other machines do (calls.c). When it is accepted each side gives places to the processes of the
 * other one (guests.h) before any of its own hears of them: first the side of the port, whose mpiexec then sends its
 * group (ANSWER), then the side that calls, which tells that (READY). */
#include <mpi.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bonds.h"
#include "far.h"
#include "guests.h"
#include "sys/control.h"
#include "sys/ifaces.h"

enum { THEIRS_MAX = 256, TAG_SIDE = 1 << 16, NO_TAG = 1 << 20, REACH_SIZE = 80 };

/* What is next. */
enum call_step {
    CALL_WAITS,       /* ours: until it can be sent */
    CALL_IS_OUT,      /* ours: it is sent. Theirs: it is at the port … */
    CALL_WANTS_ROOM,  /* both: until places can be given */
    CALL_IS_ADMITTED, /* until all machines of ours know that */
    CALL_IS_ACCEPTED, /* theirs: until the owner of the port tells its group … */
    CALL_GATHERS,     /* … and until that can be sent … */
    CALL_IS_ANSWERED, /* … and until they are ready */
};

struct abroad_call {
    struct abroad_call *next;
    struct bond *bond;
    uint32_t tag;           /* ours: NO_TAG until it is sent */
    bool is_theirs;
    enum call_step step;
    int rank;               /* ours: who calls; theirs: who owns the port, and has accepted */
    int slot;               /* ours: which of the caller's entries, … */
    uint32_t number;        /* … the number of the call there, … */
    int owner;              /* … who owns the port, at home, … */
    struct bond_port port;  /* … the port, … */
    bool has_left;          /* … and the caller waits no more */
    uint32_t room;          /* theirs: places that they have for our group */
    int *places, count;     /* our group */
    char *members;          /* theirs */
    int member_count;
    int leader;             /* place of the first one of theirs */
    uint32_t admission;     /* far_has_admitted */
    bool is_new;            /* the owner's request is being taken: who does that answers it */
};

/* --- groups --- */

/* The places that a request names. False: one is none of ours. */
static bool read_group(const struct job *job, struct texts *texts, struct abroad_call *call)
{
    while (texts->at < texts->end) {
        const int place = texts_next_number(texts, job->used - 1);

        if (place < 0 || job->ranks[place].is_over)
            return false;
        call->places = need_more(call->places, ((size_t)call->count + 1) * sizeof *call->places);
        call->places[call->count++] = place;
    }
    return call->count > 0;
}

/* Does mpiexec know where all of our group can be reached? Those of other machines tell that by their agents. */
static bool is_gathered(const struct job *job, const struct abroad_call *call)
{
    for (int i = 0; i < call->count; i++)
        if (!job_address_size(&job_place(job->head, call->places[i])->address[JOB_TCP]))
            return false;
    return true;
}

static bool has_lost_one(const struct job *job, const struct abroad_call *call)
{
    for (int i = 0; i < call->count; i++)
        if (job->ranks[call->places[i]].is_over)
            return true;
    return false;
}

/* Our group, behind `head`. */
static void put_group(struct job *job, const struct abroad_call *call, enum bond_kind kind, int rank, const void *head,
                      size_t size)
{
    const size_t length = size + (size_t)call->count * sizeof(struct bond_member);
    char *data = need(length + 1);

    if (size)
        memcpy(data, head, size);
    for (int i = 0; i < call->count; i++) {
        const struct job_place *place = job_place(job->head, call->places[i]);
        struct bond_member member = { .home = (uint32_t)call->places[i],
                                      .tenant = job_proc(job->head, call->places[i])->tenant,
                                      .node = place->node, .appnum = place->appnum,
                                      .size = place->address[JOB_TCP].size };
        memcpy(member.address, place->address[JOB_TCP].bytes, sizeof member.address);
        memcpy(data + size + (size_t)i * sizeof member, &member, sizeof member);
    }
    bond_put(call->bond, kind, rank, call->tag, data, length);
    mem_free(data);
}

/* False: one makes no sense. */
static bool take_members(struct abroad_call *call, const char *members, int count)
{
    struct bond_member member;

    for (int i = 0; i < count; i++)
        if (!bond_member(members, i, &member))
            return false;
    call->member_count = count;
    call->members = need((size_t)count * sizeof member);
    memcpy(call->members, members, (size_t)count * sizeof member);
    return true;
}

/* --- the list --- */

static struct abroad_call *add(struct job *job, const struct abroad_call *like)
{
    struct abroad_call *call = need(sizeof *call);

    *call = *like;
    call->next = job->abroad_calls;
    return job->abroad_calls = call;
}

static void free_call(struct abroad_call *call)
{
    mem_free(call->places);
    mem_free(call->members);
    mem_free(call);
}

static void drop(struct job *job, struct abroad_call *call)
{
    struct abroad_call **place = &job->abroad_calls;

    while (*place != call)
        place = &(*place)->next;
    *place = call->next;
    free_call(call);
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
    const struct frame_answer answer = { call->slot, is_accepted, is_accepted ? call->tag : why, leader };

    calls_tell(job, call->rank, &answer);
    drop(job, call);
}

/* What is known of who has communicators with whom is new. */
static void send_call(struct job *job, struct abroad_call *call)
{
    if (has_lost_one(job, call)) {
        answer_ours(job, call, -1, JOB_PORT_CLOSED);
        return;
    }
    call->port.room = (uint32_t)guests_room(job, call->bond);
    call->tag = call->bond->side * TAG_SIDE + call->bond->calls++ % TAG_SIDE;
    put_group(job, call, BOND_CALL, call->owner, &call->port, sizeof call->port);
    call->step = CALL_IS_OUT;
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
        call->tag = NO_TAG;
        call->step = CALL_WAITS;
    }
}

static bool read_words(const char *text, uint64_t words[2])
{
    if (!text || strspn(text, "0123456789abcdef") != 32 || text[32])
        return false;
    return sscanf(text, "%16llx%16llx", (unsigned long long *)&words[0], (unsigned long long *)&words[1]) == 2;
}

/* One of a link means something on the caller's machine only. */
static void read_target(struct texts *texts, uint16_t port, bool is_far, struct bond *fresh)
{
    const char *ip = texts_next(texts);
    const int scope = texts_next_number(texts, INT32_MAX);
    union bond_address at = { .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };

    if (!ip || scope < 0 || (is_far && scope) || fresh->count == BOND_TARGETS)
        return;
    if (inet_pton(AF_INET, ip, &at.v4.sin_addr) != 1) {
        at = (union bond_address){ .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port),
                                           .sin6_scope_id = (uint32_t)scope } };
        if (inet_pton(AF_INET6, ip, &at.v6.sin6_addr) != 1)
            return;
    }
    fresh->targets[fresh->count++] = at;
}

bool bond_read_way(struct texts *texts, bool is_far, struct bond *fresh)
{
    const bool has_key = read_words(texts_next(texts), fresh->secret.key);
    const int port = texts_next_number(texts, UINT16_MAX);

    for (int targets = texts_next_number(texts, BOND_TARGETS); targets > 0; targets--)
        read_target(texts, (uint16_t)port, is_far, fresh);
    return has_key && port >= 0;
}

/* As sys/control.h says. */
static void call_port(struct job *job, int rank, struct texts *texts)
{
    struct abroad_call like = { .rank = rank, .slot = texts_next_number(texts, JOB_CALLS - 1), .tag = NO_TAG }, *call;
    struct bond fresh = { .number = 0 };
    const char *other;

    like.number = (uint32_t)texts_next_number(texts, INT32_MAX);
    other = texts_next(texts);
    fresh.job = other ? strtoull(other, NULL, 16) : 0;
    like.owner = texts_next_number(texts, INT32_MAX);
    like.port.tenant = (uint32_t)texts_next_number(texts, INT32_MAX);
    like.port.number = (uint32_t)texts_next_number(texts, INT32_MAX);
    if (!bond_read_way(texts, is_far(job, rank), &fresh))
        like.slot = -1;
    call = add(job, &like);
    if (!read_group(job, texts, call) || like.slot < 0 || like.owner < 0) {
        drop(job, call);
        dynamic_answer(job, rank, MPI_ERR_PORT, "E1007: this is not the name of a port of this library");
        return;
    }
    dynamic_answer(job, rank, 0, "");
    far_ask_links(job);
    call->bond = bonds_with(job, &fresh);
    if (call->bond->state == BOND_IS_OVER)
        answer_ours(job, call, -1, JOB_NO_WAY);
}

bool bonds_withdraw(struct job *job, int rank, uint32_t number)
{
    struct abroad_call *call = job->abroad_calls;

    while (call && (call->is_theirs || call->rank != rank || call->number != number))
        call = call->next;
    if (!call)
        return false;
    if (call->step > CALL_WAITS) {
        call->has_left = true;
        bond_put(call->bond, BOND_LEAVE, -1, call->tag, NULL, 0); /* the answer says whether that was too late */
        return false;
    }
    drop(job, call);
    return true;
}

/* --- calls of theirs --- */

/* The process that accepts is told who has called; -1: nobody, he has gone. */
static void answer_accept(struct job *job, const struct abroad_call *call, int leader)
{
    struct job_desk *desk = job_desk(job->head, call->rank);
    char text[16] = "";

    if (job->ranks[call->rank].is_over)
        return;
    if (leader >= 0)
        snprintf(text, sizeof text, "%u", call->tag);
    desk->reply_first = leader;
    desk->reply_count = leader >= 0;
    dynamic_answer(job, call->rank, 0, text);
    if (!call->is_new)
        control_answered(job, call->rank);
}

static const char *say_refusal(enum job_refusal why)
{
    return why == JOB_NO_ROOM ? "E1001: there is no room for so many processes in the job that has called the port"
                              : "E1009: the process that has called the port is gone";
}

/* Then it tells its group, and waits until that has places there. */
static void answer_group(struct job *job, const struct abroad_call *call, bool is_ready, enum job_refusal why)
{
    if (job->ranks[call->rank].is_over)
        return;
    dynamic_answer(job, call->rank, is_ready ? 0 : MPI_ERR_PORT, is_ready ? "" : say_refusal(why));
    if (!call->is_new)
        control_answered(job, call->rank);
}

/* It comes to nothing; whoever waits for it is told. */
static void end_theirs(struct job *job, struct abroad_call *call, enum job_refusal why)
{
    if (call->step == CALL_WANTS_ROOM || call->step == CALL_IS_ADMITTED)
        answer_accept(job, call, -1);
    else if (call->step >= CALL_GATHERS)
        answer_group(job, call, false, why);
    drop(job, call);
}

void bonds_refuse(struct job *job, struct bond *bond, uint32_t tag, enum job_refusal why)
{
    struct abroad_call *call = find(job, bond, true, tag);

    bond_put(bond, BOND_ANSWER, -1 - (int)why, tag, NULL, 0);
    if (call)
        end_theirs(job, call, why);
}

static void advance(struct job *job, struct abroad_call *call);

/* As far as it goes now. Is the owner's request answered? */
static bool take_up(struct job *job, struct abroad_call *call)
{
    const struct bond *bond = call->bond;
    const uint32_t tag = call->tag;

    call->is_new = true;
    advance(job, call);
    call = find(job, bond, true, tag);
    if (!call || call->step == CALL_IS_ACCEPTED)
        return true;
    call->is_new = false;
    return false;
}

bool bonds_accept(struct job *job, struct bond *bond, uint32_t tag, int owner)
{
    struct abroad_call *call = find(job, bond, true, tag);

    if (!call) {
        job_desk(job->head, owner)->reply_count = 0;
        dynamic_answer(job, owner, 0, "");
        return true;
    }
    call->rank = owner;
    call->step = CALL_WANTS_ROOM;
    far_ask_links(job);
    return take_up(job, call);
}

/* The tag, and our group. */
static bool answer_theirs(struct job *job, int rank, struct texts *texts)
{
    const int tag = texts_next_number(texts, INT32_MAX);
    struct abroad_call *call = job->abroad_calls;

    while (call && (!call->is_theirs || call->step != CALL_IS_ACCEPTED || call->rank != rank ||
                    call->tag != (uint32_t)tag))
        call = call->next;
    if (!call) {
        dynamic_answer(job, rank, MPI_ERR_PORT, say_refusal(JOB_PORT_CLOSED));
        return true;
    }
    call->step = CALL_GATHERS;
    call->is_new = true;
    if (!read_group(job, texts, call) || (uint32_t)call->count > call->room) {
        bonds_refuse(job, call->bond, call->tag, call->count ? JOB_NO_ROOM : JOB_PORT_CLOSED);
        return true;
    }
    return take_up(job, call);
}

/* --- both --- */

/* A call of ours has come to be accepted: they are waiting for our word. */
static void end_admission(struct job *job, struct abroad_call *call)
{
    if (call->is_theirs) {
        answer_accept(job, call, call->leader);
        call->step = CALL_IS_ACCEPTED;
        return;
    }
    bond_put(call->bond, BOND_READY, 0, call->tag, NULL, 0);
    answer_ours(job, call, call->leader, JOB_PORT_CLOSED);
}

static void admit(struct job *job, struct abroad_call *call)
{
    call->leader = guests_admit(job, call->bond, call->members, call->member_count, &call->admission);
    call->step = CALL_IS_ADMITTED;
    if (call->leader >= 0)
        return;
    if (call->is_theirs) {
        bonds_refuse(job, call->bond, call->tag, JOB_NO_ROOM);
    } else {
        bond_put(call->bond, BOND_READY, -1 - (int)JOB_NO_ROOM, call->tag, NULL, 0);
        answer_ours(job, call, -1, JOB_NO_ROOM);
    }
}

static void send_answer(struct job *job, struct abroad_call *call)
{
    if (has_lost_one(job, call)) {
        bonds_refuse(job, call->bond, call->tag, JOB_PORT_CLOSED);
        return;
    }
    put_group(job, call, BOND_ANSWER, 0, NULL, 0);
    call->step = CALL_IS_ANSWERED;
}

/* A step, if that is possible now. It may be the last one, with which the call is gone. */
static bool step(struct job *job, struct abroad_call *call)
{
    switch (call->step) {
    case CALL_WAITS:
        if (call->bond->state != BOND_IS_OPEN || far_is_linking(job) || !is_gathered(job, call))
            return false;
        send_call(job, call);
        return false;
    case CALL_WANTS_ROOM:
        if (far_is_linking(job) || spawning_holds_places(job))
            return false;
        admit(job, call);
        return true;
    case CALL_IS_ADMITTED:
        if (!far_has_admitted(job, call->admission))
            return false;
        end_admission(job, call);
        return false;
    case CALL_GATHERS:
        if (!is_gathered(job, call))
            return false;
        send_answer(job, call);
        return false;
    default: return false;
    }
}

static bool is_there(const struct job *job, const struct abroad_call *call)
{
    const struct abroad_call *at = job->abroad_calls;

    while (at && at != call)
        at = at->next;
    return at;
}

static void advance(struct job *job, struct abroad_call *call)
{
    while (step(job, call) && is_there(job, call)) {
    }
}

void bonds_look(struct job *job)
{
    struct abroad_call *next;

    for (struct abroad_call *call = job->abroad_calls; call; call = next) {
        next = call->next; /* only the call itself may go */
        advance(job, call);
    }
}

/* --- being reached --- */

/* The addresses of this machine, for a rank on another one. */
static void write_reach(const struct job *job, int rank, uint16_t port, char *hex)
{
    const char *wanted = program_variable(job->ranks[rank].app, "PARLEY_TCP_INTERFACE");
    unsigned char bytes[REACH_SIZE];
    struct ifaces ifaces;
    size_t length;

    *hex = 0;
    if (!ifaces_look(wanted ? wanted : "", &ifaces) || !ifaces.count)
        return;
    length = ifaces_write(&ifaces, port, bytes, sizeof bytes);
    for (size_t i = 0; i < length; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

static void be_reachable(struct job *job, int rank)
{
    const uint64_t *key = NULL;
    const uint16_t port = bonds_listen(job, &key);
    char text[64 + 2 * REACH_SIZE] = "", reach[2 * REACH_SIZE + 1] = "";

    if (port && is_far(job, rank))
        write_reach(job, rank, port, reach);
    if (port)
        snprintf(text, sizeof text, "%u %016llx%016llx %s", port, (unsigned long long)key[0],
                 (unsigned long long)key[1], reach);
    dynamic_answer(job, rank, 0, text);
}

bool bonds_request(struct job *job, int rank, unsigned kind, struct texts *texts, bool *is_answered)
{
    if (kind == CONTROL_OPEN)
        be_reachable(job, rank);
    else if (kind == CONTROL_CALL)
        call_port(job, rank, texts);
    else if (kind == CONTROL_GROUP)
        *is_answered = answer_theirs(job, rank, texts);
    else
        return false;
    return true;
}

/* --- ends --- */

void bonds_drop_calls(struct job *job, int rank)
{
    struct abroad_call *next;

    for (struct abroad_call *call = job->abroad_calls; call; call = next) {
        next = call->next;
        if (call->rank != rank)
            continue;
        if (call->is_theirs) {
            bonds_refuse(job, call->bond, call->tag, JOB_PORT_CLOSED);
            continue;
        }
        if (call->step > CALL_WAITS)
            bond_put(call->bond, BOND_LEAVE, -1, call->tag, NULL, 0);
        drop(job, call);
    }
}

void bond_lost(struct job *job, struct bond *bond)
{
    struct abroad_call *next;

    calls_drop_abroad(job, bond);
    for (struct abroad_call *call = job->abroad_calls; call; call = next) {
        next = call->next;
        if (call->bond == bond && call->is_theirs)
            end_theirs(job, call, JOB_PORT_CLOSED);
        else if (call->bond == bond)
            answer_ours(job, call, -1, bond->number ? JOB_PORT_CLOSED : JOB_NO_WAY);
    }
    meetings_look(job, bond);
    bond_guests_lost(job, bond);
}

/* --- frames --- */

static bool take_call(struct job *job, struct bond *bond, const struct frame *frame, const char *data)
{
    struct abroad_call like = { .bond = bond, .tag = frame->value, .is_theirs = true, .rank = -1, .step = CALL_IS_OUT };
    const char *members;
    const int count = bond_members(frame, data, &members);
    struct bond_port port;
    int theirs = 0;

    for (const struct abroad_call *call = job->abroad_calls; call; call = call->next)
        theirs += call->bond == bond && call->is_theirs;
    if (count < 1 || theirs >= THEIRS_MAX || frame->value / TAG_SIDE != 1 - bond->side ||
        find(job, bond, true, frame->value) || !take_members(&like, members, count))
        return false;
    memcpy(&port, data, sizeof port);
    like.room = port.room;
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

    if (!call) { /* its caller has ended */
        if (count > 0)
            bond_put(bond, BOND_READY, -1 - (int)JOB_PORT_CLOSED, frame->value, NULL, 0);
        return count >= 0;
    }
    if (count < 1) {
        answer_ours(job, call, -1, (enum job_refusal)(-1 - frame->rank));
        return count == 0;
    }
    if (call->step != CALL_IS_OUT || !take_members(call, members, count))
        return false;
    call->step = CALL_WANTS_ROOM;
    far_ask_links(job);
    return true;
}

static void take_ready(struct job *job, struct bond *bond, const struct frame *frame)
{
    struct abroad_call *call = find(job, bond, true, frame->value);

    if (!call || call->step != CALL_IS_ANSWERED)
        return;
    answer_group(job, call, frame->rank >= 0, (enum job_refusal)(-1 - frame->rank));
    drop(job, call);
}

bool bond_take(struct job *job, struct bond *bond, const struct frame *frame, const char *data)
{
    const int place = frame->rank < 0 ? -1 : guests_find(job, bond, (uint32_t)frame->rank);

    switch (frame->kind) {
    case BOND_CALL: return take_call(job, bond, frame, data);
    case BOND_ANSWER: return take_answer(job, bond, frame, data);
    case BOND_READY: take_ready(job, bond, frame); return true;
    case BOND_LEAVE:
        if (calls_leave_abroad(job, bond, frame->value))
            bonds_refuse(job, bond, frame->value, JOB_PORT_CLOSED);
        return true;
    case BOND_OVER:
        if (place >= 0)
            bond_guest_over(job, bond, place, frame->value & 0xff ? (int)(frame->value & 0xff) : 1);
        return true;
    case BOND_GONE:
        if (place >= 0 && job_proc(job->head, place)->abroad.tenant == frame->value)
            guests_retire(job, bond, place);
        return true;
    case BOND_WELCOME: return bond->is_certain = true;
    default:
        bond->has_left = true;
        return true;
    }
}
