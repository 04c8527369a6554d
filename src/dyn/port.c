/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. Ports (MPI 5.0 §11.9.2, §11.9.3), all by words in the job segment: a process lists its open ports in its
 * job_desk. Who wants to be connected enters itself in its own desk and waits; the owner of the port, in accept, looks
 * through the desks of all and takes the one that came first. Then both know each other and make an intercommunicator.
 * Nobody asks mpiexec, but between machines: there it carries the words, and decides whether one who is accepted has
 * not just gone (launch/calls.c).
 *
 * A port's name says which job, which process, and which of its ports; and how another job finds it (other_jobs.c).
 * Knows: sys (the segment), progress, comm. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "comm/comm.h"
#include "dyn/int_dyn.h"
#include "obj/info.h"
#include "p2p/p2p.h"
#include "progress/progress.h"
#include "sys/clock.h"
#include "sys/control.h"

/* A port as its name says. */
struct port {
    uint64_t job;
    int owner;
    uint32_t tenant; /* which of the processes that have had the owner's number */
    uint32_t number; /* among its ports, from 1 */
    bool is_abroad;  /* of another job; … */
    const char *reach; /* … and how that is called; empty: not at all */
};

#define PORT_FORMAT "parley:%016" PRIx64 ":%d:%" PRIu32 ":%" PRIu32
/* For messages: what follows is a secret. */
#define PORT_SHOWN "%.*s"
#define SHOWN(name) (int)size_min(strcspn(name, "@"), 100), name

/* The next port's number. */
static _Atomic uint32_t numbers = 1;

/* Calls that have been accepted; one thread accepts at a time. */
static struct {
    pthread_mutex_t lock;
    uint32_t number; /* guarded by lock */
} accepts = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct job_desk *desk_of(int proc)
{
    return job_desk(dyn_job->head, proc);
}

static bool is_near(int proc)
{
    return job_is_near(dyn_job->head, proc, dyn_job->proc);
}

/* Where its owner lists it; NULL: nowhere, it is not open. */
static _Atomic uint32_t *find(const struct port *port)
{
    struct job_desk *desk = desk_of(port->owner);

    for (int i = 0; i < JOB_PORTS; i++)
        if (atomic_load_explicit(&desk->port[i], memory_order_acquire) == port->number)
            return &desk->port[i];
    return NULL;
}

/* Is the process that has opened it still there, with the port open? */
static bool is_open(const struct port *port)
{
    const struct job_proc *proc = job_proc(dyn_job->head, port->owner);

    return proc->tenant == port->tenant && atomic_load_explicit(&proc->state, memory_order_relaxed) < JOB_FINALISED &&
           find(port);
}

static int no_port(const char *name)
{
    return err(MPI_ERR_PORT, "E1007: \"" PORT_SHOWN "\" is not the name of a port of this library", SHOWN(name));
}

static int read_name(const char *name, struct port *port)
{
    int length = 0;

    if (sscanf(name, "parley:%16" SCNx64 ":%d:%" SCNu32 ":%" SCNu32 "%n", &port->job, &port->owner, &port->tenant,
               &port->number, &length) != 4 || port->owner < 0 || !port->number)
        return no_port(name);
    port->reach = name[length] == '@' ? name + length + 1 : name + length;
    if (*port->reach && (name[length] != '@' || !abroad_is_name(port->reach)))
        return no_port(name);
    port->is_abroad = port->job != dyn_job->token[0];
    return !port->is_abroad && port->owner >= dyn_job->procs ? no_port(name) : 0;
}

/* Of this process, and open. */
static int read_own(const char *name, struct port *port)
{
    const int rc = read_name(name, port);

    if (rc)
        return rc;
    if (port->is_abroad || port->owner != dyn_job->proc ||
        port->tenant != job_proc(dyn_job->head, dyn_job->proc)->tenant)
        return err(MPI_ERR_PORT, "E1008: the port " PORT_SHOWN " was opened by another process, which alone can use "
                   "it", SHOWN(name));
    return find(port) ? 0 : err(MPI_ERR_PORT, "E1009: the port " PORT_SHOWN " is closed", SHOWN(name));
}

