/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. What a thread waits for, in words. Filled in only once a wait has become long, from what is waited for;
 * nothing is kept for it before. Names stay valid as long as what is waited for does. */
#ifndef OBJ_BLOCKED_H
#define OBJ_BLOCKED_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct comm;

enum blocked_way { BLOCKED_OTHERWISE, BLOCKED_RECEIVING, BLOCKED_SENDING };

struct blocked {
    const char *call;        /* the function that blocks, or those that it may be */
    const char *of;          /* the function that began what is waited for; NULL: the same */
    const struct comm *comm; /* NULL: none; then peers are processes of the job */
    enum blocked_way way;    /* with receiving and sending: */
    int peer;                /* rank in the communicator (its remote group), or MPI_ANY_SOURCE */
    bool is_coll;            /* part of a collective call: the next three say nothing */
    int tag;                 /* or MPI_ANY_TAG */
    MPI_Count count;         /* elements; -1: not known */
    const char *type;        /* name of their datatype; NULL: not known */
    uint32_t sequence;       /* with is_coll: which collective call on the communicator, from 1 */
    bool is_of_anyone;       /* no peer is known: any process of the job may end it, and nobody else */
    bool may_return;         /* the peer may end it even if it has left MPI meanwhile: it can come back */
    const char *peer_noun;   /* what a peer is called; NULL: "rank" */
    const char *tag_noun;    /* and a tag; NULL: "tag" */
};

/* Takes one of several things that are waited for; *b is valid during the call. */
typedef void blocked_visit(const struct blocked *b, void *arg);

#endif
