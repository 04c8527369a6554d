/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. Blocking collective calls of members that share memory, by that memory and without messages.
 * Whether a call goes this way is the same at all members: it follows from the communicator, the settings of the job
 * and what the call has in common at all of them, never from a local layout.
 *
 * * Each does the whole call: begins it, checks its arguments, returns 0 or an error code. Contracts as in coll.h.
 * * Errors beside those: E0700 (MPI_ERR_OTHER, MPI_ERR_ROOT, MPI_ERR_TRUNCATE) if another member is in another call,
 *   with another root, or with another number of bytes. */
#ifndef COLL_NODE_H
#define COLL_NODE_H

#include "coll/int_coll.h"
#include "coll/shelf.h"

/* Find out whether the communicator has a shelf, with its other members; once. */
bool node_first(struct comm *comm) COLD;

/* Do the members share memory for collective calls? Collective the first time on a communicator, and then may fall
 * back to false after an error. */
static inline bool node_has(struct comm *comm)
{
    return likely(comm->shelf.number > 0) || (unlikely(!comm->shelf.number) && node_first(comm));
}

/* May a call go that way in which each member brings `bytes`, or one brings them for all? */
bool node_may_long(const struct comm *comm, size_t bytes);
static inline bool node_may(struct comm *comm, size_t bytes)
{
    return node_has(comm) && node_may_long(comm, bytes);
}

/* May a call go that way whose blocks may be of any length, and which perhaps not all members know? */
static inline bool node_may_vary(struct comm *comm)
{
    return node_may(comm, SHELF_CELL);
}

static inline bool node_may_reduce_scatter(struct comm *comm, const struct coll_args *args)
{
    return args->recv.type->size <= SHELF_CELL && node_may_vary(comm);
}

static inline bool node_may_reduce(struct comm *comm, const struct coll_args *args)
{
    const struct type *type = args->recv.type;

    return type->size <= SHELF_CELL && node_may(comm, type_bytes(type, args->recv.count));
}

/* What a wait for members is about. False: it is none. */
bool node_describe_wait(const struct progress_long *told, struct blocked *out) COLD;
/* Do a call that way, if it may go it: true, and *rc is what it returns. */
bool node_try(struct comm *comm, const struct coll_args *args, int *rc);
int node_barrier(struct comm *comm);

/* Nonblocking and persistent barriers (node_meets.c), on a communicator whose `shelf.number` is above 0. Begin one of
 * those that a word counts: it is the one with the number that is returned, for all members. */
uint32_t node_meets_begin(const struct comm *comm, int word);
/* Have all begun it? *next, 0 at first, is the first member that has not. The last one to begin wakes the others. */
bool node_meets_over(const struct comm *comm, int word, uint32_t number, int *next);
int node_bcast(struct comm *comm, void *buf, MPI_Count count, struct type *type, int root);
/* These take the forms with counts as well: an array may be NULL where it is not looked at, but has a width. */
int node_gather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root);
int node_scatter(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root);
int node_allgather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv);
int node_alltoall(struct comm *comm, const struct coll_data *send, const struct coll_data *recv);
int node_reduce(struct comm *comm, const struct coll_args *args);
int node_allreduce(struct comm *comm, const struct coll_args *args);
int node_scan(struct comm *comm, const struct coll_args *args);
int node_exscan(struct comm *comm, const struct coll_args *args);
/* In a grid; false: this one may not go that way. */
bool node_neighbors(struct comm *comm, const struct coll_args *args, int *rc);
/* Both forms: without counts each block has args->recv.count items. */
int node_reduce_scatter(struct comm *comm, const struct coll_args *args);

#endif