/* --- opening and closing --- */

int dyn_open_port(char *name)
{
    const uint32_t number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed);
    const int rc = dyn_need_job("MPI_Open_port");
    char reach[REACH_MAX] = "";

    if (rc)
        return rc;
    for (int i = 0; i < JOB_PORTS; i++) {
        uint32_t none = 0;
        if (!atomic_compare_exchange_strong_explicit(&desk_of(dyn_job->proc)->port[i], &none, number,
                                                     memory_order_release, memory_order_relaxed))
            continue;
        (void)abroad_name(reach); /* an error of that concerns other jobs only */
        snprintf(name, MPI_MAX_PORT_NAME, PORT_FORMAT "%s%s", dyn_job->token[0], dyn_job->proc,
                 job_proc(dyn_job->head, dyn_job->proc)->tenant, number, *reach ? "@" : "", reach);
        return 0;
    }
    return err(MPI_ERR_PORT, "E1010: this process has %d ports open; it can have no more", JOB_PORTS);
}

/* Who waits at a port. */
static bool waits_at(const struct job_caller *caller, int owner, uint32_t number)
{
    return atomic_load_explicit(&caller->state, memory_order_acquire) == JOB_CALLER_WAITS && caller->owner == owner &&
           caller->port == number;
}

/* Those who wait in vain will see that it is closed. */
static void wake_callers(const struct port *port)
{
    for (int proc = 0; proc < dyn_job->procs; proc++)
        for (int i = 0; i < JOB_CALLS && is_near(proc); i++)
            if (waits_at(&desk_of(proc)->caller[i], port->owner, port->number))
                progress_wake(&job_proc(dyn_job->head, proc)->sleep);
}

/* mpiexec is told something about calls between machines, by up to five numbers. */
static int tell(unsigned kind, const char *what, const long *words, int count, struct pm_reply *reply)
{
    struct request request = { 0 };

    for (int i = 0; i < count; i++)
        request_add_number(&request, words[i]);
    return request_send(&request, kind, what, reply);
}

int dyn_close_port(const char *name)
{
    struct pm_reply reply;
    struct port port;
    int rc = dyn_need_job("MPI_Close_port");

    if (!rc)
        rc = read_own(name, &port);
    if (rc)
        return rc;
    atomic_store_explicit(find(&port), 0, memory_order_release);
    wake_callers(&port);
    if (!dyn_job->head->is_spread && !*port.reach)
        return 0;
    return tell(CONTROL_CLOSE, "MPI_Close_port", (long[]){ port.number }, 1, &reply);
}

/* --- accept --- */

struct accept {
    struct port port;
    uint32_t called;           /* desk->called when we looked last */
    bool has_looked;
    struct job_caller *caller; /* who is accepted; NULL: nobody yet, … */
    int proc;                  /* … whose it is */
    int visitor;               /* … or one of another machine or job; -1: none */
    bool is_abroad;            /* he is of another job */
    uint32_t tag;
};

/* The one that came first, among all who wait at the port; NULL: nobody. */
static struct job_caller *first_caller(const struct port *port, int *proc)
{
    struct job_caller *first = NULL;

    for (int other = 0; other < dyn_job->procs; other++) {
        for (int i = 0; i < JOB_CALLS && is_near(other); i++) {
            struct job_caller *caller = &desk_of(other)->caller[i];
            if (!waits_at(caller, port->owner, port->number) ||
                (first && (int32_t)(caller->ticket - first->ticket) >= 0) ||
                atomic_load_explicit(&job_proc(dyn_job->head, other)->state, memory_order_relaxed) == JOB_EXITED)
                continue;
            first = caller;
            *proc = other;
        }
    }
    return first;
}

