/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: calls of MPI_Comm_connect to ports of processes on other machines (MPI 5.0 §11.9.3). On one machine the
 * two meet in shared memory and nobody else knows of it (src/dyn/accept.c); here mpiexec is between them. It has a list
 * of all calls, and says of each whether it has been accepted or taken back, so that both sides know the same.
 *
 * Who waits at a port of a process is entered as a visitor in that process's desk, by mpiexec or by the agent there;
 * the answer goes into the desk of the one who calls. Some of a process's visitors may have to wait for room there. */
#include <mpi.h>
#include <string.h>

#include "base/mem.h"
#include "bonds.h"
#include "far.h"
#include "spawning.h"
#include "sys/bell.h"
#include "sys/control.h"

struct port_call {
    struct port_call *next;
    struct bond *bond;     /* with the caller's job, where `number` is the call's tag; NULL: it is of this one */
    int caller, slot;      /* place, and which of its entries; -1: of another job */
    uint32_t number;       /* of the call there */
    int owner;             /* place of the process that has opened the port */
    uint32_t tenant, port;
    int visitor;           /* which one at the owner; -1: there is no room yet */
};

/* --- on the machine of the process concerned --- */

static void wake(struct job *job, int rank)
{
    bell_wake(-1, job->head, &job_proc(job->head, rank)->sleep);
}

static bool is_open(struct job *job, int owner, const struct frame_visit *visit)
{
    const struct job_proc *proc = job_proc(job->head, owner);
    const struct job_desk *desk = job_desk(job->head, owner);

    for (int i = 0; i < JOB_PORTS; i++)
        if (atomic_load_explicit(&desk->port[i], memory_order_acquire) == visit->port)
            return proc->tenant == visit->tenant &&
                   atomic_load_explicit(&proc->state, memory_order_relaxed) < JOB_FINALISED;
    return false;
}

bool calls_visit(struct job *job, int owner, const struct frame_visit *visit)
{
    struct job_desk *desk = job_desk(job->head, owner);
    struct job_visitor *visitor = &desk->visitor[visit->visitor];

    if (!is_open(job, owner, visit))
        return false;
    visitor->port = visit->port;
    visitor->number = visit->number;
    visitor->ticket = atomic_load_explicit(&desk->called, memory_order_relaxed);
    atomic_store_explicit(&visitor->state, JOB_CALLER_WAITS, memory_order_release); /* pairs with first_visitor */
    atomic_fetch_add_explicit(&desk->called, 1, memory_order_release);
    wake(job, owner);
    return true;
}

void calls_leave(struct job *job, int owner, int visitor)
{
    atomic_store_explicit(&job_desk(job->head, owner)->visitor[visitor].state, JOB_CALLER_NONE, memory_order_relaxed);
}

void calls_answer(struct job *job, int caller, const struct frame_answer *answer)
{
    struct job_caller *entry = &job_desk(job->head, caller)->caller[answer->slot];

    entry->tag = answer->tag;
    entry->owner = answer->leader;
    atomic_store_explicit(&entry->state, answer->is_accepted ? JOB_CALLER_ACCEPTED : JOB_CALLER_REFUSED,
                          memory_order_release); /* pairs with has_answer */
    wake(job, caller);
}

/* --- mpiexec --- */

void calls_tell(struct job *job, int caller, const struct frame_answer *answer)
{
    if (job->ranks[caller].is_over)
        return;
    if (is_far(job, caller))
        far_put_answer(job, caller, answer);
    else
        calls_answer(job, caller, answer);
}

static void put_answer(struct job *job, const struct port_call *call, bool is_accepted, uint32_t tag)
{
    if (call->bond)
        bonds_refuse(job, call->bond, call->number, JOB_PORT_CLOSED);
    else
        calls_tell(job, call->caller, &(struct frame_answer){ call->slot, is_accepted, tag, -1 });
}

static bool is_free(const struct job *job, int owner, int visitor)
{
    for (const struct port_call *call = job->calls; call; call = call->next)
        if (call->owner == owner && call->visitor == visitor)
            return false;
    return true;
}

static void drop(struct port_call **place)
{
    struct port_call *call = *place;

    *place = call->next;
    mem_free(call);
}

static struct port_call **find(struct job *job, int caller, uint32_t number)
{
    struct port_call **place = &job->calls;

    while (*place && ((*place)->caller != caller || (*place)->number != number))
        place = &(*place)->next;
    return place;
}

/* Have it entered at the owner, if there is room. False: the port is not open; of one on another machine
 * calls_take_refusal tells that later. */
static bool enter(struct job *job, struct port_call *call)
{
    struct frame_visit visit = { .port = call->port, .tenant = call->tenant, .number = call->number };

    for (visit.visitor = 0; visit.visitor < JOB_VISITORS; visit.visitor++)
        if (is_free(job, call->owner, visit.visitor))
            break;
    if (visit.visitor == JOB_VISITORS)
        return true;
    call->visitor = visit.visitor;
    if (!is_far(job, call->owner))
        return calls_visit(job, call->owner, &visit);
    far_put_visit(job, call->owner, &visit);
    return true;
}

/* There may be room for others now. */
static void enter_waiting(struct job *job)
{
    for (struct port_call **place = &job->calls; *place;) {
        if ((*place)->visitor >= 0 || enter(job, *place)) {
            place = &(*place)->next;
            continue;
        }
        put_answer(job, *place, false, 0);
        drop(place);
    }
}

/* It is over without having been accepted. */
static void end(struct job *job, struct port_call **place, bool tells_caller)
{
    const struct port_call *call = *place;

    if (call->visitor >= 0 && !job->ranks[call->owner].is_over) {
        if (is_far(job, call->owner))
            far_put_leave(job, call->owner, call->visitor);
        else
            calls_leave(job, call->owner, call->visitor);
    }
    if (tells_caller)
        put_answer(job, call, false, 0);
    drop(place);
}

