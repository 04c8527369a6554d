/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn, private. What its files share. */
#ifndef DYN_INT_DYN_H
#define DYN_INT_DYN_H

#include "comm/comm.h"
#include "dyn/dyn.h"
#include "pm/pm.h"
#include "sys/job.h"

/* Who we are. */
extern struct pm_job *dyn_job;

/* 0, now that this process is part of a job; or an error that says why `what` cannot be done. */
int dyn_need_job(const char *what);

/* What the root of a call has come to, for all. */
struct finding {
    int32_t error; /* its class; 0: none */
    int32_t proc;  /* who leads the other side */
    int32_t tag;   /* for what follows with that one */
    int32_t total; /* processes wished for */
    int32_t is_abroad; /* the other side is of another job, or is to be called there */
};

/* Tell it; `rc` is the root's own error. Returns it, and at the others the root's. */
int finding_share(struct comm *comm, int root, const char *call, int rc, struct finding *finding);

/* Tags of calls between two processes: kinds of calls count for themselves. */
enum finding_kind { TAG_SPAWN, TAG_ACCEPT_LOW, TAG_ACCEPT_HIGH, TAG_JOIN };
static inline int finding_tag(enum finding_kind kind, uint32_t number)
{
    return (int)((number % (1u << 26)) * 4 + kind);
}

/* The text of a request to mpiexec: strings one after the other. */
struct request {
    char *at; /* owned */
    size_t size, room;
    bool is_lost; /* there was no memory for it */
};

void request_add(struct request *request, const char *text);
void request_add_number(struct request *request, long number);
/* Send it, wait for the answer, and give it back. `what` cannot be done without mpiexec. */
int request_send(struct request *request, unsigned kind, const char *what, struct pm_reply *reply);

/* What stands in the name of a port besides, for other jobs (other_jobs.c): a way to its mpiexec and the key. */
enum { REACH_MAX = COMM_WAY_SIZE };
/* Of this job's ports; empty: they cannot be called from outside. `to` has room for REACH_MAX. */
int abroad_name(char *to);
/* Is it such a text? */
bool abroad_is_name(const char *text);

/* A call to a port of another job, the caller's: who waits in this entry. */
struct abroad_port {
    uint64_t job;
    int owner;
    uint32_t tenant, number;
    const char *reach; /* as in the name; empty: it cannot be called from outside */
};
/* Collective: all of `comm` are reachable for processes of other jobs from now on, and all of this one. */
int abroad_prepare(struct comm *comm, const char *call);
/* Of the root, after that. The entry is told to answer; error: that makes no sense. */
int abroad_call(const struct abroad_port *port, const struct comm *comm, int entry, uint32_t number);
/* Why the call has been refused. */
int abroad_refused(enum job_refusal why);
/* Of the root that has accepted: the caller is told of the group; 0, or it is refused with the root's error. */
int abroad_greet(const struct comm *comm, int tag, int rc);

/* For room comm. */
extern const struct comm_outside abroad_functions;

/* As dyn_describe_wait, of joins. */
bool join_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;

#endif
