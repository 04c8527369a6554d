/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Scan and MPI_Exscan (MPI 5.0 §6.11): in round k each process combines with the value of the
 * process 2^k ranks before, which covers the 2^k ranks up to that one. ceil(log2(size)) rounds. */
#include "coll/int_coll.h"

/* `value` holds the operand and then the result; `incoming` is room for another. */
static int scan_doubling(struct comm *comm, int tag, const struct coll_reduction *args, void *value,
                         void *incoming)
{
    const int size = comm->size, rank = comm->rank;
    const struct coll_block out = coll_operand(args, value), in = coll_operand(args, incoming);
    int rc = 0;

    for (int distance = 1; distance < size && !rc; distance += distance) {
        const int dest = rank + distance < size ? rank + distance : MPI_PROC_NULL;
        const int source = rank >= distance ? rank - distance : MPI_PROC_NULL;

        rc = coll_exchange(comm, tag, &out, dest, &in, source);
        if (!rc && source != MPI_PROC_NULL)
            op_reduce(args->op, incoming, value, args->count, args->type);
    }
    return rc;
}

int coll_scan(struct comm *comm, const struct coll_reduction *args)
{
    struct coll_temp temp;
    int tag, rc = coll_begin(comm, &tag, "MPI_Scan");

    if (!rc)
        rc = coll_check_reduction(args, true);
    if (!rc)
        rc = coll_temp_alloc(&temp, args->type, args->count);
    if (rc)
        return rc;
    coll_operand_copy(args, args->recv, coll_input(args));
    rc = scan_doubling(comm, tag, args, args->recv, temp.buf);
    coll_temp_free(&temp);
    return rc;
}

/* The inclusive result moves on by one rank; that of rank 0 stays untouched. */
static int exscan(struct comm *comm, int tag, const struct coll_reduction *args, void *value, void *incoming)
{
    const int rank = comm->rank, last = comm->size - 1;
    const struct coll_block out = coll_operand(args, value), in = coll_operand(args, args->recv);
    int rc;

    coll_operand_copy(args, value, coll_input(args));
    rc = scan_doubling(comm, tag, args, value, incoming);
    if (rc)
        return rc;
    return coll_exchange(comm, tag, &out, rank < last ? rank + 1 : MPI_PROC_NULL, &in,
                         rank > 0 ? rank - 1 : MPI_PROC_NULL);
}

int coll_exscan(struct comm *comm, const struct coll_reduction *args)
{
    struct coll_temp value, incoming;
    int tag, rc = coll_begin(comm, &tag, "MPI_Exscan");

    if (!rc)
        rc = coll_check_reduction(args, comm->rank > 0);
    if (!rc)
        rc = coll_temp_alloc(&value, args->type, args->count);
    if (rc)
        return rc;
    rc = coll_temp_alloc(&incoming, args->type, args->count);
    if (!rc) {
        rc = exscan(comm, tag, args, value.buf, incoming.buf);
        coll_temp_free(&incoming);
    }
    coll_temp_free(&value);
    return rc;
}
