/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. What a thread waits for, in the words of MPI. Filled in only once a wait has become long, from what
 * is waited for; nothing is kept for it before. */
#ifndef OBJ_BLOCKED_H
#define OBJ_BLOCKED_H

#include <mpi.h>
#include <stdbool.h>

struct comm;

enum blocked_way { BLOCKED_OTHERWISE, BLOCKED_RECEIVING, BLOCKED_SENDING };

struct blocked {
    const char *call;        /* the function that blocks, or those that it may be */
    const char *of;          /* the function that began what is waited for; NULL: the same */
    const struct comm *comm; /* NULL: none */
    enum blocked_way way;    /* with receiving and sending: */
    int peer;                /* rank in the communicator (its remote group), or MPI_ANY_SOURCE */
    bool is_coll;            /* part of a collective call: the next three say nothing */
    int tag;                 /* or MPI_ANY_TAG */
    MPI_Count count;         /* elements; -1: not known */
    const char *type;        /* name of their datatype; NULL: not known */
};

#endif
