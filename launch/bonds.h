/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: bonds with mpiexecs of other jobs, so that processes of both can be connected (MPI 5.0 §11.9).
 *
 *   bonds.c       making them: who listens, who calls, and that both know the port's key
 *   bond_calls.c  what goes over them: calls to ports, groups
 *   bond_meet.c   processes of other jobs of which ranks hear from each other
 *   bond_ends.c   the ends of processes
 *   bond_wire.c   the bytes
 *   guests.h      places for the processes of the other job
 *
 * A bond is made by the first call to a port of the other job and lasts until one of the two mpiexecs ends; when both
 * call at the same time, both come to the same one of the two. Processes
 * of the other job that are or were connected with ours have places in our segment meanwhile (struct job_abroad). */
#ifndef LAUNCH_BONDS_H
#define LAUNCH_BONDS_H

#include <netinet/in.h>

#include "bond_wire.h"
#include "channel.h"
#include "launch.h"
#include "spawning.h"

enum { BOND_TARGETS = 20, BOND_NAME_SIZE = 32 + BOND_HOST_SIZE };

enum bond_state {
    BOND_CONNECTS, /* to targets[tried - 1] */
    BOND_GREETS,   /* one of the greetings is awaited */
    BOND_IS_OPEN,
    BOND_IS_OVER,
};

union bond_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct bond {
    struct bond *next;
    struct channel channel;
    enum bond_state state;
    struct source dial;        /* while it connects */
    union bond_address targets[BOND_TARGETS];
    int count, tried;          /* addresses */
    int again;                 /* times that all have been tried again */
    int64_t looked_ns;     /* at that time it has waited … */
    double waited;         /* … so many seconds */
    struct bond_secret secret;
    uint32_t side;             /* 0: we have called */
    uint64_t number, key[2], job;
    uint32_t calls;            /* tags of ours so far */
    int first;                 /* place of the first process of theirs; -1: none yet */
    bool is_certain;           /* they keep it, too */
    bool has_left;             /* they have said BYE */
    char name[BOND_NAME_SIZE]; /* for messages: "mpiexec 4711 on alpha" */
};

/* bonds.c */
/* Number of the TCP port at which we listen, from now on; 0: that is not possible. */
uint16_t bonds_listen(struct job *job, const uint64_t **key);
/* The one with the mpiexec of that job, being made if there is none: `fresh` says whom to call. */
struct bond *bonds_with(struct job *job, const struct bond *fresh);
/* The latest one; NULL: there is none. */
struct bond *bonds_first(const struct job *job);
void bonds_tick(struct job *job); /* TIMER_BONDS */
void bonds_flush(struct job *job);
void bonds_end(struct job *job);  /* mpiexec ends */
void bond_close(struct job *job, struct bond *bond);
void bond_put(struct bond *bond, enum bond_kind kind, int rank, uint32_t value, const void *data, size_t size);

/* bond_calls.c */
/* Requests of ranks. False: it is none of these. */
bool bonds_request(struct job *job, int rank, unsigned kind, struct texts *texts, bool *is_answered);
/* Go on with calls where that is possible now. */
void bonds_look(struct job *job);
/* He waits no more. False: he is connected already, or is none of those. */
bool bonds_withdraw(struct job *job, int rank, uint32_t number);
void bonds_drop_calls(struct job *job, int rank); /* it has ended */
/* Of a call from there: it is refused; or the request of `owner`, who accepts it, is to be answered. False: later. */
void bonds_refuse(struct job *job, struct bond *bond, uint32_t tag, enum job_refusal why);
bool bonds_accept(struct job *job, struct bond *bond, uint32_t tag, int owner);
/* Our calls over the one go over the other, from the beginning. */
void bonds_move_calls(struct job *job, const struct bond *from, struct bond *to);
/* The key, TCP port and addresses in a request of a rank on this machine or another one; false: they make no sense. */
bool bond_read_way(struct texts *texts, bool is_far, struct bond *fresh);
/* A frame has come. False: it makes no sense. */
bool bond_take(struct job *job, struct bond *bond, const struct frame *frame, const char *data);
/* It is over: what belongs to it goes. */
void bond_lost(struct job *job, struct bond *bond);

/* bond_meet.c */
/* A rank asks for places for processes of another job. False: it is answered later. */
bool bonds_meet(struct job *job, int rank, struct texts *texts);
/* Go on with those of that bond, or of all, where that is possible now. Another one stands for the bond; the rank has
 * ended. */
void meetings_look(struct job *job, const struct bond *bond);
void meetings_move(struct job *job, const struct bond *from, struct bond *to);
void meetings_rank_over(struct job *job, int rank);

/* bond_ends.c */
/* Ranks are to end: tell those that are connected with them. Once more, when all have ended. */
void bonds_tell_ends(struct job *job);
void bonds_tell_last_ends(struct job *job);
/* That guest has failed, or all are lost: so have those of ours that are connected with them, as soon as it is known
 * who is; job_find_doomed then calls the third one. */
void bond_guest_over(struct job *job, const struct bond *bond, int place, int code);
void bond_guests_lost(struct job *job, const struct bond *bond);
void bonds_find_ends(struct job *job);
void bonds_rank_over(struct job *job, int rank);

#endif