/* The same of those from other machines; -1: nobody. */
static int first_visitor(const struct port *port)
{
    const struct job_visitor *visitor = desk_of(dyn_job->proc)->visitor;
    int first = -1;

    for (int i = 0; i < JOB_VISITORS; i++)
        if (atomic_load_explicit(&visitor[i].state, memory_order_acquire) == JOB_CALLER_WAITS &&
            visitor[i].port == port->number &&
            (first < 0 || (int32_t)(visitor[i].ticket - visitor[first].ticket) < 0))
            first = i;
    return first;
}

/* Take the one that came first of both. False: its time was just over. */
static bool take_caller(struct accept *accept, struct job_caller *caller, int visitor)
{
    struct job_visitor *far = visitor < 0 ? NULL : &desk_of(dyn_job->proc)->visitor[visitor];
    uint32_t waits = JOB_CALLER_WAITS;

    accept->tag = accepts.number++ % INT32_MAX;
    if (far && (!caller || (int32_t)(far->ticket - caller->ticket) < 0)) {
        if (atomic_compare_exchange_strong_explicit(&far->state, &waits, JOB_CALLER_TAKEN, memory_order_acq_rel,
                                                    memory_order_relaxed))
            accept->visitor = visitor;
        return accept->visitor >= 0;
    }
    caller->tag = accept->tag;
    if (atomic_compare_exchange_strong_explicit(&caller->state, &waits, JOB_CALLER_ACCEPTED, memory_order_acq_rel,
                                                memory_order_relaxed))
        accept->caller = caller;
    return accept->caller;
}

static bool has_caller(void *arg)
{
    struct accept *accept = arg;
    const uint32_t called = atomic_load_explicit(&desk_of(dyn_job->proc)->called, memory_order_acquire);
    struct job_caller *caller;
    bool is_taken = false;
    int visitor;

    if (accept->has_looked && called == accept->called)
        return false;
    accept->has_looked = true;
    accept->called = called;
    pthread_mutex_lock(&accepts.lock);
    do {
        caller = first_caller(&accept->port, &accept->proc);
        visitor = first_visitor(&accept->port);
        is_taken = (caller || visitor >= 0) && take_caller(accept, caller, visitor);
    } while (!is_taken && (caller || visitor >= 0));
    pthread_mutex_unlock(&accepts.lock);
    return is_taken;
}

/* He who is accepted is of another job. */
static int meet_abroad(struct comm *comm, int root, const struct finding *finding, struct comm **out)
{
    struct finding greeted = *finding;
    int rc = abroad_prepare(comm, "MPI_Comm_accept");

    if (comm->rank == root)
        rc = abroad_greet(comm, finding->tag, rc);
    rc = finding_share(comm, root, "MPI_Comm_accept", rc, &greeted);
    return rc ? rc : comm_inter_abroad(comm, root, finding->proc, finding->tag, "MPI_Comm_accept", out);
}

/* mpiexec says who the visitor is, and has told him; accept->proc is -1 if he is gone. */
static int greet_visitor(struct accept *accept)
{
    const struct job_visitor *visitor = &desk_of(dyn_job->proc)->visitor[accept->visitor];
    const long words[] = { accept->visitor, visitor->number, accept->port.number, accept->tag };
    struct pm_reply reply = { 0 };
    const int rc = tell(CONTROL_ACCEPT, "MPI_Comm_accept", words, ARRAY_LEN(words), &reply);

    accept->proc = !rc && reply.count ? reply.first : -1;
    accept->is_abroad = accept->proc >= 0 && *reply.text;
    if (accept->is_abroad)
        accept->tag = (uint32_t)strtoul(reply.text, NULL, 10);
    accept->visitor = -1;
    accept->has_looked = false;
    return rc;
}

static int accept_tag(int owner, int caller, uint32_t number)
{
    return finding_tag(owner < caller ? TAG_ACCEPT_LOW : TAG_ACCEPT_HIGH, number);
}

