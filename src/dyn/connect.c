/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. MPI_Comm_connect: enter ourselves for the owner of the port, on this machine, on another one, or in
 * another job, and wait for the answer.
 * Knows: sys (the segment), progress, comm, ports. */
#include <locale.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/setting.h"
#include "comm/comm.h"
#include "dyn/int_port.h"
#include "obj/info.h"
#include "p2p/p2p.h"
#include "progress/progress.h"
#include "sys/clock.h"
#include "sys/control.h"

struct connect {
    struct port port;
    struct job_caller *caller;
    double seconds; /* that it may take; 0: any time … */
    uint64_t end;   /* … and when they are over; 0: never */
    bool is_asked;  /* the program has said how long */
    bool is_far;     /* the port is of a process on another machine, … */
    const struct comm *group; /* … of another job, and these want to be connected with it; NULL: it is not */
    uint32_t number; /* of the call, for mpiexec, if so */
};

static struct setting patience = {
    .name = "CONNECT_TIMEOUT",
    .help = "seconds until MPI_Comm_connect gives up at a port where nobody accepts, without the info key timeout; 0: "
            "never",
    .topic = "processes",
    .kind = SETTING_INT,
    .value = 600,
    .min = 0,
    .max = 1000000000,
    .any_time = true,
};
SETTING_LISTED(patience);

static _Atomic uint32_t calls;

