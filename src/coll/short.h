/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. The usual case of blocking calls, tried before coll_run: few bytes without gaps among members that share
 * memory, in one straight way from the arguments to the line of a shelf and back (node_short.c).
 *
 * * The arguments are those of the MPI functions, with the checks that coll.h asks of the caller done. Arrays are of
 *   int; NULL where they are not, see COLL_INTS.
 * * Each returns COLL_NOT_SHORT if the call is something else, or has an error: nothing has been done, and coll_run is
 *   the way. Else what coll_run would have returned, and others see the same as from coll_run; so it is each member's
 *   own matter which of them it goes by. */
#ifndef COLL_SHORT_H
#define COLL_SHORT_H

#include <limits.h>

#include "coll/coll.h"

enum { COLL_NOT_SHORT = INT_MIN };

#define COLL_INTS(array) _Generic((array), const int *: (array), default: (const int *)NULL)

int coll_short_bcast(struct comm *comm, void *buf, MPI_Count count, const struct type *type, int root);
int coll_short_gather(struct comm *comm, const void *send, MPI_Count send_count, const struct type *send_type,
                      void *recv, MPI_Count recv_count, const struct type *recv_type, int root);
int coll_short_gatherv(struct comm *comm, const void *send, MPI_Count send_count, struct type *send_type, void *recv,
                       const int *counts, const int *displs, struct type *recv_type, int root);
int coll_short_scatter(struct comm *comm, const void *send, MPI_Count send_count, const struct type *send_type,
                       void *recv, MPI_Count recv_count, const struct type *recv_type, int root);
int coll_short_scatterv(struct comm *comm, const void *send, const int *counts, const int *displs,
                        struct type *send_type, void *recv, MPI_Count recv_count, struct type *recv_type, int root);
int coll_short_allgather(struct comm *comm, const void *send, MPI_Count send_count, const struct type *send_type,
                         void *recv, MPI_Count recv_count, const struct type *recv_type);
int coll_short_allgatherv(struct comm *comm, const void *send, MPI_Count send_count, struct type *send_type,
                          void *recv, const int *counts, const int *displs, struct type *recv_type);
int coll_short_alltoall(struct comm *comm, const void *send, MPI_Count send_count, const struct type *send_type,
                        void *recv, MPI_Count recv_count, const struct type *recv_type);
int coll_short_alltoallv(struct comm *comm, const void *send, const int *send_counts, const int *send_displs,
                         struct type *send_type, void *recv, const int *recv_counts, const int *recv_displs,
                         struct type *recv_type);
int coll_short_alltoallw(struct comm *comm, const void *send, const int *send_counts, const int *send_displs,
                         const MPI_Datatype *send_types, void *recv, const int *recv_counts, const int *recv_displs,
                         const MPI_Datatype *recv_types);
int coll_short_reduce(struct comm *comm, const void *send, void *recv, MPI_Count count, const struct type *type,
                      const struct op *op, int root);
int coll_short_allreduce(struct comm *comm, const void *send, void *recv, MPI_Count count, const struct type *type,
                         const struct op *op);
int coll_short_scan(struct comm *comm, const void *send, void *recv, MPI_Count count, const struct type *type,
                    const struct op *op);
int coll_short_exscan(struct comm *comm, const void *send, void *recv, MPI_Count count, const struct type *type,
                      const struct op *op);
int coll_short_reduce_scatter(struct comm *comm, const void *send, void *recv, const int *counts,
                              const struct type *type, const struct op *op);
int coll_short_reduce_scatter_block(struct comm *comm, const void *send, void *recv, MPI_Count count,
                                    const struct type *type, const struct op *op);

#endif