static int wait_for_caller(const char *name, struct finding *finding)
{
    struct accept accept = { .proc = -1, .visitor = -1 };
    int rc = dyn_need_job("MPI_Comm_accept");

    if (!rc)
        rc = read_own(name, &accept.port);
    while (!rc && accept.proc < 0) {
        progress_wait_look(has_caller, &accept);
        if (!accept.caller)
            rc = greet_visitor(&accept);
    }
    if (rc)
        return rc;
    finding->proc = accept.proc;
    finding->is_abroad = accept.is_abroad;
    finding->tag = accept.is_abroad ? (int)accept.tag : accept_tag(dyn_job->proc, accept.proc, accept.tag);
    if (accept.caller)
        progress_wake(&job_proc(dyn_job->head, accept.proc)->sleep);
    return 0;
}

int dyn_accept(const char *name, int root, struct comm *comm, struct comm **out)
{
    struct finding finding = { 0 };
    int rc = p2p_check_within(comm, "MPI_Comm_accept");

    if (!rc)
        rc = comm_check_one_job(comm, "MPI_Comm_accept");
    if (rc)
        return rc;
    rc = comm->rank == root ? wait_for_caller(name, &finding) : 0;
    rc = finding_share(comm, root, "MPI_Comm_accept", rc, &finding);
    if (!rc && finding.is_abroad)
        return meet_abroad(comm, root, &finding, out);
    return rc ? rc : comm_inter_with(comm, root, finding.proc, finding.tag, "MPI_Comm_accept", out);
}

/* --- connect --- */

struct connect {
    struct port port;
    struct job_caller *caller;
    uint64_t end; /* when the time is over; 0: never */
    bool is_far;     /* the port is of a process on another machine, … */
    const struct comm *group; /* … of another job, and these want to be connected with it; NULL: it is not */
    uint32_t number; /* of the call, for mpiexec, if so */
};

static _Atomic uint32_t calls;

/* An entry of our own that nobody uses. */
static bool has_entry(void *arg)
{
    struct connect *connect = arg;

    for (int i = 0; i < JOB_CALLS && !connect->caller; i++) {
        struct job_caller *caller = &desk_of(dyn_job->proc)->caller[i];
        uint32_t none = JOB_CALLER_NONE;
        if (atomic_compare_exchange_strong_explicit(&caller->state, &none, JOB_CALLER_TAKEN, memory_order_acquire,
                                                    memory_order_relaxed))
            connect->caller = caller;
    }
    return connect->caller;
}

static uint32_t state_of(const struct connect *connect)
{
    return atomic_load_explicit(&connect->caller->state, memory_order_acquire);
}

static bool is_accepted(const struct connect *connect)
{
    return state_of(connect) == JOB_CALLER_ACCEPTED;
}

static bool is_over(const struct connect *connect)
{
    return connect->end && clock_ns() >= connect->end;
}

/* Accepted, or never to be. */
static bool has_answer(void *arg)
{
    const struct connect *connect = arg;

    if (connect->is_far)
        return state_of(connect) != JOB_CALLER_WAITS || is_over(connect);
    return is_accepted(connect) || is_over(connect) || !is_open(&connect->port);
}

/* Seconds, perhaps with a fraction; nothing is said: for ever. */
static int read_timeout(struct info *info, uint64_t *end)
{
    char text[MPI_MAX_INFO_VAL + 1], *rest;
    size_t length;
    int flag = 0;
    double seconds;

    *end = 0;
    if (!info || info_get(info, "timeout", sizeof text, text, &length, &flag) || !flag)
        return 0;
    seconds = strtod(text, &rest);
    if (!length || *rest || !(seconds >= 0))
        return err(MPI_ERR_INFO_VALUE, "E1003: timeout is %.100s; seconds are needed", text);
    *end = clock_ns() + (uint64_t)((seconds < 1e9 ? seconds : 1e9) * 1e9) + 1;
    return 0;
}

