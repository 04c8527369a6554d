/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn, private. What its files share. */
#ifndef DYN_INT_DYN_H
#define DYN_INT_DYN_H

#include "dyn/dyn.h"
#include "pm/pm.h"

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

/* As dyn_describe_wait, of joins. */
bool join_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;

#endif
