/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Gather(v) and MPI_Scatter(v) (MPI 5.0 §6.5, §6.6).
 *
 *   linear     the root deals with each of the others, each block straight to its place; n - 1 messages of m bytes
 *              at the root, no temporary memory */
#include "coll/algorithms.h"

void coll_gather_linear(struct sched *s, const struct coll_args *args)
{
    const int rank = s->comm->rank;

    if (rank != args->root) {
        sched_send(s, coll_data_block(&args->send, 0), args->root, 0, AT_ONCE);
        return;
    }
    for (int source = 0; source < s->comm->size; source++) {
        if (source != rank)
            sched_recv(s, coll_data_block(&args->recv, source), source, 0, AT_ONCE);
    }
    if (!coll_is_in_place(args->send.buf))
        sched_copy(s, coll_data_block(&args->send, 0), coll_data_block(&args->recv, rank), AT_ONCE);
}

void coll_scatter_linear(struct sched *s, const struct coll_args *args)
{
    const int rank = s->comm->rank;

    if (rank != args->root) {
        sched_recv(s, coll_data_block(&args->recv, 0), args->root, 0, AT_ONCE);
        return;
    }
    for (int dest = 0; dest < s->comm->size; dest++) {
        if (dest != rank)
            sched_send(s, coll_data_block(&args->send, dest), dest, 0, AT_ONCE);
    }
    if (!coll_is_in_place(args->recv.buf))
        sched_copy(s, coll_data_block(&args->send, rank), coll_data_block(&args->recv, 0), AT_ONCE);
}
