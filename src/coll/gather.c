/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Gather(v) and MPI_Scatter(v) (MPI 5.0 §6.5, §6.6): the root deals with the others in the
 * order of ranks, each block straight to its place; no temporary memory. */
#include "coll/int_coll.h"

static int gather_at_root(struct comm *comm, int tag, const struct coll_data *send,
                          const struct coll_data *recv)
{
    int rc = coll_check_data(recv, comm->size, "recvbuf");

    for (int rank = 0; rank < comm->size && !rc; rank++) {
        const struct coll_block to = coll_data_block(recv, rank);

        if (rank != comm->rank) {
            rc = coll_recv(comm, tag, &to, rank);
        } else if (!coll_is_in_place(send->buf)) {
            const struct coll_block from = coll_data_block(send, 0);
            rc = coll_copy(&from, &to);
        }
    }
    return rc;
}

static int scatter_at_root(struct comm *comm, int tag, const struct coll_data *send,
                           const struct coll_data *recv)
{
    int rc = coll_check_data(send, comm->size, "sendbuf");

    for (int rank = 0; rank < comm->size && !rc; rank++) {
        const struct coll_block from = coll_data_block(send, rank);

        if (rank != comm->rank) {
            rc = coll_send(comm, tag, &from, rank);
        } else if (!coll_is_in_place(recv->buf)) {
            const struct coll_block to = coll_data_block(recv, 0);
            rc = coll_copy(&from, &to);
        }
    }
    return rc;
}

int coll_gather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root)
{
    int tag, rc = coll_begin(comm, &tag, "MPI_Gather or MPI_Gatherv");

    if (rc)
        return rc;
    if (comm->rank == root)
        return gather_at_root(comm, tag, send, recv);
    const struct coll_block from = coll_data_block(send, 0);
    return coll_send(comm, tag, &from, root);
}

int coll_scatter(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root)
{
    int tag, rc = coll_begin(comm, &tag, "MPI_Scatter or MPI_Scatterv");

    if (rc)
        return rc;
    if (comm->rank == root)
        return scatter_at_root(comm, tag, send, recv);
    const struct coll_block to = coll_data_block(recv, 0);
    return coll_recv(comm, tag, &to, root);
}
