/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Reduce (MPI 5.0 §6.9.1): a binomial tree in which each process holds the result of a run of
 * neighbouring ranks, so that the order of operands is kept. */
#include "coll/int_coll.h"

/* Combine with what the children send. *value is the operand at first, then one of the two rooms in turn: the
 * incoming operand lies in the one that is free and becomes the result. Stops below the parent; *distance
 * says how far away that is (at the root: at least size). */
static int reduce_children(struct comm *comm, int tag, const struct coll_reduction *args, int root,
                           void *const room[2], const void **value, int *distance)
{
    const int size = comm->size, place = (comm->rank - root + size) % size;
    int rc = 0;

    for (*distance = 1; *distance < size && !(place & *distance) && !rc; *distance += *distance) {
        void *incoming = *value == room[0] ? room[1] : room[0];
        const struct coll_block block = coll_operand(args, incoming);
        const int child = place + *distance;

        if (child >= size)
            continue;
        rc = coll_recv(comm, tag, &block, (child + root) % size);
        if (!rc)
            op_reduce(args->op, *value, incoming, args->count, args->type);
        *value = incoming;
    }
    return rc;
}

static int reduce_at_root(struct comm *comm, int tag, const struct coll_reduction *args, void *result)
{
    const void *value = coll_input(args);
    struct coll_temp temp;
    int distance, rc = coll_temp_alloc(&temp, args->type, args->count);

    if (rc)
        return rc;
    rc = reduce_children(comm, tag, args, comm->rank, (void *[]){ result, temp.buf }, &value, &distance);
    if (!rc)
        coll_operand_copy(args, result, value);
    coll_temp_free(&temp);
    return rc;
}

static int reduce_below_root(struct comm *comm, int tag, const struct coll_reduction *args, int root)
{
    const int size = comm->size, place = (comm->rank - root + size) % size;
    const void *value = coll_input(args);
    struct coll_temp temp[2] = { { NULL, NULL }, { NULL, NULL } };
    int rc = 0, distance = 1;

    if (!(place & 1) && place + 1 < size)
        rc = coll_temp_alloc(&temp[0], args->type, args->count);
    if (!rc && !(place & 3) && place + 2 < size)
        rc = coll_temp_alloc(&temp[1], args->type, args->count);
    if (!rc)
        rc =
            reduce_children(comm, tag, args, root, (void *[]){ temp[0].buf, temp[1].buf }, &value, &distance);
    if (!rc) {
        const struct coll_block block = coll_operand(args, value);
        rc = coll_send(comm, tag, &block, (place - distance + root) % size);
    }
    coll_temp_free(&temp[0]);
    coll_temp_free(&temp[1]);
    return rc;
}

int coll_reduce_tree(struct comm *comm, int tag, const struct coll_reduction *args, int root, void *result)
{
    if (comm->rank != root)
        return reduce_below_root(comm, tag, args, root);
    if (comm->size > 1)
        return reduce_at_root(comm, tag, args, result);
    coll_operand_copy(args, result, coll_input(args));
    return 0;
}

/* The order of operands begins with rank 0: the tree's root is rank 0, and the result goes on from there. */
static int reduce_in_order(struct comm *comm, int tag, const struct coll_reduction *args, int root)
{
    struct coll_temp temp = { NULL, NULL };
    struct coll_block block;
    int rc = 0;

    if (comm->rank == 0)
        rc = coll_temp_alloc(&temp, args->type, args->count);
    if (!rc)
        rc = coll_reduce_tree(comm, tag, args, 0, temp.buf);
    if (!rc && comm->rank == 0) {
        block = coll_operand(args, temp.buf);
        rc = coll_send(comm, tag, &block, root);
    } else if (!rc && comm->rank == root) {
        block = coll_operand(args, args->recv);
        rc = coll_recv(comm, tag, &block, 0);
    }
    coll_temp_free(&temp);
    return rc;
}

int coll_reduce(struct comm *comm, const struct coll_reduction *args, int root)
{
    int tag, rc = coll_begin(comm, &tag, "MPI_Reduce");

    if (!rc)
        rc = coll_check_reduction(args, comm->rank == root);
    if (rc)
        return rc;
    if (root == 0 || args->op->is_commutative)
        return coll_reduce_tree(comm, tag, args, root, args->recv);
    return reduce_in_order(comm, tag, args, root);
}
