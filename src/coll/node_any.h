/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, tests. Calls through shared memory, each in the general way or, if it may, in the short one, by chance:
 * whichever others take. Arguments and results as in node.h. */
#ifndef COLL_NODE_ANY_H
#define COLL_NODE_ANY_H

#include "coll/node.h"

int any_bcast(struct comm *comm, void *buf, MPI_Count count, struct type *type, int root);
int any_gather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root);
int any_scatter(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root);
int any_allgather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv);
int any_alltoall(struct comm *comm, const struct coll_data *send, const struct coll_data *recv);
int any_reduction(struct comm *comm, enum coll_operation operation, const struct coll_args *args);
/* So many calls of this process have gone in the short way. */
extern int any_short_calls;

#endif