/* An entry of our own that nobody uses. */
static bool has_entry(void *arg)
{
    struct connect *connect = arg;

    for (int i = 0; i < JOB_CALLS && !connect->caller; i++) {
        struct job_caller *caller = &port_desk(dyn_job->proc)->caller[i];
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
    return is_accepted(connect) || is_over(connect) || !port_is_open(&connect->port);
}

/* What the program says: seconds, perhaps with a fraction. */
static int read_timeout(struct info *info, struct connect *connect)
{
    char text[MPI_MAX_INFO_VAL + 1], *rest;
    locale_t plain;
    size_t length;
    int flag = 0;

    if (!info || info_get(info, "timeout", sizeof text, text, &length, &flag) || !flag)
        return 0;
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the program's language may have another decimal point */
    connect->seconds = strtod_l(text, &rest, plain);
    freelocale(plain);
    if (!length || *rest || !(connect->seconds >= 0))
        return err(MPI_ERR_INFO_VALUE, "E1003: timeout is %.100s; seconds are needed", text);
    connect->is_asked = true;
    return 0;
}

/* "The connection attempt will eventually time out", if the program does not say when (MPI 5.0 §11.9.2). */
static int set_end(struct info *info, struct connect *connect)
{
    int rc = setting_read(&patience);

    connect->seconds = (double)patience.value;
    if (!rc)
        rc = read_timeout(info, connect);
    if (!rc && (connect->is_asked || connect->seconds > 0))
        connect->end = clock_ns() + (uint64_t)((connect->seconds < 1e9 ? connect->seconds : 1e9) * 1e9) + 1;
    return rc;
}

/* Enter ourselves, and let the owner look. */
static void call_owner(struct connect *connect)
{
    struct job_desk *desk = port_desk(connect->port.owner);
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

static int too_late(const struct connect *connect, const char *name)
{
    return err(MPI_ERR_PORT, "E1011: nobody has accepted at the port " PORT_SHOWN " within %g s (%s)", SHOWN(name),
               connect->seconds, connect->is_asked ? "the info key timeout" : "PARLEY_CONNECT_TIMEOUT");
}

static int wait_for_near(struct connect *connect, const char *name)
{
    if (!port_is_open(&connect->port))
        return closed(name);
    progress_wait_until(has_entry, connect);
    call_owner(connect);
    progress_wait_look(has_answer, connect);
    if (is_accepted(connect) || !withdraw(connect))
        return 0;
    return port_is_open(&connect->port) ? too_late(connect, name) : closed(name);
}

/* Through mpiexec. Nobody but the launcher writes to the entry while it waits. */
static int call_far_owner(struct connect *connect)
{
    struct job_caller *caller = connect->caller;
    const struct port *port = &connect->port;
    const long words[] = { caller - port_desk(dyn_job->proc)->caller, connect->number, port->owner, port->tenant,
                             port->number };
    struct pm_reply reply;
    int rc;

    caller->owner = -1; /* for those who look for callers of their own */
    atomic_store_explicit(&caller->state, JOB_CALLER_WAITS, memory_order_release);
    if (connect->group)
        rc = abroad_call(&(struct abroad_port){ port->job, port->owner, port->tenant, port->number, port->reach },
                         connect->group, (int)words[0], connect->number);
    else
        rc = port_tell(CONTROL_CONNECT, "MPI_Comm_connect", words, ARRAY_LEN(words), &reply);
    if (rc)
        atomic_store_explicit(&caller->state, JOB_CALLER_NONE, memory_order_release);
    return rc;
}

/* Is it taken back? Else the answer is there, or will be in a moment. */
static bool is_taken_back(struct connect *connect)
{
    struct pm_reply reply = { 0 };

    return !port_tell(CONTROL_WITHDRAW, "MPI_Comm_connect", (long[]){ connect->number }, 1, &reply) && reply.count;
}

static int refused(const struct connect *connect, const char *name, bool is_late)
{
    const enum job_refusal why = (enum job_refusal)connect->caller->tag;

    if (!connect->group)
        return closed(name);
    return is_late && why == JOB_PORT_CLOSED ? too_late(connect, name) : abroad_refused(why);
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
        rc = too_late(connect, name);
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
        rc = port_read(name, &connect.port);
    if (!rc)
        rc = set_end(info, &connect);
    if (rc)
        return rc;
    finding->is_abroad = connect.port.is_abroad;
    if (connect.port.is_abroad)
        return 0;
    connect.is_far = !port_is_near(connect.port.owner);
    rc = connect.is_far ? wait_for_far(&connect, name) : wait_for_near(&connect, name);
    if (rc)
        return rc;
    finding->proc = connect.port.owner;
    finding->tag = port_tag(connect.port.owner, dyn_job->proc, connect.caller->tag);
    atomic_store_explicit(&connect.caller->state, JOB_CALLER_NONE, memory_order_release);
    return 0;
}

/* At the root, when all of the group are ready. */
static int call_abroad(const char *name, struct info *info, const struct comm *comm, struct finding *finding)
{
    struct connect connect = { .caller = NULL, .is_far = true, .group = comm };
    int rc = port_read(name, &connect.port);

    if (!rc)
        rc = set_end(info, &connect);
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

static int connect_to(const char *name, struct info *info, int root, struct comm *comm, struct comm **out)
{
    struct finding finding = { 0 };
    int rc = comm->rank == root ? wait_for_accept(name, info, &finding) : 0;

    rc = finding_share(comm, root, "MPI_Comm_connect", rc, &finding);
    if (!rc && finding.is_abroad)
        return connect_abroad(name, info, root, comm, out);
    return rc ? rc : comm_inter_with(comm, root, finding.proc, finding.tag, "MPI_Comm_connect", out);
}

int dyn_connect(const char *name, struct info *info, int root, struct comm *comm, struct comm **out)
{
    struct comm *known;
    int rc = comm_as_jobs(comm, "MPI_Comm_connect", &known);

    if (rc)
        return rc;
    rc = connect_to(name, info, root, known, out);
    comm_unref(known);
    return rc;
}

bool connect_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    const struct connect *connect = wait->arg;

    if (wait->is_done != has_answer)
        return false;
    *out = (struct blocked){ .call = "MPI_Comm_connect", .way = BLOCKED_RECEIVING, .peer = connect->port.owner,
                             .tag = JOB_NO_VALUE, .count = -1 };
    if (connect->group)
        out->peer = 0; /* the owner has no number here */
    if (connect->is_asked || connect->group)
        out->way = BLOCKED_OTHERWISE;
    return true;
}