/* Enter ourselves, and let the owner look. */
static void call_owner(struct connect *connect)
{
    struct job_desk *desk = desk_of(connect->port.owner);
    struct job_caller *caller = connect->caller;

    caller->owner = connect->port.owner;
    caller->port = connect->port.number;
    caller->ticket = atomic_load_explicit(&desk->called, memory_order_relaxed);
    atomic_store_explicit(&caller->state, JOB_CALLER_WAITS, memory_order_release);
    atomic_fetch_add_explicit(&desk->called, 1, memory_order_release); /* pairs with has_caller */
    progress_wake(&job_proc(dyn_job->head, connect->port.owner)->sleep);
}

/* Give the entry back; false: we have been accepted at the last moment. */
static bool withdraw(struct connect *connect)
{
    uint32_t waits = JOB_CALLER_WAITS;

    return atomic_compare_exchange_strong_explicit(&connect->caller->state, &waits, JOB_CALLER_NONE,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

static int closed(const char *name)
{
    return err(MPI_ERR_PORT, "E1009: the port " PORT_SHOWN " is closed, or the process that had opened it has ended",
               SHOWN(name));
}

static int too_late(const char *name)
{
    return err(MPI_ERR_PORT, "E1011: nobody has accepted at the port " PORT_SHOWN " in the time that timeout says",
               SHOWN(name));
}

static int wait_for_near(struct connect *connect, const char *name)
{
    if (!is_open(&connect->port))
        return closed(name);
    progress_wait_until(has_entry, connect);
    call_owner(connect);
    progress_wait_look(has_answer, connect);
    if (is_accepted(connect) || !withdraw(connect))
        return 0;
    return is_open(&connect->port) ? too_late(name) : closed(name);
}

/* Through mpiexec. Nobody but the launcher writes to the entry while it waits. */
static int call_far_owner(struct connect *connect)
{
    struct job_caller *caller = connect->caller;
    const struct port *port = &connect->port;
    const long words[] = { caller - desk_of(dyn_job->proc)->caller, connect->number, port->owner, port->tenant,
                             port->number };
    struct pm_reply reply;
    int rc;

    caller->owner = -1; /* for those who look for callers of their own */
    atomic_store_explicit(&caller->state, JOB_CALLER_WAITS, memory_order_release);
    if (connect->group)
        rc = abroad_call(&(struct abroad_port){ port->job, port->owner, port->tenant, port->number, port->reach },
                         connect->group, (int)words[0], connect->number);
    else
        rc = tell(CONTROL_CONNECT, "MPI_Comm_connect", words, ARRAY_LEN(words), &reply);
    if (rc)
        atomic_store_explicit(&caller->state, JOB_CALLER_NONE, memory_order_release);
    return rc;
}

/* Is it taken back? Else the answer is there, or will be in a moment. */
static bool is_taken_back(struct connect *connect)
{
    struct pm_reply reply = { 0 };

    return !tell(CONTROL_WITHDRAW, "MPI_Comm_connect", (long[]){ connect->number }, 1, &reply) && reply.count;
}

static int refused(const struct connect *connect, const char *name, bool is_late)
{
    const enum job_refusal why = (enum job_refusal)connect->caller->tag;

    if (!connect->group)
        return closed(name);
    return is_late && why == JOB_PORT_CLOSED ? too_late(name) : abroad_refused(why);
}

static int wait_for_far(struct connect *connect, const char *name)
{
    bool is_late;
    int rc;

    connect->number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) % INT32_MAX;
    progress_wait_until(has_entry, connect);
    rc = call_far_owner(connect);
    if (rc)
        return rc;
    progress_wait_look(has_answer, connect);
    is_late = state_of(connect) == JOB_CALLER_WAITS;
    if (is_late && is_taken_back(connect)) {
        rc = too_late(name);
    } else {
        connect->end = 0;
        progress_wait_look(has_answer, connect);
        rc = is_accepted(connect) ? 0 : refused(connect, name, is_late);
    }
    if (rc)
        atomic_store_explicit(&connect->caller->state, JOB_CALLER_NONE, memory_order_release);
    return rc;
}

static int wait_for_accept(const char *name, struct info *info, struct finding *finding)
{
    struct connect connect = { .caller = NULL };
    int rc = dyn_need_job("MPI_Comm_connect");

    if (!rc)
        rc = read_name(name, &connect.port);
    if (!rc)
        rc = read_timeout(info, &connect.end);
    if (rc)
        return rc;
    finding->is_abroad = connect.port.is_abroad;
    if (connect.port.is_abroad)
        return 0;
    connect.is_far = !is_near(connect.port.owner);
    rc = connect.is_far ? wait_for_far(&connect, name) : wait_for_near(&connect, name);
    if (rc)
        return rc;
    finding->proc = connect.port.owner;
    finding->tag = accept_tag(connect.port.owner, dyn_job->proc, connect.caller->tag);
    atomic_store_explicit(&connect.caller->state, JOB_CALLER_NONE, memory_order_release);
    return 0;
}

/* At the root, when all of the group are ready. */
static int call_abroad(const char *name, struct info *info, const struct comm *comm, struct finding *finding)
{
    struct connect connect = { .caller = NULL, .is_far = true, .group = comm };
    int rc = read_name(name, &connect.port);

    if (!rc)
        rc = read_timeout(info, &connect.end);
    if (!rc)
        rc = wait_for_far(&connect, name);
    if (rc)
        return rc;
    finding->proc = connect.caller->owner;
    finding->tag = (int)connect.caller->tag;
    atomic_store_explicit(&connect.caller->state, JOB_CALLER_NONE, memory_order_release);
    return 0;
}

/* The port is of another job. */
static int connect_abroad(const char *name, struct info *info, int root, struct comm *comm, struct comm **out)
{
    struct finding finding = { 0 };
    int rc = abroad_prepare(comm, "MPI_Comm_connect");

    if (!rc && comm->rank == root)
        rc = call_abroad(name, info, comm, &finding);
    rc = finding_share(comm, root, "MPI_Comm_connect", rc, &finding);
    return rc ? rc : comm_inter_abroad(comm, root, finding.proc, finding.tag, "MPI_Comm_connect", out);
}

int dyn_connect(const char *name, struct info *info, int root, struct comm *comm, struct comm **out)
{
    struct finding finding = { 0 };
    int rc = p2p_check_within(comm, "MPI_Comm_connect");

    if (!rc)
        rc = comm_check_one_job(comm, "MPI_Comm_connect");
    if (rc)
        return rc;
    rc = comm->rank == root ? wait_for_accept(name, info, &finding) : 0;
    rc = finding_share(comm, root, "MPI_Comm_connect", rc, &finding);
    if (!rc && finding.is_abroad)
        return connect_abroad(name, info, root, comm, out);
    return rc ? rc : comm_inter_with(comm, root, finding.proc, finding.tag, "MPI_Comm_connect", out);
}

/* --- reports --- */

bool dyn_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    const struct connect *connect = wait->arg;

    if (wait->is_done == has_caller) {
        const struct accept *accept = wait->arg;
        *out = (struct blocked){ .call = "MPI_Comm_accept", .way = BLOCKED_RECEIVING, .peer = MPI_ANY_SOURCE,
                                 .is_of_anyone = true, .count = -1 };
        if (*accept->port.reach) /* anybody may call */
            *out = (struct blocked){ .call = "MPI_Comm_accept", .way = BLOCKED_OTHERWISE, .count = -1 };
        return true;
    }
    if (wait->is_done != has_answer)
        return join_describe_wait(wait, out);
    *out = (struct blocked){ .call = "MPI_Comm_connect", .way = BLOCKED_RECEIVING, .peer = connect->port.owner,
                             .tag = JOB_NO_VALUE, .count = -1 };
    if (connect->group)
        out->peer = 0; /* the owner has no number here */
    if (connect->end || connect->group)
        out->way = BLOCKED_OTHERWISE;
    return true;
}
