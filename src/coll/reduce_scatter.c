/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Reduce_scatter(_block) (MPI 5.0 §6.10): reduce to rank 0, which hands out the blocks. */
#include "coll/int_coll.h"

static MPI_Count count_of(const struct coll_reduction *args, const struct coll_numbers *counts, int rank)
{
    return counts->p ? coll_number(counts, rank) : args->count;
}

/* Rank 0: `result` holds the blocks of all, one after the other. */
static int hand_out(struct comm *comm, int tag, const struct coll_reduction *args,
                    const struct coll_numbers *counts, void *result)
{
    struct coll_block from = { result, 0, args->type };
    int rc = 0;

    for (int rank = 0; rank < comm->size && !rc; rank++) {
        from.count = count_of(args, counts, rank);
        if (rank == comm->rank)
            type_copy(args->recv, from.count, from.type, from.buf, from.count, from.type);
        else
            rc = coll_send(comm, tag, &from, rank);
        from.buf = coll_address(from.buf, from.count * from.type->extent);
    }
    return rc;
}

static int reduce_scatter(struct comm *comm, const struct coll_reduction *args,
                          const struct coll_numbers *counts)
{
    struct coll_reduction all = *args;
    struct coll_temp temp = { NULL, NULL };
    int tag, rc = coll_begin(comm, &tag, counts ? "MPI_Reduce_scatter" : "MPI_Reduce_scatter_block");

    if (rc)
        return rc;
    all.count = 0;
    for (int rank = 0; rank < comm->size; rank++)
        all.count += count_of(args, counts, rank);
    rc = coll_check_reduction(&all, true);
    if (!rc)
        rc = coll_check_buffer(coll_input(args), all.count, args->type,
                               args->send == coll_input(args) ? "sendbuf" : "recvbuf");
    if (!rc)
        rc = coll_check_buffer(args->recv, count_of(args, counts, comm->rank), args->type, "recvbuf");
    if (!rc && comm->rank == 0)
        rc = coll_temp_alloc(&temp, args->type, all.count);
    if (!rc)
        rc = coll_reduce_tree(comm, tag, &all, 0, temp.buf);
    if (!rc && comm->rank == 0) {
        rc = hand_out(comm, tag, args, counts, temp.buf);
    } else if (!rc) {
        const struct coll_block to = { args->recv, count_of(args, counts, comm->rank), args->type };
        rc = coll_recv(comm, tag, &to, 0);
    }
    coll_temp_free(&temp);
    return rc;
}

int coll_reduce_scatter_block(struct comm *comm, const struct coll_reduction *args)
{
    return reduce_scatter(comm, args, &(struct coll_numbers){ NULL, 0 });
}

int coll_reduce_scatter(struct comm *comm, const struct coll_reduction *args, struct coll_numbers counts)
{
    return reduce_scatter(comm, args, &counts);
}
