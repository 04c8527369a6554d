/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. MPI_Comm_accept: of all who wait at the port, on this machine and others, the one that came first.
 * Knows: sys (the segment), progress, comm, ports. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "comm/comm.h"
#include "dyn/int_port.h"
#include "p2p/p2p.h"
#include "progress/progress.h"
#include "sys/control.h"

/* Calls that have been accepted; one thread accepts at a time. */
static struct {
    pthread_mutex_t lock;
    uint32_t number; /* guarded by lock */
} accepts = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct accept {
    struct port port;
    uint32_t called;           /* desk->called when we looked last */
    bool has_looked;
    struct job_caller *caller; /* who is accepted; NULL: nobody yet, … */
    int proc;                  /* … whose it is */
    int visitor;               /* … or one of another machine or job; -1: none */
    bool is_abroad;            /* he is of another job */
    uint32_t tag;
    int fd;                    /* something that comes from there ends it; -1: nothing does */
    _Atomic uint32_t *open;    /* the port's number, as long as it is open */
    bool is_ended, is_closed;
};

/* The one that came first, among all who wait at the port; NULL: nobody. */
static struct job_caller *first_caller(const struct port *port, int *proc)
{
    struct job_caller *first = NULL;

    for (int other = 0; other < dyn_job->procs; other++) {
        for (int i = 0; i < JOB_CALLS && port_is_near(other); i++) {
            struct job_caller *caller = &port_desk(other)->caller[i];
            if (!port_is_called(caller, port->owner, port->number) ||
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
    const struct job_visitor *visitor = port_desk(dyn_job->proc)->visitor;
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
    struct job_visitor *far = visitor < 0 ? NULL : &port_desk(dyn_job->proc)->visitor[visitor];
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

/* Nobody waits: is there something else to see, be it the end? It stays there. Or is the port closed by a thread? */
static bool has_news(struct accept *accept)
{
    char first;

    accept->is_closed = atomic_load_explicit(accept->open, memory_order_relaxed) != accept->port.number;
    accept->is_ended = accept->fd >= 0 && (recv(accept->fd, &first, sizeof first, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
                                           (errno != EAGAIN && errno != EINTR));
    return accept->is_ended || accept->is_closed;
}

static bool has_caller(void *arg)
{
    struct accept *accept = arg;
    const uint32_t called = atomic_load_explicit(&port_desk(dyn_job->proc)->called, memory_order_acquire);
    struct job_caller *caller;
    bool is_taken = false;
    int visitor;

    if (accept->has_looked && called == accept->called)
        return has_news(accept);
    accept->has_looked = true;
    accept->called = called;
    pthread_mutex_lock(&accepts.lock);
    do {
        caller = first_caller(&accept->port, &accept->proc);
        visitor = first_visitor(&accept->port);
        is_taken = (caller || visitor >= 0) && take_caller(accept, caller, visitor);
    } while (!is_taken && (caller || visitor >= 0));
    pthread_mutex_unlock(&accepts.lock);
    return is_taken || has_news(accept);
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
    const struct job_visitor *visitor = &port_desk(dyn_job->proc)->visitor[accept->visitor];
    const long words[] = { accept->visitor, visitor->number, accept->port.number, accept->tag };
    struct pm_reply reply = { 0 };
    const int rc = port_tell(CONTROL_ACCEPT, "MPI_Comm_accept", words, ARRAY_LEN(words), &reply);

    accept->proc = !rc && reply.count ? reply.first : -1;
    accept->is_abroad = accept->proc >= 0 && *reply.text;
    if (accept->is_abroad)
        accept->tag = (uint32_t)strtoul(reply.text, NULL, 10);
    accept->visitor = -1;
    accept->has_looked = false;
    return rc;
}

/* finding->proc is -1 if something has come from the socket before. */
static int wait_for_caller(const char *name, int fd, struct finding *finding)
{
    struct accept accept = { .proc = -1, .visitor = -1, .fd = fd };
    int rc = dyn_need_job("MPI_Comm_accept");

    if (!rc)
        rc = port_read_own(name, &accept.port, &accept.open);
    while (!rc && accept.proc < 0 && !accept.is_ended) {
        progress_wait_look(has_caller, &accept);
        if (!accept.caller && accept.visitor < 0 && accept.is_closed)
            rc = port_closed(name);
        else if (!accept.caller && !accept.is_ended)
            rc = greet_visitor(&accept);
    }
    if (rc)
        return rc;
    finding->proc = accept.proc;
    if (accept.is_ended)
        return 0;
    finding->is_abroad = accept.is_abroad;
    finding->tag = accept.is_abroad ? (int)accept.tag : port_tag(dyn_job->proc, accept.proc, accept.tag);
    if (accept.caller)
        progress_wake(&job_proc(dyn_job->head, accept.proc)->sleep);
    return 0;
}

static int accept_at(const char *name, int fd, int root, struct comm *comm, struct comm **out)
{
    struct finding finding = { 0 };
    int rc = comm->rank == root ? wait_for_caller(name, fd, &finding) : 0;

    rc = finding_share(comm, root, "MPI_Comm_accept", rc, &finding);
    if (rc || finding.proc < 0)
        return rc;
    if (finding.is_abroad)
        return meet_abroad(comm, root, &finding, out);
    return comm_inter_with(comm, root, finding.proc, finding.tag, "MPI_Comm_accept", out);
}

int dyn_accept(const char *name, int root, struct comm *comm, struct comm **out)
{
    struct comm *known;
    int rc = comm_as_jobs(comm, "MPI_Comm_accept", &known);

    if (rc)
        return rc;
    rc = accept_at(name, -1, root, known, out);
    comm_unref(known);
    return rc;
}

int accept_beside(const char *name, int fd, struct comm **out)
{
    return accept_at(name, fd, 0, obj_comm(MPI_COMM_SELF), out);
}

bool accept_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    const struct accept *accept = wait->arg;

    if (wait->is_done != has_caller)
        return false;
    *out = (struct blocked){ .call = accept->fd < 0 ? "MPI_Comm_accept" : "MPI_Comm_join", .way = BLOCKED_RECEIVING,
                             .peer = MPI_ANY_SOURCE, .is_of_anyone = true, .count = -1 };
    if (*accept->port.reach) /* anybody may call */
        *out = (struct blocked){ .call = out->call, .way = BLOCKED_OTHERWISE, .count = -1 };
    return true;
}
