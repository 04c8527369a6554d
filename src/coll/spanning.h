/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. Communicators whose members are on several machines, the nodes of the job: who is where, and for
 * blocking calls the members of this node as a communicator of their own, which has a shelf. */
#ifndef COLL_SPANNING_H
#define COLL_SPANNING_H

#include "coll/int_call.h"

struct spread {
    struct coll_layout layout;
    bool has_runs;      /* the members of each node are neighbours by rank */
    int most;           /* members on the node that has most */
    struct comm here;   /* those on this node, in the order of their ranks; without messages */
    enum coll_operation operation; /* that is going on in `here` */
    int *node_of;       /* what layout.node_of points to */
};

/* Look where the members are, once; any thread that is in a call on it. Afterwards comm->spread is NULL if they are on
 * one node. The same at all members. Error: MPI_ERR_NO_MEM. */
int coll_spread_find(struct comm *comm);
/* The communicator ends. */
void coll_spread_drop(struct comm *comm);

static inline int coll_spread_look(struct comm *comm)
{
    return likely(comm->is_placed) ? 0 : coll_spread_find(comm);
}

#endif
