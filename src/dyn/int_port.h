/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn, private. Ports: what their names say, and who waits at them. */
#ifndef DYN_INT_PORT_H
#define DYN_INT_PORT_H

#include <string.h>

#include "dyn/int_dyn.h"

/* A port as its name says. */
struct port {
    uint64_t job;
    int owner;
    uint32_t tenant; /* which of the processes that have had the owner's number */
    uint32_t number; /* among its ports, from 1 */
    bool is_abroad;  /* of another job; … */
    const char *reach; /* … and how that is called; empty: not at all */
};

/* For messages: what follows is a secret. */
#define PORT_SHOWN "%.*s"
#define SHOWN(name) (int)size_min(strcspn(name, "@"), 100), name

static inline struct job_desk *port_desk(int proc)
{
    return job_desk(dyn_job->head, proc);
}

static inline bool port_is_near(int proc)
{
    return job_is_near(dyn_job->head, proc, dyn_job->proc);
}

/* port.c: 0, or an error: it is no port's name; or it is not one of this process, open: else *open is its number as
 * long as it is. The error of one that is closed. */
int port_read(const char *name, struct port *port);
int port_read_own(const char *name, struct port *port, _Atomic uint32_t **open);
int port_closed(const char *name);
/* Is the process that has opened it still there, with the port open? */
bool port_is_open(const struct port *port);
/* Does this one wait at the port? */
bool port_is_called(const struct job_caller *caller, int owner, uint32_t number);
/* mpiexec is told something about calls between machines, by up to five numbers. */
int port_tell(unsigned kind, const char *what, const long *words, int count, struct pm_reply *reply);

/* The tag of what owner and caller send each other then. */
static inline int port_tag(int owner, int caller, uint32_t number)
{
    return finding_tag(owner < caller ? TAG_ACCEPT_LOW : TAG_ACCEPT_HIGH, number);
}

/* accept.c: accept over MPI_COMM_SELF until something comes from that socket: *out is NULL then. */
int accept_beside(const char *name, int fd, struct comm **out);

/* As dyn_describe_wait: of accept, and of connect. */
bool accept_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;
bool connect_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;

#endif