bool calls_take_refusal(struct job *job, int owner, uint32_t visitor, const char *data)
{
    uint32_t number;

    memcpy(&number, data, sizeof number);
    for (struct port_call **place = &job->calls; *place; place = &(*place)->next)
        if ((*place)->owner == owner && (*place)->visitor == (int)visitor && (*place)->number == number) {
            end(job, place, true);
            break;
        }
    enter_waiting(job);
    return true;
}

void calls_rank_over(struct job *job, int rank)
{
    for (struct port_call **place = &job->calls; *place;)
        if ((*place)->caller == rank || (*place)->owner == rank)
            end(job, place, (*place)->owner == rank);
        else
            place = &(*place)->next;
    enter_waiting(job);
}

/* Entry, number, owner, tenant, port. */
static bool take_connect(struct job *job, int rank, struct texts *texts)
{
    struct port_call *call = need(sizeof *call), **last = &job->calls;

    *call = (struct port_call){ .caller = rank, .visitor = -1 };
    call->slot = texts_next_number(texts, JOB_CALLS - 1);
    call->number = (uint32_t)texts_next_number(texts, INT32_MAX);
    call->owner = texts_next_number(texts, (int)job->head->slots - 1);
    call->tenant = (uint32_t)texts_next_number(texts, INT32_MAX);
    call->port = (uint32_t)texts_next_number(texts, INT32_MAX);
    if (call->slot < 0 || call->owner < 0 || call->owner >= job->used || job->ranks[call->owner].is_over) {
        mem_free(call);
        dynamic_answer(job, rank, MPI_ERR_PORT, "E1009: the port is closed: the process that had opened it has ended");
        return true;
    }
    while (*last)
        last = &(*last)->next;
    *last = call;
    dynamic_answer(job, rank, 0, "");
    enter_waiting(job);
    return true;
}

void calls_add_abroad(struct job *job, struct bond *bond, uint32_t tag, int owner, uint32_t tenant, uint32_t port)
{
    struct port_call *call = need(sizeof *call), **last = &job->calls;

    *call = (struct port_call){ .bond = bond, .caller = -1, .slot = -1, .number = tag, .owner = owner, .tenant = tenant,
                                .port = port, .visitor = -1 };
    while (*last)
        last = &(*last)->next;
    *last = call;
    enter_waiting(job);
}

bool calls_leave_abroad(struct job *job, const struct bond *bond, uint32_t tag)
{
    for (struct port_call **place = &job->calls; *place; place = &(*place)->next)
        if ((*place)->bond == bond && (*place)->number == tag) {
            end(job, place, false);
            enter_waiting(job);
            return true;
        }
    return false;
}

void calls_drop_abroad(struct job *job, const struct bond *bond)
{
    for (struct port_call **place = &job->calls; *place;)
        if ((*place)->bond == bond)
            end(job, place, false);
        else
            place = &(*place)->next;
    enter_waiting(job);
}

/* Number; it is said whether it is so. */
static bool withdraw(struct job *job, int rank, struct texts *texts)
{
    const uint32_t number = (uint32_t)texts_next_number(texts, INT32_MAX);
    struct port_call **place = find(job, rank, number);

    job_desk(job->head, rank)->reply_count = *place || bonds_withdraw(job, rank, number);
    dynamic_answer(job, rank, 0, "");
    if (*place)
        end(job, place, false);
    enter_waiting(job);
    return true;
}

/* Visitor, its number, port, tag: the owner wants to be connected with him. It is told who that is, if he still
 * waits; of one of another job later. */
static bool take_accept(struct job *job, int rank, struct texts *texts)
{
    const int visitor = texts_next_number(texts, JOB_VISITORS - 1);
    const uint32_t number = (uint32_t)texts_next_number(texts, INT32_MAX);
    const uint32_t port = (uint32_t)texts_next_number(texts, INT32_MAX);
    const uint32_t tag = (uint32_t)texts_next_number(texts, INT32_MAX);
    struct job_desk *desk = job_desk(job->head, rank);
    struct port_call **place = &job->calls, call;

    while (*place && ((*place)->owner != rank || (*place)->visitor != visitor || (*place)->number != number ||
                      (*place)->port != port))
        place = &(*place)->next;
    desk->reply_count = *place != NULL;
    if (*place) {
        call = **place;
        drop(place);
        enter_waiting(job);
        if (call.bond)
            return bonds_accept(job, call.bond, number, rank);
        desk->reply_first = call.caller;
        put_answer(job, &call, true, tag);
    }
    dynamic_answer(job, rank, 0, "");
    return true;
}

/* Port: nobody is accepted there any more. */
static bool close_port(struct job *job, int rank, struct texts *texts)
{
    const uint32_t port = (uint32_t)texts_next_number(texts, INT32_MAX);

    for (struct port_call **place = &job->calls; *place;)
        if ((*place)->owner == rank && (*place)->port == port)
            end(job, place, true);
        else
            place = &(*place)->next;
    dynamic_answer(job, rank, 0, "");
    enter_waiting(job);
    return true;
}

bool calls_request(struct job *job, int rank, unsigned kind, struct texts *texts, bool *is_answered)
{
    static const struct {
        unsigned kind;
        bool (*take)(struct job *job, int rank, struct texts *texts);
    } requests[] = {
        { CONTROL_CONNECT, take_connect }, { CONTROL_WITHDRAW, withdraw }, { CONTROL_ACCEPT, take_accept },
        { CONTROL_CLOSE, close_port },
    };

    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        if (requests[i].kind == kind) {
            *is_answered = requests[i].take(job, rank, texts);
            return true;
        }
    return false;
}
