/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. Ports (MPI 5.0 §11.9.2, §11.9.3), all by words in the job segment: a process lists its open ports in its
 * job_desk. Who wants to be connected enters itself in its own desk and waits (connect.c); the owner of the port, in
 * accept, looks through the desks of all and takes the one that came first (accept.c). Then both know each other and
 * make an intercommunicator. Nobody asks mpiexec, but between machines: there it carries the words, and decides whether
 * one who is accepted has not just gone (launch/calls.c).
 *
 * A port's name says which job, which process, and which of its ports; and how another job finds it (other_jobs.c).
 * Knows: sys (the segment), progress. */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "dyn/int_port.h"
#include "progress/progress.h"
#include "sys/control.h"

#define PORT_FORMAT "parley:%016" PRIx64 ":%d:%" PRIu32 ":%" PRIu32

/* The next port's number. */
static _Atomic uint32_t numbers = 1;

/* Where its owner lists it; NULL: nowhere, it is not open. */
static _Atomic uint32_t *find(const struct port *port)
{
    struct job_desk *desk = port_desk(port->owner);

    for (int i = 0; i < JOB_PORTS; i++)
        if (atomic_load_explicit(&desk->port[i], memory_order_acquire) == port->number)
            return &desk->port[i];
    return NULL;
}

bool port_is_open(const struct port *port)
{
    const struct job_proc *proc = job_proc(dyn_job->head, port->owner);

    return proc->tenant == port->tenant && atomic_load_explicit(&proc->state, memory_order_relaxed) < JOB_FINALISED &&
           find(port);
}

static int no_port(const char *name)
{
    return err(MPI_ERR_PORT, "E1007: \"" PORT_SHOWN "\" is not the name of a port of this library", SHOWN(name));
}

int port_read(const char *name, struct port *port)
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

int port_closed(const char *name)
{
    return err(MPI_ERR_PORT, "E1009: the port " PORT_SHOWN " is closed", SHOWN(name));
}

int port_read_own(const char *name, struct port *port, _Atomic uint32_t **open)
{
    const int rc = port_read(name, port);

    if (rc)
        return rc;
    if (port->is_abroad || port->owner != dyn_job->proc ||
        port->tenant != job_proc(dyn_job->head, dyn_job->proc)->tenant)
        return err(MPI_ERR_PORT, "E1008: the port " PORT_SHOWN " was opened by another process, which alone can use "
                   "it", SHOWN(name));
    *open = find(port);
    return *open ? 0 : port_closed(name);
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
        if (!atomic_compare_exchange_strong_explicit(&port_desk(dyn_job->proc)->port[i], &none, number,
                                                     memory_order_release, memory_order_relaxed))
            continue;
        (void)abroad_name(reach); /* an error of that concerns other jobs only */
        snprintf(name, MPI_MAX_PORT_NAME, PORT_FORMAT "%s%s", dyn_job->token[0], dyn_job->proc,
                 job_proc(dyn_job->head, dyn_job->proc)->tenant, number, *reach ? "@" : "", reach);
        return 0;
    }
    return err(MPI_ERR_PORT, "E1010: this process has %d ports open; it can have no more", JOB_PORTS);
}

bool port_is_called(const struct job_caller *caller, int owner, uint32_t number)
{
    return atomic_load_explicit(&caller->state, memory_order_acquire) == JOB_CALLER_WAITS && caller->owner == owner &&
           caller->port == number;
}

/* Those who wait in vain will see that it is closed. */
static void wake_callers(const struct port *port)
{
    for (int proc = 0; proc < dyn_job->procs; proc++)
        for (int i = 0; i < JOB_CALLS && port_is_near(proc); i++)
            if (port_is_called(&port_desk(proc)->caller[i], port->owner, port->number))
                progress_wake(&job_proc(dyn_job->head, proc)->sleep);
}

int port_tell(unsigned kind, const char *what, const long *words, int count, struct pm_reply *reply)
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
    _Atomic uint32_t *open;
    int rc = dyn_need_job("MPI_Close_port");

    if (!rc)
        rc = port_read_own(name, &port, &open);
    if (rc)
        return rc;
    if (!atomic_compare_exchange_strong_explicit(open, &port.number, 0, memory_order_release, memory_order_relaxed))
        return port_closed(name);
    wake_callers(&port);
    progress_notify(); /* threads that accept there */
    if (!dyn_job->head->is_spread && !*port.reach)
        return 0;
    return port_tell(CONTROL_CLOSE, "MPI_Close_port", (long[]){ port.number }, 1, &reply);
}

/* --- reports --- */

bool dyn_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    return accept_describe_wait(wait, out) || connect_describe_wait(wait, out) || join_describe_wait(wait, out);
}
